//! Planning times against petgraph's `toposort` and a flat Kahn on the same graphs.
//!
//! `toposort` orders waves without their layers, and is the closest existing function. `flat_kahn`
//! is a handwritten version without checks. Run with `cargo bench -p seawall-core --bench
//! planning`; items are waves plus dependencies. `-- --test NAME` runs each case once, for
//! callgrind.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a benchmark may end on its own mistake"
)]

mod kahn;
mod shapes;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use petgraph::graph::{DiGraph, NodeIndex};
use seawall_core::plan::{
    ArenaOptions, Budget, Dag, Requirements, Shape, Strategy, Wave, arena, groups, layers_of,
};
use seawall_core::scratch::{ArenaScratchView, GroupScratchView, ScratchView};
use shapes::Case;

const SIZES: [u32; 4] = [10, 1_000, 100_000, 1_000_000];
const KINDS: [fn(u32) -> Case; 12] = [
    shapes::chain,
    shapes::wide,
    shapes::grid,
    shapes::random,
    shapes::unsorted_chain,
    shapes::unsorted_wide,
    shapes::unsorted_grid,
    shapes::unsorted_random,
    shapes::program_chain,
    shapes::program_wide,
    shapes::program_grid,
    shapes::program_random,
];

fn main() {
    divan::main();
}

fn cases() -> impl Iterator<Item = Plan> {
    KINDS
        .into_iter()
        .flat_map(|make| SIZES.map(move |waves| Plan { make, waves }))
}

/// A shape and a size; built on demand, since large ones fill caches.
#[derive(Clone, Copy)]
struct Plan {
    make: fn(u32) -> Case,
    waves: u32,
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", (self.make)(10).name, self.waves)
    }
}

impl Case {
    fn items(&self) -> ItemsCount {
        ItemsCount::new(self.waves as usize + self.dependencies.len())
    }
}

#[divan::bench(args = cases())]
fn layers(bencher: Bencher<'_, '_>, plan: Plan) {
    let case = (plan.make)(plan.waves);
    let needs = Requirements::for_dag(case.waves as usize, case.dependencies.len());
    let mut waves = vec![0; needs.layer_words];
    let mut dependencies = vec![0; needs.dependency_words];
    let shape = Shape {
        waves: u64::from(case.waves),
        dependencies: &case.dependencies,
    };
    bencher.counter(case.items()).bench_local(|| {
        let view = ScratchView::new(&mut waves, &mut dependencies);
        layers_of(black_box(shape), view).expect("no cycle").len()
    });
}

#[divan::bench(args = cases())]
fn toposort(bencher: Bencher<'_, '_>, plan: Plan) {
    let case = (plan.make)(plan.waves);
    let mut graph = DiGraph::<(), ()>::with_capacity(case.waves as usize, case.dependencies.len());
    (0..case.waves).for_each(|_| {
        graph.add_node(());
    });
    for dependency in &case.dependencies {
        let [before, after] = [dependency.before, dependency.after].map(|id| id as usize);
        graph.add_edge(NodeIndex::new(before), NodeIndex::new(after), ());
    }
    bencher.counter(case.items()).bench_local(|| {
        petgraph::algo::toposort(black_box(&graph), None)
            .expect("no cycle")
            .len()
    });
}

#[divan::bench(args = cases())]
fn flat_kahn(bencher: Bencher<'_, '_>, plan: Plan) {
    let case = (plan.make)(plan.waves);
    let mut space = kahn::Room::new(&case);
    bencher
        .counter(case.items())
        .bench_local(|| kahn::layers(black_box(&case), &mut space));
}

/// Groups and an arena for a random program, by one strategy.
fn whole_plan(bencher: Bencher<'_, '_>, waves: u32, strategy: Strategy) {
    let case = shapes::random(waves);
    let records: Vec<Wave> = (0..waves).map(shapes::wave).collect();
    let dag = Dag {
        waves: &records,
        dependencies: &case.dependencies,
    };
    let budget = Budget {
        budget_bytes: 40_000,
        ..Budget::default()
    };
    let needs = Requirements::for_dag(records.len(), case.dependencies.len());
    let (mut words, mut targets) = (vec![0; needs.layer_words], vec![0; needs.dependency_words]);
    let (mut pack, mut bytes) = (vec![0; needs.pack_words], vec![0; needs.pack_bytes]);
    let (mut lists, mut offsets) = (vec![0; needs.arena_words], vec![0; needs.arena_offsets]);
    bencher.counter(case.items()).bench_local(|| {
        let view = ScratchView::new(&mut words, &mut targets);
        let view = GroupScratchView::new(view, &mut pack, &mut bytes);
        let plan = groups(black_box(&dag), &budget, strategy, view).expect("every wave fits");
        let view = ArenaScratchView::new(&mut lists, &mut offsets);
        arena(&dag, &plan, &ArenaOptions::default(), view)
            .expect("bytes fit")
            .bytes()
    });
}

#[divan::bench(args = SIZES, sample_count = 20)]
fn groups_in_order_and_arena(bencher: Bencher<'_, '_>, waves: u32) {
    whole_plan(bencher, waves, Strategy::InOrder);
}

#[divan::bench(args = SIZES, sample_count = 5)]
fn groups_packed_and_arena(bencher: Bencher<'_, '_>, waves: u32) {
    whole_plan(bencher, waves, Strategy::Packed);
}
