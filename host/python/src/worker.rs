//! A thread that keeps an analyzer, so that a graph stays on its machine from question to
//! question.
//!
//! An analyzer borrows its graph; on a thread of its own both live as long as the questions come.
//! The thread of Python waits without the interpreter's lock, and looks for Ctrl-C meanwhile.

use crate::error;
use pyo3::prelude::*;
use seawall::backend::Canceller;
use seawall::graph::Graph;
use seawall::outcome::RunOutcome;
use seawall::run::{Analyzer, RunError, RunRequest};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::Builder;
use std::time::Duration;

/// Time between two looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

type Reply = Result<RunOutcome, RunError>;

struct Job {
    request: RunRequest,
    reply: SyncSender<Reply>,
}

/// The thread of an analyzer. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Worker {
    jobs: Sender<Job>,
    canceller: Canceller,
}

impl Worker {
    /// Starts the thread; the first question opens a machine.
    pub(crate) fn start(graph: Arc<Graph>) -> PyResult<Self> {
        let (jobs, questions) = channel();
        let (given, handle) = sync_channel(1);
        let work = move || answer(&graph, &questions, &given);
        Builder::new().name("seawall".to_owned()).spawn(work)?;
        let canceller = handle.recv().map_err(|_| ended())?;
        Ok(Self { jobs, canceller })
    }

    /// Answers a question; Ctrl-C ends it.
    pub(crate) fn run(&self, py: Python<'_>, request: RunRequest) -> PyResult<RunOutcome> {
        let (reply, mut answer) = sync_channel(1);
        self.jobs
            .send(Job { request, reply })
            .map_err(|_| ended())?;
        loop {
            // The lock is given back while this waits; a receiver goes to one thread at a time.
            let waiting = &mut answer;
            match py.detach(move || waiting.recv_timeout(LOOK)) {
                Ok(outcome) => return outcome.map_err(|problem| error::of_run(py, &problem)),
                Err(RecvTimeoutError::Disconnected) => return Err(ended()),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(interrupt) = py.check_signals() {
                        self.canceller.cancel();
                        // The thread answers soon, and the next question finds it idle.
                        let _late = py.detach(move || answer.recv());
                        return Err(interrupt);
                    }
                }
            }
        }
    }
}

fn answer(graph: &Graph, questions: &Receiver<Job>, handle: &SyncSender<Canceller>) {
    let mut analyzer = Analyzer::new(graph);
    if handle.send(analyzer.canceller()).is_err() {
        return;
    }
    for Job { request, reply } in questions {
        // Nobody waits for an answer after an interrupt.
        let _unheard = reply.send(analyzer.run(&request, &mut |_| ()));
    }
}

fn ended() -> PyErr {
    pyo3::exceptions::PyRuntimeError::new_err("the thread of the graph ended; this is a bug")
}
