//! Runs a script word by word, in program order.
//!
//! As plain as possible: one vector per register, no plan, no threads. Every machine must produce
//! the same words in the kept registers.

use crate::code::{self, Over, Step, World};
use crate::graphs::EdgeList;
use crate::oracle::{self, Corners};
use crate::script::{Finding, Script, Slot, Wave};
use seawall::program::{BitOp, Kind, Meet};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::program::Reduction;
use seawall_core::abi::search::bitset_words;

/// End of a loop of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoopEnd {
    /// Number of iterations.
    pub iterations: u32,
    /// Whether the last one changed nothing.
    pub converged: bool,
}

/// Result of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Words of every register.
    pub registers: Vec<Vec<u32>>,
    /// End of each loop other than a search, in program order.
    pub loops: Vec<LoopEnd>,
}

struct Interpreter<'a> {
    list: &'a EdgeList,
    predecessors: Vec<Vec<u32>>,
    /// Ends of the edges that leave and enter each node, each once.
    rows: [Vec<Vec<u32>>; 2],
    kinds: Vec<Kind>,
    /// Number of open loops.
    depth: u32,
    left: Left,
    changed: bool,
}

/// Runs `script` on the graph of `list`.
#[must_use]
pub fn interpret(script: &Script, list: &EdgeList) -> Left {
    let start = |register: &crate::script::Register| {
        register
            .input
            .clone()
            .unwrap_or_else(|| vec![0; register.words as usize])
    };
    let mut interpreter = Interpreter {
        list,
        predecessors: predecessors(list),
        rows: rows(list),
        kinds: script
            .registers
            .iter()
            .map(|register| register.kind)
            .collect(),
        depth: 0,
        left: Left {
            registers: script.registers.iter().map(start).collect(),
            loops: Vec::new(),
        },
        changed: false,
    };
    interpreter.run(&script.waves);
    interpreter.left
}

/// Returns the sources of the edges into each node. Self loops are not edges of a graph.
fn predecessors(list: &EdgeList) -> Vec<Vec<u32>> {
    let mut rows = vec![Vec::new(); list.nodes as usize];
    for &(from, to) in list.edges.iter().filter(|(from, to)| from != to) {
        rows[to as usize].push(from);
        if list.undirected {
            rows[from as usize].push(to);
        }
    }
    rows
}

/// Ends of the edges that leave and enter each node, each once.
fn rows(list: &EdgeList) -> [Vec<Vec<u32>>; 2] {
    let mut rows = [false; 2].map(|_| vec![Vec::new(); list.nodes as usize]);
    for &(from, to) in list.edges.iter().filter(|(from, to)| from != to) {
        let both = [(from, to), (to, from)];
        for (from, to) in both.into_iter().take(1 + usize::from(list.undirected)) {
            rows[0][from as usize].push(to);
            rows[1][to as usize].push(from);
        }
    }
    for row in rows.iter_mut().flatten() {
        row.sort_unstable();
        row.dedup();
    }
    rows
}

impl Interpreter<'_> {
    fn words(&self, slot: Slot) -> &[u32] {
        &self.left.registers[slot]
    }

    fn set(&mut self, slot: Slot, word: impl Fn(&Self, usize) -> u32) {
        self.left.registers[slot] = (0..self.words(slot).len())
            .map(|at| word(self, at))
            .collect();
    }

    fn run(&mut self, waves: &[Wave]) {
        for wave in waves {
            match wave {
                Wave::Loop { max, body } => self.repeat(*max, body),
                Wave::While {
                    condition,
                    max,
                    body,
                } => self.repeat_while(*condition, *max, body),
                Wave::Code { over, steps } => self.code(*over, steps),
                Wave::Segments { how, to, from, by } => {
                    let numbers = self.words(*by).to_vec();
                    let mut world =
                        code::World::of_registers(&self.kinds, &mut self.left.registers);
                    world.join_segments(*how, *to, *from, &numbers);
                }
                other => self.step(other),
            }
        }
    }

    fn repeat(&mut self, max: u32, body: &[Wave]) {
        let mut end = LoopEnd {
            iterations: 0,
            converged: false,
        };
        while end.iterations < max && !end.converged {
            self.changed = false;
            self.run(body);
            end.iterations += 1;
            end.converged = !self.changed;
        }
        self.note(end);
    }

    /// Nested loops report nothing.
    fn note(&mut self, end: LoopEnd) {
        if self.depth == 0 {
            self.left.loops.push(end);
        }
    }

    fn repeat_while(&mut self, condition: Slot, max: u32, body: &[Wave]) {
        let mut iterations = 0;
        self.depth += 1;
        while iterations < max && self.words(condition)[0] != 0 {
            self.run(body);
            iterations += 1;
        }
        self.depth -= 1;
        self.note(LoopEnd {
            iterations,
            converged: self.words(condition)[0] == 0,
        });
    }

    fn code(&mut self, over: Over, steps: &[Step]) {
        let all = |count: u32| (0..count).collect::<Vec<_>>();
        let items = match over {
            Over::Nodes => all(self.list.nodes),
            Over::Values(slot) => all(self.words(slot).len() as u32 / self.kinds[slot].words()),
            Over::Where { of, below } => {
                let words = self.words(of);
                let step = self.kinds[of].words() as usize;
                let is_below = |node: &u32| words[*node as usize * step] < below;
                all(self.list.nodes).into_iter().filter(is_below).collect()
            }
        };
        let [out, into] = &self.rows;
        let mut world = World {
            rows: [out, into],
            kinds: &self.kinds,
            before: self.left.registers.clone(),
            now: &mut self.left.registers,
            changed: false,
        };
        code::interpret(&mut world, &items, steps);
        self.changed |= world.changed;
    }

    fn step(&mut self, wave: &Wave) {
        match *wave {
            Wave::Fill { to, value } => self.set(to, |_, _| value),
            Wave::Iota { to } => self.set(to, |_, at| at as u32),
            Wave::Copy { to, from } => self.set(to, |all, at| all.words(from)[at]),
            Wave::Combine {
                how,
                to,
                from: [left, right],
            } => {
                self.set(to, |all, at| {
                    combine(how, all.words(left)[at], all.words(right)[at])
                });
            }
            Wave::Scatter { to, list, value } => self.set(to, |all, at| {
                if all.words(list).contains(&(at as u32)) {
                    value
                } else {
                    0
                }
            }),
            Wave::Gather { to, from, mask } => self.set(to, |all, at| {
                all.words(from)[at & all.words(mask)[at] as usize]
            }),
            Wave::Reduce { how, to, from } => {
                let sum = reduce(how, self.words(from));
                self.left.registers[to][0] = sum;
            }
            Wave::GenKill {
                to,
                from: [from, made, killed],
            } => self.update(to, |all, at| {
                all.words(made)[at] | (all.words(from)[at] & !all.words(killed)[at])
            }),
            Wave::Meet { to, from, meet } => {
                self.update(to, |all, at| all.meet(to, from, meet, at))
            }
            Wave::Levels { to, list, max } => self.levels(to, list, max),
            Wave::Reach { to, list, max } => self.reach(to, list, max),
            Wave::Components { to, .. } => {
                let labels = oracle::components(self.list);
                self.set(to, |_, at| labels.get(at).copied().unwrap_or(at as u32));
            }
            Wave::Parents { to, from } => {
                let parents = oracle::parents(self.list, self.words(from));
                self.set(to, |_, at| parents.get(at).copied().unwrap_or(UNREACHED));
            }
            Wave::Triangles { to, by, once } => {
                let corners = if once { Corners::First } else { Corners::All };
                let corners = match by {
                    // The number of entries kept at a time changes no count.
                    Finding::Rows { held: _ } => {
                        oracle::oriented_triangles(self.list, corners, usize::MAX)
                    }
                    Finding::Hubs { least, space: _ } => {
                        oracle::oriented_triangles(self.list, corners, least as usize)
                    }
                };
                self.set(to, |_, at| corners.get(at).copied().unwrap_or(0));
            }
            Wave::Loop { .. } | Wave::While { .. } | Wave::Code { .. } | Wave::Segments { .. } => {}
        }
    }

    /// Works as [`Self::set`], for waves that keep a loop running.
    fn update(&mut self, slot: Slot, word: impl Fn(&Self, usize) -> u32) {
        let before = self.left.registers[slot].clone();
        self.set(slot, word);
        self.changed |= before != self.left.registers[slot];
    }

    fn meet(&self, to: Slot, from: Slot, meet: Meet, at: usize) -> u32 {
        let facts = meet.facts as usize;
        let words = self
            .predecessors
            .get(at / facts)
            .map_or(&[][..], Vec::as_slice);
        let words = words
            .iter()
            .map(|node| self.words(from)[*node as usize * facts + at % facts]);
        let met = if meet.intersect {
            words.reduce(|sum, word| sum & word)
        } else {
            words.reduce(|sum, word| sum | word)
        };
        met.unwrap_or(self.words(to)[at])
    }

    /// Returns the nodes that a list names.
    fn sources(&self, list: Slot) -> Vec<u32> {
        let named = self.words(list).iter().copied();
        named.filter(|node| *node < self.list.nodes).collect()
    }

    fn levels(&mut self, to: Slot, list: Slot, max: u32) {
        let levels = oracle::levels(self.list, &self.sources(list), max);
        self.set(to, |_, at| levels.get(at).copied().unwrap_or(UNREACHED));
    }

    fn reach(&mut self, to: Slot, list: Slot, max: u32) {
        let reached = oracle::reached(self.list, &self.sources(list), max);
        let mut bits = vec![0; bitset_words(self.list.nodes) as usize];
        for (node, flag) in reached.iter().enumerate() {
            bits[node / 32] |= flag << (node % 32);
        }
        self.left.registers[to] = bits;
    }
}

fn combine(how: BitOp, left: u32, right: u32) -> u32 {
    match how {
        BitOp::And => left & right,
        BitOp::Or => left | right,
        BitOp::AndNot => left & !right,
        BitOp::Xor => left ^ right,
    }
}

fn reduce(how: Reduction, words: &[u32]) -> u32 {
    let words = words.iter().copied();
    match how {
        Reduction::Any => u32::from(words.into_iter().any(|word| word != 0)),
        Reduction::Count => words.map(u32::count_ones).sum(),
        Reduction::Sum => words.fold(0, u32::wrapping_add),
        Reduction::Min => words.min().unwrap_or(u32::MAX),
        Reduction::Max => words.max().unwrap_or(0),
    }
}
