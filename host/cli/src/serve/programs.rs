//! Programs that clients may run, from text files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::{NEIGHBOURS, RESULT_WORDS};
use crate::CliError;
use crate::program::{ProgramFailure, read};
use seawall::graph::{Graph, did_you_mean};
use seawall::program::{GraphSize, Kind, PlanRequest, TextInput, TextResult};
use seawall::service;
use seawall_core::abi::control::FaultCode;

/// Most words of a program's inputs: there is space for the inputs of every open query.
const INPUT_WORDS_MAX: u64 = 1 << 16;

/// Programs, in the order of their options.
#[derive(Debug, Default)]
pub(super) struct Programs {
    offers: Vec<Offer>,
    /// The service's programs: one for each result of each program.
    pub(super) of_service: Vec<service::Program>,
}

/// A program that clients may run.
#[derive(Debug)]
struct Offer {
    name: String,
    /// Number of the service's program for the first result.
    first: u32,
    inputs: Vec<(TextInput, usize)>,
    input_words: u32,
    results: Vec<TextResult>,
}

#[derive(Debug)]
pub(super) struct Run {
    /// Number of the service's program.
    pub(super) number: u32,
    pub(super) inputs: Vec<u32>,
    pub(super) kind: Kind,
    /// Words of these values that fit the answer.
    pub(super) words: u32,
}

/// A run in a client's query.
#[derive(Debug)]
pub(super) struct RunLine {
    pub(super) program: String,
    pub(super) inputs: BTreeMap<String, Value>,
    pub(super) result: Option<String>,
    pub(super) limit: Option<u32>,
}

impl Programs {
    pub(super) fn read(files: &[PathBuf], graph: &Graph) -> Result<Self, CliError> {
        let mut programs = Self::default();
        for file in files {
            programs.add(file, graph)?;
        }
        Ok(programs)
    }

    fn add(&mut self, file: &Path, graph: &Graph) -> Result<(), CliError> {
        let text = read(file)?;
        let name = file.file_stem().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let file = || file.to_string_lossy().into_owned();
        if self.offers.iter().any(|offer| offer.name == name) {
            let (file, name) = (file(), name);
            return Err(ProgramFailure::SameName { file, name }.into());
        }
        let program = text.program(GraphSize {
            nodes: graph.nodes(),
            edges: graph.edges(),
        })?;
        if program.results.is_empty() {
            return Err(ProgramFailure::NothingKept { file: file() }.into());
        }
        let encoded = program.program.encode(&PlanRequest::default());
        let (encoded, _) = encoded.map_err(|source| text.refused(source))?;
        if encoded.input_bytes / 4 > INPUT_WORDS_MAX {
            return Err(ProgramFailure::LongInputs {
                file: file(),
                words: encoded.input_bytes / 4,
                most: INPUT_WORDS_MAX,
            }
            .into());
        }
        let place = |input: TextInput| {
            let place = encoded.input_words(input.register.number());
            (input, place.unwrap_or_default().start)
        };
        let offer = Offer {
            name,
            first: self.of_service.len() as u32,
            inputs: program.inputs.into_iter().map(place).collect(),
            input_words: (encoded.input_bytes / 4) as u32,
            results: program.results,
        };
        let encoded = Arc::new(encoded);
        for result in &offer.results {
            let program = service::Program::new(Arc::clone(&encoded), result.register);
            self.of_service.push(program);
        }
        self.offers.push(offer);
        Ok(())
    }

    /// Words that an open query may need for its inputs and its answer.
    pub(super) fn space_words(&self) -> u32 {
        let words = self.offers.iter().map(Offer::space_words);
        words.max().unwrap_or(0).max(NEIGHBOURS)
    }

    /// The run that a client requests, or its error.
    pub(super) fn run(&self, line: &RunLine, graph: &Graph) -> Result<Run, Value> {
        let offer = self.offers.iter().find(|offer| offer.name == line.program);
        let offer = offer.ok_or_else(|| {
            let names: Vec<&str> = self.offers.iter().map(|offer| &*offer.name).collect();
            unknown("program", &line.program, &names)
        })?;
        let names: Vec<&str> = offer.results.iter().map(|result| &*result.name).collect();
        let index = match &line.result {
            None => Some(0),
            Some(name) => names.iter().position(|known| known == name),
        };
        let index =
            index.ok_or_else(|| unknown("result", line.result.as_deref().unwrap_or(""), &names))?;
        let result = &offer.results[index];
        let number = offer.first + index as u32;
        let inputs = offer.inputs_of(&line.inputs)?;
        let program = self.of_service.get(number as usize);
        if let Some((at, node)) = program.and_then(|program| program.stray_source(&inputs)) {
            return Err(offer.stray(at, node, graph));
        }
        Ok(Run {
            number,
            inputs,
            kind: result.kind,
            words: answer_words(result, line.limit),
        })
    }
}

/// The error of a run that stopped: its wave, and for an index out of range the index and the
/// length.
pub(super) fn program_failure(fault: &service::ProgramFault) -> Value {
    let record = &fault.record;
    let mut error = json!({
        "kind": "fault", "code": service::FaultCode::ProgramFault as u32,
        "detail": record.code, "wave": fault.wave_name, "wave_number": record.wave,
        "iteration": record.iteration, "message": fault.to_string()
    });
    if FaultCode::from_word(record.code) == FaultCode::BadIndex {
        error["index"] = record.arrived.into();
        error["length"] = record.expected.into();
    }
    error
}

impl Offer {
    fn space_words(&self) -> u32 {
        let results = self.results.iter().map(|result| answer_words(result, None));
        self.input_words + results.max().unwrap_or(0)
    }

    /// The error for a source of a search that is no node: word `at` of the input region.
    fn stray(&self, at: usize, node: u32, graph: &Graph) -> Value {
        let holds = |(input, start): &&(TextInput, usize)| {
            (*start..*start + input.words.len()).contains(&at)
        };
        let (name, place) = match self.inputs.iter().find(holds) {
            Some((input, start)) => (&*input.name, at - start),
            None => ("", at),
        };
        let nodes = graph.nodes();
        let message = format!(
            "value {place} of input {name:?} is {node}, and a search starts from it; nodes are \
             numbers below {nodes}"
        );
        json!({
            "kind": "no_such_node", "node": node, "input": name, "at": place, "message": message
        })
    }

    /// The input region: values of the client, and those of the text for other inputs.
    fn inputs_of(&self, given: &BTreeMap<String, Value>) -> Result<Vec<u32>, Value> {
        let is_known = |name: &String| self.inputs.iter().any(|(input, _)| input.name == *name);
        if let Some(name) = given.keys().find(|name| !is_known(name)) {
            let names: Vec<&str> = self.inputs.iter().map(|(input, _)| &*input.name).collect();
            return Err(unknown("input", name, &names));
        }
        let mut region = vec![0; self.input_words as usize];
        for (input, start) in &self.inputs {
            let words = match given.get(&input.name) {
                None => input.words.clone(),
                Some(values) => input.words_of(values).map_err(
                    |error| json!({"kind": "bad_input", "input": input.name, "message": error.to_string()}),
                )?,
            };
            if let Some(place) = region.get_mut(*start..*start + words.len()) {
                place.copy_from_slice(&words);
            }
        }
        Ok(region)
    }
}

/// Words of an answer with at most `limit` values of a result, whole values.
fn answer_words(result: &TextResult, limit: Option<u32>) -> u32 {
    let each = result.kind.words();
    let values = result
        .count
        .min(u64::from(limit.unwrap_or(u32::MAX)))
        .min(u64::from(RESULT_WORDS / each));
    values as u32 * each
}

fn unknown(what: &str, name: &str, known: &[&str]) -> Value {
    let message = match known {
        [] => format!("the service has no {what}"),
        known => format!(
            "no {what} is called {name:?}{}; there are {}",
            did_you_mean(name, known.iter().copied()),
            known.join(", ")
        ),
    };
    json!({"kind": format!("no_such_{what}"), what: name, "message": message})
}
