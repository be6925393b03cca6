//! Errors of one line of text.

/// An error of one line of text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// A field that is not a number.
    #[error("expected {what}, found {value:?}")]
    NotANumber {
        /// Meaning of the field.
        what: &'static str,
        /// The field.
        value: String,
    },
    /// A negative number where a count or an id is required.
    #[error("{what} is negative ({value})")]
    Negative {
        /// Meaning of the field.
        what: &'static str,
        /// The field.
        value: String,
    },
    /// A number beyond 64 bits.
    #[error("{what} is too large ({value}); at most {limit}")]
    TooLarge {
        /// Meaning of the field.
        what: &'static str,
        /// The field.
        value: String,
        /// Largest value allowed.
        limit: u64,
    },
    /// An id outside the header's range.
    #[error("node id out of range ({value}); the header allows 1 to {nodes}")]
    IdOutOfRange {
        /// The id.
        value: u64,
        /// Nodes by the header.
        nodes: u64,
    },
    /// The line ends before this field.
    #[error("the line ends before {what} ({value:?})")]
    MissingField {
        /// Meaning of the field.
        what: &'static str,
        /// The line, shortened.
        value: String,
    },
    /// The line continues after its last field.
    #[error("unexpected field after the last one ({value:?})")]
    ExtraField {
        /// The field.
        value: String,
    },
    /// A name where an edge list has the number of a node.
    #[error(
        "expected a node id, found {value:?}; ids are whole numbers, so number nodes that have names"
    )]
    NamedNode {
        /// The field.
        value: String,
    },
    /// A column of an edge list that is neither an end nor a weight.
    #[error(
        "column {column} ({value:?}) is neither an end of an edge nor its weight; \
         remove it, or ask for such columns to be skipped"
    )]
    ExtraColumn {
        /// Column, from 1.
        column: usize,
        /// Its content, or its name.
        value: String,
    },
    /// A weight where the first edge had none.
    #[error(
        "a weight, which the first edge of the file does not have; give all edges one, or none"
    )]
    LateWeight,
    /// Quotation marks that do not enclose exactly one column.
    #[error("the quotation mark before {value:?} has no partner at the end of its column")]
    Quotation {
        /// The text after it, shortened.
        value: String,
    },
    /// A line with neighbours beyond the header's number of nodes.
    #[error("a line ({value:?}) for more nodes than the header promises")]
    RowBeyond {
        /// The line, shortened.
        value: String,
    },
    /// A first line that is not the format's banner.
    #[error("wrong banner ({value:?}); expected {expected}")]
    Banner {
        /// The line, shortened.
        value: String,
        /// The expected banner.
        expected: &'static str,
    },
    /// A line kind that the format does not have.
    #[error("unknown line ({value:?}); expected {expected}")]
    UnknownLine {
        /// The line, shortened.
        value: String,
        /// The kinds allowed here.
        expected: &'static str,
    },
    /// A valid file of an unsupported kind.
    #[error("{what} is not supported ({value}); {remedy}")]
    Unsupported {
        /// Meaning of the value.
        what: &'static str,
        /// The value.
        value: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// A matrix whose numbers of rows and columns differ.
    #[error(
        "the matrix is not square ({rows} x {columns}); a graph needs one row and column a node"
    )]
    NotSquare {
        /// Rows by the header.
        rows: u64,
        /// Columns by the header.
        columns: u64,
    },
    /// A number beyond the largest float of 32 bits.
    #[error("{what} is too large for a 32-bit float ({value}); at most 3.4028235e38")]
    BeyondFloat {
        /// Meaning of the field.
        what: &'static str,
        /// The field.
        value: String,
    },
    /// A line longer than any line of these formats.
    #[error("the line is longer than {limit} bytes")]
    TooLong {
        /// Longest line allowed.
        limit: usize,
    },
    /// A second header line.
    #[error("second header line ({value:?})")]
    SecondHeader {
        /// The line, shortened.
        value: String,
    },
}
