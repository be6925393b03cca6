//! Loops and parallel edges: every analysis against results from the listed edges, on threads, in
//! batches and from files, in each topology, and with other forms than its own.

use crate::drawn::few;
use proptest::prelude::*;
use seawall::batch::{self, BatchGraph};
use seawall::graph::{CsrArrays, Form, FormError, Graph, Loops, Parallel, save};
use seawall::outcome::{Column, Direction, RunOutcome};
use seawall::run::{AnalysisKind, Analyzer, Detail, Machine, RunError, RunRequest, execute};
use seawall::stream::{StreamOptions, Streamed};
use seawall_core::topology::Topology;
use seawall_oracles::listed::Listed;
use std::num::NonZeroUsize;

const THREADS: [usize; 2] = [1, 3];

/// Graphs of few nodes, so that many edges are loops and parallel.
fn listed(nodes: u32) -> impl Strategy<Value = Listed> {
    let edge = (0..nodes, 0..nodes, 0..7_u32);
    let edges = proptest::collection::vec(edge, 0..60);
    (1..=nodes, edges, any::<bool>()).prop_map(|(nodes, edges, undirected)| Listed {
        nodes,
        edges: edges
            .into_iter()
            .map(|(a, b, weight)| (a % nodes, b % nodes, weight))
            .collect(),
        undirected,
    })
}

/// The graph of a list, with its weights if `kind` reads them.
fn graph(list: &Listed, kind: AnalysisKind) -> Graph {
    if kind.reads_weights() {
        return Graph::from_weighted_edges(list.nodes, &list.edges, list.undirected).unwrap();
    }
    let edges: Vec<_> = list.edges.iter().map(|&(a, b, _)| (a, b)).collect();
    Graph::from_edges(list.nodes, &edges, list.undirected).unwrap()
}

fn request(kind: AnalysisKind, list: &Listed, threads: usize) -> RunRequest {
    let all = [0, list.nodes / 2];
    let sources = if kind.takes_sources() && list.nodes > 1 {
        all.to_vec()
    } else if kind.takes_sources() {
        vec![0]
    } else {
        Vec::new()
    };
    let machine = Machine::cpu(NonZeroUsize::new(threads));
    let mut request = RunRequest::new(kind, sources).on(machine);
    request.check = true;
    if kind.facts().ranks {
        request.ranking.tolerance = 1e-7;
    }
    request
}

/// Numbers of a column; infinite if there is none.
fn numbers(column: &Column) -> Vec<f64> {
    match column {
        Column::U32(words) => words
            .iter()
            .map(|word| match *word {
                u32::MAX => f64::INFINITY,
                word => f64::from(word),
            })
            .collect(),
        Column::F32(floats) => floats.iter().map(|float| f64::from(*float)).collect(),
        other => panic!("{other:?}"),
    }
}

fn whole(values: Vec<Option<u64>>) -> Vec<f64> {
    let number = |value: Option<u64>| value.map_or(f64::INFINITY, |value| value as f64);
    values.into_iter().map(number).collect()
}

fn words(values: Vec<u32>) -> Vec<f64> {
    values.into_iter().map(f64::from).collect()
}

/// Returns whether a column is that of the listed edges.
fn is_right(list: &Listed, request: &RunRequest, column: &Column) -> bool {
    let sources = &request.sources;
    let is_source = |node: usize| sources.contains(&(node as u32));
    let expected = match request.analysis {
        AnalysisKind::Bfs => whole(list.levels(sources)),
        AnalysisKind::Reach => {
            let levels = list.levels(sources).into_iter();
            levels
                .map(|level| f64::from(u8::from(level.is_some())))
                .collect()
        }
        AnalysisKind::Sssp => whole(list.distances(sources)),
        AnalysisKind::Cc => words(list.components(true)),
        AnalysisKind::Scc => words(list.components(false)),
        AnalysisKind::Pagerank => list.ranks(None),
        AnalysisKind::Ppr => list.ranks(Some(sources)),
        AnalysisKind::Betweenness => list.betweenness(sources),
        AnalysisKind::Kcore => words(list.cores()),
        AnalysisKind::Triangles => words(list.triangles()),
        AnalysisKind::TriangleTotal => {
            let found: f64 = numbers(column).iter().sum();
            return 3.0 * found == words(list.triangles()).iter().sum::<f64>();
        }
        AnalysisKind::Widest => {
            let found = numbers(column);
            let widths = list.widths(sources).into_iter().enumerate();
            let mut inner = widths.filter(|(node, _)| !is_source(*node));
            return inner.all(|(node, width)| match width {
                Some(width) => found[node] == width as f64,
                None => found[node].is_infinite() || found[node] >= f64::from(u32::MAX - 2),
            });
        }
        AnalysisKind::Closeness => {
            let value = |node: u32| match sources.contains(&node) {
                true => list.closeness(node),
                false => f64::INFINITY,
            };
            (0..list.nodes).map(value).collect()
        }
        AnalysisKind::Eccentricity => {
            let farthest = |node| list.levels(&[node]).into_iter().flatten().max();
            let value = |node: u32| match sources.contains(&node) {
                true => farthest(node).unwrap_or(0) as f64,
                false => f64::INFINITY,
            };
            (0..list.nodes).map(value).collect()
        }
        AnalysisKind::Mis => {
            let Column::U32(flags) = column else {
                return false;
            };
            return list.is_independent_and_maximal(flags);
        }
        AnalysisKind::Colouring => {
            let Column::U32(colours) = column else {
                return false;
            };
            return list.differ(colours);
        }
        AnalysisKind::Msf => {
            let Column::U64(edges) = column else {
                return false;
            };
            let edges = edges.iter().filter(|edge| **edge != u64::MAX);
            let least = |edge: &u64| {
                let ends = ((edge >> 32) as usize, *edge as u32 as usize);
                let arcs = list.arcs(true).into_iter();
                let between = arcs.filter(|&(a, b, _)| (a, b) == ends || (b, a) == ends);
                between.map(|arc| u64::from(arc.2)).min()
            };
            let weight: Option<u64> = edges.map(least).sum();
            return weight == Some(list.forest_weight());
        }
        _ => return true,
    };
    let near = |(found, expected): (&f64, &f64)| {
        found == expected || (found - expected).abs() <= 1e-4 * (1.0 + expected.abs())
    };
    let found = numbers(column);
    found.len() == expected.len() && found.iter().zip(&expected).all(near)
}

/// Returns whether an analysis runs on graphs of a list.
fn fits(kind: AnalysisKind, list: &Listed) -> bool {
    list.undirected || !kind.is_undirected()
}

fn run(graph: &Graph, request: &RunRequest) -> RunOutcome {
    let outcome = execute(graph, request).unwrap();
    assert_eq!(outcome.checked, Some(true), "{}", request.analysis);
    outcome
}

proptest! {
    #![proptest_config(few(16))]

    #[test]
    fn every_analysis_starts_from_the_listed_edges(list in listed(9)) {
        for kind in AnalysisKind::ALL.into_iter().filter(|kind| fits(*kind, &list)) {
            let graph = graph(&list, kind);
            for threads in THREADS {
                let request = request(kind, &list, threads);
                let outcome = run(&graph, &request);
                prop_assert!(is_right(&list, &request, &outcome.values), "{}: {:?}", kind, outcome.values);
                let taken = &outcome.taken;
                prop_assert_eq!(taken.self_loops, u64::from(graph.loops()));
                prop_assert_eq!(taken.parallel_edges, u64::from(graph.parallel_edges()));
                prop_assert_eq!(taken.direction == Direction::Undirected, list.undirected);
                let kept = outcome.edges - outcome.dropped.self_loops - outcome.dropped.duplicates;
                prop_assert_eq!(kept, u64::from(graph.form(request.form().unwrap()).unwrap().edges()));
            }
        }
    }

    #[test]
    fn every_topology_searches_graphs_with_loops(list in listed(40)) {
        for kind in [AnalysisKind::Bfs, AnalysisKind::Reach] {
            let graph = graph(&list, kind);
            for (topology, threads) in Topology::ALL.into_iter().flat_map(|t| THREADS.map(|n| (t, n))) {
                let mut request = request(kind, &list, threads);
                request.topology = Some(topology);
                let outcome = run(&graph, &request);
                prop_assert!(is_right(&list, &request, &outcome.values), "{} {}", kind, topology.name());
            }
        }
    }

    #[test]
    fn batches_start_from_the_listed_edges(lists in proptest::collection::vec(listed(9), 1..6)) {
        for kind in AnalysisKind::ALL {
            let lists: Vec<_> = lists.iter().filter(|list| fits(kind, list)).collect();
            let graphs: Vec<_> = lists.iter().map(|list| graph(list, kind)).collect();
            let requests: Vec<_> = lists.iter().map(|list| request(kind, list, 2)).collect();
            let members = graphs.iter().zip(&requests);
            let members: Vec<_> = members
                .map(|(graph, request)| BatchGraph::new("a", graph, request.sources.clone()))
                .collect();
            let Some(first) = requests.first() else { continue };
            let outcome = batch::execute(&members, first).unwrap();
            prop_assert_eq!(outcome.checked(), Some(true), "{}", kind);
            for ((list, request), found) in lists.iter().zip(&requests).zip(&outcome.graphs) {
                prop_assert!(is_right(list, request, &found.run.values), "{}", kind);
            }
        }
    }

    #[test]
    fn files_and_their_streams_hold_loops_and_parallel_edges(list in listed(30)) {
        let folder = tempfile::tempdir().unwrap();
        for kind in AnalysisKind::ALL {
            let Some(_) = kind.facts().streams else { continue };
            let graph = graph(&list, kind);
            let path = folder.path().join("graph.swg");
            save(&graph, &path, None).unwrap();
            let streamed = Streamed::open(&path).unwrap().unwrap();
            prop_assert_eq!(streamed.nodes().loops(), graph.loops());
            for (threads, window) in [(1, 64), (3, 64), (2, 4096)] {
                let mut options = StreamOptions::default();
                options.window_bytes = Some(window);
                options.undirected = list.undirected;
                let request = request(kind, &list, threads);
                let outcome = streamed.run(&request, options).unwrap();
                prop_assert_eq!(outcome.checked, Some(true), "{}", kind);
                prop_assert!(is_right(&list, &request, &outcome.values), "{}", kind);
            }
        }
    }

    #[test]
    fn forms_that_are_asked_for_pass_the_check(
        list in listed(7),
        loops in prop::option::of(prop::sample::select(&Loops::ALL[..])),
    ) {
        for kind in AnalysisKind::ALL.into_iter().filter(|kind| fits(*kind, &list)) {
            let graph = graph(&list, kind);
            for parallel in Parallel::ALL {
                let mut request = request(kind, &list, 2);
                (request.loops, request.parallel) = (loops, Some(parallel));
                match execute(&graph, &request) {
                    Ok(outcome) => prop_assert_eq!(outcome.checked, Some(true), "{} {:?} {:?}", kind, loops, parallel),
                    Err(RunError::WrongForm { .. }) => prop_assert!(
                        loops == Some(Loops::Keep) || parallel == Parallel::Keep
                    ),
                    Err(RunError::Form(FormError::Unlisted)) => {
                        prop_assert!(parallel == Parallel::First && graph.weights().is_some());
                    }
                    Err(error) => return Err(TestCaseError::fail(error.to_string())),
                }
            }
        }
    }

    #[test]
    fn one_analyzer_changes_between_forms(list in listed(9)) {
        let list = Listed { undirected: true, ..list };
        let graph = Graph::from_weighted_edges(list.nodes, &list.edges, true).unwrap();
        let mut analyzer = Analyzer::new(&graph);
        for kind in [
            AnalysisKind::Widest,
            AnalysisKind::Sssp,
            AnalysisKind::Kcore,
            AnalysisKind::Widest,
            AnalysisKind::Bfs,
        ] {
            let request = request(kind, &list, 2);
            let outcome = analyzer.run(&request).unwrap();
            let is_unweighted = !kind.reads_weights();
            let list = Listed {
                edges: list.edges.iter().map(|&(a, b, w)| (a, b, if is_unweighted { 0 } else { w })).collect(),
                ..list.clone()
            };
            prop_assert!(is_right(&list, &request, &outcome.values), "{}", kind);
        }
    }
}

#[test]
fn parents_are_nodes_one_level_up_despite_loops() {
    let edges = [(0, 0), (0, 1), (0, 1), (1, 1), (1, 2), (1, 2), (2, 2)];
    let graph = Graph::from_edges(3, &edges, false).unwrap();
    for threads in THREADS {
        let machine = Machine::cpu(NonZeroUsize::new(threads));
        let mut request = RunRequest::new(AnalysisKind::Bfs, vec![0]).on(machine);
        request.detail = Detail::Parents;
        assert_eq!(
            execute(&graph, &request).unwrap().parents,
            Some(vec![0, 0, 1])
        );
    }
}

#[test]
fn a_simple_graph_pays_nothing_and_says_so() {
    let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)], true).unwrap();
    assert!(graph.is_simple());
    for kind in AnalysisKind::ALL
        .into_iter()
        .filter(|kind| !kind.reads_weights())
    {
        let form = RunRequest::new(kind, vec![0]).form().unwrap();
        assert!(std::ptr::eq(graph.form(form).unwrap(), &graph), "{kind}");
    }
    let request = RunRequest::new(AnalysisKind::Kcore, Vec::new()).on(Machine::cpu(None));
    let outcome = execute(&graph, &request).unwrap();
    assert_eq!(
        (outcome.taken.self_loops, outcome.taken.parallel_edges),
        (0, 0)
    );
    assert_eq!(
        (outcome.taken.loops_taken, outcome.taken.loops_reason),
        (Loops::Keep, None)
    );
    assert!(
        outcome
            .events
            .iter()
            .all(|event| event.name != "simple form")
    );
}

#[test]
fn what_was_dropped_is_reported_with_its_reason() {
    let edges = [(0, 0, 1), (0, 1, 5), (0, 1, 9), (1, 2, 7)];
    let graph = Graph::from_weighted_edges(3, &edges, false).unwrap();
    for (kind, dropped, reasons) in [
        (
            AnalysisKind::Widest,
            (1, 1),
            ["they have no effect", "the heaviest one counts"],
        ),
        (
            AnalysisKind::Sssp,
            (1, 1),
            ["they have no effect", "the lightest one counts"],
        ),
        (AnalysisKind::Bfs, (1, 1), ["they have no effect"; 2]),
    ] {
        let request = RunRequest::new(kind, vec![0]).on(Machine::cpu(None));
        let outcome = execute(&graph, &request).unwrap();
        let taken = &outcome.taken;
        assert_eq!(
            (outcome.dropped.self_loops, outcome.dropped.duplicates),
            dropped
        );
        assert_eq!(
            [taken.loops_reason, taken.parallel_reason],
            reasons.map(Some),
            "{kind}"
        );
        assert!(
            outcome
                .events
                .iter()
                .any(|event| event.name == "simple form")
        );
    }
}

#[test]
fn an_analysis_that_ignores_loops_cannot_keep_them() {
    let graph = Graph::from_edges(2, &[(0, 0), (0, 1)], true).unwrap();
    for kind in [
        AnalysisKind::Kcore,
        AnalysisKind::Triangles,
        AnalysisKind::Mis,
    ] {
        let mut request = RunRequest::new(kind, Vec::new()).on(Machine::cpu(None));
        request.loops = Some(Loops::Keep);
        let error = execute(&graph, &request).unwrap_err();
        assert!(error.to_string().contains("ignores self loops"), "{error}");
    }
}

#[test]
fn sums_beyond_the_weights_of_an_analysis_are_refused() {
    let edges = [(0, 1, 1 << 31), (0, 1, (1 << 31) - 1)];
    let graph = Graph::from_weighted_edges(2, &edges, false).unwrap();
    let mut request = RunRequest::new(AnalysisKind::Widest, vec![0]).on(Machine::cpu(None));
    request.parallel = Some(Parallel::Sum);
    let error = execute(&graph, &request).unwrap_err();
    assert!(matches!(error, RunError::WeightTooLarge { .. }), "{error}");
}

/// The wide file of a graph whose header claims symmetry.
#[test]
fn a_stream_of_a_file_falsely_marked_symmetric_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("false.swg");
    let edges: Vec<(u32, u32)> = (0..300).map(|node| (node, node + 1)).collect();
    let graph = Graph::from_edges(301, &edges, true).unwrap();
    save(&graph, &path, None).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    // One target becomes another: 300 then leads to 298, but 298 not to 300.
    let last = bytes.len() - 4;
    bytes[last..].copy_from_slice(&298_u32.to_le_bytes());
    std::fs::write(&path, &bytes).unwrap();
    let streamed = Streamed::open(&path).unwrap().unwrap();
    for kind in [
        AnalysisKind::Bfs,
        AnalysisKind::Reach,
        AnalysisKind::Pagerank,
    ] {
        let machine = Machine::cpu(NonZeroUsize::new(2));
        let request = RunRequest::new(kind, vec![0]).on(machine);
        let mut options = StreamOptions::default();
        options.window_bytes = Some(64);
        options.undirected = true;
        let error = streamed.run(&request, options).unwrap_err();
        assert!(error.to_string().contains("marked symmetric"), "{error}");
        options.undirected = false;
        assert!(streamed.run(&request, options).is_ok());
    }
}

#[test]
fn rows_in_memory_may_repeat_targets() {
    let arrays = CsrArrays {
        offsets: vec![0, 3, 4],
        targets: vec![0, 1, 1, 0],
        ..CsrArrays::default()
    };
    let graph = Graph::from_csr(arrays).unwrap();
    assert_eq!((graph.loops(), graph.parallel_edges()), (1, 1));
    let simple = graph.form(Form::simple(Parallel::First)).unwrap();
    assert_eq!(simple.targets(), [1, 0]);
}

#[test]
fn rows_in_the_order_of_weights_have_no_first_of_parallel_edges() {
    for by_weight in [false, true] {
        let arrays = CsrArrays {
            offsets: vec![0, 2, 2],
            targets: vec![1, 1],
            weights: Some(vec![4, 9]),
            by_weight,
            ..CsrArrays::default()
        };
        let graph = Graph::from_csr(arrays).unwrap();
        assert_eq!(graph.is_listed(), !by_weight);
        let first = graph.form(Form::simple(Parallel::First));
        assert_eq!(first.is_err(), by_weight, "{first:?}");
        assert!(graph.form(Form::simple(Parallel::Least)).is_ok());
    }
}
