//! PTX of waves does what machine code for the CPU does.

use crate::drawn::{self, Case};
use proptest::prelude::*;
use seawall::graph::{Form, Graph, Parallel};
use seawall::program::{Edges, Join, Kind, Over, ProgramBuilder};
use seawall_oracles::composed::{COMPOSED, run_composed};
use seawall_oracles::harness::run_script;
use seawall_oracles::ptx::SessionWithPtx;
use seawall_oracles::random::Random;

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_equal_machine_code(case in drawn::cases(100, 300, &[1])) {
        let Case { list, script, .. } = case;
        let graph = list.graph().unwrap();
        let mut session = SessionWithPtx::open(&graph);
        run_script(&mut session, &list, &script, 1).map_err(TestCaseError::fail)?;
    }
}

#[test]
fn analyses_equal_machine_code() {
    if std::env::var_os("PTXAS").is_none() {
        eprintln!("PTXAS names no assembler: the PTX is not assembled");
    }
    let mut random = Random::new(7);
    let edges: Vec<_> = (0..400)
        .map(|_| (random.below(100), random.below(100), 1 + random.below(9)))
        .filter(|(from, to, _)| from != to)
        .collect();
    let read = Graph::from_weighted_edges(100, &edges, true).unwrap();
    let graph = read.form(Form::simple(Parallel::Least)).unwrap();
    for kind in COMPOSED {
        let mut session = SessionWithPtx::open(graph);
        run_composed(&mut session, graph, kind, &[3]).unwrap();
    }
}

#[test]
fn an_edge_that_ends_its_row_ends_no_other() {
    let graph = Graph::from_edges(300, &[(0, 1)], true).unwrap();
    let mut program = ProgramBuilder::new(graph.nodes());
    let [value, found] = ["value", "found"].map(|name| program.per_node(name, Kind::U32).unwrap());
    program.iota("number", value);
    // One of some 400 drawn words is a 3, so that most rows end late, and many not at all.
    program.each("find", Over::Nodes, |node| {
        let any = node.gather(Edges::Out, Join::Any, |edge| edge.there(value).equals(3));
        node.store(found, any);
    });
    program.keep(found);
    let (program, _) = program.encode(&Default::default()).unwrap();
    let mut session = SessionWithPtx::open(&graph);
    for _ in 0..4 {
        session.compare(&program);
    }
}
