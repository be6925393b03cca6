//! Connected components: each device links the ends of its edges, then joins the trees of all.
//!
//! Two edges of each node are linked first and the trees joined; then the nodes of the largest
//! component are left out, where every edge has a mirror image (Sutton, Ben-Nun, Barak: "Optimizing
//! Parallel Graph Connectivity Computation via Subgraph Sampling", IPDPS 2018). Roots are the
//! smallest nodes of their trees, so labels are the same on all devices. Work O(m + n d) for d
//! devices, nearly; two barriers of all whatever the graph's depth.

use super::advance::back;
use super::meet::Part;
use crate::algorithms::components::{link, root_of};
use crate::machine::Grid;
use crate::machine::memory::word_of;
use crate::tables::control::Stop;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::multi::MultiState;

/// Edges of each node that are linked first.
const FIRST: u32 = 2;

/// Nodes among whose labels the most frequent one is found.
const SAMPLES: u32 = 16;

/// Finds a label for each node.
///
/// # Errors
/// As [`Part::meet`].
pub(super) fn run<G: Grid>(part: &mut Part<G>) -> Result<(), Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let parents = multi.values(grid);
    let nodes = multi.nodes(grid);
    part.team
        .each(nodes, |node| parents.store_weak(grid, node, node));
    part.barrier()?;
    link_first(part);
    join(part)?;
    if part.team.is_leader() {
        let label = if multi.symmetric(grid) != 0 {
            frequent(part)
        } else {
            UNREACHED
        };
        multi
            .state(grid)
            .store(grid, word_of!(MultiState, label), label);
    }
    part.barrier()?;
    link_rest(part)?;
    join(part)?;
    if part.team.is_leader() {
        let state = multi.state(grid);
        state.store(grid, word_of!(MultiState, rounds), 1);
        state.store(grid, word_of!(MultiState, converged), 1);
    }
    Ok(())
}

/// Links the first edges of this device's nodes.
#[inline(never)]
fn link_first<G: Grid>(part: &Part<G>) {
    let (grid, multi) = (part.grid(), part.multi);
    let (edges, parents) = (multi.incoming(grid), multi.values(grid));
    part.team.each(multi.own_nodes(grid), |at| {
        let [start, end] = [at, at + 1].map(|at| edges.offsets.constant(grid, at));
        for edge in start..end.min(start.saturating_add(FIRST)) {
            link(
                grid,
                parents,
                at + edges.first,
                edges.ends.constant(grid, edge),
            );
        }
    });
}

/// Links all edges of this device's nodes that do not have the frequent label.
#[inline(never)]
fn link_rest<G: Grid>(part: &Part<G>) -> Result<(), Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let (edges, parents) = (multi.incoming(grid), multi.values(grid));
    let label = part.state(word_of!(MultiState, label));
    let wanted = |node: u32| parents.load_weak(grid, node) != label;
    let fetch = |edge: u32| edges.ends.constant(grid, edge);
    back(part, edges, wanted, fetch, |node, from| {
        link(grid, parents, node, from);
    })
}

/// Makes the trees of all devices one, on each, and points each node at its root.
#[inline(never)]
fn join<G: Grid>(part: &mut Part<G>) -> Result<(), Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let parents = multi.values(grid);
    let nodes = multi.nodes(grid);
    part.barrier()?;
    // The array that others read does not change meanwhile: they would miss a link that moved.
    let shown = multi.shares(grid, part.step());
    part.team.each(nodes, |node| {
        let root = root_of(grid, parents, node);
        shown.store_weak(grid, node, root);
    });
    part.meet(true)?;
    let own = multi.own(grid);
    for device in 0..multi.devices(grid) {
        if device == own {
            continue;
        }
        let theirs = multi.of_device(grid, shown, device);
        part.team.each(nodes, |node| {
            let root = theirs.load_weak(grid, node);
            if root != node {
                link(grid, parents, node, root);
            }
        });
    }
    part.barrier()?;
    part.team.each(nodes, |node| {
        let root = root_of(grid, parents, node);
        parents.store(grid, node, root);
    });
    part.barrier()
}

/// The most frequent label of a few nodes, the same on all devices. One lane calls this.
fn frequent<G: Grid>(part: &Part<G>) -> u32 {
    let (grid, multi) = (part.grid(), part.multi);
    let (parents, nodes) = (multi.values(grid), multi.nodes(grid));
    let label = |sample: u32| {
        let node = u64::from(sample) * u64::from(nodes) / u64::from(SAMPLES);
        parents.load(grid, node as u32)
    };
    let (mut best, mut most) = (UNREACHED, 0);
    for sample in 0..SAMPLES {
        let own = label(sample);
        let equal = (0..SAMPLES).filter(|other| label(*other) == own).count();
        if equal > most {
            (best, most) = (own, equal);
        }
    }
    best
}
