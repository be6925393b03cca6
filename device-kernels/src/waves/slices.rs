//! Copies the incoming edges by slices of their sources.
//!
//! The copy lets the contributions of a slice stay in a cache while its edges are gathered
//! (propagation blocking turned around: Beamer, Asanović and Patterson, "Reducing Pagerank
//! Communication via Propagation Blocking", IPDPS 2017, discuss both). Rows ascend by their
//! sources, so a row's edges in a slice are neighbours, and searches find where they end. Rows
//! that do not ascend would be cut elsewhere, but no edge would be left out.
//!
//! Four waves do it, with the barriers between them that one wave must not have: counts of rows,
//! a scan of their parts by one block, starts of rows, copies.

use super::deal::{each_chunk, each_left, warp_sum};
use super::spread::{Spot, Spread};
use crate::block::{block_scan, warp_scan};
use crate::context::Context;
use crate::grid::Grid;
use crate::memory::{Csr, Proven};
use crate::tables::Wave;
use crate::team::Team;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::slices::{SliceLayout, SliceStep};

/// Longest row that a warp copies.
const WARP_ROW: u32 = 2048;
/// Edges that a lane copies together, or words that it scans.
const EACH: u32 = 4;
/// [`EACH`] as a length.
const LANE: usize = EACH as usize;

/// Incoming edges and their copy.
#[derive(Clone, Copy, Debug)]
struct Slices {
    rows: Csr,
    layout: SliceLayout,
    nodes: u32,
    edges: u32,
    /// The copy, a word per edge.
    sources: Proven,
    starts: Proven,
    parts: Proven,
}

/// The layout that a wave's parameters state.
///
/// # Errors
/// [`FaultCode::BadParameter`] if there is none.
#[inline(always)]
pub(super) fn layout_of<G: Grid>(
    context: &Context<G>,
    wave: Wave,
) -> Result<SliceLayout, FaultCode> {
    let grid = context.team.grid;
    let shape = [wave.parameter(grid, 0), wave.parameter(grid, 1)];
    SliceLayout::new(context.tables.nodes(grid), shape).ok_or(FaultCode::BadParameter)
}

/// Does one of the steps.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short,
/// [`FaultCode::BadParameter`] if there is no such step or layout,
/// [`FaultCode::NoArray`] if the launch holds no incoming edges.
#[inline(always)]
pub(super) fn slice<G: Grid>(context: &Context<G>, wave: Wave) -> Result<(), FaultCode> {
    let (tables, grid) = (context.tables, context.team.grid);
    if !tables.has_incoming(grid) {
        return Err(FaultCode::NoArray);
    }
    let (nodes, edges) = (tables.nodes(grid), tables.edges(grid));
    let layout = layout_of(context, wave)?;
    let step = SliceStep::from_word(wave.parameter(grid, 2)).ok_or(FaultCode::BadParameter)?;
    let (starts, parts) = (wave.source(grid, 0), wave.source(grid, 1));
    let slices = Slices {
        rows: tables.incoming(grid),
        layout,
        nodes,
        edges,
        // SAFETY: indices are below the number of edges, see `Slices::run`.
        sources: unsafe { tables.proven_of(grid, wave.destination(grid), edges)? },
        // SAFETY: indices are rows of the layout, or their number.
        starts: unsafe { tables.proven_of(grid, starts, layout.start_words())? },
        // SAFETY: indices are parts of the layout.
        parts: unsafe { tables.proven_of(grid, parts, layout.part_words())? },
    };
    // Comparisons: codegen rule `NO_TABLES`.
    if step == SliceStep::Count {
        slices.count(context);
    } else if step == SliceStep::Scan {
        slices.scan(context);
    } else if step == SliceStep::Place {
        slices.place(context);
    } else {
        slices.copy(context);
    }
    Ok(())
}

impl Slices {
    /// Counts the edges of this team's rows. A lane takes a row in all slices, by searches whose
    /// number does not depend on the row's length but for its logarithm.
    #[inline(never)]
    fn count<G: Grid>(&self, context: &Context<G>) {
        let (team, grid) = (&context.team, context.team.grid);
        // Codegen rule `BY_VALUE`.
        let slices = *self;
        let layout = slices.layout;
        each_chunk(team, layout.span(), |node| {
            let (mut at, end) = slices.rows.row_if(grid, node < slices.nodes, node);
            let mut slice = 0;
            while slice < layout.slices() {
                let stop = if slice + 1 == layout.slices() {
                    end
                } else {
                    slices.first_from(grid, (at, end), layout.end_of(slice))
                };
                // Codegen rule `CONVERGE`.
                grid.warp_barrier();
                let row = layout.row(slice, node);
                if node < layout.span() {
                    slices.starts.store_weak(grid, row, stop - at);
                }
                // The rows of a warp are in one part.
                let sum = warp_sum(grid, stop - at);
                if grid.warp_lane() == 0 && sum != 0 {
                    slices.parts.add(grid, layout.part_of(row), sum);
                }
                at = stop;
                slice += 1;
            }
        });
    }

    /// First edge of `at..end` whose source is `source` or higher, or `end`.
    #[inline(always)]
    fn first_from<G: Grid>(&self, grid: G, (at, end): (u32, u32), source: u32) -> u32 {
        let (mut low, mut high) = (at, end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.rows.target(grid, middle) < source {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Turns the lengths of parts into their starts, in the first block.
    #[inline(never)]
    fn scan<G: Grid>(&self, context: &Context<G>) {
        let (team, grid) = (&context.team, context.team.grid);
        if !team.is_first() {
            return;
        }
        let slices = *self;
        let words = slices.layout.part_words();
        let (mut before, mut base) = (0_u32, 0_u32);
        while base < words {
            let at = base.saturating_add(grid.lane());
            let length = slices.parts.load_weak_if(grid, at < words, at, 0);
            let (below, total) = block_scan(grid, length);
            if at < words {
                slices
                    .parts
                    .store_weak(grid, at, before.wrapping_add(below));
            }
            before = before.wrapping_add(total);
            base = base.saturating_add(grid.lanes());
        }
        if team.is_leader() {
            let rows = slices.layout.rows();
            slices.starts.store_weak(grid, rows, slices.edges);
        }
    }

    /// Turns the lengths of rows into their starts, part by part.
    #[inline(never)]
    fn place<G: Grid>(&self, context: &Context<G>) {
        let (team, grid) = (&context.team, context.team.grid);
        let slices = *self;
        let parts = slices.layout.part_words();
        if G::WARP == 1 {
            team.each_taken(parts, |part| slices.place_part(grid, part));
            return;
        }
        let (warp, warps) = team.warps();
        let mut part = warp;
        while part < parts {
            slices.place_part(grid, part);
            part = part.saturating_add(warps);
        }
    }

    /// [`Slices::place`] for one part. A warp operation.
    #[inline(always)]
    fn place_part<G: Grid>(&self, grid: G, part: u32) {
        let rows = self.layout.part_rows();
        let first = part * rows;
        let mut running = self.parts.load_weak(grid, part);
        let mut base = 0;
        while base < rows {
            let at = base + EACH * grid.warp_lane();
            let mut lengths = [0_u32; LANE];
            if at < rows {
                lengths = self.starts.load_weak4(grid, first + at);
            }
            let [a, b, c, d] = lengths;
            let three = a.wrapping_add(b).wrapping_add(c);
            let (below, total) = warp_scan(grid, three.wrapping_add(d));
            if at < rows {
                let start = running.wrapping_add(below);
                let starts = [0, a, a.wrapping_add(b), three].map(|more| start.wrapping_add(more));
                self.starts.store_weak4(grid, first + at, starts);
            }
            running = running.wrapping_add(total);
            base += EACH * G::WARP;
        }
    }

    /// Copies the edges of this team's rows: warps those of 32 rows at a time, and blocks those
    /// of a long one.
    #[inline(never)]
    fn copy<G: Grid>(&self, context: &Context<G>) {
        let (team, grid) = (&context.team, context.team.grid);
        let slices = *self;
        let mut longest = 0;
        each_chunk(team, slices.nodes, |node| {
            let (start, end) = slices.rows.row_if(grid, node < slices.nodes, node);
            longest = longest.max(end - start);
            let is_short = end - start <= WARP_ROW || G::WARP == 1;
            let end = if is_short { end } else { start };
            if grid.ballot(start < end) != 0 {
                slices.copy_rows(grid, node, (start, end));
            }
        });
        slices.copy_long(team, longest);
    }

    /// Copies the rows that are too long for a warp, unless `longest`, the longest one of this
    /// lane, shows that the block has none. A block operation.
    #[inline(always)]
    fn copy_long<G: Grid>(&self, team: &Team<G>, longest: u32) {
        let grid = team.grid;
        if G::WARP == 1 || !grid.block_any(longest > WARP_ROW) {
            return;
        }
        let is_left = |node| {
            let (start, end) = self.rows.row(grid, node);
            end - start > WARP_ROW
        };
        each_left(team, self.nodes, is_left, |node| {
            self.copy_together(grid, node)
        });
    }

    /// Copies a row per lane, the edges of a slice at a time, of which lanes take even shares. A
    /// warp operation.
    #[inline(always)]
    fn copy_rows<G: Grid>(&self, grid: G, node: u32, (mut at, end): (u32, u32)) {
        let mut slice = 0;
        while slice < self.layout.slices() {
            let (to, len) = self.run(grid, (slice, node), end - at);
            let spread = Spread::of(grid, len);
            let mut step = 0;
            while step < spread.total {
                // Codegen rule `LOADS_TOGETHER`.
                let spots: [Spot; LANE] =
                    core::array::from_fn(|k| spread.spot(grid, step, k as u32));
                let place =
                    |from: u32, spot: Spot| grid.shuffle(from, spot.lane).wrapping_add(spot.at);
                let places: [(u32, u32); LANE] =
                    core::array::from_fn(|k| (place(at, spots[k]), place(to, spots[k])));
                let sources: [u32; LANE] = core::array::from_fn(|k| {
                    self.rows.target_if(grid, spots[k].exists, places[k].0)
                });
                for k in 0..LANE {
                    if spots[k].exists {
                        self.sources.store_weak(grid, places[k].1, sources[k]);
                    }
                }
                step += EACH * G::WARP;
            }
            at += len;
            slice += 1;
        }
    }

    /// Copies the row of `node`, with all lanes of the block.
    #[inline(always)]
    fn copy_together<G: Grid>(&self, grid: G, node: u32) {
        let (mut at, end) = self.rows.row(grid, node);
        let mut slice = 0;
        while slice < self.layout.slices() {
            let (to, len) = self.run(grid, (slice, node), end - at);
            let mut edge = grid.lane();
            while edge < len {
                let edges: [u32; LANE] =
                    core::array::from_fn(|k| edge.saturating_add(k as u32 * grid.lanes()));
                let sources =
                    edges.map(|edge| self.rows.target_if(grid, edge < len, at.wrapping_add(edge)));
                for k in 0..LANE {
                    if edges[k] < len {
                        self.sources.store_weak(grid, to + edges[k], sources[k]);
                    }
                }
                edge = edge.saturating_add(EACH * grid.lanes());
            }
            at += len;
            slice += 1;
        }
    }

    /// Place of the edges of `node` in `slice` in the copy, and their number, at most the `left`
    /// ones of the row. All of them are inside the copy, also if another program wrote the starts.
    #[inline(always)]
    fn run<G: Grid>(&self, grid: G, (slice, node): (u32, u32), left: u32) -> (u32, u32) {
        let row = self.layout.row(slice, node);
        let start = self.starts.load_weak_if(grid, left > 0, row, 0);
        let stop = self
            .starts
            .load_weak_if(grid, left > 0, row.wrapping_add(1), 0);
        let len = stop.wrapping_sub(start).min(left);
        // A row has at most all edges.
        if start <= self.edges - len {
            (start, len)
        } else {
            (0, 0)
        }
    }
}
