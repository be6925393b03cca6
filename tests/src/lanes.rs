//! A GPU's warps on a CPU, one thread per lane: for checking, not for speed.
//!
//! Kernels take other paths if warps have more than one lane. Here these run under the checks of a
//! debug build: every index is within its array, missing lanes of a warp or a block are detected,
//! and results are compared as elsewhere. Memory order is stronger than a GPU's, so code that
//! passes may still race there.

use crate::own::Twins;
use seawall::backend::BackendError;
use seawall_core::abi::program::LaunchRecord;
use seawall_core::protocol::{Read, Scope, Swap, Update, Write};
use seawall_device::grid::dealer::Dealer;
use seawall_device::grid::host::{HostGrid, Services};
use seawall_device::grid::{Grid, LANES_MAX, PLACE, SHARED_WORDS};
use seawall_device::launch::Launch;
use seawall_device::run::run_program;
use seawall_device::sets::With;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Lanes of a warp.
const WARP: u32 = 32;

/// Time that lanes wait for each other before one is declared missing. A block waits for other
/// blocks as well, and one may count triangles for half a minute, with a meeting of threads for
/// every shuffle.
const PATIENCE: Duration = Duration::from_secs(120);

/// Meeting point of some lanes; ends the program's threads if one of them panicked.
#[derive(Debug)]
struct Meeting<'a> {
    lanes: u32,
    /// Lanes that arrived, and meetings so far.
    state: Mutex<(u32, u32)>,
    met: Condvar,
    failed: &'a AtomicBool,
    /// The word of each lane, in turns: a lane that is still reading those of one meeting may be a
    /// meeting behind the others, and never two.
    said: [Vec<AtomicU32>; 2],
}

impl<'a> Meeting<'a> {
    fn new(lanes: u32, failed: &'a AtomicBool) -> Self {
        Self {
            lanes,
            state: Mutex::new((0, 0)),
            met: Condvar::new(),
            failed,
            said: [(); 2].map(|()| (0..lanes).map(|_| AtomicU32::new(0)).collect()),
        }
    }

    /// Meetings so far.
    fn meetings(&self) -> u32 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    fn wait(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        if state.0 == self.lanes {
            *state = (0, state.1.wrapping_add(1));
            self.met.notify_all();
            return;
        }
        let (meeting, started) = (state.1, Instant::now());
        while state.1 == meeting {
            leave_after(self.failed);
            assert!(
                started.elapsed() < PATIENCE,
                "{} of {} lanes met",
                state.0,
                self.lanes
            );
            let waited = self.met.wait_timeout(state, Duration::from_millis(100));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Publishes `word` to the others and returns the result of `read` on all words.
    fn tell<T>(&self, lane: u32, word: u32, read: impl FnOnce(&[AtomicU32]) -> T) -> T {
        // The number of meetings stays as long as this lane has not arrived.
        let said = &self.said[(self.meetings() % 2) as usize];
        said[lane as usize].store(word, Ordering::Relaxed);
        self.wait();
        read(said)
    }
}

/// Ends this lane silently if another one has failed.
fn leave_after(failed: &AtomicBool) {
    if failed.load(Ordering::Relaxed) {
        std::panic::resume_unwind(Box::new("another lane has failed"));
    }
}

/// Shared state of a block's lanes.
#[derive(Debug)]
struct Block<'a> {
    all: Meeting<'a>,
    warps: Vec<Meeting<'a>>,
    shared: Vec<AtomicU32>,
}

/// One lane.
#[derive(Clone, Copy, Debug)]
pub struct Lane<'a> {
    /// Its access to memory.
    host: HostGrid,
    lane: u32,
    lanes: u32,
    extra: u32,
    block: &'a Block<'a>,
}

impl Lane<'_> {
    fn warp<T>(self, word: u32, read: impl FnOnce(&[AtomicU32]) -> T) -> T {
        let lane = self.lane % WARP;
        self.block.warps[(self.lane / WARP) as usize].tell(lane, word, read)
    }

    fn word(&self, at: u32) -> &AtomicU32 {
        &self.block.shared[at as usize]
    }
}

fn words(said: &[AtomicU32]) -> impl Iterator<Item = u32> + '_ {
    said.iter().map(|word| word.load(Ordering::Relaxed))
}

macro_rules! memory {
    ($($name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {$(
        unsafe fn $name(self, $($argument: $type),*) -> $answer {
            // SAFETY: the same contract.
            unsafe { self.host.$name($($argument),*) }
        }
    )*};
}

// SAFETY: the lanes of a block share one `Block`; its meetings order their accesses.
unsafe impl Grid for Lane<'_> {
    const WARP: u32 = WARP;
    const LANES: u32 = LANES_MAX;
    const ITEMS: u32 = 1;

    fn block(self) -> u32 {
        self.host.block()
    }
    fn blocks(self) -> u32 {
        self.host.blocks()
    }
    fn lane(self) -> u32 {
        self.lane
    }
    fn lanes(self) -> u32 {
        self.lanes
    }
    fn block_barrier(self) {
        self.block.all.wait();
    }
    fn block_count(self, value: bool) -> u32 {
        let sum = |said: &[AtomicU32]| words(said).sum();
        self.block.all.tell(self.lane, u32::from(value), sum)
    }
    fn cluster(self) -> u32 {
        1
    }
    fn cluster_barrier(self, _wrote: bool) {
        self.block_barrier();
    }
    fn warp_barrier(self) {
        self.warp(0, |_| ());
    }
    fn ballot(self, value: bool) -> u32 {
        self.warp(u32::from(value), |said| {
            words(said)
                .zip(0..)
                .fold(0, |all, (bit, at)| all | bit << at)
        })
    }
    fn shuffle(self, value: u32, from: u32) -> u32 {
        self.warp(value, |said| {
            said[(from % WARP) as usize].load(Ordering::Relaxed)
        })
    }
    fn shuffle_up(self, value: u32, delta: u32) -> u32 {
        let from = self.warp_lane().checked_sub(delta);
        self.warp(value, |said| {
            from.map_or(value, |from| said[from as usize].load(Ordering::Relaxed))
        })
    }
    fn warp_sum(self, value: u32) -> u32 {
        self.warp(value, |said| words(said).fold(0, u32::wrapping_add))
    }
    fn warp_max(self, value: u32) -> u32 {
        self.warp(value, |said| words(said).max().unwrap_or(0))
    }
    fn warp_min(self, value: u32) -> u32 {
        self.warp(value, |said| words(said).min().unwrap_or(0))
    }
    unsafe fn shared_load(self, at: u32) -> u32 {
        assert!((at as usize) < SHARED_WORDS, "shared word {at}");
        self.word(at).load(Ordering::Relaxed)
    }
    unsafe fn shared_load4(self, at: u32) -> [u32; 4] {
        assert!(at.is_multiple_of(4), "shared words from {at} on");
        // SAFETY: the same contract.
        [0, 1, 2, 3].map(|more| unsafe { self.shared_load(at + more) })
    }
    unsafe fn shared_store(self, at: u32, value: u32) {
        assert!((at as usize) < SHARED_WORDS, "shared word {at}");
        self.word(at).store(value, Ordering::Relaxed);
    }
    unsafe fn shared_add(self, at: u32, value: u32) -> u32 {
        assert!((at as usize) < SHARED_WORDS, "shared word {at}");
        self.word(at).fetch_add(value, Ordering::Relaxed)
    }
    unsafe fn shared_look(self, at: u32) -> u32 {
        assert!((at as usize) < SHARED_WORDS, "shared word {at}");
        std::thread::yield_now();
        self.word(at).load(Ordering::Acquire)
    }
    unsafe fn shared_show(self, at: u32, value: u32) {
        assert!((at as usize) < SHARED_WORDS, "shared word {at}");
        self.word(at).store(value, Ordering::Release);
    }
    fn extra_words(self) -> u32 {
        self.extra
    }
    unsafe fn extra_load(self, at: u32) -> u32 {
        self.word(SHARED_WORDS as u32 + at).load(Ordering::Relaxed)
    }
    unsafe fn extra_store(self, at: u32, value: u32) {
        self.word(SHARED_WORDS as u32 + at)
            .store(value, Ordering::Relaxed);
    }
    unsafe fn extra_add(self, at: u32, value: u32) -> u32 {
        self.word(SHARED_WORDS as u32 + at)
            .fetch_add(value, Ordering::Relaxed)
    }
    fn place(self, extra: bool, at: u32) -> u32 {
        let first = if extra { SHARED_WORDS as u32 } else { 0 };
        (first + at) * PLACE
    }
    unsafe fn place_load(self, place: u32) -> u32 {
        self.word(place / PLACE).load(Ordering::Relaxed)
    }
    unsafe fn place_store(self, place: u32, value: u32) {
        self.word(place / PLACE).store(value, Ordering::Relaxed);
    }
    unsafe fn place_load4(self, place: u32) -> [u32; 4] {
        assert!(
            place.is_multiple_of(4 * PLACE),
            "shared words at place {place}"
        );
        // SAFETY: the same contract.
        [0, 1, 2, 3].map(|at| unsafe { self.place_load(place + at * PLACE) })
    }
    unsafe fn place_store4(self, place: u32, values: [u32; 4]) {
        assert!(
            place.is_multiple_of(4 * PLACE),
            "shared words at place {place}"
        );
        for (at, value) in (0..).zip(values) {
            // SAFETY: the same contract.
            unsafe { self.place_store(place + at * PLACE, value) };
        }
    }
    unsafe fn place_add(self, place: u32, value: u32) {
        self.word(place / PLACE).fetch_add(value, Ordering::Relaxed);
    }
    unsafe fn place_swap_if(self, place: u32, expected: u32, value: u32) -> u32 {
        let word = self.word(place / PLACE);
        let (done, other) = (Ordering::Relaxed, Ordering::Relaxed);
        let (Ok(previous) | Err(previous)) = word.compare_exchange(expected, value, done, other);
        previous
    }
    unsafe fn peer_load(self, _peer: u32, at: u32) -> u32 {
        // SAFETY: the same contract; a cluster has one block here.
        unsafe { self.shared_load(at) }
    }
    fn now_ns(self) -> u64 {
        self.host.now_ns()
    }
    fn delay(self, _cycles: u32) {}
    fn pause(self, _polls: u32) {
        leave_after(self.block.all.failed);
        std::thread::yield_now();
    }
    unsafe fn prefetch(self, _word: *const u32) {}

    memory! {
        constant(word: *const u32) -> u32;
        constant4(word: *const u32) -> [u32; 4];
        constant4_kept(word: *const u32) -> [u32; 4];
        load_weak(word: *const u32) -> u32;
        store_weak(word: *mut u32, value: u32) -> ();
        load_weak_wide(word: *const u32) -> u64;
        store_weak_wide(word: *mut u32, value: u64) -> ();
        load_weak4(word: *const u32) -> [u32; 4];
        load_weak4_once(word: *const u32) -> [u32; 4];
        store_weak4(word: *mut u32, values: [u32; 4]) -> ();
        load(word: *const u32) -> u32;
        store(word: *mut u32, value: u32) -> ();
        add(word: *mut u32, value: u32) -> u32;
        add_wide(word: *mut u32, value: u64) -> u64;
        load_wide(word: *const u32) -> u64;
        min_wide(word: *mut u32, value: u64) -> u64;
        or(word: *mut u32, value: u32) -> u32;
        min(word: *mut u32, value: u32) -> u32;
        max(word: *mut u32, value: u32) -> u32;
        swap_if(word: *mut u32, expected: u32, value: u32) -> u32;
        swap_wide_if(word: *mut u32, expected: u64, value: u64) -> u64;
        signal(word: *mut u32) -> ();
        arrive(word: *mut u32) -> u32;
        poll(word: *const u32) -> u32;
        load_word(word: *const u32, order: Read, scope: Scope) -> u32;
        store_word(word: *mut u32, value: u32, order: Write, scope: Scope) -> ();
        swap_word(word: *mut u32, swap: Swap, order: Update, scope: Scope) -> u32;
        add_word(word: *mut u32, value: u32, order: Update, scope: Scope) -> u32;
    }
    fn fence_system(self) {
        self.host.fence_system();
    }
    fn rest(self, _ns: u32) {
        self.pause(0);
    }
}

/// The same launch by a host that has measured the rows.
#[must_use]
pub fn measured(launch: &LaunchRecord) -> LaunchRecord {
    let longest = |offsets: u64| {
        let first = std::ptr::with_exposed_provenance::<u32>(offsets as usize);
        let row = |node: u32| {
            // SAFETY: the session filled the record with the address of one offset more than there
            // are nodes.
            let [from, to] = [0, 1].map(|at| unsafe { *first.add(node as usize + at) });
            to - from
        };
        let nodes = if offsets == 0 { 0 } else { launch.nodes };
        (0..nodes).map(row).max().unwrap_or(0)
    };
    LaunchRecord {
        longest_row: longest(launch.offsets).max(longest(launch.incoming_offsets)),
        ..*launch
    }
}

/// Runs the kernel on `BLOCKS` blocks of `LANES` lanes, whole warps of them, for
/// `CpuSession::with_machine`.
///
/// # Errors
/// Never; a lane that fails panics.
///
/// # Panics
/// If an index is outside its array, or lanes do not meet.
pub fn run<const BLOCKS: u32, const LANES: u32>(
    launch: &LaunchRecord,
    extra: u32,
) -> Result<(), BackendError> {
    each((BLOCKS, LANES), extra, |grid| {
        // SAFETY: the session filled the record from memory that outlives the run.
        let launch = unsafe { Launch::new(launch) };
        // A run that stops early leaves its reason in the control block.
        let _ = run_program::<Lane<'_>, With<Twins>>(grid, launch);
    });
    Ok(())
}

/// Calls `body` on each lane of so many blocks of so many lanes, whole warps of them, with this
/// many additional words of shared memory.
///
/// # Panics
/// If a lane panics, or lanes do not meet.
pub fn each((blocks, lanes): (u32, u32), extra: u32, body: impl Fn(Lane<'_>) + Sync) {
    let failed = AtomicBool::new(false);
    let words = SHARED_WORDS + extra as usize;
    let each: Vec<Block<'_>> = (0..blocks)
        .map(|_| Block {
            all: Meeting::new(lanes, &failed),
            warps: (0..lanes / WARP)
                .map(|_| Meeting::new(WARP, &failed))
                .collect(),
            shared: (0..words).map(|_| AtomicU32::new(0xdead_beef)).collect(),
        })
        .collect();
    std::thread::scope(|scope| {
        for (number, block) in (0..blocks).zip(&each) {
            for lane in 0..lanes {
                let (failed, body) = (&failed, &body);
                let name = format!("block {number}, lane {lane}");
                let thread = std::thread::Builder::new().name(name);
                let spawned = thread.spawn_scoped(scope, move || {
                    let watch = Watch(failed);
                    run_lane((number, blocks), (lane, lanes, extra), block, body);
                    std::mem::forget(watch);
                });
                spawned.expect("threads for all lanes");
            }
        }
    });
}

/// Informs the other lanes if this one panics.
struct Watch<'a>(&'a AtomicBool);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn run_lane(
    (number, blocks): (u32, u32),
    (lane, lanes, extra): (u32, u32, u32),
    block: &Block<'_>,
    body: impl Fn(Lane<'_>),
) {
    let services = Services {
        now_ns,
        yield_now: std::thread::yield_now,
    };
    let dealer = &Dealer::new();
    // SAFETY: no shared memory is accessed through this view, and no work is taken.
    let host = unsafe { HostGrid::new((number, blocks), std::ptr::null_mut(), dealer, services) };
    let grid = Lane {
        host,
        lane,
        lanes,
        extra,
        block,
    };
    body(grid);
}

fn now_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}
