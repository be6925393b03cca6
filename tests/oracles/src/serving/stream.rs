//! The kernel of a stream on simulated warps: blocks of many lanes, each a thread.

use crate::lanes;
use crate::random::Random;
use seawall::graph::Graph;
use seawall_core::abi::VERSION;
use seawall_core::abi::stream::{
    MAGIC, POST_WORDS, StreamBoard, StreamKind, StreamOrder, StreamPost, StreamRecord, StreamState,
    TURN_WORDS,
};
use seawall_device::algorithms::rank::scale::{Scale, units};
use seawall_device::resident::stream::{Stream, stream};
use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Posts in flight.
const POSTS: u32 = 2;
/// Bytes of a window, as a power of two: 16,384 edges, four slices.
const SHIFT: u32 = 16;
/// Units of shares in 1, as a power of two.
const EXPONENT: u32 = 50;
/// Longer than a ticket takes here.
const LONG: Duration = Duration::from_secs(100);

const BOARD_WORDS: usize = size_of::<StreamBoard>() / 4;
const STATE_WORDS: usize = size_of::<StreamState>() / 4;

/// Words in pairs, so that pairs are aligned.
struct Memory(Vec<u64>);

impl Memory {
    fn of(words: &[u32]) -> Self {
        let mut pairs = vec![0; words.len().div_ceil(2)];
        bytemuck::cast_slice_mut(&mut pairs)[..words.len()].copy_from_slice(words);
        Self(pairs)
    }

    fn zeros(words: usize) -> Self {
        Self(vec![0; words.div_ceil(2)])
    }

    fn address(&mut self) -> u64 {
        self.0.as_mut_ptr().expose_provenance() as u64
    }
}

/// A host that posts windows and steps.
struct Host<'a> {
    board: &'a [AtomicU32],
    graph: &'a Graph,
    is_weighted: bool,
    ticket: u32,
    step: u32,
    came: bool,
}

macro_rules! word {
    ($field:ident) => {
        offset_of!(StreamBoard, $field) / 4
    };
}

impl Host<'_> {
    fn load(&self, at: usize) -> u32 {
        self.board[at].load(Ordering::Acquire)
    }

    fn post(&mut self, post: StreamPost) {
        self.ticket += 1;
        // The turn is free then.
        self.wait(self.ticket.saturating_sub(POSTS));
        let first = BOARD_WORDS + ((self.ticket - 1) % POSTS * POST_WORDS) as usize;
        let posts = [post];
        let words: &[u32] = bytemuck::cast_slice(&posts);
        for (place, word) in self.board[first..].iter().zip(words).skip(1) {
            place.store(*word, Ordering::Relaxed);
        }
        self.board[first].store(self.ticket, Ordering::Release);
    }

    fn wait(&self, ticket: u32) {
        let began = Instant::now();
        while self.load(word!(consumed)) < ticket {
            assert!(began.elapsed() < LONG, "ticket {ticket} takes too long");
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    /// All windows, two at a time.
    fn pass(&mut self) {
        let each = 1_u32 << (SHIFT - 2);
        for window in 0..self.graph.edges().div_ceil(each) {
            let first = window * each;
            let end = self.graph.edges().min(first + each);
            let of = |words: &[u32]| words[first as usize..].as_ptr().expose_provenance() as u64;
            let weights = self.graph.weights().filter(|_| self.is_weighted);
            self.post(StreamPost {
                order: StreamOrder::Window as u32,
                number: window,
                edges: end - first,
                first_edge: first.into(),
                first_row: 0,
                end_row: self.graph.nodes(),
                targets: of(self.graph.targets()),
                weights: weights.map_or(0, of),
                checks: u32::from(!self.came),
                waits: u32::from(window == 0),
                ..StreamPost::default()
            });
        }
        self.came = true;
    }

    fn step(&mut self) {
        self.step += 1;
        self.post(StreamPost {
            order: StreamOrder::Step as u32,
            number: self.step,
            waits: 1,
            ..StreamPost::default()
        });
        self.wait(self.ticket);
        assert_eq!(self.load(word!(fault)), 0, "no edge is invalid");
    }
}

/// Runs a kind of stream with values of nodes from `values` on; calls `drive`, and returns the
/// values.
fn run(
    graph: &Graph,
    kind: StreamKind,
    values: &[u32],
    shares: &[u32],
    dangling: u64,
    drive: impl FnOnce(&mut Host<'_>),
) -> Vec<u32> {
    let nodes = graph.nodes();
    let windows = graph.edges().div_ceil(1 << (SHIFT - 2));
    let board_words = BOARD_WORDS + (POSTS * POST_WORDS + windows) as usize;
    let board: Vec<_> = (0..board_words).map(|_| AtomicU32::new(0)).collect();
    let mut totals = StreamState::default();
    totals.totals[..2].copy_from_slice(&[dangling as u32, (dangling >> 32) as u32]);
    let mut state = vec![0; STATE_WORDS + (POSTS * TURN_WORDS) as usize];
    state[..STATE_WORDS].copy_from_slice(bytemuck::cast_slice(&[totals]));
    let work_words = nodes.div_ceil(32) as usize;
    let mut work = vec![0; 2 * work_words];
    // Node 0 is the source.
    work[work_words] = 1;
    let [mut state, mut own, mut work] = [&state[..], values, &work[..]].map(Memory::of);
    let mut shares = Memory::of(shares);
    let mut sums = Memory::zeros(2 * nodes as usize);
    let mut seen = Memory::zeros(3 * windows as usize);
    let record = StreamRecord {
        magic: MAGIC,
        version: VERSION,
        kind: kind as u32,
        nodes,
        windows,
        posts: POSTS,
        shift: SHIFT,
        limit: u32::MAX,
        damping: 0.85_f32.to_bits(),
        exponent: EXPONENT,
        shares: shares.address(),
        seed: 7,
        starts: graph.offsets().as_ptr().expose_provenance() as u64,
        board: board.as_ptr().expose_provenance() as u64,
        state: state.address(),
        values: own.address(),
        sums: sums.address(),
        work: work.address(),
        seen: seen.address(),
        time_ns: LONG.as_nanos() as u64,
        ..StreamRecord::default()
    };
    std::thread::scope(|scope| {
        let record = &record;
        scope.spawn(move || {
            lanes::each(3, 64, 0, |grid| {
                // SAFETY: all memory of the record outlives the scope, with these lengths.
                let served = unsafe { Stream::new(record) };
                stream(grid, served);
            });
        });
        let mut host = Host {
            board: &board,
            graph,
            is_weighted: kind == StreamKind::Whole,
            ticket: 0,
            step: 0,
            came: false,
        };
        let caught = std::panic::AssertUnwindSafe(|| drive(&mut host));
        let ends = std::panic::catch_unwind(caught);
        board[word!(end)].store(1, Ordering::Release);
        if let Err(panic) = ends {
            std::panic::resume_unwind(panic);
        }
    });
    let words: &[u32] = bytemuck::cast_slice(&own.0);
    words[..nodes as usize].to_vec()
}

/// Lowers values until none falls.
fn fall(host: &mut Host<'_>) {
    host.step();
    while host.load(word!(busy)) == host.step {
        host.pass();
        host.step();
    }
}

/// A graph with hubs that are longer than a slice, and nodes without edges.
fn graph() -> Graph {
    let mut random = Random::new(5);
    let nodes = 6_000;
    let mut edges: Vec<_> = (1..5_500).map(|node| (0, node, 1 + node % 7)).collect();
    edges.extend((1..5_000).map(|node| (node, node + 1, 1)));
    edges.extend((0..9_000).map(|_| {
        let [from, to] = [0, 1].map(|_| random.below(5_900));
        (from, to, 1 + random.below(50))
    }));
    // Streams accept no loops and no parallel edges.
    edges.retain(|(from, to, _)| from != to);
    edges.sort_unstable();
    edges.dedup_by_key(|(from, to, _)| (*from, *to));
    Graph::from_weighted_edges(nodes, &edges, false).expect("a small graph")
}

/// Levels, distances, components and ranks are those of plain implementations.
///
/// # Panics
/// If they are not.
pub fn check() {
    let graph = graph();
    let nodes = graph.nodes() as usize;
    let mut far = vec![u32::MAX; nodes];
    far[0] = 0;
    let levels = run(&graph, StreamKind::Levels, &far, &[], 0, fall);
    assert_eq!(
        levels,
        seawall::analysis::oracle::levels(&graph, &[0], u32::MAX)
    );
    let lengths = run(&graph, StreamKind::Whole, &far, &[], 0, fall);
    let expected = seawall::analysis::oracle::distances(&graph, &[0]);
    assert_eq!(seawall::outcome::Column::U32(lengths), expected);

    let own: Vec<u32> = (0..graph.nodes()).collect();
    let mut trees = run(&graph, StreamKind::Link, &own, &[], 0, |host| {
        host.pass();
        host.step();
    });
    for node in 0..nodes {
        trees[node] = trees[trees[node] as usize];
    }
    assert_eq!(trees, seawall::analysis::oracle::components(&graph));
    ranks(&graph, StreamKind::Push);
    let pairs = (0..graph.nodes()).flat_map(|node| {
        let row = graph.neighbours(node).iter();
        row.map(move |to| (node, *to))
    });
    let pairs: Vec<_> = pairs.collect();
    let mirrored = Graph::from_edges(graph.nodes(), &pairs, true).expect("a small graph");
    ranks(&mirrored, StreamKind::Pull);
}

/// Three iterations, beside sums of doubles.
fn ranks(graph: &Graph, kind: StreamKind) {
    let nodes = graph.nodes() as usize;
    let rank = 1.0 / nodes as f32;
    let degree = |node: usize| graph.neighbours(node as u32).len();
    let without = (0..nodes).filter(|node| degree(*node) == 0).count() as u64;
    let scale = Scale::of(EXPONENT);
    let share = |node| scale.whole(rank / degree(node) as f32).to_bits();
    let shares: Vec<u32> = (0..nodes).map(share).collect();
    let ranks = vec![rank.to_bits(); nodes];
    let dangling = without * units(rank);
    let mut change = 0.0;
    let found = run(graph, kind, &ranks, &shares, dangling, |host| {
        for _ in 0..3 {
            host.pass();
            host.step();
        }
        if kind == StreamKind::Pull {
            assert_eq!(host.load(word!(balance)), 0, "all edges have mirror images");
        }
        let halves = [0, 1].map(|half| u64::from(host.load(word!(change) + half)));
        change = (halves[0] | halves[1] << 32) as f64 / (1_u64 << 60) as f64;
    });
    let mut ranks = vec![1.0 / nodes as f64; nodes];
    let mut last = 0.0;
    for _ in 0..3 {
        let lost: f64 = (0..nodes)
            .filter(|at| degree(*at) == 0)
            .map(|at| ranks[at])
            .sum();
        let mut next = vec![(0.15 + 0.85 * lost) / nodes as f64; nodes];
        for (node, rank) in ranks.iter().enumerate() {
            for to in graph.neighbours(node as u32) {
                next[*to as usize] += 0.85 * rank / degree(node) as f64;
            }
        }
        last = ranks.iter().zip(&next).map(|(a, b)| (a - b).abs()).sum();
        ranks = next;
    }
    for (found, expected) in found.iter().zip(&ranks) {
        let found = f64::from(f32::from_bits(*found));
        assert!(
            (found - expected).abs() < 1e-6,
            "{found} and not {expected}"
        );
    }
    assert!((change - last).abs() < 1e-5, "{change} and not {last}");
}
