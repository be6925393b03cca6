//! The planner and its policies allocate nothing, as a counting allocator shows.
//!
//! Counts are kept per thread, so that concurrent tests do not affect them.

use seawall_core::cache::{AnalysisKind, DeviceKey, Identity, PlanCache, Subject};
use seawall_core::evidence::{Sample, verify, verify_csv, write_csv};
use seawall_core::launch::{AdapterLimits, LaunchPolicy, LaunchRequest};
use seawall_core::plan::{
    ArenaOptions, Budget, Dag, Dependency, Strategy, Wave, arena, groups, layers,
};
use seawall_core::scratch::{ArenaScratch, GroupScratch, Scratch};
use seawall_core::session::SessionProfile;
use seawall_core::topology::memory::{ExecutionRequest, Footprint};
use seawall_core::topology::{Signals, Topology, TopologyPolicy};
use seawall_core::tuning::{Diffusion, SiblingGraph, decay, diffuse};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::{self, Write};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is handed to the system's allocator unchanged; counting touches a
// thread-local cell without a destructor, which neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises about `layout` are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the block came from `alloc`, hence from the system's allocator.
        unsafe { System.realloc(pointer, layout, bytes) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the block came from `alloc` above, hence from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Counts the allocations of this thread while `work` runs.
fn allocations_of(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    work();
    ALLOCATIONS.with(Cell::get) - before
}

/// A sink of fixed size.
struct Page {
    bytes: [u8; 2048],
    len: usize,
}

impl Write for Page {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        let space = self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?;
        space.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

impl Page {
    const fn new() -> Self {
        Self {
            bytes: [0; 2048],
            len: 0,
        }
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).unwrap()
    }
}

#[test]
fn the_count_counts() {
    assert_eq!(
        allocations_of(|| drop(std::hint::black_box(Box::new(7)))),
        1
    );
}

#[test]
fn planning_allocates_nothing() {
    let wave = Wave {
        frontier_bytes: 40,
        scratch_bytes: 5,
        output_bytes: 30,
    };
    let (waves, edge) = ([wave; 8], |before, after| Dependency { before, after });
    let cycle = [edge(0, 1), edge(1, 0)];
    let dag = Dag {
        waves: &waves,
        dependencies: &[edge(7, 0), edge(0, 3), edge(2, 3), edge(3, 5)],
    };
    let budget = Budget {
        budget_bytes: 200,
        ..Budget::default()
    };
    let count = allocations_of(|| {
        let (mut first, mut second) = (Scratch::<8, 4>::new(), GroupScratch::<8, 4>::new());
        assert_eq!(layers(&dag, &mut first).unwrap().len(), 4);
        let in_order = groups(&dag, &budget, Strategy::InOrder, &mut first).unwrap();
        let packed = groups(&dag, &budget, Strategy::Packed, &mut second).unwrap();
        assert!(packed.len() <= in_order.len());
        let mut third = ArenaScratch::<8>::new();
        let arena = arena(&dag, &packed, &ArenaOptions::default(), &mut third).unwrap();
        assert!(arena.bytes() >= arena.lower_bound());
        let circle = Dag {
            waves: &waves,
            dependencies: &cycle,
        };
        let refused = layers(&circle, &mut Scratch::<8, 4>::new()).unwrap_err();
        write!(Page::new(), "{refused}").unwrap();
    });
    assert_eq!(count, 0);
}

#[test]
fn choosing_and_caching_allocate_nothing() {
    let count = allocations_of(|| {
        let mut cache = PlanCache::<4>::new(TopologyPolicy::DEFAULT);
        let request = ExecutionRequest {
            footprint: Footprint {
                nodes: 9,
                edges: 9,
                budget_bytes: 64,
                ..Footprint::default()
            },
            ..ExecutionRequest::default()
        };
        for graph_layout_hash in 0..10 {
            let (analysis, device) = (AnalysisKind::Ifds, DeviceKey::default());
            let identity = Identity {
                graph_layout_hash,
                analysis,
                device,
            };
            let mut subject = Subject::new(identity);
            let decision = cache.select(&mut subject, &Signals::default());
            write!(Page::new(), "{decision}").unwrap();
            assert_eq!(decision.topology, Topology::WarpSparse);
            assert!(cache.plan(&mut subject, &request).is_ok());
        }
        assert_eq!(cache.counters().evictions, 6);
    });
    assert_eq!(count, 0);
}

#[test]
fn launching_and_staying_resident_allocate_nothing() {
    let limits = AdapterLimits {
        max_workgroup_size_x: 256,
        max_compute_workgroups_per_dimension: 1 << 16,
        max_compute_invocations_per_workgroup: 256,
    };
    let count = allocations_of(|| {
        let request = LaunchRequest {
            queue_len: 1 << 20,
            limits,
            ..LaunchRequest::default()
        };
        assert!(LaunchPolicy::STANDARD.plan(&request, None).is_ok());
        let refused = LaunchPolicy::STANDARD
            .plan(&LaunchRequest::default(), None)
            .unwrap_err();
        write!(Page::new(), "{refused}").unwrap();
        let profile = SessionProfile {
            graph_layout_hash: 1,
            ..SessionProfile::default()
        };
        write!(Page::new(), "{}", profile.plan().unwrap_err()).unwrap();
    });
    assert_eq!(count, 0);
}

#[test]
fn evidence_and_tuning_allocate_nothing() {
    let sample = Sample {
        backend_id: "cuda",
        device_ordinal: 0,
        device_memory_bytes: 80 << 30,
        compute_capability_major: 9,
        compute_capability_minor: 0,
        graph_nodes: 1 << 20,
        graph_edges: 1 << 24,
        repetitions: 64,
        host_orchestrated_ns: 3.25e6,
        resident_megakernel_ns: 1.5e5,
        setup_ns: 1e-3,
        timed_graph_uploads: 0,
        timed_host_allocations: 0,
        timed_host_syncs: 0,
    };
    let samples = [
        sample,
        Sample {
            repetitions: 128,
            ..sample
        },
    ];
    let count = allocations_of(|| {
        let mut page = Page::new();
        write_csv(&mut page, &samples).unwrap();
        let proof = verify_csv(page.text(), 2.0).unwrap();
        assert_eq!(Ok(proof), verify(&samples, 2.0));
        let mut priorities = [4.0, 2.0];
        decay(&mut priorities, &[0.5, 0.5], 1.0, 2).unwrap();
        let pair = SiblingGraph::new(&[0, 1, 2], &[1, 0]).unwrap();
        let once = Diffusion {
            damping: 0.5,
            iterations: 1,
        };
        diffuse(&pair, once, &mut priorities, &mut [0.0; 2]).unwrap();
        assert_eq!(priorities, [0.75, 0.75]);
    });
    assert_eq!(count, 0);
}
