//! File formats and compressions.

use std::fmt;

use crate::nearest::did_you_mean;

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
    /// DIMACS challenges: `.gr` with `p sp`, `.max` with `p max`, `.col` with `p edge` or `p col`.
    Dimacs,
    /// PACE challenge, `.gr` with `p tw`.
    Pace,
    /// Binary of GBBS, `.bin`.
    Gbbs,
    /// GraphML, `.graphml`.
    GraphMl,
    /// A node and its neighbours in each line, `.adjlist`.
    Adjacency,
    /// Large Graph Layout: a line for a node and one for each neighbour, `.lgl`.
    Lgl,
    /// Seawall's binary, `.swg`.
    Binary,
    /// No file: generated.
    Generated,
}

/// Facts about a format: the only place that has them.
struct Facts {
    name: &'static str,
    title: &'static str,
    summary: &'static str,
    /// The first one is for messages.
    suffixes: &'static [&'static str],
    is_written: bool,
}

const fn facts(
    [name, title, summary]: [&'static str; 3],
    suffixes: &'static [&'static str],
    is_written: bool,
) -> Facts {
    Facts {
        name,
        title,
        summary,
        suffixes,
        is_written,
    }
}

impl Format {
    /// All formats of files. A suffix that two of them share is the first one's.
    pub const ALL: [Self; 13] = [
        Self::MatrixMarket,
        Self::EdgeList,
        Self::Csv,
        Self::Metis,
        Self::Npz,
        Self::Ecl,
        Self::Dimacs,
        Self::Pace,
        Self::Gbbs,
        Self::GraphMl,
        Self::Adjacency,
        Self::Lgl,
        Self::Binary,
    ];

    const fn facts(self) -> Facts {
        const LISTS: &[&str] = &["el", "txt", "edges", "edgelist", "tsv"];
        match self {
            Self::MatrixMarket => facts(["mtx", "Matrix Market", "Matrix Market"], &["mtx"], true),
            Self::EdgeList => facts(["el", "edge list", "Edge list"], LISTS, true),
            Self::Csv => {
                let title = "comma-separated table";
                facts(["csv", title, "Comma-separated table"], &["csv"], true)
            }
            Self::Metis => {
                let words = ["metis", "METIS", "METIS adjacency"];
                facts(words, &["graph", "metis"], true)
            }
            Self::Ecl => {
                let words = ["egr", "ECL binary", "Binary of the ECL graph codes"];
                facts(words, &["egr"], true)
            }
            Self::Npz => {
                let words = ["npz", "SciPy sparse matrix", "Sparse matrix of SciPy"];
                facts(words, &["npz"], true)
            }
            Self::Dimacs => {
                let words = [
                    "dimacs",
                    "DIMACS",
                    "DIMACS (`p sp`; also read: `p max`, `p edge`, `p col`)",
                ];
                facts(words, &["gr", "col", "max", "dimacs"], true)
            }
            Self::Pace => {
                let words = ["pace", "PACE", "PACE treewidth (`p tw`)"];
                facts(words, &["gr"], true)
            }
            Self::Gbbs => {
                let words = ["gbbs", "GBBS binary", "Binary of GBBS"];
                facts(words, &["bin"], true)
            }
            Self::GraphMl => facts(["graphml", "GraphML", "GraphML"], &["graphml"], false),
            Self::Adjacency => {
                let title = "adjacency list";
                let words = ["adjlist", title, "A node and its neighbours in each line"];
                facts(words, &["adjlist", "adj"], false)
            }
            Self::Lgl => {
                let words = [
                    "lgl",
                    "LGL",
                    "Large Graph Layout: `# node`, then its neighbours",
                ];
                facts(words, &["lgl"], false)
            }
            Self::Binary => {
                let words = ["swg", "Seawall binary", "Seawall's own binary"];
                facts(words, &["swg"], true)
            }
            Self::Generated => facts(["gen", "generated", "Generated"], &[], false),
        }
    }

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// A few words for help.
    #[must_use]
    pub const fn summary(self) -> &'static str {
        self.facts().summary
    }

    /// Whether graphs can be written in it.
    #[must_use]
    pub const fn is_written(self) -> bool {
        self.facts().is_written
    }

    /// The format of a file's suffix; DIMACS for `.gr`, which PACE has too.
    pub(super) fn of_suffix(suffix: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|format| format.facts().suffixes.contains(&suffix))
    }

    /// The suffixes of the formats that are written.
    pub(super) fn written_suffixes() -> String {
        Self::list_of_written().join(", ")
    }

    /// The question whether the suffix of `file` should be a known one.
    pub(super) fn suffix_meant(file: &str) -> String {
        let stem = compressed_stem(file);
        let suffix = stem.rfind('.').map_or("", |at| &stem[at..]);
        let known = Self::list_of_written();
        did_you_mean(suffix, known.iter().map(String::as_str))
    }

    fn list_of_written() -> Vec<String> {
        let mut suffixes: Vec<String> = Vec::new();
        for format in Self::ALL.into_iter().filter(|format| format.is_written()) {
            for suffix in format.facts().suffixes {
                let suffix = format!(".{suffix}");
                if !suffixes.contains(&suffix) {
                    suffixes.push(suffix);
                }
            }
        }
        suffixes
    }
}

/// `file` without the suffix of a compression.
fn compressed_stem(file: &str) -> &str {
    [".gz", ".xz"]
        .iter()
        .find_map(|suffix| file.strip_suffix(suffix))
        .unwrap_or(file)
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.facts().title)
    }
}

/// The suffix of a file's name in lower case, and the compression that a further one states.
pub(super) fn suffix_of(name: &str) -> (String, Compression) {
    let name = name.to_ascii_lowercase();
    let under = |compression: &Compression| {
        let end = name.strip_suffix(compression.suffix())?;
        Some((end.to_owned(), *compression))
    };
    let found = Compression::ALL.iter().find_map(under);
    let (name, compression) = found.unwrap_or((name, Compression::None));
    let suffix = name.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    (suffix.to_owned(), compression)
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
    /// bzip2, one or more streams; read and not written.
    Bzip2,
    /// Zstandard, one or more frames; read and not written.
    Zstd,
}

impl Compression {
    pub(super) const ALL: [Self; 4] = [Self::Gzip, Self::Xz, Self::Bzip2, Self::Zstd];

    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Gzip => ".gz",
            Self::Xz => ".xz",
            Self::Bzip2 => ".bz2",
            Self::Zstd => ".zst",
        }
    }

    /// The first bytes of its files.
    pub(super) const fn magic(self) -> &'static [u8] {
        match self {
            Self::None => &[],
            Self::Gzip => &[0x1f, 0x8b],
            Self::Xz => &[0xfd, b'7', b'z', b'X', b'Z', 0],
            Self::Bzip2 => b"BZh",
            Self::Zstd => &[0x28, 0xb5, 0x2f, 0xfd],
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
            Self::Zstd => "zstd",
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Format {
    /// The format; tables of edges are one format, whatever separates columns.
    pub(super) const fn columns(self) -> Self {
        match self {
            Self::Csv => Self::EdgeList,
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_seen_under_compression() {
        let format_of = |name| Format::of_suffix(&suffix_of(name).0);
        assert_eq!(format_of("a/b.MTX.gz"), Some(Format::MatrixMarket));
        assert_eq!(format_of("x.gr.xz"), Some(Format::Dimacs));
        assert_eq!(format_of("x.el"), Some(Format::EdgeList));
        assert_eq!(format_of("x.graphml.zst"), Some(Format::GraphMl));
        assert_eq!(format_of("x.lgl.bz2"), Some(Format::Lgl));
        assert_eq!(format_of("standard input"), None);
    }

    #[test]
    fn names_tell_formats_apart_and_every_one_has_a_suffix() {
        for (at, format) in Format::ALL.into_iter().enumerate() {
            assert!(!format.facts().suffixes.is_empty(), "{format}");
            let others = &Format::ALL[..at];
            assert!(others.iter().all(|other| other.name() != format.name()));
        }
    }
}
