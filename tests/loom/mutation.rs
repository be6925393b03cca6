//! Each order is needed: its test passes, and fails without the order of one place.

use super::barrier::{group, last, meets};
use super::devices::devices;
use super::protocol::{
    completion, continuation, drain, epoch, fence, payload, print, printers, reuse, sealed,
};
use seawall_core::protocol::Site;
use std::any::Any;

/// A test, which removes the order of a place.
type Scenario = fn(Option<Site>);

/// The checker's message about two accesses without an order between them.
const RACE: &str = "Causality violation";

/// The test that needs the order of a place, and a piece of its message without it.
fn scenario(site: Site) -> Option<(Scenario, &'static str)> {
    let scenario: Scenario = match site {
        Site::Publish | Site::Claim => payload,
        Site::PutBack => continuation,
        Site::End | Site::Poll => completion,
        Site::Seal | Site::Ended => sealed,
        Site::Reserve | Site::Free => return Some((reuse, RACE)),
        Site::Member | Site::Members => fence,
        Site::NextEpoch | Site::Epoch => epoch,
        Site::ShutDown | Site::ShouldEnd => drain,
        Site::PrintPlace => return Some((printers, RACE)),
        Site::PrintWord | Site::PrintShown | Site::PrintPoll | Site::PrintRead => print,
        Site::Arrive | Site::Arrivals => return Some((meets, RACE)),
        Site::LastArrival | Site::OtherArrival => return Some((last, RACE)),
        Site::Tell | Site::Hear => return Some((group, RACE)),
        Site::Mail | Site::MailPoll => return Some((devices, RACE)),
        Site::Machine => return None,
    };
    Some((scenario, name_of(scenario)))
}

/// The first word of the assertions of a test.
fn name_of(scenario: Scenario) -> &'static str {
    let names: [(Scenario, &str); 8] = [
        (payload, "payload"),
        (continuation, "continuation"),
        (completion, "completion"),
        (sealed, "sealed"),
        (fence, "fence"),
        (epoch, "epoch"),
        (drain, "drain"),
        (print, "print"),
    ];
    let mut found = names.into_iter();
    found
        .find(|(other, _)| std::ptr::fn_addr_eq(*other, scenario))
        .unwrap()
        .1
}

/// The message of a separate thread that fails in `scenario`; the checker is not used again there.
fn failure(scenario: Scenario, weakened: Option<Site>) -> Option<String> {
    let run = std::thread::spawn(move || scenario(weakened));
    run.join().err().map(|panic| text_of(&*panic))
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_default()
}

/// Asserts that `sites`, every third from `first` on, are needed.
fn all_are_needed(first: usize) {
    for site in Site::ALL.into_iter().skip(first).step_by(3) {
        let (scenario, expected) = scenario(site).unwrap();
        let without = failure(scenario, Some(site));
        let without = without.unwrap_or_else(|| panic!("nothing fails without {site:?}"));
        assert!(without.contains(expected), "{site:?}: {without}");
    }
}

#[test]
fn each_order_is_needed() {
    all_are_needed(0);
}

#[test]
fn each_order_is_needed_of_the_second_third() {
    all_are_needed(1);
}

#[test]
fn each_order_is_needed_of_the_last_third() {
    all_are_needed(2);
}

#[test]
fn no_other_place_is_checked() {
    assert!(scenario(Site::Machine).is_none());
    assert!(!Site::ALL.contains(&Site::Machine));
}

macro_rules! holds {
    ($($name:ident: $test:ident;)+) => {$(
        #[test]
        fn $name() {
            $test(None);
        }
    )+};
}

holds! {
    a_claim_sees_the_payload: payload;
    the_end_of_a_slot_shows_its_completion: completion;
    a_sealed_end_shows_what_the_slot_wrote: sealed;
    a_later_turn_sees_the_continuation: continuation;
    a_freed_slot_was_read: reuse;
    a_fence_sees_its_batch: fence;
    an_epoch_shows_its_batch: epoch;
    a_service_that_drains_leaves_nothing_behind: drain;
    a_printed_record_is_whole: print;
    printers_take_turns_at_a_place: printers;
    a_barrier_shows_what_was_before_it: meets;
    the_last_block_sees_what_the_others_wrote: last;
    a_thread_group_gets_its_words_of_each_turn: group;
    mail_shows_what_was_before_it: devices;
}
