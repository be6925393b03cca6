//! Entries for the threads of a CPU, as `entry` has them for a GPU.
//!
//! They are compiled with this crate. So a crate that calls them compiles no kernel again,
//! and this crate compiles beside others that callers wait for.

use crate::control::Stop;
use crate::grid::host::HostGrid;
use crate::launch::Launch;
use crate::run::{self, Batch, BodyLaunch};
use crate::waves::family::ALL;

/// Runs the whole program; without atomic operations if `grid` has one thread.
///
/// # Errors
/// If the run stops; the control block's fault record says why.
pub fn run_program(grid: HostGrid, launch: Launch) -> Result<(), Stop> {
    match grid.alone() {
        Some(grid) => run::run_program::<_, ALL>(grid, launch),
        None => run::run_program::<_, ALL>(grid, launch),
    }
}

/// Runs graphs of the batch until none is left.
pub fn run_batch(grid: HostGrid, batch: Batch) {
    run::run_batch::<_, ALL>(grid, batch);
}

/// Runs one group.
///
/// # Errors
/// If the run stops; the control block's fault record says why.
pub fn run_one_group(grid: HostGrid, launch: Launch, group: u32) -> Result<(), Stop> {
    run::run_one_group::<_, ALL>(grid, launch, group)
}

/// Prepares the loop of wave `wave`.
///
/// # Errors
/// As [`run_one_group`].
pub fn begin_loop(grid: HostGrid, launch: Launch, wave: u32) -> Result<(), Stop> {
    run::begin_loop(grid, launch, wave)
}

/// Runs one group of a loop's body.
///
/// # Errors
/// As [`run_one_group`].
pub fn run_body(grid: HostGrid, launch: Launch, body: BodyLaunch) -> Result<(), Stop> {
    run::run_body::<_, ALL>(grid, launch, body)
}

/// Decides on another round of the loop of wave `wave`.
///
/// # Errors
/// As [`run_one_group`].
pub fn again(grid: HostGrid, launch: Launch, wave: u32) -> Result<(), Stop> {
    run::again(grid, launch, wave)
}
