//! Closeness and eccentricity of many sources at once, against one search per source that shares
//! nothing with the library, on threads and on warps.

use seawall::analysis::{self, Question};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, Session};
use seawall::graph::Graph;
use seawall::outcome::Column;
use seawall::program::PlanRequest;
use seawall::run::{AnalysisKind, Machine, RunRequest, execute};
use seawall_oracles::graphs::{EdgeList, SHAPES, draw};
use seawall_oracles::lanes;
use seawall_oracles::random::Random;
use std::num::{NonZeroU32, NonZeroUsize};

const NONE: u32 = u32::MAX;

/// Distances along `edges` from `source` up to `limit`, edge by edge.
fn distances(nodes: u32, edges: &[(u32, u32)], source: u32, limit: u32) -> Vec<u32> {
    let mut found = vec![NONE; nodes as usize];
    found[source as usize] = 0;
    for level in 0..limit {
        let mut grows = false;
        for (from, to) in edges {
            if found[*from as usize] == level && found[*to as usize] == NONE {
                found[*to as usize] = level + 1;
                grows = true;
            }
        }
        if !grows {
            break;
        }
    }
    found
}

/// The edges of a list in both directions if it is undirected.
fn directed(list: &EdgeList) -> Vec<(u32, u32)> {
    let mut edges = list.edges.clone();
    if list.undirected {
        edges.extend(list.edges.iter().map(|(from, to)| (*to, *from)));
    }
    edges
}

/// The words of a column: eccentricities, and the bits of closeness.
fn expected(list: &EdgeList, sources: &[u32], limit: u32) -> [Vec<u32>; 2] {
    let edges = directed(list);
    let reversed: Vec<_> = edges.iter().map(|(from, to)| (*to, *from)).collect();
    let mut farthest = vec![NONE; list.nodes as usize];
    let mut closeness = vec![f32::INFINITY.to_bits(); list.nodes as usize];
    for source in sources {
        let known = |edges: &[(u32, u32)]| {
            let found = distances(list.nodes, edges, *source, limit);
            found.into_iter().filter(|level| *level != NONE)
        };
        farthest[*source as usize] = known(&edges).max().unwrap();
        let (others, sum) = known(&reversed).fold((-1.0, 0.0), |(count, sum), level| {
            (count + 1.0, sum + f64::from(level))
        });
        let near = match sum > 0.0 {
            true => (others * others / (sum * f64::from(list.nodes - 1))) as f32,
            false => 0.0,
        };
        closeness[*source as usize] = near.to_bits();
    }
    [farthest, closeness]
}

const KINDS: [AnalysisKind; 2] = [AnalysisKind::Eccentricity, AnalysisKind::Closeness];

/// Compares both analyses in `session`.
fn compare(session: &mut dyn Session, graph: &Graph, list: &EdgeList, question: &Question) {
    let expected = expected(list, &question.sources, question.max_iterations);
    for (kind, expected) in KINDS.into_iter().zip(expected) {
        let built = analysis::build(kind, graph, question).unwrap();
        let (encoded, _) = built.program.encode(&PlanRequest::default()).unwrap();
        session.load(&encoded).unwrap();
        for run in 0..2 {
            session.run(&built.inputs).unwrap();
            let mut words = Vec::new();
            session.read(built.result, &mut words).unwrap();
            words.truncate(expected.len());
            assert!(
                words == expected,
                "{kind}, run {run}, {} nodes, {} edges, sources {:?}, limit {}",
                list.nodes,
                list.edges.len(),
                question.sources,
                question.max_iterations
            );
        }
    }
}

fn drawn(seed: u64, nodes: u32) -> (EdgeList, Random) {
    let mut random = Random::new(seed);
    let shape = SHAPES[seed as usize % SHAPES.len()];
    let undirected = random.once_in(2);
    (draw(shape, nodes, undirected, &mut random), random)
}

/// `count` sources, some of them twice.
fn question(list: &EdgeList, count: u32, random: &mut Random) -> Question {
    let some = (0..count).map(|_| random.below(list.nodes)).collect();
    let mut question = Question::new(some);
    if random.once_in(4) {
        question.max_iterations = 1 + random.below(4);
    }
    question
}

#[test]
fn every_source_has_its_own_distances_on_threads() {
    for seed in 0..48 {
        let (list, mut random) = drawn(seed, 220);
        if list.nodes == 0 {
            continue;
        }
        let graph = list.graph().unwrap();
        let count = [1, 2, 31, 33, 64, 100][seed as usize % 6];
        let question = question(&list, count, &mut random);
        let threads = NonZeroUsize::new(1 + seed as usize % 4);
        let mut session = CpuSession::open(&graph, threads, RunLimits::default()).unwrap();
        compare(&mut session, &graph, &list, &question);
    }
}

#[test]
fn more_sources_than_fit_a_set_take_turns() {
    let (list, mut random) = drawn(4, 300);
    let graph = list.graph().unwrap();
    let question = question(&list, 2100, &mut random);
    let mut session = CpuSession::open(&graph, None, RunLimits::default()).unwrap();
    compare(&mut session, &graph, &list, &question);
}

#[test]
fn every_source_has_its_own_distances_on_warps() {
    // Each shuffle synchronises threads, so graphs are small.
    for seed in 0..8 {
        let (list, mut random) = drawn(seed, 40);
        if list.nodes == 0 {
            continue;
        }
        let graph = list.graph().unwrap();
        let count = [3, 40, 70, 1030][seed as usize / 2 % 4];
        let question = question(&list, count, &mut random);
        let session = CpuSession::open(&graph, None, RunLimits::default()).unwrap();
        let mut session = session.with_machine(match seed % 2 {
            0 => lanes::run::<2, 64>,
            _ => lanes::run::<3, 32>,
        });
        compare(&mut session, &graph, &list, &question);
    }
}

/// A GPU searches from few sources one after another, and from more together.
#[test]
fn few_sources_of_a_gpu_have_their_own_distances() {
    for seed in 0..40 {
        let on_warps = seed >= 32;
        let (list, mut random) = drawn(seed, if on_warps { 40 } else { 220 });
        if list.nodes == 0 {
            continue;
        }
        let graph = list.graph().unwrap();
        let mut question = question(&list, 1 + seed as u32 % 9, &mut random);
        question.warps = true;
        let threads = NonZeroUsize::new(1 + seed as usize % 3);
        let session = CpuSession::open(&graph, threads, RunLimits::default()).unwrap();
        let mut session = match on_warps {
            true => session.with_machine(lanes::run::<2, 64>),
            false => session,
        };
        compare(&mut session, &graph, &list, &question);
    }
}

/// Rows long enough for a whole block, among short ones; some entries are repeated.
#[test]
fn blocks_share_long_rows() {
    let mut random = Random::new(9);
    let nodes = 150;
    let mut edges: Vec<_> = (0..2600).map(|_| (random.below(nodes), 7)).collect();
    edges.extend((0..2600).map(|_| (140, random.below(nodes))));
    edges.extend((0..60).map(|_| (random.below(nodes), random.below(nodes))));
    let list = EdgeList {
        nodes,
        edges,
        undirected: false,
    };
    let graph = list.graph().unwrap();
    let question = question(&list, 60, &mut random);
    let session = CpuSession::open(&graph, None, RunLimits::default()).unwrap();
    let mut session = session.with_machine(lanes::run::<2, 96>);
    compare(&mut session, &graph, &list, &question);
}

/// Threads search from 64 sources together, and from the next ones on what those left. Each number
/// of sources around the limits is asked, of graphs whose searches find all nodes, or not.
#[test]
fn the_next_searches_begin_anew() {
    let nodes = 150;
    let star = (1..nodes).map(|node| (0, node)).collect();
    let clique = (0..100).flat_map(|from| (0..from).map(move |to| (from, to)));
    let mut random = Random::new(11);
    let mut dense: Vec<_> = (1..nodes).map(|node| (random.below(node), node)).collect();
    dense.extend((0..1500).map(|_| (random.below(nodes), random.below(nodes))));
    let mut apart = dense.clone();
    apart.retain(|(from, to)| from % 2 == to % 2);
    for (edges, undirected) in [
        (star, true),
        (clique.collect(), true),
        (dense.clone(), true),
        (dense, false),
        (apart, true),
    ] {
        let list = EdgeList {
            nodes,
            edges,
            undirected,
        };
        let graph = list.graph().unwrap();
        let mut order: Vec<u32> = (0..nodes).collect();
        for at in (1..nodes).rev() {
            order.swap(at as usize, random.below(at + 1) as usize);
        }
        for count in [4, 63, 64, 65, 66, 100, 127, 128, 129, nodes] {
            let sources = &order[..count as usize];
            let expected = expected(&list, sources, u32::MAX);
            for threads in 1..4 {
                for (kind, expected) in KINDS.into_iter().zip(&expected) {
                    let machine = Machine::cpu(NonZeroUsize::new(threads));
                    let request = RunRequest::new(kind, sources.to_vec()).on(machine);
                    let found = match execute(&graph, &request).unwrap().values {
                        Column::U32(words) => words,
                        Column::F32(values) => values.iter().map(|one| one.to_bits()).collect(),
                        other => panic!("{other:?}"),
                    };
                    assert!(&found == expected, "{kind} of {count} on {threads} threads");
                }
            }
        }
    }
}

#[test]
fn a_path_has_closeness_known_by_hand() {
    let graph = Graph::from_edges(5, &[(0, 1), (1, 2), (2, 3)], true).unwrap();
    let run = |kind, limit| {
        let mut request = RunRequest::new(kind, vec![1, 3, 4]).on(Machine::cpu(None));
        request.check = true;
        request.max_iterations = limit;
        let outcome = execute(&graph, &request).unwrap();
        assert_eq!(outcome.checked, Some(true));
        outcome.values
    };
    // Node 1 has distances 1, 1, 2 and node 3 has 3, 2, 1; node 4 is alone.
    let none = f32::INFINITY;
    let near = [none, 9.0 / 16.0, none, 9.0 / 24.0, 0.0];
    assert_eq!(
        run(AnalysisKind::Closeness, None),
        Column::F32(near.to_vec())
    );
    let far = vec![NONE, 2, NONE, 3, 0];
    assert_eq!(run(AnalysisKind::Eccentricity, None), Column::U32(far));
    let one = vec![NONE, 1, NONE, 1, 0];
    let limit = NonZeroU32::new(1);
    assert_eq!(run(AnalysisKind::Eccentricity, limit), Column::U32(one));
}
