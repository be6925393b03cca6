//! Waves for the origins of searches: parents of one search, and sets of sources of many.

use super::builder::ProgramBuilder;
use super::encoded::RegisterId;
use super::wave::WaveSpec;
use seawall_core::abi::program::Opcode;

/// Operands of the waves of a search from many sources at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sets {
    /// One set per node, `words` words each, kept twice and 0 before the first wave. At the end a
    /// source reaches a node if it is in either set.
    pub sets: [RegisterId; 2],
    /// Work register, see [`ProgramBuilder::work`].
    pub work: RegisterId,
    /// Words of a set, with at least one bit per source.
    pub words: u32,
}

// Waves of the ready analyses: public for benchmarks and tests.
#[doc(hidden)]
impl ProgramBuilder {
    /// Stores the parent of every node in `to`, given the levels of a finished
    /// search: the smallest node one level before it with an edge to it. The
    /// program reads incoming edges.
    pub fn parents(&mut self, name: &str, to: RegisterId, levels: RegisterId) {
        self.needs.incoming = true;
        let wave = WaveSpec::new(name, Opcode::Parents).writing(to);
        self.push(wave.reading(0, levels));
    }

    /// Puts source `k` of `list` as bit `k` into the set of its node and queues
    /// the nodes in a reset work register, for the loop that follows; no other
    /// loop may run in between.
    pub fn seed_sets(&mut self, name: &str, sets: Sets, list: RegisterId) {
        let wave = sets.updated_by(name, Opcode::SeedSets);
        self.push(wave.reading(2, list));
    }

    /// One level of the searches from all sources, the body of a fixpoint.
    pub fn step_sets(&mut self, name: &str, sets: Sets) {
        self.push(sets.updated_by(name, Opcode::StepSets));
    }
}

impl Sets {
    fn updated_by(self, name: &str, opcode: Opcode) -> WaveSpec {
        let [even, odd] = self.sets;
        WaveSpec::new(name, opcode)
            .updating(even)
            .updating_source(0, self.work)
            .updating_source(1, odd)
            .with(0, self.words)
    }
}
