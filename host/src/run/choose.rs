//! Which machine takes a run, and why.
//!
//! Costs come from the user's calibration where there is one, else from the
//! defaults. Every number of the decision is in the reason that the report
//! shows; a calibration that cannot be used is named there too.

use super::{AnalysisKind, BackendChoice, RunRequest};
use crate::backend::cpu::available_threads;
use crate::backend::{BackendError, cuda};
use crate::calibrate::sample::sample;
use crate::calibrate::{Calibration, Costs, Job, Key, Machine, Prediction, Tally, predict};
use crate::graph::Graph;
use seawall_core::abi::search::SearchPolicy;
use std::num::NonZeroUsize;

/// Narrowest limit that a calibration may set for searches within one block,
/// nodes: below a warp's width there is nothing to gain.
const NARROW_NODES_MIN: u32 = 32;

/// The machine of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// What to open; `Auto` means the GPU, and the CPU should that fail.
    pub(super) backend: BackendChoice,
    /// Threads of the CPU backend; all when not given.
    pub(super) threads: Option<NonZeroUsize>,
    /// Why, or what would be better.
    pub(super) reason: Option<String>,
    /// Limits of searches within one block, where the GPU's measured costs
    /// say so.
    pub(super) narrow: Option<Narrow>,
}

/// Frontiers that one block searches alone, nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Narrow {
    /// Largest that it starts with.
    pub(super) enter: u32,
    /// Largest that it keeps.
    pub(super) leave: u32,
}

/// Chooses for `request`. A choice that the caller made stays as it is; the
/// reason then says when another would be better.
pub(super) fn choose(graph: &Graph, request: &RunRequest) -> Choice {
    let asked = Choice {
        backend: request.backend,
        threads: request.threads,
        reason: None,
        narrow: None,
    };
    if request.backend == BackendChoice::Cpu {
        return asked;
    }
    let device = key_of(request.device);
    let found = Found::load();
    let prediction = found.predict(graph, request, device.as_ref().ok());
    let narrow = device
        .as_ref()
        .ok()
        .and_then(|key| found.calibration.gpu(key)?.crossing_nodes())
        .map(Narrow::at);
    let reason = match &device {
        Err(error) if request.backend == BackendChoice::Auto => {
            return Choice {
                backend: BackendChoice::Cpu,
                threads: threads(request, &prediction),
                reason: Some(found.with_note(without_gpu(error, request, &prediction))),
                ..asked
            };
        }
        Err(_) => return asked,
        Ok(_) => prediction.reason(),
    };
    let on_gpu = prediction.best() == Machine::Gpu;
    match (request.backend, on_gpu) {
        (BackendChoice::Auto, false) => Choice {
            backend: BackendChoice::Cpu,
            threads: threads(request, &prediction),
            reason: Some(found.with_note(reason)),
            ..asked
        },
        (BackendChoice::Auto, true) => Choice {
            reason: Some(found.with_note(reason)),
            narrow,
            ..asked
        },
        (_, false) => Choice {
            reason: Some(found.with_note(format!("{reason}; --backend auto takes it"))),
            narrow,
            ..asked
        },
        (_, true) => Choice { narrow, ..asked },
    }
}

/// Name and driver of a GPU.
fn key_of(ordinal: u32) -> Result<Key, BackendError> {
    let devices = cuda::probe()?;
    let limits = devices.iter().find(|limits| limits.ordinal == ordinal);
    limits
        .map(Key::of_device)
        .ok_or_else(|| BackendError::Unavailable {
            reason: format!(
                "there is no device {ordinal}; {} are visible, numbered from 0",
                devices.len()
            ),
        })
}

fn without_gpu(error: &BackendError, request: &RunRequest, prediction: &Prediction) -> String {
    if request.threads.is_some() {
        return error.to_string();
    }
    format!("{error}; {}", prediction.threads_reason())
}

/// The caller's threads, or one where more would only meet at barriers.
fn threads(request: &RunRequest, prediction: &Prediction) -> Option<NonZeroUsize> {
    let narrow = prediction.best_cpu() == Machine::OneThread;
    request.threads.or(narrow.then_some(NonZeroUsize::MIN))
}

impl Narrow {
    /// Limits for the width at which block and grid cost the same, never wider
    /// than the default ones. A block starts a little below, so that a frontier
    /// that hovers there does not change hands each level.
    fn at(crossing: f64) -> Self {
        let default = SearchPolicy::default();
        let enter = ((crossing * 0.875) as u32).min(default.narrow_nodes);
        let enter = enter.max(NARROW_NODES_MIN);
        let leave = (crossing as u32).min(default.narrow_exit_nodes).max(enter);
        Self { enter, leave }
    }
}

/// The calibration, and why there is none when one was there.
struct Found {
    calibration: Calibration,
    ignored: Option<String>,
}

impl Found {
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

    fn with_note(&self, reason: String) -> String {
        match &self.ignored {
            Some(why) => format!("{reason}; the calibration was ignored: {why}"),
            None => reason,
        }
    }

    fn predict(&self, graph: &Graph, request: &RunRequest, device: Option<&Key>) -> Prediction {
        let threads = request.threads.unwrap_or_else(available_threads).get();
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        let Costs { mut cpu, gpu } = self.calibration.costs(threads, device);
        if request.threads.is_some() {
            cpu.one = cpu.all;
        }
        predict(&job(graph, request), &Costs { cpu, gpu })
    }
}

/// The request in the terms of costs.
fn job(graph: &Graph, request: &RunRequest) -> Job {
    let searches = matches!(
        request.analysis,
        AnalysisKind::Bfs | AnalysisKind::Reach | AnalysisKind::Sssp
    );
    Job {
        analysis: request.analysis,
        nodes: f64::from(graph.nodes()),
        edges: f64::from(graph.edges()),
        can_pull: graph.is_symmetric(),
        tally: if searches {
            sample(graph, &request.sources)
        } else {
            Tally::default()
        },
        ranking: request.ranking,
        max_iterations: request
            .max_iterations
            .map_or(f64::INFINITY, |limit| f64::from(limit.get())),
        repeat: f64::from(request.repeat.get()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Graph {
        let edges: Vec<(u32, u32)> = (0..500).map(|node| (node, node + 1)).collect();
        Graph::from_edges(501, &edges, true).unwrap()
    }

    #[test]
    fn a_choice_that_the_caller_made_stays() {
        for backend in [
            BackendChoice::Cpu,
            BackendChoice::Mega,
            BackendChoice::Launches,
            BackendChoice::Graph,
        ] {
            let request = RunRequest {
                backend,
                threads: NonZeroUsize::new(3),
                ..RunRequest::new(AnalysisKind::Bfs, vec![0])
            };
            let choice = choose(&grid(), &request);
            assert_eq!((choice.backend, choice.threads), (backend, request.threads));
        }
    }

    #[test]
    fn auto_without_that_gpu_takes_the_cpu_with_one_thread_for_a_path() {
        let request = RunRequest {
            device: u32::MAX,
            ..RunRequest::new(AnalysisKind::Bfs, vec![0])
        };
        let choice = choose(&grid(), &request);
        assert_eq!(choice.backend, BackendChoice::Cpu);
        assert_eq!(choice.threads, Some(NonZeroUsize::MIN));
        let reason = choice.reason.unwrap();
        assert!(reason.starts_with("no usable CUDA device"), "{reason}");
        assert!(reason.contains("one thread is"), "{reason}");
    }

    #[test]
    fn threads_that_the_caller_named_stay_under_auto() {
        let request = RunRequest {
            device: u32::MAX,
            threads: NonZeroUsize::new(3),
            ..RunRequest::new(AnalysisKind::Bfs, vec![0])
        };
        assert_eq!(choose(&grid(), &request).threads, request.threads);
    }

    #[test]
    fn limits_of_one_block_stay_between_a_warp_and_the_default() {
        let default = SearchPolicy::default();
        let widest = Narrow {
            enter: default.narrow_nodes,
            leave: default.narrow_exit_nodes,
        };
        assert_eq!(Narrow::at(1e12), widest);
        assert_eq!(
            Narrow::at(0.0),
            Narrow {
                enter: 32,
                leave: 32
            }
        );
        assert_eq!(
            Narrow::at(400.0),
            Narrow {
                enter: 350,
                leave: 400
            }
        );
    }
}
