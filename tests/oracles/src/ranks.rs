//! Runs rankings in a session, with every gather method, and edges in slices.

use crate::harness::{compare, text};
use seawall::analysis::oracle::agrees;
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, Session};
use seawall::graph::Graph;
use seawall::program::{
    EncodedProgram, FrequentSources, Kind, PlanRequest, ProgramBuilder, Ranks, RegisterId,
    SliceShape, Slices,
};
use seawall::run::Ranking;
use seawall_core::abi::slices::list_rows;
use std::num::NonZeroUsize;

/// Checks ranks of `graph` after at most `iterations` iterations, `times` times in one load: bit
/// for bit equal to one CPU thread that gathers row by row, and near those in double precision if
/// the walk starts at all nodes alike; with both gather methods.
///
/// # Errors
/// The first failure or difference.
pub fn run_ranks(
    session: &mut dyn Session,
    graph: &Graph,
    iterations: u32,
    times: u32,
) -> Result<(), String> {
    for how in [Gathering::Edges, Gathering::Rows] {
        for has_starts in [false, true] {
            run_ranks_by(session, graph, iterations, how, times, has_starts)?;
        }
    }
    Ok(())
}

/// Checks ranks as [`run_ranks`] does, gathered in slices of `shape`: bit for bit equal to those of
/// one CPU thread without slices.
///
/// # Errors
/// The first failure or difference.
pub fn run_sliced_ranks(
    session: &mut dyn Session,
    graph: &Graph,
    shape: SliceShape,
    times: u32,
) -> Result<(), String> {
    let how = Gathering::Slices(shape);
    [false, true]
        .into_iter()
        .try_for_each(|has_starts| run_ranks_by(session, graph, 3, how, times, has_starts))
        .map_err(|error| format!("{shape:?}: {error}"))
}

/// The inputs of a program for a walk that starts at most nodes.
fn shares(graph: &Graph, program: &EncodedProgram) -> Vec<u32> {
    let share = |node| (node % 5) as f32 / (2 * graph.nodes()) as f32;
    let shares = (0..graph.nodes()).map(|node| share(node).to_bits());
    let none = std::iter::repeat(0);
    shares
        .chain(none)
        .take(program.input_bytes as usize / 4)
        .collect()
}

/// Gather method of a ranking.
#[derive(Clone, Copy, Debug)]
enum Gathering {
    Edges,
    Rows,
    Slices(SliceShape),
}

/// A ranking, with the result.
fn ranking_program(
    graph: &Graph,
    ranking: Ranking,
    iterations: u32,
    how: Gathering,
    has_starts: bool,
) -> Result<(EncodedProgram, RegisterId), String> {
    let by_rows = matches!(how, Gathering::Rows);
    let nodes = u64::from(graph.nodes());
    let mut program = ProgramBuilder::new(graph.nodes());
    let slices = match how {
        Gathering::Slices(shape) => Some(slices_of(&mut program, graph, shape)?),
        _ => None,
    };
    let frequent = slices.and_then(|slices| slices.frequent);
    let again = frequent.map_or(0, |frequent| u64::from(frequent.sources.count));
    let ranks = Ranks {
        ranks: program.words("ranks", nodes).map_err(text)?,
        contributions: program
            .words("contributions", nodes + again)
            .map_err(text)?,
        sums: program
            .words("sums", if by_rows { nodes } else { 2 * nodes })
            .map_err(text)?,
        totals: program.totals("totals").map_err(text)?,
        starts: has_starts
            .then(|| program.input_values("starts", Kind::F32, nodes))
            .transpose()
            .map_err(text)?,
    };
    let step = (ranking.damping, ranking.tolerance);
    if let Some(slices) = slices {
        program.once(|once| once.slice_edges(slices));
    }
    program.fill("clear totals", ranks.totals, 0);
    if by_rows {
        program.seed_ranks_by_rows("start even", ranks);
    } else {
        program.seed_ranks("start even", ranks);
    }
    program.fixpoint("rank", iterations, |body| match (how, slices) {
        (Gathering::Rows, _) => body.step_ranks_by_rows(ranks, step),
        (_, Some(slices)) => body.step_ranks_by_slices(ranks, slices, step),
        _ => body.step_ranks(ranks, step.0, step.1),
    });
    program.keep(ranks.ranks);
    let (encoded, _) = program.encode(&PlanRequest::default()).map_err(text)?;
    Ok((encoded, ranks.ranks))
}

fn run_ranks_by(
    session: &mut dyn Session,
    graph: &Graph,
    iterations: u32,
    how: Gathering,
    times: u32,
    has_starts: bool,
) -> Result<(), String> {
    let ranking = Ranking::default();
    let (encoded, result) = ranking_program(graph, ranking, iterations, how, has_starts)?;
    let inputs = shares(graph, &encoded);
    let ranks = |session: &mut dyn Session, result| {
        let stats = session.run(&inputs).map_err(text)?;
        let mut words = Vec::new();
        session.read(result, &mut words).map_err(text)?;
        Ok::<_, String>((stats.control.loops[0], words))
    };
    let one = Some(NonZeroUsize::MIN);
    let mut plain = CpuSession::open(graph, one, RunLimits::default()).map_err(text)?;
    let without = match how {
        Gathering::Slices(_) => Gathering::Edges,
        other => other,
    };
    let (unsliced, its_result) = ranking_program(graph, ranking, iterations, without, has_starts)?;
    plain.load(&unsliced).map_err(text)?;
    let (end, wanted) = ranks(&mut plain, its_result)?;
    let floats: Vec<f32> = wanted.iter().map(|word| f32::from_bits(*word)).collect();
    let is_near = || {
        agrees(
            graph,
            ranking,
            &floats,
            (end.iterations, end.converged != 0),
        )
    };
    if !has_starts && !is_near() {
        return Err("ranks are not near those in double precision".to_owned());
    }
    session.load(&encoded).map_err(text)?;
    for run in 1..=times {
        let (own_end, found) = ranks(session, result)?;
        let what = format!("ranks, {how:?}, own starts {has_starts}, run {run}");
        compare(&what, &found, &wanted)?;
        if own_end.iterations != end.iterations {
            let (own, wanted) = (own_end.iterations, end.iterations);
            return Err(format!("{own} iterations instead of {wanted}"));
        }
    }
    Ok(())
}

/// A ranking in slices, for tables that are changed.
///
/// # Errors
/// If there are no such slices.
pub fn sliced_ranking(graph: &Graph, shape: SliceShape) -> Result<EncodedProgram, String> {
    let how = Gathering::Slices(shape);
    Ok(ranking_program(graph, Ranking::default(), 3, how, false)?.0)
}

/// Puts the incoming edges of `graph` into slices of `shape`, `times` times in one load, and
/// compares each row of each slice with the graph's own.
///
/// # Errors
/// The first failure or difference.
pub fn run_slices(
    session: &mut dyn Session,
    graph: &Graph,
    shape: SliceShape,
    times: u32,
) -> Result<(), String> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let slices = slices_of(&mut program, graph, shape)?;
    program.once(|once| once.slice_edges(slices));
    let (encoded, _) = program.encode(&PlanRequest::default()).map_err(text)?;
    session.load(&encoded).map_err(text)?;
    let (sources, starts) = in_slices(graph, shape);
    let listed = listed(graph, &starts, shape);
    for run in 1..=times {
        session.run(&[]).map_err(text)?;
        let mut read = |register| {
            let mut words = Vec::new();
            session.read(register, &mut words).map_err(text)?;
            Ok::<_, String>(words)
        };
        let mut found = read(slices.sources)?;
        if let Some(frequent) = slices.frequent {
            let (list, count) = (read(frequent.list)?, read(frequent.count)?);
            compare("frequent sources", &count, &[frequent.sources.count])?;
            name_nodes(graph, &mut found, &list, frequent.sources.least_edges)?;
        }
        let name = format!("run {run}, {shape:?}");
        compare(&format!("slices, {name}"), &found, &sources)?;
        compare(&format!("starts, {name}"), &read(slices.starts)?, &starts)?;
        let rows = filled_of(&read(slices.rows)?);
        compare(&format!("rows in slices, {name}"), &rows, &listed)?;
    }
    Ok(())
}

/// Registers of slices of `shape`, for half of all shapes with frequent sources: those of more
/// edges than the mean.
fn slices_of(
    program: &mut ProgramBuilder,
    graph: &Graph,
    shape: SliceShape,
) -> Result<Slices, String> {
    let slices = program.slices(shape, graph.incoming()).map_err(text)?;
    if (shape.width_log2 + shape.part_log2).is_multiple_of(2) {
        return Ok(slices);
    }
    let least_edges = graph.edges() / graph.nodes().max(1) + 1;
    let is_frequent = |node: &u32| graph.neighbours(*node).len() >= least_edges as usize;
    let sources = FrequentSources {
        least_edges,
        count: (0..graph.nodes()).filter(is_frequent).count() as u32,
    };
    program.frequent_sources(slices, sources).map_err(text)
}

/// Replaces places in `list` by nodes; only sources with `least_edges` edges or more have a place.
fn name_nodes(
    graph: &Graph,
    sources: &mut [u32],
    list: &[u32],
    least_edges: u32,
) -> Result<(), String> {
    for source in sources {
        let place = source.checked_sub(graph.nodes());
        let node = place.map_or(*source, |place| list[place as usize]);
        let is_frequent = graph.neighbours(node).len() >= least_edges as usize;
        if is_frequent != place.is_some() {
            return Err(format!("source {source} stands for node {node}"));
        }
        *source = node;
    }
    Ok(())
}

/// The used words of a list of rows.
fn filled_of(list: &[u32]) -> Vec<u32> {
    let (rows, space) = (list[0] as usize, list_rows(list.len() as u32) as usize);
    [&list[..rows + 2], &list[space + 2..][..rows]].concat()
}

/// The list of rows that have edges, without space for more.
fn listed(graph: &Graph, starts: &[u32], shape: SliceShape) -> Vec<u32> {
    let span = graph.nodes().next_multiple_of(1 << shape.part_log2);
    let rows = starts.windows(2).zip(0..);
    let filled: Vec<_> = rows.filter(|(row, _)| row[0] < row[1]).collect();
    let mut list = vec![filled.len() as u32];
    list.extend(filled.iter().map(|(row, _)| row[0]));
    list.push(graph.edges());
    list.extend(filled.iter().map(|(_, row)| row % span));
    list
}

/// The sources of all slices of `shape`, and the row offsets of each slice.
fn in_slices(graph: &Graph, shape: SliceShape) -> (Vec<u32>, Vec<u32>) {
    let nodes = u64::from(graph.nodes());
    let rows = nodes.next_multiple_of(1 << shape.part_log2);
    let mut into = vec![Vec::new(); rows as usize];
    for from in 0..graph.nodes() {
        for to in graph.neighbours(from) {
            into[*to as usize].push(from);
        }
    }
    let (mut sources, mut starts) = (Vec::new(), Vec::new());
    for slice in 0..nodes.div_ceil(1 << shape.width_log2) {
        for row in &into {
            starts.push(sources.len() as u32);
            let is_inside = |from: &&u32| u64::from(**from) >> shape.width_log2 == slice;
            sources.extend(row.iter().filter(is_inside));
        }
    }
    starts.push(graph.edges());
    (sources, starts)
}
