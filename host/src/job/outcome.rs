//! Outcomes of jobs, and their check.

use super::Job;
use crate::analysis::{AnalysisKind, AnalysisOutput, Case, End, oracle};
use crate::backend::HostWork;
use crate::column::Column;
use crate::executor::Executor;
use crate::graph::{Graph, LoadOptions, WeightChoice, load};
use crate::outcome::{Dropped, Memory, RunOutcome, SessionReport, Taken, Times};
use crate::program::{EncodedProgram, PlanCounters, PlanSummary};
use crate::run::{Phase, RunError, RunRequest};
use seawall_core::abi::control::{ControlRecord, LoopRecord};
use seawall_core::abi::program::Opcode;
use seawall_core::topology::Topology;
use std::borrow::Borrow;
use std::ffi::OsStr;

pub(crate) struct Found {
    pub(crate) backend: Executor,
    pub(crate) reason: Option<String>,
    pub(crate) device: String,
    pub(crate) values: Column,
    pub(crate) parents: Option<Vec<u32>>,
    pub(crate) end: End,
    pub(crate) times: Times,
    pub(crate) memory: Memory,
}

/// The outcome of a job that `found` this on the graph `read` in the form `form`, without what only
/// some machines have.
pub(crate) fn outcome(
    read: &Graph,
    form: &Graph,
    request: &RunRequest,
    found: Found,
) -> RunOutcome {
    let analysis = request.analysis.definition();
    let Found { values, end, .. } = found;
    RunOutcome {
        analysis: request.analysis,
        backend: found.backend,
        backend_reason: found.reason,
        taken_over_from: None,
        device: found.device,
        nodes: u64::from(form.nodes()),
        edges: u64::from(read.edges()),
        taken: Taken::of(read, form, request),
        dropped: Dropped::between(read, form),
        weights: None,
        sources: original_ids(form, request.sources()),
        source_names: names(form, request.sources()),
        reached: analysis.reached(&values),
        rounds: analysis.rounds(&values, end.iterations),
        converged: end.converged,
        path: None,
        plan: PlanSummary::default(),
        memory: found.memory,
        plans: PlanCounters::default(),
        session: SessionReport::default(),
        topology: "none".to_owned(),
        times: found.times,
        repeat: request.repeat.get(),
        edges_examined: None,
        device_barriers: 0,
        code: None,
        host: HostWork::default(),
        checked: None,
        check_tolerance: None,
        answer: analysis.answer(form, &values),
        events: Vec::new(),
        waves: Vec::new(),
        groups: Vec::new(),
        steps: Vec::new(),
        steps_total: 0,
        timeline: None,
        stream: None,
        devices: None,
        values,
        parents: found.parents,
    }
}

impl Job<'_> {
    /// Returns the outcome of the graph `read`, which the analysis took in the form `form`, with the
    /// events so far.
    pub(crate) fn outcome(&mut self, read: &Graph, form: &Graph, found: Found) -> RunOutcome {
        RunOutcome {
            events: std::mem::take(&mut self.events),
            ..outcome(read, form, self.request, found)
        }
    }

    /// Compares an outcome that ended with `end` with the sequential implementation's on the graph
    /// that `read` returns, if requested.
    pub(crate) fn check<G: Borrow<Graph>, E>(
        &mut self,
        outcome: &mut RunOutcome,
        end: End,
        read: impl FnOnce() -> Result<G, E>,
    ) -> Result<(), E> {
        let request = self.request;
        if request.check {
            self.phase(Phase::Check);
            let checked = || read().map(|graph| check(graph.borrow(), request, end, outcome));
            self.until_now("check", checked)?;
            outcome.events.append(&mut self.events);
        }
        Ok(())
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

/// Loads the whole graph of a file or generator for a check, with the weight 1 on every edge if `is_unit`.
pub(crate) fn load_whole(
    name: impl AsRef<OsStr>,
    is_weighted: bool,
    is_unit: bool,
) -> Result<Graph, RunError> {
    let weights = match (is_weighted, is_unit) {
        (false, _) => WeightChoice::Ignored,
        (true, false) => WeightChoice::Given,
        (true, true) => WeightChoice::Unit,
    };
    let options = LoadOptions {
        weights,
        ..LoadOptions::default()
    };
    Ok(load(name, &options, None)?.graph)
}

/// Compares the column of `outcome` with the sequential implementation's on the graph as read, and
/// records how.
pub(crate) fn check(read: &Graph, request: &RunRequest, end: End, outcome: &mut RunOutcome) {
    let output = AnalysisOutput {
        values: &outcome.values,
        parents: outcome.parents.as_deref(),
    };
    let taken = oracle::taken(read, request.loops, request.parallel);
    let case = Case {
        graph: taken.as_ref().unwrap_or(read),
        question: &request.question(false),
        end,
    };
    let analysis = request.analysis.definition();
    outcome.checked = Some(analysis.check(&case, output));
    outcome.check_tolerance = analysis.tolerance(&outcome.values, end);
}
