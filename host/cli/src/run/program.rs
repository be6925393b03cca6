//! `seawall run --program`: a program from its text, on one graph.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::columns::{self, Choice, ResultColumn};
use super::spans::Spans;
use super::{EmitName, Ranks, RunArgs};
use crate::error::CliError;
use crate::output::{json, print};
use crate::program::{ProgramFailure, read, values};
use seawall::backend::cpu::{assembly, available_threads};
use seawall::backend::{BackendError, CodeReport, ProgramSession, plan_request, ptx};
use seawall::executor::{Executor, Machine};
use seawall::graph::file::write_whole;
use seawall::graph::{Graph, LoadOptions, Loaded, load};
use seawall::outcome::{DevicesReport, Dropped, Event, SessionReport, Taken};
use seawall::program::{
    EncodedProgram, GraphSize, Kind, PlanSummary, TextError, TextProgram, TextResult,
};
use seawall::run::{ProgramExplanation, explain_program, program_report};
use seawall::units::{Nanoseconds, bytes, counted, elapsed_ns};
use seawall_report::code;
use seawall_report::explain::Explanation;
use seawall_report::head::row;
use seawall_report::table::RowFormat;
use seawall_report::taken;
use seawall_report::trace;

pub(super) struct ProgramRequest<'a> {
    pub(super) args: &'a RunArgs,
    pub(super) file: &'a Path,
    pub(super) graph: &'a OsStr,
    pub(super) machine: Machine,
    pub(super) ranks: Option<&'a Ranks>,
    /// The file of `--out`, and its format.
    pub(super) table: Option<(&'a Path, RowFormat)>,
    /// Whether standard output takes that file.
    pub(super) is_for_rows: bool,
}

/// Loads, runs and reports. An invalid text is refused before the graph is read.
pub(super) fn command(asked: ProgramRequest<'_>) -> Result<ExitCode, CliError> {
    let (args, output) = (asked.args, &asked.args.output);
    let text = read(asked.file)?;
    let sketch = text.program(GraphSize { nodes: 0, edges: 0 })?;
    if let Some((_, format)) = asked.table {
        columns::check(&sketch.results, format)?;
    }
    let format = asked.table.map(|(_, format)| format);
    let given = Given::read(&args.inputs, &sketch)?;
    let choice = Choice::of(&output.columns, &sketch.results, format)?;
    let form = args.form.form();
    let options = LoadOptions {
        weights: args.weights.choice(),
        ..args.load_options()
    };
    let started = Instant::now();
    let Loaded { graph: read, stats } = load(asked.graph, &options, None)?;
    let load_ns = elapsed_ns(started);
    let started = Instant::now();
    let graph = read.form(form)?;
    let form_ns = elapsed_ns(started);
    let mut taken = Taken::as_asked(&read, form);
    taken.mirrored_edges = stats.mirrored;
    taken.symmetric = read.has_all_images();
    let mut program = text.program(GraphSize {
        nodes: graph.nodes(),
        edges: graph.edges(),
    })?;
    given.set(&mut program)?;
    if let Some((_, format)) = asked.table {
        columns::check_lengths(&program.results, &choice, format)?;
    }
    let executor = asked.machine.executor.unwrap_or(Executor::Cpu);
    let request = plan_request(graph, &program.program, executor, &asked.machine);
    let encoded = program.program.encode(&request);
    let (encoded, plan) = encoded.map_err(|source| text.refused(source))?;
    match args.machine.emit {
        Some(EmitName::Asm) => return emit(&encoded, &asked.machine),
        Some(EmitName::Ptx) => {
            let text = ptx(&encoded).map_err(|source| ProgramFailure::Run { source })?;
            print(|out| out.write_all(text.as_bytes()))?;
            return Ok(ExitCode::SUCCESS);
        }
        None => {}
    }
    let ran =
        run(graph, &asked, &program, &encoded).map_err(|source| ProgramFailure::Run { source })?;
    if let Some(path) = &output.trace {
        let device = format!("{} ({executor})", ran.device);
        let traced = ran.traced(load_ns, device);
        write_whole(path, |out| trace::write_traced(traced, out))?;
    }
    let report = Report {
        program: asked.file.to_string_lossy().into_owned(),
        backend: executor,
        nodes: graph.nodes(),
        edges: read.edges(),
        taken,
        dropped: Dropped::between(&read, graph),
        plan,
        repeat: args.limits.repeat.get(),
        time_ns: json!({"load": load_ns, "form": form_ns, "run": ran.run_ns, "first_run": ran.first_run_ns}),
        device: ran.device,
        loops: ran.loops,
        code: ran.code,
        session: ran.session,
        devices: ran.devices,
        results: ran.results,
        explain: output.explain.then_some(Explained(ran.described)),
    };
    if let Some((path, format)) = asked.table {
        let columns: Vec<_> = report.results.iter().map(ResultReport::column).collect();
        write_whole(path, |out| {
            columns::write(&columns, &choice, graph, format, out)
        })?;
    }
    if output.json {
        print(|out| json(&report, out))?;
    } else if !(output.quiet || asked.is_for_rows) {
        print(|out| report.write(out))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Values of inputs on the command line.
struct Given(Vec<(String, Value)>);

impl Given {
    /// Reads arguments `NAME=VALUES` for inputs of `program`, whatever its sizes are.
    fn read(arguments: &[String], program: &TextProgram) -> Result<Self, ProgramFailure> {
        let mut all = Vec::new();
        for argument in arguments {
            let refused = |problem: String| {
                let argument = argument.clone();
                ProgramFailure::Input { argument, problem }
            };
            let Some((name, values)) = argument.split_once('=') else {
                return Err(refused("write NAME=VALUES, such as from=[3,7]".to_owned()));
            };
            let known: Vec<&str> = program.inputs.iter().map(|input| &*input.name).collect();
            if !known.contains(&name) {
                return Err(refused(match known.as_slice() {
                    [] => "the program has no inputs".to_owned(),
                    known => format!(
                        "no input is called {name:?}; there are {}",
                        known.join(", ")
                    ),
                }));
            }
            if all.iter().any(|(other, _)| other == name) {
                return Err(refused(format!("{name} has values already")));
            }
            let values = serde_json::from_str(values)
                .map_err(|error| refused(format!("no JSON list and no number: {error}")))?;
            let values = match values {
                list @ Value::Array(_) => list,
                one => Value::Array(vec![one]),
            };
            all.push((name.to_owned(), values));
        }
        Ok(Self(all))
    }

    /// Sets the inputs of a program.
    fn set(self, program: &mut TextProgram) -> Result<(), ProgramFailure> {
        for (name, values) in self.0 {
            let inputs = program.inputs.iter_mut();
            for input in inputs.filter(|input| input.name == name) {
                input.words = input.words_of(&values).map_err(|error| {
                    let (argument, problem) = match error {
                        TextError::At { place, problem } => (place, problem.to_string()),
                        other => (name.clone(), other.to_string()),
                    };
                    ProgramFailure::Input { argument, problem }
                })?;
            }
        }
        Ok(())
    }
}

fn emit(encoded: &EncodedProgram, machine: &Machine) -> Result<ExitCode, CliError> {
    let threads = machine.threads.unwrap_or_else(available_threads);
    let waves = assembly(encoded, threads.get() == 1);
    let waves = waves.map_err(|source| ProgramFailure::Run { source })?;
    print(|out| {
        for (name, text) in &waves {
            writeln!(out, "; wave {name}\n{text}")?;
        }
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

struct Ran {
    device: String,
    loops: Vec<LoopEnd>,
    code: Option<CodeReport>,
    session: SessionReport,
    devices: Option<DevicesReport>,
    results: Vec<ResultReport>,
    run_ns: u64,
    first_run_ns: u64,
    /// Spans since the graph was loaded.
    events: Vec<Event>,
    described: ProgramExplanation,
}

impl Ran {
    fn traced(&self, load_ns: u64, device: String) -> trace::Traced<'_> {
        trace::Traced {
            load_ns,
            device,
            events: &self.events,
            waves: &self.described.waves,
            groups: &self.described.groups,
            steps: &self.described.steps,
            timeline: self.described.timeline.as_ref(),
        }
    }
}

/// End of a loop on the top level.
#[derive(Serialize)]
struct LoopEnd {
    iterations: u32,
    converged: bool,
}

#[derive(Serialize)]
struct ResultReport {
    name: String,
    #[serde(serialize_with = "named")]
    kind: Kind,
    values: Vec<Value>,
}

fn named<S: Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.name())
}

impl ResultReport {
    fn column(&self) -> ResultColumn<'_> {
        ResultColumn::of_result(&self.name, self.kind, &self.values)
    }
}

fn run(
    graph: &Graph,
    asked: &ProgramRequest<'_>,
    program: &TextProgram,
    encoded: &EncodedProgram,
) -> Result<Ran, BackendError> {
    let mut spans = Spans::new();
    if let Some(ranks) = asked.ranks {
        return ranks.with_session(graph, &asked.machine, |session| {
            run_in(session, spans, graph, asked, program, encoded)
        });
    }
    let session = spans.host("open", || open(graph, asked))?;
    run_in(session, spans, graph, asked, program, encoded)
}

/// Loads the program, and runs it as often as requested.
fn run_in(
    mut session: ProgramSession<'_>,
    mut spans: Spans,
    graph: &Graph,
    asked: &ProgramRequest<'_>,
    program: &TextProgram,
    encoded: &EncodedProgram,
) -> Result<Ran, BackendError> {
    session.trace_runs(asked.args.output.is_timed());
    spans.host("load program", || session.load(encoded))?;
    for input in &program.inputs {
        session.set_input(input.register, &input.words)?;
    }
    let mut stats = spans.run(|| session.run())?;
    let repeat = asked.args.limits.repeat.get();
    for _ in 1..repeat {
        stats = spans.run(|| session.run())?;
    }
    let results = spans.host("readback", || read_all(&mut session, program))?;
    let control = &stats.control;
    let loops = control.loops.iter().take(control.loops_done as usize);
    let loops = loops.map(|ended| LoopEnd {
        iterations: ended.iterations,
        converged: ended.converged != 0,
    });
    let executor = asked.machine.executor.unwrap_or(Executor::Cpu);
    let bytes = output_bytes(program, encoded);
    let session_report = program_report(
        graph,
        executor,
        encoded,
        repeat.into(),
        bytes,
        session.work(),
    );
    Ok(Ran {
        session: session_report,
        devices: session.devices(),
        device: session.device().name.clone(),
        loops: loops.collect(),
        code: stats.code.clone().filter(|code| code.waves > 0),
        results,
        run_ns: spans.median_run_ns(),
        first_run_ns: spans.first_run_ns(),
        described: explain_program(encoded, &stats),
        events: spans.events,
    })
}

fn open<'g>(
    graph: &'g Graph,
    asked: &ProgramRequest<'_>,
) -> Result<ProgramSession<'g>, BackendError> {
    match &asked.args.machine.devices {
        Some(devices) => Ok(ProgramSession::over(
            devices.open_session(graph, &asked.machine)?,
        )),
        None => ProgramSession::open(graph, &asked.machine),
    }
}

fn read_all(
    session: &mut ProgramSession<'_>,
    program: &TextProgram,
) -> Result<Vec<ResultReport>, BackendError> {
    let mut words = Vec::new();
    let results = program.results.iter();
    let results = results.map(|result| {
        session.read(result.register, &mut words)?;
        Ok(shown(result, &words))
    });
    results.collect()
}

/// Bytes of the registers that are read as results.
fn output_bytes(program: &TextProgram, encoded: &EncodedProgram) -> u64 {
    let words = |result: &TextResult| {
        let register = encoded.registers.get(result.register.number() as usize);
        register.map_or(0, |register| u64::from(register.words))
    };
    4 * program.results.iter().map(words).sum::<u64>()
}

fn shown(result: &TextResult, words: &[u32]) -> ResultReport {
    let count = usize::try_from(result.count).unwrap_or(usize::MAX);
    ResultReport {
        name: result.name.clone(),
        kind: result.kind,
        values: values(result.kind, words).take(count).collect(),
    }
}

#[derive(Serialize)]
struct Report {
    program: String,
    backend: Executor,
    device: String,
    nodes: u32,
    edges: u32,
    #[serde(flatten)]
    taken: Taken,
    #[serde(flatten)]
    dropped: Dropped,
    plan: PlanSummary,
    repeat: u32,
    loops: Vec<LoopEnd>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<CodeReport>,
    session: SessionReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    devices: Option<DevicesReport>,
    results: Vec<ResultReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Explained>,
    time_ns: Value,
}

/// Groups of a program and their times, as reports show them.
struct Explained(ProgramExplanation);

impl Serialize for Explained {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Explanation::of_program(&self.0).serialize(serializer)
    }
}

/// Values of a result that the text report shows.
const SHOWN: usize = 8;

impl Report {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let (nodes, edges) = (u64::from(self.nodes), u64::from(self.edges));
        let size = (counted(nodes, "node"), counted(edges, "edge"));
        writeln!(out, "{} on {}, {}", self.program, size.0, size.1)?;
        writeln!(out)?;
        for result in &self.results {
            row(out, &result.name, &result.first_values())?;
        }
        for ended in self.loops.iter().filter(|ended| !ended.converged) {
            row(out, "loop", &ended.described())?;
        }
        let directions = taken::directions(&self.taken);
        taken::write(out, directions, &self.taken, self.dropped)?;
        writeln!(out)?;
        let machine = format!("{} (backend {})", self.device, self.backend);
        row(out, "ran on", &machine)?;
        row(out, "run", &self.run_time())?;
        if let Some(devices) = &self.devices {
            let exchanges = counted(devices.barriers, "exchange");
            let bytes = bytes(devices.exchanged_bytes);
            row(out, "exchange", &format!("{exchanges}, {bytes}"))?;
        }
        if self.explain.is_some() {
            self.write_internals(out)?;
        }
        match &self.explain {
            Some(Explained(described)) => Explanation::of_program(described).write(out),
            None => Ok(()),
        }
    }

    fn run_time(&self) -> String {
        let time = |name: &str| Nanoseconds(self.time_ns[name].as_u64().unwrap_or(0));
        let (run, first) = (time("run"), time("first_run"));
        match self.repeat {
            1 => run.to_string(),
            repeat => format!("{run}  median of {repeat}, the first {first}"),
        }
    }

    /// Rows of loops, code and plan.
    fn write_internals(&self, out: &mut dyn Write) -> io::Result<()> {
        for ended in self.loops.iter().filter(|ended| ended.converged) {
            row(out, "loop", &ended.described())?;
        }
        if let Some(report) = &self.code {
            row(out, "code", &code::described(report))?;
        }
        let groups = counted(u64::from(self.plan.groups), "group");
        row(
            out,
            "plan",
            &format!("{groups}, {} bytes", self.plan.arena_bytes),
        )
    }
}

impl LoopEnd {
    fn described(&self) -> String {
        let iterations = counted(u64::from(self.iterations), "iteration");
        let end = if self.converged {
            "converged"
        } else {
            "stopped at its limit"
        };
        format!("{iterations}, {end}")
    }
}

impl ResultReport {
    /// The first few values.
    fn first_values(&self) -> String {
        let values = self.values.iter().take(SHOWN).map(Value::to_string);
        let shown = values.collect::<Vec<_>>().join(" ");
        let more = if self.values.len() > SHOWN {
            " ..."
        } else {
            ""
        };
        format!("{shown}{more}")
    }
}
