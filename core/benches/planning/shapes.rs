//! The graphs that planning is timed on.
//!
//! Shapes with a plain name have their ids and their records shuffled, so that no
//! planner profits from an order that a caller need not give. `unsorted` shapes
//! keep ids in topological order and shuffle the records; `program` shapes keep both.

use seawall_core::plan::{Dependency, Wave};

/// A named graph.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) waves: u32,
    pub(crate) dependencies: Vec<Dependency>,
}

/// Each wave waits for the one before it.
pub(crate) fn chain(waves: u32) -> Case {
    shuffled("chain", waves, chain_records(waves))
}

/// One wave before all others.
pub(crate) fn wide(waves: u32) -> Case {
    shuffled("wide", waves, wide_records(waves))
}

/// A square in which each wave waits for its left and its upper neighbour.
pub(crate) fn grid(waves: u32) -> Case {
    let side = waves.isqrt();
    shuffled("grid", side * side, grid_records(side))
}

/// Each wave waits for four random ones before it.
pub(crate) fn random(waves: u32) -> Case {
    shuffled("random", waves, random_records(waves))
}

/// A chain as a program builder lists it.
pub(crate) fn program_chain(waves: u32) -> Case {
    Case {
        name: "program_chain",
        waves,
        dependencies: chain_records(waves),
    }
}

/// One wave before all others, as a program builder lists it.
pub(crate) fn program_wide(waves: u32) -> Case {
    Case {
        name: "program_wide",
        waves,
        dependencies: wide_records(waves),
    }
}

/// The square, row by row, as a program builder lists it.
pub(crate) fn program_grid(waves: u32) -> Case {
    let side = waves.isqrt();
    Case {
        name: "program_grid",
        waves: side * side,
        dependencies: grid_records(side),
    }
}

/// The random graph as a program builder lists it.
pub(crate) fn program_random(waves: u32) -> Case {
    Case {
        name: "program_random",
        waves,
        dependencies: random_records(waves),
    }
}

/// The chain, with its records shuffled and its ids in order.
pub(crate) fn unsorted_chain(waves: u32) -> Case {
    unsorted("unsorted_chain", program_chain(waves))
}

/// One wave before all others, with its records shuffled and its ids in order.
pub(crate) fn unsorted_wide(waves: u32) -> Case {
    unsorted("unsorted_wide", program_wide(waves))
}

/// The square, with its records shuffled and its ids in order.
pub(crate) fn unsorted_grid(waves: u32) -> Case {
    unsorted("unsorted_grid", program_grid(waves))
}

/// The random graph, with its records shuffled and its ids in order.
pub(crate) fn unsorted_random(waves: u32) -> Case {
    unsorted("unsorted_random", program_random(waves))
}

/// Bytes of a wave that vary with its id.
pub(crate) fn wave(id: u32) -> Wave {
    let mut dice = Dice(u64::from(id) + 1);
    let mut bytes = || u64::from(dice.below(4_000));
    Wave {
        frontier_bytes: bytes(),
        scratch_bytes: bytes() / 4,
        output_bytes: bytes(),
    }
}

fn chain_records(waves: u32) -> Vec<Dependency> {
    (1..waves)
        .map(|after| Dependency {
            before: after - 1,
            after,
        })
        .collect()
}

fn wide_records(waves: u32) -> Vec<Dependency> {
    (1..waves)
        .map(|after| Dependency { before: 0, after })
        .collect()
}

fn grid_records(side: u32) -> Vec<Dependency> {
    let mut records = Vec::new();
    for after in 0..side * side {
        let left = (after % side != 0).then(|| after - 1);
        let above = after.checked_sub(side);
        let before = left.into_iter().chain(above);
        records.extend(before.map(|before| Dependency { before, after }));
    }
    records
}

fn random_records(waves: u32) -> Vec<Dependency> {
    let mut dice = Dice(42);
    let records = (1..waves).flat_map(|after| [after; 4]);
    records
        .map(|after| Dependency {
            before: dice.below(after),
            after,
        })
        .collect()
}

fn shuffled(name: &'static str, waves: u32, mut dependencies: Vec<Dependency>) -> Case {
    let mut dice = Dice(7);
    let mut ids: Vec<u32> = (0..waves).collect();
    dice.shuffle(&mut ids);
    for Dependency { before, after } in &mut dependencies {
        (*before, *after) = (ids[*before as usize], ids[*after as usize]);
    }
    dice.shuffle(&mut dependencies);
    Case {
        name,
        waves,
        dependencies,
    }
}

fn unsorted(name: &'static str, mut case: Case) -> Case {
    Dice(7).shuffle(&mut case.dependencies);
    Case { name, ..case }
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 32) * u64::from(sides)) >> 32) as u32
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end as u32 + 1) as usize);
        }
    }
}
