//! Communities by label propagation, by the stable rule of the analysis `labels`.
//!
//! Each round, a node wants the label of most edges around it (or most weight), its own if that is
//! among them, else the first in a random order. A node that wants another label waits if it is in
//! conflict with a neighbour that comes before it: both want another label, and one of them the
//! other's present one. All others change at once. The next round looks at nodes that waited, and at
//! neighbours of nodes that changed. The host's module proves that this ends where no node wants
//! another label; on a graph with edges that have no mirror image it may not, but for the clock.
//!
//! Labels of a row are counted in an array with a sum for each label, which are zero between rows;
//! those of a short row are compared with each other, all of them without a branch, as no processor
//! predicts which are equal. The rows and labels of the next nodes of a list are fetched ahead.
//!
//! In the first round all labels are different, so that what is around a node is its row alone.
//!
//! A look also finds the lead of the label that a node wants over all others. A neighbour's change
//! from one label to another takes at most its weight from both sides of the lead, so a node looks
//! again only when the changes since its last look have used the lead up. Until then it would want
//! the same label, so results are those of a look in each round. Where much of the graph changes at
//! once, most leads are used up, and all nodes look without a pass over the edges of those that
//! changed. Long lists are made in the order of nodes, whose rows then follow each other in memory.
//!
//! Work: `O(1)` for each edge of a node that looks, wants another label, or changes, in each round;
//! `m` looks in the first. Where more looks than leads ask for are made, they are at most four times
//! the nodes and edges of what changed. Memory: `8 n` words.
//!
//! Source: Raghavan, Albert, Kumara, "Near linear time algorithm to detect community structures in
//! large-scale networks", 2007.

use super::Operands;
use super::work::{Field, Pairs, Rows, Scratch, Work, fetch};
use crate::machine::Grid;
use crate::machine::memory::Words;
use core::hint::select_unpredictable;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::sequential::Lengths;

/// Units in the largest float weight are this power of two and less than twice as many: weights are
/// summed as whole numbers.
const UNITS_EXPONENT: i32 = 31;

/// A label that is not named yet.
const NAMELESS: u32 = u32::MAX;

/// The stored lead, see [`Propagation::leads`], of a label that another one may have overtaken.
const NO_LEAD: u32 = 0;
/// The stored lead of a label of which another one may have as much.
const TIE: u32 = NO_LEAD + 1;

/// Words of a node's record.
const RECORD: u32 = 4;

/// Edges for each node from which on a graph is dense.
const DENSE: u32 = 8;

/// Part of all nodes and edges, as a divisor, from which on so many of changing nodes are much of the
/// graph.
const MUCH: u64 = 4;

/// Part of all nodes, as a divisor, from which on a list is long.
const LONG: u32 = 16;

/// Edges of a row whose labels are compared with each other.
const SHORT: u32 = 8;

/// Stores the smallest node of every node's community.
pub(super) fn propagate<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    scratch: Scratch,
) -> Result<(), FaultCode> {
    let is_dense = rows.rows.edges() / DENSE >= operands.nodes;
    match (is_dense, rows.lengths == Lengths::Edges) {
        (true, true) => propagate_in::<G, 1, true>(work, operands, rows, scratch),
        (true, false) => propagate_in::<G, 1, false>(work, operands, rows, scratch),
        (false, true) => propagate_in::<G, RECORD, true>(work, operands, rows, scratch),
        (false, false) => propagate_in::<G, RECORD, false>(work, operands, rows, scratch),
    }
}

/// The same with an array for each word of a node, or a record, so that the words of two nodes are
/// `EACH` apart, and by edges or by weights. Each has code of its own, in which these are constants.
#[inline(never)]
fn propagate_in<G: Grid, const EACH: u32, const EDGES: bool>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    operands.needs(nodes.into())?;
    let sums = scratch.take_long(u64::from(nodes) * if EDGES { 1 } else { 2 })?;
    let [labels, wanted, leads, names] = words_of_nodes::<EACH>(&mut scratch, nodes)?;
    let state = Propagation::<EACH, EDGES> {
        amounts: Amounts::of(work, rows)?,
        rows,
        sums,
        labels,
        wanted,
        leads,
        names,
        nodes,
        looking: scratch.take(nodes)?,
        moving: scratch.take(nodes)?,
    };
    for node in 0..nodes {
        state.set_sum(grid, node, 0);
        state.labels.store_weak(grid, node, node);
        state.wanted.store_weak(grid, node, node);
        state.leads.store_weak(grid, node, NO_LEAD);
        state.looking.store_weak(grid, node, node);
    }
    let mut looking = nodes;
    state.look_first(work)?;
    while looking > 0 {
        let moves = state.settle(work, looking)?;
        looking = if state.is_much(&moves) {
            state.change_at_once(grid, &moves)
        } else {
            state.change_all(work, &moves)?
        };
        state.look(work, looking)?;
    }
    state.name(grid, operands.to, nodes);
    Ok(())
}

/// The label of every node, the label that it wants, its stored lead and the name of its label, in
/// this order. A look at an edge of a dense graph mostly reads the label alone, so there
/// each has an array of its own; on other graphs the four are one record of a node.
#[inline(always)]
fn words_of_nodes<const EACH: u32>(
    scratch: &mut Scratch,
    nodes: u32,
) -> Result<[Field; 4], FaultCode> {
    if EACH == 1 {
        let mut field = || scratch.take(nodes).map(Field::of);
        return Ok([field()?, field()?, field()?, field()?]);
    }
    let records = scratch.take_records(nodes, EACH)?;
    let field = |at| records.field(at);
    Ok([field(0)?, field(1)?, field(2)?, field(3)?])
}

/// Numbers of the nodes that move in a round.
struct Moves {
    changing: u32,
    waiting: u32,
    /// Edges of those that change.
    edges: u64,
}

#[derive(Clone, Copy)]
struct Propagation<const EACH: u32, const EDGES: bool> {
    rows: Rows,
    amounts: Amounts,
    /// The sum of each label around the node at hand: words by edges, else pairs of words.
    sums: Words,
    labels: Field,
    wanted: Field,
    /// The stored leads: one more than the least lead that the wanted label of each node can have,
    /// or [`NO_LEAD`]. After the looks of a round none is [`NO_LEAD`], and a node is listed for the
    /// next round when it becomes so.
    leads: Field,
    /// The name of each label at the end.
    names: Field,
    nodes: u32,
    looking: Words,
    /// The nodes that change, from the front on, and those that wait, from the back on.
    moving: Words,
}

impl<const EACH: u32, const EDGES: bool> Propagation<EACH, EDGES> {
    #[inline(always)]
    fn sum<G: Grid>(&self, grid: G, label: u32) -> u64 {
        if EDGES {
            self.sums.load_weak(grid, label).into()
        } else {
            Pairs::of(self.sums).load(grid, label)
        }
    }

    /// A sum of edges fits a word.
    #[inline(always)]
    fn set_sum<G: Grid>(&self, grid: G, label: u32, sum: u64) {
        if EDGES {
            self.sums.store_weak(grid, label, sum as u32);
        } else {
            Pairs::of(self.sums).store(grid, label, sum);
        }
    }

    /// What an edge counts.
    #[inline(always)]
    fn amount<G: Grid>(&self, grid: G, edge: u32) -> u64 {
        if EDGES {
            1
        } else {
            self.amounts.at(grid, self.rows, edge)
        }
    }

    #[inline(always)]
    fn label<G: Grid>(&self, grid: G, node: u32) -> u32 {
        self.labels.spaced(EACH).load_weak(grid, node)
    }

    /// Finds the labels that the first nodes of the list want.
    #[inline(always)]
    fn look<G: Grid>(&self, work: &mut Work<'_, G>, looking: u32) -> Result<(), FaultCode> {
        let grid = work.grid;
        for at in 0..looking {
            self.fetch(grid, self.labels, self.looking, looking, at);
            let node = self.looking.load_weak(grid, at);
            // A node that waited does not have the label that it wants yet, so that another label
            // with as much may come before it.
            if !self.wants(grid, node) || self.leads.load_weak(grid, node) <= TIE {
                let choice = self.best(work, node)?;
                self.wanted.store_weak(grid, node, choice.label);
                self.leads.store_weak(grid, node, choice.lead());
            }
        }
        Ok(())
    }

    /// Moves the nodes of the list that want another label: those that change and those that wait.
    #[inline(always)]
    fn settle<G: Grid>(&self, work: &mut Work<'_, G>, looking: u32) -> Result<Moves, FaultCode> {
        let grid = work.grid;
        let (mut changing, mut waiting, mut edges) = (0, 0, 0);
        for at in 0..looking {
            self.fetch(grid, self.wanted, self.looking, looking, at);
            let node = self.looking.load_weak(grid, at);
            if self.wants(grid, node) {
                // Both places are free, as fewer nodes have moved than the list has.
                let waits = self.waits(work, node)?;
                self.moving.store_weak(grid, changing, node);
                self.moving.store_weak(grid, self.nodes - 1 - waiting, node);
                let (start, end) = self.rows.rows.row(grid, node);
                edges += select_unpredictable(waits, 0, u64::from(end - start));
                changing += u32::from(!waits);
                waiting += u32::from(waits);
            }
        }
        Ok(Moves {
            changing,
            waiting,
            edges,
        })
    }

    /// Whether so much of the graph changes that all nodes look at once.
    fn is_much(&self, moves: &Moves) -> bool {
        let all = u64::from(self.nodes) + u64::from(self.rows.rows.edges());
        u64::from(moves.changing) + moves.edges > all / MUCH
    }

    /// Changes labels and lists all nodes. Returns their number.
    #[inline(always)]
    fn change_at_once<G: Grid>(&self, grid: G, moves: &Moves) -> u32 {
        for at in 0..moves.changing {
            let node = self.moving.load_weak(grid, at);
            let [_, wish] = self.change(grid, node);
            self.labels.store_weak(grid, node, wish);
        }
        for node in 0..self.nodes {
            self.leads.store_weak(grid, node, NO_LEAD);
            self.looking.store_weak(grid, node, node);
        }
        self.nodes
    }

    /// Changes labels, and lists the nodes that may want another one now, and those that wait.
    /// Returns their number.
    #[inline(always)]
    fn change_all<G: Grid>(&self, work: &mut Work<'_, G>, moves: &Moves) -> Result<u32, FaultCode> {
        let grid = work.grid;
        let mut next = 0;
        for at in 0..moves.changing {
            self.fetch(grid, self.leads, self.moving, moves.changing, at);
            let node = self.moving.load_weak(grid, at);
            let change = self.change(grid, node);
            self.labels.store_weak(grid, node, change[1]);
            for edge in work.row(self.rows.rows, node)? {
                let other = self.rows.rows.target(grid, edge);
                if other != node && self.overtakes(grid, other, edge, change) {
                    self.looking.store_weak(grid, next, other);
                    next += 1;
                }
            }
        }
        if next > self.nodes / LONG {
            next = self.list_in_order(grid);
        }
        for at in 1..=moves.waiting {
            let node = self.moving.load_weak(grid, self.nodes - at);
            if self.leads.load_weak(grid, node) != NO_LEAD {
                self.looking.store_weak(grid, next, node);
                next += 1;
            }
        }
        Ok(next)
    }

    /// Lists the nodes without a lead in their order. Returns their number.
    #[inline(always)]
    fn list_in_order<G: Grid>(&self, grid: G) -> u32 {
        let mut length = 0;
        for node in 0..self.nodes {
            // The place is free, as at most all nodes before this one are listed.
            self.looking.store_weak(grid, length, node);
            length += u32::from(self.leads.load_weak(grid, node) == NO_LEAD);
        }
        length
    }

    /// [`Self::look`] of all nodes in the first round, in which each has a label of its own: rows
    /// that ascend say what is around a node, and nothing needs to be added up.
    #[inline(never)]
    fn look_first<G: Grid>(&self, work: &mut Work<'_, G>) -> Result<(), FaultCode> {
        let grid = work.grid;
        for node in 0..self.nodes {
            let choice = match self.best_neighbour(grid, node) {
                Some(choice) => {
                    let (start, end) = self.rows.rows.row(grid, node);
                    work.spend(end - start)?;
                    choice
                }
                None => self.best(work, node)?,
            };
            self.wanted.store_weak(grid, node, choice.label);
            self.leads.store_weak(grid, node, choice.lead());
        }
        Ok(())
    }

    /// [`Self::best`] in the first round; `None` if the row does not ascend, as with parallel edges.
    #[inline(always)]
    fn best_neighbour<G: Grid>(&self, grid: G, node: u32) -> Option<Choice> {
        let (start, end) = self.rows.rows.row(grid, node);
        let mut choice = Choice::of(node, 0);
        let (mut first, mut ascends, mut least) = (0, true, 0);
        for edge in start..end {
            let other = self.rows.rows.target(grid, edge);
            ascends &= other >= least;
            least = other.saturating_add(1);
            let amount = self.amount(grid, edge);
            let sum = select_unpredictable(other == node, 0, amount);
            let is_before = (sum == choice.most) & (place(other) < first);
            let is_better = (sum > choice.most) | is_before;
            let lesser = select_unpredictable(is_better, choice.most, sum);
            choice.second = choice.second.max(lesser);
            choice.most = choice.most.max(sum);
            choice.label = select_unpredictable(is_better, other, choice.label);
            first = select_unpredictable(is_better, place(other), first);
        }
        ascends.then_some(choice)
    }

    /// Fetches the rows of the nodes after `at` in a list of `length`, and words of their neighbours.
    #[inline(always)]
    fn fetch<G: Grid>(&self, grid: G, field: Field, list: Words, length: u32, at: u32) {
        fetch(grid, self.rows.rows, field, |steps| {
            let at = at.saturating_add(steps);
            (at < length).then(|| list.load_weak(grid, at))
        });
    }

    /// The label of `node` and the one that it wants.
    #[inline(always)]
    fn change<G: Grid>(&self, grid: G, node: u32) -> [u32; 2] {
        [
            self.label(grid, node),
            self.wanted.spaced(EACH).load_weak(grid, node),
        ]
    }

    #[inline(always)]
    fn wants<G: Grid>(&self, grid: G, node: u32) -> bool {
        let [own, wish] = self.change(grid, node);
        own != wish
    }

    /// Whether another label may have as much around `node` as the one that it wants, or more, only
    /// now that the neighbour at `edge` has changed.
    #[inline(always)]
    fn overtakes<G: Grid>(&self, grid: G, node: u32, edge: u32, [from, to]: [u32; 2]) -> bool {
        let lead = self.leads.load_weak(grid, node);
        if lead == NO_LEAD {
            return false;
        }
        let wanted = self.wanted.load_weak(grid, node);
        let amount = self.amount(grid, edge);
        let amount = u32::try_from(amount).unwrap_or(u32::MAX);
        let left = match (from == wanted, to == wanted) {
            (_, true) => lead.saturating_add(amount),
            (true, false) => lead.saturating_sub(amount).saturating_sub(amount),
            (false, false) => lead.saturating_sub(amount),
        };
        self.leads.store_weak(grid, node, left);
        left == NO_LEAD
    }

    /// The label that `node` would take if it were alone.
    #[inline(always)]
    fn best<G: Grid>(&self, work: &mut Work<'_, G>, node: u32) -> Result<Choice, FaultCode> {
        let grid = work.grid;
        let own = self.label(grid, node);
        let (start, end) = self.rows.rows.row(grid, node);
        work.spend(end - start)?;
        Ok(match end - start {
            0 => Choice::of(own, 0),
            1..=2 => self.best_of::<G, 2>(grid, node, [start, end]),
            3..=4 => self.best_of::<G, 4>(grid, node, [start, end]),
            5..=SHORT => self.best_of::<G, 8>(grid, node, [start, end]),
            _ => self.best_of_many(grid, node, own, [start, end]),
        })
    }

    /// The same for a long row, as a function of its own, whose loops have all registers.
    #[inline(never)]
    fn best_of_many<G: Grid>(
        &self,
        grid: G,
        node: u32,
        own: u32,
        [start, end]: [u32; 2],
    ) -> Choice {
        for edge in start..end {
            let other = self.rows.rows.target(grid, edge);
            if other != node {
                let label = self.label(grid, other);
                let sum = self.sum(grid, label);
                let amount = self.amount(grid, edge);
                self.set_sum(grid, label, sum.wrapping_add(amount));
            }
        }
        let mut choice = Choice::of(own, self.sum(grid, own));
        self.set_sum(grid, own, 0);
        for edge in start..end {
            let other = self.rows.rows.target(grid, edge);
            let label = self.label(grid, other);
            choice.offer(label, self.sum(grid, label));
            self.set_sum(grid, label, 0);
        }
        choice
    }

    /// The same for a row of one to `N` edges.
    #[inline(always)]
    fn best_of<G: Grid, const N: usize>(&self, grid: G, node: u32, row: [u32; 2]) -> Choice {
        let own = self.label(grid, node);
        let (mut labels, mut amounts, mut sums) = ([own; N], [0; N], [0; N]);
        for (at, (label, amount)) in (0..).zip(labels.iter_mut().zip(&mut amounts)) {
            let edge = edge_of(row, at);
            let other = self.rows.rows.target(grid, edge);
            *label = self.label(grid, other);
            let counts = (at < row[1] - row[0]) & (other != node);
            *amount = u64::from(counts) * self.amount(grid, edge);
        }
        let sum_of = |label| {
            let mut sum = 0_u64;
            // A fold would be a call.
            for (other, amount) in labels.iter().zip(&amounts) {
                let counts = select_unpredictable(*other == label, *amount, 0);
                sum = sum.wrapping_add(counts);
            }
            sum
        };
        let (of_own, mut most) = (sum_of(own), 0);
        for (sum, label) in sums.iter_mut().zip(&labels) {
            *sum = sum_of(*label);
            most = (*sum).max(most);
        }
        most = of_own.max(most);
        // No label has place 0, so none comes before the node's own.
        let (mut label, mut first) = (own, select_unpredictable(of_own == most, 0, u32::MAX));
        for (other, sum) in labels.iter().zip(&sums) {
            let is_first = (*sum == most) & (place(*other) <= first);
            first = select_unpredictable(is_first, place(*other), first);
            label = select_unpredictable(is_first, *other, label);
        }
        let mut second = select_unpredictable(label == own, 0, of_own);
        for (other, sum) in labels.iter().zip(&sums) {
            second = second.max(select_unpredictable(*other == label, 0, *sum));
        }
        Choice {
            own,
            label,
            most,
            second,
        }
    }

    /// Whether `node` comes after a neighbour in conflict with it.
    #[inline(always)]
    fn waits<G: Grid>(&self, work: &mut Work<'_, G>, node: u32) -> Result<bool, FaultCode> {
        let grid = work.grid;
        let change = self.change(grid, node);
        let (start, end) = self.rows.rows.row(grid, node);
        work.spend(end - start)?;
        Ok(match end - start {
            0 => false,
            1..=2 => self.waits_for::<G, 2>(grid, node, change, [start, end]),
            3..=4 => self.waits_for::<G, 4>(grid, node, change, [start, end]),
            5..=SHORT => self.waits_for::<G, 8>(grid, node, change, [start, end]),
            _ => self.waits_for_any(grid, node, change, [start, end]),
        })
    }

    /// The same for a long row, as [`Self::best_of_many`]; it ends at the first such neighbour.
    #[inline(never)]
    fn waits_for_any<G: Grid>(
        &self,
        grid: G,
        node: u32,
        change: [u32; 2],
        [start, end]: [u32; 2],
    ) -> bool {
        (start..end).any(|edge| {
            let other = self.rows.rows.target(grid, edge);
            self.is_in_conflict(grid, change, other) && place(other) < place(node)
        })
    }

    /// Whether `node` comes after a neighbour in conflict with it, in a row of one to `N` edges.
    #[inline(always)]
    fn waits_for<G: Grid, const N: usize>(
        &self,
        grid: G,
        node: u32,
        change: [u32; 2],
        row: [u32; 2],
    ) -> bool {
        (0..N as u32).fold(false, |waits, at| {
            let other = self.rows.rows.target(grid, edge_of(row, at));
            let comes_after = place(other) < place(node);
            waits | (self.is_in_conflict(grid, change, other) & comes_after)
        })
    }

    /// Whether a node that wants to change its label as given is in conflict with a neighbour.
    #[inline(always)]
    fn is_in_conflict<G: Grid>(&self, grid: G, [own, wish]: [u32; 2], other: u32) -> bool {
        let [theirs, their_wish] = self.change(grid, other);
        ((theirs == wish) | (their_wish == own)) & (theirs != their_wish)
    }

    /// Names each community after its smallest node.
    fn name<G: Grid>(&self, grid: G, to: Words, nodes: u32) {
        let names = self.names;
        for node in 0..nodes {
            names.store_weak(grid, node, NAMELESS);
        }
        for node in 0..nodes {
            let label = self.label(grid, node);
            if names.load_weak(grid, label) == NAMELESS {
                names.store_weak(grid, label, node);
            }
            to.store_weak(grid, node, names.load_weak(grid, label));
        }
    }
}

/// The label of most weight around a node.
struct Choice {
    own: u32,
    label: u32,
    most: u64,
    /// The most of all other labels.
    second: u64,
}

impl Choice {
    const fn of(own: u32, most: u64) -> Self {
        Self {
            own,
            label: own,
            most,
            second: 0,
        }
    }

    /// Takes another label if it has more. Among equals the node's own comes first.
    #[inline(always)]
    fn offer(&mut self, label: u32, sum: u64) {
        let is_first = || self.label != self.own && place(label) < place(self.label);
        if sum > self.most || (sum == self.most && sum > 0 && is_first()) {
            self.second = self.most;
            (self.label, self.most) = (label, sum);
        } else {
            self.second = self.second.max(sum);
        }
    }

    /// One more than its lead, or as much of it as fits a word.
    fn lead(&self) -> u32 {
        let lead = self.most - self.second;
        u32::try_from(lead).map_or(u32::MAX, |lead| lead.saturating_add(1))
    }
}

/// Edge `at` of a row that has any, or the last one.
#[inline(always)]
const fn edge_of([start, end]: [u32; 2], at: u32) -> u32 {
    let last = end - start - 1;
    start + if at < last { at } else { last }
}

/// The place of a label, or of the node that began with it, in the random order (Wellons,
/// "Prospecting for hash functions", 2018).
#[inline(always)]
const fn place(node: u32) -> u32 {
    let number = node.wrapping_add(1);
    let mixed = (number ^ (number >> 16)).wrapping_mul(0x7FEB_352D);
    let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x846C_A68B);
    mixed ^ (mixed >> 16)
}

/// The amount that an edge counts.
#[derive(Clone, Copy)]
enum Amounts {
    One,
    Whole,
    /// A float weight, times both factors.
    Float([f32; 2]),
}

impl Amounts {
    /// One pass over float weights, for their largest.
    fn of<G: Grid>(work: &mut Work<'_, G>, rows: Rows) -> Result<Self, FaultCode> {
        Ok(match rows.lengths {
            Lengths::Edges => Self::One,
            Lengths::Whole => Self::Whole,
            Lengths::Float => {
                let mut largest = 0;
                for edge in 0..rows.weights.len() {
                    if edge % 1024 == 0 {
                        work.pass(1024)?;
                    }
                    // Words of floats that are not negative order like them.
                    largest = largest.max(rows.weights.load_weak(work.grid, edge));
                }
                Self::Float(units_in_one(f32::from_bits(largest)))
            }
        })
    }

    #[inline(always)]
    fn at<G: Grid>(self, grid: G, rows: Rows, edge: u32) -> u64 {
        match self {
            Self::One => 1,
            Self::Whole => u64::from(rows.weights.load_weak(grid, edge)),
            Self::Float([first, second]) => {
                (f32::from_bits(rows.weights.load_weak(grid, edge)) * first * second) as u64
            }
        }
    }
}

/// Units in a weight of 1, as two factors, if `largest` is the largest weight.
///
/// Both are powers of two, so that weights in the ratio of small whole numbers stay in it: sums that
/// are equal as real numbers must be equal in units, too.
#[must_use]
pub const fn units_in_one(largest: f32) -> [f32; 2] {
    const FRACTION_BITS: u32 = f32::MANTISSA_DIGITS - 1;
    let bits = largest.to_bits();
    let exponent = match bits {
        0 => 0,
        1..=0x007F_FFFF => bits.ilog2() as i32 - 149,
        _ => (bits >> FRACTION_BITS) as i32 - 127,
    };
    // Between -97 and 180, which one factor cannot hold.
    let units = UNITS_EXPONENT - exponent;
    [power_of_two(units / 2), power_of_two(units - units / 2)]
}

/// 2 to the power of `exponent`, which is between -126 and 127.
const fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << (f32::MANTISSA_DIGITS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_weight_has_as_many_units_as_fit_a_word() {
        for largest in [
            f32::from_bits(1),
            1e-40,
            f32::MIN_POSITIVE,
            0.75,
            1.0,
            3.0,
            f32::MAX,
        ] {
            let [first, second] = units_in_one(largest);
            let units = f64::from(largest * first * second);
            assert!(
                (2_147_483_648.0..4_294_967_296.0).contains(&units),
                "{largest}"
            );
            let quarter = largest / 4.0;
            let share = f64::from(quarter) / f64::from(largest);
            assert_eq!(
                f64::from(quarter * first * second),
                share * units,
                "{largest}"
            );
        }
        assert_eq!(units_in_one(0.0), [32_768.0, 65_536.0]);
    }
}
