//! Wave programs of a service: a block runs one for a query, in its own memory.

use super::deadline::{Deadline, LATE};
use super::places::Places;
use crate::collectives::block::broadcast;
use crate::machine::Grid;
use crate::machine::memory::{Proven, word_of};
use crate::scheduler::run_alone;
use crate::scheduler::sets::WaveSet;
use crate::tables::launch::Launch;
use seawall_core::abi::program::LaunchRecord;
use seawall_core::abi::ring::{FaultCode, RESULTS};
use seawall_core::abi::serve::ServeProgram;
use seawall_core::protocol::{Refusal, Ring};

/// A worker's program.
#[derive(Clone, Copy)]
pub(super) struct Program<G> {
    grid: G,
    /// Words of a [`ServeProgram`].
    words: Proven,
}

/// Words of a tenant's window.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) tenant: u32,
    pub(super) address: u32,
    pub(super) words: u32,
}

impl<G: Grid> Program<G> {
    pub(super) fn new(grid: G, words: Proven) -> Self {
        Self { grid, words }
    }

    /// Words that a query gives.
    #[inline(always)]
    pub(super) fn input_words(&self) -> u32 {
        self.words
            .constant(self.grid, word_of!(ServeProgram, input_words))
    }

    #[inline(always)]
    fn part(&self, address: u32, words: u32) -> Proven {
        let address = self.words.constant_wide(self.grid, address);
        // SAFETY: `Serve::new` promises the stated lengths of a program's parts.
        unsafe { Proven::trusted(address as *mut u32, words) }
    }

    /// The user's opcode that it answers.
    #[inline(always)]
    pub(super) fn opcode(&self) -> u32 {
        self.words
            .constant(self.grid, word_of!(ServeProgram, opcode))
    }

    /// Loads the first words of its inputs. One lane calls this, and a block barrier follows.
    #[inline(always)]
    pub(super) fn take_arguments(&self, arguments: &[u32]) {
        let inputs = self.part(word_of!(ServeProgram, inputs), self.input_words());
        for (at, word) in (0..self.input_words()).zip(arguments) {
            inputs.store(self.grid, at, *word);
        }
    }

    /// Runs it with its inputs. Returns the first words of the result. All lanes of the block call
    /// this.
    #[inline(always)]
    pub(super) fn call<S: WaveSet>(
        &self,
        deadline: &Deadline<G>,
    ) -> Result<[u32; RESULTS], Refusal> {
        self.run::<S>(deadline)?;
        let result = self.result();
        let mut words = [0; RESULTS];
        for (at, word) in (0..result.len()).zip(&mut words) {
            *word = result.load(self.grid, at);
        }
        Ok(words)
    }

    /// Runs it with inputs from one span, and writes the part of the result that fits to another.
    /// Returns how many words fit, and how many do not. All lanes of the block call this.
    #[inline(always)]
    pub(super) fn query<S: WaveSet>(
        &self,
        ring: Ring<'_, Places<G>>,
        from: Span,
        to: Span,
        deadline: &Deadline<G>,
    ) -> Result<[u32; RESULTS], Refusal> {
        self.take_inputs(ring, from)?;
        self.run::<S>(deadline)?;
        self.give_result(ring, to)
    }

    #[inline(always)]
    fn launch(&self) -> Launch {
        let launch = self
            .words
            .constant_wide(self.grid, word_of!(ServeProgram, launch));
        // SAFETY: `Serve::new` promises a launch record for each program of a worker, and this
        // worker is the only one that uses it.
        unsafe { Launch::new(launch as *const LaunchRecord) }
    }

    /// Returns the report of its last run, which failed, and its number. One lane calls this.
    #[cold]
    pub(super) fn report(&self, number: u32) -> [u32; RESULTS] {
        let mut words: [u32; RESULTS] = self.launch().control(self.grid).fault_words(self.grid);
        let [.., last] = &mut words;
        *last = number;
        words
    }

    #[inline(always)]
    fn run<S: WaveSet>(&self, deadline: &Deadline<G>) -> Result<(), Refusal> {
        let grid = self.grid;
        let launch = self.launch();
        launch.control(grid).clear(grid);
        grid.block_barrier();
        let ran = run_alone::<G, S>(grid, launch, deadline.at_ns());
        grid.block_barrier();
        // A late result would go to a place that another query may own by now.
        if broadcast(grid, u32::from(deadline.is_over())) != 0 {
            return Err(LATE);
        }
        // A fault in the last waves stops no lane, as no barrier follows that would find it.
        let code = launch.control(grid).fault_code(grid);
        if ran.is_err() || code != 0 {
            return Err(Refusal::new(FaultCode::ProgramFault, code));
        }
        Ok(())
    }

    #[inline(always)]
    fn result(&self) -> Proven {
        let words = word_of!(ServeProgram, result_words);
        let words = self.words.constant(self.grid, words);
        self.part(word_of!(ServeProgram, result), words)
    }

    #[inline(always)]
    fn take_inputs(&self, ring: Ring<'_, Places<G>>, from: Span) -> Result<(), Refusal> {
        let grid = self.grid;
        let inputs = self.part(word_of!(ServeProgram, inputs), self.input_words());
        let mut at = grid.lane();
        while at < from.words.min(self.input_words()) {
            let mut word = [0];
            ring.read_window(from.tenant, from.address + at, &mut word)?;
            inputs.store(grid, at, word[0]);
            at += grid.lanes();
        }
        Ok(())
    }

    #[inline(always)]
    fn give_result(&self, ring: Ring<'_, Places<G>>, to: Span) -> Result<[u32; RESULTS], Refusal> {
        let grid = self.grid;
        let result = self.result();
        let count = result.len();
        let fitting = count.min(to.words);
        let mut at = grid.lane();
        while at < fitting {
            let word = [result.load(grid, at)];
            ring.write_window(to.tenant, to.address + at, &word)?;
            at += grid.lanes();
        }
        Ok(results([fitting, count - fitting, 0]))
    }
}

pub(super) fn results([first, second, third]: [u32; 3]) -> [u32; RESULTS] {
    let mut results = [0; RESULTS];
    for (result, word) in results.iter_mut().zip([first, second, third]) {
        *result = word;
    }
    results
}
