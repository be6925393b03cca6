//! Small numeric helpers for tuning launch parameters and wave priorities.
//!
//! They work on the caller's slices and keep no state. This module and [`crate::evidence`] are the
//! only ones with floating point; nothing that must be equal on two machines depends on it.

mod decay;
mod diffusion;
mod error;
mod gradient;

pub use decay::decay;
pub use diffusion::{Diffusion, DiffusionError, GraphError, SiblingGraph, diffuse};
pub use error::ShapeMismatch;
pub use gradient::{NaturalGradient, natural_gradient_step};

use core::cmp::Ordering;

/// A candidate chosen by cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Choice {
    /// Index of the candidate; `None` when the current value stays.
    pub index: Option<usize>,
    /// The candidate, or the current value.
    pub value: u32,
}

/// The candidate of the smallest finite cost, the first among equal ones; `current` when no cost
/// is finite.
///
/// Candidates and costs pair up to the shorter of the two; −0.0 is smaller than +0.0. O(pairs).
///
/// ```
/// use seawall_core::tuning::cheapest;
/// let choice = cheapest(&[64, 128, 256], &[f64::NAN, 3.0, 2.5], 32);
/// assert_eq!((choice.index, choice.value), (Some(2), 256));
/// assert_eq!(cheapest(&[64], &[f64::INFINITY], 32).value, 32);
/// ```
#[must_use]
pub fn cheapest(candidates: &[u32], costs: &[f64], current: u32) -> Choice {
    let mut best: Option<(f64, Choice)> = None;
    let pairs = candidates.iter().zip(costs);
    for (index, (&value, &cost)) in (0..candidates.len()).zip(pairs) {
        let smaller = match best {
            None => true,
            Some((least, _)) => cost.total_cmp(&least) == Ordering::Less,
        };
        if cost.is_finite() && smaller {
            let index = Some(index);
            best = Some((cost, Choice { index, value }));
        }
    }
    match best {
        Some((_, choice)) => choice,
        None => Choice {
            index: None,
            value: current,
        },
    }
}
