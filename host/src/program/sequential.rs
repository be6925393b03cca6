//! Waves that run whole sequential algorithms, for threads of a CPU.

use super::builder::ProgramBuilder;
use super::encoded::RegisterId;
use super::error::ProgramError;
use super::wave::WaveSpec;
use crate::graph::WeightKind;
use seawall_core::abi::program::Opcode;
use seawall_core::abi::sequential::SequentialRecord;

/// Operands of a sequential wave beside its destination.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Given {
    /// The scratch memory, see [`ProgramBuilder::sequential_memory`].
    pub(crate) memory: Option<RegisterId>,
    /// The listed nodes.
    pub(crate) sources: Option<RegisterId>,
    /// The memory that sums are in, or shares of edges.
    pub(crate) third: Option<RegisterId>,
    /// The kind of the weights that the algorithm reads, if it reads them.
    pub(crate) weights: Option<WeightKind>,
}

impl ProgramBuilder {
    /// A register of scratch memory for an algorithm on a graph of `edges` directed edges.
    pub(crate) fn sequential_memory(
        &mut self,
        record: SequentialRecord,
        edges: u32,
    ) -> Result<RegisterId, ProgramError> {
        let words = record.scratch_words(self.nodes, edges);
        self.words("scratch memory", words)
    }

    /// Runs a sequential algorithm, which stores its result in `to`. Nodes that it has no value
    /// for keep their words.
    pub(crate) fn sequential(
        &mut self,
        name: &str,
        to: RegisterId,
        record: SequentialRecord,
        given: Given,
    ) {
        self.needs.incoming |= record.inward;
        self.needs.weights = given.weights.or(self.needs.weights);
        self.needs.incoming_weights |= record.inward && given.weights.is_some();
        let mut wave = WaveSpec::new(name, Opcode::Sequential).placed(None, to);
        let operands = [given.memory, given.sources, given.third];
        for (at, register) in operands.into_iter().enumerate() {
            if let Some(register) = register {
                wave = wave.placed(Some(at), register);
            }
        }
        for (at, word) in record.to_parameters().into_iter().enumerate() {
            wave = wave.with(at, word);
        }
        self.push(wave);
    }
}
