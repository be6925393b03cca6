//! Workers: threads that claim slots and answer them.

use super::deadline::Deadline;
use super::programs::Programs;
use super::search::Searcher;
use super::{Shared, SharedRing};
use crate::graph::WeightKind;
use seawall_core::abi::ring::{Continuation, FaultCode, Kind, RESULTS, SlotRecord, TASK};
use seawall_core::protocol::{Claim, Outcome, Refusal, Worker};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Longest sleep of an idle worker before it polls again.
const LONGEST_SLEEP: Duration = Duration::from_millis(200);

/// Sleep of a worker if no waiting slot can continue yet.
const SHORT_SLEEP: Duration = Duration::from_millis(1);

/// One turn of a user's opcode.
#[derive(Debug)]
pub struct Call<'c> {
    ring: SharedRing<'c>,
    claim: &'c Claim,
    deadline: Deadline<'c>,
}

impl Call<'_> {
    /// Its arguments; the last one is the number of the task.
    #[must_use]
    pub const fn arguments(&self) -> &[u32; 12] {
        &self.claim.slot().arguments
    }

    /// The arguments from the fourth on as the state of an earlier turn.
    #[must_use]
    pub fn continuation(&self) -> Continuation {
        self.claim.continuation()
    }

    /// Batches that have ended.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.ring.epoch()
    }

    /// Whether the handler should end: its time is over or the service ends.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.deadline.check().is_err()
    }

    /// Reads words of the tenant's window.
    ///
    /// # Errors
    /// [`FaultCode::BadAddress`] if they lie outside.
    pub fn read(&self, address: u32, to: &mut [u32]) -> Result<(), Refusal> {
        self.ring.read_window(self.claim.slot().tenant, address, to)
    }

    /// Writes words of the tenant's window.
    ///
    /// # Errors
    /// [`FaultCode::BadAddress`] if they lie outside.
    pub fn write(&self, address: u32, from: &[u32]) -> Result<(), Refusal> {
        self.ring
            .write_window(self.claim.slot().tenant, address, from)
    }
}

/// A worker's thread.
pub(super) fn run(shared: &Shared, number: u32) {
    let mut bench = Bench {
        shared,
        searcher: Searcher::default(),
        programs: Programs::new(shared),
    };
    let mut worker = Worker::new(shared.ring(), None);
    let mut in_vain = 0_u32;
    while !worker.should_end() {
        let changes = shared.notify.changes();
        worker.enter(number, shared.ring().control().favourite);
        let is_resting = number >= shared.ring().control().workers;
        let claim = if is_resting { None } else { worker.claim() };
        let Some(claim) = claim else {
            shared.notify.wait(changes, LONGEST_SLEEP);
            continue;
        };
        let index = claim.index();
        let outcome = bench.handle(&claim);
        let cannot_start = matches!(outcome, Outcome::Requeue(_));
        worker.answer(claim, outcome);
        shared.in_flight.harvest(shared.ring(), index);
        shared.notify.ring();
        in_vain = if cannot_start { in_vain + 1 } else { 0 };
        if in_vain > shared.ring().waiting().iter().sum() {
            in_vain = 0;
            shared.notify.wait(shared.notify.changes(), SHORT_SLEEP);
        }
    }
}

/// Data for a worker's answers.
struct Bench<'s> {
    shared: &'s Shared,
    searcher: Searcher,
    programs: Programs<'s>,
}

impl Bench<'_> {
    fn handle(&mut self, claim: &Claim) -> Outcome {
        let ring = self.shared.ring();
        if let Some(outcome) = ring.execute(claim) {
            return outcome;
        }
        let deadline = Deadline {
            shared: self.shared,
            at: Instant::now().checked_add(self.shared.slot_budget),
        };
        let handled = catch_unwind(AssertUnwindSafe(|| self.handle_kind(claim, deadline)));
        handled.unwrap_or_else(|_| {
            // After a panic, the handler's state is not used again.
            self.searcher = Searcher::default();
            self.programs = Programs::new(self.shared);
            Outcome::fault(FaultCode::Handler, 0)
        })
    }

    fn handle_kind(&mut self, claim: &Claim, deadline: Deadline<'_>) -> Outcome {
        let slot = claim.slot();
        let [first, second, third, ..] = slot.arguments;
        match claim.work() {
            Err(refusal) => Outcome::Fault(refusal),
            Ok(Kind::Reach) => Outcome::from(self.reach((first, second), &deadline)),
            Ok(Kind::Distance) => Outcome::from(self.distance((first, second), third, &deadline)),
            Ok(Kind::Neighbours) => {
                Outcome::from(self.neighbours(slot.tenant, first, (second, third)))
            }
            Ok(Kind::RunProgram) => {
                let answer = self.run_program(slot, &deadline);
                answer.map_or_else(|outcome| outcome, Outcome::Done)
            }
            Ok(_) => self.user(claim, deadline),
        }
    }

    fn user(&mut self, claim: &Claim, deadline: Deadline<'_>) -> Outcome {
        let opcode = claim.slot().opcode;
        let Some(handler) = self.shared.handlers.get(&opcode) else {
            let answer = self.call(claim.slot(), &deadline);
            return answer.map_or_else(|outcome| outcome, Outcome::Done);
        };
        handler(&Call {
            ring: self.shared.ring(),
            claim,
            deadline,
        })
    }

    /// Runs a program with words of the window, and puts its result there.
    fn run_program(
        &mut self,
        slot: &SlotRecord,
        deadline: &Deadline<'_>,
    ) -> Result<[u32; RESULTS], Outcome> {
        let [number, address, words, to, capacity, ..] = slot.arguments;
        let ring = self.shared.ring();
        let mut inputs = vec![0; words as usize];
        let read = ring.read_window(slot.tenant, address, &mut inputs);
        read.map_err(Outcome::Fault)?;
        let words = self.programs.run(number, &inputs, deadline)?;
        // A late result would go to a place that another query may own by now.
        deadline.check().map_err(Outcome::Fault)?;
        write(ring, slot.tenant, (to, capacity), words).map_err(Outcome::Fault)
    }

    /// Runs the program of a user's opcode.
    fn call(
        &mut self,
        slot: &SlotRecord,
        deadline: &Deadline<'_>,
    ) -> Result<[u32; RESULTS], Outcome> {
        let mut programs = (0..).zip(&self.shared.programs);
        let found = programs.find(|(_, program)| program.opcode == Some(slot.opcode));
        let unknown = Outcome::fault(FaultCode::UnknownOpcode, slot.opcode);
        let (number, program) = found.ok_or(unknown)?;
        let mut inputs = vec![0; program.program.input_bytes as usize / 4];
        for (input, word) in inputs.iter_mut().zip(&slot.arguments[..TASK]) {
            *input = *word;
        }
        let words = self.programs.run(number, &inputs, deadline)?;
        deadline.check().map_err(Outcome::Fault)?;
        Ok(results(words))
    }

    fn check_node(&self, node: u32) -> Result<(), Refusal> {
        if node < self.shared.graph.nodes() {
            return Ok(());
        }
        Err(Refusal::new(FaultCode::NoSuchNode, node))
    }

    fn reach(
        &mut self,
        pair: (u32, u32),
        deadline: &Deadline<'_>,
    ) -> Result<[u32; RESULTS], Refusal> {
        self.check_node(pair.0)?;
        self.check_node(pair.1)?;
        let hops = self
            .searcher
            .hops(&self.shared.graph, pair.0, pair.1, deadline)?;
        Ok(results(&[u32::from(hops.is_some())]))
    }

    fn distance(
        &mut self,
        pair: (u32, u32),
        metric: u32,
        deadline: &Deadline<'_>,
    ) -> Result<[u32; RESULTS], Refusal> {
        self.check_node(pair.0)?;
        self.check_node(pair.1)?;
        let graph = &self.shared.graph;
        let length = if metric == 0 {
            self.searcher.hops(graph, pair.0, pair.1, deadline)?
        } else if graph.weight_kind() == Some(WeightKind::Integer) {
            self.searcher.length(graph, pair.0, pair.1, deadline)?
        } else {
            return Err(Refusal::new(FaultCode::BadArgument, metric));
        };
        Ok(length.map_or(results(&[0]), |length| {
            results(&[1, length as u32, (length >> 32) as u32])
        }))
    }

    fn neighbours(
        &self,
        tenant: u32,
        node: u32,
        place: (u32, u32),
    ) -> Result<[u32; RESULTS], Refusal> {
        self.check_node(node)?;
        let words = self.shared.graph.neighbours(node);
        write(self.shared.ring(), tenant, place, words)
    }
}

/// Writes as many of `words` as fit, and counts the rest.
fn write(
    ring: SharedRing<'_>,
    tenant: u32,
    (address, capacity): (u32, u32),
    words: &[u32],
) -> Result<[u32; RESULTS], Refusal> {
    let (fitting, rest) = words.split_at(words.len().min(capacity as usize));
    ring.write_window(tenant, address, fitting)?;
    Ok(results(&[fitting.len() as u32, rest.len() as u32]))
}

fn results(given: &[u32]) -> [u32; RESULTS] {
    let mut results = [0; RESULTS];
    results[..given.len()].copy_from_slice(given);
    results
}
