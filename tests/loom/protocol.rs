//! Invariants of every interleaving.

use super::words::{BATCH, EPOCH, LoomWords, SHUTDOWN, Watched};
use loom::thread;
use seawall_core::abi::ring::{
    Continuation, ControlBlock, Kind, LevelRecord, RESULTS, Shutdown, SlotRecord, Status, TASK,
    TenantRecord,
};
use seawall_core::protocol::{
    AGEING_AFTER, Claim, Layout, Outcome, Ring, Scope, Setup, Site, Words, Worker, Write,
};
use std::mem::offset_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Words of the two tenants' windows.
const WINDOW: u32 = 2;

// The reader of others' writes is a separate thread and reads once: loom returns to a thread no old
// value that it wrote, or had seen before it yielded.

/// Runs `body` in every interleaving, with `modelled` words of its layout.
fn check(
    prints: u32,
    modelled: impl Fn(Layout) -> Vec<u32> + Send + Sync + 'static,
    weakened: Option<Site>,
    body: impl Fn(&Shared) + Send + Sync + 'static,
) {
    let watched = move |layout| Watched {
        modelled: modelled(layout),
        ..Watched::default()
    };
    check_watched(prints, watched, weakened, body);
}

/// Runs `body` in every interleaving, with `watched` words of its layout.
fn check_watched(
    prints: u32,
    watched: impl Fn(Layout) -> Watched + Send + Sync + 'static,
    weakened: Option<Site>,
    body: impl Fn(&Shared) + Send + Sync + 'static,
) {
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 20_000;
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let layout = Layout::new([1; 5], prints, WINDOW).unwrap();
        let words = LoomWords::new(layout, &watched(layout), weakened);
        let shared = Shared(Arc::new(words), layout);
        shared.with(|ring| {
            let tenant = TenantRecord {
                mask: Kind::TENANT_MASK,
                quota: 4,
                window_words: WINDOW,
                ..TenantRecord::default()
            };
            let tenants = [TenantRecord::default(), tenant];
            let setup = Setup {
                tenants: &tenants,
                workers: 2,
                ageing_after: AGEING_AFTER,
            };
            ring.format(&setup);
        });
        body(&shared);
    });
}

#[derive(Clone)]
struct Shared(Arc<LoomWords>, Layout);

impl Shared {
    fn with<R>(&self, body: impl FnOnce(Ring<'_, LoomWords>) -> R) -> R {
        body(Ring::new(&*self.0, self.1))
    }

    fn spawn(&self, body: impl FnOnce(Ring<'_, LoomWords>) + 'static) -> thread::JoinHandle<()> {
        let shared = self.clone();
        thread::spawn(move || shared.with(body))
    }
}

fn slot(kind: Kind, level: u32, arguments: &[u32]) -> SlotRecord {
    let mut slot = SlotRecord {
        opcode: kind.opcode(),
        tenant: 1,
        priority: level,
        ..SlotRecord::default()
    };
    slot.arguments[..arguments.len()].copy_from_slice(arguments);
    slot.arguments[TASK] = 41 + level;
    slot
}

fn claim(worker: &mut Worker<'_, LoomWords>) -> Claim {
    loop {
        match worker.claim() {
            Some(claim) => return claim,
            None => thread::yield_now(),
        }
    }
}

/// A worker that claims a slot sees its payload.
pub(crate) fn payload(weakened: Option<Site>) {
    let modelled = |layout: Layout| vec![layout.slot(0), layout.slot(0) + 4, layout.slot(0) + 15];
    check(1, modelled, weakened, |shared| {
        let worker = shared.spawn(|ring| {
            let mut worker = Worker::new(ring, None);
            let claim = claim(&mut worker);
            assert_eq!(claim.slot().arguments[0], 7, "payload");
            assert_eq!(claim.slot().task(), 41, "payload");
            worker.answer(claim, Outcome::word(1));
        });
        shared.with(|ring| {
            assert!(ring.reserve(0));
            ring.publish(0, &slot(Kind::User, 0, &[7]));
        });
        worker.join().unwrap();
    });
}

/// A host that finds a slot done sees its completion and its handler's writes.
pub(crate) fn completion(weakened: Option<Site>) {
    let modelled = |layout: Layout| {
        let record = layout.completion(0);
        vec![layout.slot(0), record, record + 7, layout.windows()]
    };
    check(1, modelled, weakened, |shared| {
        shared.with(|ring| {
            assert!(ring.reserve(0));
            ring.publish(0, &slot(Kind::Store, 0, &[0, 9]));
        });
        let worker = shared.spawn(|ring| {
            let mut worker = Worker::new(ring, None);
            let claim = claim(&mut worker);
            assert!(ring.execute(&claim).is_some());
            worker.answer(claim, Outcome::word(5));
        });
        let reader = shared.spawn(move |ring| {
            if ring.poll(0) == Some(Status::Done) {
                let record = ring.completion(0);
                assert_eq!((record.task, record.results[0]), (41, 5), "completion");
                let mut window = [0];
                ring.read_window(1, 0, &mut window).unwrap();
                assert_eq!(window, [9], "completion");
            }
        });
        reader.join().unwrap();
        worker.join().unwrap();
    });
}

/// A worker that claims a slot that another one put back sees its progress.
pub(crate) fn continuation(weakened: Option<Site>) {
    let modelled = |layout: Layout| vec![layout.slot(0), layout.slot(0) + 8];
    check(1, modelled, weakened, |shared| {
        shared.with(|ring| {
            assert!(ring.reserve(0));
            ring.publish(0, &slot(Kind::User, 0, &[]));
        });
        // Whether the first worker had the slot first; not part of the model.
        let was_first = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&was_first);
        let first = shared.spawn(move |ring| {
            let mut worker = Worker::new(ring, None);
            if let Some(claim) = worker.claim() {
                seen.store(true, Ordering::SeqCst);
                let data = 7;
                let task = claim.continuation();
                worker.answer(claim, Outcome::Yield(Continuation { data, ..task }));
            }
        });
        let reader = shared.spawn(move |ring| {
            let mut worker = Worker::new(ring, None);
            let Some(claim) = worker.claim() else { return };
            let expected = if was_first.load(Ordering::SeqCst) {
                7
            } else {
                0
            };
            assert_eq!(claim.continuation().data, expected, "continuation");
            worker.answer(claim, Outcome::Done([0; RESULTS]));
        });
        reader.join().unwrap();
        first.join().unwrap();
    });
}

/// Ends slots until `left` have ended.
fn work(ring: Ring<'_, LoomWords>, left: &AtomicU32, ended: impl Fn(&Claim, Outcome)) {
    let mut worker = Worker::new(ring, None);
    while left.load(Ordering::SeqCst) > 0 {
        let Some(claim) = worker.claim() else {
            thread::yield_now();
            continue;
        };
        let outcome = ring.execute(&claim).unwrap();
        if let Outcome::Done(_) = outcome {
            ended(&claim, outcome);
            left.fetch_sub(1, Ordering::SeqCst);
            worker.answer(claim, outcome);
        } else {
            worker.answer(claim, outcome);
            thread::yield_now();
        }
    }
}

fn post_batch(ring: Ring<'_, LoomWords>) {
    ring.open_batch(1);
    assert!(ring.reserve(0) && ring.reserve(1));
    ring.publish(0, &slot(Kind::Store, 1 << 8, &[0, 9]));
    ring.publish(1, &slot(Kind::BatchFence, 1, &[1, 1]));
}

/// A fence that ends sees the writes of its whole batch.
pub(crate) fn fence(weakened: Option<Site>) {
    let modelled = |layout: Layout| vec![layout.slot(0), layout.slot(1), BATCH, layout.windows()];
    check(1, modelled, weakened, |shared| {
        shared.with(post_batch);
        let member = shared.spawn(|ring| {
            let mut worker = Worker::new(ring, Some(Kind::Store));
            if let Some(claim) = worker.claim() {
                let outcome = ring.execute(&claim).unwrap();
                worker.answer(claim, outcome);
            }
        });
        let reader = shared.spawn(move |ring| {
            let mut worker = Worker::new(ring, Some(Kind::BatchFence));
            let Some(claim) = worker.claim() else { return };
            let outcome = ring.execute(&claim).unwrap();
            if let Outcome::Done(_) = outcome {
                let mut window = [0];
                ring.read_window(1, 0, &mut window).unwrap();
                assert_eq!(window, [9], "fence");
            }
            worker.answer(claim, outcome);
        });
        reader.join().unwrap();
        member.join().unwrap();
    });
}

/// A host that sees an epoch sees the writes of the batches before it.
pub(crate) fn epoch(weakened: Option<Site>) {
    let modelled = |layout: Layout| vec![EPOCH, BATCH, layout.windows()];
    check(1, modelled, weakened, |shared| {
        shared.with(post_batch);
        let worker = shared.spawn(|ring| work(ring, &AtomicU32::new(2), |_, _| ()));
        let reader = shared.spawn(move |ring| {
            if ring.epoch() == 1 {
                let mut window = [0];
                ring.read_window(1, 0, &mut window).unwrap();
                assert_eq!(window, [9], "epoch");
            }
        });
        reader.join().unwrap();
        worker.join().unwrap();
    });
}

/// A readable record of the log is complete, although the next one takes its place.
pub(crate) fn print(weakened: Option<Site>) {
    let modelled = |layout: Layout| {
        let record = layout.print(0);
        vec![record, record + 2, record + 4]
    };
    check(1, modelled, weakened, |shared| {
        shared.with(|ring| {
            for level in 0..2 {
                assert!(ring.reserve(level));
                ring.publish(level, &slot(Kind::Print, level, &[1, 41 + level]));
            }
        });
        let worker = shared.spawn(|ring| work(ring, &AtomicU32::new(2), |_, _| ()));
        let reader = shared.spawn(move |ring| {
            for number in 0..2 {
                if let Some(record) = ring.print_at(number) {
                    let whole = (41 + number, 41 + number);
                    assert_eq!((record.task, record.text[0]), whole, "print");
                }
            }
        });
        reader.join().unwrap();
        worker.join().unwrap();
    });
}

/// A printer that takes the place of an older record writes after that one's printer.
pub(crate) fn printers(weakened: Option<Site>) {
    let watched = |layout: Layout| {
        let record = layout.print(0);
        Watched {
            modelled: vec![record],
            owned: vec![record + 2, record + 4],
            ..Watched::default()
        }
    };
    check_watched(1, watched, weakened, |shared| {
        shared.with(|ring| {
            for level in 0..2 {
                assert!(ring.reserve(level));
                ring.publish(level, &slot(Kind::Print, level, &[1, 41 + level]));
            }
        });
        let print = |ring: Ring<'_, LoomWords>| {
            let mut worker = Worker::new(ring, None);
            let claim = claim(&mut worker);
            let outcome = ring.execute(&claim).unwrap();
            worker.answer(claim, outcome);
        };
        let other = shared.spawn(print);
        shared.with(print);
        other.join().unwrap();
    });
}

/// A host that gets a slot that another one freed writes to it after that one has read its answer.
pub(crate) fn reuse(weakened: Option<Site>) {
    let watched = |layout: Layout| {
        let record = layout.completion(0);
        Watched {
            modelled: vec![layout.slot(0)],
            owned: vec![record, record + 7],
            ..Watched::default()
        }
    };
    check_watched(1, watched, weakened, |shared| {
        let answer = |ring: Ring<'_, LoomWords>, word: u32| {
            ring.publish(0, &slot(Kind::Nop, 0, &[]));
            let mut worker = Worker::new(ring, None);
            let claim = claim(&mut worker);
            worker.answer(claim, Outcome::word(word));
        };
        shared.with(|ring| {
            assert!(ring.reserve(0));
            answer(ring, 5);
        });
        let reader = shared.spawn(|ring| {
            assert_eq!(ring.poll(0), Some(Status::Done));
            assert_eq!(ring.completion(0).results[0], 5, "reuse");
            ring.release(0);
        });
        let next = shared.spawn(move |ring| {
            if ring.reserve(0) {
                answer(ring, 6);
            }
        });
        next.join().unwrap();
        reader.join().unwrap();
    });
}

/// A worker that is asked to end once nothing waits sees all that was posted before.
pub(crate) fn drain(weakened: Option<Site>) {
    let modelled = |_| {
        let posted = offset_of!(ControlBlock, levels) + offset_of!(LevelRecord, posted);
        vec![SHUTDOWN, (posted / 4) as u32]
    };
    check(1, modelled, weakened, |shared| {
        let host = shared.spawn(|ring| {
            assert!(ring.reserve(0));
            ring.publish(0, &slot(Kind::Nop, 0, &[]));
            ring.shut_down(Shutdown::Drain);
        });
        let worker = shared.spawn(|ring| {
            // No worker has claimed the slot: a worker that ended now would leave it behind.
            assert!(!Worker::new(ring, None).should_end(), "drain");
        });
        worker.join().unwrap();
        host.join().unwrap();
    });
}

/// A host that finds a sealed status sees the completion and the handler's writes.
pub(crate) fn sealed(weakened: Option<Site>) {
    sealed_end(Kind::Store, weakened);
}

/// The same for a slot that wrote nothing else, whose status is sealed with relaxed order.
#[test]
fn a_seal_shows_that_the_completion_is_whole() {
    sealed_end(Kind::Nop, None);
}

fn sealed_end(kind: Kind, weakened: Option<Site>) {
    let watched = |layout: Layout| {
        let record = layout.completion(0);
        Watched {
            modelled: vec![layout.slot(0), record, record + 1, layout.windows()],
            seals: true,
            ..Watched::default()
        }
    };
    check_watched(1, watched, weakened, move |shared| {
        shared.with(|ring| {
            assert!(ring.reserve(0));
            ring.publish(0, &slot(kind, 0, &[0, 9]));
        });
        let worker = shared.spawn(|ring| {
            let mut worker = Worker::new(ring, None);
            let claim = claim(&mut worker);
            let outcome = ring.execute(&claim).unwrap();
            worker.answer(claim, outcome);
        });
        let reader = shared.spawn(move |ring| {
            if let Some(record) = ring.ended(0) {
                assert_eq!(
                    (record.task, record.status),
                    (41, Status::Done as u32),
                    "sealed"
                );
                let mut window = [0];
                ring.read_window(1, 0, &mut window).unwrap();
                let wrote = if kind == Kind::Store { 9 } else { 0 };
                assert_eq!(window, [wrote], "sealed");
            }
        });
        reader.join().unwrap();
        worker.join().unwrap();
    });
}

/// Two workers never have the same slot, and each slot ends once.
#[test]
fn every_slot_is_claimed_once() {
    let modelled = |layout: Layout| vec![layout.slot(0), layout.slot(1)];
    check(1, modelled, None, |shared| {
        shared.with(|ring| {
            for level in 0..2 {
                assert!(ring.reserve(level) && !ring.reserve(level));
                ring.publish(level, &slot(Kind::Nop, level, &[]));
            }
        });
        let left = Arc::new(AtomicU32::new(2));
        let ends = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let note = |ends: &[AtomicU32; 2], claim: &Claim| {
            let before = ends[claim.index() as usize].fetch_add(1, Ordering::SeqCst);
            assert_eq!(before, 0, "claimed twice");
        };
        let (others, theirs) = (Arc::clone(&left), Arc::clone(&ends));
        let other = shared.spawn(move |ring| work(ring, &others, |claim, _| note(&theirs, claim)));
        shared.with(|ring| work(ring, &left, |claim, _| note(&ends, claim)));
        other.join().unwrap();
        shared.with(|ring| assert_eq!(ring.control().done, 2));
    });
}

/// A tenant's quota holds where two workers claim at the same time.
#[test]
fn two_workers_never_have_more_slots_of_a_tenant_than_its_quota() {
    let first_tenant = (offset_of!(ControlBlock, tenants) + size_of::<TenantRecord>()) / 4;
    let word_of = move |byte: usize| (first_tenant + byte / 4) as u32;
    let running = word_of(offset_of!(TenantRecord, running));
    let quota = word_of(offset_of!(TenantRecord, quota));
    let modelled = move |layout: Layout| vec![layout.slot(0), layout.slot(1), running];
    check(1, modelled, None, move |shared| {
        shared.with(|ring| {
            ring.memory().store(quota, 1, Write::Relaxed, Scope::System);
            for level in 0..2 {
                assert!(ring.reserve(level));
                ring.publish(level, &slot(Kind::Nop, level, &[]));
            }
        });
        let held = Arc::new(AtomicU32::new(0));
        let work = |ring: Ring<'_, LoomWords>, held: &AtomicU32| {
            let mut worker = Worker::new(ring, None);
            if let Some(claim) = worker.claim() {
                assert_eq!(held.fetch_add(1, Ordering::Relaxed), 0, "quota");
                thread::yield_now();
                held.fetch_sub(1, Ordering::Relaxed);
                worker.answer(claim, Outcome::word(1));
            }
        };
        let theirs = Arc::clone(&held);
        let other = shared.spawn(move |ring| work(ring, &theirs));
        shared.with(|ring| work(ring, &held));
        other.join().unwrap();
    });
}

/// Two hosts that reserve the same slot do not both get it.
#[test]
fn a_slot_is_reserved_by_one_host() {
    let modelled = |layout: Layout| vec![layout.slot(0)];
    check(1, modelled, None, |shared| {
        let got = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&got);
        let other = shared.spawn(move |ring| {
            theirs.fetch_add(u32::from(ring.reserve(0)), Ordering::SeqCst);
        });
        let mine = shared.with(|ring| ring.reserve(0));
        got.fetch_add(u32::from(mine), Ordering::SeqCst);
        other.join().unwrap();
        assert_eq!(got.load(Ordering::SeqCst), 1);
    });
}
