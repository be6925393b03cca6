//! Plans a small wave DAG in memory that is reserved at compile time.
//!
//! `cargo run --release -p seawall --example plan_static`
//!
//! The planner, `seawall-core`, needs no allocator, no floating point unit and no operating
//! system. Only the printing and the lock here need one: without `std`, a macro such as
//! `cortex_m::singleton!` provides a `static` once.

use seawall_core::plan::{self, ArenaOptions, Budget, Dag, Dependency, Strategy, Wave};
use seawall_core::scratch::{ArenaScratch, GroupScratch};
use std::error::Error;
use std::sync::{Mutex, PoisonError};

const WAVES: usize = 6;
const DEPENDENCIES: usize = 6;

/// Space for layers and groups, and for the arena.
static GROUP_ROOM: Mutex<GroupScratch<WAVES, DEPENDENCIES>> = Mutex::new(GroupScratch::new());
static ARENA_ROOM: Mutex<ArenaScratch<WAVES>> = Mutex::new(ArenaScratch::new());

const KIB: u64 = 1024;

/// A wave that produces `output` KiB with `scratch` KiB of scratch.
const fn wave(scratch: u64, output: u64) -> Wave {
    Wave {
        frontier_bytes: 4 * KIB,
        scratch_bytes: scratch * KIB,
        output_bytes: output * KIB,
    }
}

const fn before(before: u32, after: u32) -> Dependency {
    Dependency { before, after }
}

static WAVE_TABLE: [Wave; WAVES] = [
    wave(8, 16),
    wave(8, 16),
    wave(4, 32),
    wave(4, 8),
    wave(4, 8),
    wave(0, 4),
];
static DEPENDENCY_TABLE: [Dependency; DEPENDENCIES] = [
    before(0, 2),
    before(1, 2),
    before(2, 3),
    before(2, 4),
    before(3, 5),
    before(4, 5),
];

fn main() -> Result<(), Box<dyn Error>> {
    let dag = Dag {
        waves: &WAVE_TABLE,
        dependencies: &DEPENDENCY_TABLE,
    };
    let budget = Budget {
        resident_bytes: 64 * KIB,
        budget_bytes: 128 * KIB,
        readback_bytes: 0,
    };
    let mut space = GROUP_ROOM.lock().unwrap_or_else(PoisonError::into_inner);
    let groups = plan::groups(&dag, &budget, Strategy::Packed, &mut *space)?;
    for (number, group) in groups.iter().enumerate() {
        let waves: Vec<_> = group.waves.iter().map(|wave| wave.0).collect();
        println!(
            "group {number}: waves {waves:?}, {} bytes",
            group.fused_bytes
        );
    }
    let summary = groups.summary();
    println!(
        "{} global barriers, at least {} groups",
        summary.global_barriers, summary.lower_bound
    );

    let mut space = ARENA_ROOM.lock().unwrap_or_else(PoisonError::into_inner);
    let arena = plan::arena(&dag, &groups, &ArenaOptions::default(), &mut *space)?;
    println!("arena of {} bytes", arena.bytes());
    for (number, offsets) in arena.iter().enumerate() {
        println!("wave {number}: output at {}", offsets.output);
    }
    Ok(())
}
