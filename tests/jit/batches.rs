//! Machine code in batches: of programs that graphs share, and of many programs at once.

use proptest::prelude::*;
use seawall::backend::RunLimits;
use seawall::backend::batch::cpu::CpuBatch;
use seawall::batch::{self, BatchGraph};
use seawall::executor::{Jit, Machine};
use seawall::graph::{Graph, Parallel};
use seawall::run::RunRequest;
use seawall_oracles::batches::{members, run_scripts};
use seawall_oracles::composed::COMPOSED;
use seawall_oracles::random::Random;
use std::num::NonZeroUsize;

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn batches_of_random_programs_equal_the_interpreter(
        seed in any::<u64>(),
        count in 1..12_u32,
        threads in 1..4_usize,
    ) {
        let mut random = Random::new(seed);
        let members = members(count, 100, &mut random);
        run_scripts(
            |jobs| {
                let threads = NonZeroUsize::new(threads);
                let batch = CpuBatch::open(jobs, threads, RunLimits::default(), None)?;
                Ok(Box::new(batch.with_jit(Jit::Always)))
            },
            &members,
            100,
            &mut random,
        )
        .map_err(TestCaseError::fail)?;
    }
}

/// Undirected graphs with weights: some of one size, and so of one program, and one of another.
fn graphs() -> Vec<Graph> {
    let mut random = Random::new(7);
    let mut graph = |nodes: u32| {
        let edges = (0..4 * nodes).map(|_| (random.below(nodes), random.below(nodes)));
        let edges: Vec<_> = edges.filter(|(from, to)| from != to).collect();
        let weighted = edges.into_iter().map(|(from, to)| (from, to, 1 + from % 9));
        let weighted: Vec<_> = weighted.collect();
        Graph::from_weighted_edges(nodes, &weighted, true).unwrap()
    };
    vec![graph(60), graph(60), graph(60), graph(95)]
}

#[test]
fn analyses_of_code_are_right_and_report_what_ran() {
    let (read, mut of_code) = (graphs(), 0);
    for kind in COMPOSED {
        let sources = if kind.takes_sources() {
            vec![0]
        } else {
            vec![]
        };
        let graphs = read
            .iter()
            .map(|graph| BatchGraph::new("drawn", graph, sources.clone()));
        let graphs: Vec<_> = graphs.collect();
        let mut waves = [0; 3];
        for (waves, jit) in waves.iter_mut().zip([Jit::Always, Jit::Never, Jit::Auto]) {
            let mut machine = Machine::cpu(NonZeroUsize::new(2));
            machine.jit = jit;
            let mut request = RunRequest::new(kind, Vec::new()).on(machine);
            request.check = true;
            request.parallel = Some(Parallel::Least);
            let outcome = batch::execute(&graphs, &request).unwrap();
            assert_eq!(outcome.checked(), Some(true), "{kind} {jit:?}");
            // A thread runs some analyses by a sequential algorithm.
            let Some(code) = outcome.code else { continue };
            *waves = code.waves;
            match jit {
                Jit::Always => assert_eq!((code.compiled, code.reason), (code.waves, None)),
                Jit::Never => assert_eq!(code.reason.as_deref(), Some("not asked for")),
                Jit::Auto => assert_eq!(code.compiled == code.waves, code.reason.is_none()),
            }
        }
        assert!(waves.iter().all(|count| *count == waves[0]), "{waves:?}");
        of_code += u32::from(waves[0] > 0);
    }
    assert!(of_code > 2, "{of_code}");
}
