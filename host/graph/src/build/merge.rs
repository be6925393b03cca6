//! Drops self loops and duplicates from sorted edges.

use rayon::prelude::*;

use super::parts::Cuts;
use super::{Cleaned, Edges};

/// Drops self loops, and keeps the lightest of equal edges; the edges are sorted.
///
/// Parts are cleaned apart and then moved together.
pub(super) fn merge<const N: usize>(edges: &mut Edges<N>) -> Cleaned {
    let cuts = Cuts::of(edges);
    let parts = cuts.split(edges, 1);
    let kept: Vec<(usize, Cleaned)> = parts.into_par_iter().map(merge_part).collect();
    let (mut end, mut all) = (0, Cleaned::default());
    for (part, (kept, cleaned)) in cuts.ranges().zip(kept) {
        if end < part.start {
            edges.copy_within(part.start..part.start + kept, end);
        }
        end += kept;
        all.self_loops += cleaned.self_loops;
        all.duplicates += cleaned.duplicates;
    }
    edges.truncate(end);
    edges.shrink_to_fit();
    all
}

/// Moves the edges that stay to the front of the part; returns their number.
fn merge_part<const N: usize>(edges: &mut [[u32; N]]) -> (usize, Cleaned) {
    let (mut kept, mut cleaned) = (0, Cleaned::default());
    for at in 0..edges.len() {
        let edge = edges[at];
        if edge[0] == edge[1] {
            cleaned.self_loops += 1;
        } else if kept > 0 && edges[kept - 1][..2] == edge[..2] {
            cleaned.duplicates += 1;
            if N == 3 {
                let lightest = &mut edges[kept - 1][N - 1];
                *lightest = edge[N - 1].min(*lightest);
            }
        } else {
            edges[kept] = edge;
            kept += 1;
        }
    }
    (kept, cleaned)
}
