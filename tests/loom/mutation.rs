//! The tests of the protocol pass, and each fails when an order that it is about is
//! taken away.

use super::protocol::{completion, continuation, epoch, fence, payload, print};
use super::words::Site;

macro_rules! holds {
    ($($name:ident: $test:ident;)+) => {$(
        #[test]
        fn $name() {
            $test(None);
        }
    )+};
}

macro_rules! fails {
    ($($name:ident: $test:ident, $expected:literal, $site:ident;)+) => {$(
        #[test]
        #[should_panic(expected = $expected)]
        fn $name() {
            $test(Some(Site::$site));
        }
    )+};
}

holds! {
    a_claim_sees_the_payload: payload;
    the_end_of_a_slot_shows_its_completion: completion;
    a_later_turn_sees_the_continuation: continuation;
    a_fence_sees_its_batch: fence;
    an_epoch_shows_its_batch: epoch;
    a_printed_record_is_whole: print;
}

fails! {
    publishing_without_release: payload, "payload", Publish;
    claiming_without_acquire: payload, "payload", Claim;
    answering_without_release: completion, "completion", Answer;
    polling_without_acquire: completion, "completion", Poll;
    putting_back_without_release: continuation, "continuation", PutBack;
    a_member_without_release: fence, "fence", Member;
    a_fence_without_acquire: fence, "fence", FenceLook;
    an_epoch_without_release: epoch, "epoch", EpochStep;
    an_epoch_read_without_acquire: epoch, "epoch", EpochLook;
    printing_without_release: print, "print", PrintWritten;
    reading_the_log_without_acquire: print, "print", PrintLook;
}
