//! Options that relate to errors of the library.
//!
//! The library's errors speak of requests; the command line adds the options that change them.

use seawall::backend::BackendError;
use seawall::batch::BatchError;
use seawall::graph::{GraphError, LineProblem};
use seawall::program::ProgramError;
use seawall::run::{Detail, RunError};
use seawall_core::abi::control::FaultCode;
use seawall_modules::ModuleError;

/// Returns the options that relate to `error`, as a suffix of its text.
pub(super) fn of_run(error: &RunError) -> &'static str {
    match error {
        RunError::Directed { .. } => " (--undirected)",
        RunError::WrongDetail { detail, .. } => of_detail(*detail),
        RunError::SourceWeight { .. } | RunError::TooManySourceWeights { .. } => {
            " (--source N=WEIGHT)"
        }
        RunError::OverBudget { .. } | RunError::StreamOverBudget { .. } => " (--budget)",
        RunError::CannotStream { .. } => " (--stream)",
        RunError::StreamTime { .. } => " (--time-budget)",
        RunError::NoSearch {
            detail: Detail::EachSource,
            ..
        } => " (--topology, --each)",
        RunError::NoSearch { .. } => " (--topology)",
        RunError::NoWeights { .. } => " (--unit-weights)",
        RunError::NoSource { .. } => " (--source N or --sources-file FILE)",
        RunError::WrongOption { option, .. } => match *option {
            "weighted" => " (--weighted)",
            "direction" => " (--direction)",
            "damping" => " (--damping)",
            "tolerance" => " (--tolerance)",
            "rule" => " (--rule)",
            "maximum" => " (--maximum)",
            "start weights" => " (--source N=WEIGHT)",
            _ => " (--normalized)",
        },
        RunError::WeightTooSmall { analysis, .. } if analysis.facts().weighs => " (--weighted)",
        RunError::WeightLost { .. } => " (--weighted)",
        RunError::NegativeCycle {
            is_undirected: true,
            ..
        } => " (--undirected)",
        RunError::NoIterations { .. } => " (--max-iterations)",
        RunError::CpuOnly { .. } => " (--backend cpu)",
        RunError::NoTime => " (--time-budget)",
        RunError::Program(error) => of_program(error),
        RunError::Backend(error) => of_backend(error),
        _ => "",
    }
}

/// As [`of_run`], of the analysis of a program.
pub(super) fn of_module(error: &ModuleError) -> &'static str {
    match error {
        ModuleError::TooManyFacts { .. } => " (--budget, --function-budget, --analysis)",
        ModuleError::TooManyPairs { .. } => " (--budget)",
        ModuleError::Graph(error) => of_graph(error),
        ModuleError::Run(error) => of_run(error),
        ModuleError::Program(error) => of_program(error),
        ModuleError::Backend(error) => of_backend(error),
        _ => "",
    }
}

pub(super) fn of_graph(error: &GraphError) -> &'static str {
    match error {
        GraphError::UnknownFormat { .. } | GraphError::OtherFormat { .. } => " (--format)",
        GraphError::UnknownSuffix { .. } => " (--to)",
        GraphError::TooManyEdges { .. } | GraphError::Directed { .. } => " (--undirected)",
        GraphError::Line {
            problem: LineProblem::Unsupported { what, .. },
            ..
        } if what.contains("weight") => " (--unit-weights, or convert --no-weights)",
        GraphError::Line {
            file,
            problem: LineProblem::MissingField { .. } | LineProblem::ExtraField { .. },
            ..
        } if file == "standard input" => " (METIS on standard input takes --format metis)",
        _ => "",
    }
}

/// Works as [`of_run`], for a batch.
pub(super) fn of_batch(error: &BatchError) -> &'static str {
    match error {
        BatchError::Graph { source, .. } | BatchError::Run(source) => of_run(source),
        BatchError::Load { source, .. } => of_graph(source),
        BatchError::OneAtATime { .. } => " (--backend)",
        BatchError::DetailOfOne { detail } => of_detail(*detail),
        _ => "",
    }
}

const fn of_detail(detail: Detail) -> &'static str {
    match detail {
        Detail::Parents => " (--parents or --target)",
        Detail::EachSource => " (--each)",
        _ => "",
    }
}

fn of_program(error: &ProgramError) -> &'static str {
    match error {
        ProgramError::Damping { .. } => " (--damping)",
        ProgramError::Tolerance { .. } => " (--tolerance)",
        ProgramError::OverBudget { .. } => " (--budget)",
        _ => "",
    }
}

fn of_backend(error: &BackendError) -> &'static str {
    match error {
        BackendError::Unavailable { .. } | BackendError::Unsupported { .. } => " (--backend cpu)",
        BackendError::OutOfMemory { .. } => " (--budget)",
        BackendError::TooManyThreads { .. } | BackendError::Threads { .. } => " (--threads)",
        BackendError::Fault { record, .. } => match FaultCode::from_word(record.code) {
            FaultCode::Watchdog | FaultCode::TimeBudget => " (--time-budget)",
            _ => "",
        },
        _ => "",
    }
}
