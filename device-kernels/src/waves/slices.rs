//! Copies the incoming edges by slices of their sources.
//!
//! The copy lets the contributions of a slice stay in a cache while its edges are gathered
//! (cache blocking; Beamer, Asanović and Patterson compare it with other ways in "Reducing
//! Pagerank Communication via Propagation Blocking", IPDPS 2017). Rows of a graph ascend by their
//! sources, as the host checks, so a row's edges in a slice are neighbours, and searches find
//! where they end. Rows that do not ascend would be cut elsewhere, and no edge left out.
//!
//! Four waves do it, with the barriers between them that one wave must not have: counts of rows,
//! a scan of their parts by one block, starts of rows, copies.

use super::deal::{each_chunk, each_left, warp_sum};
use super::spread::{Spot, Spread};
use crate::block::{block_scan, warp_scan};
use crate::context::{Context, ContextRef};
use crate::grid::Grid;
use crate::memory::{Csr, Proven};
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;
use seawall_core::abi::slices::SliceLayout;

/// Longest row that a warp copies.
const WARP_ROW: u32 = 2048;
/// Edges that a lane copies together, or words that it scans.
const EACH: u32 = 4;
/// [`EACH`] as a length.
const LANE: usize = EACH as usize;

/// Whether `opcode` is that of a wave that makes slices.
#[inline(always)]
pub(super) fn makes_slices(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::CountSlices | Opcode::ScanSlices | Opcode::PlaceSlices | Opcode::CopySlices
    )
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

/// Runs an opcode of [`makes_slices`].
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short,
/// [`FaultCode::BadParameter`] if there is no such layout,
/// [`FaultCode::NoArray`] if the launch holds no incoming edges.
#[inline(never)]
pub(super) fn run_slices<G: Grid>(
    cx: ContextRef<G>,
    opcode: Opcode,
    wave: Wave,
) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    let (to, from) = (wave.destination(grid), wave.source(grid, 0));
    if opcode == Opcode::ScanSlices {
        // SAFETY: indices are below the register's own length.
        let parts = unsafe { tables.proven_of(grid, to, 0)? };
        scan(context, parts);
        return Ok(());
    }
    let layout = layout_of(context, wave)?;
    let starts = if opcode == Opcode::CopySlices {
        from
    } else {
        to
    };
    // SAFETY: indices are rows of the layout, or their number.
    let starts = unsafe { tables.proven_of(grid, starts, layout.start_words())? };
    if opcode == Opcode::PlaceSlices {
        // SAFETY: indices are parts of the layout.
        let parts = unsafe { tables.proven_of(grid, from, layout.part_words())? };
        place(context, layout, (starts, parts));
        return Ok(());
    }
    if !tables.has_incoming(grid) {
        return Err(FaultCode::NoArray);
    }
    let slices = Slices {
        rows: tables.incoming(grid),
        layout,
        nodes: tables.nodes(grid),
        edges: tables.edges(grid),
        starts,
    };
    if opcode == Opcode::CountSlices {
        // SAFETY: as above.
        let parts = unsafe { tables.proven_of(grid, from, layout.part_words())? };
        slices.count(context, parts);
    } else {
        // SAFETY: indices are below the number of edges, see `Slices::run`.
        let sources = unsafe { tables.proven_of(grid, to, slices.edges)? };
        slices.copy(context, sources);
    }
    Ok(())
}

/// Turns the lengths of `parts` into their starts, in the first block.
#[inline(never)]
fn scan<G: Grid>(context: &Context<G>, parts: Proven) {
    let (team, grid) = (&context.team, context.team.grid);
    if !team.is_first() {
        return;
    }
    let words = parts.len();
    let (mut before, mut base) = (0_u32, 0_u32);
    while base < words {
        let at = base.saturating_add(grid.lane());
        let length = parts.load_weak_if(grid, at < words, at, 0);
        let (below, total) = block_scan(grid, length);
        if at < words {
            parts.store_weak(grid, at, before.wrapping_add(below));
        }
        before = before.wrapping_add(total);
        base = base.saturating_add(grid.lanes());
    }
}

/// Turns the lengths of rows into their starts, part by part.
#[inline(never)]
fn place<G: Grid>(context: &Context<G>, layout: SliceLayout, (starts, parts): (Proven, Proven)) {
    let (team, grid) = (&context.team, context.team.grid);
    let (words, rows) = (layout.part_words(), layout.part_rows());
    let place = |part: u32| {
        let start = parts.load_weak(grid, part);
        place_rows(grid, (starts, start), (part * rows, rows));
    };
    if G::WARP == 1 {
        team.each_taken(words, place);
        return;
    }
    let (warp, warps) = team.warps();
    let mut part = warp;
    while part < words {
        place(part);
        part = part.saturating_add(warps);
    }
}

/// Turns the lengths of `rows` rows from `first` on into their starts, which begin at `running`. A
/// warp operation.
#[inline(always)]
fn place_rows<G: Grid>(grid: G, (starts, mut running): (Proven, u32), (first, rows): (u32, u32)) {
    let mut base = 0;
    while base < rows {
        let at = base + EACH * grid.warp_lane();
        let mut lengths = [0_u32; LANE];
        if at < rows {
            lengths = starts.load_weak4(grid, first + at);
        }
        let [a, b, c, d] = lengths;
        let two = a.wrapping_add(b);
        let three = two.wrapping_add(c);
        let (below, total) = warp_scan(grid, three.wrapping_add(d));
        if at < rows {
            let start = running.wrapping_add(below);
            let [b, c, d] = [a, two, three].map(|more| start.wrapping_add(more));
            starts.store_weak4(grid, first + at, [start, b, c, d]);
        }
        running = running.wrapping_add(total);
        base += EACH * G::WARP;
    }
}

/// Incoming edges, and where they start in slices.
#[derive(Clone, Copy, Debug)]
struct Slices {
    rows: Csr,
    layout: SliceLayout,
    nodes: u32,
    edges: u32,
    starts: Proven,
}

impl Slices {
    /// Counts the edges of this team's rows. A lane takes a row in all slices, by searches whose
    /// number does not depend on the row's length but for its logarithm.
    #[inline(never)]
    fn count<G: Grid>(&self, context: &Context<G>, parts: Proven) {
        let (team, grid) = (&context.team, context.team.grid);
        // Codegen rule `BY_VALUE`.
        let slices = *self;
        let layout = slices.layout;
        if team.is_leader() {
            slices.starts.store_weak(grid, layout.rows(), slices.edges);
        }
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
                // Rows come in whole parts, so each lane has one, and a warp's are in one part.
                let row = layout.row(slice, node);
                slices.starts.store_weak(grid, row, stop - at);
                let sum = warp_sum(grid, stop - at);
                if grid.warp_lane() == 0 && sum != 0 {
                    parts.add(grid, layout.part_of(row), sum);
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

    /// Copies the edges of this team's rows: warps those of a row per lane, and blocks those of a
    /// long one.
    #[inline(never)]
    fn copy<G: Grid>(&self, context: &Context<G>, sources: Proven) {
        let (team, grid) = (&context.team, context.team.grid);
        let slices = *self;
        let mut longest = 0;
        each_chunk(team, slices.nodes, |node| {
            let (start, end) = slices.rows.row_if(grid, node < slices.nodes, node);
            longest = longest.max(end - start);
            let is_short = end - start <= WARP_ROW || G::WARP == 1;
            let end = if is_short { end } else { start };
            if grid.ballot(start < end) != 0 {
                slices.copy_rows(grid, sources, (node, start, end));
            }
        });
        if G::WARP == 1 || !grid.block_any(longest > WARP_ROW) {
            return;
        }
        let is_left = |node| {
            let (start, end) = slices.rows.row(grid, node);
            end - start > WARP_ROW
        };
        each_left(team, slices.nodes, is_left, |node| {
            slices.copy_together(grid, sources, node);
        });
    }

    /// Copies a row per lane, slice by slice; lanes take even shares of a slice's edges. A warp
    /// operation.
    #[inline(always)]
    fn copy_rows<G: Grid>(&self, grid: G, sources: Proven, (node, mut at, end): (u32, u32, u32)) {
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
                    |first: u32, spot: Spot| grid.shuffle(first, spot.lane).wrapping_add(spot.at);
                let edges = spots.map(|spot| place(at, spot));
                let places = spots.map(|spot| place(to, spot));
                let words: [u32; LANE] =
                    core::array::from_fn(|k| self.rows.target_if(grid, spots[k].exists, edges[k]));
                for k in 0..LANE {
                    if spots[k].exists {
                        sources.store_weak(grid, places[k], words[k]);
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
    fn copy_together<G: Grid>(&self, grid: G, sources: Proven, node: u32) {
        let (mut at, end) = self.rows.row(grid, node);
        let mut slice = 0;
        while slice < self.layout.slices() {
            let (to, len) = self.run(grid, (slice, node), end - at);
            let mut first = grid.lane();
            while first < len {
                // Codegen rule `LOADS_TOGETHER`.
                let edges: [u32; LANE] =
                    core::array::from_fn(|k| first.saturating_add(k as u32 * grid.lanes()));
                let words =
                    edges.map(|edge| self.rows.target_if(grid, edge < len, at.wrapping_add(edge)));
                for k in 0..LANE {
                    if edges[k] < len {
                        sources.store_weak(grid, to + edges[k], words[k]);
                    }
                }
                first = first.saturating_add(EACH * grid.lanes());
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
