//! Workers: blocks that claim slots, and search with all of their lanes.
//!
//! Lane 0 polls for work, claims and answers; the others wait at a barrier, which costs nothing.

use super::board::{Task, Words, board, task_of, write};
use super::deadline::{Deadline, is_over};
use super::lengths::Lengths;
use super::pairs::Pairs;
use super::places::Places;
use super::program::{Program, Span, results};
use super::record::Serve;
use crate::machine::Grid;
use crate::machine::memory::word_of;
use crate::scheduler::sets::WaveSet;
use seawall_core::abi::ring::{ControlBlock, FaultCode, Kind, RESULTS, SlotRecord, TASK};
use seawall_core::protocol::{Claim, Layout, Outcome, Read, Refusal, Ring, Scope, Worker};

/// Longest rest between two polls for work, nanoseconds.
const REST_NS: u32 = 2_000;

/// Rest of a worker that the service does not need now, nanoseconds.
const SPARE_NS: u32 = 50_000;

/// Serves as worker `number` until the end.
#[inline(never)]
pub(super) fn run<G: Grid, S: WaveSet>(grid: G, serve: Serve, layout: Layout, number: u32) {
    let words = [serve.device(grid), serve.host(grid)];
    // SAFETY: `Serve::new` promises these words for the layout.
    let places = unsafe { Places::new(grid, words, layout) };
    let ring = Ring::new(&places, layout);
    let mut bench = Bench {
        grid,
        serve,
        number,
        worker: Worker::new(ring, None),
    };
    loop {
        let mut held = None;
        if grid.lane() == 0 {
            held = bench.next::<S>();
        }
        grid.block_barrier();
        let [task, first, second, third] = [0, 1, 2, 3].map(|at| board(grid, at));
        let outcome = match task_of(task) {
            Task::End => break,
            Task::Hops => bench.hops(first, second, third != 0),
            Task::Lengths => bench.lengths(first, second),
            Task::Neighbours => bench.neighbours(ring, [first, second, third]),
            // A kernel that runs no programs does not even contain the call.
            Task::Program if S::FAMILIES != 0 => bench.program::<S>(ring, first),
            Task::User if S::FAMILIES != 0 => bench.user::<S>(first),
            Task::Program | Task::User => Err(Refusal::new(FaultCode::NoSuchProgram, first)),
        };
        grid.block_barrier();
        if let Some(claim) = held {
            bench
                .worker
                .answer(claim, bench.outcome::<S>(first, outcome));
        }
    }
    if grid.lane() == 0 {
        serve.leave(grid, layout);
    }
}

/// The data of a worker.
struct Bench<'m, G> {
    grid: G,
    serve: Serve,
    number: u32,
    worker: Worker<'m, Places<G>>,
}

impl<G: Grid> Bench<'_, G> {
    /// A control word that hosts write.
    fn order(&self, at: u32) -> u32 {
        let word = self.serve.device(self.grid).wrapping_add(at as usize);
        // SAFETY: the device's ring begins with the control block.
        unsafe { self.grid.load_word(word, Read::Relaxed, Scope::Device) }
    }

    /// The outcome of work for all lanes; for a failed program it says where. One lane calls this.
    #[inline(always)]
    fn outcome<S: WaveSet>(&self, number: u32, result: Result<[u32; RESULTS], Refusal>) -> Outcome {
        match result {
            Err(refusal) if S::FAMILIES != 0 && refusal.code == FaultCode::ProgramFault => {
                let report = self
                    .program_at(number)
                    .map(|program| program.report(number));
                report.map_or_else(Outcome::Fault, Outcome::Stopped)
            }
            other => Outcome::from(other),
        }
    }

    /// Claims and answers until there is work for all lanes, and puts that on the board; one lane
    /// calls this.
    #[inline(never)]
    fn next<S: WaveSet>(&mut self) -> Option<Claim> {
        let grid = self.grid;
        let mut rest_ns = 0;
        loop {
            if is_over(self.order(word_of!(ControlBlock, shutdown))) {
                write(grid, Task::End, Words::default());
                return None;
            }
            if self.number >= self.order(word_of!(ControlBlock, workers)) {
                grid.rest(SPARE_NS);
                continue;
            }
            let favourite = self.order(word_of!(ControlBlock, favourite));
            self.worker.enter(self.number, favourite);
            let Some(claim) = self.worker.claim() else {
                rest_ns = (rest_ns * 2 + 32).min(REST_NS);
                grid.rest(rest_ns);
                continue;
            };
            rest_ns = 0;
            let ring = self.worker.ring();
            let outcome = match ring.execute(&claim) {
                Some(outcome) => outcome,
                None => match self.prepare::<S>(&claim) {
                    Ok((task, words)) => {
                        write(grid, task, words);
                        return Some(claim);
                    }
                    Err(refusal) => Outcome::Fault(refusal),
                },
            };
            if matches!(outcome, Outcome::Requeue(_)) {
                // The lanes that wait take at least as long.
                rest_ns = REST_NS;
            }
            self.worker.answer(claim, outcome);
            grid.rest(rest_ns);
        }
    }

    /// The work of all lanes for a claim.
    fn prepare<S: WaveSet>(&self, claim: &Claim) -> Result<(Task, Words), Refusal> {
        let slot = claim.slot();
        let [first, second, third, fourth, fifth, ..] = slot.arguments;
        let kind = claim.work()?;
        let words = [first, second, third, slot.tenant, fourth, fifth];
        let hops = |counts| [first, second, counts, slot.tenant, 0, 0];
        self.check_node(first, kind)?;
        if matches!(kind, Kind::Reach | Kind::Distance) {
            self.check_node(second, kind)?;
        }
        match kind {
            Kind::Reach => Ok((Task::Hops, hops(0))),
            Kind::Distance if third == 0 => Ok((Task::Hops, hops(1))),
            Kind::Distance if self.serve.weights(self.grid).is_some() => Ok((Task::Lengths, words)),
            Kind::Distance => Err(Refusal::new(FaultCode::BadArgument, third)),
            Kind::Neighbours => Ok((Task::Neighbours, words)),
            Kind::RunProgram if S::FAMILIES != 0 => {
                if self.program_at(first)?.input_words() != third {
                    return Err(Refusal::new(FaultCode::BadArgument, third));
                }
                Ok((Task::Program, words))
            }
            Kind::User if S::FAMILIES != 0 => {
                let number = self.program_of(slot)?;
                Ok((Task::User, [number, 0, 0, 0, 0, 0]))
            }
            Kind::RunProgram => Err(Refusal::new(FaultCode::NoSuchProgram, first)),
            _ => Err(Refusal::new(FaultCode::UnknownOpcode, slot.opcode)),
        }
    }

    /// The number of the program that a user's opcode runs, which takes the slot's arguments.
    fn program_of(&self, slot: &SlotRecord) -> Result<u32, Refusal> {
        let mut number = 0;
        while let Ok(program) = self.program_at(number) {
            if program.opcode() == slot.opcode {
                program.take_arguments(&slot.arguments[..TASK]);
                return Ok(number);
            }
            number += 1;
        }
        Err(Refusal::new(FaultCode::UnknownOpcode, slot.opcode))
    }

    /// Program `number` of this worker.
    #[inline(always)]
    fn program_at(&self, number: u32) -> Result<Program<G>, Refusal> {
        let words = self.serve.program(self.grid, self.number, number);
        let unknown = Refusal::new(FaultCode::NoSuchProgram, number);
        Ok(Program::new(self.grid, words.ok_or(unknown)?))
    }

    fn check_node(&self, node: u32, kind: Kind) -> Result<(), Refusal> {
        let names_one = matches!(kind, Kind::Reach | Kind::Distance | Kind::Neighbours);
        if names_one && node >= self.serve.nodes(self.grid) {
            return Err(Refusal::new(FaultCode::NoSuchNode, node));
        }
        Ok(())
    }

    #[inline(always)]
    fn deadline(&self) -> Deadline<G> {
        let budget = self.serve.slot_budget_ns(self.grid);
        Deadline::new(
            self.grid,
            self.grid.now_ns().saturating_add(budget),
            self.serve.device(self.grid),
        )
    }

    /// Returns whether there is a path, or the number of edges of a shortest one.
    #[inline(always)]
    fn hops(&self, source: u32, target: u32, counts: bool) -> Result<[u32; RESULTS], Refusal> {
        let pairs = Pairs::new(self.grid, self.serve, self.number);
        let hops = pairs.hops(source, target, &self.deadline())?;
        Ok(match hops {
            Some(hops) if counts => results([1, hops, 0]),
            Some(_) => results([1, 0, 0]),
            None => results([0; 3]),
        })
    }

    /// The sum of weights of a lightest path.
    #[inline(always)]
    fn lengths(&self, source: u32, target: u32) -> Result<[u32; RESULTS], Refusal> {
        let lengths = Lengths::new(self.grid, self.serve, self.number);
        let length = lengths.length(source, target, &self.deadline())?;
        Ok(length.map_or(results([0; 3]), |length| {
            results([1, length as u32, (length >> 32) as u32])
        }))
    }

    /// Runs a program with inputs from one span and results in another.
    #[inline(always)]
    fn program<S: WaveSet>(
        &self,
        ring: Ring<'_, Places<G>>,
        number: u32,
    ) -> Result<[u32; RESULTS], Refusal> {
        let [address, words, tenant, to, capacity] = [2, 3, 4, 5, 6].map(|at| board(self.grid, at));
        let span = |address, words| Span {
            tenant,
            address,
            words,
        };
        let (from, to) = (span(address, words), span(to, capacity));
        let deadline = self.deadline();
        self.program_at(number)?
            .query::<S>(ring, from, to, &deadline)
    }

    /// Runs a program with the arguments that it has taken, for an answer in the slot.
    #[inline(always)]
    fn user<S: WaveSet>(&self, number: u32) -> Result<[u32; RESULTS], Refusal> {
        let deadline = self.deadline();
        self.program_at(number)?.call::<S>(&deadline)
    }

    /// Writes as many of a node's neighbours as fit, one per lane, and counts the rest.
    #[inline(always)]
    fn neighbours(
        &self,
        ring: Ring<'_, Places<G>>,
        [node, address, capacity]: [u32; 3],
    ) -> Result<[u32; RESULTS], Refusal> {
        let grid = self.grid;
        let rows = self.serve.outgoing(grid);
        let tenant = board(grid, 4);
        let (first, end) = rows.row(grid, node);
        let count = end - first;
        let fitting = count.min(capacity);
        let mut at = grid.lane();
        while at < fitting {
            let word = [rows.target(grid, first + at)];
            ring.write_window(tenant, address + at, &word)?;
            at += grid.lanes();
        }
        Ok(results([fitting, count - fitting, 0]))
    }
}
