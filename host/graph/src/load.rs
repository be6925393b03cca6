//! What a caller asks of a load, and what it gets back.
//!
//! Options, statistics and the progress hook, apart from the readers, so that the
//! command line can show and fill them without knowing any format.

use std::fmt;

use super::Graph;

/// How to read or generate a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Take every edge in both directions. Formats that are undirected need no such wish.
    pub undirected: bool,
    /// Keep edge weights, for shortest paths. Generators draw 1 to 64; a file without
    /// weights gives a graph without weights. When false, weights cost no memory and
    /// fractions are no error.
    pub weights: bool,
    /// Skip columns of an edge list that are neither an end nor a weight. When false,
    /// such a column is an error, since it may be taken for something that it is not.
    pub skip_columns: bool,
}

/// A format that graphs are read from and written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Matrix Market file, `.mtx`.
    MatrixMarket,
    /// Edge list, `.txt` or `.el`.
    EdgeList,
    /// Table of edges between commas or semicolons, `.csv`, with or without names of columns.
    Csv,
    /// METIS adjacency, `.graph`.
    Metis,
    /// Binary of the ECL graph codes, `.egr`.
    Ecl,
    /// Sparse matrix of SciPy, `.npz`.
    Npz,
    /// DIMACS shortest-path challenge, `.gr` with `p sp`.
    Dimacs,
    /// PACE challenge, `.gr` with `p tw`.
    Pace,
    /// Seawall's binary, `.swg`.
    Binary,
    /// No file: built by a formula.
    Generated,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MatrixMarket => "Matrix Market",
            Self::EdgeList => "edge list",
            Self::Csv => "comma-separated table",
            Self::Metis => "METIS",
            Self::Ecl => "ECL binary",
            Self::Npz => "SciPy sparse matrix",
            Self::Dimacs => "DIMACS",
            Self::Pace => "PACE",
            Self::Binary => "Seawall binary",
            Self::Generated => "generated",
        })
    }
}

/// How the bytes of a file are packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// gzip, one or more members.
    Gzip,
    /// xz, one or more streams.
    Xz,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Xz => "xz",
        })
    }
}

/// What a load saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadStats {
    /// Format found.
    pub format: Format,
    /// Compression found.
    pub compression: Compression,
    /// Bytes of the file; 0 for generators.
    pub bytes: u64,
    /// Bytes after decompression; 0 for generators.
    pub text_bytes: u64,
    /// Edges listed in the file, before mirroring and cleaning.
    pub listed_edges: u64,
    /// Self loops dropped.
    pub self_loops: u64,
    /// Directed edges dropped because they were there already.
    pub duplicates: u64,
    /// Weights that a float of 32 bits does not hold exactly, counted before duplicates go.
    pub rounded_weights: u64,
    /// Whether ids had holes and nodes were numbered anew.
    pub compacted: bool,
}

impl LoadStats {
    /// Statistics of a source in which nothing was seen yet.
    pub(super) fn of(format: Format) -> Self {
        Self {
            format,
            compression: Compression::None,
            bytes: 0,
            text_bytes: 0,
            listed_edges: 0,
            self_loops: 0,
            duplicates: 0,
            rounded_weights: 0,
            compacted: false,
        }
    }
}

/// A graph and how it was read.
#[derive(Debug)]
pub struct Loaded {
    /// The graph.
    pub graph: Graph,
    /// What the load saw.
    pub stats: LoadStats,
}

/// Hears how far a load is. Called from the reading thread, about once a megabyte.
pub trait Progress: Sync {
    /// `done` bytes of the file are read, of `total` if the size is known (it is not for standard input).
    fn update(&self, done: u64, total: Option<u64>);
}

impl<F: Fn(u64, Option<u64>) + Sync> Progress for F {
    fn update(&self, done: u64, total: Option<u64>) {
        self(done, total);
    }
}
