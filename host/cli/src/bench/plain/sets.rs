//! Independent sets.

use super::Rows;

/// The state of a node in the set.
const IN: u32 = u32::MAX;

/// Flags of the nodes of a maximal independent set: nodes of few edges come first, then by a mixed
/// number.
pub(in super::super) fn independent(rows: Rows<'_>) -> Vec<u32> {
    let nodes = rows.nodes();
    let mut states: Vec<u32> = (0..nodes).map(|node| priority(rows, node)).collect();
    let mut members = vec![0; nodes as usize];
    let mut waiting: Vec<u32> = Vec::with_capacity(nodes as usize);
    let mut next = Vec::with_capacity(nodes as usize);
    for node in 0..nodes {
        decide(rows, node, (&mut states, &mut members), &mut waiting);
    }
    while !waiting.is_empty() {
        for node in &waiting {
            decide(rows, *node, (&mut states, &mut members), &mut next);
        }
        std::mem::swap(&mut waiting, &mut next);
        next.clear();
    }
    members
}

fn decide(
    rows: Rows<'_>,
    node: u32,
    (states, members): (&mut [u32], &mut [u32]),
    waiting: &mut Vec<u32>,
) {
    let own = states[node as usize];
    if own == 0 || own == IN {
        return;
    }
    let mut best = 0;
    for other in rows.row(node) {
        let theirs = states[*other as usize];
        best = best.max(theirs);
        if theirs > own {
            break;
        }
    }
    if best > own {
        if best != IN {
            waiting.push(node);
        }
        return;
    }
    members[node as usize] = 1;
    states[node as usize] = IN;
    for other in rows.row(node) {
        states[*other as usize] = 0;
    }
}

/// Bits of a degree's magnitude.
const MAGNITUDE_BITS: u32 = 6;

/// A number that is different for each node, from 1 on, and no state.
fn priority(rows: Rows<'_>, node: u32) -> u32 {
    let bits = u32::BITS - (rows.nodes() - 1).leading_zeros();
    let bits = bits.max(2);
    let mask = u32::MAX >> (u32::BITS - bits);
    let mixed = node.wrapping_mul(0x9E37_79B1) & mask;
    let chance = (mixed ^ mixed >> (bits / 2)).wrapping_mul(0x7FEB_352D) & mask;
    let magnitude = (rows.degree(node) as f32).to_bits() >> 22;
    let few = 254 + (1 << MAGNITUDE_BITS) - 1 - magnitude.max(254);
    let space = u32::BITS - 1 - bits.min(u32::BITS - 1);
    let few = few >> MAGNITUDE_BITS.saturating_sub(space);
    (few << bits | chance) + 1
}
