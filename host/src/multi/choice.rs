//! Devices as a user names them, and the run on them or on the one that is faster.

use super::Devices;
use super::execute::{execute_with, reason_for_one};
use super::programs::open_session;
use crate::backend::cpu::threads_or_all;
use crate::backend::{BackendError, Session};
use crate::executor::{Executor, Machine};
use crate::graph::Graph;
use crate::job::choose::joined;
use crate::outcome::RunOutcome;
use crate::run::{Analyzer, Phase, RunError, RunRequest};
use seawall_core::abi::multi::DEVICES_MAX;
use std::fmt;
use std::str::FromStr;

/// Devices by name: `0,1` or `all`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// All GPUs of the host, if several are faster for the request; on the CPU as many simulated
    /// devices as threads.
    All,
    /// These GPUs; on the CPU as many simulated devices.
    Numbers(Vec<u32>),
}

/// A text that names no devices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is no number of a device; name some, such as 0,1, or all")]
#[non_exhaustive]
pub struct NoDevice {
    /// The word.
    pub word: String,
}

impl FromStr for DeviceChoice {
    type Err = NoDevice;

    fn from_str(text: &str) -> Result<Self, NoDevice> {
        if text == "all" {
            return Ok(Self::All);
        }
        let number = |word: &str| {
            let word = word.trim();
            word.parse().map_err(|_| NoDevice {
                word: word.to_owned(),
            })
        };
        let numbers: Result<_, _> = text.split(',').map(number).collect();
        numbers.map(Self::Numbers)
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Numbers(numbers) => {
                let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
                f.write_str(&words.join(","))
            }
        }
    }
}

const NONE_THERE: &str = "there is no GPU";

impl DeviceChoice {
    /// Runs a request on the devices, or by `analyzer` on one: if all were named, no backend was, and
    /// one is faster or none is there. The outcome has the reason.
    ///
    /// # Errors
    /// As [`execute_with`].
    pub fn execute(
        &self,
        graph: &Graph,
        request: &RunRequest,
        analyzer: &mut Analyzer<'_>,
        progress: &mut dyn FnMut(Phase),
    ) -> Result<RunOutcome, RunError> {
        let is_open = request.machine.executor.is_none() && *self == Self::All;
        let devices = self.devices(request)?;
        let why = match &devices {
            Some(devices) => reason_for_one(graph, request, devices)?.filter(|_| is_open),
            None => Some(NONE_THERE.to_owned()),
        };
        let Some((devices, None)) = devices.map(|devices| (devices, why.clone())) else {
            let mut outcome = analyzer.run_with_progress(request, progress)?;
            outcome.backend_reason = joined(why, outcome.backend_reason);
            return Ok(outcome);
        };
        let canceller = analyzer.canceller();
        execute_with(graph, request, &devices, &canceller, progress)
    }

    /// Opens a session of programs on the devices, simulated ones unless the backend is named.
    ///
    /// # Errors
    /// As [`open_session`].
    pub fn open_session<'g>(
        &self,
        graph: &'g Graph,
        machine: &Machine,
    ) -> Result<Box<dyn Session + 'g>, BackendError> {
        let devices = match (Self::program_executor(machine), self) {
            (Executor::Cpu, _) => self.simulated(machine),
            (_, Self::Numbers(numbers)) => Devices::Gpus(numbers.clone()),
            (_, Self::All) => Devices::all_gpus()?,
        };
        open_session(graph, machine, &devices)
    }

    /// The executor of programs on several devices: GPUs, whose host launches each group, if the backend
    /// is one of a GPU.
    #[must_use]
    pub fn program_executor(machine: &Machine) -> Executor {
        match machine.executor {
            None | Some(Executor::Cpu) => Executor::Cpu,
            Some(_) => Executor::Launches,
        }
    }

    /// As many devices of the CPU, which share its threads.
    fn simulated(&self, machine: &Machine) -> Devices {
        let all = threads_or_all(machine.threads);
        let count = match self {
            Self::All => all.min(DEVICES_MAX as u32),
            Self::Numbers(numbers) => numbers.len() as u32,
        };
        let threads = (all / count.max(1)).max(1);
        Devices::Simulated { count, threads }
    }

    /// The devices for a request; `None` if all were named and there is no GPU.
    ///
    /// # Errors
    /// [`RunError::CannotSplit`] if the backend has one device; [`BackendError::Unavailable`] if GPUs were
    /// asked for and there is none.
    pub fn devices(&self, request: &RunRequest) -> Result<Option<Devices>, RunError> {
        let machine = request.machine;
        match machine.executor {
            Some(Executor::Cpu) => Ok(Some(self.simulated(&machine))),
            None | Some(Executor::Mega) => match self {
                Self::Numbers(numbers) => Ok(Some(Devices::Gpus(numbers.clone()))),
                Self::All => match Devices::all_gpus() {
                    Err(BackendError::Unavailable { .. }) if machine.executor.is_none() => Ok(None),
                    found => Ok(Some(found?)),
                },
            },
            Some(executor) => Err(RunError::CannotSplit {
                analysis: request.analysis,
                what: format!(
                    "the backend {executor} has one device; mega has several, and cpu simulates some"
                ),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices_are_read_and_shown() {
        assert_eq!("all".parse(), Ok(DeviceChoice::All));
        let some = DeviceChoice::Numbers(vec![0, 3]);
        assert_eq!("0, 3".parse(), Ok(some.clone()));
        assert_eq!(some.to_string(), "0,3");
        let wrong = "0,x".parse::<DeviceChoice>().unwrap_err();
        assert_eq!(wrong.word, "x");
    }
}
