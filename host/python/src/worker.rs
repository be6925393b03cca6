//! A thread that keeps an analyzer and a program, so that a graph stays on its machine from question
//! to question.
//!
//! Both borrow their graph; on a thread of its own all of them live as long as the questions come.
//! The thread of Python waits without the interpreter's lock, and meanwhile looks for Ctrl-C and
//! reports progress.

use crate::error::{self, ended};
use crate::program::{Loaded, ProgramError, ProgramRequest, ProgramRun};
use crate::waiting::wait;
use pyo3::prelude::*;
use seawall::backend::Canceller;
use seawall::graph::Graph;
use seawall::multi::DeviceChoice;
use seawall::outcome::RunOutcome;
use seawall::run::{Analyzer, Phase, RunError, RunRequest};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

/// A request, and the devices that share it.
pub(crate) struct Question {
    pub(crate) request: RunRequest,
    pub(crate) devices: Option<DeviceChoice>,
}

/// A question, and where its answer goes.
enum Job {
    Analysis(Question, SyncSender<Result<RunOutcome, RunError>>),
    Program(ProgramRequest, SyncSender<Result<ProgramRun, ProgramError>>),
}

/// What the thread of Python sees of the run in progress.
#[derive(Debug, Default)]
struct Shown {
    phase: Mutex<&'static str>,
    /// Ends runs of the loaded program.
    program: Mutex<Option<Canceller>>,
}

/// The thread of an analyzer. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Worker {
    jobs: Sender<Job>,
    analyses: Canceller,
    shown: Arc<Shown>,
}

impl Worker {
    /// Starts the thread; the first question opens a machine.
    pub(crate) fn start(graph: Arc<Graph>) -> PyResult<Self> {
        let (jobs, questions) = channel();
        let (given, handle) = sync_channel(1);
        let shown = Arc::<Shown>::default();
        let own = Arc::clone(&shown);
        let work = move || answer(&graph, &questions, &given, &own);
        Builder::new().name("seawall".to_owned()).spawn(work)?;
        let analyses = handle.recv().map_err(|_| ended())?;
        Ok(Self {
            jobs,
            analyses,
            shown,
        })
    }

    /// Answers a question; Ctrl-C ends it.
    pub(crate) fn run(
        &self,
        py: Python<'_>,
        question: Question,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<RunOutcome> {
        let (reply, answer) = sync_channel(1);
        self.send(Job::Analysis(question, reply))?;
        let found = self.wait(py, answer, progress, &|| self.analyses.cancel())?;
        found.map_err(|problem| error::of_run(py, &problem))
    }

    /// Runs a program; Ctrl-C ends it.
    pub(crate) fn run_program(
        &self,
        py: Python<'_>,
        request: ProgramRequest,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<ProgramRun> {
        let (reply, answer) = sync_channel(1);
        self.send(Job::Program(request, reply))?;
        let cancel = || {
            if let Some(canceller) = &*locked(&self.shown.program) {
                canceller.cancel();
            }
        };
        let found = self.wait(py, answer, progress, &cancel)?;
        found.map_err(|problem| problem.exception(py))
    }

    fn send(&self, job: Job) -> PyResult<()> {
        self.jobs.send(job).map_err(|_| ended())
    }

    /// Waits for an answer; an interrupt cancels it.
    fn wait<T: Send>(
        &self,
        py: Python<'_>,
        mut answer: Receiver<T>,
        progress: Option<&Bound<'_, PyAny>>,
        cancel: &dyn Fn(),
    ) -> PyResult<T> {
        let phase = || (*locked(&self.shown.phase)).to_owned();
        match wait(py, &mut answer, progress, phase) {
            Ok(found) => found.ok_or_else(ended),
            Err(interrupt) => {
                cancel();
                // The thread answers soon, and the next question finds it idle.
                let _late = py.detach(move || answer.recv());
                Err(interrupt)
            }
        }
    }
}

fn answer(graph: &Graph, questions: &Receiver<Job>, handle: &SyncSender<Canceller>, shown: &Shown) {
    let mut analyzer = Analyzer::new(graph);
    if handle.send(analyzer.canceller()).is_err() {
        return;
    }
    let mut loaded = None;
    for job in questions {
        // Nobody waits for an answer after an interrupt.
        match job {
            Job::Analysis(Question { request, devices }, reply) => {
                let progress = &mut |phase| *locked(&shown.phase) = name(phase);
                let found = match devices {
                    Some(choice) => choice.execute(graph, &request, &mut analyzer, progress),
                    None => analyzer.run_with_progress(&request, progress),
                };
                let _unheard = reply.send(found);
            }
            Job::Program(request, reply) => {
                *locked(&shown.phase) = "running";
                let _unheard = reply.send(run_program(graph, &request, &mut loaded, shown));
            }
        }
    }
}

/// Runs a program, which stays loaded for the next run.
fn run_program<'g>(
    graph: &'g Graph,
    request: &ProgramRequest,
    loaded: &mut Option<Loaded<'g>>,
    shown: &Shown,
) -> Result<ProgramRun, ProgramError> {
    let known = loaded.take().filter(|known| known.is_for(request));
    let mut open = match known {
        Some(known) => known,
        None => Loaded::open(graph, request)?,
    };
    *locked(&shown.program) = Some(open.canceller());
    let found = open.run(request);
    // A machine that failed is opened anew.
    if found.is_ok() {
        *loaded = Some(open);
    }
    found
}

const fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Plan => "planning",
        Phase::Upload => "uploading the graph",
        Phase::Readback => "reading the result",
        Phase::Check => "checking",
        _ => "running",
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
