//! Checks of rows that come from outside.

use rayon::prelude::*;

use super::BinaryProblem;
use super::build::Counts;
use super::csr::Csr;
use super::dedup::count_row;
use super::mirror;
use super::weights::WeightKind;

#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    /// Every edge has its mirror image.
    pub(super) symmetric: bool,
    /// There are no loops and no parallel edges.
    pub(super) simple: bool,
}

/// Checks the order and ranges of offsets and rows, the words of weights and, where claimed, the
/// mirror image of every edge; returns the number of loops and parallel edges. Time is linear in
/// nodes and edges, on all threads; the last check also searches a row for each edge.
pub(super) fn check(csr: &Csr, kind: WeightKind, claim: Claim) -> Result<Counts, BinaryProblem> {
    check_rows(csr)?;
    let counts = (0..csr.nodes())
        .into_par_iter()
        .map(|node| check_order(csr, node, claim.simple))
        .try_reduce(Counts::default, |a, b| Ok(a.plus(b)))?;
    if claim.symmetric
        && let Some((from, to)) = mirror::first_unmatched(csr)
    {
        return Err(BinaryProblem::Asymmetric { from, to });
    }
    check_weights(kind, csr.weights().unwrap_or(&[]))?;
    Ok(counts)
}

/// Checks that row offsets ascend from 0 to the number of edges, and that targets are below the
/// number of nodes.
pub(super) fn check_rows(csr: &Csr) -> Result<(), BinaryProblem> {
    check_offsets(csr)?;
    let nodes = csr.nodes();
    let targets = csr.targets();
    match targets.par_iter().position_first(|&target| target >= nodes) {
        Some(edge) => Err(BinaryProblem::Target {
            edge: edge as u64,
            value: u64::from(targets[edge]),
            nodes: u64::from(nodes),
        }),
        None => Ok(()),
    }
}

fn check_weights(kind: WeightKind, weights: &[u32]) -> Result<(), BinaryProblem> {
    match weights.par_iter().position_first(|word| !kind.holds(*word)) {
        Some(at) => Err(BinaryProblem::Weight {
            edge: at as u64,
            value: f32::from_bits(weights[at]),
        }),
        None => Ok(()),
    }
}

fn check_offsets(csr: &Csr) -> Result<(), BinaryProblem> {
    let offsets = csr.offsets();
    let Some(last) = offsets.len().checked_sub(1) else {
        return Err(BinaryProblem::NoOffsets);
    };
    let wrong = |at: usize| BinaryProblem::Offset {
        node: at as u64,
        value: u64::from(offsets[at]),
    };
    if offsets[0] != 0 {
        return Err(wrong(0));
    }
    if let Some(at) = offsets
        .par_windows(2)
        .position_first(|pair| pair[0] > pair[1])
    {
        return Err(wrong(at + 1));
    }
    if offsets[last] as usize != csr.targets().len() {
        Err(wrong(last))
    } else {
        Ok(())
    }
}

/// Checks that a row ascends, and counts its loops and parallel edges.
fn check_order(csr: &Csr, node: u32, is_simple: bool) -> Result<Counts, BinaryProblem> {
    let targets = csr.neighbours(node);
    let ascends = targets.windows(2).all(|pair| pair[0] < pair[1]);
    if ascends && targets.binary_search(&node).is_err() {
        return Ok(Counts::default());
    }
    if !is_simple && targets.is_sorted() {
        return Ok(count_row(node, targets));
    }
    Err(BinaryProblem::Order {
        node: u64::from(node),
    })
}
