//! The kernel of a GPU's service, its blocks on threads.

use seawall::service::On;
use seawall_tests::serving::{books, pairs, windows};

#[test]
fn pairs_are_as_far_as_oracles_say() {
    pairs::check(On::Blocks, 2, (1, 12)).unwrap();
}

#[test]
fn orders_change_windows_as_words_on_this_side() {
    windows::check(On::Blocks, (1, 1500)).unwrap();
}

#[test]
fn what_must_be_refused_is_refused() {
    windows::refusals(On::Blocks).unwrap();
}

#[test]
fn what_needs_threads_does_not_start() {
    windows::needs_threads(On::Blocks).unwrap();
}

#[test]
fn random_work_of_many_producers_is_conserved() {
    books::check(On::Blocks, 4, (1, 8_000)).unwrap();
}
