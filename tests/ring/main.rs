//! The ring's protocol on simulated memory: whole services of a few producers and workers, with
//! late and reordered stores, stalls and deaths, from seeds.
//!
//! `SEED=N` runs one seed, `SEEDS=N` the first N seeds from 0 on.

mod memory;
mod service;
mod wraps;

use memory::Order;
use service::{Deaths, run};

/// Seeds of a plain run of the tests.
const SEEDS: u64 = 30;

/// The seeds to run.
fn seeds() -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok()?.parse::<u64>().ok();
    match (number("SEED"), number("SEEDS")) {
        (Some(seed), _) => seed..seed + 1,
        (None, count) => 0..count.unwrap_or(SEEDS),
    }
}

fn holds(deaths: Deaths) {
    for seed in seeds() {
        if let Err(problem) = run(seed, deaths, None) {
            panic!("SEED={seed}, {deaths:?}: {problem}");
        }
    }
}

#[test]
fn every_task_ends_once_with_its_own_answer() {
    holds(Deaths::None);
}

#[test]
fn a_producer_that_dies_costs_its_own_slots_alone() {
    holds(Deaths::Producer);
}

#[test]
fn a_worker_that_dies_costs_the_slot_that_it_has() {
    holds(Deaths::Worker);
}

/// For each removed order a seed fails, which shows that the runs would detect its absence.
#[test]
fn every_missing_order_shows() {
    for order in [
        Order::ReleasingStore,
        Order::AcquiringLoad,
        Order::AcquiringUpdate,
        Order::ReleasingUpdate,
    ] {
        let found = (0..400).find(|seed| run(*seed, Deaths::None, Some(order)).is_err());
        assert!(found.is_some(), "{order:?} is missed by nobody");
    }
}
