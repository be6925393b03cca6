//! Points-to as a question of reachability under a grammar.

use super::OpenTables;
use super::net::Net;
use super::rounds::{GivenUp, Rounds};
use crate::calls::Calls;
use crate::error::ModuleError;
use crate::flow::On;
use crate::grammar::GraphSize;
use crate::model::{ANY_INDEX, Initial, Program};
use hashbrown::HashSet;
use std::fmt::Write;

/// The grammar: an object flows from where it is made along inclusions.
pub const GRAMMAR: &str = "\
# Inclusion-based points-to: an object flows to the value that it is made as, and along inclusions.
flowsTo  new
flowsTo  flowsTo  assign
";

/// The inclusions of points-to once all calls are resolved, and what the solver found of them.
///
/// Nodes are values, and objects of a module. An edge `new` leads from an object to a value that
/// it is made as, and `assign` from a value to one that includes it, so that the pairs of
/// `flowsTo` in [`GRAMMAR`] are what values may be.
#[derive(Clone, Debug, Default)]
pub struct Constraints {
    /// Objects that values are made as: (object, value).
    pub made: Vec<(Object, u32)>,
    /// Inclusions: (value, the value that includes it).
    pub inclusions: Vec<(u32, u32)>,
    /// Pairs of an object and a value that the solver found.
    pub found: Vec<(Object, u32)>,
    /// Calls through tables and by reference: function, operation, and the value that chooses.
    pub choices: Vec<(u32, u32, u32)>,
}

/// A function or an index of a table of a module, or that a value there is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Object {
    /// Number of the module.
    pub module: u32,
    /// The object.
    pub initial: Initial,
}

impl Object {
    /// Its node in the graph.
    #[must_use]
    pub fn name(self) -> String {
        let module = self.module;
        match self.initial {
            Initial::Function(function) => format!("f{function}@{module}"),
            Initial::Index(ANY_INDEX) => format!("elsewhere@{module}"),
            Initial::Index(index) => format!("i{index}@{module}"),
            _ => format!("unknown@{module}"),
        }
    }
}

/// The node of a value.
#[must_use]
pub fn value_name(value: u32) -> String {
    format!("v{value}")
}

impl Constraints {
    /// The inclusions of a program.
    ///
    /// # Errors
    /// As for [`points_to`](super::points_to); [`ModuleError::NotConverged`] if rounds were given up.
    pub fn of(
        program: &Program,
        calls: &Calls,
        open_tables: OpenTables,
        on: On,
    ) -> Result<Self, ModuleError> {
        let net = Net::of(program, calls, open_tables, on)?;
        Rounds::new(&net, on, &GivenUp::none(&net))?.constraints()
    }

    /// The size of the graph.
    #[must_use]
    pub fn size(&self) -> GraphSize {
        let objects: HashSet<Object> = self.made.iter().map(|(object, _)| *object).collect();
        let ends = self.inclusions.iter().flat_map(|(from, to)| [*from, *to]);
        let values: HashSet<u32> = self.made.iter().map(|made| made.1).chain(ends).collect();
        GraphSize {
            nodes: (objects.len() + values.len()) as u64,
            edges: (self.made.len() + self.inclusions.len()) as u64,
        }
    }

    /// The graph, as `seawall grammar` reads it; comments name the values that choose calls.
    #[must_use]
    pub fn graph(&self, program: &Program) -> String {
        let mut text = String::new();
        for (function, op, value) in &self.choices {
            let function = &program.functions[*function as usize];
            let offset = function.body.ops[*op as usize].offset;
            let value = value_name(*value);
            let _ = writeln!(
                text,
                "# {value} chooses the call at {offset:#x} of function {}",
                function.index
            );
        }
        for (object, value) in &self.made {
            let (object, value) = (object.name(), value_name(*value));
            let _ = writeln!(text, "{object} {value} new");
        }
        for (from, to) in &self.inclusions {
            let _ = writeln!(text, "{} {} assign", value_name(*from), value_name(*to));
        }
        text
    }
}
