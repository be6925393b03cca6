//! Edges sorted into parts of consecutive rows, in the order in which threads make them.
//!
//! In an array larger than the caches, each access out of order waits for memory. So a thread
//! buffers some edges for each part and hands them over together. A part's edges fit a cache, where
//! accesses out of order cost little. An edge takes six bytes: its row within the part, and its
//! end.
//!
//! Edges are listed on lanes. Each lane of a large graph fills separate chunks, so that threads do
//! not contend for a chunk, and a part has the edges of each lane in the order in which they were
//! listed.

use std::iter::{Enumerate, Zip};
use std::slice::ChunksMut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use crate::memory::{self, Shortage};

const PART_EDGES: u64 = 1 << 19;
/// Parts per thread that a smaller graph has, as threads differ in speed.
const PARTS: u64 = 8;
/// With fewer edges, a part is not worth its overhead.
const PART_EDGES_MIN: u64 = 1 << 12;
/// Chunks of a part that a group of lanes fills, on average. The last one is half empty.
const CHUNKS: usize = 32;
/// Fewest edges of a chunk, unless lanes cannot share more: a chunk takes 48 bytes besides.
const CHUNK_EDGES_MIN: usize = 512;
/// Edges that a thread buffers for a part. With 64, each hand-over's wait for the memory costs more
/// than buffers that are larger than the second-level cache.
const HELD: usize = 128;

/// Division of nodes into parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Binary logarithm of the rows of a part.
    row_bits: u32,
    nodes: u32,
}

impl Plan {
    pub(super) fn of(nodes: u32, edges: u64) -> Self {
        let shares = PARTS * rayon::current_num_threads() as u64;
        let parts = (edges / PART_EDGES).max(shares.min(edges / PART_EDGES_MIN));
        let rows = (u64::from(nodes) / parts.max(1)).max(1);
        let row_bits = rows.ilog2().min(u16::BITS);
        Self { row_bits, nodes }
    }

    pub(super) fn parts(&self) -> usize {
        self.nodes.div_ceil(1 << self.row_bits) as usize
    }

    /// Number of lanes, at most `most`, for the lists of `edges` edges: lanes with separate chunks
    /// if these suffice for all threads.
    pub(super) fn lanes(&self, edges: usize, most: usize) -> usize {
        let own = edges / (CHUNKS * self.parts() * CHUNK_EDGES_MIN);
        if own < rayon::current_num_threads() {
            most
        } else {
            own.min(most)
        }
    }

    /// First row of a part; the number of nodes after the last part.
    pub(super) fn first(&self, part: usize) -> u32 {
        let first = (part as u64) << self.row_bits;
        first.min(u64::from(self.nodes)) as u32
    }
}

/// Memory for the edges of all parts.
pub(super) struct Pool {
    plan: Plan,
    /// Groups of lanes, each of which fills separate chunks.
    groups: usize,
    chunk: usize,
    rows: Vec<u16>,
    ends: Vec<u32>,
}

impl Pool {
    /// Takes memory for `edges` edges, listed on `lanes` lanes.
    pub(super) fn new(plan: Plan, edges: usize, lanes: usize) -> Result<Self, Shortage> {
        let piece = edges / (CHUNKS * plan.parts());
        let groups = (piece / CHUNK_EDGES_MIN).clamp(1, lanes.max(1));
        let chunk = (piece / groups / HELD).max(1) * HELD;
        let space = (edges.div_ceil(chunk) + plan.parts() * groups) * chunk;
        Ok(Self {
            plan,
            groups,
            chunk,
            rows: memory::zeroed(space)?,
            ends: memory::zeroed(space)?,
        })
    }

    /// Keeps only the ends.
    pub(super) fn into_ends(self) -> Chunks {
        memory::free(self.rows);
        Chunks {
            chunk: self.chunk,
            ends: self.ends,
        }
    }

    /// Sorts the edges that `list` lists on each of `lanes` lanes into parts.
    pub(super) fn sort(
        &mut self,
        lanes: usize,
        list: impl Fn(usize, &mut Writer<'_, '_>) + Sync,
    ) -> Vec<Part<'_>> {
        let parts = self.plan.parts();
        let group = || (0..parts).map(|_| Mutex::default()).collect();
        let chunks = self.rows.chunks_mut(self.chunk);
        let shared = Parts {
            row_bits: self.plan.row_bits,
            groups: (0..self.groups).map(|_| group()).collect(),
            free: Mutex::new(chunks.zip(self.ends.chunks_mut(self.chunk)).enumerate()),
        };
        let all = (0..lanes).into_par_iter().with_max_len(1);
        all.for_each(|lane| {
            let mut writer = Writer::new(&shared, lane * shared.groups.len() / lanes);
            list(lane, &mut writer);
            writer.finish();
        });
        let mut sorted: Vec<Part<'_>> = (0..parts).map(|_| Part::default()).collect();
        for group in shared.groups {
            for (part, chunks) in sorted.iter_mut().zip(group) {
                let chunks = chunks.into_inner().unwrap_or_else(PoisonError::into_inner);
                part.0.push(chunks);
            }
        }
        sorted
    }
}

pub(super) struct Chunks {
    chunk: usize,
    ends: Vec<u32>,
}

impl Chunks {
    pub(super) fn get(&self, at: usize) -> &[u32] {
        &self.ends[at * self.chunk..][..self.chunk]
    }

    pub(super) fn free(self) {
        memory::free(self.ends);
    }
}

/// A piece of the pool, which belongs to one part.
struct Chunk<'a> {
    /// Its number in the pool.
    at: usize,
    rows: &'a mut [u16],
    ends: &'a mut [u32],
    used: usize,
}

/// Edges of one part: the chunks of each group.
#[derive(Default)]
pub(super) struct Part<'a>(Vec<Vec<Chunk<'a>>>);

impl Part<'_> {
    /// Rows within the part, and ends, in pieces.
    pub(super) fn edges(&self) -> impl Iterator<Item = (&[u16], &[u32])> {
        let chunks = self.0.iter().flatten();
        chunks.map(|chunk| (&chunk.rows[..chunk.used], &chunk.ends[..chunk.used]))
    }

    /// Puts words in place of the ends, at most as many.
    pub(super) fn put(&mut self, words: &[u32]) {
        let mut rest = words;
        for chunk in self.0.iter_mut().flatten() {
            let (piece, others) = rest.split_at(rest.len().min(chunk.ends.len()));
            chunk.ends[..piece.len()].copy_from_slice(piece);
            rest = others;
        }
    }

    /// Numbers of the chunks in the pool.
    pub(super) fn chunks(self) -> Vec<usize> {
        self.0.into_iter().flatten().map(|chunk| chunk.at).collect()
    }
}

/// Rows and ends of the chunks that belong to no part yet, with their numbers.
type Free<'a> = Enumerate<Zip<ChunksMut<'a, u16>, ChunksMut<'a, u32>>>;

/// Parts that threads add edges to.
struct Parts<'a> {
    row_bits: u32,
    groups: Vec<Vec<Mutex<Vec<Chunk<'a>>>>>,
    free: Mutex<Free<'a>>,
}

impl<'a> Parts<'a> {
    fn chunk(&self) -> Option<Chunk<'a>> {
        let (at, (rows, ends)) = lock(&self.free).next()?;
        Some(Chunk {
            at,
            rows,
            ends,
            used: 0,
        })
    }

    fn add(&self, group: usize, part: usize, mut rows: &[u16], mut ends: &[u32]) {
        let mut chunks = lock(&self.groups[group][part]);
        while !rows.is_empty() {
            let has_space = |chunk: &Chunk<'_>| chunk.used < chunk.rows.len();
            if !chunks.last().is_some_and(has_space) {
                chunks.extend(self.chunk());
            }
            // The pool has a chunk more for each part and group, so there always is one.
            let Some(chunk) = chunks.last_mut() else {
                return;
            };
            let count = rows.len().min(chunk.rows.len() - chunk.used);
            let place = chunk.used..chunk.used + count;
            chunk.rows[place.clone()].copy_from_slice(&rows[..count]);
            chunk.ends[place].copy_from_slice(&ends[..count]);
            chunk.used += count;
            (rows, ends) = (&rows[count..], &ends[count..]);
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Edges that one thread buffers.
pub(super) struct Writer<'p, 'a> {
    to: &'p Parts<'a>,
    group: usize,
    counts: Vec<u8>,
    rows: Vec<[u16; HELD]>,
    ends: Vec<[u32; HELD]>,
}

impl<'p, 'a> Writer<'p, 'a> {
    fn new(to: &'p Parts<'a>, group: usize) -> Self {
        let parts = to.groups[group].len();
        Self {
            to,
            group,
            counts: vec![0; parts],
            rows: vec![[0; HELD]; parts],
            ends: vec![[0; HELD]; parts],
        }
    }

    /// Adds an edge.
    #[inline]
    pub(super) fn push(&mut self, from: u32, to: u32) {
        let part = (from >> self.to.row_bits) as usize;
        let count = usize::from(self.counts[part]);
        self.rows[part][count] = (from & ((1 << self.to.row_bits) - 1)) as u16;
        self.ends[part][count] = to;
        self.counts[part] += 1;
        if count + 1 == HELD {
            self.hand_over(part);
        }
    }

    #[inline(never)]
    fn hand_over(&mut self, part: usize) {
        let count = usize::from(std::mem::take(&mut self.counts[part]));
        let (rows, ends) = (&self.rows[part][..count], &self.ends[part][..count]);
        self.to.add(self.group, part, rows, ends);
    }

    /// Hands over the remaining edges.
    fn finish(mut self) {
        (0..self.counts.len()).for_each(|part| self.hand_over(part));
    }
}
