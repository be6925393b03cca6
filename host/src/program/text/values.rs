//! Values in the code of a program's text: names, numbers and operations.

use super::at::At;
use super::error::{TextError, TextProblem};
use super::registers::Registers;
use crate::program::code::{Edge, Item, Value};
use crate::program::encoded::RegisterId;
use seawall_core::abi::code::Edges;
use std::collections::HashMap;

/// Directions by name.
pub(super) const EDGES: [(&str, Edges); 2] = [("out", Edges::Out), ("in", Edges::In)];

/// Names that code may use, and its place.
pub(super) struct Names<'a, 't, 'c> {
    item: Item<'c>,
    edge: Option<Edge<'c>>,
    registers: &'a Registers<'a>,
    values: HashMap<&'t str, Value<'c>>,
}

/// The operations by the number of their operands, for errors.
const KNOWN: [&str; 4] = [
    "index, neighbour, number, weight, float_weight",
    "u32, u64, i32, f32, load, there, hash, ones, low_zeros, high, bits, is_zero, to_u32, to_i32, \
     to_f32, to_u64",
    "at, latest, degree, first_edge, add, sub, mul, div, rem, min, max, and, or, xor, shl, shr, \
     equals, differs, below, at_most, above, both, either, below_high",
    "select, random",
];

/// An operation that is none on this number of operands: it takes another number, or has no such
/// name.
fn no_operation(operation: &At<'_>, found: usize) -> TextError {
    let name = operation.as_text().unwrap_or_default();
    let takes = KNOWN
        .iter()
        .position(|names| names.split(", ").any(|known| known == name));
    match takes {
        Some(expected) => operation.error(TextProblem::Count { found, expected }),
        None => operation.unknown("operation", &KNOWN.join(", ")),
    }
}

impl<'a, 't, 'c> Names<'a, 't, 'c> {
    pub(super) fn new(item: Item<'c>, registers: &'a Registers<'a>) -> Self {
        Self {
            item,
            edge: None,
            registers,
            values: HashMap::new(),
        }
    }

    /// The same names at an edge; names of the edge end with it.
    pub(super) fn at_edge(&self, edge: Edge<'c>) -> Self {
        Self {
            item: self.item,
            edge: Some(edge),
            registers: self.registers,
            values: self.values.clone(),
        }
    }

    pub(super) const fn item(&self) -> Item<'c> {
        self.item
    }

    pub(super) const fn edge(&self) -> Option<Edge<'c>> {
        self.edge
    }

    pub(super) fn register(&self, at: &At<'_>) -> Result<RegisterId, TextError> {
        self.registers.named(at)
    }

    /// Gives `value` the name `at`.
    pub(super) fn bind(&mut self, at: &At<'t>, value: Value<'c>) -> Result<(), TextError> {
        let name = at.text()?;
        if self.values.insert(name, value).is_some() {
            let name = name.to_owned();
            return Err(at.error(TextProblem::Twice { name }));
        }
        Ok(())
    }

    pub(super) fn value(&self, at: &At<'t>) -> Result<Value<'c>, TextError> {
        if let Some(name) = at.as_text() {
            let found = self.values.get(name);
            return found.copied().ok_or_else(|| {
                let mut known: Vec<&str> = self.values.keys().copied().collect();
                known.sort_unstable();
                at.unknown("value", &known.join(", "))
            });
        }
        if !at.is_list() {
            return Ok(self.item.constant(at.constant()?));
        }
        let parts = at.items()?;
        let Some((operation, operands)) = parts.split_first() else {
            return Err(at.error(TextProblem::Missing {
                what: "an operation",
            }));
        };
        match operands {
            [] => self.alone(operation),
            [a] => self.of_one(operation, a),
            [a, b] => self.of_two(operation, [a, b]),
            [a, b, c] => self.of_three(operation, [a, b, c]),
            more => {
                operation.text()?;
                Err(no_operation(operation, more.len()))
            }
        }
    }

    fn here(&self, at: &At<'_>) -> Result<Edge<'c>, TextError> {
        self.edge.ok_or_else(|| at.error(TextProblem::NoEdge))
    }

    fn alone(&self, operation: &At<'t>) -> Result<Value<'c>, TextError> {
        Ok(match operation.text()? {
            "index" => self.item.index(),
            "neighbour" => self.here(operation)?.neighbour(),
            "number" => self.here(operation)?.number(),
            "weight" => self.here(operation)?.weight(),
            "float_weight" => self.here(operation)?.float_weight(),
            _ => return Err(no_operation(operation, 0)),
        })
    }

    fn of_one(&self, operation: &At<'t>, a: &At<'t>) -> Result<Value<'c>, TextError> {
        let value = || self.value(a);
        Ok(match operation.text()? {
            "u32" => self.item.constant(a.word()?),
            "u64" => self.item.constant(a.long()?),
            "i32" => self.item.constant(a.signed()?),
            "f32" => self.item.constant(a.float()?),
            "load" => self.item.load(self.register(a)?),
            "there" => self.here(operation)?.there(self.register(a)?),
            "hash" => value()?.hash(),
            "ones" => value()?.ones(),
            "low_zeros" => value()?.low_zeros(),
            "high" => value()?.high(),
            "bits" => value()?.bits(),
            "is_zero" => value()?.is_zero(),
            "to_u32" => value()?.to_u32(),
            "to_i32" => value()?.to_i32(),
            "to_f32" => value()?.to_f32(),
            "to_u64" => value()?.to_u64(),
            _ => return Err(no_operation(operation, 1)),
        })
    }

    fn of_two(&self, operation: &At<'t>, [a, b]: [&At<'t>; 2]) -> Result<Value<'c>, TextError> {
        let edges = || a.choice("direction", &EDGES);
        match operation.text()? {
            "at" => return Ok(self.item.at(self.register(a)?, self.value(b)?)),
            "latest" => return Ok(self.item.latest(self.register(a)?, self.value(b)?)),
            "degree" => return Ok(self.item.degree(edges()?, self.value(b)?)),
            "first_edge" => return Ok(self.item.first_edge(edges()?, self.value(b)?)),
            _ => {}
        }
        let (a, b) = (self.value(a)?, self.value(b)?);
        Ok(match operation.text()? {
            "add" => a + b,
            "sub" => a - b,
            "mul" => a * b,
            "div" => a / b,
            "rem" => a % b,
            "min" => a.min(b),
            "max" => a.max(b),
            "and" => a & b,
            "or" => a | b,
            "xor" => a ^ b,
            "shl" => a << b,
            "shr" => a >> b,
            "equals" => a.equals(b),
            "differs" => a.differs(b),
            "below" => a.below(b),
            "at_most" => a.at_most(b),
            "above" => a.above(b),
            "both" => a.and(b),
            "either" => a.or(b),
            "below_high" => a.below_high(b),
            _ => return Err(no_operation(operation, 2)),
        })
    }

    fn of_three(
        &self,
        operation: &At<'t>,
        [a, b, c]: [&At<'t>; 3],
    ) -> Result<Value<'c>, TextError> {
        match operation.text()? {
            "select" => Ok(self.value(a)?.select(self.value(b)?, self.value(c)?)),
            "random" => Ok(self.value(a)?.random(self.value(b)?, c.word()?)),
            _ => Err(no_operation(operation, 3)),
        }
    }
}
