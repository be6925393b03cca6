//! File formats and compressions.

use std::fmt;

/// A file format of graphs.
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
    /// No file: generated.
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

/// Compression of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// None.
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

impl Format {
    /// The format, of which tables of edges are one whatever stands between columns.
    pub(super) const fn columns(self) -> Self {
        match self {
            Self::Csv => Self::EdgeList,
            other => other,
        }
    }
}
