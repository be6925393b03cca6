//! Arrays of words that a run reads and writes.
//!
//! [`Words`] is a base and a length, and checks every index. An index out of range reads 0, writes
//! nothing and is recorded, so that the wave can end as a fault ([`none_missed`]). [`Proven`] is
//! the same array without the check, which would cost hot loops a branch per edge; its
//! constructor's caller states the proof. Debug builds check its indices too, and tests run every
//! kernel on the CPU in debug builds.

mod missed;
mod words;
mod proven;
mod csr;
mod kept;

pub use csr::Csr;
pub(crate) use kept::Kept;
pub use missed::none_missed;
pub(crate) use missed::{all_nodes, forget_missed, is_node, missed, note_missed};
pub use words::{Checked, Proof, Proven, Trust, Words};

/// Word `$field` of the record `$record` that starts at word `$start`.
macro_rules! word_of {
    ($record:ty, $field:ident) => {
        (core::mem::offset_of!($record, $field) / 4) as u32
    };
}
pub(crate) use word_of;
