//! The one fault that all tuning helpers share.

use core::fmt;

/// A slice is shorter than the operation needs, or the need exceeds the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(tag = "kind", rename = "shape_mismatch")
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ShapeMismatch {
    /// The argument.
    pub field: &'static str,
    /// Elements needed; saturates.
    pub needed: usize,
    /// Elements provided.
    pub provided: usize,
}

impl ShapeMismatch {
    /// The error's name in snake case.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        "shape_mismatch"
    }
}

impl fmt::Display for ShapeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            field,
            needed,
            provided,
        } = self;
        write!(f, "{field} holds {provided} elements; pass {needed}")
    }
}

impl core::error::Error for ShapeMismatch {}
