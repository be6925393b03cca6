//! Option `--devices`: several GPUs, or devices that threads simulate.

use crate::error::CliError;
use seawall::backend::BackendError;
use seawall::backend::cpu::available_threads;
use seawall::graph::Graph;
use seawall::multi::{self, Devices};
use seawall::outcome::RunOutcome;
use seawall::run::{Executor, Phase, RunError, RunRequest, execute_with_progress};
use std::str::FromStr;

/// Devices as they are named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DeviceList {
    /// All GPUs of the host, or as many simulated devices as threads.
    All,
    /// These.
    Numbers(Vec<u32>),
}

impl FromStr for DeviceList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        let number = |word: &str| {
            word.trim().parse().map_err(|_| {
                format!("{word:?} is no number of a device; name some, such as 0,1, or all")
            })
        };
        text.split(',')
            .map(number)
            .collect::<Result<_, _>>()
            .map(Self::Numbers)
    }
}

impl DeviceList {
    /// Runs a request on the devices, or on one if the choice is open and one is faster.
    pub(super) fn execute(
        &self,
        graph: &Graph,
        request: &RunRequest,
        progress: &mut dyn FnMut(Phase),
    ) -> Result<RunOutcome, CliError> {
        let Some(devices) = self.devices(request)? else {
            let mut outcome = execute_with_progress(graph, request, progress)?;
            outcome.backend_reason = Some(outcome.backend_reason.map_or_else(
                || NONE_THERE.to_owned(),
                |why| format!("{NONE_THERE}; {why}"),
            ));
            return Ok(outcome);
        };
        let is_open = request.machine.executor.is_none() && *self == Self::All;
        if let Some(why) = multi::reason_for_one(graph, request, &devices)?.filter(|_| is_open) {
            let mut outcome = execute_with_progress(graph, request, progress)?;
            outcome.backend_reason = Some(
                outcome
                    .backend_reason
                    .map_or_else(|| why.clone(), |more| format!("{why}; {more}")),
            );
            return Ok(outcome);
        }
        let canceller = seawall::backend::Canceller::default();
        Ok(multi::execute_with(
            graph, request, &devices, &canceller, progress,
        )?)
    }

    /// The devices; `None` if all were named and there is no GPU.
    fn devices(&self, request: &RunRequest) -> Result<Option<Devices>, CliError> {
        let machine = request.machine;
        match machine.executor {
            Some(Executor::Cpu) => {
                let all = machine.threads.unwrap_or_else(available_threads).get() as u32;
                let count = match self {
                    Self::All => all,
                    Self::Numbers(numbers) => numbers.len() as u32,
                };
                let threads = (all / count.max(1)).max(1);
                Ok(Some(Devices::Simulated { count, threads }))
            }
            None | Some(Executor::Mega) => match self {
                Self::Numbers(numbers) => Ok(Some(Devices::Gpus(numbers.clone()))),
                Self::All => match Devices::all_gpus() {
                    Err(BackendError::Unavailable { .. }) if machine.executor.is_none() => Ok(None),
                    found => Ok(Some(found.map_err(RunError::Backend)?)),
                },
            },
            Some(executor) => Err(RunError::CannotSplit {
                analysis: request.analysis,
                what: format!(
                    "the backend {executor} has one device; mega has several, and cpu simulates some"
                ),
            }
            .into()),
        }
    }
}

const NONE_THERE: &str = "there is no GPU";
