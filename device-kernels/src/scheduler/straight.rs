//! Runs of narrow groups without grid barriers between them.
//!
//! The cost of a chain of small waves is the lookup: group, wave and registers are loads that wait
//! for each other. So the lanes of the block look ahead, one group per lane, and leave operations
//! on words decoded in shared memory, from where the whole block runs them one after another.
//! Groups with other waves run as usual.
//!
//! One block runs them alone, since a block barrier is cheap. Joined groups need no barrier at all:
//! each lane takes its words through all of them, and keeps the next operation's inputs in
//! registers. If that is enough work, all blocks share the words.

use super::group::{OUTSIDE, end_of_group, run_waves};
use super::sets::WaveSet;
use crate::collectives::context::{Context, ContextRef};
use crate::machine::Grid;
use crate::machine::memory::Proven;
use crate::machine::shared::{STEP_WAVES, STEP_WORDS, STEPS, STEPS_AHEAD};
use crate::operators::words::{FILL, Operation, QUAD};
use crate::tables::control::Stop;
use seawall_core::abi::own::own_number;

const _: () = assert!(STEPS_AHEAD.is_multiple_of(32));

/// The first word of an operation has its kind in the low byte.
///
/// In the last operation of a group, the upper half counts the groups up to its own. This
/// word stands for no operation.
const NOTHING: u32 = 0xff;

/// Bit of the first word: no barrier is needed before the operation.
const JOINED: u32 = 0x100;

/// First group after the run of narrow groups that starts at `group`. A warp
/// operation.
#[inline(never)]
pub(super) fn end_of_run<G: Grid>(cx: ContextRef<G>, group: u32, groups: u32) -> u32 {
    let (tables, grid) = (cx.context().tables, cx.grid());
    let mut end = group;
    loop {
        let at = end.saturating_add(grid.warp_lane());
        let is_narrow = at < groups
            && tables
                .group(grid, at)
                .is_some_and(|record| record.narrow != 0);
        let wide = grid.ballot(!is_narrow);
        if wide != 0 {
            return end + wide.trailing_zeros();
        }
        end += G::WARP;
    }
}

/// Runs the groups from `first` up to `end` one after another. Every block calls this;
/// all blocks meet before and after it.
///
/// # Errors
/// If a wave faults, or a barrier ends the run.
#[inline(never)]
pub(super) fn run_straight<G: Grid, S: WaveSet>(
    cx: ContextRef<G>,
    first: u32,
    end: u32,
) -> Result<(), Stop> {
    let grid = cx.grid();
    let mut group = first;
    let mut was_shared = false;
    while group < end {
        let ready = look_ahead(cx.alone(), group, end);
        let context = cx.context();
        let is_shared = context.team.size() > 1 && ready.is_worth_sharing();
        let goes_on = was_shared && is_shared && ready.joined;
        if group != first && (was_shared || is_shared) && !goes_on {
            context.team.barrier(|| end_of_group(cx, end - 1))?;
        }
        if is_shared {
            run_joined(&context, ready);
        } else if context.team.is_first() {
            let alone = cx.alone().context();
            if ready.all_joined {
                run_joined(&alone, ready);
            } else {
                run_ready(&alone, ready.operations);
            }
            if ready.groups == 0 {
                run_others::<G, S>(cx.alone(), group, end)?;
            }
            grid.block_barrier();
        }
        was_shared = is_shared;
        group += if ready.groups == 0 {
            others::<G, S>(cx, group, end)
        } else {
            ready.groups
        };
    }
    Ok(())
}

/// Runs the groups from `first` on that [`others`] counts, in this block.
#[inline(always)]
fn run_others<G: Grid, S: WaveSet>(cx: ContextRef<G>, first: u32, end: u32) -> Result<(), Stop> {
    for group in first..first + others::<G, S>(cx, first, end) {
        run_waves::<G, S>(cx, group, OUTSIDE)?;
    }
    Ok(())
}

/// Number of groups from `first` on that run one after the other without a barrier, where the first
/// is more than operations on words: that one, and if its waves are of another crate and work word
/// by word, joined groups of the same kind.
#[inline(always)]
fn others<G: Grid, S: WaveSet>(cx: ContextRef<G>, first: u32, end: u32) -> u32 {
    let mut group = first + 1;
    if S::OWN != 0 && by_word::<G, S>(cx, first, false) {
        while group < end && by_word::<G, S>(cx, group, true) {
            group += 1;
        }
    }
    group - first
}

/// Whether all waves of a group are of another crate and work word by word, and the group
/// is joined to the one before, where that is `wanted`.
#[inline(never)]
fn by_word<G: Grid, S: WaveSet>(cx: ContextRef<G>, index: u32, wanted: bool) -> bool {
    let (tables, grid) = (cx.context().tables, cx.grid());
    let Some(group) = tables.group(grid, index) else {
        return false;
    };
    if wanted && group.joined == 0 {
        return false;
    }
    let waves = group.first_wave..group.first_wave.saturating_add(group.waves);
    waves.into_iter().all(|at| {
        let wave = tables.wave(grid, at);
        let number = wave.and_then(|wave| own_number(wave.opcode(grid)));
        number.is_some_and(S::is_word_wise)
    })
}

/// Operations that are ready to run.
#[derive(Clone, Copy, Debug)]
struct Ready {
    operations: u32,
    /// Groups that they belong to.
    groups: u32,
    /// Words of the first operation's registers.
    words: u32,
    /// Whether the first needs no barrier before it.
    joined: bool,
    /// Whether no other needs one either, and all have equally many words.
    all_joined: bool,
}

impl Ready {
    /// Whether all blocks are faster than one, although they need barriers before and after.
    /// Measured on an H200: an operation on 4096 words took 0.68 µs in one block and 0.55 µs shared
    /// by all; a barrier takes 0.9 µs. The best limit was not measured.
    #[inline(always)]
    fn is_worth_sharing(self) -> bool {
        self.all_joined && u64::from(self.operations) * u64::from(self.words) >= 1 << 14
    }
}

/// Makes the operations of the next groups ready, up to the first group that has another wave or
/// does not fit. A block operation.
#[inline(never)]
fn look_ahead<G: Grid>(cx: ContextRef<G>, first: u32, end: u32) -> Ready {
    let grid = cx.grid();
    // Slow lanes may still read the previous content.
    grid.block_barrier();
    let mut at = grid.lane();
    while at <= STEPS_AHEAD {
        // SAFETY: there are words for each place.
        unsafe { STEPS.store(grid, at * STEP_WORDS, NOTHING) };
        at += grid.lanes();
    }
    grid.block_barrier();
    let mut ahead = grid.lane();
    // Operations after a group that is not ready are never read.
    while ahead < STEPS_AHEAD && ahead < end - first && make_ready(cx, first, ahead) {
        ahead += grid.lanes();
    }
    grid.block_barrier();
    survey(grid)
}

/// Counts the operations that are ready. A warp operation.
#[inline(always)]
fn survey<G: Grid>(grid: G) -> Ready {
    // SAFETY: callers' places are below the number of places, which is more than whole
    // warps of them.
    let word = |place: u32, at: u32| unsafe { STEPS.load(grid, place * STEP_WORDS + at) };
    let head = |place: u32| word(place, 0);
    let words = word(0, 1);
    let (mut operations, mut nothing, mut all_joined) = (0, 0, true);
    while nothing == 0 && operations < STEPS_AHEAD {
        let place = operations + grid.warp_lane();
        let own = head(place);
        nothing = grid.ballot(own & 0xff == NOTHING);
        let before = nothing.trailing_zeros().min(G::WARP);
        let joins = place == 0 || own & JOINED != 0 && word(place, 1) == words;
        all_joined &= grid.ballot(!joins).trailing_zeros() >= before;
        operations += before;
    }
    let groups = if operations > 0 {
        head(operations - 1) >> 16
    } else {
        0
    };
    Ready {
        operations,
        groups,
        words,
        joined: head(0) & JOINED != 0,
        all_joined: all_joined && operations > 0,
    }
}

/// Makes group `first + ahead` ready if all its waves are operations on words and there is a place
/// for each; returns whether it did. One lane calls this.
///
/// The waves of successive groups lie one after another in their table, and so do their
/// places. The first wave is stored last, so a block that reads in order stops at a group
/// that is not ready.
#[inline(never)]
fn make_ready<G: Grid>(cx: ContextRef<G>, first: u32, ahead: u32) -> bool {
    let (tables, grid) = (cx.context().tables, cx.grid());
    let (Some(start), Some(group)) = (tables.group(grid, first), tables.group(grid, first + ahead))
    else {
        return false;
    };
    let place = group.first_wave.wrapping_sub(start.first_wave);
    if group.waves == 0 || place >= STEPS_AHEAD || group.waves > STEPS_AHEAD - place {
        return false;
    }
    let mut offset = group.waves;
    while offset > 0 {
        offset -= 1;
        let mut flags = 0;
        if offset > 0 || group.joined != 0 {
            flags |= JOINED;
        }
        if offset + 1 == group.waves {
            flags |= (ahead + 1) << 16;
        }
        if !make_wave_ready(cx, group.first_wave + offset, place + offset, flags) {
            return false;
        }
    }
    true
}

/// Makes wave `index` ready at `place` and returns whether it is an operation on words.
#[inline(never)]
fn make_wave_ready<G: Grid>(cx: ContextRef<G>, index: u32, place: u32, flags: u32) -> bool {
    let (context, grid) = (&cx.context(), cx.grid());
    let Some(wave) = context.tables.wave(grid, index) else {
        return false;
    };
    let Ok(operation) = Operation::new(context, wave) else {
        return false;
    };
    store(grid, place, operation, wave.number(grid), flags);
    true
}

/// Stores an operation, the number of its wave, and the flags of its first word.
#[inline(always)]
fn store<G: Grid>(grid: G, place: u32, operation: Operation, wave: u32, flags: u32) {
    let Operation {
        what,
        to,
        left,
        right,
        value,
    } = operation;
    let (low, high) = (|word: u64| word as u32, |word: u64| (word >> 32) as u32);
    // An operation has a value or two sources, never both.
    let (left, right) = if what == FILL {
        (u64::from(value), 0)
    } else {
        (left.address(), right.address())
    };
    let words = [
        what | flags,
        to.len(),
        low(to.address()),
        high(to.address()),
        low(left),
        high(left),
        low(right),
        high(right),
    ];
    let mut at = words.len();
    // SAFETY: there are words for each place.
    unsafe {
        STEP_WAVES.store(grid, place, wave);
        while at > 0 {
            at -= 1;
            STEPS.store(grid, place * STEP_WORDS + at as u32, words[at]);
        }
    }
}

/// The operation at `place`.
#[inline(always)]
fn step<G: Grid>(grid: G, place: u32) -> (u32, Operation) {
    let at = place * STEP_WORDS;
    // SAFETY: callers' places are below the number of places, whose words are aligned.
    let ([head, words, to_low, to_high], [left_low, left_high, right_low, right_high]) =
        unsafe { (STEPS.load4(grid, at), STEPS.load4(grid, at + 4)) };
    let array = |low: u32, high: u32| {
        let address = u64::from(low) | u64::from(high) << 32;
        // SAFETY: the address of a register that is at least as long; a fill never reads
        // its value as an address.
        unsafe { Proven::trusted(address as *mut u32, words) }
    };
    let operation = Operation {
        what: head & 0xff,
        to: array(to_low, to_high),
        left: array(left_low, left_high),
        right: array(right_low, right_high),
        value: left_low,
    };
    (head, operation)
}

/// Records that the `count` operations up to `last` run.
#[inline(always)]
fn note<G: Grid>(context: &Context<G>, last: u32, count: u32) {
    if context.team.is_leader() {
        let grid = context.team.grid;
        // SAFETY: there is a number for every place.
        let wave = unsafe { STEP_WAVES.load(grid, last) };
        context.team.control.note_waves(grid, wave, count);
    }
}

/// Runs operations one after another in this block.
#[inline(always)]
fn run_ready<G: Grid>(context: &Context<G>, operations: u32) {
    let grid = context.team.grid;
    for place in 0..operations {
        let (head, operation) = step(grid, place);
        if head & JOINED == 0 {
            grid.block_barrier();
        }
        note(context, place, 1);
        operation.apply(&context.team);
    }
}

/// Runs operations that need no barrier between them: each lane takes its words
/// through all of them.
#[inline(always)]
fn run_joined<G: Grid>(context: &Context<G>, ready: Ready) {
    let (grid, operations) = (context.team.grid, ready.operations);
    note(context, operations - 1, operations);
    if !G::SIMT {
        // A processor's cache returns recent writes at once.
        for place in 0..operations {
            step(grid, place).1.apply(&context.team);
        }
        return;
    }
    if operations == 1 {
        // Each lane takes the same words as below, but more at a time.
        return step(grid, 0).1.apply(&context.team);
    }
    context.team.each_of::<1>(ready.words / QUAD, |[quad]| {
        let mut recent = Recent::default();
        // The next operation is in flight while this one runs; the place after the last
        // one holds none.
        let (_, mut operation) = step(grid, 0);
        for place in 0..operations {
            let (_, next) = step(grid, place + 1);
            recent.apply(grid, &operation, *quad * QUAD);
            operation = next;
        }
    });
    context.team.each(ready.words % QUAD, |rest| {
        for place in 0..operations {
            step(grid, place).1.apply_last(grid, rest);
        }
    });
}

/// Four words of each of the two registers that a lane wrote last. Memory would take
/// about half a microsecond to return them.
#[derive(Clone, Copy, Default)]
struct Recent {
    last: ([u32; 4], u64),
    before: ([u32; 4], u64),
}

impl Recent {
    /// Runs `operation` on the four words from `at` on.
    #[inline(always)]
    fn apply<G: Grid>(&mut self, grid: G, operation: &Operation, at: u32) {
        let load = |from: Proven, reads: bool| {
            if !reads {
                [0; 4]
            } else if from.address() == self.last.1 {
                self.last.0
            } else if from.address() == self.before.1 {
                self.before.0
            } else {
                from.load_weak4(grid, at)
            }
        };
        let left = load(operation.left, operation.reads_left());
        let right = load(operation.right, operation.reads_right());
        let words = operation.quad(at, left, right);
        operation.to.store_weak4(grid, at, words);
        if operation.to.address() != self.last.1 {
            self.before = self.last;
        }
        self.last = (words, operation.to.address());
    }
}
