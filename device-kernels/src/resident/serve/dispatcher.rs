//! Dispatchers: from a queue of posts to answers, or to the ring of this machine.
//!
//! Some warps poll for posts and keep what they find in the block's shared memory, and one more
//! answers it, so that a poll in flight delays no answer. A block of one warp does both in turn. A
//! poll is one access to the hosts' memory, one lane for each word of the next post, and takes
//! longer than an answer. Each warp has one poll in flight: it would wait for all of them at once.
//! After two polls in a row that found a post, the next ones take several. [All
//! lanes](super::together) answer light work one after the other; then each lane handles one of the
//! remaining posts.
//!
//! Polls of several warps may find the same post. The warp that moves `CLAIMED` past its number
//! keeps it, and moves `CAME` once it is in shared memory and all earlier posts have come.

use super::deadline::is_over;
use super::places::{Places, TENANT_WORDS};
use super::record::Serve;
use super::together;
use crate::machine::Grid;
use seawall_core::abi::ring::{ARGUMENTS, ControlBlock, Kind, SlotRecord};
use seawall_core::abi::serve::POST_WORDS;
use seawall_core::protocol::{Layout, Read, Ring, Scope, Worker, post};

/// Most posts that a poll takes.
const POSTS: usize = 16;

/// Most posts that wait in shared memory: those of a poll, and those that are being answered.
const HELD: u32 = 2 * POSTS as u32;
const _: () = assert!(HELD.is_power_of_two());

/// Most warps that poll, and the time of a poll, in cycles: they begin evenly apart.
const LOOKERS: u32 = 3;
const LOOK: u32 = 2_400;

/// Empty polls after which a dispatcher begins to rest between two.
const PATIENT: u32 = 1 << 14;

/// Longest rest, nanoseconds.
const REST_NS: u32 = 20_000;

/// Polls of shared memory after which the answering warp rests between two, and its rest.
const ANSWERER_PATIENT: u32 = 1 << 16;
const ANSWERER_REST_NS: u32 = 100;

/// First word of the block's shared memory that keeps the rights of tenants, after the posts.
const KEPT: u32 = HELD * POST_WORDS;

/// Words of shared memory that count the posts claimed, received and answered, and signal the end.
const CLAIMED: u32 = KEPT + TENANT_WORDS;
const CAME: u32 = CLAIMED + 1;
const ANSWERED: u32 = CLAIMED + 2;
const OVER: u32 = CLAIMED + 3;

const SHUTDOWN_AT: usize = core::mem::offset_of!(ControlBlock, shutdown) / 4;

/// Empties queue `number` until the end. All lanes of the block call this.
#[inline(never)]
pub(super) fn run<G: Grid>(grid: G, serve: Serve, layout: Layout, number: u32) {
    if grid.lane() == 0 {
        for at in [CLAIMED, CAME, ANSWERED, OVER] {
            // SAFETY: a block has far more words.
            unsafe { grid.shared_store(at, 0) };
        }
    }
    grid.block_barrier();
    let queue = Queue {
        grid,
        place: serve.queue(grid, number),
        shutdown: serve.device(grid).wrapping_add(SHUTDOWN_AT),
    };
    let lookers = (grid.lanes() / G::WARP).saturating_sub(1).min(LOOKERS);
    match grid.lane() / G::WARP {
        0 if lookers == 0 => take_turns(queue, serve, layout),
        warp if warp < lookers => {
            grid.delay(warp * (LOOK / LOOKERS));
            return look_on(queue, warp);
        }
        warp if warp == lookers => answer_on(queue, serve, layout),
        _ => return,
    }
    if grid.warp_lane() == 0 {
        serve.leave(grid, layout);
    }
}

/// Polls for posts until the end, and publishes both.
#[inline(never)]
fn look_on<G: Grid>(queue: Queue<G>, looker: u32) {
    let mut pace = Pace::default();
    let mut seen = 0_u32;
    while let Some((first, found)) = queue.look(&mut pace) {
        if found > 0 {
            queue.show(CAME, first.wrapping_add(found));
        }
        // Under load, polls of several warps would find the same posts.
        if looker > 0 && first.wrapping_sub(seen) > 1 {
            queue.grid.delay(LOOK);
        }
        seen = first;
    }
    queue.show(OVER, 1);
}

/// Answers received posts until the end.
#[inline(never)]
fn answer_on<G: Grid>(queue: Queue<G>, serve: Serve, layout: Layout) {
    let places = places_of(queue.grid, serve, layout);
    let mut answered = 0_u32;
    let mut in_vain = 0_u32;
    loop {
        let came = queue.shown(CAME);
        if came != answered {
            answer(queue, places, layout, answered, came);
            answered = came;
            queue.show(ANSWERED, answered);
            in_vain = 0;
        } else if queue.shown(OVER) != 0 {
            return;
        } else if in_vain < ANSWERER_PATIENT {
            in_vain += 1;
        } else {
            queue.grid.rest(ANSWERER_REST_NS);
        }
    }
}

/// Polls and answers in turn until the end.
#[inline(never)]
fn take_turns<G: Grid>(queue: Queue<G>, serve: Serve, layout: Layout) {
    let places = places_of(queue.grid, serve, layout);
    let mut pace = Pace::default();
    while let Some((first, found)) = queue.look(&mut pace) {
        let end = first.wrapping_add(found);
        answer(queue, places, layout, first, end);
        queue.show(CAME, end);
        queue.show(ANSWERED, end);
    }
}

/// History of a warp's polls.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    /// Consecutive polls that found a post.
    in_a_row: u32,
    /// Consecutive polls that found none.
    in_vain: u32,
}

fn places_of<G: Grid>(grid: G, serve: Serve, layout: Layout) -> Places<G, true> {
    // SAFETY: `Serve::new` promises these words for the layout.
    let places = unsafe { Places::new(grid, [serve.device(grid), serve.host(grid)], layout) };
    places.keeping_rights(KEPT)
}

/// Answers the posts from number `next` to `end`, which are in shared memory.
#[inline(always)]
fn answer<G: Grid>(
    queue: Queue<G>,
    places: Places<G, true>,
    layout: Layout,
    mut next: u32,
    end: u32,
) {
    while next != end {
        let of_round = end.wrapping_sub(next).min(u32::BITS);
        let mut left = 0_u32;
        for post in 0..of_round {
            let (index, slot) = queue.post(next.wrapping_add(post));
            let is_answered = together::handle(queue.grid, places, layout, index, slot);
            left |= u32::from(!is_answered) << post;
        }
        if left != 0 {
            // A copy takes the address that a call needs, so that the others stay in registers.
            let again = places;
            handle_each(queue, &again, layout, next, left);
        }
        queue.grid.warp_barrier();
        next = next.wrapping_add(of_round);
    }
}

/// Handles the posts from number `first` on that a bit set names, one per lane.
#[inline(never)]
fn handle_each<G: Grid>(
    queue: Queue<G>,
    places: &Places<G, true>,
    layout: Layout,
    first: u32,
    posts: u32,
) {
    let mut worker = Worker::new(Ring::new(places, layout), None);
    let mut post = queue.grid.warp_lane();
    while post < u32::BITS {
        if posts >> post & 1 != 0 {
            let (index, slot) = queue.post(first.wrapping_add(post));
            handle(&mut worker, index, slot);
        }
        post += G::WARP;
    }
}

/// Answers short work whose tenant has space, and leaves the rest to the workers.
#[inline(always)]
fn handle<G: Grid>(worker: &mut Worker<'_, Places<G, true>>, index: u32, slot: SlotRecord) {
    let ring = worker.ring();
    if index >= ring.layout().slots() {
        return;
    }
    // The windows as they were when the host posted.
    ring.memory().fence();
    let is_short = Kind::of(slot.opcode).is_none_or(Kind::is_short);
    let claim = if is_short {
        worker.accept(index, &slot)
    } else {
        None
    };
    match claim {
        Some(claim) => {
            if let Some(outcome) = ring.execute(&claim) {
                worker.answer(claim, outcome);
            }
        }
        None => ring.publish(index, &slot),
    }
}

/// A queue of posts.
#[derive(Clone, Copy)]
struct Queue<G> {
    grid: G,
    place: (*mut u32, u32),
    shutdown: *const u32,
}

impl<G: Grid> Queue<G> {
    /// The hosts' order to end.
    #[inline(always)]
    fn order(self) -> u32 {
        // SAFETY: the control block is the first part of the device's ring.
        unsafe {
            self.grid
                .load_word(self.shutdown, Read::Relaxed, Scope::Device)
        }
    }

    /// A word exchanged between the block's warps. The lanes agree, as one broadcasts its value.
    #[inline(always)]
    fn shown(self, at: u32) -> u32 {
        let mut seen = 0;
        if self.grid.warp_lane() == 0 {
            // SAFETY: `run` wrote the word.
            seen = unsafe { self.grid.shared_look(at) };
        }
        let seen = self.grid.shuffle(seen, 0);
        self.grid.warp_barrier();
        seen
    }

    /// Publishes to the block's other warp, after all accesses of this warp.
    #[inline(always)]
    fn show(self, at: u32, value: u32) {
        self.grid.warp_barrier();
        if self.grid.warp_lane() == 0 {
            // SAFETY: as in `shown`.
            unsafe { self.grid.shared_show(at, value) };
        }
    }

    /// Polls for the next posts once. Returns the number of the first and how many this warp keeps;
    /// their words are then in the block's shared memory. `None` after the end, which no post
    /// follows.
    #[inline(never)]
    fn look(self, pace: &mut Pace) -> Option<(u32, u32)> {
        let next = self.shown(CLAIMED);
        let order = self.order();
        let found = if pace.in_a_row >= 2 {
            self.take(next, self.heads::<POSTS>(next))?
        } else {
            self.take(next, self.heads::<1>(next))?
        };
        if self.is_end(order) {
            return None;
        }
        self.rest_after(pace, found);
        Some((next, found))
    }

    /// Records the result of a poll, and rests after many in vain.
    #[inline(always)]
    fn rest_after(self, pace: &mut Pace, found: u32) {
        if found > 0 {
            pace.in_a_row = pace.in_a_row.saturating_add(1);
            pace.in_vain = 0;
            return;
        }
        pace.in_a_row = 0;
        pace.in_vain = pace.in_vain.saturating_add(1);
        if pace.in_vain > PATIENT {
            self.grid.rest((pace.in_vain - PATIENT).min(REST_NS));
        } else {
            self.grid.pause(pace.in_vain);
        }
    }

    /// Whether an order is the end; the lanes agree, as one broadcasts its value.
    #[inline(always)]
    fn is_end(self, order: u32) -> bool {
        self.grid.shuffle(u32::from(is_over(order)), 0) != 0
    }

    /// This lane's words of several posts from number `next` on.
    #[inline(always)]
    fn heads<const MOST: usize>(self, next: u32) -> [u32; MOST] {
        let lane = self.grid.warp_lane();
        core::array::from_fn(|post| self.word(next.wrapping_add(post as u32), lane))
    }

    /// Keeps the received posts from number `next` on, of which this lane has read the first words,
    /// unless another warp keeps them. Returns their number, once all earlier posts have come;
    /// `None` at the end.
    #[inline(always)]
    fn take<const MOST: usize>(self, next: u32, heads: [u32; MOST]) -> Option<u32> {
        let mut found = 0;
        for (post, head) in (0..).zip(&heads) {
            let is_here = self.has_come(next.wrapping_add(post), *head);
            found += u32::from(is_here && post == found);
        }
        if found == 0 || !self.claim(next, found) {
            return Some(0);
        }
        let end = next.wrapping_add(found);
        // Space for the posts found.
        while end.wrapping_sub(self.shown(ANSWERED)) > HELD {
            if self.is_end(self.order()) {
                return None;
            }
        }
        for (post, head) in (0..).zip(&heads) {
            if post < found {
                self.keep(next.wrapping_add(post), *head);
            }
        }
        while self.shown(CAME) != next {
            if self.is_end(self.order()) {
                return None;
            }
        }
        Some(found)
    }

    /// Claims posts from number `next` on for this warp, unless another one did.
    #[inline(always)]
    fn claim(self, next: u32, found: u32) -> bool {
        let mut before = 0;
        if self.grid.warp_lane() == 0 {
            let end = next.wrapping_add(found);
            // SAFETY: `run` wrote the word.
            before = unsafe {
                let place = self.grid.place(false, CLAIMED);
                self.grid.place_swap_if(place, next, end)
            };
        }
        self.grid.shuffle(before, 0) == next
    }

    /// Whether the post with this number has come.
    #[inline(always)]
    fn has_come(self, number: u32, head: u32) -> bool {
        let (grid, lane) = (self.grid, self.grid.warp_lane());
        let mut shares = post::share_of(lane, head);
        for place in Self::further(lane) {
            shares = shares.wrapping_add(post::share_of(place, self.word(number, place)));
        }
        let stamp = grid.shuffle(head, 0);
        stamp == post::stamp_of(grid.warp_sum(shares), number)
    }

    /// Keeps the post with this number, which has come, in shared memory.
    #[inline(always)]
    fn keep(self, number: u32, head: u32) {
        let lane = self.grid.warp_lane();
        let store = |place: u32, word: u32| {
            // SAFETY: `HELD` posts are fewer words than a block has.
            unsafe { self.grid.shared_store(kept_at(number) + place, word) };
        };
        store(lane, head);
        for place in Self::further(lane) {
            store(place, self.word(number, place));
        }
    }

    /// Places of a post's further words that a lane reads, if a warp has fewer lanes than a post
    /// has words.
    #[inline(always)]
    fn further(lane: u32) -> impl Iterator<Item = u32> {
        (lane + G::WARP..POST_WORDS).step_by(G::WARP as usize)
    }

    #[inline(always)]
    fn word(self, number: u32, place: u32) -> u32 {
        let (first, mask) = self.place;
        let at = (number & mask) as usize * POST_WORDS as usize + place as usize;
        // SAFETY: the queue has a post for each number within its mask, as `Serve::new` promises.
        unsafe {
            let word = first.wrapping_add(at);
            self.grid.load_word(word, Read::Relaxed, Scope::System)
        }
    }

    /// The slot of a post that came.
    #[inline(always)]
    fn post(self, number: u32) -> (u32, SlotRecord) {
        // SAFETY: as in `keep`.
        let word = |place: u32| unsafe { self.grid.shared_load(kept_at(number) + place) };
        let mut arguments = [0; ARGUMENTS];
        for (place, argument) in (5..).zip(&mut arguments) {
            *argument = word(place);
        }
        let slot = SlotRecord {
            status: 0,
            opcode: word(2),
            tenant: word(3),
            priority: word(4),
            arguments,
        };
        (word(1), slot)
    }
}

/// First word of the place of a post in shared memory.
#[inline(always)]
const fn kept_at(number: u32) -> u32 {
    number % HELD * POST_WORDS
}
