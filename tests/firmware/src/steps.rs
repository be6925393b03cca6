//! The planning steps, one function each, over memory that fits in a `static`.
//!
//! None is inlined, so that its stack and its instructions can be distinguished in a disassembly
//! and on the device alike. They only add the choice of capacities to the planner.

use seawall_core::cache::{PlanCache, Subject};
use seawall_core::convergence::{ConvergenceContract, ConvergenceError};
use seawall_core::error::{ArenaError, GroupError, LayerError};
use seawall_core::launch::{LaunchError, LaunchPlan, LaunchRequest};
use seawall_core::plan::execution::{Chooser, Dispatch, Leeway, Request};
use seawall_core::plan::{
    self, Arena, ArenaOptions, Budget, Execution, ExecutionError, Groups, Layers, Requirements,
    Strategy,
};
use seawall_core::scratch::{ArenaScratch, ExecutionScratch, GroupScratch, Scratch};
use seawall_core::session::{SessionError, SessionPlan};
use seawall_core::topology::Decision;
use seawall_core::topology::memory::{ExecutionPlan, MemoryError};

use crate::program::{DEPENDENCIES, Program, WAVES};

/// Space for the layers of the program.
pub type LayerSpace = Scratch<WAVES, DEPENDENCIES>;
/// Space for its groups.
pub type GroupSpace = GroupScratch<WAVES, DEPENDENCIES>;
/// Space for its arena.
pub type ArenaSpace = ArenaScratch<WAVES>;
/// Space for all of them in one call.
pub type ExecutionSpace = ExecutionScratch<WAVES, DEPENDENCIES>;

// The types take exactly the bytes that the planner requires.
const _: () = {
    let needs = Requirements::for_dag(WAVES, DEPENDENCIES);
    assert!(size_of::<LayerSpace>() == needs.layers_bytes());
    assert!(size_of::<GroupSpace>() == needs.groups_bytes(Strategy::Packed));
    assert!(size_of::<ArenaSpace>() == needs.arena_bytes());
    assert!(size_of::<ExecutionSpace>() == needs.execution_bytes(Strategy::Packed));
};

/// Space for eight cached choices of a topology.
pub type CacheSpace = PlanCache<8>;

/// Decisions of the policies.
#[derive(Clone, Copy, Debug)]
pub struct Policies {
    /// The topology of the next step.
    pub decision: Decision,
    /// The same with its memory.
    pub execution: ExecutionPlan,
    /// The sizes of a dispatch.
    pub launch: LaunchPlan,
    /// The resident session.
    pub session: SessionPlan,
    /// The device-resident fixpoint.
    pub convergence: ConvergenceContract,
}

/// The refusing policy, and its error.
#[derive(Clone, Copy, Debug)]
pub enum Refusal {
    /// No topology fits its memory.
    Memory(MemoryError),
    /// The dispatch cannot be sized.
    Launch(LaunchError),
    /// There is no resident session.
    Session(SessionError),
    /// The fixpoint cannot end on the device.
    Convergence(ConvergenceError),
}

/// Plans layers.
///
/// # Errors
///
/// As for [`plan::layers()`].
#[inline(never)]
pub fn layers<'a>(program: &Program, space: &'a mut LayerSpace) -> Result<Layers<'a>, LayerError> {
    plan::layers(&program.dag, space)
}

/// Plans packed groups.
///
/// # Errors
///
/// As for [`plan::groups()`].
#[inline(never)]
pub fn groups<'a>(program: &Program, space: &'a mut GroupSpace) -> Result<Groups<'a>, GroupError> {
    plan::groups(&program.dag, &program.budget, Strategy::Packed, space)
}

/// Lays out the arena.
///
/// # Errors
///
/// As for [`plan::arena()`].
#[inline(never)]
pub fn arena<'a>(
    program: &Program,
    groups: &Groups<'_>,
    space: &'a mut ArenaSpace,
) -> Result<Arena<'a>, ArenaError> {
    plan::arena(&program.dag, groups, &ArenaOptions::default(), space)
}

/// Plans the program from end to end, in one call.
///
/// # Errors
///
/// As for [`plan::execution()`].
#[inline(never)]
pub fn execution<'a>(
    program: &'a Program,
    cache: &mut CacheSpace,
    space: &'a mut ExecutionSpace,
) -> Result<Execution<'a>, ExecutionError> {
    let mut subject = Subject::new(program.identity);
    // An arena also holds outputs of earlier groups, besides the largest group.
    let budget = Budget {
        budget_bytes: program.budget.budget_bytes.saturating_add(8_192),
        ..program.budget
    };
    let request = Request {
        signals: program.execution.signals(0),
        dispatch: Some(Dispatch {
            policy: &program.launches,
            // The plan's budget, unlike the launch's own, leaves little for hits.
            request: LaunchRequest {
                requested_hit_capacity: 32,
                ..program.launch
            },
        }),
        leeway: Leeway {
            least_alignment_bytes: 16,
            early_results: true,
            ..Leeway::default()
        },
        ..Request::new(program.dag, budget)
    };
    plan::execution(&request, Chooser::cached(cache, &mut subject), space)
}

/// Calls every policy once.
///
/// # Errors
///
/// The first refusal.
#[inline(never)]
pub fn policies(program: &Program, cache: &mut CacheSpace) -> Result<Policies, Refusal> {
    let mut subject = Subject::new(program.identity);
    let signals = program.execution.signals(24_000);
    let decision = cache.select(&mut subject, &signals);
    let execution = cache.plan(&mut subject, &program.execution);
    let launch = program.launches.plan(&program.launch, None);
    Ok(Policies {
        decision,
        execution: execution.map_err(Refusal::Memory)?,
        launch: launch.map_err(Refusal::Launch)?,
        session: program.session.plan().map_err(Refusal::Session)?,
        convergence: program
            .convergence
            .contract()
            .map_err(Refusal::Convergence)?,
    })
}
