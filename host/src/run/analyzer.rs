//! A graph that stays on its machine for many requests.

use super::resident::Resident;
use super::single::Single;
use super::{Phase, RunError, RunRequest};
use crate::Cause;
use crate::backend::{BackendError, Canceller, Session};
use crate::executor::Executor;
use crate::graph::Graph;
use crate::job::drive;
use crate::outcome::RunOutcome;
use crate::program::PlanCache;
use crate::spans;

/// A resident graph that answers many requests.
///
/// The first request opens its machine and uploads the graph. Later ones for the same machine
/// reuse the graph there. A request whose program differs from the last one only in its inputs,
/// such as a search from other sources, also reuses the program; programs of earlier requests are
/// not planned again. A request for another machine opens that one. If the choice is open, the
/// first request decides for all later ones.
///
/// ```
/// use seawall::graph::Graph;
/// use seawall::run::{AnalysisKind, Analyzer, Machine, RunRequest};
///
/// let path = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)], false)?;
/// let mut analyzer = Analyzer::new(&path);
/// let mut reached = Vec::new();
/// for source in 0..4 {
///     let request = RunRequest::new(AnalysisKind::Bfs, vec![source]).on(Machine::cpu(None));
///     reached.push(analyzer.run(&request)?.reached);
/// }
/// assert_eq!(reached, [4, 3, 2, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Analyzer<'g> {
    pub(super) graph: &'g Graph,
    /// The graph on its machine, and with shortcuts.
    pub(super) residents: [Option<Resident<'g>>; 2],
    pub(super) plans: PlanCache,
    pub(super) canceller: Canceller,
    /// Devices that share programs, in place of a machine, until they are open.
    pub(super) devices: Option<Opener<'g>>,
}

/// The executor of devices that share programs, and the function that opens them with a graph.
pub(crate) type Opener<'g> = (Executor, Box<OpenDevices<'g>>);

type OpenDevices<'g> =
    dyn FnOnce(&'g Graph) -> Result<Box<dyn Session + 'g>, BackendError> + Send + 'g;

impl<'g> Analyzer<'g> {
    /// Opens nothing before the first request.
    #[must_use]
    pub fn new(graph: &'g Graph) -> Self {
        Self {
            graph,
            residents: [None, None],
            plans: PlanCache::default(),
            canceller: Canceller::default(),
            devices: None,
        }
    }

    /// Returns the same analyzer on devices that share the programs of its requests, which
    /// `canceller` ends.
    pub(crate) fn on_devices(self, devices: Opener<'g>, canceller: &Canceller) -> Self {
        Self {
            devices: Some(devices),
            canceller: canceller.of_session(),
            ..self
        }
    }

    /// Returns the same analyzer with other plans, such as those of an earlier analyzer. Plans are
    /// for one graph and machine: they serve an equal graph, and are evicted for others.
    #[must_use]
    pub fn with_plans(self, plans: PlanCache) -> Self {
        Self { plans, ..self }
    }

    /// Ends runs of this analyzer from another thread.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// Runs `request`.
    ///
    /// Without `repeat` the program runs once; with it, times are medians and the result is that
    /// of the last run. The time of the upload is that of this request.
    ///
    /// # Errors
    /// As [`RunRequest::check_for`]; if the plan does not fit the budget, or the machine fails,
    /// which closes it; [`BackendError::Cancelled`] if the [`Canceller`] ended it.
    pub fn run(&mut self, request: &RunRequest) -> Result<RunOutcome, RunError> {
        self.run_with_progress(request, &mut |_| ())
    }

    /// Runs `request` as [`run`](Self::run), and calls `progress` at the start of each phase.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_with_progress(
        &mut self,
        request: &RunRequest,
        progress: &mut dyn FnMut(Phase),
    ) -> Result<RunOutcome, RunError> {
        let span = spans::run("one machine", self.graph, request);
        let outcome = drive(span, request, progress, |job| Single::prepare(self, job));
        if outcome.as_ref().is_err_and(has_failed) {
            self.residents = [None, None];
        }
        outcome
    }
}

/// Runs `request` on `graph`.
///
/// Without `repeat` the program runs once; with it, times are medians and the result is that of
/// the last run.
///
/// # Errors
/// As [`RunRequest::check_for`]; if the plan does not fit the budget, or the machine fails.
pub fn execute(graph: &Graph, request: &RunRequest) -> Result<RunOutcome, RunError> {
    Analyzer::new(graph).run(request)
}

/// Runs `request` on `graph` as [`execute`], and calls `progress` at the start of each phase.
///
/// # Errors
/// As [`execute`].
pub fn execute_with_progress(
    graph: &Graph,
    request: &RunRequest,
    progress: &mut dyn FnMut(Phase),
) -> Result<RunOutcome, RunError> {
    Analyzer::new(graph).run_with_progress(request, progress)
}

/// Returns whether the machine failed, so that its memory cannot be trusted.
fn has_failed(error: &RunError) -> bool {
    match error {
        RunError::Backend(BackendError::Cancelled) => false,
        error => error.cause() == Cause::Failure,
    }
}

#[cfg(test)]
#[path = "takeover_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "shortcuts_tests.rs"]
mod shortcuts_tests;
