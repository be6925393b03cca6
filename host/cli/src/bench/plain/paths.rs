//! Widest paths, and shares of shortest paths.

use super::Rows;

/// The width of the widest path from `source` to each node, `u32::MAX` where there is none.
pub(in super::super) fn widest(rows: Rows<'_>, source: u32) -> Vec<u32> {
    let nodes = rows.nodes();
    // Widths are one larger, so that 0 means none.
    let mut widths = vec![0_u32; nodes as usize];
    let mut now = vec![0_u32; nodes as usize];
    let mut next = vec![0_u32; nodes as usize];
    widths[source as usize] = u32::MAX;
    now[source as usize] = 1;
    loop {
        let mut changed = false;
        for node in 0..nodes {
            if now[node as usize] == 0 {
                continue;
            }
            now[node as usize] = 0;
            let own = widths[node as usize];
            for edge in rows.edges(node) {
                let other = rows.targets[edge] as usize;
                let through = own.min(rows.weights[edge] + 1);
                if widths[other] < through {
                    widths[other] = through;
                    next[other] = 1;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
        std::mem::swap(&mut now, &mut next);
    }
    widths.iter().map(|width| width.wrapping_sub(1)).collect()
}

/// Bits of a mantissa after its first one, extra bits of sums, and the exponent of 1 in pairs.
const FRACTION: u32 = 23;
const GUARD: u32 = 8;
const ONE: u64 = 64;

const UNITS: f32 = (1_u64 << 31) as f32;

/// The share of shortest paths from `source` on which each node lies, both ends left out, halved.
/// Numbers of paths are pairs of a mantissa and an exponent, since they outgrow floats, and sums
/// are of whole units; rows are the same in both directions.
pub(in super::super) fn betweenness(rows: Rows<'_>, source: u32) -> Vec<f32> {
    let nodes = rows.nodes() as usize;
    let mut levels = vec![u32::MAX; nodes];
    let mut paths = vec![0_u64; nodes];
    let mut order = Vec::with_capacity(nodes);
    let mut begins = vec![0];
    order.push(source);
    levels[source as usize] = 0;
    let mut first = 0;
    while first < order.len() {
        let end = order.len();
        for place in first..end {
            paths[order[place] as usize] = counted(rows, order[place], (&levels, &paths));
        }
        for place in first..end {
            let node = order[place];
            let next = levels[node as usize] + 1;
            for other in rows.row(node) {
                if levels[*other as usize] == u32::MAX {
                    levels[*other as usize] = next;
                    order.push(*other);
                }
            }
        }
        first = end;
        begins.push(end);
    }
    let mut shares = vec![0.0_f32; nodes];
    let mut scores = vec![0.0_f32; nodes];
    for row in begins.windows(2).rev() {
        for node in &order[row[0]..row[1]] {
            let share = shared(rows, *node, (&levels, &paths, &shares));
            let is_source = *node == source;
            // A path between two sources counts half at each.
            shares[*node as usize] = share + if is_source { 0.5 } else { 1.0 };
            scores[*node as usize] += if is_source { 0.0 } else { share };
        }
    }
    scores
}

/// The number of paths to a node.
fn counted(rows: Rows<'_>, node: u32, (levels, paths): (&[u32], &[u64])) -> u64 {
    let own = levels[node as usize];
    if own == 0 {
        return ONE << 32 | 1 << FRACTION;
    }
    let mut most = 0;
    for other in rows.row(node) {
        if levels[*other as usize] < own {
            most = most.max(paths[*other as usize]);
        }
    }
    let top = (most >> 32) as u32;
    let mut sum = 0_u64;
    for other in rows.row(node) {
        if levels[*other as usize] < own {
            let theirs = paths[*other as usize];
            let less = top.wrapping_sub((theirs >> 32) as u32);
            let units = u64::from(theirs as u32) << GUARD;
            sum = sum.wrapping_add(units.checked_shr(less).unwrap_or(0));
        }
    }
    let bits = (sum as f32).to_bits();
    let mantissa = bits & ((1 << FRACTION) - 1) | 1 << FRACTION;
    let exponent = (top + (bits >> FRACTION)).wrapping_sub(127 + FRACTION + GUARD);
    u64::from(exponent) << 32 | u64::from(mantissa)
}

/// The share of paths through a node.
fn shared(rows: Rows<'_>, node: u32, (levels, paths, shares): (&[u32], &[u64], &[f32])) -> f32 {
    let (next, mine) = (levels[node as usize] + 1, paths[node as usize]);
    let (mantissa, exponent) = (mine as u32 as f32 * UNITS, (mine >> 32) as u32);
    let mut sum = 0_u64;
    for other in rows.row(node) {
        let other = *other as usize;
        if levels[other] == next {
            let less = ((paths[other] >> 32) as u32).wrapping_sub(exponent);
            let through = mantissa / paths[other] as u32 as f32 * shares[other];
            sum = sum.wrapping_add((through as u64).checked_shr(less).unwrap_or(0));
        }
    }
    sum as f32 * (1.0 / UNITS)
}
