//! Reachability from many sources at once: the set of sources that reach each node.

use crate::analysis::definition::padded;
use crate::analysis::{Built, Question, Reading};
use crate::column::SourceSets;
use crate::graph::Graph;
use crate::program::{BitOp, ProgramBuilder, ProgramError, Sets};

/// Clears both copies of the sets, puts every source into its own, advances all searches together
/// and joins the copies.
pub(super) fn build(graph: &Graph, question: &Question) -> Result<Built, ProgramError> {
    let mut program = ProgramBuilder::new(graph.nodes());
    let count = question.sources.len();
    let sources = program.input("sources", count as u64)?;
    let words = 2 * SourceSets::words_for(count) as u64;
    let length = u64::from(graph.nodes()).saturating_mul(words);
    let [even, odd] = [
        program.words("even sets", length)?,
        program.words("odd sets", length)?,
    ];
    let sets = Sets {
        sets: [even, odd],
        work: program.work("work")?,
        // A list of sources is shorter than 2^32, so this fits.
        words: words as u32,
    };
    program.fill("clear even sets", even, 0);
    program.fill("clear odd sets", odd, 0);
    program.reset_work("reset work", sets.work);
    program.seed_sets("seed sources", sets, sources);
    program.fixpoint("search together", question.max_iterations, |body| {
        body.step_sets("step", sets);
    });
    program.combine("join the copies", BitOp::Or, even, [even, odd]);
    Ok(Built::of(
        program,
        padded(question.sources.clone()),
        even,
        Reading::Sets { sources: count },
    ))
}
