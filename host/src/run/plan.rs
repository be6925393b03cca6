//! Programs of a run, planned within its budget.

use super::choose::choose;
use super::{Executor, RunError, RunRequest};
use crate::analysis::Built;
use crate::backend;
use crate::backend::cpu::threads_or_all;
use crate::calibrate::SearchTuning;
use crate::graph::Graph;
use crate::job::choose::{Choice, Narrow};
use crate::job::cost_model::{LoadedCalibration, StepCosts};
use crate::job::{BuildOptions, Job, build, encode};
use crate::outcome::PlanSummary;
use crate::program::{EncodedProgram, PlanCache, ProgramError, RegisterId};
use crate::units::Count;
use seawall_core::abi::search::SearchPolicy;
use std::num::NonZeroUsize;
use std::sync::Arc;

#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) executor: Executor,
    pub(super) narrow: Option<Narrow>,
    pub(super) search: Option<SearchTuning>,
    pub(super) step: StepCosts,
    pub(super) threads: Option<u32>,
}

impl Target {
    /// The machine that a choice intends to open.
    pub(super) fn of(request: &RunRequest, choice: &Choice) -> Self {
        let executor = choice.executor.unwrap_or(Executor::Mega);
        let is_alone = choice.threads == Some(NonZeroUsize::MIN);
        let costs = || LoadedCalibration::get().costs(request, None);
        Self {
            executor,
            threads: (!executor.is_on_gpu()).then(|| threads_or_all(choice.threads)),
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

pub(super) struct Planned {
    pub(super) built: Built,
    pub(super) encoded: Arc<EncodedProgram>,
    pub(super) summary: PlanSummary,
    pub(super) plan_ns: u64,
    pub(super) build_options: BuildOptions,
    /// Whether the machine has it already.
    pub(super) is_loaded: bool,
    is_traced: bool,
}

impl Planned {
    /// Bytes of the registers that are read at the end.
    pub(super) fn output_bytes(&self) -> u64 {
        let registers = &self.encoded.registers;
        let words = |id: RegisterId| {
            let register = registers.get(id.number() as usize);
            register.map_or(0, |register| u64::from(register.words))
        };
        4 * (words(self.built.result) + self.built.parents.map_or(0, words))
    }

    /// Marks the program as loaded on the machine.
    pub(super) fn into_loaded(self) -> Self {
        Self {
            is_loaded: true,
            ..self
        }
    }
}

/// The programs of a request.
pub(super) struct Planner<'g, 'r> {
    /// The graph in the form of the request.
    pub(super) graph: &'g Graph,
    /// The graph that is on the machine: the same, or with shortcuts.
    pub(super) placed: &'g Graph,
    pub(super) plans: &'r mut PlanCache,
}

impl<'g, 'r> Planner<'g, 'r> {
    /// Takes the graph with shortcuts, if a GPU is asked for and its program then has few rounds where
    /// it has many levels.
    pub(super) fn new(graph: &'g Graph, request: &RunRequest, plans: &'r mut PlanCache) -> Self {
        let lengths = request.shortcuts();
        let shortened = lengths.and_then(|lengths| graph.with_shortcuts(lengths));
        Self {
            graph,
            placed: shortened.unwrap_or(graph),
            plans,
        }
    }

    /// Whether the graph on the machine has shortcuts.
    pub(super) fn has_shortcuts(&self) -> bool {
        !std::ptr::eq(self.graph, self.placed)
    }

    pub(super) fn shortcuts(&self) -> u64 {
        u64::from(self.placed.edges() - self.graph.edges())
    }

    /// Chooses the machine.
    pub(super) fn choose(&self, request: &RunRequest) -> Choice {
        let choice = choose(self.graph, request);
        if !self.has_shortcuts() {
            return choice;
        }
        // A forecast knows no rounds along shortcuts.
        let edges = Count(self.shortcuts());
        let reason = format!("{edges} shortcuts along chains, so that long paths take few rounds");
        Choice {
            reason: Some(reason),
            ..choice
        }
    }

    /// Builds, plans and encodes the first program for `target`; `known` is the one on the machine.
    pub(super) fn plan(
        &mut self,
        job: &mut Job<'_>,
        target: Target,
        known: Option<&Planned>,
    ) -> Result<Planned, RunError> {
        // Several devices share one program, whatever runs it.
        let is_alone = !job.request.shared;
        let build_options = BuildOptions {
            warps: target.executor.is_on_gpu() && is_alone,
            threads: target.threads.filter(|_| is_alone),
            shortcuts: self.has_shortcuts(),
            ..BuildOptions::default()
        };
        self.plan_as(job, target, build_options, known)
    }

    /// As [`plan`](Self::plan), by these options, or on low memory if the budget holds no other.
    pub(super) fn plan_as(
        &mut self,
        job: &mut Job<'_>,
        target: Target,
        build_options: BuildOptions,
        known: Option<&Planned>,
    ) -> Result<Planned, RunError> {
        let (graph, request) = (self.placed, job.request);
        build_options.plan(|build_options| {
            let start = job.now();
            let mut built = build(graph, request, build_options)?;
            target.steer(&mut built.program.search);
            let (executor, machine) = (target.executor, &request.machine);
            let plan = backend::plan_request(graph, &built.program, executor, machine);
            let planned = encode(self.plans, request, built, &plan);
            let (built, encoded, summary) = planned.map_err(|error| refused(request, error))?;
            let is_traced = request.explain;
            let is_same = |known: &Planned| {
                known.is_traced == is_traced && Arc::ptr_eq(&known.encoded, &encoded)
            };
            let plan_ns = job.since(start);
            job.host("plan", start, plan_ns);
            Ok(Planned {
                is_loaded: known.is_some_and(is_same),
                built,
                encoded,
                summary,
                plan_ns,
                build_options,
                is_traced,
            })
        })
    }
}

/// The refusal of a program; with the least budget that works if it exceeds that of the request.
fn refused(request: &RunRequest, error: ProgramError) -> RunError {
    match error {
        ProgramError::OverBudget {
            needed_bytes,
            budget_bytes,
        } => RunError::over_budget(request, needed_bytes, budget_bytes),
        other => other.into(),
    }
}
