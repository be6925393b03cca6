//! Identification of a wave on a cycle.

use super::super::cells::{read, write};
use super::length;
use crate::error::LayerError;
use crate::scratch::ScratchView;
use crate::wave::{Dependency, WaveId};

/// The mark of a wave that was released.
const RELEASED: u32 = u32::MAX;

/// Walks against the dependencies until a wave must repeat.
///
/// Every unreleased wave has an unreleased predecessor; after as many steps as there are waves the
/// walk is on a cycle.
#[inline]
pub(super) fn name(
    space: &mut ScratchView<'_>,
    dependencies: &[Dependency],
    filled: u32,
) -> LayerError {
    space.starts.fill(0);
    for position in 0..filled {
        write(space.starts, read(space.order, position), RELEASED);
    }
    space.ends.fill(u32::MAX);
    for Dependency { before, after } in dependencies {
        let open = read(space.starts, *before) != RELEASED;
        if open && *before < read(space.ends, *after) {
            write(space.ends, *after, *before);
        }
    }
    let stuck = space.starts.iter().position(|mark| *mark != RELEASED);
    let mut wave = u32::try_from(stuck.unwrap_or(0)).unwrap_or(0);
    for _ in 0..space.ends.len() {
        wave = read(space.ends, wave);
    }
    LayerError::Cycle {
        unscheduled: length(space.order).wrapping_sub(u64::from(filled)),
        wave: WaveId(smallest(space.ends, wave)),
    }
}

/// The smallest id on the cycle, so that the order of the list plays no part.
fn smallest(steps: &[u32], on_cycle: u32) -> u32 {
    let (mut smallest, mut wave) = (on_cycle, read(steps, on_cycle));
    for _ in steps {
        if wave == on_cycle {
            break;
        }
        smallest = smallest.min(wave);
        wave = read(steps, wave);
    }
    smallest
}
