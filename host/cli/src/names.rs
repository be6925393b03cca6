//! Names of the library's enums as values of arguments.

use crate::error::CliError;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use seawall::analysis::AnalysisKind;
use seawall::executor::Executor;
use seawall::graph::Format;
use std::sync::LazyLock;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AnalysisName(pub(crate) AnalysisKind);

impl ValueEnum for AnalysisName {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<[AnalysisName; AnalysisKind::ALL.len()]> =
            LazyLock::new(|| AnalysisKind::ALL.map(AnalysisName));
        &*ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.summary()))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BackendName(pub(crate) Option<Executor>);

/// Refuses the number of a GPU where threads run.
pub(crate) fn check_device(device: u32, on_threads: bool) -> Result<(), CliError> {
    match device {
        0 => Ok(()),
        _ if on_threads => Err(CliError::DeviceOfThreads),
        _ => Ok(()),
    }
}

impl ValueEnum for BackendName {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<BackendName>> = LazyLock::new(|| {
            let all = Executor::ALL.map(|executor| BackendName(Some(executor)));
            std::iter::once(BackendName(None)).chain(all).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let Some(executor) = self.0 else {
            let help = "The one expected to be fastest here, by measured or assumed costs";
            return Some(PossibleValue::new("auto").help(help));
        };
        let value = PossibleValue::new(executor.name()).help(executor.summary());
        Some(match executor {
            Executor::Mega => value.alias("cuda"),
            _ => value,
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadFormat(pub(crate) Format);

/// A format that graphs are written in, by name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenFormat(pub(crate) Format);

impl ValueEnum for ReadFormat {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<[ReadFormat; Format::ALL.len()]> =
            LazyLock::new(|| Format::ALL.map(ReadFormat));
        &*ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.summary()))
    }
}

impl ValueEnum for WrittenFormat {
    fn value_variants<'a>() -> &'a [Self] {
        static WRITTEN: LazyLock<Vec<WrittenFormat>> = LazyLock::new(|| {
            let written = Format::ALL.into_iter().filter(|format| format.is_written());
            written.map(WrittenFormat).collect()
        });
        &WRITTEN
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        ReadFormat(self.0).to_possible_value()
    }
}
