//! Couriers: from a queue of posts to answers, or to the ring of this machine.
//!
//! One warp looks for posts and keeps them in the block's shared memory, and a second one answers
//! them, so that a look that is still under way delays no answer. A block of one warp does both in
//! turn. A look is one access to the hosts' memory, a lane at each word of the next post. Two looks
//! are under way at a time, half of their time apart. After two looks in a row that found a post,
//! the next ones take several. [All lanes](super::together) answer light work one after the other;
//! then lanes handle a post each of what is left.

use super::is_over;
use super::places::{Places, TENANT_WORDS};
use super::record::Serve;
use super::together;
use crate::grid::Grid;
use seawall_core::abi::ring::{ARGUMENTS, ControlBlock, Kind, SlotRecord};
use seawall_core::abi::serve::POST_WORDS;
use seawall_core::protocol::{Layout, Read, Ring, Scope, Worker, post};

/// Posts that a look takes at most.
const POSTS: usize = 16;

/// Posts that wait in shared memory at most: those of a look, and those that are being answered.
const HELD: u32 = 2 * POSTS as u32;
const _: () = assert!(HELD.is_power_of_two());

/// Half of the time of a look, cycles.
const HALF_LOOK: u32 = 1_200;

/// Empty looks after which a courier begins to rest between two.
const PATIENT: u32 = 1 << 14;

/// Longest rest, nanoseconds.
const REST_NS: u32 = 20_000;

/// Looks at shared memory after which the warp that answers rests between two, and its rest.
const ANSWERER_PATIENT: u32 = 1 << 16;
const ANSWERER_REST_NS: u32 = 100;

/// First word of the block's shared memory that keeps the rights of tenants, after the posts.
const KEPT: u32 = HELD * POST_WORDS;

/// Words of shared memory that tell how many posts came, how many were answered, and the end.
const CAME: u32 = KEPT + TENANT_WORDS;
const ANSWERED: u32 = CAME + 1;
const OVER: u32 = CAME + 2;

const SHUTDOWN_AT: usize = core::mem::offset_of!(ControlBlock, shutdown) / 4;

/// Empties queue `number` until the end. All lanes of the block call this.
#[inline(never)]
pub(super) fn run<G: Grid>(grid: G, (serve, layout): (Serve, Layout), number: u32) {
    if grid.lane() == 0 {
        for at in [CAME, ANSWERED, OVER] {
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
    let warps = grid.lanes() / G::WARP;
    match grid.lane() / G::WARP {
        0 if warps > 1 => return look_on(queue),
        0 => take_turns(queue, (serve, layout)),
        1 => answer_on(queue, (serve, layout)),
        _ => return,
    }
    if grid.warp_lane() == 0 {
        serve.leave(grid, layout);
    }
}

/// Looks for posts until the end, and shows both.
fn look_on<G: Grid>(queue: Queue<G>) {
    let mut next = 0_u32;
    let mut in_a_row = 0_u32;
    loop {
        let (found, looks) = queue.wait(next, in_a_row >= 2);
        if found == 0 {
            break;
        }
        next = next.wrapping_add(found);
        in_a_row = in_a_row_after(in_a_row, looks);
        // The next look needs room for what it may find.
        while next.wrapping_sub(queue.shown(ANSWERED)) > HELD - POSTS as u32 {
            if queue.has_ended(queue.order()) {
                break;
            }
        }
    }
    queue.show(OVER, 1);
}

/// Answers what came until the end.
fn answer_on<G: Grid>(queue: Queue<G>, (serve, layout): (Serve, Layout)) {
    let places = places_of(queue.grid, (serve, layout));
    let mut answered = 0_u32;
    let mut in_vain = 0_u32;
    loop {
        let came = queue.shown(CAME);
        if came != answered {
            answer(queue, (&places, layout), (answered, came));
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

/// Looks and answers in turn until the end.
fn take_turns<G: Grid>(queue: Queue<G>, (serve, layout): (Serve, Layout)) {
    let places = places_of(queue.grid, (serve, layout));
    let mut next = 0_u32;
    let mut in_a_row = 0_u32;
    loop {
        let (found, looks) = queue.wait(next, in_a_row >= 2);
        if found == 0 {
            return;
        }
        let end = next.wrapping_add(found);
        answer(queue, (&places, layout), (next, end));
        next = end;
        in_a_row = in_a_row_after(in_a_row, looks);
    }
}

/// Looks in a row that found a post, after one that came after so many in vain.
const fn in_a_row_after(in_a_row: u32, in_vain: u32) -> u32 {
    if in_vain == 0 {
        in_a_row.saturating_add(1)
    } else {
        1
    }
}

fn places_of<G: Grid>(grid: G, (serve, layout): (Serve, Layout)) -> Places<G> {
    // SAFETY: `Serve::new` promises these words for the layout.
    let places = unsafe { Places::new(grid, [serve.device(grid), serve.host(grid)], layout) };
    places.keeping_rights(KEPT)
}

/// Answers the posts from number `next` to `end`, which are in shared memory.
#[inline(always)]
fn answer<G: Grid>(
    queue: Queue<G>,
    (places, layout): (&Places<G>, Layout),
    (mut next, end): (u32, u32),
) {
    while next != end {
        let of_round = end.wrapping_sub(next).min(u32::BITS);
        let mut left = 0_u32;
        for post in 0..of_round {
            let slot = queue.post(next.wrapping_add(post));
            let is_answered = together::handle(queue.grid, (places, layout), slot);
            left |= u32::from(!is_answered) << post;
        }
        if left != 0 {
            handle_each(queue, (places, layout), (next, left));
        }
        queue.grid.warp_barrier();
        next = next.wrapping_add(of_round);
    }
}

/// Handles posts from number `first` on that a bit set names, a lane each.
#[inline(never)]
fn handle_each<G: Grid>(
    queue: Queue<G>,
    (places, layout): (&Places<G>, Layout),
    (first, posts): (u32, u32),
) {
    let mut worker = Worker::new(Ring::new(places, layout), None);
    let mut post = queue.grid.warp_lane();
    while post < u32::BITS {
        if posts >> post & 1 != 0 {
            handle(&mut worker, queue.post(first.wrapping_add(post)));
        }
        post += G::WARP;
    }
}

/// Answers short work whose tenant has room, and leaves the rest to the workers.
#[inline(always)]
fn handle<G: Grid>(worker: &mut Worker<'_, Places<G>>, (index, slot): (u32, SlotRecord)) {
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

    /// A word that the block's warps tell each other. The lanes agree, for one tells all.
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

    /// Tells the block's other warp, after all that this warp did.
    #[inline(always)]
    fn show(self, at: u32, value: u32) {
        self.grid.warp_barrier();
        if self.grid.warp_lane() == 0 {
            // SAFETY: as in `shown`.
            unsafe { self.grid.shared_show(at, value) };
        }
    }

    /// Waits for the post with number `next`: how many have come from it on, whose words are in the
    /// block's shared memory then, and the looks in vain before. None comes after the end. The
    /// first look is for several posts if `many`.
    #[inline(never)]
    fn wait(self, next: u32, many: bool) -> (u32, u32) {
        let grid = self.grid;
        let lane = grid.warp_lane();
        let mut in_vain = 0_u32;
        if many && !self.has_ended(self.order()) {
            let found = self.take(next, self.heads::<POSTS>(next));
            if found > 0 {
                return (found, 0);
            }
            in_vain = 1;
        }
        let mut first = self.word(next, lane);
        grid.delay(HALF_LOOK);
        let mut second = self.word(next, lane);
        // Each has a register of its own, since moving what is under way would wait for it.
        loop {
            if let Some(found) = self.judge((next, first), &mut in_vain) {
                return (found, in_vain);
            }
            first = self.word(next, lane);
            if let Some(found) = self.judge((next, second), &mut in_vain) {
                return (found, in_vain);
            }
            second = self.word(next, lane);
        }
    }

    /// Whether a look at post `next` found it, or the end came; else counts the look and may rest.
    #[inline(always)]
    fn judge(self, (next, head): (u32, u32), in_vain: &mut u32) -> Option<u32> {
        let order = self.order();
        let found = self.take(next, [head]);
        let is_over = self.has_ended(order);
        if is_over || found > 0 {
            return Some(if is_over { 0 } else { found });
        }
        *in_vain = in_vain.saturating_add(1);
        if *in_vain > PATIENT {
            self.grid.rest((*in_vain - PATIENT).min(REST_NS));
        } else {
            self.grid.pause(*in_vain);
        }
        None
    }

    /// Whether an order is that of the end; the lanes agree, for one tells all.
    #[inline(always)]
    fn has_ended(self, order: u32) -> bool {
        self.grid.shuffle(u32::from(is_over(order)), 0) != 0
    }

    /// This lane's words of several posts from number `next` on.
    #[inline(always)]
    fn heads<const MOST: usize>(self, next: u32) -> [u32; MOST] {
        let lane = self.grid.warp_lane();
        core::array::from_fn(|post| self.word(next.wrapping_add(post as u32), lane))
    }

    /// Number of these posts from number `next` on that have come, of each of which this lane has
    /// read its first word. Their words are in the block's shared memory then, and shown.
    #[inline(always)]
    fn take<const MOST: usize>(self, next: u32, heads: [u32; MOST]) -> u32 {
        let mut found = 0;
        for (post, head) in (0..).zip(&heads) {
            let is_here = self.has_come(next.wrapping_add(post), *head);
            found += u32::from(is_here && post == found);
        }
        if found > 0 {
            self.show(CAME, next.wrapping_add(found));
        }
        found
    }

    /// Whether the post with this number has come, which then is in its place of the block's shared
    /// memory.
    #[inline(always)]
    fn has_come(self, number: u32, head: u32) -> bool {
        let grid = self.grid;
        let lane = grid.warp_lane();
        let mut shares = self.keep(number, lane, head);
        let mut place = lane + G::WARP;
        while place < POST_WORDS {
            let word = self.word(number, place);
            shares = shares.wrapping_add(self.keep(number, place, word));
            place += G::WARP;
        }
        let stamp = grid.shuffle(head, 0);
        stamp == post::stamp_of(grid.warp_sum(shares), number)
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

    /// Keeps a word in shared memory; its share in the stamp.
    #[inline(always)]
    fn keep(self, number: u32, place: u32, word: u32) -> u32 {
        // SAFETY: `HELD` posts are fewer words than a block has.
        unsafe { self.grid.shared_store(kept_at(number) + place, word) };
        post::share_of(place, word)
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
