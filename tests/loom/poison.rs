//! Every word of slots and control block counts: changed before the workers poll, it changes their
//! actions or a host's view.

use seawall_core::abi::ring::{
    BATCHES, CompletionRecord, Continuation, ControlBlock, FaultCode, Kind, PrintRecord,
    SlotRecord, Status, TASK, TENANTS, TenantRecord,
};
use seawall_core::protocol::{
    AGEING_AFTER, Claim, Layout, Outcome, Read, Refusal, Ring, Scope, Setup, Swap, Update, Words,
    Worker, Write,
};
use std::cell::Cell;
use std::mem::offset_of;

/// Words of one thread.
pub(super) struct Plain(pub(super) Vec<Cell<u32>>);

impl Words for Plain {
    fn load(&self, at: u32, _: Read, _: Scope) -> u32 {
        self.0[at as usize].get()
    }

    fn store(&self, at: u32, value: u32, _: Write, _: Scope) {
        self.0[at as usize].set(value);
    }

    fn swap_if(&self, at: u32, swap: Swap, _: Update, _: Scope) -> u32 {
        let found = self.0[at as usize].get();
        if found == swap.expected {
            self.0[at as usize].set(swap.value);
        }
        found
    }

    fn add(&self, at: u32, value: u32, _: Update, _: Scope) -> u32 {
        let found = self.0[at as usize].get();
        self.0[at as usize].set(found.wrapping_add(value));
        found
    }
}

/// Words of a tenant's window.
pub(super) const WINDOW: u32 = 16;

pub(super) fn layout() -> Layout {
    Layout::new([2; 5], 4, WINDOW * (TENANTS - 1)).unwrap()
}

/// A fresh ring whose tenants may do everything, two slots of each at a time.
pub(super) fn memory() -> Plain {
    let layout = layout();
    let memory = Plain(vec![Cell::new(0); layout.words() as usize]);
    let tenant = |number: u32| TenantRecord {
        mask: if number == 0 {
            Kind::Shutdown.bit()
        } else {
            Kind::TENANT_MASK
        },
        quota: 1,
        window_first: number.saturating_sub(1) * WINDOW,
        window_words: if number == 0 { 0 } else { WINDOW },
        ..TenantRecord::default()
    };
    let tenants: Vec<TenantRecord> = (0..TENANTS).map(tenant).collect();
    let setup = Setup {
        tenants: &tenants,
        workers: 2,
        ageing_after: AGEING_AFTER,
    };
    Ring::new(&memory, layout).format(&setup);
    memory
}

pub(super) fn slot(kind: Kind, tenant: u32, level: u32, arguments: &[u32]) -> SlotRecord {
    let mut slot = SlotRecord {
        opcode: kind.opcode(),
        tenant,
        priority: level,
        ..SlotRecord::default()
    };
    slot.arguments[..arguments.len()].copy_from_slice(arguments);
    slot.arguments[TASK] = 1000 + tenant;
    slot
}

/// All state that a host can observe.
#[derive(Debug, PartialEq)]
struct Observed {
    statuses: Vec<Option<Status>>,
    completions: Vec<CompletionRecord>,
    refusals: Vec<Result<Kind, Refusal>>,
    prints: Vec<Option<PrintRecord>>,
    windows: Vec<u32>,
    turns: u32,
    ended: bool,
    control: Vec<u32>,
}

fn found(ring: Ring<'_, Plain>, turns: u32, ended: bool) -> Observed {
    let layout = ring.layout();
    let slots = 0..layout.slots();
    let word = |at: u32| ring.memory().0[at as usize].get();
    Observed {
        statuses: slots.clone().map(|index| ring.poll(index)).collect(),
        completions: slots.map(|index| ring.completion(index)).collect(),
        refusals: (0..=TENANTS)
            .flat_map(|tenant| {
                let last = slot(Kind::Load, tenant, 0, &[WINDOW - 1]);
                let beyond = slot(Kind::Load, tenant, 0, &[WINDOW]);
                [ring.admit(&last), ring.admit(&beyond)]
            })
            .collect(),
        prints: (0..8).map(|number| ring.print_at(number)).collect(),
        windows: (0..layout.window_words())
            .map(|at| word(layout.windows() + at))
            .collect(),
        turns,
        ended,
        control: bytemuck::cast_slice(&[ring.control()]).to_vec(),
    }
}

/// Posts slots to their priorities, as many as there is space for.
pub(super) fn post(ring: Ring<'_, Plain>, slots: &[SlotRecord]) {
    for slot in slots {
        let mut free = ring.slots_of(slot.level());
        if let Some(index) = free.find(|index| ring.reserve(*index)) {
            ring.publish(index, slot);
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Poison {
    at: u32,
    value: u32,
}

/// Last argument of a slot whose handler fails.
const FAILS: u32 = 13;
/// Last argument of a slot whose handler continues in a second turn.
const YIELDS: u32 = 14;

/// A handler of kinds that need a machine: done, with the sum of the arguments.
fn outcome(ring: Ring<'_, Plain>, claim: &Claim) -> Outcome {
    match claim.slot().arguments[10] {
        FAILS if claim.work().is_ok() => return Outcome::fault(FaultCode::Handler, 1),
        YIELDS if claim.continuation().yields == 0 => {
            let flags = 0;
            return Outcome::Yield(Continuation {
                flags,
                ..claim.continuation()
            });
        }
        _ => (),
    }
    ring.execute(claim).unwrap_or_else(|| {
        let arguments = claim.slot().arguments;
        let sum = arguments
            .iter()
            .fold(0_u32, |sum, word| sum.wrapping_mul(31).wrapping_add(*word));
        Outcome::word(sum)
    })
}

/// Two workers take turns, the second one while the first has a slot, so that quotas matter; which
/// of them polls follows from the control block.
pub(super) fn work(ring: Ring<'_, Plain>) -> (u32, bool) {
    let mut workers = [Worker::new(ring, None), Worker::new(ring, None)];
    for turn in 0..60 {
        let control = ring.control();
        let favourite = control.favourite.checked_sub(1);
        let only = favourite.and_then(|kind| Kind::ALL.get(kind as usize).copied());
        if workers[1].only() != only {
            workers[1] = Worker::new(ring, only);
        }
        if workers[0].should_end() {
            return (turn, true);
        }
        let [first, second] = &mut workers;
        let one = first.claim();
        let other = (control.workers > 1).then(|| second.claim()).flatten();
        for (worker, claim) in [(first, one), (second, other)] {
            if let Some(claim) = claim {
                let outcome = outcome(ring, &claim);
                worker.answer(claim, outcome);
            }
        }
    }
    (60, workers[0].should_end())
}

fn run(scene: &Scene, poison: Option<Poison>) -> Observed {
    let memory = memory();
    let ring = Ring::new(&memory, layout());
    stage(ring, scene);
    if let Some(Poison { at, value }) = poison {
        memory.0[at as usize].set(value);
    }
    let (turns, ended) = work(ring);
    found(ring, turns, ended)
}

fn stage(ring: Ring<'_, Plain>, scene: &Scene) {
    post(ring, &scene.slots);
    ring.steer(2, scene.favourite, scene.ageing_after);
}

/// Slots that are posted together.
struct Scene {
    slots: Vec<SlotRecord>,
    /// The only kind of the second worker and 1, or 0.
    favourite: u32,
    ageing_after: u32,
}

impl From<Vec<SlotRecord>> for Scene {
    fn from(slots: Vec<SlotRecord>) -> Self {
        Self {
            slots,
            favourite: 0,
            ageing_after: AGEING_AFTER,
        }
    }
}

/// Work that together uses every word.
fn scenes() -> Vec<Scene> {
    let mut scenes: Vec<Scene> = scenes_of_all().into_iter().map(Scene::from).collect();
    let reach = slot(Kind::Reach, 1, 2, &[1]);
    scenes.push(Scene {
        slots: vec![reach, slot(Kind::Reach, 2, 2, &[2])],
        favourite: Kind::Reach as u32 + 1,
        ageing_after: 0,
    });
    scenes
}

fn scenes_of_all() -> Vec<Vec<SlotRecord>> {
    let mut scenes = Vec::new();
    for tenant in 1..TENANTS {
        // Two at once, so that one waits for the quota, and one that faults.
        let store = slot(Kind::Store, tenant, 2, &[WINDOW - 1, 7]);
        let load = slot(Kind::Load, tenant, 2, &[WINDOW - 1]);
        let fault = slot(Kind::DfaStep, tenant, 3, &[0, 0, 1]);
        scenes.push(vec![store, load, fault]);
    }
    for level in 0..5 {
        let nop = slot(Kind::Nop, 1, level, &[]);
        scenes.push(vec![nop, slot(Kind::Nop, 2, level, &[])]);
    }
    for batch in 1..=BATCHES {
        let member = SlotRecord {
            priority: 2 | batch << 8,
            ..slot(Kind::Nop, 1, 2, &[])
        };
        scenes.push(vec![member, slot(Kind::BatchFence, 2, 1, &[batch, 1])]);
    }
    for kind in Kind::ALL {
        let tenant = u32::from(kind != Kind::Shutdown);
        scenes.push(vec![slot(kind, tenant, 2, &[])]);
        let failing = [&[1][..], &[0; 9], &[FAILS]].concat();
        scenes.push(vec![slot(kind, tenant, 2, &failing)]);
    }
    scenes.push(vec![slot(Kind::Shutdown, 0, 2, &[]); 2]);
    let yielding = [&[0; 10][..], &[YIELDS]].concat();
    scenes.push(vec![slot(Kind::User, 1, 2, &yielding)]);
    scenes.push(vec![
        slot(Kind::Print, 1, 2, &[8, 1, 2, 3, 4, 5, 6, 7, 8]);
        2
    ]);
    scenes.push(vec![slot(
        Kind::Packed,
        1,
        2,
        &[4, 0x0102_0303, 0, 1, 1, 2, 2, 3, 3, 4],
    )]);
    scenes.push(vec![slot(
        Kind::User,
        1,
        2,
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    )]);
    scenes
}

/// Values that a word may be changed to.
fn poisons(at: u32, was: u32) -> impl Iterator<Item = Poison> {
    let values = [
        was ^ 1,
        was.wrapping_add(1),
        0,
        1,
        2,
        5,
        u32::MAX,
        was ^ 1 << 31,
    ];
    let changed = values.into_iter().filter(move |value| *value != was);
    changed.map(move |value| Poison { at, value })
}

/// Whether a change of one word changes other state.
fn matters(scene: &Scene, at: u32, plain: &Observed) -> bool {
    let was = {
        let memory = memory();
        stage(Ring::new(&memory, layout()), scene);
        memory.0[at as usize].get()
    };
    poisons(at, was).any(|poison| {
        let mut found = run(scene, Some(poison));
        if let (Some(own), Some(word)) = (
            plain.control.get(at as usize),
            found.control.get_mut(at as usize),
        ) {
            *word = *own;
        }
        found != *plain
    })
}

#[test]
fn every_word_of_the_control_block_is_read_or_counts() {
    let scenes: Vec<_> = scenes()
        .into_iter()
        .map(|scene| (run(&scene, None), scene))
        .collect();
    let control = [Ring::new(&memory(), layout()).control()];
    let fresh: &[u32] = bytemuck::cast_slice(&control);
    let dead: Vec<u32> = (0..)
        .zip(fresh)
        .filter(|(at, fresh)| {
            // Every counter counts in some scene; every other word affects one.
            let index = *at as usize;
            let counts = scenes
                .iter()
                .any(|(plain, _)| plain.control[index] != **fresh);
            !counts
                && !scenes
                    .iter()
                    .any(|(plain, scene)| matters(scene, *at, plain))
        })
        .map(|(at, _)| at)
        .collect();
    let field = |offset: usize| (offset / 4) as u32;
    let owner = offset_of!(ControlBlock, tenants);
    // The owner may post nothing that needs a window, and a record is dropped only in
    // favour of a writer of another thread: the next test.
    let others = [
        field(offset_of!(ControlBlock, prints_dropped)),
        field(owner + offset_of!(TenantRecord, window_first)),
        field(owner + offset_of!(TenantRecord, window_words)),
    ];
    assert_eq!(dead, others);
}

#[test]
fn a_record_whose_place_is_held_is_dropped_and_counted() {
    let memory = memory();
    let ring = Ring::new(&memory, layout());
    memory.0[layout().print(0) as usize].set(PrintRecord::BUSY);
    post(ring, &[slot(Kind::Print, 1, 2, &[1, 5])]);
    let _ = work(ring);
    let control = ring.control();
    assert_eq!((control.prints, control.prints_dropped), (1, 1));
    assert_eq!(ring.print_at(0), None);
}

#[test]
fn every_word_of_a_slot_is_read() {
    let scenes: Vec<_> = scenes()
        .into_iter()
        .map(|slots| (run(&slots, None), slots))
        .collect();
    for word in 0..16 {
        let is_read = scenes.iter().any(|(plain, scene)| {
            let first = layout();
            let index = Ring::new(&memory(), first)
                .slots_of(scene.slots[0].level())
                .start;
            matters(scene, first.slot(index) + word, plain)
        });
        assert!(is_read, "word {word}");
    }
}

#[test]
fn every_word_of_a_continuation_is_read() {
    let plain = Continuation {
        program_counter: 1,
        data: 2,
        resume_epoch: 0,
        parent: 3,
        age: 4,
        requeues: 5,
        yields: 6,
        flags: Continuation::AT_EPOCH,
        task: 9,
    };
    let end = |task: Continuation| {
        let memory = memory();
        let ring = Ring::new(&memory, layout());
        // The last state shows how many symbols were read.
        ring.write_window(1, 0, &[3, 1, 1, 2, 0]).unwrap();
        let words: [u32; 9] = bytemuck::cast(task);
        let mut waiting = slot(Kind::DfaStep, 1, 2, &[0, 5, 9]);
        waiting.arguments[3..].copy_from_slice(&words);
        post(ring, &[waiting]);
        let index = ring.slots_of(2).start;
        ring.memory().0[layout().slot(index) as usize].set(Status::Yield as u32);
        // A turn that requeues once shows the age.
        let mut worker = Worker::new(ring, None);
        if let Some(claim) = worker.claim() {
            let task = claim.continuation();
            worker.answer(claim, Outcome::Requeue(task));
        }
        let (turns, ended) = work(ring);
        found(ring, turns, ended)
    };
    let words: [u32; 9] = bytemuck::cast(plain);
    let expected = end(plain);
    for at in 0..9 {
        let mut changed = words;
        changed[at] ^= if at == 2 { 1 } else { 2 };
        assert_ne!(end(bytemuck::cast(changed)), expected, "word {at}");
    }
}

#[test]
fn counters_wrap_a_million_times_over_without_losing_a_slot() {
    let memory = memory();
    let ring = Ring::new(&memory, layout());
    // All counters start just before they wrap, and wrap on the way.
    let level = (offset_of!(ControlBlock, levels) / 4) as u32;
    for counter in 2..4 {
        ring.memory().0[(level + counter) as usize].set(u32::MAX - 500_000);
    }
    let mut worker = Worker::new(ring, None);
    for task in 0..1_000_000_u32 {
        post(ring, &[slot(Kind::Nop, 1, 0, &[])]);
        let claim = worker.claim().unwrap();
        let index = claim.index();
        worker.answer(claim, Outcome::word(task));
        assert_eq!(ring.completion(index).results[0], task);
        ring.release(index);
    }
    assert_eq!(ring.waiting(), [0; 5]);
}
