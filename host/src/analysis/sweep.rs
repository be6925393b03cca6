//! Programs of analyses that measure many sources in one launch.

use super::room::padded;
use super::{Built, Question, Reading};
use crate::cost::{Job, Worker};
use crate::graph::Graph;
use crate::program::{Measure, ProgramBuilder, ProgramError, RegisterId, Sweep};
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
/// would not fit common memories; they then take turns.
fn set_words(nodes: u32, count: usize) -> u32 {
    let wanted = count.div_ceil(32).clamp(1, SWEEP_WORDS_MAX as usize) as u32;
    let most = SET_WORDS_MAX / u64::from(nodes.max(1));
    wanted.min(most.clamp(1, u64::from(SWEEP_WORDS_MAX)) as u32)
}

/// Measures as many sources at once as sets hold, then the next ones, all in one launch.
pub(super) fn build(
    graph: &Graph,
    question: &Question,
    sought: Sought,
) -> Result<Built, ProgramError> {
    let nodes = graph.nodes();
    let mut program = ProgramBuilder::new(nodes);
    let words = set_words(nodes, question.sources.len());
    let lists = question.sources.chunks(32 * words as usize);
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
        program.settle_sweep("settle", (result, sought.measure), (sweep, list));
    }
    program.keep(result);
    Ok(Built {
        program,
        inputs,
        result,
        parents: None,
        reading: sought.reading,
    })
}

/// Cost of a run: every round of 1 024 searches reads the sets of all nodes, and those at the
/// other ends of most edges once or twice in all.
pub(super) fn cost_ns(job: &Job, worker: &Worker) -> f64 {
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
