//! Personalised ranks.

use super::Rows;

/// Units of a total in 1, as a power of two.
const TOTAL: f32 = (1_u64 << 60) as f32;

/// Ranks of walks from `source`, for `rounds` rounds at most, in sums of whole units, 2 to the
/// power of `exponent` in 1.
pub(in super::super) fn ranks(
    (rows, incoming): (Rows<'_>, Rows<'_>),
    source: u32,
    (damping, tolerance, exponent): (f32, f32, i32),
    rounds: u32,
) -> Vec<f32> {
    let nodes = rows.nodes();
    let (units, unit) = (2.0_f32.powi(exponent), 0.5_f32.powi(exponent));
    let tolerance = (f64::from(tolerance) * 2.0_f64.powi(60)) as u64;
    let mut starts = vec![0.0_f32; nodes as usize];
    starts[source as usize] = 1.0;
    let mut ranks = starts.clone();
    let mut shares = vec![0_u64; nodes as usize];
    for _ in 0..rounds {
        let mut jumping = 0_u64;
        for node in 0..nodes {
            let (own, degree) = (ranks[node as usize], rows.degree(node));
            let share = own / degree.max(1) as f32;
            shares[node as usize] = if degree == 0 {
                0
            } else {
                (share * units) as u64
            };
            let jumps = if degree == 0 { (own * TOTAL) as u64 } else { 0 };
            jumping = jumping.wrapping_add(jumps);
        }
        let mut change = 0_u64;
        for node in 0..nodes {
            let mut along = 0_u64;
            for other in incoming.row(node) {
                along = along.wrapping_add(shares[*other as usize]);
            }
            let along = along as f32 * unit;
            let anew = jumping as f32 * (1.0 / TOTAL) * damping + (1.0 - damping);
            let next = anew * starts[node as usize] + along * damping;
            let before = ranks[node as usize];
            let moved = next.max(before) - next.min(before);
            change = change.wrapping_add((moved * TOTAL) as u64);
            ranks[node as usize] = next;
        }
        if change <= tolerance {
            break;
        }
    }
    ranks
}
