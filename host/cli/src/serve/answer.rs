//! Answers as JSON.

use serde_json::{Value, json};

use seawall::graph::Graph;
use seawall::service::{Answer, Client, Reply, Span, SubmitError, TicketError};

/// Context of an answer, beside its ticket.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) id: Value,
    /// Place of the neighbours of an answer.
    pub(super) neighbours: Option<Span>,
}

impl Form {
    /// The line of an end.
    pub(super) fn line(
        &self,
        end: Result<Answer, TicketError>,
        client: &Client,
        graph: &Graph,
    ) -> Value {
        let mut line = match end {
            Ok(answer) => self.reply(&answer, client, graph),
            Err(error) => json!({"error": failure(&error)}),
        };
        line["id"] = self.id.clone();
        line
    }

    fn reply(&self, answer: &Answer, client: &Client, graph: &Graph) -> Value {
        match (answer.reply, self.neighbours) {
            (Reply::Written { words, overflow }, Some(span)) => {
                let mut nodes = vec![0; words.min(span.words) as usize];
                if let Err(refusal) = client.read(span.address, &mut nodes) {
                    return json!({"error": {"kind": "fault", "message": refusal.to_string()}});
                }
                let ids: Vec<u64> = nodes
                    .into_iter()
                    .map(|node| graph.original_id(node))
                    .collect();
                json!({"neighbours": ids, "overflow": overflow})
            }
            (Reply::Reached(reached), _) => json!({"reached": reached}),
            (Reply::Distance(distance), _) => json!({"distance": distance}),
            (Reply::Word(word), _) => json!({"value": word}),
            (Reply::Packed(words), _) => json!({"values": words}),
            _ => json!({"done": true}),
        }
    }
}

fn failure(error: &TicketError) -> Value {
    let message = error.to_string();
    match error {
        TicketError::Fault(refusal) => json!({
            "kind": "fault", "code": refusal.code as u32, "detail": refusal.detail,
            "message": message
        }),
        TicketError::TimedOut(_) => json!({"kind": "timed_out", "message": message}),
        _ => json!({"kind": "ended", "message": message}),
    }
}

/// The error of a query that was not posted.
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
