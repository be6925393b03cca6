//! Evidence of a speed-up: a resident kernel against a host that orchestrates, on one machine.
//!
//! Both run the same search of one graph, in pairs, by wall time from the call to its return. The
//! counters come from the runs themselves. The region that they count begins with a run's first
//! launch and ends with the event after its last one. `seawall_core::evidence` judges the samples.

use crate::Cause;
use crate::analysis::{AnalysisKind, Question, build, oracle};
use crate::backend::{self, BackendError, DeviceInfo, HostWork, Session, Settings};
use crate::column::Column;
use crate::executor::{Executor, Machine};
use crate::graph::Graph;
use crate::program::{EncodedProgram, PlanRequest, ProgramError, RegisterId};
use crate::units::elapsed_ns;
use seawall_core::evidence::BACKEND;
pub use seawall_core::evidence::Sample;
pub use seawall_core::session::ReuseTelemetry;
use seawall_core::session::{ReadbackPolicy, SessionError, SessionProfile};
use serde::Serialize;
use std::num::NonZeroU32;
use std::time::Instant;

/// Methods of a host to orchestrate a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Orchestration {
    /// It uploads the graph, launches and reads memory back, wave by wave.
    #[serde(rename = "naive")]
    Baseline,
    /// It launches each wave on the resident graph and reads back whether the loop continues.
    Launches,
    /// It launches a CUDA graph on the resident graph.
    Graph,
}

/// A measurement to make.
#[derive(Clone, Copy)]
pub struct EvidenceRequest<'a> {
    /// Machine of both; `mega` is the resident executor of a GPU.
    pub machine: Machine,
    /// Settings of a GPU's sessions.
    pub settings: Settings,
    /// Host that the resident kernel is compared with.
    pub against: Orchestration,
    /// Runs of each.
    pub repetitions: NonZeroU32,
    /// Number of host allocations of this process so far.
    pub allocations: &'a dyn Fn() -> u64,
}

/// One measured comparison.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Measurement {
    /// The machine.
    pub device: DeviceInfo,
    /// Number of the GPU; 0 for the CPU.
    pub ordinal: u32,
    /// Nodes of the graph.
    pub nodes: u32,
    /// Directed edges of the graph.
    pub edges: u32,
    /// Runs of each side.
    pub repetitions: u32,
    /// All runs of the host's side, nanoseconds of wall time.
    pub host_ns: u64,
    /// All runs of the resident side, nanoseconds of wall time.
    pub resident_ns: u64,
    /// Opening the resident side, the upload and the load of its program, nanoseconds.
    pub setup_ns: u64,
    /// Work of the host in the regions of the resident runs.
    pub region: HostWork,
    /// Host allocations during the resident runs.
    pub allocations: u64,
    /// Uploads of the graph by the resident side that the planner expects.
    pub planned_reuse: ReuseTelemetry,
    /// The same, as counted by the runs.
    pub reuse: ReuseTelemetry,
}

/// A comparison could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvidenceError {
    /// The graph has no node.
    #[error("the graph has no node to search from; take a larger one")]
    NoNode,
    /// The CPU has no such orchestration.
    #[error("the CPU has no {against:?} orchestration; compare with the baseline one")]
    NotOnCpu {
        /// The requested orchestration.
        against: Orchestration,
    },
    /// The executor keeps no kernel resident, so its samples would prove nothing.
    #[error("the executor {executor} is not a resident kernel; take mega, or cpu to try")]
    NotResident {
        /// The executor.
        executor: Executor,
    },
    /// Allocations are not counted, so a measurement would prove nothing.
    #[error("this process does not count its allocations; install the counting allocator")]
    NotCounted,
    /// A side found wrong levels.
    #[error("the {side} found wrong levels; nothing can be proved by it")]
    Differs {
        /// The side.
        side: &'static str,
    },
    /// The resident session could not be planned.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The program could not be planned.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The machine failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

impl EvidenceError {
    /// Returns the cause: the request or the machine.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self {
            Self::NotCounted | Self::Differs { .. } => Cause::Failure,
            Self::Backend(error) => error.cause(),
            _ => Cause::Request,
        }
    }
}

impl Measurement {
    /// Returns the sample for the gate.
    #[must_use]
    pub fn sample(&self) -> Sample<'static> {
        let capability = self.device.compute_capability;
        let (compute_capability_major, compute_capability_minor) = capability.unwrap_or_default();
        Sample {
            backend_id: if capability.is_some() { BACKEND } else { "cpu" },
            device_ordinal: u64::from(self.ordinal),
            device_memory_bytes: self.device.memory_bytes,
            compute_capability_major,
            compute_capability_minor,
            graph_nodes: u64::from(self.nodes),
            graph_edges: u64::from(self.edges),
            repetitions: u64::from(self.repetitions),
            host_orchestrated_ns: self.host_ns as f64,
            resident_megakernel_ns: self.resident_ns as f64,
            setup_ns: self.setup_ns as f64,
            timed_graph_uploads: self.region.uploads,
            timed_host_allocations: self.allocations,
            timed_host_syncs: self.region.host_synchronisations,
        }
    }
}

/// Opens both sides on `graph` and measures them, from the node with most edges.
///
/// # Errors
/// [`EvidenceError`] if a side cannot run, or finds wrong levels.
pub fn measure(graph: &Graph, request: &EvidenceRequest<'_>) -> Result<Measurement, EvidenceError> {
    let machine = &request.machine;
    let executor = machine.executor.unwrap_or(Executor::Mega);
    if matches!(executor, Executor::Launches | Executor::Graph) {
        return Err(EvidenceError::NotResident { executor });
    }
    let job = Job::of(graph)?;
    let mut host = open_host(graph, executor, request)?;
    host.load(&job.program)?;
    let start = Instant::now();
    let mut resident = backend::open(graph, executor, (machine, request.settings))?;
    resident.load(&job.program)?;
    let setup_ns = elapsed_ns(start);
    let measured = job.measure([host.as_mut(), resident.as_mut()], request)?;
    Ok(Measurement {
        setup_ns,
        ordinal: machine.device,
        ..measured
    })
}

/// Measures two open sessions on `graph`, the host's and the resident one; `setup_ns` is 0.
///
/// # Errors
/// As for [`measure`].
pub fn compare(
    graph: &Graph,
    sides: [&mut dyn Session; 2],
    request: &EvidenceRequest<'_>,
) -> Result<Measurement, EvidenceError> {
    let job = Job::of(graph)?;
    let [host, resident] = sides;
    host.load(&job.program)?;
    resident.load(&job.program)?;
    job.measure([host, resident], request)
}

fn open_host<'g>(
    graph: &'g Graph,
    executor: Executor,
    request: &EvidenceRequest<'_>,
) -> Result<Box<dyn Session + 'g>, EvidenceError> {
    let machine = Machine {
        executor: Some(executor),
        ..request.machine
    };
    let orchestrator = match request.against {
        Orchestration::Baseline => return Ok(backend::open_baseline(graph, &machine)?),
        against if executor == Executor::Cpu => return Err(EvidenceError::NotOnCpu { against }),
        Orchestration::Launches => Executor::Launches,
        Orchestration::Graph => Executor::Graph,
    };
    Ok(backend::open(
        graph,
        orchestrator,
        (&machine, request.settings),
    )?)
}

/// The search that both sides run.
struct Job<'g> {
    graph: &'g Graph,
    source: u32,
    program: EncodedProgram,
    inputs: Vec<u32>,
    levels: RegisterId,
}

/// Sums over the runs of one side.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    wall_ns: u64,
    region: HostWork,
    allocations: u64,
    /// Runs that uploaded nothing.
    warm: u64,
    cold: u64,
}

impl<'g> Job<'g> {
    /// A search from the node with most edges.
    fn of(graph: &'g Graph) -> Result<Self, EvidenceError> {
        let source = graph.widest_node().ok_or(EvidenceError::NoNode)?;
        let built = build(AnalysisKind::Bfs, graph, &Question::new(vec![source]))?;
        let (program, _) = built.program.encode(&PlanRequest::default())?;
        Ok(Self {
            graph,
            source,
            program,
            inputs: built.inputs,
            levels: built.result,
        })
    }

    /// Runs both sides once uncounted, checks them, and then runs them in pairs with alternating
    /// order.
    fn measure(
        &self,
        [host, resident]: [&mut dyn Session; 2],
        request: &EvidenceRequest<'_>,
    ) -> Result<Measurement, EvidenceError> {
        is_counting(request.allocations)?;
        let planned = self.session(request).plan()?;
        self.check("host", host)?;
        self.check("resident kernel", resident)?;
        let (mut of_host, mut of_resident) = (Sums::default(), Sums::default());
        for pair in 0..request.repetitions.get() {
            let mut first = [
                (&mut *host, &mut of_host),
                (&mut *resident, &mut of_resident),
            ];
            first.rotate_left(pair as usize % 2);
            for (session, sums) in first {
                self.run(session, sums, request)?;
            }
        }
        Ok(Measurement {
            device: resident.device().clone(),
            ordinal: 0,
            nodes: self.graph.nodes(),
            edges: self.graph.edges(),
            repetitions: request.repetitions.get(),
            host_ns: of_host.wall_ns,
            resident_ns: of_resident.wall_ns,
            setup_ns: 0,
            region: of_resident.region,
            allocations: of_resident.allocations,
            planned_reuse: planned.graph_reuse,
            reuse: of_resident.reuse(planned.one_time_graph_upload_bytes),
        })
    }

    fn run(
        &self,
        session: &mut dyn Session,
        sums: &mut Sums,
        request: &EvidenceRequest<'_>,
    ) -> Result<(), BackendError> {
        let (before, start) = ((request.allocations)(), Instant::now());
        let stats = session.run(&self.inputs)?;
        let (wall_ns, after) = (elapsed_ns(start), (request.allocations)());
        sums.wall_ns = sums.wall_ns.saturating_add(wall_ns);
        sums.allocations = sums.allocations.saturating_add(after.wrapping_sub(before));
        sums.region = sums.region.and(stats.region);
        if stats.region.uploads == 0 {
            sums.warm = sums.warm.saturating_add(1);
        } else {
            sums.cold = sums.cold.saturating_add(1);
        }
        Ok(())
    }

    /// The resident session as the planner sees it.
    fn session(&self, request: &EvidenceRequest<'_>) -> SessionProfile {
        let words = |words: &[u32]| size_of_val(words) as u64;
        SessionProfile {
            graph_layout_hash: self.graph.layout_hash().max(1),
            graph_bytes: words(self.graph.offsets()).saturating_add(words(self.graph.targets())),
            run_count: u64::from(request.repetitions.get()),
            per_run_frontier_bytes: self.program.input_bytes,
            reusable_scratch_bytes: self.program.arena_bytes,
            per_run_output_bytes: 4 * u64::from(self.graph.nodes()),
            budget_bytes: request.machine.budget_bytes.unwrap_or(u64::MAX),
            readback: ReadbackPolicy::FinalOnly,
        }
    }

    fn check(&self, side: &'static str, session: &mut dyn Session) -> Result<(), EvidenceError> {
        session.run(&self.inputs)?;
        let mut words = Vec::new();
        session.read(self.levels, &mut words)?;
        let expected = oracle::levels(self.graph, &[self.source], Question::UNLIMITED);
        if Column::U32(words) == Column::U32(expected) {
            Ok(())
        } else {
            Err(EvidenceError::Differs { side })
        }
    }
}

impl Sums {
    /// Uploads of a graph of `bytes` bytes: one before the first run, and those of the runs. The
    /// first run uses the one before it.
    fn reuse(&self, bytes: u64) -> ReuseTelemetry {
        let cold_uploads = self.cold.saturating_add(1);
        let warm_reuses = self.warm.saturating_sub(1);
        ReuseTelemetry {
            cold_uploads,
            warm_reuses,
            upload_bytes: cold_uploads.saturating_mul(bytes),
            avoided_upload_bytes: warm_reuses.saturating_mul(bytes),
        }
    }
}

/// Refuses a counter that does not move.
fn is_counting(allocations: &dyn Fn() -> u64) -> Result<(), EvidenceError> {
    let before = allocations();
    drop(std::hint::black_box(Box::new(before)));
    if allocations() == before {
        return Err(EvidenceError::NotCounted);
    }
    Ok(())
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
