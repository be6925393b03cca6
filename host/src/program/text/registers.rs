//! Registers of a program's text.

use super::TEXT_BYTES_MAX;
use super::at::At;
use super::error::{TextError, TextProblem};
use crate::program::builder::ProgramBuilder;
use crate::program::encoded::RegisterId;
use seawall_core::abi::code::Kind;
use serde_json::Value;
use std::collections::HashMap;

const REGISTERS_MAX: usize = 64;

/// Sizes of the graph that a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphSize {
    /// Its nodes.
    pub nodes: u32,
    /// Its directed edges.
    pub edges: u32,
}

/// A register that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextResult {
    /// Its name in the text.
    pub name: String,
    /// The register.
    pub register: RegisterId,
    /// Kind of its values.
    pub kind: Kind,
    /// Number of values.
    pub count: u64,
}

/// An input register, and its values in the text, or zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextInput {
    /// Its name in the text.
    pub name: String,
    /// The register.
    pub register: RegisterId,
    /// Kind of its values.
    pub kind: Kind,
    /// The words of its values.
    pub words: Vec<u32>,
}

impl TextInput {
    /// The words of other values for this input, a JSON list of as many numbers.
    ///
    /// # Errors
    /// A list of another length, or a value that is not of the input's kind, with its place.
    pub fn words_of(&self, values: &Value) -> Result<Vec<u32>, TextError> {
        let at = At::value_of(&self.name, values);
        let words = input_words(&at, self.kind)?;
        if words.len() == self.words.len() {
            return Ok(words);
        }
        let each = self.kind.words() as usize;
        Err(at.error(TextProblem::Count {
            found: words.len() / each,
            expected: self.words.len() / each,
        }))
    }
}

#[derive(Debug, Default)]
pub(super) struct Registers<'t> {
    by_name: HashMap<&'t str, RegisterId>,
    pub(super) results: Vec<TextResult>,
    pub(super) inputs: Vec<TextInput>,
}

impl<'t> Registers<'t> {
    pub(super) fn read(
        program: &mut ProgramBuilder,
        at: &At<'t>,
        graph: GraphSize,
    ) -> Result<Self, TextError> {
        let items = at.items()?;
        if items.len() > REGISTERS_MAX {
            return Err(at.error(TextProblem::TooMany {
                what: "registers",
                found: items.len(),
                most: REGISTERS_MAX,
            }));
        }
        let mut registers = Self::default();
        for item in &items {
            registers.add(program, item, graph)?;
        }
        Ok(registers)
    }

    fn add(
        &mut self,
        program: &mut ProgramBuilder,
        at: &At<'t>,
        graph: GraphSize,
    ) -> Result<(), TextError> {
        at.check_fields(&["name", "kind", "count", "values", "input", "keep"])?;
        let name = at.field("name")?;
        let shown = name.text()?.to_owned();
        let kind = kind_of(&at.field("kind")?)?;
        let (register, count) = match (kind, at.optional("values")?) {
            (TextKind::Frontier, _) => {
                at.check_fields(&["name", "kind"])?;
                (program.frontier(shown)?, 0)
            }
            (TextKind::Bitset, _) => {
                at.check_fields(&["name", "kind", "keep"])?;
                // The register is longer, for whole rounds of a warp.
                let words = graph.nodes.div_ceil(u32::BITS);
                (program.bitset(shown)?, u64::from(words))
            }
            (TextKind::Of(kind), Some(values)) => {
                at.check_fields(&["name", "kind", "values", "keep"])?;
                let words = input_words(&values, kind)?;
                self.add_input(program, shown, kind, words)?
            }
            (TextKind::Of(kind), None) if has_flag(at, "input")? => {
                let words = zeros(&at.field("count")?, kind, graph)?;
                self.add_input(program, shown, kind, words)?
            }
            (TextKind::Of(kind), None) => {
                let count = count_of(&at.field("count")?, graph)?;
                (program.values(shown, kind, count)?, count)
            }
        };
        if self.by_name.insert(name.text()?, register).is_some() {
            let name = name.text()?.to_owned();
            return Err(at.error(TextProblem::Twice { name }));
        }
        if has_flag(at, "keep")? {
            program.keep(register);
            self.results.push(TextResult {
                name: name.text()?.to_owned(),
                register,
                kind: kind.of_values(),
                count,
            });
        }
        Ok(())
    }

    /// Adds an input, and returns its register and the number of its values.
    fn add_input(
        &mut self,
        program: &mut ProgramBuilder,
        name: String,
        kind: Kind,
        words: Vec<u32>,
    ) -> Result<(RegisterId, u64), TextError> {
        let count = words.len() as u64 / u64::from(kind.words());
        let register = program.input_values(name.clone(), kind, count)?;
        self.inputs.push(TextInput {
            name,
            register,
            kind,
            words,
        });
        Ok((register, count))
    }

    pub(super) fn named(&self, at: &At<'_>) -> Result<RegisterId, TextError> {
        let found = self.by_name.get(at.text()?);
        found.copied().ok_or_else(|| {
            let mut known: Vec<&str> = self.by_name.keys().copied().collect();
            known.sort_unstable();
            at.unknown("register", &known.join(", "))
        })
    }
}

#[derive(Clone, Copy, Debug)]
enum TextKind {
    Of(Kind),
    Frontier,
    /// A bit for each node.
    Bitset,
}

impl TextKind {
    const fn of_values(self) -> Kind {
        match self {
            Self::Of(kind) => kind,
            Self::Frontier | Self::Bitset => Kind::U32,
        }
    }
}

fn kind_of(at: &At<'_>) -> Result<TextKind, TextError> {
    let values = Kind::ALL.map(|kind| (kind.name(), TextKind::Of(kind)));
    let others = [
        ("frontier", TextKind::Frontier),
        ("bitset", TextKind::Bitset),
    ];
    at.choice("kind", &[&values[..], &others[..]].concat())
}

/// A number of values: of nodes, of edges or a literal.
fn count_of(at: &At<'_>, graph: GraphSize) -> Result<u64, TextError> {
    match at.as_text() {
        None => at.word().map(u64::from),
        Some("nodes") => Ok(graph.nodes.into()),
        Some("edges") => Ok(graph.edges.into()),
        Some(_) => Err(at.unknown("count", "nodes, edges and whole numbers")),
    }
}

/// Returns whether a field exists and is true.
fn has_flag(at: &At<'_>, name: &'static str) -> Result<bool, TextError> {
    at.optional(name)?.map_or(Ok(false), |flag| flag.flag())
}

/// The words of an input without values in the text: zeros, for each node, each edge, or as many as
/// a text could list.
fn zeros(at: &At<'_>, kind: Kind, graph: GraphSize) -> Result<Vec<u32>, TextError> {
    let count = count_of(at, graph)?;
    if at.as_text().is_none() && count > TEXT_BYTES_MAX as u64 {
        return Err(at.error(TextProblem::TooMany {
            what: "values of an input",
            found: count as usize,
            most: TEXT_BYTES_MAX,
        }));
    }
    Ok(vec![0; count as usize * kind.words() as usize])
}

/// The words of a list of values.
fn input_words(at: &At<'_>, kind: Kind) -> Result<Vec<u32>, TextError> {
    let mut words = Vec::new();
    for item in at.items()? {
        match kind {
            Kind::U32 => words.push(item.word()?),
            Kind::I32 => words.push(item.signed()? as u32),
            Kind::F32 => words.push(item.float()?.to_bits()),
            Kind::U64 => {
                let long = item.long()?;
                words.extend([long as u32, (long >> 32) as u32]);
            }
        }
    }
    Ok(words)
}
