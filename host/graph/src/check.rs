//! Whether arrays out of a file are rows of a graph at all.
//!
//! What else a format promises of them (order, no loops) is checked where it is read.

use rayon::prelude::*;

use super::csr::Csr;
use super::error::BinaryProblem;

/// Checks that row starts ascend from 0 to the number of edges, and that targets are nodes.
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

fn check_offsets(csr: &Csr) -> Result<(), BinaryProblem> {
    let offsets = csr.offsets();
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
    let last = offsets.len() - 1;
    if offsets[last] as usize != csr.targets().len() {
        Err(wrong(last))
    } else {
        Ok(())
    }
}
