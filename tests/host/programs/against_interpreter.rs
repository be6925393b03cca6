//! Random programs equal the interpreter.

use crate::drawn::{Case, cases, few, words};
use proptest::prelude::*;
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, open_baseline};
use seawall::executor::Machine;
use seawall::program::{Kind, Meet};
use seawall_oracles::draw;
use seawall_oracles::graphs::{self, EdgeList, Shape};
use seawall_oracles::harness::run_script;
use seawall_oracles::random::Random;
use seawall_oracles::script::{Register, Script, Wave};
use seawall_oracles::straight;
use std::num::NonZeroUsize;

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100_000, failure_persistence: None, ..few(80) })]

    #[test]
    fn random_programs_equal_the_interpreter(
        case in cases(300, 9000, &[1, 2, 3, 8]),
        twins in any::<bool>(),
    ) {
        let Case { list, script, threads } = case;
        let script = Script { twins, ..script };
        let graph = list.graph().unwrap();
        let mut session = CpuSession::open(&graph, threads, RunLimits::default()).unwrap();
        run_script(&mut session, &list, &script, 2)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{:#?}", script.waves)))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100_000, failure_persistence: None, ..few(40) })]

    #[test]
    fn many_word_operations_equal_the_interpreter(
        waves in 1_u32..200,
        twins in any::<bool>(),
        words in 1_u32..5000,
        threads in proptest::sample::select(vec![1_usize, 2, 5]),
        choices in words(1500),
    ) {
        let mut random = Random::of_choices(choices);
        let list = graphs::draw(Shape::Path, 3, false, &mut random);
        let script = Script { twins, ..straight::draw(waves, words, &mut random) };
        let graph = list.graph().unwrap();
        let mut session = CpuSession::open(&graph, NonZeroUsize::new(threads), RunLimits::default()).unwrap();
        run_script(&mut session, &list, &script, 2)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{:#?}", script.waves)))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100_000, failure_persistence: None, ..few(30) })]

    #[test]
    fn random_programs_in_baseline_host_loops_equal_the_interpreter(
        case in cases(200, 3000, &[1, 2, 3]),
    ) {
        let Case { list, script, threads } = case;
        let graph = list.graph().unwrap();
        let machine = Machine::cpu(threads);
        let mut session = open_baseline(&graph, &machine).unwrap();
        run_script(session.as_mut(), &list, &script, 2)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{:#?}", script.waves)))?;
    }
}

/// A path along which facts travel one node per iteration, and in the same group a long transfer
/// that is not part of the loop.
fn loop_beside_a_transfer() -> (EdgeList, Script) {
    const NODES: u32 = 40;
    let register = |words, input: Option<Vec<u32>>| Register {
        words,
        kind: Kind::U32,
        input,
        keep: true,
    };
    let first = (0..NODES).map(|node| u32::from(node == 0)).collect();
    let sizes = [NODES, NODES, NODES, NODES, 50_000, 50_000];
    let mut registers: Vec<Register> = sizes
        .into_iter()
        .map(|words| register(words, None))
        .collect();
    registers[0].input = Some(first);
    let fill = |to| Wave::Fill { to, value: 0 };
    let meet = Meet {
        facts: 1,
        intersect: false,
    };
    let body = vec![
        Wave::Meet {
            to: 2,
            from: 3,
            meet,
        },
        Wave::GenKill {
            to: 3,
            from: [2, 0, 1],
        },
    ];
    let mut waves: Vec<Wave> = (1..4).map(fill).collect();
    waves.extend([Wave::Iota { to: 4 }, fill(5)]);
    waves.push(Wave::Loop {
        max: draw::UNLIMITED,
        body,
    });
    waves.push(Wave::GenKill {
        to: 5,
        from: [4, 4, 4],
    });
    let list = graphs::draw(Shape::Path, NODES, false, &mut Random::new(1));
    let twins = false;
    (
        list,
        Script {
            registers,
            waves,
            twins,
        },
    )
}

#[test]
fn a_transfer_beside_a_loop_does_not_end_it() {
    let (list, script) = loop_beside_a_transfer();
    let graph = list.graph().unwrap();
    for threads in [2, 5] {
        let threads = NonZeroUsize::new(threads);
        let mut session = CpuSession::open(&graph, threads, RunLimits::default()).unwrap();
        run_script(&mut session, &list, &script, 30).unwrap();
    }
}
