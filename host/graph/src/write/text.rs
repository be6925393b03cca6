//! Writes the text formats.
//!
//! Blocks of rows are formatted in parallel and written in order; memory is a few blocks. The
//! formats differ in header, base, prefix and the half of a symmetric graph that they list.

use std::io::{self, Write};
use std::ops::Range;

use rayon::prelude::*;

use super::nodes;
use super::sink::Sink;
use crate::ids::NodeLabel;
use crate::notes;
use crate::{Format, Graph, WeightKind};

/// Approximate number of edges formatted as one block.
const BLOCK_EDGES: u32 = 1 << 16;

/// Format of an edge's line.
#[derive(Clone, Copy)]
struct Line<'a> {
    graph: &'a Graph,
    prefix: &'static [u8],
    separator: u8,
    ends: Ends,
    halves: Halves,
    weights: Weights,
}

/// The last column.
#[derive(Clone, Copy)]
enum Weights {
    Own,
    Always,
}

#[derive(Clone, Copy)]
enum Ends {
    OneBased,
    Original,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Halves {
    All,
    /// Each undirected edge once, larger end first (Matrix Market lists the lower triangle).
    Lower,
}

/// Writes header and edges.
pub(super) fn write(graph: &Graph, format: Format, sink: &mut Sink) -> io::Result<()> {
    let listed = if lists_half(graph, format) {
        // A loop stands once in its row.
        (graph.edges() - graph.loops()) / 2 + graph.loops()
    } else {
        graph.edges()
    };
    let nodes = graph.nodes();
    let line = Line {
        graph,
        prefix: b"",
        separator: b' ',
        ends: Ends::OneBased,
        halves: if lists_half(graph, format) {
            Halves::Lower
        } else {
            Halves::All
        },
        weights: Weights::Own,
    };
    match format {
        Format::MatrixMarket => {
            matrix_banner(graph, sink)?;
            nodes::write_numbered(graph, "%", sink)?;
            writeln!(sink, "{nodes} {nodes} {listed}")?;
            line.write(sink)
        }
        Format::Dimacs => {
            nodes::write_numbered(graph, "c", sink)?;
            if graph.weights().is_none() {
                notes::write_unweighted(sink, "c")?;
            }
            writeln!(sink, "p sp {nodes} {listed}")?;
            Line {
                prefix: b"a ",
                weights: Weights::Always,
                ..line
            }
            .write(sink)
        }
        Format::Pace => {
            nodes::write_numbered(graph, "c", sink)?;
            writeln!(sink, "p tw {nodes} {listed}")?;
            line.write(sink)
        }
        Format::Csv => {
            nodes::write_listed(graph, format, sink)?;
            let weight = graph.weights().map_or("", |_| ",weight");
            writeln!(sink, "source,target{weight}")?;
            Line {
                separator: b',',
                ends: Ends::Original,
                ..line
            }
            .write(sink)
        }
        _ => {
            writeln!(sink, "# Nodes: {nodes} Edges: {listed}")?;
            nodes::write_listed(graph, format, sink)?;
            Line {
                separator: b'\t',
                ends: Ends::Original,
                ..line
            }
            .write(sink)
        }
    }
}

/// The first line of a Matrix Market file.
fn matrix_banner(graph: &Graph, sink: &mut Sink) -> io::Result<()> {
    let field = match graph.weight_kind() {
        None => "pattern",
        Some(WeightKind::Integer | WeightKind::Signed) => "integer",
        Some(WeightKind::Float | WeightKind::SignedFloat) => "real",
    };
    let symmetry = if graph.is_symmetric() {
        "symmetric"
    } else {
        "general"
    };
    writeln!(sink, "%%MatrixMarket matrix coordinate {field} {symmetry}")
}

fn lists_half(graph: &Graph, format: Format) -> bool {
    graph.is_symmetric() && matches!(format, Format::MatrixMarket | Format::Pace)
}

impl Line<'_> {
    fn write(self, sink: &mut Sink) -> io::Result<()> {
        let blocks = blocks(self.graph);
        for group in blocks.chunks(2 * rayon::current_num_threads()) {
            let texts: Vec<Vec<u8>> = group
                .par_iter()
                .map(|rows| self.block(rows.clone()))
                .collect();
            for text in texts {
                sink.write_all(&text)?;
            }
        }
        Ok(())
    }

    fn block(self, rows: Range<u32>) -> Vec<u8> {
        let mut text = Vec::with_capacity(BLOCK_EDGES as usize * 20);
        for node in rows {
            for edge in self.graph.outgoing().row(node) {
                let target = self.graph.targets()[edge];
                if self.halves == Halves::All || target <= node {
                    self.edge(&mut text, [node, target], edge);
                }
            }
        }
        text
    }

    fn edge(self, text: &mut Vec<u8>, [from, to]: [u32; 2], edge: usize) {
        text.extend_from_slice(self.prefix);
        self.push_id(text, from);
        text.push(self.separator);
        self.push_id(text, to);
        let own = self.graph.weights().map(|weights| weights[edge]);
        let weight = match self.weights {
            Weights::Own => own,
            Weights::Always => own.or(Some(1)),
        };
        if let Some(weight) = weight {
            text.push(self.separator);
            self.push_weight(text, weight);
        }
        text.push(b'\n');
    }

    fn push_weight(self, text: &mut Vec<u8>, word: u32) {
        match self.graph.weight_kind() {
            Some(kind @ WeightKind::Signed) => {
                text.extend_from_slice(format!("{}", kind.number(word)).as_bytes());
            }
            Some(kind) if kind.is_float() => push_float(text, kind.number(word) as f32),
            _ => push_number(text, u64::from(word)),
        }
    }

    fn push_id(self, text: &mut Vec<u8>, node: u32) {
        match (self.ends, self.graph.label_of(node)) {
            (Ends::OneBased, _) => push_number(text, u64::from(node) + 1),
            (Ends::Original, NodeLabel::Id(id)) => push_number(text, id),
            (Ends::Original, NodeLabel::Name(name)) => nodes::push_name(text, name),
        }
    }
}

/// With a point or an exponent, so that large whole numbers read back as floats. Whole ones exactly:
/// from 2^24 on the shortest digits that name a float are often another whole number, and where all
/// weights are whole they are read as such.
fn push_float(text: &mut Vec<u8>, value: f32) {
    let shown = if value.fract() == 0.0 {
        format!("{:?}", f64::from(value))
    } else {
        format!("{value:?}")
    };
    text.extend_from_slice(shown.as_bytes());
}

/// Cuts rows into blocks of about the same number of edges.
pub(super) fn blocks(graph: &Graph) -> Vec<Range<u32>> {
    let mut blocks = Vec::new();
    let mut start = 0;
    while start < graph.nodes() {
        let goal = graph.offsets()[start as usize].saturating_add(BLOCK_EDGES);
        let end = graph.offsets().partition_point(|&offset| offset <= goal) as u32;
        let end = end.saturating_sub(1).clamp(start + 1, graph.nodes());
        blocks.push(start..end);
        start = end;
    }
    blocks
}

pub(super) fn push_number(text: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_the_library_prints_them() {
        for value in [0, 7, 10, 99_999, u64::from(u32::MAX), u64::MAX] {
            let mut text = Vec::new();
            push_number(&mut text, value);
            assert_eq!(text, value.to_string().into_bytes());
        }
    }

    #[test]
    fn floats_are_named_exactly_where_they_are_whole() {
        let text = |value: f32| {
            let mut text = Vec::new();
            push_float(&mut text, value);
            String::from_utf8(text).unwrap()
        };
        assert_eq!([text(0.1), text(3.0)], ["0.1", "3.0"]);
        // Its shortest digits are 134226420.0.
        assert_eq!(text(134_226_416.0), "134226416.0");
        for bits in (0..f32::INFINITY.to_bits()).step_by(9_973) {
            let value = f32::from_bits(bits);
            assert_eq!(text(value).parse(), Ok(value));
            let exact: f64 = text(value).parse().unwrap();
            assert!(value.fract() != 0.0 || exact == f64::from(value), "{value}");
        }
    }

    #[test]
    fn blocks_cover_all_rows_in_order() {
        let edges: Vec<(u32, u32)> = (0..300_000)
            .map(|i| (i / 100_000, 10 + i % 100_000))
            .collect();
        let graph = Graph::from_edges(100_100, &edges, false).unwrap();
        let blocks = blocks(&graph);
        assert!(blocks.len() >= 4);
        assert_eq!(
            (blocks[0].start, blocks[blocks.len() - 1].end),
            (0, 100_100)
        );
        assert!(blocks.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
}
