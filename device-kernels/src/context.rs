//! What waves run with, and how calls pass it on.
//!
//! What a call takes by reference lies in local memory, of which every lane has its
//! own, and which a barrier of the grid throws out of the first-level cache: with
//! 1024 lanes a wave of four nodes took 25 us that way on an H200. What a lane holds
//! in registers over a call is lost to the function that it calls. So the context is
//! in shared memory, once a block, and calls hand on a single word. The tables' start is
//! there as well (see [`Tables`]).

use crate::block::shared::{CONTEXT, TAG};
use crate::grid::Grid;
use crate::launch::Launch;
use crate::memory::forget_missed;
use crate::tables::Tables;
use crate::team::Team;

/// What a wave runs with.
#[derive(Clone, Copy, Debug)]
pub struct Context<G> {
    /// The blocks that share the wave.
    pub team: Team<G>,
    /// The tables.
    pub tables: Tables,
    /// Number of the running iteration.
    pub tag: Tag,
}

/// The number of the running iteration over all loops of a run, also of the last one
/// where none runs. The convergence flag is tagged with it; 0 stands for no iteration.
#[derive(Clone, Copy, Debug)]
pub struct Tag(());

impl Tag {
    /// The number.
    #[inline(always)]
    pub fn now<G: Grid>(self, grid: G) -> u32 {
        // SAFETY: a fixed word of shared memory.
        unsafe { grid.shared_load(TAG) }
    }

    /// Goes on to another number, by one lane of the block: others may read it behind
    /// the next block barrier, and must not before it.
    #[inline(always)]
    pub fn set<G: Grid>(self, grid: G, number: u32) {
        // SAFETY: a fixed word of shared memory.
        unsafe { grid.shared_store(TAG, number) };
    }

    /// Raises the convergence flag: the running iteration has changed something.
    #[inline(always)]
    pub fn raise<G: Grid>(self, grid: G) {
        // SAFETY: only `Context::open` makes tags, and it held the launch.
        let tables = unsafe { Tables::held() };
        tables.control(grid).raise_changed(grid, self.now(grid));
    }
}

impl<G: Grid> Context<G> {
    /// A context, which calls find again through a [`ContextRef`]. A block operation.
    #[inline(always)]
    pub fn open(team: Team<G>, launch: Launch) -> Self {
        let grid = team.grid;
        let tables = launch.hold(grid);
        if grid.lane() == 0 {
            let deadline = team.deadline_ns();
            // SAFETY: fixed words of shared memory.
            unsafe {
                grid.shared_store(CONTEXT, deadline as u32);
                grid.shared_store(CONTEXT + 1, (deadline >> 32) as u32);
            }
            Tag(()).set(grid, 0);
            forget_missed(grid);
        }
        grid.block_barrier();
        Self {
            team,
            tables,
            tag: Tag(()),
        }
    }

    /// What a call takes of this context.
    #[inline(always)]
    pub fn reference(&self) -> ContextRef<G> {
        ContextRef {
            grid: self.team.grid,
            alone: self.team.is_alone(),
        }
    }
}

/// A context on its way into a call that is not inlined; the rest of it is in shared
/// memory.
#[derive(Clone, Copy, Debug)]
pub struct ContextRef<G> {
    grid: G,
    alone: bool,
}

impl<G: Grid> ContextRef<G> {
    /// This lane's view of the machine.
    #[inline(always)]
    pub fn grid(self) -> G {
        self.grid
    }

    /// The same for this block alone.
    #[inline(always)]
    #[must_use]
    pub fn alone(self) -> Self {
        Self {
            alone: true,
            ..self
        }
    }

    /// Number of the running iteration.
    #[inline(always)]
    pub fn tag(self) -> Tag {
        Tag(())
    }

    /// The context.
    #[inline(always)]
    pub fn context(self) -> Context<G> {
        let grid = self.grid;
        // SAFETY: `Context::open` stored the deadline and held the launch.
        let (deadline, tables) = unsafe { (load_wide(grid, CONTEXT), Tables::held()) };
        let team = Team::again(grid, tables.control(grid), deadline);
        Context {
            team: if self.alone { team.alone() } else { team },
            tables,
            tag: Tag(()),
        }
    }
}

/// Words `at` and `at + 1` of shared memory as one.
///
/// # Safety
/// As [`Grid::shared_load`].
#[inline(always)]
pub(crate) unsafe fn load_wide<G: Grid>(grid: G, at: u32) -> u64 {
    // SAFETY: by this function's contract.
    let [low, high] = unsafe { [grid.shared_load(at), grid.shared_load(at + 1)] };
    u64::from(low) | u64::from(high) << 32
}
