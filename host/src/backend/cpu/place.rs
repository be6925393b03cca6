//! Places of a run in this process: the launch record, with the addresses of everything.

use super::Loaded;
use crate::backend::RunLimits;
use crate::backend::record::{self, Addresses, GraphAddresses, GraphSize, TableAddresses};
use crate::backend::trace::TraceMemory;
use crate::graph::{Csr, Graph};
use crate::program::EncodedProgram;
use crate::tiles::Tiles;
use seawall_core::abi::control::ControlRecord;
use seawall_core::abi::program::LaunchRecord;
use seawall_core::abi::tiles::TileTable;

/// Returns the launch record with this process's addresses.
pub(super) fn launch_record(
    (graph, resident): (&Graph, &u64),
    loaded: &mut Loaded,
    tiles: Option<&Tiles>,
    limits: RunLimits,
) -> LaunchRecord {
    let at = GraphAddresses {
        tiles: tiles.map_or_else(TileTable::default, tile_table),
        ..graph_addresses(graph, resident, &loaded.program)
    };
    launch_record_at(graph, loaded, at, limits)
}

/// Returns this process's addresses of the arrays that `program` may read, and of the graph's
/// digest.
pub(super) fn graph_addresses(
    graph: &Graph,
    resident: &u64,
    program: &EncodedProgram,
) -> GraphAddresses {
    let incoming = (program.needs.incoming || graph.is_symmetric()).then(|| graph.incoming());
    let address = |words: &[u32]| words.as_ptr() as u64;
    GraphAddresses {
        offsets: address(graph.offsets()),
        targets: address(graph.targets()),
        weights: graph.weights().map_or(0, address),
        incoming_offsets: incoming.map_or(0, |rows| address(rows.offsets())),
        incoming_targets: incoming.map_or(0, |rows| address(rows.targets())),
        incoming_weights: incoming.and_then(Csr::weights).map_or(0, address),
        resident: std::ptr::from_ref(resident) as u64,
        tiles: TileTable::default(),
        longest_row: 0,
    }
}

/// Returns the launch record with the graph at the addresses `at`.
pub(super) fn launch_record_at(
    graph: &Graph,
    loaded: &mut Loaded,
    at: GraphAddresses,
    limits: RunLimits,
) -> LaunchRecord {
    let program = &loaded.program;
    let at = Addresses {
        graph: at,
        tables: TableAddresses {
            groups: program.groups.as_ptr() as u64,
            waves: program.waves.as_ptr() as u64,
            registers: program.registers.as_ptr() as u64,
            code: program.code.as_ptr() as u64,
        },
        arena: loaded.arena.as_mut_ptr() as u64,
        inputs: loaded.inputs.as_mut_ptr() as u64,
        control: std::ptr::from_mut::<ControlRecord>(&mut loaded.control) as u64,
        trace: loaded.trace.as_mut().map_or(0, TraceMemory::address),
        memory_pressure_bps: 0,
    };
    record::launch_record(program, GraphSize::of(graph), &at, limits.time_budget_ns)
}

/// Returns the table with this process's addresses.
fn tile_table(tiles: &Tiles) -> TileTable {
    TileTable {
        records: tiles.records().as_ptr() as u64,
        edges: tiles.edges().as_ptr() as u64,
        bases: tiles.bases().as_ptr() as u64,
        rows: tiles.rows().as_ptr() as u64,
        ..tiles.table()
    }
}
