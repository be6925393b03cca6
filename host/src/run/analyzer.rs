//! A graph that stays on its machine for many requests.

use super::choose::Choice;
use super::execute::{Answer, Submission, barriers};
use super::explain::explain;
use super::forecast::Ledger;
use super::opened::Opened;
use super::plan::{Target, memory_of};
use super::planned::Planned;
use super::takeover::{self, Patience};
use super::{Machine, Phase, RunError, RunRequest, steps};
use crate::Cause;
use crate::analysis::AnalysisKind;
use crate::backend::{BackendError, Canceller, SessionWork};
use crate::graph::Graph;
use crate::outcome::{Dropped, RunOutcome, Taken, Times, waves};
use crate::program::PlanCache;
use crate::spans;
use crate::units::elapsed_ns;
use std::time::Instant;

/// A resident graph that answers many requests.
///
/// The first request opens its machine and uploads the graph. Later ones for the same [`Machine`]
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
    graph: &'g Graph,
    /// The graph on its machine, and with shortcuts.
    residents: [Option<Resident<'g>>; 2],
    plans: PlanCache,
    canceller: Canceller,
}

/// The machines that hold the graph.
pub(super) struct Resident<'g> {
    /// The requested machine.
    pub(super) asked: Machine,
    /// The form of the graph that is on it.
    pub(super) graph: &'g Graph,
    main: Station<'g>,
    /// CPU threads that took over runs, and the analyses that they run.
    takeover: Option<(Station<'g>, Vec<AnalysisKind>)>,
}

/// A machine that holds the graph.
pub(super) struct Station<'g> {
    pub(super) opened: Opened<'g>,
    /// The target of plans for the machine.
    pub(super) target: Target,
    /// The loaded program.
    pub(super) loaded: Option<Planned>,
    patience: Patience,
}

impl<'g> Station<'g> {
    /// Opens the chosen machine, whose runs `canceller` ends.
    fn open(
        submission: &mut Submission<'g, '_>,
        choice: Choice,
        canceller: Canceller,
    ) -> Result<Self, RunError> {
        let mut opened = submission.open(choice.clone())?;
        opened.session.cancel_by(canceller);
        Ok(Self {
            target: Target::of(submission.request, &choice.opened(opened.executor)),
            opened,
            loaded: None,
            patience: Patience::default(),
        })
    }
}

impl<'g> Resident<'g> {
    /// Whether CPU threads run `request`, as they took over an earlier one of its analysis.
    fn is_taken_over(&self, request: &RunRequest) -> bool {
        let taken = self.takeover.as_ref();
        let knows = taken.is_some_and(|(_, analyses)| analyses.contains(&request.analysis));
        knows && takeover::is_allowed(request)
    }

    /// The machine that runs `request`.
    fn station(&mut self, request: &RunRequest) -> &mut Station<'g> {
        let is_taken_over = self.is_taken_over(request);
        match &mut self.takeover {
            Some((threads, _)) if is_taken_over => threads,
            _ => &mut self.main,
        }
    }

    /// Returns the open machine and the time of its earlier uploads; opens the chosen one if none is
    /// open.
    fn in_place<'r>(
        place: &'r mut Option<Self>,
        submission: &mut Submission<'g, '_>,
        choice: Option<Choice>,
        canceller: Canceller,
    ) -> Result<(&'r mut Self, u64), RunError> {
        let Some(choice) = choice else {
            let resident = place.as_mut().ok_or(BackendError::NotLoaded)?;
            let station = resident.station(submission.request);
            let uploaded_ns = station.opened.session.upload_ns();
            return Ok((resident, uploaded_ns));
        };
        let resident = Resident {
            asked: submission.request.machine,
            graph: submission.placed,
            main: Station::open(submission, choice, canceller)?,
            takeover: None,
        };
        Ok((place.insert(resident), 0))
    }

    /// The CPU threads that run the analysis of `submission` from now on, as the other machine has
    /// not ended it after `after_ns` nanoseconds.
    fn taken_over(
        &mut self,
        submission: &mut Submission<'g, '_>,
        after_ns: u64,
        canceller: Canceller,
    ) -> Result<&mut Station<'g>, RunError> {
        let (graph, request) = (submission.graph, submission.request);
        let device = &self.main.opened.session.device().name;
        let choice = takeover::choice(graph, request, device, after_ns);
        let reason = choice.reason.clone();
        let (threads, analyses) = match &mut self.takeover {
            Some(taken) => taken,
            none => none.insert((Station::open(submission, choice, canceller)?, Vec::new())),
        };
        threads.opened.reason = reason;
        analyses.push(request.analysis);
        Ok(threads)
    }
}

impl<'g> Analyzer<'g> {
    /// Opens nothing before the first request.
    #[must_use]
    pub fn new(graph: &'g Graph) -> Self {
        Self {
            graph,
            residents: [None, None],
            plans: PlanCache::default(),
            canceller: Canceller::default(),
        }
    }

    /// Returns the same analyzer with other plans, such as those of an earlier analyzer. Plans are
    /// for one graph and machine: they serve an equal graph, and are evicted for others.
    #[must_use]
    pub fn with_plans(self, plans: PlanCache) -> Self {
        Self { plans, ..self }
    }

    /// Returns the plans for another analyzer.
    #[must_use]
    pub fn into_plans(self) -> PlanCache {
        self.plans
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
        let size = (self.graph.nodes(), u64::from(self.graph.edges()));
        spans::run("one machine", size, request, || {
            self.run_in_span(request, progress)
        })
    }

    fn run_in_span(
        &mut self,
        request: &RunRequest,
        progress: &mut dyn FnMut(Phase),
    ) -> Result<RunOutcome, RunError> {
        request.check_for(self.graph)?;
        let clock = Instant::now();
        let graph = self.graph.form(request.form_of(self.graph)?)?;
        request.check_form(graph)?;
        let mut plans = std::mem::replace(&mut self.plans, PlanCache::new(0));
        let mut submission = Submission::begin(graph, request, &mut plans, progress);
        submission.take_shortcuts();
        let form_ns = elapsed_ns(clock);
        if !std::ptr::eq(graph, self.graph) || submission.has_shortcuts() {
            submission.log.formed(form_ns);
        }
        let outcome = self.carry_out(submission, form_ns);
        self.plans = plans;
        if outcome.as_ref().is_err_and(has_failed) {
            self.residents = [None, None];
        }
        outcome
    }

    fn carry_out(
        &mut self,
        mut submission: Submission<'g, '_>,
        form_ns: u64,
    ) -> Result<RunOutcome, RunError> {
        let (read, graph, request) = (self.graph, submission.graph, submission.request);
        submission.progress(Phase::Plan);
        let has_other = |it: &Resident<'_>| it.asked != request.machine;
        for resident in &mut self.residents {
            resident.take_if(|it| has_other(it));
        }
        let resident = &mut self.residents[usize::from(submission.has_shortcuts())];
        resident.take_if(|it| !std::ptr::eq(it.graph, submission.placed));
        let (choice, meant, known) = match resident {
            Some(resident) => {
                if resident.is_taken_over(request) {
                    submission.placed = graph;
                }
                let station = resident.station(request);
                (None, station.target, station.loaded.take())
            }
            None => {
                let choice = submission.choose();
                let target = Target::of(request, &choice);
                (Some(choice), target, None)
            }
        };
        let mut planned = submission.plan((meant, false), known.as_ref())?;
        submission.progress(Phase::Upload);
        let is_new = choice.is_some();
        let canceller = self.canceller.of_session();
        let (resident, uploaded_ns) = Resident::in_place(
            resident,
            &mut submission,
            choice,
            self.canceller.of_session(),
        )?;
        let station = resident.station(request);
        let target = station.target;
        if target.executor != meant.executor {
            // A plan for a machine that failed to open is refused by another one.
            planned = submission.plan((target, false), None)?;
        }
        let session = station.opened.session.as_mut();
        session.end_after(station.patience.of(graph, request, target.executor));
        let start = if is_new {
            SessionWork::default()
        } else {
            session.work()
        };
        submission.ledger = Ledger::begin(start);
        let upload_ns = session.upload_ns().saturating_sub(uploaded_ns);
        let (planned, answer) = match submission.settle(session, planned, target) {
            Err(RunError::Backend(BackendError::Overdue { after_ns })) => {
                submission.placed = graph;
                let station = resident.taken_over(&mut submission, after_ns, canceller)?;
                submission.take_over(station, after_ns)?
            }
            settled => settled?,
        };
        let station = resident.station(request);
        let opened = &station.opened;
        let mut outcome = submission.outcome(read, opened, &planned, answer, form_ns, upload_ns);
        station.loaded = Some(planned.into_loaded());
        let name = || resident.main.opened.session.device().name.clone();
        outcome.taken_over_from = resident.is_taken_over(request).then(name);
        Ok(outcome)
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

impl Submission<'_, '_> {
    /// Returns the outcome of a request on the graph `read`, with the times of its form and upload.
    fn outcome(
        mut self,
        read: &Graph,
        opened: &Opened<'_>,
        planned: &Planned,
        answer: Answer,
        form_ns: u64,
        upload_ns: u64,
    ) -> RunOutcome {
        let (graph, request) = (self.graph, self.request);
        let end = steps::end_of(request.analysis, &answer.stats.control);
        let checked = request.check.then(|| self.is_equal(read, end, &answer));
        let Answer {
            values,
            parents,
            stats,
            spent,
        } = answer;
        let device = opened.session.device();
        let waves = waves(&planned.encoded, &stats.control);
        let explanation = explain(self.placed, request, planned, opened, &stats, &waves);
        RunOutcome {
            backend_reason: opened.reason.clone(),
            device: device.name.clone(),
            edges: u64::from(read.edges()),
            taken: Taken {
                shortcuts: u64::from(self.placed.edges() - graph.edges()),
                ..Taken::of(read, graph, request)
            },
            dropped: Dropped::between(read, graph),
            plan: planned.summary,
            plans: self.plan_counters(),
            session: self.ledger.report(),
            memory: memory_of(self.placed, request, &planned.encoded, opened),
            topology: steps::topology_name(&stats.control),
            times: Times {
                load: 0,
                upload: upload_ns,
                plan: planned.plan_ns + form_ns,
                run: spent.run_ns,
                first_run: spent.first_run_ns,
                readback: spent.readback_ns,
            },
            edges_examined: steps::edges_examined(&planned.encoded, &stats.control),
            device_barriers: barriers(&stats, opened.executor, device.units),
            code: stats.code.filter(|code| code.waves > 0),
            host: stats.host,
            checked,
            check_tolerance: checked
                .and_then(|_| request.analysis.definition().tolerance(&values, end)),
            events: self.log.events,
            waves,
            groups: explanation.groups,
            steps: explanation.steps,
            steps_total: explanation.steps_total,
            timeline: explanation.timeline,
            parents,
            ..steps::outcome(graph, request, opened.executor, values, end)
        }
    }
}

#[cfg(test)]
#[path = "takeover_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "shortcuts_tests.rs"]
mod shortcuts_tests;
