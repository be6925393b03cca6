//! Options that choose which loops and parallel edges of a graph are taken.

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use seawall::graph::{Form, Loops, Parallel};

#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = crate::reading::READING)]
pub(super) struct FormArgs {
    /// Edges from a node to itself [default: as the analysis asks for; kept by convert and
    /// programs].
    #[arg(long, value_enum, value_name = "HOW", hide_short_help = true)]
    loops: Option<LoopsName>,
    /// Edges with the same ends [default: as the analysis asks for; kept by convert and programs].
    #[arg(long, value_enum, value_name = "HOW", hide_short_help = true)]
    parallel: Option<ParallelName>,
}

/// A choice of loops by name.
#[derive(Clone, Copy, Debug)]
struct LoopsName(Loops);

/// A choice of parallel edges by name.
#[derive(Clone, Copy, Debug)]
struct ParallelName(Parallel);

impl ValueEnum for LoopsName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [LoopsName; Loops::ALL.len()] =
            [LoopsName(Loops::ALL[0]), LoopsName(Loops::ALL[1])];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self.0 {
            Loops::Keep => "They stay",
            Loops::Drop => "They go",
        };
        Some(PossibleValue::new(self.0.name()).help(help))
    }
}

impl ValueEnum for ParallelName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [ParallelName; Parallel::ALL.len()] = [
            ParallelName(Parallel::ALL[0]),
            ParallelName(Parallel::ALL[1]),
            ParallelName(Parallel::ALL[2]),
            ParallelName(Parallel::ALL[3]),
            ParallelName(Parallel::ALL[4]),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self.0 {
            Parallel::Keep => "All stay",
            Parallel::First => "The first one listed stays",
            Parallel::Least => "The lightest one stays",
            Parallel::Greatest => "The heaviest one stays",
            Parallel::Sum => "One stays, with the sum of their weights, or their number",
        };
        Some(PossibleValue::new(self.0.name()).help(help))
    }
}

impl FormArgs {
    /// The requested choice of loops, if any.
    pub(super) fn loops(&self) -> Option<Loops> {
        self.loops.map(|name| name.0)
    }

    /// The requested choice of parallel edges, if any.
    pub(super) fn parallel(&self) -> Option<Parallel> {
        self.parallel.map(|name| name.0)
    }

    /// The form for commands that take a graph as read by default.
    pub(super) fn form(&self) -> Form {
        Form {
            loops: self.loops().unwrap_or_default(),
            parallel: self.parallel().unwrap_or_default(),
        }
    }

    /// Whether parallel edges have to stay in the order listed.
    pub(super) fn listed_order(&self) -> bool {
        self.parallel() == Some(Parallel::First)
    }
}
