//! Steps that a run shares with a batch.

use super::{RunError, RunRequest};
use crate::analysis::{AnalysisKind, AnalysisOutput, Built, Case, End, Question, oracle};
use crate::backend::{BackendError, HostWork};
use crate::column::Column;
use crate::executor::Executor;
use crate::graph::{Graph, WeightKind};
use crate::outcome::{Dropped, Memory, RunOutcome, SessionReport, Taken, Times};
use crate::program::{EncodedProgram, PlanCounters, PlanSummary};
use seawall_core::abi::control::{ControlRecord, LoopRecord};
use seawall_core::abi::program::Opcode;
use seawall_core::topology::Topology;

/// Choices among the programs of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BuildOptions {
    /// Whether distances have 64 bits.
    pub(crate) wide: bool,
    /// Whether methods are those for warps.
    pub(crate) warps: bool,
    /// CPU threads that answer, if a CPU certainly does.
    pub(crate) threads: Option<u32>,
    /// Whether to use low-memory methods.
    pub(crate) low_memory: bool,
    /// Whether the graph has shortcuts.
    pub(crate) shortcuts: bool,
}

impl BuildOptions {
    /// Options for CPU threads, with 64-bit distances if `wide`.
    pub(crate) const fn of_threads(wide: bool) -> Self {
        Self {
            wide,
            warps: false,
            threads: None,
            low_memory: false,
            shortcuts: false,
        }
    }

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

    /// The low-memory options, unless these are.
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

/// The outcome of a run that found `values` on `graph`, without all that depends on its machine.
pub(crate) fn outcome(
    graph: &Graph,
    request: &RunRequest,
    backend: Executor,
    values: Column,
    end: End,
) -> RunOutcome {
    let analysis = request.analysis.definition();
    RunOutcome {
        analysis: request.analysis,
        backend,
        backend_reason: None,
        taken_over_from: None,
        device: String::new(),
        nodes: u64::from(graph.nodes()),
        edges: u64::from(graph.edges()),
        taken: Taken::as_read(graph),
        dropped: Dropped::default(),
        weights: None,
        sources: original_ids(graph, request.sources()),
        source_names: names(graph, request.sources()),
        reached: analysis.reached(&values),
        rounds: analysis.rounds(&values, end.iterations),
        converged: end.converged,
        path: None,
        plan: PlanSummary::default(),
        memory: Memory::default(),
        plans: PlanCounters::default(),
        session: SessionReport::default(),
        topology: "none".to_owned(),
        times: Times::default(),
        repeat: request.repeat.get(),
        edges_examined: None,
        device_barriers: 0,
        code: None,
        host: HostWork::default(),
        checked: None,
        check_tolerance: None,
        answer: analysis.answer(graph, &values),
        events: Vec::new(),
        waves: Vec::new(),
        groups: Vec::new(),
        steps: Vec::new(),
        steps_total: 0,
        timeline: None,
        stream: None,
        devices: None,
        values,
        parents: None,
    }
}

pub(crate) fn original_ids(graph: &Graph, nodes: &[u32]) -> Vec<u64> {
    nodes.iter().map(|node| graph.original_id(*node)).collect()
}

/// Names of nodes; empty if they have none.
pub(crate) fn names(graph: &Graph, nodes: &[u32]) -> Vec<String> {
    let names = nodes.iter().filter_map(|node| graph.name_of(*node));
    names.map(str::to_owned).collect()
}

/// Returns the counters of the first loop, the main loop of an analysis.
fn first_loop(control: &ControlRecord) -> Option<&LoopRecord> {
    (control.loops_done > 0).then_some(&control.loops[0])
}

/// Returns the end of a program: the loops of an analysis follow each other, and all of them have to
/// converge. A program without a loop ends after one iteration.
pub(crate) fn end_of(analysis: AnalysisKind, control: &ControlRecord) -> End {
    let loops = &control.loops[..(control.loops_done as usize).min(control.loops.len())];
    if loops.is_empty() {
        return End::ONCE;
    }
    let all = loops.iter().map(|ended| ended.iterations);
    analysis.definition().end(End {
        iterations: all.fold(0, u32::saturating_add),
        converged: loops.iter().all(|ended| ended.converged != 0),
    })
}

/// Returns the edges that the sequential algorithms of a program visited, if it has any.
pub(crate) fn edges_examined(program: &EncodedProgram, control: &ControlRecord) -> Option<u64> {
    let mut opcodes = program.waves.iter().map(|wave| wave.opcode);
    let [low, high] = control.examined.map(u64::from);
    opcodes
        .any(|opcode| opcode == Opcode::Sequential as u32)
        .then_some(high << 32 | low)
}

/// Returns the name of the topology of most steps.
pub(crate) fn topology_name(control: &ControlRecord) -> String {
    let Some(record) = first_loop(control) else {
        return "none".to_owned();
    };
    let mut steps = record.steps;
    // A block counts each of its iterations as one step.
    steps[Topology::Fused as usize] = steps[Topology::Fused as usize].max(record.block_iterations);
    let taken = (0_u32..).zip(steps).filter(|(_, count)| *count > 0);
    let most = taken.max_by_key(|(_, count)| *count);
    most.and_then(|(word, _)| Topology::from_u32(word))
        .map_or_else(|| "none".to_owned(), |topology| topology.name().to_owned())
}

/// Returns whether the sequential implementation has the same result.
pub(crate) fn is_equal(
    graph: &Graph,
    request: &RunRequest,
    end: End,
    found: AnalysisOutput<'_>,
) -> bool {
    let question = &request.question(false);
    let taken = oracle::taken(graph, request.loops, request.parallel);
    let case = Case {
        graph: taken.as_ref().unwrap_or(graph),
        question,
        end,
    };
    request.analysis.definition().check(&case, found)
}

/// Compares the column of `outcome` with the sequential implementation's, and records how.
pub(crate) fn check(graph: &Graph, request: &RunRequest, end: End, outcome: &mut RunOutcome) {
    let output = AnalysisOutput {
        values: &outcome.values,
        parents: outcome.parents.as_deref(),
    };
    outcome.checked = Some(is_equal(graph, request, end, output));
    let analysis = request.analysis.definition();
    outcome.check_tolerance = analysis.tolerance(&outcome.values, end);
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

/// The first of the times of runs, and their median.
pub(crate) fn first_and_median(mut times: Vec<u64>) -> [u64; 2] {
    let first = times.first().copied().unwrap_or(0);
    [first, median(&mut times)]
}

fn median(values: &mut [u64]) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
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
        let threads = BuildOptions::of_threads(true);
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
