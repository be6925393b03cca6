//! The spanning forest of least weight, or of largest.
//!
//! Every tree of the forest so far takes the lightest edge that leaves it, and trees that meet become
//! one, until no edge is left. Edges of one weight order by their smaller ends, then by the larger
//! ones, as in the program for GPUs: both find the same edges at the same nodes. Of two trees that
//! take the same edge the one of the smaller node goes on. All others hold the edges that they took.
//!
//! The first round reads rows. What leaves the trees then is a list of edges in their order, each
//! once, which every round shortens to those that still leave. Trees are numbered anew in each
//! round, so that their arrays shrink as well.
//!
//! Work: the rows twice and the list in each of at most `log2 n` rounds, at most
//! `2 m + m / 2 log2 n` looks at edges. Memory: `5 n + 2 m` words.
//!
//! Source: Borůvka, "O jistém problému minimálním", 1926.

use super::Operands;
use super::work::{Pairs, Rows, Scratch, Work};
use crate::machine::Grid;
use crate::machine::memory::Words;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::sequential::Lengths;

/// No edge leaves a tree, or none is held.
const NONE: u64 = u64::MAX;

/// Words of a listed edge: its trees, its smaller end, and its place among all edges.
const ENTRY: u32 = 4;

/// Listed edges between two looks at the clock.
const STRIDE: u32 = 1024;

/// Stores the edges of the forest at the nodes that hold them.
pub(super) fn grow<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    operands.needs(2 * u64::from(nodes))?;
    let list_words = rows.rows.edges().checked_mul(ENTRY / 2);
    let forest = Forest {
        rows,
        nodes,
        maximum: operands.record.maximum,
        held: Pairs::of(operands.to),
        lightest: scratch.take_pairs(nodes)?,
        joins: scratch.take(nodes)?,
        names: scratch.take(nodes)?,
        numbers: scratch.take(nodes)?,
        list: scratch.take(list_words.ok_or(FaultCode::BadRegister)?)?,
    };
    for node in 0..nodes {
        forest.held.store(grid, node, NONE);
        forest.names.store_weak(grid, node, node);
    }
    forest.pick_from_rows(work)?;
    let mut trees = forest.join(work, nodes, Picks::Nodes)?;
    let mut length = forest.list_rows(work, trees)?;
    while length > 0 {
        trees = forest.join(work, trees, Picks::Listed)?;
        length = forest.shorten(work, length, trees)?;
    }
    Ok(())
}

/// The meaning of a pick's low word: the node at the other end of the edge, or its place in the list.
#[derive(Clone, Copy)]
enum Picks {
    Nodes,
    Listed,
}

/// An edge between two trees.
#[derive(Clone, Copy)]
struct Listed {
    trees: [u32; 2],
    /// Its smaller end.
    node: u32,
    /// Its place in the row of that node.
    edge: u32,
}

#[derive(Clone, Copy)]
struct Forest {
    rows: Rows,
    nodes: u32,
    maximum: bool,
    /// The edge that each node holds.
    held: Pairs,
    /// The lightest edge that leaves a tree: its weight above what [`Picks`] says.
    lightest: Pairs,
    /// The tree that a tree joins, itself if none.
    joins: Words,
    /// The node that a tree is named after.
    names: Words,
    /// The number of a tree in the next round.
    numbers: Words,
    list: Words,
}

impl Forest {
    /// The weight of an edge as a word, the least of which comes first.
    #[inline(always)]
    fn weight<G: Grid>(&self, grid: G, edge: u32) -> u32 {
        let word = match self.rows.lengths {
            Lengths::Edges => 0,
            // Words of weights of each kind order like the weights.
            Lengths::Whole | Lengths::Float => self.rows.weights.load_weak(grid, edge),
        };
        if self.maximum { !word } else { word }
    }

    /// Picks the lightest edge of each node: at one node, edges of one weight order by their other
    /// ends alone.
    fn pick_from_rows<G: Grid>(&self, work: &mut Work<'_, G>) -> Result<(), FaultCode> {
        let grid = work.grid;
        for node in 0..self.nodes {
            let mut least = NONE;
            for edge in work.row(self.rows.rows, node)? {
                let to = self.rows.rows.target(grid, edge);
                let weight = self.weight(grid, edge);
                least = least.min(u64::from(weight) << 32 | u64::from(to));
            }
            self.lightest.store(grid, node, least);
        }
        Ok(())
    }

    /// Joins each of the first `trees` trees to the one that its lightest edge leads to; returns the
    /// number of trees that an edge may still leave.
    fn join<G: Grid>(
        &self,
        work: &mut Work<'_, G>,
        trees: u32,
        picks: Picks,
    ) -> Result<u32, FaultCode> {
        let grid = work.grid;
        for tree in 0..trees {
            work.pass(1)?;
            let pick = self.lightest.load(grid, tree);
            let to = match picks {
                _ if pick == NONE => tree,
                Picks::Nodes => pick as u32,
                Picks::Listed => {
                    let [one, other] = self.listed(grid, pick as u32).trees;
                    if one == tree { other } else { one }
                }
            };
            self.joins.store_weak(grid, tree, to);
        }
        let mut left = 0;
        for tree in 0..trees {
            work.pass(1)?;
            let pick = self.lightest.load(grid, tree);
            if pick == NONE {
                continue;
            }
            let to = self.joins.load_weak(grid, tree);
            let name = self.names.load_weak(grid, tree);
            if tree < to && self.joins.load_weak(grid, to) == tree {
                self.joins.store_weak(grid, tree, tree);
                self.numbers.store_weak(grid, tree, left);
                self.names.store_weak(grid, left, name);
                left += 1;
            } else {
                let ends = self.ends(grid, tree, pick as u32, picks);
                self.held.store(grid, name, ends);
            }
        }
        self.number(work, trees)?;
        Ok(left)
    }

    /// The ends of the edge that `tree` picked, the smaller one in the high word.
    #[inline(always)]
    fn ends<G: Grid>(&self, grid: G, tree: u32, low: u32, picks: Picks) -> u64 {
        let (node, other) = match picks {
            Picks::Nodes => (tree.min(low), tree.max(low)),
            Picks::Listed => {
                let Listed { node, edge, .. } = self.listed(grid, low);
                (node, self.rows.rows.target(grid, edge))
            }
        };
        u64::from(node) << 32 | u64::from(other)
    }

    /// Gives every tree that joined another one the number of the one that goes on.
    fn number<G: Grid>(&self, work: &mut Work<'_, G>, trees: u32) -> Result<(), FaultCode> {
        let grid = work.grid;
        for tree in 0..trees {
            let (mut root, mut steps) = (tree, 0);
            loop {
                let next = self.joins.load_weak(grid, root);
                if next == root {
                    break;
                }
                work.pass(1)?;
                // Trees join in a circle only where an edge has no mirror image.
                if steps == trees {
                    return Err(FaultCode::BadIndex);
                }
                (root, steps) = (next, steps + 1);
            }
            let number = self.numbers.load_weak(grid, root);
            let mut at = tree;
            while at != root {
                let next = self.joins.load_weak(grid, at);
                self.joins.store_weak(grid, at, root);
                self.numbers.store_weak(grid, at, number);
                at = next;
            }
        }
        Ok(())
    }

    /// Lists the edges between trees, and picks the lightest ones of `trees` trees.
    fn list_rows<G: Grid>(&self, work: &mut Work<'_, G>, trees: u32) -> Result<u32, FaultCode> {
        let grid = work.grid;
        if !self.begins(grid, trees) {
            return Ok(0);
        }
        let mut length = 0;
        for node in 0..self.nodes {
            let own = self.numbers.load_weak(grid, node);
            for edge in work.row(self.rows.rows, node)? {
                let to = self.rows.rows.target(grid, edge);
                if to > node {
                    let trees = [own, self.numbers.load_weak(grid, to)];
                    self.list(grid, &mut length, Listed { trees, node, edge });
                }
            }
        }
        Ok(length)
    }

    /// Keeps the listed edges that are still between trees, and picks the lightest ones of `trees`
    /// trees.
    fn shorten<G: Grid>(
        &self,
        work: &mut Work<'_, G>,
        length: u32,
        trees: u32,
    ) -> Result<u32, FaultCode> {
        let grid = work.grid;
        if !self.begins(grid, trees) {
            return Ok(0);
        }
        let mut kept = 0;
        for place in 0..length {
            if place % STRIDE == 0 {
                work.spend(STRIDE.min(length - place))?;
            }
            let before = self.listed(grid, place);
            let trees = before.trees.map(|tree| self.numbers.load_weak(grid, tree));
            self.list(grid, &mut kept, Listed { trees, ..before });
        }
        Ok(kept)
    }

    /// Forgets picks; returns whether an edge may leave one of `trees` trees.
    fn begins<G: Grid>(&self, grid: G, trees: u32) -> bool {
        for tree in 0..trees {
            self.lightest.store(grid, tree, NONE);
        }
        // An edge that leaves a tree leads to another one.
        trees > 1
    }

    /// Adds an edge between two trees to the list, and offers it to both.
    #[inline(always)]
    fn list<G: Grid>(&self, grid: G, length: &mut u32, edge: Listed) {
        let [one, other] = edge.trees;
        if one == other {
            return;
        }
        let at = length.wrapping_mul(ENTRY);
        let words = [one, other, edge.node, edge.edge];
        for (word, value) in (0..).zip(words) {
            self.list.store_weak(grid, at.wrapping_add(word), value);
        }
        let weight = self.weight(grid, edge.edge);
        let pick = u64::from(weight) << 32 | u64::from(*length);
        for tree in edge.trees {
            if pick < self.lightest.load(grid, tree) {
                self.lightest.store(grid, tree, pick);
            }
        }
        *length += 1;
    }

    #[inline(always)]
    fn listed<G: Grid>(&self, grid: G, place: u32) -> Listed {
        let at = place.wrapping_mul(ENTRY);
        let word = |word: u32| self.list.load_weak(grid, at.wrapping_add(word));
        Listed {
            trees: [word(0), word(1)],
            node: word(2),
            edge: word(3),
        }
    }
}
