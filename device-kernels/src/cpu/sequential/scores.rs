//! Scores of nodes from the sums of shares that blocks have.
//!
//! A normalized score is divided by the pairs of ends whose paths may lead through a node: with `k`
//! sources among `n` nodes `k (n - 2)`, and `(k - 1)(n - 2)` for a source, as none of its own paths
//! leads through it. A lone source has no such pair and no number (NaN). Fewer than three nodes
//! have no paths to be on, and nothing is divided.
//!
//! Work: `n` for each block that added shares up.
//!
//! Source: NetworkX 3.6, `_rescale` of `betweenness.py`.

use super::Operands;
use super::paths::{Sums, double};
use super::work::{Scratch, Work};
use crate::machine::Grid;
use crate::machine::memory::Words;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::sequential::{Algorithm, SequentialRecord, Shares};

/// Stores the scores of the sums in `memory`, the scratch memory of the blocks that added up.
pub(super) fn store<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    memory: Words,
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    operands.needs(nodes.into())?;
    let all = |node: u32| {
        let mut sum = 0_u128;
        for block in 0..operands.record.blocks {
            let one = sums_of(operands, memory, block)?.load(grid, node);
            sum = sum.wrapping_add(one);
        }
        Ok(double(sum))
    };
    let [of_source, of_other] = divisors(operands);
    for node in 0..nodes {
        work.pass(operands.record.blocks)?;
        let score = all(node)? / of_other;
        operands.to.store_weak(grid, node, (score as f32).to_bits());
    }
    if of_source == of_other {
        return Ok(());
    }
    for at in 0..operands.sources.len() {
        work.pass(operands.record.blocks)?;
        let source = operands.source(grid, at)?;
        let score = all(source)? / of_source;
        operands
            .to
            .store_weak(grid, source, (score as f32).to_bits());
    }
    Ok(())
}

/// The sums of a block that added up.
fn sums_of(operands: &Operands, memory: Words, block: u32) -> Result<Sums, FaultCode> {
    let record = SequentialRecord {
        algorithm: Algorithm::Betweenness,
        ..operands.record
    };
    // The memory of betweenness does not depend on edges.
    let words = record.block_words(operands.nodes, 0);
    let mut scratch = Scratch::of_block(memory, words, block.into())?;
    Sums::of(&mut scratch, operands.nodes)
}

/// The divisors of the score of a source and of another node.
fn divisors(operands: &Operands) -> [f64; 2] {
    let others = f64::from(operands.nodes) - 2.0;
    if operands.record.shares != Shares::Normalized || others < 1.0 {
        return [1.0, 1.0];
    }
    let sources = f64::from(operands.sources.len());
    [(sources - 1.0) * others, sources * others]
}
