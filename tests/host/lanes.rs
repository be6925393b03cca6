//! The paths of kernels for warps of 32 lanes, without a GPU.
//!
//! `SEAWALL_LANES_SECONDS=N` draws new cases for N seconds.

use crate::drawn::{Drawn, Tried, choices, each, graphs, waves, words};
use proptest::collection::hash_set;
use proptest::prelude::*;
use seawall::analysis::{self, Question};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, Session};
use seawall::graph::{Form, Graph, Parallel};
use seawall::program::{Kind, PlanRequest};
use seawall::run::{AnalysisKind, Detail};
use seawall::tiles::TileShape;
use seawall_core::abi::hubs::HUBS_LEAST;
use seawall_core::abi::search::SearchPolicy;
use seawall_oracles::composed::{COMPOSED, run_composed};
use seawall_oracles::draw::{self, Limits, UNLIMITED};
use seawall_oracles::forms;
use seawall_oracles::graphs::{EdgeList, add_rows, draw_sources, with_hubs};
use seawall_oracles::harness::{ANALYSES, RunOptions, compare, run_analysis, run_script};
use seawall_oracles::lanes;
use seawall_oracles::paths::{Weights, run_paths};
use seawall_oracles::random::Random;
use seawall_oracles::ranks::run_ranks;
use seawall_oracles::script::{Finding, Register, Script, Wave};
use seawall_oracles::straight;
use std::collections::HashSet;
use std::num::NonZeroUsize;

/// Longer than in other tests: every shuffle synchronises threads, which share few cores.
pub(crate) const LIMITS: RunLimits = RunLimits {
    time_budget_ns: 110_000_000_000,
};

/// A session whose blocks have warps: on machine 0 of one block and one warp, on later ones of
/// more. It has few lanes, since synchronising threads takes long.
pub(crate) fn session(graph: &Graph, machine: u32) -> CpuSession<'_> {
    let session = CpuSession::open(graph, None, LIMITS).unwrap();
    session.with_machine(match machine {
        0 => lanes::run::<1, 32>,
        1 => |launch, extra| lanes::run::<1, 96>(&lanes::measured(launch), extra),
        2 => lanes::run::<3, 32>,
        3 => |launch, extra| lanes::run::<2, 64>(&lanes::measured(launch), extra),
        // Additional shared memory of a launch, more than a block's own.
        _ => |launch, extra| lanes::run::<2, 96>(launch, extra.max(9_000)),
    })
}

/// Machines of [`session`].
pub(crate) const MACHINES: std::ops::Range<u32> = 0..5;

/// Runs every analysis that has its own oracle.
fn analyses(((list, sources), machine, mut random): (Drawn, u32, Random)) -> Tried {
    let graph = list.graph().unwrap();
    let mut session = session(&graph, machine);
    let mut asked = |analysis, detail| RunOptions {
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
        .try_for_each(|asked| run_analysis(&mut session, &graph, &list, asked, 1))
}

/// Searches of many levels, whose frontiers are a warp's or a block's. A node of many edges may be on
/// the way.
fn deep((machine, width, mut random): (u32, u32, Random)) -> Tried {
    let nodes = width * (36 + random.below(30));
    let reach = width + 1;
    let mut edges: Vec<_> = (0..nodes)
        .flat_map(|node| [(); 3].map(|()| (node, node + 1 + random.below(reach))))
        .collect();
    if random.once_in(2) {
        let hub = random.below(nodes);
        edges.extend((1..=20 + random.below(60)).map(|ahead| (hub, hub + ahead)));
    }
    edges.retain(|edge| edge.1 < nodes && !random.once_in(20));
    let list = EdgeList {
        nodes,
        edges,
        undirected: random.once_in(2),
    };
    let graph = list.graph().unwrap();
    let mut session = session(&graph, machine);
    let sources = vec![0, random.below(width)];
    let details = [
        (AnalysisKind::Bfs, Detail::Plain),
        (AnalysisKind::Bfs, Detail::Parents),
        (AnalysisKind::Reach, Detail::Plain),
    ];
    details.into_iter().try_for_each(|(analysis, detail)| {
        let asked = RunOptions {
            analysis,
            sources: sources.clone(),
            max_levels: if random.once_in(4) { 35 } else { UNLIMITED },
            policy: SearchPolicy::default(),
            incoming: random.once_in(2),
            detail,
        };
        run_analysis(&mut session, &graph, &list, &asked, 1)
    })
}

/// Triangles of dense graphs: rows that warps and blocks keep as hash tables, in pieces too, and
/// that are looked up from both ends of an edge.
fn dense((nodes, missing, machine): (u32, HashSet<(u32, u32)>, u32)) -> Tried {
    let pairs = (0..nodes).flat_map(|high| (0..high).map(move |low| (low, high)));
    let edges = pairs.filter(|pair| !missing.contains(pair)).collect();
    triangles(nodes, edges, machine)
}

/// Triangles of graphs of some thirty edges per node: a warp takes most rows, and many lookups
/// find nothing.
fn medium((nodes, edges, machine): (u32, HashSet<(u32, u32)>, u32)) -> Tried {
    triangles(nodes, edges.into_iter().collect(), machine)
}

fn triangles(nodes: u32, edges: Vec<(u32, u32)>, machine: u32) -> Tried {
    let list = EdgeList {
        nodes,
        edges,
        undirected: true,
    };
    let graph = list.graph().unwrap();
    let mut session = session(&graph, machine);
    for analysis in [AnalysisKind::Triangles, AnalysisKind::TriangleTotal] {
        let asked = RunOptions {
            analysis,
            sources: Vec::new(),
            max_levels: UNLIMITED,
            policy: SearchPolicy::default(),
            incoming: false,
            detail: Detail::Plain,
        };
        run_analysis(&mut session, &graph, &list, &asked, 1)?;
    }
    Ok(())
}

/// Triangles by hubs as bits.
fn found(by: Finding, ((list, once), machine): ((EdgeList, bool), u32)) -> Tried {
    let graph = list.graph().unwrap();
    let register = Register {
        words: list.nodes,
        kind: Kind::U32,
        input: None,
        keep: true,
    };
    let script = Script {
        registers: vec![register],
        waves: vec![Wave::Triangles { to: 0, by, once }],
        twins: false,
    };
    run_script(&mut session(&graph, machine), &list, &script, 1)
        .map_err(|error| format!("{error}\n{by:?} {once}"))
}

/// A clique of at most 50 nodes, with some pairs missing, and nodes with edges into it: rows of all
/// lengths.
fn around_a_clique((mut random, is_symmetric): (Random, bool)) -> EdgeList {
    let (inner, nodes) = (1 + random.below(50), 51 + random.below(60));
    let missing = 2 + random.below(40);
    let mut edges: Vec<_> = (0..inner)
        .flat_map(|high| (0..high).map(move |low| (low, high)))
        .filter(|_| random.below(missing) != 0)
        .collect();
    let outer = (0..nodes * 4).map(|_| (random.below(nodes), random.below(1 + inner)));
    edges.extend(outer.collect::<Vec<_>>());
    // The clique's nodes need not come first.
    let turn = random.below(nodes);
    for (from, to) in &mut edges {
        (*from, *to) = ((*from + turn) % nodes, (*to + turn) % nodes);
    }
    EdgeList {
        nodes,
        edges,
        undirected: is_symmetric,
    }
}

/// Ranks, row by row and by tiles of rows.
fn ranks(((list, _), machine): (Drawn, u32)) -> Tried {
    let graph = list.graph().unwrap();
    if graph.nodes() == 0 {
        return Ok(());
    }
    run_ranks(&mut session(&graph, machine), &graph, 3, 1)?;
    let shape = TileShape {
        blocks: 2,
        slots: 70,
        always: true,
    };
    run_ranks(
        &mut session(&graph, machine).with_tiles(shape),
        &graph,
        3,
        1,
    )
}

/// Shortest paths and core numbers, compared with one lane per block.
fn rounds(((list, _), machine, mut random): (Drawn, u32, Random)) -> Tried {
    let edges: Vec<_> = list
        .edges
        .iter()
        .map(|(from, to)| (*from, *to, 1 + random.below(40)))
        .collect();
    let read = Graph::from_weighted_edges(list.nodes, &edges, true).unwrap();
    let graph = read.form(Form::simple(Parallel::Least)).unwrap();
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
        let built = analysis::build(kind, graph, &question).unwrap();
        let (encoded, _) = built.program.encode(&PlanRequest::default()).unwrap();
        let read = |session: &mut dyn Session| {
            session.load(&encoded).unwrap();
            session.run(&built.inputs).unwrap();
            let mut words = Vec::new();
            session.read(built.result, &mut words).unwrap();
            words
        };
        let one = Some(NonZeroUsize::MIN);
        let mut plain = CpuSession::open(graph, one, RunLimits::default()).unwrap();
        let wanted = read(&mut plain);
        compare(
            &kind.to_string(),
            &read(&mut session(graph, machine)),
            &wanted,
        )?;
    }
    Ok(())
}

/// Shortest paths of every kind of distance, compared with an independent oracle.
fn paths(((list, _), machine, mut random): (Drawn, u32, Random)) -> Tried {
    let weights = Weights::draw(list.edges.len(), &mut random);
    let graph = weights.graph(&list).unwrap();
    run_paths(&mut session(&graph, machine), &graph, &list, &weights, &[0])
}

/// Paths in graphs where few rounds hold most edges, so that nodes pull; one row in a
/// thousand or so is long enough for a whole block.
fn pulled((machine, mut random): (u32, Random)) -> Tried {
    let is_large = random.once_in(3);
    let list = if is_large {
        with_hubs(4700, 4, &mut random)
    } else {
        with_hubs(90 + random.below(200), 7, &mut random)
    };
    let count = list.edges.len();
    let weights = match random.below(4) {
        // Distances along long rows fall to those of queued nodes while lanes read them.
        0 => Weights::Whole((0..count).map(|_| random.below(9) / 4).collect()),
        1 => Weights::Float(
            (0..count)
                .map(|_| random.below(400) as f32 / 10.0)
                .collect(),
        ),
        2 => Weights::draw(count, &mut random),
        _ => Weights::Whole((0..count).map(|_| random.below(40)).collect()),
    };
    let graph = weights.graph(&list).unwrap();
    let sources = [[0, 3], [list.nodes - 1, 3]][random.below(2) as usize];
    run_paths(
        &mut session(&graph, machine),
        &graph,
        &list,
        &weights,
        &sources[..1 + random.below(2) as usize],
    )
}

/// Analyses of code, on simple graphs with rows for a lane, a warp and a block.
fn composed(kind: AnalysisKind, ((list, _), machine, mut random): (Drawn, u32, Random)) -> Tried {
    let weigh = |(from, to): &(u32, u32)| (*from, *to, random.below(9));
    let edges: Vec<_> = list.edges.iter().map(weigh).collect();
    let read = Graph::from_weighted_edges(list.nodes, &edges, true).unwrap();
    let graph = read.form(Form::simple(Parallel::Least)).unwrap();
    if graph.nodes() == 0 {
        return Ok(());
    }
    let mut sources = draw_sources(graph.nodes(), &mut random);
    sources.truncate(3);
    run_composed(&mut session(graph, machine), graph, kind, &sources)
}

/// A colouring with rows long enough for the lists of hubs, and with hubs that many hubs follow.
fn hubs((machine, mut random): (u32, Random)) -> Tried {
    let count = if random.once_in(2) { 3 } else { 90 };
    let list = with_hubs(570, count, &mut random);
    let graph = list.graph().unwrap();
    run_composed(
        &mut session(&graph, machine),
        &graph,
        AnalysisKind::Colouring,
        &[],
    )
}

/// Parts for edges of all forms, compared with one lane per block.
fn forms((machine, mut random): (u32, Random)) -> Tried {
    // Many rows for groups of lanes, or few.
    let even = random.pick(&[0, 0, 12, 40, 90]).unwrap_or(0);
    let nodes = 100 + random.below(if even > 0 { 200 } else { 900 });
    let mut list = with_hubs(nodes, random.below(4), &mut random);
    add_rows(&mut list, even, &mut random);
    let weigh = |(from, to): &(u32, u32)| (*from, *to, random.below(3000));
    let edges: Vec<_> = list.edges.iter().map(weigh).collect();
    let graph = Graph::from_weighted_edges(nodes, &edges, random.once_in(2)).unwrap();
    let (program, results) = forms::program(nodes, &mut random).unwrap();
    let mut plain = CpuSession::open(&graph, NonZeroUsize::new(1), LIMITS).unwrap();
    let expected = forms::results(&mut plain, &program, &results)?;
    let found = forms::results(&mut session(&graph, machine), &program, &results)?;
    compare_all(&expected, &found)
}

/// Code that does not fit a block's memory, compared with one lane per block.
fn long_code((machine, steps, mut random): (u32, u32, Random)) -> Tried {
    let nodes = 50 + random.below(200);
    let list = with_hubs(nodes, random.below(3), &mut random);
    let graph = list.graph().unwrap();
    let (program, results) = forms::long(nodes, steps).unwrap();
    let mut plain = CpuSession::open(&graph, NonZeroUsize::new(1), LIMITS).unwrap();
    let expected = forms::results(&mut plain, &program, &results)?;
    let found = forms::results(&mut session(&graph, machine), &program, &results)?;
    compare_all(&expected, &found)
}

fn compare_all(expected: &[Vec<u32>], found: &[Vec<u32>]) -> Tried {
    for (number, (expected, found)) in expected.iter().zip(found).enumerate() {
        let differs = expected
            .iter()
            .zip(found)
            .position(|(one, other)| one != other);
        if let Some(at) = differs {
            let (one, other) = (expected[at], found[at]);
            return Err(format!("result {number}, word {at}: {one} and {other}"));
        }
    }
    Ok(())
}

/// Random programs.
fn programs(
    ((list, _), machine, waves, registers, twins): (Drawn, u32, Vec<Vec<u32>>, Vec<u32>, bool),
) -> Tried {
    let graph = list.graph().unwrap();
    let limits = Limits {
        nodes: list.nodes,
        waves: waves.len() as u32,
        words: 300,
    };
    let mut script = draw::of_choices(limits, registers, &waves);
    script.twins = twins;
    run_script(&mut session(&graph, machine), &list, &script, 1)
        .map_err(|error| format!("{error}\n{:#?}", script.waves))
}

/// Long runs of operations on words.
fn operations((waves, words, machine, twins, mut random): (u32, u32, u32, bool, Random)) -> Tried {
    let list = EdgeList {
        nodes: 3,
        edges: vec![(0, 1), (1, 2)],
        undirected: false,
    };
    let graph = list.graph().unwrap();
    let mut script = straight::draw(waves, words, &mut random);
    script.twins = twins;
    run_script(&mut session(&graph, machine), &list, &script, 1)
        .map_err(|error| format!("{error}\n{:#?}", script.waves))
}

#[test]
fn analyses_on_warps_equal_the_oracles() {
    each(4, (graphs(150), MACHINES, choices(30)), analyses);
}

#[test]
fn deep_searches_on_warps_equal_the_oracle() {
    let random = || any::<u64>().prop_map(Random::new);
    each(3, (MACHINES, 1..9_u32, random()), deep);
    each(3, (MACHINES, 30..70_u32, random()), deep);
}

#[test]
fn triangles_of_long_rows_on_warps_equal_the_oracle() {
    let missing = hash_set((0..64_u32, 0..64_u32), 0..500);
    each(1, (45..64_u32, missing, MACHINES), dense);
}

#[test]
fn triangles_of_rows_of_a_warp_equal_the_oracle() {
    let edges = hash_set((0..150_u32, 0..150_u32), 1500..2400);
    each(1, (150..160_u32, edges, MACHINES), medium);
}

#[test]
fn triangles_by_hubs_on_warps_equal_the_oracle() {
    let lists = (any::<u64>().prop_map(Random::new), any::<bool>()).prop_map(around_a_clique);
    let check = |(least, case)| {
        let space = HUBS_LEAST;
        found(Finding::Hubs { space, least }, case)
    };
    each(3, (0..70_u32, ((lists, any::<bool>()), MACHINES)), check);
}

/// More hubs than a piece of a row of bits has, or none, and rows that are too long for a warp.
#[test]
fn triangles_by_many_hubs_on_warps_equal_the_oracle() {
    let check = |(machine, once, mut random): (u32, bool, Random)| {
        let mut list = with_hubs(2_800, 4, &mut random);
        for (from, to) in &mut list.edges {
            (*from, *to) = ((*from + 40) % list.nodes, (*to + 40) % list.nodes);
        }
        let (space, least) = (2 * HUBS_LEAST, random.pick(&[0, 4, 2_700]).unwrap_or(0));
        found(Finding::Hubs { space, least }, ((list, once), machine))
    };
    let random = any::<u64>().prop_map(Random::new);
    each(1, (MACHINES, any::<bool>(), random), check);
}

#[test]
fn analyses_of_code_on_warps_are_correct() {
    for kind in COMPOSED {
        let check = |case| composed(kind, case);
        each(2, (graphs(70), MACHINES, choices(300)), check);
    }
}

#[test]
fn nodes_of_many_edges_are_coloured_on_warps() {
    each(1, (MACHINES, any::<u64>().prop_map(Random::new)), hubs);
}

#[test]
fn parts_of_all_forms_on_warps_equal_those_of_one_thread() {
    each(6, (MACHINES, any::<u64>().prop_map(Random::new)), forms);
}

#[test]
fn code_that_a_block_does_not_hold_runs_on_warps() {
    let case = (MACHINES, 40..70_u32, any::<u64>().prop_map(Random::new));
    each(3, case, long_code);
}

#[test]
fn ranks_on_warps_equal_those_of_one_thread() {
    each(5, (graphs(150), MACHINES), ranks);
}

#[test]
fn paths_and_cores_on_warps_equal_those_of_one_thread() {
    each(5, (graphs(120), MACHINES, choices(500)), rounds);
}

#[test]
fn paths_and_cores_of_rich_graphs_on_warps_equal_those_of_one_thread() {
    let edges = hash_set((0..150_u32, 0..150_u32), 1500..2400);
    let check = |(edges, machine, random): (HashSet<_>, u32, Random)| {
        let list = EdgeList {
            nodes: 150,
            edges: edges.into_iter().collect(),
            undirected: true,
        };
        rounds(((list, Vec::new()), machine, random))
    };
    each(5, (edges, MACHINES, choices(500)), check);
}

#[test]
fn paths_of_every_kind_on_warps_equal_an_oracle() {
    each(24, (graphs(70), MACHINES, choices(300)), paths);
}

#[test]
fn paths_of_nodes_that_pull_on_warps_equal_an_oracle() {
    let random = any::<u64>().prop_map(Random::new);
    each(1, (MACHINES, random), pulled);
}

#[test]
fn programs_on_warps_equal_the_interpreter() {
    let case = (graphs(50), MACHINES, waves(12), words(100), any::<bool>());
    each(5, case, programs);
}

#[test]
fn many_word_operations_on_warps_equal_the_interpreter() {
    let case = (
        1..60_u32,
        1..3000_u32,
        MACHINES,
        any::<bool>(),
        choices(500),
    );
    each(12, case, operations);
}
