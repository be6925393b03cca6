//! Connected components by linking parent trees: `label(v)` is the least node that `v` is connected
//! to. Work is near linear in nodes and edges, as climbs halve their paths; depth is a fixed number
//! of waves.
//!
//! Afforest (Sutton, Ben-Nun, Barak: "Optimizing Parallel Graph Connectivity Computation via
//! Subgraph Sampling", IPDPS 2018): link a sample of edges, find the largest component, and visit
//! the remaining edges of the other nodes only. Roots hook to smaller roots, so the label of a
//! component is its smallest node on every machine. If a search comes first (`hook_reached`) and
//! finds the largest component, no sample is needed.

mod hook_reached;

use crate::operators::advance::edges::{Rows, each_edge, each_edge_of_few};

use crate::collectives::context::{Context, ContextRef};
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven, Words};
use crate::machine::shared::SAMPLE;
use crate::tables::Wave;
use seawall_core::abi::components::KNOWN_WORDS;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::{NO_REGISTER, Opcode};

/// Nodes whose labels are sampled for the largest component.
const SAMPLES: u32 = SAMPLE.words();

/// Labels of the sample that all lanes count before a single lane decides.
const TRIES: u32 = 4;

/// Nodes that a lane takes at a time, so that their accesses overlap.
const TOGETHER: usize = 4;

/// Runs an opcode of this family.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short.
#[inline(never)]
pub fn run_components<G: Grid>(
    cx: ContextRef<G>,
    opcode: Opcode,
    wave: Wave,
) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    let nodes = tables.nodes(grid);
    if opcode == Opcode::HookReached {
        return hook_reached::run(cx, wave);
    }
    if is_known(context, wave.source(grid, 2))? {
        return Ok(());
    }
    if opcode == Opcode::Majority {
        let to = tables.register_of(grid, wave.destination(grid), 1)?;
        // SAFETY: the nodes of the sample are below `nodes`.
        let labels = unsafe { tables.proven_of(grid, wave.source(grid, 0), nodes)? };
        majority(cx, to, labels.part(0, nodes));
        return Ok(());
    }
    // SAFETY: no word is above its own number, as the host proved (`Invariant::Forest`): the word
    // of a node is a node again.
    let parents = unsafe { tables.proven_of(grid, wave.destination(grid), nodes)? };
    match opcode {
        Opcode::Compress => compress(context, parents, nodes),
        Opcode::LinkSample => {
            let [sample, skip] = [0, 1].map(|at| wave.parameter(grid, at));
            if sample == 1 {
                link_one(context, parents, nodes, skip);
            } else {
                link_sample(context, parents, nodes, skip, sample);
            }
        }
        Opcode::LinkRest => {
            let largest = tables.register_of(grid, wave.source(grid, 0), 1)?;
            let largest = largest.load_weak(grid, 0);
            link_rest(cx, parents, largest, wave.parameter(grid, 0));
        }
        _ => each_edge(&context.team, rows_after(context, 0), |edge| {
            link(grid, parents, edge.from, edge.to);
        }),
    }
    Ok(())
}

/// The rows of all nodes, without the first `skip` edges of each.
#[inline(always)]
fn rows_after<G: Grid>(context: &Context<G>, skip: u32) -> Rows {
    let (tables, grid) = (context.tables, context.team.grid);
    Rows {
        csr: tables.outgoing(grid),
        nodes: tables.nodes(grid),
        edges: tables.edges(grid),
        skip,
    }
}

/// Joins the ends of all edges but the first `skip` of every node that is not below `largest`.
#[inline(never)]
fn link_rest<G: Grid>(cx: ContextRef<G>, parents: Proven, largest: u32, skip: u32) {
    let context = &cx.context();
    let grid = context.team.grid;
    let wanted = |node| parents.load_weak(grid, node) != largest;
    each_edge_of_few(&context.team, rows_after(context, skip), wanted, |edge| {
        link(grid, parents, edge.from, edge.to);
    });
}

/// Whether there is a register `known` in which a search has found the largest component.
#[inline(always)]
fn is_known<G: Grid>(context: &Context<G>, known: u32) -> Result<bool, FaultCode> {
    if known == NO_REGISTER {
        return Ok(false);
    }
    let (tables, grid) = (context.tables, context.team.grid);
    let known = tables.register_of(grid, known, KNOWN_WORDS)?;
    Ok(known.load_weak(grid, 1) != 0)
}

/// The root above `node` and its parent `above` according to this lane's cache: perhaps an old root,
/// but an ancestor in any case.
#[inline(always)]
fn seen_root_of<G: Grid>(grid: G, parents: Proven, node: u32, above: u32) -> u32 {
    climb(grid, parents, node, above, |at| parents.load_weak(grid, at))
}

/// The root above `node`.
#[inline(always)]
pub(crate) fn root_of<G: Grid>(grid: G, parents: Proven, node: u32) -> u32 {
    let parent = parents.load(grid, node);
    climb(grid, parents, node, parent, |at| parents.load(grid, at))
}

/// Climbs from `child` and its parent until `above` returns a node for itself. On the way, each
/// node is pointed at its grandparent, which halves the path for the next climb. A node with a
/// parent is no root, so no hook is lost. Parents are smaller than their children whenever they
/// were read, so old ones lead upwards too.
#[inline(always)]
fn climb<G: Grid>(
    grid: G,
    parents: Proven,
    mut child: u32,
    mut at: u32,
    above: impl Fn(u32) -> u32,
) -> u32 {
    loop {
        let next = above(at);
        if next == at {
            return at;
        }
        parents.store(grid, child, next);
        child = at;
        at = next;
    }
}

/// Hooks the larger of the roots above `a` and `b` to the smaller.
///
/// Most edges of a large component join nodes below one root already. Cached words settle
/// those: a common ancestor is one, however old the words.
#[inline(always)]
pub(crate) fn link<G: Grid>(grid: G, parents: Proven, a: u32, b: u32) {
    let (above_a, above_b) = (parents.load_weak(grid, a), parents.load_weak(grid, b));
    if above_a == above_b {
        return;
    }
    let mut left = seen_root_of(grid, parents, a, above_a);
    let mut right = seen_root_of(grid, parents, b, above_b);
    if left == right {
        return;
    }
    left = root_of(grid, parents, left);
    right = root_of(grid, parents, right);
    while left != right {
        let (high, low) = if left > right {
            (left, right)
        } else {
            (right, left)
        };
        if parents.swap_if(grid, high, high, low) == high {
            return;
        }
        left = root_of(grid, parents, high);
        right = root_of(grid, parents, low);
    }
}

/// Joins `sample` edges of every node, those after the first `skip`.
fn link_sample<G: Grid>(context: &Context<G>, parents: Proven, nodes: u32, skip: u32, sample: u32) {
    let grid = context.team.grid;
    let rows = context.tables.outgoing(grid);
    let links = |node| {
        let (start, end) = rows.row(grid, node);
        let first = start.saturating_add(skip);
        for edge in first..end.min(first.saturating_add(sample)) {
            link(grid, parents, node, rows.target(grid, edge));
        }
    };
    if G::TAKES {
        // Threads contend where their trees meet, which takes longer than anything else. Long
        // shares meet rarely.
        context
            .team
            .each_range(nodes, u32::MAX, |first, end| (first..end).for_each(links));
    } else {
        context.team.each_taken(nodes, links);
    }
}

/// Joins edge `edge` of every node.
fn link_one<G: Grid>(context: &Context<G>, parents: Proven, nodes: u32, edge: u32) {
    let grid = context.team.grid;
    let rows = context.tables.outgoing(grid);
    let links = |some: &[u32; TOGETHER]| link_some(grid, rows, nodes, parents, some, edge);
    if G::TAKES {
        // As above.
        context.team.each_range(nodes, u32::MAX, |first, end| {
            (first..end).for_each(|node| links(&[node, u32::MAX, u32::MAX, u32::MAX]));
        });
    } else {
        context.team.each_of(nodes, links);
    }
}

/// Joins edge `edge` of the rows of `some` nodes, where the row has one.
///
/// A root goes below a smaller neighbour right away, wherever that is in its tree. Paths get
/// longer, but are not climbed yet (Jaiganesh, Burtscher: "A High-Performance Connected Components
/// Implementation for GPUs", HPDC 2018).
#[inline(always)]
fn link_some<G: Grid>(
    grid: G,
    rows: Csr,
    nodes: u32,
    parents: Proven,
    some: &[u32; TOGETHER],
    edge: u32,
) {
    const NONE: u32 = u32::MAX;
    let (mut to, mut own) = ([NONE; TOGETHER], [NONE; TOGETHER]);
    for k in 0..TOGETHER {
        if some[k] < nodes {
            let (start, end) = rows.row(grid, some[k]);
            if edge < end - start {
                to[k] = rows.target(grid, start + edge);
                own[k] = parents.load_weak(grid, some[k]);
            }
        }
    }
    // A hook returns the root that it took, a lookup the parent; the node's own root if the edge is
    // settled.
    let mut above = own;
    for k in 0..TOGETHER {
        if to[k] < some[k] && own[k] == some[k] {
            above[k] = parents.swap_if(grid, some[k], some[k], to[k]);
        } else if to[k] != NONE {
            above[k] = parents.load_weak(grid, to[k]);
        }
    }
    // Codegen rule `NO_INDEXED_ARRAYS`.
    let mut left = 0;
    for k in 0..TOGETHER {
        left |= u32::from(above[k] != own[k]) << k;
    }
    let [mut first, mut second, mut third, fourth] = *some;
    let [mut end, mut next, mut later, last] = to;
    while left != 0 {
        if left & 1 != 0 {
            link(grid, parents, first, end);
        }
        left >>= 1;
        (first, second, third) = (second, third, fourth);
        (end, next, later) = (next, later, last);
    }
}

/// Points every node at its root.
///
/// No root gets a parent meanwhile, and outdated words lead upwards too, so a cached word suffices
/// at first. Each node's word has one writer: a second one could put an older ancestor over its
/// root.
fn compress<G: Grid>(context: &Context<G>, parents: Proven, nodes: u32) {
    let grid = context.team.grid;
    context.team.each_taken_of(nodes, |some: &[u32; TOGETHER]| {
        let mut at = [0; TOGETHER];
        for k in 0..TOGETHER {
            if some[k] < nodes {
                at[k] = parents.load_weak(grid, some[k]);
            }
        }
        let mut above = at;
        for k in 0..TOGETHER {
            if some[k] < nodes {
                above[k] = parents.load_weak(grid, at[k]);
            }
        }
        while above != at {
            for k in 0..TOGETHER {
                if above[k] != at[k] {
                    parents.store(grid, some[k], above[k]);
                    at[k] = above[k];
                    above[k] = parents.load(grid, at[k]);
                }
            }
        }
    });
}

/// Stores the most frequent label of a sample; only the first block does so.
#[inline(never)]
fn majority<G: Grid>(cx: ContextRef<G>, to: Words, labels: Proven) {
    let context = &cx.context();
    let grid = context.team.grid;
    if !context.team.is_first() || labels.is_empty() {
        return;
    }
    let mut at = grid.lane();
    while at < SAMPLES {
        // Fibonacci hashing spreads the sample over the nodes.
        let hash = u64::from(at.wrapping_mul(0x9E37_79B9));
        let node = ((hash * u64::from(labels.len())) >> 32) as u32;
        // SAFETY: the area has a word for each label.
        unsafe { SAMPLE.store(grid, at, labels.load_weak(grid, node)) };
        at += grid.lanes();
    }
    grid.block_barrier();
    // SAFETY: the sample was stored above.
    let label = |at| unsafe { SAMPLE.load(grid, at) };
    let found = (0..TRIES).map(label).find(|candidate| {
        let mut count = 0;
        let mut base = 0;
        while base < SAMPLES {
            let at = base + grid.lane();
            count += grid.block_count(at < SAMPLES && label(at) == *candidate);
            base += grid.lanes();
        }
        2 * count > SAMPLES
    });
    if grid.lane() == 0 {
        to.store_weak(grid, 0, found.unwrap_or_else(|| most_frequent(label)));
    }
    grid.block_barrier();
}

/// The majority of the sample if there is one, else some label (Boyer and Moore's vote).
/// A wrong guess costs time only.
fn most_frequent(label: impl Fn(u32) -> u32) -> u32 {
    let (mut candidate, mut lead) = (label(0), 0_u32);
    for at in 0..SAMPLES {
        let next = label(at);
        if lead == 0 {
            candidate = next;
        }
        lead = if next == candidate {
            lead + 1
        } else {
            lead - 1
        };
    }
    candidate
}
