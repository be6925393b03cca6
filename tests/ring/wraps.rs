//! Counters that wrap: each round starts all of them just below their end, and ends beyond it.
//!
//! `ROUNDS=N cargo test --release -p seawall-tests --test ring wraps` runs N rounds.

use seawall::service::SharedWords;
use seawall_core::abi::ring::{
    Continuation, ControlBlock, Kind, KindRecord, LevelRecord, SlotRecord, Status, TASK,
    TenantRecord,
};
use seawall_core::protocol::{
    AGEING_AFTER, Claim, Layout, Outcome, Ring, Scope, Setup, Words, Worker, Write, hash_of,
};
use std::mem::offset_of;

/// Rounds of a plain run of the tests.
const ROUNDS: u32 = 500;
/// The value of each counter when a round starts.
const START: u32 = u32::MAX - 2;
/// Tasks of each kind in a round, so that each counter of them wraps.
const EACH: u32 = 5;
/// Kinds of tasks: done at once, printed, of three turns, refused by the worker.
const KINDS: [Kind; 4] = [Kind::Nop, Kind::Print, Kind::User, Kind::Load];
const WINDOW: u32 = 4;

/// Words of the control block that wrap, except the counts of batches.
fn counters() -> Vec<u32> {
    let mut bytes = vec![
        offset_of!(ControlBlock, done),
        offset_of!(ControlBlock, epoch),
        offset_of!(ControlBlock, faults),
        offset_of!(ControlBlock, heartbeat),
        offset_of!(ControlBlock, requeues),
        offset_of!(ControlBlock, yields),
        offset_of!(ControlBlock, prints),
        offset_of!(ControlBlock, checksum),
        offset_of!(ControlBlock, scans_from_below),
    ];
    for level in 0..5 {
        let at = offset_of!(ControlBlock, levels) + level * size_of::<LevelRecord>();
        bytes.push(at + offset_of!(LevelRecord, posted));
        bytes.push(at + offset_of!(LevelRecord, claimed));
    }
    let tenant = offset_of!(ControlBlock, tenants) + size_of::<TenantRecord>();
    bytes.push(tenant + offset_of!(TenantRecord, served));
    bytes.push(tenant + offset_of!(TenantRecord, faults));
    for kind in KINDS {
        let at = offset_of!(ControlBlock, kinds) + kind as usize * size_of::<KindRecord>();
        bytes.push(at);
        bytes.push(at + size_of::<u32>());
    }
    bytes.into_iter().map(|byte| (byte / 4) as u32).collect()
}

/// The first turn yields, the second one is requeued, the third one ends.
fn take_turn(claim: &Claim) -> Outcome {
    let task = claim.continuation();
    let data = task.data + 1;
    match data {
        1 => Outcome::Yield(Continuation { data, ..task }),
        2 => Outcome::Requeue(Continuation { data, ..task }),
        _ => Outcome::word(data),
    }
}

fn post(ring: Ring<'_, SharedWords>, level: u32, slot: SlotRecord) -> u32 {
    let mut slots = ring.slots_of(level);
    let index = slots.find(|index| ring.reserve(*index)).expect("room");
    ring.publish(index, &slot);
    index
}

/// A task and the slot that it has.
struct Posted {
    index: u32,
    kind: Kind,
    task: u32,
}

fn post_all(ring: Ring<'_, SharedWords>, first_task: u32) -> Vec<Posted> {
    let mut posted = Vec::new();
    for (at, kind) in (0..EACH).flat_map(|at| KINDS.map(|kind| (at, kind))) {
        let task = first_task.wrapping_add(posted.len() as u32);
        let level = at % 5;
        let mut slot = SlotRecord {
            opcode: kind.opcode(),
            tenant: 1,
            priority: level | 1 << 8,
            ..SlotRecord::default()
        };
        match kind {
            Kind::Print => slot.arguments[..2].copy_from_slice(&[1, task]),
            Kind::Load => slot.arguments[0] = WINDOW,
            _ => {}
        }
        slot.arguments[TASK] = task;
        let index = post(ring, level, slot);
        posted.push(Posted { index, kind, task });
    }
    posted
}

/// Runs the waiting slots, by two workers in turn.
fn work(ring: Ring<'_, SharedWords>, workers: &mut [Worker<'_, SharedWords>; 2]) {
    while ring.waiting() != [0; 5] {
        for worker in &mut *workers {
            if let Some(claim) = worker.claim() {
                let outcome = ring.execute(&claim).unwrap_or_else(|| take_turn(&claim));
                worker.answer(claim, outcome);
            }
        }
    }
}

fn check_answers(ring: Ring<'_, SharedWords>, posted: &[Posted]) {
    for Posted { index, kind, task } in posted {
        let expected = match kind {
            Kind::Load => Status::Fault,
            _ => Status::Done,
        };
        assert_eq!(ring.poll(*index), Some(expected));
        let record = ring.completion(*index);
        assert_eq!(record.task, *task);
        assert_eq!(record.turns, if *kind == Kind::User { 3 } else { 1 });
        ring.release(*index);
    }
}

/// The records in a log of `kept` are those of this round, in order, and no other record is
/// confused with one of them.
fn check_log(ring: Ring<'_, SharedWords>, posted: &[Posted], kept: u32) {
    let tasks: Vec<u32> = posted
        .iter()
        .filter(|one| one.kind == Kind::Print)
        .map(|one| one.task)
        .collect();
    let mut seen = Vec::new();
    for number in 0..EACH {
        if let Some(record) = ring.print_at(START.wrapping_add(number)) {
            assert!(tasks.contains(&record.task), "record {number}");
            assert_eq!(record.text[0], record.task);
            seen.push(record.task);
        }
    }
    let found = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), found, "a record was read twice");
    // If the places of a log do not divide the numbers, one begins anew when they wrap.
    let least = if kept.is_power_of_two() { kept } else { 1 };
    assert!(found as u32 >= least.min(EACH), "{found} of {kept}");
}

fn check_counts(ring: Ring<'_, SharedWords>, first_task: u32, turns_of_fence: u32) {
    let tasks = EACH * KINDS.len() as u32;
    let control = ring.control();
    let grown = |word: u32| word.wrapping_sub(START);
    let hashes = (0..=tasks).fold(0, |sum: u32, at| {
        sum.wrapping_add(hash_of(first_task.wrapping_add(at)))
    });
    assert_eq!(grown(control.done), tasks + 1);
    assert_eq!(grown(control.checksum), hashes);
    assert_eq!((grown(control.epoch), grown(control.prints)), (1, EACH));
    assert_eq!(grown(control.faults), EACH);
    let requeues = EACH + turns_of_fence - 1;
    assert_eq!(
        (grown(control.yields), grown(control.requeues)),
        (EACH, requeues)
    );
    let tenant = control.tenants[1];
    assert_eq!(
        (grown(tenant.served), grown(tenant.faults)),
        (tasks + 1, EACH)
    );
    assert_eq!((tenant.running, control.prints_dropped), (0, 0));
    for kind in KINDS {
        let KindRecord { done, faults } = control.kinds[kind as usize];
        // A slot that a worker refuses counts as no kind's.
        let good = if kind == Kind::Load { 0 } else { EACH };
        assert_eq!((grown(done), grown(faults)), (good, 0), "{kind:?}");
    }
    for level in control.levels {
        assert_eq!(level.posted, level.claimed);
        assert!(grown(level.posted) >= KINDS.len() as u32);
    }
}

fn round(
    words: &SharedWords,
    layout: Layout,
    workers: &mut [Worker<'_, SharedWords>; 2],
    first_task: u32,
) {
    let ring = Ring::new(words, layout);
    for at in counters() {
        words.store(at, START, Write::Relaxed, Scope::System);
    }
    ring.open_batch(1);
    let posted = post_all(ring, first_task);
    let members = posted.len() as u32;
    let mut fence = SlotRecord {
        opcode: Kind::BatchFence.opcode(),
        tenant: 1,
        ..SlotRecord::default()
    };
    fence.arguments[..2].copy_from_slice(&[1, members]);
    fence.arguments[TASK] = first_task.wrapping_add(members);
    let fence = post(ring, 0, fence);
    work(ring, workers);
    assert_eq!(ring.poll(fence), Some(Status::Done));
    let ended = ring.completion(fence);
    assert_eq!(ended.results[0], START.wrapping_add(1));
    ring.release(fence);
    check_answers(ring, &posted);
    check_log(ring, &posted, layout.prints());
    check_counts(ring, first_task, ended.turns);
}

#[test]
fn every_counter_may_wrap_any_number_of_times() {
    let asked = std::env::var("ROUNDS").ok();
    let rounds = asked.map_or(ROUNDS, |text| text.parse().expect("ROUNDS: a number"));
    for prints in [1, 2, 3, 4, 5, 8] {
        let layout = Layout::new([KINDS.len() as u32 + 1; 5], prints, WINDOW).expect("a ring");
        let words = SharedWords::new(layout.words()).expect("memory");
        let ring = Ring::new(&words, layout);
        let tenant = TenantRecord {
            mask: Kind::TENANT_MASK,
            quota: 2,
            window_words: WINDOW,
            ..TenantRecord::default()
        };
        ring.format(&Setup {
            tenants: &[TenantRecord::default(), tenant],
            workers: 2,
            ageing_after: AGEING_AFTER,
        });
        let mut workers = [Worker::new(ring, None), Worker::new(ring, None)];
        for number in 0..rounds {
            // Numbers of tasks wrap, too.
            let first_task = u32::MAX
                .wrapping_sub(8)
                .wrapping_add(number.wrapping_mul(64));
            round(&words, layout, &mut workers, first_task);
        }
    }
}
