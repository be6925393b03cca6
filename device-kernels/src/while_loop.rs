//! Loops on a register, which may hold other loops.
//!
//! All blocks look at word 0 of the register after the same barrier and decide alike. A
//! slow block may look while a fast one runs the first body group already; that group
//! leaves the word alone, as the host checks. Loops are as deep as [`Level`]s are nested,
//! since a GPU's stack has to be known before a launch.

use crate::block::{broadcast, tell, told};
use crate::context::Hand;
use crate::control::{LoopEnd, Place, Stop};
use crate::fixpoint;
use crate::grid::Grid;
use crate::kernel::{OUTSIDE, group_of, note, run_waves, wave_of};
use crate::machine::Wave;
use crate::memory::Words;
use crate::team::rounds_per_look;
use crate::waves::family;
use core::marker::PhantomData;
use seawall_core::abi::code::DEPTH_MAX;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::{Opcode, WhileRecord};

/// Iterations between two looks at a GPU's clock.
const ITERATIONS_PER_LOOK: u32 = 16;

/// How deep a loop may be.
pub trait Level {
    /// How many levels are below.
    const LEFT: u32;

    /// Runs a loop to its end. All lanes of the team take part.
    ///
    /// # Errors
    /// When the run stops; the fault record says why.
    fn run<G: Grid, const FAMILIES: u32>(hand: Hand<G>, wave: Wave) -> Result<(), Stop>;
}

/// Below the deepest loop.
#[derive(Clone, Copy, Debug)]
pub struct Bottom;

/// A loop that holds loops of level `L`.
#[derive(Clone, Copy, Debug)]
pub struct Above<L>(PhantomData<L>);

/// A loop on the top level.
pub type Top = Above<Above<Above<Bottom>>>;
const _: () = assert!(Top::LEFT == DEPTH_MAX);

impl Level for Bottom {
    const LEFT: u32 = 0;

    #[inline(always)]
    fn run<G: Grid, const FAMILIES: u32>(hand: Hand<G>, wave: Wave) -> Result<(), Stop> {
        Err(fault(hand, wave, FaultCode::NestedFixpoint, 0))
    }
}

impl<L: Level> Level for Above<L> {
    const LEFT: u32 = L::LEFT + 1;

    #[inline(never)]
    fn run<G: Grid, const FAMILIES: u32>(hand: Hand<G>, wave: Wave) -> Result<(), Stop> {
        let grid = hand.grid();
        let books = Books::open(hand);
        let mut end = LoopEnd::default();
        let mut goes_on = broadcast(grid, condition(hand, wave)?.load(grid, 0)) != 0;
        while goes_on && end.iterations < record(hand, wave).max_iterations {
            iteration::<G, L, FAMILIES>(hand, wave, end.iterations)?;
            let condition = condition(hand, wave)?;
            let team = hand.context().team;
            let place = || fixpoint::place_of(grid, wave, end.iterations);
            team.barrier_and(place, || tell(grid, condition.load(grid, 0)))?;
            goes_on = told(grid) != 0;
            let per_look = rounds_per_look::<G>(ITERATIONS_PER_LOOK);
            if (end.iterations + 1).is_multiple_of(per_look) && team.is_out_of_time(place) {
                return Err(Stop);
            }
            end.iterations += 1;
        }
        end.converged = !goes_on;
        if L::LEFT + 1 == Top::LEFT {
            books.close(hand, end);
        }
        Ok(())
    }
}

/// Runs the body groups once, with barriers between them.
#[inline(always)]
fn iteration<G: Grid, L: Level, const FAMILIES: u32>(
    hand: Hand<G>,
    wave: Wave,
    iteration: u32,
) -> Result<(), Stop> {
    let WhileRecord {
        first_group,
        groups,
        ..
    } = record(hand, wave);
    let mut group = first_group;
    while group < first_group.saturating_add(groups) {
        if group != first_group {
            let place = || fixpoint::place_of(hand.grid(), wave, iteration);
            hand.context().team.barrier(place)?;
        }
        if run_waves::<G, FAMILIES>(hand, group, OUTSIDE)? {
            run_loops::<G, L, FAMILIES>(hand, group)?;
        }
        group += 1;
    }
    Ok(())
}

/// Runs the loops of a group.
///
/// # Errors
/// When the run stops.
#[inline(always)]
pub fn run_loops<G: Grid, L: Level, const FAMILIES: u32>(
    hand: Hand<G>,
    index: u32,
) -> Result<(), Stop> {
    let grid = hand.grid();
    let group = group_of(hand, index, OUTSIDE)?;
    for at in group.first_wave..group.first_wave.saturating_add(group.waves) {
        let wave = wave_of(hand, at, OUTSIDE)?;
        let opcode = wave.opcode(grid);
        if opcode == Opcode::Fixpoint as u32 {
            note(hand, wave);
            fixpoint::run::<G, FAMILIES>(hand, wave)?;
        }
        if FAMILIES & family::CODE != 0 && opcode == Opcode::While as u32 {
            note(hand, wave);
            L::run::<G, FAMILIES>(hand, wave)?;
        }
    }
    Ok(())
}

#[inline(always)]
fn record<G: Grid>(hand: Hand<G>, wave: Wave) -> WhileRecord {
    WhileRecord::from_parameters(wave.parameters(hand.grid()))
}

/// The register that a loop looks at.
#[inline(always)]
fn condition<G: Grid>(hand: Hand<G>, wave: Wave) -> Result<Words, Stop> {
    let machine = hand.context().machine;
    let found = machine.register_of(hand.grid(), record(hand, wave).condition, 1);
    found.map_err(|code| fault(hand, wave, code, 0))
}

#[inline(never)]
fn fault<G: Grid>(hand: Hand<G>, wave: Wave, code: FaultCode, iteration: u32) -> Stop {
    let place: Place = fixpoint::place_of(hand.grid(), wave, iteration);
    hand.context().team.control.fault(hand.grid(), code, place)
}

/// Loops and barriers before a loop on the top level, for its report: loops in its body
/// report nothing that lasts.
#[derive(Clone, Copy, Debug)]
struct Books {
    loops: u32,
    barriers: u32,
}

impl Books {
    #[inline(always)]
    fn open<G: Grid>(hand: Hand<G>) -> Self {
        let team = hand.context().team;
        if !team.is_conductor() {
            let (loops, barriers) = (0, 0);
            return Self { loops, barriers };
        }
        Self {
            loops: team.control.loops_done(team.grid),
            barriers: team.barriers(),
        }
    }

    #[inline(always)]
    fn close<G: Grid>(self, hand: Hand<G>, end: LoopEnd) {
        let (team, control) = (hand.context().team, hand.context().team.control);
        if team.is_conductor() {
            control.forget_loops(team.grid, self.loops);
            let report = control.open_loop(team.grid);
            let barriers = team.barriers().wrapping_sub(self.barriers);
            report.count_barriers(team.grid, barriers);
            report.finish(team.grid, end);
            control.close_loop(team.grid);
        }
    }
}
