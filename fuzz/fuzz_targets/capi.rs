//! The C interface with valid pointers and any lengths, numbers and buffers, against the planner
//! in Rust.
#![no_main]

use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use libfuzzer_sys::fuzz_target;
use seawall_capi as c;
use seawall_core::plan::{self, Requirements, Strategy};
use seawall_fuzz::draw::{Draw, Program};
use seawall_fuzz::plan::Buffers;

/// Buffers of C, each of its stated length.
struct Room {
    words: [Vec<u32>; 4],
    longs: [Vec<u64>; 2],
}

impl Room {
    fn draw(draw: &mut Draw<'_>, needs: Requirements) -> Self {
        let mut length = |needed: usize| match draw.byte() % 16 {
            0 => needed.saturating_sub(1),
            1 => usize::from(draw.byte()),
            2 => needed + 3,
            _ => needed,
        };
        let words = [
            needs.layer_words,
            needs.dependency_words,
            needs.pack_words,
            needs.arena_words,
        ];
        Self {
            words: words.map(|needed| vec![0x5555_5555; length(needed)]),
            longs: [needs.pack_bytes, needs.arena_offsets].map(|needed| vec![7; length(needed)]),
        }
    }

    fn buffers(&mut self) -> c::Buffers {
        let [layers, dependencies, pack, arena] = &mut self.words;
        let [pack_bytes, offsets] = &mut self.longs;
        c::Buffers {
            layer_words: layers.as_mut_ptr(),
            dependency_words: dependencies.as_mut_ptr(),
            pack_words: pack.as_mut_ptr(),
            pack_bytes: pack_bytes.as_mut_ptr(),
            arena_words: arena.as_mut_ptr(),
            arena_offsets: offsets.as_mut_ptr(),
            lengths: c::Requirements {
                layer_words: layers.len(),
                dependency_words: dependencies.len(),
                pack_words: pack.len(),
                pack_bytes: pack_bytes.len(),
                arena_words: arena.len(),
                arena_offsets: offsets.len(),
            },
        }
    }
}

/// Arguments of a call.
struct Call<'a> {
    program: &'a Program,
    dag: c::Dag,
    budget: c::Budget,
    options: c::ArenaOptions,
    buffers: c::Buffers,
}

fuzz_target!(|bytes: &[u8]| {
    let mut draw = Draw::new(bytes);
    let program = draw.program();
    let budget = draw.budget(&program);
    let words = draw.list(4, Draw::word);
    let needs = Requirements::for_dag(program.waves.len(), program.dependencies.len());
    let mut space = Room::draw(&mut draw, needs);
    let strategy = draw.below(4);
    let options = c::ArenaOptions {
        alignment_bytes: if draw.flag() { 256 } else { draw.long() },
        result_words: if words.is_empty() {
            null()
        } else {
            words.as_ptr()
        },
        result_word_count: words.len(),
    };
    let call = Call {
        program: &program,
        dag: c::Dag {
            waves: program.waves.as_ptr().cast(),
            wave_count: program.waves.len(),
            dependencies: program.dependencies.as_ptr().cast(),
            dependency_count: program.dependencies.len(),
        },
        budget: c::Budget {
            resident_bytes: budget.resident_bytes,
            budget_bytes: budget.budget_bytes,
            readback_bytes: budget.readback_bytes,
        },
        options,
        buffers: space.buffers(),
    };
    requirements(needs, &program);
    layers(&call);
    groups(&call, &budget, strategy);
    all(&call);
    nothing(&call);
    let number = draw.word();
    // SAFETY: the function promises text of C for any number.
    let name = unsafe { std::ffi::CStr::from_ptr(c::seawall_status_name(number)) };
    assert_eq!(name == c"unknown", c::Status::from_number(number).is_none());
});

fn requirements(needs: Requirements, program: &Program) {
    let mut found = c::Requirements::default();
    let (waves, dependencies) = (program.waves.len(), program.dependencies.len());
    // SAFETY: the record is there.
    let status = unsafe { c::seawall_requirements(waves, dependencies, &mut found) };
    assert_eq!((status, found), (c::Status::Ok, needs.into()));
}

fn layers(call: &Call<'_>) {
    let mut found = MaybeUninit::<c::Layers>::uninit();
    let mut problem = c::Problem::default();
    // SAFETY: tables and buffers have their stated lengths, and nothing overlaps.
    let status = unsafe {
        c::seawall_plan_layers(&call.dag, &call.buffers, found.as_mut_ptr(), &mut problem)
    };
    let mut own = Buffers::new(needs(call.program), 0);
    let expected = plan::layers(&call.program.dag(), own.layers());
    match expected {
        Ok(expected) if status == c::Status::Ok => {
            // SAFETY: a call that worked has written its result, whose tables lie in the buffers.
            let (order, ends) = unsafe {
                let found = found.assume_init();
                (
                    std::slice::from_raw_parts(found.order, found.wave_count),
                    std::slice::from_raw_parts(found.ends, found.layer_count),
                )
            };
            assert!(
                order
                    .iter()
                    .copied()
                    .eq(expected.order().iter().map(|id| id.0))
            );
            assert_eq!(ends, expected.ends());
        }
        Ok(_) => assert_eq!(status, c::Status::ScratchTooSmall),
        Err(error) => {
            let name = status.name().to_str().expect("names are plain");
            assert!(
                name == error.kind() || status == c::Status::ScratchTooSmall,
                "{name}"
            );
        }
    }
}

fn needs(program: &Program) -> Requirements {
    Requirements::for_dag(program.waves.len(), program.dependencies.len())
}

fn groups(call: &Call<'_>, budget: &plan::Budget, strategy: u32) {
    let mut found = MaybeUninit::<c::Groups>::uninit();
    // SAFETY: as above; a problem may be null.
    let status = unsafe {
        c::seawall_plan_groups(
            &call.dag,
            &call.budget,
            strategy,
            &call.buffers,
            found.as_mut_ptr(),
            null_mut(),
        )
    };
    let strategy = match strategy {
        0 => Strategy::InOrder,
        1 => Strategy::Packed,
        _ => return assert_eq!(status, c::Status::InvalidStrategy),
    };
    let mut own = Buffers::new(needs(call.program), 0);
    let dag = call.program.dag();
    match plan::groups(&dag, budget, strategy, own.split().0) {
        Ok(expected) if status == c::Status::Ok => {
            // SAFETY: a call that worked has written its result, whose tables lie in the buffers.
            let (order, ends) = unsafe {
                let found = found.assume_init();
                (
                    std::slice::from_raw_parts(found.order, found.wave_count),
                    std::slice::from_raw_parts(found.ends, found.group_count),
                )
            };
            assert!(
                order
                    .iter()
                    .copied()
                    .eq(expected.order().iter().map(|id| id.0))
            );
            assert_eq!(ends, expected.ends());
        }
        Ok(_) => assert_eq!(status, c::Status::ScratchTooSmall),
        Err(_) => assert_ne!(status, c::Status::Ok),
    }
}

fn all(call: &Call<'_>) {
    let mut groups = MaybeUninit::<c::Groups>::uninit();
    let mut arena = MaybeUninit::<c::Arena>::uninit();
    let empty = c::Offsets {
        frontier: 1,
        scratch: 1,
        output: 1,
    };
    let mut offsets = vec![empty; call.program.waves.len()];
    let mut problem = c::Problem::default();
    // SAFETY: as above, and there is a record of offsets for each wave.
    let status = unsafe {
        c::seawall_plan(
            &call.dag,
            &call.budget,
            &call.options,
            &call.buffers,
            groups.as_mut_ptr(),
            arena.as_mut_ptr(),
            offsets.as_mut_ptr(),
            &mut problem,
        )
    };
    if status == c::Status::Ok {
        // SAFETY: a call that worked has written its results.
        let arena = unsafe { arena.assume_init() };
        assert!(arena.lower_bound <= arena.bytes);
        let at = |o: &c::Offsets| o.frontier.max(o.scratch).max(o.output);
        assert!(offsets.iter().all(|offsets| at(offsets) <= arena.bytes));
    } else {
        assert!(offsets.iter().all(|offsets| *offsets == empty));
    }
}

/// Null in place of each record is an outcome, not a crash.
fn nothing(call: &Call<'_>) {
    // SAFETY: null is allowed, and leads to no access.
    let outcomes = unsafe {
        [
            c::seawall_requirements(1, 1, null_mut()),
            c::seawall_plan_layers(null(), &call.buffers, null_mut(), null_mut()),
            c::seawall_plan_layers(&call.dag, &call.buffers, null_mut(), null_mut()),
            c::seawall_plan_groups(&call.dag, null(), 0, &call.buffers, null_mut(), null_mut()),
        ]
    };
    assert!(
        outcomes
            .iter()
            .all(|status| *status == c::Status::NullPointer)
    );
}
