//! Neighbours of every wave in one flat array.
//!
//! This is a counting sort of the dependency list by one endpoint, with two passes
//! over the list and one over the waves. After it, `ends[w]` is the end of
//! the part of `targets` that belongs to `w`, and the part of `w` begins where
//! that of `w - 1` ends, which saves the usual extra element.

use super::cells::{counts_to_starts, read};
use crate::wave::Dependency;

/// The endpoint of a dependency that neighbours are listed for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Successors of each wave.
    Forward,
    /// Predecessors of each wave.
    Backward,
}

impl Direction {
    /// The endpoint that lists and the one that is listed.
    #[inline(always)]
    fn endpoints(self, dependency: &Dependency) -> (u32, u32) {
        match self {
            Self::Forward => (dependency.before, dependency.after),
            Self::Backward => (dependency.after, dependency.before),
        }
    }
}

/// Neighbour lists inside scratch buffers.
pub(crate) struct Neighbours<'a> {
    ends: &'a [u32],
    targets: &'a [u32],
}

impl<'a> Neighbours<'a> {
    /// Lists the neighbours, and counts in `degree` how often each wave is listed.
    ///
    /// `None` when a record names no wave or one wave twice.
    pub(crate) fn build(
        direction: Direction,
        dependencies: &[Dependency],
        ends: &'a mut [u32],
        targets: &'a mut [u32],
        degree: &mut [u32],
    ) -> Option<Self> {
        ends.fill(0);
        degree.fill(0);
        for dependency in dependencies {
            let (from, to) = direction.endpoints(dependency);
            let (out, into) = (ends.get_mut(from as usize)?, degree.get_mut(to as usize)?);
            if from == to {
                return None;
            }
            *out = out.wrapping_add(1);
            *into = into.wrapping_add(1);
        }
        counts_to_starts(ends);
        for dependency in dependencies {
            let (from, to) = direction.endpoints(dependency);
            let slot = ends.get_mut(from as usize)?;
            *targets.get_mut(*slot as usize)? = to;
            *slot = slot.wrapping_add(1);
        }
        Some(Self { ends, targets })
    }

    /// Lists that [`Self::build`] left in these buffers.
    pub(crate) fn over(ends: &'a [u32], targets: &'a [u32]) -> Self {
        Self { ends, targets }
    }

    /// The neighbours of a wave; duplicates as often as in the list.
    #[inline]
    pub(crate) fn of(&self, wave: u32) -> &'a [u32] {
        // No list ends before that of wave 0: the wave before it is beyond all.
        let start = read(self.ends, wave.wrapping_sub(1));
        let end = read(self.ends, wave);
        let upto = self.targets.get(..end as usize).unwrap_or_default();
        upto.get(start as usize..).unwrap_or_default()
    }
}
