//! Pull by threads, each for ranges of adjacent words of nodes.

use crate::algorithms::bfs::current::Search;
use crate::algorithms::bfs::pull::{NOBODY, Pull, Tally};
use crate::algorithms::bfs::shared_drive;
use crate::collectives::context::ContextRef;
use crate::machine::Grid;

/// Edges of 32 adjacent rows up to which a thread reads them one after another, and its processor
/// fetches them unasked.
const ADJACENT: u32 = 128;

/// Pulls for this thread's ranges.
#[inline(never)]
pub(super) fn pull<G: Grid>(cx: ContextRef<G>) {
    let (search, team) = (Search::current(cx.grid()), cx.context().team);
    let drive = &shared_drive::read(team.grid);
    let pull = search.open_pull(drive);
    let mut tally = Tally::default();
    team.each_range(search.frontier.bitset_words(), G::ITEMS, |first, end| {
        search.pull_range(team.grid, &pull, first, end, &mut tally);
    });
    search.close_pull(&team, drive, tally);
}

impl Search {
    /// Pulls for adjacent words of nodes by a lane alone. The rows of a word are in flight while
    /// the lane works on the previous word. Copies of what it uses stay in registers, which stores
    /// could change otherwise.
    #[inline(always)]
    fn pull_range<G: Grid>(&self, grid: G, pull: &Pull, first: u32, end: u32, tally: &mut Tally) {
        let (this, pull, mut own) = (*self, *pull, *tally);
        let mut open = this.fetch_word(grid, &pull, first);
        for word in first..end {
            let visited = pull.visited.load_weak(grid, word);
            let next = if word + 1 < end {
                this.fetch_word(grid, &pull, word + 1)
            } else {
                0
            };
            let mut found = 0;
            while open != 0 {
                let bit = open.trailing_zeros();
                open &= open - 1;
                let node = word * 32 + bit;
                let (start, end) = this.incoming.row(grid, node);
                let parent = this.try_edges(grid, &pull, start, end);
                if parent != NOBODY {
                    found |= 1 << bit;
                    this.found(grid, &pull, node, parent, &mut own);
                }
            }
            pull.store(grid, word, visited, found);
            open = next;
        }
        *tally = own;
    }

    /// Returns the nodes of `word` that are not yet visited, and of which an edge may lead to one
    /// that is; fetches the first edge of each.
    #[inline(always)]
    fn fetch_word<G: Grid>(&self, grid: G, pull: &Pull, word: u32) -> u32 {
        let mut left = self.open_bits(word, pull.visited.load_weak(grid, word));
        if left == u32::MAX {
            let (start, _) = self.incoming.row(grid, word * 32);
            let (_, end) = self.incoming.row(grid, word * 32 + 31);
            if end - start <= ADJACENT {
                return left;
            }
        }
        let mut open = 0;
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            let (start, end) = self.incoming.row(grid, word * 32 + bit);
            if start != end {
                self.incoming.prefetch_target(grid, start);
                open |= 1 << bit;
            }
        }
        open
    }
}
