//! Spanning forests.

use super::Rows;

const NONE: u64 = u64::MAX;

/// The edge of a minimum spanning forest by which each node joined another tree, its larger end in
/// the low word; all ones for none. Borůvka's rounds.
pub(in super::super) fn forest(rows: Rows<'_>) -> Vec<u64> {
    let nodes = rows.nodes();
    let count = nodes as usize;
    let mut roots: Vec<u32> = (0..nodes).collect();
    let mut leads = roots.clone();
    let mut edges = vec![NONE; count];
    let mut leaving: Vec<u64> = (0..u64::from(nodes)).collect();
    let mut lightest = vec![u32::MAX; count];
    let mut picks = vec![NONE; count];
    let mut joins = vec![0_u32; count];
    let mut joined: Vec<u32> = Vec::with_capacity(count);
    loop {
        for node in 0..nodes {
            let known = leaving[node as usize];
            let own = roots[node as usize];
            if known == NONE || roots[known as u32 as usize] != own {
                continue;
            }
            let mut least = NONE;
            for edge in rows.edges(node) {
                let other = rows.targets[edge];
                if roots[other as usize] != own {
                    least = least.min(u64::from(rows.weights[edge]) << 32 | u64::from(other));
                }
            }
            leaving[node as usize] = least;
        }
        for node in 0..count {
            let known = leaving[node];
            let (own, weight) = (roots[node] as usize, (known >> 32) as u32);
            if known != NONE && lightest[own] > weight {
                lightest[own] = weight;
            }
        }
        for node in 0..nodes {
            let known = leaving[node as usize];
            let own = roots[node as usize] as usize;
            if known != NONE && lightest[own] == (known >> 32) as u32 {
                let other = known as u32;
                let pick = u64::from(node.min(other)) << 32 | u64::from(node.max(other));
                picks[own] = picks[own].min(pick);
            }
        }
        for node in 0..nodes {
            let pick = picks[node as usize];
            joins[node as usize] = if pick == NONE {
                node
            } else {
                let one = roots[pick as u32 as usize];
                let other = roots[(pick >> 32) as usize];
                if one == node { other } else { one }
            };
        }
        joined.clear();
        for node in 0..nodes {
            let to = joins[node as usize];
            let is_circle = joins[to as usize] == node && node < to;
            let stays = is_circle || to == node;
            leads[node as usize] = if stays { node } else { to };
            if !stays {
                edges[node as usize] = picks[node as usize];
                joined.push(node);
            }
        }
        loop {
            let mut changed = false;
            for node in &joined {
                let own = leads[*node as usize];
                let next = leads[own as usize];
                if next != own {
                    leads[*node as usize] = next;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        for node in 0..count {
            roots[node] = leads[roots[node] as usize];
            lightest[node] = u32::MAX;
            picks[node] = NONE;
        }
        if joined.is_empty() {
            return edges;
        }
    }
}
