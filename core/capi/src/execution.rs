//! A plan from end to end for C.

use core::ptr;

use seawall_core::cache::{AnalysisKind, DeviceKey, Identity, Subject};
use seawall_core::launch::{self, AdapterLimits, LaunchPolicy};
use seawall_core::plan;
use seawall_core::plan::execution::{Chooser, Dispatch, Leeway, Request};
use seawall_core::ratio::{Bps, Ppm};
use seawall_core::topology::{self, Topology, TopologyPolicy};

use crate::buffers::{Buffers, record, writable};
use crate::entry::{arena_options, as_groups, as_offsets, finish, program, refusal, strategy};
use crate::records::{Arena, ArenaOptions, Budget, Dag, Groups, Offsets};
use crate::status::{Failure, Problem, Status};

/// Measured figures of a step; 0 for each that is unknown.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Signals {
    /// Nodes of the graph.
    pub nodes: u64,
    /// Directed edges of the graph.
    pub edges: u64,
    /// Bytes that one step would read back.
    pub readback_bytes: u64,
    /// Nanoseconds that the work of one dispatch takes.
    pub dispatch_cost_ns: u64,
    /// Nanoseconds that one launch costs.
    pub launch_overhead_ns: u64,
    /// Active nodes over all nodes in parts per million; more than one counts as one.
    pub frontier_density_ppm: u32,
    /// Share of the work that could be fused in basis points; more than one counts as one.
    pub fusion_pressure_bps: u32,
}

/// A dispatch to size. Its pressure, resident bytes and budget are those of the plan.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct LaunchRequest {
    /// Items in the queue.
    pub queue_len: u32,
    /// Requested worker groups; 0 derives them from the limits.
    pub requested_worker_groups: u32,
    /// Most lanes of a group along its first dimension.
    pub max_workgroup_size_x: u32,
    /// Most groups along one dimension of the grid.
    pub max_compute_workgroups_per_dimension: u32,
    /// Most lanes of a group in all.
    pub max_compute_invocations_per_workgroup: u32,
    /// Requested hit capacity; 0 derives it from the queue.
    pub requested_hit_capacity: u32,
    /// Hits expected of one item; 0 counts as 1.
    pub expected_hits_per_item: u32,
    /// Launches that the oldest priority item has waited for.
    pub max_priority_age: u32,
    /// Items that were requeued since the last launch.
    pub requeue_count: u64,
}

/// A program with all that its plan depends on.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ExecutionRequest {
    /// The waves and their order.
    pub dag: Dag,
    /// Bytes that may be used.
    pub budget: Budget,
    /// The way in which regions are laid out.
    pub arena: ArenaOptions,
    /// Alignment to fall back to where the arena does not fit; 0 keeps the one asked for.
    pub least_alignment_bytes: u64,
    /// One of `SeawallStrategy`.
    pub strategy: u32,
    /// Not 0 where results may be read right after their group and give up their memory then.
    pub early_results: u32,
    /// Not 0 where smaller groups may not take the place of those of the strategy.
    pub fixed_groups: u32,
    /// Not 0 where all blocks of a grid can meet, so that steps can be fused.
    pub grid_sync: u32,
    /// The topology that ran last, one of `SeawallExecutionTopology`; any other number for none.
    pub previous: u32,
    /// Measured figures of a step.
    pub signals: Signals,
    /// The dispatch to size; null for none.
    pub launch: *const LaunchRequest,
}

/// The way in which the lanes of the grid cover a frontier.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionTopology {
    /// One warp per active node.
    WarpSparse = 0,
    /// A queue of active nodes; needs the least memory.
    Sparse = 1,
    /// Queue and bitmap side by side.
    Hybrid = 2,
    /// A sweep over all nodes.
    Dense = 3,
    /// A sweep in blocks that share their staging memory.
    BlockDense = 4,
    /// Several steps fused into one.
    Fused = 5,
}

const _: () = {
    assert!(ExecutionTopology::WarpSparse as u32 == Topology::WarpSparse as u32);
    assert!(ExecutionTopology::Sparse as u32 == Topology::Sparse as u32);
    assert!(ExecutionTopology::Hybrid as u32 == Topology::Hybrid as u32);
    assert!(ExecutionTopology::Dense as u32 == Topology::Dense as u32);
    assert!(ExecutionTopology::BlockDense as u32 == Topology::BlockDense as u32);
    assert!(ExecutionTopology::Fused as u32 == Topology::Fused as u32);
};

/// The sizes of a dispatch.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Resident bytes and the hit buffer's.
    pub estimated_peak_bytes: u64,
    /// Entries of the hit buffer.
    pub hit_capacity: u32,
    /// Worker groups; an upper bound of `grid_groups`.
    pub worker_groups: u32,
    /// Lanes of one group.
    pub lanes_per_group: u32,
    /// Items rounded up to whole groups.
    pub slot_count: u32,
    /// Groups to launch.
    pub grid_groups: u32,
    /// Not 0 where hot opcodes run fused.
    pub fused: u32,
}

/// A program planned from end to end; its tables lie in the caller's buffers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Execution {
    /// The groups.
    pub groups: Groups,
    /// The arena.
    pub arena: Arena,
    /// The alignment of its offsets.
    pub alignment_bytes: u64,
    /// Total bytes required.
    pub required_bytes: u64,
    /// Bytes of scratch of the group that needs most, under the topology to run.
    pub scratch_bytes: u64,
    /// Required over budgeted bytes in basis points.
    pub pressure_bps: u32,
    /// The topology to run, one of `SeawallExecutionTopology`.
    pub topology: u32,
    /// The topology that was wanted; another one where it does not fit.
    pub wanted: u32,
    /// The rule that decided, by its number.
    pub reason: u32,
    /// 0 where each result has to be read right after its group.
    pub results_stay: u32,
    /// The sizes of the dispatch; all 0 where none was asked for.
    pub launch: Launch,
}

/// Plans a program from end to end: groups, arena, topology, memory and launch. Any budget that is
/// too small for them is refused with the least one that works.
///
/// `offsets` takes one record per wave; `problem` may be null.
///
/// # Safety
///
/// As for `seawall_plan`; the launch of the request is null or points to a valid record.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seawall_plan_execution(
    request: *const ExecutionRequest,
    buffers: *const Buffers,
    execution: *mut Execution,
    offsets: *mut Offsets,
    problem: *mut Problem,
) -> Status {
    // SAFETY: the caller vouches for all pointers.
    let outcome = unsafe { plan_execution(request, buffers, execution, offsets) };
    // SAFETY: as above.
    unsafe { finish(outcome, problem) }
}

/// # Safety
///
/// As for [`seawall_plan_execution`].
unsafe fn plan_execution(
    request: *const ExecutionRequest,
    buffers: *const Buffers,
    execution: *mut Execution,
    offsets: *mut Offsets,
) -> Result<(), Failure> {
    writable(execution)?;
    // SAFETY: the caller vouches for the record.
    let asked = unsafe { record(request) }?;
    // SAFETY: the caller vouches for the program, the words and the launch.
    let request = unsafe { translated(&asked) }?;
    if !request.dag.waves.is_empty() {
        writable(offsets)?;
    }
    // SAFETY: the caller vouches for the record.
    let buffers = unsafe { record(buffers) }?;
    // SAFETY: the caller vouches for the buffers, which do not overlap.
    let scratch = unsafe { buffers.execution()? };
    let mut subject = subject(&asked);
    let chooser = Chooser::plain(&TopologyPolicy::DEFAULT, &mut subject);
    let plan = match plan::execution(&request, chooser, scratch) {
        Ok(plan) => plan,
        Err(error) => {
            return Err(refusal(error, request.budget.budget_bytes, || {
                // SAFETY: the caller vouches for the buffers, whose first use has ended.
                let scratch = unsafe { buffers.execution()? };
                Ok(plan::execution::least_budget(&request, scratch)?)
            }));
        }
    };
    // SAFETY: checked above; the caller vouches for the space, one record of offsets per wave.
    unsafe {
        for (wave, at) in plan.arena.iter().enumerate() {
            ptr::write(offsets.wrapping_add(wave), as_offsets(at));
        }
        execution.write(as_record(&plan));
    }
    Ok(())
}

/// # Safety
///
/// The program, the words of the arena and the launch are valid.
pub(crate) unsafe fn translated<'a>(asked: &ExecutionRequest) -> Result<Request<'a>, Status> {
    let dispatch = if asked.launch.is_null() {
        None
    } else {
        // SAFETY: the caller vouches for the record.
        let launch = unsafe { record(asked.launch) }?;
        Some(Dispatch {
            policy: &LaunchPolicy::STANDARD,
            request: launch.request(&asked.signals),
        })
    };
    // SAFETY: the caller vouches for the program.
    let dag = unsafe { program(&raw const asked.dag) }?;
    Ok(Request {
        strategy: strategy(asked.strategy)?,
        // SAFETY: the caller vouches for the words.
        arena: unsafe { arena_options(&asked.arena) }?,
        leeway: Leeway {
            least_alignment_bytes: asked.least_alignment_bytes,
            early_results: asked.early_results != 0,
            fixed_groups: asked.fixed_groups != 0,
        },
        signals: asked.signals.translated(),
        dispatch,
        ..Request::new(dag, asked.budget.into())
    })
}

pub(crate) fn subject(asked: &ExecutionRequest) -> Subject {
    let mut subject = Subject::new(Identity {
        graph_layout_hash: 0,
        analysis: AnalysisKind::Custom(0),
        device: DeviceKey {
            grid_sync: asked.grid_sync != 0,
            ..DeviceKey::default()
        },
    });
    if let Some(previous) = Topology::from_u32(asked.previous) {
        subject.record(previous);
    }
    subject
}

impl Signals {
    fn translated(&self) -> topology::Signals {
        topology::Signals {
            nodes: self.nodes,
            edges: self.edges,
            readback_bytes: self.readback_bytes,
            dispatch_cost_ns: self.dispatch_cost_ns,
            launch_overhead_ns: self.launch_overhead_ns,
            frontier_density: Ppm(self.frontier_density_ppm.min(Ppm::ONE.0)),
            fusion_pressure: Bps(self.fusion_pressure_bps).clamped(),
            ..topology::Signals::default()
        }
    }
}

impl LaunchRequest {
    fn request(&self, signals: &Signals) -> launch::LaunchRequest {
        let count = |of: u64| u32::try_from(of).unwrap_or(u32::MAX);
        launch::LaunchRequest {
            queue_len: self.queue_len,
            requested_worker_groups: self.requested_worker_groups,
            limits: AdapterLimits {
                max_workgroup_size_x: self.max_workgroup_size_x,
                max_compute_workgroups_per_dimension: self.max_compute_workgroups_per_dimension,
                max_compute_invocations_per_workgroup: self.max_compute_invocations_per_workgroup,
            },
            requested_hit_capacity: self.requested_hit_capacity,
            expected_hits_per_item: self.expected_hits_per_item,
            requeue_count: self.requeue_count,
            max_priority_age: self.max_priority_age,
            graph_node_count: count(signals.nodes),
            graph_edge_count: count(signals.edges),
            ..launch::LaunchRequest::default()
        }
    }
}

pub(crate) fn as_record(plan: &plan::Execution<'_>) -> Execution {
    Execution {
        groups: as_groups(&plan.groups),
        arena: Arena {
            bytes: plan.arena.bytes(),
            lower_bound: plan.arena.lower_bound(),
        },
        alignment_bytes: plan.arena.alignment_bytes(),
        required_bytes: plan.required_bytes,
        scratch_bytes: plan.memory.scratch_bytes,
        pressure_bps: plan.pressure_bps,
        topology: plan.memory.topology as u32,
        wanted: plan.decision.topology as u32,
        reason: plan.decision.reason as u32,
        results_stay: u32::from(plan.results_stay),
        launch: plan.launch.as_ref().map_or_else(Launch::default, as_launch),
    }
}

fn as_launch(plan: &launch::LaunchPlan) -> Launch {
    Launch {
        estimated_peak_bytes: plan.estimated_peak_bytes,
        hit_capacity: plan.hit_capacity,
        worker_groups: plan.worker_groups,
        lanes_per_group: plan.lanes_per_group,
        slot_count: plan.slot_count,
        grid_groups: plan.grid_groups,
        fused: u32::from(plan.mode == launch::LaunchMode::Fused),
    }
}
