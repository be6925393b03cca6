//! Priorities that fade by their own coefficient.

use super::ShapeMismatch;

/// Repeats x ← x − (damping·r)·x for every priority, `iterations` times, in place.
///
/// Damping is not clamped. O(priorities · iterations) at most: a priority that no longer changes
/// is left early.
///
/// ```
/// use seawall_core::tuning::decay;
/// let mut priorities = [8.0, 4.0];
/// decay(&mut priorities, &[1.0, 0.5], 0.5, 2)?;
/// assert_eq!(priorities, [2.0, 2.25]);
/// # Ok::<(), seawall_core::tuning::ShapeMismatch>(())
/// ```
///
/// # Errors
/// [`ShapeMismatch`] when the lengths differ; the priorities are then unchanged.
pub fn decay(
    priorities: &mut [f64],
    coefficients: &[f64],
    damping: f64,
    iterations: u32,
) -> Result<(), ShapeMismatch> {
    if priorities.len() != coefficients.len() {
        return Err(ShapeMismatch {
            field: "coefficients",
            needed: priorities.len(),
            provided: coefficients.len(),
        });
    }
    for (priority, &coefficient) in priorities.iter_mut().zip(coefficients) {
        *priority = faded(*priority, damping * coefficient, iterations);
    }
    Ok(())
}

fn faded(mut priority: f64, loss: f64, iterations: u32) -> f64 {
    for _ in 0..iterations {
        let next = priority - loss * priority;
        // Equal bits stay equal for ever, NaN included.
        if next.to_bits() == priority.to_bits() {
            break;
        }
        priority = next;
    }
    priority
}
