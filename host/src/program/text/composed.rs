//! Waves of a text that are more than one operation: searches, lists, segments, custom waves.

use super::Target;
use super::at::At;
use super::code::JOINS;
use super::error::{TextError, TextProblem};
use super::limit;
use super::values::EDGES;
use crate::own::OwnWaves;
use crate::program::own::Call;
use crate::program::patterns::Segments;
use crate::program::vocabulary::Mark;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::facts::Operand;

/// Operands of custom waves by field.
const OPERANDS: [(&str, Operand); 4] = [
    ("to", Operand::To),
    ("first", Operand::First),
    ("second", Operand::Second),
    ("third", Operand::Third),
];

/// Most parameters of a custom wave.
const PARAMETERS: usize = 5;

impl Target<'_, '_> {
    /// Adds a search from the nodes of a list, after emptying the frontier and setting marks to
    /// unreached.
    pub(super) fn search(&mut self, name: &str, at: &At<'_>) -> Result<(), TextError> {
        let fields = [
            "wave", "name", "frontier", "from", "levels", "parents", "limit",
        ];
        at.check_fields(&fields)?;
        let register = |field| self.registers.named(&at.field(field)?);
        let (frontier, from) = (register("frontier")?, register("from")?);
        let mark = match (at.has("levels"), at.has("parents")) {
            (true, true) => return Err(at.error(TextProblem::TwoMarks)),
            (true, false) => Mark::Levels(register("levels")?),
            (false, true) => Mark::Parents(register("parents")?),
            (false, false) => Mark::Bits,
        };
        let limit = limit(at)?;
        if let Some(marks) = mark.register() {
            self.program.fill("unreached", marks, UNREACHED);
        }
        self.program.reset("reset frontier", frontier);
        self.program.seed("seed sources", frontier, from, mark);
        self.program.search(name, frontier, mark, limit);
        Ok(())
    }

    pub(super) fn compact(&mut self, name: &str, at: &At<'_>) -> Result<(), TextError> {
        at.check_fields(&["wave", "name", "list", "count", "mask"])?;
        let register = |field| self.registers.named(&at.field(field)?);
        let list = (register("list")?, register("count")?);
        let mask = register("mask")?;
        self.program.compact(name, list.0, list.1, mask);
        Ok(())
    }

    pub(super) fn segments(&mut self, name: &str, at: &At<'_>) -> Result<(), TextError> {
        at.check_fields(&["wave", "name", "to", "from", "how", "rows", "numbers"])?;
        let register = |field| self.registers.named(&at.field(field)?);
        let (to, from) = (register("to")?, register("from")?);
        let how = at.field("how")?.choice("join", &JOINS)?;
        let segments = match at.optional("rows")? {
            Some(_) if at.has("numbers") => return Err(at.error(TextProblem::TwoSegments)),
            Some(rows) => Segments::Rows(rows.choice("direction", &EDGES)?),
            None => Segments::Numbered(register("numbers")?),
        };
        let (program, operands) = (&mut *self.program, (from, segments));
        program.segmented_reduce(name, how, to, operands.0, operands.1);
        Ok(())
    }

    /// Adds a wave of the set that the reader was given.
    pub(super) fn own(&mut self, name: &str, at: &At<'_>) -> Result<(), TextError> {
        let fields = OPERANDS.map(|(field, _)| field);
        let others = ["wave", "name", "call", "parameters"];
        at.check_fields(&[&others[..], &fields[..]].concat())?;
        let called = at.field("call")?;
        let list = self.own.map_or(&[][..], OwnWaves::list);
        let found = (0..)
            .zip(list)
            .find(|(_, wave)| Some(wave.name()) == called.as_text());
        let Some(declared) = found else {
            let names: Vec<&str> = list.iter().map(|wave| wave.name()).collect();
            let known = match names.as_slice() {
                [] => "none, as this program was read without a set of custom waves".to_owned(),
                names => names.join(", "),
            };
            called.text()?;
            return Err(called.unknown("custom wave", &known));
        };
        let mut call = Call::default();
        for (field, operand) in OPERANDS {
            if let Some(register) = at.optional(field)? {
                call = call.operand(operand, self.registers.named(&register)?);
            }
        }
        let call = match at.optional("parameters")? {
            Some(list) => call.with(parameters(&list)?),
            None => call,
        };
        self.program.own_declared(name, declared, call);
        Ok(())
    }
}

fn parameters(at: &At<'_>) -> Result<[u32; PARAMETERS], TextError> {
    let items = at.items()?;
    if items.len() > PARAMETERS {
        return Err(at.error(TextProblem::TooMany {
            what: "parameters",
            found: items.len(),
            most: PARAMETERS,
        }));
    }
    let mut words = [0; PARAMETERS];
    for (word, item) in words.iter_mut().zip(&items) {
        *word = item.word()?;
    }
    Ok(words)
}
