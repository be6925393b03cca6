//! Layers as the fixed point of "one more than any predecessor".

use seawall_core::plan::Dependency;

/// The layer of each wave, or `None` when some wave has none.
pub(crate) fn depths(waves: usize, dependencies: &[Dependency]) -> Option<Vec<usize>> {
    let mut depths = vec![0; waves];
    for _ in 0..=waves {
        let mut changed = false;
        for Dependency { before, after } in dependencies {
            let reached = depths[*before as usize] + 1;
            if depths[*after as usize] < reached {
                depths[*after as usize] = reached;
                changed = true;
            }
        }
        if !changed {
            return Some(depths);
        }
    }
    None
}

/// Layers, ids ascending in each.
pub(crate) fn layers(waves: usize, dependencies: &[Dependency]) -> Option<Vec<Vec<u32>>> {
    let depths = depths(waves, dependencies)?;
    let count = depths.iter().max().map_or(0, |deepest| deepest + 1);
    let mut layers = vec![Vec::new(); count];
    for (wave, depth) in depths.iter().enumerate() {
        layers[*depth].push(wave as u32);
    }
    Some(layers)
}
