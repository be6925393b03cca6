//! Which cells a block uses before it defines them, and which it defines.

use crate::cells::{Access, Cells, visit};
use crate::flow::Problem;
use crate::model::{Function, Program};
use rayon::prelude::*;

/// One pass over a function at a time; keeps its memory from one to the next.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The last block, plus one, that used each cell before it defined it.
    used: Vec<u32>,
    /// The last block, plus one, that defined each cell.
    defined: Vec<u32>,
    /// The last block, plus one, that may have changed each cell.
    changed: Vec<u32>,
    /// Cells that outlive the function and that it accesses by name.
    shared: Vec<u32>,
    /// The last block, plus one, of which the outside has seen all shared cells.
    seen: u32,
    /// Whether that is one event.
    at_once: bool,
}

/// An access that a pass reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A block uses a cell before it defines it: the first such use.
    Exposed { block: u32, cell: u32, op: u32 },
    /// A block defines a cell for the first time.
    Defined { block: u32, cell: u32 },
    /// A block may change a cell, for the first time after it last defined it.
    Changed { block: u32, cell: u32 },
    /// A block calls for the first time, or ends the function without a call: it exposes all shared
    /// cells that it has not defined. Only [`Marks::pass_at_once`] reports this; else there is an
    /// event for each cell.
    Outside { block: u32, calls: bool },
}

/// States the problems of all functions, on all threads, with further facts of each.
pub(super) fn of_all<T: Send>(
    program: &Program,
    state: impl Fn(&mut Marks, &Function, Cells) -> (Problem, T) + Sync,
) -> (Vec<Problem>, Vec<T>) {
    let functions = program.functions.par_iter();
    let made = functions.map_init(Marks::default, |marks, function| {
        let cells = Cells::of(function, &program.modules[function.module as usize]);
        state(marks, function, cells)
    });
    made.unzip()
}

/// Grows a list so that it has an entry for `cell`.
pub(super) fn entry(list: &mut Vec<u32>, cell: u32) -> &mut u32 {
    let at = cell as usize;
    if list.len() <= at {
        list.resize(at + 1, 0);
    }
    &mut list[at]
}

impl Marks {
    /// Visits what `function` does, block by block. Exits use the cells that outlive it. Costs a step
    /// for each operation, and for each shared cell in each block that calls or ends the function.
    pub(super) fn pass(&mut self, function: &Function, cells: Cells, found: impl FnMut(Found)) {
        self.at_once = false;
        self.visit(function, cells, found);
    }

    /// As [`Marks::pass`], but blocks that call or end the function have one event for all shared
    /// cells, so that it costs a step for each operation alone.
    pub(super) fn pass_at_once(
        &mut self,
        function: &Function,
        cells: Cells,
        found: impl FnMut(Found),
    ) {
        self.at_once = true;
        self.visit(function, cells, found);
    }

    fn visit(&mut self, function: &Function, cells: Cells, mut found: impl FnMut(Found)) {
        for list in [&mut self.used, &mut self.defined, &mut self.changed] {
            list.clear();
        }
        self.find_shared(function, cells);
        self.seen = 0;
        for block in 0..function.body.blocks.len() {
            let now = block as u32 + 1;
            visit(function, cells, block, |access| {
                let is_seen = self.seen == now;
                match access {
                    Access::Use { cell, .. } | Access::Change { cell, .. }
                        if is_seen && cells.outlives(cell) => {}
                    Access::Use { cell, op } => self.use_cell(now, cell, op, &mut found),
                    Access::Define { cell, .. } => self.define(now, cell, &mut found),
                    Access::Change { cell, .. } => self.change(now, cell, &mut found),
                    Access::Call { op } => self.show(now, op, true, &mut found),
                }
            });
            if function.body.is_exit(block) {
                let op = function.body.ops_of(block).end as u32;
                self.show(now, op, false, &mut found);
            }
        }
    }

    /// Cells that outlive the function of the last pass and that it accesses by name.
    pub(super) fn shared(&self) -> &[u32] {
        &self.shared
    }

    /// Shows the outside all shared cells; a call may change them.
    fn show(&mut self, now: u32, op: u32, calls: bool, found: &mut impl FnMut(Found)) {
        if self.seen == now || self.shared.is_empty() {
            return;
        }
        self.seen = now;
        if self.at_once {
            let block = now - 1;
            found(Found::Outside { block, calls });
            return;
        }
        for at in 0..self.shared.len() {
            let cell = self.shared[at];
            self.use_cell(now, cell, op, found);
            if calls {
                self.change(now, cell, found);
            }
        }
    }

    fn find_shared(&mut self, function: &Function, cells: Cells) {
        self.shared.clear();
        let mut seen = std::mem::take(&mut self.used);
        for block in 0..function.body.blocks.len() {
            visit(function, cells, block, |access| match access {
                Access::Use { cell, .. }
                | Access::Define { cell, .. }
                | Access::Change { cell, .. }
                    if cells.outlives(cell) =>
                {
                    let mark = entry(&mut seen, cell);
                    if *mark == 0 {
                        *mark = 1;
                        self.shared.push(cell);
                    }
                }
                _ => {}
            });
        }
        seen.clear();
        self.used = seen;
    }

    fn use_cell(&mut self, now: u32, cell: u32, op: u32, found: &mut impl FnMut(Found)) {
        if *entry(&mut self.defined, cell) != now && *entry(&mut self.used, cell) != now {
            *entry(&mut self.used, cell) = now;
            let block = now - 1;
            found(Found::Exposed { block, cell, op });
        }
    }

    fn define(&mut self, now: u32, cell: u32, found: &mut impl FnMut(Found)) {
        *entry(&mut self.changed, cell) = now;
        let mark = entry(&mut self.defined, cell);
        if *mark != now {
            *mark = now;
            found(Found::Defined {
                block: now - 1,
                cell,
            });
        }
    }

    fn change(&mut self, now: u32, cell: u32, found: &mut impl FnMut(Found)) {
        let mark = entry(&mut self.changed, cell);
        if *mark != now {
            *mark = now;
            found(Found::Changed {
                block: now - 1,
                cell,
            });
        }
    }
}

/// Numbers of facts for cells, in the order in which they are first asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    of_cell: Vec<u32>,
    /// The cell of each fact.
    pub(super) cells: Vec<u32>,
}

impl Numbers {
    /// The fact of a cell, a new one if it has none.
    pub(super) fn number(&mut self, cell: u32) -> u32 {
        let next = self.cells.len() as u32 + 1;
        let mark = entry(&mut self.of_cell, cell);
        if *mark == 0 {
            *mark = next;
            self.cells.push(cell);
        }
        *mark - 1
    }

    /// The fact of a cell, if it has one.
    pub(super) fn find(&self, cell: u32) -> Option<u32> {
        let mark = *self.of_cell.get(cell as usize)?;
        mark.checked_sub(1)
    }
}
