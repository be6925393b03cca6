//! One line of a client: a query and its id.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::fields::{Fields, Id, bad};
use super::modules::MODULE_OPS;
use super::programs::{Run, RunLine};
use super::{NEIGHBOURS, Served, WINDOW};
use seawall::graph::Graph;
use seawall::service::{Metric, Priority, Query, Short, ShortOp, Span};

/// A valid line.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: Id,
    pub(super) priority: Priority,
    /// The client's name for the batch that it belongs to.
    pub(super) batch: Option<String>,
    pub(super) asked: LineRequest,
}

#[derive(Debug)]
pub(super) enum LineRequest {
    Query(Query),
    Neighbours {
        node: u32,
        limit: u32,
    },
    Run(Run),
    /// The end of a batch.
    Fence,
    /// Statistics of the service.
    Stats,
}

/// An invalid line, and its id if it has one.
#[derive(Debug)]
pub(super) struct Bad {
    pub(super) id: Id,
    pub(super) error: Value,
}

/// A 32-bit word in messages.
const WORD: &str = "a whole number from 0 to 4294967295";
const NODE: &str = "the id of a node, a whole number from 0 to 18446744073709551615";
/// [`NODE`] where nodes have names.
const NAMED_NODE: &str = "the name of a node, a text, or a whole number for a name of digits";

/// A node by its name in a line.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum NodeText {
    Id(u64),
    Name(String),
}
/// Names of operations.
const OPS: &str = "one of nop, reach, distance, neighbours, run, load, store, add, compare_swap, \
    copy, automaton, packed, print, fence, stats";

/// Those that a service of modules lacks.
pub(super) const GRAPH_OPS: [&str; 13] = [
    "reach",
    "distance",
    "neighbours",
    "run",
    "load",
    "store",
    "add",
    "compare_swap",
    "copy",
    "automaton",
    "packed",
    "print",
    "fence",
];

/// Reads a line; nodes are named by the ids or the names of the graph's file.
pub(super) fn read(line: &[u8], served: &Served) -> Result<Request, Bad> {
    let mut fields = Fields::of_line(line).map_err(|error| Bad {
        id: Id::default(),
        error,
    })?;
    let (id, is_valid) = fields.begin();
    let request = is_valid.and_then(|()| request(fields, served));
    match request {
        Ok((priority, batch, asked)) => Ok(Request {
            id,
            priority,
            batch,
            asked,
        }),
        Err(error) => Err(Bad { id, error }),
    }
}

fn request(
    mut fields: Fields<'_>,
    served: &Served,
) -> Result<(Priority, Option<String>, LineRequest), Value> {
    let op: String = fields.take("op", OPS)?;
    let priority = priority(&mut fields)?;
    // Statistics belong to no batch, and a fence to the one that it ends.
    let batch = match &*op {
        "stats" => None,
        "fence" => Some(fields.take("batch", "the name of a batch")?),
        _ => fields.optional("batch", "the name of a batch")?,
    };
    let asked = asked(&op, &mut fields, served)?;
    fields.end(&op)?;
    Ok((priority, batch, asked?))
}

fn priority(fields: &mut Fields<'_>) -> Result<Priority, Value> {
    let what = "one of critical, high, normal, low, idle";
    let name: Option<String> = fields.optional("priority", what)?;
    let Some(name) = name else {
        return Ok(Priority::default());
    };
    let mut all = Priority::ALL.into_iter();
    let found = all.find(|priority| priority.name() == name);
    found.ok_or_else(|| no_name("priority", &name, what))
}

pub(super) fn no_name(field: &str, name: &str, what: &str) -> Value {
    let shown: String = name.chars().take(60).collect();
    bad(field, &format!("{field:?} is {shown:?}; it must be {what}"))
}

/// The request of a line. The outer error is of a field's form, the inner one of its value: unknown
/// fields are reported before values that do not fit the graph.
fn asked(
    op: &str,
    fields: &mut Fields<'_>,
    served: &Served,
) -> Result<Result<LineRequest, Value>, Value> {
    let graph = &served.graph;
    let node = |text: NodeText| node_of(graph, &text);
    let pair = |source, target| Ok((node(source)?, node(target)?));
    Ok(match op {
        "nop" => Ok(LineRequest::Query(Query::Nop)),
        "stats" => Ok(LineRequest::Stats),
        "fence" => Ok(LineRequest::Fence),
        "reach" => {
            let (source, target) = (
                NodeText::take(fields, "source", graph)?,
                NodeText::take(fields, "target", graph)?,
            );
            pair(source, target)
                .map(|(source, target)| LineRequest::Query(Query::Reach { source, target }))
        }
        "distance" => {
            let (source, target) = (
                NodeText::take(fields, "source", graph)?,
                NodeText::take(fields, "target", graph)?,
            );
            let metric = metric(fields)?;
            pair(source, target).map(|(source, target)| {
                LineRequest::Query(Query::Distance {
                    source,
                    target,
                    metric,
                })
            })
        }
        "neighbours" => {
            let id = NodeText::take(fields, "node", graph)?;
            let limit: Option<u32> = fields.optional("limit", WORD)?;
            let limit = limit.unwrap_or(NEIGHBOURS).min(NEIGHBOURS);
            node(id).map(|node| LineRequest::Neighbours { node, limit })
        }
        "run" => {
            let line = RunLine {
                program: fields.take("program", "the name of a program")?,
                inputs: fields.named("inputs")?.into_iter().collect(),
                result: fields.optional("result", "the name of a kept register")?,
                limit: fields.optional("limit", WORD)?,
            };
            served
                .programs
                .run(&line, &served.graph)
                .map(LineRequest::Run)
        }
        _ => memory_query(op, fields)?.map(LineRequest::Query),
    })
}

fn metric(fields: &mut Fields<'_>) -> Result<Metric, Value> {
    let what = "hops or weights";
    let name: Option<String> = fields.optional("metric", what)?;
    match name.as_deref() {
        None | Some("hops") => Ok(Metric::Hops),
        Some("weights") => Ok(Metric::Weights),
        Some(other) => Err(no_name("metric", other, what)),
    }
}

/// Queries about the client's window, as [`asked`].
fn memory_query(op: &str, fields: &mut Fields<'_>) -> Result<Result<Query, Value>, Value> {
    let mut word = |name| fields.take::<u32>(name, WORD);
    Ok(match op {
        "load" => inside(word("address")?, 1).map(|address| Query::Load { address }),
        "store" => {
            let (address, value) = (word("address")?, word("value")?);
            inside(address, 1).map(|address| Query::Store { address, value })
        }
        "add" => {
            let (address, value) = (word("address")?, word("value")?);
            inside(address, 1).map(|address| Query::Add { address, value })
        }
        "compare_swap" => {
            let (address, expected) = (word("address")?, word("expected")?);
            let value = word("value")?;
            inside(address, 1).map(|address| Query::CompareSwap {
                address,
                expected,
                value,
            })
        }
        "copy" => {
            let (from, to, words) = (word("from")?, word("to")?, word("words")?);
            inside(from, words).and_then(|address| {
                let to = inside(to, words)?;
                let from = Span { address, words };
                Ok(Query::Copy { from, to })
            })
        }
        "automaton" => {
            let (table, from, words) = (word("table")?, word("from")?, word("words")?);
            inside(table, 2).and_then(|table| {
                let address = inside(from, words)?;
                Ok(Query::Automaton {
                    table,
                    input: Span { address, words },
                    parent: 0,
                })
            })
        }
        "print" => Ok(Query::Print(
            fields.take("words", "a list of whole numbers from 0 to 4294967295")?,
        )),
        "packed" => {
            let items = fields.items("operations")?;
            let shorts = items.iter().map(|(path, item)| short(path, item));
            let shorts = shorts.collect::<Result<Vec<Short>, Value>>()?;
            let mut addresses = shorts.iter().map(|short| short.address);
            let checked = addresses.try_for_each(|address| inside(address, 1).map(drop));
            checked.map(|()| Query::Packed(shorts))
        }
        of_modules if MODULE_OPS.contains(&of_modules) => {
            let message = format!(
                "\"op\" is {of_modules:?}, which is for modules, and this service has a graph; it must be {OPS}"
            );
            return Err(bad("op", &message));
        }
        other => return Err(no_name("op", other, OPS)),
    })
}

/// An operation of several in one slot.
fn short(path: &str, item: &RawValue) -> Result<Short, Value> {
    let mut fields = Fields::of_value(path, item)?;
    fields.check_names()?;
    let what = "one of nop, load, store, add";
    let name: String = fields.take("op", what)?;
    let op = match &*name {
        "nop" => ShortOp::Nop,
        "load" => ShortOp::Load,
        "store" => ShortOp::Store,
        "add" => ShortOp::Add,
        other => return Err(no_name(&format!("{path}.op"), other, what)),
    };
    let mut word = |is_taken, name| {
        if is_taken {
            fields.take::<u32>(name, WORD)
        } else {
            Ok(0)
        }
    };
    let address = word(op != ShortOp::Nop, "address")?;
    let value = word(matches!(op, ShortOp::Store | ShortOp::Add), "value")?;
    fields.end(&name)?;
    Ok(Short { op, address, value })
}

/// The address, if its words lie in the part of the window that clients may address.
fn inside(address: u32, words: u32) -> Result<u32, Value> {
    let end = address.checked_add(words);
    if end.is_some_and(|end| end <= WINDOW) {
        return Ok(address);
    }
    let message = format!("words {address} and on; a client has {WINDOW}");
    Err(json!({"kind": "bad_address", "address": address, "message": message}))
}

impl NodeText {
    /// The field that names a node: by an id only if nodes have no names.
    fn take(fields: &mut Fields<'_>, name: &'static str, graph: &Graph) -> Result<Self, Value> {
        match graph.has_names() {
            true => fields.take(name, NAMED_NODE),
            false => fields.take(name, NODE).map(Self::Id),
        }
    }
}

/// The node that a line names. If nodes have names, a number is a name, too.
fn node_of(graph: &Graph, text: &NodeText) -> Result<u32, Value> {
    let (found, node) = match text {
        NodeText::Id(id) if graph.has_names() => (graph.find(&id.to_string()), json!(id)),
        NodeText::Id(id) => (graph.node_of(*id), json!(id)),
        NodeText::Name(name) => (graph.find(name), json!(name)),
    };
    found.ok_or_else(|| {
        let message = format!("the graph has no node {node}");
        json!({"kind": "no_such_node", "node": node, "message": message})
    })
}
