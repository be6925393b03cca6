//! Maximal independent set: nodes of which no two are neighbours, and to which no other
//! can be added.
//!
//! Every node has a priority, and the highest among its neighbours joins the set (Luby,
//! "A Simple Parallel Algorithm for the Maximal Independent Set Problem", 1986). Nodes
//! with few edges come first, as they keep few others out (Burtscher, Devale, Azimi,
//! Jaiganesh, Powers, "A High-Quality and Fast Maximal Independent Set Implementation for
//! GPUs", 2018). The set follows from the priorities alone.

mod oracle;

use super::{
    Analysis, Answer, Bars, Built, Case, Facts, Figure, Found, Picture, Question, Reading,
    Sentence, Values,
};
use crate::column::Column;
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{
    Edges, Item, Join, Kind, Over, ProgramBuilder, ProgramError, RegisterId, Value,
};
use crate::units::counted;

/// The analysis `mis`.
pub(super) struct Mis;

const FACTS: Facts = Facts {
    name: "mis",
    title: "Maximal independent set",
    summary: "A maximal independent set: 1 for its nodes, of which no two are neighbours",
    values: Values::Flags,
    is_undirected: true,
    picture: Picture {
        title: "Nodes in the independent set",
        axis: "1 for nodes of the set",
        bars: Bars::Even,
    },
    ..Facts::PLAIN
};

/// Passes over all edges, and levels in between.
const PASSES: [f64; 2] = [1.5, 10.0];

/// State of a node that is in the set. One that is out of it has 0, all others their
/// priority.
const IN: u64 = u64::MAX;

impl Analysis for Mis {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn build(&self, graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
        build(graph, question)
    }

    /// There are many such sets; whether this is one is judged by itself.
    fn check(&self, case: &Case<'_>, found: Found<'_>) -> bool {
        let Column::U32(flags) = found.values else {
            return false;
        };
        oracle::is_independent(case.graph, flags)
            && (!case.end.converged || oracle::is_maximal(case.graph, flags))
    }

    fn answer(&self, _graph: &Graph, column: &Column) -> Answer {
        let members = self.reached(column);
        Answer {
            figures: vec![Figure::count("members", "member", members)],
            sentence: Sentence::Graph(format!(
                "an independent set of {}",
                counted(members, "node")
            )),
        }
    }

    fn cost_ns(&self, job: &Job, worker: &Worker) -> f64 {
        let [passes, levels] = PASSES;
        worker.code_ns(job, passes, levels)
    }
}

fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let states = program.per_node("states", Kind::U64)?;
    let members = program.per_node("members", Kind::U32)?;
    program.each("draw priorities", Over::Nodes, |node| {
        node.store(states, priority(node));
    });
    program.fixpoint("decide", question.max_iterations, |body| {
        body.each("round", Over::Nodes, |node| decide(node, states));
    });
    program.each("members", Over::Nodes, |node| {
        node.store(members, node.load(states).equals(IN));
    });
    program.keep(members);
    Ok(Built {
        program,
        inputs: Vec::new(),
        result: members,
        parents: None,
        reading: Reading::Words,
    })
}

/// Puts a node into the set that comes before all of its undecided neighbours, and takes those
/// out. A row ends at the first neighbour that comes before its node, be it decided or not.
fn decide(node: Item<'_>, states: RegisterId) {
    let own = node.latest(states, node.index());
    node.only((own - 1).below(IN - 1));
    let best = node.gather(Edges::Out, Join::Max, |edge| {
        let theirs = edge.latest(states, edge.neighbour());
        edge.until(theirs.above(own));
        theirs
    });
    node.changed(1);
    let (is_in, is_out) = (best.below(own), best.equals(IN));
    node.only(is_in | is_out);
    node.scatter(states, node.index(), Join::And, is_in.select(IN, 0_u64));
    node.only(is_in);
    node.scatter(states, node.index(), Join::Max, IN);
    node.each_edge(Edges::Out, |edge| {
        edge.scatter(states, edge.neighbour(), Join::And, 0_u64);
    });
}

/// The priority of a node: by the magnitude of its degree, then by chance, then by number.
fn priority(node: Item<'_>) -> Value<'_> {
    let number = node.index();
    let magnitude = node.degree(Edges::Out, number).to_f32().bits() >> 22;
    let few = (node.constant(511_u32) - magnitude) << 20;
    let chance = number.hash() >> 12;
    number.below_high(few | chance)
}

#[cfg(test)]
mod tests {
    use super::super::{AnalysisKind, End};
    use super::*;

    #[test]
    fn sets_that_are_none_are_refused() {
        let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)], true).unwrap();
        let question = Question::new(Vec::new());
        let judge = |flags: [u32; 4], converged: bool| {
            let iterations = 3;
            let case = Case {
                graph: &graph,
                question: &question,
                end: End {
                    iterations,
                    converged,
                },
            };
            let values = &Column::U32(flags.to_vec());
            let parents = None;
            AnalysisKind::Mis
                .room()
                .check(&case, Found { values, parents })
        };
        assert!(judge([1, 0, 0, 1], true) && judge([0, 1, 0, 1], true));
        assert!(!judge([1, 1, 0, 1], true), "neighbours");
        assert!(!judge([1, 0, 0, 0], true), "one could be added");
        assert!(judge([1, 0, 0, 0], false) && !judge([1, 1, 0, 0], false));
        assert!(!judge([2, 0, 0, 1], true), "no flag");
    }
}
