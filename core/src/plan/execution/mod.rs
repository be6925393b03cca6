//! One call from a program to its complete execution plan.
//!
//! Groups, arena, topology, memory and launch shape follow from each other, and
//! composed by hand they can contradict: component peaks of different groups add
//! up to memory that is never alive together. Here each group counts by itself,
//! and where two figures meet, the larger one decides:
//!
//! | figure | meaning |
//! | --- | --- |
//! | `peak_group_bytes` | frontier, four copies of scratch and output of the largest group |
//! | memory of the topology | frontier, its copies of scratch and output of the group that needs most |
//! | arena | regions alive at once, with outputs of earlier groups and scratch by topology |
//!
//! A plan is accepted if all of them fit beside the resident bytes; the arena is then its only
//! memory. `candidates` looks for groups whose arena fits, `step` chooses the topology. Nothing is
//! launched or allocated here.

mod candidates;
mod error;
mod step;

pub use error::{ExecutionError, OverBudget};
pub use step::Chooser;

use super::arena::{Arena, ArenaOptions};
use super::groups::{Budget, Groups, Strategy};
use crate::launch::{LaunchPlan, LaunchPolicy, LaunchRequest};
use crate::scratch::ExecutionScratchView;
use crate::topology::memory::MemoryPlan;
use crate::topology::{Decision, Signals};
use crate::wave::Dag;
use candidates::Planner;

/// A program with everything that its plan depends on.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Request<'a> {
    /// The waves and their order.
    pub dag: Dag<'a>,
    /// Bytes that may be used; resident bytes stay beside the arena, mainly the graph.
    pub budget: Budget,
    /// Strategy of grouping if there is enough memory.
    pub strategy: Strategy,
    /// Layout of regions. Its topology is ignored: the plan chooses one.
    pub arena: ArenaOptions<'a>,
    /// Concessions of the layout if it does not fit.
    pub leeway: Leeway,
    /// Measurements of a step. Required and budgeted bytes in it are ignored: the plan has its
    /// own.
    pub signals: Signals,
    /// The dispatch to size, if there is one.
    pub dispatch: Option<Dispatch<'a>>,
}

/// Concessions of an arena that does not fit, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Leeway {
    /// Alignment to fall back to; 0 keeps the requested one.
    pub least_alignment_bytes: u64,
    /// Whether results may be read right after their group, which then frees their memory.
    pub early_results: bool,
    /// Whether the groups stay those of the strategy; otherwise smaller ones may replace them. A
    /// refusal then names a budget that works, which need not be the least.
    pub fixed_groups: bool,
}

/// A dispatch whose memory follows from the plan.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Dispatch<'a> {
    /// The policy that sizes it.
    pub policy: &'a LaunchPolicy,
    /// Queue and device. The plan fills in pressure, resident bytes and budget.
    pub request: LaunchRequest,
}

impl<'a> Request<'a> {
    /// A request with packed groups, the usual layout and no signals.
    #[must_use]
    pub fn new(dag: Dag<'a>, budget: Budget) -> Self {
        Self {
            dag,
            budget,
            strategy: Strategy::default(),
            arena: ArenaOptions::default(),
            leeway: Leeway::default(),
            signals: Signals::default(),
            dispatch: None,
        }
    }
}

/// A program planned from end to end, inside borrowed scratch.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Execution<'a> {
    /// The groups.
    pub groups: Groups<'a>,
    /// The arena, laid out for the topology.
    pub arena: Arena<'a>,
    /// Whether results stay to the end, as requested; otherwise each has to be read after its
    /// group.
    pub results_stay: bool,
    /// The policy's choice, with its reason.
    pub decision: Decision,
    /// The memory of the topology to run, for the group with the largest need.
    pub memory: MemoryPlan,
    /// Whether Sparse replaced the wanted topology because that did not fit.
    pub downgraded: bool,
    /// Total bytes required: resident ones, and the larger of arena and memory.
    pub required_bytes: u64,
    /// Required over budgeted bytes in basis points, at most 10 000.
    pub pressure_bps: u32,
    /// The sizes of the dispatch, if one was requested.
    pub launch: Option<LaunchPlan>,
}

/// Plans a program from end to end.
///
/// Costs as much as [`super::groups()`] and [`super::arena()`] if their plan fits. If it does not,
/// the names of the waves are found, and at most eight plans of smaller groups are tried, in a
/// fixed order.
///
/// # Errors
/// In this order: errors of the groups; [`ExecutionError::OverBudget`] with the least budget that
/// works, if the memory alive at once does not fit, and errors of the arena; errors of the
/// dispatch. On an error the chooser does not remember a topology that did not fit.
///
/// ```
/// use seawall_core::cache::{AnalysisKind, DeviceKey, Identity, Subject};
/// use seawall_core::plan::execution::{Chooser, Request};
/// use seawall_core::plan::{ArenaOptions, Budget, Dag, Dependency, Wave, execution};
/// use seawall_core::scratch::ExecutionScratch;
/// use seawall_core::topology::TopologyPolicy;
///
/// let waves = [
///     Wave { frontier_bytes: 80, scratch_bytes: 0, output_bytes: 10 },
///     Wave { frontier_bytes: 0, scratch_bytes: 0, output_bytes: 88 },
/// ];
/// let dag = Dag { waves: &waves, dependencies: &[Dependency { before: 0, after: 1 }] };
/// let budget = Budget { budget_bytes: 100, ..Budget::default() };
/// let arena = ArenaOptions { alignment_bytes: 1, ..ArenaOptions::default() };
/// let mut subject = Subject::new(Identity {
///     graph_layout_hash: 7,
///     analysis: AnalysisKind::Liveness,
///     device: DeviceKey::default(),
/// });
/// let chooser = Chooser::plain(&TopologyPolicy::DEFAULT, &mut subject);
/// let mut scratch = ExecutionScratch::<2, 1>::new();
/// let request = Request { arena, ..Request::new(dag, budget) };
/// let plan = execution(&request, chooser, &mut scratch)?;
/// assert_eq!(plan.groups.summary().peak_group_bytes, 90);
/// assert_eq!((plan.arena.bytes(), plan.required_bytes), (98, 98));
/// # Ok::<(), seawall_core::plan::execution::ExecutionError>(())
/// ```
pub fn execution<'a>(
    request: &Request<'a>,
    chooser: Chooser<'_>,
    scratch: impl Into<ExecutionScratchView<'a>>,
) -> Result<Execution<'a>, ExecutionError> {
    let mut planner = Planner::new(request, scratch.into());
    let found = planner.find()?;
    step::execution(planner, found, chooser)
}

/// Plans the groups of a program and an arena that fits beside the resident bytes, without a
/// topology: the arena holds one copy of scratch.
///
/// Signals and dispatch of the request are ignored. Costs as much as [`execution()`].
///
/// # Errors
/// Errors of the groups and the arena, and [`ExecutionError::OverBudget`], as for [`execution()`].
pub fn layout<'a>(
    request: &Request<'a>,
    scratch: impl Into<ExecutionScratchView<'a>>,
) -> Result<(Groups<'a>, Arena<'a>), ExecutionError> {
    let mut planner = Planner::new(request, scratch.into());
    let found = planner.find()?;
    Ok(planner.into_parts(&found))
}

/// The least budget that [`execution()`] accepts, resident bytes included: it and every larger one
/// are accepted, and every smaller one is refused. It depends on the program, not on the numbers of
/// its waves or the order of its dependencies, unless a program of more than a few hundred waves
/// has many that are alike.
///
/// The budget in the request is ignored, and so is its dispatch. Costs about nine plans, the
/// names of the waves and a search for the order that keeps least alive. With
/// [`Leeway::fixed_groups`] it is a budget that works, and need not be the least.
///
/// # Errors
/// As [`execution()`], except those of budgets.
pub fn least_budget<'a>(
    request: &Request<'a>,
    scratch: impl Into<ExecutionScratchView<'a>>,
) -> Result<u64, ExecutionError> {
    let unlimited = Request {
        budget: Budget {
            budget_bytes: u64::MAX,
            ..request.budget
        },
        ..*request
    };
    Planner::new(&unlimited, scratch.into()).least()
}
