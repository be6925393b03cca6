//! Working memory for plans on several devices.

use seawall_core::plan::{Dag, Wave};
use seawall_core::scratch::{DEVICES_WORDS, DevicesScratchView};

/// Buffers beside those of a plan on one device.
pub(super) struct DevicesMemory {
    waves: Vec<Wave>,
    words: Vec<u32>,
    bytes: Vec<u64>,
    dependencies: Vec<u32>,
}

impl DevicesMemory {
    /// Allocates enough for `dag`. Linear in waves and dependencies.
    pub(super) fn of(dag: &Dag<'_>) -> Self {
        let waves = dag.waves.len();
        Self {
            waves: vec![Wave::default(); waves],
            words: vec![0; DEVICES_WORDS * waves],
            bytes: vec![0; waves],
            dependencies: vec![0; dag.dependencies.len()],
        }
    }

    pub(super) fn view(&mut self) -> DevicesScratchView<'_> {
        DevicesScratchView::new(
            &mut self.waves,
            &mut self.words,
            &mut self.bytes,
            &mut self.dependencies,
        )
    }
}
