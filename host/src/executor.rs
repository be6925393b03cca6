//! The machines that can run a program, by name, and a caller's choice among them.

use serde::Serialize;
use std::fmt;
use std::num::NonZeroUsize;

/// A machine and method for running a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Executor {
    /// One-lane blocks on CPU threads.
    Cpu,
    /// One launch per group on a GPU; the host decides when a loop ends.
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

    /// A few words for help.
    #[must_use]
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Cpu => "One-lane blocks on threads",
            Self::Launches => "One kernel launch per group",
            Self::Graph => "A CUDA graph",
            Self::Mega => "The persistent megakernel",
        }
    }

    /// Whether it runs on a GPU: it then has separate memory and costs.
    #[must_use]
    pub const fn is_on_gpu(self) -> bool {
        match self {
            Self::Cpu => false,
            Self::Launches | Self::Graph | Self::Mega => true,
        }
    }
}

impl fmt::Display for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Whether waves of code become machine code, on CPU threads and in kernels of a GPU, instead of being
/// interpreted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Jit {
    /// Compiled once the work is expected to pay for it.
    ///
    /// That is the expected work of a run, or the runs so far, if they take longer than compiling.
    #[default]
    Auto,
    /// Interpreted.
    Never,
    /// Compiled before the first run.
    Always,
}

impl Jit {
    /// Every policy.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Never, Self::Always];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Never => "never",
            Self::Always => "always",
        }
    }
}

/// Default time budget of a run, nanoseconds.
pub const TIME_BUDGET_NS: u64 = 60_000_000_000;

/// A caller's choice of machine, and the limits of a run on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Machine {
    /// The executor; `None` takes the one expected to be fastest here, by measured or assumed
    /// costs.
    pub executor: Option<Executor>,
    /// Number of the GPU.
    pub device: u32,
    /// CPU threads; by default all of the machine's, or one if the choice is open and one is
    /// expected to be faster.
    pub threads: Option<NonZeroUsize>,
    /// Device bytes for graph and groups; by default the device's memory.
    pub budget_bytes: Option<u64>,
    /// Time budget of a run, nanoseconds.
    pub time_budget_ns: u64,
    /// Whether waves of code become machine code. Results are the same.
    pub jit: Jit,
    /// Whether CPU threads take over a run that a persistent kernel has not ended in twice the time
    /// that they are expected to take: a GPU is slow where a search is deep and narrow.
    pub takeover: bool,
}

impl Machine {
    /// Returns the machine that is expected to be fastest here.
    #[must_use]
    pub const fn auto() -> Self {
        Self {
            executor: None,
            device: 0,
            threads: None,
            budget_bytes: None,
            time_budget_ns: TIME_BUDGET_NS,
            jit: Jit::Auto,
            takeover: true,
        }
    }

    /// Returns the CPU with `threads` threads, by default all of the machine's.
    #[must_use]
    pub const fn cpu(threads: Option<NonZeroUsize>) -> Self {
        Self {
            executor: Some(Executor::Cpu),
            threads,
            ..Self::auto()
        }
    }

    /// Returns an executor on GPU number `device`, from which no CPU threads take a run over.
    #[must_use]
    pub const fn gpu(executor: Executor, device: u32) -> Self {
        Self {
            executor: Some(executor),
            device,
            takeover: false,
            ..Self::auto()
        }
    }
}

impl Default for Machine {
    fn default() -> Self {
        Self::auto()
    }
}
