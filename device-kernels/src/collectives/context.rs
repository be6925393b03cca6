//! The context of a wave, and how calls pass it on.
//!
//! The context lies in shared memory, once per block, beside the start of the tables (see
//! [`Tables`]). A call passes a [`ContextRef`], one flag, and the callee looks up the rest: codegen
//! rules `BY_VALUE` and `LOOK_UP_AGAIN`.

use super::team::Team;
use crate::machine::Grid;
use crate::machine::memory::forget_missed;
use crate::machine::shared::{DEADLINE, TAG};
use crate::tables::Tables;
use crate::tables::launch::Launch;

/// The team, the tables and the iteration that a wave runs with.
#[derive(Clone, Copy, Debug)]
pub struct Context<G> {
    /// The blocks that share the wave.
    pub team: Team<G>,
    /// The tables.
    pub tables: Tables,
    /// Number of the running iteration.
    pub tag: Tag,
}

/// The number of the running iteration, counted over all loops of a run; between loops,
/// that of the last one. The convergence flag is tagged with it. 0 stands for no
/// iteration.
#[derive(Clone, Copy, Debug)]
pub struct Tag(());

impl Tag {
    /// Loads the number of the running iteration.
    #[inline(always)]
    pub fn now<G: Grid>(self, grid: G) -> u32 {
        TAG.load(grid)
    }

    /// Advances to another number. One lane of the block calls this; the others may read it only
    /// after the next block barrier.
    #[inline(always)]
    pub fn set<G: Grid>(self, grid: G, number: u32) {
        TAG.store(grid, number);
    }

    /// Raises the convergence flag: the running iteration has changed something.
    #[inline(always)]
    pub fn raise<G: Grid>(self, grid: G) {
        // SAFETY: only `Context::open` makes tags, and it had the launch.
        let tables = unsafe { Tables::held() };
        tables.control(grid).raise_changed(grid, self.now(grid));
    }
}

impl<G: Grid> Context<G> {
    /// Opens a context, which calls find again through a [`ContextRef`]. A block
    /// operation.
    #[inline(always)]
    pub fn open(team: Team<G>, launch: Launch) -> Self {
        let grid = team.grid;
        let tables = launch.hold(grid);
        if grid.lane() == 0 {
            DEADLINE.store_wide(grid, team.deadline_ns());
            Tag(()).set(grid, 0);
            forget_missed(grid);
        }
        grid.block_barrier();
        if grid.lane() == 0
            && let Some(trace) = tables.trace(grid)
        {
            trace.hold_barriers(grid);
        }
        Self {
            team,
            tables,
            tag: Tag(()),
        }
    }

    /// The part of this context that is passed to a call.
    #[inline(always)]
    pub fn reference(&self) -> ContextRef<G> {
        ContextRef {
            grid: self.team.grid,
            alone: self.team.is_alone(),
        }
    }
}

/// A context that is passed to a function that is not inlined; the rest of it is in shared memory.
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

    /// The same context for this block alone.
    #[inline(always)]
    #[must_use]
    pub fn alone(self) -> Self {
        Self {
            alone: true,
            ..self
        }
    }

    /// Whether the run has a trace.
    #[inline(always)]
    pub(crate) fn is_traced(self) -> bool {
        // SAFETY: `Context::open` had the launch.
        unsafe { Tables::held() }.is_traced(self.grid)
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
        let deadline = DEADLINE.load_wide(grid);
        // SAFETY: `Context::open` had the launch.
        let tables = unsafe { Tables::held() };
        let team = Team::again(grid, tables.control(grid), deadline);
        Context {
            team: if self.alone { team.alone() } else { team },
            tables,
            tag: Tag(()),
        }
    }
}
