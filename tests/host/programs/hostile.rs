//! Tables changed by hand: those that pass the check run to an end.

use super::within;
use proptest::prelude::*;
use seawall_tests::hostile::{Case, Change, End};

/// Numbers of table entries, and some beyond the tables.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0..64_u32, 1 => Just(u32::MAX), 1 => any::<u32>()]
}

fn change() -> impl Strategy<Value = Change> {
    (0..11_u32, number(), number(), number())
        .prop_map(|(kind, a, b, c)| Change::of([kind, a, b, c]))
}

prop_compose! {
    fn case()(
        analysis in 0..9_u32,
        shape in 0..12_u32,
        nodes in 0..70_u32,
        seed in any::<u64>(),
        threads in 0..3_u32,
        tame_inputs in any::<bool>(),
        then in prop::option::of(0..9_u32),
        changes in prop::collection::vec(change(), 0..5),
    ) -> Case {
        Case { analysis, shape, nodes, seed, threads, tame_inputs, then, changes }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn changed_tables_are_refused_or_run_to_an_end(case in case()) {
        let _ = within(60, move || case.run());
    }
}

/// Two analyses one after the other, in one arena, as they were built.
#[test]
fn tables_without_changes_pass_and_run() {
    for analysis in 0..9 {
        for then in [None, Some((analysis + 4) % 9)] {
            let case = Case {
                analysis,
                shape: 8,
                nodes: 60,
                seed: 2,
                threads: 1,
                tame_inputs: true,
                then,
                changes: Vec::new(),
            };
            assert_eq!(case.run(), End::Done, "{case:?}");
        }
    }
}
