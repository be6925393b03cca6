//! Reachability by repeated relaxation.

use seawall_core::plan::Dependency;

/// Whether a path of at least one edge leads from a wave back to itself.
pub(crate) fn is_on_cycle(waves: usize, dependencies: &[Dependency], wave: u32) -> bool {
    reaches(waves, dependencies, wave)[wave as usize]
}

/// Waves on a cycle or reachable from one.
pub(crate) fn unscheduled(waves: usize, dependencies: &[Dependency]) -> usize {
    let mut stuck = vec![false; waves];
    for wave in (0..waves).filter(|wave| is_on_cycle(waves, dependencies, *wave as u32)) {
        stuck[wave] = true;
        for (mark, reached) in stuck
            .iter_mut()
            .zip(reaches(waves, dependencies, wave as u32))
        {
            *mark |= reached;
        }
    }
    stuck.iter().filter(|mark| **mark).count()
}

fn reaches(waves: usize, dependencies: &[Dependency], from: u32) -> Vec<bool> {
    let mut reached = vec![false; waves];
    for _ in 0..waves {
        for Dependency { before, after } in dependencies {
            if *before == from || reached[*before as usize] {
                reached[*after as usize] = true;
            }
        }
    }
    reached
}
