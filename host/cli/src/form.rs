//! Options that choose which loops and parallel edges of a graph are taken.

use clap::Args;
use seawall::graph::{Form, Loops, Parallel};

#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = crate::reading::READING)]
pub(super) struct FormArgs {
    /// Edges from a node to itself [default: as the analysis asks for; kept by convert and
    /// programs].
    #[arg(long, value_name = "HOW", hide_short_help = true)]
    pub(super) loops: Option<Loops>,
    /// Edges with the same ends [default: as the analysis asks for; kept by convert and programs].
    #[arg(long, value_name = "HOW", hide_short_help = true)]
    pub(super) parallel: Option<Parallel>,
}

impl FormArgs {
    /// The form for commands that take a graph as read by default.
    pub(super) fn form(&self) -> Form {
        Form {
            loops: self.loops.unwrap_or_default(),
            parallel: self.parallel.unwrap_or_default(),
        }
    }

    /// Whether parallel edges have to stay in the order listed.
    pub(super) fn listed_order(&self) -> bool {
        self.parallel == Some(Parallel::First)
    }
}
