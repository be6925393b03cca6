//! The pairs of every symbol, by one semi-naive fixpoint.
//!
//! A relation is kept for each symbol and for each inverse, as rows: the nodes that a node reaches,
//! in the order in which they were found, and once a row has a 32nd of all nodes, also as bits,
//! which take no more memory than the list. What is new in a row is its end. Rows of labels, which
//! no production has on its left, never grow and are one array.
//!
//! A round has two phases. The first one takes what is new in rows of `B`, for each `A -> B C`,
//! and adds to the same rows of `A` the rows of `C` that it names. The second one does the same for
//! `~A -> ~C ~B`, which are the productions seen from the other end, so that a new pair of `C`
//! meets every old one of `B`; pairs of labels need no expansion of their own, as all that meets
//! them is found later. In each phase rows are read as the phase before left them, and
//! written at its end, so that threads share nothing and results do not depend on their number.
//!
//! With `n` nodes, `s` symbols, `p` productions and `m` pairs in all, each pair is expanded once for
//! each place in a production, at the cost of a row, `n / 32` list items or `n / 64` words at most:
//! O(p · m · n / 32), where `m <= s · n²` and `p` is O(s³). The worklist of D. Melski and T. Reps
//! (*Interconvertibility of a class of set constraints and context-free-language reachability*,
//! 2000) takes O(s³ · n³) steps; rows of bits save the factor, as the sets of S. Chaudhuri do
//! (*Subcubic algorithms for recursive state machines*, 2008).

use super::{Edges, Grammar, Right, Symbol};
use crate::error::ModuleError;
use crate::order;
use rayon::prelude::*;
use std::mem::take;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes that a pair takes at most on average: in a row of its symbol and in one of the inverse 16,
/// which is the smallest list, or an item, as much in reserve and its bits; 8 where it is found.
const PAIR_BYTES: u64 = 2 * 16 + 8;

/// Bytes of a row that never grows beside its items: where it begins, and where its bits are.
const FIXED_ROW_BYTES: u64 = (size_of::<u32>() + size_of::<Option<Box<[u64]>>>()) as u64;

/// Most pairs that are there from the start: their places are words.
const PAIRS_FIRST_MAX: u64 = u32::MAX as u64;

/// A row has bits once it has one of this many nodes.
const BITS_FROM: usize = 32;

/// Nodes that a thread takes at least at a time.
const NODES_MIN: usize = 8;

/// Parts of a phase for each thread, so that none waits long for the last one.
const PARTS_PER_THREAD: usize = 8;

/// Pairs from which threads share the work: to expand with so many known ones, to write so many
/// found ones. Below, waking them takes longer.
const SHARED_FROM: u64 = 1 << 15;

/// Two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// Number of the node where the path starts.
    pub from: u32,
    /// Number of the node where it ends.
    pub to: u32,
}

/// The pairs of a symbol that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Select {
    /// The symbol.
    pub symbol: Symbol,
    /// The node where paths start, if only those matter.
    pub from: Option<u32>,
    /// The node where paths end.
    pub to: Option<u32>,
}

/// Work of a fixpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReachStats {
    /// Rounds, the last of which found nothing.
    pub rounds: u64,
    /// Pairs that productions made out of two, known ones included.
    pub joins: u64,
    /// Memory of the rows and their bits at most, bytes.
    pub bytes: u64,
}

/// The pairs of every symbol.
#[derive(Clone, Debug)]
pub struct Reach {
    nodes: u32,
    relations: Vec<Relation>,
    /// Cost of the fixpoint.
    pub stats: ReachStats,
}

/// Finds the pairs of nodes for which each symbol holds, on the threads of rayon's pool.
///
/// ```
/// use seawall_modules::grammar::{Edges, Grammar, Select, reach};
///
/// let grammar = Grammar::read("calls.cnf", "S call end\nend return\nend S return\nS S S")?;
/// let mut edges = Edges::default();
/// edges.read(&grammar, "calls.g", "a b call\nb c call\nc d return\nd e return\nd b return")?;
/// let reached = reach(&grammar, &edges, 1 << 30)?;
///
/// let select = Select { symbol: grammar.start, from: edges.node("a"), to: None };
/// let names = reached.pairs(select).map(|pair| &*edges.names[pair.to as usize]);
/// assert_eq!(names.collect::<Vec<_>>(), ["b", "d", "e"]);
/// # Ok::<(), seawall_modules::ModuleError>(())
/// ```
///
/// # Errors
/// [`ModuleError::TooManyPairs`] if rows would take more than `budget_bytes`; nothing beyond that
/// is allocated.
pub fn reach(grammar: &Grammar, edges: &Edges, budget_bytes: u64) -> Result<Reach, ModuleError> {
    let mut fixpoint = Fixpoint::new(grammar, edges, budget_bytes)?;
    fixpoint.seed(grammar, edges)?;
    let mut stats = ReachStats::default();
    while fixpoint.queues.iter().any(|queue| !queue.nodes.is_empty()) {
        stats.rounds += 1;
        for phase in 0..2 {
            fixpoint.phase(phase)?;
        }
    }
    stats.joins = fixpoint.parts.iter().map(|part| part.joins).sum();
    stats.bytes = fixpoint.bytes(fixpoint.pairs.load(Relaxed));
    Ok(Reach {
        nodes: fixpoint.nodes as u32,
        relations: fixpoint.relations,
        stats,
    })
}

impl Reach {
    /// Number of pairs.
    #[must_use]
    pub fn count(&self, select: Select) -> u64 {
        let symbol = select.symbol;
        match (select.from, select.to) {
            (None, None) => self
                .relations
                .get(symbol.index())
                .map_or(0, |relation| relation.rows.pairs()),
            (Some(from), None) => self.row(symbol, from).len() as u64,
            (None, Some(to)) => self.row(symbol.inverse(), to).len() as u64,
            (Some(from), Some(to)) => u64::from(self.row(symbol, from).contains(&to)),
        }
    }

    /// The pairs, sorted by their first node, or by their second one if only that was asked for.
    pub fn pairs(&self, select: Select) -> impl Iterator<Item = Pair> {
        let is_reversed = select.from.is_none() && select.to.is_some();
        let (symbol, fixed, other) = if is_reversed {
            (select.symbol.inverse(), select.to, None)
        } else {
            (select.symbol, select.from, select.to)
        };
        let rows = fixed.map_or(0..self.nodes, |node| node..node + 1);
        rows.flat_map(move |node| {
            let mut row = self.row(symbol, node).to_vec();
            row.retain(|to| other.is_none_or(|other| other == *to));
            row.sort_unstable();
            row.into_iter().map(move |found| match is_reversed {
                true => Pair {
                    from: found,
                    to: node,
                },
                false => Pair {
                    from: node,
                    to: found,
                },
            })
        })
    }

    fn row(&self, symbol: Symbol, node: u32) -> &[u32] {
        let relation = self.relations.get(symbol.index());
        let relation = relation.filter(|_| node < self.nodes);
        relation.map_or(&[], |relation| relation.rows.row(node).items)
    }
}

/// The nodes that a node reaches.
#[derive(Clone, Debug, Default)]
struct Row {
    items: Vec<u32>,
    bits: Option<Box<[u64]>>,
    /// Number of items that each phase has expanded.
    done: [u32; 2],
}

/// A row to read.
#[derive(Clone, Copy)]
struct View<'a> {
    items: &'a [u32],
    bits: Option<&'a [u64]>,
}

/// Rows that never grow.
#[derive(Clone, Debug, Default)]
struct Fixed {
    /// Empty without pairs.
    rows: order::Rows,
    /// Bits of rows with a 32nd of all nodes; empty if there are none.
    bits: Vec<Option<Box<[u64]>>>,
}

impl Fixed {
    fn of(rows: order::Rows) -> Self {
        let nodes = rows.nodes();
        let mut bits = Vec::new();
        for node in 0..nodes {
            let row = rows.row(node);
            if row.len() * BITS_FROM >= nodes {
                let mut own: Box<[u64]> = vec![0; nodes.div_ceil(64)].into();
                set(&mut own, row);
                bits.resize(nodes, None);
                bits[node] = Some(own);
            }
        }
        Self { rows, bits }
    }

    fn row(&self, node: u32) -> &[u32] {
        match self.rows.nodes() {
            0 => &[],
            _ => self.rows.row(node as usize),
        }
    }
}

/// The rows of a relation, by node.
#[derive(Clone, Debug)]
enum Rows {
    Fixed(Fixed),
    Growing(Vec<Row>),
}

impl Rows {
    fn row(&self, node: u32) -> View<'_> {
        match self {
            Self::Fixed(fixed) => View {
                items: fixed.row(node),
                bits: fixed.bits.get(node as usize).and_then(Option::as_deref),
            },
            Self::Growing(rows) => View {
                items: &rows[node as usize].items,
                bits: rows[node as usize].bits.as_deref(),
            },
        }
    }

    /// The part of a queued row that a phase has not expanded.
    fn fresh(&self, node: u32, phase: usize) -> &[u32] {
        match self {
            // It is in the queue once, at the start.
            Self::Fixed(fixed) => fixed.row(node),
            Self::Growing(rows) => {
                let row = &rows[node as usize];
                &row.items[row.done[phase] as usize..]
            }
        }
    }

    /// Number of pairs.
    fn pairs(&self) -> u64 {
        match self {
            Self::Fixed(fixed) => fixed.rows.targets.len() as u64,
            Self::Growing(rows) => rows.iter().map(|row| row.items.len() as u64).sum(),
        }
    }
}

impl Row {
    fn extend(&mut self, items: &[u32], nodes: usize) {
        self.items.extend_from_slice(items);
        if let Some(bits) = &mut self.bits {
            set(bits, items);
        } else if self.items.len() * BITS_FROM >= nodes {
            let bits = self.bits.insert(vec![0; nodes.div_ceil(64)].into());
            set(bits, &self.items);
        }
    }
}

fn set(bits: &mut [u64], items: &[u32]) {
    for item in items {
        bits[*item as usize / 64] |= 1 << (item % 64);
    }
}

/// The pairs of a symbol or an inverse.
#[derive(Clone, Debug)]
struct Relation {
    rows: Rows,
    /// Whether each phase expands its pairs.
    expands: [bool; 2],
    /// Nodes whose rows each phase has to expand, and did not have to before.
    woken: [Vec<u32>; 2],
}

impl Relation {
    /// Adds what is new in a row that grows, and wakes its node.
    fn extend(&mut self, node: u32, items: &[u32]) {
        let Rows::Growing(rows) = &mut self.rows else {
            return;
        };
        let nodes = rows.len();
        let row = &mut rows[node as usize];
        for phase in 0..2 {
            if self.expands[phase] && row.done[phase] as usize == row.items.len() {
                self.woken[phase].push(node);
            }
        }
        row.extend(items, nodes);
    }
}

/// A production in the direction of a phase; without a second symbol a unary one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rule {
    left: Symbol,
    first: Symbol,
    second: Option<Symbol>,
}

/// Rules of each phase, sorted by their left sides.
///
/// A pair that is there from the start needs no expansion where pairs of a symbol that grows meet
/// it: each of those is expanded once it is found.
fn rules(grammar: &Grammar, grows: &[bool]) -> [Vec<Rule>; 2] {
    let mut rules = [Vec::new(), Vec::new()];
    for production in &grammar.productions {
        let left = production.left;
        match production.right {
            Right::Empty => {}
            Right::One(first) => rules[0].push(Rule {
                left,
                first,
                second: None,
            }),
            Right::Two(first, second) => {
                let second_grows = grows[second.index()];
                if grows[first.index()] || !second_grows {
                    rules[0].push(Rule {
                        left,
                        first,
                        second: Some(second),
                    });
                }
                if second_grows {
                    rules[1].push(Rule {
                        left: left.inverse(),
                        first: second.inverse(),
                        second: Some(first.inverse()),
                    });
                }
            }
        }
    }
    rules.iter_mut().for_each(|rules| rules.sort_unstable());
    rules
}

/// Whether each relation is on the left of a production, or its inverse is.
fn grows(grammar: &Grammar) -> Vec<bool> {
    let mut grows = vec![false; 2 * grammar.names.len()];
    for production in &grammar.productions {
        grows[production.left.index()] = true;
        grows[production.left.inverse().index()] = true;
    }
    grows
}

/// Nodes with rows that a phase has to expand, each once.
#[derive(Debug, Default)]
struct Queue {
    nodes: Vec<u32>,
    /// By node, a bit for each relation whose row has something new.
    fresh: Vec<u32>,
}

/// The end of all finds for the rows of one node.
#[derive(Clone, Copy, Debug)]
struct Group {
    node: u32,
    end: usize,
}

/// New pairs of a relation, row by row.
#[derive(Clone, Debug, Default)]
struct Found {
    items: Vec<u32>,
    groups: Vec<Group>,
}

impl Found {
    fn close(&mut self, node: u32) -> u64 {
        let before = self.groups.last().map_or(0, |group| group.end);
        let end = self.items.len();
        if end > before {
            self.groups.push(Group { node, end });
        }
        (end - before) as u64
    }

    fn each(&self, mut visit: impl FnMut(u32, &[u32])) {
        let mut first = 0;
        for group in &self.groups {
            visit(group.node, &self.items[first..group.end]);
            first = group.end;
        }
    }
}

/// The share of a phase that one thread takes at a time.
#[derive(Clone, Debug)]
struct Part {
    /// Entries of the row in work, as bits; otherwise zero.
    seen: Vec<u64>,
    /// By relation.
    found: Vec<Found>,
    joins: u64,
}

impl Part {
    /// Adds the items that the row in work lacks.
    fn add(&mut self, left: Symbol, items: &[u32]) {
        let found = &mut self.found[left.index()].items;
        for item in items {
            let word = &mut self.seen[*item as usize / 64];
            let bit = 1 << (item % 64);
            if *word & bit == 0 {
                *word |= bit;
                found.push(*item);
            }
        }
    }

    /// As [`add`](Self::add), of a row of bits, 64 nodes a step.
    fn add_bits(&mut self, left: Symbol, bits: &[u64]) {
        let found = &mut self.found[left.index()].items;
        for (first, (seen, word)) in (0..).step_by(64).zip(self.seen.iter_mut().zip(bits)) {
            let mut new = word & !*seen;
            *seen |= new;
            while new != 0 {
                found.push(first + new.trailing_zeros());
                new &= new - 1;
            }
        }
    }
}

struct Fixpoint {
    nodes: usize,
    /// By symbol: names and inverses in turn.
    relations: Vec<Relation>,
    rules: [Vec<Rule>; 2],
    queues: [Queue; 2],
    /// One, and all of them once there is work to share.
    parts: Vec<Part>,
    parts_max: usize,
    /// Found so far, of symbols without their inverses.
    pairs: AtomicU64,
    pairs_max: u64,
    budget: u64,
    /// Bytes of all that does not grow.
    base: u64,
}

impl Fixpoint {
    fn new(grammar: &Grammar, edges: &Edges, budget: u64) -> Result<Self, ModuleError> {
        let (nodes, symbols) = (edges.names.len(), 2 * grammar.names.len());
        let grows = grows(grammar);
        let rules = rules(grammar, &grows);
        let threads = rayon::current_num_threads();
        let parts = match threads {
            1 => 1,
            _ => threads * PARTS_PER_THREAD,
        };
        let growing = grows.iter().filter(|grows| **grows).count() as u64;
        // Rows, two words a node, the bits of each part, and rows that threads have in work.
        let row_bytes =
            growing * size_of::<Row>() as u64 + (symbols as u64 - growing) * FIXED_ROW_BYTES + 8;
        let bits_bytes = parts as u64 * (nodes as u64).div_ceil(64) * 8;
        let work_bytes = threads as u64 * nodes as u64 * 8;
        let base = nodes as u64 * row_bytes + bits_bytes + work_bytes;
        let empty = Relation {
            rows: Rows::Fixed(Fixed::default()),
            expands: [false; 2],
            woken: [Vec::new(), Vec::new()],
        };
        let mut fixpoint = Self {
            nodes,
            relations: vec![empty; symbols],
            rules,
            queues: [Queue::default(), Queue::default()],
            parts: Vec::new(),
            parts_max: parts,
            pairs: AtomicU64::new(0),
            pairs_max: budget.saturating_sub(base) / PAIR_BYTES,
            budget,
            base,
        };
        if base > budget {
            return Err(fixpoint.refused(edges.edges.len() as u64));
        }
        for (number, relation) in fixpoint.relations.iter_mut().enumerate() {
            if grows[number] {
                relation.rows = Rows::Growing(vec![Row::default(); nodes]);
            }
            relation.expands = [0, 1].map(|phase| {
                let mut rules = fixpoint.rules[phase].iter();
                rules.any(|rule| rule.first.index() == number)
            });
        }
        for queue in &mut fixpoint.queues {
            queue.fresh = vec![0; nodes];
        }
        let part = Part {
            seen: vec![0; nodes.div_ceil(64)],
            found: vec![Found::default(); symbols],
            joins: 0,
        };
        fixpoint.parts.push(part);
        Ok(fixpoint)
    }

    fn bytes(&self, pairs: u64) -> u64 {
        self.base.saturating_add(pairs.saturating_mul(PAIR_BYTES))
    }

    fn refused(&self, pairs: u64) -> ModuleError {
        ModuleError::TooManyPairs {
            pairs,
            nodes: self.nodes as u64,
            needed: self.bytes(pairs),
            limit: self.budget,
        }
    }

    /// Refuses more pairs than fit.
    fn check(&self) -> Result<(), ModuleError> {
        match self.pairs.load(Relaxed) {
            pairs if pairs > self.pairs_max => Err(self.refused(pairs)),
            _ => Ok(()),
        }
    }

    /// Begins with the edges, and the nodes that reach themselves by an empty path.
    fn seed(&mut self, grammar: &Grammar, edges: &Edges) -> Result<(), ModuleError> {
        let empty = grammar.productions.iter();
        let empty = empty.filter(|production| production.right == Right::Empty);
        let loops = empty.clone().count() as u64 * self.nodes as u64;
        let first = edges.edges.len() as u64 + loops;
        *self.pairs.get_mut() = first;
        self.check()?;
        if first > PAIRS_FIRST_MAX {
            return Err(ModuleError::TooLarge {
                path: "grammar".to_owned(),
                what: "edges with labels, and empty paths".to_owned(),
                found: first,
                most: PAIRS_FIRST_MAX,
            });
        }
        let nodes = self.nodes as u32;
        let mut pairs = 0;
        for number in (0..self.relations.len()).step_by(2) {
            let symbol = Symbol(number as u8);
            let listed = edges.edges.iter().filter_map(|edge| match edge.symbol {
                label if label == symbol => Some((edge.from, edge.to)),
                label if label == symbol.inverse() => Some((edge.to, edge.from)),
                _ => None,
            });
            let is_of = |left: Symbol| left == symbol || left == symbol.inverse();
            let has_loops = empty.clone().any(|production| is_of(production.left));
            let loops = (0..if has_loops { nodes } else { 0 }).map(|node| (node, node));
            let begins = listed.chain(loops);
            if begins.clone().next().is_none() {
                continue;
            }
            let begins = order::rows(self.nodes, begins).distinct();
            pairs += begins.targets.len() as u64;
            if matches!(self.relations[number].rows, Rows::Growing(_)) {
                let found = &mut self.parts[0].found[number];
                for from in 0..nodes {
                    found.items.extend(begins.row(from as usize));
                    found.close(from);
                }
                continue;
            }
            let turned = begins.reversed();
            for (number, rows) in [(number, begins), (number + 1, turned)] {
                let relation = &mut self.relations[number];
                let is_full = |node: &u32| !rows.row(*node as usize).is_empty();
                for phase in (0..2).filter(|phase| relation.expands[*phase]) {
                    relation.woken[phase].extend((0..nodes).filter(is_full));
                }
                relation.rows = Rows::Fixed(Fixed::of(rows));
            }
        }
        *self.pairs.get_mut() = pairs;
        self.write(0, &[], pairs);
        Ok(())
    }

    /// Expands what is new for a phase.
    fn phase(&mut self, phase: usize) -> Result<(), ModuleError> {
        let nodes = take(&mut self.queues[phase].nodes);
        let before = self.pairs.load(Relaxed);
        let mut parts = take(&mut self.parts);
        if self.parts_max == 1 || before < SHARED_FROM {
            self.expand(phase, &nodes, &mut parts[0]);
        } else {
            while parts.len() < self.parts_max {
                let joins = 0;
                parts.push(Part {
                    joins,
                    ..parts[0].clone()
                });
            }
            let share = nodes.len().div_ceil(parts.len()).max(NODES_MIN);
            let shares = nodes.par_chunks(share).zip(parts.par_iter_mut());
            shares.for_each(|(nodes, part)| self.expand(phase, nodes, part));
        }
        self.parts = parts;
        self.check()?;
        let found = self.pairs.load(Relaxed) - before;
        self.write(phase, &nodes, found);
        Ok(())
    }

    fn expand(&self, phase: usize, nodes: &[u32], part: &mut Part) {
        for node in nodes {
            let fresh = self.queues[phase].fresh[*node as usize];
            let is_fresh = |rule: &Rule| fresh >> rule.first.index() & 1 == 1;
            for rules in self.rules[phase].chunk_by(|one, next| one.left == next.left) {
                if !rules.iter().any(is_fresh) {
                    continue;
                }
                let new = self.expand_row(phase, *node, rules, part);
                if self.pairs.fetch_add(new, Relaxed) + new > self.pairs_max {
                    return;
                }
            }
        }
    }

    /// Expands rows of a node by rules of one left side, and counts the new nodes in its row.
    fn expand_row(&self, phase: usize, node: u32, rules: &[Rule], part: &mut Part) -> u64 {
        let left = rules[0].left;
        let rows = |symbol: Symbol| &self.relations[symbol.index()].rows;
        let known = rows(left).row(node);
        match &known.bits {
            Some(bits) => part.seen.copy_from_slice(bits),
            None => set(&mut part.seen, known.items),
        }
        let queued = self.queues[phase].fresh[node as usize];
        for rule in rules {
            if queued >> rule.first.index() & 1 == 0 {
                continue;
            }
            let fresh = rows(rule.first).fresh(node, phase);
            let Some(second) = rule.second else {
                part.add(left, fresh);
                continue;
            };
            for middle in fresh {
                let further = rows(second).row(*middle);
                part.joins += further.items.len() as u64;
                match further.bits {
                    Some(bits) => part.add_bits(left, bits),
                    None => part.add(left, further.items),
                }
            }
        }
        let new = part.found[left.index()].close(node);
        if known.items.len() + new as usize >= part.seen.len() {
            part.seen.fill(0);
        } else {
            let Part { seen, found, .. } = part;
            let found = &found[left.index()].items;
            let added = found[found.len() - new as usize..].iter();
            for item in known.items.iter().chain(added) {
                seen[*item as usize / 64] = 0;
            }
        }
        new
    }

    /// Writes what a phase found into the rows of symbols and of their inverses, after it has
    /// expanded the rows of `nodes`.
    fn write(&mut self, phase: usize, nodes: &[u32], found: u64) {
        let (parts, fresh) = (&self.parts, &self.queues[phase].fresh);
        let write = |(number, relation): (usize, &mut Relation)| {
            if let (true, Rows::Growing(rows)) = (relation.expands[phase], &mut relation.rows) {
                let is_fresh = |node: &&u32| fresh[**node as usize] >> number & 1 == 1;
                for node in nodes.iter().filter(is_fresh) {
                    let row = &mut rows[*node as usize];
                    row.done[phase] = row.items.len() as u32;
                }
            }
            for part in parts {
                if number % 2 == phase {
                    part.found[number].each(|node, items| relation.extend(node, items));
                } else {
                    part.found[number ^ 1].each(|node, items| {
                        items
                            .iter()
                            .for_each(|item| relation.extend(*item, &[node]));
                    });
                }
            }
        };
        if self.parts_max == 1 || found < SHARED_FROM {
            self.relations.iter_mut().enumerate().for_each(write);
        } else {
            self.relations.par_iter_mut().enumerate().for_each(write);
        }
        for found in self.parts.iter_mut().flat_map(|part| &mut part.found) {
            found.items.clear();
            found.groups.clear();
        }
        for node in nodes {
            self.queues[phase].fresh[*node as usize] = 0;
        }
        for (number, relation) in self.relations.iter_mut().enumerate() {
            for (queue, woken) in self.queues.iter_mut().zip(&mut relation.woken) {
                for node in woken.drain(..) {
                    let fresh = &mut queue.fresh[node as usize];
                    if *fresh == 0 {
                        queue.nodes.push(node);
                    }
                    *fresh |= 1 << number;
                }
            }
        }
    }
}
