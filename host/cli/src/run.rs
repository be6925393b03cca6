//! `seawall run`: a graph, an analysis, a report.

mod batch;
mod centrality;
mod columns;
mod program;
mod results;
mod spans;
mod ranks;
mod stream;
mod target;
mod topology;

use std::ffi::{OsStr, OsString};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Args, ValueEnum, ValueHint};

use super::CliError;
use super::files::Outputs;
use super::form::FormArgs;
use super::program::ProgramFailure;
use super::progress::ProgressLine;
use super::sources::{SourceArgs, Sources};
use super::weights::WeightArgs;
use crate::names::{AnalysisName, BackendName, check_device};
use crate::numbers::{above_zero, damping, seconds, size, thread_count, tolerance};
use crate::output::warn;
use crate::reading::{READING, ReadArgs};
use centrality::CentralityArgs;
pub(crate) use ranks::Ranks;
use results::OutputArgs;
use seawall::analysis::{AnalysisKind, ranking_iterations_max};
use seawall::batch::{is_batch, list_of};
use seawall::executor::{Executor, Jit};
use seawall::graph::{Graph, GraphError, LoadOptions, Loaded, load};
use seawall::multi::DeviceChoice;
use seawall::outcome::{Rounds, RunOutcome, Weights};
use seawall::run::{
    Analyzer, Detail, LabelRule, Machine, Phase, Ranking, RunRequest, execute_with_progress,
    forecast_ns, prepare,
};
use seawall::units::{counted, elapsed_ns};
use seawall_report::table::TableColumn;
use stream::{StreamArgs, lesser};
use topology::TopologyChoice;

/// Headings of options, by topic.
const ANALYSIS: &str = "Analysis";
const DETAILS: &str = "Details of an analysis";
const MACHINE: &str = "Machine";
const LIMITS: &str = "Repetition and limits";
const RESULTS: &str = "Results";

const EXAMPLES: &str = "\
Examples:
  seawall run roads.gr.xz --analysis sssp --source 1 --target 77
  seawall run calls.el --analysis pagerank --out ranks.csv
  seawall run gen:grid:512 --analysis bfs --source 0 --check

Graphs: edge lists and tables (.el, .txt, .csv), .mtx, .gr, .graph, .graphml, .npz, .swg and more,
also compressed; generators such as gen:rmat:20:16; a folder or several graphs are a batch.
--help-all has all options, formats and generators.";

/// Examples and notes of the long help.
const ALL_EXAMPLES: &str = "\
Examples:
  seawall run gen:grid:512 --analysis bfs --source 0 --check
  seawall run roads.gr.xz --analysis sssp --source 1 --out distances.csv
  seawall run prices.el --analysis sssp --source 1 --scale-weights 100 --json
  seawall run email.txt --undirected --analysis cc --json | jq .checksum
  seawall run calls.el --analysis bfs --source 0 --parents --out tree.npy
  seawall run roads.gr --analysis sssp --source 1 --target 77
  seawall run calls.el --analysis ppr --source 3=0.5 --source 7=2
  seawall run calls.el --analysis pagerank --out ranks.npy --columns value
  seawall run calls.el --analysis reach --source 3 --source 17 --each --out who.csv
  seawall run gen:rmat:20:16 --analysis bfs --source 7 --backend mega --repeat 5 --trace run.json
  seawall run gen:rmat:16:16 --analysis bfs --source 7 --explain
  seawall run gen:batch:8192:chain:512 --analysis bfs --source 0 --json
  seawall run graphs/ extra.mtx @more.txt --analysis cc --out components.csv
  seawall run gen:rmat:12:8 --program examples/programs/components.json
  seawall run gen:grid:64 --program examples/programs/distances.json --input sources=[5]
  seawall run web.swg --analysis pagerank --budget 2GiB --json | jq .streamed_bytes

Files: Matrix Market (.mtx), edge list (.txt, .el, .csv), DIMACS (.gr, .col, .max), PACE
(.gr), METIS (.graph), GraphML (.graphml), adjacency list (.adjlist), LGL (.lgl), SciPy
(.npz), ECL (.egr), GBBS (.bin), Seawall binary (.swg), each also as .gz, .xz, .bz2 or
.zst; - is standard input. Ids of text files may be names.
Generators: gen:rmat:SCALE:EDGEFACTOR[:SEED], gen:rmat-directed:SCALE:EDGEFACTOR[:SEED],
gen:uniform:SCALE:EDGEFACTOR[:SEED], gen:grid:WIDTH[xHEIGHT], gen:chain:NODES[:SEED].

Batches: several graphs run in one submission, one per block or thread at a time, and
each has its own result. Name several, a folder (its graph files, by name), @LIST (a
text file, one graph a line, # starts a comment, paths are relative to the list), or
gen:batch:COUNT:SHAPE (such as chain:512, with COUNT seeds). Sources are looked for in
every graph, the time budget is that of all together, backends are mega and cpu, and
--parents and --each are for one graph.

--out - writes to standard output, as .csv unless --out-format says otherwise. Where nodes
have names, tables have the column name, and cells that are nodes are names, except in
.npy.

A node that no source reaches has no value and no parent: both are empty in .csv,
null in .json, and in .npy the largest number of the type, 2^32 - 1 and 2^64 - 1. A
set of sources is a hexadecimal number whose lowest bit is the first source, in .npy
64-bit words of it, lowest first.";

/// Run an analysis on a graph.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = ALL_EXAMPLES, allow_negative_numbers = true)]
pub(super) struct RunArgs {
    /// Graph to analyse: a file, - for standard input, or a generator.
    ///
    /// Several graphs, a folder, @LIST or gen:batch:COUNT:SHAPE are a batch.
    #[arg(value_name = "GRAPH", required = true, value_hint = ValueHint::AnyPath)]
    graphs: Vec<OsString>,
    /// The analysis to run.
    #[arg(
        long,
        value_name = "NAME",
        ignore_case = true,
        required_unless_present = "program",
        help_heading = ANALYSIS
    )]
    analysis: Option<AnalysisName>,
    /// Run the program of a JSON file instead, or - for standard input; auto is the cpu backend
    /// then.
    #[arg(long, value_name = "FILE", conflicts_with_all = NOT_OF_PROGRAMS,
        hide_short_help = true, help_heading = ANALYSIS)]
    program: Option<PathBuf>,
    /// Values of one of the program's inputs, a JSON list or a number, in place of those of its
    /// text.
    #[arg(long = "input", value_name = "NAME=VALUES", requires = "program",
        conflicts_with = "analysis",
        hide_short_help = true, help_heading = ANALYSIS)]
    inputs: Vec<String>,
    #[command(flatten)]
    sources: SourceArgs,
    #[command(flatten)]
    detail: DetailArgs,
    #[command(flatten)]
    centrality: CentralityArgs,
    /// Take every edge in both directions.
    #[arg(long, help_heading = READING)]
    undirected: bool,
    #[command(flatten)]
    reading: ReadArgs,
    #[command(flatten)]
    weights: WeightArgs,
    #[command(flatten)]
    form: FormArgs,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    stream: StreamArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = DETAILS)]
struct DetailArgs {
    /// With bfs: add the parent of every node, its smallest neighbour on the previous level; a
    /// source is its own. With sssp: the smallest nearer neighbour on a lightest path.
    #[arg(long, conflicts_with = "each", hide_short_help = true)]
    parents: bool,
    /// With bfs and sssp: show a shortest or lightest path to this node.
    ///
    /// It is given by its id or its name in the file.
    #[arg(long, value_name = "NODE", conflicts_with = "each", help_heading = ANALYSIS)]
    target: Option<String>,
    /// With reach: add for every node the set of sources that reach it, one bit per source in the
    /// given order, and the number of nodes that each source reaches.
    #[arg(long, hide_short_help = true)]
    each: bool,
    /// With labels: how they are passed on.
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "NAME",
        hide_short_help = true
    )]
    rule: LabelRule,
    /// With msf: the forest of the largest weight, instead of the smallest.
    #[arg(long, hide_short_help = true)]
    maximum: bool,
}

impl DetailArgs {
    fn detail(&self) -> Detail {
        match (self.parents || self.target.is_some(), self.each) {
            (true, _) => Detail::Parents,
            (_, true) => Detail::EachSource,
            _ => Detail::Plain,
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = MACHINE)]
struct MachineArgs {
    /// Executor; auto takes the one expected to be fastest here.
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    backend: BackendName,
    /// Number of the GPU.
    #[arg(long, default_value_t = 0, value_name = "N", hide_short_help = true)]
    device: u32,
    /// Several GPUs for one graph, cut between them: their numbers, such as 0,1, or all.
    ///
    /// With --backend cpu, as many devices are simulated, and share the threads.
    #[arg(long, value_name = "LIST", conflicts_with_all = ["device", "emit", "parents", "each"], hide_short_help = true)]
    devices: Option<DeviceChoice>,
    /// Threads of the cpu backend [default: as many as pay].
    ///
    /// All where several graphs run.
    #[arg(long, value_name = "N", value_parser = thread_count)]
    threads: Option<NonZeroUsize>,
    /// How code of programs runs, that of analyses without kernels too.
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "NAME",
        hide_short_help = true
    )]
    jit: Jit,
    /// Leave a run to the GPU also if CPU threads are expected to be faster.
    ///
    /// Otherwise they take it over once it has taken twice as long as they are expected to take.
    #[arg(long, hide_short_help = true)]
    no_takeover: bool,
    /// Print a program's machine code for CPU threads or its PTX for GPUs instead of running it.
    #[arg(
        long,
        value_name = "FORM",
        conflicts_with = "analysis",
        hide_short_help = true
    )]
    emit: Option<EmitName>,
    /// Shape of a search's steps, if it can hold the frontier; auto chooses on the device for each
    /// step.
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "NAME",
        hide_short_help = true
    )]
    topology: TopologyChoice,
    /// Bytes for graph and plan, such as 8GiB [default: the device's memory].
    #[arg(long, value_name = "SIZE", value_parser = size)]
    budget: Option<u64>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = LIMITS)]
struct LimitArgs {
    /// Number of runs; times are medians.
    #[arg(long, default_value = "1", value_name = "N", value_parser = above_zero::<NonZeroU32>, hide_short_help = true)]
    repeat: NonZeroU32,
    /// Seconds after which a run is stopped, at the end of its current wave.
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS", value_parser = seconds, hide_short_help = true)]
    time_budget: f64,
    /// Iterations after which an analysis stops, converged or not.
    #[arg(long, value_name = "N", value_parser = above_zero::<NonZeroU32>, help = max_iterations_help(), hide_short_help = true)]
    max_iterations: Option<NonZeroU32>,
    /// PageRank: share of a rank that nodes pass on.
    #[arg(long, default_value_t = Ranking::default().damping, value_name = "SHARE", value_parser = damping, hide_short_help = true)]
    damping: f32,
    /// PageRank: total change of all ranks at which the ranking ends.
    #[arg(long, default_value_t = Ranking::default().tolerance, value_name = "CHANGE", value_parser = tolerance, hide_short_help = true)]
    tolerance: f32,
    /// Compare the result with a plain sequential implementation.
    #[arg(long, help_heading = RESULTS)]
    check: bool,
    /// Plan every program, also one that was planned before.
    #[arg(long, hide_short_help = true)]
    no_plan_cache: bool,
}

fn max_iterations_help() -> String {
    format!(
        "Iterations after which an analysis stops, converged or not [default: none; pagerank: \
         {} at the default damping, from which on ranks change by rounding alone]",
        ranking_iterations_max(Ranking::default().damping)
    )
}

/// Loads, runs and reports. Everything that can be refused before the graph is
/// read is refused before.
pub(super) fn command(args: &RunArgs) -> Result<ExitCode, CliError> {
    run(args, None)
}

/// Runs on ranks; the first one reports.
pub(super) fn command_on(args: &mut RunArgs, ranks: &Ranks) -> Result<ExitCode, CliError> {
    args.check_ranks()?;
    if args.machine.backend.0.is_some_and(Executor::is_on_gpu) {
        args.machine.device = ranks.gpu()?;
    }
    run(args, Some(ranks))
}

fn run(args: &RunArgs, ranks: Option<&Ranks>) -> Result<ExitCode, CliError> {
    let on_threads = args.machine.backend.0 == Some(Executor::Cpu);
    check_device(args.machine.device, on_threads && ranks.is_none())?;
    if let Some(file) = &args.program {
        return args.run_program(file, ranks);
    }
    args.request(Vec::new()).check()?;
    args.weights.check_for(&args.request(Vec::new()))?;
    let files = args.check_files()?;
    let sources = args.sources.read()?;
    if args.analysis().takes_sources() {
        args.analysis().check_sources(sources.len())?;
    }
    let [name] = args.graphs.as_slice() else {
        return batch::command(args, &sources, &files);
    };
    if is_batch(&args.graphs) {
        return batch::command(args, &sources, &files);
    }
    let (values, has_parents) = (args.analysis().facts().values, args.detail.parents);
    let rows = args
        .output
        .check(|format| TableColumn::of_run(values, has_parents, format))?;
    let line = ProgressLine::new(args.output.quiet);
    let (mut outcome, nodes) = args.run(name, &sources, &line, ranks)?;
    if ranks.is_some_and(|ranks| !ranks.reports()) {
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(label) = &args.detail.target {
        let name = &*name.to_string_lossy();
        outcome.path = Some(target::path(&outcome, label, name, &nodes)?);
    }
    drop(line);
    args.output
        .write(&outcome, &nodes, &name.to_string_lossy(), rows)?;
    if !outcome.converged {
        warn(&args.cut(&outcome.rounds));
    }
    if args.request(Vec::new()).explain && outcome.backend == Executor::Graph {
        warn(UNTIMED);
    }
    let is_asked = args.machine.backend.0.is_some();
    args.output.report(&outcome, &nodes, is_asked, &files)?;
    Ok(verdict(outcome.checked))
}

fn verdict(checked: Option<bool>) -> ExitCode {
    if checked == Some(false) {
        warn("the values differ from those of a plain sequential implementation (--check)");
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Warning that groups have no times.
const UNTIMED: &str = "no group has a time of its own: a CUDA graph runs all of them in one launch; use --backend launches or mega for times";

/// A form of generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EmitName {
    /// Instructions of this processor, of every wave of code
    Asm,
    /// PTX for GPUs, of all waves of code
    Ptx,
}

/// Options of analyses, which programs do not have.
const NOT_OF_PROGRAMS: [&str; 18] = [
    "analysis",
    "sources",
    "sources_file",
    "parents",
    "each",
    "weighted",
    "direction",
    "normalized",
    "target",
    "rule",
    "maximum",
    "topology",
    "max_iterations",
    "damping",
    "tolerance",
    "check",
    "plot",
    "draw",
];

impl RunArgs {
    /// The analysis; an arbitrary one if a program runs instead.
    fn analysis(&self) -> AnalysisKind {
        self.analysis.map_or(AnalysisKind::Bfs, |name| name.0)
    }

    /// Runs on the resident graph, or on streamed edges if it does not fit. Returns the outcome and
    /// the nodes with their ids.
    fn run(
        &self,
        name: &OsStr,
        sources: &Sources,
        line: &ProgressLine,
        ranks: Option<&Ranks>,
    ) -> Result<(RunOutcome, Graph), CliError> {
        let is_drawn = self.output.draw.is_some();
        if is_drawn {
            self.stream.check_whole("--draw")?;
        }
        let in_parts = match (ranks, &self.machine.devices) {
            (Some(ranks), _) => self.run_in_parts_on_ranks(ranks, name, sources, line)?,
            (None, Some(choice)) => self.run_in_parts(choice, name, sources, line)?,
            (None, None) => None,
        };
        if let Some(done) = in_parts {
            return Ok(done);
        }
        if is_drawn || self.machine.devices.is_some() || ranks.is_some() {
            return self.run_resident(name, sources, line, ranks);
        }
        let streamed = |streaming| self.run_streamed(streaming, name, sources, line);
        let resident = || self.run_resident(name, sources, line, None);
        if let Some(streaming) = self.streaming(name)? {
            let least = self.least_resident(&streaming);
            return match streamed(streaming) {
                Err(failed) if self.may_be_resident(&failed, least) => {
                    resident().map_err(|error| lesser(failed, error))
                }
                done => done,
            };
        }
        match resident() {
            Err(failed) => match self.streaming_instead(name, &failed)? {
                Some(streaming) => streamed(streaming).map_err(|late| lesser(late, failed)),
                None => Err(failed),
            },
            done => done,
        }
    }

    fn run_resident(
        &self,
        name: &OsStr,
        sources: &Sources,
        line: &ProgressLine,
        ranks: Option<&Ranks>,
    ) -> Result<(RunOutcome, Graph), CliError> {
        let started = Instant::now();
        let loaded = self.load_beside(name, line)?;
        self.output.check_size(&loaded.graph)?;
        let weights = Weights::of(&loaded);
        let Loaded { graph, stats } = loaded;
        let mirrored = stats.mirrored;
        let load_ns = elapsed_ns(started);
        let request = self.request_on(&graph, &name.to_string_lossy(), sources)?;
        let forecast = line.is_shown().then(|| forecast_ns(&graph, &request));
        let mut progress = |phase| {
            line.phase(phase);
            if let (Phase::Run { repetition: 1, .. }, Some(forecast_ns)) = (phase, forecast) {
                line.warn_if_late(forecast_ns);
            }
        };
        let mut outcome = match (ranks, &self.machine.devices) {
            (Some(ranks), _) => ranks.execute(&graph, &request, &mut progress)?,
            (None, Some(choice)) => {
                let mut analyzer = Analyzer::new(&graph);
                choice.execute(&graph, &request, &mut analyzer, &mut progress)?
            }
            (None, None) => execute_with_progress(&graph, &request, &mut progress)?,
        };
        outcome.times.load = load_ns;
        outcome.taken.mirrored_edges = mirrored;
        outcome.taken.symmetric = graph.has_all_images();
        outcome.taken.undirected_reaches_more = outcome.would_reach_more(&graph);
        outcome.weights = weights;
        Ok((outcome, graph))
    }

    fn run_program(&self, file: &Path, ranks: Option<&Ranks>) -> Result<ExitCode, CliError> {
        let [graph] = self.graphs.as_slice() else {
            let graphs = self.graphs.len();
            return Err(ProgramFailure::Batch { graphs }.into());
        };
        self.stream.check_whole("--program")?;
        let files = self.check_files()?;
        files.spare(file.as_os_str())?;
        let mut machine = self.machine();
        if self.machine.devices.is_some() || ranks.is_some() {
            machine.executor = Some(DeviceChoice::program_executor(&machine));
        }
        if self.output.is_timed() && machine.executor == Some(Executor::Graph) {
            warn(UNTIMED);
        }
        program::command(program::ProgramRequest {
            args: self,
            file,
            graph,
            machine,
            ranks,
            table: self.output.table()?,
            is_for_rows: files.take_standard_output(),
        })
    }

    /// Returns whether standard output is for scripts.
    pub(super) fn is_for_scripts(&self) -> bool {
        self.output.json
    }

    /// The warning that a limit ended the analysis.
    fn cut(&self, rounds: &Rounds) -> String {
        let (Rounds::Levels(count) | Rounds::Iterations(count)) = *rounds;
        let analysis = self.analysis();
        let after = format!(
            "{analysis} stopped at the limit, after {}",
            match rounds {
                Rounds::Levels(_) => counted(u64::from(count), "level"),
                Rounds::Iterations(_) => counted(u64::from(count), "iteration"),
            }
        );
        if analysis.facts().ranks {
            return format!(
                "{after}, before ranks changed by no more than {} in all; raise --max-iterations or --tolerance",
                self.limits.tolerance
            );
        }
        format!("{after}, before it was done: values may change; raise --max-iterations")
    }

    /// Returns the outputs, none of which is an input. Graphs in a folder or a list are not
    /// checked yet.
    fn check_files(&self) -> Result<Outputs, CliError> {
        let files = self.output.files()?;
        for graph in &self.graphs {
            files.spare(list_of(graph).as_ref().unwrap_or(graph))?;
        }
        if let Some(sources) = self.sources.file() {
            files.spare(sources)?;
        }
        Ok(files)
    }

    fn load_options(&self) -> LoadOptions {
        let weights = self.weights.choice_for(&self.request(Vec::new()));
        LoadOptions {
            listed_order: self.form.listed_order(),
            signed: self.analysis().facts().signed,
            ..self.reading.options(self.undirected, weights)
        }
    }

    /// Loads the graph, and prepares the run meanwhile.
    fn load_beside(&self, name: &OsStr, line: &ProgressLine) -> Result<Loaded, CliError> {
        let request = self.request(Vec::new());
        std::thread::scope(|scope| {
            // If the thread cannot be started, the run prepares itself.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || prepare(&request));
            self.load(name, line)
        })
    }

    fn load(&self, name: &OsStr, line: &ProgressLine) -> Result<Loaded, CliError> {
        let shown = name.to_string_lossy();
        line.say(format!("loading {shown}"));
        let options = self.load_options();
        let hear = |done, total| line.bytes(done, total);
        let loaded = load(name, &options, Some(&hear)).map_err(|error| self.named(error))?;
        if self.request(Vec::new()).reads_weights() && loaded.graph.weights().is_none() {
            return Err(GraphError::NoWeights {
                file: shown.into_owned(),
            }
            .into());
        }
        Ok(loaded)
    }

    /// Adds the analysis to the refusal of a negative weight.
    fn named(&self, source: GraphError) -> CliError {
        let analysis = self.analysis();
        if source.is_of_negative_weight() {
            return CliError::Negative { analysis, source };
        }
        source.into()
    }

    fn machine(&self) -> Machine {
        let asked = &self.machine;
        let mut machine = Machine::auto();
        machine.executor = asked.backend.0;
        machine.device = asked.device;
        machine.threads = asked.threads;
        machine.jit = asked.jit;
        machine.takeover = !asked.no_takeover;
        machine.budget_bytes = asked.budget;
        machine.time_budget_ns = (self.limits.time_budget * 1e9) as u64;
        machine
    }

    fn request(&self, sources: Vec<u32>) -> RunRequest {
        let mut request = RunRequest::new(self.analysis(), sources).on(self.machine());
        request.repeat = self.limits.repeat;
        request.check = self.limits.check;
        request.max_iterations = self.limits.max_iterations;
        request.ranking = Ranking {
            damping: self.limits.damping,
            tolerance: self.limits.tolerance,
        };
        request.centrality = self.centrality.asked();
        request.topology = self.machine.topology.forced();
        request.detail = self.detail.detail();
        request.rule = self.detail.rule;
        request.maximum = self.detail.maximum;
        request.reuse_plans = !self.limits.no_plan_cache;
        request.loops = self.form.loops;
        request.parallel = self.form.parallel;
        request.explain = self.output.explain || self.output.trace.is_some();
        request
    }

    /// The request from `sources` on `graph`, which the caller named `name`; refuses sources and a
    /// target that are not nodes of it.
    fn request_on(
        &self,
        graph: &Graph,
        name: &str,
        sources: &Sources,
    ) -> Result<RunRequest, CliError> {
        let mut request = self.request(self.source_nodes(sources, name, graph)?);
        request.source_weights = self.source_weights(sources, graph);
        if let Some(label) = &self.detail.target {
            Sources::target(graph, name, label)?;
        }
        Ok(request)
    }

    /// Returns the start weights, if the analysis takes sources.
    fn source_weights(&self, sources: &Sources, graph: &Graph) -> Vec<f64> {
        if self.analysis().takes_sources() {
            sources.weights(graph)
        } else {
            Vec::new()
        }
    }

    /// Returns the source nodes of `graph`, which the caller named `name`.
    fn source_nodes(
        &self,
        sources: &Sources,
        name: &str,
        graph: &Graph,
    ) -> Result<Vec<u32>, CliError> {
        if !self.analysis().takes_sources() {
            return Ok(Vec::new());
        }
        Ok(sources.nodes(graph, name)?)
    }
}
