//! Copies the incoming edges by slices of their sources.
//!
//! The copy lets the contributions of a slice stay in a cache while its edges are gathered (cache
//! blocking; Beamer, Asanović and Patterson compare it with other methods in "Reducing Pagerank
//! Communication via Propagation Blocking", IPDPS 2017). Rows of a graph ascend by their sources,
//! as the host checks, so a row's edges in a slice are neighbours, and searches find where they
//! end. Rows that do not ascend would be cut elsewhere, but no edge would be left out.
//!
//! Four waves do it, with the barriers between them that one wave must not have: counts of rows,
//! a scan of their parts by one block, starts of rows and a list of those that have edges, copies.

use super::frequent::Places;
use crate::collectives::block::{block_scan, warp_scan};
use crate::collectives::context::{Context, ContextRef};
use crate::machine::Grid;
use crate::machine::memory::{Csr, Proven, Words};
use crate::operators::advance::row_spread::{RowSpread, Spot};
use crate::operators::deal::{any_left, each_chunk, each_left, warp_sum};
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;
use seawall_core::abi::slices::{SliceLayout, list_rows};

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
    let layout = layout_of(context, wave)?;
    if opcode == Opcode::ScanSlices {
        // SAFETY: indices are below the words of the parts.
        let parts = unsafe { tables.proven_of(grid, to, layout.part_words())? };
        let count = layout.parts();
        scan(context, parts.part(0, count));
        let rows = scan(context, parts.part(count.into(), count));
        if context.team.is_leader() {
            parts.store_weak(grid, 2 * count, rows);
        }
        return Ok(());
    }
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
        let list = RowList::of(tables.register(grid, wave.source(grid, 1))?)?;
        Place {
            layout,
            parts,
            starts,
            list,
        }
        .all(context);
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
        let places = Places::of(grid, tables, wave.source(grid, 1))?;
        slices.copy(context, sources, places);
    }
    Ok(())
}

/// Turns the lengths of `parts` into their offsets, in the first block, and returns their sum
/// there.
#[inline(never)]
fn scan<G: Grid>(context: &Context<G>, parts: Proven) -> u32 {
    let (team, grid) = (&context.team, context.team.grid);
    if !team.is_first() {
        return 0;
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
    before
}

/// The list of rows that have edges.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowList {
    words: Proven,
    space: u32,
}

impl RowList {
    /// The list in a register, which may hold anything.
    ///
    /// # Errors
    /// [`FaultCode::BadRegister`] if it is too short for any.
    #[inline(always)]
    pub(super) fn of(register: Words) -> Result<Self, FaultCode> {
        if register.len() < 2 {
            return Err(FaultCode::BadRegister);
        }
        let space = list_rows(register.len());
        // SAFETY: indices are below the words of a list of this many rows.
        let words = unsafe { register.proven() };
        Ok(Self { words, space })
    }

    /// Rows in the list.
    #[inline(always)]
    pub(super) fn rows<G: Grid>(self, grid: G) -> u32 {
        self.words.load_weak(grid, 0).min(self.space)
    }

    /// Row offsets; a row ends at the next row's offset.
    #[inline(always)]
    pub(super) fn starts(self) -> Proven {
        self.words.part(1, self.space + 1)
    }

    /// The node of each row.
    #[inline(always)]
    pub(super) fn nodes(self) -> Proven {
        self.words.part(u64::from(self.space) + 2, self.space)
    }
}

/// Parts whose rows get their offsets.
#[derive(Clone, Copy, Debug)]
struct Place {
    layout: SliceLayout,
    parts: Proven,
    starts: Proven,
    list: RowList,
}

impl Place {
    /// Turns the lengths of rows into their offsets, part by part, and lists the rows that have
    /// edges.
    #[inline(never)]
    fn all<G: Grid>(&self, context: &Context<G>) {
        let (team, grid) = (&context.team, context.team.grid);
        // Codegen rule `BY_VALUE`.
        let place = *self;
        let parts = place.layout.parts();
        if team.is_leader() {
            let rows = place.parts.load_weak(grid, 2 * parts);
            let edges = place.starts.load_weak(grid, place.layout.rows());
            place.list.words.store_weak(grid, 0, rows);
            place
                .list
                .starts()
                .store_weak(grid, rows.min(place.list.space), edges);
        }
        team.each_by_warp(parts, |part| place.part(grid, part));
    }

    /// Does so for the rows of `part`. A warp operation.
    #[inline(always)]
    fn part<G: Grid>(&self, grid: G, part: u32) {
        let rows = self.layout.part_rows();
        let (first, node) = (part * rows, self.layout.node_of(part));
        let mut running = self.parts.load_weak(grid, part);
        let mut listed = self.parts.load_weak(grid, self.layout.parts() + part);
        let mut base = 0;
        while base < rows {
            let at = base + EACH * grid.warp_lane();
            let mut lengths = [0_u32; LANE];
            if at < rows {
                lengths = self.starts.load_weak4(grid, first + at);
            }
            let [a, b, c, d] = lengths;
            let two = a.wrapping_add(b);
            let three = two.wrapping_add(c);
            let (below, total) = warp_scan(grid, three.wrapping_add(d));
            let start = running.wrapping_add(below);
            let [b, c, d] = [a, two, three].map(|more| start.wrapping_add(more));
            let places = [start, b, c, d];
            if at < rows {
                self.starts.store_weak4(grid, first + at, places);
            }
            listed = self.list(grid, listed, node + at, lengths, places);
            running = running.wrapping_add(total);
            base += EACH * G::WARP;
        }
    }

    /// Lists this lane's rows that have edges, those of `node` and its next neighbours, after
    /// `listed` rows and those of the lanes below; returns how many there are then. A warp
    /// operation.
    #[inline(always)]
    fn list<G: Grid>(
        &self,
        grid: G,
        listed: u32,
        node: u32,
        lengths: [u32; LANE],
        places: [u32; LANE],
    ) -> u32 {
        let mut count = 0;
        for length in &lengths {
            count += u32::from(*length != 0);
        }
        let (below, total) = warp_scan(grid, count);
        let mut at = listed.wrapping_add(below);
        for k in 0..LANE {
            if lengths[k] != 0 {
                // The parts may hold anything.
                if at < self.list.space {
                    self.list.starts().store_weak(grid, at, places[k]);
                    self.list.nodes().store_weak(grid, at, node + k as u32);
                }
                at = at.wrapping_add(1);
            }
        }
        listed.wrapping_add(total)
    }
}

/// Incoming edges, and their offsets in slices.
#[derive(Clone, Copy, Debug)]
struct Slices {
    rows: Csr,
    layout: SliceLayout,
    nodes: u32,
    edges: u32,
    starts: Proven,
}

impl Slices {
    /// Counts the edges of this team's rows. A lane takes a row in all slices, by a binary search
    /// per slice.
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
                    slices.first_from(grid, at, end, layout.end_of(slice))
                };
                // Codegen rule `CONVERGE`.
                grid.warp_barrier();
                // Rows come in whole parts, so each lane has one, and a warp's are in one part.
                let row = layout.row(slice, node);
                slices.starts.store_weak(grid, row, stop - at);
                let sum = warp_sum(grid, stop - at);
                let filled = grid.ballot(at < stop).count_ones();
                if grid.warp_lane() == 0 && filled != 0 {
                    let part = layout.part_of(row);
                    parts.add(grid, part, sum);
                    parts.add(grid, layout.parts() + part, filled);
                }
                at = stop;
                slice += 1;
            }
        });
    }

    /// First edge of `at..end` whose source is `source` or higher, or `end`.
    #[inline(always)]
    fn first_from<G: Grid>(&self, grid: G, at: u32, end: u32, source: u32) -> u32 {
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
    fn copy<G: Grid>(&self, context: &Context<G>, sources: Proven, places_of: Places) {
        let (team, grid) = (&context.team, context.team.grid);
        let slices = *self;
        let mut longest = 0;
        each_chunk(team, slices.nodes, |node| {
            let (start, end) = slices.rows.row_if(grid, node < slices.nodes, node);
            longest = longest.max(end - start);
            let is_short = end - start <= WARP_ROW;
            let end = if is_short { end } else { start };
            if grid.ballot(start < end) != 0 {
                slices.copy_rows(grid, sources, places_of, node, start, end);
            }
        });
        if !any_left(grid, longest > WARP_ROW) {
            return;
        }
        let is_left = |node| {
            let (start, end) = slices.rows.row(grid, node);
            end - start > WARP_ROW
        };
        each_left(team, slices.nodes, is_left, |node| {
            slices.copy_together(grid, sources, places_of, node);
        });
    }

    /// Copies a row per lane, slice by slice; lanes take even shares of a slice's edges. A warp
    /// operation.
    #[inline(always)]
    fn copy_rows<G: Grid>(
        &self,
        grid: G,
        sources: Proven,
        places_of: Places,
        node: u32,
        mut at: u32,
        end: u32,
    ) {
        let mut slice = 0;
        while slice < self.layout.slices() {
            let (to, len) = self.run(grid, slice, node, end - at);
            let row_spread = RowSpread::of(grid, len);
            let mut step = 0;
            while step < row_spread.total {
                // Codegen rule `LOADS_TOGETHER`.
                let spots: [Spot; LANE] =
                    core::array::from_fn(|k| row_spread.spot(grid, step, k as u32));
                let place =
                    |first: u32, spot: Spot| grid.shuffle(first, spot.lane).wrapping_add(spot.at);
                let edges = spots.map(|spot| place(at, spot));
                let places = spots.map(|spot| place(to, spot));
                let words: [u32; LANE] =
                    core::array::from_fn(|k| self.rows.target_if(grid, spots[k].exists, edges[k]));
                let words = words.map(|node| places_of.word(grid, node));
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
    fn copy_together<G: Grid>(&self, grid: G, sources: Proven, places_of: Places, node: u32) {
        let (mut at, end) = self.rows.row(grid, node);
        let mut slice = 0;
        while slice < self.layout.slices() {
            let (to, len) = self.run(grid, slice, node, end - at);
            let mut first = grid.lane();
            while first < len {
                // Codegen rule `LOADS_TOGETHER`.
                let edges: [u32; LANE] =
                    core::array::from_fn(|k| first.saturating_add(k as u32 * grid.lanes()));
                let words =
                    edges.map(|edge| self.rows.target_if(grid, edge < len, at.wrapping_add(edge)));
                let words = words.map(|node| places_of.word(grid, node));
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
    /// ones of the row. All of them are inside the copy, even if another program wrote the offsets.
    #[inline(always)]
    fn run<G: Grid>(&self, grid: G, slice: u32, node: u32, left: u32) -> (u32, u32) {
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
