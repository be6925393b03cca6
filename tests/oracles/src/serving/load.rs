//! Times of queries, and queries per second.

use super::LONG;
use crate::random::Random;
use seawall::service::{Client, Metric, Query, Service};
use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};

/// Times of queries, sorted.
#[derive(Clone, Debug, Default)]
pub struct Times {
    ns: Vec<u64>,
    run: Duration,
}

impl Times {
    /// Builds it from times in any order and their total duration.
    #[must_use]
    pub fn new(mut ns: Vec<u64>, run: Duration) -> Self {
        ns.sort_unstable();
        Self { ns, run }
    }

    /// The quantile for a share in parts of ten thousand.
    #[must_use]
    pub fn at(&self, share: usize) -> u64 {
        let rank = (self.ns.len() * share).div_ceil(10_000);
        self.ns.get(rank.saturating_sub(1)).copied().unwrap_or(0)
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = |share| self.at(share) as f64 / 1e3;
        let rate = self.ns.len() as f64 / self.run.as_secs_f64().max(1e-9);
        write!(
            f,
            "p50 {:.2} us, p90 {:.2}, p99 {:.2}, p99.9 {:.2}, max {:.1}; {rate:.0} a second",
            us(5_000),
            us(9_000),
            us(9_900),
            us(9_990),
            us(10_000),
        )
    }
}

/// Queries of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Queries without effect, for the round trip.
    Nop,
    /// An addition to a word of the window.
    Add,
    /// Whether one random node reaches another.
    Reach,
    /// Edges between two random nodes.
    Hops,
    /// Weights between two random nodes.
    Weights,
}

impl Op {
    fn query(self, nodes: u32, random: &mut Random) -> Query {
        let [source, target] = [random.below(nodes), random.below(nodes)];
        let metric = if self == Self::Weights {
            Metric::Weights
        } else {
            Metric::Hops
        };
        match self {
            Self::Nop => Query::Nop,
            Self::Add => Query::Add {
                address: source % 64,
                value: 1,
            },
            Self::Reach => Query::Reach { source, target },
            Self::Hops | Self::Weights => Query::Distance {
                source,
                target,
                metric,
            },
        }
    }
}

/// Times of queries one after the other.
///
/// # Errors
/// If one fails.
pub fn round_trips(
    client: &Client,
    op: Op,
    nodes: u32,
    most: (usize, Duration),
) -> Result<Times, String> {
    let mut random = Random::new(7);
    let mut times = Vec::new();
    let began = Instant::now();
    while times.len() < most.0 && began.elapsed() < most.1 {
        let query = op.query(nodes, &mut random);
        let sent = Instant::now();
        let ticket = client.submit(query).map_err(|error| error.to_string())?;
        let answer = ticket.wait(LONG);
        let time = sent.elapsed();
        answer.map_err(|error| error.to_string())?;
        times.push(time.as_nanos() as u64);
    }
    Ok(Times::new(times, began.elapsed()))
}

/// Queries per second of a number of producers, each with `open` queries in flight.
///
/// # Errors
/// If one fails.
pub fn flood(
    service: &Service,
    op: Op,
    nodes: u32,
    producers: u32,
    open: usize,
    time: Duration,
) -> Result<f64, String> {
    let client = super::client(service)?;
    let began = Instant::now();
    let posted = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..producers)
            .map(|number| {
                let client = client.clone();
                scope.spawn(move || produce(&client, op, nodes, number, open, time))
            })
            .collect();
        let parts = threads.into_iter().map(|thread| thread.join());
        parts
            .map(|part| part.unwrap_or_else(|_| Err("a producer panicked".to_owned())))
            .try_fold(0, |all, part| Ok::<u64, String>(all + part?))
    })?;
    Ok(posted as f64 / began.elapsed().as_secs_f64())
}

fn produce(
    client: &Client,
    op: Op,
    nodes: u32,
    number: u32,
    open: usize,
    time: Duration,
) -> Result<u64, String> {
    let mut random = Random::new(u64::from(number));
    let mut tickets = VecDeque::new();
    let mut posted = 0;
    let began = Instant::now();
    while began.elapsed() < time {
        for _ in 0..open {
            let query = op.query(nodes, &mut random);
            let ticket = client.submit(query).map_err(|error| error.to_string())?;
            tickets.push_back(ticket);
            posted += 1;
            if tickets.len() >= open
                && let Some(first) = tickets.pop_front()
            {
                first.wait(LONG).map_err(|error| error.to_string())?;
            }
        }
    }
    for ticket in tickets {
        ticket.wait(LONG).map_err(|error| error.to_string())?;
    }
    Ok(posted)
}
