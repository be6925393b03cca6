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
use seawall_core::evidence::{BACKEND, Sample};
use serde::Serialize;
use std::num::NonZeroU32;
use std::time::Instant;

/// Ways in which a host orchestrates a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Orchestration {
    /// It uploads the graph, launches and reads memory back, wave by wave.
    Naive,
    /// It launches each wave on the resident graph and reads back whether the loop goes on.
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
}

/// A comparison could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvidenceError {
    /// The graph has no node.
    #[error("the graph has no node to search from; take a larger one")]
    NoNode,
    /// The CPU has no such orchestration.
    #[error("the CPU has no {against:?} orchestration; compare with the naive one")]
    NotOnCpu {
        /// The requested orchestration.
        against: Orchestration,
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
            Self::NoNode | Self::NotOnCpu { .. } | Self::Program(_) => Cause::Request,
            Self::NotCounted | Self::Differs { .. } => Cause::Failure,
            Self::Backend(error) => error.cause(),
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
    let job = Job::of(graph)?;
    let mut host = open_host(graph, (executor, request))?;
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
    (executor, request): (Executor, &EvidenceRequest<'_>),
) -> Result<Box<dyn Session + 'g>, EvidenceError> {
    let machine = Machine {
        executor: Some(executor),
        ..request.machine
    };
    let orchestrator = match request.against {
        Orchestration::Naive => return Ok(backend::open_naive(graph, &machine)?),
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
}

impl<'g> Job<'g> {
    /// A search from the node with most edges.
    fn of(graph: &'g Graph) -> Result<Self, EvidenceError> {
        let rows = (0..graph.nodes()).zip(graph.offsets().windows(2));
        let widest = rows.max_by_key(|(node, row)| (row[1] - row[0], std::cmp::Reverse(*node)));
        let (source, _) = widest.ok_or(EvidenceError::NoNode)?;
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

    /// Runs both sides once uncounted, checks them, and then runs them in pairs, in turn first.
    fn measure(
        &self,
        [host, resident]: [&mut dyn Session; 2],
        request: &EvidenceRequest<'_>,
    ) -> Result<Measurement, EvidenceError> {
        is_counting(request.allocations)?;
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
        Ok(())
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

/// Refuses a counter that does not move.
fn is_counting(allocations: &dyn Fn() -> u64) -> Result<(), EvidenceError> {
    let before = allocations();
    drop(std::hint::black_box(Box::new(before)));
    if allocations() == before {
        return Err(EvidenceError::NotCounted);
    }
    Ok(())
}

fn elapsed_ns(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{LoadOptions, load};
    use seawall_core::evidence::{EvidenceError as Refusal, verify};
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A counter that moves once, as if nothing but the probe allocated.
    fn probed() -> impl Fn() -> u64 {
        let calls = AtomicU64::new(0);
        move || calls.fetch_add(1, Ordering::Relaxed).min(1)
    }

    fn request<'a>(
        against: Orchestration,
        allocations: &'a dyn Fn() -> u64,
    ) -> EvidenceRequest<'a> {
        EvidenceRequest {
            machine: Machine::cpu(None),
            settings: Settings::default(),
            against,
            repetitions: NonZeroU32::new(64).unwrap(),
            allocations,
        }
    }

    fn graph(name: &str) -> Graph {
        load(name, &LoadOptions::default(), None).unwrap().graph
    }

    /// The sample of a comparison, as if of a device that evidence may come from.
    fn as_of_a_gpu(measured: &Measurement) -> Sample<'static> {
        let sample = measured.sample();
        assert_eq!(sample.backend_id, "cpu");
        Sample {
            backend_id: BACKEND,
            device_memory_bytes: 1 << 36,
            compute_capability_major: 9,
            graph_nodes: sample.graph_nodes.max(10_000),
            graph_edges: sample.graph_edges.max(80_000),
            ..sample
        }
    }

    #[test]
    fn a_resident_run_that_uploads_nothing_is_accepted() {
        let graphs = ["gen:grid:8", "gen:grid:9"].map(graph);
        let samples = graphs.each_ref().map(|graph| {
            let measured = measure(graph, &request(Orchestration::Naive, &probed())).unwrap();
            assert_eq!(
                (measured.repetitions, measured.region),
                (64, HostWork::default())
            );
            assert!(measured.setup_ns > 0 && measured.host_ns > 0);
            as_of_a_gpu(&measured)
        });
        let proof = verify(&samples, 1e-9).unwrap();
        assert_eq!((proof.sample_count, proof.total_repetitions), (2, 128));
    }

    #[test]
    fn an_upload_in_the_region_of_the_resident_runs_is_refused() {
        let graph = graph("gen:grid:8");
        let machine = Machine::cpu(None);
        let mut host = backend::open_naive(&graph, &machine).unwrap();
        // A naive host in the place of the resident kernel uploads before every wave.
        let mut resident = backend::open_naive(&graph, &machine).unwrap();
        let sides: [&mut dyn Session; 2] = [host.as_mut(), resident.as_mut()];
        let allocations = probed();
        let asked = request(Orchestration::Naive, &allocations);
        let sample = as_of_a_gpu(&compare(&graph, sides, &asked).unwrap());
        assert!(sample.timed_graph_uploads >= 64 * 15, "{sample:?}");
        let refused = verify(&[sample; 2], 1e-9).unwrap_err();
        assert!(
            matches!(refused, Refusal::PollutedTimedRegion { .. }),
            "{refused}"
        );
    }

    #[test]
    fn allocations_of_resident_runs_are_counted_and_must_be() {
        let graph = graph("gen:grid:8");
        let calls = AtomicU64::new(0);
        let busy = || calls.fetch_add(1, Ordering::Relaxed);
        let asked = request(Orchestration::Naive, &busy);
        let measured = measure(&graph, &asked).unwrap();
        assert_eq!(measured.allocations, 64);
        let idle = || 7;
        let error = measure(&graph, &request(Orchestration::Naive, &idle)).unwrap_err();
        assert!(matches!(error, EvidenceError::NotCounted), "{error}");
    }

    #[test]
    fn orchestrations_of_a_gpu_and_empty_graphs_are_refused() {
        let small = graph("gen:grid:2");
        for against in [Orchestration::Launches, Orchestration::Graph] {
            let error = measure(&small, &request(against, &probed())).unwrap_err();
            assert!(matches!(error, EvidenceError::NotOnCpu { .. }), "{error}");
        }
        let empty = Graph::from_edges(0, &[], false).unwrap();
        let error = measure(&empty, &request(Orchestration::Naive, &probed())).unwrap_err();
        assert!(matches!(error, EvidenceError::NoNode), "{error}");
    }
}
