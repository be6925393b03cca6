//! Errors of one line of text.

use crate::nearest::did_you_mean;

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
    /// A negative number beyond 32 bits.
    #[error("{what} is too small ({value}); at least {limit}")]
    TooSmall {
        /// Meaning of the field.
        what: &'static str,
        /// The field.
        value: String,
        /// Smallest value allowed.
        limit: i64,
    },
    /// An id outside the header's range.
    #[error("node id out of range ({value}); the header allows 1 to {nodes}")]
    IdOutOfRange {
        /// The id.
        value: u64,
        /// Nodes by the header.
        nodes: u64,
    },
    /// A column of a node that is empty.
    #[error("the column of a node is empty")]
    EmptyNode,
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
        "expected a node id, found {value:?}; the ids before it are whole numbers; \
         if all ids are names, give --names"
    )]
    NamedNode {
        /// The field.
        value: String,
    },
    /// A number where the first edge has names.
    #[error(
        "found the number {value:?} as a node id, where the first edge has names; give --names \
         if it is a name too, or name the columns source and target if the first line is a header"
    )]
    NumberedNode {
        /// The field.
        value: String,
    },
    /// A name that is not UTF-8.
    #[error("the name {value:?} is not UTF-8; save the file as UTF-8")]
    NotUtf8 {
        /// The name, with replacements.
        value: String,
    },
    /// A name with control characters, which no format could hold.
    #[error("the name {value:?} has control characters; remove them")]
    ControlInName {
        /// The name, with replacements.
        value: String,
    },
    /// A comment with as many columns as an edge.
    #[error(
        "{value:?} is a comment by its first letter and has the columns of an edge; \
         put the name between quotation marks, or remove the line"
    )]
    CommentedName {
        /// The line, shortened.
        value: String,
    },
    /// A column of an edge list that is neither an end nor a weight.
    #[error(
        "column {column} ({value:?}) is neither an end of an edge nor its weight; remove it, give \
         --skip-columns, or choose columns with --source-column, --target-column and \
         --weight-column; lists of neighbours need --format adjlist"
    )]
    ExtraColumn {
        /// Column, from 1.
        column: usize,
        /// Its content, or its name.
        value: String,
    },
    /// The index that pandas writes before the columns.
    #[error(
        "column 1 ({value:?}) is the index of pandas; write the file with index=False, or give \
         --skip-columns"
    )]
    IndexColumn {
        /// Its name.
        value: String,
    },
    /// A first line of names that are not known to be ends of edges.
    #[error(
        "the names of the columns ({value:?}) do not say which are the ends of an edge; name them \
         source and target, or choose with --source-column and --target-column; in a file without \
         names of columns whose ids are names, give --names"
    )]
    UnnamedColumns {
        /// The line, shortened.
        value: String,
    },
    /// A line that names columns by words that are also nodes.
    #[error(
        "{value:?} names the columns, but {name:?} is a node below; if the line is an edge, put a line \
         \"source target\" above it; if it is a header, choose with --source-column and --target-column"
    )]
    HeaderOrEdge {
        /// The word that is a node.
        name: String,
        /// The names of both ends.
        value: String,
    },
    /// A chosen column that the first line does not have.
    #[error(
        "there is no column {column} in the first line ({value:?}){}",
        did_you_mean(column.trim_matches('"'), fields(value))
    )]
    NoSuchColumn {
        /// The name or number asked for.
        column: String,
        /// The line, shortened.
        value: String,
    },
    /// One column chosen twice.
    #[error(
        "column {column} is chosen twice; the ends of an edge and its weight are three columns"
    )]
    SharedColumn {
        /// Column, from 1.
        column: usize,
    },
    /// A single number after `#`, which names the node of a list of neighbours in LGL.
    #[error(
        "{value:?} looks like the head of a list of neighbours (LGL) and not like a comment; \
         give --format lgl, or --format el if it is a comment of an edge list"
    )]
    Head {
        /// The line, shortened.
        value: String,
    },
    /// A NUL byte.
    #[error("the line has a NUL byte, so this is no text in UTF-8; save it as UTF-8")]
    Nul,
    /// A comment of this program after the first edge, as in files that were joined.
    #[error("{value:?} counts only before the first edge; convert files one by one")]
    LateNote {
        /// The line, shortened.
        value: String,
    },
    /// Comments that list ids, but not one for each node.
    #[error(
        "the comments of seawall list {found} ids in ascending order for {nodes} nodes; \
         remove them, or convert the graph again"
    )]
    IdCount {
        /// Ids listed.
        found: u64,
        /// Nodes by the header.
        nodes: u64,
    },
    /// An id outside of the range that a comment states.
    #[error(
        "node {value} is outside of the ids that this comment states; remove the comment if \
         edges were added"
    )]
    IdOutsideNote {
        /// The id.
        value: u64,
    },
    /// Broken XML.
    #[error("not valid GraphML: {reason}")]
    Xml {
        /// The reason.
        reason: String,
    },
    /// An element without an attribute that it needs.
    #[error("the element <{element}> has no attribute {attribute}")]
    MissingAttribute {
        /// The element.
        element: String,
        /// The attribute.
        attribute: &'static str,
    },
    /// An edge whose end is no node of the file.
    #[error("the edge of line {line} ends at {value:?}, a node that the file does not have")]
    UndeclaredNode {
        /// Line of the edge, from 1.
        line: u64,
        /// The id of the node.
        value: String,
    },
    /// A node that the file has twice.
    #[error("a second node with the id {value:?}")]
    DuplicateNode {
        /// The id.
        value: String,
    },
    /// A weight that is too large once it is scaled.
    #[error(
        "a weight is too large to scale ({value}); {factor} times that is more than 4294967295; \
         take a smaller factor"
    )]
    ScaledTooLarge {
        /// The weight as written.
        value: String,
        /// The factor asked for.
        factor: String,
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

/// The fields of a line between any of the separators of tables.
fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split([',', ';', '\t', ' '])
        .map(|field| field.trim_matches('"'))
}
