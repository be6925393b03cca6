//! Betweenness: number of shortest paths from the sources through every node, each path weighted by
//! its share of all shortest paths between its ends (Brandes, "A Faster Algorithm for Betweenness
//! Centrality", 2001). Edges have no length.
//!
//! On a CPU threads share the sources, and each follows the levels of a source in the order of a
//! queue, or, if weights are lengths, the nodes in the order of a heap: `2 m` edge visits per
//! source. Shares are added up as whole numbers of 2^-64.
//!
//! A path of an undirected graph is the same from both ends and counts once: half for each end if
//! both are sources. Normalized scores are divided as in NetworkX 3.6.
//!
//! A GPU handles one source after the other: forward by levels, counting paths, and backward,
//! adding up shares. A level is a list of nodes, so that work follows the edges and not the levels.
//! Numbers of paths exceed the range of floats, so they have separate exponents. Sums are of whole
//! numbers, so that every machine finds the same bits.

mod lost;
pub(super) mod oracle;
mod paths;
mod registers;

use self::registers::Registers;
use super::definition::padded;
use super::lists::over;
use super::{
    Analysis, AnalysisOutput, Answer, Bars, Built, Case, End, Facts, Highlight, ParallelRule,
    Picture, Question, Reading, alone,
};
use crate::column::Column;
use crate::cost::{Job, Times, Worker};
use crate::graph::Graph;
use crate::program::{
    Edges, Given, Item, Join, Operand, Over, ProgramBuilder, ProgramError, RegisterId, Value,
};
use crate::run::RunError;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::sequential::{Algorithm, SequentialRecord, Shares};

pub(super) struct Betweenness;

pub(super) const FACTS: Facts = Facts {
    name: "betweenness",
    title: "Betweenness",
    summary: "Shortest paths from the sources through every node, by their shares",
    takes_sources: true,
    parallel: ParallelRule::Count,
    weighs: true,
    normalizes: true,
    distinct_sources: true,
    highlight: Highlight::Highest,
    picture: Picture {
        title: "Nodes by betweenness",
        axis: "betweenness",
        bars: Bars::Suited,
    },
    ..Facts::PLAIN
};

const WORK: Times = Times {
    node: 30.0,
    edge: 40.0,
};

/// Work of a source by a queue, and by a heap, in edges of a pass.
const BY_QUEUE: alone::Searching = alone::Searching {
    times: Times {
        node: 10.0,
        edge: 30.0,
    },
    narrow: 60.0,
    words: 11.0,
};
const BY_HEAP: alone::Searching = alone::Searching {
    times: Times {
        node: 80.0,
        edge: 90.0,
    },
    narrow: 0.0,
    words: 16.0,
};

/// Largest relative error of a score: each level adds a few roundings, which rarely accumulate over
/// many levels.
const TOLERANCE_MAX: f64 = 0.01;

impl Analysis for Betweenness {
    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        if question.threads.is_some() && is_unlimited(question) {
            return build_alone(graph, question);
        }
        build(graph, question)
    }

    /// A run that a limit ended has counted only the first sources.
    fn check(&self, case: &Case<'_>, found: AnalysisOutput<'_>) -> bool {
        let Column::F32(scores) = found.values else {
            return false;
        };
        let sources = &case.question.sources;
        // An iteration of the composed program is a source; sequential waves count as one in total.
        let counted = if case.end.converged {
            sources.len()
        } else {
            sources.len().min(case.end.iterations as usize)
        };
        let asked = oracle::OracleOptions {
            weighted: case.question.centrality.weighted,
            shares: shares(case.graph, case.question),
            sources,
        };
        let exact = oracle::shared_scores(case.graph, &sources[..counted], asked);
        let lost = f64::from(case.graph.edges()) * counted as f64 * 0.5_f64.powi(31);
        let relative = tolerance(case.graph.nodes());
        let near = |(score, exact): (&f32, &f64)| {
            let score = f64::from(*score);
            score.is_nan() && exact.is_nan() || (score - exact).abs() <= relative * exact + lost
        };
        scores.len() == exact.len() && scores.iter().zip(&exact).all(near)
    }

    fn accept(
        &self,
        (graph, question): (&Graph, &Question),
        _found: AnalysisOutput<'_>,
    ) -> Result<(), RunError> {
        match question.centrality.weighted {
            true => lost::refuse(graph, &question.sources),
            false => Ok(()),
        }
    }

    /// In addition, a sum may lose up to a unit by rounding.
    fn tolerance(&self, column: &Column, _end: End) -> Option<f64> {
        Some(tolerance(column.len() as u32))
    }

    fn answer(&self, graph: &Graph, column: &Column) -> Answer {
        let names = ["highest_betweenness", "highest_betweenness_node"];
        Answer::highest(graph, column, names, "a betweenness")
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        if worker.is_cpu() {
            let times = if job.weighted { BY_HEAP } else { BY_QUEUE };
            return alone::searches_ns(job, worker, times);
        }
        job.sources * worker.search_ns(job, WORK)
    }
}

/// Whether all sources are counted.
fn is_unlimited(question: &Question) -> bool {
    question.max_iterations as usize >= question.sources.len()
}

/// The division of the sums of shares. A path of an undirected graph is the same from both ends,
/// and counts once.
fn shares(graph: &Graph, question: &Question) -> Shares {
    match (question.centrality.normalized, graph.is_symmetric()) {
        (true, _) => Shares::Normalized,
        (false, true) => Shares::Halved,
        (false, false) => Shares::Each,
    }
}

/// The program for threads, which share the sources.
fn build_alone(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let sources = question.sources.len() as u64;
    let record = SequentialRecord {
        lengths: alone::lengths(graph, question.centrality.weighted),
        shares: shares(graph, question),
        ..SequentialRecord::new(Algorithm::Betweenness)
    };
    let record = alone::shared(record, graph, question);
    let memory = program.sequential_memory(record, graph.edges())?;
    let list = program.input("sources", sources)?;
    let result = program.words("scores", graph.nodes().into())?;
    program.fill("no score yet", result, 0);
    let given = Given {
        memory: Some(memory),
        sources: Some(list),
        weights: alone::weights(graph, record),
        third: None,
    };
    // Sums stay in the scratch memory; there is no result yet.
    program.sequential("add up shares", result, record, given);
    let record = SequentialRecord {
        algorithm: Algorithm::Scores,
        ..record
    };
    let given = Given {
        memory: None,
        sources: Some(list),
        third: Some(memory),
        weights: None,
    };
    program.sequential("scores", result, record, given);
    Ok(Built::of(
        program,
        padded(question.sources.clone()),
        result,
        Reading::Floats,
    ))
}

fn tolerance(nodes: u32) -> f64 {
    (f64::from(nodes) * 12.0 * f64::from(f32::EPSILON)).min(TOLERANCE_MAX)
}

fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let registers = Registers::new(&mut program, question.sources.len() as u64)?;
    let count = question.sources.len() as u32;
    program.fill("no source yet", registers.turn, 0);
    program.fill("there are sources", registers.goes_on, count);
    program.iota("number the nodes", registers.numbers);
    let cleared = [registers.order, registers.begins, registers.level];
    for register in cleared {
        program.fill("clear", register, 0);
    }
    program.each("no score yet", Over::Nodes, |node| {
        node.store(registers.scores, 0.0_f32);
        node.store(registers.shares, 0.0_f32);
        node.store(registers.paths, 0_u64);
    });
    program.fill("no source is marked", registers.marks, 0);
    program.each("mark sources", Over::Values(registers.sources), |source| {
        let node = source.load(registers.sources);
        source.scatter(registers.marks, node, Join::Or, 1);
    });
    let shares = shares(graph, question);
    program.while_nonzero(
        "each source",
        registers.goes_on,
        question.max_iterations,
        |body| {
            registers.turn(body, count, shares);
        },
    );
    if shares == Shares::Normalized && graph.nodes() > 2 {
        registers.normalize(&mut program, [graph.nodes(), count]);
    }
    Ok(Built::of(
        program,
        padded(question.sources.clone()),
        registers.scores,
        Reading::Floats,
    ))
}

/// Stores a value of any number, for a wave of one item.
fn set<'c>(one: Item<'c>, (to, index): (RegisterId, impl Operand<'c> + Copy), value: Value<'c>) {
    one.scatter(to, index, Join::Min, 0);
    one.scatter(to, index, Join::Max, value);
}

impl Registers {
    /// Adds what the paths from a source come to.
    fn turn(self, body: &mut ProgramBuilder, count: u32, shares: Shares) {
        self.begin(body);
        body.while_nonzero("forward", self.length, Question::UNLIMITED, |body| {
            self.take_level(body);
            self.count_paths(body);
            self.discover(body);
        });
        body.while_nonzero("backward", self.depth, Question::UNLIMITED, |body| {
            self.step_back(body);
            self.take_level(body);
            self.share_paths(body, shares);
        });
        body.each("next source", Over::Count(1), |one| {
            let next = one.load(self.turn) + 1;
            one.store(self.turn, next);
            one.store(self.goes_on, next.below(count));
        });
    }

    /// Divides by the pairs of ends that a node may be between; a single source has none, and no score.
    fn normalize(self, program: &mut ProgramBuilder, [nodes, sources]: [u32; 2]) {
        let others = f64::from(nodes) - 2.0;
        let of_source = 1.0 / ((f64::from(sources) - 1.0) * others);
        let of_other = 1.0 / (f64::from(sources) * others);
        program.each("normalize", Over::Nodes, |node| {
            let (score, mark) = (node.load(self.scores), node.load(self.marks));
            let own = if sources == 1 {
                node.constant(f32::NAN)
            } else {
                score * of_source as f32
            };
            node.store(self.scores, mark.select(own, score * of_other as f32));
        });
    }

    /// Only the source is found, and is the first level.
    fn begin(self, body: &mut ProgramBuilder) {
        body.fill("none is found", self.levels, UNREACHED);
        body.each("source", Over::Count(1), |one| {
            let source = one.at(self.sources, one.load(self.turn));
            one.scatter(self.levels, source, Join::Min, 0);
            set(one, (self.order, 0), source);
            one.store(self.found, 1);
            one.store(self.length, 1);
            one.store(self.first, 0);
            one.store(self.depth, 0);
        });
    }

    /// Copies the present level from the order.
    fn take_level(self, body: &mut ProgramBuilder) {
        body.each(
            "take the level",
            over((self.numbers, self.length)),
            |place| {
                let first = place.at(self.first, 0);
                let node = place.at(self.order, first + place.index());
                place.store(self.level, node);
            },
        );
    }

    /// Finds the next level.
    fn discover(self, body: &mut ProgramBuilder) {
        body.each("discover", over((self.level, self.length)), |node| {
            let next = node.at(self.depth, 0) + 1;
            node.each_edge(Edges::Out, |edge| {
                let neighbour = edge.neighbour();
                edge.only(edge.latest(self.levels, neighbour).equals(UNREACHED));
                let before = edge.scatter(self.levels, neighbour, Join::Min, next);
                edge.append(
                    (self.order, self.found),
                    neighbour,
                    before.equals(UNREACHED),
                );
            });
        });
        body.each("next level", Over::Count(1), |one| {
            let (own, begin) = (one.load(self.depth), one.load(self.first));
            let end = begin + one.load(self.length);
            set(one, (self.begins, own), begin);
            one.store(self.first, end);
            one.store(self.length, one.at(self.found, 0) - end);
            one.store(self.depth, own + 1);
        });
    }

    /// Moves to the previous level.
    fn step_back(self, body: &mut ProgramBuilder) {
        body.each("step back", Over::Count(1), |one| {
            let own = one.load(self.depth) - 1;
            let begin = one.at(self.begins, own);
            one.store(self.length, one.load(self.first) - begin);
            one.store(self.first, begin);
            one.store(self.depth, own);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::AnalysisKind;
    use super::*;

    #[test]
    fn scores_that_are_none_are_refused() {
        // Two paths from 0 to 3, and an edge from there to 4.
        let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)];
        let graph = Graph::from_edges(5, &edges, false).unwrap();
        let question = Question::new(vec![0]);
        let judge = |scores: [f32; 5], iterations, converged| {
            let end = End {
                iterations,
                converged,
            };
            let scores = Column::F32(scores.to_vec());
            AnalysisKind::Betweenness.accepts(&graph, &question, end, scores)
        };
        let right = [0.0, 1.0, 1.0, 1.0, 0.0];
        assert!(judge(right, 1, true));
        assert!(!judge([0.0, 1.0, 1.01, 1.0, 0.0], 1, true));
        assert!(!judge([4.0, 1.0, 1.0, 1.0, 0.0], 1, true), "an end");
        assert!(judge([0.0; 5], 0, false) && !judge([0.0; 5], 0, true));
    }
}
