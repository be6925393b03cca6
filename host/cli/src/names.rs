//! The library's words as values of arguments.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use seawall::graph::Format;
use seawall::run::{AnalysisKind, BackendChoice};

/// An analysis by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AnalysisName(pub(crate) AnalysisKind);

impl ValueEnum for AnalysisName {
    fn value_variants<'a>() -> &'a [Self] {
        const { &wrapped() }
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.summary()))
    }
}

const fn wrapped() -> [AnalysisName; AnalysisKind::ALL.len()] {
    let mut names = [AnalysisName(AnalysisKind::Bfs); AnalysisKind::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = AnalysisName(AnalysisKind::ALL[at]);
        at += 1;
    }
    names
}

/// An executor by name, or the choice of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BackendName(pub(crate) BackendChoice);

impl Default for BackendName {
    fn default() -> Self {
        Self(BackendChoice::Auto)
    }
}

impl ValueEnum for BackendName {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self(BackendChoice::Auto),
            Self(BackendChoice::Cpu),
            Self(BackendChoice::Launches),
            Self(BackendChoice::Graph),
            Self(BackendChoice::Mega),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self.0 {
            BackendChoice::Auto => (
                "auto",
                "The one that should be fastest here, by costs measured or assumed",
            ),
            BackendChoice::Cpu => ("cpu", "One-lane blocks on threads"),
            BackendChoice::Launches => ("launches", "A kernel launch a group"),
            BackendChoice::Graph => ("graph", "A CUDA graph"),
            BackendChoice::Mega => ("mega", "The persistent megakernel"),
        };
        let value = PossibleValue::new(name).help(help);
        Some(match self.0 {
            BackendChoice::Mega => value.alias("cuda"),
            _ => value,
        })
    }
}

/// A format that graphs are read from, by name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadFormat(pub(crate) Format);

/// A format that graphs are written in, by name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenFormat(pub(crate) Format);

impl ValueEnum for ReadFormat {
    fn value_variants<'a>() -> &'a [Self] {
        use Format::{Binary, Csv, Dimacs, Ecl, EdgeList, MatrixMarket, Metis, Npz, Pace};
        const {
            &[
                Self(MatrixMarket),
                Self(EdgeList),
                Self(Csv),
                Self(Metis),
                Self(Npz),
                Self(Ecl),
                Self(Dimacs),
                Self(Pace),
                Self(Binary),
            ]
        }
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        format_value(self.0)
    }
}

impl ValueEnum for WrittenFormat {
    fn value_variants<'a>() -> &'a [Self] {
        use Format::{Binary, Csv, Dimacs, Ecl, EdgeList, MatrixMarket, Metis, Pace};
        const {
            &[
                Self(MatrixMarket),
                Self(EdgeList),
                Self(Csv),
                Self(Metis),
                Self(Ecl),
                Self(Dimacs),
                Self(Pace),
                Self(Binary),
            ]
        }
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        format_value(self.0)
    }
}

fn format_value(format: Format) -> Option<PossibleValue> {
    let (name, help) = match format {
        Format::MatrixMarket => ("mtx", "Matrix Market"),
        Format::EdgeList => ("el", "Edge list"),
        Format::Csv => ("csv", "Comma-separated table"),
        Format::Metis => ("metis", "METIS adjacency"),
        Format::Npz => ("npz", "Sparse matrix of SciPy"),
        Format::Ecl => ("egr", "Binary of the ECL graph codes"),
        Format::Dimacs => ("dimacs", "DIMACS shortest paths (`p sp`)"),
        Format::Pace => ("pace", "PACE treewidth (`p tw`)"),
        Format::Binary => ("swg", "Seawall's own binary"),
        _ => return None,
    };
    Some(PossibleValue::new(name).help(help))
}
