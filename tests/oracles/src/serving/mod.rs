//! Checks of any machine's service: run on blocks of threads in CI, and on a GPU.

pub mod counters;
pub mod load;
pub mod opcodes;
pub mod pairs;
pub mod programs;
pub mod stream;
pub mod warps;
pub mod windows;

use seawall::graph::Graph;
use seawall::service::{Client, Config, On, Query, Reply, Service, TicketError};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

/// Longer than any query of these checks takes on a loaded machine.
pub const LONG: Option<Duration> = Some(Duration::from_secs(30));

/// A configuration on a machine, with a number of workers.
#[must_use]
pub fn config(on: On, workers: usize) -> Config {
    Config {
        on,
        workers: NonZeroUsize::new(workers),
        ..Config::default()
    }
}

/// A service on a graph.
///
/// # Errors
/// If it does not start.
pub fn start(graph: impl Into<Arc<Graph>>, config: Config) -> Result<Service, String> {
    Service::start(graph.into(), config).map_err(|error| error.to_string())
}

/// The client of tenant 1.
///
/// # Errors
/// If there is no such tenant.
pub fn client(service: &Service) -> Result<Client, String> {
    service.client(1).ok_or_else(|| "no tenant 1".to_owned())
}

/// The reply to a query that must not fail.
///
/// # Errors
/// If it fails.
pub fn reply(client: &Client, query: Query) -> Result<Reply, String> {
    let shown = format!("{query:?}");
    let ticket = client.submit(query).map_err(|error| error.to_string())?;
    let answer = ticket.wait(LONG);
    answer
        .map(|answer| answer.reply)
        .map_err(|error| format!("{shown}: {error}"))
}

/// Checks the reply to a query.
///
/// # Errors
/// If it differs.
pub fn expect(client: &Client, query: Query, expected: Reply) -> Result<(), String> {
    let shown = format!("{query:?}");
    let found = reply(client, query)?;
    if found == expected {
        return Ok(());
    }
    Err(format!("{shown}: {found:?} and not {expected:?}"))
}

/// Checks that a query ends in a fault with this text.
///
/// # Errors
/// If it does not.
pub fn expect_fault(client: &Client, query: Query, part: &str) -> Result<(), String> {
    let shown = format!("{query:?}");
    let ticket = client.submit(query).map_err(|error| error.to_string())?;
    match ticket.wait(LONG) {
        Err(TicketError::Fault(refusal)) if refusal.to_string().contains(part) => Ok(()),
        other => Err(format!("{shown}: {other:?} and no fault with '{part}'")),
    }
}
