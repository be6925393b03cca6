//! Waves of the analyses that settle nodes in rounds: shortest paths, core
//! numbers and ranks.

use super::builder::ProgramBuilder;
use super::encoded::RegisterId;
use super::error::ProgramError;
use super::slices::Slices;
use super::wave::{Name, WaveSpec};
use crate::graph::WeightKind;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::program::Opcode;
use seawall_core::abi::rank::TOTALS_WORDS;
use seawall_core::abi::work::WorkLayout;
use std::num::NonZeroU32;

/// Operands of the waves of shortest paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paths {
    /// Distance of every node, [`Lengths::words`] each and all [`Lengths::never`] before
    /// the first wave.
    pub distances: RegisterId,
    /// Work register, see [`ProgramBuilder::work`].
    pub work: RegisterId,
    /// Delta, at least 1, in the unit of `lengths`. Results are exact for any delta; a larger one
    /// takes fewer rounds and relaxes more edges twice.
    pub width: u32,
    /// Kind of the distances.
    pub lengths: Lengths,
}

/// Kind of the distances of shortest paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// Whole numbers below `u32::MAX`. After a longer path, reads of any register return
    /// `BackendError::PathTooLong`.
    Whole,
    /// Whole numbers of 64 bits, which no path exceeds. Delta counts in units of 2^`shift`.
    Wide {
        /// Bits by which distances are shifted to compare them with limits, below 64.
        shift: u32,
    },
    /// Floats of 32 bits, rounded edge by edge; longer paths are treated as with
    /// [`Lengths::Whole`]. Delta is the bits of a float.
    Float,
}

impl Lengths {
    /// Words of a distance.
    #[must_use]
    pub const fn words(self) -> u64 {
        match self {
            Self::Whole | Self::Float => 1,
            Self::Wide { .. } => 2,
        }
    }

    /// Each word of the distance of a node that no path reaches.
    #[must_use]
    pub const fn never(self) -> u32 {
        match self {
            Self::Whole | Self::Wide { .. } => UNREACHED,
            Self::Float => f32::INFINITY.to_bits(),
        }
    }

    const fn weights(self) -> WeightKind {
        match self {
            Self::Whole | Self::Wide { .. } => WeightKind::Integer,
            Self::Float => WeightKind::Float,
        }
    }

    const fn shift(self) -> u32 {
        match self {
            Self::Wide { shift } => shift,
            Self::Whole | Self::Float => 0,
        }
    }

    /// The opcodes that seed and step.
    const fn opcodes(self) -> [Opcode; 2] {
        match self {
            Self::Whole => [Opcode::SeedPaths, Opcode::StepPaths],
            Self::Wide { .. } => [Opcode::SeedPathsWide, Opcode::StepPathsWide],
            // A float of 0 has the bits of 0.
            Self::Float => [Opcode::SeedPaths, Opcode::StepPathsFloat],
        }
    }
}

/// Operands of the waves of a ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// Rank of every node, the bits of a float.
    pub ranks: RegisterId,
    /// The contribution of every node along each edge, the bits of a float; after them, a word for
    /// each [frequent source](super::FrequentSources).
    pub contributions: RegisterId,
    /// Two words per node; one where iterations go [by rows](ProgramBuilder::step_ranks_by_rows).
    pub sums: RegisterId,
    /// See [`ProgramBuilder::totals`].
    pub totals: RegisterId,
    /// The share of the walk that starts at each node, the bits of a float; without, all are alike.
    pub starts: Option<RegisterId>,
}

// Waves of the ready analyses: public for benchmarks and tests.
#[doc(hidden)]
impl ProgramBuilder {
    /// A register for the queues and counters of rounds.
    ///
    /// # Errors
    /// As [`ProgramBuilder::words`]; a graph may have about 10^9 nodes.
    pub fn work(&mut self, name: impl Into<Name>) -> Result<RegisterId, ProgramError> {
        self.words(name, WorkLayout::new(self.nodes).words())
    }

    /// A register for the totals of a ranking; must be filled with 0.
    ///
    /// # Errors
    /// As [`ProgramBuilder::words`].
    pub fn totals(&mut self, name: impl Into<Name>) -> Result<RegisterId, ProgramError> {
        self.words(name, u64::from(TOTALS_WORDS))
    }

    /// Empties a work register.
    pub fn reset_work(&mut self, name: &str, work: RegisterId) {
        self.push(WaveSpec::new(name, Opcode::ResetWork).writing(work));
    }

    /// Puts the nodes of `list` at distance 0 into a reset work register, for
    /// the loop that follows; no other loop may run in between.
    pub fn seed_paths(&mut self, name: &str, paths: Paths, list: RegisterId) {
        let [seed, _] = paths.lengths.opcodes();
        let wave = WaveSpec::new(name, seed).updating(paths.distances);
        self.push(
            wave.updating_source(0, paths.work)
                .reading(1, list)
                .with(0, paths.width)
                .with(1, paths.lengths.shift()),
        );
        // The distances show whether paths exceeded 32 bits, when the program ends.
        if paths.lengths.words() == 1 {
            self.keep(paths.distances);
        }
    }

    /// One round of shortest paths, the body of a fixpoint. The program reads
    /// the weights of the graph.
    pub fn step_paths(&mut self, name: &str, paths: Paths) {
        self.step_paths_until(name, paths, false, None);
    }

    /// Works as [`Self::step_paths`]. From round `last` on, if there is one, or when edges were relaxed
    /// too often, one of the threads of a CPU settles the rest in a single round.
    ///
    /// With `both_ways`, each edge of the graph has a mirror image of the same weight: rounds over many
    /// edges pull against them, which takes fewer memory accesses, and delta grows once as many edges
    /// were relaxed as there are. It suits graphs on which a few rounds relax most edges. On graphs
    /// without mirror images distances would be wrong.
    pub(crate) fn step_paths_until(
        &mut self,
        name: &str,
        paths: Paths,
        both_ways: bool,
        last: Option<NonZeroU32>,
    ) {
        self.needs.weights = Some(paths.lengths.weights());
        let [_, step] = paths.lengths.opcodes();
        let wave = WaveSpec::new(name, step).updating(paths.distances);
        self.push(
            wave.updating_source(0, paths.work)
                .with(0, paths.width)
                .with(1, paths.lengths.shift())
                .with(2, u32::from(both_ways))
                .with(3, last.map_or(0, NonZeroU32::get)),
        );
    }

    /// Stores all degrees in `cores` and opens a reset work register for the
    /// loop that follows; no other loop may run in between.
    pub fn seed_peel(&mut self, name: &str, cores: RegisterId, work: RegisterId) {
        let wave = WaveSpec::new(name, Opcode::SeedPeel).writing(cores);
        self.push(wave.updating_source(0, work));
    }

    /// One round of peeling, the body of a fixpoint; the graph must be
    /// symmetric.
    pub fn step_peel(&mut self, name: &str, cores: RegisterId, work: RegisterId) {
        let wave = WaveSpec::new(name, Opcode::StepPeel).updating(cores);
        self.push(wave.updating_source(0, work));
    }

    /// Sets the rank of every node to the share of the walk that starts there; the totals must be 0.
    pub fn seed_ranks(&mut self, name: &str, ranks: Ranks) {
        self.seed_ranks_with(name, ranks, 0);
    }

    /// Works as [`Self::seed_ranks`], for iterations by [`Self::step_ranks_by_rows`] only: it
    /// stores no sums, so that their content is unspecified before an iteration.
    pub fn seed_ranks_by_rows(&mut self, name: &str, ranks: Ranks) {
        self.seed_ranks_with(name, ranks, 1);
    }

    fn seed_ranks_with(&mut self, name: &str, ranks: Ranks, by_rows: u32) {
        let wave = WaveSpec::new(name, Opcode::SeedRanks)
            .writing(ranks.ranks)
            .writing_source(0, ranks.contributions)
            .writing_source(1, ranks.sums)
            .updating_source(2, ranks.totals)
            .with(0, by_rows);
        self.push(starting(wave, ranks));
    }

    /// One iteration of a ranking in three waves, the body of a fixpoint that
    /// ends when the ranks change by at most `tolerance` in all. The program
    /// reads incoming edges.
    pub fn step_ranks(&mut self, ranks: Ranks, damping: f32, tolerance: f32) {
        self.needs.incoming = true;
        self.needs.tiles = true;
        let gather = WaveSpec::new("gather", Opcode::GatherRanks).updating(ranks.sums);
        self.push(gather.reading(0, ranks.contributions));
        self.push_apply(ranks, damping, tolerance);
    }

    /// Works as [`Self::step_ranks`], along the edges in [`Slices`] that [`Self::slice_edges`] has
    /// made: contributions of one slice at a time stay in a cache that those of all nodes exceed.
    /// The ranks are the same, bit for bit.
    pub fn step_ranks_by_slices(&mut self, ranks: Ranks, slices: Slices, step: (f32, f32)) {
        self.copy_frequent(slices, ranks.contributions);
        let gather = WaveSpec::new("gather", Opcode::GatherSlices).updating(ranks.sums);
        let gather = gather
            .reading(0, ranks.contributions)
            .reading(1, slices.sources)
            .reading(2, slices.rows);
        self.push(gather);
        self.push_apply(ranks, step.0, step.1);
    }

    /// Makes ranks of sums, and decides whether that was the last iteration.
    fn push_apply(&mut self, ranks: Ranks, damping: f32, tolerance: f32) {
        let apply = WaveSpec::new("apply", Opcode::ApplyRanks)
            .updating(ranks.ranks)
            .updating_source(0, ranks.contributions)
            .updating_source(1, ranks.sums)
            .updating_source(2, ranks.totals);
        self.push(starting(apply.with(0, damping.to_bits()), ranks));
        let settle = WaveSpec::new("settle", Opcode::SettleRanks).updating(ranks.totals);
        self.push(settle.with(0, tolerance.to_bits()));
    }

    /// Works as [`Self::step_ranks`], in one wave that gives each lane of a GPU a row. It keeps
    /// contributions in the sums, so no other iteration may follow on the same registers. It is
    /// faster if no row of incoming edges is long, such as on grids and roads, and otherwise as
    /// slow as one lane with the longest row.
    pub fn step_ranks_by_rows(&mut self, ranks: Ranks, step: (f32, f32)) {
        self.needs.incoming = true;
        let wave = WaveSpec::new("step", Opcode::StepRanks)
            .updating(ranks.ranks)
            .updating_source(0, ranks.contributions)
            .updating_source(1, ranks.sums)
            .updating_source(2, ranks.totals)
            .with(0, step.0.to_bits())
            .with(1, step.1.to_bits());
        self.push(starting(wave, ranks));
    }
}

/// The wave with the shares of a walk that starts at each node, if there are any.
fn starting(wave: WaveSpec, ranks: Ranks) -> WaveSpec {
    match ranks.starts {
        Some(starts) => wave.reading(3, starts),
        None => wave,
    }
}
