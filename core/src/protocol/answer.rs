//! The worker's side: how a slot ends, or continues later.

use super::claim::Claim;
use super::layout::{field, words_of};
use super::post::{CompletionWords, seal_of};
use super::refusal::Refusal;
use super::{Ring, Scope, Site, Update, Words, Worker, hash_of};
use crate::abi::ring::{
    CONTINUATION, CompletionRecord, Continuation, ControlBlock, FaultCode, Kind, KindRecord,
    RESULTS, Status, TASK, TenantRecord,
};

/// The end of a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Outcome {
    /// It ended with results.
    Done([u32; RESULTS]),
    /// It ended without results.
    Fault(Refusal),
    /// Without, since a program stopped itself: the words of its
    /// [`FaultRecord`](crate::abi::control::FaultRecord), and its number.
    Stopped([u32; RESULTS]),
    /// It continues from here in a later turn.
    Yield(Continuation),
    /// It could not start and has to be retried.
    Requeue(Continuation),
}

impl Outcome {
    /// Done, with one result.
    #[must_use]
    pub const fn word(value: u32) -> Self {
        let mut results = [0; RESULTS];
        results[0] = value;
        Self::Done(results)
    }

    /// A fault because of `detail`.
    #[must_use]
    pub const fn fault(code: FaultCode, detail: u32) -> Self {
        Self::Fault(Refusal::new(code, detail))
    }
}

impl From<Result<[u32; RESULTS], Refusal>> for Outcome {
    fn from(result: Result<[u32; RESULTS], Refusal>) -> Self {
        match result {
            Ok(results) => Self::Done(results),
            Err(refusal) => Self::Fault(refusal),
        }
    }
}

impl<W: Words + ?Sized> Worker<'_, W> {
    /// Ends the turn of a slot with the handler's result.
    pub fn answer(&mut self, claim: Claim, outcome: Outcome) {
        match outcome {
            Outcome::Yield(task) | Outcome::Requeue(task) if !is_known(task.flags) => {
                let code = FaultCode::BadContinuation;
                self.end(&claim, Err(Refusal::new(code, task.flags)), None);
            }
            Outcome::Yield(task) => {
                let yields = task.yields.saturating_add(1);
                self.suspend(&claim, Continuation { yields, ..task }, Status::Yield);
            }
            Outcome::Requeue(task) => {
                let requeues = task.requeues.saturating_add(1);
                self.suspend(&claim, Continuation { requeues, ..task }, Status::Requeue);
            }
            Outcome::Done(results) => self.end(&claim, Ok(results), None),
            Outcome::Fault(refusal) => self.end(&claim, Err(refusal), None),
            Outcome::Stopped(words) => {
                let [detail, ..] = words;
                let refusal = Refusal::new(FaultCode::ProgramFault, detail);
                self.end(&claim, Err(refusal), Some(&words));
            }
        }
    }

    fn suspend(&mut self, claim: &Claim, task: Continuation, status: Status) {
        let ring = self.ring;
        let task = Continuation {
            age: task.age.saturating_add(1),
            task: claim.slot.task(),
            ..task
        };
        let words: [u32; words_of::<Continuation>() as usize] = bytemuck::cast(task);
        ring.write_words(ring.layout.slot(claim.index).wrapping_add(FIRST), &words);
        ring.raise(field!(ControlBlock, oldest_age), task.age);
        let counter = match status {
            Status::Yield => field!(ControlBlock, yields),
            _ => field!(ControlBlock, requeues),
        };
        ring.tally(counter, 1);
        if claim.is_counted {
            ring.leave(claim.slot.tenant);
        }
        self.put_back = true;
        ring.put_back(claim.index, claim.level, status);
    }

    /// Ends a slot; a failed one with these results, if it has more of them than its refusal.
    fn end(
        &self,
        claim: &Claim,
        result: Result<[u32; RESULTS], Refusal>,
        of_failure: Option<&[u32; RESULTS]>,
    ) {
        let ring = self.ring;
        let task = claim.suspended().unwrap_or_default();
        let epoch = ring.epoch_now();
        let mut ending = self.ending(claim, result, task, epoch);
        if let Some(words) = of_failure {
            let results = ending.words.iter_mut().skip(FIRST_RESULT);
            results.zip(words).for_each(|(to, from)| *to = *from);
        }
        ring.write_words(ending.completion, &ending.words);
        for (at, value) in ending.counts {
            if value != 0 {
                ring.tally(at, value);
            }
        }
        ring.show_end(&ending, || seal_of(ending.ended, &ending.words));
    }

    /// The end of light work in an epoch, which is not written yet. The writer of the completion
    /// and the counts then calls [`Ring::show_end`].
    #[inline(always)]
    pub fn light_ending(&self, claim: &Claim, result: Result<u32, Refusal>, epoch: u32) -> Ending {
        let results = result.map(|word| {
            let mut results = [0; RESULTS];
            results[0] = word;
            results
        });
        self.ending(claim, results, Continuation::default(), epoch)
    }

    #[inline(always)]
    fn ending(
        &self,
        claim: &Claim,
        result: Result<[u32; RESULTS], Refusal>,
        task: Continuation,
        epoch: u32,
    ) -> Ending {
        let ended = match result {
            Ok(_) => Status::Done,
            Err(_) => Status::Fault,
        };
        Ending {
            index: claim.index,
            completion: self.ring.layout.completion(claim.index),
            words: bytemuck::cast(self.completion(claim, result, task, epoch)),
            counts: self.counts(claim, result.is_err()),
            ended,
            fault: result
                .err()
                .map(|refusal| (refusal.code, claim.slot.opcode)),
            leaves_traces: claim.leaves_traces(),
            batch: claim.slot.batch(),
        }
    }

    #[inline(always)]
    fn completion(
        &self,
        claim: &Claim,
        result: Result<[u32; RESULTS], Refusal>,
        task: Continuation,
        epoch: u32,
    ) -> CompletionRecord {
        let fault_results = |refusal: Refusal| {
            let mut results = [0; RESULTS];
            results[0] = refusal.detail;
            results
        };
        CompletionRecord {
            task: claim.slot.task(),
            status: if result.is_ok() {
                Status::Done
            } else {
                Status::Fault
            } as u32,
            fault: result.err().map_or(0, |refusal| refusal.code as u32),
            epoch,
            entry: self.only().map_or(0, |kind| (kind as u32).wrapping_add(1)),
            turns: task.yields.saturating_add(task.requeues).saturating_add(1),
            parent: task.parent,
            results: result.unwrap_or_else(fault_results),
        }
    }

    /// The additions of an end to the counters.
    #[inline(always)]
    fn counts(&self, claim: &Claim, is_fault: bool) -> [(u32, u32); COUNTS] {
        let tenant = Ring::<W>::tenant_at(claim.slot.tenant);
        let kind = claim.work.map_or(0, |kind| kind as u32);
        let kind = field!(ControlBlock, kinds)
            .wrapping_add(kind.wrapping_mul(words_of::<KindRecord>()))
            .wrapping_add(u32::from(is_fault));
        let in_tenant = |field: u32| tenant.wrapping_add(field);
        let counted = u32::from(claim.is_counted);
        [
            (field!(ControlBlock, done), 1),
            (field!(ControlBlock, checksum), hash_of(claim.slot.task())),
            (kind, u32::from(claim.work.is_ok())),
            (in_tenant(field!(TenantRecord, served)), counted),
            (
                in_tenant(field!(TenantRecord, running)),
                counted.wrapping_neg(),
            ),
            (
                in_tenant(field!(TenantRecord, faults)),
                counted & u32::from(is_fault),
            ),
            (field!(ControlBlock, faults), u32::from(is_fault)),
            (
                field!(ControlBlock, answered_by_one),
                u32::from(self.only().is_some()),
            ),
        ]
    }
}

/// Additions to the counters at the end of a slot, some of which may be 0.
pub const COUNTS: usize = 8;

/// The end of a slot.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Ending {
    /// Number of the slot.
    pub index: u32,
    /// First word of its completion in the ring.
    pub completion: u32,
    /// The words of the completion.
    pub words: CompletionWords,
    /// Words of the ring, and the amount added to each.
    pub counts: [(u32, u32); COUNTS],
    /// Its last status.
    pub ended: Status,
    /// Reason of its failure, and its opcode.
    fault: Option<(FaultCode, u32)>,
    leaves_traces: bool,
    batch: u32,
}

/// First word of a continuation in its slot.
const FIRST: u32 = field!(crate::abi::ring::SlotRecord, arguments) + CONTINUATION as u32;

/// First result of a completion.
const FIRST_RESULT: usize = field!(CompletionRecord, results) as usize;

fn is_known(flags: u32) -> bool {
    flags & !Continuation::AT_EPOCH == 0
}

impl Claim {
    /// Whether it may have written words besides its completion that its poster reads.
    const fn leaves_traces(&self) -> bool {
        !matches!(
            self.work,
            Err(_) | Ok(Kind::Nop | Kind::Load | Kind::Reach | Kind::Distance | Kind::Shutdown)
        )
    }

    /// The continuation of kinds that have one.
    fn suspended(&self) -> Option<Continuation> {
        let has_one = matches!(self.work, Ok(Kind::BatchFence | Kind::DfaStep | Kind::User));
        has_one.then(|| self.continuation())
    }
}

impl crate::abi::ring::SlotRecord {
    /// The number of its task.
    #[must_use]
    pub const fn task(&self) -> u32 {
        self.arguments[TASK]
    }
}

impl<W: Words + ?Sized> Ring<'_, W> {
    /// Marks a slot as ended, once its completion is written, and counts it in its batch. `seal` is
    /// of that completion, for machines that need one.
    #[inline(always)]
    pub fn show_end(&self, ending: &Ending, seal: impl FnOnce() -> u32) {
        if let Some((code, opcode)) = ending.fault {
            self.set(field!(ControlBlock, last_fault), code as u32);
            self.set(field!(ControlBlock, last_fault_opcode), opcode);
        }
        if self.words.seals() {
            self.seal(ending.index, seal(), ending.leaves_traces);
        } else {
            self.set_status(ending.index, ending.ended, Site::End);
        }
        self.count_member(ending.batch);
    }

    /// Counts an ended slot in its batch.
    fn count_member(&self, batch: u32) {
        if (1..=crate::abi::ring::BATCHES).contains(&batch) {
            let at = Self::batch_at(batch);
            let order = Update::Release(Site::Member);
            self.words.add_unseen(at, 1, order, Scope::System);
        }
    }
}
