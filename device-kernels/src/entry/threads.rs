//! Entries for the CPU threads, as `entry` has them for a GPU.
//!
//! [`BUILT_IN`] is a static, so the kernels of built-in waves are compiled with this crate. A crate
//! that calls them compiles no kernel again, and this crate compiles in parallel with the other
//! dependencies.

use crate::machine::cpu::HostGrid;
use crate::multi::{Multi, multi};
use crate::resident::serve::{Serve, serve};
use crate::resident::stream::{Stream, stream};
use crate::scheduler::sets::{All, WaveSet};
use crate::scheduler::{Batch, BodyLaunch, run_batch, run_body, run_one_group, run_program};
use crate::tables::control::Stop;
use crate::tables::launch::Launch;

/// Walks a part of a program, in one thread.
pub type Walk<What> = fn(HostGrid, Launch, What) -> Result<(), Stop>;

/// Functions for the same waves.
#[derive(Clone, Copy, Debug)]
pub struct Walkers {
    /// Walks the whole program, without atomic operations if the grid has one thread.
    pub program: Walk<()>,
    /// Walks one group.
    pub group: Walk<u32>,
    /// Walks one group of a loop's body.
    pub body: Walk<BodyLaunch>,
    /// Walks graphs of a batch until none is left.
    pub batch: fn(HostGrid, Batch),
    /// Serves until a host orders the end.
    pub serve: fn(HostGrid, Serve),
}

/// Serves a stream until its host orders the end.
pub fn run_stream(grid: HostGrid, served: Stream) {
    stream(grid, served);
}

/// Runs one device's part of a run on several.
pub fn run_multi(grid: HostGrid, part: Multi) {
    multi(grid, part);
}

/// Functions for every built-in wave.
pub static BUILT_IN: Walkers = Walkers::of::<All>();

impl Walkers {
    /// Functions for the waves of `S`.
    #[must_use]
    pub const fn of<S: WaveSet>() -> Self {
        Self {
            program: |grid, launch, ()| match grid.alone() {
                Some(grid) => run_program::<_, S>(grid, launch),
                None => run_program::<_, S>(grid, launch),
            },
            group: |grid, launch, group| run_one_group::<_, S>(grid, launch, group),
            body: |grid, launch, body| run_body::<_, S>(grid, launch, body),
            batch: |grid, batch| run_batch::<_, S>(grid, batch),
            serve: |grid, served| serve::<_, S>(grid, served),
        }
    }
}
