//! The resident service on CPU threads.

mod answers;
mod blocks;
mod conserved;
mod hostile;
mod life;
#[cfg(unix)]
mod lines;
#[cfg(unix)]
mod modules;
mod orders;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod sockets;
mod waits;
mod warps;

use seawall::graph::{Graph, LoadOptions};
use seawall::service::{Client, Config, Query, Reply, Service, TicketError};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

/// Longer than any query of these tests takes on a loaded machine.
const LONG: Option<Duration> = Some(Duration::from_secs(30));

fn start(config: Config) -> Service {
    start_on(loaded("gen:rmat:8:8:3"), config)
}

fn loaded(spec: &str) -> Graph {
    let options = LoadOptions::default();
    seawall::graph::load(spec, &options, None).unwrap().graph
}

fn start_on(graph: Graph, config: Config) -> Service {
    Service::start(Arc::new(graph), config).unwrap()
}

fn workers(count: usize) -> Option<NonZeroUsize> {
    NonZeroUsize::new(count)
}

/// The reply to a query that must not fail.
#[track_caller]
fn reply(client: &Client, query: Query) -> Reply {
    client.submit(query).unwrap().wait(LONG).unwrap().reply
}

/// Posts a query and returns its fault.
#[track_caller]
fn fault(client: &Client, query: Query) -> seawall::service::Refusal {
    match client.submit(query).unwrap().wait(LONG) {
        Err(TicketError::Fault(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}
