//! Grammars as text: the format of Graspan, POCR and CFPQ_PyAlgo, with inverses and comments.

use super::Symbol;
use crate::error::ModuleError;

/// Most symbols of a grammar, inverses not counted.
pub const SYMBOLS_MAX: usize = 16;

/// The right side of a production.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    /// No symbol: every node reaches itself.
    Empty,
    /// One symbol.
    One(Symbol),
    /// One symbol after another.
    Two(Symbol, Symbol),
}

/// A production.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Production {
    /// The derived symbol, never an inverse.
    pub left: Symbol,
    /// The symbols that it derives.
    pub right: Right,
}

impl Production {
    /// The production with a name on its left: reversed if that is an inverse.
    fn new(left: Symbol, right: Right) -> Self {
        let right = match right {
            Right::One(one) if left.is_inverse() => Right::One(one.inverse()),
            Right::Two(first, second) if left.is_inverse() => {
                Right::Two(second.inverse(), first.inverse())
            }
            right => right,
        };
        let left = Symbol(left.0 & !1);
        Self { left, right }
    }
}

/// A grammar in binary normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grammar {
    /// Names of the symbols, in their order in the text.
    pub names: Vec<String>,
    /// The productions, sorted and without repetitions.
    pub productions: Vec<Production>,
    /// The start symbol: the one after `Count:`, else the left side of the first production.
    pub start: Symbol,
}

impl Grammar {
    /// Reads a grammar: on each line a left side and at most two symbols, `~` before inverses.
    ///
    /// # Errors
    /// [`ModuleError::GrammarText`] with `path` and the line of the first problem.
    pub fn read(path: &str, text: &str) -> Result<Self, ModuleError> {
        let mut grammar = Self {
            names: Vec::new(),
            productions: Vec::new(),
            start: Symbol(0),
        };
        let mut trailer = Trailer::Absent;
        for (at, line) in text.lines().enumerate() {
            let taken = grammar.take(line, &mut trailer);
            taken.map_err(|problem| failed(path, at, problem))?;
        }
        let last = text.lines().count().saturating_sub(1);
        if grammar.productions.is_empty() {
            return Err(failed(path, last, "no production".to_owned()));
        }
        if trailer == Trailer::Open {
            let problem = "no start symbol after `Count:`".to_owned();
            return Err(failed(path, last, problem));
        }
        grammar.productions.sort_unstable();
        grammar.productions.dedup();
        Ok(grammar)
    }

    fn take(&mut self, line: &str, trailer: &mut Trailer) -> Result<(), String> {
        let mut words = words(line);
        let Some(left) = words.next() else {
            return Ok(());
        };
        let right = (words.next(), words.next(), words.next());
        match (left, right, *trailer) {
            ("Count:", (None, ..), Trailer::Absent) => *trailer = Trailer::Open,
            (_, (None, ..), Trailer::Open) => {
                let start = self.symbol(left);
                self.start = start.ok_or_else(|| format!("no symbol `{left}` to start from"))?;
                *trailer = Trailer::Closed;
            }
            (.., Trailer::Open | Trailer::Closed) => {
                return Err(format!("`{left}` after `Count:` and the start symbol"));
            }
            (_, (.., Some(third)), _) => {
                return Err(format!(
                    "`{third}` is a third symbol on the right, and two is the most; give the first two a symbol of their own"
                ));
            }
            (_, (first, second, None), _) => {
                let left = self.number(left)?;
                let first = first.map(|name| self.number(name)).transpose()?;
                let second = second.map(|name| self.number(name)).transpose()?;
                let right = match (first, second) {
                    (Some(first), Some(second)) => Right::Two(first, second),
                    (Some(one), None) => Right::One(one),
                    _ => Right::Empty,
                };
                self.productions.push(Production::new(left, right));
            }
        }
        Ok(())
    }

    /// The symbol that a text names, with `~` before it for the inverse.
    #[must_use]
    pub fn symbol(&self, text: &str) -> Option<Symbol> {
        let name = text.strip_prefix('~');
        let number = self
            .names
            .iter()
            .position(|known| known == name.unwrap_or(text))?;
        Some(Symbol((2 * number + usize::from(name.is_some())) as u8))
    }

    /// The symbol that a text names, a new one if need be.
    fn number(&mut self, text: &str) -> Result<Symbol, String> {
        if let Some(known) = self.symbol(text) {
            return Ok(known);
        }
        let name = text.strip_prefix('~').unwrap_or(text);
        if name.is_empty() || name.starts_with('~') {
            return Err(format!(
                "`{text}` names no symbol; the inverse of `a` is `~a`"
            ));
        }
        if self.names.len() == SYMBOLS_MAX {
            return Err(format!(
                "`{name}` is symbol 17, and a grammar has at most 16"
            ));
        }
        self.names.push(name.to_owned());
        Ok(Symbol(
            (2 * self.names.len() - 2 + usize::from(name != text)) as u8,
        ))
    }

    /// The text that names a symbol.
    #[must_use]
    pub fn name(&self, symbol: Symbol) -> String {
        let sign = if symbol.is_inverse() { "~" } else { "" };
        format!("{sign}{}", self.names[symbol.index() / 2])
    }

    /// The symbols, without inverses.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol> + use<> {
        (0..self.names.len() as u8).map(|number| Symbol(2 * number))
    }
}

/// The end of a grammar, `Count:` and the start symbol.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Trailer {
    Absent,
    /// The start symbol is still to come.
    Open,
    Closed,
}

/// The words of a line up to a comment: a word that begins with `#`.
pub(super) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split_whitespace()
        .take_while(|word| !word.starts_with('#'))
}

/// The error of a line, counted from 0.
pub(super) fn failed(path: &str, at: usize, problem: String) -> ModuleError {
    ModuleError::GrammarText {
        path: path.to_owned(),
        line: at + 1,
        problem,
    }
}

/// The text of a file.
///
/// # Errors
/// [`ModuleError::GrammarText`] with the line of the first byte that is not UTF-8.
pub fn utf8(path: &str, bytes: Vec<u8>) -> Result<String, ModuleError> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let at = valid.iter().filter(|byte| **byte == b'\n').count();
        failed(path, at, "not UTF-8".to_owned())
    })
}
