//! The part of the call graph around a finding: what a picture of it shows.

use crate::calls::Calls;
use crate::finding::{Finding, Place};
use crate::model::{Op, Program};
use crate::order::Rows;
use hashbrown::HashSet;

/// The way of a finding through the call graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// The finding's function.
    pub function: u32,
    /// The function of each step of the witness.
    pub steps: Vec<u32>,
    /// Calls between functions of steps that follow each other, and the call where the last step
    /// is: callers and callees.
    pub calls: Vec<(u32, u32)>,
    /// Functions of steps that follow each other without a call.
    pub gaps: Vec<(u32, u32)>,
}

/// Limits of a part of the call graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most calls from or to the function. A dispatch is a node, so that a call through a table
    /// counts as two.
    pub hops: usize,
    /// Most callers, or callees, that a node may have to be passed; only the function itself may
    /// have more. Calls past a hub say little about the function.
    pub fan: usize,
    /// Most nodes.
    pub nodes: usize,
}

/// A part of the call graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// Nodes of [`Calls`], in an order in which calls go forward but those that close a recursion.
    pub nodes: Vec<u32>,
    /// All calls between them: callers and callees.
    pub calls: Vec<(u32, u32)>,
    /// Number of nodes within the bounds or on the way, more than `nodes` has if they are too many.
    pub all: usize,
}

impl Way {
    /// The way of a finding; `None` if its function is not in the program.
    #[must_use]
    pub fn of(program: &Program, calls: &Calls, finding: &Finding) -> Option<Self> {
        let steps = finding.witness.iter();
        let steps = steps.filter_map(|step| function_at(program, &step.place));
        let mut way = Self {
            function: function_at(program, &finding.place)?,
            steps: steps.collect(),
            ..Self::default()
        };
        let mut seen = HashSet::new();
        for at in 1..way.steps.len() {
            let (from, to) = (way.steps[at - 1], way.steps[at]);
            if from != to && seen.insert((from, to)) {
                way.join(calls, from, to);
            }
        }
        way.end(program, calls, finding);
        Some(way)
    }

    /// Adds the call at which the last step is: what the way arrives at has no step of its own if it
    /// is a sink.
    fn end(&mut self, program: &Program, calls: &Calls, finding: &Finding) {
        let (Some(step), Some(last)) = (finding.witness.last(), self.steps.last().copied()) else {
            return;
        };
        let mut ops = program.functions[last as usize].body.ops.iter();
        let is_there = |op: &Op| op.kind().is_call() && Some(op.offset) == step.place.offset;
        let called = ops
            .position(is_there)
            .and_then(|op| calls.callee(program, last as usize, op));
        if let Some(callee) = called.filter(|callee| !self.calls.contains(&(last, *callee))) {
            self.calls.push((last, callee));
        }
    }

    /// Joins two functions by a call: from the first, or back out of a call from the second.
    fn join(&mut self, calls: &Calls, from: u32, to: u32) {
        let found = [(from, to), (to, from)]
            .into_iter()
            .find_map(|(caller, callee)| called(calls, caller, callee));
        match found {
            Some(found) => {
                let new = found.into_iter().filter(|call| !self.calls.contains(call));
                let new: Vec<(u32, u32)> = new.collect();
                self.calls.extend(new);
            }
            None => self.gaps.push((from, to)),
        }
    }

    /// Its nodes, each once, the finding's function first.
    #[must_use]
    pub fn nodes(&self) -> Vec<u32> {
        let called = self.calls.iter().flat_map(|(from, to)| [*from, *to]);
        let all = [self.function].into_iter();
        let all = all.chain(self.steps.iter().copied()).chain(called);
        let mut seen = HashSet::new();
        all.filter(|node| seen.insert(*node)).collect()
    }
}

/// The function of a place.
fn function_at(program: &Program, place: &Place) -> Option<u32> {
    let mut modules = program.modules.iter();
    let module = modules.find(|module| module.path == place.file)?;
    let mut functions = module.functions.clone();
    let number = functions.nth(place.index as usize)?;
    u32::try_from(number).ok()
}

/// The call of a function by another, or the two calls through a dispatch.
fn called(calls: &Calls, caller: u32, callee: u32) -> Option<Vec<(u32, u32)>> {
    let row = calls.callees.row(caller as usize);
    if row.binary_search(&callee).is_ok() {
        return Some(vec![(caller, callee)]);
    }
    let mut dispatches = row.iter().filter(|node| **node as usize >= calls.functions);
    let through = dispatches.find(|node| {
        let targets = calls.callees.row(**node as usize);
        targets.binary_search(&callee).is_ok()
    })?;
    Some(vec![(caller, *through), (*through, callee)])
}

/// Nodes that `rows` lead to from one, nearest first, that one left out.
fn near(rows: &Rows, from: u32, bounds: Bounds) -> Vec<u32> {
    let mut seen: HashSet<u32> = [from].into_iter().collect();
    let (mut found, mut last) = (Vec::new(), vec![from]);
    for _ in 0..bounds.hops {
        let mut next = Vec::new();
        for node in last {
            let row = rows.row(node as usize);
            if node == from || row.len() <= bounds.fan {
                next.extend(row.iter().copied().filter(|to| seen.insert(*to)));
            }
        }
        found.extend(&next);
        last = next;
    }
    found
}

impl Around {
    /// The way, with callers and callees of its function, nearest first. Where they are too many,
    /// callers and callees take turns.
    #[must_use]
    pub fn of(calls: &Calls, way: &Way, bounds: Bounds) -> Self {
        let callers = near(&calls.callers, way.function, bounds);
        let callees = near(&calls.callees, way.function, bounds);
        let mut nodes = way.nodes();
        let mut seen: HashSet<u32> = nodes.iter().copied().collect();
        for turn in 0..callers.len().max(callees.len()) {
            let both = [callers.get(turn), callees.get(turn)];
            let both = both.into_iter().flatten().copied();
            nodes.extend(both.filter(|node| seen.insert(*node)));
        }
        let all = nodes.len();
        nodes.truncate(bounds.nodes.max(1));
        let mut part = Self {
            nodes,
            calls: Vec::new(),
            all,
        };
        part.join(calls);
        part
    }

    /// Finds the calls between the nodes, and orders the nodes by them.
    fn join(&mut self, calls: &Calls) {
        self.nodes.sort_unstable();
        let place = |node: u32| self.nodes.binary_search(&node).ok();
        let rows: Vec<Vec<u32>> = self
            .nodes
            .iter()
            .map(|node| {
                let row = calls.callees.row(*node as usize).iter();
                row.filter_map(|to| place(*to))
                    .map(|at| at as u32)
                    .collect()
            })
            .collect();
        let pairs = self.nodes.iter().zip(&rows);
        let pairs = pairs.flat_map(|(from, row)| row.iter().map(|to| (*from, *to)));
        self.calls = pairs
            .map(|(from, to)| (from, self.nodes[to as usize]))
            .collect();
        let rows = Rows::of(&rows);
        let callers = rows.reversed();
        let count = rows.nodes() as u32;
        let (starts, rest): (Vec<u32>, Vec<u32>) =
            (0..count).partition(|at| callers.row(*at as usize).is_empty());
        // Searches begin with the last root.
        let order = rows.reached_order(rest.into_iter().chain(starts));
        self.nodes = order.iter().map(|at| self.nodes[*at as usize]).collect();
    }
}
