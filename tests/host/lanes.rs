//! The paths of kernels for warps of 32 lanes, without a GPU.
//!
//! `SEAWALL_LANES_SECONDS=N` draws new cases for N seconds.

use seawall::analysis::{self, Question};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, Session};
use seawall::graph::Graph;
use seawall::program::PlanRequest;
use seawall::run::{AnalysisKind, Detail};
use seawall::tiles::TileShape;
use seawall_core::abi::search::SearchPolicy;
use seawall_tests::composed::{COMPOSED, run_composed};
use seawall_tests::draw::{self, Limits, UNLIMITED};
use seawall_tests::graphs::{EdgeList, SHAPES, Shape, draw, draw_sources, with_hubs};
use seawall_tests::harness::{ANALYSES, Asked, compare, run_analysis, run_ranks, run_script};
use seawall_tests::lanes;
use seawall_tests::paths::{Weights, run_paths};
use seawall_tests::random::Random;
use seawall_tests::straight;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

type Tried = Result<(), String>;

/// Longer than other tests have: every shuffle is a meeting of threads, which share few cores.
const LIMITS: RunLimits = RunLimits {
    time_budget_ns: 110_000_000_000,
};

/// A session whose blocks have warps. It has few lanes, as a meeting of threads takes long.
fn session(graph: &Graph, seed: u64) -> CpuSession<'_> {
    let session = CpuSession::open(graph, None, LIMITS).unwrap();
    session.with_machine(match seed % 4 {
        0 => lanes::run::<2, 64>,
        1 => lanes::run::<1, 96>,
        2 => lanes::run::<3, 32>,
        // Shared memory as a launch asks for it: more than a block's own.
        _ => |launch, extra| lanes::run::<2, 96>(launch, extra.max(9_000)),
    })
}

fn draw_list(seed: u64, nodes: u32) -> (EdgeList, Random) {
    let mut random = Random::new(seed);
    let shape = SHAPES[seed as usize % SHAPES.len()];
    let nodes = if shape == Shape::Path {
        nodes / 3
    } else {
        nodes
    };
    let undirected = random.once_in(2);
    (draw(shape, nodes, undirected, &mut random), random)
}

/// Runs every analysis that has its own oracle.
fn analyses(seed: u64) -> Tried {
    let (list, mut random) = draw_list(seed, 150);
    let graph = list.graph().unwrap();
    let mut session = session(&graph, seed);
    let sources = draw_sources(list.nodes, &mut random);
    let mut asked = |analysis, detail| Asked {
        analysis,
        sources: sources.clone(),
        max_levels: if random.once_in(4) { 3 } else { UNLIMITED },
        policy: SearchPolicy::default(),
        incoming: random.once_in(2),
        detail,
    };
    let mut all = ANALYSES
        .map(|analysis| asked(analysis, Detail::Plain))
        .to_vec();
    all.push(asked(AnalysisKind::Bfs, Detail::Parents));
    all.push(asked(AnalysisKind::Reach, Detail::EachSource));
    if list.undirected {
        all.push(asked(AnalysisKind::Triangles, Detail::Plain));
        all.push(asked(AnalysisKind::TriangleTotal, Detail::Plain));
    }
    all.iter()
        .try_for_each(|asked| run_analysis(&mut session, (&graph, &list), asked, 1))
}

/// Triangles of dense graphs: rows that warps and blocks hold, in pieces too, and that are looked
/// up from both ends of an edge.
fn dense(seed: u64) -> Tried {
    let mut random = Random::new(seed);
    let nodes = 45 + random.below(25);
    let pairs = (0..nodes).flat_map(|high| (0..high).map(move |low| (low, high)));
    let edges = pairs.filter(|_| random.below(8) != 0).collect();
    let list = EdgeList {
        nodes,
        edges,
        undirected: true,
    };
    let graph = list.graph().unwrap();
    let mut session = session(&graph, seed);
    for analysis in [AnalysisKind::Triangles, AnalysisKind::TriangleTotal] {
        let asked = Asked {
            analysis,
            sources: Vec::new(),
            max_levels: UNLIMITED,
            policy: SearchPolicy::default(),
            incoming: false,
            detail: Detail::Plain,
        };
        run_analysis(&mut session, (&graph, &list), &asked, 1)?;
    }
    Ok(())
}

/// Ranks, row by row and by tiles of rows.
fn ranks(seed: u64) -> Tried {
    let (list, _) = draw_list(seed, 150);
    let graph = list.graph().unwrap();
    if graph.nodes() == 0 {
        return Ok(());
    }
    run_ranks(&mut session(&graph, seed), &graph, 3, 1)?;
    let shape = TileShape {
        blocks: 2,
        slots: 70,
        always: true,
    };
    run_ranks(&mut session(&graph, seed).with_tiles(shape), &graph, 3, 1)
}

/// Shortest paths and core numbers, compared with one lane per block.
fn rounds(seed: u64) -> Tried {
    let (list, mut random) = draw_list(seed, 120);
    let edges: Vec<_> = list
        .edges
        .iter()
        .map(|(from, to)| (*from, *to, 1 + random.below(40)))
        .collect();
    let graph = Graph::from_weighted_edges(list.nodes, &edges, true).unwrap();
    if graph.nodes() == 0 {
        return Ok(());
    }
    for (kind, wide) in [
        (AnalysisKind::Sssp, false),
        (AnalysisKind::Sssp, true),
        (AnalysisKind::Kcore, false),
    ] {
        let mut question = Question::new(vec![0]);
        question.wide = wide;
        let built = analysis::build(kind, &graph, &question).unwrap();
        let (encoded, _) = built.program.encode(&PlanRequest::default()).unwrap();
        let read = |session: &mut dyn Session| {
            session.load(&encoded).unwrap();
            session.run(&built.inputs).unwrap();
            let mut words = Vec::new();
            session.read(built.result, &mut words).unwrap();
            words
        };
        let one = Some(NonZeroUsize::MIN);
        let mut plain = CpuSession::open(&graph, one, RunLimits::default()).unwrap();
        let wanted = read(&mut plain);
        compare(
            &kind.to_string(),
            &read(&mut session(&graph, seed)),
            &wanted,
        )?;
    }
    Ok(())
}

/// Shortest paths of every kind of distance, compared with an independent oracle.
fn paths(seed: u64) -> Tried {
    let (list, mut random) = draw_list(seed, 70);
    let weights = Weights::draw(list.edges.len(), &mut random);
    let graph = weights.graph(&list).unwrap();
    run_paths(&mut session(&graph, seed), (&graph, &list, &weights), &[0])
}

/// Analyses of code, on graphs with rows for a lane, a warp and a block.
fn composed(seed: u64) -> Tried {
    let (list, mut random) = draw_list(seed, 70);
    let weigh = |(from, to): &(u32, u32)| (*from, *to, random.below(9));
    let edges: Vec<_> = list.edges.iter().map(weigh).collect();
    let graph = Graph::from_weighted_edges(list.nodes, &edges, true).unwrap();
    if graph.nodes() == 0 {
        return Ok(());
    }
    let kind = COMPOSED[seed as usize % COMPOSED.len()];
    run_composed(&mut session(&graph, seed), &graph, kind, &[0])
}

/// A colouring where some rows are long enough for the lists of hubs.
fn hubs(seed: u64) -> Tried {
    let list = with_hubs(570, 3, &mut Random::new(seed));
    let graph = list.graph().unwrap();
    run_composed(
        &mut session(&graph, seed),
        &graph,
        AnalysisKind::Colouring,
        &[],
    )
}

/// Random programs, and long runs of operations on words.
fn programs(seed: u64) -> Tried {
    let (list, mut random) = draw_list(seed, 50);
    let graph = list.graph().unwrap();
    let mut session = session(&graph, seed);
    let limits = Limits {
        nodes: list.nodes,
        waves: 1 + random.below(12),
        words: 300,
    };
    let mut script = draw::draw(limits, &mut random);
    script.twins = seed.is_multiple_of(2);
    run_script(&mut session, &list, &script, 1)?;
    let mut script = straight::draw(1 + random.below(60), 1 + random.below(3000), &mut random);
    script.twins = seed.is_multiple_of(2);
    run_script(&mut session, &list, &script, 1)
}

/// Runs `check` for some seeds, or for the time in the environment.
fn each(seeds: u64, check: fn(u64) -> Tried) {
    let seconds = std::env::var("SEAWALL_LANES_SECONDS");
    let seconds = seconds.ok().and_then(|text| text.parse().ok());
    let first = if seconds.is_some() {
        std::time::UNIX_EPOCH.elapsed().unwrap().as_secs() << 16
    } else {
        0
    };
    let (started, time) = (Instant::now(), Duration::from_secs(seconds.unwrap_or(0)));
    let mut seed = first;
    while seed - first < seeds || started.elapsed() < time {
        if let Err(problem) = check(seed) {
            panic!("seed {seed}: {problem}");
        }
        seed += 1;
    }
    if seconds.is_some() {
        println!("{} cases from seed {first} on", seed - first);
    }
}

#[test]
fn analyses_on_warps_equal_the_oracles() {
    each(12, analyses);
}

#[test]
fn triangles_of_long_rows_on_warps_equal_the_oracle() {
    each(4, dense);
}

#[test]
fn analyses_of_code_on_warps_are_correct() {
    each(3 * COMPOSED.len() as u64, composed);
}

#[test]
fn nodes_of_many_edges_are_coloured_on_warps() {
    each(2, hubs);
}

#[test]
fn ranks_on_warps_equal_those_of_one_thread() {
    each(12, ranks);
}

#[test]
fn paths_and_cores_on_warps_equal_those_of_one_thread() {
    each(12, rounds);
}

#[test]
fn paths_of_every_kind_on_warps_equal_an_oracle() {
    each(24, paths);
}

#[test]
fn programs_on_warps_equal_the_interpreter() {
    each(12, programs);
}
