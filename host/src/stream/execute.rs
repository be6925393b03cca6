//! Requests on a file, and their outcome.

use super::memory_plan::{Keeping, Sizes};
use super::plan::{On, Plan, Run, StreamResult};
use super::read::{Caching, ReaderChoice};
use super::report::Tally;
use crate::analysis::{Detail, LoopRule, ParallelRule, Streaming};
use crate::backend::Canceller;
use crate::backend::cpu::device_of;
use crate::executor::Executor;
use crate::graph::disk::{DiskNodes, Rows, SwgFile};
use crate::graph::{Graph, GraphError, Loops, Parallel, memory};
use crate::job::{self, Found, Job, drive, load_whole};
use crate::outcome::{Memory, RunOutcome, Times, Weights};
use crate::run::{Phase, RunError, RunRequest};
use crate::spans;
use crate::units::{bytes, elapsed_ns};
use std::path::Path;
use std::time::Instant;

/// Options of streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamOptions {
    /// Bytes of a window, rounded up to a power of two from 64 to 2^30; by default a few MiB,
    /// less if the budget is small.
    pub window_bytes: Option<u64>,
    /// The reader.
    pub reader: ReaderChoice,
    /// Whether reads go around the page cache.
    pub caching: Caching,
    /// Whether windows stay in memory once they were read.
    pub keeping: Keeping,
    /// Take the weight 1 on every edge.
    pub unit_weights: bool,
    /// Take every edge in both directions: the file has to be marked symmetric, and a pass checks
    /// that it is.
    pub undirected: bool,
    /// Run the kernel of a GPU's stream on threads, for tests without a GPU.
    pub blocks: bool,
}

/// A graph whose edges stay in its file.
///
/// ```
/// use seawall::graph::{LoadOptions, load, save};
/// use seawall::run::{AnalysisKind, Machine, RunRequest, execute};
/// use seawall::stream::{StreamOptions, Streamed};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("grid.swg");
/// let graph = load("gen:grid:50", &LoadOptions::default(), None)?.graph;
/// save(&graph, &path, None)?;
///
/// let streamed = Streamed::open(&path)?.expect("a .swg file");
/// let request = RunRequest::new(AnalysisKind::Bfs, vec![0]).on(Machine::cpu(None));
/// let outcome = streamed.run(&request, StreamOptions::default())?;
/// assert_eq!(outcome.values, execute(&graph, &request)?.values);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Streamed {
    pub(super) file: SwgFile,
    pub(super) rows: Rows,
    pub(super) nodes: Graph,
    canceller: Canceller,
}

/// Returns whether `request` can stream, on any file.
///
/// # Errors
/// [`RunError::CannotStream`].
pub fn check_streams(request: &RunRequest) -> Result<Streaming, RunError> {
    let analysis = request.analysis;
    let refuse = |what| RunError::CannotStream { analysis, what };
    let Some(streaming) = analysis.facts().streams else {
        return Err(refuse(format!("{analysis} runs on resident graphs alone")));
    };
    if request.detail == Detail::EachSource {
        return Err(refuse(
            "sets of sources are found on resident graphs alone".to_owned(),
        ));
    }
    if request.detail == Detail::Parents && streaming == Streaming::Lengths {
        return Err(refuse(
            "a tree of lightest paths is found on resident graphs alone".to_owned(),
        ));
    }
    if request.topology.is_some() {
        return Err(refuse("a streamed search has no topology".to_owned()));
    }
    match request.machine.executor {
        None | Some(Executor::Cpu | Executor::Mega) => Ok(streaming),
        Some(executor) => Err(refuse(format!("the backend {executor} does not stream"))),
    }
}

impl Streamed {
    /// Opens a file and reads its row offsets. `None` if it is no plain `.swg` file.
    ///
    /// # Errors
    /// If the file cannot be read, or is invalid; if there is no memory for its nodes.
    pub fn open(path: &Path) -> Result<Option<Self>, GraphError> {
        SwgFile::open(path)?.map(Self::of).transpose()
    }

    /// Works as [`Self::open`], for an open file.
    ///
    /// # Errors
    /// As there.
    pub fn of(file: SwgFile) -> Result<Self, GraphError> {
        let DiskNodes { rows, nodes } = file.nodes()?;
        Ok(Self {
            file,
            rows,
            nodes,
            canceller: Canceller::default(),
        })
    }

    /// The nodes of the graph with their ids in the file, and without edges.
    #[must_use]
    pub fn nodes(&self) -> &Graph {
        &self.nodes
    }

    /// Returns the nodes, and frees the row offsets.
    #[must_use]
    pub fn into_nodes(self) -> Graph {
        self.nodes
    }

    /// Ends runs from another thread, between windows.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// Runs `request` on the CPU or a GPU.
    ///
    /// Memory is the budget of the request: row offsets and values of nodes, and buffers for
    /// windows from the rest, at most a few for each thread, or for the whole file if windows stay
    /// in memory. A check loads the whole graph, outside of the budget, and is refused before the
    /// run if there is no memory for it.
    ///
    /// # Errors
    /// As [`RunRequest::check_for`]; [`RunError::CannotStream`]; [`RunError::CannotCheck`];
    /// [`RunError::StreamOverBudget`];
    /// [`RunError::Stream`] if the file changed or is invalid; [`RunError::StreamTime`] at the end
    /// of the time budget.
    pub fn run(
        &self,
        request: &RunRequest,
        options: StreamOptions,
    ) -> Result<RunOutcome, RunError> {
        self.run_with_progress(request, options, &mut |_| ())
    }

    /// Runs `request` as [`run`](Self::run), and calls `progress` at the start of each phase.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_with_progress(
        &self,
        request: &RunRequest,
        options: StreamOptions,
        progress: &mut dyn FnMut(Phase),
    ) -> Result<RunOutcome, RunError> {
        let (nodes, edges) = (self.file.node_count(), self.file.edges());
        let span = spans::run_of("stream", nodes, edges, request);
        drive(span, request, progress, |job| {
            Passes::prepare(self, job, options)
        })
    }

    /// Refuses what this file cannot answer.
    fn check(&self, request: &RunRequest, options: StreamOptions) -> Result<Streaming, RunError> {
        let streaming = check_streams(request)?;
        request.check_for_nodes(self.file.node_count())?;
        self.check_weights(request, options)?;
        let has_weights = options.unit_weights || self.file.weight_kind().is_some();
        if request.analysis.reads_weights() && !has_weights {
            let analysis = request.analysis;
            return Err(RunError::NoWeights { analysis });
        }
        self.check_form(request, options)?;
        if request.check {
            self.check_has_space(request, options)?;
        }
        Ok(streaming)
    }

    /// Refuses edges that cannot be taken as the request asks.
    fn check_form(&self, request: &RunRequest, options: StreamOptions) -> Result<(), RunError> {
        let analysis = request.analysis;
        let refuse = |what: &str| {
            let what = what.to_owned();
            Err(RunError::CannotStream { analysis, what })
        };
        let ignores_direction = analysis.facts().streams == Some(Streaming::Components);
        if options.undirected && !(self.file.is_symmetric() || ignores_direction) {
            return refuse(
                "not every edge has both directions; convert the file with --undirected",
            );
        }
        if self.file.is_simple() {
            return Ok(());
        }
        let (loops, parallel) = request.rules();
        let drops = request.loops == Some(Loops::Drop) && loops == LoopRule::Count;
        let merges = request.parallel.is_some_and(|asked| {
            asked != Parallel::Keep
                && parallel != ParallelRule::NoEffect
                && asked != parallel.taken()
        });
        if drops || merges {
            return refuse(
                "loops and parallel edges are taken as they are in the file; convert it with --loops and --parallel",
            );
        }
        if options.blocks || request.machine.executor == Some(Executor::Mega) {
            return refuse(
                "the file has loops or parallel edges, and such edges stream on the backend cpu; convert it with --loops drop --parallel first, or least",
            );
        }
        Ok(())
    }

    /// The default choice whether windows stay: if the graph cannot be resident otherwise.
    fn keeping(&self, asked: Keeping) -> Keeping {
        match asked {
            Keeping::Auto if self.file.edges() <= u64::from(u32::MAX) => Keeping::Never,
            asked => asked,
        }
    }

    /// Refuses an analysis that would use weights without streaming them.
    fn check_weights(&self, request: &RunRequest, options: StreamOptions) -> Result<(), RunError> {
        let analysis = request.analysis;
        let uses = analysis.facts().follows_weights;
        let has = self.file.weight_kind().is_some() && !options.unit_weights;
        if uses && request.weighted && has {
            let what = format!(
                "{analysis} would use the weights of the file; ignore them (--unit-weights)"
            );
            return Err(RunError::CannotStream { analysis, what });
        }
        Ok(())
    }

    /// Returns whether the graph can be loaded for a check.
    fn check_has_space(
        &self,
        request: &RunRequest,
        options: StreamOptions,
    ) -> Result<(), RunError> {
        let analysis = request.analysis;
        let refuse = |what| Err(RunError::CannotCheck { analysis, what });
        let edges = self.file.edges();
        if edges > u64::from(u32::MAX) {
            return refuse(format!(
                "a resident graph has fewer than 2^32 edges and this one {edges}"
            ));
        }
        let reads_weights = analysis.reads_weights() && !options.unit_weights;
        let arrays = 1 + u64::from(reads_weights);
        // Row offsets, edges, and a word for each node of the plain implementation.
        let least = 4 * (2 * u64::from(self.file.node_count()) + 1) + 4 * arrays * edges;
        memory::check(least).or_else(|short| {
            refuse(format!(
                "it takes {} at least and {} of memory are left",
                bytes(least),
                bytes(short.available)
            ))
        })
    }
}

/// Windows that a kernel on a machine has at a time, besides those being read.
const MACHINE_WINDOWS: usize = 16;

/// Fewest threads that add up ranks faster than one, which needs no atomic additions: two took 1.3
/// to 1.9 times as long as one.
const ADDERS_MIN: usize = 4;

/// Number of `threads` that compute.
fn computing(streaming: Streaming, threads: usize) -> usize {
    match streaming {
        Streaming::Ranks if threads < ADDERS_MIN => 1,
        _ => threads,
    }
}

/// A planned run.
struct Passes<'a> {
    run: Run<'a>,
    plan: Plan,
    sizes: Sizes,
    plan_ns: u64,
    tally: Tally,
    /// Name of the threads.
    device: String,
}

impl<'a> Passes<'a> {
    /// Checks the request, and plans memory and windows.
    fn prepare(
        input: &'a Streamed,
        job: &mut Job<'a>,
        options: StreamOptions,
    ) -> Result<Self, RunError> {
        let request = job.request;
        let streaming = input.check(request, options)?;
        let device = device_of(request.machine.threads)?;
        let on = match request.machine.executor {
            _ if options.blocks => Some(On::Blocks(device.units)),
            Some(Executor::Mega) => Some(On::Gpu(request.machine.device)),
            _ => None,
        };
        job.phase(Phase::Plan);
        let start = job.now();
        let threads = computing(streaming, device.units as usize);
        let run = Run {
            input,
            request,
            options,
            canceller: &input.canceller,
            started: Instant::now(),
            on,
            threads,
        };
        let sizes = Sizes {
            nodes: input.file.node_count(),
            edges: input.file.edges(),
            weighted: request.analysis.reads_weights() && !options.unit_weights,
            streaming,
            wide: false,
            parents: request.detail == Detail::Parents,
            threads: on.map_or(threads, |_| MACHINE_WINDOWS),
            on_machine: on.is_some(),
            keeping: input.keeping(options.keeping),
        };
        let plan = run.plan(sizes)?;
        if options.undirected && streaming != Streaming::Components {
            run.check_mirrors(&plan)?;
        }
        Ok(Self {
            run,
            plan,
            sizes,
            plan_ns: job.since(start),
            tally: Tally::default(),
            device: device.name,
        })
    }
}

impl job::Work for Passes<'_> {
    type Answer = (StreamResult, [u64; 2]);
    type Outcome = RunOutcome;
    type Error = RunError;

    fn answer(&mut self, job: &mut Job<'_>) -> Result<Self::Answer, RunError> {
        job.repeat(|repetition| {
            self.tally = Tally::default();
            self.run.started = Instant::now();
            // Windows in memory stay there, as in a resident run.
            let stay = self.plan.memory_plan.keeps && self.plan.sizes == self.sizes;
            if repetition > 1 && !stay {
                self.plan = self.run.plan(self.sizes)?;
            }
            let found = self.run.run(&mut self.plan, &mut self.tally)?;
            Ok((found, elapsed_ns(self.run.started)))
        })
    }

    fn finish(self, job: &mut Job<'_>, answer: Self::Answer) -> Result<RunOutcome, RunError> {
        let (found, [first_run, run]) = answer;
        let (input, options, request) = (self.run.input, self.run.options, job.request);
        let (plan, tally) = (self.plan, self.tally);
        let asked = request.machine.executor;
        let is_refused = asked.is_none() && !input.file.is_simple();
        let reason =
            "the file has loops or parallel edges, and such edges stream on the backend cpu";
        let report = tally.report(&plan.windows, plan.memory_plan.buffers);
        let end = found.end;
        let answer = Found {
            backend: asked.filter(|on| on.is_on_gpu()).unwrap_or(Executor::Cpu),
            reason: is_refused.then(|| reason.to_owned()),
            values: found.values,
            parents: found.parents,
            end,
            times: Times {
                plan: self.plan_ns,
                run,
                first_run,
                ..Times::default()
            },
            memory: Memory {
                predicted_bytes: plan.memory_plan.bytes,
                allocated_bytes: plan.memory_plan.bytes,
                tiles_bytes: 0,
                budget_bytes: request.machine.budget_bytes,
            },
            device: self.run.on.map_or(self.device, |_| tally.machine),
        };
        let mut outcome = RunOutcome {
            edges: input.file.edges(),
            weights: (plan.sizes.streaming == Streaming::Lengths)
                .then(|| Weights::of_file(&input.file, options.unit_weights)),
            stream: Some(report),
            ..job.outcome(&input.nodes, &input.nodes, answer)
        };
        let is_weighted = request.analysis.reads_weights();
        job.check(&mut outcome, end, || {
            load_whole(input.file.path(), is_weighted, options.unit_weights)
        })?;
        Ok(outcome)
    }
}
