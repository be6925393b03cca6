//! Graphs whose edges have labels, as text.

use super::text::{failed, words};
use super::{Grammar, Symbol};
use crate::error::ModuleError;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Most nodes: numbers of nodes are words.
const NODES_MAX: usize = 1 << 30;

/// An edge whose label the grammar has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The label.
    pub symbol: Symbol,
    /// Number of the node where it starts.
    pub from: u32,
    /// Number of the node where it ends.
    pub to: u32,
}

/// Edges with labels between nodes with names.
#[derive(Clone, Debug, Default)]
pub struct Edges {
    /// Names of the nodes, in their order in the texts.
    pub names: Vec<Box<str>>,
    /// The edges, as listed.
    pub edges: Vec<Edge>,
    /// Number of edges with labels that the grammar lacks.
    pub others: u64,
    /// The first such label.
    pub other: Option<String>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Edges {
    /// Reads edges and adds them: on each line `FROM TO LABEL`. Nodes of one name are one node,
    /// across texts. Memory grows with the text.
    ///
    /// # Errors
    /// [`ModuleError::GrammarText`] with `path` and the line of the first problem,
    /// [`ModuleError::TooLarge`] beyond 2^30 nodes.
    pub fn read(&mut self, grammar: &Grammar, path: &str, text: &str) -> Result<(), ModuleError> {
        for (at, line) in text.lines().enumerate() {
            let mut words = words(line);
            let Some(from) = words.next() else {
                continue;
            };
            let (Some(to), Some(label), None) = (words.next(), words.next(), words.next()) else {
                let problem = format!("`{}` is no edge, which is FROM TO LABEL", shown(line));
                return Err(failed(path, at, problem));
            };
            let (from, to) = (self.number(path, from)?, self.number(path, to)?);
            if let Some(symbol) = grammar.symbol(label) {
                self.edges.push(Edge { symbol, from, to });
                continue;
            }
            self.others += 1;
            self.other.get_or_insert_with(|| label.to_owned());
        }
        Ok(())
    }

    /// The number of a node.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<u32> {
        let is_it = |number: &u32| &*self.names[*number as usize] == name;
        self.numbers
            .find(self.hasher.hash_one(name), is_it)
            .copied()
    }

    fn number(&mut self, path: &str, name: &str) -> Result<u32, ModuleError> {
        if let Some(known) = self.node(name) {
            return Ok(known);
        }
        if self.names.len() == NODES_MAX {
            return Err(ModuleError::TooLarge {
                path: path.to_owned(),
                what: "nodes".to_owned(),
                found: NODES_MAX as u64 + 1,
                most: NODES_MAX as u64,
            });
        }
        let number = self.names.len() as u32;
        self.names.push(name.into());
        let (names, hasher) = (&self.names, &self.hasher);
        let hash = |number: &u32| hasher.hash_one(&*names[*number as usize]);
        self.numbers.insert_unique(hash(&number), number, hash);
        Ok(number)
    }
}

/// The start of a line, for a message.
fn shown(line: &str) -> &str {
    let line = line.trim();
    line.char_indices()
        .nth(60)
        .map_or(line, |(end, _)| &line[..end])
}
