//! Programs of one sequential algorithm, for CPU threads.
//!
//! One thread replaces rounds over all nodes of a composed program by an algorithm whose time
//! follows the graph's size on every shape. Threads share the sources, and each has separate
//! scratch memory.

use super::definition::padded;
use super::{Built, Question, Reading};
use crate::cost::{Job, Times, Worker};
use crate::graph::{Graph, WeightKind};
use crate::program::{Given, Item, Kind, Over, ProgramBuilder, ProgramError, RegisterId, Value};
use seawall_core::abi::sequential::{Algorithm, Lengths, SequentialRecord};

/// Scratch memory of all threads, words for each node and edge: about six copies of the graph, so
/// that memory does not grow with the threads.
const MEMORY_WORDS: u64 = 6;

/// An algorithm and the place of its results.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sought {
    pub(super) record: SequentialRecord,
    /// Word of a node without a result.
    pub(super) none: u32,
    pub(super) reading: Reading,
}

impl Sought {
    /// An algorithm without further options, whose results are words.
    pub(super) fn words(algorithm: Algorithm, none: u32) -> Self {
        Self {
            record: SequentialRecord::new(algorithm),
            none,
            reading: Reading::Words,
        }
    }
}

/// Whether CPU threads answer, without a limit that ends the work early.
pub(super) fn suits(question: &Question) -> bool {
    question.threads.is_some() && question.max_iterations == Question::UNLIMITED
}

pub(super) fn lengths(graph: &Graph, is_weighted: bool) -> Lengths {
    match graph.weight_kind().filter(|_| is_weighted) {
        None => Lengths::Edges,
        Some(kind) if kind.is_float() => Lengths::Float,
        Some(_) => Lengths::Whole,
    }
}

/// The kind of the weights that an algorithm reads, if it reads them.
pub(super) fn weights(graph: &Graph, record: SequentialRecord) -> Option<WeightKind> {
    let is_weighted = record.lengths != Lengths::Edges;
    graph.weight_kind().filter(|_| is_weighted)
}

/// Returns the algorithm for as many blocks as sources, threads and memory allow.
pub(super) fn shared(
    record: SequentialRecord,
    graph: &Graph,
    question: &Question,
) -> SequentialRecord {
    let sources = question.sources.len() as u64;
    let size = u64::from(graph.nodes()) + u64::from(graph.edges());
    let one = record.block_words(graph.nodes(), graph.edges()).max(1);
    let most = (MEMORY_WORDS * size / one).clamp(1, sources.max(1));
    let threads = question.threads.map_or(1, u64::from);
    SequentialRecord {
        blocks: u32::try_from(threads.clamp(1, most)).unwrap_or(1),
        ..record
    }
}

/// Whether an algorithm starts from listed nodes.
const fn takes_sources(algorithm: Algorithm) -> bool {
    !matches!(
        algorithm,
        Algorithm::StrongComponents
            | Algorithm::Labels
            | Algorithm::Forest
            | Algorithm::Cores
            | Algorithm::IndependentSet
            | Algorithm::Colours
            | Algorithm::Triangles
            | Algorithm::TrianglesOnce
    )
}

/// Most threads for which one of them is faster than rounds of all.
pub(super) const FEW_THREADS: u32 = 8;

/// Whether a few CPU threads answer, as [`suits`].
pub(super) fn suits_few(question: &Question) -> bool {
    let are_few = question
        .threads
        .is_some_and(|threads| threads <= FEW_THREADS);
    are_few && suits(question)
}

/// Whether so many lanes or threads answer that rounds take longer than the work in them.
pub(super) fn are_many(question: &Question) -> bool {
    let threads = question.threads;
    question.warps || threads.is_some_and(|threads| threads > FEW_THREADS)
}

/// Whether `worker` is so few threads of a CPU.
pub(super) fn is_few(worker: &Worker) -> bool {
    worker.is_cpu() && worker.threads_of(f64::INFINITY) <= f64::from(FEW_THREADS)
}

/// The program that decides nodes from the highest priority down, where `priority` makes a pair of
/// words for each node.
pub(super) fn build_greedy(
    graph: &Graph,
    question: &Question,
    sought: Sought,
    priority: impl for<'c> FnOnce(Item<'c>) -> Value<'c>,
) -> Result<Built, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let priorities = program.per_node("priorities", Kind::U64)?;
    program.each("draw priorities", Over::Nodes, |node| {
        node.store(priorities, priority(node).to_u64());
    });
    run(program, graph, question, sought, Some(priorities))
}

/// The program that runs one algorithm.
pub(super) fn build(
    graph: &Graph,
    question: &Question,
    sought: Sought,
) -> Result<Built, ProgramError> {
    run(
        ProgramBuilder::new(graph.nodes()),
        graph,
        question,
        sought,
        None,
    )
}

/// Completes `program` by the algorithm, with a third source.
fn run(
    mut program: ProgramBuilder,
    graph: &Graph,
    question: &Question,
    sought: Sought,
    third: Option<RegisterId>,
) -> Result<Built, ProgramError> {
    let Sought { record, .. } = sought;
    let sources = question.sources.len() as u64;
    let words = match sought.reading {
        Reading::WideWords => 2,
        Reading::SignedPaths { .. } => 3,
        _ => 1,
    };
    let mut given = Given {
        memory: Some(program.sequential_memory(record, graph.edges())?),
        weights: weights(graph, record),
        third,
        ..Given::default()
    };
    if takes_sources(record.algorithm) {
        given.sources = Some(program.input("sources", sources)?);
    }
    let result = program.words("result", u64::from(graph.nodes()) * words)?;
    program.fill("no result yet", result, sought.none);
    program.sequential("run alone", result, record, given);
    Ok(Built::of(
        program,
        padded(question.sources.clone()),
        result,
        sought.reading,
    ))
}

/// Work of a search, in edges of a pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Searching {
    /// For each node and each edge that it reaches.
    pub(super) times: Times,
    /// More for each node on a narrow level, of which the next one waits for a cache.
    pub(super) narrow: f64,
    /// Words that are filled for each node of the graph before a search, and the result.
    pub(super) words: f64,
}

/// Cost of an algorithm that handles each node and each edge that a search reaches once for each
/// source, on threads that share the sources.
pub(super) fn searches_ns(job: &Job, worker: &Worker, searching: Searching) -> f64 {
    let threads = worker.threads_of(job.sources);
    let one_ns = reached_ns(job, worker, searching);
    fill_ns(job, worker, searching.words) + job.sources * one_ns / threads
}

/// The same for one search from all sources, on one thread.
pub(super) fn search_ns(job: &Job, worker: &Worker, searching: Searching) -> f64 {
    fill_ns(job, worker, searching.words) + reached_ns(job, worker, searching)
}

/// Cost of filling `words` words for each node, whose memory is touched for the first time: 3 ns a
/// word.
fn fill_ns(job: &Job, worker: &Worker, words: f64) -> f64 {
    const EDGES: f64 = 2.5;
    job.nodes * words * EDGES * worker.gather_alone_ns(job)
}

fn reached_ns(job: &Job, worker: &Worker, searching: Searching) -> f64 {
    let reached: f64 = job.tally.nodes.iter().sum();
    let reached = reached.clamp(1.0, job.nodes.max(1.0));
    let searched = Job {
        nodes: reached,
        edges: reached * job.degree(),
        ..*job
    };
    let [narrow, ..] = job.tally.nodes;
    let narrow = narrow.min(reached) * searching.narrow;
    worker.alone_ns(&searched, searching.times) + narrow * worker.gather_alone_ns(job)
}
