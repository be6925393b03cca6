//! A GPU's warps on a CPU, one coroutine per lane: for checking, not for speed.
//!
//! Kernels take other paths if warps have more than one lane. Here they run under the checks of a
//! debug build: every index is within its array, missing lanes of a warp or a block are detected,
//! and results are compared as elsewhere. The lanes of all blocks take turns on the calling thread.
//! A lane runs until it synchronises or waits, and the order of the lanes changes from turn to
//! turn, so that code without a needed barrier sees lanes that are ahead and lanes that are behind.
//! Memory order is stronger than a GPU's, so code that passes may still race there.

use crate::own::Twins;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use seawall::backend::BackendError;
use seawall_core::abi::program::LaunchRecord;
use seawall_core::protocol::{Read, Scope, Swap, Update, Write};
use seawall_device::machine::cpu::{HostGrid, Services};
use seawall_device::machine::dealer::Dealer;
use seawall_device::machine::{Grid, LANES_MAX, PLACE, SHARED_WORDS};
use seawall_device::scheduler::run_program;
use seawall_device::scheduler::sets::With;
use seawall_device::tables::launch::Launch;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// Lanes of a warp.
const WARP: u32 = 32;

/// Bytes of a lane's stack. Pages that a lane does not touch take no memory.
const STACK_BYTES: usize = 1 << 20;

/// Reason for which a lane lets others run.
#[derive(Clone, Copy)]
enum Pause<'a> {
    /// It waits for memory that another lane or the host writes.
    Poll,
    /// It waits for the end of a meeting, by its number.
    Meet(&'a Meeting, u32),
}

impl Pause<'_> {
    fn is_over(self) -> bool {
        match self {
            Self::Poll => true,
            Self::Meet(meeting, past) => meeting.past.get() != past,
        }
    }
}

/// Meeting point of some lanes.
struct Meeting {
    lanes: u32,
    /// Lanes that arrived.
    here: Cell<u32>,
    /// Number of meetings so far.
    past: Cell<u32>,
    /// The word of each lane, in turns: a lane that is still reading those of one meeting may be a
    /// meeting behind the others, and never two.
    said: [Vec<Cell<u32>>; 2],
}

impl Meeting {
    fn new(lanes: u32) -> Self {
        Self {
            lanes,
            here: Cell::new(0),
            past: Cell::new(0),
            said: [(); 2].map(|()| vec![Cell::new(0); lanes as usize]),
        }
    }

    /// Lets the other lanes run until all have arrived.
    fn wait<'a>(&'a self, turns: &Yielder<(), Pause<'a>>) {
        let past = self.past.get();
        self.here.set(self.here.get() + 1);
        if self.here.get() < self.lanes {
            turns.suspend(Pause::Meet(self, past));
        } else {
            self.here.set(0);
            self.past.set(past.wrapping_add(1));
        }
    }

    /// Publishes `word` to the others and returns the result of `read` on all words.
    fn publish<'a, T>(
        &'a self,
        turns: &Yielder<(), Pause<'a>>,
        lane: u32,
        word: u32,
        read: impl FnOnce(&[Cell<u32>]) -> T,
    ) -> T {
        // The number of meetings stays as long as this lane has not arrived.
        let said = &self.said[(self.past.get() % 2) as usize];
        said[lane as usize].set(word);
        self.wait(turns);
        read(said)
    }
}

/// Shared state of a block's lanes.
struct Block {
    all: Meeting,
    warps: Vec<Meeting>,
    shared: Vec<AtomicU32>,
}

/// One lane.
#[derive(Clone, Copy)]
pub struct Lane<'a> {
    /// Its access to memory.
    host: HostGrid,
    lane: u32,
    lanes: u32,
    extra: u32,
    block: &'a Block,
    turns: &'a Yielder<(), Pause<'a>>,
}

impl Lane<'_> {
    fn warp<T>(self, word: u32, read: impl FnOnce(&[Cell<u32>]) -> T) -> T {
        let warp = &self.block.warps[(self.lane / WARP) as usize];
        warp.publish(self.turns, self.lane % WARP, word, read)
    }

    fn word(&self, at: u32) -> &AtomicU32 {
        &self.block.shared[at as usize]
    }
}

fn words(said: &[Cell<u32>]) -> impl Iterator<Item = u32> + '_ {
    said.iter().map(Cell::get)
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
        self.block.all.wait(self.turns);
    }
    fn block_count(self, value: bool) -> u32 {
        let sum = |said: &[Cell<u32>]| words(said).sum();
        let all = &self.block.all;
        all.publish(self.turns, self.lane, u32::from(value), sum)
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
        self.warp(value, |said| said[(from % WARP) as usize].get())
    }
    fn shuffle_up(self, value: u32, delta: u32) -> u32 {
        let from = self.warp_lane().checked_sub(delta);
        self.warp(value, |said| {
            from.map_or(value, |from| said[from as usize].get())
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
        self.pause(0);
        self.word(at).load(Ordering::Acquire)
    }
    unsafe fn shared_show(self, at: u32, value: u32) {
        assert!((at as usize) < SHARED_WORDS, "shared word {at}");
        self.word(at).store(value, Ordering::Release);
    }
    fn extra_words(self) -> u32 {
        self.extra
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
        self.turns.suspend(Pause::Poll);
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
    each(BLOCKS, LANES, extra, |grid| {
        // SAFETY: the session filled the record from memory that outlives the run.
        let launch = unsafe { Launch::new(launch) };
        // A run that stops early leaves its reason in the control block.
        let _ = run_program::<Lane<'_>, With<Twins>>(grid, launch);
    });
    Ok(())
}

/// Calls `body` on each lane of a number of blocks of whole warps, with additional words of shared
/// memory.
///
/// # Panics
/// If a lane panics, or lanes do not meet.
pub fn each(blocks: u32, lanes: u32, extra: u32, body: impl Fn(Lane<'_>)) {
    let words = SHARED_WORDS + extra as usize;
    let each: Vec<Block> = (0..blocks)
        .map(|_| Block {
            all: Meeting::new(lanes),
            warps: (0..lanes / WARP).map(|_| Meeting::new(WARP)).collect(),
            shared: (0..words).map(|_| AtomicU32::new(0xdead_beef)).collect(),
        })
        .collect();
    let mut turns: Vec<Turns<'_>> = Vec::with_capacity((blocks * lanes) as usize);
    for (number, block) in (0..blocks).zip(&each) {
        for lane in 0..lanes {
            let body = &body;
            let run = move |turns: &Yielder<(), Pause<'_>>, ()| {
                body(Lane {
                    host: host((number, blocks)),
                    lane,
                    lanes,
                    extra,
                    block,
                    // SAFETY: the lane ends with this closure, before its yielder.
                    turns: unsafe { &*std::ptr::from_ref(turns).cast() },
                });
            };
            let stack = DefaultStack::new(STACK_BYTES).expect("a stack for each lane");
            turns.push(Turns {
                name: (number, lane),
                // SAFETY: the closure borrows `body` and `each`, which outlive `turns`.
                rest: Some(unsafe { Coroutine::with_stack_unchecked(stack, run) }),
                pause: Pause::Poll,
            });
        }
    }
    take_turns(&mut turns);
}

/// A lane that has not ended.
struct Turns<'a> {
    /// Its block, and its number there.
    name: (u32, u32),
    rest: Option<Coroutine<(), Pause<'a>, ()>>,
    pause: Pause<'a>,
}

impl Turns<'_> {
    /// Runs the lane until it pauses or ends.
    fn resume(&mut self) {
        let Some(rest) = &mut self.rest else { return };
        match catch_unwind(AssertUnwindSafe(|| rest.resume(()))) {
            Ok(CoroutineResult::Yield(pause)) => self.pause = pause,
            Ok(CoroutineResult::Return(())) => self.rest = None,
            Err(panic) => {
                eprintln!("in lane {} of block {}", self.name.1, self.name.0);
                self.rest = None;
                resume_unwind(panic);
            }
        }
    }
}

/// Runs all lanes to their ends.
fn take_turns(lanes: &mut [Turns<'_>]) {
    let all = lanes.len();
    let mut turn = 1_u32;
    loop {
        // Xorshift: another lane begins each turn, and every second turn runs downwards.
        turn ^= turn << 13;
        turn ^= turn >> 17;
        turn ^= turn << 5;
        let first = (turn >> 1) as usize % all.max(1);
        let (mut left, mut ran, mut polling) = (0, 0, 0);
        for at in 0..all {
            let step = if turn.is_multiple_of(2) { at } else { all - at };
            let lane = &mut lanes[(first + step) % all];
            if lane.rest.is_none() {
                continue;
            }
            left += 1;
            if lane.pause.is_over() {
                ran += 1;
                lane.resume();
                polling += u32::from(matches!(lane.pause, Pause::Poll));
            }
        }
        if left == 0 {
            return;
        }
        assert!(
            ran > 0,
            "{left} of {all} lanes wait for others that do not come"
        );
        if polling == ran {
            std::thread::yield_now();
        }
    }
}

/// Work for thread groups, which warps do not use.
static NO_WORK: Dealer = Dealer::new();

fn host(block: (u32, u32)) -> HostGrid {
    let services = Services {
        now_ns,
        yield_now: std::thread::yield_now,
    };
    // SAFETY: no shared memory is accessed through this view, and no work is taken.
    unsafe { HostGrid::new(block.0, block.1, std::ptr::null_mut(), &NO_WORK, services) }
}

fn now_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}
