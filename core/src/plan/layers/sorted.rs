//! Layers of a list whose ids ascend along every dependency, records in any order.
//!
//! A counting sort by `after` puts the predecessors of every wave side by side.
//! Waves are then numbered in order of their ids, since every predecessor has a
//! smaller id. There is no queue, and all accesses but one per record are
//! sequential. A record that does not ascend, or that names no wave, ends the
//! attempt without a result, and the general path judges the list.
//!
//! `depth` holds the number of a wave as in `stream`: its layer, counted from one.

use super::super::cells::{IDS, bump, counts_to_starts, read, write};
use crate::scratch::ScratchView;
use crate::wave::Dependency;

/// Below this many records the lists of the general path fit the caches and are faster.
const FEW: usize = 1 << 12;
/// Leading records that must ascend before the pass begins.
const PROBE: usize = 32;

/// Numbers the waves if all ids ascend; leaves layer widths in `ends`.
#[inline(never)]
pub(super) fn number(dependencies: &[Dependency], space: &mut ScratchView<'_>) -> Option<()> {
    let mut probe = dependencies.iter().take(PROBE);
    if dependencies.len() < FEW || !probe.all(|record| record.before < record.after) {
        return None;
    }
    sort(dependencies, space)?;
    space.ends.fill(0);
    let mut begin = 0;
    for (wave, end) in IDS.zip(space.starts.iter()) {
        let before = space.targets.get(begin..*end as usize)?;
        let largest = |most: u32, id: &u32| most.max(read(space.depth, *id));
        let layer = before.iter().fold(0, largest);
        write(space.depth, wave, layer.wrapping_add(1));
        bump(space.ends, layer);
        begin = *end as usize;
    }
    Some(())
}

/// Lists the predecessors of each wave in `targets`; leaves their ends in `starts`.
fn sort(dependencies: &[Dependency], space: &mut ScratchView<'_>) -> Option<()> {
    space.starts.fill(0);
    for Dependency { before, after } in dependencies {
        let count = space.starts.get_mut(*after as usize)?;
        if before >= after {
            return None;
        }
        *count = count.wrapping_add(1);
    }
    counts_to_starts(space.starts);
    for Dependency { before, after } in dependencies {
        let slot = space.starts.get_mut(*after as usize)?;
        *space.targets.get_mut(*slot as usize)? = *before;
        *slot = slot.wrapping_add(1);
    }
    Some(())
}
