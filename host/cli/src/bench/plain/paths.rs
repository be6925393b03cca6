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

/// The share of shortest paths from `source` on which each node lies, both ends left out, halved.
pub(in super::super) fn betweenness(rows: Rows<'_>, source: u32) -> Vec<f32> {
    let nodes = rows.nodes() as usize;
    let mut levels = vec![u32::MAX; nodes];
    let mut paths = vec![0.0_f32; nodes];
    let mut order = vec![source];
    let mut begins = vec![0];
    levels[source as usize] = 0;
    paths[source as usize] = 1.0;
    let (mut first, mut depth) = (0, 0);
    while first < order.len() {
        let end = order.len();
        for place in first..end {
            let node = order[place];
            if depth > 0 {
                let mut count = 0.0;
                for other in rows.row(node) {
                    if levels[*other as usize] == depth - 1 {
                        count += paths[*other as usize];
                    }
                }
                paths[node as usize] = count;
            }
            for other in rows.row(node) {
                if levels[*other as usize] == u32::MAX {
                    levels[*other as usize] = depth + 1;
                    order.push(*other);
                }
            }
        }
        first = end;
        begins.push(end);
        depth += 1;
    }
    let mut shares = vec![0.0_f32; nodes];
    let mut scores = vec![0.0_f32; nodes];
    for (level, row) in begins.windows(2).enumerate().rev() {
        for node in &order[row[0]..row[1]] {
            let mut sum = 0.0;
            for other in rows.row(*node) {
                if levels[*other as usize] == level as u32 + 1 {
                    let other = *other as usize;
                    sum += (1.0 + shares[other]) / paths[other];
                }
            }
            let share = sum * paths[*node as usize];
            shares[*node as usize] = share;
            if *node != source {
                scores[*node as usize] += share / 2.0;
            }
        }
    }
    scores
}
