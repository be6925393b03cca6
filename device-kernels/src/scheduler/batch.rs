//! Many independent graphs in one launch: every block runs whole programs alone, one
//! graph after another, until none is left.
//!
//! The barrier of a team of one block is the block barrier, so graphs never wait for each other.
//! Blocks take graphs from a ticket, since graphs differ in size. The first fault is recorded with
//! the number of its launch record; blocks finish their graph and take no other.

use super::program::run_in_block;
use super::sets::WaveSet;
use crate::algorithms::family;
use crate::collectives::block::broadcast;
use crate::collectives::context::Context;
use crate::collectives::team::Team;
use crate::machine::memory::{Proven, word_of};
use crate::machine::{Grid, LANES_MAX};
use crate::tables::control::{Control, ProgramPoint, Stop};
use crate::tables::launch::Launch;
use seawall_core::abi::batch::{BatchRecord, BatchState};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::LaunchRecord;
use seawall_core::abi::{MAGIC, VERSION};

/// A batch record and the launches that it points to.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    record: Proven,
}

const RECORD_WORDS: u32 = (size_of::<BatchRecord>() / 4) as u32;
const STATE_WORDS: u32 = (size_of::<BatchState>() / 4) as u32;

/// The number that a block takes if no graph is left.
const NONE: u32 = u32::MAX;

impl Batch {
    /// Returns the batch that `record` describes.
    ///
    /// # Safety
    /// `record` must point to a [`BatchRecord`] whose addresses, and those of its launch records,
    /// are valid for the lengths beside them, on the machine that runs this, for the whole run;
    /// nothing else may access them meanwhile. If it has a stride between arenas, there must be an
    /// arena for every block of the grid.
    #[must_use]
    pub unsafe fn new(record: *const BatchRecord) -> Self {
        // SAFETY: the record is valid, by this function's contract.
        let record = unsafe { Proven::trusted(record.cast_mut().cast(), RECORD_WORDS) };
        Self { record }
    }

    #[inline(always)]
    fn state<G: Grid>(self, grid: G) -> Proven {
        let address = self
            .record
            .constant_wide(grid, word_of!(BatchRecord, state));
        // SAFETY: `new` promises that the state is valid.
        unsafe { Proven::trusted(address as *mut u32, STATE_WORDS) }
    }

    #[inline(always)]
    fn graphs<G: Grid>(self, grid: G) -> u32 {
        self.record.constant(grid, word_of!(BatchRecord, graphs))
    }

    /// Whether the record is of this kernel's version.
    #[inline(always)]
    fn is_current<G: Grid>(self, grid: G) -> bool {
        self.record.constant(grid, word_of!(BatchRecord, magic)) == MAGIC
            && self.record.constant(grid, word_of!(BatchRecord, version)) == VERSION
    }

    /// The launch of graph `index`, with this block's arena.
    #[inline(always)]
    fn launch<G: Grid>(self, grid: G, index: u32) -> Launch {
        let launches = self
            .record
            .constant_wide(grid, word_of!(BatchRecord, launches))
            as *const LaunchRecord;
        let stride = self
            .record
            .constant_wide(grid, word_of!(BatchRecord, arena_stride));
        // SAFETY: `new` promises a record for every graph, and callers pass numbers of
        // graphs.
        let launch = unsafe { Launch::new(launches.wrapping_add(index as usize)) };
        launch.with_arena_shifted(u64::from(grid.block()) * stride)
    }

    /// Takes the next graph, or [`NONE`] if none is left or one has faulted; one lane
    /// calls this.
    #[inline(always)]
    fn take<G: Grid>(self, grid: G) -> u32 {
        let state = self.state(grid);
        if state.load(grid, word_of!(BatchState, fault)) != 0 {
            return NONE;
        }
        let index = state.add(grid, word_of!(BatchState, ticket), 1);
        if index < self.graphs(grid) {
            index
        } else {
            NONE
        }
    }

    /// Records the first fault of the batch; one lane calls this.
    #[cold]
    #[inline(never)]
    fn note_fault<G: Grid>(self, grid: G, fault: u32) {
        self.state(grid)
            .swap_if(grid, word_of!(BatchState, fault), 0, fault);
    }
}

/// Runs graphs of the batch in this block until none is left. Every lane of
/// the grid calls this once; blocks need not be co-resident.
#[inline(always)]
pub fn run_batch<G: Grid, S: WaveSet>(grid: G, batch: Batch) {
    const {
        // The other families lay out the memory of full blocks.
        let only_searches = S::FAMILIES & !(family::SEARCH | family::WORDS) == 0;
        assert!(G::LANES == LANES_MAX || only_searches);
    };
    if !batch.is_current(grid) {
        if grid.lane() == 0 {
            batch.note_fault(grid, BatchState::BAD_RECORD);
        }
        return;
    }
    let budget = batch
        .record
        .constant_wide(grid, word_of!(BatchRecord, time_budget_ns));
    let deadline = grid.now_ns().saturating_add(budget);
    loop {
        let mut taken = NONE;
        if grid.lane() == 0 {
            taken = batch.take(grid);
        }
        let index = broadcast(grid, taken);
        if index == NONE {
            return;
        }
        let launch = batch.launch(grid, index);
        if run_alone::<G, S>(grid, launch, deadline).is_err() && grid.lane() == 0 {
            batch.note_fault(grid, index + 1);
        }
    }
}

/// Runs one graph's program in this block alone, until a time of [`Grid::now_ns`] at most.
///
/// # Errors
/// If the run stops; the control block's fault record says why.
#[inline(always)]
pub fn run_alone<G: Grid, S: WaveSet>(grid: G, launch: Launch, deadline: u64) -> Result<(), Stop> {
    let control = launch.control(grid);
    if !launch.is_current(grid) {
        return Err(control.fault(grid, FaultCode::BadLaunch, ProgramPoint::default()));
    }
    if launch.is_stale(grid) {
        return Err(control.fault(grid, FaultCode::StalePlan, ProgramPoint::default()));
    }
    let team = Team::whole(grid, control, deadline).alone();
    if team.is_out_of_time(ProgramPoint::default) {
        return Err(Stop);
    }
    stamp(control, &team, false);
    let context = Context::open(team, launch);
    run_in_block::<G, S>(context.reference())?;
    stamp(control, &team, true);
    Ok(())
}

#[inline(always)]
fn stamp<G: Grid>(control: Control, team: &Team<G>, at_end: bool) {
    if team.is_leader() {
        control.stamp(team.grid, at_end);
    }
}
