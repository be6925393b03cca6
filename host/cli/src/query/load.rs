//! Many queries about random nodes, each timed.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::report::Latencies;
use super::{Answers, LoadOp, QueryError, connect, lost};

/// Requests to send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load<'a> {
    pub(super) socket: &'a Path,
    pub(super) queries: u32,
    pub(super) clients: u32,
    pub(super) op: LoadOp,
    pub(super) seed: u64,
}

/// Sends all queries and collects their latencies.
pub(super) fn run(load: &Load<'_>) -> Result<Latencies, QueryError> {
    let mut connections = Vec::new();
    for _ in 0..load.clients {
        connections.push(Connection::open(load.socket)?);
    }
    let began = Instant::now();
    let parts = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..load.clients)
            .zip(connections)
            .map(|(client, connection)| scope.spawn(move || send(load, client, connection)))
            .collect();
        let joined = senders.into_iter().map(|sender| sender.join());
        joined
            .map(|part| part.unwrap_or_else(|_| Ok(Part::default())))
            .collect::<Result<Vec<Part>, QueryError>>()
    })?;
    let run_ns = began.elapsed().as_nanos() as u64;
    let failed = parts.iter().map(|part| part.failed).sum();
    let times = parts.into_iter().flat_map(|part| part.times_ns).collect();
    Ok(Latencies::new(times, failed, run_ns))
}

/// Times of one client.
#[derive(Debug, Default)]
struct Part {
    times_ns: Vec<u64>,
    failed: u64,
}

fn send(load: &Load<'_>, client: u32, mut connection: Connection<'_>) -> Result<Part, QueryError> {
    let share = load.queries / load.clients + u32::from(client < load.queries % load.clients);
    let mut random = Random(load.seed ^ u64::from(client) << 32);
    let (first, last) = match load.op {
        LoadOp::Nop => (0, 0),
        LoadOp::Reach | LoadOp::Distance => connection.ids()?,
    };
    let mut part = Part::default();
    for _ in 0..share {
        let query = query(load.op, first, last, &mut random);
        let sent = Instant::now();
        let answer = connection.ask(&query)?;
        part.times_ns.push(sent.elapsed().as_nanos() as u64);
        part.failed += u64::from(answer.get("error").is_some());
    }
    Ok(part)
}

fn query(op: LoadOp, first: u64, last: u64, random: &mut Random) -> Value {
    let span = (last - first).saturating_add(1);
    let mut node = || first + random.next() % span;
    match op {
        LoadOp::Nop => json!({"op": "nop"}),
        LoadOp::Reach => json!({"op": "reach", "source": node(), "target": node()}),
        LoadOp::Distance => json!({"op": "distance", "source": node(), "target": node()}),
    }
}

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }
}

struct Connection<'a>(Answers<'a>);

impl<'a> Connection<'a> {
    fn open(socket: &'a Path) -> Result<Self, QueryError> {
        Ok(Self(Answers::new(socket, connect(socket)?)))
    }

    fn ask(&mut self, query: &Value) -> Result<Value, QueryError> {
        let sent = self.0.stream().write_all(format!("{query}\n").as_bytes());
        // A service that refuses a client sends an error and closes: check for that first.
        if let Some((_, answer)) = self.0.next(|| 1)? {
            return Ok(answer);
        }
        let source = sent.err();
        let source = source.unwrap_or_else(|| io::ErrorKind::UnexpectedEof.into());
        Err(lost(self.0.path, source, 1))
    }

    /// The first and the last id of the graph; 0 twice if it has no nodes.
    fn ids(&mut self) -> Result<(u64, u64), QueryError> {
        let stats = self.ask(&json!({"op": "stats"}))?;
        let path = || self.0.path.display().to_string();
        if stats["program"].is_object() {
            return Err(QueryError::Modules { path: path() });
        }
        if stats["graph"]["ids"][0].is_string() {
            return Err(QueryError::Named { path: path() });
        }
        let id = |at: usize| stats["graph"]["ids"][at].as_u64().unwrap_or(0);
        Ok((id(0), id(1).max(id(0))))
    }
}
