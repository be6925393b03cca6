//! One program on several devices, a kernel that stays on each.
//!
//! ```text
//! device 0:  step | own finds -> copies of all | barrier of all | step | ...
//! device 1:  step | own finds -> copies of all | barrier of all | step | ...
//! ```
//!
//! Nodes are cut into ranges, and a device has the edges that lead to its nodes: so it alone finds
//! them, and no two devices write one word. After a step it writes what it found into the memory
//! of the others, as a list where that is short, else as bits, and one barrier of all devices ends
//! the step (`meet`). `advance` walks rows of any length, `frontier` has the two forms of what was
//! found, `join` is for programs whose groups the host launches; the other files are one analysis each. Work is that of the analysis on one device,
//! divided by edges; each step adds a barrier, and what it found times the other devices.

mod advance;
mod components;
mod cores;
mod frontier;
mod join;
mod lengths;
mod levels;
mod meet;
mod narrow;
mod ranks;
mod record;

pub use join::{Copies, join, joined_copies};
pub use record::Multi;

use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::tables::control::{ProgramPoint, Stop};
use meet::Part;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::multi::MultiKind;

/// Runs one device's part. Every lane of its grid calls this; all blocks must be resident at once,
/// and so must those of the other devices.
#[inline(always)]
pub fn multi<G: Grid>(grid: G, multi: Multi) {
    let control = multi.control(grid);
    let deadline_ns = grid.now_ns().saturating_add(multi.time_ns(grid));
    let team = Team::whole(grid, control, deadline_ns);
    grid.block_barrier();
    if !multi.is_current(grid) {
        control.fault(grid, FaultCode::BadLaunch, ProgramPoint::default());
        return;
    }
    let mut part = Part::new(team, multi);
    if part.team.is_leader() {
        control.stamp(grid, false);
    }
    let ended = run(&mut part);
    if ended.is_err() {
        part.leave();
    }
    if part.team.is_leader() {
        control.stamp(grid, true);
    }
}

/// Runs the analysis of the record.
#[inline(always)]
fn run<G: Grid>(part: &mut Part<G>) -> Result<(), Stop> {
    let kind = part.kind();
    if kind == MultiKind::Levels as u32 {
        levels::run(part)
    } else if kind == MultiKind::Whole as u32 {
        lengths::run::<G, lengths::Whole>(part)
    } else if kind == MultiKind::Float as u32 {
        lengths::run::<G, lengths::Float>(part)
    } else if kind == MultiKind::Ranks as u32 {
        ranks::run(part)
    } else if kind == MultiKind::Components as u32 {
        components::run(part)
    } else if kind == MultiKind::Cores as u32 {
        cores::run(part)
    } else if kind == MultiKind::Barriers as u32 {
        meet::barriers(part)
    } else {
        let point = ProgramPoint::default();
        Err(part
            .team
            .control
            .fault(part.grid(), FaultCode::BadParameter, point))
    }
}
