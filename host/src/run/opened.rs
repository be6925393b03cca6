//! Machines that are open.

use super::choose::Choice;
use super::{Executor, Machine, RunError, RunRequest};
use crate::backend::{self, Session};
use crate::graph::Graph;

/// An open machine, and the reason of an open choice.
pub(super) struct Opened<'g> {
    pub(super) session: Box<dyn Session + 'g>,
    pub(super) executor: Executor,
    pub(super) reason: Option<String>,
}

/// Opens the chosen executor.
pub(super) fn open<'g>(
    graph: &'g Graph,
    request: &RunRequest,
    choice: Choice,
) -> Result<Opened<'g>, RunError> {
    let Choice {
        executor,
        threads,
        reason,
        settings,
        ..
    } = choice;
    let machine = Machine {
        threads,
        ..request.machine
    };
    let opened = |executor, reason| -> Result<Opened<'g>, RunError> {
        Ok(Opened {
            session: backend::open(graph, executor, (&machine, settings))?,
            executor,
            reason,
        })
    };
    match executor {
        Some(executor) => opened(executor, reason),
        None => opened(Executor::Mega, reason)
            .or_else(|error| opened(Executor::Cpu, Some(error.to_string()))),
    }
}
