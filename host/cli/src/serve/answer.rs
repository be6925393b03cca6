//! Answers as JSON.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Served;
use super::fields::Id;
use super::programs::program_failure;
use crate::program::values;
use seawall::graph::{Graph, NodeLabel};
use seawall::program::Kind;
use seawall::service::{Answer, Client, Refusal, Reply, Span, SubmitError, TicketError};

/// Context of an answer, besides its ticket.
pub(super) struct Form {
    pub(super) id: Id,
    /// Words of the client's window that the answer shows.
    pub(super) shown: Option<Shown>,
    /// Whether it is a fence's answer, which follows the answers of all queries of its batch.
    pub(super) is_fence: bool,
    pub(super) client: Client,
    pub(super) served: Arc<Served>,
}

/// Words of the window that an answer shows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shown {
    Neighbours(Span),
    /// Values of a program's result.
    Values(Kind, Span),
}

impl Form {
    /// The fields of an end, besides the id.
    pub(super) fn answer(&self, end: Result<Answer, TicketError>) -> Value {
        match end {
            Ok(answer) => self.reply(&answer),
            Err(error) => json!({"error": failure(&error)}),
        }
    }

    fn reply(&self, answer: &Answer) -> Value {
        match (answer.reply, self.shown) {
            (Reply::Written { words, overflow }, Some(shown)) => {
                match shown.line(words, overflow, &self.client, &self.served.graph) {
                    Ok(line) => line,
                    Err(refusal) => {
                        json!({"error": {"kind": "fault", "message": refusal.to_string()}})
                    }
                }
            }
            (Reply::Reached(reached), _) => json!({"reached": reached}),
            (Reply::Distance(distance), _) => json!({"distance": distance}),
            (Reply::Word(word), _) => json!({"value": word}),
            (Reply::Packed(words), _) => json!({"values": words}),
            (Reply::Epoch(epoch), _) => json!({"epoch": epoch}),
            _ => json!({"done": true}),
        }
    }
}

impl Shown {
    /// The line for the written `words`, and the `overflow` that did not fit.
    fn line(
        self,
        words: u32,
        overflow: u32,
        client: &Client,
        graph: &Graph,
    ) -> Result<Value, Refusal> {
        let (Self::Neighbours(span) | Self::Values(_, span)) = self;
        let mut read = vec![0; words.min(span.words) as usize];
        client.read(span.address, &mut read)?;
        Ok(match self {
            Self::Neighbours(_) => {
                let ids = read.into_iter().map(|node| node_value(graph, node));
                json!({"neighbours": ids.collect::<Vec<Value>>(), "overflow": overflow})
            }
            Self::Values(kind, _) => {
                let values: Vec<Value> = values(kind, &read).collect();
                json!({"values": values, "overflow": overflow / kind.words()})
            }
        })
    }
}

pub(super) fn node_value(graph: &Graph, node: u32) -> Value {
    match graph.label_of(node) {
        NodeLabel::Id(id) => json!(id),
        NodeLabel::Name(name) => json!(name),
    }
}

fn failure(error: &TicketError) -> Value {
    let message = error.to_string();
    match error {
        TicketError::Program(fault) => program_failure(fault),
        TicketError::Fault(refusal) => json!({
            "kind": "fault", "code": refusal.code as u32, "detail": refusal.detail,
            "message": message
        }),
        TicketError::TimedOut(_) => json!({"kind": "timed_out", "message": message}),
        _ => json!({"kind": "ended", "message": message}),
    }
}

pub(super) fn refused(error: &SubmitError) -> Value {
    let message = error.to_string();
    match error {
        SubmitError::Refused(refusal) => json!({
            "kind": "refused", "code": refusal.code as u32, "detail": refusal.detail,
            "message": message
        }),
        SubmitError::Closed(_) => json!({"kind": "closed", "message": message}),
        _ => json!({"kind": "bad_query", "message": message}),
    }
}
