//! Widest paths: the largest width of a path from the sources to every node; the width of a path is
//! its least weight.
//!
//! On a CPU one thread repeatedly takes the widest node found so far. It visits every edge once,
//! with a heap operation for each node and each edge that widens a path: `O((n + m) log n)`.
//!
//! On a GPU, nodes that got wider pass that on along their edges, round after round. Widths only
//! grow, so it does not matter which of two rounds sees a new one.

mod oracle;

use super::definition::padded;
use super::{
    Analysis, AnalysisOutput, Answer, Bars, Built, Case, Facts, Figure, ParallelRule, Picture,
    Question, Reading, Values, alone,
};
use crate::column::Column;
use crate::cost::{Job, Times, Worker};
use crate::graph::{Graph, WeightKind};
use crate::program::{
    Edge, Edges, Join, Kind, Over, ProgramBuilder, ProgramError, RegisterId, Value,
};
use seawall_core::abi::sequential::{Algorithm, Lengths, SequentialRecord};

pub(super) struct Widest;

pub(super) const FACTS: Facts = Facts {
    name: "widest",
    title: "Widest paths",
    summary: "Width of the widest path to every node: the least weight along it",
    values: Values::NumbersOfReached,
    takes_sources: true,
    walks: true,
    reads_weights: true,
    weight_max: WEIGHT_MAX,
    parallel: ParallelRule::Greatest,
    picture: Picture {
        title: "Nodes by the width of their widest path",
        axis: "width",
        bars: Bars::Suited,
    },
    ..Facts::PLAIN
};

const WORK: Times = Times {
    node: 8.0,
    edge: 30.0,
};

/// Work of the widest node first, in edges of a pass.
const ALONE: alone::Searching = alone::Searching {
    times: Times {
        node: 4.0,
        edge: 20.0,
    },
    narrow: 20.0,
    words: 2.0,
};

/// Width of a path without edges, in whole numbers; one less stands for no path in results.
pub(super) const UNBOUNDED: u32 = u32::MAX - 1;

/// The largest weight of an edge, below the two marks.
const WEIGHT_MAX: u32 = UNBOUNDED - 1;

impl Analysis for Widest {
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        if alone::suits(question) {
            return build_alone(graph, question);
        }
        build(graph, question)
    }

    /// The result of a run that a limit ended is correct if no width is too large.
    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
        let expected = oracle::widths(case.graph, &case.question.sources);
        if case.end.converged {
            return *found.values == expected;
        }
        oracle::are_not_above(found.values, &expected)
    }

    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        let narrowest = oracle::least(column).map(|least| Figure::new("narrowest", least));
        Answer {
            figures: narrowest.into_iter().collect(),
            ..Answer::reached()
        }
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        if worker.is_cpu() {
            return alone::search_ns(job, worker, ALONE);
        }
        let sweeps = job.tally.depth() * job.nodes * worker.gather_ns();
        worker.search_ns(job, WORK) + sweeps
    }
}

/// Parts of widths, by the kind of weights.
#[derive(Clone, Copy)]
enum Width {
    Whole,
    Float,
}

impl Width {
    const fn kind(self) -> Kind {
        match self {
            Self::Whole => Kind::U32,
            Self::Float => Kind::F32,
        }
    }

    /// Bits of the width without a path: whole widths are one larger within the program, so that 0
    /// means none.
    const fn none(self) -> u32 {
        match self {
            Self::Whole => 0,
            Self::Float => (-1.0_f32).to_bits(),
        }
    }

    fn of(self, edge: Edge<'_>) -> Value<'_> {
        match self {
            Self::Whole => edge.weight() + 1,
            Self::Float => edge.float_weight(),
        }
    }
}

fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let width = match graph.weight_kind() {
        Some(WeightKind::Float) => Width::Float,
        _ => Width::Whole,
    };
    let mut program = ProgramBuilder::new(graph.nodes());
    let sources = program.input("sources", question.sources.len() as u64)?;
    let widths = program.per_node("widths", width.kind())?;
    // Nodes that got wider, in turn.
    let wider = [
        program.per_node("wider", Kind::U32)?,
        program.per_node("wider next", Kind::U32)?,
    ];
    program.fill("no path yet", widths, width.none());
    program.fill("none", wider[0], 0);
    program.fill("none next", wider[1], 0);
    program.each("sources", Over::Values(sources), |source| {
        let node = source.load(sources);
        let unbounded = match width {
            Width::Whole => source.constant(u32::MAX),
            Width::Float => source.constant(f32::MAX),
        };
        source.scatter(widths, node, Join::Max, unbounded);
        source.scatter(wider[0], node, Join::Or, 1);
    });
    program.fixpoint("widen", question.max_iterations, |body| {
        let is_shared = question.shared;
        pass_on(body, widths, width, wider, is_shared);
        pass_on(body, widths, width, [wider[1], wider[0]], is_shared);
    });
    program.each("widths", Over::Nodes, |node| {
        let own = node.load(widths);
        node.store(widths, finished(own, width));
    });
    let reading = match width {
        Width::Whole => Reading::Words,
        Width::Float => Reading::Floats,
    };
    let inputs = padded(question.sources.clone());
    Ok(Built::of(program, inputs, widths, reading))
}

/// One search by a heap.
fn build_alone(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let lengths = alone::lengths(graph, true);
    let (none, reading) = match lengths {
        Lengths::Float => (f32::INFINITY.to_bits(), Reading::Floats),
        Lengths::Whole | Lengths::Edges => (u32::MAX, Reading::Words),
    };
    let record = SequentialRecord {
        lengths,
        ..SequentialRecord::new(Algorithm::Widest)
    };
    let sought = alone::Sought {
        record,
        none,
        reading,
    };
    alone::build(graph, question, sought)
}

/// The width in the encoding of results.
fn finished(own: Value<'_>, width: Width) -> Value<'_> {
    match width {
        Width::Whole => own - 1,
        Width::Float => own.below(0.0_f32).select(f32::INFINITY, own),
    }
}

/// A round: those whose range got wider notify their neighbours. Several devices compare with a width
/// that may be older, and notify some nodes twice.
fn pass_on(
    body: &mut ProgramBuilder,
    widths: RegisterId,
    width: Width,
    [now, next]: [RegisterId; 2],
    is_shared: bool,
) {
    body.each("pass on", Over::Nodes, |node| {
        node.only(node.load(now));
        node.store(now, 0);
        let own = node.latest(widths, node.index());
        node.each_edge(Edges::Out, |edge| {
            let neighbour = edge.neighbour();
            let through = own.min(width.of(edge));
            let before = match is_shared {
                true => {
                    let known = edge.latest(widths, neighbour);
                    edge.only(known.below(through));
                    edge.scatter(widths, neighbour, Join::Max, through);
                    known
                }
                false => edge.scatter(widths, neighbour, Join::Max, through),
            };
            let is_wider = before.below(through);
            edge.scatter(next, neighbour, Join::Or, is_wider);
            edge.changed(is_wider);
        });
    });
}
