//! Batches and their checks, for the CPU backend and for a GPU.
//!
//! Graphs of one batch differ in shape and size, and some are empty. Each result is compared with
//! an oracle for its graph.

use crate::draw::{self, Limits};
use crate::graphs::{self, EdgeList, SHAPES};
use crate::harness::{RunOptions, compare, expected};
use crate::interpret::interpret;
use crate::random::Random;
use seawall::analysis::{self, Built, Question, oracle};
use seawall::backend::batch::{BatchError, BatchSession, Job};
use seawall::graph::Graph;
use seawall::outcome::Column;
use seawall::program::{EncodedProgram, PlanRequest};
use seawall::run::{AnalysisKind, Detail, Ranking};
use seawall_core::abi::control::LoopRecord;
use seawall_core::abi::program::{Opcode, WaveRecord};
use seawall_core::abi::search::SearchPolicy;
use std::sync::Arc;

/// Every analysis that has a program.
pub const ANALYSES: [AnalysisKind; 8] = [
    AnalysisKind::Bfs,
    AnalysisKind::Reach,
    AnalysisKind::Cc,
    AnalysisKind::Sssp,
    AnalysisKind::Kcore,
    AnalysisKind::Pagerank,
    AnalysisKind::Triangles,
    AnalysisKind::TriangleTotal,
];

/// A drawn graph of a batch.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its edges.
    pub list: EdgeList,
    /// Nodes to start from.
    pub sources: Vec<u32>,
}

/// Draws `count` members of up to `nodes` nodes each; most are much smaller.
#[must_use]
pub fn members(count: u32, nodes: u32, random: &mut Random) -> Vec<Member> {
    let member = |_| {
        let shape = random.pick(&SHAPES).unwrap_or(SHAPES[0]);
        let most = random.pick(&[0, 1, 2, 40, nodes / 8, nodes]).unwrap_or(1);
        let size = random.below(most.min(nodes) + 1);
        // Core numbers and triangles need both directions of every edge.
        let list = graphs::draw(shape, size, true, random);
        let sources = graphs::draw_sources(list.nodes, random);
        Member { list, sources }
    };
    (0..count).map(member).collect()
}

/// The request for every member.
#[derive(Clone, Copy, Debug)]
pub struct BatchOptions {
    /// The analysis.
    pub analysis: AnalysisKind,
    /// Most iterations of its loop.
    pub max_iterations: u32,
    /// Thresholds of searches.
    pub policy: SearchPolicy,
}

impl BatchOptions {
    /// Returns the request for `analysis` with every default.
    #[must_use]
    pub fn new(analysis: AnalysisKind) -> Self {
        Self {
            analysis,
            max_iterations: u32::MAX - 1,
            policy: SearchPolicy::default(),
        }
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Runs `asked` on every member in one batch, `times` times, and compares all
/// results. `open` opens the session.
///
/// # Errors
/// The first failure or difference.
pub fn run_batch(
    open: impl for<'g> FnOnce(&[Job<'g>]) -> Result<Box<dyn BatchSession + 'g>, BatchError>,
    members: &[Member],
    asked: &BatchOptions,
    times: u32,
) -> Result<(), String> {
    let graph = |member: &Member| {
        let graph = member.list.graph().map_err(text)?;
        let weighted = asked.analysis.reads_weights();
        Ok::<_, String>(if weighted {
            graph.with_drawn_weights(5).map_err(text)?
        } else {
            graph
        })
    };
    let graphs = members.iter().map(graph).collect::<Result<Vec<_>, _>>()?;
    let built = built(members, &graphs, asked)?;
    let mut jobs = Vec::new();
    for (graph, built) in graphs.iter().zip(&built) {
        jobs.push(job(graph, built)?);
    }
    let mut session = open(&jobs).map_err(text)?;
    for run in 1..=times {
        let stats = session.run().map_err(text)?;
        let words = session.read().map_err(text)?;
        if words.len() != members.len() || stats.controls.len() != members.len() {
            return Err(format!("{} results of {}", words.len(), members.len()));
        }
        for (at, words) in words.into_iter().enumerate() {
            let column = built[at].reading.column(graphs[at].nodes(), words);
            let end = &stats.controls[at].loops[0];
            judge(&graphs[at], &members[at], asked, &column, end).map_err(|problem| {
                let nodes = members[at].list.nodes;
                format!("run {run}, graph {at} of {nodes} nodes: {problem}")
            })?;
        }
    }
    Ok(())
}

fn built(members: &[Member], graphs: &[Graph], asked: &BatchOptions) -> Result<Vec<Built>, String> {
    let build = |(member, graph): (&Member, &Graph)| {
        let mut question = Question::new(member.sources.clone());
        question.max_iterations = asked.max_iterations;
        let mut built = analysis::build(asked.analysis, graph, &question).map_err(text)?;
        built.program.search_policy(asked.policy);
        Ok(built)
    };
    members.iter().zip(graphs).map(build).collect()
}

/// Returns a job with its own program.
///
/// # Errors
/// The planner's error as text.
pub fn job<'g>(graph: &'g Graph, built: &Built) -> Result<Job<'g>, String> {
    let (program, _) = built
        .program
        .encode(&PlanRequest::default())
        .map_err(text)?;
    Ok(Job {
        graph,
        program: Arc::new(program),
        inputs: built.inputs.clone(),
        result: built.result,
    })
}

/// Returns a search of `graph` whose frontier is too short: a fault in a program that only
/// searches.
///
/// # Errors
/// The planner's error as text.
pub fn short_frontier(graph: &Graph) -> Result<Job<'_>, String> {
    let question = Question::new(vec![0]);
    let built = analysis::build(AnalysisKind::Bfs, graph, &question).map_err(text)?;
    let mut job = job(graph, &built)?;
    let mut program = EncodedProgram::clone(&job.program);
    let expands = |wave: &&WaveRecord| wave.opcode == Opcode::Expand as u32;
    let expand = program.waves.iter().find(expands);
    let frontier = expand.ok_or("no search")?.sources[0];
    program.registers[frontier as usize].words = 9;
    job.program = Arc::new(program);
    Ok(job)
}

/// Runs a random script on every member in one batch and compares the first kept register of each:
/// workers reuse arenas without clearing, so no program may depend on their content.
///
/// # Errors
/// The first failure or difference.
pub fn run_scripts(
    open: impl for<'g> FnOnce(&[Job<'g>]) -> Result<Box<dyn BatchSession + 'g>, BatchError>,
    members: &[Member],
    words: u32,
    random: &mut Random,
) -> Result<(), String> {
    let mut graphs = Vec::new();
    let mut drawn = Vec::new();
    for member in members {
        let limits = Limits {
            nodes: member.list.nodes,
            waves: 1 + random.below(12),
            words,
        };
        let script = draw::draw(limits, random);
        if let Some(slot) = script.registers.iter().position(|register| register.keep) {
            graphs.push(member.list.graph().map_err(text)?);
            drawn.push((script, slot, &member.list));
        }
    }
    let mut jobs = Vec::new();
    for (graph, (script, slot, list)) in graphs.iter().zip(&drawn) {
        let assembled = script.assemble(list).map_err(text)?;
        let program = assembled.program.encode(&PlanRequest::default());
        jobs.push(Job {
            graph,
            program: Arc::new(program.map_err(text)?.0),
            inputs: assembled.inputs,
            result: assembled.registers[*slot],
        });
    }
    if jobs.is_empty() {
        return Ok(());
    }
    let mut session = open(&jobs).map_err(text)?;
    session.run().map_err(text)?;
    let found = session.read().map_err(text)?;
    for (at, (words, (script, slot, list))) in found.iter().zip(&drawn).enumerate() {
        let left = interpret(script, list);
        let what = format!("script {at}, register {slot}");
        compare(&what, words, &left.registers[*slot])?;
    }
    Ok(())
}

fn judge(
    graph: &Graph,
    member: &Member,
    asked: &BatchOptions,
    column: &Column,
    end: &LoopRecord,
) -> Result<(), String> {
    let what = asked.analysis.name();
    let words = match (asked.analysis, column) {
        (AnalysisKind::Pagerank, Column::F32(ranks)) => {
            let end = (end.iterations, end.converged != 0);
            let agrees = oracle::agrees(graph, Ranking::default(), ranks, end);
            return if agrees {
                Ok(())
            } else {
                Err(format!("ranks are wrong after {end:?}"))
            };
        }
        (_, Column::U32(words)) => words,
        (_, _) => return Err(format!("{what} gave no words")),
    };
    let wanted = match asked.analysis {
        AnalysisKind::Sssp => match oracle::distances(graph, &member.sources) {
            Column::U32(distances) => distances,
            _ => return Err(format!("{what}: distances outgrow 32 bits")),
        },
        AnalysisKind::Kcore => oracle::cores(graph),
        analysis => {
            let asked = RunOptions {
                analysis,
                sources: member.sources.clone(),
                max_levels: asked.max_iterations,
                policy: asked.policy,
                incoming: false,
                detail: Detail::Plain,
            };
            expected(&member.list, &asked)
        }
    };
    compare(what, words, &wanted)
}
