//! Narrow steps: the first block of each device takes them alone, without a barrier of its grid, and
//! counts in shared memory.
//!
//! ```text
//! lists of all -> rows -> edges -> values | own finds -> lists of all | mail -> mail of all
//! ```
//!
//! A device writes each node into the lists of all when it finds it, so a step waits for seven
//! accesses one after another, two of them to other devices.

use super::advance::{EACH, Fetched, rows};
use super::meet::{Found, LISTED, Part, read, send, wait};
use super::record::Edges;
use crate::collectives::block::warp_sum_wide;
use crate::machine::Grid;
use crate::machine::memory::{Proven, word_of};
use crate::machine::shared::{NARROW_COUNTS, NARROW_FAILED, NARROW_MAIL};
use crate::tables::control::Stop;
use core::cell::Cell;
use seawall_core::abi::multi::{LIST, Mail, MultiState};
use seawall_core::protocol::Read;

/// Most nodes of a narrow step: one multiprocessor reads the rows of more slower than all do. The edges
/// that leave them are not more than [`LIST`], so a list holds what it finds.
const NODES: u64 = 1024;

/// Steps between two looks at the clock.
const STEPS_PER_LOOK: u32 = 32;

/// The effect of an edge on the node at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Nothing.
    Nothing,
    /// The step found the node, for the first time.
    Found,
    /// The distance along it is too long for a word.
    TooLong,
}

/// The work of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Narrow<F, T, S> {
    pub(super) edges: Edges,
    /// Reads what belongs to the edge at a place: its end, and more.
    pub(super) fetch: F,
    /// Takes an edge in a step: its first node, its end, and what was read.
    pub(super) take: T,
    /// Tells the others about a node that was found, once all edges are taken.
    pub(super) settle: Option<S>,
    /// The last step.
    pub(super) limit: u32,
}

impl Found {
    fn is_narrow(self) -> bool {
        (1..=NODES).contains(&self.nodes) && self.edges <= u64::from(LIST)
    }
}

/// Takes steps while `found`, of which the last step left the sums, is narrow; returns what the last
/// of them found. Every lane calls this.
///
/// # Errors
/// As [`Part::meet`].
#[inline(always)]
pub(super) fn narrow<G: Grid, V: Copy>(
    part: &mut Part<G>,
    found: Found,
    work: Narrow<impl Fn(u32) -> (u32, V), impl Fn(u32, u32, u32, V) -> Taken, impl Fn(u32)>,
) -> Result<Found, Stop> {
    if !found.is_narrow() || part.step >= work.limit {
        return Ok(found);
    }
    // All lanes have read the sums before the first block changes them.
    part.barrier()?;
    if part.team.is_first() {
        let mut alone = Part {
            team: part.team.alone(),
            ..*part
        };
        steps(&mut alone, work)?;
    }
    part.barrier()?;
    part.step = part.state(word_of!(MultiState, step));
    part.meetings = part.state(word_of!(MultiState, meetings));
    Ok(part.found())
}

/// Words of shared memory for a step, of an even or an odd one.
#[derive(Clone, Copy, Debug)]
struct Counts {
    first: u32,
}

impl Counts {
    const NODES: u32 = 0;
    const EDGES: u32 = 1;
    const TOO_LONG: u32 = 2;
    const WORDS: u32 = 3;

    fn of(step: u32) -> Self {
        Self {
            first: step % 2 * Self::WORDS,
        }
    }

    #[inline(always)]
    fn load<G: Grid>(self, grid: G, at: u32) -> u32 {
        // SAFETY: there are twice as many words.
        unsafe { NARROW_COUNTS.load(grid, self.first + at) }
    }

    #[inline(always)]
    fn add<G: Grid>(self, grid: G, at: u32, value: u32) -> u32 {
        // SAFETY: there are twice as many words.
        unsafe { NARROW_COUNTS.add(grid, self.first + at, value) }
    }

    #[inline(always)]
    fn clear<G: Grid>(self, grid: G) {
        for at in 0..Self::WORDS {
            // SAFETY: there are twice as many words.
            unsafe { NARROW_COUNTS.store(grid, self.first + at, 0) };
        }
    }
}

/// A word of what a device said in its last mail.
#[inline(always)]
fn said<G: Grid>(grid: G, device: u32, at: u32) -> u32 {
    // SAFETY: there are these words for each device.
    unsafe { NARROW_MAIL.load(grid, device * Counts::WORDS + at) }
}

#[inline(always)]
fn note<G: Grid>(grid: G, device: u32, words: [u32; 3]) {
    for (at, word) in (0..).zip(words) {
        // SAFETY: there are these words for each device.
        unsafe { NARROW_MAIL.store(grid, device * Counts::WORDS + at, word) };
    }
}

/// Nodes that all devices found last, edges that leave them, and distances that were too long.
#[inline(always)]
fn said_by_all<G: Grid>(grid: G, devices: u32) -> [u64; 3] {
    let mut sums = [0; 3];
    for device in 0..devices {
        for (sum, at) in sums.iter_mut().zip(0..) {
            *sum += u64::from(said(grid, device, at));
        }
    }
    sums
}

/// Takes steps with one block.
#[inline(always)]
fn steps<G: Grid, V: Copy>(
    part: &mut Part<G>,
    work: Narrow<impl Fn(u32) -> (u32, V), impl Fn(u32, u32, u32, V) -> Taken, impl Fn(u32)>,
) -> Result<(), Stop> {
    let (grid, multi) = (part.grid(), part.multi);
    let devices = multi.devices(grid);
    let mut device = grid.lane();
    while device < devices {
        let form = part.state(word_of!(MultiState, parts) + device);
        note(grid, device, [form & !LISTED, 0, 0]);
        device += grid.lanes();
    }
    if grid.lane() == 0 {
        Counts::of(0).clear(grid);
        Counts::of(1).clear(grid);
        NARROW_FAILED.store(grid, 0);
    }
    grid.block_barrier();
    let before = part.step;
    let mut ended = Ended::default();
    loop {
        let step = part.step + 1;
        ended.examined += expand(part, step, &work);
        grid.block_barrier();
        let counts = Counts::of(step);
        let own = [Counts::NODES, Counts::EDGES, Counts::TOO_LONG].map(|at| counts.load(grid, at));
        if let Some(settle) = &work.settle {
            let list = multi.list(grid, multi.own(grid), step);
            part.team
                .each(own[0].min(LIST), |at| settle(list.load_weak(grid, at)));
            grid.block_barrier();
        }
        if grid.lane() == 0 {
            Counts::of(step + 1).clear(grid);
        }
        exchange(part, own);
        grid.block_barrier();
        if NARROW_FAILED.load(grid) != 0 {
            return Err(Stop);
        }
        part.meetings += 1;
        part.step = step;
        let looks = (step - before).is_multiple_of(STEPS_PER_LOOK);
        if looks && part.team.is_out_of_time(|| part.point()) {
            return Err(Stop);
        }
        let [nodes, edges, too_long] = said_by_all(grid, devices);
        let found = Found { nodes, edges };
        ended.found = found;
        ended.explored += edges;
        ended.too_long += too_long;
        ended.sent += u64::from(own[0]);
        if !found.is_narrow() || step >= work.limit {
            break;
        }
    }
    ended.store(part, before);
    Ok(())
}

/// Takes the edges of the nodes that all devices found last, each warp those of some of them; returns
/// how many edges this lane's nodes have.
#[inline(always)]
fn expand<G: Grid, V: Copy>(
    part: &Part<G>,
    step: u32,
    work: &Narrow<impl Fn(u32) -> (u32, V), impl Fn(u32, u32, u32, V) -> Taken, impl Fn(u32)>,
) -> u64 {
    let (grid, multi) = (part.grid(), part.multi);
    let (first, degrees) = (multi.first(grid), multi.degrees(grid));
    let (own, devices) = (multi.own(grid), multi.devices(grid));
    let (counts, list) = (Counts::of(step), multi.list(grid, own, step));
    let fetch = |edge: u32| {
        let (to, more) = (work.fetch)(edge);
        (to, more, degrees.constant(grid, to - first))
    };
    let (leaving, too_long) = (Cell::new(0_u32), Cell::new(0_u32));
    let take = |edges: Fetched<(u32, V, u32)>, there: [bool; EACH]| {
        // Codegen rule `NO_INDEXED_ARRAYS`.
        let [a, b, c, d] = edges;
        let [has_a, has_b, has_c, has_d] = there;
        let one = |(from, (to, more, degree)): (u32, (u32, V, u32)), is_there: bool| {
            if !is_there {
                return false;
            }
            match (work.take)(step, from, to, more) {
                Taken::Nothing => {}
                Taken::Found => {
                    // A word holds the sum of as many as a list holds.
                    leaving.set(leaving.get() + degree.min(1 << 18));
                    return true;
                }
                Taken::TooLong => too_long.set(too_long.get() + 1),
            }
            false
        };
        let new = (one(a, has_a), one(b, has_b), one(c, has_c), one(d, has_d));
        // One place for the warp: lanes that count one by one would wait for each other.
        let votes = (
            grid.ballot(new.0),
            grid.ballot(new.1),
            grid.ballot(new.2),
            grid.ballot(new.3),
        );
        let second = votes.0.count_ones();
        let third = second + votes.1.count_ones();
        let fourth = third + votes.2.count_ones();
        let count = fourth + votes.3.count_ones();
        if count == 0 {
            return;
        }
        let mut place = 0;
        if grid.warp_lane() == 0 {
            place = counts.add(grid, Counts::NODES, count);
        }
        place = grid.shuffle(place, 0);
        let tell = |(_, (to, ..)): (u32, (u32, V, u32)), is_new: bool, vote: u32, before: u32| {
            let own = place + before + (vote & grid.lanes_below()).count_ones();
            if is_new && own < LIST {
                for device in 0..devices {
                    multi
                        .of_device(grid, list, device)
                        .store_weak(grid, own, to);
                }
            }
        };
        tell(a, new.0, votes.0, 0);
        tell(b, new.1, votes.1, second);
        tell(c, new.2, votes.2, third);
        tell(d, new.3, votes.3, fourth);
    };
    let mut all = 0;
    for device in 0..devices {
        all += said(grid, device, Counts::NODES);
    }
    let (warp, warps) = part.team.warps();
    let (mut base, mut edges) = (0, 0);
    while base < all {
        let at = base + warp + warps * grid.warp_lane();
        let node = (at < all).then(|| listed(part, devices, at));
        edges += u64::from(rows(part, work.edges, u32::MAX, node, fetch, take));
        base += grid.lanes();
    }
    let add = |at: u32, own: u32| {
        let sum = grid.warp_sum(own);
        if grid.warp_lane() == 0 && sum != 0 {
            counts.add(grid, at, sum);
        }
    };
    add(Counts::EDGES, leaving.get());
    add(Counts::TOO_LONG, too_long.get());
    edges
}

/// Node `at` of those that all devices found last, one device after another.
#[inline(always)]
fn listed<G: Grid>(part: &Part<G>, devices: u32, mut at: u32) -> u32 {
    let (grid, multi) = (part.grid(), part.multi);
    let mut device = 0;
    while device + 1 < devices {
        let count = said(grid, device, Counts::NODES);
        if at < count {
            break;
        }
        at -= count;
        device += 1;
    }
    let list: Proven = multi.list(grid, device, part.step);
    list.load_weak(grid, at.min(LIST - 1))
}

/// Sends this device's counts to all others, and waits for theirs: a lane for each.
#[inline(always)]
fn exchange<G: Grid>(part: &Part<G>, own: [u32; 3]) {
    let (grid, multi) = (part.grid(), part.multi);
    let (number, devices) = (multi.own(grid), multi.devices(grid));
    let epoch = part.meetings + 1;
    let mail = multi.mail(grid, number, epoch);
    let mut device = grid.lane();
    while device < devices {
        if device == number {
            note(grid, device, own);
        } else {
            let there = multi.of_device(grid, mail, device);
            let [nodes, edges, too_long] = own;
            for (at, word) in [
                (word_of!(Mail, found), nodes),
                (word_of!(Mail, is_list), 1),
                (word_of!(Mail, edges), edges),
                (word_of!(Mail, edges) + 1, 0),
                (word_of!(Mail, change), too_long),
                (word_of!(Mail, change) + 1, 0),
            ] {
                send(grid, there, at, word);
            }
            send(grid, there, word_of!(Mail, epoch), epoch);
        }
        device += grid.lanes();
    }
    device = grid.lane();
    while device < devices {
        if device != number {
            if !wait(*part, device, epoch) {
                NARROW_FAILED.store(grid, 1);
                return;
            }
            let mail = multi.mail(grid, device, epoch);
            let word = |at: u32| read(grid, mail, at, Read::Relaxed);
            let nodes = word(word_of!(Mail, found)).min(LIST);
            let [edges, too_long] = [word_of!(Mail, edges), word_of!(Mail, change)].map(word);
            note(grid, device, [nodes, edges, too_long]);
        }
        device += grid.lanes();
    }
}

/// The sums of all steps.
#[derive(Clone, Copy, Debug, Default)]
struct Ended {
    found: Found,
    explored: u64,
    too_long: u64,
    /// Nodes that this device told the others.
    sent: u64,
    /// Edges of this lane's nodes.
    examined: u64,
}

impl Ended {
    /// Leaves the state as a step of all blocks does. Step `before` was the last one of these.
    #[inline(always)]
    fn store<G: Grid>(self, part: &Part<G>, before: u32) {
        let (grid, multi) = (part.grid(), part.multi);
        let (state, devices) = (multi.state(grid), multi.devices(grid));
        let examined = warp_sum_wide(grid, self.examined);
        if grid.warp_lane() == 0 {
            state.add_wide(grid, word_of!(MultiState, examined), examined);
        }
        if grid.lane() != 0 {
            return;
        }
        for device in 0..devices {
            let nodes = said(grid, device, Counts::NODES);
            state.store(grid, word_of!(MultiState, parts) + device, nodes | LISTED);
        }
        let wide = |at: u32, sum: u64| {
            state.store(grid, at, sum as u32);
            state.store(grid, at + 1, (sum >> 32) as u32);
        };
        wide(word_of!(MultiState, found), self.found.nodes);
        wide(word_of!(MultiState, edges), self.found.edges);
        let more = |at: u32, sum: u64| wide(at, state.load_wide(grid, at).wrapping_add(sum));
        more(word_of!(MultiState, explored), self.explored);
        let steps = part.step - before;
        let words = self.sent + u64::from(steps) * u64::from(word_of!(Mail, rest));
        more(
            word_of!(MultiState, sent),
            words * 4 * u64::from(devices - 1),
        );
        state.add(grid, word_of!(MultiState, lists), steps);
        if self.too_long != 0 {
            state.store(grid, word_of!(MultiState, overflow), 1);
        }
        state.store(grid, word_of!(MultiState, step), part.step);
        state.store(grid, word_of!(MultiState, meetings), part.meetings);
        for step in 0..3 {
            let counters = multi.counters(grid, step);
            (0..counters.len()).for_each(|at| counters.store(grid, at, 0));
        }
    }
}
