//! Reads `.egr`, the binary of the ECL graph codes.
//!
//! 32-bit signed words: nodes, edges, row starts (one more than nodes), targets, and perhaps as
//! many weights. The file has no magic: its name identifies it, or the first row offset, four bytes
//! of 0, which no text holds.

use super::words::Words;
use crate::csr::Csr;
use crate::{BinaryProblem, GraphError};

/// Bytes of a word.
const WORD: u64 = 4;

/// Whether a file with these first bytes is of this format: the start of its first row is 0, and
/// its size follows from its counts, if `total` is known.
pub(super) fn starts(head: &[u8], total: Option<u64>) -> bool {
    let Some((counts, row)) = head.split_first_chunk::<8>() else {
        return false;
    };
    let word = |at: usize| {
        u64::from(u32::from_le_bytes([
            counts[at],
            counts[at + 1],
            counts[at + 2],
            counts[at + 3],
        ]))
    };
    let (nodes, edges) = (word(0), word(4));
    let bytes = WORD * (2 + nodes + 1 + edges);
    let is_whole = |total: u64| total == bytes || total == bytes + WORD * edges;
    let fits = total.is_none_or(is_whole) && nodes.max(edges) <= i32::MAX as u64;
    row.starts_with(&[0; 4]) && fits
}

/// The rows of a file or stream of this format.
pub(super) fn arrays(words: &mut Words<'_>, weighted: bool) -> Result<Csr, GraphError> {
    words.promised = 2 * WORD;
    let counts: Vec<u32> = words.words(2)?;
    let [nodes, edges] = [counts[0], counts[1]].map(u64::from);
    if nodes.max(edges) > i32::MAX as u64 {
        return Err(words.bad(BinaryProblem::Counts { nodes, edges }));
    }
    words.check_nodes(nodes, edges)?;
    words.promised = WORD * (2 + nodes + 1 + edges);
    let offsets = words.words(nodes + 1)?;
    let targets = words.words(edges)?;
    let has_weights = edges > 0 && !words.is_at_end()?;
    if has_weights {
        words.promised += WORD * edges;
    }
    let weights = if has_weights && weighted {
        Some(words.words(edges)?)
    } else {
        words.skip(if has_weights { WORD * edges } else { 0 })?;
        None
    };
    words.finish()?;
    Ok(Csr {
        offsets,
        targets,
        weights,
    })
}
