//! Wave programs as data: built for a machine, or interpreted plainly.
//!
//! A [`Script`] describes the effect of a program on whole registers. [`crate::interpret`] runs it
//! word by word, [`crate::draw`] makes random ones, and this file passes it to the
//! [`ProgramBuilder`]. It knows no groups, arenas or barriers, since it tests these.

mod patterns;
mod triangles;

use crate::code::{self, Step};
use crate::components;
use crate::graphs::EdgeList;
use crate::own::{CombineTwin, CopyTwin, MeetTwin, ReduceTwin, Twins, truth_of};
use seawall::own::OwnWaves;
use seawall::program::{
    BitOp, Call, ComponentStep, Join, Kind, Mark, Meet, Over, ProgramBuilder, ProgramError,
    RegisterId, Transfer,
};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::program::Reduction;
use triangles::oriented;

pub use triangles::Finding;

/// Index of a register in a script.
pub type Slot = usize;

/// A register of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Length in words.
    pub words: u32,
    /// Kind of its values in code; pairs take an even number of words.
    pub kind: Kind,
    /// Its words at the start, when the host supplies them.
    pub input: Option<Vec<u32>>,
    /// Whether it is checked at the end.
    pub keep: bool,
}

/// One wave, or a few that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wave {
    /// Every word becomes `value`.
    Fill {
        /// Destination.
        to: Slot,
        /// Stored value.
        value: u32,
    },
    /// Every word becomes its own number.
    Iota {
        /// Destination.
        to: Slot,
    },
    /// Every word becomes that of `from`.
    Copy {
        /// Destination.
        to: Slot,
        /// Source, at least as long.
        from: Slot,
    },
    /// Words are joined by a bit operation.
    Combine {
        /// The operation.
        how: BitOp,
        /// Destination.
        to: Slot,
        /// Sources, at least as long.
        from: [Slot; 2],
    },
    /// `value` at the listed places, 0 elsewhere.
    Scatter {
        /// Destination.
        to: Slot,
        /// Places; those beyond the destination do not count.
        list: Slot,
        /// Stored value.
        value: u32,
    },
    /// The words of `from` at each word's number, masked by `mask`, so that indices are never out
    /// of range.
    Gather {
        /// Destination.
        to: Slot,
        /// Source of words, another register, at least as long.
        from: Slot,
        /// Bits to keep, another register, at least as long.
        mask: Slot,
    },
    /// All words into the first one of a register; its other words are kept.
    Reduce {
        /// Operation that joins words.
        how: Reduction,
        /// Destination, at least one word.
        to: Slot,
        /// Source, another register.
        from: Slot,
    },
    /// `made | (from & !killed)`.
    GenKill {
        /// Destination.
        to: Slot,
        /// Facts before, made and killed.
        from: [Slot; 3],
    },
    /// The union or intersection of the predecessors' facts.
    Meet {
        /// Destination.
        to: Slot,
        /// Source, another register.
        from: Slot,
        /// Words per node, and the operation.
        meet: Meet,
    },
    /// Values joined by segment: value `i` is in segment `by[i]` modulo the segments.
    Segments {
        /// The join.
        how: Join,
        /// Destination, a value for each segment.
        to: Slot,
        /// The values, of the same kind.
        from: Slot,
        /// Words, another register, at least as many as values.
        by: Slot,
    },
    /// Repeats waves until nothing changes.
    Loop {
        /// Most iterations.
        max: u32,
        /// Repeated waves, without loops.
        body: Vec<Wave>,
    },
    /// Runs code.
    Code {
        /// Its items.
        over: code::Over,
        /// Its code.
        steps: Vec<Step>,
    },
    /// Repeats waves while the first word of a register is not 0.
    While {
        /// The register.
        condition: Slot,
        /// Most iterations.
        max: u32,
        /// Its body.
        body: Vec<Wave>,
    },
    /// Levels of a breadth-first search; words beyond the nodes are unreached.
    Levels {
        /// Destination, at least one word per node.
        to: Slot,
        /// Nodes to start from.
        list: Slot,
        /// Most levels.
        max: u32,
    },
    /// Bits of the nodes that a search reaches.
    Reach {
        /// Destination, exactly one bitset.
        to: Slot,
        /// Nodes to start from.
        list: Slot,
        /// Most levels.
        max: u32,
    },
    /// Smallest node of each component; words beyond the nodes hold their
    /// number.
    Components {
        /// Destination, at least one word per node.
        to: Slot,
        /// A node and the most levels of a search from there that comes first.
        search: Option<[u32; 2]>,
    },
    /// Parents by the levels in a register; words beyond the nodes are
    /// unreached.
    Parents {
        /// Destination, at least one word per node.
        to: Slot,
        /// Levels, another register: of a search, or any words.
        from: Slot,
    },
    /// Triangles of the oriented edges at each node; words beyond the nodes
    /// are 0.
    Triangles {
        /// Destination, at least one word per node.
        to: Slot,
        /// The method.
        by: Finding,
        /// Whether each is counted at one corner only.
        once: bool,
    },
}

/// A program and its input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Registers.
    pub registers: Vec<Register>,
    /// Waves in program order.
    pub waves: Vec<Wave>,
    /// Whether waves with a twin in [`crate::own`] run as their twin.
    pub twins: bool,
}

/// A script as a program, ready to plan, with the words of its input region.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// The program.
    pub program: ProgramBuilder,
    /// Identifiers of the script's registers.
    pub registers: Vec<RegisterId>,
    /// Words of the input region.
    pub inputs: Vec<u32>,
}

/// Words that registers in the input region are aligned to.
const INPUT_ALIGNMENT: usize = 64;

impl Script {
    /// The program of this script for the graph of `list`.
    ///
    /// # Errors
    /// If a register cannot be addressed.
    pub fn assemble(&self, list: &EdgeList) -> Result<Assembled, ProgramError> {
        let mut program = ProgramBuilder::new(list.nodes);
        let mut registers = Vec::new();
        let mut inputs = Vec::new();
        for register in &self.registers {
            let values = u64::from(register.words / register.kind.words());
            let id = match &register.input {
                Some(content) => {
                    inputs.extend(content);
                    inputs.resize(inputs.len().next_multiple_of(INPUT_ALIGNMENT), 0xDEAD_BEEF);
                    program.input_values("input", register.kind, values)?
                }
                None => program.values("register", register.kind, values)?,
            };
            if register.keep {
                program.keep(id);
            }
            registers.push(id);
        }
        let frontiers = frontiers(&mut program, &self.waves)?;
        let oriented = oriented(&mut program, &self.waves, list)?;
        let values = |register: &Register| register.words / register.kind.words();
        if self.twins {
            program.use_waves(&OwnWaves::of::<Twins>());
        }
        let mut assembler = Assembler {
            twins: self.twins,
            program_nodes: list.nodes,
            is_symmetric: list.undirected,
            values: self.registers.iter().map(values).collect(),
            words: self
                .registers
                .iter()
                .map(|register| register.words)
                .collect(),
            program,
            registers,
            frontiers,
            oriented,
        };
        assembler.add(&self.waves);
        Ok(Assembled {
            program: assembler.program,
            registers: assembler.registers,
            inputs,
        })
    }
}

/// A frontier register for each search, the last one first.
fn frontiers(
    program: &mut ProgramBuilder,
    waves: &[Wave],
) -> Result<Vec<RegisterId>, ProgramError> {
    let searches = waves
        .iter()
        .filter(|wave| matches!(wave, Wave::Levels { .. } | Wave::Reach { .. }));
    searches.map(|_| program.frontier("frontier")).collect()
}

struct Assembler {
    twins: bool,
    program: ProgramBuilder,
    program_nodes: u32,
    is_symmetric: bool,
    /// Values that each register holds.
    values: Vec<u32>,
    /// Words of each register.
    words: Vec<u32>,
    registers: Vec<RegisterId>,
    frontiers: Vec<RegisterId>,
    oriented: Vec<[RegisterId; 3]>,
}

impl Assembler {
    fn at(&self, slot: Slot) -> RegisterId {
        self.registers[slot]
    }

    fn add(&mut self, waves: &[Wave]) {
        for wave in waves {
            match wave {
                Wave::Loop { max, body } => self.add_loop(*max, None, body),
                Wave::While {
                    condition,
                    max,
                    body,
                } => self.add_loop(*max, Some(*condition), body),
                Wave::Code { over, steps } => self.add_code(*over, steps),
                Wave::Segments { how, to, from, by } => self.add_segments(*how, *to, *from, *by),
                Wave::Levels { to, list, max } => self.add_levels(*to, *list, *max),
                Wave::Reach { to, list, max } => self.add_reach(*to, *list, *max),
                Wave::Components { to, search } => self.add_components(*to, *search),
                Wave::Parents { to, from } => self.add_parents(*to, *from),
                Wave::Triangles { to, by, once } => self.add_triangles(*to, *by, *once),
                simple if self.twins => self.add_twin(simple),
                simple => self.add_simple(simple),
            }
        }
    }

    /// Adds the twin of a wave that has one.
    fn add_twin(&mut self, wave: &Wave) {
        let at = |slot: Slot| self.registers[slot];
        let program = &mut self.program;
        match *wave {
            Wave::Copy { to, from } => {
                program.own::<CopyTwin>("twin copy", Call::to(at(to)).first(at(from)));
            }
            Wave::Combine { how, to, from } => {
                let [left, right] = from.map(at);
                let call = Call::to(at(to)).first(left).second(right);
                program.own::<CombineTwin>("twin combine", call.with([truth_of(how)]));
            }
            // The other words of a longer destination are kept, which a fill would not do.
            Wave::Reduce { how, to, from } if self.words[to] == 1 => {
                let identity = if how == Reduction::Min { u32::MAX } else { 0 };
                program.fill("identity", at(to), identity);
                let call = Call::to(at(to)).first(at(from)).with([how as u32]);
                program.own::<ReduceTwin>("twin reduce", call);
            }
            Wave::Meet { to, from, meet } => {
                let call = Call::to(at(to)).first(at(from));
                let parameters = [u32::from(meet.intersect), meet.facts];
                program.own::<MeetTwin>("twin meet", call.with(parameters));
            }
            _ => self.add_simple(wave),
        }
    }

    fn add_simple(&mut self, wave: &Wave) {
        let at = |slot: Slot| self.registers[slot];
        let program = &mut self.program;
        match *wave {
            Wave::Fill { to, value } => program.fill("fill", at(to), value),
            Wave::Iota { to } => program.iota_words("iota", at(to)),
            Wave::Copy { to, from } => program.copy_words("copy", at(to), at(from)),
            Wave::Combine { how, to, from } => {
                program.combine("combine", how, at(to), from.map(at))
            }
            Wave::Scatter { to, list, value } => {
                program.scatter("scatter", at(to), at(list), value)
            }
            Wave::Gather { to, from, mask } => {
                program.iota_words("number", at(to));
                program.combine("mask", BitOp::And, at(to), [at(to), at(mask)]);
                program.gather("gather", at(to), at(from), at(to));
            }
            Wave::Reduce { how, to, from } => program.reduce_words("reduce", how, at(to), at(from)),
            Wave::GenKill { to, from } => {
                let [from, generated, killed] = from.map(at);
                let transfer = Transfer {
                    from,
                    generated,
                    killed,
                };
                program.gen_kill("transfer", at(to), transfer);
            }
            Wave::Meet { to, from, meet } => program.meet("meet", at(to), at(from), meet),
            Wave::Loop { .. }
            | Wave::While { .. }
            | Wave::Code { .. }
            | Wave::Segments { .. }
            | Wave::Levels { .. }
            | Wave::Reach { .. }
            | Wave::Components { .. }
            | Wave::Parents { .. }
            | Wave::Triangles { .. } => {}
        }
    }

    fn add_loop(&mut self, max: u32, condition: Option<Slot>, body: &[Wave]) {
        let condition = condition.map(|slot| self.at(slot));
        let mut inner = std::mem::replace(&mut self.program, ProgramBuilder::new(0));
        // The body is added through this assembler, so the program moves in and out of it.
        let mut add = |program: &mut ProgramBuilder| {
            std::mem::swap(&mut self.program, program);
            self.add(body);
            std::mem::swap(&mut self.program, program);
        };
        match condition {
            Some(condition) => inner.while_word("while", condition, max, add),
            None => inner.fixpoint("loop", max, &mut add),
        }
        self.program = inner;
    }

    fn add_code(&mut self, over: code::Over, steps: &[Step]) {
        let over = match over {
            code::Over::Nodes => Over::Nodes,
            code::Over::Values(slot) => Over::Values(self.at(slot)),
            code::Over::Where { of, below } => self.list(of, below),
        };
        let registers = code::Registers {
            ids: &self.registers,
            values: &self.values,
        };
        self.program
            .each("code", over, |item| code::write(item, registers, steps));
    }

    fn search(&mut self, list: Slot, mark: Mark, max: u32) -> Option<RegisterId> {
        let frontier = self.frontiers.pop()?;
        let list = self.sources(list);
        self.program.reset("reset", frontier);
        self.program.seed("seed", frontier, list, mark);
        self.program.search("search", frontier, mark, max);
        Some(frontier)
    }

    /// A list of the words of a register, with no node in place of invalid ones.
    fn sources(&mut self, list: Slot) -> RegisterId {
        let (nodes, from) = (self.program_nodes, self.at(list));
        let words = self.words[list].into();
        // Whatever kind the register has, both of these hold words.
        let (copy, sources) = match (
            self.program.words("copy", words),
            self.program.words("sources", words),
        ) {
            (Ok(copy), Ok(sources)) => (copy, sources),
            _ => return from,
        };
        self.program.copy_words("copy", copy, from);
        self.program.each("sources", Over::Values(copy), |item| {
            let word = item.load(copy);
            item.store(sources, word.below(nodes).select(word, UNREACHED));
        });
        sources
    }

    fn add_levels(&mut self, to: Slot, list: Slot, max: u32) {
        let levels = self.at(to);
        let mark = Mark::Levels(levels);
        self.program.fill("unreached", levels, UNREACHED);
        self.search(list, mark, max);
    }

    fn add_reach(&mut self, to: Slot, list: Slot, max: u32) {
        if let Some(frontier) = self.search(list, Mark::Bits, max) {
            let to = self.at(to);
            self.program.visited("visited", to, frontier);
        }
    }

    fn add_components(&mut self, to: Slot, search: Option<[u32; 2]>) {
        let labels = self.at(to);
        let program = &mut self.program;
        program.iota_words("labels", labels);
        let known =
            search.and_then(|search| components::hook_reached(program, labels, search).ok());
        match known.filter(|_| self.is_symmetric) {
            Some(known) => components::link_rest(program, labels, known),
            None => program.components("link", ComponentStep::Link, labels),
        }
        program.components("compress", ComponentStep::Compress, labels);
    }

    fn add_parents(&mut self, to: Slot, from: Slot) {
        let (to, from) = (self.at(to), self.at(from));
        self.program.fill("unreached", to, UNREACHED);
        self.program.parents("parents", to, from);
    }
}
