//! Betweenness: shares of shortest paths through every node, in the order of their distances.
//!
//! With `p(v)` shortest paths from a source to `v`, the share of paths through `v` is
//! `d(v) = sum of p(v) / p(w) (1 + d(w))` over the edges from `v` that end shortest paths to `w`.
//! Forwards it counts paths, backwards it adds up shares. Edges are followed, not pairs of nodes, so
//! parallel edges are paths of their own, and loops are none. `(1 + d(w)) / p(w)` takes the place of
//! `p(w)` once it is known.
//!
//! Edges of length 1 have the order of a queue, others that of a heap. Sums of weights are compared
//! exactly: whole sums of 64 bits, or doubles of float weights. Weights are above 0; where a double
//! is so large that an edge does not lengthen it, the edge is no path.
//!
//! Work: each edge of what a source reaches twice, at most `2 m`, and `n` nodes thrice; along
//! weights also a step of the heap for each node and each edge that shortens a path,
//! `O((n + m) log n)` a source. Memory: `10 n` words, along weights `15 n`. What a look at a node
//! needs lies in one record of 8 words, and the records and rows of the next nodes in order are
//! fetched ahead.
//!
//! Source: Brandes, "A Faster Algorithm for Betweenness Centrality", 2001.

use super::Operands;
use super::heap::{Heap, Offered};
use super::paths::{DISTANCE, Ends, MARK, Paths, Sums, records};
use super::work::{Field, Pairs, Records, Rows, Scratch, Work, fetch};
use crate::machine::Grid;
use crate::machine::memory::{Csr, Words};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::sequential::Lengths;

/// Distance of a node that no path reaches: above every sum, and not one as a double.
const NEVER: u64 = u64::MAX;

/// Adds up the shares of this block's sources.
pub(super) fn add_up<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    scratch: Scratch,
) -> Result<(), FaultCode> {
    if rows.lengths == Lengths::Edges {
        add_up_along::<G, ByLevels>(work, operands, rows, scratch)
    } else {
        add_up_along::<G, ByWeights>(work, operands, rows, scratch)
    }
}

fn add_up_along<G: Grid, S: Search>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    // Records come first, where `scores` finds their sums.
    let records = records(&mut scratch, nodes)?;
    let sums = Sums::of(records)?;
    let marks = S::marks(&mut scratch, records, nodes)?;
    let mut turn = Turn {
        rows: rows.rows,
        sums,
        fields: records.field(DISTANCE)?,
        order: scratch.take(nodes)?,
        paths: Paths::new(grid, &mut scratch, records, nodes)?,
        ends: Ends::new(grid, marks, operands)?,
        search: S::new(grid, &mut scratch, records, rows, nodes)?,
    };
    sums.clear(grid, nodes);
    operands.each_source(grid, |source| {
        let reached = turn.forward(work, source)?;
        turn.backward(work, reached)
    })
}

/// Distances from a source, and the order in which nodes are found.
trait Search: Sized {
    /// A distance.
    type Distance: Copy;

    /// Prepares searches of `nodes` nodes along `rows`, with distances in `records`.
    fn new<G: Grid>(
        grid: G,
        scratch: &mut Scratch,
        records: Records,
        rows: Rows,
        nodes: u32,
    ) -> Result<Self, FaultCode>;

    /// The memory of a mark for each node.
    fn marks(scratch: &mut Scratch, records: Records, nodes: u32) -> Result<Field, FaultCode>;

    /// The node at `place` in order, if it is known before it is taken.
    fn known<G: Grid>(&self, grid: G, order: Words, place: u32) -> Option<u32>;

    /// Begins at `source`.
    fn begin<G: Grid>(&mut self, grid: G, order: Words, source: u32);

    /// The next node in order, the one at `place`, which has its final distance.
    fn take<G: Grid>(&mut self, grid: G, order: Words, place: u32) -> Option<u32>;

    /// The distance of a node that was taken.
    fn distance<G: Grid>(&self, grid: G, node: u32) -> Self::Distance;

    /// Offers a path to node `to`, along `edge` of a node at `from`.
    fn offer<G: Grid>(
        &mut self,
        grid: G,
        order: Words,
        from: Self::Distance,
        edge: u32,
        to: u32,
    ) -> Offered;

    /// Whether that path is a shortest one, once all nodes are taken.
    fn is_shortest<G: Grid>(&self, grid: G, from: Self::Distance, edge: u32, to: u32) -> bool;

    /// Forgets a node.
    fn forget<G: Grid>(&mut self, grid: G, node: u32);

    /// Ends after all nodes were forgotten.
    fn end<G: Grid>(&mut self, grid: G);
}

struct Turn<S> {
    rows: Csr,
    sums: Sums,
    /// The first words of records.
    fields: Field,
    /// The nodes in the order of their distances.
    order: Words,
    paths: Paths,
    ends: Ends,
    search: S,
}

impl<S: Search> Turn<S> {
    /// Counts paths from `source`; returns the number of nodes in order.
    fn forward<G: Grid>(&mut self, work: &mut Work<'_, G>, source: u32) -> Result<u32, FaultCode> {
        let (grid, order) = (work.grid, self.order);
        self.paths.begin(grid, source);
        self.search.begin(grid, order, source);
        let mut reached = 0;
        while let Some(node) = self.search.take(grid, order, reached) {
            fetch(grid, self.rows, self.fields, |steps| {
                self.search
                    .known(grid, order, reached.saturating_add(steps))
            });
            reached += 1;
            let from = self.search.distance(grid, node);
            for edge in work.row(self.rows, node)? {
                let to = self.rows.target(grid, edge);
                match self.search.offer(grid, order, from, edge, to) {
                    Offered::Lower => {
                        // A queue of one node is not seen ahead.
                        self.rows.prefetch_row(grid, to);
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
            fetch(grid, self.rows, self.fields, |steps| {
                let at = at.checked_sub(steps)?;
                Some(self.order.load_weak(grid, at))
            });
            let node = self.order.load_weak(grid, at);
            let from = self.search.distance(grid, node);
            let mut sum = 0.0;
            for edge in work.row(self.rows, node)? {
                let to = self.rows.target(grid, edge);
                if self.search.is_shortest(grid, from, edge, to) {
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
            self.search.forget(grid, node);
            self.paths.forget(grid, node);
        }
        self.paths.end();
        self.search.end(grid);
        Ok(())
    }
}

/// Levels in the order of a queue.
struct ByLevels {
    levels: Field,
    /// Nodes in the queue.
    queued: u32,
}

impl Search for ByLevels {
    /// A level.
    type Distance = u32;

    fn new<G: Grid>(
        grid: G,
        _: &mut Scratch,
        records: Records,
        _: Rows,
        nodes: u32,
    ) -> Result<Self, FaultCode> {
        let levels = records.field(DISTANCE)?;
        for node in 0..nodes {
            levels.store_weak(grid, node, UNREACHED);
        }
        Ok(Self { levels, queued: 0 })
    }

    fn marks(_scratch: &mut Scratch, records: Records, _nodes: u32) -> Result<Field, FaultCode> {
        records.field(MARK)
    }

    #[inline(always)]
    fn known<G: Grid>(&self, grid: G, order: Words, place: u32) -> Option<u32> {
        self.take_at(grid, order, place)
    }

    fn begin<G: Grid>(&mut self, grid: G, order: Words, source: u32) {
        self.levels.store_weak(grid, source, 0);
        order.store_weak(grid, 0, source);
        self.queued = 1;
    }

    #[inline(always)]
    fn take<G: Grid>(&mut self, grid: G, order: Words, place: u32) -> Option<u32> {
        self.take_at(grid, order, place)
    }

    #[inline(always)]
    fn distance<G: Grid>(&self, grid: G, node: u32) -> u32 {
        self.levels.load_weak(grid, node)
    }

    #[inline(always)]
    fn offer<G: Grid>(&mut self, grid: G, order: Words, from: u32, _: u32, to: u32) -> Offered {
        let level = self.levels.load_weak(grid, to);
        if level == UNREACHED {
            self.levels.store_weak(grid, to, from + 1);
            order.store_weak(grid, self.queued, to);
            self.queued += 1;
            Offered::Lower
        } else if level == from + 1 {
            Offered::Same
        } else {
            Offered::Nothing
        }
    }

    #[inline(always)]
    fn is_shortest<G: Grid>(&self, grid: G, from: u32, _: u32, to: u32) -> bool {
        self.levels.load_weak(grid, to) == from + 1
    }

    #[inline(always)]
    fn forget<G: Grid>(&mut self, grid: G, node: u32) {
        self.levels.store_weak(grid, node, UNREACHED);
    }

    fn end<G: Grid>(&mut self, _grid: G) {}
}

impl ByLevels {
    #[inline(always)]
    fn take_at<G: Grid>(&self, grid: G, order: Words, place: u32) -> Option<u32> {
        (place < self.queued).then(|| order.load_weak(grid, place))
    }
}

/// Sums of weights in the order of a heap.
struct ByWeights {
    rows: Rows,
    distances: Pairs,
    heap: Heap,
}

impl Search for ByWeights {
    /// The bits of [`Rows::along`].
    type Distance = u64;

    fn new<G: Grid>(
        grid: G,
        scratch: &mut Scratch,
        records: Records,
        rows: Rows,
        nodes: u32,
    ) -> Result<Self, FaultCode> {
        let distances = records.pair(DISTANCE)?;
        for node in 0..nodes {
            distances.store(grid, node, NEVER);
        }
        let heap = Heap::new(grid, scratch, nodes)?;
        Ok(Self {
            rows,
            distances,
            heap,
        })
    }

    fn marks(scratch: &mut Scratch, _records: Records, nodes: u32) -> Result<Field, FaultCode> {
        scratch.take(nodes).map(Field::of)
    }

    #[inline(always)]
    fn known<G: Grid>(&self, _grid: G, _order: Words, _place: u32) -> Option<u32> {
        None
    }

    fn begin<G: Grid>(&mut self, grid: G, _order: Words, source: u32) {
        self.heap.offer(grid, source, 0);
    }

    #[inline(always)]
    fn take<G: Grid>(&mut self, grid: G, order: Words, place: u32) -> Option<u32> {
        let (node, length) = self.heap.take(grid)?;
        self.distances.store(grid, node, length);
        order.store_weak(grid, place, node);
        Some(node)
    }

    #[inline(always)]
    fn distance<G: Grid>(&self, grid: G, node: u32) -> u64 {
        self.distances.load(grid, node)
    }

    #[inline(always)]
    fn offer<G: Grid>(&mut self, grid: G, _order: Words, from: u64, edge: u32, to: u32) -> Offered {
        let longer = self.rows.along(grid, from, edge);
        if longer <= from {
            return Offered::Nothing;
        }
        self.heap.offer(grid, to, longer)
    }

    #[inline(always)]
    fn is_shortest<G: Grid>(&self, grid: G, from: u64, edge: u32, to: u32) -> bool {
        let longer = self.rows.along(grid, from, edge);
        longer > from && self.distances.load(grid, to) == longer
    }

    #[inline(always)]
    fn forget<G: Grid>(&mut self, grid: G, node: u32) {
        self.distances.store(grid, node, NEVER);
    }

    fn end<G: Grid>(&mut self, grid: G) {
        self.heap.forget(grid);
    }
}
