//! A flat version of Kahn's algorithm, level by level, without checks.

use crate::shapes::Case;

/// Buffers that are allocated once, like a planner's.
pub(crate) struct Room {
    starts: Vec<usize>,
    targets: Vec<u32>,
    open: Vec<u32>,
    order: Vec<u32>,
    ends: Vec<usize>,
}

impl Room {
    pub(crate) fn new(case: &Case) -> Self {
        let waves = case.waves as usize;
        Self {
            starts: vec![0; waves + 2],
            targets: vec![0; case.dependencies.len()],
            open: vec![0; waves],
            order: Vec::with_capacity(waves),
            ends: Vec::with_capacity(waves),
        }
    }
}

/// Returns the number of layers.
pub(crate) fn layers(case: &Case, space: &mut Room) -> usize {
    list_successors(case, space);
    space.order.clear();
    space.ends.clear();
    let open = &mut space.open;
    space
        .order
        .extend((0..case.waves).filter(|wave| open[*wave as usize] == 0));
    let mut begin = 0;
    while begin < space.order.len() {
        let end = space.order.len();
        space.ends.push(end);
        for position in begin..end {
            let wave = space.order[position] as usize;
            for target in &space.targets[space.starts[wave]..space.starts[wave + 1]] {
                open[*target as usize] -= 1;
                if open[*target as usize] == 0 {
                    space.order.push(*target);
                }
            }
        }
        begin = end;
    }
    space.ends.len()
}

fn list_successors(case: &Case, space: &mut Room) {
    space.starts.fill(0);
    space.open.fill(0);
    for record in &case.dependencies {
        space.starts[record.before as usize + 2] += 1;
        space.open[record.after as usize] += 1;
    }
    for wave in 2..space.starts.len() {
        space.starts[wave] += space.starts[wave - 1];
    }
    for record in &case.dependencies {
        let slot = &mut space.starts[record.before as usize + 1];
        space.targets[*slot] = record.after;
        *slot += 1;
    }
}
