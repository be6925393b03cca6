//! Plans for another graph or machine than the one that runs them: the kernel refuses them.

use crate::ladder::Open;
use seawall::analysis::{self, AnalysisKind, Question};
use seawall::backend::batch::{BatchError, BatchSession, Job};
use seawall::backend::{BackendError, Session, plan_request};
use seawall::executor::{Executor, Machine};
use seawall::graph::Graph;
use seawall::program::{EncodedProgram, RegisterId};
use std::sync::Arc;

/// A machine under test, and the sessions that it opens.
pub struct Tried<'t> {
    /// Its executor.
    pub executor: Executor,
    /// Opens a session of the machine.
    pub open: Open<'t>,
}

/// A search from node 0, planned for a graph and a machine.
struct Planned {
    program: EncodedProgram,
    inputs: Vec<u32>,
    result: RegisterId,
}

const NODES: u32 = 50;

/// A path, of which one edge leads elsewhere if it is `cut`. The sizes are the same.
fn graph(cut: Option<u32>) -> Graph {
    let edge = |node: u32| match cut {
        Some(at) if at == node => (node, 0),
        _ => (node, node + 1),
    };
    let edges: Vec<_> = (0..NODES - 1).map(edge).collect();
    Graph::from_edges(NODES, &edges, false).unwrap_or_else(|error| panic!("{error}"))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn planned(graph: &Graph, executor: Executor, device: u32) -> Result<Planned, String> {
    let mut machine = Machine::cpu(None);
    machine.device = device;
    let question = Question::new(vec![0]);
    let built = analysis::build(AnalysisKind::Bfs, graph, &question).map_err(text)?;
    let request = plan_request(graph, &built.program, executor, &machine);
    let (program, _) = built.program.encode(&request).map_err(text)?;
    Ok(Planned {
        program,
        inputs: built.inputs,
        result: built.result,
    })
}

/// Runs the search; returns the nodes that it reached, or `None` if the plan is refused.
fn reached(session: &mut dyn Session, plan: &Planned) -> Result<Option<usize>, String> {
    session.load(&plan.program).map_err(text)?;
    match session.run(&plan.inputs) {
        Err(BackendError::StalePlan) => return Ok(None),
        other => drop(other.map_err(text)?),
    }
    let mut words = Vec::new();
    session.read(plan.result, &mut words).map_err(text)?;
    Ok(Some(count(&words)))
}

fn count(levels: &[u32]) -> usize {
    levels.iter().filter(|level| **level != u32::MAX).count()
}

fn expect(what: &str, found: Option<usize>, expected: Option<usize>) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: {found:?} instead of {expected:?}"))
}

/// Runs plans for this graph and machine, for a changed graph and for other machines.
///
/// # Errors
/// If a plan runs that must not, or does not run that must.
pub fn check_session(tried: &Tried<'_>) -> Result<(), String> {
    let here = (tried.executor, 0);
    let other = match tried.executor {
        Executor::Cpu => Executor::Mega,
        _ => Executor::Cpu,
    };
    let whole = graph(None);
    let plan = planned(&whole, here.0, here.1)?;
    let far = [
        planned(&whole, other, 0)?,
        planned(&whole, Executor::Mega, 1)?,
    ];
    for cut in [None, Some(1), Some(NODES - 2)] {
        let graph = graph(cut);
        let all = cut.map_or(NODES, |at| at + 1) as usize;
        let mut session = (tried.open)(&graph).map_err(text)?;
        let is_ours = cut.is_none().then_some(all);
        expect("the plan", reached(session.as_mut(), &plan)?, is_ours)?;
        for far in &far {
            let found = reached(session.as_mut(), far)?;
            expect("a plan for another machine", found, None)?;
        }
        let anew = planned(&graph, here.0, here.1)?;
        expect("a new plan", reached(session.as_mut(), &anew)?, Some(all))?;
    }
    Ok(())
}

/// Opens a batch.
pub type OpenBatch<'t> =
    &'t dyn for<'g> Fn(&[Job<'g>]) -> Result<Box<dyn BatchSession + 'g>, BatchError>;

/// Runs a batch of plans for its own graphs, and one in which a graph has that of another.
///
/// # Errors
/// If a plan runs that must not, or does not run that must.
pub fn check_batch(executor: Executor, open: OpenBatch<'_>) -> Result<(), String> {
    let graphs = [None, Some(7), Some(30)].map(graph);
    let plans = graphs.each_ref().map(|graph| planned(graph, executor, 0));
    let [first, second, third] = plans;
    let plans = [first?, second?, third?];
    let job = |graph: usize, plan: usize| Job {
        graph: &graphs[graph],
        program: Arc::new(plans[plan].program.clone()),
        inputs: plans[plan].inputs.clone(),
        result: plans[plan].result,
    };
    let own: Vec<_> = (0..3).map(|at| job(at, at)).collect();
    let mut batch = open(&own).map_err(text)?;
    batch.run().map_err(text)?;
    let words = batch.read().map_err(text)?;
    let counts: Vec<_> = words.iter().map(|words| count(words)).collect();
    if counts != [NODES as usize, 8, 31] {
        return Err(format!("the searches reached {counts:?} nodes"));
    }
    let mixed = [job(0, 0), job(1, 2), job(2, 2)];
    match open(&mixed).map_err(text)?.run() {
        Err(BatchError::Job {
            index: 1,
            source: BackendError::StalePlan,
        }) => Ok(()),
        other => Err(format!("{:?} of a stale plan in a batch", other.map(drop))),
    }
}
