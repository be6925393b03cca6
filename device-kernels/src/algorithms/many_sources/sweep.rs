//! Distances from many sources at once, by sweeps over all nodes.
//!
//! Each node has a set, one bit per source, and a round joins to it the sets of its predecessors
//! (Then et al.: "The More the Merrier: Efficient Multi-Source Graph Traversal", PVLDB 8, 2014).
//! Sets are kept twice and take turns, so after `k` rounds a set holds exactly the sources within
//! `k` edges. A warp joins rows with one word per lane. It leaves out predecessors that the last
//! round did not change, and ends a row once no active search can add to it.
//!
//! Totals of a source need the number of nodes that it newly reaches, which is the number
//! of bits in a column of the new sets. Lanes count columns by binary counters whose digits
//! are words, 32 columns a word, and add them up at the end of the wave.

use super::sweep_counts::Counts;
use crate::collectives::context::{Context, ContextRef};
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven, Words, all_nodes, is_node};
use crate::operators::deal::{each_chunk, each_left};
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;
use seawall_core::abi::sweep::{
    Measure, SWEEP_FARTHEST, SWEEP_REACHED, SWEEP_START, SWEEP_TOTALS, SWEEP_WORDS_MAX, SweepLayout,
};

/// Longest row that a warp takes alone.
const ALONE_MAX: u32 = 2048;

/// Sets of neighbours that a warp has in flight.
const IN_FLIGHT: usize = 8;

/// [`SWEEP_WORDS_MAX`] as a length.
const WORDS: usize = SWEEP_WORDS_MAX as usize;

/// Runs an opcode of this family.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short,
/// [`FaultCode::NoArray`] if the launch holds no incoming edges.
#[inline(never)]
pub fn run_sweep<G: Grid>(cx: ContextRef<G>, opcode: Opcode, wave: Wave) -> Result<(), FaultCode> {
    match opcode {
        Opcode::SeedSweep => seed(cx, wave),
        Opcode::SettleSweep => settle(cx, wave),
        _ => round(cx, opcode == Opcode::SweepBack, wave),
    }
}

/// The state of a sweep.
#[derive(Clone, Copy, Debug)]
struct State {
    words: Proven,
    layout: SweepLayout,
}

impl State {
    /// Whether `round` changed the set of `node`.
    #[inline(always)]
    fn has_changed<G: Grid>(self, grid: G, round: u32, node: u32) -> bool {
        let at = self.layout.changed(round) + (node >> 5);
        self.words.load_weak(grid, at) >> (node & 31) & 1 != 0
    }

    /// Records that `round` changed the set of `node`.
    #[inline(always)]
    fn change<G: Grid>(self, grid: G, round: u32, node: u32) {
        let at = self.layout.changed(round) + (node >> 5);
        self.words.or(grid, at, 1 << (node & 31));
    }

    /// Clears the marks of changes by `round`.
    #[inline(always)]
    fn clear<G: Grid>(self, context: &Context<G>, round: u32) {
        let grid = context.team.grid;
        let (changed, live) = (self.layout.changed(round), self.layout.live(round));
        context.team.each(self.layout.bitset_words, |at| {
            self.words.store_weak(grid, changed + at, 0);
        });
        context.team.each(SWEEP_WORDS_MAX, |at| {
            self.words.store_weak(grid, live + at, 0);
        });
    }
}

/// The registers that waves of a sweep share.
#[derive(Clone, Copy, Debug)]
struct Registers {
    even: Proven,
    state: State,
    totals: Proven,
    /// Words of a set.
    words: u32,
    /// Words of all sets.
    all: u32,
}

impl Registers {
    #[inline(always)]
    fn of<G: Grid>(context: &Context<G>, wave: Wave) -> Result<Self, FaultCode> {
        let (tables, grid) = (context.tables, context.team.grid);
        let words = wave.parameter(grid, 0).max(1);
        if words > SWEEP_WORDS_MAX {
            return Err(FaultCode::BadRegister);
        }
        let nodes = tables.nodes(grid);
        let all = nodes.checked_mul(words).ok_or(FaultCode::BadRegister)?;
        let layout = SweepLayout::new(nodes);
        let totals = 32 * words * SWEEP_TOTALS;
        // SAFETY: indices are words of the sets of nodes, of the layout's parts, and of the
        // totals of the bits of a set; each register has as many.
        let (even, state, totals) = unsafe {
            (
                tables.proven_of(grid, wave.destination(grid), all)?,
                tables.proven_of(grid, wave.source(grid, 0), layout.words())?,
                tables.proven_of(grid, wave.source(grid, 1), totals)?,
            )
        };
        let state = State {
            words: state,
            layout,
        };
        Ok(Self {
            even,
            state,
            totals,
            words,
            all,
        })
    }
}

/// Puts every source into the set of its node, in the first block alone.
#[inline(never)]
fn seed<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, team, grid) = (context.tables, &context.team, context.team.grid);
    let registers = Registers::of(context, wave)?;
    let Registers { state, totals, .. } = registers;
    let list = tables.register(grid, wave.source(grid, 2))?;
    if list.len() > 32 * registers.words {
        return Err(FaultCode::BadRegister);
    }
    if !team.is_first() {
        return Ok(());
    }
    if team.is_leader() {
        state
            .words
            .store_weak(grid, SWEEP_START, context.tag.now(grid));
    }
    let nodes = tables.nodes(grid);
    let mut at = grid.lane();
    while at < list.len() {
        let node = list.load_weak(grid, at);
        if is_node(grid, node, nodes) {
            let (word, bit) = (at / 32, 1 << (at % 32));
            registers.even.or(grid, node * registers.words + word, bit);
            state.words.or(grid, state.layout.live(0) + word, bit);
            state.change(grid, 0, node);
            totals.store_weak(grid, at * SWEEP_TOTALS + SWEEP_REACHED, 1);
        }
        at += grid.lanes();
    }
    all_nodes(grid)
}

/// Stores the measure of every source's totals for its node.
#[inline(never)]
fn settle<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    let nodes = tables.nodes(grid);
    let measure = Measure::from_word(wave.parameter(grid, 0)).ok_or(FaultCode::BadRegister)?;
    let list: Words = tables.register(grid, wave.source(grid, 1))?;
    let needed = list.len().checked_mul(SWEEP_TOTALS);
    let needed = needed.ok_or(FaultCode::BadRegister)?;
    // SAFETY: indices are nodes of the graph, and words of the totals of the list's entries.
    let (to, totals) = unsafe {
        (
            tables.proven_of(grid, wave.destination(grid), nodes)?,
            tables.proven_of(grid, wave.source(grid, 0), needed)?,
        )
    };
    context.team.each(list.len(), |at| {
        let node = list.load_weak(grid, at);
        if node >= nodes {
            return;
        }
        let [low, high, reached, farthest] = [0, 1, SWEEP_REACHED, SWEEP_FARTHEST]
            .map(|part| totals.load_weak(grid, at * SWEEP_TOTALS + part));
        let value = match measure {
            Measure::Eccentricity => farthest,
            Measure::Closeness => {
                let sum = u64::from(low) | u64::from(high) << 32;
                closeness(nodes, reached, sum).to_bits()
            }
        };
        to.store_weak(grid, node, value);
    });
    Ok(())
}

/// See [`Measure::Closeness`].
#[inline(always)]
fn closeness(nodes: u32, reached: u32, sum: u64) -> f32 {
    if sum == 0 || nodes < 2 {
        return 0.0;
    }
    let others = f64::from(reached.wrapping_sub(1));
    (others * others / (sum as f64 * f64::from(nodes - 1))) as f32
}

/// A round over all nodes.
#[derive(Clone, Copy, Debug)]
struct Round<G> {
    grid: G,
    rows: Csr,
    now: Proven,
    then: Proven,
    state: State,
    totals: Proven,
    words: u32,
    /// Its number, from 1.
    number: u32,
}

/// One level of all searches.
#[inline(never)]
fn round<G: Grid>(cx: ContextRef<G>, back: bool, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    let registers = Registers::of(context, wave)?;
    let (even, all) = (registers.even, registers.all);
    // SAFETY: as for the even sets.
    let odd = unsafe { tables.proven_of(grid, wave.source(grid, 2), all)? };
    if !back && !tables.has_incoming(grid) {
        return Err(FaultCode::NoArray);
    }
    let state = registers.state;
    let start = state.words.load_weak(grid, SWEEP_START);
    let number = context.tag.now(grid).wrapping_sub(start);
    let is_odd = number & 1 != 0;
    let round = Round {
        grid,
        rows: if back {
            tables.outgoing(grid)
        } else {
            tables.incoming(grid)
        },
        now: if is_odd { even } else { odd },
        then: if is_odd { odd } else { even },
        state,
        totals: registers.totals,
        words: registers.words,
        number,
    };
    state.clear(context, number.wrapping_add(1));
    if G::SIMT {
        round.by_warps(context);
    } else {
        round.by_threads(context);
    }
    Ok(())
}

impl<G: Grid> Round<G> {
    /// Sources whose search is active, in word `word` of a set.
    #[inline(always)]
    fn live(&self, word: u32) -> u32 {
        let at = self.state.layout.live(self.number.wrapping_sub(1)) + word;
        self.state.words.load_weak(self.grid, at)
    }

    /// Whether the last round changed the set of `node`.
    #[inline(always)]
    fn has_changed(&self, node: u32) -> bool {
        let last = self.number.wrapping_sub(1);
        self.state.has_changed(self.grid, last, node)
    }

    /// Adds `found` in word `word` to the sources that this round changes, and its counts to
    /// the totals.
    #[inline(always)]
    fn close(&self, context: &Context<G>, word: u32, found: u32, counts: &mut Counts) {
        if found == 0 {
            return;
        }
        let at = self.state.layout.live(self.number) + word;
        self.state.words.or(self.grid, at, found);
        context.tag.raise(self.grid);
        self.flush(word, counts);
    }

    /// Adds the counts of word `word` to the totals, and clears them.
    #[inline(always)]
    fn flush(&self, word: u32, counts: &mut Counts) {
        let (grid, totals) = (self.grid, self.totals);
        for bit in 0..32 {
            let count = counts.column(bit);
            if count == 0 {
                continue;
            }
            let at = (32 * word + bit) * SWEEP_TOTALS;
            totals.add_wide(grid, at, u64::from(count) * u64::from(self.number));
            totals.add(grid, at + SWEEP_REACHED, count);
            if totals.load_weak(grid, at + SWEEP_FARTHEST) < self.number {
                totals.max(grid, at + SWEEP_FARTHEST, self.number);
            }
        }
        counts.clear();
    }

    /// Threads take nodes one by one, with all words of their sets.
    #[inline(always)]
    fn by_threads(&self, context: &Context<G>) {
        let grid = self.grid;
        let words = (self.words as usize).min(WORDS);
        let (mut live, mut found) = ([0_u32; WORDS], [0_u32; WORDS]);
        let mut counts = [Counts::NONE; WORDS];
        for (word, live) in (0..).zip(&mut live[..words]) {
            *live = self.live(word);
        }
        context.team.each_taken(context.tables.nodes(grid), |node| {
            let (mut own, mut joined) = ([0_u32; WORDS], [0_u32; WORDS]);
            let first = node * self.words;
            for (at, own) in (first..).zip(&mut own[..words]) {
                *own = self.now.load_weak(grid, at);
            }
            let needs = |joined: &[u32; WORDS]| {
                let mut needs = 0;
                for word in 0..words {
                    needs |= live[word] & !own[word] & !joined[word];
                }
                needs != 0
            };
            let (mut edge, end) = self.rows.row(grid, node);
            while edge < end && needs(&joined) {
                let from = self.rows.target(grid, edge);
                if self.has_changed(from) {
                    for (at, joined) in (from * self.words..).zip(&mut joined[..words]) {
                        *joined |= self.now.load_weak(grid, at);
                    }
                }
                edge += 1;
            }
            let mut grows = false;
            for word in 0..words {
                let new = joined[word] & !own[word];
                if new != 0 {
                    grows = true;
                    found[word] |= new;
                    if counts[word].add(new) {
                        self.flush(word as u32, &mut counts[word]);
                    }
                }
            }
            if grows {
                self.state.change(grid, self.number, node);
            }
            if grows || self.has_changed(node) {
                for word in 0..words {
                    let set = own[word] | joined[word];
                    self.then.store_weak(grid, first + word as u32, set);
                }
            }
        });
        for word in 0..words {
            self.close(context, word as u32, found[word], &mut counts[word]);
        }
    }

    /// Warps take nodes one by one, and blocks those with long rows; each lane has a word.
    #[inline(always)]
    fn by_warps(&self, context: &Context<G>) {
        let (grid, nodes) = (self.grid, context.tables.nodes(self.grid));
        let lane = grid.warp_lane();
        let has_word = lane < self.words;
        let word = if has_word { lane } else { 0 };
        let live = if has_word { self.live(word) } else { 0 };
        let (mut found, mut counts) = (0, Counts::NONE);
        each_chunk(&context.team, nodes, |node| {
            let (start, end) = if node < nodes {
                self.rows.row(grid, node)
            } else {
                (0, 0)
            };
            let length = end - start;
            let mut some = grid.ballot(length != 0 && length <= ALONE_MAX);
            while some != 0 {
                let from = some.trailing_zeros();
                some &= some - 1;
                let node = grid.shuffle(node, from);
                let (start, end) = (grid.shuffle(start, from), grid.shuffle(end, from));
                let at = node * self.words + word;
                let own = self.now.load_weak(grid, at);
                let need = live & !own;
                let new = self.pull(start, end, G::WARP, need) & need;
                let grows = grid.ballot(new != 0) != 0;
                if (grows || self.has_changed(node)) && has_word {
                    self.then.store_weak(grid, at, own | new);
                }
                if grows && lane == 0 {
                    self.state.change(grid, self.number, node);
                }
                found |= new;
                if grows && grid.ballot(counts.add(new)) != 0 {
                    self.flush(word, &mut counts);
                }
            }
        });
        let is_long = |node: u32| {
            let (start, end) = self.rows.row(grid, node);
            end - start > ALONE_MAX
        };
        each_left(&context.team, nodes, is_long, |node| {
            let at = node * self.words + word;
            let own = self.now.load_weak(grid, at);
            let need = live & !own;
            let (start, end) = self.rows.row(grid, node);
            let start = start
                .saturating_add(grid.lane() / G::WARP * G::WARP)
                .min(end);
            let new = self.pull(start, end, grid.lanes(), need) & need;
            // Several warps may find the same; the first one counts it.
            let mut first = 0;
            let is_first = grid.lane() < G::WARP;
            if has_word && (new != 0 || (is_first && own != 0)) {
                first = new & !self.then.or(grid, at, own | new);
            }
            if grid.ballot(first != 0) != 0 {
                if lane == 0 {
                    self.state.change(grid, self.number, node);
                }
                if grid.ballot(counts.add(first)) != 0 {
                    self.flush(word, &mut counts);
                }
            }
            found |= first;
        });
        self.close(context, word, found, &mut counts);
    }

    /// Joins this lane's words of the sets at the other ends of a row's edges, a warp's
    /// width of edges every `stride`, until no lane has anything left of `need`. A warp
    /// operation.
    #[inline(always)]
    fn pull(&self, start: u32, end: u32, stride: u32, need: u32) -> u32 {
        let grid = self.grid;
        let word = if grid.warp_lane() < self.words {
            grid.warp_lane()
        } else {
            0
        };
        let mut joined = 0;
        let mut at = start;
        if grid.ballot(need != 0) == 0 {
            return 0;
        }
        while at < end {
            let edge = at.saturating_add(grid.warp_lane());
            let (mut from, mut changed) = (0, false);
            if edge < end {
                from = self.rows.target(grid, edge);
                changed = self.has_changed(from);
            }
            let mut some = grid.ballot(changed);
            while some != 0 {
                let mut sets = [0_u32; IN_FLIGHT];
                for set in &mut sets {
                    let node = grid.shuffle(from, some.trailing_zeros() & 31);
                    if some != 0 {
                        *set = self.now.load_weak(grid, node * self.words + word);
                    }
                    some &= some.wrapping_sub(1);
                }
                for set in &sets {
                    joined |= *set;
                }
                if grid.ballot(need & !joined != 0) == 0 {
                    return joined;
                }
            }
            at = at.saturating_add(stride);
        }
        joined
    }
}
