//! Handlers of the opcodes that only need the ring's memory.

use super::claim::Claim;
use super::layout::field;
use super::packed::{self, Short, ShortOp};
use super::refusal::Refusal;
use super::window::Window;
use super::{Outcome, Read, Ring, Scope, Site, Swap, Update, Words};
use crate::abi::ring::{ARGUMENTS, Continuation, ControlBlock, FaultCode, Kind, RESULTS, Shutdown};

/// Symbols that an automaton reads in one turn.
const SYMBOLS_PER_TURN: u32 = 256;

impl<W: Words + ?Sized> Ring<'_, W> {
    /// Runs a claimed slot that touches at most one word of its window, for one result; `None` if
    /// its kind does more.
    #[inline(always)]
    pub fn execute_light(&self, claim: &Claim) -> Option<Result<u32, Refusal>> {
        match claim.work {
            Err(refusal) => Some(Err(refusal)),
            Ok(Kind::Nop) => Some(Ok(0)),
            Ok(kind @ (Kind::Store | Kind::Add | Kind::Load | Kind::CompareSwap)) => {
                let window = self.window(claim.slot.tenant);
                Some(self.touch(kind, &claim.slot.arguments, window))
            }
            Ok(_) => None,
        }
    }

    /// Runs a claimed slot; `None` if its kind needs a graph, a program or a user's
    /// handler.
    pub fn execute(&self, claim: &Claim) -> Option<Outcome> {
        if let Some(result) = self.execute_light(claim) {
            return Some(match result {
                Ok(word) => Outcome::word(word),
                Err(refusal) => Outcome::Fault(refusal),
            });
        }
        let kind = claim.work.ok()?;
        let window = || self.window(claim.slot.tenant);
        let arguments = &claim.slot.arguments;
        Some(match kind {
            Kind::Copy => Outcome::from(self.copy(arguments, window())),
            Kind::DfaStep => self
                .run_automaton(claim, window())
                .unwrap_or_else(Outcome::Fault),
            Kind::BatchFence => self.fence(claim),
            Kind::Packed => Outcome::from(self.run_packed(arguments, window())),
            Kind::Print => self.print(&claim.slot),
            Kind::Shutdown => {
                self.shut_down(Shutdown::Drain);
                Outcome::Done([0; RESULTS])
            }
            Kind::Nop | Kind::Store | Kind::Add | Kind::Load | Kind::CompareSwap => return None,
            Kind::RunProgram | Kind::Reach | Kind::Distance | Kind::Neighbours | Kind::User => {
                return None;
            }
        })
    }

    /// One operation on one word.
    #[inline(always)]
    fn touch(
        &self,
        kind: Kind,
        arguments: &[u32; ARGUMENTS],
        window: Window,
    ) -> Result<u32, Refusal> {
        let [address, second, third, ..] = *arguments;
        let at = window.at(address)?;
        let swap = Swap {
            expected: second,
            value: third,
        };
        Ok(match kind {
            Kind::Store => {
                self.set(at, second);
                0
            }
            Kind::Add => self.count(at, second),
            Kind::Load => self.get(at),
            _ => self.words.swap_if(at, swap, Update::Relaxed, Scope::System),
        })
    }

    /// Copies words; overlapping source and target behave as with a temporary copy.
    fn copy(
        &self,
        arguments: &[u32; ARGUMENTS],
        window: Window,
    ) -> Result<[u32; RESULTS], Refusal> {
        let [from, to, words, ..] = *arguments;
        let (source, target) = (window.span(from, words)?, window.span(to, words)?);
        let move_word = |step: u32| {
            let word = self.get(source.wrapping_add(step));
            self.set(target.wrapping_add(step), word);
        };
        if from < to {
            (0..words).rev().for_each(move_word);
        } else {
            (0..words).for_each(move_word);
        }
        Ok([0; RESULTS])
    }

    fn run_packed(
        &self,
        arguments: &[u32; ARGUMENTS],
        window: Window,
    ) -> Result<[u32; RESULTS], Refusal> {
        let mut results = [0; RESULTS];
        for (short, result) in packed::decode(arguments)?.iter().zip(&mut results) {
            *result = self.run_short(*short, window)?;
        }
        Ok(results)
    }

    fn run_short(&self, short: Short, window: Window) -> Result<u32, Refusal> {
        if short.op == ShortOp::Nop {
            return Ok(0);
        }
        let at = window.at(short.address)?;
        Ok(match short.op {
            ShortOp::Nop => 0,
            ShortOp::Store => {
                self.set(at, short.value);
                0
            }
            ShortOp::Add => self.count(at, short.value),
            ShortOp::Load => self.get(at),
        })
    }

    /// Reads some symbols and continues later, so that a long text does not block others.
    ///
    /// The table begins with its states and its symbols; then follows the next state of
    /// each state and symbol.
    fn run_automaton(&self, claim: &Claim, window: Window) -> Result<Outcome, Refusal> {
        let [table, input, length, ..] = claim.slot.arguments;
        let task = claim.continuation();
        let automaton = Automaton {
            table,
            states: self.get(window.at(table)?),
            symbols: self.get(window.at(table.saturating_add(1))?),
        };
        let end = task.data.saturating_add(SYMBOLS_PER_TURN).min(length);
        let mut state = task.program_counter;
        for position in task.data..end {
            let symbol = self.get(window.at(input.saturating_add(position))?);
            state = self.get(window.at(automaton.place(state, symbol)?)?);
        }
        Ok(if end >= length {
            Outcome::word(state)
        } else {
            Outcome::Yield(Continuation {
                program_counter: state,
                data: end,
                ..task
            })
        })
    }

    /// Ends when all slots of its batch have, and begins the next epoch.
    fn fence(&self, claim: &Claim) -> Outcome {
        let [batch, members, ..] = claim.slot.arguments;
        let at = Self::batch_at(batch);
        let ended = self
            .words
            .load(at, Read::Acquire(Site::Members), Scope::System);
        if ended != members {
            return Outcome::Requeue(claim.continuation());
        }
        let at = field!(ControlBlock, epoch);
        let order = Update::Release(Site::NextEpoch);
        let epoch = self.words.add(at, 1, order, Scope::System);
        Outcome::word(epoch.wrapping_add(1))
    }
}

/// A table of next states in a window.
#[derive(Clone, Copy)]
struct Automaton {
    table: u32,
    states: u32,
    symbols: u32,
}

impl Automaton {
    /// The address of the state after `symbol` in `state`.
    fn place(self, state: u32, symbol: u32) -> Result<u32, Refusal> {
        for (value, count) in [(state, self.states), (symbol, self.symbols)] {
            if value >= count {
                return Err(Refusal::new(FaultCode::BadArgument, value));
            }
        }
        let row = u64::from(state).wrapping_mul(u64::from(self.symbols));
        let place = row
            .wrapping_add(u64::from(symbol))
            .wrapping_add(u64::from(self.table))
            .wrapping_add(2);
        Ok(u32::try_from(place).unwrap_or(u32::MAX))
    }
}
