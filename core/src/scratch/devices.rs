//! The scratch of a plan for several devices, beside that of an execution.

use super::{DEVICES_WORDS, require, split};
use crate::error::{ScratchField, ScratchTooSmall};
use crate::wave::Wave;

/// Space beside an [`ExecutionScratch`](super::ExecutionScratch) to plan at most `W` waves and `D`
/// dependencies for several devices.
///
/// Takes `48 W + 4 D` bytes.
///
/// ```
/// use seawall_core::scratch::DevicesScratch;
/// static ROOM: DevicesScratch<64, 128> = DevicesScratch::new();
/// assert_eq!(size_of_val(&ROOM), 48 * 64 + 4 * 128);
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DevicesScratch<const W: usize, const D: usize> {
    waves: [Wave; W],
    words: [[u32; W]; DEVICES_WORDS],
    bytes: [u64; W],
    dependencies: [u32; D],
}

impl<const W: usize, const D: usize> DevicesScratch<W, D> {
    /// Zeroed space, usable in a `static`.
    #[must_use]
    pub const fn new() -> Self {
        let wave = Wave {
            frontier_bytes: 0,
            scratch_bytes: 0,
            output_bytes: 0,
        };
        Self {
            waves: [wave; W],
            words: [[0; W]; DEVICES_WORDS],
            bytes: [0; W],
            dependencies: [0; D],
        }
    }

    /// The unsized view that the planner takes.
    pub fn view(&mut self) -> DevicesScratchView<'_> {
        DevicesScratchView::new(
            &mut self.waves,
            self.words.as_flattened_mut(),
            &mut self.bytes,
            &mut self.dependencies,
        )
    }
}

/// The same over slices of any length.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DevicesScratchView<'a> {
    /// The waves of one device.
    pub(crate) waves: &'a mut [Wave],
    /// Groups of waves, then chains; the group before which an output is due; the exchange that
    /// carries it; the group after each exchange.
    pub(crate) words: [&'a mut [u32]; DEVICES_WORDS],
    /// Bytes of each exchange.
    pub(crate) bytes: &'a mut [u64],
    /// Successors of all waves in turn.
    pub(crate) targets: &'a mut [u32],
}

impl<'a> DevicesScratchView<'a> {
    /// A view over `waves` and `bytes`, one element a wave, `words`, four elements a wave, and
    /// `dependencies`, one element each.
    #[must_use]
    pub fn new(
        waves: &'a mut [Wave],
        words: &'a mut [u32],
        bytes: &'a mut [u64],
        dependencies: &'a mut [u32],
    ) -> Self {
        Self {
            waves,
            words: split::<u32, DEVICES_WORDS>(words),
            bytes,
            targets: dependencies,
        }
    }

    pub(crate) fn check(&self, waves: u64, dependencies: u64) -> Result<(), ScratchTooSmall> {
        let words = self.words.iter().map(|part| part.len()).min().unwrap_or(0);
        let least = words.min(self.waves.len()).min(self.bytes.len());
        require(ScratchField::DevicesWaves, waves, least)?;
        let held = self.targets.len();
        require(ScratchField::DevicesDependencies, dependencies, held)
    }
}

owner! { DevicesScratch<W, D> => DevicesScratchView }
