//! Strategies of graphs and choices that shrink part by part: a failure ends in few edges,
//! sources and waves, not in another seed.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use proptest::{bool, collection, sample};
use seawall_oracles::draw::{self, Limits};
use seawall_oracles::graphs::{self, EdgeList, SHAPES};
use seawall_oracles::random::Random;
use seawall_oracles::script::Script;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// A share of edges and sources that stay, so that shapes are mostly whole.
const STAYS: f64 = 0.98;

/// A graph and sources in it.
pub(crate) type Drawn = (EdgeList, Vec<u32>);

/// A graph of any shape with fewer than `nodes` nodes, of which edges and sources may be missing.
pub(crate) fn graphs(nodes: u32) -> impl Strategy<Value = Drawn> {
    (
        sample::select(&SHAPES[..]),
        0..nodes,
        any::<bool>(),
        any::<u64>(),
    )
        .prop_map(|(shape, nodes, undirected, seed)| {
            let mut random = Random::new(seed);
            let list = graphs::draw(shape, nodes, undirected, &mut random);
            let sources = graphs::draw_sources(list.nodes, &mut random);
            (list, sources)
        })
        .prop_flat_map(thinned)
}

/// The same graph without some of its edges and sources.
fn thinned((list, sources): Drawn) -> impl Strategy<Value = Drawn> {
    (
        kept(list.edges.clone()),
        kept(sources),
        Just((list.nodes, list.undirected)),
    )
        .prop_map(|(edges, sources, (nodes, undirected))| {
            let list = EdgeList {
                nodes,
                edges,
                undirected,
            };
            (list, sources)
        })
}

/// Most of `items`; shrinks to fewer.
fn kept<T: Clone + std::fmt::Debug>(items: Vec<T>) -> impl Strategy<Value = Vec<T>> {
    collection::vec(bool::weighted(STAYS), items.len()).prop_map(move |stays| {
        let kept = items.iter().zip(stays).filter(|(_, stays)| *stays);
        kept.map(|(item, _)| item.clone()).collect()
    })
}

/// A random program of the vocabulary, its graph, and the threads that it runs on.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) list: EdgeList,
    pub(crate) script: Script,
    pub(crate) threads: Option<NonZeroUsize>,
}

/// Programs on graphs of fewer than `nodes` nodes, with registers of fewer than `most_words` words,
/// for one of `threads`.
pub(crate) fn cases(
    nodes: u32,
    most_words: u32,
    threads: &'static [usize],
) -> impl Strategy<Value = Case> {
    (
        waves(24),
        sample::select(&SHAPES[..]),
        0..nodes,
        1..most_words,
        sample::select(threads),
        any::<bool>(),
        words(1000),
        words(300),
    )
        .prop_map(
            |(waves, shape, nodes, words, threads, undirected, of_graph, registers)| {
                let list =
                    graphs::draw(shape, nodes, undirected, &mut Random::of_choices(of_graph));
                let limits = Limits {
                    nodes: list.nodes,
                    waves: waves.len() as u32,
                    words,
                };
                let script = draw::of_choices(limits, registers, &waves);
                let threads = NonZeroUsize::new(threads);
                Case {
                    list,
                    script,
                    threads,
                }
            },
        )
}

/// As many cases as a change needs before it is proposed. They are drawn anew in each run; a longer
/// one multiplies them by `SEAWALL_CASES`.
pub(crate) fn few(cases: u32) -> ProptestConfig {
    let times = std::env::var("SEAWALL_CASES").ok();
    let times = times.and_then(|text| text.parse().ok()).unwrap_or(1);
    ProptestConfig::with_cases(cases.saturating_mul(times))
}

/// Choices for a case that is drawn from them; fewer and smaller ones make a smaller case.
pub(crate) fn choices(most: usize) -> impl Strategy<Value = Random> {
    words(most).prop_map(Random::of_choices)
}

/// The words of fewer than `most` choices. Half a word each, which suffices for choosing and
/// shrinks twice as fast.
pub(crate) fn words(most: usize) -> impl Strategy<Value = Vec<u32>> {
    let choice = any::<u16>().prop_map(|half| u32::from(half) << 16 | u32::from(half));
    collection::vec(choice, 0..most)
}

/// Choices for fewer than `most` waves. A shrinking case drops whole waves first, since they are
/// drawn first.
pub(crate) fn waves(most: usize) -> impl Strategy<Value = Vec<Vec<u32>>> {
    collection::vec(words(40), 1..most)
}

/// A failure of all long paths shrinks to the shortest one.
#[test]
fn a_failure_shrinks_to_the_edges_that_it_needs() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let error = runner
        .run(&graphs(300), |(list, sources)| {
            let is_long = list.edges.len() > 3 && !sources.is_empty();
            prop_assert!(!is_long);
            Ok(())
        })
        .unwrap_err();
    let proptest::test_runner::TestError::Fail(_, (list, sources)) = error else {
        panic!("{error}");
    };
    assert_eq!((list.edges.len(), sources.len()), (4, 1), "{list:?}");
}

/// The end of a case: an error, if any.
pub(crate) type Tried = Result<(), String>;

/// Runs `check` on some cases, or for the time in the environment: few, as lanes are threads and a
/// case takes seconds. A case that fails shrinks for two minutes.
pub(crate) fn each<S: Strategy>(cases: u32, strategy: S, check: impl Fn(S::Value) -> Tried) {
    let seconds = std::env::var("SEAWALL_LANES_SECONDS");
    let seconds = seconds.ok().and_then(|text| text.parse().ok());
    let (started, time) = (Instant::now(), Duration::from_secs(seconds.unwrap_or(0)));
    let mut tried = 0;
    while tried == 0 || started.elapsed() < time {
        let mut runner = TestRunner::new(ProptestConfig {
            cases,
            failure_persistence: None,
            max_shrink_time: 120_000,
            ..ProptestConfig::default()
        });
        let run = runner.run(&strategy, |case| check(case).map_err(TestCaseError::fail));
        if let Err(problem) = run {
            panic!("{problem}");
        }
        tried += cases;
    }
    if seconds.is_some() {
        println!("{tried} cases");
    }
}
