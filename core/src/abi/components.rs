//! Words about the component that a program of components knows already.

/// Words of a register that names a component: its label, then whether it is known to be the
/// largest, so that none has to be searched for.
pub const KNOWN_WORDS: u32 = 2;

/// Largest share of all edges that may leave nodes outside a component that is taken for the
/// largest: one in so many.
pub const SHARE_OUTSIDE: u32 = 8;
