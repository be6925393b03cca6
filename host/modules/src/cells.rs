//! Cells: what a function reads and writes.
//!
//! Locals come first, then the module's globals, then memory as one cell, then the slots of the
//! operand stack by height. A slot counts where its value crosses from one block to another; inside
//! a block pushes and pops are pairs that need no facts.

use crate::model::{Function, Kind, Module};
use std::fmt;

/// The numbering of a function's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cells {
    /// Number of locals.
    pub locals: u32,
    /// Number of globals of the module.
    pub globals: u32,
}

/// The kind of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A local, parameters included.
    Local(u32),
    /// A global of the module.
    Global(u32),
    /// All memory.
    Memory,
    /// A slot of the operand stack, by its height.
    Slot(u32),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(local) => write!(f, "local {local}"),
            Self::Global(global) => write!(f, "global {global}"),
            Self::Memory => f.write_str("memory"),
            Self::Slot(slot) => write!(f, "stack slot {slot}"),
        }
    }
}

impl Cells {
    /// The cells of a function.
    #[must_use]
    pub fn of(function: &Function, module: &Module) -> Self {
        Self {
            locals: function.body.locals,
            globals: module.globals,
        }
    }

    /// Number of memory.
    #[must_use]
    pub const fn memory(self) -> u32 {
        self.locals + self.globals
    }

    /// Number of a global.
    #[must_use]
    pub const fn global(self, global: u32) -> u32 {
        self.locals + global
    }

    /// Number of a slot of the stack.
    #[must_use]
    pub const fn slot(self, height: u32) -> u32 {
        self.memory() + 1 + height
    }

    /// The cell with a number.
    #[must_use]
    pub const fn cell(self, number: u32) -> Cell {
        if number < self.locals {
            Cell::Local(number)
        } else if number < self.memory() {
            Cell::Global(number - self.locals)
        } else if number == self.memory() {
            Cell::Memory
        } else {
            Cell::Slot(number - self.memory() - 1)
        }
    }

    /// Name of a cell in reports: that of the text, or its number.
    pub(crate) fn label(self, function: &Function, cell: u32) -> String {
        match function.body.names.get(cell as usize) {
            Some(name) => name.clone(),
            None => self.cell(cell).to_string(),
        }
    }

    /// Whether what runs after the function, or beside it, sees the cell.
    #[must_use]
    pub const fn outlives(self, number: u32) -> bool {
        self.locals <= number && number <= self.memory()
    }
}

/// An access of a block to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads it.
    Use {
        /// The cell.
        cell: u32,
        /// Number of the operation.
        op: u32,
    },
    /// Replaces its value.
    Define {
        /// The cell.
        cell: u32,
        /// Number of the operation.
        op: u32,
    },
    /// May change it.
    Change {
        /// The cell.
        cell: u32,
        /// Number of the operation.
        op: u32,
    },
    /// Calls: may read and change every cell that outlives the function.
    Call {
        /// Number of the operation.
        op: u32,
    },
}

/// Visits the accesses of a block in order. Costs one pass over its operations.
pub fn visit(function: &Function, cells: Cells, block: usize, mut visit: impl FnMut(Access)) {
    let body = &function.body;
    let mut height = body.blocks[block].height;
    // Values above were made in this block.
    let mut floor = height;
    let range = body.ops_of(block);
    let last = range.end.saturating_sub(1) as u32;
    for number in range {
        let operation = body.ops[number];
        let op = number as u32;
        let below = height.saturating_sub(operation.pops());
        for slot in below..floor.min(height) {
            let cell = cells.slot(slot);
            visit(Access::Use { cell, op });
        }
        floor = floor.min(below);
        height = below + operation.pushes();
        match operation.kind() {
            Kind::LocalGet => visit(Access::Use {
                cell: operation.arg,
                op,
            }),
            Kind::LocalSet | Kind::LocalTee => visit(Access::Define {
                cell: operation.arg,
                op,
            }),
            Kind::GlobalGet => {
                let cell = cells.global(operation.arg);
                visit(Access::Use { cell, op });
            }
            Kind::GlobalSet => {
                let cell = cells.global(operation.arg);
                visit(Access::Define { cell, op });
            }
            Kind::Load => {
                let cell = cells.memory();
                visit(Access::Use { cell, op });
            }
            Kind::Store => {
                let cell = cells.memory();
                visit(Access::Change { cell, op });
            }
            Kind::Update => {
                let cell = cells.memory();
                visit(Access::Use { cell, op });
                visit(Access::Change { cell, op });
            }
            Kind::Call | Kind::Indirect => visit(Access::Call { op }),
            Kind::Move => {
                floor = floor.min(operation.arg);
                height = operation.arg + operation.pops();
            }
            Kind::Constant | Kind::Pure | Kind::Opaque | Kind::Return | Kind::Fact => {}
        }
    }
    for slot in floor..height {
        let cell = cells.slot(slot);
        visit(Access::Define { cell, op: last });
    }
}
