//! The protocol between hosts and resident workers, written once for every machine.
//!
//! A [`Ring`] is a view of shared words: a control block, slots, completions, a print log and the
//! tenants' windows ([`crate::abi::ring`] has the records). Hosts publish, workers claim and
//! answer. The code is written over [`Words`], four operations on memory; threads and the model
//! checker differ only in that trait.
//!
//! ```text
//!            reserve              publish              claim
//!  Empty ───────────▶ WaitIo ───────────▶ Published ───────────▶ Claimed
//!    ▲                                                  ▲           │ answer
//!    │ release                                    claim │           ├──▶ Yield ──┐
//!    │                                                  ├───────────│            │
//!    │                                                  │           ├──▶ Requeue ┤
//!    │                                                  └───────────┼────────────┘
//!    ├───────────────────────── Done ◀──────────────────────────────┤
//!    └───────────────────────── Fault ◀─────────────────────────────┘
//! ```
//!
//! Every release names the load that it pairs with, and each place of either has a name ([`Site`]),
//! by which the model checker removes its order to verify that it is needed:
//!
//! | written words | release | acquire |
//! | --- | --- | --- |
//! | payload of a slot | status, [`Ring::publish`] | status, [`Worker::claim`] |
//! | continuation | status, [`Worker::answer`] | status, [`Worker::claim`] |
//! | completion, counters, windows | status, [`Worker::answer`] | status, [`Ring::poll`] |
//! | the same, of a batch's members | count of the batch, [`Worker::answer`] | the fence's load |
//! | the same, of a whole batch | epoch, the fence | epoch, [`Ring::epoch`] |
//! | a record of the log | its sequence, the printer | its sequence, [`Ring::print_at`] |
//! | end, earlier counts | shutdown, [`Ring::shut_down`] | shutdown, [`Worker::should_end`] |
//! | a host's poll of an answer | status, [`Ring::release`] | status, [`Ring::reserve`] |
//! | a word of a record, after its mark | the word, the printer | the word, [`Ring::print_at`] |
//! | a record whose place is reused | its sequence, the printer | its sequence, the next printer |
//!
//! Each word is changed by read-modify-write on one side only, so that a machine whose atomics do
//! not reach the other side's memory can run this: hosts add to `posted`, workers to `claimed`; the
//! status of a slot defines its owner.
//!
//! [`post`] brings slots to workers with separate memory, and answers back.

mod admit;
mod answer;
mod claim;
mod execute;
mod layout;
mod packed;
pub mod post;
mod print;
mod publish;
mod refusal;
mod schedule;
mod sites;
mod window;
mod words;

pub use answer::{COUNTS, Ending, Outcome};
pub use claim::{Claim, Worker};
pub use layout::{Layout, LayoutError};
pub use packed::{Short, ShortOp};
pub use publish::Setup;
pub use refusal::Refusal;
pub use schedule::AGEING_AFTER;
pub use sites::Site;
pub use words::{Read, Scope, Swap, Update, Words, Write};

/// Shared words and their layout.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Ring<'m, W: ?Sized> {
    words: &'m W,
    layout: Layout,
}

impl<W: ?Sized> Clone for Ring<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: ?Sized> Copy for Ring<'_, W> {}

impl<'m, W: Words + ?Sized> Ring<'m, W> {
    /// The ring in `words`, which must be as many as [`Layout::words`].
    pub const fn new(words: &'m W, layout: Layout) -> Self {
        Self { words, layout }
    }

    /// The places of its parts.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// The memory.
    #[must_use]
    pub const fn memory(&self) -> &'m W {
        self.words
    }
}

/// The hash that the end of a task adds to the checksum, so that a lost or doubled task
/// shows in the sum.
#[must_use]
pub const fn hash_of(task: u32) -> u32 {
    let mixed = (task ^ (task >> 16)).wrapping_mul(0x85EB_CA6B);
    let mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xC2B2_AE35);
    mixed ^ (mixed >> 16)
}
