//! Tables changed by hand: those that pass the check run to an end.

use super::within;
use crate::drawn::{each, few};
use proptest::prelude::*;
use seawall_oracles::hostile::{ANALYSES, CHANGES, Case, Change, End};

/// Numbers of table entries, and some beyond the tables.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0..64_u32, 1 => Just(u32::MAX), 1 => any::<u32>()]
}

fn change() -> impl Strategy<Value = Change> {
    (0..CHANGES, number(), number(), number())
        .prop_map(|(kind, a, b, c)| Change::of([kind, a, b, c]))
}

prop_compose! {
    fn case()(
        analysis in 0..ANALYSES,
        shape in 0..12_u32,
        nodes in 0..70_u32,
        seed in any::<u64>(),
        threads in 0..3_u32,
        tame_inputs in any::<bool>(),
        then in prop::option::of(0..ANALYSES),
        changes in prop::collection::vec(change(), 0..5),
    ) -> Case {
        Case { analysis, shape, nodes, seed, threads, warps: false, tame_inputs, then, changes }
    }
}

proptest! {
    #![proptest_config(few(240))]

    #[test]
    fn changed_tables_are_refused_or_run_to_an_end(case in case()) {
        let _ = within(60, move || case.run());
    }
}

#[test]
fn changed_tables_end_on_warps_too() {
    each(40, case(), |case| {
        let case = Case {
            warps: true,
            nodes: case.nodes % 24,
            ..case
        };
        let _ = within(200, move || case.run());
        Ok(())
    });
}

/// Two unchanged analyses one after the other, in one arena.
#[test]
fn tables_without_changes_pass_and_run() {
    for analysis in 0..ANALYSES {
        for then in [None, Some((analysis + 4) % ANALYSES)] {
            let case = Case {
                analysis,
                shape: 8,
                nodes: 60,
                seed: 2,
                threads: 1,
                warps: false,
                tame_inputs: true,
                then,
                changes: Vec::new(),
            };
            assert_eq!(case.run(), End::Done, "{case:?}");
        }
    }
}

#[test]
fn sequential_waves_are_refused_on_warps() {
    let case = Case {
        analysis: 13,
        shape: 0,
        nodes: 1,
        seed: 0,
        threads: 0,
        warps: true,
        tame_inputs: false,
        then: Some(6),
        changes: vec![Change::of([0, 44, 61, 0])],
    };
    assert_eq!(within(200, move || case.run()), End::Failed);
}
