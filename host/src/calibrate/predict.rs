//! How long a job takes on each machine, and which one it belongs on.
//!
//! A pure function of a job and of costs. It is a rough model: within a factor
//! of two for searches, coarser for analyses whose rounds cannot be foreseen.
//! That decides well, because the machines differ by more than that wherever
//! the choice matters.

use super::costs::{CLASSES, Costs, MachineCosts};
use super::job::Job;
use crate::analysis::bounds_of_a_level;
use crate::run::AnalysisKind;
use crate::units::{Nanoseconds, counted};

/// By how much the GPU has to win: a prediction is no better than that.
pub(super) const MARGIN: f64 = 1.25;

/// By how much more threads have to win over one: ties go to fewer.
const THREADS_MARGIN: f64 = 1.1;

/// What a process waits for before its first run on a GPU, whatever the graph: the
/// driver, a context and the kernels. On the machine of `docs/performance.md` a command
/// takes about half a second longer on the GPU.
pub const GPU_OPEN_NS: f64 = 500e6;

/// Graph that no longer fits the CPU's caches, bytes.
const CACHE_BYTES: f64 = 32e6;

/// Values of all nodes that passes over all edges read at random and that no longer fit
/// the caches of a core, bytes.
const PASS_BYTES: f64 = 8e6;

/// Work of shortest paths beside that of a search: levels and nodes, edges.
const PATHS: [f64; 2] = [4.0, 14.0];

/// What looking at a node costs in a sweep over their distances, in edges of a pass.
const SWEEP_EDGES: f64 = 0.4;

/// What the end of a round of shortest paths costs threads, in wide levels: nothing but
/// the barrier. There are about as many rounds as levels.
const ROUND_LEVELS: f64 = 0.15;

/// Passes over all edges that components take, and levels in between.
const COMPONENTS: [f64; 2] = [1.0, 6.0];

/// The same of peeling, where nodes have many edges.
const PEELING: [f64; 2] = [6.0, 60.0];

/// Edges of a node below which peeling takes long turns of few nodes: about twice as many
/// as a grid of as many nodes is wide.
const PEELING_DEGREE: f64 = 8.0;

/// The same of counting triangles, times the edges of a node.
const COUNTING: [f64; 2] = [1.0, 4.0];

/// Fewest passes of such a count.
const COUNTING_LEAST: f64 = 4.0;

/// What a pass does for a node costs at most as much as so many edges.
const NODE_EDGES: f64 = 1.0;

/// Levels' worth of barriers in an iteration of a ranking.
const RANKING_LEVELS: f64 = 3.0;

/// How many times their work threads of a CPU do where they change the same words.
const CONTENDED: f64 = 1.15;

/// The same in components: two threads took 0.6 to 1.2 times as long as one.
const COMPONENTS_CONTENDED: f64 = 1.6;

/// The same for grids and what has as many edges a node, which are linked along the way:
/// two threads took as long as one.
const MEETING: (std::ops::Range<f64>, f64) = (3.0..8.0, 2.0);

/// Where a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// One CPU thread.
    OneThread,
    /// All CPU threads.
    AllThreads,
    /// The GPU.
    Gpu,
}

/// Predicted times of one run, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// On one CPU thread.
    pub one_ns: f64,
    /// On all CPU threads.
    pub all_ns: f64,
    /// How many threads those are.
    pub threads: u32,
    /// On the GPU, once the graph is there.
    pub gpu_ns: f64,
    /// The graph's upload to the GPU.
    pub upload_ns: f64,
    /// Opening the GPU, once a command.
    pub open_ns: f64,
    /// Runs of the request.
    pub repeat: f64,
}

/// Predicts one run of `job` on each machine.
#[must_use]
pub fn predict(job: &Job, costs: &Costs) -> Prediction {
    let miss = Miss::of(job.graph_bytes());
    let shared = Miss {
        is_shared: true,
        ..miss
    };
    Prediction {
        one_ns: run_ns(job, &costs.cpu.one, miss),
        all_ns: run_ns(job, &costs.cpu.all, shared),
        threads: costs.cpu.threads,
        gpu_ns: run_ns(job, &costs.gpu.run, Miss::NONE),
        upload_ns: job.graph_bytes() * costs.gpu.upload_byte_ns,
        open_ns: GPU_OPEN_NS,
        repeat: job.repeat.max(1.0),
    }
}

/// How many times work costs what it costs alone in the caches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Miss {
    /// A node of a search.
    node: f64,
    /// An edge of a pass, where nodes' values do not fit the caches.
    edge: f64,
    /// Whether threads share the work.
    is_shared: bool,
}

impl Miss {
    /// A machine that hides its misses.
    pub(super) const NONE: Self = Self {
        node: 1.0,
        edge: 1.0,
        is_shared: false,
    };

    /// One CPU thread, when `bytes` bytes of graphs share the caches.
    pub(super) fn of(bytes: f64) -> Self {
        let node = if bytes > CACHE_BYTES { 1.8 } else { 1.0 };
        Self {
            node,
            edge: 4.0,
            ..Self::NONE
        }
    }

    /// What an edge of a pass over `job` costs more.
    fn of_edge(&self, job: &Job) -> f64 {
        let large = 4.0 * job.nodes > PASS_BYTES;
        if large { self.edge } else { 1.0 }
    }

    /// How many times the work of components is done.
    fn of_components(&self, job: &Job) -> f64 {
        let (degrees, most) = MEETING;
        match self.is_shared {
            false => 1.0,
            true if degrees.contains(&job.degree()) => most,
            true => COMPONENTS_CONTENDED,
        }
    }

    /// Shortest paths: rounds, each with a barrier of all threads, however narrow, and a
    /// sweep over all nodes for each bound.
    fn paths_ns(&self, job: &Job, costs: &MachineCosts) -> f64 {
        let [nodes, edges] = PATHS;
        let levels: f64 = job.tally.levels.iter().sum();
        let sweeps = levels * bounds_of_a_level(job.degree()) * job.nodes;
        let sweeps_ns = sweeps * SWEEP_EDGES * costs.gather_ns;
        if !self.is_shared {
            let search = search_ns(job, costs, [self.node * nodes, edges]);
            return search + (nodes - 1.0) * levels_ns(job, costs) + sweeps_ns;
        }
        let mut shared = *costs;
        shared.levels = [costs.levels[CLASSES - 1]; CLASSES];
        for level in &mut shared.levels {
            level.level_ns *= ROUND_LEVELS;
        }
        let work = [self.node * nodes * CONTENDED, edges * CONTENDED];
        search_ns(job, &shared, work) + sweeps_ns
    }
}

/// One run of `job` on a machine whose work costs `miss` times as much.
pub(super) fn run_ns(job: &Job, costs: &MachineCosts, miss: Miss) -> f64 {
    let wide = costs.levels[CLASSES - 1];
    let edge_ns = costs.gather_ns * miss.of_edge(job);
    let pass = job.edges * edge_ns + job.nodes * wide.node_ns.min(edge_ns * NODE_EDGES);
    let passes = |[passes, levels]: [f64; 2]| passes * pass + levels * wide.level_ns;
    costs.start_ns
        + match job.analysis {
            AnalysisKind::Bfs | AnalysisKind::Reach => search_ns(job, costs, [miss.node, 1.0]),
            AnalysisKind::Sssp => miss.paths_ns(job, costs),
            AnalysisKind::Cc => {
                let work = miss.of_components(job);
                passes([work * COMPONENTS[0], COMPONENTS[1]])
            }
            AnalysisKind::Pagerank => iterations(job) * passes([1.0, RANKING_LEVELS]),
            AnalysisKind::Triangles => {
                let count = (COUNTING[0] * job.degree()).max(COUNTING_LEAST);
                passes([count, COUNTING[1]])
            }
            _ if job.degree() < PEELING_DEGREE => {
                let turns = 2.0 * job.nodes.max(0.0).sqrt();
                passes([PEELING[0], turns.max(PEELING[1])])
            }
            _ => passes(PEELING),
        }
}

fn levels_ns(job: &Job, costs: &MachineCosts) -> f64 {
    let levels = job.tally.levels.iter().zip(&costs.levels);
    levels.map(|(levels, cost)| levels * cost.level_ns).sum()
}

/// A search's levels once, and its nodes: each costs what a node costs or what
/// its edges cost, whichever is more.
fn search_ns(job: &Job, costs: &MachineCosts, [of_node, of_edge]: [f64; 2]) -> f64 {
    let edge_ns = if job.can_pull {
        costs.edge_ns
    } else {
        costs.gather_ns
    };
    let edges_ns = job.degree() * edge_ns * of_edge;
    let nodes = job.tally.nodes.iter().zip(&costs.levels);
    let nodes_ns: f64 = nodes
        .map(|(nodes, cost)| nodes * (cost.node_ns * of_node).max(edges_ns))
        .sum();
    levels_ns(job, costs) + nodes_ns
}

/// Iterations of a ranking: each shrinks the change by the damping.
pub(super) fn iterations(job: &Job) -> f64 {
    let (damping, tolerance) = (
        f64::from(job.ranking.damping),
        f64::from(job.ranking.tolerance),
    );
    let needed = (tolerance.max(1e-7).ln() / damping.clamp(1e-3, 0.999).ln()).ceil();
    needed.clamp(1.0, job.max_iterations.max(1.0))
}

impl Prediction {
    /// The faster number of CPU threads.
    #[must_use]
    pub fn best_cpu(&self) -> Machine {
        if self.threads <= 1 || self.one_ns < self.all_ns * THREADS_MARGIN {
            Machine::OneThread
        } else {
            Machine::AllThreads
        }
    }

    /// Time on that number of CPU threads, nanoseconds.
    #[must_use]
    pub fn cpu_ns(&self) -> f64 {
        match self.best_cpu() {
            Machine::AllThreads => self.all_ns,
            _ => self.one_ns,
        }
    }

    /// All runs on the CPU, nanoseconds.
    #[must_use]
    pub fn cpu_total_ns(&self) -> f64 {
        self.repeat * self.cpu_ns()
    }

    /// Opening the GPU, the upload and all runs there, nanoseconds.
    #[must_use]
    pub fn gpu_total_ns(&self) -> f64 {
        self.open_ns + self.upload_ns + self.repeat * self.gpu_ns
    }

    /// Whether no GPU would be worth opening: the CPU takes all runs in the time that
    /// it takes to open one.
    #[must_use]
    pub fn is_too_small_for_a_gpu(&self) -> bool {
        self.cpu_total_ns() <= self.open_ns
    }

    /// The machine that the job belongs on, given a usable GPU.
    #[must_use]
    pub fn best(&self) -> Machine {
        if self.gpu_total_ns() * MARGIN < self.cpu_total_ns() {
            Machine::Gpu
        } else {
            self.best_cpu()
        }
    }

    /// Why that is the machine, in one line.
    #[must_use]
    pub fn reason(&self) -> String {
        let cpu = format!(
            "about {} a run on {}",
            time(self.cpu_ns()),
            self.threads_text()
        );
        let gpu = format!(
            "about {} on the GPU, which takes {} to open and {} to upload to",
            time(self.gpu_ns),
            time(self.open_ns),
            time(self.upload_ns)
        );
        let runs = counted(self.repeat as u64, "run");
        let (name, [first, second]) = if self.best() == Machine::Gpu {
            ("GPU", [gpu, cpu])
        } else {
            ("CPU", [cpu, gpu])
        };
        format!("the {name} is the better machine for {runs} of this job: {first}; {second}")
    }

    /// Why no GPU was looked for, and why this number of threads, in one line.
    #[must_use]
    pub fn small_reason(&self) -> String {
        format!(
            "{}; no GPU was looked for, as opening one takes about {}",
            self.threads_reason(),
            time(self.open_ns)
        )
    }

    /// Why this number of threads, in one line, without a GPU to choose.
    #[must_use]
    pub fn threads_reason(&self) -> String {
        let all = counted(u64::from(self.threads), "thread");
        let (one_ns, all_ns) = (time(self.one_ns), time(self.all_ns));
        match self.best_cpu() {
            _ if self.threads <= 1 => format!("one thread is all there is, about {one_ns} a run"),
            Machine::OneThread => format!(
                "one thread is the better choice for this job: about {one_ns} a run, {all_ns} on {all}"
            ),
            _ => format!("{all}: about {all_ns} a run, {one_ns} on one"),
        }
    }

    fn threads_text(&self) -> String {
        match self.best_cpu() {
            Machine::OneThread => "one thread".to_owned(),
            _ => counted(u64::from(self.threads), "CPU thread"),
        }
    }
}

/// A predicted time, with no more digits than it deserves.
pub(super) fn time(ns: f64) -> String {
    let digit = 10_f64.powf(ns.max(1.0).log10().floor() - 1.0);
    let rounded = (ns / digit.max(1.0)).round() * digit.max(1.0);
    Nanoseconds(rounded as u64).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::{CpuCosts, GpuCosts, Tally};
    use crate::run::Ranking;

    /// The machine of docs/performance.md.
    fn costs() -> Costs {
        Costs {
            cpu: CpuCosts::default_for(16),
            gpu: GpuCosts::default(),
        }
    }

    fn job(analysis: AnalysisKind, nodes: f64, edges: f64, tally: Tally) -> Job {
        Job {
            analysis,
            nodes,
            edges,
            can_pull: true,
            tally,
            ranking: Ranking::default(),
            max_iterations: 1e9,
            repeat: 1.0,
        }
    }

    fn rmat(analysis: AnalysisKind) -> Job {
        let mut tally = Tally::default();
        [1.0, 30.0, 20_000.0, 1_800_000.0, 550_000.0, 9_000.0, 60.0]
            .into_iter()
            .for_each(|width| tally.count(width));
        job(analysis, 4_194_304.0, 128_312_678.0, tally)
    }

    fn uniform() -> Job {
        let mut tally = Tally::default();
        [
            1.0,
            32.0,
            1024.0,
            32_000.0,
            900_000.0,
            3_200_000.0,
            60_000.0,
        ]
        .into_iter()
        .for_each(|width| tally.count(width));
        job(AnalysisKind::Bfs, 4_194_304.0, 134_217_196.0, tally)
    }

    fn grid(side: f64) -> Job {
        let tally = Tally::of_growth(side * side, 2.0 * side - 1.0, 2.0);
        job(AnalysisKind::Bfs, side * side, 4.0 * side * side, tally)
    }

    fn chain() -> Job {
        let tally = Tally::of_growth(262_144.0, 73_934.0, 1.0);
        Job {
            can_pull: false,
            ..job(AnalysisKind::Bfs, 262_144.0, 327_000.0, tally)
        }
    }

    /// Measured milliseconds on one thread, on 16 threads and on the GPU.
    fn measured() -> [(&'static str, Job, [f64; 3]); 5] {
        [
            ("rmat22", rmat(AnalysisKind::Bfs), [136.0, 11.9, 0.57]),
            ("uniform22", uniform(), [98.0, 13.5, 0.57]),
            ("grid2048", grid(2048.0), [143.0, 165.0, 10.5]),
            ("grid512", grid(512.0), [4.0, 6.8, 2.05]),
            ("chain", chain(), [3.9, 6.4, 50.3]),
        ]
    }

    #[test]
    fn predictions_are_within_a_factor_of_two_of_what_was_measured() {
        for (name, job, expected) in measured() {
            let p = predict(&job, &costs());
            for (predicted, measured) in [p.one_ns, p.all_ns, p.gpu_ns].into_iter().zip(expected) {
                let ratio = predicted / (measured * 1e6);
                assert!(
                    (0.5..2.0).contains(&ratio),
                    "{name}: {measured} ms, {predicted} ns"
                );
            }
        }
    }

    #[test]
    fn the_faster_number_of_threads_is_the_one_measured_so() {
        for (name, job, [one, all, _]) in measured() {
            let expected = if one < all {
                Machine::OneThread
            } else {
                Machine::AllThreads
            };
            assert_eq!(predict(&job, &costs()).best_cpu(), expected, "{name}");
        }
    }

    #[test]
    fn deep_narrow_searches_belong_on_the_cpu_and_wide_ones_on_the_gpu() {
        // So many runs that opening the GPU hardly counts.
        let best = |job: &Job| {
            let job = Job {
                repeat: 1e4,
                ..*job
            };
            predict(&job, &costs()).best()
        };
        assert_eq!(best(&chain()), Machine::OneThread);
        assert_eq!(best(&grid(512.0)), Machine::Gpu);
        assert_eq!(best(&grid(2048.0)), Machine::Gpu);
        assert_eq!(best(&rmat(AnalysisKind::Bfs)), Machine::Gpu);
        assert_eq!(best(&rmat(AnalysisKind::Sssp)), Machine::Gpu);
        assert_eq!(best(&rmat(AnalysisKind::Pagerank)), Machine::Gpu);
        assert_eq!(best(&rmat(AnalysisKind::Cc)), Machine::Gpu);
    }

    #[test]
    fn a_single_run_bears_the_opening_of_a_gpu() {
        let once = predict(&rmat(AnalysisKind::Bfs), &costs());
        assert_eq!(once.best(), Machine::AllThreads);
        assert!(once.is_too_small_for_a_gpu());
        let reason = once.small_reason();
        assert!(
            reason.ends_with("opening one takes about 500.0 ms"),
            "{reason}"
        );
        let ranks = predict(&rmat(AnalysisKind::Pagerank), &costs());
        assert_eq!(ranks.best(), Machine::Gpu);
        assert!(!ranks.is_too_small_for_a_gpu());
    }

    #[test]
    fn ties_go_to_one_thread() {
        let p = Prediction {
            one_ns: 1.05e6,
            all_ns: 1e6,
            ..predict(&chain(), &costs())
        };
        assert_eq!((p.best_cpu(), p.cpu_ns()), (Machine::OneThread, 1.05e6));
    }

    #[test]
    fn a_small_graph_is_not_worth_a_launch() {
        let mut tally = Tally::default();
        tally.count(10.0);
        let small = job(AnalysisKind::Cc, 100.0, 400.0, tally);
        assert_eq!(predict(&small, &costs()).best(), Machine::OneThread);
    }

    #[test]
    fn paths_ranks_and_components_cost_about_what_was_measured_on_the_gpu() {
        for (analysis, milliseconds) in [
            (AnalysisKind::Sssp, 7.4),
            (AnalysisKind::Cc, 0.91),
            (AnalysisKind::Pagerank, 57.0 * 0.99),
        ] {
            let predicted = predict(&rmat(analysis), &costs()).gpu_ns;
            let ratio = predicted / (milliseconds * 1e6);
            assert!((0.5..2.0).contains(&ratio), "{analysis}: {predicted}");
        }
    }

    #[test]
    fn an_iteration_of_ranks_costs_about_what_was_measured_on_the_cpu() {
        let iteration = Job {
            max_iterations: 1.0,
            ..rmat(AnalysisKind::Pagerank)
        };
        let p = predict(&iteration, &costs());
        for (predicted, milliseconds) in [(p.one_ns, 630.0), (p.all_ns, 62.0)] {
            let ratio = predicted / (milliseconds * 1e6);
            assert!((0.5..2.0).contains(&ratio), "{milliseconds}: {predicted}");
        }
    }

    #[test]
    fn the_reason_reads_as_a_sentence() {
        let text = predict(&chain(), &costs()).reason();
        assert_eq!(
            text,
            "the CPU is the better machine for 1 run of this job: about 4.2 ms a run on one thread; about 45.0 ms on the GPU, which takes 500.0 ms to open and 73.0 us to upload to"
        );
        let ranks = predict(&rmat(AnalysisKind::Pagerank), &costs());
        let text = ranks.reason();
        assert!(
            text.starts_with("the GPU is the better machine for 1 run"),
            "{text}"
        );
        assert!(text.ends_with("a run on 16 CPU threads"), "{text}");
    }

    #[test]
    fn a_graph_without_nodes_costs_a_start() {
        let empty = job(AnalysisKind::Pagerank, 0.0, 0.0, Tally::default());
        assert!(predict(&empty, &costs()).one_ns.is_finite());
    }
}
