//! Limits and lanes that are fastest on this machine, found by trying.
//!
//! Every candidate runs the same jobs, several times each, and its fastest run counts. A candidate
//! that loses a job to the default is out: what is best for a small graph may be much slower on a
//! large one. The planner's tuning chooses the cheapest of the rest, and the default stays unless
//! another is faster by more than two runs of the same program differ.

use super::measure::MeasureError;
use super::probe::Open;
use super::tuning::{CpuTuning, GpuTuning, SearchTuning};
use crate::analysis::{AnalysisKind, Built, Question, build};
use crate::backend::cpu::{CpuSession, available_threads};
use crate::backend::cuda::{self, CudaOptions};
use crate::backend::lanes::{Kind, LaneTable, Work};
use crate::backend::{BackendError, RunLimits};
use crate::graph::{Graph, LoadOptions, load, memory};
use crate::program::{EncodedProgram, PlanRequest};
use seawall_core::tuning::cheapest;

/// Candidates for [`SearchTuning::narrow_nodes`], up to the default: queues in shared memory hold
/// no more.
const NARROW: [u32; 5] = [32, 128, 256, 512, 704];

/// Candidates for [`SearchTuning::pull_density_ppm`].
const PULL: [u32; 4] = [50_000, 100_000, 150_000, 250_000];

const LANES: [u32; 6] = [128, 256, 384, 512, 640, 1024];

/// Runs of a candidate that count, after one that does not.
const ROUNDS: u32 = 5;

/// Share of the default's time that another candidate must stay below.
const MARGIN: f64 = 0.98;

/// Share of the default's time beyond which a candidate has lost a job.
const LOSS: f64 = 1.01;

/// A generator, and enough memory for its graph and every job on it, bytes.
type Sample = (&'static str, u64);

/// Graphs of each kind, the large one first: it rules most candidates out.
const GRAPHS: [(Kind, [Sample; 2]); 3] = [
    (
        Kind::Rich,
        [("gen:rmat:22:16", 6 << 30), ("gen:rmat:18:16", 512 << 20)],
    ),
    (
        Kind::Lean,
        [("gen:grid:2048", 1 << 30), ("gen:grid:1024", 256 << 20)],
    ),
    (
        Kind::Small,
        [("gen:grid:512", 64 << 20), ("gen:chain:65536", 64 << 20)],
    ),
];

const WORKS: [Work; 4] = [Work::Searches, Work::Rounds, Work::Components, Work::Passes];

/// Whether a job takes so different times in two processes that the trials of one cannot tell which
/// lanes are best. The components of rich graphs vary by up to half, and lanes that were chosen by
/// less were slower in other processes.
fn is_unsteady(kind: Kind, work: Work) -> bool {
    kind == Kind::Rich && work == Work::Components
}

/// Edges of the largest graph whose triangles are counted.
const TRIANGLES_EDGES: u32 = 1 << 24;

#[derive(Clone, Copy)]
struct Job<'g> {
    graph: &'g Graph,
    analysis: AnalysisKind,
    max_iterations: u32,
}

/// Generates a graph, or nothing if less memory than it needs is available.
fn generate((graph, needed): Sample, available: u64) -> Result<Option<Graph>, MeasureError> {
    let options = LoadOptions {
        undirected: true,
        ..LoadOptions::default()
    };
    if needed > available {
        return Ok(None);
    }
    Ok(Some(
        load(graph, &options, None)?.graph.with_drawn_weights(1)?,
    ))
}

impl<'g> Job<'g> {
    fn new(graph: &'g Graph, analysis: AnalysisKind) -> Self {
        Self {
            graph,
            analysis,
            max_iterations: Question::UNLIMITED,
        }
    }

    fn of_work(graph: &'g Graph, work: Work) -> Vec<Self> {
        let jobs = |kinds: &[AnalysisKind]| {
            let job = |kind: &AnalysisKind| Self::new(graph, *kind);
            kinds.iter().map(job).collect()
        };
        match work {
            Work::Searches => jobs(&[AnalysisKind::Bfs]),
            Work::Rounds => jobs(&[AnalysisKind::Sssp, AnalysisKind::Kcore]),
            Work::Components => jobs(&[AnalysisKind::Cc]),
            Work::Passes => {
                let ranks = Self {
                    max_iterations: 3,
                    ..Self::new(graph, AnalysisKind::Pagerank)
                };
                let triangles = Self::new(graph, AnalysisKind::Triangles);
                let few = (graph.edges() <= TRIANGLES_EDGES).then_some(triangles);
                few.into_iter().chain([ranks]).collect()
            }
        }
    }

    fn build(&self) -> Result<(Built, EncodedProgram), MeasureError> {
        let question = Question {
            max_iterations: self.max_iterations,
            warps: true,
            // It reaches most of the graph.
            ..Question::new(vec![self.graph.widest_node().unwrap_or(0)])
        };
        let built = build(self.analysis, self.graph, &question)?;
        let (encoded, _) = built.program.encode(&PlanRequest::default())?;
        Ok((built, encoded))
    }
}

/// Candidates that lost no job so far.
struct Race {
    /// The current value first.
    candidates: Vec<u32>,
    /// Sum of the shares of the current value's time; infinite for one that is out.
    costs: Vec<f64>,
    jobs: u32,
}

impl Race {
    fn new(candidates: &[u32], current: u32) -> Self {
        let others = candidates.iter().filter(|candidate| **candidate != current);
        let candidates: Vec<u32> = std::iter::once(current).chain(others.copied()).collect();
        Self {
            costs: vec![0.0; candidates.len()],
            candidates,
            jobs: 0,
        }
    }

    /// Runs a job; `time` returns the time of a candidate, infinite if it cannot run.
    fn run(
        &mut self,
        mut time: impl FnMut(u32) -> Result<f64, MeasureError>,
    ) -> Result<(), MeasureError> {
        let mut default = f64::INFINITY;
        for (at, candidate) in self.candidates.iter().enumerate() {
            let cost = &mut self.costs[at];
            if cost.is_infinite() {
                continue;
            }
            let ns = time(*candidate)?;
            if at == 0 {
                default = ns;
            }
            let share = if default.is_finite() {
                ns / default
            } else {
                1.0
            };
            *cost = if at == 0 {
                *cost + 1.0
            } else if share > LOSS || !share.is_finite() {
                f64::INFINITY
            } else {
                *cost + share
            };
        }
        self.jobs += 1;
        Ok(())
    }

    /// The cheapest candidate, or the current one if none is cheaper by more than noise.
    fn winner(mut self) -> u32 {
        let current = self.candidates[0];
        self.costs[0] = f64::from(self.jobs) * MARGIN;
        cheapest(&self.candidates, &self.costs, current).value
    }
}

/// The fastest of several calls, after one that does not count.
fn least(mut run: impl FnMut() -> Result<f64, MeasureError>) -> Result<f64, MeasureError> {
    run()?;
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        least = least.min(run()?);
    }
    Ok(least)
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
    // The device stays open from one session to the next.
    let nothing = Graph::from_edges(1, &[], false)?;
    let open = cuda::open(cuda::Executor::Mega, &nothing, options)?;
    let of_host = memory::available().unwrap_or(u64::MAX);
    let available = of_host.min(open.device().memory_bytes);
    let mut lanes = LaneTable::default();
    let (mut deep, mut shallow) = (Vec::new(), Vec::new());
    for (kind, samples) in GRAPHS {
        let mut graphs = Vec::new();
        for sample in samples {
            say(format!("generating {}", sample.0));
            graphs.extend(generate(sample, available)?);
        }
        for work in WORKS {
            if is_unsteady(kind, work) {
                continue;
            }
            say(format!(
                "trying lanes of {work:?} on graphs such as {}",
                samples[0].0
            ));
            let jobs = graphs.iter().flat_map(|graph| Job::of_work(graph, work));
            let current = lanes.of_kind(kind).of_work(work);
            let entry = |lanes_of: u32| lanes.with(kind, lanes.of_kind(kind).with(work, lanes_of));
            let found = fastest_lanes(jobs, current, &|candidate| CudaOptions {
                lane_table: entry(candidate),
                ..options
            })?;
            lanes = entry(found);
        }
        match kind {
            Kind::Rich => shallow.append(&mut graphs),
            Kind::Lean => {}
            Kind::Small => deep.append(&mut graphs),
        }
    }
    say("trying limits of searches".to_owned());
    let options = CudaOptions {
        lane_table: lanes,
        ..options
    };
    let open: &Open<'_> = &|graph| cuda::open(cuda::Executor::Mega, graph, options);
    let search = search((&deep, &shallow), open)?;
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
    let graphs = |names: [&'static str; 2]| {
        let graph = |name| generate((name, 0), 0).transpose();
        names
            .into_iter()
            .filter_map(graph)
            .collect::<Result<Vec<_>, _>>()
    };
    let deep = graphs(["gen:grid:256", "gen:chain:65536"])?;
    let shallow = graphs(["gen:rmat:15:16", "gen:uniform:15:8"])?;
    Ok(CpuTuning {
        threads: u32::try_from(threads.get()).unwrap_or(u32::MAX),
        search: search((&deep, &shallow), open)?,
    })
}

/// The fastest lanes for all `jobs`, each in a session of its own. Lanes that a kernel cannot have
/// on the device lose; a job that no memory is left for decides nothing.
fn fastest_lanes<'g>(
    jobs: impl Iterator<Item = Job<'g>>,
    current: u32,
    options: &dyn Fn(u32) -> CudaOptions,
) -> Result<u32, MeasureError> {
    let mut race = Race::new(&LANES, current);
    for job in jobs {
        let (built, program) = job.build()?;
        race.run(|candidate| {
            let session = cuda::open(cuda::Executor::Mega, job.graph, options(candidate));
            let loaded = session.and_then(|mut session| {
                session.load(&program)?;
                Ok(session)
            });
            match loaded {
                Err(
                    BackendError::Unsupported { .. }
                    | BackendError::NotCoResident { .. }
                    | BackendError::OutOfMemory { .. },
                ) => Ok(f64::INFINITY),
                Err(error) => Err(error.into()),
                Ok(mut session) => least(|| Ok(session.run(&built.inputs)?.run_ns as f64)),
            }
        })?;
    }
    Ok(race.winner())
}

/// The best limits of searches: the width by deep graphs, the density by shallow ones.
fn search(
    (deep, shallow): (&[Graph], &[Graph]),
    open: &Open<'_>,
) -> Result<SearchTuning, MeasureError> {
    let mut best = SearchTuning::default();
    best.narrow_nodes = fastest_limit(deep, open, &NARROW, best.narrow_nodes, |narrow_nodes| {
        SearchTuning {
            narrow_nodes,
            ..best
        }
    })?;
    let current = best.pull_density_ppm;
    best.pull_density_ppm = fastest_limit(shallow, open, &PULL, current, |pull_density_ppm| {
        SearchTuning {
            pull_density_ppm,
            ..best
        }
    })?;
    Ok(best)
}

/// The fastest value of a limit for searches of all `graphs`, each in one session.
fn fastest_limit(
    graphs: &[Graph],
    open: &Open<'_>,
    candidates: &[u32],
    current: u32,
    tuning: impl Fn(u32) -> SearchTuning,
) -> Result<u32, MeasureError> {
    let mut race = Race::new(candidates, current);
    for graph in graphs {
        let (built, mut program) = Job::new(graph, AnalysisKind::Bfs).build()?;
        let mut session = open(graph)?;
        race.run(|candidate| {
            tuning(candidate).apply(&mut program.search);
            session.load(&program)?;
            least(|| Ok(session.run(&built.inputs)?.run_ns as f64))
        })?;
    }
    Ok(race.winner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use seawall_core::abi::search::SearchPolicy;

    /// The winner of jobs in which candidates 7, the current one, 1 and 2 take these times.
    fn winner(jobs: &[[f64; 3]]) -> u32 {
        let mut race = Race::new(&[1, 2, 7], 7);
        for job in jobs {
            let at = |candidate| [7, 1, 2].iter().position(|known| *known == candidate);
            race.run(|candidate| Ok(job[at(candidate).unwrap()]))
                .unwrap();
        }
        race.winner()
    }

    #[test]
    fn the_current_value_stays_unless_another_is_clearly_faster() {
        assert_eq!(winner(&[[100.0, 99.0, 98.5]]), 7);
        assert_eq!(winner(&[[100.0, 97.0, 90.0]]), 2);
        assert_eq!(winner(&[[100.0, f64::INFINITY, f64::NAN]]), 7);
        assert_eq!(winner(&[[f64::INFINITY; 3]]), 7);
        assert_eq!(winner(&[]), 7);
    }

    #[test]
    fn a_candidate_that_loses_a_job_is_out_however_much_it_gains_in_others() {
        assert_eq!(winner(&[[100.0, 102.0, 99.0], [100.0, 10.0, 90.0]]), 2);
        assert_eq!(winner(&[[100.0, 10.0, 99.0], [100.0, 102.0, 99.5]]), 7);
        let jobs = [[100.0, 50.0, 100.5], [200.0, 199.0, 100.0]];
        assert_eq!(winner(&jobs), 1);
    }

    #[test]
    fn the_fastest_run_counts_and_the_first_does_not() {
        let mut calls = 0;
        let found = least(|| {
            calls += 1;
            Ok(if calls == 1 {
                1.0
            } else {
                50.0 - f64::from(calls)
            })
        });
        assert_eq!(found.unwrap(), 50.0 - f64::from(ROUNDS + 1));
        assert_eq!(calls, ROUNDS + 1);
    }

    #[test]
    fn graphs_of_jobs_are_of_their_kind_and_large_ones_are_left_out_of_small_memory() {
        for (kind, samples) in GRAPHS {
            let small = generate(samples[1], u64::MAX).unwrap().unwrap();
            assert_eq!(Kind::of(&small), kind, "{samples:?}");
            for job in WORKS.map(|work| Job::of_work(&small, work)).concat() {
                let (built, program) = job.build().unwrap();
                crate::backend::check_answer(&program, &small, built.result).unwrap();
            }
            for sample in samples {
                assert!(generate(sample, 1 << 20).unwrap().is_none(), "{sample:?}");
            }
        }
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
