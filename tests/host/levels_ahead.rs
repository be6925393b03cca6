//! Long searches whose threads search several levels ahead before they meet: against plain queues,
//! and against a single thread.

use crate::drawn::few;
use proptest::prelude::*;
use seawall::analysis::{self, Question};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, Session};
use seawall::outcome::Column;
use seawall::program::PlanRequest;
use seawall::run::{AnalysisKind, Detail};
use seawall_core::abi::search::SearchPolicy;
use seawall_oracles::graphs::EdgeList;
use seawall_oracles::harness::{RunOptions, compare, expected};
use seawall_oracles::random::Random;
use std::num::NonZeroUsize;
use std::ops::Range;

/// Unreached nodes, so that graphs are large enough for threads to search ahead.
const ALONE: u32 = 1 << 14;

/// Levels after which a search is long.
const LONG: usize = 64;

/// Nodes of a layer that one thread may not expand before the next meeting.
const WIDE: u32 = 4000;

/// Runs a search from node 0. Returns its values and, of its loop, the iterations, the
/// largest frontier, and whether it converged.
fn search(list: &EdgeList, asked: &RunOptions, threads: usize) -> (Vec<u32>, [u32; 3]) {
    let graph = list.graph().unwrap();
    let threads = NonZeroUsize::new(threads);
    let mut session = CpuSession::open(&graph, threads, RunLimits::default()).unwrap();
    let mut question = Question::new(asked.sources.clone());
    question.max_iterations = asked.max_levels;
    let built = analysis::build(asked.analysis, &graph, &question).unwrap();
    let (encoded, _) = built.program.encode(&PlanRequest::default()).unwrap();
    session.load(&encoded).unwrap();
    let stats = session.run(&built.inputs).unwrap();
    let end = stats.control.loops[0];
    let mut words = Vec::new();
    session.read(built.result, &mut words).unwrap();
    let Column::U32(found) = built.reading.column(graph.nodes(), words) else {
        panic!("{} is no column of words", asked.analysis);
    };
    (found, [end.iterations, end.frontier_max, end.converged])
}

/// A strand: consecutive layers of the given numbers of nodes, from node `root` on. A node has
/// edges to some nodes of its own layer, of the one before and of up to `reach` layers ahead, or to
/// none if they have a direction; some layers depend on one node.
fn strand(list: &mut EdgeList, root: u32, widths: &[u32], reach: usize, random: &mut Random) {
    let mut layers = Vec::from([Range {
        start: root,
        end: root + 1,
    }]);
    for width in widths {
        layers.push(list.nodes..list.nodes + width);
        list.nodes += width;
    }
    for (at, layer) in layers.iter().enumerate() {
        let mut near = vec![layer, &layers[at.saturating_sub(1)]];
        near.extend((0..3).filter_map(|ahead| layers.get(at + 1 + ahead % reach)));
        for node in layer.clone() {
            if !list.undirected && layer.len() > 1 && random.once_in(8) {
                continue;
            }
            let to = |layer: &&Range<u32>| layer.start + random.below(layer.end - layer.start);
            list.edges.extend(near.iter().map(to).map(|to| (node, to)));
        }
        let Some(next) = layers.get(at + 1) else {
            break;
        };
        let hub = layer.start + random.below(layer.end - layer.start);
        let is_wide = next.end - next.start >= WIDE;
        let all = if is_wide || random.once_in(4) {
            next.end
        } else {
            next.start + 1
        };
        list.edges.extend((next.start..all).map(|to| (hub, to)));
    }
}

fn widths() -> impl Strategy<Value = Vec<u32>> {
    let even = (60..150_usize, 60..700_u32).prop_map(|(layers, width)| vec![width; layers]);
    let cliques = (40..120_usize, 100..300_u32).prop_map(|(pairs, width)| {
        let pairs = (0..pairs).flat_map(|_| [1, width]);
        pairs.collect()
    });
    let any = prop::collection::vec(1..900_u32, 60..150);
    let wide =
        (70..150_usize, 20..60_usize, 2 * WIDE..4 * WIDE).prop_map(|(layers, every, width)| {
            let width = |layer: usize| {
                if layer % every == every - 1 {
                    width
                } else {
                    150
                }
            };
            (0..layers).map(width).collect()
        });
    prop_oneof![2 => even, 1 => cliques, 2 => any, 2 => wide]
}

proptest! {
    #![proptest_config(few(6))]

    #[test]
    fn threads_that_go_ahead_find_what_one_finds(
        strands in prop::collection::vec(widths(), 1..4), reach in 1..4_usize,
        undirected in any::<bool>(), seed in any::<u64>(),
        threads in prop::sample::select(vec![2_usize, 3, 5, 9, 18]),
        limit in prop::option::of(80..250_u32),
    ) {
        let mut list = EdgeList { nodes: 1, edges: Vec::new(), undirected };
        let random = &mut Random::new(seed);
        // Narrow until the search counts as long, so that one thread runs it alone.
        strand(&mut list, 0, &[1; LONG], 1, random);
        let root = list.nodes - 1;
        for widths in &strands {
            strand(&mut list, root, widths, reach, random);
        }
        list.nodes += ALONE;
        for analysis in [AnalysisKind::Bfs, AnalysisKind::Reach] {
            let asked = RunOptions {
                analysis,
                sources: vec![0],
                max_levels: limit.unwrap_or(u32::MAX - 1),
                policy: SearchPolicy::default(),
                incoming: false,
                detail: Detail::Plain,
            };
            let (_, alone) = search(&list, &asked, 1);
            let (found, end) = search(&list, &asked, threads);
            let wanted = expected(&list, &asked);
            prop_assert_eq!(compare("search", &found, &wanted), Ok(()));
            prop_assert_eq!(alone, end);
        }
    }
}
