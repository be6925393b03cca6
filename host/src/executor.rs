//! The machines that can run a program, by name, and which of them a caller wants.

use serde::Serialize;
use std::fmt;
use std::num::NonZeroUsize;

/// A way to run a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Executor {
    /// One-lane blocks on threads of the CPU.
    Cpu,
    /// One launch a group on a GPU; the host decides when a loop ends.
    Launches,
    /// A CUDA graph of the same launches.
    Graph,
    /// One persistent cooperative kernel for the whole program.
    Mega,
}

impl Executor {
    /// Every executor.
    pub const ALL: [Self; 4] = [Self::Cpu, Self::Launches, Self::Graph, Self::Mega];

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

/// Run time that a machine allows unless the caller says otherwise, nanoseconds.
pub const TIME_BUDGET_NS: u64 = 60_000_000_000;

/// The machine that a caller wants, and what a run may take of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Machine {
    /// The executor; nothing takes the one that should be fastest here, by costs
    /// measured or assumed.
    pub executor: Option<Executor>,
    /// Number of the GPU.
    pub device: u32,
    /// Threads of the CPU; when not given, all of the machine's, or one where the choice
    /// is open and one should be faster.
    pub threads: Option<NonZeroUsize>,
    /// Device bytes that graph and groups may take; the device's memory when not given.
    pub budget_bytes: Option<u64>,
    /// Run time after which a kernel stops itself, nanoseconds.
    pub time_budget_ns: u64,
}

impl Machine {
    /// The machine that should be fastest here.
    #[must_use]
    pub const fn auto() -> Self {
        Self {
            executor: None,
            device: 0,
            threads: None,
            budget_bytes: None,
            time_budget_ns: TIME_BUDGET_NS,
        }
    }

    /// The CPU with `threads` threads, all of the machine's when not given.
    #[must_use]
    pub const fn cpu(threads: Option<NonZeroUsize>) -> Self {
        Self {
            executor: Some(Executor::Cpu),
            threads,
            ..Self::auto()
        }
    }

    /// An executor on GPU number `device`.
    #[must_use]
    pub const fn gpu(executor: Executor, device: u32) -> Self {
        Self {
            executor: Some(executor),
            device,
            ..Self::auto()
        }
    }
}

impl Default for Machine {
    fn default() -> Self {
        Self::auto()
    }
}
