//! What can go wrong between a graph's bytes and its arrays.
//!
//! One enum for the room, because a caller shows all of them the same way: one
//! message that names the file, the line, the reason and the offending value.
//! It says whether the request or the machine is the cause, and decides no exit codes.

use super::Cause;
use super::memory::Shortage;
use std::io;

/// Why a graph could not be read, generated or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The operating system refused.
    #[error("{file}: cannot {action}: {source}")]
    Io {
        /// File as the caller named it.
        file: String,
        /// What was attempted: `open`, `read`, `create`, `write`, `rename`.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// The file holds no byte, or nothing but comments and blank lines.
    #[error("{file}: the file is empty; expected a graph")]
    Empty {
        /// File as the caller named it.
        file: String,
    },
    /// Neither content nor suffix says which format this is.
    #[error(
        "{file}:{line}: not a graph in a known format ({value:?}); \
         known are Matrix Market, edge list, DIMACS, PACE and .swg, each also as .gz or .xz"
    )]
    UnknownFormat {
        /// File as the caller named it.
        file: String,
        /// First line with content, from 1.
        line: u64,
        /// Its first field.
        value: String,
    },
    /// A writer's path has no suffix that names a format.
    #[error(
        "{file}: no format has this suffix; use .mtx, .el, .txt, .gr, .swg, with .gz or .xz after it if wanted"
    )]
    UnknownSuffix {
        /// File as the caller named it.
        file: String,
    },
    /// A directed graph was to be written to a format without directions.
    #[error(
        "{file}: PACE files have no directions; load the graph as undirected, or write .mtx, .el or .swg"
    )]
    Directed {
        /// File as the caller named it.
        file: String,
    },
    /// The compressed stream ends early or is damaged.
    #[error(
        "{file}: the {codec} stream is truncated or damaged after {produced} decoded bytes: {reason}"
    )]
    Compressed {
        /// File as the caller named it.
        file: String,
        /// `gzip` or `xz`.
        codec: &'static str,
        /// Bytes decoded before the fault.
        produced: u64,
        /// What the decoder said.
        reason: String,
    },
    /// The system has no memory for the graph's arrays.
    #[error(
        "{file}: out of memory: {needed} bytes more are needed and {available} are available; free memory, or load a smaller graph"
    )]
    Memory {
        /// File or generator as the caller named it.
        file: String,
        /// Bytes asked for.
        needed: u64,
        /// Bytes that were left; 0 where the system does not tell.
        available: u64,
    },
    /// The system starts no threads.
    #[error(
        "the threads that load graphs could not be started: {reason}; allow more threads or memory"
    )]
    Threads {
        /// The system's answer.
        reason: String,
    },
    /// A line of a text format is wrong.
    #[error("{file}:{line}: {problem}")]
    Line {
        /// File as the caller named it.
        file: String,
        /// Line, from 1.
        line: u64,
        /// What is wrong with it, with the value.
        problem: LineProblem,
    },
    /// The header promised another number of edge lines than the file has.
    #[error("{file}:{line}: the header promises {promised} edges, the file has {found}")]
    EdgeCount {
        /// File as the caller named it.
        file: String,
        /// Line of the first edge too many, or the last line.
        line: u64,
        /// Edges by the header.
        promised: u64,
        /// Edge lines seen; when there are too many, those up to `line`.
        found: u64,
    },
    /// The binary file is not what its header says.
    #[error("{file}: not a valid {format} file: {problem}")]
    Binary {
        /// File as the caller named it.
        file: String,
        /// The suffix of its format, such as `.swg`.
        format: &'static str,
        /// What is wrong.
        problem: BinaryProblem,
    },
    /// More nodes than 32-bit ids can name.
    #[error("{file}: {nodes} nodes, but at most {limit} fit 32-bit ids; split the graph")]
    TooManyNodes {
        /// File or generator.
        file: String,
        /// Nodes asked for.
        nodes: u64,
        /// Nodes that fit.
        limit: u64,
    },
    /// More edges than 32-bit offsets can address.
    #[error(
        "{file}: {edges} directed edges, but at most {limit} fit 32-bit offsets; split the graph or drop --undirected"
    )]
    TooManyEdges {
        /// File or generator.
        file: String,
        /// Directed edges asked for, before duplicates go.
        edges: u64,
        /// Directed edges that fit.
        limit: u64,
    },
    /// A header promises many nodes and the file has next to no edges.
    #[error(
        "{file}: the header promises {nodes} nodes for {edges} edges; more than {limit} nodes need an edge for each 16"
    )]
    HollowGraph {
        /// File as the caller named it.
        file: String,
        /// Nodes by the header.
        nodes: u64,
        /// Edges in the file.
        edges: u64,
        /// Nodes allowed whatever the edges.
        limit: u64,
    },
    /// A `gen:` specification is wrong.
    #[error("{spec}: {problem}")]
    Generator {
        /// The specification as given.
        spec: String,
        /// What is wrong.
        problem: GeneratorProblem,
    },
    /// An edge given in memory has an end that is no node.
    #[error("edge {index} ends at node {node}, but there are {nodes} nodes, from 0")]
    EdgeOutOfRange {
        /// Position in the slice, from 0.
        index: usize,
        /// The end.
        node: u32,
        /// Number of nodes.
        nodes: u32,
    },
    /// Arrays given in memory are no rows of a graph.
    #[error("arrays in memory: {problem}")]
    BadArrays {
        /// The first contradiction.
        problem: BinaryProblem,
    },
    /// An edge given in memory has a weight that is negative, infinite or no number.
    #[error("edge {index} has the weight {weight}; float weights must be finite and not negative")]
    BadWeight {
        /// Position in the slice, from 0.
        index: usize,
        /// The weight.
        weight: f32,
    },
    /// A shortest-path input was wanted and the file has no weights.
    #[error(
        "{file}: has no weights; use a file with a weight column, or run an analysis that needs none"
    )]
    NoWeights {
        /// File as the caller named it.
        file: String,
    },
}

impl GraphError {
    /// No memory for a graph.
    pub(crate) fn memory(file: &str, short: Shortage) -> Self {
        Self::Memory {
            file: file.to_owned(),
            needed: short.needed,
            available: short.available,
        }
    }

    /// Whether another request would help.
    #[must_use]
    pub fn cause(&self) -> Cause {
        match self {
            Self::Io { source, .. } => Cause::of_io(source),
            Self::Empty { .. }
            | Self::UnknownFormat { .. }
            | Self::UnknownSuffix { .. }
            | Self::Directed { .. }
            | Self::Compressed { .. }
            | Self::Line { .. }
            | Self::EdgeCount { .. }
            | Self::Binary { .. }
            | Self::TooManyNodes { .. }
            | Self::TooManyEdges { .. }
            | Self::HollowGraph { .. }
            | Self::Generator { .. }
            | Self::EdgeOutOfRange { .. }
            | Self::BadWeight { .. }
            | Self::BadArrays { .. }
            | Self::NoWeights { .. } => Cause::Request,
            Self::Memory { .. } | Self::Threads { .. } => Cause::Failure,
        }
    }
}

/// What is wrong with one line of text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// A field that must be a number is none.
    #[error("expected {what}, found {value:?}")]
    NotANumber {
        /// What the field stands for.
        what: &'static str,
        /// The field.
        value: String,
    },
    /// A number below zero where only counts and ids make sense.
    #[error("{what} is negative ({value})")]
    Negative {
        /// What the field stands for.
        what: &'static str,
        /// The field.
        value: String,
    },
    /// A number that no 64-bit word holds.
    #[error("{what} is too large ({value}); at most {limit}")]
    TooLarge {
        /// What the field stands for.
        what: &'static str,
        /// The field.
        value: String,
        /// Largest value that is taken.
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
        /// What the field stands for.
        what: &'static str,
        /// The line, shortened.
        value: String,
    },
    /// The line goes on after its last field.
    #[error("unexpected field after the last one ({value:?})")]
    ExtraField {
        /// The field.
        value: String,
    },
    /// The first line is not the one that the format starts with.
    #[error("wrong banner ({value:?}); expected {expected}")]
    Banner {
        /// The line, shortened.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A line kind that the format does not have.
    #[error("unknown line ({value:?}); expected {expected}")]
    UnknownLine {
        /// The line, shortened.
        value: String,
        /// What may stand here.
        expected: &'static str,
    },
    /// A valid file of a kind that is not a graph to us.
    #[error("{what} is not supported ({value}); {remedy}")]
    Unsupported {
        /// What the value chooses.
        what: &'static str,
        /// The value.
        value: String,
        /// What works instead.
        remedy: &'static str,
    },
    /// A matrix with different numbers of rows and columns.
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
        /// What the field stands for.
        what: &'static str,
        /// The field.
        value: String,
    },
    /// A line longer than any line of these formats.
    #[error("the line is longer than {limit} bytes")]
    TooLong {
        /// Longest line that is taken.
        limit: usize,
    },
    /// Two header lines.
    #[error("second header line ({value:?})")]
    SecondHeader {
        /// The line, shortened.
        value: String,
    },
}

/// What is wrong with a `.swg` file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BinaryProblem {
    /// The file does not start with the format's magic.
    #[error("it does not start with the magic bytes; write it with `seawall convert`")]
    Magic,
    /// Written by another version.
    #[error("version {found}, this build reads {supported}; convert the graph again")]
    Version {
        /// Version in the file.
        found: u32,
        /// Version of this build.
        supported: u32,
    },
    /// The header's checksum differs.
    #[error("header checksum {found:#018x}, computed {computed:#018x}")]
    Checksum {
        /// In the file.
        found: u64,
        /// Over the header's bytes.
        computed: u64,
    },
    /// The file is shorter or longer than its header says.
    #[error("{found} bytes, the header promises {promised}")]
    Length {
        /// Bytes by the header.
        promised: u64,
        /// Bytes in the file.
        found: u64,
    },
    /// Flags that this build does not know.
    #[error("unknown flags {found:#x}")]
    Flags {
        /// The flags.
        found: u32,
    },
    /// Counts that no graph here can have.
    #[error("{nodes} nodes and {edges} edges do not fit 32-bit ids and offsets")]
    Counts {
        /// Nodes by the header.
        nodes: u64,
        /// Edges by the header.
        edges: u64,
    },
    /// Nodes that would be numbered past the largest id.
    #[error("ids from {first} on leave no room for {nodes} nodes below 2^64")]
    FirstId {
        /// The first node's id by the header.
        first: u64,
        /// Nodes by the header.
        nodes: u64,
    },
    /// Offsets without a word: even a graph without nodes has one.
    #[error("there are no offsets; they have one word more than the graph has nodes, the first 0")]
    NoOffsets,
    /// Not as many weights as edges.
    #[error("{weights} weights for {edges} edges")]
    WeightCount {
        /// Weights given.
        weights: u64,
        /// Edges given.
        edges: u64,
    },
    /// An offset below the one before it, or beyond the edges.
    #[error("offset {value} of node {node} is out of order")]
    Offset {
        /// The node.
        node: u64,
        /// Its offset.
        value: u64,
    },
    /// An edge to no node.
    #[error("edge {edge} ends at node {value}, but there are {nodes}")]
    Target {
        /// Edge index.
        edge: u64,
        /// Its target.
        value: u64,
        /// Number of nodes.
        nodes: u64,
    },
    /// A row that is not strictly ascending, or holds its own node.
    #[error("the targets of node {node} are not strictly ascending, or hold the node itself")]
    Order {
        /// The node.
        node: u64,
    },
    /// Marked symmetric, and an edge has no twin.
    #[error(
        "marked symmetric, but the edge from node {from} to node {to} has no mirror image of the same weight"
    )]
    Asymmetric {
        /// Start of the edge, as a node number from 0.
        from: u32,
        /// End of the edge.
        to: u32,
    },
    /// A float weight that is negative, infinite or no number.
    #[error("the weight of edge {edge} is {value}; float weights must be finite and not negative")]
    Weight {
        /// Edge index.
        edge: u64,
        /// Its weight.
        value: f32,
    },
    /// Original ids that are not strictly ascending.
    #[error("original id {value} of node {node} is out of order")]
    Ids {
        /// The node.
        node: u64,
        /// Its id.
        value: u64,
    },
}

/// What is wrong with a generator specification.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GeneratorProblem {
    /// No generator has this name.
    #[error(
        "unknown generator {name:?}; use gen:rmat:SCALE:EDGEFACTOR[:SEED], \
         gen:uniform:SCALE:EDGEFACTOR[:SEED], gen:grid:WIDTH[xHEIGHT] or gen:chain:NODES[:SEED]"
    )]
    Name {
        /// The name given.
        name: String,
    },
    /// A parameter is missing.
    #[error("{what} is missing; the form is {form}")]
    Missing {
        /// The parameter.
        what: &'static str,
        /// The generator's form.
        form: &'static str,
    },
    /// A parameter is no number, or out of its range.
    #[error("{what} must be a whole number from {min} to {max} ({value:?})")]
    Parameter {
        /// The parameter.
        what: &'static str,
        /// The text given.
        value: String,
        /// Smallest value taken.
        min: u64,
        /// Largest value taken.
        max: u64,
    },
    /// Many graphs where one is wanted.
    #[error("a batch is many graphs and this must be one; give the batch itself to seawall run")]
    Many,
    /// A batch of a shape without chance.
    #[error(
        "graphs of this shape would all be equal; a batch needs one with a seed: rmat, uniform or chain"
    )]
    Unseeded,
    /// More parameters than the generator has.
    #[error("unexpected parameter {value:?}; the form is {form}")]
    Extra {
        /// The text given.
        value: String,
        /// The generator's form.
        form: &'static str,
    },
}
