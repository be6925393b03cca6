//! The exchanges between groups: the fewest for these groups.

use super::{WaveCut, crosses};
use crate::plan::Groups;
use crate::plan::cells::{IDS, bump, counts_to_starts, read, write};
use crate::wave::{Dag, WaveId};

/// Exchanges of a plan, inside the scratch that was borrowed for them.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Exchanges<'a> {
    devices: u32,
    /// Group after which each exchange takes place.
    after: &'a [u32],
    /// Bytes of the outputs that each carries.
    bytes: &'a [u64],
    /// One more than the exchange that carries each wave's output; 0 for none.
    carriers: &'a [u32],
    lower_bound: u32,
}

/// One exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Exchange {
    /// The group after which it takes place.
    pub after_group: u32,
    /// Bytes that each device receives from all others together, at most.
    pub received_bytes: u64,
}

impl<'a> Exchanges<'a> {
    /// Devices of the plan.
    #[must_use]
    pub fn devices(&self) -> u32 {
        self.devices
    }

    /// Exchanges: barriers of all devices. For these groups there are no fewer.
    #[must_use]
    pub fn len(&self) -> usize {
        self.after.len()
    }

    /// Whether devices have nothing to tell each other.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.after.is_empty()
    }

    /// No grouping of the program has fewer: the most readings across devices on one path.
    #[must_use]
    pub fn lower_bound(&self) -> u64 {
        u64::from(self.lower_bound)
    }

    /// One exchange, counted from zero.
    #[must_use]
    pub fn get(&self, exchange: usize) -> Option<Exchange> {
        Some(Exchange {
            after_group: *self.after.get(exchange)?,
            received_bytes: *self.bytes.get(exchange)?,
        })
    }

    /// The exchange after a group, if there is one, in `O(log W)`.
    #[must_use]
    pub fn after_group(&self, group: u32) -> Option<Exchange> {
        self.get(self.after.binary_search(&group).ok()?)
    }

    /// The exchanges, first to last.
    pub fn iter(&self) -> impl Iterator<Item = Exchange> + Clone + use<'a> {
        let pairs = self.after.iter().zip(self.bytes);
        pairs.map(|(after, bytes)| Exchange {
            after_group: *after,
            received_bytes: *bytes,
        })
    }

    /// The exchange that carries the output of `wave`, if other devices read it.
    #[must_use]
    pub fn of(&self, wave: WaveId) -> Option<usize> {
        let carrier = read(self.carriers, wave.0);
        (carrier as usize).checked_sub(1)
    }

    /// The exchange that carries the output of each wave, by wave id.
    pub fn carriers(&self) -> impl Iterator<Item = Option<usize>> + Clone + use<'a> {
        let carriers = self.carriers.iter();
        carriers.map(|carrier| (*carrier as usize).checked_sub(1))
    }

    /// Bytes that each device receives in all.
    #[must_use]
    pub fn received_bytes(&self) -> u64 {
        self.bytes
            .iter()
            .fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }
}

/// Places the exchanges between the groups of a plan that was made for `dag`. Buffers are as long as
/// waves and dependencies ask for.
pub(super) fn place<'a>(
    dag: &Dag<'_>,
    devices: u32,
    cuts: &[WaveCut],
    groups: &Groups<'_>,
    words: [&'a mut [u32]; 4],
    bytes: &'a mut [u64],
    targets: &mut [u32],
) -> Exchanges<'a> {
    let waves = dag.waves.len();
    let [numbers, due, carriers, after] =
        words.map(|part| part.get_mut(..waves).unwrap_or_default());
    if devices < 2 {
        carriers.fill(0);
        return Exchanges {
            devices,
            after: &[],
            bytes: &[],
            carriers,
            lower_bound: 0,
        };
    }
    // Chains are counted first, with the places of what follows.
    let lower_bound = longest(dag, cuts, groups, numbers, due, targets);
    for (number, group) in IDS.zip(groups.iter()) {
        for wave in group.waves {
            write(numbers, wave.0, number);
        }
    }
    due.fill(u32::MAX);
    for record in dag.dependencies {
        if crosses(cuts, record.before, record.after) {
            // The group before that of the reader.
            let last = read(numbers, record.after).wrapping_sub(1);
            let least = read(due, record.before).min(last);
            write(due, record.before, least);
        }
    }
    carriers.fill(0);
    let (mut found, mut first, mut next_due, mut ready) = (0_u32, 0_usize, u32::MAX, 0_u64);
    let order = groups.order();
    for (group, end) in IDS.zip(groups.ends()) {
        let range = order.get(first..*end as usize).unwrap_or_default();
        first = *end as usize;
        for wave in range {
            let due = read(due, wave.0);
            if due == u32::MAX {
                continue;
            }
            next_due = next_due.min(due);
            write(carriers, wave.0, found.wrapping_add(1));
            ready = ready.saturating_add(received(dag, devices, cuts, *wave));
        }
        if next_due == group {
            write(after, found, group);
            write(bytes, found, ready);
            found = found.wrapping_add(1);
            (next_due, ready) = (u32::MAX, 0);
        }
    }
    Exchanges {
        devices,
        after: after.get(..found as usize).unwrap_or_default(),
        bytes: bytes.get(..found as usize).unwrap_or_default(),
        carriers,
        lower_bound,
    }
}

/// Bytes of a wave's output that a device has from the others.
fn received(dag: &Dag<'_>, devices: u32, cuts: &[WaveCut], wave: WaveId) -> u64 {
    let bytes = dag
        .waves
        .get(wave.index())
        .map_or(0, |wave| wave.output_bytes);
    let is_total = cuts.get(wave.index()).is_some_and(|cut| cut.is_total());
    let others = u64::from(devices).wrapping_sub(1);
    if is_total {
        return bytes.saturating_mul(others);
    }
    // All but the smallest part, which is rounded down.
    bytes.wrapping_sub(bytes.checked_div(u64::from(devices)).unwrap_or(0))
}

/// The most readings across devices on one path. `chains` and `starts` hold a word for each wave,
/// `targets` one for each dependency.
fn longest(
    dag: &Dag<'_>,
    cuts: &[WaveCut],
    groups: &Groups<'_>,
    chains: &mut [u32],
    starts: &mut [u32],
    targets: &mut [u32],
) -> u32 {
    starts.fill(0);
    for record in dag.dependencies {
        bump(starts, record.before);
    }
    counts_to_starts(starts);
    for record in dag.dependencies {
        let place = bump(starts, record.before);
        write(targets, place, record.after);
    }
    // Each start is now the end of its run.
    chains.fill(0);
    let mut most = 0;
    for wave in groups.order() {
        let end = read(starts, wave.0) as usize;
        let begin = match wave.0.checked_sub(1) {
            Some(previous) => read(starts, previous) as usize,
            None => 0,
        };
        let own = read(chains, wave.0);
        most = most.max(own);
        for after in targets.get(begin..end).unwrap_or_default() {
            let crossed = u32::from(crosses(cuts, wave.0, *after));
            let chain = read(chains, *after).max(own.wrapping_add(crossed));
            write(chains, *after, chain);
        }
    }
    most
}
