//! Greedy sets and colours: nodes from the highest priority down, each decided once.
//!
//! An independent set takes the next node that has no neighbour in the set. A colouring gives it
//! the least number that its neighbours leave free. Both are what rounds over all nodes find that
//! decide each node after its neighbours of higher priority (Jones and Plassmann, "A Parallel Graph
//! Coloring Heuristic", 1993; Blelloch, Fineman, Shun, "Greedy Sequential Maximal Independent Set
//! and Matching are Parallel on Average", 2012): with the same priorities, results are the same.
//!
//! Work: `O(n)` for a radix sort of the priorities, at most six passes; then the edges of the set,
//! or each edge once. Memory: `6 n` words.

use super::Operands;
use super::work::{Rows, Scratch, Work};
use crate::machine::Grid;
use crate::machine::memory::{Csr, Words};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::sequential::Algorithm;

/// Decides every node, from the highest of `priorities` down. Destination words are 0 before for a
/// set, and [`UNREACHED`] for colours.
pub(super) fn decide<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    scratch: Scratch,
    priorities: Words,
) -> Result<(), FaultCode> {
    let Sorted { order, spare } = sorted(work, operands, scratch, priorities)?;
    for at in 0..operands.nodes {
        spare.store_weak(work.grid, at, 0);
    }
    let colours = operands.record.algorithm == Algorithm::Colours;
    for at in 0..operands.nodes {
        let node = order.load_weak(work.grid, at);
        if colours {
            colour(work, operands, rows.rows, spare, node, at.wrapping_add(1))?;
        } else {
            choose(work, operands, rows.rows, spare, node)?;
        }
    }
    Ok(())
}

/// Puts `node` into the set, unless a neighbour of it is there: `is_out` marks these.
#[inline(always)]
fn choose<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Csr,
    is_out: Words,
    node: u32,
) -> Result<(), FaultCode> {
    let grid = work.grid;
    if is_out.load_weak(grid, node) != 0 {
        return work.pass(1);
    }
    operands.to.store_weak(grid, node, 1);
    for edge in work.row(rows, node)? {
        is_out.store_weak(grid, rows.target(grid, edge), 1);
    }
    Ok(())
}

/// Gives `node` the least colour that its neighbours leave free. `taken` has the last step, from 1
/// on, in which some neighbour had each colour.
#[inline(always)]
fn colour<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Csr,
    taken: Words,
    node: u32,
    step: u32,
) -> Result<(), FaultCode> {
    let (grid, to) = (work.grid, operands.to);
    let row = work.row(rows, node)?;
    for edge in row.clone() {
        let colour = to.load_weak(grid, rows.target(grid, edge));
        if colour != UNREACHED {
            taken.store_weak(grid, colour, step);
        }
    }
    let mut free = 0;
    // At most one colour for each edge is taken.
    while free < row.end - row.start && taken.load_weak(grid, free) == step {
        free += 1;
    }
    to.store_weak(grid, node, free);
    Ok(())
}

/// Nodes from the highest priority down, and a word a node of memory that is free.
struct Sorted {
    order: Words,
    spare: Words,
}

/// Priorities and their nodes.
#[derive(Clone, Copy)]
struct Keys {
    low: Words,
    high: Words,
    nodes: Words,
}

impl Keys {
    fn take(scratch: &mut Scratch, nodes: u32) -> Result<Self, FaultCode> {
        Ok(Self {
            low: scratch.take(nodes)?,
            high: scratch.take(nodes)?,
            nodes: scratch.take(nodes)?,
        })
    }

    #[inline(always)]
    fn load<G: Grid>(&self, grid: G, at: u32) -> (u64, u32) {
        let low = u64::from(self.low.load_weak(grid, at));
        let high = u64::from(self.high.load_weak(grid, at));
        (high << 32 | low, self.nodes.load_weak(grid, at))
    }

    #[inline(always)]
    fn store<G: Grid>(&self, grid: G, at: u32, key: u64, node: u32) {
        self.low.store_weak(grid, at, key as u32);
        self.high.store_weak(grid, at, (key >> 32) as u32);
        self.nodes.store_weak(grid, at, node);
    }
}

/// Bits that a pass of the sort looks at.
const DIGIT_BITS: u32 = 11;
const DIGITS: usize = 1 << DIGIT_BITS;

/// The digit of a key, so that larger keys come first.
#[inline(always)]
const fn digit_of(key: u64, shift: u32) -> usize {
    (!key >> shift) as usize & (DIGITS - 1)
}

/// Sorts the nodes by their priorities, the largest first; equal ones stay in order.
fn sorted<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    mut scratch: Scratch,
    priorities: Words,
) -> Result<Sorted, FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    operands.needs(nodes.into())?;
    if u64::from(priorities.len()) < 2 * u64::from(nodes) {
        return Err(FaultCode::BadRegister);
    }
    let mut from = Keys::take(&mut scratch, nodes)?;
    let mut to = Keys::take(&mut scratch, nodes)?;
    let (mut every, mut any) = (u64::MAX, 0);
    for node in 0..nodes {
        work.pass(1)?;
        let low = u64::from(priorities.load_weak(grid, 2 * node));
        let high = u64::from(priorities.load_weak(grid, 2 * node + 1));
        let key = high << 32 | low;
        (every, any) = (every & key, any | key);
        from.store(grid, node, key, node);
    }
    let differing = any & !every;
    let mut shift = 0;
    while shift < u64::BITS {
        // A digit that all keys share orders nothing.
        if nodes > 0 && (differing >> shift) as usize & (DIGITS - 1) != 0 {
            pass(work, nodes, from, to, shift)?;
            (from, to) = (to, from);
        }
        shift += DIGIT_BITS;
    }
    Ok(Sorted {
        order: from.nodes,
        spare: to.low,
    })
}

/// Moves the keys to `to`, by one digit.
fn pass<G: Grid>(
    work: &mut Work<'_, G>,
    nodes: u32,
    from: Keys,
    to: Keys,
    shift: u32,
) -> Result<(), FaultCode> {
    let grid = work.grid;
    let mut places = [0_u32; DIGITS];
    for at in 0..nodes {
        let (key, _) = from.load(grid, at);
        places[digit_of(key, shift)] += 1;
    }
    let mut first = 0;
    for place in &mut places {
        let count = *place;
        *place = first;
        first += count;
    }
    for at in 0..nodes {
        work.pass(1)?;
        let (key, node) = from.load(grid, at);
        let place = &mut places[digit_of(key, shift)];
        to.store(grid, *place, key, node);
        *place += 1;
    }
    Ok(())
}
