//! Whole sequential algorithms, each as one wave, for threads of a CPU.
//!
//! Rounds over all nodes cost as much on a deep graph as the graph has levels, and one thread has
//! no use for them. So here is one file an algorithm, with its formula, its bound of work and its
//! source. All memory is in registers that the host planned
//! ([`seawall_core::abi::sequential`]); every index is checked at the access; algorithms fill their
//! scratch memory themselves, and registers that overlap are refused, so that an algorithm ends
//! whatever its registers held. They look at the clock every 4 096 edges
//! and nodes.
//!
//! An algorithm over a list of sources shares it among blocks, each with scratch memory of its own.
//! Other algorithms are the work of the first block, for which the others wait at their barrier.

mod betweenness;
mod components;
mod cores;
mod distances;
mod forest;
mod greedy;
mod heap;
mod labels;
mod levels;
mod nearest;
mod paths;
mod queue;
mod scores;
mod searches;
mod signed;
mod together;
mod triangles;
mod work;

use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::machine::memory::{Words, none_missed};
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::NO_REGISTER;
use seawall_core::abi::sequential::{Algorithm, Lengths, SequentialRecord};
use work::{Rows, Scratch, Work};

pub use labels::units_in_one;
pub(crate) use nearest::settle_rest;

/// The operands of a sequential wave, as this block uses them.
#[derive(Clone, Copy)]
pub(super) struct Operands {
    record: SequentialRecord,
    nodes: u32,
    /// The destination, which may be missing.
    to: Words,
    sources: Words,
    /// The number of this block among those that share the sources.
    rank: u32,
}

/// Runs this block's share of the wave.
///
/// # Errors
/// [`FaultCode::BadParameter`], [`FaultCode::BadRegister`] for registers that are too short or
/// overlap, [`FaultCode::NoArray`], [`FaultCode::BadIndex`] for a source that is no node, and
/// [`FaultCode::TimeBudget`].
#[inline(never)]
pub fn run_sequential<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid, team) = (context.tables, context.team.grid, context.team);
    let record = SequentialRecord::from_parameters(wave.parameters(grid));
    let record = record.ok_or(FaultCode::BadParameter)?;
    // A team of fewer blocks than were planned shares the sources among itself.
    let blocks = record.blocks.min(team.size());
    let sharing = if is_shared(record.algorithm) {
        blocks
    } else {
        1
    };
    let rank = team.rank();
    if rank >= sharing || grid.lane() != 0 {
        return Ok(());
    }
    let none = tables.register(grid, wave.destination(grid))?.nothing();
    let register = |index: u32| match index {
        NO_REGISTER => Ok(none),
        index => tables.register(grid, index),
    };
    let [memory, sources, third] = [0, 1, 2].map(|at| register(wave.source(grid, at)));
    let (memory, sources, third) = (memory?, sources?, third?);
    let to = register(wave.destination(grid))?;
    refuse_overlaps([to, memory, sources, third])?;
    let operands = Operands {
        record: SequentialRecord { blocks, ..record },
        nodes: tables.nodes(grid),
        to,
        sources,
        rank,
    };
    let words = record.block_words(operands.nodes, tables.edges(grid));
    let scratch = Scratch::of_block(memory, words, u64::from(rank))?;
    let given = Given {
        rows: rows_of(context, &operands)?,
        scratch,
        third,
    };
    let mut work = Work::new(&team);
    let ended = run(&mut work, &operands, given);
    team.control.count_examined(grid, work.examined());
    ended?;
    none_missed(grid)
}

/// Whether blocks share the listed nodes.
const fn is_shared(algorithm: Algorithm) -> bool {
    matches!(
        algorithm,
        Algorithm::Closeness | Algorithm::Eccentricity | Algorithm::Betweenness
    )
}

/// Inputs of an algorithm beside its operands.
struct Given {
    rows: Rows,
    scratch: Scratch,
    /// The third source.
    third: Words,
}

fn run<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    given: Given,
) -> Result<(), FaultCode> {
    let Given {
        rows,
        scratch,
        third,
    } = given;
    match operands.record.algorithm {
        Algorithm::StrongComponents => components::label(work, operands, rows, scratch),
        Algorithm::Closeness | Algorithm::Eccentricity => measure(work, operands, rows, scratch),
        Algorithm::Betweenness => betweenness::add_up(work, operands, rows, scratch),
        Algorithm::Scores => scores::store(work, operands, third),
        Algorithm::Widest => nearest::widen(work, operands, rows, scratch),
        Algorithm::Forest => forest::grow(work, operands, rows, scratch),
        Algorithm::Labels => labels::propagate(work, operands, rows, scratch),
        Algorithm::Cores => cores::peel(work, operands, rows, scratch),
        Algorithm::Levels | Algorithm::Reached => levels::search(work, operands, rows, scratch),
        Algorithm::SignedPaths => signed::relax(work, operands, rows, scratch),
        Algorithm::Paths => nearest::shorten(work, operands, rows, scratch),
        Algorithm::WidePaths => nearest::shorten_wide(work, operands, rows, scratch),
        Algorithm::IndependentSet | Algorithm::Colours => {
            greedy::decide(work, operands, rows, scratch, third)
        }
        Algorithm::Triangles => triangles::count::<G, false>(work, operands, rows, scratch),
        Algorithm::TrianglesOnce => triangles::count::<G, true>(work, operands, rows, scratch),
    }
}

/// Measures the distances of the listed nodes.
fn measure<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    scratch: Scratch,
) -> Result<(), FaultCode> {
    if operands.record.lengths != Lengths::Edges {
        distances::measure(work, operands, rows, scratch)
    } else if operands.record.together {
        together::measure(work, operands, rows, scratch)
    } else {
        searches::measure(work, operands, rows, scratch)
    }
}

/// The rows that lead from a node to those that an algorithm visits next, and their weights.
fn rows_of<G: Grid>(
    context: &crate::collectives::context::Context<G>,
    operands: &Operands,
) -> Result<Rows, FaultCode> {
    let (tables, grid) = (context.tables, context.team.grid);
    let SequentialRecord {
        inward, lengths, ..
    } = operands.record;
    if inward && !tables.has_incoming(grid) {
        return Err(FaultCode::NoArray);
    }
    let (rows, weights) = if inward {
        (tables.incoming(grid), tables.incoming_weights(grid))
    } else {
        (tables.outgoing(grid), tables.weights(grid))
    };
    let weights = match lengths {
        Lengths::Edges => operands.to.nothing(),
        _ => weights.ok_or(FaultCode::NoArray)?.checked(),
    };
    Ok(Rows {
        rows,
        weights,
        lengths,
    })
}

/// Refuses registers that share words, as no algorithm could rely on what it stored.
fn refuse_overlaps(registers: [Words; 4]) -> Result<(), FaultCode> {
    let end = |of: Words| of.address() + 4 * u64::from(of.len());
    for (at, one) in registers.iter().enumerate() {
        for other in registers.iter().skip(at + 1) {
            let are_there = !one.is_empty() && !other.is_empty();
            if are_there && one.address() < end(*other) && other.address() < end(*one) {
                return Err(FaultCode::BadRegister);
            }
        }
    }
    Ok(())
}

impl Operands {
    /// Refuses a destination of fewer words.
    fn needs(&self, words: u64) -> Result<(), FaultCode> {
        if u64::from(self.to.len()) < words {
            return Err(FaultCode::BadRegister);
        }
        Ok(())
    }

    /// Calls `visit` with the sources of this block, until one is no node.
    fn each_source<G: Grid>(
        &self,
        grid: G,
        mut visit: impl FnMut(u32) -> Result<(), FaultCode>,
    ) -> Result<(), FaultCode> {
        let mut at = self.rank;
        while at < self.sources.len() {
            visit(self.source(grid, at)?)?;
            let Some(next) = at.checked_add(self.record.blocks) else {
                break;
            };
            at = next;
        }
        Ok(())
    }

    /// Source `at` of the list.
    ///
    /// # Errors
    /// [`FaultCode::BadIndex`] if it is no node.
    fn source<G: Grid>(&self, grid: G, at: u32) -> Result<u32, FaultCode> {
        let source = self.sources.load_weak(grid, at);
        if source >= self.nodes {
            crate::machine::memory::note_missed(grid, source, self.nodes);
            return Err(FaultCode::BadIndex);
        }
        Ok(source)
    }
}
