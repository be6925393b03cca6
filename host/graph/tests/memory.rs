//! Peak memory of making graphs, by a counting allocator.
//!
//! One test, so that nothing else allocates meanwhile.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use seawall_graph::{Graph, LoadOptions, WeightChoice, load};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

fn grow(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

// SAFETY: every call is handed to the system's allocator unchanged; counting touches two atomic
// words.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promises about `layout` are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        grow(bytes.saturating_sub(layout.size()));
        LIVE.fetch_sub(layout.size().saturating_sub(bytes), Ordering::Relaxed);
        // SAFETY: the block came from `alloc`, hence from the system's allocator.
        unsafe { System.realloc(pointer, layout, bytes) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the block came from `alloc` above, hence from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Memory of the threads themselves.
const FIXED_BYTES: usize = 1 << 20;

/// Checks that making a graph takes at most 2.2 times its memory.
#[track_caller]
fn check(name: &str, load: impl FnOnce() -> Graph) {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let graph = load();
    let peak = PEAK.load(Ordering::Relaxed) - before;
    let bytes = graph.memory_bytes();
    assert!(bytes > 3 << 20, "{name}: {bytes} bytes are few");
    let bound = bytes / 10 * 22 + FIXED_BYTES;
    assert!(peak <= bound, "{name}: {peak} bytes for {bytes}");
}

#[test]
fn making_a_graph_takes_at_most_2_2_times_its_memory() {
    let generated = |spec: &str, weights| {
        let options = LoadOptions {
            weights,
            ..LoadOptions::default()
        };
        load(spec, &options, None).unwrap().graph
    };
    // Threads of the pool are started before anything is counted.
    let rmat = generated("gen:rmat:16:16", WeightChoice::Ignored);
    for spec in [
        "gen:rmat:17:16",
        "gen:rmat-directed:17:16",
        "gen:uniform:17:8",
        "gen:rmat:14:128",
        "gen:grid:700",
        "gen:chain:1000000",
    ] {
        check(spec, || generated(spec, WeightChoice::Ignored));
        check(spec, || generated(spec, WeightChoice::Given));
    }
    for is_undirected in [false, true] {
        let ends = |from: u32| {
            let row = rmat.neighbours(from).iter();
            row.map(move |&to| (to, from, (from ^ to) % 100))
        };
        let edges: Vec<_> = (0..rmat.nodes()).flat_map(ends).collect();
        let name = format!("edges in memory, undirected {is_undirected}");
        check(&name, || {
            Graph::from_weighted_edges(rmat.nodes(), &edges, is_undirected).unwrap()
        });
    }
}
