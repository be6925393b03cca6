//! What waves run with, and how calls pass it on.
//!
//! What a call takes by reference lies in local memory, of which every lane has its
//! own, and which a barrier of the grid throws out of the first-level cache: with
//! 1024 lanes a wave of four nodes took 25 us that way on an H200. What a lane holds
//! in registers over a call is lost to the function that it calls. So the context is
//! in shared memory, once a block, and calls hand on two words. The tables' start is
//! there as well (see [`Machine`]).

use crate::block::shared::CONTEXT;
use crate::grid::Grid;
use crate::launch::Launch;
use crate::machine::Machine;
use crate::team::Team;

/// What a wave runs with.
#[derive(Clone, Copy, Debug)]
pub struct Context<G> {
    /// The blocks that share the wave.
    pub team: Team<G>,
    /// The tables.
    pub machine: Machine,
    /// Tag for the convergence flag: number of the running iteration.
    pub tag: u32,
}

impl<G: Grid> Context<G> {
    /// A context, which calls find again through a [`Hand`]. A block operation.
    #[inline(always)]
    pub fn open(team: Team<G>, launch: Launch) -> Self {
        let grid = team.grid;
        let machine = launch.hold(grid);
        if grid.lane() == 0 {
            let deadline = team.deadline_ns();
            // SAFETY: fixed words of shared memory.
            unsafe {
                grid.shared_store(CONTEXT, deadline as u32);
                grid.shared_store(CONTEXT + 1, (deadline >> 32) as u32);
            }
        }
        grid.block_barrier();
        Self {
            team,
            machine,
            tag: 0,
        }
    }

    /// What a call takes of this context.
    #[inline(always)]
    pub fn hand(&self) -> Hand<G> {
        Hand {
            grid: self.team.grid,
            tag: self.tag,
            alone: self.team.is_alone(),
        }
    }
}

/// A context on its way into a call that is not inlined; the rest of it is in shared
/// memory.
#[derive(Clone, Copy, Debug)]
pub struct Hand<G> {
    grid: G,
    tag: u32,
    alone: bool,
}

impl<G: Grid> Hand<G> {
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

    /// The tag for the convergence flag.
    #[inline(always)]
    pub fn tag(self) -> u32 {
        self.tag
    }

    /// The same with another tag.
    #[inline(always)]
    #[must_use]
    pub fn with_tag(self, tag: u32) -> Self {
        Self { tag, ..self }
    }

    /// The context.
    #[inline(always)]
    pub fn context(self) -> Context<G> {
        let grid = self.grid;
        // SAFETY: `Context::open` stored the deadline and held the launch.
        let (deadline, machine) = unsafe { (load_wide(grid, CONTEXT), Machine::held()) };
        let team = Team::again(grid, machine.control(grid), deadline);
        Context {
            team: if self.alone { team.alone() } else { team },
            machine,
            tag: self.tag,
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
