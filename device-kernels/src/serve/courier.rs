//! Couriers: from a queue of posts to answers, or to the ring of this machine.
//!
//! One warp looks at the next post, a lane at each of its words, so that a look is one access to
//! the hosts' memory. Two looks are under way at a time, half of their time apart. After two looks
//! in a row that found a post, the next ones take several. [All lanes](super::together) answer
//! light work one after the other; then lanes handle a post each of what is left.

use super::is_over;
use super::places::Places;
use super::record::Serve;
use super::together;
use crate::grid::Grid;
use seawall_core::abi::ring::{ARGUMENTS, ControlBlock, Kind, SlotRecord};
use seawall_core::abi::serve::POST_WORDS;
use seawall_core::protocol::{Layout, Read, Ring, Scope, Worker, post};

/// Posts that a look takes at most. A look and the work of one lane take as long for all of them.
const POSTS: usize = 16;

/// Half of the time of a look, cycles.
const HALF_LOOK: u32 = 1_200;

/// Empty looks after which a courier begins to rest between two.
const PATIENT: u32 = 1 << 14;

/// Longest rest, nanoseconds.
const REST_NS: u32 = 20_000;

/// First word of the block's shared memory that keeps the rights of tenants, behind the posts.
const KEPT: u32 = POSTS as u32 * POST_WORDS;

const SHUTDOWN_AT: usize = core::mem::offset_of!(ControlBlock, shutdown) / 4;

/// Empties queue `number` until the end.
#[inline(never)]
pub(super) fn run<G: Grid>(grid: G, (serve, layout): (Serve, Layout), number: u32) {
    if grid.lane() >= G::WARP {
        return;
    }
    let device = serve.device(grid);
    // SAFETY: `Serve::new` promises these words for the layout.
    let places = unsafe { Places::new(grid, [device, serve.host(grid)], layout) };
    let places = places.keeping_rights(KEPT);
    let queue = Queue {
        grid,
        place: serve.queue(grid, number),
    };
    let mut next = 0_u32;
    let mut in_a_row = 0_u32;
    loop {
        let (found, looks) = queue.wait(device.wrapping_add(SHUTDOWN_AT), (next, in_a_row >= 2));
        if found == 0 {
            break;
        }
        let mut left = 0_u32;
        for post in 0..found {
            let is_answered = together::handle(grid, (&places, layout), queue.post(post));
            left |= u32::from(!is_answered) << post;
        }
        if left != 0 {
            handle_each(queue, (&places, layout), left);
        }
        grid.warp_barrier();
        next = next.wrapping_add(found);
        in_a_row = if looks == 0 {
            in_a_row.saturating_add(1)
        } else {
            1
        };
    }
    if grid.lane() == 0 {
        serve.leave(grid, layout);
    }
}

/// Handles the posts of a bit set, a lane each.
#[inline(never)]
fn handle_each<G: Grid>(queue: Queue<G>, (places, layout): (&Places<G>, Layout), posts: u32) {
    let mut worker = Worker::new(Ring::new(places, layout), None);
    let mut post = queue.grid.warp_lane();
    while post < POSTS as u32 {
        if posts >> post & 1 != 0 {
            handle(&mut worker, queue.post(post));
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
}

impl<G: Grid> Queue<G> {
    /// Waits for the post with number `next`: how many have come from it on, whose words are in the
    /// block's shared memory then, and the looks in vain before. None comes after the end, which
    /// the word `shutdown` tells. The first look is for several posts if `many`.
    ///
    /// A function of its own, so that what is under way between two looks stays in registers.
    #[inline(never)]
    fn wait(self, shutdown: *const u32, (next, many): (u32, bool)) -> (u32, u32) {
        let grid = self.grid;
        let lane = grid.warp_lane();
        // SAFETY: the control block is the first part of the device's ring.
        let order = || unsafe { grid.load_word(shutdown, Read::Relaxed, Scope::Device) };
        let mut in_vain = 0_u32;
        if many && grid.shuffle(u32::from(is_over(order())), 0) == 0 {
            let found = self.take(next, self.heads::<POSTS>(next));
            if found > 0 {
                return (found, 0);
            }
            in_vain = 1;
        }
        let mut ahead = self.word(next, lane);
        if !many {
            grid.delay(HALF_LOOK);
        }
        loop {
            let order = order();
            let later = self.word(next, lane);
            let found = self.take(next, [ahead]);
            // The lanes agree, for one tells all.
            let is_over = grid.shuffle(u32::from(is_over(order)), 0) != 0;
            if is_over || found > 0 {
                return (if is_over { 0 } else { found }, in_vain);
            }
            ahead = later;
            in_vain = in_vain.saturating_add(1);
            if in_vain > PATIENT {
                grid.rest((in_vain - PATIENT).min(REST_NS));
            } else {
                grid.pause(in_vain);
            }
        }
    }

    /// This lane's words of several posts from number `next` on.
    #[inline(always)]
    fn heads<const MOST: usize>(self, next: u32) -> [u32; MOST] {
        let lane = self.grid.warp_lane();
        core::array::from_fn(|post| self.word(next.wrapping_add(post as u32), lane))
    }

    /// Number of these posts from number `next` on that have come, of each of which this lane has
    /// read its first word. Their words are in the block's shared memory then.
    #[inline(always)]
    fn take<const MOST: usize>(self, next: u32, heads: [u32; MOST]) -> u32 {
        let grid = self.grid;
        let mut found = 0;
        for (post, head) in (0..).zip(&heads) {
            let is_here = self.has_come((post, next.wrapping_add(post)), *head);
            found += u32::from(is_here && post == found);
        }
        grid.warp_barrier();
        found
    }

    /// Whether the post with this number has come, which then is in place `post` of the block's
    /// shared memory.
    #[inline(always)]
    fn has_come(self, (post, number): (u32, u32), head: u32) -> bool {
        let grid = self.grid;
        let lane = grid.warp_lane();
        let mut shares = self.keep(post, lane, head);
        let mut place = lane + G::WARP;
        while place < POST_WORDS {
            let word = self.word(number, place);
            shares = shares.wrapping_add(self.keep(post, place, word));
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
    fn keep(self, post: u32, place: u32, word: u32) -> u32 {
        // SAFETY: `POSTS` posts are fewer words than a block has.
        unsafe { self.grid.shared_store(post * POST_WORDS + place, word) };
        post::share_of(place, word)
    }

    /// The slot of a post that came.
    #[inline(always)]
    fn post(self, post: u32) -> (u32, SlotRecord) {
        // SAFETY: as in `keep`.
        let word = |place: u32| unsafe { self.grid.shared_load(post * POST_WORDS + place) };
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
