//! Line layouts of text formats.
//!
//! Most text formats have one edge per line. They differ in base, prefix, comments, the value
//! column and the promises of their header. With these differences as data, a single edge parser
//! ([`super::body`]) has to be fast and correct. [`super::header_sniffer`] recognises the header.

use super::dense::Dense;
use super::rows::Rows;
use super::table::{IdKind, Table};
use crate::Format;
use crate::scale::Factor;

/// Counts that a header promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) nodes: u64,
    pub(super) edges: u64,
}

/// The column after the two ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    Absent,
    /// Every line has one.
    Required,
    /// Every line has one, which is not the graph's.
    Unused,
    /// Every line has two, the parts of a complex number, which are not used.
    Pair,
}

impl Values {
    /// Values of every line, or none.
    const fn if_any(are_there: bool) -> Self {
        if are_there {
            Self::Required
        } else {
            Self::Absent
        }
    }
}

/// Kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Two ids and an optional value.
    Edge,
    Table(Table),
    Dense(Dense),
    /// All neighbours of a node.
    Rows(Rows),
}

/// Format of edge lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Layout {
    pub(super) format: Format,
    pub(super) shape: Shape,
    /// Present for the 1-based formats.
    pub(super) header: Option<Header>,
    /// Nodes by an edge list's comment; a hint only.
    pub(super) hinted_nodes: Option<u64>,
    /// Whether each line represents both directions.
    pub(super) undirected: bool,
    pub(super) values: Values,
    /// First bytes of comment lines.
    pub(super) comments: &'static [u8],
    /// Letter before an edge.
    pub(super) letter: Option<u8>,
    /// Whether a single number after `#` is the head of a list of neighbours instead of a comment.
    pub(super) heads: bool,
    pub(super) factor: Option<Factor>,
    /// Whether weights may be negative.
    pub(super) signed: bool,
}

impl Layout {
    /// Whether ids are names.
    pub(super) fn is_named(&self) -> bool {
        matches!(&self.shape, Shape::Table(table) if table.ids != IdKind::Numbers)
    }

    pub(super) fn edge_list(hinted_nodes: Option<u64>, values: Values) -> Self {
        let format = Format::EdgeList;
        Self {
            format,
            shape: Shape::Edge,
            header: None,
            hinted_nodes,
            undirected: false,
            values,
            comments: b"#%",
            letter: None,
            heads: true,
            factor: None,
            signed: false,
        }
    }

    /// An edge list with detected columns.
    pub(super) fn table(hinted_nodes: Option<u64>, table: Table) -> Self {
        let values = Values::if_any(table.is_weighted());
        Self {
            format: match table.delimiter {
                b',' | b';' => Format::Csv,
                _ => Format::EdgeList,
            },
            shape: Shape::Table(table),
            ..Self::edge_list(hinted_nodes, values)
        }
    }

    /// A METIS file whose header promises this many edges.
    pub(super) fn metis(rows: Rows, edges: u64) -> Self {
        let values = Values::if_any(rows.weighted);
        Self {
            format: Format::Metis,
            shape: Shape::Rows(rows),
            header: Some(Header {
                nodes: rows.nodes,
                // Both ends of an edge list it.
                edges: 2 * edges,
            }),
            comments: b"%",
            heads: false,
            ..Self::edge_list(None, values)
        }
    }

    /// A Matrix Market file.
    pub(super) fn matrix_market(header: Header, symmetric: bool, values: Values) -> Self {
        Self {
            format: Format::MatrixMarket,
            header: Some(header),
            undirected: symmetric,
            comments: b"%",
            heads: false,
            ..Self::edge_list(None, values)
        }
    }

    /// A DIMACS or PACE file.
    pub(super) fn challenge(header: Header, problem: Problem) -> Self {
        let (format, letter, comments): (_, _, &[u8]) = match problem {
            Problem::Arcs => (Format::Dimacs, Some(b'a'), b"c"),
            Problem::Flow => (Format::Dimacs, Some(b'a'), b"cn"),
            Problem::Edges => (Format::Dimacs, Some(b'e'), b"cn"),
            Problem::TreeWidth => (Format::Pace, None, b"c"),
        };
        let has_weights = matches!(problem, Problem::Arcs | Problem::Flow);
        Self {
            format,
            header: Some(header),
            undirected: !has_weights,
            comments,
            letter,
            heads: false,
            ..Self::edge_list(None, Values::if_any(has_weights))
        }
    }
}

/// Problem types of DIMACS and PACE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// `p sp`: shortest paths.
    Arcs,
    /// `p max`: largest flow. Lines that start with `n` name source and sink.
    Flow,
    /// `p edge` and `p col`: cliques and colours. Lines that start with `n` have node weights.
    Edges,
    /// `p tw`: tree width.
    TreeWidth,
}
