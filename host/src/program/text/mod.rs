//! Programs as text: JSON of registers, waves and their code, for programs that are tried, shared
//! and planned without compiling anything.
//!
//! The form is version 1 of `docs/program-text.md`. Every part is checked, and an error names its
//! place. Memory grows with the text, and with the graph where an input has a value for each node
//! or edge; registers are allocated when the program runs, within a budget.

mod at;
mod code;
mod composed;
mod error;
mod registers;
mod values;

use self::at::At;
use self::registers::Registers;
use crate::own::OwnWaves;
use crate::program::builder::ProgramBuilder;
use crate::program::encoded::RegisterId;
use crate::program::vocabulary::Over;
use seawall_core::abi::code::Kind;
use seawall_core::abi::program::Reduction;

pub use error::{TextError, TextProblem};
pub use registers::{GraphSize, TextInput, TextResult};

const VERSION: u64 = 1;

/// The longest text that is read, bytes.
pub const TEXT_BYTES_MAX: usize = 1 << 20;

/// Iterations of a loop without an explicit limit.
const UNLIMITED: u32 = u32::MAX - 1;

/// A program that was read from text.
#[derive(Clone, Debug)]
pub struct TextProgram {
    /// The program.
    pub program: ProgramBuilder,
    /// Its results, in the order of the text.
    pub results: Vec<TextResult>,
    /// Its inputs, in the order of the text.
    pub inputs: Vec<TextInput>,
}

/// Reads the program in `text` for graphs of a size.
///
/// ```
/// use seawall::program::{GraphSize, PlanRequest, read_text};
/// let text = r#"{
///   "version": 1,
///   "registers": [{"name": "squares", "kind": "u32", "count": "nodes", "keep": true}],
///   "waves": [{"wave": "each", "over": "nodes", "code": [
///     {"store": "squares", "value": ["mul", ["index"], ["index"]]}
///   ]}]
/// }"#;
/// let read = read_text(text, GraphSize { nodes: 1000, edges: 0 })?;
/// let (_, plan) = read.program.encode(&PlanRequest::default())?;
/// assert_eq!(plan.groups, 1);
/// # Ok::<(), seawall::program::TextError>(())
/// ```
///
/// # Errors
/// The first invalid part, and its place. The program as a whole is checked when it is encoded.
pub fn read_text(text: &str, graph: GraphSize) -> Result<TextProgram, TextError> {
    read_text_with(text, graph, None)
}

/// Reads a program that may call the waves of a set by their names.
///
/// # Errors
/// As [`read_text`].
pub fn read_text_with(
    text: &str,
    graph: GraphSize,
    own: Option<&OwnWaves>,
) -> Result<TextProgram, TextError> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(TextError::TooLong {
            bytes: text.len(),
            most: TEXT_BYTES_MAX,
        });
    }
    let value = serde_json::from_str(text).map_err(|error| json_error(&error))?;
    let at = At::whole_text(&value);
    at.check_fields(&["version", "registers", "waves", "comment"])?;
    let version = at.field("version")?;
    match version.long()? {
        VERSION => {}
        found => {
            let known = VERSION;
            return Err(version.error(TextProblem::Version { found, known }));
        }
    }
    let mut program = ProgramBuilder::new(graph.nodes);
    if let Some(own) = own {
        program.use_waves(own);
    }
    let registers = Registers::read(&mut program, &at.field("registers")?, graph)?;
    let mut target = Target {
        program: &mut program,
        registers: &registers,
        own,
    };
    target.add_waves(&at.field("waves")?)?;
    let Registers {
        results, inputs, ..
    } = registers;
    Ok(TextProgram {
        program,
        results,
        inputs,
    })
}

fn json_error(error: &serde_json::Error) -> TextError {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let end = format!(" at line {line} column {column}");
    TextError::Json {
        line,
        column,
        reason: text.strip_suffix(&end).unwrap_or(&text).to_owned(),
    }
}

/// A program under construction, and the names that waves may use.
struct Target<'p, 'r> {
    program: &'p mut ProgramBuilder,
    registers: &'r Registers<'r>,
    own: Option<&'r OwnWaves>,
}

/// The fields that every wave may have.
const COMMON: [&str; 2] = ["wave", "name"];

const REDUCTIONS: [(&str, Reduction); 5] = [
    ("any", Reduction::Any),
    ("count", Reduction::Count),
    ("sum", Reduction::Sum),
    ("min", Reduction::Min),
    ("max", Reduction::Max),
];

impl Target<'_, '_> {
    fn add_waves(&mut self, list: &At<'_>) -> Result<(), TextError> {
        let mut items = list.items()?.into_iter();
        items.try_for_each(|at| self.add_wave(&at))
    }

    fn add_wave(&mut self, at: &At<'_>) -> Result<(), TextError> {
        let name = match at.optional("name")? {
            Some(name) => name.text()?,
            None => at.place(),
        };
        let kind = at.field("wave")?;
        match kind.text()? {
            "fill" | "iota" | "copy" | "reduce" | "visited" => self.add_plain(name, at),
            "each" => self.add_code(name, at),
            "fixpoint" | "while" => self.add_loop(name, at),
            "once" => self.add_once(at),
            "search" => self.search(name, at),
            "compact" => self.compact(name, at),
            "segmented_reduce" => self.segments(name, at),
            "own" => self.own(name, at),
            _ => {
                let known = "fill, iota, copy, reduce, visited, each, fixpoint, while, once, \
                    search, compact, segmented_reduce, own";
                Err(kind.unknown("wave", known))
            }
        }
    }

    /// Adds a wave that is one operation on whole registers.
    fn add_plain(&mut self, name: &str, at: &At<'_>) -> Result<(), TextError> {
        let check = |fields: &[&str]| at.check_fields(&[&COMMON, fields].concat());
        let register = |field| self.registers.named(&at.field(field)?);
        match at.field("wave")?.text()? {
            "fill" => {
                check(&["to", "value"])?;
                self.fill(name, register("to")?, &at.field("value")?)?;
            }
            "iota" => {
                check(&["to"])?;
                self.program.iota(name, register("to")?);
            }
            "copy" => {
                check(&["to", "from"])?;
                let (to, from) = (register("to")?, register("from")?);
                self.program.copy(name, to, from);
            }
            "visited" => {
                check(&["to", "frontier"])?;
                let (to, frontier) = (register("to")?, register("frontier")?);
                self.program.visited(name, to, frontier);
            }
            _ => {
                check(&["to", "from", "how"])?;
                let how = at.field("how")?.choice("reduction", &REDUCTIONS)?;
                let (to, from) = (register("to")?, register("from")?);
                self.program.reduce(name, how, to, from);
            }
        }
        Ok(())
    }

    /// Fills a register with a value of its kind, or with a word.
    fn fill(&mut self, name: &str, to: RegisterId, value: &At<'_>) -> Result<(), TextError> {
        let word = match self.program.kind_of(to) {
            _ if value.has("word") => {
                value.check_fields(&["word"])?;
                value.field("word")?.word()?
            }
            Kind::U32 => value.word()?,
            Kind::I32 => value.signed()? as u32,
            Kind::F32 => value.float()?.to_bits(),
            Kind::U64 => match value.long()? {
                0 => 0,
                long => {
                    self.program
                        .each(name, Over::Values(to), |item| item.store(to, long));
                    return Ok(());
                }
            },
        };
        self.program.fill(name, to, word);
        Ok(())
    }

    fn add_loop(&mut self, name: &str, at: &At<'_>) -> Result<(), TextError> {
        let limit = limit(at)?;
        if at.field("wave")?.text()? == "fixpoint" {
            at.check_fields(&[&COMMON[..], &["limit", "body"]].concat())?;
            self.add_body(at, |program, body| program.fixpoint(name, limit, body))
        } else {
            at.check_fields(&[&COMMON[..], &["register", "limit", "body"]].concat())?;
            let condition = self.registers.named(&at.field("register")?)?;
            self.add_body(at, |program, body| {
                program.while_nonzero(name, condition, limit, body);
            })
        }
    }

    /// Adds waves that a session only runs in the first run of the program.
    fn add_once(&mut self, at: &At<'_>) -> Result<(), TextError> {
        at.check_fields(&["wave", "body"])?;
        self.add_body(at, |program, body| program.once(body))
    }

    /// Adds the waves of a field `body` through `add`.
    fn add_body(
        &mut self,
        at: &At<'_>,
        add: impl FnOnce(&mut ProgramBuilder, &mut dyn FnMut(&mut ProgramBuilder)),
    ) -> Result<(), TextError> {
        let (registers, own) = (self.registers, self.own);
        let body = at.field("body")?;
        let mut added = Ok(());
        let mut waves = |program: &mut ProgramBuilder| {
            let mut target = Target {
                program,
                registers,
                own,
            };
            added = target.add_waves(&body);
        };
        add(self.program, &mut waves);
        added
    }

    fn add_code(&mut self, name: &str, at: &At<'_>) -> Result<(), TextError> {
        at.check_fields(&["wave", "name", "over", "code"])?;
        let over = over(&at.field("over")?, self.registers)?;
        let code = at.field("code")?;
        let mut written = Ok(());
        self.program.each(name, over, |item| {
            written = code::write(item, self.registers, &code);
        });
        written
    }
}

fn limit(at: &At<'_>) -> Result<u32, TextError> {
    let limit = at.optional("limit")?;
    limit.map_or(Ok(UNLIMITED), |limit| limit.word())
}

/// The items of a wave of code.
fn over(at: &At<'_>, registers: &Registers<'_>) -> Result<Over, TextError> {
    if at.as_text().is_some() {
        return at.choice("domain", &[("nodes", Over::Nodes)]);
    }
    if at.has("values") {
        at.check_fields(&["values"])?;
        return Ok(Over::Values(registers.named(&at.field("values")?)?));
    }
    if at.has("list") {
        at.check_fields(&["list", "count"])?;
        return Ok(Over::List {
            list: registers.named(&at.field("list")?)?,
            count: registers.named(&at.field("count")?)?,
        });
    }
    at.check_fields(&["count"])?;
    Ok(Over::Count(at.field("count")?.word()?))
}
