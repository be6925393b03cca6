//! Sums the contributions of every node's predecessors, slice by slice.
//!
//! Warps take even shares of the edges of all slices, one slice after another (`slices`), as
//! `gather` takes those of rows. A node has a row in each slice in which it has edges, so the sums
//! of rows are added.
//!
//! Nothing is proved of the copied edges and their rows: a source that is neither a node nor a
//! frequent one stands for the last one, a row of no node is left out, row offsets are only
//! compared, and rows end at the last edge.

use super::gather::{Edges, Pull, RowSums, Sums};
use super::scale::Scale;
use super::slices::RowList;
use crate::collectives::context::{Context, ContextRef};
use crate::machine::Grid;
use crate::machine::memory::Proven;
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;

/// Adds the predecessors' contributions to the zero sums.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short.
#[inline(never)]
pub(super) fn gather_slices<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    let (nodes, edges) = (tables.nodes(grid), tables.edges(grid));
    let pairs = nodes.checked_mul(2).ok_or(FaultCode::BadRegister)?;
    let list = RowList::of(tables.register(grid, wave.source(grid, 2))?)?;
    // SAFETY: indices are nodes of the graph, or below the register's own length.
    let words = unsafe { tables.proven_of(grid, wave.source(grid, 0), nodes)? };
    let sliced = Sliced {
        starts: list.starts(),
        // SAFETY: indices are below the number of edges, at which rows end, and four words are
        // read from multiples of four on.
        sources: unsafe { tables.proven_of(grid, wave.source(grid, 1), edges)? },
        edges,
        last: words.len().saturating_sub(1),
    };
    let pull = Pull {
        sums: NodeSums {
            // SAFETY: indices are nodes of the graph, twice as many for two words each.
            sums: unsafe { tables.proven_of(grid, wave.destination(grid), pairs)? },
            nodes,
            of_rows: list.nodes(),
        },
        rows: RowSums {
            rows: sliced,
            nodes: list.rows(grid),
            edges,
            contributions: words,
            scale: Scale::of_edges(edges),
        },
    };
    add_up(context, &pull);
    Ok(())
}

/// Adds the sums of all rows. Takes references, the exception to codegen rule `BY_VALUE`.
#[inline(never)]
fn add_up<G: Grid>(context: &Context<G>, pull: &Pull<Sliced, NodeSums>) {
    let (team, grid) = (&context.team, context.team.grid);
    let pull = *pull;
    if G::SIMT {
        pull.by_edges(team);
    } else {
        team.each_taken(pull.rows.nodes, |row| {
            pull.sums.add(grid, row, pull.rows.one(grid, row));
        });
    }
}

/// Edges by slices of their sources. They were copied by waves that may belong to the same
/// launch, so they are no constants.
#[derive(Clone, Copy, Debug)]
struct Sliced {
    starts: Proven,
    sources: Proven,
    edges: u32,
    /// The last node or frequent source.
    last: u32,
}

impl Edges for Sliced {
    #[inline(always)]
    fn row<G: Grid>(self, grid: G, row: u32) -> (u32, u32) {
        let start = self.starts.load_weak(grid, row);
        let end = self.starts.load_weak(grid, row + 1);
        (start, end.min(self.edges))
    }

    #[inline(always)]
    fn source<G: Grid>(self, grid: G, edge: u32) -> u32 {
        self.sources.load_weak(grid, edge).min(self.last)
    }

    #[inline(always)]
    fn sources4<G: Grid>(self, grid: G, edge: u32) -> [u32; 4] {
        let [a, b, c, d] = self.sources.load_weak4_once(grid, edge);
        let last = self.last;
        [a.min(last), b.min(last), c.min(last), d.min(last)]
    }
}

/// Sums of nodes, two words each, to which the rows of all slices add.
#[derive(Clone, Copy, Debug)]
struct NodeSums {
    sums: Proven,
    nodes: u32,
    /// The node of each row.
    of_rows: Proven,
}

impl Sums for NodeSums {
    #[inline(always)]
    fn set<G: Grid>(self, grid: G, row: u32, sum: u64) {
        self.add(grid, row, sum);
    }

    #[inline(always)]
    fn add<G: Grid>(self, grid: G, row: u32, sum: u64) {
        let node = self.of_rows.load_weak(grid, row);
        if node < self.nodes {
            self.sums.add_wide(grid, 2 * node, sum);
        }
    }
}
