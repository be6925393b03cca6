//! The kernel of a service on simulated warps: blocks of many lanes, each a thread.
//!
//! There is no service here, only its operations: slots are reserved, posted and polled.

use crate::lanes;
use seawall::graph::Graph;
use seawall_core::abi::VERSION;
use seawall_core::abi::ring::{
    CompletionRecord, ControlBlock, Kind, Shutdown, SlotRecord, Status, TenantRecord,
};
use seawall_core::abi::serve::{MAGIC, POST_WORDS, PostRecord, ServeRecord, ServeState};
use seawall_core::protocol::{Layout, Read, Ring, Scope, Setup, Site, Swap, Update, Words, Write};
use seawall_device::resident::serve::{Serve, scratch_words, serve};
use seawall_device::scheduler::sets::All;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Posts of the queue.
const POSTS: u32 = 64;
/// Longer than any query takes here.
const LONG: Duration = Duration::from_secs(100);

struct Memory(Vec<AtomicU32>);

impl Memory {
    fn new(words: u64) -> Self {
        Self((0..words).map(|_| AtomicU32::new(0)).collect())
    }

    fn address(&self) -> u64 {
        self.0.as_ptr().expose_provenance() as u64
    }
}

impl Words for Memory {
    fn load(&self, at: u32, _: Read, _: Scope) -> u32 {
        self.0[at as usize].load(Ordering::Acquire)
    }
    fn store(&self, at: u32, value: u32, _: Write, _: Scope) {
        self.0[at as usize].store(value, Ordering::Release);
    }
    fn swap_if(&self, at: u32, swap: Swap, _: Update, _: Scope) -> u32 {
        let order = Ordering::SeqCst;
        self.0[at as usize]
            .compare_exchange(swap.expected, swap.value, order, order)
            .unwrap_or_else(|found| found)
    }
    fn add(&self, at: u32, value: u32, _: Update, _: Scope) -> u32 {
        self.0[at as usize].fetch_add(value, Ordering::SeqCst)
    }
}

/// A host that posts.
struct Host<'a> {
    ring: Ring<'a, Memory>,
    posts: &'a Memory,
    next: u32,
}

impl Host<'_> {
    /// Posts to a slot.
    fn post(&mut self, index: u32, kind: Kind, arguments: &[u32]) {
        assert!(self.ring.reserve(index));
        let mut slot = SlotRecord {
            opcode: kind.opcode(),
            tenant: 1,
            priority: 2,
            ..SlotRecord::default()
        };
        slot.arguments[..arguments.len()].copy_from_slice(arguments);
        slot.arguments[11] = 1000 + self.next;
        self.ring.mark_posted(index);
        let words: [u32; POST_WORDS as usize] =
            words_of(PostRecord::sealed(index, &slot, self.next));
        let first = (self.next % POSTS) * POST_WORDS;
        for (at, word) in (first..).zip(words) {
            self.posts
                .store(at, word, Write::Release(Site::Machine), Scope::System);
        }
        self.next += 1;
    }

    fn answer(&self, index: u32) -> CompletionRecord {
        let began = Instant::now();
        loop {
            if let Some(record) = self.ring.ended(index) {
                self.ring.release(index);
                return record;
            }
            assert!(began.elapsed() < LONG, "no answer in slot {index}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The words of a post.
fn words_of(post: PostRecord) -> [u32; POST_WORDS as usize] {
    let mut words = [0; POST_WORDS as usize];
    let head = [
        post.stamp,
        post.index,
        post.opcode,
        post.tenant,
        post.priority,
    ];
    words[..5].copy_from_slice(&head);
    words[5..17].copy_from_slice(&post.arguments);
    words
}

/// Runs queries of every path through the kernel, by blocks of four warps, of which three poll for
/// posts.
///
/// # Panics
/// If an answer differs, or lanes do not meet.
pub fn check() {
    let graph = graph();
    let layout = Layout::new([2, 2, 20, 2, 2], 4, 256).expect("a small ring");
    let (ring, posts) = (
        Memory::new(layout.words().into()),
        Memory::new((POSTS * POST_WORDS).into()),
    );
    let tenants = [
        TenantRecord::default(),
        TenantRecord {
            mask: Kind::TENANT_MASK,
            quota: 9,
            window_words: 256,
            ..TenantRecord::default()
        },
    ];
    let view = Ring::new(&ring, layout);
    view.format(&Setup {
        tenants: &tenants,
        workers: 1,
        ageing_after: 16,
    });
    let control = (size_of::<ControlBlock>() / 4) as u32;
    let own = layout.completion(0) + (size_of::<ServeState>() / 4) as u32;
    let device = Memory::new(own.into());
    for at in 0..control {
        device.0[at as usize].store(
            ring.0[at as usize].load(Ordering::Relaxed),
            Ordering::Relaxed,
        );
    }
    let scratch = Memory::new(scratch_words(graph.nodes()) + 2);
    let record = record_of(&graph, layout, [&ring, &device, &posts, &scratch]);
    std::thread::scope(|scope| {
        let record = &record;
        scope.spawn(move || {
            lanes::each(3, 128, 0, |grid| {
                // SAFETY: all memory of the record outlives the scope, with these lengths.
                let served = unsafe { Serve::new(record) };
                serve::<_, All>(grid, served);
            });
        });
        let mut host = Host {
            ring: view,
            posts: &posts,
            next: 0,
        };
        let ends = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ask(&mut host)));
        view.shut_down(Shutdown::Now);
        if let Err(panic) = ends {
            std::panic::resume_unwind(panic);
        }
    });
    let control = view.control();
    assert_eq!((control.done, control.faults), (23, 1));
    assert_eq!(control.tenants[1].running, 0);
}

fn record_of(
    graph: &Graph,
    layout: Layout,
    [ring, device, posts, scratch]: [&Memory; 4],
) -> ServeRecord {
    let address = |words: &[u32]| words.as_ptr().expose_provenance() as u64;
    ServeRecord {
        magic: MAGIC,
        version: VERSION,
        levels: layout.levels(),
        prints: layout.prints(),
        window_words: layout.window_words(),
        dispatchers: 1,
        posts_each: POSTS,
        nodes: graph.nodes(),
        edges: graph.edges(),
        is_weighted: 1,
        host: ring.address(),
        device: device.address(),
        posts: posts.address(),
        offsets: address(graph.offsets()),
        targets: address(graph.targets()),
        weights: address(graph.weights().unwrap_or(&[])),
        incoming_offsets: address(graph.incoming().offsets()),
        incoming_targets: address(graph.incoming().targets()),
        // Pairs of words are aligned.
        scratch: scratch.address().next_multiple_of(8),
        scratch_stride: 0,
        slot_budget_ns: LONG.as_nanos() as u64,
        ..ServeRecord::default()
    }
}

/// A hub with 100 leaves that lead to a path, backwards too, with weights.
fn graph() -> Graph {
    let mut edges = Vec::new();
    for leaf in 1..=100 {
        edges.push((0, leaf, leaf));
        edges.push((leaf, 101, 200 - leaf));
    }
    edges.extend((101..110).map(|node| (node, node + 1, u32::MAX)));
    Graph::from_weighted_edges(112, &edges, false).expect("a small graph")
}

fn ask(host: &mut Host<'_>) {
    // More at once than a poll takes.
    for index in 4..16 {
        host.post(index, Kind::Add, &[3, index]);
    }
    let sums: u32 = (4..16).map(|index| host.answer(index).task - 1000).sum();
    assert_eq!(sums, 66);
    let far = u64::from(u32::MAX) * 9 + 200;
    for (kind, arguments, expected) in [
        (Kind::Load, vec![3], vec![114]),
        (Kind::Reach, vec![0, 110], vec![1, 0, 0]),
        (Kind::Reach, vec![110, 0], vec![0, 0, 0]),
        (Kind::Distance, vec![0, 110, 0], vec![1, 11, 0]),
        (
            Kind::Distance,
            vec![0, 110, 1],
            vec![1, far as u32, (far >> 32) as u32],
        ),
        (Kind::Distance, vec![0, 111, 1], vec![0, 0, 0]),
        (Kind::Neighbours, vec![0, 20, 90], vec![90, 10, 0]),
        (Kind::Copy, vec![20, 150, 90], vec![0]),
        (Kind::Load, vec![239], vec![90]),
        (Kind::Nop, vec![], vec![0]),
    ] {
        host.post(5, kind, &arguments);
        let record = host.answer(5);
        assert_eq!(record.status, Status::Done as u32, "{kind:?}: {record:?}");
        let found = &record.results[..expected.len()];
        assert_eq!(found, expected, "{kind:?} {arguments:?}");
    }
    host.post(5, Kind::Reach, &[112, 0]);
    let record = host.answer(5);
    assert_eq!(record.status, Status::Fault as u32);
}
