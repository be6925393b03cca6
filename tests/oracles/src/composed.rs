//! Runs analyses of code in a session and checks their results.

use seawall::analysis::{self, AnalysisKind, AnalysisOutput, Case, End, Question};
use seawall::backend::Session;
use seawall::column::Column;
use seawall::graph::Graph;
use seawall::program::PlanRequest;

/// The analyses that only consist of code.
pub const COMPOSED: [AnalysisKind; 8] = [
    AnalysisKind::Widest,
    AnalysisKind::Mis,
    AnalysisKind::Colouring,
    AnalysisKind::Scc,
    AnalysisKind::Msf,
    AnalysisKind::Labels,
    AnalysisKind::Ppr,
    AnalysisKind::Betweenness,
];

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Runs `kind` in `session`, which has `graph`: undirected and with weights where the analysis asks
/// for it. A colouring is the same by the method for warps.
///
/// # Errors
/// A failure or a wrong result.
pub fn run_composed(
    session: &mut dyn Session,
    graph: &Graph,
    kind: AnalysisKind,
    sources: &[u32],
) -> Result<(), String> {
    let mut question = Question::new(sources.to_vec());
    let found = run_question(session, graph, kind, &question)?;
    if kind == AnalysisKind::Colouring {
        question.warps = true;
        let by_warps = run_question(session, graph, kind, &question)?;
        if by_warps != found {
            return Err(format!("{kind} by warps differs"));
        }
    }
    Ok(())
}

fn run_question(
    session: &mut dyn Session,
    graph: &Graph,
    kind: AnalysisKind,
    question: &Question,
) -> Result<Column, String> {
    let built = analysis::build(kind, graph, question).map_err(text)?;
    let (encoded, _) = built
        .program
        .encode(&PlanRequest::default())
        .map_err(text)?;
    session.load(&encoded).map_err(text)?;
    let stats = session.run(&built.inputs).map_err(text)?;
    let mut words = Vec::new();
    session.read(built.result, &mut words).map_err(text)?;
    let loops = &stats.control.loops[..stats.control.loops_done as usize];
    let end = End {
        iterations: loops.iter().map(|ended| ended.iterations).sum(),
        converged: loops.iter().all(|ended| ended.converged != 0),
    };
    if !end.converged {
        return Err(format!("{kind} ended after {} iterations", end.iterations));
    }
    let case = Case {
        graph,
        question,
        end,
    };
    let values = built.reading.column(graph.nodes(), words);
    let found = AnalysisOutput {
        values: &values,
        parents: None,
    };
    if kind.definition().check(&case, found) {
        Ok(values)
    } else {
        Err(format!("{kind} found what it must not"))
    }
}
