//! `seawall run` with several graphs: one submission, one result per graph.

use std::process::ExitCode;
use std::time::Instant;

use super::results::TableChoice;
use super::{RunArgs, verdict, warn};
use crate::CliError;
use crate::files::Outputs;
use crate::output::{list_written, print};
use crate::progress::ProgressLine;
use crate::sources::Sources;
use seawall::batch::{
    BatchControl, BatchError, BatchGraph, BatchOutcome, NamedGraph, execute_with, expand, load,
};
use seawall::graph::file::write_whole;
use seawall::units::{counted, elapsed_ns};
use seawall_report::batch::{json, rows::BatchRows, text, trace};
use seawall_report::table::{RowFormat, TableColumn};
use seawall_report::text::Shown;

/// Loads, runs and reports a batch. Everything that can be refused before the
/// graphs are read is refused before.
pub(super) fn command(
    args: &RunArgs,
    sources: &Sources,
    files: &Outputs,
) -> Result<ExitCode, CliError> {
    args.stream.check_whole("a batch")?;
    let output = &args.output;
    for (option, is_given) in [
        // The text has no groups, but the JSON of a run does.
        ("--explain --json", output.explain && output.json),
        ("--plot", output.plot.is_some()),
        ("--draw", output.draw.is_some()),
    ] {
        if is_given {
            return Err(CliError::OneGraph { option });
        }
    }
    seawall::batch::check_detail(args.detail.detail())?;
    let values = args.analysis().facts().values;
    let rows = args
        .output
        .check(|format| TableColumn::of_batch(values, format))?;
    let line = ProgressLine::new(args.output.quiet);
    let started = Instant::now();
    let specs = expand(&args.graphs)?;
    specs.iter().try_for_each(|spec| files.spare(&spec.name))?;
    line.say(format!("loading {} graphs", specs.len()));
    let graphs = load(specs, &args.load_options()).map_err(|error| match error {
        BatchError::Load { source, .. } if source.is_of_negative_weight() => args.named(source),
        other => other.into(),
    })?;
    let load_ns = elapsed_ns(started);
    let batch = graphs.iter().map(|graph| member(args, sources, graph));
    let batch = batch.collect::<Result<Vec<_>, _>>()?;
    let mut request = args.request(Vec::new());
    if let Some(first) = graphs.first() {
        request.source_weights = args.source_weights(sources, &first.graph);
    }
    let control = BatchControl {
        progress: Some(&mut |phase| line.phase(phase)),
        ..BatchControl::default()
    };
    let mut outcome = execute_with(&batch, &request, control)?;
    outcome.times.load = load_ns;
    for (found, graph) in outcome.graphs.iter_mut().zip(&graphs) {
        let found = &mut found.run;
        found.weights = graph.weights;
        found.taken.mirrored_edges = graph.mirrored;
        found.taken.symmetric = graph.graph.has_all_images();
        found.taken.undirected_reaches_more = found.would_reach_more(&graph.graph);
    }
    drop(line);
    write(args, &outcome, &graphs, rows)?;
    report(args, &outcome, files)?;
    if !outcome.converged() {
        warn(&cut(&outcome));
    }
    Ok(verdict(outcome.checked()))
}

/// A loaded graph with its sources.
fn member<'g>(
    args: &RunArgs,
    sources: &Sources,
    loaded: &'g NamedGraph,
) -> Result<BatchGraph<'g>, CliError> {
    let NamedGraph { name, graph, .. } = loaded;
    let sources = args.source_nodes(sources, name, graph)?;
    Ok(BatchGraph::new(name.clone(), graph, sources))
}

fn write(
    args: &RunArgs,
    outcome: &BatchOutcome,
    graphs: &[NamedGraph],
    table: Option<TableChoice>,
) -> Result<(), CliError> {
    let out = &args.output;
    if let (Some(path), Some(table)) = (&out.out, table) {
        let original = |graph: usize, node| {
            let named = graphs.get(graph);
            named.map_or(u64::from(node), |named| named.graph.original_id(node))
        };
        let name = |graph: usize, node| graphs.get(graph)?.graph.name_of(node);
        let mut rows = BatchRows::new(outcome, &original);
        let has_names = graphs.iter().any(|named| named.graph.has_names());
        let has_names = has_names && table.format != RowFormat::Npy;
        if has_names {
            rows = rows.with_names(&name);
        }
        let format = table.format;
        let columns = table.columns(has_names);
        write_whole(path, |to| rows.write(format, &columns, to))?;
    }
    if let Some(path) = &out.trace {
        write_whole(path, |to| trace::write(outcome, to))?;
    }
    Ok(())
}

/// The warning that a limit ended the analysis of some graphs.
fn cut(outcome: &BatchOutcome) -> String {
    let stopped = outcome.graphs.iter().filter(|graph| !graph.run.converged);
    let names: Vec<&str> = stopped.map(|graph| graph.name.as_str()).collect();
    let first = names.first().copied().unwrap_or_default();
    format!(
        "{} stopped at the limit before it was done with {}, {first} first; raise --max-iterations",
        outcome.analysis,
        counted(names.len() as u64, "graph"),
    )
}

fn report(args: &RunArgs, outcome: &BatchOutcome, files: &Outputs) -> Result<(), CliError> {
    let out = &args.output;
    if out.json {
        return print(|to| json::write(outcome, to));
    }
    if out.quiet || files.take_standard_output() {
        return Ok(());
    }
    print(|to| {
        let shown = Shown {
            internals: out.explain,
            reason: args.machine.backend.0.is_some(),
        };
        text::write(outcome, shown, to)?;
        list_written([&out.out, &out.trace], to)
    })
}
