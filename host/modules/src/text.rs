//! Flow graphs as text, the front end for other languages.
//!
//! The form is version 1 of `docs/program-analysis.md`: a line a statement, words separated by
//! spaces, `#` before a comment.
//!
//! ```text
//! seawall-flow 1
//! function main exported
//! parameters n
//! block entry -> loop
//!   def i
//! block loop -> loop done
//!   use i
//!   def i
//!   call step
//! block done
//!   use n
//! function step imported
//! ```

use crate::error::ModuleError;
use crate::model::{Block, Function, Image, Kind, Module, Op, Program};
use crate::order::Rows;
use hashbrown::HashMap;

/// The word that such a text begins with; the version follows.
pub const MAGIC: &str = "seawall-flow";

/// Whether bytes look like this format.
#[must_use]
pub fn is_text(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC.as_bytes())
}

/// Reads `text` and adds its functions to `program`, by the name `path`. Memory grows with the
/// text.
///
/// # Errors
/// [`ModuleError::Text`] with the line of the first problem.
pub fn read(program: &mut Program, path: &str, text: &str) -> Result<(), ModuleError> {
    let mut reader = Reader::default();
    for (at, line) in text.lines().enumerate() {
        let words = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = words.split_whitespace().collect();
        let done = match (at, words.as_slice()) {
            (0, words) => header(words),
            (_, []) => Ok(()),
            (_, [statement, rest @ ..]) => reader.take(at as u32 + 1, statement, rest),
        };
        done.map_err(|problem| failed(path, at + 1, problem))?;
    }
    let functions = reader.finish();
    let mut functions = functions.map_err(|(line, problem)| failed(path, line, problem))?;
    let module = program.modules.len() as u32;
    let first = program.functions.len();
    for (index, function) in (0..).zip(&mut functions) {
        (function.module, function.index) = (module, index);
    }
    program.modules.push(Module {
        path: path.to_owned(),
        bytes: text.len() as u64,
        functions: first..first + functions.len(),
        image: Image::default(),
        ..Module::default()
    });
    program.functions.append(&mut functions);
    Ok(())
}

fn failed(path: &str, line: usize, problem: String) -> ModuleError {
    ModuleError::Text {
        path: path.to_owned(),
        line,
        problem,
    }
}

fn header(words: &[&str]) -> Result<(), String> {
    match words {
        ["seawall-flow", "1"] => Ok(()),
        _ => Err(format!("the first line is to be `{MAGIC} 1`")),
    }
}

#[derive(Debug, Default)]
struct Reader {
    functions: Vec<Draft>,
    names: HashMap<String, usize>,
}

/// A function whose targets are still names.
#[derive(Debug, Default)]
struct Draft {
    function: Function,
    line: u32,
    cells: HashMap<String, u32>,
    facts: HashMap<String, u32>,
    blocks: Vec<DraftBlock>,
    block_names: HashMap<String, u32>,
    calls: Vec<(u32, String)>,
}

#[derive(Debug, Default)]
struct DraftBlock {
    line: u32,
    targets: Vec<String>,
    ops: Vec<Op>,
}

impl Reader {
    fn take(&mut self, line: u32, statement: &str, rest: &[&str]) -> Result<(), String> {
        if statement == "function" {
            return self.begin(line, rest);
        }
        let draft = self.functions.last_mut();
        let draft = draft.ok_or_else(|| format!("`{statement}` before any function"))?;
        match (statement, rest) {
            ("parameters", names) if draft.blocks.is_empty() && draft.cells.is_empty() => {
                for name in names {
                    draft.cell(name);
                }
                draft.function.parameters = draft.cells.len() as u32;
                Ok(())
            }
            ("block", [name]) => draft.begin(line, name, &[]),
            ("block", [name, "->", targets @ ..]) => draft.begin(line, name, targets),
            ("use" | "def" | "gen" | "kill" | "call", names @ [_, ..]) => names
                .iter()
                .try_for_each(|name| draft.op(line, statement, name)),
            _ => Err(format!(
                "`{statement}` as it stands is no statement; there are function NAME [exported|imported], parameters NAME.., block NAME [-> NAME..], use, def, gen, kill and call NAME.."
            )),
        }
    }

    fn begin(&mut self, line: u32, words: &[&str]) -> Result<(), String> {
        let ([name] | [name, "exported" | "imported"]) = words else {
            return Err("`function NAME`, then nothing, `exported` or `imported`".to_owned());
        };
        let mut draft = Draft {
            line,
            ..Draft::default()
        };
        draft.function.name = Some((*name).to_owned());
        match words.get(1) {
            Some(&"exported") => draft.function.exports.push((*name).to_owned()),
            Some(_) => {
                draft.function.import = Some(("text".to_owned(), (*name).to_owned()));
            }
            None => {}
        }
        let number = self.functions.len();
        if self.names.insert((*name).to_owned(), number).is_some() {
            return Err(format!("a second function {name}"));
        }
        self.functions.push(draft);
        Ok(())
    }

    /// Resolves all names.
    fn finish(self) -> Result<Vec<Function>, (usize, String)> {
        let names = self.names;
        let functions = self.functions.into_iter();
        functions.map(|draft| draft.finish(&names)).collect()
    }
}

/// The number of a name, the next one if it is new.
fn number(names: &mut HashMap<String, u32>, all: &mut Vec<String>, name: &str) -> u32 {
    let next = all.len() as u32;
    let number = *names.entry_ref(name).or_insert(next);
    if number == next {
        all.push(name.to_owned());
    }
    number
}

impl Draft {
    fn cell(&mut self, name: &str) -> u32 {
        number(&mut self.cells, &mut self.function.body.names, name)
    }

    fn begin(&mut self, line: u32, name: &str, targets: &[&str]) -> Result<(), String> {
        if self.function.import.is_some() {
            return Err("a block of an imported function".to_owned());
        }
        let next = self.blocks.len() as u32;
        if self.block_names.insert(name.to_owned(), next).is_some() {
            return Err(format!("a second block {name}"));
        }
        self.blocks.push(DraftBlock {
            line,
            targets: targets.iter().map(|target| (*target).to_owned()).collect(),
            ops: Vec::new(),
        });
        Ok(())
    }

    fn op(&mut self, line: u32, statement: &str, name: &str) -> Result<(), String> {
        let (kind, arg) = match statement {
            "use" => (Kind::LocalGet, self.cell(name)),
            "def" => (Kind::LocalSet, self.cell(name)),
            "call" => {
                self.calls.push((line, name.to_owned()));
                (Kind::Call, self.calls.len() as u32 - 1)
            }
            _ => {
                let fact = number(&mut self.facts, &mut self.function.body.facts, name);
                (Kind::Fact, 2 * fact + u32::from(statement == "gen"))
            }
        };
        let block = self.blocks.last_mut();
        let block = block.ok_or_else(|| format!("`{statement}` before any block"))?;
        block.ops.extend(Op::new(line, kind, arg, (0, 0)));
        Ok(())
    }

    fn finish(mut self, functions: &HashMap<String, usize>) -> Result<Function, (usize, String)> {
        let mut edges = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let mut row = Vec::with_capacity(block.targets.len());
            for target in &block.targets {
                let known = self.block_names.get(target);
                let problem = || (block.line as usize, format!("no block {target}"));
                row.push(*known.ok_or_else(problem)?);
            }
            row.sort_unstable();
            row.dedup();
            edges.push(row);
        }
        let mut called = Vec::with_capacity(self.calls.len());
        for (line, name) in &self.calls {
            let known = functions.get(name);
            let problem = || (*line as usize, format!("no function {name}"));
            called.push(*known.ok_or_else(problem)? as u32);
        }
        let first = (0..edges.len() as u32).take(1);
        // What the entry does not reach makes no block.
        let order = Rows::of(&edges).reached_order(first);
        let mut place = vec![0_u32; edges.len()];
        for (new, old) in (0..).zip(&order) {
            place[*old as usize] = new;
        }
        let body = &mut self.function.body;
        body.locals = body.names.len() as u32;
        body.place = self.line..self.blocks.last().map_or(self.line, |block| block.line) + 1;
        for old in order {
            let block = &self.blocks[old as usize];
            let begins = Block {
                first_op: body.ops.len() as u32,
                offset: block.line,
                ..Block::default()
            };
            let row = edges[old as usize].iter().map(|to| place[*to as usize]);
            body.push(begins, row);
            for op in &block.ops {
                let arg = match op.kind() {
                    Kind::Call => called[op.arg as usize],
                    _ => op.arg,
                };
                body.ops.push(op.with(arg));
            }
        }
        Ok(self.function)
    }
}
