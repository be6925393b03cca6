//! Gen/kill problems of many graphs at once, each solved where it lies, without a barrier of the
//! grid.
//!
//! Nodes are swept in their order, so that a range whose edges lead to lower numbers, but for those
//! that close loops, takes as many sweeps as loops are nested, and three (Hecht and Ullman, "A
//! simple algorithm for global data flow analysis problems", 1975). A warp takes 32 nodes at a time
//! and settles them in registers; the warps of a block take adjacent ones, whose words they show each
//! other in shared memory, and repeat that until none has a new word. A word only gains facts, so it
//! does not matter which of another warp's stores a warp sees: the one that stored asks for another
//! round.

use crate::collectives::block::broadcast;
use crate::collectives::context::ContextRef;
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven, Words, none_missed, note_missed};
use crate::machine::shared::settled_words;
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::settle::{BY_BLOCKS, BY_WARPS, COUNTER_WORDS, SWEEPS};

/// Edges of a row whose ends a lane remembers.
const KNOWN: usize = 2;
/// Further edges of a row that its lane visits alone.
const SHORT: u32 = 16;
/// Sweeps of a range between two reads of the clock.
const SWEEPS_PER_LOOK: u32 = 16;

/// The arrays of a wave.
#[derive(Clone, Copy, Debug)]
struct Arrays {
    rows: Csr,
    /// Two words a node.
    after: Proven,
    /// Four words a node.
    transfer: Proven,
    ranges: Words,
    counters: Words,
}

/// Nodes from the first one up to the end.
#[derive(Clone, Copy, Debug)]
struct Range {
    first: u32,
    end: u32,
}

impl Range {
    #[inline(always)]
    fn has(self, node: u32) -> bool {
        node >= self.first && node < self.end
    }
}

/// Solves the ranges of the wave.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short, [`FaultCode::BadIndex`] if a
/// range has nodes that the graph lacks, [`FaultCode::TimeBudget`].
#[inline(never)]
pub(super) fn settle<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    let nodes = u64::from(tables.nodes(grid));
    let of_nodes = |register: u32, words: u64| {
        let register = tables.register(grid, register)?;
        if u64::from(register.len()) < nodes * words {
            return Err(FaultCode::BadRegister);
        }
        // SAFETY: indices are multiples of `words` for nodes of the graph, and words after them.
        Ok(unsafe { register.proven() })
    };
    let all = Arrays {
        rows: tables.outgoing(grid),
        after: of_nodes(wave.destination(grid), 2)?,
        transfer: of_nodes(wave.source(grid, 0), 4)?,
        ranges: tables.register(grid, wave.source(grid, 1))?,
        counters: tables.register_of(grid, wave.source(grid, 2), COUNTER_WORDS)?,
    };
    let late = if G::SIMT {
        let of_blocks = wave.parameter(grid, 0).min(all.ranges.len() / 2);
        let late = take::<G, true>(cx, all, 0, of_blocks);
        take::<G, false>(cx, all, of_blocks, all.ranges.len() / 2) || late
    } else {
        by_threads(cx, all)
    };
    none_missed(grid)?;
    if grid.block_any(late) {
        return Err(FaultCode::TimeBudget);
    }
    Ok(())
}

impl Arrays {
    /// Range `at`; none of the nodes if the graph lacks some.
    #[inline(always)]
    fn range<G: Grid>(&self, grid: G, at: u32) -> Range {
        let first = self.ranges.load_weak(grid, 2 * at);
        let end = self.ranges.load_weak(grid, 2 * at + 1);
        let nodes = self.after.len() / 2;
        if first > end || end > nodes {
            note_missed(grid, end, nodes);
            return Range { first: 0, end: 0 };
        }
        Range { first, end }
    }

    /// The facts that `node` passes on.
    #[inline(always)]
    fn passed<G: Grid>(&self, grid: G, wanted: bool, node: u32) -> u64 {
        if wanted {
            self.after.load_weak_wide(grid, 2 * node)
        } else {
            0
        }
    }

    /// The facts that `node` makes, and those that it keeps.
    #[inline(always)]
    fn made_and_kept<G: Grid>(&self, grid: G, wanted: bool, node: u32) -> (u64, u64) {
        if !wanted {
            return (0, 0);
        }
        let [made, made_high, kept, kept_high] = self.transfer.load_weak4(grid, 4 * node);
        let wide = |low, high| u64::from(low) | u64::from(high) << 32;
        (wide(made, made_high), wide(kept, kept_high))
    }
}

/// Solves ranges in one-lane blocks; returns whether one was left, since time is over.
#[inline(never)]
fn by_threads<G: Grid>(cx: ContextRef<G>, all: Arrays) -> bool {
    let context = &cx.context();
    let (team, grid) = (&context.team, context.team.grid);
    let (mut most, mut late) = (0, false);
    team.each_dealt(all.ranges.len() / 2, |at| {
        let range = all.range(grid, at);
        let mut sweeps = 0_u32;
        while !late {
            let (grew, returns) = sweep(grid, all, range);
            sweeps += 1;
            if !grew || !returns {
                break;
            }
            late = sweeps.is_multiple_of(SWEEPS_PER_LOOK) && is_over(team);
        }
        most = most.max(sweeps);
    });
    all.counters.max(grid, SWEEPS, most);
    late
}

/// Whether a range is to be left.
#[inline(always)]
fn is_over<G: Grid>(team: &Team<G>) -> bool {
    team.is_late() || team.control.is_stopped(team.grid)
}

/// Updates the nodes of a range in order. Returns whether some node gained facts, and whether some
/// edge leads to a later node.
#[inline(always)]
fn sweep<G: Grid>(grid: G, all: Arrays, range: Range) -> (bool, bool) {
    let (mut grew, mut returns) = (false, false);
    for node in range.first..range.end {
        let (start, end) = all.rows.row(grid, node);
        let mut coming = 0;
        for edge in start..end {
            let to = all.rows.target(grid, edge);
            let is_inside = range.has(to);
            coming |= all.passed(grid, is_inside, to);
            returns |= is_inside && to > node;
        }
        let (made, kept) = all.made_and_kept(grid, true, node);
        let value = all.passed(grid, true, node);
        let next = value | made | coming & kept;
        if next != value {
            all.after.store_weak_wide(grid, 2 * node, next);
            grew = true;
        }
    }
    (grew, returns)
}

/// Takes ranges `from..end` one after another, by blocks or by warps. Returns whether one was left,
/// since time is over. All lanes take part.
#[inline(never)]
fn take<G: Grid, const BLOCK: bool>(cx: ContextRef<G>, all: Arrays, from: u32, end: u32) -> bool {
    let context = &cx.context();
    let (team, grid) = (&context.team, context.team.grid);
    // The first range of each is that of its number.
    let (own, others, counter) = if BLOCK {
        (team.rank(), team.size(), BY_BLOCKS)
    } else {
        let (own, others) = team.warps();
        (own, others, BY_WARPS)
    };
    let (mut most, mut late) = (0, false);
    let mut taken = own;
    while !late && taken < end - from {
        let mut next = 0;
        if is_first::<G, BLOCK>(grid) {
            // Nothing waits for it before the range is solved.
            next = all.counters.add(grid, counter, 1);
        }
        let range = all.range(grid, from + taken);
        let sweeps;
        (sweeps, late) = solve::<G, BLOCK>(team, all, range);
        most = most.max(sweeps);
        let next = if BLOCK {
            broadcast(grid, next)
        } else {
            grid.shuffle(next, 0)
        };
        taken = others.saturating_add(next);
    }
    if is_first::<G, BLOCK>(grid) {
        all.counters.max(grid, SWEEPS, most);
    }
    late
}

/// Whether this is the first lane of those that solve a range.
#[inline(always)]
fn is_first<G: Grid, const BLOCK: bool>(grid: G) -> bool {
    (if BLOCK { grid.lane() } else { grid.warp_lane() }) == 0
}

/// Whether `value` holds for any lane of those that solve a range.
#[inline(always)]
fn any<G: Grid, const BLOCK: bool>(grid: G, value: bool) -> bool {
    if BLOCK {
        grid.block_any(value)
    } else {
        grid.warp_barrier();
        grid.ballot(value) != 0
    }
}

/// Solves a range; returns its sweeps, and whether it was left, since time is over.
#[inline(always)]
fn solve<G: Grid, const BLOCK: bool>(team: &Team<G>, all: Arrays, range: Range) -> (u32, bool) {
    let grid = team.grid;
    let (lane, width) = if BLOCK {
        (grid.lane(), grid.lanes())
    } else {
        (grid.warp_lane(), G::WARP)
    };
    let mut sweeps = 0_u32;
    loop {
        let (mut grew, mut returns) = (false, false);
        let mut first = range.first;
        // Rows come two steps ahead, and the ends of their edges one.
        let mut ends = Row::at(grid, all, range, first + lane).ends(grid, all);
        let mut row = Row::at(grid, all, range, first + width + lane);
        while first < range.end {
            let later = first + width;
            let chunk = Chunk::of(grid, range, ends);
            ends = row.ends(grid, all);
            row = Row::at(grid, all, range, later + width + lane);
            let found = chunk.settle::<G, BLOCK>(grid, all, later);
            grew |= found.grew;
            returns |= found.returns;
            first = later;
        }
        sweeps += 1;
        if !any::<G, BLOCK>(grid, grew) || !any::<G, BLOCK>(grid, returns) {
            return (sweeps, false);
        }
        if sweeps.is_multiple_of(SWEEPS_PER_LOOK) && any::<G, BLOCK>(grid, team.is_late()) {
            return (sweeps, true);
        }
    }
}

/// Results of an update of nodes, in a lane.
#[derive(Clone, Copy, Debug)]
struct Found {
    /// Whether its node gained facts.
    grew: bool,
    /// Whether some edge leads to nodes that follow.
    returns: bool,
}

/// Results of the edges of a row after the first ones.
#[derive(Clone, Copy, Debug, Default)]
struct Rest {
    coming: u64,
    returns: bool,
    /// Whether some lead to nodes that change meanwhile, so that they are to be visited again.
    is_asking: bool,
}

/// A lane's node, and its edges.
#[derive(Clone, Copy, Debug)]
struct Row {
    node: u32,
    /// Whether the range has the node.
    has: bool,
    edges: (u32, u32),
    made: u64,
    kept: u64,
}

/// A row with the ends of its first edges.
#[derive(Clone, Copy, Debug)]
struct Ends {
    row: Row,
    to: [u32; KNOWN],
}

impl Row {
    #[inline(always)]
    fn at<G: Grid>(grid: G, all: Arrays, range: Range, node: u32) -> Self {
        let has = node < range.end;
        let edges = all.rows.row_if(grid, has, node);
        let (made, kept) = all.made_and_kept(grid, has, node);
        Self {
            node,
            has,
            edges,
            made,
            kept,
        }
    }

    #[inline(always)]
    fn ends<G: Grid>(self, grid: G, all: Arrays) -> Ends {
        let (start, end) = self.edges;
        let to = core::array::from_fn(|at| {
            let edge = start + at as u32;
            all.rows.target_if(grid, edge < end, edge)
        });
        Ends { row: self, to }
    }
}

/// A lane's node of those that a warp settles together.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    range: Range,
    node: u32,
    /// Whether the range has the node.
    has: bool,
    /// First node of the warp.
    first: u32,
    made: u64,
    kept: u64,
    /// Ends of the first edges; this node for edges that do not count.
    to: [u32; KNOWN],
    /// The other edges.
    rest: (u32, u32),
}

impl Chunk {
    #[inline(always)]
    fn of<G: Grid>(grid: G, range: Range, ends: Ends) -> Self {
        let Row {
            node,
            has,
            edges: (start, end),
            made,
            kept,
        } = ends.row;
        let mut to = ends.to;
        for (edge, to) in (start..).zip(&mut to) {
            if edge >= end || !range.has(*to) {
                *to = node;
            }
        }
        Self {
            range,
            node,
            has,
            first: node - grid.warp_lane(),
            made,
            kept,
            to,
            rest: (end.min(start + KNOWN as u32), end),
        }
    }

    #[inline(always)]
    fn has_rest(&self) -> bool {
        self.rest.0 < self.rest.1
    }

    /// Whether another lane of the warp has node `to`.
    #[inline(always)]
    fn is_near<G: Grid>(&self, to: u32) -> bool {
        to.wrapping_sub(self.first) < G::WARP
    }

    /// Updates the nodes until none gains facts. In a block, other warps do so at the same time.
    /// Nodes from `later` on follow. A warp operation, or one of the block.
    #[inline(always)]
    fn settle<G: Grid, const BLOCK: bool>(self, grid: G, all: Arrays, later: u32) -> Found {
        let here = Range {
            first: if BLOCK {
                self.node - grid.lane()
            } else {
                self.first
            },
            end: later,
        };
        let mut value = all.passed(grid, self.has, self.node);
        // These do not change meanwhile.
        let mut outside = 0;
        for to in self.to {
            outside |= all.passed(grid, self.has && !here.has(to), to);
        }
        if BLOCK {
            Shared::store(grid, value);
            grid.block_barrier();
        }
        let mut rest = self.rest(grid, all, here);
        let mut found = Found {
            grew: false,
            returns: rest.returns || self.to.iter().any(|to| self.has && *to >= later),
        };
        let mut is_first = true;
        loop {
            let mut coming = outside | rest.coming;
            if BLOCK {
                for to in self.to {
                    if self.has && here.has(to) && !self.is_near::<G>(to) {
                        coming |= Shared::load(grid, to - here.first);
                    }
                }
            }
            let before = value;
            let start = value | self.made | coming & self.kept;
            if grid.ballot(is_first || start != value) != 0 {
                value = self.settle_warp(grid, start);
            }
            is_first = false;
            let moved = value != before;
            if moved {
                all.after.store_weak_wide(grid, 2 * self.node, value);
                if BLOCK {
                    Shared::store(grid, value);
                }
            }
            found.grew |= moved;
            // A barrier, which the next nodes need too.
            let any_moved = any::<G, BLOCK>(grid, moved);
            if !any_moved || !BLOCK && !rest.is_asking {
                return found;
            }
            if rest.is_asking {
                rest = self.rest(grid, all, here);
            }
        }
    }

    /// The word of this lane's node once those of the other lanes' nodes add nothing. A warp
    /// operation.
    #[inline(always)]
    fn settle_warp<G: Grid>(&self, grid: G, from: u64) -> u64 {
        let lane = grid.warp_lane();
        let lanes = self.to.map(|to| {
            let is_near = self.is_near::<G>(to);
            if is_near { to - self.first } else { lane }
        });
        let mut value = from;
        loop {
            let mut near = 0;
            for from in lanes {
                near |= shuffle_wide(grid, value, from);
            }
            let next = value | near & self.kept;
            let moved = next != value;
            value = next;
            if grid.ballot(moved) == 0 {
                return value;
            }
        }
    }

    /// Facts that come along the other edges; nodes `here` change meanwhile. A warp operation.
    #[inline(always)]
    fn rest<G: Grid>(&self, grid: G, all: Arrays, here: Range) -> Rest {
        let mut all_found = Rest::default();
        if grid.ballot(self.has_rest()) == 0 {
            return all_found;
        }
        let (start, end) = self.rest;
        let mut visit = |edge: u32| {
            let to = all.rows.target(grid, edge);
            let is_inside = self.range.has(to);
            all_found.is_asking |= here.has(to);
            all_found.returns |= is_inside && to >= here.end;
            all.passed(grid, is_inside, to)
        };
        let mut coming = 0;
        let is_long = end - start > SHORT;
        if !is_long {
            for edge in start..end {
                coming |= visit(edge);
            }
        }
        // Codegen rule `CONVERGE`.
        grid.warp_barrier();
        let mut left = grid.ballot(is_long);
        while left != 0 {
            let owner = left.trailing_zeros();
            let (start, end) = (grid.shuffle(start, owner), grid.shuffle(end, owner));
            let mut found = 0;
            let mut edge = start + grid.warp_lane();
            while edge < end {
                found |= visit(edge);
                edge += G::WARP;
            }
            grid.warp_barrier();
            found = or_wide(grid, found);
            if grid.warp_lane() == owner {
                coming |= found;
            }
            left &= left - 1;
        }
        all_found.coming = coming;
        all_found.is_asking = grid.ballot(all_found.is_asking) != 0;
        all_found
    }
}

/// Words of the nodes that a block settles together.
struct Shared;

impl Shared {
    /// The word of lane `from`, as it is now or was a moment ago.
    #[inline(always)]
    fn load<G: Grid>(grid: G, from: u32) -> u64 {
        // SAFETY: both areas have a word for each lane of a block.
        let [low, high] = settled_words::<G>().map(|area| unsafe { area.load(grid, from) });
        u64::from(low) | u64::from(high) << 32
    }

    /// Stores the word of this lane.
    #[inline(always)]
    fn store<G: Grid>(grid: G, value: u64) {
        let [low, high] = settled_words::<G>();
        // SAFETY: as for `load`.
        unsafe {
            low.store(grid, grid.lane(), value as u32);
            high.store(grid, grid.lane(), (value >> 32) as u32);
        }
    }
}

/// The `value` of lane `from`. A warp operation.
#[inline(always)]
fn shuffle_wide<G: Grid>(grid: G, value: u64, from: u32) -> u64 {
    let [low, high] = [value as u32, (value >> 32) as u32].map(|word| grid.shuffle(word, from));
    u64::from(low) | u64::from(high) << 32
}

/// The bits of all lanes. A warp operation.
#[inline(always)]
fn or_wide<G: Grid>(grid: G, own: u64) -> u64 {
    let mut all = own;
    let mut delta = G::WARP / 2;
    while delta > 0 {
        all |= shuffle_wide(grid, all, grid.warp_lane() ^ delta);
        delta /= 2;
    }
    all
}
