//! The blocks that work on something together: all of them, or one.
//!
//! Waves are written for a team and do not know which. A team of the whole
//! grid meets at the grid barrier, a team of one block at its block barrier,
//! so narrow work and independent graphs cost no grid barrier.

use crate::block::shared::{EPOCH, PIECES, STOPPED};
use crate::control::{Control, Place, Stop};
use crate::grid::Grid;
use seawall_core::abi::control::{FaultCode, FaultRecord};

/// Blocks that share work and barriers.
#[derive(Clone, Copy, Debug)]
pub struct Team<G> {
    /// This lane's view of the machine.
    pub grid: G,
    /// The run's control block.
    pub control: Control,
    rank: u32,
    size: u32,
    deadline_ns: u64,
}

/// Clock cycles between an arrival and the first poll. Nobody can have met
/// earlier, and polls in vain delay the arrivals that they wait for: measured on
/// an H200 with 132 blocks of 256 lanes, a barrier takes 820 to 828 ns with 280
/// cycles. With up to 240 it depends on where the ticket lies in memory: at some
/// places two barriers in three poll twice.
const FIRST_POLL_CYCLES: u32 = 280;

/// Polls of a waiting lane between two looks at the clock and the fault word.
const POLLS_PER_LOOK: u32 = 1024;

/// Pieces that each block should find where work is taken, so that all end at about the
/// same time.
const PIECES_EACH: u32 = 16;

/// Rounds of a loop between two looks at the clock: `on_a_gpu` there, where a loop whose
/// barriers are short would otherwise never find out that its time is over. A CPU looks
/// each round, as a round of a large graph takes long and a look some 30 ns.
pub const fn rounds_per_look<G: Grid>(on_a_gpu: u32) -> u32 {
    if G::ITEMS == 1 { on_a_gpu } else { 1 }
}

impl<G: Grid> Team<G> {
    /// All blocks of the grid; they stop themselves at `deadline_ns` of the
    /// grid's clock.
    #[inline(always)]
    pub fn whole(grid: G, control: Control, deadline_ns: u64) -> Self {
        if grid.lane() == 0 {
            // SAFETY: fixed words of shared memory.
            unsafe {
                grid.shared_store(EPOCH, 0);
                grid.shared_store(STOPPED, 0);
                if G::TAKES {
                    grid.shared_store(PIECES, 0);
                }
            }
        }
        Self::again(grid, control, deadline_ns)
    }

    /// The team that [`Team::whole`] made, in a call.
    #[inline(always)]
    pub fn again(grid: G, control: Control, deadline_ns: u64) -> Self {
        Self {
            grid,
            control,
            rank: grid.block(),
            size: grid.blocks(),
            deadline_ns,
        }
    }

    /// This block alone.
    #[inline(always)]
    #[must_use]
    pub fn alone(self) -> Self {
        Self {
            rank: 0,
            size: 1,
            ..self
        }
    }

    /// Whether [`Team::alone`] made this team. A grid of one block is no other team.
    #[inline(always)]
    pub fn is_alone(&self) -> bool {
        self.size == 1
    }

    /// When blocks stop themselves, by the grid's clock.
    #[inline(always)]
    pub fn deadline_ns(&self) -> u64 {
        self.deadline_ns
    }

    /// Whether this block is the team's first, which keeps its books.
    #[inline(always)]
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// Whether this lane is the team's first.
    #[inline(always)]
    pub fn is_conductor(&self) -> bool {
        self.rank == 0 && self.grid.lane() == 0
    }

    /// Whether this lane is the first of the team's last block, which has the
    /// least to do in a small round and so the time for its books.
    #[inline(always)]
    pub fn is_bookkeeper(&self) -> bool {
        self.rank + 1 == self.size && self.grid.lane() == 0
    }

    /// Blocks of the team.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Number of this block in the team.
    #[inline(always)]
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Grid barriers that the grid crossed: for the first lane of a block, which
    /// counts them.
    #[inline(always)]
    pub fn barriers(&self) -> u32 {
        // SAFETY: a fixed word of shared memory.
        unsafe { self.grid.shared_load(EPOCH) }
    }

    /// Number of this lane's warp in the team, and warps of the team.
    #[inline(always)]
    pub fn warps(&self) -> (u32, u32) {
        let warps = self.grid.lanes() / G::WARP;
        (
            self.rank * warps + self.grid.lane() / G::WARP,
            self.size * warps,
        )
    }

    /// Calls `item` for this lane's share of `0..count`.
    #[inline(always)]
    pub fn each(&self, count: u32, mut item: impl FnMut(u32)) {
        let lanes = self.grid.lanes();
        let tile = u64::from(lanes * G::ITEMS);
        let mut base = u64::from(self.rank) * tile;
        while base < u64::from(count) {
            if G::ITEMS == 1 {
                let index = base as u32 + self.grid.lane();
                if index < count {
                    item(index);
                }
            } else {
                let end = (base + tile).min(u64::from(count)) as u32;
                for index in base as u32..end {
                    item(index);
                }
            }
            base += u64::from(self.size) * tile;
        }
    }

    /// Calls `item` for each of `0..count`, in some lane: where a grid deals work out
    /// to blocks that ask for it, those that are faster take more of a long count. So
    /// unlike with [`Team::each`], nobody may rely on who gets an item.
    ///
    /// For items that take long, as rows of edges do: who gets words in turn finds
    /// those of the last time in its caches.
    #[inline(always)]
    pub fn each_taken(&self, count: u32, mut item: impl FnMut(u32)) {
        if !self.takes(count) {
            return self.each(count, item);
        }
        self.each_range(count, G::ITEMS, |first, end| {
            for index in first..end {
                item(index);
            }
        });
    }

    /// Whether blocks ask for shares of `count` items. To take one costs as much as a
    /// few rows, so it has to hold many.
    #[inline(always)]
    fn takes(&self, count: u32) -> bool {
        const LEAST: u32 = 64;
        G::TAKES && self.size != 1 && count / self.size.saturating_mul(PIECES_EACH) >= LEAST
    }

    /// [`Team::each_taken`] for neighbouring items together, at most `most` of them, in
    /// teams of one-lane blocks.
    #[inline(always)]
    pub fn each_range(&self, count: u32, most: u32, mut range: impl FnMut(u32, u32)) {
        if !self.takes(count) {
            let even = |rank: u32| u64::from(count) * u64::from(rank) / u64::from(self.size);
            return range(even(self.rank) as u32, even(self.rank + 1) as u32);
        }
        let even = count / self.size.saturating_mul(PIECES_EACH);
        let items = u64::from(even.min(most));
        // SAFETY: a fixed word of shared memory.
        let piece = unsafe {
            let piece = self.grid.shared_load(PIECES).wrapping_add(1);
            self.grid.shared_store(PIECES, piece);
            piece
        };
        loop {
            let first = u64::from(self.grid.take(piece)) * items;
            if first >= u64::from(count) {
                return;
            }
            let end = (first + items).min(u64::from(count));
            range(first as u32, end as u32);
        }
    }

    /// Calls `items` for this lane's share of `0..count`, `K` items at a time, so
    /// that what they read is under way together. Where a lane has fewer left, the
    /// others are not below `count`. Few items are dealt out to many blocks; which
    /// lane gets an item depends on the team and on `count` alone.
    #[inline(always)]
    pub fn each_of<const K: usize>(&self, count: u32, mut items: impl FnMut(&[u32; K])) {
        if G::ITEMS != 1 {
            // Neighbouring items, in one share a block.
            let share = count.div_ceil(self.size);
            let first = self.rank.saturating_mul(share).min(count);
            for item in first..first.saturating_add(share).min(count) {
                let mut some = [u32::MAX; K];
                some[0] = item;
                items(&some);
            }
            return;
        }
        let warp = self.grid.lane() / G::WARP * self.size + self.rank;
        let stride = self.size * self.grid.lanes();
        let mut next = warp * G::WARP + self.grid.warp_lane();
        while next < count {
            let mut some = [u32::MAX; K];
            for item in &mut some {
                if next < count {
                    *item = next;
                }
                next = next.saturating_add(stride);
            }
            items(&some);
        }
    }

    /// Whether the run's time is over.
    #[inline(always)]
    pub fn is_late(&self) -> bool {
        self.grid.now_ns() >= self.deadline_ns
    }

    /// Whether the run's time has been over for a second.
    #[inline(always)]
    pub fn is_overdue(&self) -> bool {
        self.grid.now_ns() >= self.deadline_ns.saturating_add(1_000_000_000)
    }

    /// Reports the end of the time budget when it is over, and tells so to
    /// this block. Only the first block looks at the clock; the others find
    /// its report at their next barrier. All lanes of the block take part.
    #[inline(always)]
    pub fn is_out_of_time(&self, place: impl Fn() -> Place) -> bool {
        let late = self.is_conductor() && self.is_late();
        if late {
            self.control
                .fault(self.grid, FaultCode::TimeBudget, place());
        }
        self.grid.block_any(late)
    }

    /// Waits for all lanes of the team and orders their memory accesses.
    ///
    /// # Errors
    /// When a block reported a fault, or the time budget ended first; `place` then
    /// says where nobody came from.
    #[inline(always)]
    pub fn barrier(&self, place: impl Fn() -> Place) -> Result<(), Stop> {
        if self.size == 1 {
            self.grid.block_barrier();
            // A thread that is alone polls for nobody, which is when others look.
            let looks = rounds_per_look::<G>(0) == 1;
            return if looks && self.is_out_of_time(place) {
                Err(Stop)
            } else {
                Ok(())
            };
        }
        self.barrier_and(place, || {})
    }

    /// [`Team::barrier`]; the first lane of each block calls `decide` when all
    /// blocks have met, before the other lanes go on.
    ///
    /// # Errors
    /// As [`Team::barrier`].
    #[inline(always)]
    pub fn barrier_and(
        &self,
        place: impl Fn() -> Place,
        decide: impl FnOnce(),
    ) -> Result<(), Stop> {
        self.grid.block_barrier();
        if self.grid.lane() == 0 {
            if self.size == 1 || self.meet(place) {
                decide();
            } else {
                // SAFETY: a fixed word of shared memory.
                unsafe { self.grid.shared_store(STOPPED, 1) };
            }
        }
        self.grid.block_barrier();
        if self.size == 1 {
            return Ok(());
        }
        // Told by a word and not by a vote: a barrier that counts costs about 8 ns
        // a warp on an H200.
        // SAFETY: a fixed word of shared memory.
        if unsafe { self.grid.shared_load(STOPPED) } != 0 {
            Err(Stop)
        } else {
            Ok(())
        }
    }

    /// Meets the first lanes of the other blocks; false ends the run.
    ///
    /// The ticket only grows, so that no block can mistake one barrier for
    /// the next; the comparison is by wrapping distance, so it may overflow.
    #[inline(always)]
    fn meet(&self, place: impl Fn() -> Place) -> bool {
        self.control.arrive(self.grid);
        let met = self.barriers().wrapping_add(1);
        // SAFETY: a fixed word of shared memory.
        unsafe { self.grid.shared_store(EPOCH, met) };
        let target = met.wrapping_mul(self.size);
        self.grid.delay(FIRST_POLL_CYCLES);
        let mut polls = 0_u32;
        loop {
            let arrivals = self.control.arrivals(self.grid);
            if arrivals.wrapping_sub(target) as i32 >= 0 {
                return true;
            }
            polls = polls.wrapping_add(1);
            self.grid.pause(polls);
            if !polls.is_multiple_of(POLLS_PER_LOOK) {
                continue;
            }
            let place = place();
            if must_stop(
                self.grid,
                self.control,
                self.deadline_ns,
                target,
                place.wave,
                place.opcode,
                place.iteration,
            ) {
                return false;
            }
        }
    }
}

/// Whether to stop waiting for `target` arrivals: some block reported a fault,
/// or the time is over, which this reports itself.
///
/// Takes words and no references: what a call takes by reference every lane
/// would write to its local memory on the way to every barrier (with 1024 lanes a
/// barrier took 1.26 to 1.30 us that way on an H200, 0.95 without).
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "see above")]
fn must_stop<G: Grid>(
    grid: G,
    control: Control,
    deadline_ns: u64,
    target: u32,
    wave: u32,
    opcode: u32,
    iteration: u32,
) -> bool {
    if control.is_stopped(grid) {
        return true;
    }
    if grid.now_ns() < deadline_ns {
        return false;
    }
    let blocks = grid.blocks();
    let before = target.wrapping_sub(blocks);
    control.report(
        grid,
        &FaultRecord {
            code: FaultCode::Watchdog as u32,
            wave,
            opcode,
            block: grid.block(),
            epoch: before.checked_div(blocks).unwrap_or(0),
            arrived: control.arrivals(grid).wrapping_sub(before),
            expected: blocks,
            iteration,
        },
    );
    true
}
