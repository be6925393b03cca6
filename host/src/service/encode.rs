//! Slots of queries: their arguments as words.

use super::error::SubmitError;
use super::query::Query;
use seawall_core::abi::ring::{ARGUMENTS, PRINT_WORDS};
use seawall_core::protocol::Short;

impl Query {
    /// The arguments of its slot, except the number of the task.
    pub(super) fn arguments(&self) -> Result<[u32; ARGUMENTS], SubmitError> {
        Ok(match self {
            Self::Nop => words(&[]),
            Self::Store { address, value } | Self::Add { address, value } => {
                words(&[*address, *value])
            }
            Self::Load { address } => words(&[*address]),
            Self::CompareSwap {
                address,
                expected,
                value,
            } => words(&[*address, *expected, *value]),
            Self::Copy { from, to } => words(&[from.address, *to, from.words]),
            Self::Automaton {
                table,
                input,
                parent,
            } => words(&[*table, input.address, input.words, 0, 0, 0, *parent]),
            Self::Reach { source, target } => words(&[*source, *target]),
            Self::Distance {
                source,
                target,
                metric,
            } => words(&[*source, *target, *metric as u32]),
            Self::Neighbours { node, to } => words(&[*node, to.address, to.words]),
            Self::Run {
                program,
                inputs,
                to,
            } => words(&[*program, inputs.address, inputs.words, to.address, to.words]),
            Self::Packed(shorts) => packed(shorts)?,
            Self::Print(text) => printed(text)?,
            Self::User { arguments, .. } => words(arguments),
        })
    }
}

/// Arguments that begin with `given`.
fn words(given: &[u32]) -> [u32; ARGUMENTS] {
    let mut arguments = [0; ARGUMENTS];
    arguments[..given.len()].copy_from_slice(given);
    arguments
}

fn packed(shorts: &[Short]) -> Result<[u32; ARGUMENTS], SubmitError> {
    Short::encode(shorts).ok_or(SubmitError::TooManyShorts {
        given: shorts.len(),
        most: 4,
    })
}

fn printed(text: &[u32]) -> Result<[u32; ARGUMENTS], SubmitError> {
    if text.len() > PRINT_WORDS {
        return Err(SubmitError::LongText {
            given: text.len(),
            most: PRINT_WORDS,
        });
    }
    let mut arguments = [0; ARGUMENTS];
    arguments[0] = text.len() as u32;
    arguments[1..=text.len()].copy_from_slice(text);
    Ok(arguments)
}
