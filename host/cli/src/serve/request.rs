//! One line of a client: a query and what to call it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::programs::{Run, RunLine};
use super::{NEIGHBOURS, Served, WINDOW};
use seawall::graph::Graph;
use seawall::service::{Metric, Priority, Query, Short, ShortOp, Span};

/// Bytes of a line at most.
pub(super) const LINE_MAX: usize = 1 << 16;

/// A line that is understood.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: Value,
    pub(super) priority: Priority,
    /// The client's name for the batch that it belongs to.
    pub(super) batch: Option<String>,
    pub(super) asked: Asked,
}

/// Request of a line.
#[derive(Debug)]
pub(super) enum Asked {
    /// A query of the service.
    Query(Query),
    /// The neighbours of a node, of which so many fit the answer.
    Neighbours { node: u32, limit: u32 },
    /// A run of a program.
    Run(Run),
    /// The end of a batch.
    Fence,
    /// Statistics of the service.
    Stats,
}

/// A line that is not, and the id that it has if it has one.
#[derive(Debug)]
pub(super) struct Bad {
    pub(super) id: Value,
    pub(super) error: Value,
}

#[derive(Debug, Deserialize)]
struct Line {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    priority: Level,
    batch: Option<String>,
    #[serde(flatten)]
    op: Op,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Critical,
    High,
    #[default]
    Normal,
    Low,
    Idle,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Op {
    Nop,
    Stats,
    Reach {
        source: u64,
        target: u64,
    },
    Distance {
        source: u64,
        target: u64,
        #[serde(default)]
        metric: MetricName,
    },
    Neighbours {
        node: u64,
        limit: Option<u32>,
    },
    Load {
        address: u32,
    },
    Store {
        address: u32,
        value: u32,
    },
    Add {
        address: u32,
        value: u32,
    },
    CompareSwap {
        address: u32,
        expected: u32,
        value: u32,
    },
    Copy {
        from: u32,
        to: u32,
        words: u32,
    },
    Packed {
        operations: Vec<PackedOp>,
    },
    Print {
        words: Vec<u32>,
    },
    Automaton {
        table: u32,
        from: u32,
        words: u32,
    },
    Run {
        program: String,
        #[serde(default)]
        inputs: BTreeMap<String, Value>,
        result: Option<String>,
        limit: Option<u32>,
    },
    Fence,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum MetricName {
    #[default]
    Hops,
    Weights,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum PackedOp {
    Nop,
    Load { address: u32 },
    Store { address: u32, value: u32 },
    Add { address: u32, value: u32 },
}

impl PackedOp {
    const fn short(self) -> Short {
        let (op, address, value) = match self {
            Self::Nop => (ShortOp::Nop, 0, 0),
            Self::Load { address } => (ShortOp::Load, address, 0),
            Self::Store { address, value } => (ShortOp::Store, address, value),
            Self::Add { address, value } => (ShortOp::Add, address, value),
        };
        Short { op, address, value }
    }
}

/// Reads a line; nodes are named by the ids of the graph's file.
pub(super) fn read(line: &[u8], served: &Served) -> Result<Request, Bad> {
    let bad = |id: Value, error: Value| Bad { id, error };
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        let message = format!("no JSON object on this line: {error}");
        bad(Value::Null, json!({"kind": "not_json", "message": message}))
    })?;
    let id = value.get("id").cloned().unwrap_or_default();
    let line: Line = serde_json::from_value(value).map_err(|error| {
        let error = json!({"kind": "bad_query", "message": error.to_string()});
        bad(id.clone(), error)
    })?;
    let asked = asked(line.op, served).map_err(|error| bad(id, error))?;
    Ok(Request {
        id: line.id,
        priority: priority(line.priority),
        batch: line.batch,
        asked,
    })
}

const fn priority(level: Level) -> Priority {
    match level {
        Level::Critical => Priority::Critical,
        Level::High => Priority::High,
        Level::Normal => Priority::Normal,
        Level::Low => Priority::Low,
        Level::Idle => Priority::Idle,
    }
}

fn asked(op: Op, served: &Served) -> Result<Asked, Value> {
    let node = |id: u64| node_of(&served.graph, id);
    Ok(Asked::Query(match op {
        Op::Stats => return Ok(Asked::Stats),
        Op::Fence => return Ok(Asked::Fence),
        Op::Run {
            program,
            inputs,
            result,
            limit,
        } => {
            let line = RunLine {
                program,
                inputs,
                result,
                limit,
            };
            return served.programs.run(&line).map(Asked::Run);
        }
        Op::Neighbours { node: id, limit } => {
            let limit = limit.unwrap_or(NEIGHBOURS).min(NEIGHBOURS);
            let node = node(id)?;
            return Ok(Asked::Neighbours { node, limit });
        }
        Op::Nop => Query::Nop,
        Op::Reach { source, target } => Query::Reach {
            source: node(source)?,
            target: node(target)?,
        },
        Op::Distance {
            source,
            target,
            metric,
        } => Query::Distance {
            source: node(source)?,
            target: node(target)?,
            metric: match metric {
                MetricName::Hops => Metric::Hops,
                MetricName::Weights => Metric::Weights,
            },
        },
        memory => memory_query(memory)?,
    }))
}

/// Queries about the client's window.
fn memory_query(op: Op) -> Result<Query, Value> {
    Ok(match op {
        Op::Load { address } => Query::Load {
            address: inside(address, 1)?,
        },
        Op::Store { address, value } => Query::Store {
            address: inside(address, 1)?,
            value,
        },
        Op::Add { address, value } => Query::Add {
            address: inside(address, 1)?,
            value,
        },
        Op::CompareSwap {
            address,
            expected,
            value,
        } => Query::CompareSwap {
            address: inside(address, 1)?,
            expected,
            value,
        },
        Op::Copy { from, to, words } => Query::Copy {
            from: Span {
                address: inside(from, words)?,
                words,
            },
            to: inside(to, words)?,
        },
        Op::Packed { operations } => {
            let shorts: Vec<Short> = operations.into_iter().map(PackedOp::short).collect();
            for short in &shorts {
                inside(short.address, 1)?;
            }
            Query::Packed(shorts)
        }
        Op::Print { words } => Query::Print(words),
        Op::Automaton { table, from, words } => Query::Automaton {
            table: inside(table, 2)?,
            input: Span {
                address: inside(from, words)?,
                words,
            },
            parent: 0,
        },
        _ => Query::Nop,
    })
}

/// The address, if such words lie in the part of the window that clients name.
fn inside(address: u32, words: u32) -> Result<u32, Value> {
    let end = address.checked_add(words);
    if end.is_some_and(|end| end <= WINDOW) {
        return Ok(address);
    }
    let message = format!("words {address} and on; a client has {WINDOW}");
    Err(json!({"kind": "bad_address", "address": address, "message": message}))
}

fn node_of(graph: &Graph, id: u64) -> Result<u32, Value> {
    graph.node_of(id).ok_or_else(|| {
        let message = format!("the graph has no node {id}");
        json!({"kind": "no_such_node", "node": id, "message": message})
    })
}
