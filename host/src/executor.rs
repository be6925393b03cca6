//! The machines that can run a program, by name.

use serde::Serialize;
use std::fmt;

/// The executor that a caller wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BackendChoice {
    /// The one that should be fastest here, by costs measured or assumed.
    #[default]
    Auto,
    /// One-lane blocks on threads.
    Cpu,
    /// A kernel launch a group.
    Launches,
    /// A CUDA graph.
    Graph,
    /// The persistent megakernel.
    Mega,
}

/// The executor that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Executor {
    /// One-lane blocks on threads.
    Cpu,
    /// A kernel launch a group.
    Launches,
    /// A CUDA graph.
    Graph,
    /// The persistent megakernel.
    Mega,
}

impl Executor {
    /// The name on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Launches => "launches",
            Self::Graph => "graph",
            Self::Mega => "mega",
        }
    }
}

impl fmt::Display for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
