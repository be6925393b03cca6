//! Inputs of the choice of a machine: costs, devices, jobs.

use crate::backend::STATE_BYTES;
use crate::backend::cpu::threads_or_all;
use crate::backend::cuda::DeviceLimits;
use crate::backend::{BackendError, cuda};
use crate::calibrate::sample::sample;
use crate::calibrate::{Calibration, Key};
use crate::cost::{CLASSES, Costs, Job, MachineCosts, Tally, Worker};
use crate::executor::Executor;
use crate::graph::Graph;
use crate::run::RunRequest;
use std::sync::OnceLock;

/// The calibration, or the reason why an existing one is not used.
pub(crate) struct LoadedCalibration {
    pub(crate) calibration: Calibration,
    ignored: Option<String>,
}

impl LoadedCalibration {
    /// Returns the user's calibration, read once per process: finding the file takes longer than a
    /// small job.
    pub(crate) fn get() -> &'static Self {
        static FOUND: OnceLock<LoadedCalibration> = OnceLock::new();
        FOUND.get_or_init(Self::load)
    }

    fn load() -> Self {
        let found = Calibration::load();
        Self {
            ignored: found.as_ref().err().map(ToString::to_string),
            calibration: found.ok().flatten().unwrap_or_default(),
        }
    }

    /// Adds to `reason` that a calibration was not used.
    pub(crate) fn with_note(&self, reason: String) -> String {
        match &self.ignored {
            Some(why) => format!("{reason}; the calibration was ignored: {why}"),
            None => reason,
        }
    }

    /// Returns the costs of the threads that `request` may use, and of a GPU.
    pub(crate) fn costs(&self, request: &RunRequest, device: Option<&Key>) -> Costs {
        let threads = threads_or_all(request.machine.threads);
        self.calibration.costs(threads, device)
    }
}

/// Returns the limits of the GPU with that number.
pub(crate) fn limits_of(ordinal: u32) -> Result<DeviceLimits, BackendError> {
    let devices = cuda::probe()?;
    let visible = devices.len();
    let limits = devices.into_iter().find(|limits| limits.ordinal == ordinal);
    limits.ok_or_else(|| BackendError::Unavailable {
        reason: format!("there is no device {ordinal}; {visible} are visible, numbered from 0"),
    })
}

/// Returns the worker that runs `request` on `executor` with `units` threads or multiprocessors.
pub(crate) fn worker(request: &RunRequest, executor: Executor, units: u32, job: &Job) -> Worker {
    let found = LoadedCalibration::get();
    if executor.is_on_gpu() {
        let limits = limits_of(request.machine.device);
        let key = limits.ok().map(|limits| Key::of_device(&limits));
        return Worker::that_hides_misses(found.costs(request, key.as_ref()).gpu.run);
    }
    let costs = found.costs(request, None).cpu;
    if units == 1 {
        return Worker::thread(costs.one, job.graph_bytes());
    }
    Worker::threads(&costs, job.graph_bytes())
}

/// Cost of a step of a search, as its policy estimates it on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepCosts {
    /// The step without its edges, nanoseconds.
    pub(crate) step_ns: u32,
    /// An edge of a wide step, picoseconds.
    pub(crate) edge_ps: u32,
    /// Bytes that the host reads back after the step.
    pub(crate) readback_bytes: u32,
}

impl StepCosts {
    /// The costs on `executor`; `is_alone` means one CPU thread.
    pub(crate) fn of(costs: &Costs, executor: Executor, is_alone: bool) -> Self {
        let cpu = if is_alone {
            costs.cpu.one
        } else {
            costs.cpu.all
        };
        let gpu = &costs.gpu;
        let wide = |machine: &MachineCosts| machine.levels[CLASSES - 1].level_ns;
        let (step_ns, edge_ns) = match executor {
            Executor::Cpu => (wide(&cpu), cpu.edge_ns),
            Executor::Mega => (wide(&gpu.run), gpu.run.edge_ns),
            Executor::Launches => (gpu.readback_ns, gpu.run.edge_ns),
            Executor::Graph => (gpu.graph_node_ns, gpu.run.edge_ns),
        };
        Self {
            step_ns: step_ns as u32,
            edge_ps: (edge_ns * 1e3) as u32,
            readback_bytes: match executor {
                Executor::Launches => STATE_BYTES,
                Executor::Cpu | Executor::Graph | Executor::Mega => 0,
            },
        }
    }
}

/// Returns the request as a job; a search or a ranking is sampled for `edges` edges.
pub(crate) fn job(graph: &Graph, request: &RunRequest, edges: u64) -> Job {
    let analysis = request.analysis.definition();
    let facts = analysis.facts();
    let limit = request.max_iterations.map(|limit| f64::from(limit.get()));
    let rounds = analysis
        .rounds_sampled(graph, request.ranking, edges)
        .unwrap_or_else(|| analysis.rounds_predicted(request.ranking));
    Job {
        nodes: f64::from(graph.nodes()),
        edges: f64::from(graph.edges()),
        weighted: request.reads_weights() || request.weighted && graph.steering_weights().is_some(),
        can_pull: graph.is_symmetric(),
        tally: if facts.takes_sources {
            sample(graph, &request.sources, edges)
        } else {
            Tally::default()
        },
        sources: request.sources().len() as f64,
        rounds: rounds.clamp(1.0, limit.unwrap_or(f64::INFINITY)),
        repeat: f64::from(request.repeat.get()),
    }
}
