//! Sums of weights in the order of a heap.

use crate::cpu::sequential::Operands;
use crate::cpu::sequential::heap::{Heap, Offered};
use crate::cpu::sequential::paths::{Ends, Paths, Sums};
use crate::cpu::sequential::work::{Field, Pairs, Rows, Scratch, Work, fetch};
use crate::machine::Grid;
use crate::machine::memory::Words;
use seawall_core::abi::control::FaultCode;

/// Distance of a node that no path reaches: above every sum, and not one as a double.
const NEVER: u64 = u64::MAX;

/// Words of a record: the distance of a node, and the number of paths to it.
const EACH: u32 = 4;
const NUMBER: u32 = 2;

pub(super) fn add_up<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
    (sums, ends): (Sums, Ends),
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    let records = scratch.take_records(nodes, EACH)?;
    let mut turn = Turn {
        rows,
        sums,
        ends,
        fields: records.field(0)?,
        distances: records.pair(0)?,
        order: scratch.take(nodes)?,
        paths: Paths::new(grid, records.pair(NUMBER)?, scratch.take(nodes)?, nodes),
        heap: Heap::new(grid, &mut scratch, nodes)?,
    };
    for node in 0..nodes {
        turn.distances.store(grid, node, NEVER);
    }
    operands.each_source(grid, |source| {
        let reached = turn.forward(work, source)?;
        turn.backward(work, reached)
    })
}

struct Turn {
    rows: Rows,
    sums: Sums,
    ends: Ends,
    /// The first words of records.
    fields: Field,
    /// Distances of the nodes that were taken, the bits of [`Rows::along`].
    distances: Pairs,
    /// The nodes in the order of their distances.
    order: Words,
    paths: Paths,
    heap: Heap,
}

impl Turn {
    /// Counts paths from `source`; returns the number of nodes in order.
    fn forward<G: Grid>(&mut self, work: &mut Work<'_, G>, source: u32) -> Result<u32, FaultCode> {
        let grid = work.grid;
        self.paths.begin(grid, source);
        self.heap.offer(grid, source, 0);
        let mut reached = 0;
        while let Some((node, from)) = self.heap.take(grid) {
            self.distances.store(grid, node, from);
            self.order.store_weak(grid, reached, node);
            reached += 1;
            for edge in work.row(self.rows.rows, node)? {
                let to = self.rows.rows.target(grid, edge);
                let longer = self.rows.along(grid, from, edge);
                if longer <= from {
                    continue;
                }
                match self.heap.offer(grid, to, longer) {
                    Offered::Lower => {
                        self.rows.rows.prefetch_row(grid, to);
                        self.paths.copy(grid, to, node);
                    }
                    Offered::Same => self.paths.add(grid, to, node),
                    Offered::Nothing => {}
                }
            }
        }
        Ok(reached)
    }

    /// Adds up shares from the last node on, and forgets the source.
    fn backward<G: Grid>(&mut self, work: &mut Work<'_, G>, reached: u32) -> Result<(), FaultCode> {
        let grid = work.grid;
        for at in (0..reached).rev() {
            fetch(grid, self.rows.rows, self.fields, |steps| {
                let at = at.checked_sub(steps)?;
                Some(self.order.load_weak(grid, at))
            });
            let node = self.order.load_weak(grid, at);
            let from = self.distances.load(grid, node);
            let mut sum = 0.0;
            for edge in work.row(self.rows.rows, node)? {
                let to = self.rows.rows.target(grid, edge);
                let longer = self.rows.along(grid, from, edge);
                if longer > from && self.distances.load(grid, to) == longer {
                    sum += self.paths.part_of(grid, to, node);
                }
            }
            let share = self.paths.share(grid, node, sum);
            // A path does not lead through its source.
            if at > 0 {
                self.sums.add(grid, node, share);
            }
            let all = share + self.ends.count(grid, node);
            self.paths.part(grid, node, all);
        }
        for at in 0..reached {
            let node = self.order.load_weak(grid, at);
            self.distances.store(grid, node, NEVER);
            self.paths.forget(grid, node);
        }
        self.paths.end();
        self.heap.forget(grid);
        Ok(())
    }
}
