//! Price of work on one machine.

use super::figures::{CLASSES, CpuCosts, LevelCost, MachineCosts};
use super::job::Job;
use seawall_device::algorithms::bfs::threads::ahead_counters::NODES_LEAST;
use seawall_device::algorithms::bfs::threads::levels_ahead::{EDGES_MOST, LONG};

/// Size from which on a graph no longer fits the CPU's caches, bytes.
const CACHE_BYTES: f64 = 32e6;

/// Size from which on the node values that a pass over all edges reads at random no longer fit the
/// caches of a core, bytes.
const PASS_BYTES: f64 = 8e6;

/// Factor on the price of a CPU's work outside of its caches: a node of a search, an edge of a
/// pass.
const MISSES: [f64; 2] = [1.8, 4.0];

const NODE_EDGES: f64 = 1.0;

/// Work of code, which is looked up instruction by instruction, as a multiple of a pass: on a machine
/// that hides its cache misses, and on threads. Fitted together with the passes of `mis`, `msf`,
/// `scc`, `colouring` and `labels` to an H200 and graphs of 2^22 nodes, and to one of 2 shared x86-64
/// cores and graphs of 2^18 (2026-11-23).
const STEPPED: [f64; 2] = [8.0, 24.0];

/// Share of one thread in what a shared level of a search takes longer in a first run,
/// nanoseconds: three to four such levels of random graphs took 2.4 to 6 ms longer on 16 threads
/// than predicted from later runs (2026-11-23).
const FIRST_LEVEL_NS: f64 = 60e3;

/// Work of an analysis as a multiple of a plain search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// For each node of a frontier.
    pub node: f64,
    /// For each of its edges.
    pub edge: f64,
}

impl Times {
    /// A plain search.
    pub const ONCE: Self = Self {
        node: 1.0,
        edge: 1.0,
    };
}

/// A machine at work: its prices, and the factors on them.
#[derive(Clone, Copy, Debug)]
pub struct Worker {
    costs: MachineCosts,
    /// A node of a search.
    node: f64,
    /// An edge of a pass whose node values do not fit the caches.
    edge: f64,
    /// Work of code, as a multiple of a pass.
    stepped: f64,
    /// Threads that share the work, and the prices of one of them.
    shared: Option<(f64, MachineCosts)>,
    /// A level of a long search, of threads that go ahead in it.
    ahead: Option<LevelCost>,
    /// Whether it is threads of a CPU.
    is_cpu: bool,
    /// Whether it is a block of a GPU that takes whole graphs.
    is_of_batch: bool,
}

impl Worker {
    /// Returns a machine that hides its cache misses, as a GPU does.
    #[must_use]
    pub const fn that_hides_misses(costs: MachineCosts) -> Self {
        Self {
            costs,
            node: 1.0,
            edge: 1.0,
            stepped: STEPPED[0],
            shared: None,
            ahead: None,
            is_cpu: false,
            is_of_batch: false,
        }
    }

    /// Returns a block of a GPU that takes whole graphs of a batch, with programs that are made for any
    /// machine.
    #[must_use]
    pub const fn block_of_batch(costs: MachineCosts) -> Self {
        Self {
            is_of_batch: true,
            ..Self::that_hides_misses(costs)
        }
    }

    /// Returns one CPU thread, if `bytes` bytes of graphs share the caches.
    #[must_use]
    pub fn thread(costs: MachineCosts, bytes: f64) -> Self {
        let [node, edge] = MISSES;
        Self {
            costs,
            node: if bytes > CACHE_BYTES { node } else { 1.0 },
            edge,
            stepped: STEPPED[1],
            shared: None,
            ahead: None,
            is_cpu: true,
            is_of_batch: false,
        }
    }

    /// Returns all CPU threads, if `bytes` bytes of graphs share the caches.
    #[must_use]
    pub fn threads(costs: &CpuCosts, bytes: f64) -> Self {
        Self {
            shared: Some((f64::from(costs.threads), costs.one)),
            ahead: Some(costs.ahead),
            ..Self::thread(costs.all, bytes)
        }
    }

    /// Tells whether threads share the work and change the same words.
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Tells whether threads of a CPU do the work.
    #[must_use]
    pub const fn is_cpu(&self) -> bool {
        self.is_cpu
    }

    /// Tells whether a block of a GPU does the work for whole graphs.
    #[must_use]
    pub const fn is_of_batch(&self) -> bool {
        self.is_of_batch
    }

    /// Threads that share `pieces` pieces of work.
    #[must_use]
    pub fn threads_of(&self, pieces: f64) -> f64 {
        let threads = self.shared.map_or(1.0, |(threads, _)| threads);
        threads.min(pieces).max(1.0)
    }

    /// Cost of an edge of a pass of one thread, nanoseconds.
    #[must_use]
    pub fn gather_alone_ns(&self, job: &Job) -> f64 {
        let one = self.shared.map_or(self.costs, |(_, one)| one);
        one.gather_ns * self.of_edge(job)
    }

    /// Cost of `times` times every node and every edge for one thread, in edges of a pass.
    /// Nanoseconds.
    #[must_use]
    pub fn alone_ns(&self, job: &Job, times: Times) -> f64 {
        (times.node * job.nodes + times.edge * job.edges) * self.gather_alone_ns(job)
    }

    /// Cost of starting a run, nanoseconds.
    #[must_use]
    pub const fn start_ns(&self) -> f64 {
        self.costs.start_ns
    }

    /// Returns the same machine with the price of the widest levels on every level, times `share`,
    /// for rounds that all threads share.
    #[must_use]
    pub fn with_wide_levels(mut self, share: f64) -> Self {
        let mut wide = self.costs.levels[CLASSES - 1];
        wide.level_ns *= share;
        self.costs.levels = [wide; CLASSES];
        self.shared = self.shared.map(|_| (0.0, self.costs));
        self
    }

    /// Cost of `passes` passes over all edges and `levels` wide levels, nanoseconds.
    #[must_use]
    pub fn passes_ns(&self, job: &Job, passes: f64, levels: f64) -> f64 {
        let wide = self.costs.levels[CLASSES - 1];
        let edge_ns = self.costs.gather_ns * self.of_edge(job);
        let pass = job.edges * edge_ns + job.nodes * wide.node_ns.min(edge_ns * NODE_EDGES);
        passes * pass + levels * wide.level_ns
    }

    /// `passes` passes over all edges by waves of code, and `levels` wide levels, nanoseconds.
    #[must_use]
    pub fn code_ns(&self, job: &Job, passes: f64, levels: f64) -> f64 {
        self.passes_ns(job, self.stepped * passes, levels)
    }

    /// Cost of an edge of a pass whose values are in the caches, nanoseconds.
    #[must_use]
    pub const fn gather_ns(&self) -> f64 {
        self.costs.gather_ns
    }

    /// Cost of the levels of a search without their nodes, nanoseconds.
    #[must_use]
    pub fn levels_ns(&self, job: &Job) -> f64 {
        let levels = job.tally.levels.iter().zip(&self.costs.levels);
        levels.map(|(levels, cost)| levels * cost.level_ns).sum()
    }

    /// Cost of a search's levels once, and of its nodes `times` times, each at the price of a node
    /// or of its edges, whichever is more. Nanoseconds.
    ///
    /// Of several threads, one searches narrow levels alone, edges included.
    #[must_use]
    pub fn search_ns(&self, job: &Job, times: Times) -> f64 {
        let edges_ns = |costs: MachineCosts| {
            let edge_ns = if job.can_pull {
                costs.edge_ns
            } else {
                costs.gather_ns
            };
            job.degree() * edge_ns * times.edge
        };
        let wide = edges_ns(self.costs);
        let narrow = self.shared.map_or(wide, |(_, alone)| edges_ns(alone));
        let prices = [narrow, narrow, narrow, wide];
        let classes = job.tally.nodes.iter().zip(&self.costs.levels).zip(prices);
        let nodes_ns: f64 = classes
            .map(|((nodes, cost), edges_ns)| {
                nodes * (cost.node_ns * (self.node * times.node)).max(edges_ns)
            })
            .sum();
        self.levels_ns(job) + nodes_ns + self.first_levels_ns(job)
    }

    /// Cost of a search that asks for levels or reached nodes alone, nanoseconds. Where it is long,
    /// threads go ahead in all but its narrowest levels.
    #[must_use]
    pub fn levels_search_ns(&self, job: &Job) -> f64 {
        let is_long = job.tally.depth() > f64::from(LONG) && job.nodes >= f64::from(NODES_LEAST);
        let Some(ahead) = self.ahead.filter(|_| is_long) else {
            return self.search_ns(job, Times::ONCE);
        };
        let mut worker = Self {
            shared: None,
            ..*self
        };
        let widths = job.tally.nodes.iter().zip(&job.tally.levels);
        let levels = worker.costs.levels.iter_mut().zip(widths).skip(1);
        levels
            .filter(|(_, (nodes, levels))| *nodes * job.degree() <= *levels * f64::from(EDGES_MOST))
            .for_each(|(cost, _)| *cost = ahead);
        worker.search_ns(job, Times::ONCE)
    }

    /// Cost of levels that threads share, in the first run of a job only, nanoseconds.
    fn first_levels_ns(&self, job: &Job) -> f64 {
        let threads = self.shared.map_or(0.0, |(threads, _)| threads);
        let first_run = job.tally.levels[CLASSES - 1] * threads * FIRST_LEVEL_NS;
        first_run / job.repeat.max(1.0)
    }

    /// Factor on the price of an edge in a pass over `job`.
    fn of_edge(&self, job: &Job) -> f64 {
        let large = 4.0 * job.nodes > PASS_BYTES;
        if large { self.edge } else { 1.0 }
    }
}
