//! Formats by the names of files.

use crate::Format;

/// Format by the file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suffix {
    Matrix,
    EdgeList,
    Challenge,
    Metis,
    /// ECL's binary, which has no magic.
    Ecl,
    Other,
}

impl Suffix {
    /// The suffix of a name, before `.gz` or `.xz`.
    pub(super) fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let name = name
            .strip_suffix(".gz")
            .or(name.strip_suffix(".xz"))
            .unwrap_or(&name);
        match name.rsplit_once('.').map(|(_, suffix)| suffix) {
            Some("mtx") => Self::Matrix,
            Some("txt" | "el" | "edges" | "edgelist" | "tsv" | "csv") => Self::EdgeList,
            Some("gr") => Self::Challenge,
            Some("graph" | "metis") => Self::Metis,
            Some("egr") => Self::Ecl,
            _ => Self::Other,
        }
    }

    /// The format to take a file for whose content does not say it: the one that the caller
    /// named, else that of the file's name.
    pub(super) fn named(asked: Option<Format>, name: &str) -> Self {
        match asked {
            None => Self::of(name),
            Some(Format::MatrixMarket) => Self::Matrix,
            Some(Format::EdgeList | Format::Csv) => Self::EdgeList,
            Some(Format::Metis) => Self::Metis,
            Some(Format::Ecl) => Self::Ecl,
            Some(Format::Dimacs | Format::Pace) => Self::Challenge,
            Some(Format::Npz | Format::Binary | Format::Generated) => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_seen_under_compression() {
        assert_eq!(Suffix::of("a/b.MTX.gz"), Suffix::Matrix);
        assert_eq!(Suffix::of("x.gr.xz"), Suffix::Challenge);
        assert_eq!(Suffix::of("x.el"), Suffix::EdgeList);
        assert_eq!(Suffix::of("standard input"), Suffix::Other);
    }
}
