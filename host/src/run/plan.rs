//! Plan of a run within its budget.

use super::choose::{Choice, Narrow};
use super::cost_model::{LoadedCalibration, StepCosts};
use super::opened::Opened;
use super::{Executor, RunError, RunRequest};
use crate::backend;
use crate::backend::cpu::available_threads;
use crate::calibrate::SearchTuning;
use crate::graph::Graph;
use crate::outcome::{Memory, PlanSummary};
use crate::program::{EncodedProgram, PlanCache, ProgramBuilder, ProgramError};
use seawall_core::abi::search::SearchPolicy;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Target of a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) executor: Executor,
    pub(super) narrow: Option<Narrow>,
    pub(super) search: Option<SearchTuning>,
    pub(super) step: StepCosts,
    /// CPU threads, if it is a CPU.
    pub(super) threads: Option<u32>,
}

impl Target {
    /// The machine that a choice intends to open.
    pub(super) fn of(request: &RunRequest, choice: &Choice) -> Self {
        let executor = choice.executor.unwrap_or(Executor::Mega);
        let is_alone = choice.threads == Some(NonZeroUsize::MIN);
        let costs = || LoadedCalibration::get().costs(request, None);
        let threads = choice.threads.unwrap_or_else(available_threads).get();
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        Self {
            executor,
            threads: (!executor.is_on_gpu()).then_some(threads),
            narrow: choice.narrow,
            search: choice.search,
            step: choice
                .step
                .unwrap_or_else(|| StepCosts::of(&costs(), executor, is_alone)),
        }
    }

    /// Sets the limits and costs of this machine for searches.
    fn steer(self, search: &mut SearchPolicy) {
        search.readback_bytes = self.step.readback_bytes;
        search.step_ns = self.step.step_ns;
        search.edge_ps = self.step.edge_ps;
        if let Some(narrow) = self.narrow {
            search.narrow_nodes = narrow.enter;
            search.narrow_exit_nodes = narrow.leave;
        }
        if let Some(tuning) = self.search {
            tuning.apply(search);
        }
    }
}

/// Plans and encodes a program for its target, or takes its plan from `plans`.
///
/// # Errors
/// [`RunError::OverBudget`] with the least budget that works.
pub(super) fn plan_program(
    graph: &Graph,
    request: &RunRequest,
    program: &mut ProgramBuilder,
    target: Target,
    plans: &mut PlanCache,
) -> Result<(Arc<EncodedProgram>, PlanSummary), RunError> {
    target.steer(&mut program.search);
    let machine = &request.machine;
    let plan = backend::plan_request(graph, program, target.executor, machine);
    let planned = if request.reuse_plans {
        plans.encode(program, &plan)
    } else {
        plans.encode_anew(program, &plan)
    };
    planned.map_err(|error| of_request(request, error))
}

fn of_request(request: &RunRequest, error: ProgramError) -> RunError {
    match error {
        ProgramError::OverBudget {
            needed_bytes,
            budget_bytes,
        } => over_budget(request, needed_bytes, budget_bytes),
        other => other.into(),
    }
}

fn over_budget(request: &RunRequest, needed_bytes: u64, budget_bytes: u64) -> RunError {
    RunError::OverBudget {
        analysis: request.analysis,
        needed_bytes,
        budget_bytes,
    }
}

/// Memory predicted for a loaded program, and allocated by its session.
pub(super) fn memory_of(
    graph: &Graph,
    request: &RunRequest,
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
