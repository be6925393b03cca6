//! Sums of floats over items: the same bits for any number of threads, in the order that the
//! builder's documentation states.

use super::plan;
use proptest::prelude::*;
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, Session};
use seawall::graph::Graph;
use seawall::program::{Join, Kind, Over, ProgramBuilder};
use std::num::NonZeroUsize;

/// Adds up 16 terms at a time, strided, until one is left.
fn in_order(terms: &[f32]) -> f32 {
    let mut terms = terms.to_vec();
    terms.resize(terms.len().next_multiple_of(16).max(1), 0.0);
    while terms.len() > 16 {
        let parts = terms.len() / 16;
        let sums = (0..parts).map(|part| {
            let mut own = (0..16).map(|step| terms[part + step * parts]);
            let first = own.next().unwrap();
            own.fold(first, |sum, term| sum + term)
        });
        let mut sums: Vec<f32> = sums.collect();
        sums.resize(parts.next_multiple_of(16), 0.0);
        terms = sums;
    }
    let first = terms[0];
    terms[1..].iter().fold(first, |sum, term| sum + term)
}

/// The domain of the items that are added up.
#[derive(Clone, Copy, Debug)]
enum Domain {
    Nodes,
    Values,
    Count,
    List,
}

const DOMAINS: [Domain; 4] = [Domain::Nodes, Domain::Values, Domain::Count, Domain::List];

fn sums_of(domain: Domain, terms: &[f32], threads: usize) -> [f32; 2] {
    let nodes = terms.len() as u32;
    let graph = Graph::from_edges(nodes, &[], false).unwrap();
    let mut program = ProgramBuilder::new(nodes);
    let input = program
        .input_values("terms", Kind::F32, nodes.into())
        .unwrap();
    let list = program.per_node("list", Kind::U32).unwrap();
    let count = program.values("count", Kind::U32, 1).unwrap();
    let sums = ["first", "second"].map(|name| program.values(name, Kind::F32, 2).unwrap());
    program.fill("empty", list, 0);
    program.fill("none", count, 0);
    program.each("list", Over::Nodes, |node| {
        node.append((list, count), node.index(), 1);
    });
    for register in sums {
        program.each("start", Over::Values(register), |item| {
            item.store(register, 5.0_f32);
        });
    }
    let over = match domain {
        Domain::Nodes => Over::Nodes,
        Domain::Values => Over::Values(input),
        Domain::Count => Over::Count(nodes),
        Domain::List => Over::List { list, count },
    };
    program.each("add up", over, |item| {
        let term = item.load(input);
        item.fold(sums[0], Join::Sum, term);
        // Items without a term add none.
        item.only(term.above(0.0_f32));
        item.fold(sums[1], Join::Sum, term);
    });
    for register in sums {
        program.keep(register);
    }
    let mut session =
        CpuSession::open(&graph, NonZeroUsize::new(threads), RunLimits::default()).unwrap();
    let encoded = plan(&program);
    session.load(&encoded).unwrap();
    let mut words: Vec<u32> = terms.iter().map(|term| term.to_bits()).collect();
    words.resize(encoded.input_bytes as usize / 4, 0);
    session.run(&words).unwrap();
    sums.map(|register| {
        let mut words = Vec::new();
        session.read(register, &mut words).unwrap();
        assert_eq!(
            words[1],
            5.0_f32.to_bits(),
            "only the first value is added to"
        );
        f32::from_bits(words[0])
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn folds_of_floats_do_not_depend_on_threads(
        terms in proptest::collection::vec((-30_i32..30, -1.0_f32..1.0), 0..6000),
        domain in proptest::sample::select(&DOMAINS[..]),
    ) {
        let terms: Vec<f32> = terms.iter().map(|(exponent, part)| part * (*exponent as f32).exp2()).collect();
        let positive: Vec<f32> = terms.iter().map(|term| term.max(0.0)).collect();
        let wanted = [in_order(&terms), in_order(&positive)].map(|sum| (5.0 + sum).to_bits());
        for threads in [1, 2, 5] {
            let found = sums_of(domain, &terms, threads).map(f32::to_bits);
            prop_assert_eq!(found, wanted, "{} threads", threads);
        }
    }
}
