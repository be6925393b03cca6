//! `seawall analyze`: dataflow, call graph and taint of whole programs.

mod pictures;

use std::io::{self, Read, Write};
use std::mem::ManuallyDrop;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::Instant;

use clap::builder::{PathBufValueParser, PossibleValue, TypedValueParser};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::CliError;
use super::files::{Outputs, input, named};
use super::names::{BackendName, check_device};
use super::numbers::{seconds, size, thread_count};
use super::output::{printable, show, warn};
use super::progress::ProgressLine;
use pictures::{PictureArgs, draw_calls, shown};
use seawall::executor::{Executor, Machine};
use seawall::graph::file::write_whole;
use seawall::units::{bytes, counted, elapsed_ns};
use seawall_modules::calls::Calls;
use seawall_modules::finding::{Finding, FindingKind, Place};
use seawall_modules::flow::{Limits, On};
use seawall_modules::grammar::GraphSize;
use seawall_modules::model::Program;
use seawall_modules::points_to::{Constraints, GRAMMAR, OpenTables};
use seawall_modules::report::{AnalysisName, AnalysisReport, Answer, Request, Resolve, Run};
use seawall_modules::taint::{self, Spec, TaintGraph};
use seawall_modules::{ModuleError, read, sarif};

const EXAMPLES: &str = "\
Examples:
  seawall analyze module.wasm
  seawall analyze module.wasm --analysis liveness --function main --draw-blocks blocks.svg
  seawall analyze module.wasm --reach env.abort --json | jq .findings
  seawall analyze module.wasm --analysis points-to --open-tables extended
  seawall analyze module.wasm --source env.read --sink env.send --draw-calls calls.svg
  seawall analyze app.wasm lib.wasm --sarif findings.sarif --fail-on uninitialised-read

A file is a WebAssembly core module, or text that begins with `seawall-flow 1`
(docs/program-analysis.md). All functions of all files go to the machine together.

Exit code 1 if a finding is of a kind given by --fail-on.";

/// Analyse WebAssembly modules and flow graphs: dataflow, call graph, taint.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct AnalyzeArgs {
    /// Modules or flow graphs; - for standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Analyses to run, in this order, parted by commas [default: calls, liveness, initialised,
    /// loops; with --source and --sink also taint].
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "NAME",
        help_heading = "Questions"
    )]
    analysis: Vec<Name<AnalysisName>>,
    /// Report the exports from which calls reach this import: MODULE.FIELD or FIELD.
    #[arg(long, value_name = "IMPORT", help_heading = "Questions")]
    reach: Vec<String>,
    /// Data to follow: what a function returns (NAME).
    ///
    /// Also one of its parameters (NAME:0), what it leaves in memory (NAME:memory), or every read of
    /// memory (load).
    #[arg(
        long,
        value_name = "SOURCE",
        requires = "sinks",
        help_heading = "Questions"
    )]
    source: Vec<Spec>,
    /// Sink that data must not reach: arguments of a function (NAME).
    ///
    /// Also one of them (NAME:0), or memory when it is called (NAME:memory).
    #[arg(
        long = "sink",
        id = "sinks",
        value_name = "SINK",
        requires = "source",
        help_heading = "Questions"
    )]
    sink: Vec<Spec>,
    #[command(flatten)]
    calls: CallArgs,
    /// Exit with code 1 if there is a finding of one of these kinds.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "KIND",
        help_heading = "Results"
    )]
    fail_on: Vec<Name<FindingKind>>,
    /// Write the findings as SARIF 2.1.0.
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().map(named), help_heading = "Results")]
    sarif: Option<PathBuf>,
    /// Write a problem as a grammar and its graph, NAME.cnf and NAME.g in this folder, for
    /// seawall grammar.
    #[arg(
        long,
        value_name = "FOLDER",
        help_heading = "Results",
        hide_short_help = true
    )]
    emit_grammar: Option<PathBuf>,
    /// Problem that --emit-grammar writes.
    #[arg(
        long,
        value_enum,
        default_value = "points-to",
        value_name = "NAME",
        requires = "emit_grammar",
        requires_if("taint", "source"),
        help_heading = "Results",
        hide_short_help = true
    )]
    grammar_of: Name<GrammarOf>,
    #[command(flatten)]
    pictures: PictureArgs,
    /// Findings of each kind that the text shows and --draw-calls draws; --json and --sarif have all of them.
    #[arg(
        long,
        default_value_t = 10,
        value_name = "N",
        help_heading = "Results",
        hide_short_help = true
    )]
    limit: usize,
    /// Show for each analysis its facts, iterations and times.
    #[arg(long, help_heading = "Results")]
    explain: bool,
    /// Executor; auto takes the cpu.
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "NAME",
        help_heading = "Machine",
        hide_short_help = true
    )]
    backend: BackendName,
    /// Number of the GPU.
    #[arg(
        long,
        default_value_t = 0,
        value_name = "N",
        help_heading = "Machine",
        hide_short_help = true
    )]
    device: u32,
    /// Threads, for reading and for the cpu backend [default: all].
    #[arg(long, value_name = "N", value_parser = thread_count, help_heading = "Machine", hide_short_help = true)]
    threads: Option<NonZeroUsize>,
    /// Seconds after which a run of an analysis is stopped.
    #[arg(long, default_value_t = 600.0, value_name = "SECONDS", value_parser = seconds, help_heading = "Machine", hide_short_help = true)]
    time_budget: f64,
    /// Bytes of facts and graph that go to the machine at a time, such as 256MiB; more is split.
    #[arg(long, default_value = "1GiB", value_name = "SIZE", value_parser = size, help_heading = "Machine", hide_short_help = true)]
    budget: u64,
    /// Bytes that all facts of one function may take, over all parts; more is refused.
    #[arg(long, default_value = "16GiB", value_name = "SIZE", value_parser = size, help_heading = "Machine", hide_short_help = true)]
    function_budget: u64,
    /// Print the report as one JSON object.
    #[arg(long, help_heading = "Results")]
    pub(super) json: bool,
    /// Print no report and no progress; --json still prints.
    #[arg(short, long, help_heading = "Results")]
    quiet: bool,
}

/// The functions that calls reach.
#[derive(Debug, Args)]
pub(super) struct CallArgs {
    /// Functions that calls through tables and by reference reach, for the call graph and taint.
    #[arg(
        long,
        value_enum,
        default_value = "type",
        value_name = "HOW",
        help_heading = "Questions",
        hide_short_help = true
    )]
    resolve: Name<Resolve>,
    /// Changes that the outside may make to imported and exported tables, for points-to.
    #[arg(
        long,
        value_enum,
        default_value = "changed",
        value_name = "HOW",
        help_heading = "Questions",
        hide_short_help = true
    )]
    open_tables: Name<OpenTables>,
}

impl CallArgs {
    pub(super) fn graph(&self, program: &Program, on: On) -> Result<Calls, ModuleError> {
        let request = Request {
            analyses: Vec::new(),
            reach: Vec::new(),
            sources: Vec::new(),
            sinks: Vec::new(),
            ways: 0,
            resolve: self.resolve.0,
            open_tables: self.open_tables.0,
            on,
        };
        Run::new(program, &request).call_graph()
    }

    /// An option that was given; `None` if all are as usual.
    pub(super) fn given(&self) -> Option<&'static str> {
        let options = [
            ("--resolve", self.resolve.0 != Resolve::default()),
            ("--open-tables", self.open_tables.0 != OpenTables::default()),
        ];
        let mut given = options.into_iter().filter(|(_, is_given)| *is_given);
        given.next().map(|(option, _)| option)
    }
}

/// A value with a name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Name<T>(T);

/// A problem as reachability under a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GrammarOf {
    PointsTo,
    Taint,
}

impl GrammarOf {
    const ALL: [Self; 2] = [Self::PointsTo, Self::Taint];

    const fn name(self) -> &'static str {
        match self {
            Self::PointsTo => "points-to",
            Self::Taint => "taint",
        }
    }

    const fn summary(self) -> &'static str {
        match self {
            Self::PointsTo => "Functions and indices that values may be",
            Self::Taint => {
                "Data from --source to --sink; calls are words of two kinds of parentheses"
            }
        }
    }
}

/// A graph that was written for a grammar.
#[derive(Serialize)]
struct Emitted {
    path: String,
    nodes: u64,
    edges: u64,
}

/// Types that tell their names and a few words on each.
macro_rules! names {
    ($($named:ty),*) => {$(
        impl ValueEnum for Name<$named> {
            fn value_variants<'a>() -> &'a [Self] {
                static ALL: LazyLock<[Name<$named>; <$named>::ALL.len()]> =
                    LazyLock::new(|| <$named>::ALL.map(Name));
                &*ALL
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                Some(PossibleValue::new(self.0.name()).help(self.0.summary()))
            }
        }
    )*};
}

names!(AnalysisName, FindingKind, GrammarOf, OpenTables, Resolve);

/// Analyses of a request that names none.
const USUAL: [AnalysisName; 4] = [
    AnalysisName::Calls,
    AnalysisName::Liveness,
    AnalysisName::Initialised,
    AnalysisName::Loops,
];

impl AnalyzeArgs {
    fn request(&self) -> Request {
        let mut machine = Machine::cpu(self.threads);
        if let Some(executor) = self.backend.0 {
            machine.executor = Some(executor);
        }
        machine.device = self.device;
        machine.time_budget_ns = (self.time_budget * 1e9) as u64;
        let mut analyses = Vec::new();
        for Name(name) in &self.analysis {
            if !analyses.contains(name) {
                analyses.push(*name);
            }
        }
        if analyses.is_empty() {
            analyses = USUAL.to_vec();
        }
        if !self.reach.is_empty() && !analyses.contains(&AnalysisName::Calls) {
            analyses.push(AnalysisName::Calls);
        }
        if !self.source.is_empty() && !analyses.contains(&AnalysisName::Taint) {
            analyses.push(AnalysisName::Taint);
        }
        Request {
            analyses,
            reach: self.reach.clone(),
            sources: self.source.clone(),
            sinks: self.sink.clone(),
            ways: match self.json || self.sarif.is_some() {
                true => usize::MAX,
                false => self.limit,
            },
            resolve: self.calls.resolve.0,
            open_tables: self.calls.open_tables.0,
            on: On {
                machine,
                limits: Limits {
                    batch_bytes: self.budget,
                    function_bytes: self.function_budget,
                },
            },
        }
    }

    /// Refuses a kind of findings that nothing asked for makes, which would never fail.
    fn check_kinds(&self, analyses: &[AnalysisName]) -> Result<(), CliError> {
        let has = |name| analyses.contains(&name);
        for Name(kind) in self.fail_on.iter().copied() {
            let (is_asked, remedy) = match kind {
                FindingKind::UnreachableFunction => (has(AnalysisName::Calls), "--analysis calls"),
                FindingKind::DeadStore => (has(AnalysisName::Liveness), "--analysis liveness"),
                FindingKind::UninitialisedRead => {
                    (has(AnalysisName::Initialised), "--analysis initialised")
                }
                FindingKind::RedundantExpression => {
                    (has(AnalysisName::Available), "--analysis available")
                }
                FindingKind::ReachesImport => (!self.reach.is_empty(), "--reach"),
                FindingKind::ResolvedCall => (has(AnalysisName::PointsTo), "--analysis points-to"),
                FindingKind::Taint => (!self.source.is_empty(), "--source and --sink"),
                _ => continue,
            };
            if !is_asked {
                return Err(CliError::FindingNotSought { kind, remedy });
            }
        }
        Ok(())
    }

    /// Refuses outputs that would overwrite an input or each other; returns whether a report
    /// follows. `pictures` are those of findings, once they are known.
    fn check_files(&self, pictures: Option<&[PathBuf]>) -> Result<bool, CliError> {
        let mut outputs = Outputs::default();
        if let Some(path) = &self.sarif {
            outputs.add("--sarif", path)?;
        }
        for path in self.grammar_files().iter().flatten() {
            outputs.add("--emit-grammar", path)?;
        }
        self.pictures.add_to(&mut outputs, pictures)?;
        for file in &self.files {
            outputs.spare(file.as_os_str())?;
        }
        outputs.have_report(self.quiet && !self.json)
    }

    /// The files of a problem as a grammar, and its graph.
    fn grammar_files(&self) -> Option<[PathBuf; 2]> {
        let folder = self.emit_grammar.as_ref()?;
        let name = self.grammar_of.0.name();
        Some(["cnf", "g"].map(|suffix| folder.join(format!("{name}.{suffix}"))))
    }

    /// Writes a problem as a question for `seawall grammar`.
    fn emit_grammar(&self, program: &Program, on: On) -> Result<Option<Emitted>, CliError> {
        let Some([grammar, graph]) = self.grammar_files() else {
            return Ok(None);
        };
        let text = match self.grammar_of.0 {
            GrammarOf::PointsTo => GRAMMAR,
            GrammarOf::Taint => taint::GRAMMAR,
        };
        let mut size = GraphSize::default();
        match self.grammar_of.0 {
            GrammarOf::PointsTo => {
                let calls = Calls::of(program);
                let constraints = Constraints::of(program, &calls, self.calls.open_tables.0, on)?;
                let text = constraints.graph(program);
                size = constraints.size();
                write_whole(&graph, |out| out.write_all(text.as_bytes()))?;
            }
            GrammarOf::Taint => {
                let calls = self.calls.graph(program, on)?;
                let made = TaintGraph::of(program, &calls, [&self.source, &self.sink], on)?;
                write_whole(&graph, |out| {
                    size = made.write(out)?;
                    Ok(())
                })?;
            }
        }
        write_whole(&grammar, |out| out.write_all(text.as_bytes()))?;
        Ok(Some(Emitted {
            path: graph.display().to_string(),
            nodes: size.nodes,
            edges: size.edges,
        }))
    }

    /// Draws the calls around the findings that the report shows.
    fn draw_calls(
        &self,
        program: &Program,
        run: &Run<'_>,
        answer: &Answer,
    ) -> Result<(), CliError> {
        let shown = shown(answer, self.limit).filter_map(|(number, finding)| {
            let path = self.pictures.of_finding(finding.kind, number)?;
            Some((path, finding))
        });
        let (paths, findings): (Vec<PathBuf>, Vec<&Finding>) = shown.unzip();
        if paths.is_empty() {
            return Ok(());
        }
        self.check_files(Some(&paths))?;
        let calls = run.call_graph()?;
        for (path, finding) in paths.iter().zip(findings) {
            draw_calls(path, program, &calls, finding)?;
        }
        Ok(())
    }
}

/// Reads files into one program, on this number of threads.
pub(super) fn program(
    files: &[PathBuf],
    threads: Option<NonZeroUsize>,
) -> Result<Program, ModuleError> {
    on_threads(threads, || {
        let mut program = Program::default();
        for file in files {
            let path = file.to_string_lossy();
            read(&mut program, &path, content(file)?)?;
        }
        Ok(program)
    })
}

/// Runs a job on this number of threads, by default all. The calling thread is one of them from then
/// on, so that what it does later takes no more: one thread alone has the process's first heap, which
/// grows by larger steps than those of other threads.
pub(super) fn on_threads<T: Send>(
    threads: Option<NonZeroUsize>,
    job: impl Fn() -> T + Send + Sync,
) -> T {
    let Some(threads) = threads else {
        return job();
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get());
    match pool.use_current_thread().build() {
        Ok(pool) => ManuallyDrop::new(pool).install(job),
        // It is one of a pool's already.
        Err(_) => job(),
    }
}

/// The bytes of a file, or of standard input.
pub(super) fn content(file: &Path) -> Result<Vec<u8>, ModuleError> {
    let mut bytes = Vec::new();
    let read = input(file).and_then(|mut input| input.read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|source| ModuleError::Io {
        path: file.to_string_lossy().into_owned(),
        source,
    })
}

/// Reads, analyses and reports.
pub(super) fn command(args: &AnalyzeArgs) -> Result<ExitCode, CliError> {
    let has_report = args.check_files(None)?;
    check_device(
        args.device,
        matches!(args.backend.0, None | Some(Executor::Cpu)),
    )?;
    let request = args.request();
    args.check_kinds(&request.analyses)?;
    let line = ProgressLine::new(args.quiet);
    line.say("reading".to_owned());
    let clock = Instant::now();
    // The process ends with it, which frees its memory sooner than function by function.
    let program = ManuallyDrop::new(program(&args.files, args.threads)?);
    let read_ns = elapsed_ns(clock);
    line.say(format!("analysing {} functions", program.functions.len()));
    let blocks = args.pictures.blocks(&program, &request.analyses)?;
    let run = Run::new(&program, &request);
    let answer = run.answer()?;
    args.draw_calls(&program, &run, &answer)?;
    let emitted = args.emit_grammar(&program, request.on)?;
    if let Some(blocks) = blocks {
        blocks.draw(&program, request.on)?;
    }
    drop(line);
    if args.pictures.draws_calls() && answer.findings.is_empty() {
        warn("--draw-calls: nothing was found, so there is no picture");
    }
    if let Some(path) = &args.sarif {
        let log = sarif::log(&answer.findings);
        write_whole(path, |out| {
            serde_json::to_writer_pretty(out, &log).map_err(io::Error::from)
        })?;
    }
    if has_report {
        let report = Report {
            answer: &answer,
            emitted,
            read_ns,
        };
        show(args.json, &report, |out| report.write_text(out, args))?;
    }
    let fails = |finding: &Finding| args.fail_on.iter().any(|kind| kind.0 == finding.kind);
    let has_failed = answer.findings.iter().any(fails);
    Ok(ExitCode::from(u8::from(has_failed)))
}

/// The object of `--json`.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    answer: &'a Answer,
    #[serde(skip_serializing_if = "Option::is_none")]
    emitted: Option<Emitted>,
    read_ns: u64,
}

impl Report<'_> {
    fn write_text(&self, out: &mut dyn Write, args: &AnalyzeArgs) -> io::Result<()> {
        let Self {
            answer, read_ns, ..
        } = *self;
        let sizes = &answer.program;
        let rate = sizes.bytes as f64 / 1e6 / (read_ns.max(1) as f64 / 1e9);
        writeln!(
            out,
            "{}, {}: {} ({} imported), {}, {}, {}",
            counted(sizes.files as u64, "file"),
            bytes(sizes.bytes),
            counted(sizes.functions as u64, "function"),
            sizes.imports,
            counted(sizes.blocks as u64, "block"),
            counted(sizes.edges as u64, "edge"),
            counted(sizes.operations as u64, "operation"),
        )?;
        if args.explain {
            let time = read_ns as f64 / 1e6;
            writeln!(out, "  read in {time:.1} ms, {rate:.0} MB/s")?;
            let largest = counted(sizes.largest as u64, "block");
            writeln!(out, "  largest function: {largest}")?;
        }
        for analysis in &answer.analyses {
            write_analysis(out, analysis, args.explain)?;
        }
        for kind in FindingKind::ALL {
            write_findings(out, kind, answer, args)?;
        }
        if let Some(Emitted { path, nodes, edges }) = &self.emitted {
            let (nodes, edges) = (counted(*nodes, "node"), counted(*edges, "edge"));
            writeln!(out, "  {:<10}{path}: {nodes}, {edges}", "wrote")?;
        }
        match args.pictures.written() {
            Some(path) => writeln!(out, "  {:<10}{}", "wrote", path.display()),
            None => Ok(()),
        }
    }
}

/// The facts of an analysis, what went to the machine, and the time that it took.
fn write_work(out: &mut dyn Write, analysis: &AnalysisReport) -> io::Result<()> {
    let (work, ms) = (&analysis.work, |ns: u64| ns as f64 / 1e6);
    let (facts, total_ms) = (analysis.facts, ms(analysis.total_ns));
    let edges = counted(work.edges, "edge");
    if analysis.name == "taint" {
        let values = counted(work.nodes, "value");
        writeln!(out, "  {facts:>10} facts; a search took {values}")?;
    } else if work.submissions == 0 {
        let nodes = counted(work.nodes, "node");
        writeln!(out, "  {facts:>10} facts; {nodes}, {edges}, without waves")?;
    } else {
        writeln!(
            out,
            "  {facts:>10} facts; {} of 64 facts a block, {edges}, {}, {}, loops nested {} deep",
            counted(work.nodes, "word"),
            counted(u64::from(work.submissions), "submission"),
            counted(u64::from(work.iterations), "iteration"),
            work.nesting,
        )?;
    }
    if work.submissions == 0 {
        return writeln!(out, "  {total_ms:>10.1} ms");
    }
    writeln!(
        out,
        "  {total_ms:>10.1} ms: layout {:.1}, opening {:.1}, upload {:.1}, run {:.1}, readback {:.1}",
        ms(work.build_ns),
        ms(work.open_ns),
        ms(work.upload_ns),
        ms(work.run_ns),
        ms(work.read_ns)
    )
}

fn write_analysis(out: &mut dyn Write, analysis: &AnalysisReport, explain: bool) -> io::Result<()> {
    writeln!(out, "{}", analysis.name)?;
    for figure in &analysis.figures {
        writeln!(out, "  {:>10} {}", figure.count, figure.what)?;
    }
    match explain {
        true => write_work(out, analysis),
        false => Ok(()),
    }
}

fn write_findings(
    out: &mut dyn Write,
    kind: FindingKind,
    answer: &Answer,
    args: &AnalyzeArgs,
) -> io::Result<()> {
    let of_kind = || {
        answer
            .findings
            .iter()
            .filter(|finding| finding.kind == kind)
    };
    let count = of_kind().count();
    if count == 0 {
        return Ok(());
    }
    writeln!(out, "{kind}: {}", counted(count as u64, "finding"))?;
    for (number, finding) in (1..).zip(of_kind().take(args.limit)) {
        let line = format!("{}: {}", finding.place, finding.message);
        writeln!(out, "  {}", printable(&line))?;
        for step in &finding.witness {
            let Place {
                function, offset, ..
            } = &step.place;
            let at = match offset {
                Some(line) if step.place.is_line => format!("{line} in "),
                Some(offset) => format!("{offset:#x} in "),
                None => String::new(),
            };
            let line = format!("{at}{function}: {}", step.what);
            writeln!(out, "    {}", printable(&line))?;
        }
        if let Some(path) = args.pictures.of_finding(kind, number) {
            writeln!(out, "    drawn in {}", path.display())?;
        }
    }
    if count > args.limit {
        writeln!(out, "  and {} more (--limit)", count - args.limit)?;
    }
    Ok(())
}
