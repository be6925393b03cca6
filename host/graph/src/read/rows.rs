//! METIS files: one line per node, which lists its neighbours.
//!
//! The number of a node is that of its line, so edges carry the line within their piece until the
//! pieces are joined. Sizes and weights of nodes are skipped.

use super::fields::Fields;
use super::parsed::Parsed;
use super::quote::quote;
use crate::LineProblem;

/// Layout of a node's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rows {
    pub(super) nodes: u64,
    /// Numbers before the neighbours.
    pub(super) skipped: u64,
    /// Whether each neighbour is followed by the weight of its edge.
    pub(super) weighted: bool,
}

/// Takes the neighbours of one node.
pub(super) fn line<const N: usize>(
    fields: &mut Fields<'_>,
    rows: &Rows,
    parsed: &mut Parsed<N>,
) -> Result<(), LineProblem> {
    for _ in 0..rows.skipped {
        fields.number("the weight or size of a node")?;
    }
    while fields.peek().is_some() {
        let target = fields.number("a node id")?;
        if target.wrapping_sub(1) >= rows.nodes {
            return Err(LineProblem::IdOutOfRange {
                value: target,
                nodes: rows.nodes,
            });
        }
        let mut edge = [0u32; N];
        // A piece has no more lines than bytes, and 32 bits count its bytes.
        (edge[0], edge[1]) = (parsed.rows as u32, (target - 1) as u32);
        if rows.weighted && N == 3 {
            let rounded;
            (edge[N - 1], rounded) = parsed.weight(fields)?;
            parsed.rounded += u64::from(rounded);
        } else if rows.weighted {
            fields.skip_value()?;
        }
        parsed.edges.push(edge);
        parsed.listed += 1;
    }
    fields.end()?;
    parsed.rows += 1;
    Ok(())
}

/// Returns the line of a piece, from 1, that is the first beyond `space` more nodes.
///
/// Blank lines at the end of a file do not count.
pub(super) fn line_beyond(bytes: &[u8], space: u64) -> Option<(u64, LineProblem)> {
    let mut rows = 0;
    for (at, line) in (1u64..).zip(bytes.split(|&byte| byte == b'\n')) {
        let line = line.trim_ascii();
        if line.starts_with(b"%") {
            continue;
        }
        rows += 1;
        if rows > space && !line.is_empty() {
            let value = quote(line);
            return Some((at, LineProblem::RowBeyond { value }));
        }
    }
    None
}
