//! Choice of the machine of a job, with its reason, and its opening.
//!
//! Costs come from the user's calibration if there is one, else from the defaults. The reason in
//! the report has every number of the decision, and names a calibration that could not be used.

use super::cost_model::{LoadedCalibration, StepCosts};
use crate::backend::cpu::threads_or_all;
use crate::backend::cuda::DeviceLimits;
use crate::backend::{BackendError, Settings};
use crate::calibrate::{Forecast, Key, SearchTuning};
use crate::cost::Costs;
use crate::executor::{Executor, Machine};
use crate::run::RunRequest;
use std::fmt::Display;
use std::num::NonZeroUsize;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    /// Executor to open; `None` means the GPU, and the CPU if that fails.
    pub(crate) executor: Option<Executor>,
    /// CPU threads backend; all by default.
    pub(crate) threads: Option<NonZeroUsize>,
    pub(crate) reason: Option<String>,
    /// Limits of searches within one block, if the GPU's measured costs determine them.
    pub(crate) narrow: Option<Narrow>,
    /// Costs of a step of a search on the GPU, if one was searched for.
    pub(crate) step: Option<StepCosts>,
    /// Limits of searches, if they were tuned for the machine.
    pub(crate) search: Option<SearchTuning>,
    /// Settings of the GPU's session.
    pub(crate) settings: Settings,
}

/// Frontiers that one block searches alone, nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Narrow {
    /// Largest frontier at the start.
    pub(crate) enter: u32,
    /// Largest frontier to continue.
    pub(crate) leave: u32,
}

pub(crate) trait Predict {
    type Forecast: Forecast;

    /// Predicts it by the costs of threads and of a GPU with `units` multiprocessors.
    fn predict(&self, costs: &Costs, units: u32) -> Self::Forecast;

    /// Needs of its analysis that no GPU meets, besides weights.
    fn lacks_gpu(&self) -> Option<&'static str> {
        None
    }

    /// Adds to a choice what is known of the GPU of `key`.
    fn refine(&self, choice: Choice, _costs: &Costs, _key: &Key) -> Choice {
        choice
    }
}

/// Chooses for `request`. A caller's choice is kept; the reason then names a better one, if any. If
/// the CPU ends the job before a GPU would be open, no `probe` looks for one. `job` is not called if
/// nothing is left to choose, and returns `None` for an empty one.
pub(crate) fn choose<P: Predict>(
    request: &RunRequest,
    job: impl FnOnce() -> Option<P>,
    probe: impl FnOnce(u32) -> Result<DeviceLimits, BackendError>,
) -> Choice {
    let asked = Choice::asked(&request.machine);
    let found = LoadedCalibration::get();
    let is_cpu = asked.executor == Some(Executor::Cpu);
    let is_settled = is_cpu && asked.threads.is_some();
    let Some(job) = (!is_settled).then(job).flatten() else {
        return asked.tuned_for_threads();
    };
    let blind = job.predict(&found.costs(request, None), 1);
    let noted = |reason: Option<String>| reason.map(|reason| found.with_note(reason));
    let on_cpu = |forecast: &P::Forecast, reason| {
        let threads = asked.threads.or_else(|| forecast.threads());
        Choice::on_cpu(threads, noted(reason)).tuned_for_threads()
    };
    if is_cpu {
        return on_cpu(&blind, None);
    }
    let is_open = asked.executor.is_none();
    let weights = request.is_for_cpu().then_some("weights");
    if is_open && let Some(what) = weights.or_else(|| job.lacks_gpu()) {
        let reason = format!("no GPU has {} with {what}", request.analysis);
        return on_cpu(&blind, joined(Some(reason), blind.threads_reason()));
    }
    if is_open && blind.is_too_small_for_a_gpu() {
        return on_cpu(&blind, Some(blind.small_reason()));
    }
    let limits = match probe(request.machine.device) {
        Ok(limits) => limits,
        Err(error) if is_open => {
            let more = blind.threads_reason().filter(|_| asked.threads.is_none());
            return on_cpu(&blind, joined(Some(error.to_string()), more));
        }
        Err(_) => return asked,
    };
    let key = Key::of_device(&limits);
    let costs = found.costs(request, Some(&key));
    let forecast = job.predict(&costs, limits.info.units);
    let reason = match (is_open, forecast.is_for_gpu()) {
        (true, false) => return on_cpu(&forecast, Some(forecast.reason())),
        (true, true) => Some(forecast.reason()),
        (false, false) => Some(format!("{}; auto takes it", forecast.reason())),
        (false, true) => None,
    };
    let mut choice = job.refine(Choice { reason, ..asked }, &costs, &key);
    choice.reason = noted(choice.reason);
    choice
}

impl Choice {
    pub(crate) fn asked(machine: &Machine) -> Self {
        Self {
            executor: machine.executor,
            threads: machine.threads,
            ..Self::default()
        }
    }

    pub(crate) fn on_cpu(threads: Option<NonZeroUsize>, reason: Option<String>) -> Self {
        Self {
            executor: Some(Executor::Cpu),
            threads,
            reason,
            ..Self::default()
        }
    }

    /// Returns the same choice with the limits that were tuned for its threads.
    fn tuned_for_threads(self) -> Self {
        let calibration = &LoadedCalibration::get().calibration;
        let search = calibration.cpu_tuning(threads_or_all(self.threads));
        Self { search, ..self }
    }

    /// Returns the same choice for the executor that opened: the CPU if the GPU failed to open.
    pub(crate) fn opened(self, executor: Executor) -> Self {
        Self {
            executor: Some(executor),
            step: self.step.filter(|_| executor.is_on_gpu()),
            ..self
        }
    }

    /// Opens its executor by `open`. If it is open itself, that is a GPU, or the CPU, for the reason
    /// that no GPU opens.
    pub(crate) fn open<S, E: Display>(
        &self,
        mut open: impl FnMut(Executor) -> Result<S, E>,
    ) -> Result<Opened<S>, E> {
        let mut opened = |executor, reason| {
            open(executor).map(|session| Opened {
                session,
                executor,
                reason,
            })
        };
        let reason = self.reason.clone();
        match self.executor {
            Some(executor) => opened(executor, reason),
            None => opened(Executor::Mega, reason)
                .or_else(|error| opened(Executor::Cpu, Some(error.to_string()))),
        }
    }
}

/// An open machine, and the reason of an open choice.
pub(crate) struct Opened<S> {
    pub(crate) session: S,
    pub(crate) executor: Executor,
    pub(crate) reason: Option<String>,
}

/// Joins two optional reasons.
pub(crate) fn joined(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(format!("{first}; {second}")),
        (first, second) => first.or(second),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_reasons_become_one_sentence() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(joined(text("a"), text("b")), text("a; b"));
        assert_eq!(joined(None, text("b")), text("b"));
        assert_eq!(joined(text("a"), None), text("a"));
    }
}
