//! Admission of slots: on publishing, hosts refuse slots that workers would not run.

use super::packed;
use super::refusal::Refusal;
use super::window::Window;
use super::{Ring, Words};
use crate::abi::ring::{
    ARGUMENTS, BATCHES, FaultCode, Kind, OWNER, PRINT_WORDS, PRIORITIES, SlotRecord,
};

impl<W: Words + ?Sized> Ring<'_, W> {
    /// Returns the kind of a slot, if its tenant may request it with these arguments.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    #[inline(always)]
    pub fn admit(&self, slot: &SlotRecord) -> Result<Kind, Refusal> {
        let mask = self.mask_of(slot.tenant);
        if mask == 0 {
            return Err(Refusal::new(FaultCode::BadTenant, slot.tenant));
        }
        if slot.level() >= PRIORITIES {
            return Err(Refusal::new(FaultCode::BadPriority, slot.priority));
        }
        if slot.batch() > BATCHES {
            return Err(Refusal::new(FaultCode::BadBatch, slot.batch()));
        }
        let unknown = Refusal::new(FaultCode::UnknownOpcode, slot.opcode);
        let kind = Kind::of(slot.opcode).ok_or(unknown)?;
        let is_owners = kind == Kind::Shutdown && slot.tenant != OWNER;
        if is_owners || mask & kind.bit() == 0 {
            return Err(Refusal::new(FaultCode::NotPermitted, slot.opcode));
        }
        check_arguments(kind, &slot.arguments, || self.window(slot.tenant))?;
        Ok(kind)
    }
}

impl SlotRecord {
    /// Its priority word, which may be invalid.
    #[must_use]
    pub const fn level(&self) -> u32 {
        self.priority & 0xFF
    }

    /// The batch that it belongs to, from 1, or 0.
    #[must_use]
    pub const fn batch(&self) -> u32 {
        self.priority >> 8
    }
}

#[inline(always)]
fn check_arguments(
    kind: Kind,
    arguments: &[u32; ARGUMENTS],
    window: impl Fn() -> Window,
) -> Result<(), Refusal> {
    match kind {
        // Kinds without addresses read no window.
        Kind::Nop | Kind::Reach | Kind::Shutdown | Kind::User => Ok(()),
        Kind::Store | Kind::Add | Kind::Load | Kind::CompareSwap => {
            window().at(arguments[0]).map(drop)
        }
        _ => check_more(kind, arguments, window),
    }
}

/// The same for kinds with more than one address, in a separate function since these take more time
/// anyway.
#[inline(never)]
fn check_more(
    kind: Kind,
    arguments: &[u32; ARGUMENTS],
    window: impl Fn() -> Window,
) -> Result<(), Refusal> {
    let [first, second, third, fourth, fifth, ..] = *arguments;
    let span = |address, words| window().span(address, words);
    match kind {
        Kind::Copy => both(span(first, third), span(second, third)),
        Kind::DfaStep => both(span(first, 2), span(second, third)),
        Kind::BatchFence if first == 0 || first > BATCHES => {
            Err(Refusal::new(FaultCode::BadBatch, first))
        }
        Kind::RunProgram => both(span(second, third), span(fourth, fifth)),
        Kind::Distance => at_most(third, 1),
        Kind::Neighbours => span(second, third).map(drop),
        Kind::Packed => {
            let window = window();
            packed::decode(arguments)?
                .into_iter()
                .try_for_each(|short| short.check(window))
        }
        Kind::Print => at_most(first, PRINT_WORDS as u32),
        _ => Ok(()),
    }
}

fn both(one: Result<u32, Refusal>, other: Result<u32, Refusal>) -> Result<(), Refusal> {
    one.and(other).map(drop)
}

fn at_most(argument: u32, most: u32) -> Result<(), Refusal> {
    if argument > most {
        return Err(Refusal::new(FaultCode::BadArgument, argument));
    }
    Ok(())
}
