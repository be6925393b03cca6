//! Errors of arrays from a binary file or from memory.

/// An error of a `.swg` file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BinaryProblem {
    /// The file does not start with the format's magic.
    #[error("it does not start with the magic bytes; write it with `seawall convert`")]
    Magic,
    /// The file has another version.
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
    /// Counts beyond 32 bits.
    #[error("{nodes} nodes and {edges} edges do not fit 32-bit ids and offsets")]
    Counts {
        /// Nodes by the header.
        nodes: u64,
        /// Edges by the header.
        edges: u64,
    },
    /// Ids that would pass 2^64.
    #[error("ids from {first} on leave no space for {nodes} nodes below 2^64")]
    FirstId {
        /// The first node's id by the header.
        first: u64,
        /// Nodes by the header.
        nodes: u64,
    },
    /// No offsets: even a graph without nodes has one.
    #[error("there are no offsets; they have one word more than the graph has nodes, the first 0")]
    NoOffsets,
    /// A name that is no text in UTF-8, or does not follow the one before it; or, of the number of
    /// nodes, text that belongs to none.
    #[error("the name of node {node} is no text, or not greater than the name before it")]
    Name {
        /// The node.
        node: u32,
    },
    /// Columns of edges of different lengths.
    #[error("{sources} sources and {targets} targets; an edge has one of each")]
    ColumnLengths {
        /// Number of sources.
        sources: u64,
        /// Number of targets.
        targets: u64,
    },
    /// Another number of weights than edges.
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
    /// An edge whose end is not a node.
    #[error("edge {edge} ends at node {value}, but there are {nodes}")]
    Target {
        /// Edge index.
        edge: u64,
        /// Its target.
        value: u64,
        /// Number of nodes.
        nodes: u64,
    },
    /// A row that does not ascend, or one with loops or parallel edges in a file that is marked
    /// simple.
    #[error(
        "the targets of node {node} do not ascend, or repeat or hold the node itself in a file that is marked simple"
    )]
    Order {
        /// The node.
        node: u64,
    },
    /// Other numbers of loops and parallel edges than the header promises.
    #[error(
        "{loops} loops and {parallel} parallel edges, the header promises {promised_loops} and {promised_parallel}"
    )]
    EdgeKinds {
        /// Loops found.
        loops: u64,
        /// Parallel edges found.
        parallel: u64,
        /// Loops by the header.
        promised_loops: u64,
        /// Parallel edges by the header.
        promised_parallel: u64,
    },
    /// Edges without mirror images in a graph marked symmetric, where the first was not searched
    /// for.
    #[error(
        "marked symmetric, but not every edge has a mirror image of the same weight; convert the file with --undirected"
    )]
    Unmirrored,
    /// An edge without a mirror image in a graph marked symmetric.
    #[error(
        "marked symmetric, but the edge from node {from} to node {to} has no mirror image of the same weight"
    )]
    Asymmetric {
        /// Start of the edge, as a node number from 0.
        from: u32,
        /// End of the edge.
        to: u32,
    },
    /// A float weight that is negative, infinite or not a number.
    #[error("the weight of edge {edge} is {value}; float weights must be finite and not negative")]
    Weight {
        /// Edge index.
        edge: u64,
        /// Its weight.
        value: f32,
    },
    /// A weight below zero.
    #[error("the weight of edge {edge} is negative ({value})")]
    NegativeWeight {
        /// Edge index.
        edge: u64,
        /// Its weight.
        value: i64,
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
