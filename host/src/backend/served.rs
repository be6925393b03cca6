//! The programs of a service: each worker has a copy of each, with its own memory.
//!
//! ```text
//! launch record, control block and tables of each program | inputs and arena of each program
//! '--------------- the image of a worker ----------------' '------- zeroed once -----------'
//! ```

use super::code::with_code_from;
use super::record::GraphAddresses;
use super::tables::{Layout, Placement};
use super::{BackendError, fit, overflow};
use crate::graph::Graph;
use crate::own::OwnWaves;
#[cfg(feature = "cuda")]
use crate::program::GraphNeeds;
use crate::program::encoded::common_waves;
use crate::program::{EncodedProgram, RegisterId};
use fit::Ids;
use seawall_core::abi::program::{Region, RegisterRecord};
use seawall_core::abi::serve::ServeProgram;

/// Alignment of every part, bytes: that of registers.
const ALIGN: u64 = 256;

/// A program that queries may run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServedProgram<'a> {
    pub(crate) program: &'a EncodedProgram,
    pub(crate) result: RegisterId,
    /// The user's opcode whose arguments are its inputs, or 0.
    pub(crate) opcode: u32,
}

/// Offsets of a program's parts in a worker's memory, bytes.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    program: &'a EncodedProgram,
    /// The number of its first instruction among those of all programs.
    first_code: u32,
    tables: u64,
    inputs: u64,
    arena: u64,
}

/// A register that answers, and the place of its program.
#[derive(Clone, Copy, Debug)]
struct Answer {
    place: usize,
    result: RegisterRecord,
    opcode: u32,
}

/// Memory of the programs of one worker.
#[derive(Debug)]
pub(super) struct Space<'a> {
    /// Each program once, also if it has several results.
    places: Vec<Place<'a>>,
    answers: Vec<Answer>,
    own: Option<&'a OwnWaves>,
    image_bytes: u64,
    stride: u64,
}

/// Surroundings of programs on a machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around<'g> {
    pub(super) graph: &'g Graph,
    pub(super) addresses: GraphAddresses,
    pub(super) time_budget_ns: u64,
    /// Whether a kernel finds the machine code of waves by the numbers of their first instructions
    /// among those of all programs.
    pub(super) is_linked: bool,
}

impl<'a> Space<'a> {
    /// Checks programs for a graph, and places their parts.
    ///
    /// # Errors
    /// As for loading each; [`BackendError::PathsUnseen`] for distances that may exceed 32 bits, as
    /// nothing checks them before a query gets them; [`BackendError::OtherWaves`] for waves of two
    /// other crates.
    pub(super) fn new(
        programs: &'a [ServedProgram<'a>],
        graph: &Graph,
    ) -> Result<Self, BackendError> {
        let own = common_waves(programs.iter().map(|served| served.program));
        let own = own.map_err(|_| BackendError::OtherWaves)?;
        let mut end = 0_u64;
        let mut take = |bytes: u64| {
            let start = end;
            end = end.saturating_add(bytes.saturating_add(ALIGN - 1) / ALIGN * ALIGN);
            start
        };
        let mut places: Vec<Place<'_>> = Vec::with_capacity(programs.len());
        let mut answers = Vec::with_capacity(programs.len());
        let mut instructions = 0_u32;
        for served in programs {
            let program = served.program;
            let result = Ids::of(program).number_of(served.result)?;
            let same = |place: &Place<'_>| std::ptr::eq(place.program, program);
            let known = places.iter().position(same);
            answers.push(Answer {
                place: known.unwrap_or(places.len()),
                result: program.registers[result],
                opcode: served.opcode,
            });
            if known.is_none() {
                fit::check(program, graph)?;
                overflow::check_sure(program, graph)?;
                places.push(Place {
                    program,
                    first_code: instructions,
                    tables: take(Layout::of(program).bytes),
                    inputs: 0,
                    arena: 0,
                });
                instructions = instructions.saturating_add(program.code.len() as u32);
            }
        }
        let image_bytes = take(0);
        for place in &mut places {
            place.inputs = take(place.program.input_bytes);
            place.arena = take(place.program.arena_bytes);
        }
        Ok(Self {
            places,
            answers,
            own,
            image_bytes,
            stride: take(0),
        })
    }

    /// Whether there are no programs.
    #[cfg(feature = "cuda")]
    pub(super) const fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Each program, and the number of its first instruction.
    pub(super) fn programs(&self) -> impl Iterator<Item = (&'a EncodedProgram, u32)> {
        let places = self.places.iter();
        places.map(|place| (place.program, place.first_code))
    }

    /// Bytes of one worker.
    pub(super) const fn stride(&self) -> u64 {
        self.stride
    }

    /// Waves of another crate that some program uses.
    pub(super) const fn own(&self) -> Option<&'a OwnWaves> {
        self.own
    }

    /// Arrays of the graph that some program reads.
    #[cfg(feature = "cuda")]
    pub(super) fn needs(&self) -> GraphNeeds {
        let needs = self.places.iter().map(|place| place.program.needs);
        needs.fold(GraphNeeds::default(), |all, one| GraphNeeds {
            weights: all.weights.or(one.weights),
            incoming: all.incoming || one.incoming,
            incoming_weights: all.incoming_weights || one.incoming_weights,
            tiles: false,
        })
    }

    /// The first bytes of a worker's memory at `base`.
    pub(super) fn image(&self, base: u64, around: &Around<'_>) -> Vec<u8> {
        let mut image = vec![0; usize::try_from(self.image_bytes).unwrap_or(0)];
        for place in &self.places {
            let placement = Placement {
                tables: base + place.tables,
                arena: base + place.arena,
                inputs: base + place.inputs,
                graph: around.addresses,
                nodes: around.graph.nodes(),
                edges: around.graph.edges(),
                trace: 0,
                memory_pressure_bps: 0,
                time_budget_ns: around.time_budget_ns,
            };
            let part = match around.is_linked {
                true => placement.image(&place.numbered()),
                false => placement.image(place.program),
            };
            let start = place.tables as usize;
            if let Some(to) = image.get_mut(start..start + part.len()) {
                to.copy_from_slice(&part);
            }
        }
        image
    }

    /// The records of workers whose memory begins at `base` and follows each other.
    pub(super) fn table(&self, base: u64, workers: u32) -> Vec<ServeProgram> {
        let bases = (0..u64::from(workers)).map(|worker| base + worker * self.stride);
        let of_worker = |base: u64| {
            let answers = self.answers.iter();
            answers.map(move |answer| self.places[answer.place].record(base, answer))
        };
        bases.flat_map(of_worker).collect()
    }
}

impl Place<'_> {
    /// The program, whose waves name their code by its number among those of all programs.
    fn numbered(&self) -> EncodedProgram {
        EncodedProgram {
            waves: with_code_from(self.first_code, &self.program.waves),
            ..self.program.clone()
        }
    }

    /// The record of an answer, where the worker's memory begins at `base`.
    fn record(&self, base: u64, answer: &Answer) -> ServeProgram {
        let region = if answer.result.region == Region::Input as u32 {
            self.inputs
        } else {
            self.arena
        };
        ServeProgram {
            launch: base + self.tables,
            inputs: base + self.inputs,
            result: base + region + answer.result.offset_bytes,
            input_words: (self.program.input_bytes / 4) as u32,
            result_words: answer.result.words,
            opcode: answer.opcode,
            rest: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Kind, Over, ProgramBuilder};
    use seawall_core::abi::program::EachRecord;

    /// Two waves of code.
    fn program(nodes: u32) -> EncodedProgram {
        let mut program = ProgramBuilder::new(nodes);
        let value = program.per_node("value", Kind::U32).unwrap();
        for name in ["first", "second"] {
            program.each(name, Over::Nodes, |node| {
                node.store(value, node.index() + 1)
            });
        }
        program.keep(value);
        program.encode(&Default::default()).unwrap().0
    }

    #[test]
    fn code_of_all_programs_has_numbers_of_its_own() {
        let graph = Graph::from_edges(4, &[(0, 1)], false).unwrap();
        let programs = [program(4), program(4)];
        let served = programs.each_ref().map(|program| ServedProgram {
            program,
            result: program.register(0).unwrap(),
            opcode: 0,
        });
        let space = Space::new(&served, &graph).unwrap();
        let firsts = space.places.iter().flat_map(|place| place.numbered().waves);
        let firsts = firsts.map(|wave| EachRecord::from_parameters(wave.parameters).first);
        let firsts: Vec<_> = firsts.collect();
        assert!(
            firsts.is_sorted_by(|first, next| first < next),
            "{firsts:?}"
        );
        let second = space.programs().nth(1).unwrap().1;
        assert_eq!((firsts[2], second), (second, programs[0].code.len() as u32));
    }
}
