//! Longest waits: claims of a worker between the post of a slot and its claim, while all more
//! urgent levels are always full.

use seawall::service::{Kind, SharedWords};
use seawall_core::abi::ring::{SlotRecord, Status, TASK, TenantRecord};
use seawall_core::protocol::{AGEING_AFTER, Layout, Outcome, Ring, Setup, Worker};
use std::collections::HashMap;

const URGENT_SLOTS: u32 = 4;
const CLAIMS: u64 = 60_000;

/// A service of one worker, stepped by hand.
struct Stage<'m> {
    ring: Ring<'m, SharedWords>,
    posted_at: HashMap<u32, u64>,
    next_task: u32,
}

impl Stage<'_> {
    /// Posts into every slot that is free.
    fn refill(&mut self, now: u64) {
        for level in 0..5 {
            for index in self.ring.slots_of(level) {
                if self.ring.poll(index) == Some(Status::Done) {
                    self.ring.release(index);
                }
                if !self.ring.reserve(index) {
                    continue;
                }
                let mut slot = SlotRecord {
                    opcode: Kind::Nop.opcode(),
                    tenant: 1,
                    priority: level,
                    ..SlotRecord::default()
                };
                slot.arguments[TASK] = self.next_task;
                self.next_task += 1;
                self.ring.publish(index, &slot);
                self.posted_at.insert(index, now);
            }
        }
    }
}

/// Waits in claims of the slots of each level.
fn waits(idle: u32) -> [Vec<u64>; 5] {
    let levels = [URGENT_SLOTS, URGENT_SLOTS, URGENT_SLOTS, URGENT_SLOTS, idle];
    let layout = Layout::new(levels, 1, 1).unwrap();
    let words = SharedWords::new(layout.words()).unwrap();
    let ring = Ring::new(&words, layout);
    let tenant = TenantRecord {
        mask: Kind::TENANT_MASK,
        quota: 1,
        window_words: 1,
        ..TenantRecord::default()
    };
    ring.format(&Setup {
        tenants: &[TenantRecord::default(), tenant],
        workers: 1,
        ageing_after: AGEING_AFTER,
    });
    let mut stage = Stage {
        ring,
        posted_at: HashMap::new(),
        next_task: 1,
    };
    let mut worker = Worker::new(ring, None);
    let mut waits: [Vec<u64>; 5] = Default::default();
    for now in 0..CLAIMS {
        stage.refill(now);
        let claim = worker.claim().expect("every level is full");
        let level = claim.slot().level() as usize;
        waits[level].push(now - stage.posted_at[&claim.index()]);
        worker.answer(claim, Outcome::word(0));
    }
    waits
}

#[test]
fn no_slot_waits_longer_than_its_bound_while_all_levels_are_full() {
    for idle in [1, 2, 7] {
        let mut waits = waits(idle);
        for (level, waits) in waits.iter_mut().enumerate() {
            waits.sort_unstable();
            let slots = u64::from(if level == 4 { idle } else { URGENT_SLOTS });
            let longest = *waits.last().expect("every level has its turn");
            assert!(longest <= 68 * slots, "{level}: {longest} of {slots} slots");
        }
        let idle_waits = &waits[4];
        let p99 = idle_waits[idle_waits.len() * 99 / 100];
        // One claim in 68 is an Idle one, in turn among the slots.
        assert_eq!(p99, 68 * u64::from(idle) - 1, "{idle}");
        // The most urgent level has all claims but one in 17.
        assert!(waits[0].len() as u64 >= CLAIMS * 16 / 17, "{idle}");
    }
}
