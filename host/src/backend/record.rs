//! Construction of launch records, for all machines.
//!
//! Machines differ only in their addresses.

use crate::graph::Graph;
use crate::program::EncodedProgram;
use seawall_core::abi::program::LaunchRecord;
use seawall_core::abi::search::SearchPolicy;
use seawall_core::abi::tiles::TileTable;
use seawall_core::abi::{MAGIC, VERSION};

/// Addresses of a graph's arrays, 0 for missing ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GraphAddresses {
    pub(super) offsets: u64,
    pub(super) targets: u64,
    pub(super) weights: u64,
    pub(super) incoming_offsets: u64,
    pub(super) incoming_targets: u64,
    pub(super) incoming_weights: u64,
    /// The digest of the graph and its machine.
    pub(super) resident: u64,
    pub(super) tiles: TileTable,
    /// Most edges of a row of either kind; 0 if unknown.
    pub(super) longest_row: u32,
}

/// Addresses of a program's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TableAddresses {
    pub(super) groups: u64,
    pub(super) waves: u64,
    pub(super) registers: u64,
    pub(super) code: u64,
}

/// Addresses of all parts of a run on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Addresses {
    pub(super) graph: GraphAddresses,
    pub(super) tables: TableAddresses,
    pub(super) arena: u64,
    pub(super) inputs: u64,
    pub(super) control: u64,
    /// 0 if the run writes none.
    pub(super) trace: u64,
    /// Share of the machine's memory that is taken, basis points; 0 if it does not count.
    pub(super) memory_pressure_bps: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GraphSize {
    pub(super) nodes: u32,
    pub(super) edges: u32,
}

impl GraphSize {
    pub(super) fn of(graph: &Graph) -> Self {
        Self {
            nodes: graph.nodes(),
            edges: graph.edges(),
        }
    }
}

/// Returns the launch record of `program` on a graph of `size` at the addresses `at`, for runs of
/// at most `time_budget_ns`.
pub(super) fn launch_record(
    program: &EncodedProgram,
    size: GraphSize,
    at: &Addresses,
    time_budget_ns: u64,
) -> LaunchRecord {
    let can_pull = u32::from(at.graph.incoming_offsets != 0);
    LaunchRecord {
        magic: MAGIC,
        version: VERSION,
        nodes: size.nodes,
        edges: size.edges,
        groups: program.top_groups,
        groups_total: length(program.groups.len()),
        waves: length(program.waves.len()),
        registers: length(program.registers.len()),
        offsets: at.graph.offsets,
        targets: at.graph.targets,
        weights: at.graph.weights,
        incoming_offsets: at.graph.incoming_offsets,
        incoming_targets: at.graph.incoming_targets,
        group_table: at.tables.groups,
        wave_table: at.tables.waves,
        register_table: at.tables.registers,
        arena: at.arena,
        inputs: at.inputs,
        control: at.control,
        time_budget_ns,
        search: SearchPolicy {
            can_pull,
            memory_pressure_bps: program
                .search
                .memory_pressure_bps
                .max(at.memory_pressure_bps),
            ..program.search.on_graph(size.nodes, size.edges)
        },
        tiles: at.graph.tiles,
        code_table: at.tables.code,
        code: length(program.code.len()),
        longest_row: at.graph.longest_row,
        trace: at.trace,
        planned_for: program.planned_for,
        resident: at.graph.resident,
        incoming_weights: at.graph.incoming_weights,
    }
}

/// Converts a length for a record; in checked tables all fit.
fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
