//! Sequential algorithms of CPU threads: against oracles that share nothing with them, on every
//! shape of the survey, with the edges that they visited compared with their formulas.

use seawall::analysis::{self, Question};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{BackendError, Canceller, RunLimits, Session};
use seawall::batch::BatchGraph;
use seawall::graph::{Graph, NodeName};
use seawall::outcome::{Column, Rounds, RunOutcome};
use seawall::program::PlanRequest;
use seawall::run::{
    AnalysisKind, Analyzer, Centrality, Direction, Executor, Machine, RunError, RunRequest, execute,
};
use seawall_cli::bench::{Sample, samples};
use seawall_core::abi::rank::unit_exponent;
use seawall_oracles::pairs::{all_pairs, distances, triples};
use seawall_oracles::random::Random;
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::{Duration, Instant};

const THREADS: [usize; 2] = [1, 3];

fn request(analysis: AnalysisKind, sources: &[u32], threads: usize) -> RunRequest {
    let machine = Machine::cpu(NonZeroUsize::new(threads));
    let mut request = RunRequest::new(analysis, sources.to_vec()).on(machine);
    request.check = true;
    request
}

fn run(graph: &Graph, request: &RunRequest) -> RunOutcome {
    let outcome = execute(graph, request).unwrap();
    assert_eq!(outcome.checked, Some(true), "{request:?}");
    outcome
}

fn centrality(change: impl FnOnce(&mut Centrality)) -> Centrality {
    let mut centrality = Centrality::default();
    change(&mut centrality);
    centrality
}

fn graph_of(sample: &Sample, undirected: bool) -> Graph {
    Graph::from_weighted_edges(sample.nodes, &sample.edges, undirected).unwrap()
}

fn graphs(nodes: u32, seed: u64) -> Vec<(String, Graph)> {
    let graph = |sample: &Sample, undirected: bool| {
        let name = format!("{} {undirected}", sample.name);
        (name, graph_of(sample, undirected))
    };
    let all = samples(nodes, seed);
    let both = all
        .iter()
        .flat_map(|one| [graph(one, false), graph(one, true)]);
    let mut graphs: Vec<_> = both.collect();
    graphs.push((
        "none".to_owned(),
        Graph::from_weighted_edges(0, &[], false).unwrap(),
    ));
    graphs.push((
        "bare".to_owned(),
        Graph::from_weighted_edges(7, &[], false).unwrap(),
    ));
    graphs
}

/// Labels by which nodes reach each other.
fn strong_components(graph: &Graph) -> Vec<u32> {
    let n = graph.nodes();
    let mut back = vec![Vec::new(); n as usize];
    for (from, to, _) in triples(graph) {
        back[to].push(from as u32);
    }
    let reach = |root: u32, next: &dyn Fn(u32) -> Vec<u32>| {
        let mut seen = vec![false; n as usize];
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut seen[node as usize], true) {
                open.extend(next(node));
            }
        }
        seen
    };
    let mut labels = vec![u32::MAX; n as usize];
    for root in 0..n {
        if labels[root as usize] != u32::MAX {
            continue;
        }
        let after = reach(root, &|node| graph.neighbours(node).to_vec());
        let before = reach(root, &|node| back[node as usize].clone());
        for node in root..n {
            if after[node as usize] && before[node as usize] {
                labels[node as usize] = root;
            }
        }
    }
    labels
}

#[test]
fn strong_components_take_one_look_at_each_edge_of_any_shape() {
    for (name, graph) in graphs(300, 1) {
        let expected = Column::U32(strong_components(&graph));
        for threads in THREADS {
            let outcome = run(&graph, &request(AnalysisKind::Scc, &[], threads));
            assert_eq!(outcome.values, expected, "{name}");
            match outcome.edges_examined {
                // Loops and parallel edges have no effect, and need not be visited.
                Some(edges) => assert!(edges <= outcome.edges, "{name}: {edges}"),
                None => assert!(graph.is_symmetric(), "{name}: components"),
            }
        }
    }
}

#[test]
fn strong_components_of_random_graphs_are_right() {
    let random = &mut Random::new(7);
    for _ in 0..300 {
        let nodes = 1 + random.below(40);
        let edges =
            (0..random.below(3 * nodes)).map(|_| (random.below(nodes), random.below(nodes)));
        let graph = Graph::from_edges(nodes, &edges.collect::<Vec<_>>(), false).unwrap();
        let outcome = run(&graph, &request(AnalysisKind::Scc, &[], 1));
        assert_eq!(outcome.values, Column::U32(strong_components(&graph)));
    }
}

/// Some sources: one, a few, and more than one joint search takes.
fn lists(nodes: u32, random: &mut Random) -> Vec<Vec<u32>> {
    if nodes == 0 {
        return Vec::new();
    }
    let mut list = |count: u32| {
        let mut list: Vec<u32> = (0..count).map(|_| random.below(nodes)).collect();
        list.sort_unstable();
        list.dedup();
        list
    };
    vec![list(1), list(3), list(90), (0..nodes).collect()]
}

#[test]
fn closeness_and_eccentricity_are_right_and_follow_the_size_on_any_shape() {
    let random = &mut Random::new(3);
    for (name, graph) in graphs(50, 2) {
        let n = graph.nodes() as usize;
        for weighted in [false, true] {
            let (far, _) = all_pairs(&graph, weighted);
            for sources in lists(graph.nodes(), random) {
                for threads in THREADS {
                    for outward in [false, true] {
                        let mut request = request(AnalysisKind::Closeness, &sources, threads);
                        request.centrality = centrality(|asked| {
                            asked.weighted = weighted;
                            asked.direction = outward.then_some(Direction::Outward);
                        });
                        let outcome = run(&graph, &request);
                        let values = outcome.values.floats().unwrap();
                        for node in 0..n {
                            let to = |other: usize| match outward {
                                true => far[node][other],
                                false => far[other][node],
                            };
                            let known: Vec<f64> =
                                (0..n).map(to).filter(|far| far.is_finite()).collect();
                            let (others, sum) =
                                (known.len() as f64 - 1.0, known.iter().sum::<f64>());
                            let exact = match sum > 0.0 {
                                true => others * others / (sum * (n as f64 - 1.0)),
                                false => 0.0,
                            };
                            let expected = match sources.contains(&(node as u32)) {
                                true => exact as f32,
                                false => f32::INFINITY,
                            };
                            assert_eq!(values[node], expected, "{name} {node} {weighted}");
                        }
                        holds(&name, &outcome, sources.len());
                    }
                    let mut request = request(AnalysisKind::Eccentricity, &sources, threads);
                    request.centrality = centrality(|asked| asked.weighted = weighted);
                    let outcome = run(&graph, &request);
                    let farthest = |node: usize| {
                        let known = far[node].iter().copied().filter(|far| far.is_finite());
                        known.fold(0.0, f64::max) as u64
                    };
                    let value =
                        |node: usize| sources.contains(&(node as u32)).then(|| farthest(node));
                    let found: Vec<Option<u64>> = match &outcome.values {
                        Column::U32(words) => words
                            .iter()
                            .map(|word| (*word != u32::MAX).then_some(u64::from(*word)))
                            .collect(),
                        Column::U64(pairs) => pairs
                            .iter()
                            .map(|pair| (*pair != u64::MAX).then_some(*pair))
                            .collect(),
                        other => panic!("{other:?}"),
                    };
                    assert_eq!(found, (0..n).map(value).collect::<Vec<_>>(), "{name}");
                    let all = sources.len() == n;
                    let diameter = (0..n).map(farthest).max().filter(|_| all);
                    assert_eq!(outcome.answer.figure("diameter"), diameter, "{name}");
                    let radius = (0..n).map(farthest).min().filter(|_| all);
                    assert_eq!(outcome.answer.figure("radius"), radius, "{name}");
                    holds(&name, &outcome, sources.len());
                }
            }
        }
    }
}

/// Edges visited are at most those of the graph for each source.
fn holds(name: &str, outcome: &RunOutcome, sources: usize) {
    if let Some(edges) = outcome.edges_examined {
        let most = outcome.edges * sources as u64;
        assert!(edges <= most, "{name}: {edges} edges of {most}");
    }
}

#[test]
fn betweenness_is_right_and_looks_twice_at_each_edge_of_any_shape() {
    let random = &mut Random::new(5);
    for (name, graph) in graphs(36, 4) {
        let n = graph.nodes() as usize;
        for weighted in [false, true] {
            let (far, counts) = all_pairs(&graph, weighted);
            for sources in lists(graph.nodes(), random) {
                let is_source = |node: usize| sources.contains(&(node as u32));
                for normalized in [false, true] {
                    let halves = !normalized && graph.is_symmetric();
                    let score = |node: usize| -> f64 {
                        let mut score = 0.0;
                        for from in (0..n).filter(|from| is_source(*from) && *from != node) {
                            for to in (0..n).filter(|to| *to != node && *to != from) {
                                if far[from][node] + far[node][to] == far[from][to]
                                    && far[from][to].is_finite()
                                {
                                    let share =
                                        counts[from][node] * counts[node][to] / counts[from][to];
                                    score +=
                                        share * if halves && is_source(to) { 0.5 } else { 1.0 };
                                }
                            }
                        }
                        if normalized && n > 2 {
                            let own = if is_source(node) { 1.0 } else { 0.0 };
                            score /= (sources.len() as f64 - own) * (n as f64 - 2.0);
                        }
                        score
                    };
                    let mut columns = Vec::new();
                    for threads in THREADS {
                        let mut request = request(AnalysisKind::Betweenness, &sources, threads);
                        request.centrality = centrality(|asked| {
                            asked.weighted = weighted;
                            asked.normalized = normalized;
                        });
                        let outcome = run(&graph, &request);
                        let edges = outcome.edges_examined.unwrap();
                        assert!(edges <= 2 * outcome.edges * sources.len() as u64, "{name}");
                        columns.push(outcome.values.floats().unwrap().to_vec());
                    }
                    let bits = |column: &Vec<f32>| {
                        column
                            .iter()
                            .map(|value| value.to_bits())
                            .collect::<Vec<_>>()
                    };
                    assert_eq!(bits(&columns[0]), bits(&columns[1]), "{name}");
                    for (node, value) in columns[0].iter().enumerate() {
                        let (value, exact) = (f64::from(*value), score(node));
                        let is_near = (value - exact).abs() <= 1e-6 * exact.abs()
                            || value.is_nan() && exact.is_nan();
                        assert!(is_near, "{name}, node {node}: {value}, not {exact}");
                    }
                }
            }
        }
    }
}

/// Numbers of paths beyond any double, on one side only.
#[test]
fn betweenness_counts_more_paths_than_a_double_holds() {
    let diamonds = 2_000;
    let mut edges = Vec::new();
    for i in 0..diamonds {
        let at = 3 * i;
        edges.extend([
            (at, at + 1),
            (at, at + 2),
            (at + 1, at + 3),
            (at + 2, at + 3),
        ]);
    }
    // A parallel path of equal length with the same end.
    let end = 3 * diamonds;
    let first = end + 1;
    edges.push((0, first));
    edges.extend((1..2 * diamonds - 1).map(|i| (first + i - 1, first + i)));
    edges.push((first + 2 * diamonds - 2, end));
    let nodes = first + 2 * diamonds;
    let graph = Graph::from_edges(nodes, &edges, false).unwrap();
    for threads in THREADS {
        let outcome = run(
            &graph,
            &request(AnalysisKind::Betweenness, &[0, 3], threads),
        );
        let scores = outcome.values.floats().unwrap();
        // Half of the paths of a diamond lead through each of its sides.
        let sides = [scores[1], scores[2]];
        assert_eq!(sides[0].to_bits(), sides[1].to_bits());
    }
}

#[test]
fn widest_paths_are_right_and_look_once_at_each_edge_of_any_shape() {
    let random = &mut Random::new(9);
    for (name, graph) in graphs(80, 6) {
        let n = graph.nodes() as usize;
        for sources in lists(graph.nodes(), random) {
            let mut wide = vec![None; n];
            for source in &sources {
                wide[*source as usize] = Some(u32::MAX - 1);
            }
            // As many rounds as a path has edges.
            for _ in 0..n {
                for (from, to, weight) in triples(&graph) {
                    let through = wide[from].map(|own: u32| own.min(weight as u32));
                    wide[to] = wide[to].max(through);
                }
            }
            let expected: Vec<u32> = wide.iter().map(|width| width.unwrap_or(u32::MAX)).collect();
            for threads in THREADS {
                let outcome = run(&graph, &request(AnalysisKind::Widest, &sources, threads));
                assert_eq!(outcome.values, Column::U32(expected.clone()), "{name}");
                assert!(outcome.edges_examined.unwrap() <= outcome.edges, "{name}");
            }
        }
    }
}

#[test]
fn shortest_paths_are_right_and_look_once_at_each_edge_of_any_shape() {
    let random = &mut Random::new(17);
    let mut by_queue = 0;
    for sample in samples(300, 18) {
        for undirected in [false, true] {
            // The heaviest weights make paths longer than 32 bits hold.
            for factor in [1, 4_000_000] {
                let scaled = |&(from, to, weight): &(u32, u32, u32)| {
                    (from, to, weight.saturating_mul(factor).min(4_000_000_000))
                };
                let edges: Vec<_> = sample.edges.iter().map(scaled).collect();
                let graph = Graph::from_weighted_edges(sample.nodes, &edges, undirected).unwrap();
                let quarters: Vec<_> = edges
                    .iter()
                    .map(|(from, to, weight)| (*from, *to, *weight as f32 * 0.25))
                    .collect();
                let quarters =
                    Graph::from_float_edges(sample.nodes, &quarters, undirected).unwrap();
                let mut sources = lists(sample.nodes, random)[1].clone();
                sources.push(sample.source);
                let expected = distances(&graph, &sources);
                for threads in THREADS {
                    let asked = request(AnalysisKind::Sssp, &sources, threads);
                    let outcome = run(&graph, &asked);
                    let found: Vec<u64> = match &outcome.values {
                        Column::U64(lengths) => lengths.clone(),
                        Column::U32(lengths) => lengths
                            .iter()
                            .map(|length| match *length {
                                u32::MAX => u64::MAX,
                                length => length.into(),
                            })
                            .collect(),
                        other => panic!("{other:?}"),
                    };
                    assert_eq!(found, expected, "{} {factor}", sample.name);
                    if let Some(looks) = outcome.edges_examined {
                        assert!(looks <= outcome.edges, "{}", sample.name);
                        by_queue += 1;
                    }
                    let floats = run(&quarters, &asked);
                    assert_eq!(
                        floats.edges_examined.is_some(),
                        outcome.edges_examined.is_some()
                    );
                    for (float, whole) in floats.values.floats().unwrap().iter().zip(&expected) {
                        let is_right = match *whole {
                            u64::MAX => float.is_infinite(),
                            // Sums of few bits are exact, others are checked by the run.
                            whole => {
                                let is_short = factor == 1 && whole < 1 << f32::MANTISSA_DIGITS;
                                !is_short || f64::from(*float) * 4.0 == whole as f64
                            }
                        };
                        assert!(is_right, "{}: {float} {whole}", sample.name);
                    }
                }
            }
        }
    }
    assert!(by_queue > 40, "{by_queue}");
}

/// Ends and weights.
type WeightedEdges = Vec<(u32, u32, u32)>;

/// Rungs of two nodes after a dense part, and a star with a path of light edges along the ends of its
/// spokes, beside heavy edges elsewhere: no look at them before a run finds that they need many
/// rounds, or relax edges many times.
fn deep_unseen() -> [(u32, WeightedEdges); 2] {
    let random = &mut Random::new(23);
    let (dense, nodes) = (600, 5_000);
    let mut ladder: Vec<_> = (0..8 * dense)
        .map(|_| {
            (
                random.below(dense),
                random.below(dense),
                1 + random.below(999),
            )
        })
        .collect();
    for at in (dense..nodes).step_by(2) {
        let before = if at == dense {
            [0, 0]
        } else {
            [at - 2, at - 1]
        };
        for (from, to) in [(before[0], at), (before[1], at + 1), (at, at + 1)] {
            ladder.push((from, to, 1 + random.below(999)));
        }
    }
    let spokes = 3_000;
    // Against the order of the nodes, so that a round lowers them by one edge.
    let mut star: Vec<_> = (1..spokes).map(|at| (0, at, 3 * (spokes - at))).collect();
    star.extend((2..spokes).rev().map(|at| (at, at - 1, 1)));
    let mut other = || spokes + random.below(10 * spokes);
    star.extend((0..100_000).map(|_| (other(), other(), 4_000_000)));
    [(nodes, ladder), (11 * spokes, star)]
}

#[test]
fn rounds_of_paths_that_are_too_many_end_by_a_queue() {
    for (nodes, edges) in deep_unseen() {
        let graph = Graph::from_weighted_edges(nodes, &edges, true).unwrap();
        let halves = edges
            .iter()
            .map(|(from, to, weight)| (*from, *to, *weight as f32 * 0.5));
        let floats = Graph::from_float_edges(nodes, &halves.collect::<Vec<_>>(), true).unwrap();
        let expected = distances(&graph, &[0]);
        for threads in THREADS {
            let mut asked = request(AnalysisKind::Sssp, &[0], threads);
            let outcome = run(&graph, &asked);
            let Column::U32(found) = &outcome.values else {
                panic!("{:?}", outcome.values)
            };
            let wide = |length: &u32| match *length {
                u32::MAX => u64::MAX,
                length => length.into(),
            };
            assert_eq!(found.iter().map(wide).collect::<Vec<_>>(), expected);
            let rounds = |outcome: &RunOutcome| match outcome.rounds {
                Rounds::Iterations(count) => count,
                other => panic!("{other:?}"),
            };
            assert!(outcome.converged && rounds(&outcome) < 1_500);
            if threads > 1 {
                let halves = run(&floats, &asked);
                assert!(halves.converged && rounds(&halves) < 1_500);
            }
            // A limit of rounds is one of rounds, for any number of threads.
            asked.max_iterations = NonZeroU32::new(1_600);
            let limited = run(&graph, &asked);
            assert_eq!(limited.converged, rounds(&limited) < 1_600);
            asked.max_iterations = NonZeroU32::new(1_000_000);
            let limited = run(&graph, &asked);
            assert!(limited.converged && (threads > 1 || rounds(&limited) > rounds(&outcome)));
            assert_eq!(limited.values, outcome.values);
        }
    }
}

#[test]
fn deep_graphs_are_searched_without_rounds() {
    let deep = [
        "path",
        "cycle",
        "chained triangles",
        "ring of four",
        "caterpillar",
        "lollipop",
        "diamonds",
    ];
    for sample in samples(20_000, 19) {
        let graph = graph_of(&sample, true);
        let outcome = run(&graph, &request(AnalysisKind::Sssp, &[sample.source], 1));
        if deep.contains(&sample.name) {
            assert!(outcome.edges_examined.is_some(), "{}", sample.name);
        }
        let is_shallow = ["star", "power", "dense", "hubs"].contains(&sample.name);
        assert!(
            !is_shallow || outcome.edges_examined.is_none(),
            "{}",
            sample.name
        );
    }
    // A chain of cliques from its middle on: levels of many nodes, most of whose edges stay there.
    let (size, cliques) = (24, 200);
    let random = &mut Random::new(5);
    let mut edges = Vec::new();
    for node in 0..size * cliques {
        let end = node - node % size + size;
        edges.extend((node + 1..end).map(|to| (node, to, 1 + random.below(1000))));
        if node + 1 == end && end < size * cliques {
            edges.push((node, end, 1 + random.below(1000)));
        }
    }
    let graph = Graph::from_weighted_edges(size * cliques, &edges, true).unwrap();
    let middle = size * cliques / 2;
    let outcome = run(&graph, &request(AnalysisKind::Sssp, &[middle], 1));
    assert!(outcome.edges_examined.is_some());
}

/// More entries than a heap has before it is split, equal keys and wide ones.
#[test]
fn queues_larger_than_a_cache_are_right() {
    for sample in samples(60_000, 20) {
        if !["grid", "dense", "star", "hubs", "world"].contains(&sample.name) {
            continue;
        }
        for largest in [3, 999] {
            let weigh = |&(from, to, weight): &(u32, u32, u32)| (from, to, weight % largest + 1);
            let edges: Vec<_> = sample.edges.iter().map(weigh).collect();
            let graph = Graph::from_weighted_edges(sample.nodes, &edges, true).unwrap();
            let outcome = run(&graph, &request(AnalysisKind::Widest, &[sample.source], 1));
            assert!(outcome.edges_examined.unwrap() <= outcome.edges);
        }
    }
}

/// A limit that no run comes to, and that sequential algorithms do not keep: the request is for
/// rounds.
const ANY_ROUNDS: Option<NonZeroU32> = NonZeroU32::new(1 << 30);

/// Random graphs with mirror images, loops, parallel edges and nodes without edges; weights are few
/// and equal, or wide.
fn drawn(random: &mut Random) -> Graph {
    let nodes = 1 + random.below(50);
    let wide = random.once_in(2);
    let weight = |random: &mut Random| match wide {
        true => random.below(u32::MAX - 2),
        false => random.below(3),
    };
    let edges: Vec<_> = (0..random.below(4 * nodes))
        .map(|_| {
            let ends = (random.below(nodes), random.below(nodes));
            (ends.0, ends.1, weight(random))
        })
        .collect();
    Graph::from_weighted_edges(nodes, &edges, true).unwrap()
}

fn undirected(nodes: u32, seed: u64) -> Vec<(String, Graph)> {
    let random = &mut Random::new(seed);
    let shapes = graphs(nodes, seed).into_iter();
    let mut graphs: Vec<_> = shapes.filter(|(_, graph)| graph.is_symmetric()).collect();
    graphs.extend((0..80).map(|at| (format!("drawn {at}"), drawn(random))));
    graphs
}

#[test]
fn forests_are_those_of_rounds_and_look_at_each_edge_some_times_on_any_shape() {
    for (name, graph) in undirected(300, 12) {
        for maximum in [false, true] {
            let mut rounds = request(AnalysisKind::Msf, &[], 2);
            (rounds.maximum, rounds.max_iterations) = (maximum, ANY_ROUNDS);
            let expected = run(&graph, &rounds);
            assert_eq!(expected.edges_examined, None);
            for threads in THREADS {
                let mut alone = request(AnalysisKind::Msf, &[], threads);
                alone.maximum = maximum;
                let outcome = run(&graph, &alone);
                assert_eq!(outcome.values, expected.values, "{name} {maximum}");
                let turns = u64::from(graph.nodes().max(1).ilog2());
                let most = 2 * outcome.edges + outcome.edges / 2 * turns;
                assert!(outcome.edges_examined.unwrap() <= most, "{name}");
            }
        }
    }
}

#[test]
fn forests_of_float_weights_are_those_of_whole_ones() {
    for sample in samples(200, 13) {
        let floats: Vec<_> = sample
            .edges
            .iter()
            .map(|(from, to, weight)| (*from, *to, *weight as f32 * 0.25))
            .collect();
        let floats = Graph::from_float_edges(sample.nodes, &floats, true).unwrap();
        for maximum in [false, true] {
            let mut request = request(AnalysisKind::Msf, &[], 1);
            request.maximum = maximum;
            let whole = run(&graph_of(&sample, true), &request).values;
            assert_eq!(run(&floats, &request).values, whole, "{}", sample.name);
        }
    }
}

#[test]
fn cores_are_those_of_rounds_and_look_once_at_each_edge_of_any_shape() {
    let mut graphs = undirected(300, 14);
    // The last of 300 nodes have more and more neighbours; others have none, or are a path.
    let mut edges: Vec<_> = (0..300_u32)
        .flat_map(|node| (node / 2..node).map(move |other| (node, other)))
        .collect();
    edges.extend((600..5000).map(|node| (node - 1, node)));
    let nested = Graph::from_edges(200_000, &edges, true).unwrap();
    graphs.push(("nested".to_owned(), nested));
    for (name, graph) in graphs {
        let mut rounds = request(AnalysisKind::Kcore, &[], 2);
        rounds.max_iterations = ANY_ROUNDS;
        let expected = run(&graph, &rounds);
        assert_eq!(expected.edges_examined, None);
        let outcome = run(&graph, &request(AnalysisKind::Kcore, &[], 1));
        assert_eq!(outcome.values, expected.values, "{name}");
        // If there may be many core numbers, one thread keeps the order.
        let looks = outcome.edges_examined;
        assert_eq!(looks.is_some(), name == "nested", "{name}");
        assert!(looks.is_none_or(|looks| looks <= outcome.edges), "{name}");
    }
}

/// The ranks of a program of code, as GPUs run it.
fn ranks_of_code(graph: &Graph, kind: AnalysisKind, question: &Question) -> Vec<u32> {
    let built = analysis::build(kind, graph, question).unwrap();
    let (program, _) = built.program.encode(&PlanRequest::default()).unwrap();
    let threads = NonZeroUsize::new(2);
    let mut session = CpuSession::open(graph, threads, RunLimits::default()).unwrap();
    session.load(&program).unwrap();
    session.run(&built.inputs).unwrap();
    let mut found = Vec::new();
    session.read(built.result, &mut found).unwrap();
    found
}

/// A walk along weights, edge by edge: weights in units of their row's largest one, and ranks along
/// edges as whole numbers of small units.
struct Walk {
    starts: Vec<f32>,
    /// The share of each edge in the weights of its row; `None` for a row without any.
    shares: Vec<Option<f32>>,
    exponent: u32,
}

fn in_units(value: f32, exponent: u32) -> u64 {
    (value * 2.0_f32.powi(exponent as i32)) as u64
}

fn of_units(units: u64, exponent: u32) -> f32 {
    units as f32 * 0.5_f32.powi(exponent as i32)
}

impl Walk {
    fn of(graph: &Graph, starts: Vec<f32>) -> Self {
        let (offsets, weights) = (graph.offsets(), graph.weights().unwrap());
        let rows = || {
            offsets
                .windows(2)
                .map(|row| row[0] as usize..row[1] as usize)
        };
        let degree = rows().map(|row| row.len()).max().unwrap_or(0) as u32;
        let exponent = 62 - (32 - degree.leading_zeros());
        let mut shares = Vec::new();
        for row in rows() {
            let weights: Vec<f32> = weights[row].iter().map(|weight| *weight as f32).collect();
            let largest = weights.iter().copied().fold(0.0, f32::max);
            let units = weights
                .iter()
                .map(|weight| in_units(weight / largest, exponent));
            let sum = of_units(units.sum(), exponent);
            let share = |weight: &f32| (largest > 0.0).then_some(weight / largest / sum);
            shares.extend(weights.iter().map(share));
        }
        Self {
            starts,
            shares,
            exponent: unit_exponent(graph.edges()),
        }
    }

    /// The ranks after another round.
    fn step(&self, graph: &Graph, ranks: &[f32], damping: f32) -> Vec<f32> {
        const TOTAL: u32 = 60;
        let mut coming = vec![0_u64; ranks.len()];
        let mut jumping = 0_u64;
        for (node, own) in ranks.iter().enumerate() {
            let edges = graph.offsets()[node] as usize..graph.offsets()[node + 1] as usize;
            if edges.clone().all(|edge| self.shares[edge].is_none()) {
                jumping += in_units(*own, TOTAL);
            }
            for edge in edges {
                let share = self.shares[edge].unwrap_or(0.0);
                coming[graph.targets()[edge] as usize] += in_units(share * own, self.exponent);
            }
        }
        let anew = of_units(jumping, TOTAL) * damping + (1.0 - damping);
        let next = coming.into_iter().zip(&self.starts);
        next.map(|(sum, start)| anew * start + of_units(sum, self.exponent) * damping)
            .collect()
    }
}

/// The share of a walk that starts at each node.
fn starts(nodes: u32, kind: AnalysisKind, sources: &[u32]) -> Vec<f32> {
    if kind == AnalysisKind::Pagerank {
        return vec![1.0 / nodes as f32; nodes as usize];
    }
    let mut starts = vec![0.0; nodes as usize];
    for source in sources {
        starts[*source as usize] += 1.0;
    }
    let sum = sources.len() as f64;
    starts
        .into_iter()
        .map(|count| (count / sum) as f32)
        .collect()
}

#[test]
fn ranks_of_threads_are_those_of_code_or_of_a_plain_walk_bit_by_bit() {
    let random = &mut Random::new(15);
    let mut graphs = graphs(40, 15);
    graphs.retain(|(_, graph)| graph.nodes() > 0);
    graphs.extend((0..8).map(|at| (format!("drawn {at}"), drawn(random))));
    for (turn, (name, graph)) in graphs.into_iter().enumerate() {
        let sources = &lists(graph.nodes(), random)[1];
        let asked = [
            (AnalysisKind::Ppr, false),
            (AnalysisKind::Ppr, true),
            (AnalysisKind::Pagerank, true),
        ];
        // Two of the three take turns.
        for (kind, weighted) in asked.into_iter().cycle().skip(turn).take(2) {
            let sources: &[u32] = match kind {
                AnalysisKind::Ppr => sources,
                _ => &[],
            };
            for threads in THREADS {
                let mut request = request(kind, sources, threads);
                request.weighted = weighted;
                let outcome = run(&graph, &request);
                assert_eq!(outcome.edges_examined, None, "{name}, {kind}");
                let Rounds::Iterations(rounds) = outcome.rounds else {
                    panic!("{:?}", outcome.rounds)
                };
                let found = outcome.values.floats().unwrap().iter();
                let found: Vec<u32> = found.map(|rank| rank.to_bits()).collect();
                let expected = if weighted {
                    let walk = Walk::of(&graph, starts(graph.nodes(), kind, sources));
                    let mut ranks = walk.starts.clone();
                    for _ in 0..rounds {
                        ranks = walk.step(&graph, &ranks, request.ranking.damping);
                    }
                    ranks.into_iter().map(f32::to_bits).collect()
                } else {
                    ranks_of_code(&graph, kind, &Question::new(sources.to_vec()))
                };
                assert!(
                    found == expected[..found.len()],
                    "{name}, {kind}, {weighted}"
                );
            }
        }
    }
}

#[test]
fn float_weights_measure_as_whole_ones_do() {
    let random = &mut Random::new(11);
    for sample in samples(60, 8) {
        let floats: Vec<_> = sample
            .edges
            .iter()
            .map(|(from, to, weight)| (*from, *to, *weight as f32 * 0.25))
            .collect();
        let whole = graph_of(&sample, false);
        let quarters = Graph::from_float_edges(sample.nodes, &floats, false).unwrap();
        let sources = &lists(sample.nodes, random)[2];
        for (analysis, factor) in [
            (AnalysisKind::Closeness, 4.0),
            (AnalysisKind::Eccentricity, 0.25),
            (AnalysisKind::Betweenness, 1.0),
            (AnalysisKind::Widest, 0.25),
        ] {
            let of = |graph: &Graph| {
                let mut request = request(analysis, sources, 2);
                request.centrality.weighted = analysis != AnalysisKind::Widest;
                run(graph, &request).values
            };
            let as_floats = |column: Column| -> Vec<f32> {
                match column {
                    Column::F32(floats) => floats,
                    Column::U32(words) => words.into_iter().map(|word| word as f32).collect(),
                    Column::U64(pairs) => pairs.into_iter().map(|pair| pair as f32).collect(),
                    other => panic!("no numbers: {other:?}"),
                }
            };
            let (ours, theirs) = (as_floats(of(&quarters)), as_floats(of(&whole)));
            for (own, other) in ours.iter().zip(&theirs) {
                // Marks of sources and of nodes without a path differ.
                let is_mark = !own.is_finite() || *own == f32::MAX;
                assert!(
                    is_mark || *own == other * factor,
                    "{}: {own} {other}",
                    sample.name
                );
            }
        }
    }
}

#[test]
fn a_time_budget_and_a_cancel_end_long_searches_soon() {
    let edges: Vec<_> = (1..400_000_u32).map(|node| (node - 1, node)).collect();
    let path = Graph::from_edges(400_000, &edges, true).unwrap();
    let sources: Vec<u32> = (0..3000).collect();
    for threads in [1, 2] {
        for analysis in [AnalysisKind::Betweenness, AnalysisKind::Closeness] {
            let mut long = request(analysis, &sources, threads);
            long.check = false;
            long.machine.time_budget_ns = 50_000_000;
            let started = Instant::now();
            let error = execute(&path, &long).unwrap_err();
            assert!(
                matches!(error, RunError::Backend(BackendError::Fault { .. })),
                "{error}"
            );
            assert!(error.to_string().contains("time budget"), "{error}");
            assert!(started.elapsed() < Duration::from_secs(20));
            long.machine.time_budget_ns = u64::MAX;
            let mut analyzer = Analyzer::new(&path);
            let canceller: Canceller = analyzer.canceller();
            let thread = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(100));
                canceller.cancel();
            });
            let error = analyzer.run(&long).unwrap_err();
            thread.join().unwrap();
            assert!(
                matches!(error, RunError::Backend(BackendError::Cancelled)),
                "{error}"
            );
        }
    }
}

#[test]
fn options_and_weights_without_meaning_are_refused() {
    let edges = [(0, 1, 3), (1, 2, 0)];
    let graph = Graph::from_weighted_edges(3, &edges, false).unwrap();
    let refused = |request: &RunRequest| execute(&graph, request).unwrap_err();
    let mut twice = request(AnalysisKind::Betweenness, &[1, 0, 1], 1);
    assert!(matches!(
        refused(&twice),
        RunError::RepeatedSource {
            source_node: NodeName::Id(1),
            ..
        }
    ));
    twice.sources = vec![0];
    twice.centrality.weighted = true;
    let error = refused(&twice);
    assert!(
        matches!(
            error,
            RunError::WeightTooSmall {
                from: NodeName::Id(1),
                to: NodeName::Id(2),
                ..
            }
        ),
        "{error}"
    );
    let mut wrong = request(AnalysisKind::Bfs, &[0], 1);
    wrong.centrality.normalized = true;
    let error = refused(&wrong).to_string();
    assert!(error.contains("normalized, betweenness has"), "{error}");
    let mut closeness = request(AnalysisKind::Closeness, &[0], 1);
    closeness.centrality.weighted = true;
    assert!(execute(&graph, &closeness).is_ok(), "0 is a length");
    closeness.machine = Machine::gpu(Executor::Mega, 0);
    assert!(matches!(refused(&closeness), RunError::CpuOnly { .. }));
    closeness.machine = Machine::auto();
    let outcome = execute(&graph, &closeness).unwrap();
    assert_eq!(outcome.backend, Executor::Cpu);
}

/// One thread decides nodes in the order of their priorities, nine in rounds.
#[test]
fn sets_and_colours_are_those_of_the_program_and_look_at_each_edge_once() {
    for (nodes, seed) in [(40, 1), (1_500, 3)] {
        for sample in samples(nodes, seed) {
            let graph = graph_of(&sample, true);
            for analysis in [AnalysisKind::Mis, AnalysisKind::Colouring] {
                let alone = run(&graph, &request(analysis, &[], 1));
                let rounds = run(&graph, &request(analysis, &[], 9));
                let name = format!("{analysis:?} of {} {nodes}", sample.name);
                assert_eq!(alone.values, rounds.values, "{name}");
                assert!(alone.edges_examined.unwrap() <= alone.edges, "{name}");
                assert_eq!(rounds.edges_examined, None, "{name}");
                assert_eq!(run(&graph, &request(analysis, &[], 3)).values, alone.values);
            }
        }
    }
}

/// Exact distances from a node, and the numbers of shortest paths, along weights `2^exponent`.
fn exact_paths(nodes: usize, edges: &[(u32, u32, u32)], source: usize) -> Vec<Option<(u128, f64)>> {
    let mut far = vec![None; nodes];
    far[source] = Some(0_u128);
    for _ in 0..nodes {
        for (from, to, exponent) in edges {
            let longer = far[*from as usize].map(|own| own + (1 << exponent));
            let known = &mut far[*to as usize];
            if longer.is_some() && known.is_none_or(|known| longer < Some(known)) {
                *known = longer;
            }
        }
    }
    let mut order: Vec<usize> = (0..nodes).filter(|node| far[*node].is_some()).collect();
    order.sort_by_key(|node| far[*node]);
    let mut counts = vec![0.0; nodes];
    counts[source] = 1.0;
    for node in order.into_iter().skip(1) {
        let is_last = |(from, to, exponent): &&(u32, u32, u32)| {
            *to as usize == node
                && far[*from as usize].map(|own| own + (1 << exponent)) == far[node]
        };
        let last = edges.iter().filter(is_last);
        counts[node] = last.map(|(from, ..)| counts[*from as usize]).sum();
    }
    let pair = |(far, count): (Option<u128>, f64)| far.map(|far| (far, count));
    far.into_iter().zip(counts).map(pair).collect()
}

/// Betweenness of all nodes as sources of a directed graph, by the definition.
fn exact_betweenness(nodes: usize, edges: &[(u32, u32, u32)]) -> Vec<f64> {
    let of = |source| exact_paths(nodes, edges, source);
    let paths: Vec<_> = (0..nodes).map(of).collect();
    let through = |node: usize| {
        let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
        let share = |(from, to): (usize, usize)| {
            if from == node || to == node || from == to {
                return 0.0;
            }
            match (paths[from][node], paths[node][to], paths[from][to]) {
                (Some(first), Some(second), Some(all)) if first.0 + second.0 == all.0 => {
                    first.1 * second.1 / all.1
                }
                _ => 0.0,
            }
        };
        pairs.map(share).sum()
    };
    (0..nodes).map(through).collect()
}

#[test]
fn betweenness_along_weights_of_any_range_is_right_or_refused() {
    let random = &mut Random::new(31);
    let (mut right, mut refused) = (0, 0);
    for _ in 0..400 {
        let nodes = 2 + random.below(9);
        let most = random.pick(&[1_u32, 30, 49, 60, 110]).unwrap();
        let mut drawn = std::collections::BTreeMap::new();
        for _ in 0..random.below(3 * nodes) {
            let ends = (random.below(nodes), random.below(nodes));
            drawn.insert(ends, random.below(3) * most / 2);
        }
        let edges: Vec<_> = drawn.into_iter().map(|((a, b), e)| (a, b, e)).collect();
        let float = |(from, to, exponent): &(u32, u32, u32)| {
            (*from, *to, 2_f32.powi(exponent.cast_signed()))
        };
        let floats: Vec<_> = edges.iter().map(float).collect();
        let graph = Graph::from_float_edges(nodes, &floats, false).unwrap();
        let mut request = request(AnalysisKind::Betweenness, &[], 2);
        request.sources = (0..nodes).collect();
        request.centrality.weighted = true;
        match execute(&graph, &request) {
            Ok(outcome) => {
                assert_eq!(outcome.checked, Some(true), "{edges:?}");
                right += 1;
                if most > 49 {
                    // Sums round, so that paths of different lengths may tie, as the check knows.
                    continue;
                }
                let exact = exact_betweenness(nodes as usize, &edges);
                for (value, exact) in outcome.values.floats().unwrap().iter().zip(exact) {
                    assert!((f64::from(*value) - exact).abs() < 1e-4, "{edges:?}");
                }
            }
            Err(RunError::WeightLost {
                weight, distance, ..
            }) => {
                assert_eq!(weight + distance, distance);
                assert!(most > 49, "{edges:?}");
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(right > 200 && refused > 20, "{right}, {refused}");
}

#[test]
fn measures_along_weights_are_floats_or_refused() {
    let path = |weight: f32| {
        let edges = [(0, 1, weight), (1, 2, weight)];
        Graph::from_float_edges(3, &edges, true).unwrap()
    };
    // An eccentricity of 6e38 of the last node, and closenesses of 1e45 and of about 1e-39.
    for (analysis, weight, node, other) in [
        (AnalysisKind::Eccentricity, 3e38, 2, 1e-45),
        (AnalysisKind::Closeness, 1e-45, 1, 3e38),
    ] {
        let mut request = request(analysis, &[1, 2], 2);
        request.centrality.weighted = true;
        let graph = path(weight);
        let is_named = |error: &RunError| {
            matches!(error, RunError::ValueTooLarge { node: NodeName::Id(named), .. }
                if *named == node)
        };
        let error = execute(&graph, &request).unwrap_err();
        assert!(is_named(&error), "{error}");
        let devices = seawall::multi::Devices::Simulated {
            count: 2,
            threads: 1,
        };
        // Each device has one of the sources, and both values are too large for closeness.
        let error = seawall::multi::execute(&graph, &request, &devices).unwrap_err();
        assert!(matches!(error, RunError::ValueTooLarge { .. }), "{error}");
        let small = path(1.0);
        let graphs = [&small, &graph].map(|graph| BatchGraph::new("path", graph, vec![1, 2]));
        let error = seawall::batch::execute(&graphs, &request).unwrap_err();
        assert!(
            error.to_string().contains("above the largest 32-bit float"),
            "{error}"
        );
        // The least floats have few digits, which the check knows.
        run(&path(other), &request);
    }
}

#[test]
fn limits_of_iterations_do_not_make_weights_unread() {
    let graph = Graph::from_weighted_edges(3, &[(0, 1, 5), (1, 2, 7)], true).unwrap();
    for analysis in [
        AnalysisKind::Betweenness,
        AnalysisKind::Closeness,
        AnalysisKind::Eccentricity,
    ] {
        let mut request = request(analysis, &[0, 1], 1);
        request.max_iterations = NonZeroU32::new(1);
        assert!(execute(&graph, &request).is_ok());
        request.centrality.weighted = true;
        let error = execute(&graph, &request).unwrap_err();
        assert!(matches!(error, RunError::NoIterations { .. }), "{error}");
        assert!(error.to_string().contains("along weights"), "{error}");
    }
}

/// Triangles by a plain walk: at each corner, and at the one of least degree, or of least number
/// among those.
fn triangles(nodes: u32, has: &dyn Fn(u32, u32) -> bool) -> [Vec<u32>; 2] {
    let n = nodes as usize;
    let degree = |node: u32| (0..nodes).filter(|to| has(node, *to)).count();
    let places: Vec<_> = (0..nodes).map(|node| (degree(node), node)).collect();
    let [mut corners, mut lowest] = [vec![0; n], vec![0; n]];
    for a in 0..nodes {
        for b in (a + 1..nodes).filter(|b| has(a, *b)) {
            for c in (b + 1..nodes).filter(|c| has(a, *c) && has(b, *c)) {
                for node in [a, b, c] {
                    corners[node as usize] += 1;
                }
                let least = [a, b, c]
                    .into_iter()
                    .min_by_key(|node| places[*node as usize]);
                lowest[least.unwrap() as usize] += 1;
            }
        }
    }
    [corners, lowest]
}

#[test]
fn triangles_of_dense_graphs_are_counted_by_bits_with_two_looks_at_each_edge() {
    let random = &mut Random::new(23);
    let mut by_bits = 0;
    for nodes in (0..20).chain([63, 64, 65, 130]) {
        for share in [2, 5, 9, 10] {
            let mut edges = Vec::new();
            for from in 0..nodes {
                for to in 0..=from {
                    if random.below(10) < share {
                        // Loops, and edges that are listed once, twice or both ways.
                        edges.push((from, to));
                        edges.extend((random.below(4) == 0).then_some((from, to)));
                        edges.extend((random.below(4) == 0).then_some((to, from)));
                    }
                }
            }
            let graph = Graph::from_edges(nodes, &edges, true).unwrap();
            let has = |a: u32, b: u32| a != b && graph.neighbours(a).contains(&b);
            let [corners, lowest] = triangles(nodes, &has);
            for threads in [1, 2, 5] {
                for (kind, expected) in [
                    (AnalysisKind::Triangles, &corners),
                    (AnalysisKind::TriangleTotal, &lowest),
                ] {
                    let outcome = run(&graph, &request(kind, &[], threads));
                    let case = format!("{kind} {nodes} {share} {threads}");
                    assert_eq!(outcome.values, Column::U32(expected.clone()), "{case}");
                    if let Some(looks) = outcome.edges_examined {
                        assert!(looks <= 2 * outcome.edges, "{case}: {looks}");
                        by_bits += 1;
                    }
                }
            }
        }
    }
    assert!(by_bits > 100, "{by_bits}");
}
