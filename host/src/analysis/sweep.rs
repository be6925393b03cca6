//! Programs of analyses that measure many sources in one launch.

use super::alone::{self, Searching};
use super::definition::padded;
use super::{AnalysisKind, Built, Question, Reading, look};
use crate::column::Column;
use crate::cost::{Job, Times, Worker};
use crate::graph::Graph;
use crate::program::{
    Join, Kind, Mark, Measure, Over, ProgramBuilder, ProgramError, RegisterId, Sweep,
};
use crate::run::RunError;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::control::LOOPS_MAX;
use seawall_core::abi::sequential::{Lengths, SequentialRecord};
use seawall_core::abi::sweep::{SWEEP_FARTHEST, SWEEP_REACHED, SWEEP_TOTALS, SWEEP_WORDS_MAX};

/// A measure of sources and its place in a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sought {
    pub(super) measure: Measure,
    /// Whether distances are those to the sources.
    pub(super) back: bool,
    /// Word of a node that is no source.
    pub(super) none: u32,
    pub(super) reading: Reading,
}

/// Most words of all sets of one copy: 4 GiB.
const SET_WORDS_MAX: u64 = 1 << 30;

/// Words of a set for `count` sources, fewer if the graph is so large that sets for all of them
/// would not fit common memories; the sources then take turns.
fn set_words(nodes: u32, count: usize) -> u32 {
    let wanted = count.div_ceil(32).clamp(1, SWEEP_WORDS_MAX as usize) as u32;
    let most = SET_WORDS_MAX / u64::from(nodes.max(1));
    wanted.min(most.clamp(1, u64::from(SWEEP_WORDS_MAX)) as u32)
}

/// Sources that one search answers, of `count` of a graph of `nodes` nodes.
pub(crate) fn sources_at_once(nodes: u32, count: usize) -> usize {
    32 * set_words(nodes, count) as usize
}

/// Most sources that a GPU searches from one after another. A round of a sweep passes over all
/// nodes, and one of a search over its frontier: one source takes a sweep 12 times as long on a uniform
/// graph of 2^22 nodes, and over 27 times on a grid of 2048 × 2048 (H200, 2026-11-29). Sweeps of up to 32 sources take as long as
/// those of one.
const SEARCHES_MAX: usize = 8;
const _: () = assert!(SEARCHES_MAX <= LOOPS_MAX, "a search is a loop");

/// Whether a GPU searches from `sources` sources one after another.
const fn searches(is_on_gpu: bool, sources: usize, is_back: bool) -> bool {
    is_on_gpu && sources <= SEARCHES_MAX && !is_back
}

/// Measures the sources in one launch: few by a search from each, more by as many at once as sets
/// hold, then the next ones.
pub(super) fn build(
    graph: &Graph,
    question: &Question,
    sought: Sought,
) -> Result<Built, ProgramError> {
    let is_back = sought.back && !graph.is_symmetric();
    if searches(question.warps, question.sources.len(), is_back) {
        return build_searches(graph, question, sought);
    }
    let nodes = graph.nodes();
    let mut program = ProgramBuilder::new(nodes);
    let words = set_words(nodes, question.sources.len());
    let lists = question
        .sources
        .chunks(sources_at_once(nodes, question.sources.len()));
    let inputs = lists.clone().flat_map(|list| padded(list.to_vec()));
    let inputs = inputs.collect();
    let lists: Result<Vec<RegisterId>, ProgramError> = lists
        .map(|list| program.input("sources", list.len() as u64))
        .collect();
    let length = u64::from(nodes).saturating_mul(u64::from(words));
    let sweep = Sweep {
        sets: [
            program.words("even sets", length)?,
            program.words("odd sets", length)?,
        ],
        state: program.sweep_state()?,
        totals: program.sweep_totals(words)?,
        words,
        back: sought.back,
    };
    let result = program.words("measures", u64::from(nodes))?;
    program.fill("no measure yet", result, sought.none);
    for list in lists? {
        for register in [sweep.sets[0], sweep.sets[1], sweep.state, sweep.totals] {
            program.fill("clear", register, 0);
        }
        program.seed_sweep("seed sources", sweep, list);
        program.fixpoint("search together", question.max_iterations, |body| {
            body.sweep("sweep", sweep);
        });
        program.settle_sweep("settle", result, sought.measure, sweep.totals, list);
    }
    Ok(Built::of(program, inputs, result, sought.reading))
}

/// Searches from each source, and adds up the levels.
fn build_searches(
    graph: &Graph,
    question: &Question,
    sought: Sought,
) -> Result<Built, ProgramError> {
    let nodes = graph.nodes();
    let mut program = ProgramBuilder::new(nodes);
    let inputs = question.sources.iter();
    let inputs = inputs.flat_map(|source| padded(vec![*source])).collect();
    let sources: Result<Vec<RegisterId>, ProgramError> = question
        .sources
        .iter()
        .map(|_| program.input("source", 1))
        .collect();
    let levels = program.words("levels", u64::from(nodes))?;
    let frontier = program.frontier("frontier")?;
    let sum = program.values("sum of levels", Kind::U64, 1)?;
    let reached = program.values("reached nodes", Kind::U32, 1)?;
    let farthest = program.values("farthest level", Kind::U32, 1)?;
    let totals = program.values("totals", Kind::U32, u64::from(SWEEP_TOTALS))?;
    let result = program.words("measures", u64::from(nodes))?;
    program.fill("no measure yet", result, sought.none);
    let mark = Mark::Levels(levels);
    for source in sources? {
        program.fill("fill levels", levels, UNREACHED);
        program.reset("reset frontier", frontier);
        program.seed("seed source", frontier, source, mark);
        program.search("search levels", frontier, mark, question.max_iterations);
        for register in [sum, reached, farthest] {
            program.fill("clear", register, 0);
        }
        program.each("add levels up", Over::Nodes, |node| {
            let level = node.load(levels);
            node.only(level.differs(UNREACHED));
            node.fold(sum, Join::Sum, level.to_u64());
            node.fold(reached, Join::Sum, 1_u32);
            node.fold(farthest, Join::Max, level);
        });
        program.each("total", Over::Count(SWEEP_TOTALS), |part| {
            let number = part.index();
            let sum = part.at(sum, 0);
            let count = part.at(reached, 0);
            let count = number.equals(SWEEP_REACHED).select(count, sum.high());
            let far = part.at(farthest, 0);
            let far = number.equals(SWEEP_FARTHEST).select(far, count);
            let low = (sum & u64::from(u32::MAX)).to_u32();
            part.store(totals, number.is_zero().select(low, far));
        });
        program.settle_sweep("settle", result, sought.measure, totals, source);
    }
    Ok(Built::of(program, inputs, result, sought.reading))
}

/// Least number of sources that sweep together, on graphs of few levels.
const SWEEP_LEAST: usize = 128;

/// Least number of sources whose searches run together there, 64 at a time.
const TOGETHER_LEAST: usize = 4;

/// Most levels of a search that count as few. Searches of 64 sources together take 4 to 10 times
/// less than one by one on random graphs of 7 levels, the same at 25, and three to five times more
/// on paths and grids.
const FEW_LEVELS: u32 = 20;

/// The program of searches along lists for CPU threads, if it suits better than a sweep over all
/// nodes: few sources, edges with lengths, or more than a few levels. Counts the levels of one
/// search, which costs at most as much as a source.
pub(super) fn alone(
    graph: &Graph,
    question: &Question,
    sought: alone::Sought,
) -> Option<Result<Built, ProgramError>> {
    if !alone::suits(question) {
        return None;
    }
    let sources = question.sources.len();
    let may_meet = sought.record.lengths == Lengths::Edges && sources >= TOGETHER_LEAST;
    let meets = may_meet
        && graph
            .widest_node()
            .is_some_and(|node| is_shallow(graph, node));
    if meets && sources >= SWEEP_LEAST {
        return None;
    }
    let record = SequentialRecord {
        together: meets,
        ..sought.record
    };
    let record = alone::shared(record, graph, question);
    Some(alone::build(
        graph,
        question,
        alone::Sought { record, ..sought },
    ))
}

/// Refuses a measure along weights above the range of floats, which would read as none.
pub(super) fn accept(
    analysis: AnalysisKind,
    graph: &Graph,
    question: &Question,
    values: &Column,
) -> Result<(), RunError> {
    let floats = values.floats().unwrap_or(&[]);
    let is_beyond = |source: &&u32| floats.get(**source as usize) == Some(&f32::INFINITY);
    let beyond = question.sources.iter().find(is_beyond);
    match beyond.filter(|_| question.centrality.weighted) {
        None => Ok(()),
        Some(source) => Err(RunError::ValueTooLarge {
            analysis,
            node: graph.label_of(*source).into(),
        }),
    }
}

/// Whether a search from `source` reaches most edges in few levels.
fn is_shallow(graph: &Graph, source: u32) -> bool {
    let looked = look::search(graph, &[source], FEW_LEVELS, u64::MAX);
    looked.is_whole && 2 * looked.edges > u64::from(graph.edges())
}

/// Cost of a run: every round of 1 024 searches reads the sets of all nodes, and the sets at the
/// other ends of most edges once or twice in total.
///
/// On a CPU, threads search along lists instead if that is less work.
pub(super) fn cost_ns(job: &Job, worker: &Worker) -> f64 {
    let is_on_gpu = !worker.is_cpu() && !worker.is_of_batch();
    if searches(is_on_gpu, job.sources as usize, !job.can_pull) {
        let one_ns = worker.levels_search_ns(job) + worker.passes_ns(job, 0.0, 2.0);
        return job.sources * one_ns;
    }
    let sweeps = sweeps_ns(job, worker);
    if !worker.is_cpu() {
        return sweeps;
    }
    if job.weighted {
        return alone::searches_ns(job, worker, BY_HEAP);
    }
    let searches = alone::searches_ns(job, worker, BY_QUEUE);
    if job.sources >= SWEEP_LEAST as f64 && job.tally.depth() <= f64::from(FEW_LEVELS) {
        return sweeps.min(searches);
    }
    // Searches that meet share their edges.
    let meets = job.sources >= TOGETHER_LEAST as f64 && job.tally.depth() <= f64::from(FEW_LEVELS);
    searches / if meets { SHARED } else { 1.0 }
}

/// Number of searches that together cost as much as one.
const SHARED: f64 = 4.0;

/// Work of a search by a queue, and by a heap, in edges of a pass.
const BY_QUEUE: Searching = Searching {
    times: Times {
        node: 1.0,
        edge: 3.0,
    },
    narrow: 30.0,
    words: 3.0,
};
const BY_HEAP: Searching = Searching {
    times: Times {
        node: 60.0,
        edge: 40.0,
    },
    narrow: 0.0,
    words: 5.0,
};

fn sweeps_ns(job: &Job, worker: &Worker) -> f64 {
    let words = (job.sources / 32.0).ceil().max(1.0);
    let batches = (words / f64::from(SWEEP_WORDS_MAX)).ceil();
    let rounds = job.tally.depth().max(1.0) * batches;
    let width = words.min(f64::from(SWEEP_WORDS_MAX));
    worker.passes_ns(job, 2.0 * batches, 0.0) * width.max(1.0)
        + rounds * worker.passes_ns(job, 0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_all_sources_unless_that_takes_too_much() {
        assert_eq!(set_words(0, 0), 1);
        assert_eq!(set_words(100, 33), 2);
        assert_eq!(set_words(100, 5000), 32);
        assert_eq!(set_words(1 << 26, 1024), 16);
        assert_eq!(set_words(u32::MAX, 1024), 1);
    }
}
