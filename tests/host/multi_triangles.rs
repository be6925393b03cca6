//! Triangles that several devices look for are those of one, and of a plain count.

use crate::drawn;
use crate::multi::graph;
use proptest::prelude::*;
use seawall::analysis::Sentence;
use seawall::backend::{BackendError, Canceller};
use seawall::graph::{Graph, LoadOptions, load};
use seawall::multi::{Devices, execute, execute_with, reason_for_one};
use seawall::run::{self, AnalysisKind, Machine, RunError, RunRequest};
use std::num::{NonZeroU32, NonZeroUsize};

const KINDS: [AnalysisKind; 2] = [AnalysisKind::Triangles, AnalysisKind::TriangleTotal];

fn request(kind: AnalysisKind) -> RunRequest {
    RunRequest::new(kind, Vec::new())
}

/// Compares counts on `count` devices with those on one, and with the plain ones.
fn compare(graph: &Graph, count: u32, threads: u32) {
    for kind in KINDS {
        let mut asked = request(kind);
        asked.check = true;
        asked.repeat = NonZeroU32::new(2).unwrap();
        let one = asked.clone().on(Machine::cpu(NonZeroUsize::new(1)));
        let wanted = run::execute(graph, &one).unwrap();
        assert_eq!(wanted.checked, Some(true));
        let found = execute(graph, &asked, &Devices::simulated(count, threads)).unwrap();
        assert_eq!(found.values, wanted.values, "{kind} on {count}");
        assert_eq!(found.answer, wanted.answer, "{kind} on {count}");
        assert_eq!(found.checked, Some(true), "{kind} on {count}");
        assert_eq!(found.edges, wanted.edges);
        assert_eq!(found.dropped, wanted.dropped);
        let report = found.devices.unwrap();
        assert_eq!(report.count, count);
        assert_eq!(report.centers.len() as u32, count);
        assert_eq!(report.centers.iter().sum::<u64>(), wanted.nodes);
    }
}

/// A name, nodes, and edges.
type Shape = (&'static str, u32, Vec<(u32, u32)>);

/// The shapes on which analyses are surveyed, of about `n` nodes.
pub(crate) fn shapes(n: u32) -> Vec<Shape> {
    let path = |from: u32, to: u32| (from..to).map(|at| (at, at + 1));
    let clique = |k: u32| (0..k).flat_map(|high| (0..high).map(move |low| (low, high)));
    let half = n / 2;
    vec![
        ("no node", 0, Vec::new()),
        ("one node", 1, Vec::new()),
        ("a loop", 1, vec![(0, 0)]),
        ("no edge", n, Vec::new()),
        ("path", n, path(0, n - 1).collect()),
        ("cycle", n, path(0, n - 1).chain([(n - 1, 0)]).collect()),
        ("star", n, (1..n).map(|leaf| (0, leaf)).collect()),
        (
            "wheel",
            n,
            (1..n)
                .flat_map(|leaf| [(0, leaf), (leaf, 1 + leaf % (n - 1))])
                .collect(),
        ),
        (
            "triangles",
            n - n % 3,
            (0..n / 3)
                .flat_map(|k| {
                    [
                        (3 * k, 3 * k + 1),
                        (3 * k + 1, 3 * k + 2),
                        (3 * k + 2, 3 * k),
                    ]
                })
                .collect(),
        ),
        (
            "chain of triangles",
            n,
            (0..n - 2)
                .flat_map(|at| [(at, at + 1), (at, at + 2)])
                .collect(),
        ),
        (
            "pairs",
            n,
            (0..half).map(|at| (2 * at, 2 * at + 1)).collect(),
        ),
        (
            "binary tree",
            n,
            (1..n).map(|at| ((at - 1) / 2, at)).collect(),
        ),
        (
            "caterpillar",
            2 * half,
            path(0, half - 1)
                .chain((0..half).map(|at| (at, at + half)))
                .collect(),
        ),
        ("clique", 40, clique(40).collect()),
        ("lollipop", n, clique(40).chain(path(39, n - 1)).collect()),
        (
            "bipartite",
            60,
            (0..30)
                .flat_map(|a| (30..60).map(move |b| (a, b)))
                .collect(),
        ),
        (
            "hubs",
            n,
            (0..10)
                .flat_map(|hub| (hub + 1..n).map(move |at| (hub, at)))
                .collect(),
        ),
        (
            "parallel edges and loops",
            50,
            (0..600).map(|at| (at * 7 % 50, at * 11 % 43)).collect(),
        ),
    ]
}

#[test]
fn every_shape_has_the_triangles_of_one_device() {
    for (name, nodes, edges) in shapes(700) {
        let graph = Graph::from_edges(nodes, &edges, true).unwrap();
        for count in 1..=4 {
            compare(&graph, count, 1 + count % 2);
        }
        if name == "chain of triangles" {
            let found = execute(&graph, &request(KINDS[1]), &Devices::simulated(3, 1)).unwrap();
            assert_eq!(
                found.answer.sentence,
                Sentence::Graph("697 triangles".to_owned())
            );
        }
    }
    for shape in ["gen:rmat:11:16", "gen:uniform:11:8", "gen:grid:30"] {
        let graph = load(shape, &LoadOptions::default(), None).unwrap().graph;
        for count in 1..=4 {
            compare(&graph, count, 2);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn random_graphs_have_the_triangles_of_one_device(
        (list, _) in drawn::graphs(200),
        large in graph(),
        count in 1..5_u32,
    ) {
        let small = Graph::from_edges(list.nodes, &list.edges, true).unwrap();
        compare(&small, count, 1);
        if large.is_symmetric() {
            compare(&large, count, 2);
        }
    }
}

#[test]
fn devices_that_cannot_count_say_why() {
    let graph = load("gen:rmat:12:16", &LoadOptions::default(), None)
        .unwrap()
        .graph;
    let two = Devices::simulated(2, 1);
    let mut asked = request(AnalysisKind::TriangleTotal);
    asked.machine.budget_bytes = Some(1000);
    let error = execute(&graph, &asked, &two).unwrap_err();
    assert!(matches!(error, RunError::OverBudget { .. }), "{error}");
    asked.machine.budget_bytes = None;
    let canceller = Canceller::default();
    canceller.cancel();
    let error = execute_with(&graph, &asked, &two, &canceller, &mut |_| ()).unwrap_err();
    assert!(
        matches!(error, RunError::Backend(BackendError::Cancelled)),
        "{error}"
    );
    asked.machine.time_budget_ns = 1;
    let error = execute(&graph, &asked, &two).unwrap_err();
    assert!(error.to_string().contains("time budget"), "{error}");
    let asked = request(AnalysisKind::TriangleTotal);
    let error = execute(&graph, &asked, &Devices::gpus(vec![0, 4000])).unwrap_err();
    assert!(matches!(error, RunError::Backend(_)), "{error}");
    let directed = Graph::from_edges(3, &[(0, 1), (1, 2), (2, 0)], false).unwrap();
    let wanted = run::execute(&directed, &asked).unwrap_err().to_string();
    assert_eq!(
        execute(&directed, &asked, &two).unwrap_err().to_string(),
        wanted
    );
}

#[test]
fn one_device_is_the_better_choice_where_few_rows_are_looked_up() {
    let two = Devices::simulated(2, 1);
    let reason = |shape: &str| {
        let graph = load(shape, &LoadOptions::default(), None).unwrap().graph;
        reason_for_one(&graph, &request(AnalysisKind::TriangleTotal), &two).unwrap()
    };
    assert!(reason("gen:grid:40").unwrap().contains("one device"));
    assert_eq!(reason("gen:rmat:12:64"), None);
}
