//! Sources of searches that are no nodes end the run with an error that names one.

use super::{fault_of, plan};
use proptest::prelude::*;
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, Session};
use seawall::program::{GraphSize, Lengths, Mark, Paths, ProgramBuilder, Sets, read_text};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::control::FaultCode;
use seawall_oracles::graphs;
use seawall_oracles::oracle;
use seawall_oracles::random::Random;
use serde_json::json;
use std::num::NonZeroUsize;

fn source() -> impl Strategy<Value = u32> {
    prop_oneof![12 => 0_u32..50, 1 => 50_u32..60, 1 => any::<u32>(), 1 => Just(UNREACHED)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_source_is_a_node_or_an_error(
        sources in proptest::collection::vec(source(), 0..40),
        shape in proptest::sample::select(&graphs::SHAPES[..]),
        threads in proptest::sample::select(vec![1_usize, 2, 5]),
        seed in any::<u64>(),
    ) {
        let list = graphs::draw(shape, 50, false, &mut Random::new(seed));
        let graph = list.graph().unwrap();
        let nodes = graph.nodes();
        let text = json!({
            "version": 1,
            "registers": [
                {"name": "from", "kind": "u32", "values": sources},
                {"name": "levels", "kind": "u32", "count": "nodes", "keep": true},
                {"name": "frontier", "kind": "frontier"},
            ],
            "waves": [{"wave": "search", "frontier": "frontier", "from": "from", "levels": "levels"}],
        });
        let size = GraphSize { nodes, edges: graph.edges() };
        let read = read_text(&text.to_string(), size).unwrap();
        let encoded = plan(&read.program);
        let limits = RunLimits::default();
        let mut session = CpuSession::open(&graph, NonZeroUsize::new(threads), limits).unwrap();
        session.load(&encoded).unwrap();
        let mut inputs = read.inputs[0].words.clone();
        inputs.resize(encoded.input_bytes as usize / 4, 0);
        let ran = session.run(&inputs);
        let strangers: Vec<u32> = sources
            .iter()
            .copied()
            .filter(|source| *source >= nodes && *source != UNREACHED)
            .collect();
        if strangers.is_empty() {
            ran.unwrap();
            let mut levels = Vec::new();
            session.read(read.results[0].register, &mut levels).unwrap();
            let known: Vec<u32> = sources.into_iter().filter(|node| *node < nodes).collect();
            prop_assert_eq!(levels, oracle::levels(&list, &known, u32::MAX));
        } else {
            let message = ran.as_ref().unwrap_err().to_string();
            let (record, _) = fault_of(ran);
            prop_assert_eq!(FaultCode::from_word(record.code), FaultCode::NotANode);
            prop_assert!(strangers.contains(&record.arrived), "{}", message);
            prop_assert_eq!(record.expected, nodes);
            let named = format!("source {} is no node", record.arrived);
            prop_assert!(message.contains(&named), "{}", message);
        }
    }
}

#[test]
fn every_wave_that_takes_sources_refuses_strangers() {
    let build = |which: u32| {
        let mut program = ProgramBuilder::new(100);
        let list = program.words("list", 3).unwrap();
        program.fill("sources", list, 100);
        let work = program.work("work").unwrap();
        program.reset_work("reset", work);
        match which {
            0 => {
                let frontier = program.frontier("frontier").unwrap();
                program.reset("reset", frontier);
                program.seed("seed", frontier, list, Mark::Bits);
            }
            1 => {
                let distances = program.words("distances", 100).unwrap();
                program.fill("far", distances, UNREACHED);
                let lengths = Lengths::Whole;
                let paths = Paths {
                    distances,
                    work,
                    width: 1,
                    lengths,
                };
                program.seed_paths("seed", paths, list);
            }
            _ => {
                let sets = [0; 2].map(|_| program.words("sets", 100).unwrap());
                for set in sets {
                    program.fill("empty", set, 0);
                }
                program.seed_sets(
                    "seed",
                    Sets {
                        sets,
                        work,
                        words: 1,
                    },
                    list,
                );
            }
        }
        plan(&program)
    };
    for which in 0..3 {
        let (record, wave) = fault_of(super::run_watched(build(which), 2));
        assert_eq!(
            FaultCode::from_word(record.code),
            FaultCode::NotANode,
            "{which}"
        );
        assert_eq!(
            (record.arrived, record.expected, wave.as_str()),
            (100, 100, "seed")
        );
    }
}
