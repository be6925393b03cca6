//! Names of the library's enums as values of arguments.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use seawall::analysis::AnalysisKind;
use seawall::run::BackendChoice;

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
                "The one expected to be fastest here, by measured or assumed costs",
            ),
            BackendChoice::Cpu => ("cpu", "One-lane blocks on threads"),
            BackendChoice::Launches => ("launches", "One kernel launch per group"),
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
