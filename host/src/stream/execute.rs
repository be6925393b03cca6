//! Requests on a file, and their outcome.

use super::job::{On, Plan, Run, StreamResult};
use super::memory_plan::{Keeping, Sizes};
use super::read::{Caching, ReaderChoice};
use super::report::Tally;
use crate::analysis::{Detail, End, LoopRule, ParallelRule, Streaming};
use crate::backend::Canceller;
use crate::backend::cpu::device_of;
use crate::executor::Executor;
use crate::graph::disk::{DiskNodes, Rows, SwgFile};
use crate::graph::{
    Graph, GraphError, LoadOptions, Loops, Parallel, WeightChoice, WeightOrigin, load, memory,
};
use crate::outcome::{Event, Memory, RunOutcome, Track, Weights};
use crate::run::{Phase, RunError, RunRequest, steps};
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
        let size = (self.file.node_count(), self.file.edges());
        spans::run("stream", size, request, || {
            self.run_in_span(request, options, &mut spans::phases(progress))
        })
    }

    fn run_in_span(
        &self,
        request: &RunRequest,
        options: StreamOptions,
        progress: &mut dyn FnMut(Phase),
    ) -> Result<RunOutcome, RunError> {
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
        let device = device_of(request.machine.threads)?;
        let threads = device.units as usize;
        let on = match request.machine.executor {
            _ if options.blocks => Some(On::Blocks(device.units)),
            Some(Executor::Mega) => Some(On::Gpu(request.machine.device)),
            _ => None,
        };
        progress(Phase::Plan);
        let clock = Instant::now();
        let mut work = Work {
            run: Run {
                input: self,
                request,
                options,
                canceller: &self.canceller,
                started: clock,
                on,
                threads: computing(streaming, threads),
            },
            tally: Tally::default(),
            events: Vec::new(),
        };
        let sizes = Sizes {
            nodes: self.file.node_count(),
            edges: self.file.edges(),
            weighted: request.analysis.reads_weights() && !options.unit_weights,
            streaming,
            wide: false,
            parents: request.detail == Detail::Parents,
            threads: match on {
                Some(_) => MACHINE_WINDOWS,
                None => computing(streaming, threads),
            },
            on_machine: on.is_some(),
            keeping: self.keeping(options.keeping),
        };
        let mut plan = work.run.plan(sizes)?;
        if options.undirected && streaming != Streaming::Components {
            work.run.check_mirrors(&plan)?;
        }
        let plan_ns = elapsed_ns(clock);
        let (found, [first_ns, run_ns]) = work.repeat(clock, sizes, &mut plan, progress)?;
        let end = found.end;
        let mut outcome = self.outcome(request, found, work.events, &plan, &work.tally);
        outcome.device = match on {
            Some(_) => std::mem::take(&mut work.tally.machine),
            None => device.name,
        };
        outcome.times.plan = plan_ns;
        (outcome.times.run, outcome.times.first_run) = (run_ns, first_ns);
        if request.check {
            progress(Phase::Check);
            self.check(request, options, (&mut outcome, end))?;
        }
        Ok(outcome)
    }

    /// Refuses edges that cannot be taken as the request asks.
    ///
    /// # Errors
    /// [`RunError::CannotStream`].
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
    ///
    /// # Errors
    /// [`RunError::CannotStream`].
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
    ///
    /// # Errors
    /// [`RunError::CannotCheck`].
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

    /// Compares the result with that of a plain sequential implementation on the loaded graph.
    fn check(
        &self,
        request: &RunRequest,
        options: StreamOptions,
        (outcome, end): (&mut RunOutcome, End),
    ) -> Result<(), RunError> {
        let weights = match (request.analysis.reads_weights(), options.unit_weights) {
            (false, _) => WeightChoice::Ignored,
            (true, false) => WeightChoice::Given,
            (true, true) => WeightChoice::Unit,
        };
        let asked = LoadOptions {
            weights,
            ..LoadOptions::default()
        };
        let graph = load(self.file.path(), &asked, None)?.graph;
        steps::check(&graph, request, end, outcome);
        Ok(())
    }

    /// The outcome of a run, without its device and its times.
    fn outcome(
        &self,
        request: &RunRequest,
        found: StreamResult,
        events: Vec<Event>,
        plan: &Plan,
        tally: &Tally,
    ) -> RunOutcome {
        let backend = match request.machine.executor {
            Some(Executor::Mega) => Executor::Mega,
            _ => Executor::Cpu,
        };
        RunOutcome {
            backend_reason: (request.machine.executor.is_none() && !self.file.is_simple()).then(
                || {
                    "the file has loops or parallel edges, and such edges stream on the backend cpu"
                        .to_owned()
                },
            ),
            nodes: u64::from(self.file.node_count()),
            edges: self.file.edges(),
            weights: self.weights(plan),
            memory: Memory {
                predicted_bytes: plan.memory_plan.bytes,
                allocated_bytes: plan.memory_plan.bytes,
                tiles_bytes: 0,
                budget_bytes: request.machine.budget_bytes,
            },
            events,
            stream: Some(tally.report(&plan.windows, plan.memory_plan.buffers)),
            parents: found.parents,
            ..steps::outcome(&self.nodes, request, backend, found.values, found.end)
        }
    }

    /// The weights that a run read.
    fn weights(&self, plan: &Plan) -> Option<Weights> {
        if plan.sizes.streaming != Streaming::Lengths {
            return None;
        }
        let origin = if plan.sizes.weighted {
            WeightOrigin::File
        } else {
            WeightOrigin::Unit
        };
        Some(Weights {
            origin,
            kind: self
                .file
                .weight_kind()
                .filter(|_| plan.sizes.weighted)
                .unwrap_or_default(),
            rounded: 0,
            scale: None,
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

/// The repetitions of a run.
struct Work<'a> {
    run: Run<'a>,
    tally: Tally,
    events: Vec<Event>,
}

impl Work<'_> {
    /// Runs as often as requested; returns the last result, the first time and the
    /// median.
    fn repeat(
        &mut self,
        clock: Instant,
        sizes: Sizes,
        plan: &mut Plan,
        progress: &mut dyn FnMut(Phase),
    ) -> Result<(StreamResult, [u64; 2]), RunError> {
        let of = self.run.request.repeat.get();
        let mut times = Vec::new();
        let mut repetition = 1;
        loop {
            progress(Phase::Run { repetition, of });
            let start_ns = elapsed_ns(clock);
            self.tally = Tally::default();
            self.run.started = Instant::now();
            // Windows in memory stay there, as in a resident run.
            if repetition > 1 && !(plan.memory_plan.keeps && plan.sizes == sizes) {
                *plan = self.run.plan(sizes)?;
            }
            let found = self.run.run(plan, &mut self.tally)?;
            let duration_ns = elapsed_ns(self.run.started);
            times.push(duration_ns);
            self.events.push(Event {
                name: format!("run {repetition}"),
                track: Track::Device,
                start_ns,
                duration_ns,
            });
            if repetition >= of {
                return Ok((found, steps::first_and_median(times)));
            }
            repetition += 1;
        }
    }
}
