//! Limits and lanes that are fastest on this machine, found by trying.
//!
//! Every candidate runs the same small jobs in turn, several times, and its fastest run counts.
//! The planner's tuning chooses the cheapest. A candidate replaces the default only if it is
//! faster by more than two runs of the same program differ, so an untuned machine keeps its shape.

use super::measure::MeasureError;
use super::probe::Open;
use super::tuning::{CpuTuning, GpuTuning, SearchTuning};
use crate::analysis::{AnalysisKind, Built, Question, build};
use crate::backend::cpu::{CpuSession, available_threads};
use crate::backend::cuda::{self, CudaOptions};
use crate::backend::lanes::{Kind, LaneTable, Work};
use crate::backend::{BackendError, RunLimits};
use crate::graph::{Graph, LoadOptions, load};
use crate::program::{EncodedProgram, PlanRequest};
use seawall_core::tuning::cheapest;

/// Candidates for [`SearchTuning::narrow_nodes`], up to the default: queues in shared memory hold
/// no more.
const NARROW: [u32; 5] = [32, 128, 256, 512, 704];

/// Candidates for [`SearchTuning::pull_density_ppm`].
const PULL: [u32; 4] = [50_000, 100_000, 150_000, 250_000];

/// Candidates for the lanes of a block.
const LANES: [u32; 6] = [128, 256, 384, 512, 640, 1024];

/// Rounds in which every candidate runs once, after one that does not count.
const ROUNDS: u32 = 5;

/// Share of the default's time that another candidate must stay below.
const MARGIN: f64 = 0.98;

/// A job that candidates run.
struct Job {
    graph: Graph,
    analysis: AnalysisKind,
    max_iterations: u32,
}

impl Job {
    fn new(graph: &str, analysis: AnalysisKind) -> Result<Self, MeasureError> {
        let options = LoadOptions {
            undirected: true,
            ..LoadOptions::default()
        };
        Ok(Self {
            graph: load(graph, &options, None)?.graph,
            analysis,
            max_iterations: Question::UNLIMITED,
        })
    }

    fn for_work(graph: &str, work: Work) -> Result<Self, MeasureError> {
        match work {
            Work::Searches => Self::new(graph, AnalysisKind::Bfs),
            Work::Rounds => Self::new(graph, AnalysisKind::Kcore),
            Work::Components => Self::new(graph, AnalysisKind::Cc),
            Work::Passes => Ok(Self {
                max_iterations: 3,
                ..Self::new(graph, AnalysisKind::Pagerank)?
            }),
        }
    }

    fn build(&self) -> Result<(Built, EncodedProgram), MeasureError> {
        let question = Question {
            max_iterations: self.max_iterations,
            // It reaches most of the graph.
            ..Question::new(vec![self.graph.widest_node().unwrap_or(0)])
        };
        let built = build(self.analysis, &self.graph, &question)?;
        let (encoded, _) = built.program.encode(&PlanRequest::default())?;
        Ok((built, encoded))
    }
}

/// Finds the best choices on GPU `ordinal`; compiling the kernels for all lanes takes minutes
/// where the driver has not done so before. `say` hears what is tried.
///
/// # Errors
/// [`MeasureError`] if a job does not run.
pub fn gpu(ordinal: u32, say: &dyn Fn(String)) -> Result<GpuTuning, MeasureError> {
    let options = CudaOptions {
        device: ordinal,
        ..CudaOptions::default()
    };
    let mut lanes = LaneTable::default();
    for (kind, graph) in [
        (Kind::Rich, "gen:rmat:18:16"),
        (Kind::Lean, "gen:grid:1024"),
        (Kind::Small, "gen:grid:512"),
    ] {
        for work in [Work::Searches, Work::Rounds, Work::Components, Work::Passes] {
            say(format!("trying lanes of {work:?} on {graph}"));
            let job = Job::for_work(graph, work)?;
            let current = lanes.of_kind(kind).of_work(work);
            let entry = |lanes_of: u32| lanes.with(kind, lanes.of_kind(kind).with(work, lanes_of));
            let found = fastest_lanes(&job, current, &|candidate| CudaOptions {
                lane_table: entry(candidate),
                ..options
            })?;
            lanes = entry(found);
        }
    }
    say("trying limits of searches".to_owned());
    let options = CudaOptions {
        lane_table: lanes,
        ..options
    };
    let open: &Open<'_> = &|graph| cuda::open(cuda::Executor::Mega, graph, options);
    let search = search(["gen:grid:512", "gen:rmat:18:16"], open)?;
    Ok(GpuTuning { search, lanes })
}

/// Finds the best choices on all threads of the CPU.
///
/// # Errors
/// [`MeasureError`] if a job does not run.
pub fn cpu() -> Result<CpuTuning, MeasureError> {
    let threads = available_threads();
    let open: &Open<'_> = &|graph| {
        let session = CpuSession::open(graph, Some(threads), RunLimits::default())?;
        Ok(Box::new(session))
    };
    Ok(CpuTuning {
        threads: u32::try_from(threads.get()).unwrap_or(u32::MAX),
        search: search(["gen:grid:256", "gen:rmat:15:16"], open)?,
    })
}

/// The fastest lanes for `job`, each in a session of its own. Lanes that a kernel cannot have on
/// the device cost too much.
fn fastest_lanes(
    job: &Job,
    current: u32,
    options: &dyn Fn(u32) -> CudaOptions,
) -> Result<u32, MeasureError> {
    let (built, program) = job.build()?;
    let candidates = with_current(&LANES, current);
    let mut sessions = Vec::new();
    for candidate in &candidates {
        let session = cuda::open(cuda::Executor::Mega, &job.graph, options(*candidate));
        let loaded = session.and_then(|mut session| {
            session.load(&program)?;
            Ok(session)
        });
        sessions.push(match loaded {
            Err(BackendError::Unsupported { .. } | BackendError::NotCoResident { .. }) => None,
            loaded => Some(loaded?),
        });
    }
    fastest(&candidates, current, |at, _| match &mut sessions[at] {
        Some(session) => Ok(session.run(&built.inputs)?.run_ns as f64),
        None => Ok(f64::INFINITY),
    })
}

/// The best limits of searches: the width by a deep graph, the density by a shallow one.
fn search([deep, shallow]: [&str; 2], open: &Open<'_>) -> Result<SearchTuning, MeasureError> {
    let mut best = SearchTuning::default();
    let job = Job::new(deep, AnalysisKind::Bfs)?;
    best.narrow_nodes = fastest_limit(&job, open, (&NARROW, best.narrow_nodes), |narrow_nodes| {
        SearchTuning {
            narrow_nodes,
            ..best
        }
    })?;
    let job = Job::new(shallow, AnalysisKind::Bfs)?;
    let current = best.pull_density_ppm;
    best.pull_density_ppm = fastest_limit(&job, open, (&PULL, current), |pull_density_ppm| {
        SearchTuning {
            pull_density_ppm,
            ..best
        }
    })?;
    Ok(best)
}

/// The fastest value of a limit, all in one session.
fn fastest_limit(
    job: &Job,
    open: &Open<'_>,
    (candidates, current): (&[u32], u32),
    tuning: impl Fn(u32) -> SearchTuning,
) -> Result<u32, MeasureError> {
    let (built, mut program) = job.build()?;
    let mut session = open(&job.graph)?;
    fastest(
        &with_current(candidates, current),
        current,
        |_, candidate| {
            tuning(candidate).apply(&mut program.search);
            session.load(&program)?;
            Ok(session.run(&built.inputs)?.run_ns as f64)
        },
    )
}

/// The candidates with the current one among them.
fn with_current(candidates: &[u32], current: u32) -> Vec<u32> {
    let others = candidates.iter().filter(|candidate| **candidate != current);
    std::iter::once(current).chain(others.copied()).collect()
}

/// Times all candidates in turn and returns the preferred one; `time` receives the place of a
/// candidate and its value.
fn fastest(
    candidates: &[u32],
    current: u32,
    mut time: impl FnMut(usize, u32) -> Result<f64, MeasureError>,
) -> Result<u32, MeasureError> {
    let mut costs = vec![f64::INFINITY; candidates.len()];
    for round in 0..=ROUNDS {
        for (at, (candidate, cost)) in candidates.iter().zip(&mut costs).enumerate() {
            let ns = time(at, *candidate)?;
            if round > 0 {
                *cost = cost.min(ns);
            }
        }
    }
    Ok(preferred(candidates, &mut costs, current))
}

/// The cheapest candidate, or the current one if none is cheaper by more than noise.
fn preferred(candidates: &[u32], costs: &mut [f64], current: u32) -> u32 {
    for (candidate, cost) in candidates.iter().zip(&mut *costs) {
        if *candidate == current {
            *cost *= MARGIN;
        }
    }
    cheapest(candidates, costs, current).value
}

#[cfg(test)]
mod tests {
    use super::*;
    use seawall_core::abi::search::SearchPolicy;

    #[test]
    fn the_current_value_stays_unless_another_is_clearly_faster() {
        let preferred = |costs: [f64; 3]| preferred(&[7, 1, 2], &mut { costs }, 7);
        assert_eq!(preferred([100.0, 99.0, 98.5]), 7);
        assert_eq!(preferred([100.0, 97.0, 90.0]), 2);
        assert_eq!(preferred([100.0, f64::INFINITY, f64::NAN]), 7);
        assert_eq!(preferred([f64::INFINITY; 3]), 7);
    }

    #[test]
    fn candidates_run_in_turn_and_their_fastest_run_counts() {
        let mut calls = Vec::new();
        let found = fastest(&[7, 1], 7, |at, candidate| {
            calls.push((at, candidate));
            // Only its last run is fast.
            let is_fast = candidate == 1 && calls.len() as u32 == 2 * (ROUNDS + 1);
            Ok(if is_fast { 10.0 } else { 50.0 })
        });
        assert_eq!(found.unwrap(), 1);
        assert_eq!(calls[..4], [(0, 7), (1, 1), (0, 7), (1, 1)]);
        assert_eq!(calls.len() as u32, 2 * (ROUNDS + 1));
    }

    #[test]
    fn every_candidate_is_sane_and_takes_effect() {
        let default = SearchTuning::default();
        for narrow_nodes in NARROW {
            let tuning = SearchTuning {
                narrow_nodes,
                ..default
            };
            let mut policy = SearchPolicy::default();
            tuning.apply(&mut policy);
            assert!(tuning.is_sane() && policy.narrow_nodes == narrow_nodes);
            assert!(policy.narrow_exit_nodes >= narrow_nodes);
        }
        for pull_density_ppm in PULL {
            let tuning = SearchTuning {
                pull_density_ppm,
                ..default
            };
            let mut policy = SearchPolicy::default();
            tuning.apply(&mut policy);
            let thresholds = policy.topology.thresholds();
            assert_eq!(thresholds.dense_density_min_ppm, pull_density_ppm);
            assert!(tuning.is_sane());
        }
        for (narrow_nodes, pull_density_ppm) in
            [(0, 70_000), (5000, 70_000), (896, 1), (896, 990_000)]
        {
            let broken = SearchTuning {
                narrow_nodes,
                pull_density_ppm,
            };
            assert!(!broken.is_sane(), "{broken:?}");
        }
    }

    #[test]
    fn the_cpu_is_tuned_to_something_sane() {
        let tuned = cpu().unwrap();
        assert!(tuned.search.is_sane(), "{tuned:?}");
        assert_eq!(tuned.threads as usize, available_threads().get());
    }

    #[test]
    fn a_missing_gpu_is_an_error() {
        let tuned = gpu(u32::MAX, &|_| ());
        assert!(matches!(tuned, Err(MeasureError::Backend(_))));
    }
}
