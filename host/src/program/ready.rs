//! Waves of the ready analyses: connected components, the origins of searches, searches from many
//! sources, and whole sequential algorithms.

use super::builder::ProgramBuilder;
use super::encoded::RegisterId;
use super::error::ProgramError;
use super::vocabulary::ComponentStep;
use super::wave::WaveSpec;
use crate::graph::WeightKind;
use seawall_core::abi::program::Opcode;
use seawall_core::abi::sequential::SequentialRecord;
use seawall_core::abi::sweep::{Measure, SWEEP_TOTALS, SweepLayout};

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

/// Operands of the waves of a sweep. All registers are 0 before the first wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// One set per node, `words` words each, kept twice. At the end a source reaches a node if it
    /// is in either set.
    pub sets: [RegisterId; 2],
    /// State of the rounds, see [`ProgramBuilder::sweep_state`].
    pub state: RegisterId,
    /// Totals of every source, see [`ProgramBuilder::sweep_totals`].
    pub totals: RegisterId,
    /// Words of a set, 1 to 32, with at least one bit per source.
    pub words: u32,
    /// Whether distances are those to the sources, against the edges, instead of from them.
    pub back: bool,
}

// Public for benchmarks and tests.
#[doc(hidden)]
impl ProgramBuilder {
    /// Runs one step of the components program on `parents`.
    pub fn components(&mut self, name: &str, step: ComponentStep, parents: RegisterId) {
        self.push(of_step(name, step, parents));
    }

    /// As [`ProgramBuilder::components`], but nothing happens if
    /// [`ComponentStep::HookReached`] has found that the largest component is `known`.
    pub fn components_unless(
        &mut self,
        name: &str,
        step: ComponentStep,
        parents: RegisterId,
        known: RegisterId,
    ) {
        let wave = match step {
            // The label stays if nothing happens.
            ComponentStep::Majority { to } => WaveSpec::new(name, Opcode::Majority)
                .updating(to)
                .reading(0, parents),
            _ => of_step(name, step, parents),
        };
        self.push(wave.reading(2, known));
    }

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

    /// A register for the state of a sweep.
    ///
    /// # Errors
    /// As [`ProgramBuilder::words`].
    pub fn sweep_state(&mut self) -> Result<RegisterId, ProgramError> {
        let words = SweepLayout::new(self.nodes).words();
        self.words("sweep state", u64::from(words))
    }

    /// A register for the totals of the sources of a sweep with sets of `words` words.
    ///
    /// # Errors
    /// As [`ProgramBuilder::words`].
    pub fn sweep_totals(&mut self, words: u32) -> Result<RegisterId, ProgramError> {
        let words = 32 * u64::from(words) * u64::from(SWEEP_TOTALS);
        self.words("sweep totals", words)
    }

    /// Puts source `k` of `list` as bit `k` into the set of its node, for the loop that follows;
    /// no other loop may run in between.
    pub fn seed_sweep(&mut self, name: &str, sweep: Sweep, list: RegisterId) {
        let wave = WaveSpec::new(name, Opcode::SeedSweep)
            .updating(sweep.sets[0])
            .updating_source(0, sweep.state)
            .updating_source(1, sweep.totals)
            .reading(2, list)
            .with(0, sweep.words);
        self.push(wave);
    }

    /// One level of the searches from all sources, the body of a fixpoint.
    pub fn sweep(&mut self, name: &str, sweep: Sweep) {
        self.needs.incoming |= !sweep.back;
        let opcode = match sweep.back {
            true => Opcode::SweepBack,
            false => Opcode::Sweep,
        };
        let wave = WaveSpec::new(name, opcode)
            .updating(sweep.sets[0])
            .updating_source(0, sweep.state)
            .updating_source(1, sweep.totals)
            .updating_source(2, sweep.sets[1])
            .with(0, sweep.words);
        self.push(wave);
    }

    /// Stores `measure` of the `totals` of the sources `list` in `to`, at their nodes.
    pub fn settle_sweep(
        &mut self,
        name: &str,
        to: RegisterId,
        measure: Measure,
        totals: RegisterId,
        list: RegisterId,
    ) {
        let wave = WaveSpec::new(name, Opcode::SettleSweep)
            .updating(to)
            .reading(0, totals)
            .reading(1, list)
            .with(0, measure as u32);
        self.push(wave);
    }
}

fn of_step(name: &str, step: ComponentStep, parents: RegisterId) -> WaveSpec {
    match step {
        ComponentStep::Link => WaveSpec::new(name, Opcode::Link).updating(parents),
        ComponentStep::Compress => WaveSpec::new(name, Opcode::Compress).updating(parents),
        ComponentStep::LinkSample { skip, edges } => WaveSpec::new(name, Opcode::LinkSample)
            .updating(parents)
            .with(0, edges)
            .with(1, skip),
        ComponentStep::Majority { to } => WaveSpec::new(name, Opcode::Majority)
            .writing(to)
            .reading(0, parents),
        ComponentStep::HookReached { frontier, known } => WaveSpec::new(name, Opcode::HookReached)
            .writing(parents)
            .reading(0, frontier)
            .writing_source(1, known),
        ComponentStep::LinkRest { skip, except } => WaveSpec::new(name, Opcode::LinkRest)
            .updating(parents)
            .reading(0, except)
            .with(0, skip),
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
