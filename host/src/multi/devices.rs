//! Devices of a run.

use crate::backend::{BackendError, cuda};
use crate::executor::{Executor, Machine};
use crate::units::counted;
use seawall_core::abi::multi::DEVICES_MAX;

/// Devices of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Devices {
    /// GPUs of this host, by their numbers, each once.
    Gpus(Vec<u32>),
    /// Devices that CPU threads simulate, with this many threads each.
    Simulated {
        /// Devices.
        count: u32,
        /// Threads of each.
        threads: u32,
    },
}

impl Devices {
    /// GPUs of this host, by their numbers.
    #[must_use]
    pub const fn gpus(numbers: Vec<u32>) -> Self {
        Self::Gpus(numbers)
    }

    /// Devices that CPU threads simulate.
    #[must_use]
    pub const fn simulated(count: u32, threads: u32) -> Self {
        Self::Simulated { count, threads }
    }

    /// As many ranks as this one, whose device is the GPU of `machine` if its executor is one of a GPU,
    /// else that many threads.
    pub(super) fn of_ranks(count: u32, machine: &Machine, threads: u32) -> Self {
        match machine.executor.is_some_and(Executor::is_on_gpu) {
            true => Self::Gpus(vec![machine.device; count as usize]),
            false => Self::simulated(count, threads.max(1)),
        }
    }

    /// All GPUs of this host.
    ///
    /// # Errors
    /// As [`cuda::probe`].
    pub fn all_gpus() -> Result<Self, BackendError> {
        let found = cuda::probe()?.len().min(DEVICES_MAX) as u32;
        Ok(Self::Gpus((0..found).collect()))
    }

    /// Their number.
    #[must_use]
    pub fn count(&self) -> u32 {
        match self {
            Self::Gpus(numbers) => numbers.len() as u32,
            Self::Simulated { count, .. } => *count,
        }
    }

    /// Threads of each simulated device.
    pub(super) const fn threads(&self) -> u32 {
        match self {
            Self::Gpus(_) => 1,
            Self::Simulated { threads, .. } => *threads,
        }
    }

    pub(super) const fn executor(&self) -> Executor {
        match self {
            Self::Gpus(_) => Executor::Mega,
            Self::Simulated { .. } => Executor::Cpu,
        }
    }

    /// The name of all, by that of one.
    pub(super) fn name(&self, one: &str) -> String {
        match self {
            Self::Gpus(numbers) => format!("{} x {one}", numbers.len()),
            Self::Simulated { count, .. } => {
                let devices = counted((*count).into(), "simulated device");
                format!("{devices} of {one}")
            }
        }
    }

    pub(super) fn numbers(&self) -> Vec<u32> {
        match self {
            Self::Gpus(numbers) => numbers.clone(),
            Self::Simulated { .. } => Vec::new(),
        }
    }
}
