//! Prices of barriers and exchanges, and whether one device is faster.

use super::DevicesPlan;
use crate::plan::Groups;
use crate::wave::Wave;

/// The lanes that wait at a barrier of a plan. Narrower barriers, of a block or a cluster, are within
/// a group, where kernels place them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Scope {
    /// All of one device.
    Grid,
    /// All of all devices.
    System,
}

/// Prices of a machine. The default is that of H200s of one host.
///
/// Measured with driver 580.159.04: one H200 on 2026-11-22 (barriers of the grid, memory), four of one host on 2026-11-26 (a barrier of all between two of their grids, 32 MB from
/// each to each by the kernels' own stores).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Prices {
    /// A barrier of one device, nanoseconds.
    pub grid_ns: u32,
    /// A barrier of all devices, those of their grids included, nanoseconds.
    pub system_ns: u32,
    /// Bytes that a device moves in a microsecond in its own memory.
    pub memory_bytes_per_us: u32,
    /// Bytes that a device receives in a microsecond from others.
    pub link_bytes_per_us: u32,
}

impl Default for Prices {
    fn default() -> Self {
        Self {
            grid_ns: 830,
            system_ns: 3_550,
            memory_bytes_per_us: 4_240_000,
            link_bytes_per_us: 345_000,
        }
    }
}

impl Prices {
    /// The price of a barrier, nanoseconds.
    #[must_use]
    pub const fn barrier_ns(&self, scope: Scope) -> u64 {
        (match scope {
            Scope::Grid => self.grid_ns,
            Scope::System => self.system_ns,
        }) as u64
    }

    /// The time of an exchange in which a device receives `bytes` bytes, its barrier included,
    /// nanoseconds.
    #[must_use]
    pub fn exchange_ns(&self, bytes: u64) -> u64 {
        moved_ns(bytes, self.link_bytes_per_us).saturating_add(self.barrier_ns(Scope::System))
    }
}

/// Times of a program on one device and on several: predictions, since a plan knows bytes and not
/// what is done with them. Every wave is taken to move its bytes once, with its share of the
/// resident ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Prediction {
    /// On one device, nanoseconds.
    pub one_ns: u64,
    /// On all devices of the plan, nanoseconds.
    pub all_ns: u64,
}

impl Prediction {
    /// Whether one device is at least as fast.
    #[must_use]
    pub const fn is_one_faster(&self) -> bool {
        self.one_ns <= self.all_ns
    }
}

impl DevicesPlan<'_> {
    /// Predicts the program's time on one device, on which `waves` are its waves and
    /// `resident_bytes` its resident bytes, and on the devices of this plan, in `O(W)`.
    #[must_use]
    pub fn predict(&self, waves: &[Wave], resident_bytes: u64, prices: &Prices) -> Prediction {
        let devices = u64::from(self.exchanges.devices()).max(1);
        let work = |bytes: u64| moved_ns(bytes, prices.memory_bytes_per_us);
        let barriers = |groups: &Groups<'_>, wide: u64| {
            let narrow = groups.summary().global_barriers.saturating_sub(wide);
            narrow.saturating_mul(prices.barrier_ns(Scope::Grid))
        };
        let bytes = waves.iter().fold(0_u64, |sum, wave| {
            let own = wave.frontier_bytes.saturating_add(wave.scratch_bytes);
            sum.saturating_add(own.saturating_add(wave.output_bytes))
        });
        let moved = bytes.saturating_add(resident_bytes);
        let part = moved.div_ceil(devices);
        let groups = &self.execution.groups;
        let exchanged = self.exchanges.iter().fold(0_u64, |sum, exchange| {
            sum.saturating_add(prices.exchange_ns(exchange.received_bytes))
        });
        let wide = self.exchanges.len() as u64;
        Prediction {
            one_ns: work(moved).saturating_add(barriers(groups, 0)),
            all_ns: work(part)
                .saturating_add(barriers(groups, wide))
                .saturating_add(exchanged),
        }
    }
}

/// Nanoseconds in which `bytes` move, rounded up.
fn moved_ns(bytes: u64, per_us: u32) -> u64 {
    let rate = u64::from(per_us.max(1));
    // Split, so that no product exceeds 64 bits: the rest is below the rate, which has 32.
    let whole = bytes.checked_div(rate).unwrap_or(0);
    let rest = bytes.checked_rem(rate).unwrap_or(0);
    whole
        .saturating_mul(1_000)
        .saturating_add(rest.saturating_mul(1_000).div_ceil(rate))
}
