//! Questions about resident modules, which are answered where they are read.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Deserialize;
use serde_json::{Value, json};

use super::fields::{Fields, Id, bad};
use super::request::{GRAPH_OPS, no_name};
use crate::analyze::CallArgs;
use crate::failure;
use seawall_modules::ModuleError;
use seawall_modules::calls::{ImportReach, import_reach};
use seawall_modules::finding::{Finding, Place};
use seawall_modules::flow::On;
use seawall_modules::model::Program;
use seawall_modules::report::{Sizes, reaches_import};
use seawall_modules::taint::{Spec, TaintQuestion, TaintSession};

/// Names of operations.
const OPS: &str = "one of nop, taint, reaches, callers, stats";

/// The same, to be told apart from those of graphs.
pub(super) const MODULE_OPS: [&str; 3] = ["taint", "reaches", "callers"];

/// Findings of an answer without `limit`, and the most of one.
const FINDINGS: usize = 16;
const FINDINGS_MAX: usize = 1 << 10;

/// Most findings of an answer with their ways, each of which costs searches.
const WAYS_MAX: usize = 16;

/// Most sources, and most sinks, of a question.
const NAMES_MAX: usize = 64;

/// Bytes that the findings of an answer may have; a client takes 1 MiB.
const ANSWER_BYTES: usize = 1 << 19;

const NAMES: &str = "a name or a list of at most 64";
const LIMIT: &str = "a whole number from 0 to 4294967295";
const TRUTH: &str = "true or false";

pub(super) struct Modules {
    session: TaintSession<'static>,
    reach: ImportReach,
    asked: AtomicU64,
    refused: AtomicU64,
}

/// A name, or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Named {
    One(String),
    Many(Vec<String>),
}

impl Named {
    /// The sources or sinks of a line.
    fn specs(self, field: &str) -> Result<Vec<Spec>, Value> {
        let names = match self {
            Self::One(name) => vec![name],
            Self::Many(names) => names,
        };
        if names.len() > NAMES_MAX {
            let message = format!("{field:?} has {} names; it must be {NAMES}", names.len());
            return Err(bad(field, &message));
        }
        let spec = |name: String| name.parse::<Spec>();
        let specs: Result<Vec<Spec>, String> = names.into_iter().map(spec).collect();
        specs.map_err(|problem| bad(field, &format!("{field:?}: {problem}")))
    }
}

/// The error of a question that the program cannot answer.
fn failed(error: &ModuleError) -> Value {
    let mut fields = failure::of_module(error);
    fields["message"] = json!(error.to_string());
    fields
}

/// The first items, as many as fit an answer, and the number of the others.
fn fitting(items: impl Iterator<Item = Value>, count: usize) -> (Vec<Value>, usize) {
    let mut bytes = 0;
    let fits = move |item: &Value| {
        bytes += item.to_string().len();
        bytes <= ANSWER_BYTES
    };
    let shown: Vec<Value> = items.take_while(fits).collect();
    let rest = count - shown.len();
    (shown, rest)
}

impl Modules {
    /// Analyses a program as far as no question changes it.
    pub(super) fn open(program: Program, calls: &CallArgs, on: On) -> Result<Self, ModuleError> {
        let calls = calls.graph(&program, on)?;
        let reach = import_reach(&program, &calls, on)?;
        let session = TaintSession::open(Cow::Owned(program), Cow::Owned(calls), on)?;
        Ok(Self {
            session,
            reach,
            asked: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        })
    }

    /// The answer to a line, with the client's id.
    pub(super) fn answer(&self, line: &[u8]) -> (Id, Value) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let (id, answer) = match Fields::of_line(line) {
            Err(error) => (Id::default(), Err(error)),
            Ok(mut fields) => {
                let (id, is_valid) = fields.begin();
                (id, is_valid.and_then(|()| self.question(fields)))
            }
        };
        let answer = answer.unwrap_or_else(|error| {
            self.refused.fetch_add(1, Ordering::Relaxed);
            json!({"error": error})
        });
        (id, answer)
    }

    fn question(&self, mut fields: Fields<'_>) -> Result<Value, Value> {
        let op: String = fields.take("op", OPS)?;
        match &*op {
            "nop" => fields.end(&op).map(|()| json!({"done": true})),
            "stats" => fields.end(&op).map(|()| self.stats()),
            "taint" => self.taint(fields),
            "reaches" => self.reaches(fields),
            "callers" => self.callers(fields),
            of_graph if GRAPH_OPS.contains(&of_graph) => {
                let message = format!(
                    "\"op\" is {of_graph:?}, which is for graphs, and this service has modules; it must be {OPS}"
                );
                Err(bad("op", &message))
            }
            other => Err(no_name("op", other, OPS)),
        }
    }

    fn taint(&self, mut fields: Fields<'_>) -> Result<Value, Value> {
        let sources: Named = fields.take("source", NAMES)?;
        let sinks: Named = fields.take("sink", NAMES)?;
        let (limit, has_ways) = shown(&mut fields)?;
        let explains: Option<bool> = fields.optional("explain", TRUTH)?;
        fields.end("taint")?;
        let (sources, sinks) = (sources.specs("source")?, sinks.specs("sink")?);
        let answer = self.session.ask(&TaintQuestion {
            sources: &sources,
            sinks: &sinks,
            limit,
            ways: if has_ways { limit } else { 0 },
        });
        let answer = answer.map_err(|error| failed(&error))?;
        let mut line = json!({"reached": answer.is_reached});
        if let Some(count) = answer.count {
            let findings = answer.findings.iter().map(|finding| json!(finding));
            let (findings, overflow) = fitting(findings, count);
            line["count"] = json!(count);
            line["findings"] = json!(findings);
            line["overflow"] = json!(overflow);
        }
        if explains == Some(true) {
            line["work"] = json!({
                "followed": answer.work.followed, "values": answer.work.values,
                "arguments": answer.work.arguments, "ns": answer.work.ns
            });
        }
        Ok(line)
    }

    /// The functions that run without a call from the program and from which calls reach an import,
    /// or those of a name.
    fn reaches(&self, mut fields: Fields<'_>) -> Result<Value, Value> {
        let import: String = fields.take("import", "MODULE.FIELD or FIELD of an import")?;
        let from: Option<String> = fields.optional("from", "the name of a function")?;
        let (limit, has_ways) = shown(&mut fields)?;
        fields.end("reaches")?;
        let (program, calls) = (self.session.program(), self.session.calls());
        let names = self.session.names();
        let imports = names.imports(program, &import);
        let imports = imports.map_err(|error| failed(&error))?;
        let from = from.map(|from| names.functions("function", &from));
        let from = from.transpose().map_err(|error| failed(&error))?;
        let mut pairs = Vec::new();
        for import in imports {
            let reaching = match from {
                None => self.reach.entries(calls, import),
                Some(from) => self.reach.those_of(from.iter().copied(), import),
            };
            pairs.extend(reaching.into_iter().map(|from| (from, import)));
        }
        let finding = |(from, import): &(u32, u32)| -> Finding {
            reaches_import(program, calls, *from, *import, has_ways)
        };
        let findings = pairs.iter().take(limit).map(finding);
        let findings = findings.map(|finding| json!(finding));
        let (findings, overflow) = fitting(findings, pairs.len());
        Ok(json!({
            "reached": !pairs.is_empty(), "count": pairs.len(), "findings": findings,
            "overflow": overflow
        }))
    }

    /// The functions that call a function, by a table or by reference, too.
    fn callers(&self, mut fields: Fields<'_>) -> Result<Value, Value> {
        let function: String = fields.take("function", "the name of a function")?;
        let limit: Option<u32> = fields.optional("limit", LIMIT)?;
        fields.end("callers")?;
        let named = self.session.names().functions("function", &function);
        let named = named.map_err(|error| failed(&error))?;
        let callers = self.session.calls().callers_of(named);
        let limit = limit.map_or(FINDINGS, |limit| limit as usize);
        let shown = callers.iter().take(limit.min(FINDINGS_MAX));
        let place = |caller: &u32| json!(Place::of(self.session.program(), *caller as usize, None));
        let (shown, overflow) = fitting(shown.map(place), callers.len());
        Ok(json!({"count": callers.len(), "callers": shown, "overflow": overflow}))
    }

    fn stats(&self) -> Value {
        json!({
            "stats": {
                "asked": self.asked.load(Ordering::Relaxed),
                "refused": self.refused.load(Ordering::Relaxed),
                "sources_kept": self.session.kept()
            },
            "program": Sizes::of(self.session.program()),
            "values": self.session.values(), "calls": self.session.sites()
        })
    }
}

/// The limit of findings, and whether they have ways.
fn shown(fields: &mut Fields<'_>) -> Result<(usize, bool), Value> {
    let limit: Option<u32> = fields.optional("limit", LIMIT)?;
    let has_ways: Option<bool> = fields.optional("witness", TRUTH)?;
    let has_ways = has_ways.unwrap_or(false);
    let most = if has_ways { WAYS_MAX } else { FINDINGS_MAX };
    let limit = limit.map_or(FINDINGS, |limit| limit as usize);
    Ok((limit.min(most), has_ways))
}
