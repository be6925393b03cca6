//! Working memory of the planner, sized by the planner itself.

use seawall_core::plan::{Dag, Requirements, Wave};
use seawall_core::scratch::{
    ArenaScratchView, DEVICES_WORDS, DevicesScratchView, ExecutionScratchView, GroupScratchView,
    ScratchView,
};

/// Buffers for one program.
pub(super) struct Memory {
    layer_words: Vec<u32>,
    dependency_words: Vec<u32>,
    pack_words: Vec<u32>,
    pack_bytes: Vec<u64>,
    arena_words: Vec<u32>,
    arena_offsets: Vec<u64>,
}

impl Memory {
    /// Allocates enough for `dag` with any strategy. Linear in waves and dependencies.
    pub(super) fn of(dag: &Dag<'_>) -> Self {
        let needs = Requirements::for_dag(dag.waves.len(), dag.dependencies.len());
        Self {
            layer_words: vec![0; needs.layer_words],
            dependency_words: vec![0; needs.dependency_words],
            pack_words: vec![0; needs.pack_words],
            pack_bytes: vec![0; needs.pack_bytes],
            arena_words: vec![0; needs.arena_words],
            arena_offsets: vec![0; needs.arena_offsets],
        }
    }

    /// Space for the groups only.
    pub(super) fn groups(&mut self) -> GroupScratchView<'_> {
        let layers = ScratchView::new(&mut self.layer_words, &mut self.dependency_words);
        GroupScratchView::new(layers, &mut self.pack_words, &mut self.pack_bytes)
    }

    /// Space for the groups and the arena that follows them.
    pub(super) fn execution(&mut self) -> ExecutionScratchView<'_> {
        let layers = ScratchView::new(&mut self.layer_words, &mut self.dependency_words);
        ExecutionScratchView::new(
            GroupScratchView::new(layers, &mut self.pack_words, &mut self.pack_bytes),
            ArenaScratchView::new(&mut self.arena_words, &mut self.arena_offsets),
        )
    }
}

/// Buffers beside them for a plan on several devices.
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

    /// Their space.
    pub(super) fn view(&mut self) -> DevicesScratchView<'_> {
        DevicesScratchView::new(
            &mut self.waves,
            &mut self.words,
            &mut self.bytes,
            &mut self.dependencies,
        )
    }
}
