//! The programs of a service: each worker has a copy of each, with memory of its own.
//!
//! ```text
//! launch record, control block and tables of each program | inputs and arena of each program
//! '--------------- the image of a worker ----------------' '------- zeroed once -----------'
//! ```

use super::record::GraphAddresses;
use super::tables::{Layout, Placement};
use super::{BackendError, fit, outgrown};
use crate::graph::Graph;
#[cfg(feature = "cuda")]
use crate::program::GraphNeeds;
use crate::program::{EncodedProgram, RegisterId};
use fit::Ids;
use seawall_core::abi::program::{Region, RegisterRecord};
use seawall_core::abi::serve::ServeProgram;

/// Alignment of every part, bytes: that of registers.
const ALIGN: u64 = 256;

/// A program that queries may run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServedProgram<'a> {
    /// The program.
    pub(crate) program: &'a EncodedProgram,
    /// The register that answers a query.
    pub(crate) result: RegisterId,
}

/// Offsets of a program's parts in a worker's memory, bytes.
#[derive(Clone, Copy, Debug)]
struct Place {
    tables: u64,
    inputs: u64,
    arena: u64,
    result: RegisterRecord,
}

/// Memory of the programs of one worker.
#[derive(Debug)]
pub(super) struct Space<'a> {
    programs: &'a [ServedProgram<'a>],
    places: Vec<Place>,
    image_bytes: u64,
    stride: u64,
}

/// Surroundings of programs on a machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around<'g> {
    pub(super) graph: &'g Graph,
    pub(super) addresses: GraphAddresses,
    pub(super) time_budget_ns: u64,
}

impl<'a> Space<'a> {
    /// Checks programs for a graph, and places their parts.
    ///
    /// # Errors
    /// As for loading each; [`BackendError::PathsUnseen`] for distances that may exceed 32 bits, as
    /// nobody looks at them before a query gets them.
    pub(super) fn new(
        programs: &'a [ServedProgram<'a>],
        graph: &Graph,
    ) -> Result<Self, BackendError> {
        let mut end = 0_u64;
        let mut take = |bytes: u64| {
            let start = end;
            end = end.saturating_add(bytes.saturating_add(ALIGN - 1) / ALIGN * ALIGN);
            start
        };
        let mut places = Vec::with_capacity(programs.len());
        for served in programs {
            let ServedProgram { program, result } = *served;
            fit::check(program, graph)?;
            outgrown::check_sure(program, graph)?;
            places.push(Place {
                tables: take(Layout::of(program).bytes),
                inputs: 0,
                arena: 0,
                result: program.registers[Ids::of(program).number_of(result)?],
            });
        }
        let image_bytes = take(0);
        for (served, place) in programs.iter().zip(&mut places) {
            place.inputs = take(served.program.input_bytes);
            place.arena = take(served.program.arena_bytes);
        }
        Ok(Self {
            programs,
            places,
            image_bytes,
            stride: take(0),
        })
    }

    /// Bytes of one worker.
    pub(super) const fn stride(&self) -> u64 {
        self.stride
    }

    /// Arrays of the graph that some program reads.
    #[cfg(feature = "cuda")]
    pub(super) fn needs(&self) -> GraphNeeds {
        let needs = self.programs.iter().map(|served| served.program.needs);
        needs.fold(GraphNeeds::default(), |all, one| GraphNeeds {
            weights: all.weights.or(one.weights),
            incoming: all.incoming || one.incoming,
            tiles: false,
        })
    }

    /// The first bytes of a worker's memory at `base`.
    pub(super) fn image(&self, base: u64, around: &Around<'_>) -> Vec<u8> {
        let mut image = vec![0; usize::try_from(self.image_bytes).unwrap_or(0)];
        for (served, place) in self.programs.iter().zip(&self.places) {
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
            let part = placement.image(served.program);
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
            let places = self.programs.iter().zip(&self.places);
            places.map(move |(served, place)| ServeProgram {
                launch: base + place.tables,
                inputs: base + place.inputs,
                result: base + place.result(),
                input_words: (served.program.input_bytes / 4) as u32,
                result_words: place.result.words,
            })
        };
        bases.flat_map(of_worker).collect()
    }
}

impl Place {
    /// Offset of the register that answers a query.
    const fn result(&self) -> u64 {
        let region = if self.result.region == Region::Input as u32 {
            self.inputs
        } else {
            self.arena
        };
        region + self.result.offset_bytes
    }
}
