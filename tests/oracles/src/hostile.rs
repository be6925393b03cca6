//! Tables of a valid program, changed by hand.
//!
//! A [`Case`] is a ready analysis and a list of changes to its tables. Tables that pass the check
//! at load must run to an end: a result, a fault, a time budget. All registers are read
//! afterwards, so that their places are checked too.

mod tables;

use crate::components::searched_components;
use crate::graphs::{self, SHAPES};
use crate::lanes;
use crate::random::Random;
use crate::ranks::sliced_ranking;
use seawall::analysis::{self, Question};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{BackendError, RunLimits, Session};
use seawall::executor::Jit;
use seawall::graph::Graph;
use seawall::program::{EncodedProgram, PlanRequest, SliceShape};
use seawall::run::{AnalysisKind, Detail};
use seawall_core::abi::code::Op;
use seawall_core::abi::program::{NO_REGISTER, Opcode, WaveRecord};
use std::num::NonZeroUsize;
use tables::{append, entry, merge, overlay, repeat, set, unnarrow};

/// One change to the tables. Numbers that are too large wrap around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Another opcode.
    Opcode {
        /// Number of the wave.
        wave: u32,
        /// Word of the opcode.
        to: u32,
    },
    /// Another register: operand 0 is the destination, from 1 on sources.
    Operand {
        /// Number of the wave.
        wave: u32,
        /// Number of the operand.
        operand: u32,
        /// Number of the register; one beyond the last means none.
        to: u32,
    },
    /// Another parameter.
    Parameter {
        /// Number of the wave.
        wave: u32,
        /// Number of the parameter.
        at: u32,
        /// Its word.
        to: u32,
    },
    /// A register in the place of another.
    Overlay {
        /// Number of the register.
        register: u32,
        /// Number of the other one.
        on: u32,
        /// Offset from the start of that, in units of 16 bytes.
        shift: u32,
    },
    /// Another length of a register.
    Words {
        /// Number of the register.
        register: u32,
        /// Its words.
        to: u32,
    },
    /// Two waves swap places.
    Swap {
        /// The first wave.
        wave: u32,
        /// The second wave.
        with: u32,
    },
    /// A group moves before another.
    Move {
        /// Number of the group.
        group: u32,
        /// The group before which it moves.
        to: u32,
    },
    /// A repeated wave, in a separate group.
    Repeat {
        /// Number of the wave.
        wave: u32,
        /// The top-level group before it.
        before: u32,
    },
    /// A disabled wave.
    Drop {
        /// Number of the wave.
        wave: u32,
    },
    /// A group merged with the next one.
    Merge {
        /// Number of the group.
        group: u32,
    },
    /// Another word of an instruction.
    Code {
        /// Number of the instruction.
        at: u32,
        /// The operation, one of four temporaries, or one of two words.
        part: u32,
        /// Its value.
        to: u32,
    },
    /// A wave that later runs skip.
    Once {
        /// Number of the wave.
        wave: u32,
    },
    /// Another word of the thresholds of searches.
    Policy {
        /// Number of the word, among the first six.
        at: u32,
        /// Its value.
        to: u32,
    },
}

/// A program to change and to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The analysis.
    pub analysis: u32,
    /// Shape of the graph.
    pub shape: u32,
    /// Nodes of the graph.
    pub nodes: u32,
    /// Seed of the graph and of the input words.
    pub seed: u64,
    /// Threads that run it, unless warps do.
    pub threads: u32,
    /// Whether it runs on two blocks of one warp, as on a GPU.
    pub warps: bool,
    /// Whether input words are nodes, not arbitrary words.
    pub tame_inputs: bool,
    /// Another analysis whose waves follow in the same arena, if any.
    pub then: Option<u32>,
    /// Changes, first to last.
    pub changes: Vec<Change>,
}

/// End of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The analysis cannot be built for the graph.
    NotBuilt,
    /// The check refused the tables.
    Refused,
    /// The run ended by itself.
    Done,
    /// The run ended with a fault or another typed error.
    Failed,
}

impl Case {
    /// Builds, changes, checks and runs the case on the CPU.
    ///
    /// # Panics
    /// If a kernel is wrong, in builds with checks.
    #[must_use]
    pub fn run(&self) -> End {
        let mut random = Random::new(self.seed);
        let shape = SHAPES[self.shape as usize % SHAPES.len()];
        let undirected = self.seed.is_multiple_of(2);
        let list = graphs::draw(shape, self.nodes, undirected, &mut random);
        let edges = list.edges.iter();
        let edges: Vec<_> = edges
            .map(|(from, to)| (*from, *to, 1 + random.below(9)))
            .collect();
        let graph = Graph::from_weighted_edges(list.nodes, &edges, undirected);
        let Ok(graph) = graph else {
            return End::NotBuilt;
        };
        let Some(mut program) = self.program(&graph) else {
            return End::NotBuilt;
        };
        for change in &self.changes {
            change.apply(&mut program);
        }
        let words = program.input_bytes as usize / 4;
        let inputs: Vec<u32> = (0..words)
            .map(|_| {
                if self.tame_inputs {
                    random.below(list.nodes.max(1))
                } else {
                    random.word()
                }
            })
            .collect();
        // An unchanged program ends by itself, though late on a busy machine.
        let is_as_built = self.tame_inputs && self.changes.is_empty();
        let limits = RunLimits {
            time_budget_ns: if is_as_built {
                20_000_000_000
            } else {
                100_000_000
            },
        };
        let (threads, warps) = (self.threads, self.warps);
        // Most cases run machine code, which has the same checks.
        let jit = match self.seed.is_multiple_of(3) {
            true => Jit::Never,
            false => Jit::Always,
        };
        match run(&graph, &program, threads, warps, jit, &inputs, limits) {
            Ok(()) => End::Done,
            Err(BackendError::BadProgram { .. }) => End::Refused,
            Err(_) => End::Failed,
        }
    }

    /// The tables before any change.
    fn program(&self, graph: &Graph) -> Option<EncodedProgram> {
        let mut program = encoded(graph, self.analysis)?;
        if let Some(then) = self.then {
            append(&mut program, encoded(graph, then)?);
        }
        Some(program)
    }
}

/// Runs `program` twice under a short time budget, since a second run skips waves, and reads all of
/// its registers.
fn run(
    graph: &Graph,
    program: &EncodedProgram,
    threads: u32,
    warps: bool,
    jit: Jit,
    inputs: &[u32],
    limits: RunLimits,
) -> Result<(), BackendError> {
    // A GPU's session refuses sequential algorithms, which simulated warps would begin.
    let is_sequential = |wave: &&WaveRecord| wave.opcode == Opcode::Sequential as u32;
    if let Some(wave) = program.waves.iter().find(is_sequential).filter(|_| warps) {
        let wave = wave.wave.to_string();
        return Err(BackendError::Sequential { wave });
    }
    let threads = NonZeroUsize::new(1 + threads as usize % 3);
    let mut session = CpuSession::open(graph, threads, limits)?.with_jit(jit);
    if warps {
        session = session.with_machine(lanes::run::<2, 32>);
    }
    session.load(program)?;
    let outcome = session.run(inputs).and_then(|_| session.run(inputs));
    let mut words = Vec::new();
    for register in (0..).map_while(|number| program.register(number)) {
        session.read(register, &mut words)?;
    }
    outcome.map(|_| ())
}

/// Analyses whose tables are changed.
const KINDS: [(AnalysisKind, Detail); 22] = [
    (AnalysisKind::Bfs, Detail::Plain),
    (AnalysisKind::Bfs, Detail::Parents),
    (AnalysisKind::Reach, Detail::Plain),
    (AnalysisKind::Reach, Detail::EachSource),
    (AnalysisKind::Cc, Detail::Plain),
    (AnalysisKind::Sssp, Detail::Plain),
    (AnalysisKind::Kcore, Detail::Plain),
    (AnalysisKind::Pagerank, Detail::Plain),
    (AnalysisKind::Triangles, Detail::Plain),
    (AnalysisKind::Widest, Detail::Plain),
    (AnalysisKind::Mis, Detail::Plain),
    (AnalysisKind::Colouring, Detail::Plain),
    (AnalysisKind::Scc, Detail::Plain),
    (AnalysisKind::Msf, Detail::Plain),
    (AnalysisKind::Labels, Detail::Plain),
    (AnalysisKind::Ppr, Detail::Plain),
    (AnalysisKind::Betweenness, Detail::Plain),
    (AnalysisKind::TriangleTotal, Detail::Plain),
    (AnalysisKind::Closeness, Detail::Plain),
    (AnalysisKind::Eccentricity, Detail::Plain),
    // This kind runs in slices, see `SLICED`.
    (AnalysisKind::Pagerank, Detail::Plain),
    // This kind follows a search, see `SEARCHED`.
    (AnalysisKind::Cc, Detail::Plain),
];

/// Place of the kind that follows a search.
const SEARCHED: usize = KINDS.len() - 1;
const SLICED: usize = KINDS.len() - 2;

/// Slices of small graphs.
const SHAPE: SliceShape = SliceShape {
    width_log2: 4,
    part_log2: 5,
};

/// The number of analyses that a case chooses from.
pub const ANALYSES: u32 = KINDS.len() as u32;

/// The number of kinds of changes.
pub const CHANGES: u32 = 13;

/// The tables of an analysis.
fn encoded(graph: &Graph, analysis: u32) -> Option<EncodedProgram> {
    let which = analysis as usize % KINDS.len();
    if which == SLICED {
        return sliced_ranking(graph, SHAPE).ok();
    }
    if which == SEARCHED {
        return searched_components(graph).ok();
    }
    let (kind, detail) = KINDS[which];
    let mut question = Question::new((0..graph.nodes().min(3)).collect());
    question.max_iterations = 40;
    question.detail = detail;
    question.wide = (analysis as usize / KINDS.len()) % 2 == 1;
    let built = analysis::build(kind, graph, &question).ok()?;
    Some(built.program.encode(&PlanRequest::default()).ok()?.0)
}

/// Another word of the thresholds of searches.
fn policy(program: &mut EncodedProgram, at: u32, to: u32) {
    let search = &mut program.search;
    match at % 6 {
        0 => search.forced = to % 7,
        1 => search.narrow_nodes = to,
        2 => search.narrow_exit_nodes = to,
        3 => search.can_pull = to,
        4 => search.pull_edges_min = to,
        _ => search.narrow_edges = to,
    }
}

impl Change {
    fn apply(self, program: &mut EncodedProgram) {
        match self {
            Self::Opcode { wave, to } => set(program, wave, |wave| {
                wave.opcode = to % (Opcode::ALL.len() as u32 + 1);
            }),
            Self::Operand { wave, operand, to } => {
                let registers = program.registers.len() as u32;
                let to = Some(to % (registers + 1)).filter(|to| *to < registers);
                set(program, wave, |wave| {
                    let to = to.unwrap_or(NO_REGISTER);
                    match operand % 5 {
                        0 => wave.destination = to,
                        source => wave.sources[source as usize - 1] = to,
                    }
                });
            }
            Self::Parameter { wave, at, to } => set(program, wave, |wave| {
                wave.parameters[at as usize % 5] = to;
            }),
            Self::Overlay {
                register,
                on,
                shift,
            } => overlay(program, register, on, shift),
            Self::Words { register, to } => {
                if let Some(register) = entry(&mut program.registers, register) {
                    register.words = to;
                }
            }
            Self::Swap { wave, with } => {
                let waves = program.waves.len().max(1);
                let [one, other] = [wave, with].map(|at| at as usize % waves);
                if one < program.waves.len() {
                    program.waves.swap(one, other);
                }
            }
            Self::Move { group, to } => {
                let top = program.top_groups;
                if let (Some(from), Some(to)) = (group.checked_rem(top), to.checked_rem(top)) {
                    let moved = program.groups.remove(from as usize);
                    program.groups.insert(to as usize, moved);
                    unnarrow(program);
                }
            }
            Self::Repeat { wave, before } => repeat(program, wave, before),
            Self::Drop { wave } => set(program, wave, |wave| wave.opcode = Opcode::Nop as u32),
            Self::Merge { group } => merge(program, group),
            Self::Code { at, part, to } => {
                if let Some(at) = entry(&mut program.code, at) {
                    match part % 7 {
                        0 => at.op = to % (Op::COUNT + 1),
                        which @ 1..5 => at.temps[which as usize - 1] = to as u8,
                        5 => at.first = to,
                        _ => at.second = to,
                    }
                }
            }
            Self::Once { wave } => {
                let waves = program.waves.len() as u32;
                program.once.push(wave % (waves + 1));
            }
            Self::Policy { at, to } => policy(program, at, to),
        }
    }

    /// Builds a change from drawn words.
    #[must_use]
    pub fn of([kind, a, b, c]: [u32; 4]) -> Self {
        match kind % CHANGES {
            12 => Self::Once { wave: a },
            11 => Self::Code {
                at: a,
                part: b,
                to: c,
            },
            0 => Self::Opcode { wave: a, to: b },
            1 => Self::Operand {
                wave: a,
                operand: b,
                to: c,
            },
            2 => Self::Parameter {
                wave: a,
                at: b,
                to: c,
            },
            3 => Self::Overlay {
                register: a,
                on: b,
                shift: c,
            },
            4 => Self::Words { register: a, to: b },
            5 => Self::Swap { wave: a, with: b },
            6 => Self::Move { group: a, to: b },
            7 => Self::Repeat { wave: a, before: b },
            8 => Self::Drop { wave: a },
            9 => Self::Merge { group: a },
            _ => Self::Policy { at: a, to: b },
        }
    }
}
