//! Programs as text: JSON of registers, waves and their code, for programs that are tried, shared
//! and planned without compiling anything.
//!
//! The form is version 1 of `docs/program-text.md`. Every part is checked on the way, and an error
//! says where it stands. Memory grows with the text alone; registers are allocated by whoever runs
//! the program, within a budget.

mod at;
mod code;
mod error;
mod registers;
mod values;

use self::at::At;
use self::registers::Registers;
use crate::program::builder::ProgramBuilder;
use crate::program::each::Over;
use crate::program::encoded::RegisterId;
use seawall_core::abi::program::Reduction;

pub use error::{TextError, TextProblem};
pub use registers::{GraphSize, TextResult};

/// The version of the form.
const VERSION: u64 = 1;

/// The longest text that is read, bytes.
pub const TEXT_BYTES_MAX: usize = 1 << 20;

/// Iterations of a loop without a limit of its own.
const UNLIMITED: u32 = u32::MAX - 1;

/// A program that was read from text.
#[derive(Clone, Debug)]
pub struct TextProgram {
    /// The program.
    pub program: ProgramBuilder,
    /// Its results, in the order of the text.
    pub results: Vec<TextResult>,
    /// Words of its inputs.
    pub inputs: Vec<(RegisterId, Vec<u32>)>,
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
/// The first part that makes no sense, and its place. That the program itself makes sense is
/// checked when it is encoded.
pub fn read_text(text: &str, graph: GraphSize) -> Result<TextProgram, TextError> {
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
    let registers = Registers::read(&mut program, &at.field("registers")?, graph)?;
    add_waves(&mut program, &registers, &at.field("waves")?)?;
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

fn add_waves(
    program: &mut ProgramBuilder,
    registers: &Registers<'_>,
    list: &At<'_>,
) -> Result<(), TextError> {
    let mut items = list.items()?.into_iter();
    items.try_for_each(|at| add_wave(program, registers, &at))
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

fn add_wave(
    program: &mut ProgramBuilder,
    registers: &Registers<'_>,
    at: &At<'_>,
) -> Result<(), TextError> {
    let name = match at.optional("name")? {
        Some(name) => name.text()?,
        None => at.place(),
    };
    let check = |fields: &[&str]| at.check_fields(&[&COMMON, fields].concat());
    let register = |field| registers.named(&at.field(field)?);
    let kind = at.field("wave")?;
    match kind.text()? {
        "fill" => {
            check(&["to", "value"])?;
            program.fill(name, register("to")?, at.field("value")?.word()?);
        }
        "iota" => {
            check(&["to"])?;
            program.iota(name, register("to")?);
        }
        "copy" => {
            check(&["to", "from"])?;
            program.copy(name, register("to")?, register("from")?);
        }
        "reduce" => {
            check(&["to", "from", "how"])?;
            let how = at.field("how")?.choice("reduction", &REDUCTIONS)?;
            program.reduce(name, how, register("to")?, register("from")?);
        }
        "each" => {
            check(&["over", "code"])?;
            add_code(program, registers, (name, at))?;
        }
        "fixpoint" | "while" => add_loop(program, registers, (name, at))?,
        _ => {
            let known = "fill, iota, copy, reduce, each, fixpoint, while";
            return Err(kind.unknown("wave", known));
        }
    }
    Ok(())
}

/// Adds a loop: on a register where the text names one.
fn add_loop(
    program: &mut ProgramBuilder,
    registers: &Registers<'_>,
    (name, at): (&str, &At<'_>),
) -> Result<(), TextError> {
    let (limit, body) = (limit(at)?, at.field("body")?);
    let mut added = Ok(());
    let add = |program: &mut ProgramBuilder| added = add_waves(program, registers, &body);
    if at.field("wave")?.text()? == "fixpoint" {
        at.check_fields(&["wave", "name", "limit", "body"])?;
        program.fixpoint(name, limit, add);
    } else {
        at.check_fields(&["wave", "name", "register", "limit", "body"])?;
        let condition = registers.named(&at.field("register")?)?;
        program.while_nonzero(name, (condition, limit), add);
    }
    added
}

fn limit(at: &At<'_>) -> Result<u32, TextError> {
    let limit = at.optional("limit")?;
    limit.map_or(Ok(UNLIMITED), |limit| limit.word())
}

fn add_code(
    program: &mut ProgramBuilder,
    registers: &Registers<'_>,
    (name, at): (&str, &At<'_>),
) -> Result<(), TextError> {
    let over = over(&at.field("over")?, registers)?;
    let code = at.field("code")?;
    let mut written = Ok(());
    program.each(name, over, |item| {
        written = code::write(item, registers, &code);
    });
    written
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
