//! Waves of searches from many sources that sweep over all nodes together.

use super::builder::ProgramBuilder;
use super::encoded::RegisterId;
use super::error::ProgramError;
use super::wave::WaveSpec;
use seawall_core::abi::program::Opcode;
use seawall_core::abi::sweep::{Measure, SWEEP_TOTALS, SweepLayout};

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

// Waves of the ready analyses: public for benchmarks and tests.
#[doc(hidden)]
impl ProgramBuilder {
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
