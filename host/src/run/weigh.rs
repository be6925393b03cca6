//! Inputs of the choice of a machine: costs, devices, jobs.

use super::RunRequest;
use crate::backend::cpu::available_threads;
use crate::backend::cuda::DeviceLimits;
use crate::backend::{BackendError, cuda};
use crate::calibrate::sample::sample;
use crate::calibrate::{Calibration, Key};
use crate::cost::{Costs, Job, Tally};
use crate::graph::Graph;
use std::sync::OnceLock;

/// The calibration, or the reason why an existing one is not used.
pub(crate) struct Found {
    pub(super) calibration: Calibration,
    ignored: Option<String>,
}

impl Found {
    /// Returns the user's calibration, read once per process: looking for the file takes longer
    /// than a small job.
    pub(crate) fn get() -> &'static Self {
        static FOUND: OnceLock<Found> = OnceLock::new();
        FOUND.get_or_init(Self::load)
    }

    fn load() -> Self {
        match Calibration::load() {
            Ok(found) => Self {
                calibration: found.unwrap_or_default(),
                ignored: None,
            },
            Err(error) => Self {
                calibration: Calibration::default(),
                ignored: Some(error.to_string()),
            },
        }
    }

    /// Adds to `reason` that a calibration was not used.
    pub(crate) fn with_note(&self, reason: String) -> String {
        match &self.ignored {
            Some(why) => format!("{reason}; the calibration was ignored: {why}"),
            None => reason,
        }
    }

    /// Returns the costs of the threads that `request` may use, and of a GPU.
    pub(crate) fn costs(&self, request: &RunRequest, device: Option<&Key>) -> Costs {
        let threads = request
            .machine
            .threads
            .unwrap_or_else(available_threads)
            .get();
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        self.calibration.costs(threads, device)
    }
}

/// Returns the limits of the GPU with that number.
pub(crate) fn limits_of(ordinal: u32) -> Result<DeviceLimits, BackendError> {
    let devices = cuda::probe()?;
    let visible = devices.len();
    let limits = devices.into_iter().find(|limits| limits.ordinal == ordinal);
    limits.ok_or_else(|| BackendError::Unavailable {
        reason: format!("there is no device {ordinal}; {visible} are visible, numbered from 0"),
    })
}

/// Returns the request as a job; a search is sampled for `edges` edges.
pub(crate) fn job(graph: &Graph, request: &RunRequest, edges: u64) -> Job {
    let analysis = request.analysis.room();
    let facts = analysis.facts();
    let limit = request.max_iterations.map(|limit| f64::from(limit.get()));
    let rounds = analysis.rounds_foreseen(request.ranking);
    Job {
        nodes: f64::from(graph.nodes()),
        edges: f64::from(graph.edges()),
        weighted: facts.reads_weights,
        can_pull: graph.is_symmetric(),
        tally: if facts.takes_sources {
            sample(graph, &request.sources, edges)
        } else {
            Tally::default()
        },
        sources: request.sources().len() as f64,
        rounds: rounds.clamp(1.0, limit.unwrap_or(f64::INFINITY)),
        repeat: f64::from(request.repeat.get()),
    }
}
