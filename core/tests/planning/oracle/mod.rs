//! Obvious slow answers. They never call the code that they judge.

pub(crate) mod cycles;
pub(crate) mod longest_path;
pub(crate) mod packing;
