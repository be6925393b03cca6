//! Runs instructions one after another, up to the next part that is for edges.

use super::temps::{A, B, C, Fetched, TO, Temps, fetch_from};
use super::{Part, change, values};
use crate::context::ContextRef;
use crate::grid::Grid;
use crate::memory::{Csr, Words, note_missed};
use crate::tables::Tables;
use seawall_core::abi::code::{Edges, Joined, Kind, Op, random};

/// Flag: the item is still in.
pub(super) const ACTIVE: u32 = 1;
/// Flag: the rest of the row may be left out.
pub(super) const ENOUGH: u32 = 2;
/// Flag: every reduction of the part holds a value that no other changes.
pub(super) const SETTLED: u32 = 4;

/// Position of a lane. Words alone, which calls hand on in registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) item: u32,
    pub(super) neighbour: u32,
    pub(super) edge: u32,
    /// Lane of the block whose item it is.
    pub(super) owner: u32,
}

impl Place {
    /// A lane at an item of its own.
    #[inline(always)]
    pub(super) fn of_item<G: Grid>(grid: G, item: u32) -> Self {
        Self {
            item,
            neighbour: 0,
            edge: 0,
            owner: grid.lane(),
        }
    }
}

/// Runs the instructions `at..end` up to a part for edges; tells where it stopped, and
/// flags. All lanes of the warp call this with the same part.
#[inline(always)]
pub(super) fn run<G: Grid>(
    cx: ContextRef<G>,
    part: Part,
    place: Place,
    active: bool,
) -> (u32, u32) {
    let Place {
        item,
        neighbour,
        edge,
        owner,
    } = place;
    walk(cx, part.0, part.1, item, neighbour, edge, owner, active)
}

/// [`run`] by words: what a call takes by reference lies in local memory.
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "see above")]
fn walk<G: Grid>(
    cx: ContextRef<G>,
    first: u32,
    end: u32,
    item: u32,
    neighbour: u32,
    edge: u32,
    owner: u32,
    active: bool,
) -> (u32, u32) {
    let grid = cx.grid();
    let mut lane = Lane {
        cx,
        temps: Temps { grid, owner },
        place: Place {
            item,
            neighbour,
            edge,
            owner,
        },
        flags: u32::from(active) | SETTLED,
    };
    let code = cx.context().tables.code(grid);
    let mut at = first;
    let mut any = grid.ballot(active) != 0;
    while at < end {
        let instruction = fetch_from(grid, code, at);
        let Some(op) = Op::from_word(instruction.op) else {
            break;
        };
        if op == Op::Edges {
            return (at, lane.flags);
        }
        if any {
            lane.step(op, instruction);
        }
        if op == Op::Only {
            any = grid.ballot(lane.flags & ACTIVE != 0) != 0;
        }
        at += 1;
    }
    (end, lane.flags)
}

/// A lane and what it runs with.
#[derive(Clone, Copy, Debug)]
struct Lane<G> {
    cx: ContextRef<G>,
    temps: Temps<G>,
    place: Place,
    flags: u32,
}

/// Whether `op` is one of those from `first` to `last`.
#[inline(always)]
const fn is_among(op: Op, first: Op, last: Op) -> bool {
    (op as u32).wrapping_sub(first as u32) <= last as u32 - first as u32
}

impl<G: Grid> Lane<G> {
    #[inline(always)]
    fn is_active(&self) -> bool {
        self.flags & ACTIVE != 0
    }

    /// Runs an instruction. Values are made in every lane, as that costs nothing; memory
    /// is left alone by lanes whose item is out.
    #[inline(always)]
    fn step(&mut self, op: Op, at: Fetched) {
        let temps = self.temps;
        if is_among(op, Op::Constant, Op::EdgeWeight) {
            return self.make(op, at);
        }
        if is_among(op, Op::Degree, Op::FirstEdge) {
            return temps.set(at, TO, self.row(op, at));
        }
        if is_among(op, Op::Load, Op::LatestWide) {
            return self.load(op, at);
        }
        if is_among(op, Op::Add, Op::AtMostFloat) {
            let word = values::word(op, temps.word(at, A), temps.word(at, B));
            return temps.set(at, TO, word);
        }
        if is_among(op, Op::AddWide, Op::XorWide) {
            let pair = values::wide(op, temps.wide(at, A), temps.wide(at, B));
            return temps.set_value(at, TO, true, pair);
        }
        if is_among(op, Op::ShiftLeftWide, Op::ShiftRightWide) {
            let by = u64::from(temps.word(at, B));
            let pair = values::wide(op, temps.wide(at, A), by);
            return temps.set_value(at, TO, true, pair);
        }
        if is_among(op, Op::EqualWide, Op::AtMostWide) {
            let word = values::narrow(op, temps.wide(at, A), temps.wide(at, B));
            return temps.set(at, TO, word);
        }
        if is_among(op, Op::Select, Op::WideOf) {
            return self.convert(op, at);
        }
        self.effect(op, at);
    }

    /// Values that come from where the lane is.
    #[inline(always)]
    fn make(&self, op: Op, at: Fetched) {
        let word = match op {
            Op::Item => self.place.item,
            Op::Neighbour => self.place.neighbour,
            Op::EdgeNumber => self.place.edge,
            Op::EdgeWeight => self.weight(),
            _ => at.first,
        };
        let pair = u64::from(word) | u64::from(at.second) << 32;
        self.temps.set_value(at, TO, op == Op::ConstantWide, pair);
    }

    #[inline(always)]
    fn weight(&self) -> u32 {
        let grid = self.temps.grid;
        match self.cx.context().tables.weights(grid) {
            Some(weights) if self.is_active() => weights.constant(grid, self.place.edge),
            _ => 0,
        }
    }

    /// A property of a node's row; 0 for a number that is no node.
    #[inline(always)]
    fn row(&self, op: Op, at: Fetched) -> u32 {
        let (grid, node) = (self.temps.grid, self.temps.word(at, A));
        let tables = self.cx.context().tables;
        if !self.is_active() || !is_node(grid, node, tables.nodes(grid)) {
            return 0;
        }
        let (start, end) = rows_of(grid, tables, at.first).row(grid, node);
        if op == Op::Degree { end - start } else { start }
    }

    /// Register `index`, or one without words.
    #[inline(always)]
    fn register(&self, index: u32) -> Words {
        let found = self.cx.context().tables.register(self.temps.grid, index);
        // SAFETY: an array of no words is valid.
        found.unwrap_or_else(|_| unsafe { Words::new(core::ptr::null_mut(), 0) })
    }

    #[inline(always)]
    fn load(&self, op: Op, at: Fetched) {
        let (temps, grid) = (self.temps, self.temps.grid);
        let is_wide = matches!(op, Op::LoadWide | Op::LatestWide);
        let mut value = 0;
        if self.is_active() {
            let (from, index) = (self.register(at.first), temps.word(at, A));
            value = match op {
                Op::Load => u64::from(from.load_weak(grid, index)),
                Op::Latest => u64::from(from.load(grid, index)),
                Op::LoadWide => change::load_weak(grid, from, index),
                _ => change::load(grid, from, index),
            };
        }
        temps.set_value(at, TO, is_wide, value);
    }

    /// Values that come of others in other ways.
    #[inline(always)]
    fn convert(&self, op: Op, at: Fetched) {
        let temps = self.temps;
        let (value, is_wide) = match op {
            Op::Select | Op::SelectWide => {
                let is_wide = op == Op::SelectWide;
                let which = if temps.word(at, A) != 0 { B } else { C };
                (temps.value(at, which, is_wide), is_wide)
            }
            Op::Random => {
                let bits = random(at.first, temps.word(at, A), temps.word(at, B));
                (u64::from(bits), false)
            }
            Op::OnesWide | Op::LowZerosWide | Op::LowWord | Op::HighWord | Op::FloatOfWide => {
                (u64::from(values::narrow(op, temps.wide(at, A), 0)), false)
            }
            Op::Widen => (u64::from(temps.word(at, A)), true),
            Op::WideOf => (f32::from_bits(temps.word(at, A)) as u64, true),
            Op::Pair => {
                let (low, high) = (temps.word(at, A), temps.word(at, B));
                (u64::from(low) | u64::from(high) << 32, true)
            }
            _ => (u64::from(values::word(op, temps.word(at, A), 0)), false),
        };
        temps.set_value(at, TO, is_wide, value);
    }

    /// Instructions that change more than a temporary.
    #[inline(always)]
    fn effect(&mut self, op: Op, at: Fetched) {
        let (temps, grid) = (self.temps, self.temps.grid);
        if op == Op::Append {
            let put = self.is_active() && temps.word(at, B) != 0;
            let (list, count) = (self.register(at.first), self.register(at.second));
            return change::append(grid, (list, count), temps.word(at, A), put);
        }
        if !self.is_active() {
            return;
        }
        match op {
            Op::Only if temps.word(at, A) == 0 => self.flags &= !ACTIVE,
            Op::Store => {
                let to = self.register(at.first);
                to.store_weak(grid, self.place.item, temps.word(at, A));
            }
            Op::StoreWide => {
                let to = self.register(at.first);
                change::store_weak(grid, to, self.place.item, temps.wide(at, A));
            }
            Op::Raise if temps.word(at, A) != 0 => self.cx.tag().raise(grid),
            Op::Until if temps.word(at, A) != 0 => self.flags |= ENOUGH,
            Op::Scatter | Op::Fold | Op::Reduce => self.join(op, at),
            _ => {}
        }
    }

    /// Instructions that join a value to others.
    #[inline(always)]
    fn join(&mut self, op: Op, at: Fetched) {
        let (temps, grid) = (self.temps, self.temps.grid);
        let Some(joined) = Joined::from_word(at.second) else {
            return;
        };
        let is_wide = joined.kind == Kind::U64;
        if op == Op::Scatter {
            let (to, index) = (self.register(at.first), temps.word(at, A));
            let value = temps.value(at, B, is_wide);
            let before = change::change(grid, to, index, (joined, value));
            return temps.set_value(at, TO, is_wide, before);
        }
        let so_far = temps.value(at, B, is_wide);
        let now = values::join(joined, so_far, temps.value(at, A, is_wide));
        temps.set_value(at, B, is_wide, now);
        if op == Op::Reduce && joined.end() != Some(now) {
            self.flags &= !SETTLED;
        }
    }
}

/// The rows of edges of a kind, which the launch holds.
#[inline(always)]
pub(super) fn rows_of<G: Grid>(grid: G, tables: Tables, edges: u32) -> Csr {
    if edges == Edges::Out as u32 {
        tables.outgoing(grid)
    } else {
        tables.incoming(grid)
    }
}

/// Whether there is a node `item`; notes it where there is none.
#[inline(always)]
pub(super) fn is_node<G: Grid>(grid: G, item: u32, nodes: u32) -> bool {
    if item >= nodes {
        note_missed(grid, item, nodes);
    }
    item < nodes
}
