//! Distances of shortest paths: words, floats or pairs of words.
//!
//! A relaxing round adds a weight, compares and lowers. Its limits are words, whatever the
//! distances are, and may be coarse: a distance has a *place* among them, and distances order like
//! their places or share one.

use crate::machine::Grid;
use crate::machine::memory::Proven;

/// Storage, sums and places of distances.
pub(crate) trait Lengths: Copy {
    /// A distance.
    type Length: Copy + Default + Ord;
    /// The distance of a node that no path reaches, above all others.
    const NEVER: Self::Length;
    /// Words of a distance.
    const WORDS: u32;

    /// The word that travels with the edges of a queued node.
    fn carried<G: Grid>(self, grid: G, distances: Proven, node: u32) -> u32;
    /// The length of a path over an edge of `weight`, from the word that is `carried` along it;
    /// [`Lengths::NEVER`] if it cannot be represented.
    fn sum<G: Grid>(self, grid: G, distances: Proven, carried: u32, weight: u32) -> Self::Length;
    /// A distance that `node` has or had, if `wanted`, else the least distance: codegen rule
    /// `PREDICATED`.
    fn seen_if<G: Grid>(self, grid: G, distances: Proven, wanted: bool, node: u32) -> Self::Length;
    /// Lowers the distance of `node` to `length` and returns the previous one, if `wanted`;
    /// else returns the least distance: codegen rule `PREDICATED`.
    fn lower_if<G: Grid>(
        self,
        grid: G,
        distances: Proven,
        wanted: bool,
        node: u32,
        length: Self::Length,
    ) -> Self::Length;
    /// Puts `node` at distance 0.
    fn start<G: Grid>(self, grid: G, distances: Proven, node: u32);
    /// The distance of `node` while none changes, given the register's `word` of that number.
    fn scanned<G: Grid>(self, grid: G, distances: Proven, node: u32, word: u32) -> Self::Length;
    /// The place of a distance among limits; below `u32::MAX` if a path has it.
    fn place(self, length: Self::Length) -> u32;
    /// The limit a delta of `width` after the place `least`, at least the next one.
    fn bound(self, least: u32, width: u32) -> u32;
    /// A third of a delta, at least the least one.
    fn third(self, width: u32) -> u32;
    /// Eight times a delta.
    fn wider(self, width: u32) -> u32;
}

/// The sums of distances of one word; all else about such distances is the same.
pub(crate) trait OneWord: Copy {
    /// The distance of a node that no path reaches, above all others.
    const NEVER: u32;
    /// The length of a path of length `before` and an edge of `weight`, at most
    /// [`OneWord::NEVER`].
    fn add(before: u32, weight: u32) -> u32;
    /// The limit a delta of `width` after `least`, at least the next one.
    fn bound(least: u32, width: u32) -> u32;
    /// A third of a delta, at least the least one.
    fn third(width: u32) -> u32;
    /// Eight times a delta.
    fn wider(width: u32) -> u32;
    /// The number for [`OneWord::may_lower`] of a node at `length`, given the `nearest` node
    /// that a path to it may come from.
    fn limit(nearest: u32, length: u32) -> u32;
    /// Whether an edge of `weight` may lower the distance of the node of that limit; never
    /// if the limit is 0.
    fn may_lower(nearest: u32, weight: u32, limit: u32) -> bool;
}

/// A whole number. A path of length `u32::MAX` or more is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole;

impl OneWord for Whole {
    const NEVER: u32 = u32::MAX;

    #[inline(always)]
    fn add(before: u32, weight: u32) -> u32 {
        before.saturating_add(weight)
    }
    #[inline(always)]
    fn bound(least: u32, width: u32) -> u32 {
        least.saturating_add(width)
    }
    #[inline(always)]
    fn third(width: u32) -> u32 {
        (width / 3).max(1)
    }
    #[inline(always)]
    fn wider(width: u32) -> u32 {
        width.saturating_mul(8)
    }
    #[inline(always)]
    fn limit(nearest: u32, length: u32) -> u32 {
        length.saturating_sub(nearest)
    }
    #[inline(always)]
    fn may_lower(_: u32, weight: u32, limit: u32) -> bool {
        weight < limit
    }
}

/// The bits of a float that is not negative, which order like the floats. A path of
/// infinite length is none.
///
/// Sums are rounded edge by edge along the path. Rounding keeps order and weights are not negative,
/// so the least sum equals the result of Dijkstra's algorithm, bit for bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Float;

impl OneWord for Float {
    const NEVER: u32 = f32::INFINITY.to_bits();

    #[inline(always)]
    fn add(before: u32, weight: u32) -> u32 {
        let length = f32::from_bits(before) + f32::from_bits(weight);
        // No graph has negative or NaN weights; their sums are no paths.
        length.to_bits().min(<Self as OneWord>::NEVER)
    }
    #[inline(always)]
    fn bound(least: u32, width: u32) -> u32 {
        let bound = (f32::from_bits(least) + f32::from_bits(width)).to_bits();
        // A delta below the last bit of the distance must not keep the limit where it is.
        bound.max(least.saturating_add(1)).min(u32::MAX - 1)
    }
    #[inline(always)]
    fn third(width: u32) -> u32 {
        (f32::from_bits(width) / 3.0).to_bits().max(1)
    }
    #[inline(always)]
    fn wider(width: u32) -> u32 {
        (f32::from_bits(width) * 8.0).to_bits()
    }
    #[inline(always)]
    fn limit(_: u32, length: u32) -> u32 {
        length
    }
    #[inline(always)]
    fn may_lower(nearest: u32, weight: u32, limit: u32) -> bool {
        <Self as OneWord>::add(nearest, weight) < limit
    }
}

impl<W: OneWord> Lengths for W {
    type Length = u32;
    const NEVER: u32 = W::NEVER;
    const WORDS: u32 = 1;

    #[inline(always)]
    fn carried<G: Grid>(self, grid: G, distances: Proven, node: u32) -> u32 {
        distances.load(grid, node)
    }
    #[inline(always)]
    fn sum<G: Grid>(self, _: G, _: Proven, before: u32, weight: u32) -> u32 {
        W::add(before, weight)
    }
    #[inline(always)]
    fn seen_if<G: Grid>(self, grid: G, distances: Proven, wanted: bool, node: u32) -> u32 {
        distances.load_weak_if(grid, wanted, node, 0)
    }
    #[inline(always)]
    fn lower_if<G: Grid>(
        self,
        grid: G,
        distances: Proven,
        wanted: bool,
        node: u32,
        length: u32,
    ) -> u32 {
        distances.min_if(grid, wanted, node, [length, 0])
    }
    #[inline(always)]
    fn start<G: Grid>(self, grid: G, distances: Proven, node: u32) {
        distances.store(grid, node, 0);
    }
    #[inline(always)]
    fn scanned<G: Grid>(self, _: G, _: Proven, _: u32, word: u32) -> u32 {
        word.min(W::NEVER)
    }
    #[inline(always)]
    fn place(self, length: u32) -> u32 {
        length
    }
    #[inline(always)]
    fn bound(self, least: u32, width: u32) -> u32 {
        W::bound(least, width)
    }
    #[inline(always)]
    fn third(self, width: u32) -> u32 {
        W::third(width)
    }
    #[inline(always)]
    fn wider(self, width: u32) -> u32 {
        W::wider(width)
    }
}

/// Two words, low word first.
///
/// No sum overflows. A distance only falls and weights are not negative, so its path
/// passes no node twice: it has fewer than 2^32 - 1 edges of at most 2^32 - 1 each, and
/// `(2^32 - 2) * (2^32 - 1)` is below 2^64 - 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide {
    /// Bits by which a distance is shifted right to its place.
    pub(crate) shift: u32,
}

impl Lengths for Wide {
    type Length = u64;
    const NEVER: u64 = u64::MAX;
    const WORDS: u32 = 2;

    /// The node itself: its distance takes two words, which each edge looks up. A distance that has
    /// fallen meanwhile serves as well.
    #[inline(always)]
    fn carried<G: Grid>(self, _: G, _: Proven, node: u32) -> u32 {
        node
    }
    #[inline(always)]
    fn sum<G: Grid>(self, grid: G, distances: Proven, node: u32, weight: u32) -> u64 {
        distances
            .load_wide(grid, 2 * node)
            .saturating_add(u64::from(weight))
    }
    #[inline(always)]
    fn seen_if<G: Grid>(self, grid: G, distances: Proven, wanted: bool, node: u32) -> u64 {
        if wanted {
            distances.load_wide(grid, 2 * node)
        } else {
            0
        }
    }
    #[inline(always)]
    fn lower_if<G: Grid>(
        self,
        grid: G,
        distances: Proven,
        wanted: bool,
        node: u32,
        length: u64,
    ) -> u64 {
        if wanted {
            distances.min_wide(grid, 2 * node, length)
        } else {
            0
        }
    }
    #[inline(always)]
    fn start<G: Grid>(self, grid: G, distances: Proven, node: u32) {
        distances.min_wide(grid, 2 * node, 0);
    }
    #[inline(always)]
    fn scanned<G: Grid>(self, grid: G, distances: Proven, node: u32, _: u32) -> u64 {
        distances.load_wide(grid, 2 * node)
    }
    #[inline(always)]
    fn place(self, length: u64) -> u32 {
        // Distances beyond the last place share it.
        (length >> (self.shift & 63)).min(u64::from(u32::MAX - 1)) as u32
    }
    #[inline(always)]
    fn bound(self, least: u32, width: u32) -> u32 {
        least.saturating_add(width)
    }
    #[inline(always)]
    fn third(self, width: u32) -> u32 {
        (width / 3).max(1)
    }
    #[inline(always)]
    fn wider(self, width: u32) -> u32 {
        width.saturating_mul(8)
    }
}
