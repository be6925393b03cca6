//! One step of natural-gradient descent.

use super::ShapeMismatch;

/// The arguments of a step in `n` dimensions; elements beyond those needed are ignored.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NaturalGradient<'a> {
    /// The preconditioner, n·n elements row by row.
    pub matrix: &'a [f64],
    /// The gradient, n elements.
    pub gradient: &'a [f64],
    /// Dimensions.
    pub n: usize,
    /// Step length.
    pub learning_rate: f64,
}

/// Writes −rate · M · g into the first `n` elements of `out`; sums run left to right.
///
/// O(n²).
///
/// ```
/// use seawall_core::tuning::{NaturalGradient, natural_gradient_step};
/// let mut out = [0.0; 2];
/// let step = NaturalGradient {
///     matrix: &[1.0, 0.0, 0.0, 2.0], gradient: &[3.0, 4.0], n: 2, learning_rate: 0.5,
/// };
/// natural_gradient_step(&step, &mut out)?;
/// assert_eq!(out, [-1.5, -4.0]);
/// # Ok::<(), seawall_core::tuning::ShapeMismatch>(())
/// ```
///
/// # Errors
/// [`ShapeMismatch`] names the first short argument; `out` is then unchanged.
pub fn natural_gradient_step(
    step: &NaturalGradient<'_>,
    out: &mut [f64],
) -> Result<(), ShapeMismatch> {
    let n = step.n;
    let cells = n.saturating_mul(n);
    let matrix = prefix("matrix", step.matrix, cells)?;
    let gradient = prefix("gradient", step.gradient, n)?;
    let provided = out.len();
    let out = out.get_mut(..n).ok_or(ShapeMismatch {
        field: "out",
        needed: n,
        provided,
    })?;
    // A matrix of width 0 has no rows, and `out` is empty then.
    for (delta, row) in out.iter_mut().zip(matrix.chunks_exact(n.max(1))) {
        *delta = -step.learning_rate * dot(row, gradient);
    }
    Ok(())
}

fn dot(row: &[f64], gradient: &[f64]) -> f64 {
    row.iter()
        .zip(gradient)
        .fold(0.0, |sum, (m, g)| sum + m * g)
}

fn prefix<'a>(
    field: &'static str,
    slice: &'a [f64],
    needed: usize,
) -> Result<&'a [f64], ShapeMismatch> {
    slice.get(..needed).ok_or(ShapeMismatch {
        field,
        needed,
        provided: slice.len(),
    })
}
