//! The functions that walk programs on threads of the CPU, for a set of waves.

use seawall_device::control::Stop;
use seawall_device::grid::host::HostGrid;
use seawall_device::launch::Launch;
use seawall_device::run::{Batch, BodyLaunch, run_batch, run_body, run_one_group, run_program};
use seawall_device::sets::{All, WaveSet};

/// Walks a part of a program, in one thread.
pub(crate) type Walk<What> = fn(HostGrid, Launch, What) -> Result<(), Stop>;

/// Functions that know the same waves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walkers {
    pub(crate) program: Walk<()>,
    pub(crate) group: Walk<u32>,
    pub(crate) body: Walk<BodyLaunch>,
    pub(crate) batch: fn(HostGrid, Batch),
}

impl Walkers {
    /// Functions that know every built-in wave.
    pub(crate) const BUILT_IN: Self = Self::of::<All>();

    /// Functions that know the waves of `S`.
    pub(crate) const fn of<S: WaveSet>() -> Self {
        Self {
            program: |grid, launch, ()| match grid.alone() {
                Some(grid) => run_program::<_, S>(grid, launch),
                None => run_program::<_, S>(grid, launch),
            },
            group: |grid, launch, group| run_one_group::<_, S>(grid, launch, group),
            body: |grid, launch, body| run_body::<_, S>(grid, launch, body),
            batch: |grid, batch| run_batch::<_, S>(grid, batch),
        }
    }
}
