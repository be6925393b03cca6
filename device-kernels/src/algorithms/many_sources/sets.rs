//! The sources that reach each node: one set per node, one bit per source.
//!
//! All searches advance together, a level a round (Then et al.: "The More the Merrier: Efficient
//! Multi-Source Graph Traversal", PVLDB 8, 2014). Each node has two sets, which take turns: a round
//! reads the sets that the last round left and adds to the others. So after `k` rounds a set holds
//! exactly the sources within `k` edges, whatever the order of lanes. A queued node brings its
//! other set up to date; nodes without edges are never queued, so the result is the union of both
//! sets.

use crate::collectives::context::{Context, ContextRef};
use crate::machine::Grid;
use crate::machine::memory::{Proven, Words, all_nodes, is_node};
use crate::operators::advance::{Balance, Edges, Visit, advance};
use crate::operators::filter::append_list;
use crate::operators::marks::claim;
use crate::operators::rounds::{Work, work_of};
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;

/// Runs an opcode of this family.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short, or there are more
/// sources than bits in a set.
#[inline(never)]
pub fn run_sets<G: Grid>(cx: ContextRef<G>, opcode: Opcode, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    if opcode != Opcode::SeedSets {
        return step(cx, wave);
    }
    let sets = Sets::of(context, wave)?;
    let list = tables.register(grid, wave.source(grid, 2))?;
    if list.len().div_ceil(32) > sets.words {
        return Err(FaultCode::BadRegister);
    }
    sets.seed(cx, list);
    all_nodes(grid)
}

/// The registers of a search from many sources.
#[derive(Clone, Copy, Debug)]
struct Sets {
    sets: [Proven; 2],
    /// Words of a set.
    words: u32,
    work: Work,
}

impl Sets {
    /// The registers of a wave of this family.
    #[inline(always)]
    fn of<G: Grid>(context: &Context<G>, wave: Wave) -> Result<Self, FaultCode> {
        let (tables, grid) = (context.tables, context.team.grid);
        let words = wave.parameter(grid, 0).max(1);
        let needed = u64::from(tables.nodes(grid)) * u64::from(words);
        let needed = u32::try_from(needed).map_err(|_| FaultCode::BadRegister)?;
        Ok(Self {
            // SAFETY: indices are words of the sets of nodes, of which there are `needed`.
            sets: unsafe {
                [
                    tables.proven_of(grid, wave.destination(grid), needed)?,
                    tables.proven_of(grid, wave.source(grid, 1), needed)?,
                ]
            },
            words,
            work: work_of(context, wave.source(grid, 0))?,
        })
    }

    /// The sets that round `tag` reads.
    #[inline(always)]
    fn of_round(&self, tag: u32) -> Proven {
        self.sets[tag as usize & 1]
    }

    /// Puts every source into the set of its node and queues the nodes, in the first
    /// block alone.
    #[inline(never)]
    fn seed<G: Grid>(&self, cx: ContextRef<G>, list: Words) {
        let context = &cx.context();
        let (team, grid) = (&context.team, context.team.grid);
        let tag = context.tag.now(grid);
        if !team.is_first() {
            return;
        }
        let (nodes, next) = (context.tables.nodes(grid), tag.wrapping_add(1));
        if team.is_leader() {
            self.work.open_next(grid, tag, 0);
        }
        let sets = self.of_round(next);
        let mut at = grid.lane();
        while at < list.len() {
            let node = list.load_weak(grid, at);
            if is_node(grid, node, nodes) {
                sets.or(grid, node * self.words + at / 32, 1 << (at % 32));
            }
            at += grid.lanes();
        }
        let sink = self.work.sink(context);
        let marks = self.work.marks(next);
        append_list(&team.alone(), list, &sink, |node| {
            node < nodes && claim(grid, marks, node)
        });
    }
}

/// One level of all searches.
#[inline(never)]
fn step<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (team, grid) = (&context.team, context.team.grid);
    let tag = context.tag.now(grid);
    let sets = Sets::of(context, wave)?;
    let Sets { words, work, .. } = sets;
    let round = work.round(grid, tag);
    if team.is_leader() {
        work.open_next(grid, tag, 0);
    }
    let rows = context.tables.outgoing(grid);
    let next = tag.wrapping_add(1);
    let (now, then) = (sets.of_round(tag), sets.of_round(next));
    advance(
        team,
        &work.source(rows, tag, &round),
        &work.sink(context),
        Join {
            grid,
            words,
            sets: (now, then),
            old_marks: work.marks(tag),
            marks: work.marks(next),
        },
    );
    Ok(())
}

/// Joins the sets of nodes to those of their successors.
#[derive(Clone, Copy, Debug)]
struct Join<G> {
    grid: G,
    words: u32,
    /// Sets of this round and of the next one.
    sets: (Proven, Proven),
    /// Marks of the nodes that this round leaves, and of those that it queues.
    old_marks: Proven,
    marks: Proven,
}

impl<G: Grid> Visit for Join<G> {
    /// The words of a set overlap already.
    const TOGETHER: bool = false;
    const BALANCE: Balance = Balance::BLOCKS;

    #[inline(always)]
    fn leave(&self, node: u32) -> u32 {
        let (grid, words, (now, then)) = (self.grid, self.words, self.sets);
        // All nodes of this word's marks that have edges are in this queue, so none is
        // lost.
        self.old_marks.store_weak(grid, node >> 5, 0);
        for at in node * words..(node + 1) * words {
            join(grid, then, at, now.load_weak(grid, at));
        }
        node
    }

    #[inline(always)]
    fn visit<const K: usize>(&mut self, edges: &Edges<K>) -> u32 {
        let (grid, words, (now, then)) = (self.grid, self.words, self.sets);
        let mut found = 0;
        for k in 0..K {
            if !edges.has(k) {
                continue;
            }
            let mut grows = false;
            for word in 0..words {
                let to = edges.to[k] * words + word;
                let from = now.load_weak(grid, edges.value[k] * words + word);
                let bits = from & !now.load_weak(grid, to);
                join(grid, then, to, bits);
                grows |= bits != 0;
            }
            found |= u32::from(grows && claim(grid, self.marks, edges.to[k])) << k;
        }
        found
    }
}

/// Adds `bits` to word `at`, unless it has them already.
#[inline(always)]
fn join<G: Grid>(grid: G, sets: Proven, at: u32, bits: u32) {
    if bits != 0 && sets.load_weak(grid, at) & bits != bits {
        sets.or(grid, at, bits);
    }
}
