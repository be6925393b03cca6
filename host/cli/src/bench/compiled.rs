//! Composed programs of analyses on one CPU thread, as machine code, against plain loops written by
//! hand.

use super::BenchError;
use super::analyses::same;
use super::graphs::{self, Spec};
use super::plain::{self, Rows};
use super::row::{Baseline, Clock, Figure, Floor, Row, Timing, Unit};
use super::setting::Setting;
use super::timing;
use seawall::analysis::{self, AnalysisKind, Question};
use seawall::executor::Jit;
use seawall::graph::Graph;
use seawall::outcome::Column;
use seawall::run::{LabelRule, RunError};
use std::num::NonZeroUsize;
use std::time::Instant;

/// Longest time, in times of the plain loop.
const FLOOR: Floor = Floor::Ratio(1.3);

/// Runs per median of a plain loop.
const RUNS: usize = 5;

const ROUNDS: u32 = 20;

const KINDS: [AnalysisKind; 7] = [
    AnalysisKind::Ppr,
    AnalysisKind::Labels,
    AnalysisKind::Mis,
    AnalysisKind::Colouring,
    AnalysisKind::Msf,
    AnalysisKind::Widest,
    AnalysisKind::Betweenness,
];

/// Adds a row for each analysis and graph.
pub(super) fn rows(setting: &mut Setting<'_>) -> Result<(), BenchError> {
    for spec in [graphs::LESSER_RMAT, graphs::SMALL_RMAT] {
        for kind in KINDS {
            one(setting, kind, spec)?;
        }
    }
    Ok(())
}

fn one(setting: &mut Setting<'_>, kind: AnalysisKind, spec: Spec) -> Result<(), BenchError> {
    let name = format!("{kind} {}", spec.text(setting.quick));
    setting.say(format!("compiled {name}"));
    let graph = spec.load(setting.quick, kind.reads_weights())?;
    let question = question_of(kind, &graph);
    let (wall, by_hand) = plain_loop(kind, &graph, &question);
    let (compiled, found) = composed(setting, (kind, Jit::Always), &graph, &question)?;
    // Colours follow from priorities, which small graphs have others of.
    if kind != AnalysisKind::Colouring && found != by_hand {
        setting.differs(format!(
            "compiled {name}: the plain loop has another result"
        ));
    }
    let row = |other: &str, time: Timing| {
        let baseline = Baseline::Measured(Figure::new(other, time));
        let ours = Figure::new("compiled", compiled);
        Row::new(name.clone(), Clock::Wall, ours, baseline).shown_in(Unit::Milliseconds)
    };
    setting.push(row("plain loop", wall).with_floor(Some(FLOOR)));
    let (interpreted, by_interpreter) = composed(setting, (kind, Jit::Never), &graph, &question)?;
    if !same(&found, &by_interpreter) {
        setting.differs(format!(
            "compiled {name}: the interpreter has another result"
        ));
    }
    setting.push(row("interpreted", interpreted));
    Ok(())
}

/// The question, with the node of most edges as the source.
fn question_of(kind: AnalysisKind, graph: &Graph) -> Question {
    let rows = Rows::of(graph);
    let source = (0..graph.nodes()).max_by_key(|node| rows.degree(*node));
    let sources = if kind.takes_sources() {
        source.into_iter().collect()
    } else {
        Vec::new()
    };
    let mut question = Question::new(sources);
    question.rule = LabelRule::Ldbc;
    if kind == AnalysisKind::Ppr {
        question.max_iterations = ROUNDS;
    }
    question
}

/// Times the composed program and returns its result.
fn composed(
    setting: &Setting<'_>,
    (kind, jit): (AnalysisKind, Jit),
    graph: &Graph,
    question: &Question,
) -> Result<(Timing, Column), BenchError> {
    let built = analysis::build(kind, graph, question).map_err(RunError::from)?;
    let mut machine = timing::cpu(NonZeroUsize::MIN);
    machine.jit = jit;
    let mut done = timing::one(&machine, graph, setting.quick, &built)?;
    let column = done.columns.pop();
    Ok((
        done.times.wall_ns,
        column.unwrap_or(Column::U32(Vec::new())),
    ))
}

fn plain_loop(kind: AnalysisKind, graph: &Graph, question: &Question) -> (Timing, Column) {
    let rows = Rows::of(graph);
    let source = question.sources.first().copied().unwrap_or(0);
    let mut times = Vec::with_capacity(RUNS);
    let mut column = Column::U32(Vec::new());
    for _ in 0..RUNS {
        let start = Instant::now();
        column = match kind {
            AnalysisKind::Ppr => {
                let ranking = (question.ranking.damping, question.ranking.tolerance);
                let exponent = seawall_core::abi::rank::unit_exponent(graph.edges()) as i32;
                let options = (ranking.0, ranking.1, exponent);
                Column::F32(plain::ranks((rows, rows), source, options, ROUNDS))
            }
            AnalysisKind::Labels => Column::U32(plain::labels(rows)),
            AnalysisKind::Mis => Column::U32(plain::independent(rows)),
            AnalysisKind::Colouring => Column::U32(plain::colouring(rows)),
            AnalysisKind::Msf => Column::U64(plain::forest(rows)),
            AnalysisKind::Widest => Column::U32(plain::widest(rows, source)),
            _ => Column::F32(plain::betweenness(rows, source)),
        };
        times.push(start.elapsed().as_nanos() as f64);
    }
    (Timing::of(&mut times), column)
}
