//! Layers, groups by both strategies, lower bounds and arenas of random programs, against plain
//! oracles; and every buffer one entry short.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seawall_core::error::{ArenaError, GroupError, LayerError};
use seawall_core::plan::{
    ArenaOptions, Budget, Requirements, Results, Strategy, arena, check_records, groups, layers,
};
use seawall_fuzz::draw::{Draw, Program};
use seawall_fuzz::plan::{
    Buffers, baseline_layers, check_arena, check_groups, check_layers, check_short,
};

fuzz_target!(|bytes: &[u8]| {
    let mut draw = Draw::new(bytes);
    let which = draw.byte();
    let pattern = draw.byte();
    let program = draw.program();
    let budget = draw.budget(&program);
    let bits = [draw.word(), draw.word()];
    let alignment_bytes = match draw.byte() {
        exponent @ 0..64 => 1 << exponent,
        64..200 => 256,
        _ => draw.long(),
    };
    let results = match draw.byte() % 4 {
        0 => Results::None,
        1 => Results::Sinks,
        2 => Results::All,
        _ => Results::Bits(&bits),
    };
    let options = ArenaOptions {
        alignment_bytes,
        results,
        ..ArenaOptions::default()
    };
    plan(&program, &budget, &options, pattern);
    plan_without_space(&program, &budget, &options, which);
});

fn plan(program: &Program, budget: &Budget, options: &ArenaOptions<'_>, pattern: u8) {
    let needs = Requirements::for_dag(program.waves.len(), program.dependencies.len());
    let dag = program.dag();
    let mut buffers = Buffers::new(needs, pattern);
    check_layers(program, layers(&dag, buffers.layers()));
    let records = program.dependencies.iter();
    let records = records.map(|d| (u64::from(d.before), u64::from(d.after)));
    match (
        check_records(program.waves.len() as u64, records),
        baseline_layers(program),
    ) {
        (Ok(()), Ok(_) | Err(LayerError::Cycle { .. })) => {}
        (Err(found), Err(expected)) => assert_eq!(found, expected),
        (found, expected) => panic!("records {found:?}, layers {expected:?}"),
    }
    let mut lengths = Vec::new();
    for strategy in [Strategy::InOrder, Strategy::Packed] {
        // Leftovers of the last plan must not matter.
        let (group_space, arena_space) = buffers.split();
        let found = groups(&dag, budget, strategy, group_space);
        check_groups(program, budget, strategy, &found);
        if let Ok(plan) = found {
            lengths.push(plan.len());
            check_arena(
                program,
                &plan,
                options,
                &arena(&dag, &plan, options, arena_space),
            );
        }
    }
    assert!(lengths.is_sorted_by(|in_order, packed| packed <= in_order));
}

/// A buffer that is one entry short is named, and no buffer is written.
fn plan_without_space(program: &Program, budget: &Budget, options: &ArenaOptions<'_>, which: u8) {
    let Some((needs, field)) = Buffers::short(program, which) else {
        return;
    };
    if !matches!(
        baseline_layers(program),
        Ok(_) | Err(LayerError::Cycle { .. })
    ) {
        return;
    }
    let mut buffers = Buffers::new(needs, 0x5A);
    let untouched = buffers.clone();
    let dag = program.dag();
    let (group_space, arena_space) = buffers.split();
    match groups(&dag, budget, Strategy::Packed, group_space) {
        Err(GroupError::Layers(LayerError::ScratchTooSmall(small)))
        | Err(GroupError::ScratchTooSmall(small)) => {
            check_short(small, field, program);
            assert_eq!(buffers, untouched);
        }
        Err(_) => {}
        Ok(plan) => match arena(&dag, &plan, options, arena_space) {
            Err(ArenaError::ScratchTooSmall(small)) => check_short(small, field, program),
            Err(ArenaError::InvalidAlignment { .. }) => {}
            other => panic!("{field} is short, and yet {other:?}"),
        },
    }
}
