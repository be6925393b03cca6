//! What the lines of a text format look like.
//!
//! All four text formats are one edge a line; they differ in base, prefix,
//! comments, the value column and in what their header promises. Describing the
//! difference as data leaves a single edge parser ([`super::body`]) to make fast
//! and to get right. Recognising the header is in [`super::opening`].

use crate::Format;

/// Counts that a header promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) nodes: u64,
    pub(super) edges: u64,
}

/// The column after the two ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// There is none.
    Absent,
    /// Every line has one.
    Required,
    /// A line may have one, and nobody will use it.
    Optional,
}

/// How to read edge lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) format: Format,
    /// Present for the 1-based formats.
    pub(super) header: Option<Header>,
    /// Nodes by an edge list's comment, a hint only.
    pub(super) hinted_nodes: Option<u64>,
    /// Whether each line stands for both directions.
    pub(super) undirected: bool,
    pub(super) values: Values,
    /// First bytes of comment lines.
    pub(super) comments: &'static [u8],
}

impl Layout {
    /// A SNAP edge list.
    pub(super) fn edge_list(hinted_nodes: Option<u64>, values: Values) -> Self {
        let format = Format::EdgeList;
        Self {
            format,
            header: None,
            hinted_nodes,
            undirected: false,
            values,
            comments: b"#%",
        }
    }

    /// A Matrix Market file.
    pub(super) fn matrix_market(header: Header, symmetric: bool, values: Values) -> Self {
        Self {
            format: Format::MatrixMarket,
            header: Some(header),
            hinted_nodes: None,
            undirected: symmetric,
            values,
            comments: b"%",
        }
    }

    /// A DIMACS or PACE file.
    pub(super) fn challenge(header: Header, format: Format) -> Self {
        let dimacs = format == Format::Dimacs;
        Self {
            format,
            header: Some(header),
            hinted_nodes: None,
            undirected: !dimacs,
            values: if dimacs {
                Values::Required
            } else {
                Values::Absent
            },
            comments: b"c",
        }
    }
}
