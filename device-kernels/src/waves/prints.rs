//! Prints of rows, and where the edges to nodes of higher number begin.
//!
//! Rows ascend, so a node's edges to higher numbers are the end of its row. A lane finds
//! their beginning by a binary search, for a row of its own; half a warp then stores the
//! prints of one row, two per lane.

use super::deal::each_chunk;
use crate::context::Context;
use crate::grid::Grid;
use crate::memory::{Csr, Proven};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::prints::{NO_PRINT, PRINT_WORDS, PRINTS, PrintLayout};

/// Rows whose prints are made together, by half a warp each.
const ROWS: usize = 2;

/// The register of prints. What it holds is not proved: edges that come from it are kept
/// within their row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prints {
    pub(super) rows: Csr,
    words: Proven,
    layout: PrintLayout,
}

impl Prints {
    /// Register `index`.
    ///
    /// # Errors
    /// [`FaultCode::BadRegister`] if it is missing or too short.
    #[inline(always)]
    pub(super) fn of<G: Grid>(context: &Context<G>, index: u32) -> Result<Self, FaultCode> {
        let (tables, grid) = (context.tables, context.team.grid);
        let layout = PrintLayout::new(tables.nodes(grid));
        let register = tables.register(grid, index)?;
        if u64::from(register.len()) < layout.words() {
            return Err(FaultCode::BadRegister);
        }
        Ok(Self {
            rows: tables.outgoing(grid),
            // SAFETY: indices are nodes of the graph and words of their prints.
            words: unsafe { register.proven() },
            layout,
        })
    }

    /// The print of a node.
    #[inline(always)]
    pub(super) fn print(node: u32) -> u32 {
        (node.wrapping_mul(0x9E37_79B9) >> 16).min(NO_PRINT - 1)
    }

    /// First word of half `number` of a node's prints.
    #[inline(always)]
    pub(super) fn half(self, node: u32, number: u32) -> u32 {
        (node + number * self.layout.nodes) * PRINT_WORDS
    }

    /// A word of prints.
    #[inline(always)]
    pub(super) fn word<G: Grid>(self, grid: G, at: u32) -> u32 {
        self.words.load_weak(grid, at)
    }

    /// Four words of prints from word `at` on, a multiple of four.
    #[inline(always)]
    pub(super) fn words4<G: Grid>(self, grid: G, at: u32) -> [u32; 4] {
        self.words.load_weak4(grid, at)
    }

    #[inline(always)]
    fn start(self, node: u32) -> u32 {
        self.layout.starts() as u32 + node
    }

    /// First edge of `node` to a higher number, and the edge after its last one.
    #[inline(always)]
    pub(super) fn higher<G: Grid>(self, grid: G, node: u32) -> (u32, u32) {
        let (first, end) = self.rows.row(grid, node);
        let start = self.words.load_weak(grid, self.start(node));
        (start.max(first).min(end), end)
    }

    /// Stores this team's share.
    #[inline(never)]
    pub(super) fn fill<G: Grid>(self, context: &Context<G>) {
        let (team, grid) = (&context.team, context.team.grid);
        // Codegen rule `BY_VALUE`.
        let prints = self;
        each_chunk(team, prints.layout.nodes, |node| {
            let is_node = node < prints.layout.nodes;
            let (mut start, mut end) = (0, 0);
            if is_node {
                (start, end) = prints.rows.row(grid, node);
                start = prints.first_higher(grid, node, (start, end));
                prints.words.store_weak(grid, prints.start(node), start);
            }
            // Codegen rule `CONVERGE`.
            grid.warp_barrier();
            if G::WARP == 1 {
                return;
            }
            let first = grid.shuffle(node, 0);
            let mut from = 0;
            while from < G::WARP {
                prints.fill_rows(grid, (first, from), (start, end));
                from += 2 * ROWS as u32;
            }
        });
    }

    /// The first edge of a row that enters a node above `node`.
    #[inline(always)]
    fn first_higher<G: Grid>(self, grid: G, node: u32, (start, end): (u32, u32)) -> u32 {
        let (mut low, mut high) = (start, end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.rows.target(grid, middle) > node {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    /// Stores the prints of some rows, which are those of lanes `from` on. A warp operation.
    #[inline(always)]
    fn fill_rows<G: Grid>(self, grid: G, (first, from): (u32, u32), (start, end): (u32, u32)) {
        let (half, word) = (
            grid.warp_lane() / (PRINTS / 2),
            grid.warp_lane() % (PRINTS / 2),
        );
        let lanes: [u32; ROWS] = core::array::from_fn(|k| from + 2 * k as u32 + half);
        let rows = lanes.map(|lane| (grid.shuffle(start, lane), grid.shuffle(end, lane)));
        // Codegen rule `LOADS_TOGETHER`.
        let targets = rows.map(|(start, end)| {
            [0, 1].map(|odd| {
                let edge = start.saturating_add(2 * word + odd);
                if edge < end {
                    self.rows.target(grid, edge)
                } else {
                    u32::MAX
                }
            })
        });
        for k in 0..ROWS {
            let node = first.saturating_add(lanes[k]);
            let [low, high] = targets[k].map(|to| match to {
                u32::MAX => NO_PRINT,
                to => Self::print(to),
            });
            // A row that does not fill the first half has an empty second one, which nobody
            // looks at.
            let is_second = word >= PRINT_WORDS;
            let is_stored = !is_second || rows[k].1 - rows[k].0 >= PRINTS / 2;
            if node < self.layout.nodes && is_stored {
                let at = self.half(node, u32::from(is_second)) + word % PRINT_WORDS;
                self.words.store_weak(grid, at, low | high << 16);
            }
        }
    }
}
