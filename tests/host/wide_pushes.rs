//! Wide pushes, whose threads sort their finds into bins: against plain queues and a single thread.

use proptest::prelude::*;
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, Session};
use seawall::graph::Graph;
use seawall::program::{Mark, PlanRequest, ProgramBuilder, RegisterId};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::search::Step;
use seawall_oracles::graphs::EdgeList;
use seawall_oracles::harness::compare;
use seawall_oracles::oracle;
use seawall_oracles::random::Random;
use std::num::NonZeroUsize;

/// The words that a search leaves, and the counters of its loop.
struct Searched {
    words: Vec<u32>,
    /// Iterations, the largest frontier, and whether it converged.
    end: [u32; 3],
    hybrid: u32,
}

/// Searches from node 0 and leaves marks of a kind.
fn search(
    graph: &Graph,
    threads: usize,
    limit: u32,
    mark: impl Fn(RegisterId) -> Mark,
) -> Searched {
    let mut program = ProgramBuilder::new(graph.nodes());
    let sources = program.input("sources", 64).unwrap();
    let frontier = program.frontier("frontier").unwrap();
    let marks = program.words("marks", u64::from(graph.nodes())).unwrap();
    let visited = program.bitset("visited").unwrap();
    let mark = mark(marks);
    program.fill("no marks", marks, UNREACHED);
    program.reset("reset", frontier);
    program.seed("seed", frontier, sources, mark);
    program.search("search", frontier, mark, limit);
    program.visited("visited", visited, frontier);
    let is_bits = matches!(mark, Mark::Bits | Mark::BitsAhead);
    let result = if is_bits { visited } else { marks };
    program.keep(result);
    let (encoded, _) = program.encode(&PlanRequest::default()).unwrap();
    let threads = NonZeroUsize::new(threads);
    let mut session = CpuSession::open(graph, threads, RunLimits::default()).unwrap();
    session.load(&encoded).unwrap();
    let stats = session.run(&[0; 64]).unwrap();
    let end = stats.control.loops[0];
    let mut words = Vec::new();
    session.read(result, &mut words).unwrap();
    Searched {
        words,
        end: [end.iterations, end.frontier_max, end.converged],
        hybrid: end.steps[Step::Hybrid as usize],
    }
}

/// The first node that is not one level below its parent, or whose parent leads elsewhere.
fn orphan(rows: &[Vec<u32>], levels: &[u32], parents: &[u32]) -> Option<u32> {
    let is_child = |node: u32| {
        let (level, parent) = (levels[node as usize], parents[node as usize]);
        match level {
            UNREACHED | 0 => (level == 0) == (parent != UNREACHED),
            _ => levels[parent as usize] + 1 == level && rows[parent as usize].contains(&node),
        }
    };
    (0..levels.len() as u32).find(|node| !is_child(*node))
}

/// Node 0, which leads to the first `hubs` nodes, and edges between all nodes but the last few.
fn wide_list(
    nodes: u32,
    hubs: u32,
    degree: u32,
    undirected: bool,
    random: &mut Random,
) -> EdgeList {
    let near = (1..=hubs).map(|node| (0, node));
    let last = nodes - 100;
    let any = (0..hubs * degree + nodes).map(|edge| {
        let from = if edge < hubs * degree {
            1 + edge / degree
        } else {
            random.below(last)
        };
        (from, random.below(last))
    });
    EdgeList {
        nodes,
        edges: near.chain(any).collect(),
        undirected,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn threads_that_sort_their_finds_find_what_one_finds(
        nodes in 20_000..70_000_u32, share in 2..20_u32, degree in 12..40_u32,
        undirected in any::<bool>(), seed in any::<u64>(),
        threads in prop::sample::select(vec![2_usize, 3, 7, 16]),
        limit in prop::sample::select(vec![2, 3, u32::MAX - 1]),
    ) {
        let random = &mut Random::new(seed);
        // Numbers with which threads have more edges than space, or fewer.
        let hubs = (nodes / share).max(140_000 / degree).min(nodes - 200);
        let list = wide_list(nodes, hubs, degree, undirected, random);
        let graph = list.graph().unwrap();
        let levels = oracle::levels(&list, &[0], limit);
        let found = search(&graph, threads, limit, Mark::Levels);
        prop_assert_eq!(compare("levels", &found.words, &levels), Ok(()));
        // Others may pull.
        prop_assert!(undirected || found.hybrid > 0, "no step used bins");
        let alone = search(&graph, 1, limit, Mark::Levels);
        prop_assert_eq!(alone.end, found.end);
        let bits = search(&graph, threads, limit, |_| Mark::Bits);
        prop_assert_eq!(&bits.words, &search(&graph, 1, limit, |_| Mark::Bits).words);
        for threads in [1, threads] {
            let ahead = search(&graph, threads, limit, |_| Mark::BitsAhead);
            // A search that a limit ended may have reached more.
            let both = bits.words.iter().zip(&ahead.words).map(|(own, word)| own & word);
            let is_whole = limit > nodes;
            prop_assert_eq!(&bits.words, if is_whole { &ahead.words } else { &both.collect() });
        }
        let parents = search(&graph, threads, limit, Mark::Parents);
        prop_assert_eq!(orphan(&list.adjacency(false), &levels, &parents.words), None);
        prop_assert_eq!(parents.end, alone.end);
    }
}
