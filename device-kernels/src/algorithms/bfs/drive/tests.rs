extern crate std;
use super::*;
use crate::machine::cpu::HostGrid;
use seawall_core::topology::Reason;

/// A search after three iterations, before the finds of its last step are known.
const START: DriveRecord = DriveRecord {
    iteration: 3,
    step: 5,
    next: Step::Sparse as u32,
    topology: u32::MAX,
    nodes: 0,
    edges: 0,
    unexplored_edges: 10_000_000,
    holder: Holder::Queue as u32,
    visited: 0,
    queue: 0,
    converged: 0,
    frontier_max: 7,
    reason: 0,
    ahead: 0,
    reserved: [0; 2],
};

/// Incoming edges are available.
fn pulling() -> SearchPolicy {
    SearchPolicy {
        can_pull: 1,
        ..SearchPolicy::default()
    }
}

fn forcing(topology: Topology) -> SearchPolicy {
    SearchPolicy {
        forced: topology as u32,
        ..pulling()
    }
}

fn found(queued: (u32, u32), marked: (u32, u32)) -> FoundRecord {
    FoundRecord {
        queued_nodes: queued.0,
        queued_edges: queued.1,
        marked_nodes: marked.0,
        marked_edges: marked.1,
        ..FoundRecord::default()
    }
}

/// Records what the search has found after `step`, whose frontier was in `holder`, on one thread.
fn after(done: (Step, Holder), found: &FoundRecord, policy: &SearchPolicy) -> DriveRecord {
    after_on::<HostGrid<true>>(done.0, done.1, found, policy)
}

/// [`after`] on a given kind of grid.
fn after_on<G: Grid>(
    step: Step,
    holder: Holder,
    found: &FoundRecord,
    policy: &SearchPolicy,
) -> DriveRecord {
    let mut drive = DriveRecord {
        next: step as u32,
        holder: holder as u32,
        ..START
    };
    advance::<G>(&mut drive, found, policy);
    drive
}

/// The search after a push from queue to queue.
fn after_push(queued: (u32, u32), policy: &SearchPolicy) -> DriveRecord {
    let push = (Step::Sparse, Holder::Queue);
    after(push, &found(queued, (0, 0)), policy)
}

#[test]
fn the_shape_of_a_step_follows_from_nodes_and_edges() {
    let table = [
        ("narrow", 896, 8_192, Step::Fused),
        ("a node too many", 897, 1_000, Step::WarpSparse),
        ("an edge too many", 10, 8_193, Step::Sparse),
        ("few edges, low degree", 20_000, 30_000, Step::WarpSparse),
        ("few edges, high degree", 900, 65_535, Step::Sparse),
        ("3 %, low degree", 90_000, 300_000, Step::WarpSparse),
        ("3 %, high degree", 9_000, 300_000, Step::Sparse),
        ("5 % of the edges", 9_000, 500_000, Step::Hybrid),
        ("10 % of the edges", 9_000, 1_000_000, Step::Dense),
        ("90 % of the edges", 9_000, 9_000_000, Step::BlockDense),
    ];
    for (name, nodes, edges, next) in table {
        let drive = after_push((nodes, edges), &pulling());
        assert_eq!(Step::from_word(drive.next), Some(next), "{name}");
        assert_eq!((drive.step, drive.converged), (START.step + 1, 0), "{name}");
    }
}

#[test]
fn policies_rule_shapes_out_or_in() {
    let (wide, narrow) = ((9_000, 1_000_000), (10, 20));
    let table = [
        ("pulls", wide, pulling(), Step::Dense),
        ("no pulls", wide, SearchPolicy::default(), Step::Sparse),
        ("forced", narrow, forcing(Topology::Dense), Step::Dense),
        ("forced", narrow, forcing(Topology::Fused), Step::Fused),
        ("too wide", wide, forcing(Topology::Fused), Step::WarpSparse),
    ];
    for (name, queued, policy, next) in table {
        let drive = after_push(queued, &policy);
        assert_eq!(Step::from_word(drive.next), Some(next), "{name}");
    }
}

#[test]
fn threads_sort_wide_pushes_into_bins() {
    let least = bins::EDGES_LEAST;
    let pushes = SearchPolicy::default();
    let table = [
        ("too few edges", (9_000, least - 1), pushes, Step::Sparse),
        ("high degree", (9_000, least), pushes, Step::Hybrid),
        ("low degree", (90_000, least), pushes, Step::Hybrid),
        ("without pulls", (9_000, 1_000_000), pushes, Step::Hybrid),
        ("pulls", (9_000, 1_000_000), pulling(), Step::Dense),
        (
            "forced",
            (9_000, least),
            forcing(Topology::Sparse),
            Step::Sparse,
        ),
    ];
    for (name, queued, policy, next) in table {
        let push = (Step::Sparse, Holder::Queue);
        let drive = after_on::<HostGrid<false>>(push.0, push.1, &found(queued, (0, 0)), &policy);
        assert_eq!(Step::from_word(drive.next), Some(next), "{name}");
    }
}

#[test]
fn bits_are_compacted_before_a_push_reads_them() {
    let (few, many) = ((50, 100), (9_000, 1_000_000));
    let pull = (Step::Dense, Holder::Visited);
    let compaction = (Step::Compact, Holder::Visited);
    let table = [
        ((Step::Hybrid, Holder::Queue), (0, 0), Step::Compact),
        (pull, few, Step::Compact),
        (pull, many, Step::Dense),
        (compaction, (0, 0), Step::Fused),
    ];
    for (done, marked, next) in table {
        let drive = after(done, &found(few, marked), &pulling());
        assert_eq!(Step::from_word(drive.next), Some(next), "{done:?}");
    }
}

#[test]
fn each_step_leaves_the_frontier_where_the_next_one_finds_it() {
    use Holder::{Next, Queue, Visited};
    const ALL: u32 = START.unexplored_edges;
    // Step and holder before it; then holder, queue, visited bitset, iteration, and nodes,
    // edges and unexplored edges.
    let table = [
        (
            Step::WarpSparse,
            Queue,
            (Queue, 1, 0, 4),
            (20, 300, ALL - 300),
        ),
        (Step::Sparse, Queue, (Queue, 1, 0, 4), (20, 300, ALL - 300)),
        (Step::Fused, Queue, (Queue, 1, 0, 4), (20, 300, ALL - 300)),
        (Step::Hybrid, Queue, (Next, 0, 0, 4), (0, 0, ALL)),
        (Step::Compact, Next, (Queue, 1, 0, 3), (20, 300, ALL - 300)),
        (Step::Compact, Visited, (Queue, 1, 0, 3), (20, 300, ALL)),
        (
            Step::Dense,
            Visited,
            (Visited, 0, 1, 4),
            (30, 400, ALL - 400),
        ),
        (
            Step::BlockDense,
            Queue,
            (Visited, 0, 1, 4),
            (30, 400, ALL - 400),
        ),
    ];
    let found = found((20, 300), (30, 400));
    for (step, holder, place, counts) in table {
        let drive = after((step, holder), &found, &pulling());
        let now = Holder::from_word(drive.holder).expect("a holder");
        let left = (now, drive.queue, drive.visited, drive.iteration);
        assert_eq!(left, place, "{step:?} from {holder:?}");
        let left = (drive.nodes, drive.edges, drive.unexplored_edges);
        assert_eq!(left, counts, "{step:?} from {holder:?}");
    }
}

#[test]
fn a_search_ends_without_edges_and_not_before_its_marks_are_compacted() {
    let ended = after_push((0, 0), &pulling());
    assert_eq!((ended.converged, ended.iteration), (1, 4));
    assert!(is_over(&ended, u32::MAX));

    let limit = START.iteration + 1;
    let pushed = after_push((20, 300), &pulling());
    assert!(is_over(&pushed, limit) && !is_over(&pushed, limit + 1));
    let nothing = FoundRecord::default();
    let mut hybrid = after((Step::Hybrid, Holder::Queue), &nothing, &pulling());
    assert!(
        !is_over(&hybrid, limit),
        "its marks are in no visited bitset"
    );
    advance::<HostGrid>(&mut hybrid, &found((20, 300), (0, 0)), &pulling());
    assert!(is_over(&hybrid, limit));
}

#[test]
fn a_word_that_names_no_step_counts_as_a_push() {
    let mut drive = DriveRecord { next: 99, ..START };
    advance::<HostGrid>(&mut drive, &found((10, 20), (0, 0)), &pulling());
    assert_eq!(drive, after_push((10, 20), &pulling()));
}

#[test]
fn the_largest_frontier_is_kept() {
    assert_eq!(after_push((3, 9), &pulling()).frontier_max, 7);
    assert_eq!(after_push((8, 9), &pulling()).frontier_max, 8);
}

#[test]
fn a_thread_alone_leaves_its_queue_where_a_pull_may_pay() {
    let shared = policy_for::<HostGrid>(&SearchPolicy::default(), 6);
    let limits = (shared.narrow_nodes, shared.narrow_exit_nodes);
    assert_eq!((limits, shared.narrow_edges), ((5_376, 6_144), 49_152));
    let alone = policy_for::<HostGrid>(&pulling(), u32::MAX);
    assert_eq!((alone.narrow_nodes, alone.narrow_edges), (u32::MAX, 65_536));
}

/// The reason of the step after a push from queue to queue.
fn reason_after(queued: (u32, u32), policy: &SearchPolicy) -> Option<StepReason> {
    StepReason::from_word(after_push(queued, policy).reason)
}

#[test]
fn pressures_come_from_the_policy_and_from_counters() {
    let wide = DriveRecord {
        nodes: 2_000,
        edges: 100_000,
        ..START
    };
    let policy = SearchPolicy {
        memory_pressure_bps: 8_600,
        readback_bytes: 72,
        step_ns: 3_000,
        edge_ps: 10,
        narrow_nodes: 1_000,
        narrow_edges: 40_000,
        ..pulling()
    };
    let seen = metrics(&wide, &policy);
    assert_eq!((seen.memory_pressure_bps, seen.readback_bytes), (8_600, 72));
    // 3 µs beside 1 µs of edges; four tenths of the edges fit, half of the nodes.
    assert_eq!(
        (seen.launch_pressure_bps, seen.fusion_pressure_bps),
        (30_000, 4_000)
    );
    let unknown = SearchPolicy {
        edge_ps: 0,
        ..policy
    };
    assert_eq!(metrics(&wide, &unknown).launch_pressure_bps, 0);
    let free = SearchPolicy {
        edge_ps: 1,
        step_ns: u32::MAX,
        ..policy
    };
    assert!(metrics(&wide, &free).launch_pressure_bps > 1_000_000);
}

#[test]
fn each_choice_leaves_its_reason() {
    let (wide, narrow) = ((9_000, 1_000_000), (10, 20));
    let full = SearchPolicy {
        memory_pressure_bps: 9_000,
        ..pulling()
    };
    let table = [
        (narrow, pulling(), StepReason::NarrowFrontier),
        (narrow, full, StepReason::NarrowFrontier),
        (narrow, forcing(Topology::Dense), StepReason::Requested),
        (
            (20_000, 30_000),
            pulling(),
            StepReason::TooFewEdgesForASweep,
        ),
        (
            (20_000, 30_000),
            full,
            StepReason::Planned(Reason::MemoryPressureSparseSafety),
        ),
        (
            wide,
            pulling(),
            StepReason::Planned(Reason::DenseCoalescedFrontier),
        ),
        (
            wide,
            full,
            StepReason::Planned(Reason::MemoryPressureSparseSafety),
        ),
    ];
    for (queued, policy, reason) in table {
        assert_eq!(reason_after(queued, &policy), Some(reason), "{queued:?}");
    }
}

#[test]
fn a_search_that_would_read_back_much_is_fused_and_stays_so_for_longer() {
    let policy = SearchPolicy {
        readback_bytes: 4_096,
        step_ns: 10_000,
        edge_ps: 10,
        narrow_nodes: 100_000,
        narrow_edges: 65_000,
        ..pulling()
    };
    let fused = Some(StepReason::Planned(Reason::LaunchAndReadbackPressureFused));
    // Three quarters of the edges fit, then two thirds.
    let (most, fewer) = ((100, 86_000), (100, 100_000));
    assert_eq!(reason_after(most, &policy), fused);
    assert_ne!(reason_after(fewer, &policy), fused);
    let mut drive = DriveRecord {
        topology: Topology::Fused as u32,
        nodes: fewer.0,
        edges: fewer.1,
        ..START
    };
    choose::<HostGrid>(&mut drive, &policy);
    let held = StepReason::Planned(Reason::HeldByHysteresis);
    assert_eq!(drive.reason, held.word());
    assert_eq!(drive.topology, Topology::Fused as u32);
}
