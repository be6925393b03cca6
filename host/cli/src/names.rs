//! Names of the library's enums as values of arguments.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use seawall::analysis::AnalysisKind;
use seawall::executor::Executor;
use seawall::graph::Format;

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
    let mut names = [AnalysisName(AnalysisKind::ALL[0]); AnalysisKind::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = AnalysisName(AnalysisKind::ALL[at]);
        at += 1;
    }
    names
}

/// An executor by name, or the choice of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BackendName(pub(crate) Option<Executor>);

impl ValueEnum for BackendName {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self(None),
            Self(Some(Executor::Cpu)),
            Self(Some(Executor::Launches)),
            Self(Some(Executor::Graph)),
            Self(Some(Executor::Mega)),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let Some(executor) = self.0 else {
            let help = "The one expected to be fastest here, by measured or assumed costs";
            return Some(PossibleValue::new("auto").help(help));
        };
        let help = match executor {
            Executor::Cpu => "One-lane blocks on threads",
            Executor::Launches => "One kernel launch per group",
            Executor::Graph => "A CUDA graph",
            Executor::Mega => "The persistent megakernel",
        };
        let value = PossibleValue::new(executor.name()).help(help);
        Some(match executor {
            Executor::Mega => value.alias("cuda"),
            Executor::Cpu | Executor::Launches | Executor::Graph => value,
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
