//! Machines that hold a graph from one request to the next.

use super::analyzer::Opener;
use super::plan::{Planned, Target};
use super::takeover::{self, Patience};
use super::{Machine, RunError, RunRequest};
use crate::analysis::AnalysisKind;
use crate::backend::{self, Canceller, Session};
use crate::graph::Graph;
use crate::job::Job;
use crate::job::choose::{Choice, Opened};

/// The machines that hold the graph.
pub(super) struct Resident<'g> {
    pub(super) asked: Machine,
    pub(super) graph: &'g Graph,
    pub(super) main: Station<'g>,
    /// CPU threads that took over runs, and the analyses that they run.
    pub(super) takeover: Option<(Station<'g>, Vec<AnalysisKind>)>,
}

/// A machine that holds the graph.
pub(super) struct Station<'g> {
    pub(super) opened: Opened<Box<dyn Session + 'g>>,
    pub(super) target: Target,
    pub(super) loaded: Option<Planned>,
    pub(super) patience: Patience,
}

impl<'g> Station<'g> {
    /// Opens the chosen machine, or these devices, whose runs `canceller` ends; this ends with the upload
    /// of the graph.
    pub(super) fn open(
        graph: &'g Graph,
        job: &mut Job<'_>,
        choice: Choice,
        devices: Option<Opener<'g>>,
        canceller: Canceller,
    ) -> Result<Self, RunError> {
        let request = job.request;
        let machine = Machine {
            threads: choice.threads,
            ..request.machine
        };
        let open = |executor| backend::open(graph, executor, (&machine, choice.settings));
        let mut opened = job.until_now("open", || match devices {
            None => choice.open(open),
            Some((executor, open)) => open(graph).map(|session| Opened {
                session,
                executor,
                reason: None,
            }),
        })?;
        let upload = opened.session.upload_ns();
        job.host("upload", job.now().saturating_sub(upload), upload);
        opened.session.cancel_by(canceller);
        Ok(Self {
            target: Target::of(request, &choice.opened(opened.executor)),
            opened,
            loaded: None,
            patience: Patience::default(),
        })
    }
}

impl<'g> Resident<'g> {
    /// Whether CPU threads run `request`, as they took over an earlier one of its analysis.
    pub(super) fn is_taken_over(&self, request: &RunRequest) -> bool {
        let taken = self.takeover.as_ref();
        let knows = taken.is_some_and(|(_, analyses)| analyses.contains(&request.analysis));
        knows && takeover::is_allowed(request)
    }

    pub(super) fn station(&mut self, request: &RunRequest) -> &mut Station<'g> {
        let is_taken_over = self.is_taken_over(request);
        match &mut self.takeover {
            Some((threads, _)) if is_taken_over => threads,
            _ => &mut self.main,
        }
    }

    /// The CPU threads that run the analysis of `job` from now on, as the other machine has not
    /// ended it after `after_ns` nanoseconds.
    pub(super) fn taken_over(
        &mut self,
        graph: &'g Graph,
        job: &mut Job<'_>,
        after_ns: u64,
        canceller: Canceller,
    ) -> Result<&mut Station<'g>, RunError> {
        let request = job.request;
        let choice = takeover::choice(graph, request, &self.name(), after_ns);
        let reason = choice.reason.clone();
        let (threads, analyses) = match &mut self.takeover {
            Some(taken) => taken,
            none => none.insert((
                Station::open(graph, job, choice, None, canceller)?,
                Vec::new(),
            )),
        };
        threads.opened.reason = reason;
        analyses.push(request.analysis);
        Ok(threads)
    }

    pub(super) fn name(&self) -> String {
        self.main.opened.session.device().name.clone()
    }
}
