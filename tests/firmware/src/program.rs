//! The planned program: made up, and the same on every machine.
//!
//! Eight rows of eight waves, each after two waves of earlier rows. Ids are
//! scattered, so that neither the list nor the ids are in program order and the
//! planner takes its general path.

use seawall_core::cache::{AnalysisKind, DeviceKey, Identity};
use seawall_core::convergence::ConvergenceRequest;
use seawall_core::evidence::Sample;
use seawall_core::launch::{AdapterLimits, LaunchPolicy, LaunchRequest};
use seawall_core::plan::{Budget, Dag, Dependency, Wave};
use seawall_core::ratio::{Bps, Ppm};
use seawall_core::session::{ReadbackPolicy, SessionProfile};
use seawall_core::topology::TopologyPolicy;
use seawall_core::topology::memory::{ExecutionRequest, Footprint};

/// Waves of the program.
pub const WAVES: usize = 64;
/// Dependencies of the program: two per wave after the first row.
pub const DEPENDENCIES: usize = 2 * (WAVES - ROW);
/// Waves of a row.
const ROW: usize = 8;

/// All inputs of the planner.
pub struct Program {
    /// The waves and their order.
    pub dag: Dag<'static>,
    /// Bytes that groups may use.
    pub budget: Budget,
    /// The policy that chooses topologies.
    pub topologies: TopologyPolicy,
    /// The policy that sizes launches.
    pub launches: LaunchPolicy,
    /// The identity of cached choices.
    pub identity: Identity,
    /// One step of the analysis.
    pub execution: ExecutionRequest,
    /// One dispatch.
    pub launch: LaunchRequest,
    /// The resident session.
    pub session: SessionProfile,
    /// The device-resident fixpoint.
    pub convergence: ConvergenceRequest,
}

static WAVE_TABLE: [Wave; WAVES] = waves();
static DEPENDENCY_TABLE: [Dependency; DEPENDENCIES] = dependencies();

/// The program. A `static`, so that a microcontroller keeps it in flash.
pub static PROGRAM: Program = Program {
    dag: Dag {
        waves: &WAVE_TABLE,
        dependencies: &DEPENDENCY_TABLE,
    },
    budget: Budget {
        resident_bytes: 65_536,
        budget_bytes: 81_920,
        readback_bytes: 512,
    },
    topologies: TopologyPolicy::DEFAULT,
    launches: LaunchPolicy::STANDARD,
    identity: Identity {
        graph_layout_hash: 0x5ea_3a11,
        analysis: AnalysisKind::Liveness,
        device: DeviceKey {
            compute_capability_major: 8,
            compute_capability_minor: 7,
            warp_size: 32,
            max_threads_per_block: 1024,
            grid_sync: true,
            tensor_cores: true,
        },
    },
    execution: ExecutionRequest {
        footprint: Footprint {
            nodes: 1_000,
            edges: 4_000,
            bytes_per_node: 8,
            bytes_per_edge: 4,
            frontier_bytes: 125,
            scratch_bytes: 6_000,
            output_bytes: 4_000,
            budget_bytes: 48_000,
        },
        dispatch_cost_ns: 40_000,
        frontier_density: Ppm(750_000),
        readback_bytes: 512,
        launch_overhead_ns: 5_000,
        fusion_pressure: Bps(2_000),
    },
    launch: LaunchRequest {
        queue_len: 1_000,
        requested_worker_groups: 0,
        limits: AdapterLimits {
            max_workgroup_size_x: 1_024,
            max_compute_workgroups_per_dimension: 65_535,
            max_compute_invocations_per_workgroup: 1_024,
        },
        requested_hit_capacity: 0,
        expected_hits_per_item: 3,
        hot_opcode_count: 4,
        hot_window_count: 0,
        requeue_count: 0,
        max_priority_age: 0,
        graph_node_count: 1_000,
        graph_edge_count: 4_000,
        frontier_density: Some(Bps(7_500)),
        memory_pressure: None,
        resident_device_bytes: 65_536,
        device_memory_budget_bytes: 1_048_576,
    },
    session: SessionProfile {
        graph_layout_hash: 0x5ea_3a11,
        graph_bytes: 24_000,
        run_count: 100,
        per_run_frontier_bytes: 125,
        reusable_scratch_bytes: 12_000,
        per_run_output_bytes: 4_000,
        budget_bytes: 65_536,
        readback: ReadbackPolicy::FinalOnly,
    },
    convergence: ConvergenceRequest {
        max_device_iterations: 64,
        changed_flag_bytes: 4,
        requested_host_iteration_polls: 0,
    },
};

/// Numbers for the parts that calculate with floating point.
pub struct Tuning {
    /// Block sizes to choose from.
    pub candidates: [u32; 3],
    /// Cost of each candidate.
    pub costs: [f64; 3],
    /// A preconditioner of two rows.
    pub matrix: [f64; 4],
    /// A gradient.
    pub gradient: [f64; 2],
    /// Offsets of the siblings of three waves.
    pub offsets: [u32; 4],
    /// The siblings.
    pub siblings: [u32; 4],
    /// Rate at which priorities flow or decay.
    pub damping: f64,
    /// Recorded comparisons.
    pub samples: [Sample<'static>; 2],
}

/// Input of tuning and judging. A `static`, so that a microcontroller keeps it in flash.
pub static TUNING: Tuning = Tuning {
    candidates: [64, 128, 256],
    costs: [3.0, 2.5, 2.75],
    matrix: [1.0, 0.0, 0.0, 2.0],
    gradient: [3.0, 4.0],
    offsets: [0, 1, 3, 4],
    siblings: [1, 0, 2, 1],
    damping: 0.125,
    samples: [sample(900_000.0), sample(910_000.0)],
};

const fn sample(host_orchestrated_ns: f64) -> Sample<'static> {
    Sample {
        backend_id: "cuda",
        device_ordinal: 0,
        device_memory_bytes: 1 << 35,
        compute_capability_major: 9,
        compute_capability_minor: 0,
        graph_nodes: 1 << 20,
        graph_edges: 1 << 22,
        repetitions: 100,
        host_orchestrated_ns,
        resident_megakernel_ns: 300_000.0,
        setup_ns: 0.0,
        timed_graph_uploads: 0,
        timed_host_allocations: 0,
        timed_host_syncs: 0,
    }
}

/// A small random generator; its high bits are the good ones.
const fn next(state: u32) -> u32 {
    state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
}

const fn waves() -> [Wave; WAVES] {
    let mut table = [Wave {
        frontier_bytes: 0,
        scratch_bytes: 0,
        output_bytes: 0,
    }; WAVES];
    let (mut state, mut wave) = (1, 0);
    while wave < WAVES {
        state = next(state);
        table[wave] = Wave {
            frontier_bytes: 64 + (state >> 23) as u64,
            scratch_bytes: 32 + (state >> 22 & 0x3ff) as u64,
            output_bytes: 16 + (state >> 21 & 0x7ff) as u64,
        };
        wave += 1;
    }
    table
}

/// A permutation of the ids: 37 is odd.
const fn scattered(position: usize) -> u32 {
    ((position * 37 + 11) % WAVES) as u32
}

const fn dependencies() -> [Dependency; DEPENDENCIES] {
    let mut table = [Dependency {
        before: 0,
        after: 0,
    }; DEPENDENCIES];
    let (mut state, mut index) = (2, 0);
    while index < DEPENDENCIES {
        state = next(state);
        let position = ROW + index % (WAVES - ROW);
        let row = position / ROW * ROW;
        // Dependencies of the first half reach one row back, those of the second half any earlier
        // row.
        let reach = if index < WAVES - ROW { ROW } else { row };
        table[index] = Dependency {
            before: scattered(row - 1 - (state >> 16) as usize % reach),
            after: scattered(position),
        };
        index += 1;
    }
    table
}
