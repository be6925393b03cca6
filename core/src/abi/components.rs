//! Layout of a component that is already known to a program of components.

/// Words of a register that names a component: its label, then whether it is known to be the
/// largest, so that none has to be searched for.
pub const KNOWN_WORDS: u32 = 2;

/// Largest share of all edges that may leave nodes outside a component that is taken for the
/// largest: one in this many.
pub const SHARE_OUTSIDE: u32 = 8;
