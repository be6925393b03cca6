//! Answers to queries, as completions hold them.

use seawall_core::abi::ring::{CompletionRecord, FaultCode, Kind, Status};
use seawall_core::protocol::Refusal;

/// Result of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// It is done.
    Done,
    /// A word: what was read, the value before, or the last state.
    Word(u32),
    /// Whether there is a path.
    Reached(bool),
    /// The length of a shortest path, if there is one.
    Distance(Option<u64>),
    /// Words in the window.
    Written {
        /// Words that were written.
        words: u32,
        /// Words that had no room.
        overflow: u32,
    },
    /// A result of each packed operation; 0 for those that have none.
    Packed([u32; 4]),
    /// The epoch that a fence began.
    Epoch(u32),
    /// Results of a user's handler.
    User([u32; 9]),
}

/// The answer to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The result.
    pub reply: Reply,
    /// Batches that had ended when the query did.
    pub epoch: u32,
    /// Turns that it took.
    pub turns: u32,
    /// The task that it belongs to, or 0.
    pub parent: u32,
    /// The only kind that the entry which answered knew; `None` if it knew all.
    pub entry: Option<Kind>,
}

/// The answer in a completion of a query of `kind`, or its fault.
pub(super) fn answer_of(kind: Kind, record: &CompletionRecord) -> Result<Answer, Refusal> {
    if record.status != Status::Done as u32 {
        let code = FaultCode::from_word(record.fault);
        return Err(Refusal::new(code, record.results[0]));
    }
    let entry = record.entry.checked_sub(1);
    Ok(Answer {
        reply: reply_of(kind, &record.results),
        epoch: record.epoch,
        turns: record.turns,
        parent: record.parent,
        entry: entry.and_then(|index| Kind::ALL.get(index as usize).copied()),
    })
}

fn reply_of(kind: Kind, results: &[u32; 9]) -> Reply {
    let [first, second, third, fourth, ..] = *results;
    match kind {
        Kind::Nop | Kind::Store | Kind::Copy | Kind::Print | Kind::Shutdown => Reply::Done,
        Kind::Add | Kind::Load | Kind::CompareSwap | Kind::DfaStep => Reply::Word(first),
        Kind::BatchFence => Reply::Epoch(first),
        Kind::Reach => Reply::Reached(first != 0),
        Kind::Distance => {
            let length = u64::from(second) | u64::from(third) << 32;
            Reply::Distance((first != 0).then_some(length))
        }
        Kind::Neighbours | Kind::RunProgram => Reply::Written {
            words: first,
            overflow: second,
        },
        Kind::Packed => Reply::Packed([first, second, third, fourth]),
        Kind::User => Reply::User(*results),
    }
}
