//! The kernel of a GPU's service, its blocks on threads.

use own_wave::Heat;
use seawall::own::OwnWaves;
use seawall::service::On;
use seawall_oracles::serving::{counters, opcodes, pairs, programs, windows};

#[test]
fn pairs_are_as_far_as_oracles_say() {
    pairs::check(On::Blocks, 2, 1, 12).unwrap();
}

#[test]
fn orders_change_windows_as_words_on_this_side() {
    windows::check(On::Blocks, 1, 1500).unwrap();
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
fn programs_find_what_sessions_of_their_own_find() {
    programs::check(On::Blocks, 2, 1, 6).unwrap();
    programs::check(On::Threads, 2, 2, 2).unwrap();
}

#[test]
fn a_program_that_stops_says_where() {
    programs::stopped(On::Blocks).unwrap();
    programs::stopped(On::Threads).unwrap();
}

#[test]
fn programs_that_take_too_long_end_and_leave_the_service_well() {
    programs::late(On::Blocks).unwrap();
}

#[test]
fn users_opcodes_are_programs_with_waves_of_any_crate() {
    let waves = OwnWaves::of::<Heat>();
    for seed in 1..4 {
        opcodes::check(On::Blocks, &waves, seed).unwrap();
        opcodes::check(On::Threads, &waves, seed).unwrap();
    }
}

#[test]
fn an_opcode_that_no_slot_holds_does_not_start() {
    opcodes::refused(On::Blocks).unwrap();
    opcodes::refused(On::Threads).unwrap();
}

#[test]
fn random_work_of_many_producers_is_conserved() {
    counters::check(On::Blocks, 4, 1, 8_000).unwrap();
}
