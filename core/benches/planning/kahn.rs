//! A flat Kahn's algorithm, level by level, without any check.

use crate::shapes::Case;

/// Buffers that are made once, as those of a planner are.
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
pub(crate) fn layers(case: &Case, room: &mut Room) -> usize {
    list_successors(case, room);
    room.order.clear();
    room.ends.clear();
    let open = &mut room.open;
    room.order
        .extend((0..case.waves).filter(|wave| open[*wave as usize] == 0));
    let mut begin = 0;
    while begin < room.order.len() {
        let end = room.order.len();
        room.ends.push(end);
        for position in begin..end {
            let wave = room.order[position] as usize;
            for target in &room.targets[room.starts[wave]..room.starts[wave + 1]] {
                open[*target as usize] -= 1;
                if open[*target as usize] == 0 {
                    room.order.push(*target);
                }
            }
        }
        begin = end;
    }
    room.ends.len()
}

fn list_successors(case: &Case, room: &mut Room) {
    room.starts.fill(0);
    room.open.fill(0);
    for record in &case.dependencies {
        room.starts[record.before as usize + 2] += 1;
        room.open[record.after as usize] += 1;
    }
    for wave in 2..room.starts.len() {
        room.starts[wave] += room.starts[wave - 1];
    }
    for record in &case.dependencies {
        let slot = &mut room.starts[record.before as usize + 1];
        room.targets[*slot] = record.after;
        *slot += 1;
    }
}
