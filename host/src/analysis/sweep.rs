//! Programs of analyses that measure many sources in one launch.

use super::alone::{self, Searching};
use super::definition::padded;
use super::{Built, Question, Reading};
use crate::cost::{Job, Times, Worker};
use crate::graph::Graph;
use crate::program::{Measure, ProgramBuilder, ProgramError, RegisterId, Sweep};
use seawall_core::abi::sequential::{Lengths, SequentialRecord};
use seawall_core::abi::sweep::SWEEP_WORDS_MAX;

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

/// Measures as many sources at once as sets hold, then the next ones, in one launch.
pub(super) fn build(
    graph: &Graph,
    question: &Question,
    sought: Sought,
) -> Result<Built, ProgramError> {
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
        program.settle_sweep("settle", result, sought.measure, sweep, list);
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

/// Whether a search from `source` reaches most edges in few levels.
fn is_shallow(graph: &Graph, source: u32) -> bool {
    let mut seen = vec![false; graph.nodes() as usize];
    seen[source as usize] = true;
    let (mut level, mut edges) = (vec![source], 0_u64);
    for _ in 0..FEW_LEVELS {
        let mut next = Vec::new();
        for node in level {
            let row = graph.neighbours(node);
            edges += row.len() as u64;
            for to in row {
                if !std::mem::replace(&mut seen[*to as usize], true) {
                    next.push(*to);
                }
            }
        }
        level = next;
    }
    level.is_empty() && 2 * edges > u64::from(graph.edges())
}

/// Cost of a run: every round of 1 024 searches reads the sets of all nodes, and the sets at the
/// other ends of most edges once or twice in total.
///
/// On a CPU, threads search along lists instead if that is less work.
pub(super) fn cost_ns(job: &Job, worker: &Worker) -> f64 {
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
