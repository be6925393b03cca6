//! Rows that are a function of their node, made on all threads.

use rayon::prelude::*;
use std::ops::Range;

use crate::csr::Csr;
use crate::memory::{self, Shortage};

/// Nodes whose rows are made together.
const BLOCK: usize = 1 << 14;

/// Builds the rows that `near` lists for each of `nodes`, ascending.
///
/// Rows are listed twice: once to count them, so that each block of nodes knows its place, and
/// once to write them.
pub(super) fn rows<I: Iterator<Item = u32>>(
    nodes: Range<u32>,
    near: impl Fn(u32) -> I + Sync,
) -> Result<Csr, Shortage> {
    let mut offsets = memory::zeroed::<u32>(nodes.len() + 1)?;
    let first = |block: usize| nodes.start + (block * BLOCK) as u32;
    let blocks = offsets[1..].par_chunks_mut(BLOCK).enumerate();
    let counts: Vec<u32> = blocks
        .map(|(block, ends)| {
            let mut sum = 0;
            for (node, end) in (first(block)..).zip(ends) {
                sum += near(node).count() as u32;
                *end = sum;
            }
            sum
        })
        .collect();
    let edges: usize = counts.iter().map(|&count| count as usize).sum();
    let mut targets = memory::zeroed::<u32>(edges)?;
    let (mut rest, mut start, mut parts) = (targets.as_mut_slice(), 0, Vec::new());
    for (ends, count) in offsets[1..].chunks_mut(BLOCK).zip(counts) {
        let part = rest.split_off_mut(..count as usize).unwrap_or_default();
        parts.push((start, ends, part));
        start += count;
    }
    let parts = parts.into_par_iter().enumerate();
    parts.for_each(|(block, (start, ends, part))| {
        let mut slots = part.iter_mut();
        for (node, end) in (first(block)..).zip(ends) {
            near(node)
                .zip(&mut slots)
                .for_each(|(target, slot)| *slot = target);
            *end += start;
        }
    });
    Ok(Csr {
        offsets,
        targets,
        weights: None,
    })
}
