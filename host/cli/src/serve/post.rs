//! Posts the queries of a client to the service of a graph.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::answer::{Form, Shown, node_value, refused};
use super::programs::Run;
use super::request::{self, Bad, LineRequest};
use super::session::Event;
use super::{BATCHES, Served, WINDOW};
use seawall::service::{Batch, Client, Priority, Query, Span, SubmitError, Ticket};

/// A client of the service of a graph.
pub(super) struct Poster {
    client: Client,
    served: Arc<Served>,
    /// Batches without a fence, by the client's names.
    batches: HashMap<String, Batch>,
}

impl Poster {
    pub(super) fn new(client: Client, served: Arc<Served>) -> Self {
        let batches = HashMap::new();
        Self {
            client,
            served,
            batches,
        }
    }

    pub(super) fn event(&mut self, space: usize, line: &[u8]) -> Event {
        match request::read(line, &self.served) {
            Ok(request) => self.post(space, request),
            Err(Bad { id, error }) => Event::refused(space, id, &error),
        }
    }

    fn post(&mut self, space: usize, request: request::Request) -> Event {
        let since = Instant::now();
        let id = request.id;
        let is_fence = matches!(request.asked, LineRequest::Fence);
        match self.posted(space, request.priority, request.batch, request.asked) {
            Ok(Posted::Query(ticket, shown)) => Event::Posted {
                space,
                since,
                form: Form {
                    id,
                    shown,
                    is_fence,
                    client: self.client.clone(),
                    served: Arc::clone(&self.served),
                },
                ticket,
            },
            Ok(Posted::Stats) => {
                let answer = self.stats();
                Event::Said { space, id, answer }
            }
            Err(error) => Event::refused(space, id, &error),
        }
    }

    fn posted(
        &mut self,
        space: usize,
        priority: Priority,
        batch: Option<String>,
        asked: LineRequest,
    ) -> Result<Posted, Value> {
        let first = WINDOW + space as u32 * self.served.programs.space_words();
        let (query, shown) = match asked {
            LineRequest::Query(query) => (query, None),
            LineRequest::Neighbours { node, limit } => {
                let to = span(first, limit);
                (Query::Neighbours { node, to }, Some(Shown::Neighbours(to)))
            }
            LineRequest::Run(run) => self.run_query(first, run)?,
            LineRequest::Fence => return self.fence(priority, batch).map(Posted::of),
            LineRequest::Stats => return Ok(Posted::Stats),
        };
        let ticket = match batch {
            None => self.client.with_priority(priority).submit(query),
            Some(name) => self.batch(name, priority)?.submit(query),
        };
        let ticket = ticket.map_err(|error| refused(&error))?;
        Ok(Posted::Query(ticket, shown))
    }

    /// Puts a run's inputs into the window, before the place of its result.
    fn run_query(&self, first: u32, run: Run) -> Result<(Query, Option<Shown>), Value> {
        let inputs = span(first, run.inputs.len() as u32);
        let written = self.client.write(inputs.address, &run.inputs);
        written.map_err(|refusal| refused(&SubmitError::Refused(refusal)))?;
        let to = span(first + inputs.words, run.words);
        let query = Query::Run {
            program: run.number,
            inputs,
            to,
        };
        Ok((query, Some(Shown::Values(run.kind, to))))
    }

    /// The client's batch of this name; its first query opens it.
    fn batch(&mut self, name: String, priority: Priority) -> Result<&mut Batch, Value> {
        if !self.batches.contains_key(&name) {
            if self.batches.len() == BATCHES {
                let message = format!("{BATCHES} batches are open; post the fence of one");
                return Err(json!({"kind": "batches", "message": message}));
            }
            let batch = self.client.batch().map_err(|error| refused(&error))?;
            self.batches.insert(name.clone(), batch);
        }
        let batch = self.batches.get_mut(&name);
        let batch = batch.ok_or_else(|| no_batch(&name))?;
        batch.set_priority(priority);
        Ok(batch)
    }

    fn fence(&mut self, priority: Priority, name: Option<String>) -> Result<Ticket, Value> {
        let name = name.unwrap_or_default();
        let batch = self.batches.remove(&name);
        let mut batch = batch.ok_or_else(|| no_batch(&name))?;
        batch.set_priority(priority);
        batch.fence().map_err(|error| refused(&error))
    }

    fn stats(&self) -> Value {
        let graph = &self.served.graph;
        let last = graph.nodes().checked_sub(1);
        let ids = last.map(|last| [node_value(graph, 0), node_value(graph, last)]);
        json!({
            "stats": self.client.stats(),
            "graph": {"nodes": graph.nodes(), "edges": graph.edges(), "ids": ids}
        })
    }
}

/// A request in progress.
enum Posted {
    /// A query, and the words that its answer shows.
    Query(Ticket, Option<Shown>),
    /// Statistics, which need no query.
    Stats,
}

impl Posted {
    const fn of(ticket: Ticket) -> Self {
        Self::Query(ticket, None)
    }
}

const fn span(address: u32, words: u32) -> Span {
    Span { address, words }
}

fn no_batch(name: &str) -> Value {
    let message = format!("no query names the batch {name:?}");
    json!({"kind": "no_such_batch", "batch": name, "message": message})
}
