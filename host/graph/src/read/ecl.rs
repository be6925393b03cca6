//! Reads `.egr`, the binary of the ECL graph codes.
//!
//! 32-bit signed words: nodes, edges, row starts (one more than nodes), targets, and perhaps as
//! many weights. The file has no magic: its name identifies it, or the first row offset, four bytes
//! of 0, which no text holds.

use super::source::Source;
use super::words::Words;
use crate::build::Order;
use crate::check::check_rows;
use crate::csr::Csr;
use crate::dedup::dedup;
use crate::format::Format;
use crate::ids::Ids;
use crate::load::{LoadOptions, LoadStats, Loaded, Progress};
use crate::weights::signed_whole;
use crate::{BinaryProblem, Graph, GraphError, WeightKind};

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

/// Loads a file or stream of this format.
pub(super) fn load_ecl(
    mut source: Source,
    options: &LoadOptions,
    progress: Option<&dyn Progress>,
) -> Result<Loaded, GraphError> {
    let name = source.name.clone();
    let compression = source.compression;
    let mut words = Words::new(&mut source, ".egr", progress);
    let mut csr = arrays(&mut words, options.weights.are_read())?;
    let kind = take_signs(&mut csr, options.signed).map_err(|problem| words.bad(problem))?;
    let (bytes, text_bytes) = words.passed();
    let listed_edges = u64::from(csr.edges());
    let order = Order::of(options.listed_order);
    let (csr, counts) = dedup(csr, order);
    let mut stats = LoadStats {
        compression,
        bytes,
        text_bytes,
        listed_edges,
        ..LoadStats::of(Format::Ecl)
    };
    let graph = Graph::from_parts(csr, false, Ids::Offset(0));
    let mut graph = graph.with_counts(counts, order).with_kind(kind);
    if options.undirected {
        (graph, stats.mirrored) = graph.into_undirected(&name)?;
    }
    Ok(Loaded { graph, stats })
}

fn arrays(words: &mut Words<'_>, weighted: bool) -> Result<Csr, GraphError> {
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
    let csr = Csr {
        offsets,
        targets,
        weights,
    };
    check_rows(&csr).map_err(|problem| words.bad(problem))?;
    Ok(csr)
}

/// Takes weights as numbers with a sign; returns their kind.
///
/// # Errors
/// [`BinaryProblem::NegativeWeight`] for a negative one unless weights may be `signed`.
pub(super) fn take_signs(csr: &mut Csr, signed: bool) -> Result<WeightKind, BinaryProblem> {
    let weights = csr.weights.as_deref_mut().unwrap_or_default();
    match weights.iter().position(|&weight| weight > i32::MAX as u32) {
        Some(_) if signed => {
            for weight in weights {
                *weight = signed_whole(weight.cast_signed());
            }
            Ok(WeightKind::Signed)
        }
        Some(edge) => Err(BinaryProblem::NegativeWeight {
            edge: edge as u64,
            value: i64::from(weights[edge].cast_signed()),
        }),
        None => Ok(WeightKind::Integer),
    }
}
