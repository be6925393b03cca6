//! The one fault that all tuning helpers share.

/// A slice is shorter than the operation needs, or the need exceeds the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename = "shape_mismatch"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[error("{field} holds {provided} elements; pass {needed}")]
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
