//! Random programs, and analyses of code.

use crate::drawn::{self, Case};
use proptest::prelude::*;
use seawall::backend::RunLimits;
use seawall::backend::cpu::CpuSession;
use seawall::executor::Jit;
use seawall::graph::{Form, Graph, Parallel};
use seawall_oracles::composed::{COMPOSED, run_composed};
use seawall_oracles::harness::run_script;
use seawall_oracles::random::Random;
use seawall_oracles::script::Script;
use std::num::NonZeroUsize;

/// Refuses a session that interpreted a wave.
fn all_compiled(session: &CpuSession<'_>) -> Result<(), TestCaseError> {
    let report = session.code_report().unwrap_or_default();
    prop_assert_eq!(report.compiled, report.waves, "{:?}", report);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_equal_the_interpreter(
        case in drawn::cases(300, 9000, &[1, 2, 3]),
        twins in any::<bool>(),
    ) {
        let Case { list, script, threads } = case;
        let script = Script { twins, ..script };
        let graph = list.graph().unwrap();
        let session = CpuSession::open(&graph, threads, RunLimits::default());
        let mut session = session.unwrap().with_jit(Jit::Always);
        run_script(&mut session, &list, &script, 2)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{:#?}", script.waves)))?;
        all_compiled(&session)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn analyses_of_code_are_right(
        (list, sources) in drawn::graphs(200),
        seed in any::<u64>(),
    ) {
        let mut random = Random::new(seed);
        let edges = list.edges.iter().filter(|(from, to)| from != to);
        let edges: Vec<_> = edges.map(|(from, to)| (*from, *to, 1 + random.below(100))).collect();
        let read = Graph::from_weighted_edges(list.nodes, &edges, true).unwrap();
        let graph = read.form(Form::simple(Parallel::Least)).unwrap();
        for threads in [1, 2, 3] {
            for kind in COMPOSED {
                if sources.is_empty() && kind.takes_sources() || graph.nodes() == 0 {
                    continue;
                }
                let session = CpuSession::open(graph, NonZeroUsize::new(threads), RunLimits::default());
                let mut session = session.unwrap().with_jit(Jit::Always);
                run_composed(&mut session, graph, kind, &sources).map_err(TestCaseError::fail)?;
                all_compiled(&session)?;
            }
        }
    }
}
