//! Triangles by prints of rows, where every node has few edges.
//!
//! Edges lead to the higher number. A warp takes a node and puts the prints of its row into
//! a set of bits. For each entry of the row, two lanes read half of that entry's prints,
//! 32 bytes at a place that follows from its number, and look them up. What the bits let
//! through is compared with the prints of the row, then with the row itself. So an edge
//! costs one or two accesses of 32 bytes, where its row alone would take two or three, and
//! the places of the row as many.

use super::deal::{open_parts, take_parts};
use super::held_rows::NONE;
use super::prints::Prints;
use super::triangles::is_late;
use crate::context::{Context, ContextRef};
use crate::grid::{Grid, LANES_MAX, PLACE};
use crate::memory::Proven;
use crate::shared::HELD_ROWS;
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::prints::{NO_PRINT, PRINT_WORDS, PRINTS};
use seawall_core::abi::program::Opcode;

/// Words of a warp's set of bits.
const SET_WORDS: u32 = 256;
const _: () = assert!(HELD_ROWS.words() >= SET_WORDS * (LANES_MAX / 32));
const _: () = assert!(HELD_ROWS.first().is_multiple_of(4));

/// Words of prints that a lane reads: two lanes share a half.
const WORDS: u32 = PRINT_WORDS / 2;
/// Prints that a lane reads.
const EACH: u32 = 2 * WORDS;
/// Rows that a warp looks at together.
const ROWS: u32 = 16;
/// Most such groups in flight.
const GROUPS: usize = 2;
/// Nodes that a warp takes at a time.
const NODES: u32 = 32;
/// No print: below no row's and above all of them.
const NOBODY: u32 = u32::MAX;
const _: () = assert!(2 * GROUPS as u32 * EACH == u32::BITS);

/// Runs an opcode about prints.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short,
/// [`FaultCode::TimeBudget`] if the run's time ends in the wave.
#[inline(never)]
pub(super) fn run_prints<G: Grid>(
    cx: ContextRef<G>,
    opcode: Opcode,
    wave: Wave,
) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    if opcode == Opcode::PrintRows {
        Prints::of(context, wave.destination(grid))?.fill(context);
        return Ok(());
    }
    let nodes = tables.nodes(grid);
    ByPrints {
        prints: Prints::of(context, wave.source(grid, 0))?,
        // SAFETY: indices are nodes of the graph.
        counts: unsafe { tables.proven_of(grid, wave.destination(grid), nodes)? },
        corners: wave.parameter(grid, 0) == 0,
    }
    .all(context)
}

/// The registers of a counting wave, and whether it counts at every corner.
#[derive(Clone, Copy, Debug)]
struct ByPrints {
    prints: Prints,
    counts: Proven,
    corners: bool,
}

/// A node's entries, one per lane, and their prints; [`NONE`] and [`NOBODY`] if missing.
#[derive(Clone, Copy, Debug)]
struct Held {
    node: u32,
    entry: u32,
    print: u32,
}

impl Held {
    #[inline(always)]
    fn new(node: u32, entry: u32) -> Self {
        let print = match entry {
            NONE => NOBODY,
            entry => Prints::print(entry),
        };
        Self { node, entry, print }
    }
}

/// A warp's set of prints in shared memory: a bit for each, highest first.
#[derive(Clone, Copy, Debug)]
struct Set {
    place: u32,
}

impl Set {
    /// This warp's set, empty.
    #[inline(always)]
    fn of<G: Grid>(grid: G) -> Self {
        let number = grid.lane() / G::WARP % (LANES_MAX / 32);
        let place = grid.place(false, HELD_ROWS.first() + number * SET_WORDS);
        let mut at = 4 * grid.warp_lane();
        while at < SET_WORDS {
            // SAFETY: each warp has as many words, from a multiple of four on.
            unsafe { grid.place_store4(place + at * PLACE, [0; 4]) };
            at += 4 * G::WARP;
        }
        grid.warp_barrier();
        Self { place }
    }

    /// The place of a print's word. Bits above the print's do not count.
    #[inline(always)]
    fn word(self, print: u32) -> u32 {
        self.place + (print >> 5) % SET_WORDS * PLACE
    }

    /// Whether a print's bit is set, in the highest bit of the result.
    #[inline(always)]
    fn look<G: Grid>(self, grid: G, print: u32) -> u32 {
        // SAFETY: the place is that of one of the set's words.
        unsafe { grid.place_load(self.word(print)) }.rotate_left(print)
    }

    #[inline(always)]
    fn put<G: Grid>(self, grid: G, print: u32) {
        let (word, bit) = (self.word(print), 1_u32.rotate_right(1 + print % 32));
        let mut expected = 0;
        loop {
            // SAFETY: as above.
            let before = unsafe { grid.place_swap_if(word, expected, expected | bit) };
            if before == expected || before & bit != 0 {
                return;
            }
            expected = before;
        }
    }

    /// Puts the prints of a row into the empty set. A warp operation.
    #[inline(always)]
    fn fill<G: Grid>(self, grid: G, held: &Held) {
        if held.print != NOBODY {
            self.put(grid, held.print);
        }
        grid.warp_barrier();
    }

    /// Empties the set of a row. A warp operation.
    #[inline(always)]
    fn empty<G: Grid>(self, grid: G, held: &Held) {
        grid.warp_barrier();
        if held.print != NOBODY {
            // SAFETY: as above.
            unsafe { grid.place_store(self.word(held.print), 0) };
        }
        grid.warp_barrier();
    }

    /// A bit for each of the prints in `words` that the set may have, the highest one for the
    /// first; none if they do not `exist`.
    #[inline(always)]
    fn accepted<G: Grid>(self, grid: G, words: &[u32; 4], exist: bool) -> u32 {
        let mut open = 0;
        for word in words {
            for print in [*word, *word >> 16] {
                open = open << 1 | self.look(grid, print) >> 31;
            }
        }
        if exist { open } else { 0 }
    }
}

impl ByPrints {
    /// Counts this team's share.
    #[inline(never)]
    fn all<G: Grid>(&self, context: &Context<G>) -> Result<(), FaultCode> {
        // Codegen rule `BY_VALUE`.
        let by = *self;
        let (team, grid) = (&context.team, context.team.grid);
        let nodes = context.tables.nodes(grid);
        let mut late = false;
        if G::WARP == 1 {
            team.each_taken(nodes, |node| {
                late = late || is_late(team, node);
                if !late {
                    by.alone(grid, node);
                }
            });
            return if late {
                Err(FaultCode::TimeBudget)
            } else {
                Ok(())
            };
        }
        // Warps of this block may still read shared memory for an earlier wave.
        grid.block_barrier();
        open_parts(grid);
        let set = Set::of(grid);
        take_parts(team, (nodes, NODES), |node| {
            late = late || is_late(team, node);
            let (mut first, mut end) = (0, 0);
            if !late && node < nodes {
                (first, end) = by.prints.higher(grid, node);
            }
            let mut wanted = grid.ballot(end - first >= 2);
            let row_of = |lanes: u32| {
                let lane = lanes.trailing_zeros() % G::WARP;
                (grid.shuffle(first, lane), grid.shuffle(end, lane))
            };
            let mut row = row_of(wanted);
            let mut entry = by.entry(grid, row, 0);
            while wanted != 0 {
                let node = grid.shuffle(node, wanted.trailing_zeros() % G::WARP);
                wanted &= wanted - 1;
                // The next row is in flight while this one is compared.
                let next = row_of(wanted);
                let ahead = if wanted != 0 {
                    by.entry(grid, next, 0)
                } else {
                    NONE
                };
                let found = if row.1 - row.0 <= G::WARP {
                    let held = Held::new(node, entry);
                    set.fill(grid, &held);
                    let found = by.rows(grid, set, &held, (entry, row.1 - row.0 - 1));
                    set.empty(grid, &held);
                    found
                } else {
                    by.long_row(grid, set, node, row)
                };
                if grid.warp_lane() == 0 && by.corners && found != 0 {
                    by.counts.add(grid, node, found);
                }
                (row, entry) = (next, ahead);
            }
        });
        if grid.block_any(late) {
            return Err(FaultCode::TimeBudget);
        }
        Ok(())
    }

    /// This lane's entry of a row, from number `at` on.
    #[inline(always)]
    fn entry<G: Grid>(&self, grid: G, (first, end): (u32, u32), at: u32) -> u32 {
        let edge = first.saturating_add(at + grid.warp_lane());
        if edge < end {
            self.prints.rows.target(grid, edge)
        } else {
            NONE
        }
    }

    /// Counts at `node`, whose row has more entries than a warp lanes: piece by piece. A warp
    /// operation.
    #[inline(never)]
    fn long_row<G: Grid>(&self, grid: G, set: Set, node: u32, row: (u32, u32)) -> u32 {
        // Codegen rule `BY_VALUE`.
        let by = *self;
        let len = row.1 - row.0;
        let (mut at, mut found) = (0, 0);
        while at < len {
            let held = Held::new(node, by.entry(grid, row, at));
            set.fill(grid, &held);
            // The third node comes after the second, so the rows of entries up to these will
            // do, and that of the last one never.
            let mut from = 0;
            while from <= at {
                let looked = by.entry(grid, row, from);
                found += by.rows(grid, set, &held, (looked, len - 1 - from));
                from += G::WARP;
            }
            set.empty(grid, &held);
            at += G::WARP;
        }
        found
    }

    /// Looks up the rows of the first `rows` lanes' nodes, and returns the triangles. A warp
    /// operation.
    #[inline(always)]
    fn rows<G: Grid>(&self, grid: G, set: Set, held: &Held, (looked, rows): (u32, u32)) -> u32 {
        if rows > ROWS {
            self.groups::<G, GROUPS>(grid, set, held, (looked, rows))
        } else {
            self.groups::<G, 1>(grid, set, held, (looked, rows))
        }
    }

    /// [`Self::rows`] of `K` groups of nodes.
    #[inline(always)]
    fn groups<G: Grid, const K: usize>(
        &self,
        grid: G,
        set: Set,
        held: &Held,
        (looked, rows): (u32, u32),
    ) -> u32 {
        let (pair, odd) = (grid.warp_lane() / 2, grid.warp_lane() % 2);
        let is_row: [bool; K] = core::array::from_fn(|k| k as u32 * ROWS + pair < rows);
        // Codegen rule `LOADS_TOGETHER`: a missing row is the node's own.
        let nodes: [u32; K] = core::array::from_fn(|k| {
            let node = grid.shuffle(looked, k as u32 * ROWS + pair);
            if is_row[k] { node } else { held.node }
        });
        let words = nodes.map(|node| self.part(grid, (node, 0), odd));
        let is_full: [bool; K] = core::array::from_fn(|k| {
            let last = grid.ballot(is_row[k] && has_last(&words[k]));
            last >> (grid.warp_lane() | 1) & 1 != 0
        });
        let mut open = 0;
        if grid.ballot(is_full.iter().fold(false, |any, is| any | is)) == 0 {
            for k in 0..K {
                open |= set.accepted(grid, &words[k], is_row[k]) << (k as u32 * EACH);
            }
        } else {
            // A missing half is the first one, which is in a cache.
            let after: [[u32; 4]; K] =
                core::array::from_fn(|k| self.part(grid, (nodes[k], u32::from(is_full[k])), odd));
            for k in 0..K {
                open |= set.accepted(grid, &words[k], is_row[k]) << (k as u32 * EACH);
            }
            for k in 0..K {
                let place = (GROUPS + k) as u32 * EACH;
                open |= set.accepted(grid, &after[k], is_full[k]) << place;
            }
            let is_long: [bool; K] =
                core::array::from_fn(|k| odd != 0 && is_full[k] && has_last(&after[k]));
            if grid.ballot(is_long.iter().fold(false, |any, is| any | is)) != 0 {
                let mut found = 0;
                for k in 0..K {
                    let lanes = grid.ballot(is_long[k]);
                    found += self.rest(grid, (set, *held), lanes, nodes[k]);
                }
                return found + self.settle(grid, *held, open, [nodes[0], nodes[K - 1]]);
            }
        }
        if grid.ballot(open != 0) == 0 {
            return 0;
        }
        self.settle(grid, *held, open, [nodes[0], nodes[K - 1]])
    }

    /// This lane's part of a half of a node's prints.
    #[inline(always)]
    fn part<G: Grid>(&self, grid: G, (node, half): (u32, u32), odd: u32) -> [u32; 4] {
        let at = self.prints.half(node, half) + odd * WORDS;
        self.prints.words4(grid, at)
    }

    /// Compares the prints that the set let through with those of the row, and entries of
    /// equal prints with the row: codegen rule `OWN_FUNCTION`. A warp operation.
    #[inline(never)]
    fn settle<G: Grid>(&self, grid: G, held: Held, open: u32, nodes: [u32; GROUPS]) -> u32 {
        // Codegen rule `BY_VALUE`.
        let by = *self;
        let (mut open, mut found) = (open, 0);
        loop {
            let mut lanes = grid.ballot(open != 0);
            if lanes == 0 {
                return found;
            }
            // The first print of a part is the highest of its bits.
            let bit = open.trailing_zeros() % u32::BITS;
            let (part, number) = (bit / EACH, EACH - 1 - bit % EACH);
            let node = if part % 2 == 0 { nodes[0] } else { nodes[1] };
            let (half, odd) = (part / GROUPS as u32, grid.warp_lane() % 2);
            let mut print = NO_PRINT;
            if open != 0 {
                let at = by.prints.half(node, half) + odd * WORDS + number / 2;
                print = by.prints.word(grid, at) >> (16 * (number % 2)) & NO_PRINT;
            }
            open &= open.wrapping_sub(1);
            let mut equal = 0;
            while lanes != 0 {
                let lane = lanes.trailing_zeros();
                lanes &= lanes - 1;
                let print = grid.shuffle(print, lane);
                if grid.ballot(held.print == print) != 0 {
                    equal |= 1 << lane;
                }
            }
            if equal == 0 {
                continue;
            }
            let mut third = NONE;
            if equal >> grid.warp_lane() & 1 != 0 {
                let (first, end) = by.prints.higher(grid, node);
                let place = half * (PRINTS / 2) + odd * EACH + number;
                let edge = first.saturating_add(place);
                if edge < end {
                    third = by.prints.rows.target(grid, edge);
                }
            }
            found += by.equal(grid, &held, equal, (node, third));
        }
    }

    /// Counts the `lanes` whose third node is in the row, and returns their number. A warp
    /// operation.
    #[inline(always)]
    fn equal<G: Grid>(&self, grid: G, held: &Held, lanes: u32, (second, third): (u32, u32)) -> u32 {
        let (mut lanes, mut found) = (lanes, 0);
        while lanes != 0 {
            let lane = lanes.trailing_zeros();
            lanes &= lanes - 1;
            let to = grid.shuffle(third, lane);
            if to != NONE && grid.ballot(held.entry == to) != 0 {
                found += 1;
                if grid.warp_lane() == lane {
                    self.add(grid, [held.node, second, third]);
                }
            }
        }
        found
    }

    /// Counts a triangle at its corners, but for the first one of all, or at one of them.
    #[inline(always)]
    fn add<G: Grid>(&self, grid: G, corners: [u32; 3]) {
        if self.corners {
            self.counts.add(grid, corners[1], 1);
            self.counts.add(grid, corners[2], 1);
            return;
        }
        let places = corners.map(|node| {
            let (first, end) = self.prints.rows.row(grid, node);
            (end - first, node)
        });
        let least = places[0].min(places[1]).min(places[2]);
        self.counts.add(grid, least.1, 1);
    }

    /// Looks up the entries that have no prints in the rows of the `lanes`' nodes, and returns
    /// the triangles. A warp operation.
    #[inline(never)]
    fn rest<G: Grid>(&self, grid: G, (set, held): (Set, Held), lanes: u32, node: u32) -> u32 {
        // Codegen rule `BY_VALUE`.
        let by = *self;
        let (mut lanes, mut found) = (lanes, 0);
        while lanes != 0 {
            let node = grid.shuffle(node, lanes.trailing_zeros());
            lanes &= lanes - 1;
            let row = by.prints.higher(grid, node);
            let mut at = PRINTS;
            while at < row.1 - row.0 {
                let third = by.entry(grid, row, at);
                let is_open = third != NONE && set.look(grid, Prints::print(third)) >> 31 != 0;
                let open = grid.ballot(is_open);
                found += by.equal(grid, &held, open, (node, third));
                at += G::WARP;
            }
        }
        found
    }

    /// Counts at `node` in a lone lane, which reads both rows to their ends.
    #[inline(always)]
    fn alone<G: Grid>(&self, grid: G, node: u32) {
        let target = |edge| self.prints.rows.target(grid, edge);
        let (first, end) = self.prints.higher(grid, node);
        let mut found = 0;
        for edge in first..end {
            let second = target(edge);
            let (mut own, (mut other, other_end)) = (edge + 1, self.prints.higher(grid, second));
            while own < end && other < other_end {
                let (here, there) = (target(own), target(other));
                own += u32::from(here <= there);
                other += u32::from(there <= here);
                if here == there {
                    found += 1;
                    self.add(grid, [node, second, here]);
                }
            }
        }
        if self.corners && found != 0 {
            self.counts.add(grid, node, found);
        }
    }
}

/// Whether the last of some prints exists.
#[inline(always)]
fn has_last(words: &[u32; 4]) -> bool {
    words[3] >> 16 != NO_PRINT
}
