//! Bytes that a graph and a program take on a machine, from their sizes only.
//!
//! Plans are limited to a budget by these figures before anything is allocated, and
//! [`Session::memory`](super::Session::memory) returns the allocated bytes. A test compares the
//! two.

use super::identity::resident_digest;
use crate::executor::{Executor, Machine};
use crate::graph::Graph;
use crate::program::encoded::GraphNeeds;
use crate::program::{EncodedProgram, PlanRequest, ProgramBuilder};
use seawall_core::abi::code::Instruction;
use seawall_core::abi::control::ControlRecord;
use seawall_core::abi::program::{GroupRecord, LaunchRecord, RegisterRecord, WaveRecord};
use serde::Serialize;

/// Smallest allocation on a GPU, so that an empty array has an address too, and the alignment of a
/// program's tables there, bytes.
pub(super) const GPU_BYTES_MIN: u64 = 256;

/// Memory that a session holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SessionMemory {
    /// Bytes of the graph, and of the loaded program with its arena, inputs and tables.
    pub allocated_bytes: u64,
    /// Bytes of incoming edges by tiles, which are made if there is space for them.
    pub tiles_bytes: u64,
}

/// Numbers of records in a program's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableLengths {
    pub(crate) groups: usize,
    pub(crate) waves: usize,
    pub(crate) registers: usize,
    pub(crate) code: usize,
}

impl TableLengths {
    pub(crate) fn of(program: &EncodedProgram) -> Self {
        Self {
            groups: program.groups.len(),
            waves: program.waves.len(),
            registers: program.registers.len(),
            code: program.code.len(),
        }
    }

    /// Bytes of the tables, with the control block and the machine's additions.
    pub(crate) fn bytes(self, executor: Executor) -> u64 {
        let groups = size_of::<GroupRecord>().saturating_mul(self.groups);
        let waves = size_of::<WaveRecord>().saturating_mul(self.waves);
        let registers = size_of::<RegisterRecord>().saturating_mul(self.registers);
        let code = size_of::<Instruction>().saturating_mul(self.code);
        let control = size_of::<ControlRecord>();
        let rest = [groups, waves, registers, code];
        if !executor.is_on_gpu() {
            return (control + rest.iter().sum::<usize>()) as u64;
        }
        // The control block follows the launch record.
        let record = size_of::<LaunchRecord>().next_multiple_of(GPU_BYTES_MIN as usize);
        let parts = [record + control].into_iter().chain(rest);
        parts
            .map(|part| (part as u64).next_multiple_of(GPU_BYTES_MIN))
            .sum()
    }
}

pub(crate) fn graph_bytes(graph: &Graph, needs: GraphNeeds, executor: Executor) -> u64 {
    let has_incoming = needs.incoming && !graph.is_symmetric();
    let rows = 4 * (u64::from(graph.nodes()) + 1);
    let edges = 4 * u64::from(graph.edges());
    if !executor.is_on_gpu() {
        let held = graph.memory_bytes() as u64;
        let is_there = graph.has_incoming_rows();
        return held
            + if has_incoming && !is_there {
                // The transpose has the weights, too.
                rows + edges + graph.weights().map_or(0, |_| edges)
            } else {
                0
            };
    }
    let array = |bytes: u64| bytes.max(GPU_BYTES_MIN);
    let weights = needs.weights.map_or(0, |_| array(edges));
    let incoming_weights = if has_incoming && needs.incoming_weights {
        array(edges)
    } else {
        0
    };
    let pairs = if has_incoming { 2 } else { 1 };
    let digest = GPU_BYTES_MIN;
    (array(rows) + array(edges)) * pairs + weights + incoming_weights + digest
}

/// Bytes besides arena and inputs that any plan of a program with these tables takes.
fn resident_bytes(
    graph: &Graph,
    (needs, tables): (GraphNeeds, TableLengths),
    executor: Executor,
) -> u64 {
    let smallest = if executor.is_on_gpu() {
        // An empty arena or input region is an allocation too.
        2 * GPU_BYTES_MIN
    } else {
        0
    };
    graph_bytes(graph, needs, executor) + tables.bytes(executor) + smallest
}

/// The request to plan `program` for `graph` on `executor` of `machine`, with all that is allocated
/// there within the machine's budget. Kernels refuse such a plan on another machine, and beside
/// another graph.
#[must_use]
pub fn plan_request(
    graph: &Graph,
    program: &ProgramBuilder,
    executor: Executor,
    machine: &Machine,
) -> PlanRequest {
    let parts = (program.needs, program.table_lengths());
    PlanRequest {
        resident_bytes: resident_bytes(graph, parts, executor),
        table_line_bytes: Some(if executor.is_on_gpu() {
            GPU_BYTES_MIN
        } else {
            0
        }),
        budget_bytes: machine.budget_bytes,
        planned_for: resident_digest(graph, executor, machine.device),
        ..PlanRequest::default()
    }
}

/// Bytes that a session of `executor` allocates for `graph` and `program`.
#[must_use]
pub fn session_bytes(graph: &Graph, program: &EncodedProgram, executor: Executor) -> u64 {
    let least = if executor.is_on_gpu() {
        GPU_BYTES_MIN
    } else {
        0
    };
    let regions = [program.arena_bytes, program.input_bytes];
    let regions = regions.map(|bytes| bytes.next_multiple_of(256).max(least));
    graph_bytes(graph, program.needs, executor)
        + TableLengths::of(program).bytes(executor)
        + regions.iter().sum::<u64>()
}
