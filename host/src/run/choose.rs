//! Choice of the machine of a run, with its reason.
//!
//! Costs come from the user's calibration if there is one, else from the defaults. The reason in
//! the report has every number of the decision, and names a calibration that could not be used.

use super::cost_model::{LoadedCalibration, StepCosts, job, limits_of};
use super::{Executor, RunRequest};
use crate::backend::cpu::available_threads;
use crate::backend::cuda::DeviceLimits;
use crate::backend::{BackendError, Settings};
use crate::calibrate::sample::SAMPLE_EDGES;
use crate::calibrate::{
    Candidate, Key, NARROW_NODES_MIN, Prediction, SearchTuning, predict, predict_tiles,
};
use crate::cost::{Costs, Job};
use crate::graph::Graph;
use crate::tiles::TILES_EDGES_MIN;
use seawall_core::abi::search::SearchPolicy;
use std::num::NonZeroUsize;

/// The machine of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// Executor to open; `None` means the GPU, and the CPU if that fails.
    pub(super) executor: Option<Executor>,
    /// CPU threads backend; all by default.
    pub(super) threads: Option<NonZeroUsize>,
    /// Reason, or the better choice.
    pub(super) reason: Option<String>,
    /// Limits of searches within one block, if the GPU's measured costs determine them.
    pub(super) narrow: Option<Narrow>,
    /// Costs of a step of a search on the GPU, if one was searched for.
    pub(super) step: Option<StepCosts>,
    /// Limits of searches, if they were tuned for the machine.
    pub(super) search: Option<SearchTuning>,
    /// Settings of the GPU's session.
    pub(super) settings: Settings,
}

impl Choice {
    /// Returns the same choice for the executor that opened: the CPU if the GPU failed to open.
    pub(super) fn opened(self, executor: Executor) -> Self {
        Self {
            executor: Some(executor),
            step: self.step.filter(|_| executor.is_on_gpu()),
            ..self
        }
    }
}

/// Frontiers that one block searches alone, nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Narrow {
    /// Largest frontier at the start.
    pub(super) enter: u32,
    /// Largest frontier to continue.
    pub(super) leave: u32,
}

/// Function that opens the GPU with a given number.
type Probe<'p> = &'p dyn Fn(u32) -> Result<DeviceLimits, BackendError>;

/// Chooses for `request`. A caller's choice is kept; the reason then names a better one, if any. If
/// the CPU ends the job before a GPU would be open, the function searches for none.
pub(super) fn choose(graph: &Graph, request: &RunRequest) -> Choice {
    choose_with(graph, request, &limits_of)
}

fn choose_with(graph: &Graph, request: &RunRequest, probe: Probe<'_>) -> Choice {
    let asked = Choice {
        executor: request.machine.executor,
        threads: request.machine.threads,
        reason: None,
        narrow: None,
        step: None,
        search: None,
        settings: Settings::default(),
    };
    let found = LoadedCalibration::get();
    let is_for_cpu = request
        .machine
        .executor
        .is_some_and(|asked| !asked.is_on_gpu());
    if is_for_cpu && request.machine.threads.is_some() {
        return asked.tuned_for_threads(found);
    }
    let job = job(graph, request, sample_edges(graph));
    let blind = predicted(&job, request, found.costs(request, None));
    match request.machine.executor {
        Some(_) if is_for_cpu => {
            let threads = threads(request, &blind);
            return Choice { threads, ..asked }.tuned_for_threads(found);
        }
        None if request.is_for_cpu() || request.needs_signed_paths(graph) => {
            let what = match request.is_for_cpu() {
                true => "weights",
                false => "negative weights",
            };
            let reason = format!(
                "no GPU has {} with {what}; {}",
                request.analysis,
                blind.threads_reason()
            );
            return on_cpu(request, &blind, found.with_note(reason)).tuned_for_threads(found);
        }
        None if blind.is_too_small_for_a_gpu() => {
            let reason = found.with_note(blind.small_reason());
            return on_cpu(request, &blind, reason).tuned_for_threads(found);
        }
        _ => {}
    }
    match probe(request.machine.device) {
        Ok(limits) => choose_beside(graph, request, &job, found, &Key::of_device(&limits)),
        Err(error) if request.machine.executor.is_none() => {
            let reason = without_gpu(&error, request, &blind);
            on_cpu(request, &blind, found.with_note(reason)).tuned_for_threads(found)
        }
        Err(_) => asked,
    }
}

/// Edges in the sample of a search: few compared with those of the run, so that the choice takes
/// little time.
pub(super) fn sample_edges(graph: &Graph) -> u64 {
    const LEAST: u64 = 256;
    const SHARE: u64 = 400;
    (u64::from(graph.edges()) / SHARE).clamp(LEAST, SAMPLE_EDGES)
}

/// Chooses between the CPU and the GPU of `key`, or comments on the caller's choice.
fn choose_beside(
    graph: &Graph,
    request: &RunRequest,
    job: &Job,
    found: &LoadedCalibration,
    key: &Key,
) -> Choice {
    let costs = found.costs(request, Some(key));
    let prediction = predicted(job, request, costs);
    let reason = prediction.reason();
    let is_better = prediction.best() == Candidate::Gpu;
    let reason = match (request.machine.executor, is_better) {
        (None, false) => {
            return on_cpu(request, &prediction, found.with_note(reason)).tuned_for_threads(found);
        }
        (None, true) => Some(reason),
        (_, false) => Some(format!("{reason}; auto takes it")),
        (_, true) => None,
    };
    let is_open = request.machine.executor.is_none();
    let no_tiles = is_open
        .then(|| without_tiles(graph, request, job, &costs))
        .flatten();
    let measured = found.calibration.gpu(key);
    let executor = request.machine.executor.unwrap_or(Executor::Mega);
    let tuned = found.calibration.gpu_tuning(key);
    Choice {
        executor: request.machine.executor,
        threads: request.machine.threads,
        step: Some(StepCosts::of(&costs, executor, false)),
        search: tuned.map(|tuned| tuned.search),
        settings: Settings {
            tiles: no_tiles.is_some().then_some(false),
            lane_table: tuned.map(|tuned| tuned.lanes).unwrap_or_default(),
        },
        reason: joined(reason, no_tiles).map(|reason| found.with_note(reason)),
        narrow: measured
            .and_then(|costs| costs.crossing_nodes())
            .map(Narrow::at),
    }
}

/// Returns the CPU with the best number of threads, for `reason`.
pub(super) fn on_cpu(request: &RunRequest, prediction: &Prediction, reason: String) -> Choice {
    Choice {
        executor: Some(Executor::Cpu),
        threads: threads(request, prediction),
        reason: Some(reason),
        narrow: None,
        step: None,
        search: None,
        settings: Settings::default(),
    }
}

impl Choice {
    /// Returns the same choice with the limits that were tuned for its threads.
    fn tuned_for_threads(self, found: &LoadedCalibration) -> Self {
        let threads = self.threads.unwrap_or_else(available_threads).get();
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        let search = found.calibration.cpu_tuning(threads);
        Self { search, ..self }
    }
}

/// Joins two optional reasons.
fn joined(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(format!("{first}; {second}")),
        (first, second) => first.or(second),
    }
}

fn without_gpu(error: &BackendError, request: &RunRequest, prediction: &Prediction) -> String {
    if request.machine.threads.is_some() {
        return error.to_string();
    }
    format!("{error}; {}", prediction.threads_reason())
}

/// Returns the caller's threads, or one if more would only wait at barriers.
fn threads(request: &RunRequest, prediction: &Prediction) -> Option<NonZeroUsize> {
    let narrow = prediction.best_cpu() == Candidate::OneThread;
    request
        .machine
        .threads
        .or(narrow.then_some(NonZeroUsize::MIN))
}

impl Narrow {
    /// Limits for the width at which block and grid cost the same, never wider than the default
    /// ones. A block starts a little below, so that a frontier near the limit does not alternate
    /// between both.
    fn at(crossing: f64) -> Self {
        let default = SearchPolicy::default();
        let enter = ((crossing * 0.875) as u32).min(default.narrow_nodes);
        let enter = enter.max(NARROW_NODES_MIN);
        let leave = (crossing as u32).min(default.narrow_exit_nodes).max(enter);
        Self { enter, leave }
    }
}

/// Returns the forecast of one run of `request` on `graph`, nanoseconds: on the machine that it
/// names, else on the slower one of CPU and GPU, as `auto` may take either. Samples at most a few
/// per cent of the edges.
#[must_use]
pub fn forecast_ns(graph: &Graph, request: &RunRequest) -> f64 {
    let prediction = expected(graph, request);
    match request.machine.executor {
        Some(executor) if executor.is_on_gpu() => prediction.gpu_ns,
        Some(_) => prediction.cpu_ns(),
        None => prediction.cpu_ns().max(prediction.gpu_ns),
    }
}

/// Predicts a single run of `request` on `graph`. Samples at most a few per cent of the edges.
pub(super) fn expected(graph: &Graph, request: &RunRequest) -> Prediction {
    let job = job(graph, request, sample_edges(graph));
    predicted(&job, request, LoadedCalibration::get().costs(request, None))
}

/// Predicts a single run of `job`.
fn predicted(job: &Job, request: &RunRequest, costs: Costs) -> Prediction {
    let Costs { mut cpu, gpu } = costs;
    if request.machine.threads.is_some() {
        cpu.one = cpu.all;
    }
    predict(request.analysis, job, &Costs { cpu, gpu })
}

/// Tells whether tiles are left out, and why: if `job` passes over all edges of a graph that would
/// get them, but too seldom.
fn without_tiles(graph: &Graph, request: &RunRequest, job: &Job, costs: &Costs) -> Option<String> {
    let passes = request.analysis.definition().tiled_passes(job);
    if passes == 0.0 || graph.edges() < TILES_EDGES_MIN {
        return None;
    }
    let threads = u32::try_from(rayon::current_num_threads()).unwrap_or(u32::MAX);
    let tiles = predict_tiles(job, passes, &costs.gpu, threads);
    (!tiles.pays()).then(|| tiles.reason_against())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::AnalysisKind;
    use crate::executor::Machine;

    fn grid() -> Graph {
        let edges: Vec<(u32, u32)> = (0..500).map(|node| (node, node + 1)).collect();
        Graph::from_edges(501, &edges, true).unwrap()
    }

    #[test]
    fn a_small_job_needs_no_look_for_a_gpu() {
        let probes = std::cell::Cell::new(0);
        let probe = |_| {
            probes.set(probes.get() + 1);
            let reason = "a test".to_owned();
            Err(BackendError::Unavailable { reason })
        };
        let choice = |executor, repeat| {
            let machine = Machine {
                executor,
                ..Machine::auto()
            };
            let request = RunRequest {
                machine,
                repeat: std::num::NonZeroU32::new(repeat).unwrap(),
                ..RunRequest::new(AnalysisKind::Bfs, vec![0])
            };
            choose_with(&grid(), &request, &probe)
        };
        let small = choice(None, 1);
        assert_eq!((small.executor, probes.get()), (Some(Executor::Cpu), 0));
        let reason = small.reason.unwrap();
        assert!(reason.contains("no GPU was looked for"), "{reason}");
        let fewest = choice(Some(Executor::Cpu), 1);
        assert_eq!(fewest.threads, Some(NonZeroUsize::MIN));
        assert_eq!(probes.get(), 0);
        // Many runs share the cost of opening it, so that a GPU may pay off.
        let long = choice(None, u32::MAX);
        assert_eq!((long.executor, probes.get()), (Some(Executor::Cpu), 1));
        choice(Some(Executor::Mega), 1);
        assert_eq!(probes.get(), 2);
    }

    #[test]
    fn a_choice_of_the_caller_is_kept() {
        for executor in Executor::ALL {
            let machine = Machine {
                threads: NonZeroUsize::new(3),
                ..Machine::gpu(executor, 0)
            };
            let request = RunRequest::new(AnalysisKind::Bfs, vec![0]).on(machine);
            let choice = choose(&grid(), &request);
            let asked = (machine.executor, machine.threads);
            assert_eq!((choice.executor, choice.threads), asked);
        }
    }

    #[test]
    fn auto_without_that_gpu_takes_the_cpu_with_one_thread_for_a_path() {
        let machine = Machine {
            device: u32::MAX,
            ..Machine::auto()
        };
        let request = RunRequest::new(AnalysisKind::Bfs, vec![0]).on(machine);
        let choice = choose(&grid(), &request);
        assert_eq!(choice.executor, Some(Executor::Cpu));
        assert_eq!(choice.threads, Some(NonZeroUsize::MIN));
        let reason = choice.reason.unwrap();
        assert!(reason.starts_with("one thread is"), "{reason}");
        let request = RunRequest {
            repeat: std::num::NonZeroU32::MAX,
            ..request
        };
        let reason = choose(&grid(), &request).reason.unwrap();
        assert!(reason.starts_with("no usable CUDA device"), "{reason}");
        assert!(reason.contains("one thread is"), "{reason}");
    }

    #[test]
    fn auto_keeps_the_threads_of_the_caller() {
        let machine = Machine {
            device: u32::MAX,
            threads: NonZeroUsize::new(3),
            ..Machine::auto()
        };
        let request = RunRequest::new(AnalysisKind::Bfs, vec![0]).on(machine);
        assert_eq!(choose(&grid(), &request).threads, machine.threads);
    }

    #[test]
    fn limits_of_one_block_stay_between_a_warp_and_the_default() {
        let default = SearchPolicy::default();
        let widest = Narrow {
            enter: default.narrow_nodes,
            leave: default.narrow_exit_nodes,
        };
        assert_eq!(Narrow::at(1e12), widest);
        assert_eq!(
            Narrow::at(0.0),
            Narrow {
                enter: 32,
                leave: 32
            }
        );
        assert_eq!(
            Narrow::at(400.0),
            Narrow {
                enter: 350,
                leave: 400
            }
        );
    }

    #[test]
    fn only_long_rankings_of_large_graphs_get_tiles() {
        let load = |spec| crate::graph::load(spec, &Default::default(), None).unwrap();
        let (large, small) = (load("gen:uniform:16:16").graph, load("gen:grid:9").graph);
        let against = |graph: &Graph, analysis, repeat| {
            let request = RunRequest {
                repeat: std::num::NonZeroU32::new(repeat).unwrap(),
                // Too few for tiles with any number of threads.
                max_iterations: std::num::NonZeroU32::new(1),
                ..RunRequest::new(analysis, Vec::new())
            };
            let costs = Costs {
                cpu: crate::cost::CpuCosts::default_for(16),
                gpu: crate::cost::GpuCosts::default(),
            };
            let job = job(graph, &request, SAMPLE_EDGES);
            without_tiles(graph, &request, &job, &costs)
        };
        let reason = against(&large, AnalysisKind::Pagerank, 1).unwrap();
        assert!(reason.contains("without tiles"), "{reason}");
        assert_eq!(against(&large, AnalysisKind::Pagerank, 1_000_000), None);
        assert_eq!(against(&large, AnalysisKind::Cc, 1), None);
        assert_eq!(against(&small, AnalysisKind::Pagerank, 1), None);
    }

    #[test]
    fn two_reasons_become_one_sentence() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(joined(text("a"), text("b")), text("a; b"));
        assert_eq!(joined(None, text("b")), text("b"));
        assert_eq!(joined(text("a"), None), text("a"));
    }

    /// Single commands on 16 threads of one machine, from the loaded graph to the result: whether
    /// one thread was faster (2026-11-23, medians). Cases closer than a tenth are left out.
    #[test]
    fn small_jobs_get_the_number_of_threads_that_was_faster() {
        use AnalysisKind::{Bfs, Cc, Kcore, Reach, Sssp, Triangles};
        let one_thread = [
            ("gen:grid:64", Bfs),
            ("gen:grid:64", Sssp),
            ("gen:rmat:10:16", Bfs),
            ("gen:uniform:12:8", Bfs),
            ("gen:uniform:12:8", Cc),
            ("gen:rmat:14:16", Bfs),
            ("gen:rmat:14:16", Reach),
            ("gen:uniform:16:8", Bfs),
            ("gen:grid:256", Bfs),
            ("gen:grid:256", Kcore),
        ];
        let all_threads = [
            ("gen:rmat:14:16", Cc),
            ("gen:rmat:14:16", Sssp),
            ("gen:rmat:14:16", Kcore),
            ("gen:uniform:16:8", Cc),
            ("gen:uniform:16:8", Sssp),
            ("gen:grid:256", Sssp),
            ("gen:grid:256", Triangles),
            ("gen:chain:262144", Cc),
        ];
        let costs = Costs {
            cpu: crate::cost::CpuCosts::default_for(16),
            gpu: crate::cost::GpuCosts::default(),
        };
        let best = |name: &str, analysis: AnalysisKind| {
            let graph = crate::graph::load(name, &Default::default(), None)
                .unwrap()
                .graph;
            let busiest = (0..64)
                .max_by_key(|node| (graph.neighbours(*node).len(), std::cmp::Reverse(*node)));
            let sources = busiest.filter(|_| analysis.takes_sources());
            let request = RunRequest::new(analysis, sources.into_iter().collect());
            let job = job(&graph, &request, sample_edges(&graph));
            predicted(&job, &request, costs).best_cpu()
        };
        for (name, analysis) in one_thread {
            assert_eq!(
                best(name, analysis),
                Candidate::OneThread,
                "{analysis} {name}"
            );
        }
        for (name, analysis) in all_threads {
            assert_eq!(
                best(name, analysis),
                Candidate::AllThreads,
                "{analysis} {name}"
            );
        }
    }
}
