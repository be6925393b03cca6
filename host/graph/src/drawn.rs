//! Random weights, for graphs that have none.

use rayon::prelude::*;

use super::csr::Csr;
use super::memory::{self, Shortage};
use super::mix::mix;

/// Largest generated weight.
const WEIGHT_MAX: u64 = 64;

/// Rows that are drawn together: blocks rather than rows, because splitting is sequential and
/// drawing is not.
const BLOCK: u32 = 1 << 12;

/// Draws one weight of 1 to 64 per edge, from its ends regardless of their order; rows are those of the
/// nodes from `start` on.
pub(super) fn draw_weights(csr: &Csr, start: u32, seed: u64) -> Result<Vec<u32>, Shortage> {
    let salt = mix(seed);
    let mut weights = memory::zeroed::<u32>(csr.targets().len())?;
    let mut rows: Vec<(u32, &mut [u32])> = Vec::new();
    memory::reserve_exact(&mut rows, csr.nodes().div_ceil(BLOCK) as usize)?;
    let mut rest = weights.as_mut_slice();
    for first in (0..csr.nodes()).step_by(BLOCK as usize) {
        let last = csr.nodes().min(first.saturating_add(BLOCK)) - 1;
        let edges = csr.row(last).end - csr.row(first).start;
        rows.push((first, rest.split_off_mut(..edges).unwrap_or_default()));
    }
    rows.into_par_iter().for_each(|(first, block)| {
        memory::prepare(block);
        let mut slots = block.iter_mut();
        for node in first..csr.nodes().min(first.saturating_add(BLOCK)) {
            for (&target, slot) in csr.neighbours(node).iter().zip(&mut slots) {
                *slot = weight_of(start + node, target, salt);
            }
        }
    });
    Ok(weights)
}

fn weight_of(from: u32, to: u32, salt: u64) -> u32 {
    let (low, high) = (u64::from(from.min(to)), u64::from(from.max(to)));
    (1 + mix(salt ^ ((low << 32) | high)) % WEIGHT_MAX) as u32
}
