//! Random scripts, for comparison between machines.
//!
//! Only valid programs are drawn: registers are written before they are read, sources are long
//! enough, and no wave reads words that other lanes write in the same wave. Loops end by their
//! limit, or because their facts only grow or only shrink.

mod segments;

use crate::draw_code::{Around, draw_code};
use crate::graphs::draw_sources;
use crate::random::Random;
use crate::script::{Finding, Register, Script, Slot, Wave};
use seawall::program::{BitOp, Kind, Meet};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::code::DEPTH_MAX;
use seawall_core::abi::program::Reduction;
use seawall_core::abi::search::bitset_words;

/// Limits of a script.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Nodes of the graph.
    pub nodes: u32,
    /// Waves and composites at the top level.
    pub waves: u32,
    /// Longest register of a free length, words.
    pub words: u32,
}

/// A limit that a loop reaches only if it fails to end by itself.
pub const UNLIMITED: u32 = u32::MAX - 1;

/// Most bits that `Scatter` examines: words times list.
const SCATTER_COST: u64 = 400_000;

const LENGTHS: [u32; 9] = [0, 1, 2, 31, 33, 64, 100, 2049, 8193];

struct Drawer<'a> {
    random: &'a mut Random,
    limits: Limits,
    script: Script,
    written: Vec<bool>,
}

/// Draws a script.
#[must_use]
pub fn draw(limits: Limits, random: &mut Random) -> Script {
    let mut drawer = Drawer::new(limits, random);
    for _ in 0..limits.waves {
        drawer.add_top();
    }
    drawer.keep_some();
    drawer.script
}

/// Builds a script from choices for its registers, and a list of choices for each of its waves:
/// dropping a list drops its wave.
#[must_use]
pub fn of_choices(limits: Limits, registers: Vec<u32>, waves: &[Vec<u32>]) -> Script {
    let mut random = Random::of_choices(registers);
    let mut drawer = Drawer::new(limits, &mut random);
    for choices in waves {
        *drawer.random = Random::of_choices(choices.clone());
        drawer.add_top();
    }
    drawer.keep_half();
    drawer.script
}

impl<'a> Drawer<'a> {
    fn new(limits: Limits, random: &'a mut Random) -> Self {
        let mut drawer = Self {
            random,
            limits,
            script: Script::default(),
            written: Vec::new(),
        };
        drawer.add_registers();
        drawer
    }
}

impl Drawer<'_> {
    fn add_register(&mut self, words: u32, input: Option<Vec<u32>>) -> Slot {
        self.add_values(words, Kind::U32, input)
    }

    fn add_values(&mut self, words: u32, kind: Kind, input: Option<Vec<u32>>) -> Slot {
        self.written.push(input.is_some());
        self.script.registers.push(Register {
            words,
            kind,
            input,
            keep: false,
        });
        self.written.len() - 1
    }

    fn add_registers(&mut self) {
        let nodes = self.limits.nodes;
        for _ in 0..2 {
            let sources = draw_sources(nodes, self.random);
            self.add_register(sources.len() as u32, Some(sources));
        }
        for words in [
            nodes,
            nodes,
            nodes * 3,
            bitset_words(nodes),
            bitset_words(nodes),
            1,
        ] {
            self.add_register(words, None);
        }
        for _ in 0..3 + self.random.below(6) {
            let mut words = self.random.pick(&LENGTHS).unwrap_or(1);
            if self.random.once_in(3) {
                words = self.random.below(self.limits.words);
            }
            let words = words.min(self.limits.words);
            let input = self.random.once_in(4).then(|| self.facts(words));
            self.add_register(words, input);
        }
        for kind in [Kind::I32, Kind::F32, Kind::U64] {
            let words = nodes * kind.words();
            let input = self.random.once_in(2).then(|| self.facts(words));
            self.add_values(words, kind, input);
        }
    }

    /// Draws words, most of them zero.
    fn facts(&mut self, words: u32) -> Vec<u32> {
        let word = |random: &mut Random| {
            if random.once_in(3) {
                random.word() & random.word()
            } else {
                0
            }
        };
        (0..words).map(|_| word(self.random)).collect()
    }

    /// Draws a written register of at least `words` words.
    fn readable(&mut self, words: u32, except: Option<Slot>) -> Option<Slot> {
        let choices: Vec<Slot> = (0..self.written.len())
            .filter(|slot| self.written[*slot] && Some(*slot) != except)
            .filter(|slot| self.words(*slot) >= words)
            .collect();
        self.random.pick(&choices)
    }

    fn writable(&mut self, fits: impl Fn(u32) -> bool) -> Option<Slot> {
        let choices: Vec<Slot> = (0..self.written.len())
            .filter(|slot| fits(self.words(*slot)))
            .collect();
        self.random.pick(&choices)
    }

    fn words(&self, slot: Slot) -> u32 {
        self.script.registers[slot].words
    }

    fn add_top(&mut self) {
        // The smallest choice is the simplest wave, for failures to shrink to.
        let composite = match self.random.below(21) {
            18..21 => self.code(),
            17 | 16 => self.nest(0),
            15 => self.levels(),
            14 => self.reach(),
            13 => self.components(),
            12 => self.dataflow(),
            11 | 10 => Some(self.bounded_loop()),
            9 => self.triangles(),
            8 => self.parents(),
            _ => None,
        };
        let wave = composite.unwrap_or_else(|| self.simple());
        self.note(&wave);
        self.script.waves.push(wave);
    }

    fn note(&mut self, wave: &Wave) {
        match *wave {
            Wave::Fill { to, .. }
            | Wave::Iota { to }
            | Wave::Copy { to, .. }
            | Wave::Combine { to, .. }
            | Wave::Scatter { to, .. }
            | Wave::Gather { to, .. }
            | Wave::Reduce { to, .. }
            | Wave::Segments { to, .. }
            | Wave::GenKill { to, .. }
            | Wave::Meet { to, .. }
            | Wave::Levels { to, .. }
            | Wave::Reach { to, .. }
            | Wave::Components { to, .. }
            | Wave::Parents { to, .. }
            | Wave::Triangles { to, .. } => self.written[to] = true,
            Wave::Loop { .. } | Wave::While { .. } | Wave::Code { .. } => {}
        }
    }

    fn fill(&mut self) -> Wave {
        let to = self.random.below(self.written.len() as u32) as usize;
        let value = if self.random.once_in(3) {
            0
        } else {
            self.random.word()
        };
        Wave::Fill { to, value }
    }

    /// Draws a wave without a loop.
    fn simple(&mut self) -> Wave {
        let drawn = match self.random.below(14) {
            13 => self.segments(),
            0 => None,
            1 => self.writable(|_| true).map(|to| Wave::Iota { to }),
            2 => self.copy(),
            3..=6 => self.combine(),
            7 => self.scatter(),
            8 | 9 => self.reduce(),
            10 => self.gen_kill(),
            11 => self.gather(),
            _ => self.meet(),
        };
        drawn.unwrap_or_else(|| self.fill())
    }

    fn components(&mut self) -> Option<Wave> {
        let nodes = self.limits.nodes;
        let to = self.writable(|words| words >= nodes)?;
        // Sometimes without any node.
        let search = self.random.once_in(2);
        let search = search.then(|| [nodes + 1, 5].map(|end| self.random.below(end)));
        let from_none =
            |[node, levels]: [u32; 2]| [if node < nodes { node } else { UNREACHED }, levels];
        let search = search.map(from_none);
        Some(Wave::Components { to, search })
    }

    fn copy(&mut self) -> Option<Wave> {
        let to = self.writable(|_| true)?;
        let from = self.readable(self.words(to), None)?;
        Some(Wave::Copy { to, from })
    }

    fn combine(&mut self) -> Option<Wave> {
        let to = self.writable(|_| true)?;
        let words = self.words(to);
        let from = [self.readable(words, None)?, self.readable(words, None)?];
        let how = self.random.pick(&BitOp::ALL)?;
        Some(Wave::Combine { how, to, from })
    }

    fn scatter(&mut self) -> Option<Wave> {
        let to = self.writable(|_| true)?;
        let list = self.readable(0, Some(to))?;
        let cost = u64::from(self.words(to)) * u64::from(self.words(list));
        let value = self.random.word();
        (cost <= SCATTER_COST).then_some(Wave::Scatter { to, list, value })
    }

    fn gather(&mut self) -> Option<Wave> {
        let to = self.writable(|_| true)?;
        let words = self.words(to);
        let [from, mask] = [
            self.readable(words, Some(to))?,
            self.readable(words, Some(to))?,
        ];
        Some(Wave::Gather { to, from, mask })
    }

    fn reduce(&mut self) -> Option<Wave> {
        let hows = [
            Reduction::Any,
            Reduction::Count,
            Reduction::Sum,
            Reduction::Min,
            Reduction::Max,
        ];
        let how = self.random.pick(&hows)?;
        // The words after the first one are kept, so they must exist.
        let to = if self.random.once_in(2) {
            self.writable(|words| words == 1)
        } else {
            self.readable(1, None)
        }?;
        let from = self.readable(0, Some(to))?;
        Some(Wave::Reduce { how, to, from })
    }

    fn gen_kill(&mut self) -> Option<Wave> {
        let to = self.readable(0, None)?;
        let words = self.words(to);
        let mut from = || self.readable(words, None);
        let from = [from()?, from()?, from()?];
        Some(Wave::GenKill { to, from })
    }

    fn meet(&mut self) -> Option<Wave> {
        let facts = 1 + self.random.below(3);
        let to = self.readable(self.limits.nodes * facts, None)?;
        let from = self.readable(self.words(to), Some(to))?;
        let meet = Meet {
            facts,
            intersect: self.random.once_in(2),
        };
        Some(Wave::Meet { to, from, meet })
    }

    fn bounded_loop(&mut self) -> Wave {
        let before = self.written.clone();
        let mut body = Vec::new();
        for _ in 0..1 + self.random.below(5) {
            let wave = self.simple();
            self.note(&wave);
            body.push(wave);
        }
        // A loop that never runs writes nothing, so no wave may rely on it.
        let least = u32::from(self.written != before);
        let max = least + self.random.below(7);
        Wave::Loop { max, body }
    }

    /// Code that changes registers that were filled before.
    fn code(&mut self) -> Option<Wave> {
        let around = Around {
            registers: &self.script.registers,
            written: &self.written,
            nodes: self.limits.nodes,
        };
        draw_code(around, self.random)
    }

    /// A loop on a register, which may hold loops. It may not run at all, so it only changes
    /// registers that were filled before.
    fn nest(&mut self, depth: u32) -> Option<Wave> {
        let condition = self.readable(1, None)?;
        let before = self.written.clone();
        let mut body = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            let wave = match self.random.below(8) {
                7 if depth + 1 < DEPTH_MAX => self.nest(depth + 1),
                6 => Some(self.bounded_loop()),
                3..6 => self.code(),
                _ => None,
            };
            let wave = wave.unwrap_or_else(|| self.simple());
            self.note(&wave);
            body.push(wave);
        }
        self.written = before;
        let max = self.random.below(4);
        Some(Wave::While {
            condition,
            max,
            body,
        })
    }

    fn levels(&mut self) -> Option<Wave> {
        let nodes = self.limits.nodes;
        let to = self.writable(|words| words >= nodes)?;
        let list = self.readable(0, Some(to))?;
        let max = self.level_limit();
        Some(Wave::Levels { to, list, max })
    }

    fn reach(&mut self) -> Option<Wave> {
        let bits = bitset_words(self.limits.nodes);
        let to = self.writable(|words| words == bits)?;
        let list = self.readable(0, Some(to))?;
        let max = self.level_limit();
        Some(Wave::Reach { to, list, max })
    }

    /// Draws parents by the levels of a search if there are any, by arbitrary words otherwise.
    fn parents(&mut self) -> Option<Wave> {
        let nodes = self.limits.nodes;
        let to = self.writable(|words| words >= nodes)?;
        let from = self.readable(nodes, Some(to))?;
        Some(Wave::Parents { to, from })
    }

    fn triangles(&mut self) -> Option<Wave> {
        let nodes = self.limits.nodes;
        let to = self.writable(|words| words >= nodes)?;
        let by = Finding::draw(self.random)?;
        let once = self.random.once_in(2);
        Some(Wave::Triangles { to, by, once })
    }

    fn level_limit(&mut self) -> u32 {
        if self.random.once_in(4) {
            self.random.below(6)
        } else {
            UNLIMITED
        }
    }

    /// A dataflow problem that converges by itself: unions only grow,
    /// intersections only shrink.
    fn dataflow(&mut self) -> Option<Wave> {
        let facts = 1 + self.random.below(3);
        let words = self.limits.nodes * facts;
        let meet = Meet {
            facts,
            intersect: self.random.once_in(2),
        };
        let start = if meet.intersect { u32::MAX } else { 0 };
        let (made, killed) = (self.facts(words), self.facts(words));
        let made = self.add_register(words, Some(made));
        let killed = self.add_register(words, Some(killed));
        let (before, after) = (
            self.add_register(words, None),
            self.add_register(words, None),
        );
        for to in [before, after] {
            let wave = Wave::Fill { to, value: start };
            self.note(&wave);
            self.script.waves.push(wave);
        }
        let meeting = Wave::Meet {
            to: before,
            from: after,
            meet,
        };
        let transfer = Wave::GenKill {
            to: after,
            from: [before, made, killed],
        };
        Some(Wave::Loop {
            max: UNLIMITED,
            body: vec![meeting, transfer],
        })
    }

    /// Keeps every second written register, and the first.
    fn keep_half(&mut self) {
        for slot in 0..self.written.len() {
            self.script.registers[slot].keep = self.written[slot] && slot % 2 == 0;
        }
        if let Some(slot) = self.written.iter().position(|is_written| *is_written) {
            self.script.registers[slot].keep = true;
        }
    }

    /// Keeps about a third of the written registers, at least one, so that the others' memory is
    /// reused.
    fn keep_some(&mut self) {
        let mut last = None;
        for slot in 0..self.written.len() {
            if self.written[slot] {
                last = Some(slot);
                self.script.registers[slot].keep = self.random.once_in(3);
            }
        }
        if let Some(slot) = last {
            self.script.registers[slot].keep = true;
        }
    }
}
