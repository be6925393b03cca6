//! Choice of the machine of a run of one graph.

use super::{Executor, RunRequest};
use crate::backend::Settings;
use crate::backend::cpu::prepare_threads;
use crate::calibrate::sample::SAMPLE_EDGES;
use crate::calibrate::{Key, NARROW_NODES_MIN, Prediction, predict, predict_tiles};
use crate::cost::{Costs, Job};
use crate::graph::Graph;
use crate::job::choose::{self, Choice, Narrow, Predict, joined};
use crate::job::cost_model::{LoadedCalibration, StepCosts, job, limits_of};
use crate::tiles::TILES_EDGES_MIN;
use seawall_core::abi::search::SearchPolicy;

/// Prepares everything of `request` that does not depend on its graph: threads, and the costs for
/// `auto`. A command calls it while its graph is read; otherwise the first run does this work. A
/// failure is reported by that run.
pub fn prepare(request: &RunRequest) {
    let asked = request.machine.executor;
    if asked.is_none_or(|executor| !executor.is_on_gpu()) {
        LoadedCalibration::get();
        let _ = prepare_threads(request.machine.threads);
    }
}

struct Single<'a> {
    graph: &'a Graph,
    request: &'a RunRequest,
    job: Job,
}

impl<'a> Single<'a> {
    fn of(graph: &'a Graph, request: &'a RunRequest) -> Self {
        Self {
            graph,
            request,
            job: job(graph, request, sample_edges(graph)),
        }
    }

    /// Reason to leave out tiles: the run passes over all edges of a graph that would get them, but
    /// too seldom.
    fn without_tiles(&self, costs: &Costs) -> Option<String> {
        let passes = self.request.analysis.definition().tiled_passes(&self.job);
        if passes == 0.0 || self.graph.edges() < TILES_EDGES_MIN {
            return None;
        }
        let threads = u32::try_from(rayon::current_num_threads()).unwrap_or(u32::MAX);
        let tiles = predict_tiles(&self.job, passes, &costs.gpu, threads);
        (!tiles.pays()).then(|| tiles.reason_against())
    }
}

impl Predict for Single<'_> {
    type Forecast = Prediction;

    fn predict(&self, costs: &Costs, _units: u32) -> Prediction {
        let Costs { mut cpu, gpu } = *costs;
        if self.request.machine.threads.is_some() {
            cpu.one = cpu.all;
        }
        predict(self.request.analysis, &self.job, &Costs { cpu, gpu })
    }

    fn lacks_gpu(&self) -> Option<&'static str> {
        let is_signed = self.request.needs_signed_paths(self.graph);
        is_signed.then_some("negative weights")
    }

    fn refine(&self, choice: Choice, costs: &Costs, key: &Key) -> Choice {
        let is_open = choice.executor.is_none();
        let no_tiles = is_open.then(|| self.without_tiles(costs)).flatten();
        let calibration = &LoadedCalibration::get().calibration;
        let crossing = calibration.gpu(key).and_then(|gpu| gpu.crossing_nodes());
        let tuned = calibration.gpu_tuning(key);
        let executor = choice.executor.unwrap_or(Executor::Mega);
        Choice {
            step: Some(StepCosts::of(costs, executor, false)),
            search: tuned.map(|tuned| tuned.search),
            settings: Settings {
                tiles: no_tiles.is_some().then_some(false),
                lane_table: tuned.map(|tuned| tuned.lanes).unwrap_or_default(),
            },
            narrow: crossing.map(Narrow::at),
            reason: joined(choice.reason, no_tiles),
            ..choice
        }
    }
}

pub(super) fn choose(graph: &Graph, request: &RunRequest) -> Choice {
    choose::choose(request, || Some(Single::of(graph, request)), limits_of)
}

/// Edges in the sample of a search: few compared with those of the run, so that the choice takes
/// little time.
pub(super) fn sample_edges(graph: &Graph) -> u64 {
    const LEAST: u64 = 256;
    const SHARE: u64 = 400;
    (u64::from(graph.edges()) / SHARE).clamp(LEAST, SAMPLE_EDGES)
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
    Single::of(graph, request).predict(&LoadedCalibration::get().costs(request, None), 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::AnalysisKind;
    use crate::backend::BackendError;
    use crate::calibrate::Candidate;
    use crate::executor::Machine;
    use std::num::NonZeroUsize;

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
            let graph = grid();
            let job = || Some(Single::of(&graph, &request));
            choose::choose(&request, job, probe)
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
            Single::of(graph, &request).without_tiles(&costs)
        };
        let reason = against(&large, AnalysisKind::Pagerank, 1).unwrap();
        assert!(reason.contains("without tiles"), "{reason}");
        assert_eq!(against(&large, AnalysisKind::Pagerank, 1_000_000), None);
        assert_eq!(against(&large, AnalysisKind::Cc, 1), None);
        assert_eq!(against(&small, AnalysisKind::Pagerank, 1), None);
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
            Single::of(&graph, &request).predict(&costs, 1).best_cpu()
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
