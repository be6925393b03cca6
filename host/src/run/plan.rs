//! The plan of a run, held to its budget.

use super::choose::{Choice, Narrow};
use super::opened::Opened;
use super::weigh::{Found, StepCosts};
use super::{Executor, RunError, RunRequest};
use crate::analysis::Built;
use crate::backend;
use crate::calibrate::SearchTuning;
use crate::graph::Graph;
use crate::outcome::{Memory, PlanSummary};
use crate::program::{EncodedProgram, PlanRequest, ProgramError};
use seawall_core::ratio::Bps;
use std::num::NonZeroUsize;

/// Target of a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) executor: Executor,
    pub(super) narrow: Option<Narrow>,
    pub(super) search: Option<SearchTuning>,
    pub(super) step: StepCosts,
}

impl Target {
    /// The machine that a choice means to open.
    pub(super) fn of(request: &RunRequest, choice: &Choice) -> Self {
        let executor = choice.executor.unwrap_or(Executor::Mega);
        let is_alone = choice.threads == Some(NonZeroUsize::MIN);
        let costs = || Found::get().costs(request, None);
        Self {
            executor,
            narrow: choice.narrow,
            search: choice.search,
            step: choice
                .step
                .unwrap_or_else(|| StepCosts::of(&costs(), executor, is_alone)),
        }
    }
}

/// Plans and encodes a program for its target.
///
/// # Errors
/// [`RunError::OverBudget`] with the least budget that works.
pub(super) fn plan_program(
    (graph, request): (&Graph, &RunRequest),
    built: &Built,
    target: Target,
) -> Result<(EncodedProgram, PlanSummary), RunError> {
    let parts = (built.program.needs, built.program.table_lengths());
    let plan = PlanRequest {
        resident_bytes: backend::resident_bytes(graph, parts, target.executor),
        budget_bytes: request.machine.budget_bytes,
        ..PlanRequest::default()
    };
    let planned = built.program.encode(&plan);
    let (mut encoded, summary) = planned.map_err(|error| of_request(request, error))?;
    let needed = backend::session_bytes(graph, &encoded, target.executor);
    let search = &mut encoded.search;
    search.memory_pressure_bps = memory_pressure(needed, request.machine.budget_bytes);
    search.readback_bytes = target.step.readback_bytes;
    search.step_ns = target.step.step_ns;
    search.edge_ps = target.step.edge_ps;
    if let Some(narrow) = target.narrow {
        encoded.search.narrow_nodes = narrow.enter;
        encoded.search.narrow_exit_nodes = narrow.leave;
    }
    if let Some(tuning) = target.search {
        tuning.apply(&mut encoded.search);
    }
    Ok((encoded, summary))
}

/// Needed over budgeted bytes, in basis points; 0 without a budget.
fn memory_pressure(needed: u64, budget: Option<u64>) -> u32 {
    let share = budget.and_then(|budget| Bps::share(needed, budget));
    share.map_or(0, |share| share.0)
}

fn of_request(request: &RunRequest, error: ProgramError) -> RunError {
    match error {
        ProgramError::OverBudget {
            needed_bytes,
            budget_bytes,
        } => over_budget(request, (needed_bytes, budget_bytes)),
        other => other.into(),
    }
}

fn over_budget(request: &RunRequest, (needed_bytes, budget_bytes): (u64, u64)) -> RunError {
    RunError::OverBudget {
        analysis: request.analysis,
        needed_bytes,
        budget_bytes,
    }
}

/// Memory predicted for a loaded program beside what its session allocated.
pub(super) fn memory_of(
    (graph, request): (&Graph, &RunRequest),
    encoded: &EncodedProgram,
    opened: &Opened<'_>,
) -> Memory {
    let held = opened.session.memory();
    Memory {
        predicted_bytes: backend::session_bytes(graph, encoded, opened.executor),
        allocated_bytes: held.allocated_bytes,
        tiles_bytes: held.tiles_bytes,
        budget_bytes: request.machine.budget_bytes,
    }
}

/// Refuses a program that was planned for another machine than the one that opened and does
/// not fit there.
///
/// # Errors
/// [`RunError::OverBudget`].
pub(super) fn check_opened(
    (graph, request): (&Graph, &RunRequest),
    encoded: &EncodedProgram,
    executor: Executor,
) -> Result<(), RunError> {
    let needed = backend::session_bytes(graph, encoded, executor);
    match request.machine.budget_bytes {
        Some(budget) if needed > budget => Err(over_budget(request, (needed, budget))),
        _ => Ok(()),
    }
}
