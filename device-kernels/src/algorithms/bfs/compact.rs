//! The step from bits to a queue, after a pull or a push into a bitset.

use super::current::Search;
use super::frontier::NEXT;
use super::shared_drive;
use crate::collectives::context::ContextRef;
use crate::collectives::queue::{Finds, append};
use crate::collectives::team::Team;
use crate::machine::Grid;
use seawall_core::abi::search::{DriveRecord, Holder};

/// Queues the frontier's bits and brings the visited bits up to date.
#[inline(never)]
pub fn compact<G: Grid>(cx: ContextRef<G>) {
    Search::current(cx.grid()).compact(&cx.context().team);
}

impl Search {
    #[inline(always)]
    fn compact<G: Grid>(&self, team: &Team<G>) {
        let drive = &shared_drive::read(team.grid);
        let words = self.frontier.bitset_words();
        // Lanes of a warp append together, so they stay together.
        let lanes = team.grid.lanes();
        let mut base = team.rank() * lanes;
        while base < words {
            let word = base + team.grid.lane();
            let fresh = self.fresh_bits(team.grid, drive, word.min(words - 1), word < words);
            self.queue_bits(team.grid, drive, word, fresh);
            base += team.size() * lanes;
        }
    }

    /// The frontier's bits in `word`, which this lane alone handles.
    #[inline(always)]
    pub(crate) fn fresh_bits<G: Grid>(
        &self,
        grid: G,
        drive: &DriveRecord,
        word: u32,
        exists: bool,
    ) -> u32 {
        if !exists {
            return 0;
        }
        let visited = self.frontier.bitset(drive.visited);
        let now = visited.load_weak(grid, word);
        if drive.holder == Holder::Visited as u32 {
            let before = self
                .frontier
                .bitset(drive.visited ^ 1)
                .load_weak(grid, word);
            return now & !before;
        }
        let next = self.frontier.bitset(NEXT);
        let marked = next.load_weak(grid, word);
        if marked != 0 {
            next.store_weak(grid, word, 0);
            visited.store_weak(grid, word, now | marked);
        }
        marked & !now
    }

    /// Appends the nodes of `bits`, four at a time, for which a lane has registers.
    #[inline(always)]
    fn queue_bits<G: Grid>(&self, grid: G, drive: &DriveRecord, word: u32, bits: u32) {
        let target = self.target(drive);
        let mut bits = bits;
        while grid.ballot(bits != 0) != 0 {
            let mut finds = Finds {
                nodes: [0; 4],
                mask: 0,
            };
            for k in 0..4 {
                if bits != 0 {
                    finds.nodes[k] = word * 32 + bits.trailing_zeros();
                    finds.mask |= 1 << k;
                    bits &= bits - 1;
                }
            }
            append(grid, &self.frontier.next(target), &finds);
        }
    }
}
