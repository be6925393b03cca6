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
//! found, `join` is for programs whose groups the host launches; the other files are one analysis
//! each. Work is that of the analysis on one device, divided by edges; each step adds a barrier, and
//! what it found times the other devices.

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

/// The analyses of a kernel, a bit each. A kernel of few takes fewer registers, so that a
/// multiprocessor holds more of its lanes.
#[doc(hidden)]
pub mod kinds {
    use seawall_core::abi::multi::MultiKind;

    /// Every analysis.
    pub const ALL: u32 = u32::MAX;
    /// Searches, and barriers alone.
    pub const LEVELS: u32 = of(MultiKind::Levels) | of(MultiKind::Barriers);
    /// Shortest paths along weights of either kind.
    pub const LENGTHS: u32 = of(MultiKind::Whole) | of(MultiKind::Float);
    /// Rankings.
    pub const RANKS: u32 = of(MultiKind::Ranks);
    /// Components.
    pub const COMPONENTS: u32 = of(MultiKind::Components);
    /// Core numbers.
    pub const CORES: u32 = of(MultiKind::Cores);

    pub(super) const fn of(kind: MultiKind) -> u32 {
        1 << kind as u32
    }
}

/// Runs one device's part. Every lane of its grid calls this; all blocks must be resident at once,
/// and so must those of the other devices.
#[inline(always)]
pub fn multi<G: Grid>(grid: G, multi: Multi) {
    multi_of::<G, { kinds::ALL }>(grid, multi);
}

/// The same in a kernel of some analyses, a bit each as in [`kinds`].
#[doc(hidden)]
#[inline(always)]
pub fn multi_of<G: Grid, const KINDS: u32>(grid: G, multi: Multi) {
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
    let ended = run::<G, KINDS>(&mut part);
    if ended.is_err() {
        part.leave();
    }
    if part.team.is_leader() {
        control.stamp(grid, true);
    }
}

/// Runs the analysis of the record.
#[inline(always)]
fn run<G: Grid, const KINDS: u32>(part: &mut Part<G>) -> Result<(), Stop> {
    let asked = part.kind();
    let is = |kind| KINDS & kinds::of(kind) != 0 && asked == kind as u32;
    if is(MultiKind::Levels) {
        levels::run(part)
    } else if is(MultiKind::Whole) {
        lengths::run::<G, lengths::Whole>(part)
    } else if is(MultiKind::Float) {
        lengths::run::<G, lengths::Float>(part)
    } else if is(MultiKind::Ranks) {
        ranks::run(part)
    } else if is(MultiKind::Components) {
        components::run(part)
    } else if is(MultiKind::Cores) {
        cores::run(part)
    } else if is(MultiKind::Barriers) {
        meet::barriers(part)
    } else {
        let point = ProgramPoint::default();
        Err(part
            .team
            .control
            .fault(part.grid(), FaultCode::BadParameter, point))
    }
}
