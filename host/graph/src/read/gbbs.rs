//! Reads `.bin`, the binary of GBBS: words of 64 bits for nodes, edges and bytes of the file, then
//! row starts of 64 bits, one more than nodes, and targets of 32 bits.
//!
//! A file with weights has a signed word of 32 bits after each target. The file has no magic: its
//! name identifies it, or its size in the third word, which follows from the counts.

use super::words::Words;
use crate::build::{MAX_EDGES, MAX_NODES};
use crate::csr::Csr;
use crate::memory;
use crate::{BinaryProblem, GraphError};

const HEAD_BYTES: u64 = 24;

/// Bytes of a file with these counts, if they are numbers that files have.
fn bytes_of(nodes: u64, edges: u64, edge_bytes: u64) -> Option<u64> {
    let offsets = nodes.checked_add(1)?.checked_mul(8)?;
    let targets = edges.checked_mul(edge_bytes)?;
    HEAD_BYTES.checked_add(offsets)?.checked_add(targets)
}

/// Whether a file with these first bytes is of this format: its third word is the size that
/// follows from the others, and its first row starts at 0.
pub(super) fn starts(head: &[u8]) -> bool {
    let mut words = head
        .chunks_exact(8)
        .map(|word| word.try_into().map_or(0, u64::from_le_bytes));
    let mut next = || words.next();
    match (next(), next(), next(), next()) {
        (Some(nodes), Some(edges), Some(bytes), Some(0)) => [4, 8]
            .iter()
            .any(|size| bytes_of(nodes, edges, *size) == Some(bytes)),
        _ => false,
    }
}

/// The rows of a file or stream of this format.
pub(super) fn arrays(words: &mut Words<'_>, weighted: bool) -> Result<Csr, GraphError> {
    words.promised = HEAD_BYTES;
    let counts: Vec<u64> = words.words(3)?;
    let [nodes, edges, bytes] = [counts[0], counts[1], counts[2]];
    let is_weighted = bytes_of(nodes, edges, 8) == Some(bytes) && edges > 0;
    let size = if is_weighted { 8 } else { 4 };
    let promised = bytes_of(nodes, edges, size);
    if edges > MAX_EDGES || nodes > MAX_NODES || promised.is_none() {
        return Err(words.bad(BinaryProblem::Counts { nodes, edges }));
    }
    words.check_nodes(nodes, edges)?;
    words.promised = promised.unwrap_or(0);
    if words.promised != bytes {
        return Err(words.bad(BinaryProblem::Length {
            promised: bytes,
            found: words.promised,
        }));
    }
    let offsets: Vec<u64> = words.words(nodes + 1)?;
    let offsets = super::binary::narrow(offsets);
    let (targets, weights) = if is_weighted {
        let pairs: Vec<[u32; 2]> = words.words(edges)?;
        let column = |at: usize| {
            let words = pairs.iter().map(|pair| pair[at]);
            memory::collect(pairs.len(), words).map_err(|short| GraphError::memory(".bin", short))
        };
        (column(0)?, weighted.then(|| column(1)).transpose()?)
    } else {
        (words.words(edges)?, None)
    };
    words.finish()?;
    Ok(Csr {
        offsets,
        targets,
        weights,
    })
}
