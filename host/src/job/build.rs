//! Programs of requests, and the plans that replace those for which a machine has too little memory
//! or too few bits.

use crate::analysis::{Built, Question};
use crate::backend::BackendError;
use crate::graph::{Graph, WeightKind};
use crate::program::{
    EncodedProgram, PlanCache, PlanRequest, PlanSummary, ProgramError, RegisterId,
};
use crate::run::{RunError, RunRequest};
use std::sync::Arc;

/// Choices among the programs of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BuildOptions {
    /// Whether distances have 64 bits.
    pub(crate) wide: bool,
    pub(crate) warps: bool,
    /// CPU threads that answer, if a CPU certainly does.
    pub(crate) threads: Option<u32>,
    pub(crate) low_memory: bool,
    pub(crate) shortcuts: bool,
}

impl BuildOptions {
    /// Plans with these options, or with low-memory ones if the machine has too little memory.
    pub(crate) fn plan<T>(
        self,
        mut plan: impl FnMut(Self) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let error = match plan(self) {
            Err(error) if lacks_memory(&error) => error,
            planned => return planned,
        };
        let Some(low_memory) = self.on_low_memory() else {
            return Err(error);
        };
        plan(low_memory).map_err(|other| lesser(error, other))
    }

    pub(crate) fn on_low_memory(self) -> Option<Self> {
        (!self.low_memory).then_some(Self {
            low_memory: true,
            ..self
        })
    }
}

/// Builds the program of `request` in its shape. The request is already checked.
pub(crate) fn build(
    graph: &Graph,
    request: &RunRequest,
    build_options: BuildOptions,
) -> Result<Built, RunError> {
    let question = Question {
        warps: build_options.warps,
        threads: build_options.threads,
        shortcuts: build_options.shortcuts,
        // A shape is for searches, which low-memory methods do not use.
        low_memory: build_options.low_memory && request.topology.is_none(),
        ..request.question(build_options.wide)
    };
    if question.threads.is_none() {
        request.check_for_gpu(graph)?;
    }
    let mut built = request.analysis.definition().build(graph, &question)?;
    force_topology(&mut built, request)?;
    Ok(built)
}

/// Sets the requested shape for the searches of a program.
fn force_topology(built: &mut Built, request: &RunRequest) -> Result<(), RunError> {
    let Some(topology) = request.topology else {
        return Ok(());
    };
    if !built.program.searches() {
        return Err(RunError::NoSearch {
            analysis: request.analysis,
            detail: request.detail,
            topology,
        });
    }
    built.program.force_topology(topology);
    Ok(())
}

/// Plans and encodes a program, or takes its plan from `plans`. It then has the register identifiers
/// of that plan: an equal program numbers registers in the same way.
pub(crate) fn encode(
    plans: &mut PlanCache,
    request: &RunRequest,
    built: Built,
    plan: &PlanRequest,
) -> Result<(Built, Arc<EncodedProgram>, PlanSummary), ProgramError> {
    let (encoded, summary) = if request.reuse_plans {
        plans.encode(&built.program, plan)?
    } else {
        plans.encode_anew(&built.program, plan)?
    };
    let name = |register: RegisterId| encoded.register(register.number()).unwrap_or(register);
    let built = Built {
        result: name(built.result),
        parents: built.parents.map(name),
        ..built
    };
    Ok((built, encoded, summary))
}

/// Returns whether the program did not fit the machine's memory.
pub(crate) fn lacks_memory(error: &RunError) -> bool {
    matches!(
        error,
        RunError::OverBudget { .. } | RunError::Backend(BackendError::OutOfMemory { .. })
    )
}

/// Returns the refusal that names the smaller budget.
fn lesser(error: RunError, other: RunError) -> RunError {
    match (&error, &other) {
        (
            RunError::OverBudget { needed_bytes, .. },
            RunError::OverBudget {
                needed_bytes: least,
                ..
            },
        ) if needed_bytes < least => error,
        _ => other,
    }
}

/// Returns whether whole distances exceeded 32 bits, so that the search has to be repeated in 64.
pub(crate) fn outgrew(error: &RunError) -> bool {
    matches!(
        error,
        RunError::Backend(BackendError::PathTooLong {
            kind: WeightKind::Integer,
            ..
        })
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::AnalysisKind;

    #[test]
    fn who_lacks_memory_plans_again_and_once() {
        let over = || RunError::OverBudget {
            analysis: AnalysisKind::Pagerank,
            needed_bytes: 2,
            budget_bytes: 1,
        };
        let threads = BuildOptions {
            wide: true,
            ..BuildOptions::default()
        };
        let warps = BuildOptions {
            warps: true,
            ..threads
        };
        let ways = |build_options: BuildOptions, fits: &dyn Fn(BuildOptions) -> bool| {
            let mut tried = Vec::new();
            let planned = build_options.plan(|build_options| {
                tried.push(build_options.low_memory);
                assert_eq!(
                    (build_options.wide, build_options.warps),
                    (true, warps.warps && build_options.warps)
                );
                fits(build_options).then_some(()).ok_or_else(over)
            });
            (planned.is_ok(), tried)
        };
        assert_eq!(ways(warps, &|_| true), (true, vec![false]));
        assert_eq!(
            ways(warps, &|build_options| build_options.low_memory),
            (true, vec![false, true])
        );
        assert_eq!(ways(warps, &|_| false), (false, vec![false, true]));
        assert_eq!(ways(threads, &|_| false), (false, vec![false, true]));
    }
}
