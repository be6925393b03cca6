//! Reachability under a grammar against polonius-engine: the loans of origins, of random facts. The
//! example does the same for facts that the compiler writes.

#[allow(dead_code, reason = "the example's main is not called here")]
#[path = "../examples/borrow_facts.rs"]
mod borrow_facts;

use borrow_facts::Facts;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn loans_of_random_facts_are_those_of_the_engine(
        origins in 1_usize..60,
        issued in prop::collection::vec((0_usize..60, 0_usize..40), 0..40),
        subsets in prop::collection::vec((0_usize..60, 0_usize..60), 0..120),
    ) {
        let facts = Facts {
            issued: issued.iter().map(|(origin, loan)| (origin % origins, *loan)).collect(),
            subsets: subsets.iter().map(|(from, to)| (from % origins, to % origins)).collect(),
        };
        let (here, _) = facts.by_grammar().unwrap();
        let (there, _) = facts.by_engine();
        prop_assert_eq!(here, there);
    }
}
