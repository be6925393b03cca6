//! Runs cases in a session and describes differences.
//!
//! The same functions check the CPU backend in the host tests and every GPU executor in the device
//! tests. They open no session themselves.

use crate::graphs::EdgeList;
use crate::interpret::{Left, LoopEnd, interpret};
use crate::oracle;
use crate::script::{Script, Wave};
use seawall::analysis::{self, Question};
use seawall::backend::{RunStats, Session};
use seawall::graph::Graph;
use seawall::outcome::Column;
use seawall::program::PlanRequest;
use seawall::run::{AnalysisKind, Detail};
use seawall_core::abi::control::LOOPS_MAX;
use seawall_core::abi::search::SearchPolicy;
use seawall_core::plan::Strategy;

/// The analyses of any graph with an oracle here; triangles, which need an undirected graph, also
/// have one.
pub const ANALYSES: [AnalysisKind; 3] = [AnalysisKind::Bfs, AnalysisKind::Reach, AnalysisKind::Cc];

/// An analysis to run and check.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The analysis.
    pub analysis: AnalysisKind,
    /// Nodes to start from.
    pub sources: Vec<u32>,
    /// Most levels of a search.
    pub max_levels: u32,
    /// Thresholds of the search.
    pub policy: SearchPolicy,
    /// Whether the program requests incoming edges, so that it may pull.
    pub incoming: bool,
    /// Details beyond the plain column.
    pub detail: Detail,
}

/// Returns the expected column of `asked` for the graph of `list`; sets of sources as pairs of
/// words, low word first.
#[must_use]
pub fn expected(list: &EdgeList, asked: &RunOptions) -> Vec<u32> {
    match asked.analysis {
        AnalysisKind::Reach if asked.detail == Detail::EachSource => {
            oracle::reached_from(list, &asked.sources, asked.max_levels)
        }
        AnalysisKind::Reach => oracle::reached(list, &asked.sources, asked.max_levels),
        AnalysisKind::Cc => oracle::components(list),
        AnalysisKind::Triangles => oracle::triangles(list),
        AnalysisKind::TriangleTotal => {
            oracle::oriented_triangles(list, oracle::Corners::First, usize::MAX)
        }
        _ => oracle::levels(list, &asked.sources, asked.max_levels),
    }
}

/// Describes the first difference of two columns.
///
/// # Errors
/// If they differ.
pub fn compare(what: &str, found: &[u32], expected: &[u32]) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!(
            "{what}: {} words, expected {}",
            found.len(),
            expected.len()
        ));
    }
    let differing = found.iter().zip(expected).filter(|(a, b)| a != b).count();
    match found.iter().zip(expected).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(at) => Err(format!(
            "{what}: {differing} of {} words differ, first word {at}: {} instead of {}",
            found.len(),
            found[at],
            expected[at]
        )),
    }
}

pub(crate) fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Runs an analysis `times` times in one load and compares each result.
///
/// # Errors
/// The first failure or difference.
pub fn run_analysis(
    session: &mut dyn Session,
    graph: &Graph,
    list: &EdgeList,
    asked: &RunOptions,
    times: u32,
) -> Result<(), String> {
    let mut question = Question::new(asked.sources.clone());
    question.max_iterations = asked.max_levels;
    question.detail = asked.detail;
    let mut built = analysis::build(asked.analysis, graph, &question).map_err(text)?;
    built.program.search_policy(asked.policy);
    if asked.incoming {
        built.program.need_incoming();
    }
    let (encoded, _) = built
        .program
        .encode(&PlanRequest::default())
        .map_err(text)?;
    session.load(&encoded).map_err(text)?;
    let wanted = expected(list, asked);
    for run in 1..=times {
        let stats = session.run(&built.inputs).map_err(text)?;
        let mut words = Vec::new();
        session.read(built.result, &mut words).map_err(text)?;
        let what = format!("{} run {run}", asked.analysis);
        let found = match built.reading.column(graph.nodes(), words) {
            Column::U32(found) => found,
            Column::Sets(sets) => {
                let halves = |word: &u64| [*word as u32, (*word >> 32) as u32];
                sets.words().iter().flat_map(halves).collect()
            }
            _ => {
                return Err(format!("{what}: not a column of words"));
            }
        };
        compare(&what, &found, &wanted)?;
        if let Some(register) = built.parents {
            let mut parents = Vec::new();
            session.read(register, &mut parents).map_err(text)?;
            let wanted = oracle::parents(list, &wanted);
            compare(&format!("{what}, parents"), &parents, &wanted)?;
        }
        check_end(asked, &wanted, &stats)?;
    }
    Ok(())
}

/// A search must report being cut off exactly if it was.
fn check_end(asked: &RunOptions, levels: &[u32], stats: &RunStats) -> Result<(), String> {
    if asked.analysis != AnalysisKind::Bfs {
        return Ok(());
    }
    let reached = levels.iter().filter(|level| **level != Column::UNREACHED);
    let deepest = reached.max().copied().unwrap_or(0);
    let end = &stats.control.loops[0];
    if deepest < asked.max_levels && end.converged == 0 {
        return Err(format!(
            "not converged at level {deepest} of {}",
            asked.max_levels
        ));
    }
    if end.iterations > asked.max_levels {
        return Err(format!(
            "{} iterations of at most {}",
            end.iterations, asked.max_levels
        ));
    }
    Ok(())
}

/// Runs a script `times` times for every packing of its waves and compares the kept registers.
///
/// # Errors
/// The first failure or difference.
pub fn run_script(
    session: &mut dyn Session,
    list: &EdgeList,
    script: &Script,
    times: u32,
) -> Result<(), String> {
    let left = interpret(script, list);
    for strategy in [Strategy::Packed, Strategy::InOrder] {
        let request = PlanRequest {
            strategy,
            ..PlanRequest::default()
        };
        let assembled = script.assemble(list).map_err(text)?;
        let (encoded, _) = assembled.program.encode(&request).map_err(text)?;
        session.load(&encoded).map_err(text)?;
        for run in 1..=times {
            let stats = session.run(&assembled.inputs).map_err(text)?;
            for (slot, register) in script.registers.iter().enumerate().filter(|(_, r)| r.keep) {
                let mut words = Vec::new();
                session
                    .read(assembled.registers[slot], &mut words)
                    .map_err(text)?;
                let what = format!(
                    "{strategy:?} run {run} register {slot} of {} words",
                    register.words
                );
                compare(&what, &words, &left.registers[slot])?;
            }
            compare_loops(script, &left, &stats)?;
        }
    }
    Ok(())
}

/// Compares the ends of loops, if the control block has space for all and none is a search. The
/// plan may swap independent loops.
fn compare_loops(script: &Script, left: &Left, stats: &RunStats) -> Result<(), String> {
    let is_search = |wave: &Wave| match wave {
        Wave::Levels { .. } | Wave::Reach { .. } => true,
        Wave::Components { search, .. } => search.is_some(),
        _ => false,
    };
    if left.loops.len() > LOOPS_MAX || script.waves.iter().any(is_search) {
        return Ok(());
    }
    let mut expected = left.loops.clone();
    let reported = stats
        .control
        .loops
        .iter()
        .take(stats.control.loops_done as usize);
    let mut found: Vec<LoopEnd> = reported
        .map(|record| LoopEnd {
            iterations: record.iterations,
            converged: record.converged != 0,
        })
        .collect();
    expected.sort_unstable();
    found.sort_unstable();
    if found == expected {
        Ok(())
    } else {
        Err(format!("loops ended as {found:?}, expected {expected:?}"))
    }
}
