//! Waves that write one value keep the others of their register.

use super::plan;
use proptest::prelude::*;
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, Session};
use seawall::graph::Graph;
use seawall::program::{Kind, PlanRequest, ProgramBuilder, ProgramError, Reduction};
use std::num::NonZeroUsize;

const HOWS: [Reduction; 5] = [
    Reduction::Any,
    Reduction::Count,
    Reduction::Sum,
    Reduction::Min,
    Reduction::Max,
];

fn joined(how: Reduction, words: &[u32]) -> u32 {
    let words = words.iter().copied();
    match how {
        Reduction::Any => u32::from(words.into_iter().any(|word| word != 0)),
        Reduction::Count => words.map(u32::count_ones).sum(),
        Reduction::Sum => words.fold(0, u32::wrapping_add),
        Reduction::Min => words.min().unwrap_or(u32::MAX),
        Reduction::Max => words.max().unwrap_or(0),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reduce_and_compact_write_one_value(
        from in proptest::collection::vec(any::<u32>(), 0..400),
        values in 1_u64..70,
        kind in proptest::sample::select(&Kind::ALL[..]),
        how in proptest::sample::select(&HOWS[..]),
        before in any::<u32>(),
        threads in proptest::sample::select(vec![1_usize, 2, 5]),
    ) {
        let graph = Graph::from_edges(3, &[], false).unwrap();
        let mut program = ProgramBuilder::new(3);
        let source = program.input("source", from.len() as u64).unwrap();
        let to = program.values("to", kind, values).unwrap();
        program.fill("before", to, before);
        program.reduce_words("join", how, to, source);
        let list = program.words("list", from.len() as u64).unwrap();
        let count = program.words("count", values).unwrap();
        program.fill("empty", list, 0);
        program.fill("before", count, before);
        program.compact("list", list, count, source);
        for register in [to, count] {
            program.keep(register);
        }
        let encoded = plan(&program);
        let limits = RunLimits::default();
        let mut session = CpuSession::open(&graph, NonZeroUsize::new(threads), limits).unwrap();
        session.load(&encoded).unwrap();
        let mut inputs = from.clone();
        inputs.resize(encoded.input_bytes as usize / 4, 0);
        session.run(&inputs).unwrap();
        let listed = from.iter().filter(|word| **word != 0).count() as u32;
        for (register, first) in [(to, joined(how, &from)), (count, listed)] {
            let mut words = Vec::new();
            session.read(register, &mut words).unwrap();
            prop_assert_eq!(words[0], first);
            prop_assert!(words[1..].iter().all(|word| *word == before), "{:?}", words);
        }
    }
}

#[test]
fn a_longer_register_has_to_be_filled_before_a_reduction() {
    let mut program = ProgramBuilder::new(3);
    let [from, to] = ["from", "to"].map(|name| program.words(name, 3).unwrap());
    program.iota("number", from);
    program.reduce("join", Reduction::Sum, to, from);
    program.keep(to);
    let refused = program.encode(&PlanRequest::default()).unwrap_err();
    assert!(
        matches!(&refused, ProgramError::UnwrittenRegister { name, .. } if name == "join"),
        "{refused}"
    );
}
