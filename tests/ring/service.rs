//! One simulated service: its actors, and the properties at its end.

use super::memory::{Memory, Order, Seen, Side};
use seawall_core::abi::ring::{
    Continuation, ControlBlock, Kind, LevelRecord, Shutdown, SlotRecord, Status, TASK, TenantRecord,
};
use seawall_core::protocol::{
    AGEING_AFTER, Claim, Layout, Outcome, Ring, Scope, Setup, Short, ShortOp, Words, Worker, Write,
    hash_of,
};
use seawall_oracles::random::Random;
use std::collections::HashMap;
use std::mem::offset_of;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// Words of the tenant's window: one that all tasks add to, then one for each batch.
const WINDOW: u32 = 8;
/// Tasks of a producer, and those in flight at a time.
const TASKS: u32 = 10;
const UNDER_WAY: usize = 3;
/// Polls for an answer after which a producer counts a task as lost, if an actor died.
const PATIENCE: u32 = 40_000;
/// Polls of the watchdog after which a graceful end becomes a forced one, if an actor died.
const GRACE: u32 = 2_000;

/// Start of counters that may wrap.
const NEAR_WRAP: u32 = u32::MAX - 4;

/// The side that loses an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deaths {
    None,
    Producer,
    Worker,
}

/// State of the actors outside the simulated memory.
#[derive(Default)]
struct Ledger {
    /// Producers that have not ended.
    producers: AtomicU32,
    /// Times that a handler ran each task to its end.
    handled: Mutex<HashMap<u32, u32>>,
    /// Tasks whose answers were read, and those given up.
    answered: Mutex<Vec<u32>>,
    lost: AtomicU32,
}

/// A service drawn from a seed.
struct Drawn {
    layout: Layout,
    quota: u32,
    producers: u32,
    workers: u32,
}

impl Drawn {
    fn new(random: &mut Random) -> Self {
        let levels = std::array::from_fn(|_| 2 + random.below(3));
        Self {
            layout: Layout::new(levels, 1 + random.below(3), WINDOW).expect("a small ring"),
            quota: 1 + random.below(4),
            producers: 1 + random.below(3),
            workers: 1 + random.below(3),
        }
    }
}

/// Runs the service of `seed`.
///
/// # Errors
/// A property that did not hold.
pub(crate) fn run(seed: u64, deaths: Deaths, weakened: Option<Order>) -> Result<(), String> {
    let mut random = Random::new(seed);
    let mut drawn = Drawn::new(&mut random);
    // An actor must be left to do the work, and the quotas of dead workers are lost.
    if deaths == Deaths::Worker {
        drawn.workers += 1;
        drawn.quota += 1;
    }
    let memory = Memory::new(drawn.layout.words(), random.bits(), weakened);
    format(&memory, &drawn);
    let ledger = Ledger::default();
    ledger.producers.store(drawn.producers, Ordering::SeqCst);
    let dies = |side, at: u32, random: &mut Random| {
        (deaths == side && at == 0).then(|| random.below(1_500))
    };
    let producers: Vec<_> = (0..drawn.producers)
        .map(|at| {
            let dies_in = dies(Deaths::Producer, at, &mut random);
            (at, random.bits(), memory.actor(Side::Host, dies_in))
        })
        .collect();
    let workers: Vec<_> = (0..drawn.workers)
        .map(|at| memory.actor(Side::Worker, dies(Deaths::Worker, at, &mut random)))
        .collect();
    let watchdog = memory.actor(Side::Host, None);
    std::thread::scope(|scope| {
        for (at, seed, seen) in &producers {
            let (drawn, ledger) = (&drawn, &ledger);
            scope.spawn(move || {
                let producer = Producer {
                    ring: Ring::new(seen, drawn.layout),
                    seen,
                    at: *at,
                    is_patient: deaths != Deaths::None,
                    ledger,
                };
                seen.play(|| producer.run(Random::new(*seed)));
                ledger.producers.fetch_sub(1, Ordering::SeqCst);
            });
        }
        for seen in &workers {
            let (layout, ledger) = (drawn.layout, &ledger);
            scope.spawn(move || seen.play(|| work(Ring::new(seen, layout), ledger)));
        }
        let (layout, ledger) = (drawn.layout, &ledger);
        let watchdog = &watchdog;
        scope.spawn(move || watchdog.play(|| keep(watchdog, layout, ledger, deaths)));
    });
    match memory.problem() {
        Some(problem) => Err(problem),
        None => judge(&memory, &drawn, &ledger, deaths),
    }
}

fn format(memory: &Memory, drawn: &Drawn) {
    let owner = memory.actor(Side::Host, None);
    owner.play(|| {
        let tenant = TenantRecord {
            mask: Kind::TENANT_MASK,
            quota: drawn.quota,
            window_words: WINDOW,
            ..TenantRecord::default()
        };
        let setup = Setup {
            tenants: &[TenantRecord::default(), tenant],
            workers: drawn.workers,
            ageing_after: AGEING_AFTER,
        };
        Ring::new(&owner, drawn.layout).format(&setup);
        for at in counters() {
            owner.store(at, NEAR_WRAP, Write::Relaxed, Scope::System);
        }
    });
}

/// Counters that wrap soon: of each priority, of ended tasks and of epochs.
fn counters() -> impl Iterator<Item = u32> {
    let levels = offset_of!(ControlBlock, levels);
    let level = move |at: usize| levels + at * size_of::<LevelRecord>();
    let of_levels = (0..5).flat_map(move |at| {
        [
            level(at) + offset_of!(LevelRecord, posted),
            level(at) + offset_of!(LevelRecord, claimed),
        ]
    });
    let others = [
        offset_of!(ControlBlock, done),
        offset_of!(ControlBlock, epoch),
    ];
    of_levels.chain(others).map(|byte| (byte / 4) as u32)
}

/// Claims and answers until the service ends.
fn work(ring: Ring<'_, Seen<'_>>, ledger: &Ledger) {
    let mut worker = Worker::new(ring, None);
    while !worker.should_end() {
        let Some(claim) = worker.claim() else {
            continue;
        };
        let outcome = ring.execute(&claim).unwrap_or_else(|| take_turns(&claim));
        if matches!(outcome, Outcome::Done(_) | Outcome::Fault(_)) {
            let mut handled = ledger.handled.lock().expect("no actor panics with it");
            *handled.entry(claim.slot().task()).or_default() += 1;
        }
        worker.answer(claim, outcome);
    }
}

/// A user's task: as many turns as its first argument says, counted in its continuation.
fn take_turns(claim: &Claim) -> Outcome {
    let (turns, task) = (claim.slot().arguments[0], claim.continuation());
    if task.data == turns {
        return Outcome::word(task.data);
    }
    let next = Continuation {
        data: task.data + 1,
        ..task
    };
    if task.data.is_multiple_of(2) {
        Outcome::Yield(next)
    } else {
        Outcome::Requeue(next)
    }
}

/// Ends the service when all producers have ended.
fn keep(seen: &Seen<'_>, layout: Layout, ledger: &Ledger, deaths: Deaths) {
    let ring = Ring::new(seen, layout);
    let look = || {
        let waiting = ring.waiting();
        let most = layout.levels();
        if waiting.iter().zip(most).any(|(now, most)| *now > most) {
            seen.fail(format!("{waiting:?} slots wait of {most:?}"));
        }
    };
    while ledger.producers.load(Ordering::SeqCst) > 0 {
        look();
    }
    ring.shut_down(Shutdown::Drain);
    if deaths != Deaths::None {
        for _ in 0..GRACE {
            look();
        }
        ring.shut_down(Shutdown::Now);
    }
}

/// A slot in flight and its expected answer.
struct UnderWay {
    index: u32,
    task: u32,
    expected: Expected,
}

/// The answer of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// Done; the first result is this, if it is known.
    Done(Option<u32>),
    /// A fault.
    Fault,
    /// Done; after it, the batch's word of the window is this.
    Fence { batch: u32, sum: u32 },
}

struct Producer<'a> {
    ring: Ring<'a, Seen<'a>>,
    seen: &'a Seen<'a>,
    at: u32,
    /// Whether an actor may have died, so that answers may never come.
    is_patient: bool,
    ledger: &'a Ledger,
}

impl Producer<'_> {
    fn run(&self, mut random: Random) {
        let batch = self.at + 1;
        self.ring.open_batch(batch);
        let mut under_way = Vec::new();
        let mut members = 0;
        for number in 0..TASKS {
            let (kind, arguments, expected) = draw(batch, &mut random);
            let in_batch = kind == Kind::Add && arguments[0] == batch;
            members += u32::from(in_batch);
            let word = if in_batch { batch << 8 } else { 0 };
            let task = self.task(number);
            let index = self.post(kind, arguments, task, word, &mut random);
            under_way.extend(index.map(|index| UnderWay {
                index,
                task,
                expected,
            }));
            while under_way.len() >= UNDER_WAY {
                let next = under_way.remove(random.below(under_way.len() as u32) as usize);
                self.wait(&next);
            }
        }
        let task = self.task(TASKS);
        let fence = vec![batch, members];
        let index = self.post(Kind::BatchFence, fence, task, 0, &mut random);
        let expected = Expected::Fence {
            batch,
            sum: members,
        };
        under_way.extend(index.map(|index| UnderWay {
            index,
            task,
            expected,
        }));
        // The fence first: only it shows that the members have ended.
        for last in under_way.iter().rev() {
            self.wait(last);
        }
    }

    /// The number of a task, which no other has; 0 is no task.
    fn task(&self, number: u32) -> u32 {
        1 + self.at * 1_000 + number
    }

    /// Posts a task; `None` if no space came.
    fn post(
        &self,
        kind: Kind,
        given: Vec<u32>,
        task: u32,
        word: u32,
        random: &mut Random,
    ) -> Option<u32> {
        let mut slot = SlotRecord {
            opcode: kind.opcode(),
            tenant: 1,
            ..SlotRecord::default()
        };
        slot.arguments[..given.len()].copy_from_slice(&given);
        slot.arguments[TASK] = task;
        for _ in 0..PATIENCE {
            let level = random.below(5);
            slot.priority = level | word;
            let mut slots = self.ring.slots_of(level);
            if let Some(index) = slots.find(|index| self.ring.reserve(*index)) {
                self.ring.publish(index, &slot);
                return Some(index);
            }
        }
        self.give_up(format!("no slot for task {task}"));
        None
    }

    fn give_up(&self, problem: String) {
        if !self.is_patient {
            self.seen.fail(problem);
        }
        self.ledger.lost.fetch_add(1, Ordering::SeqCst);
    }

    /// Waits for an answer, checks it and frees its slot.
    fn wait(&self, task: &UnderWay) {
        for look in 0.. {
            match self.ring.poll(task.index) {
                Some(status @ (Status::Done | Status::Fault)) => {
                    self.check(task, status);
                    self.ring.release(task.index);
                    let mut answered = self
                        .ledger
                        .answered
                        .lock()
                        .expect("no actor panics with it");
                    return answered.push(task.task);
                }
                _ if self.is_patient && look > PATIENCE => {
                    return self.give_up(format!("task {} does not end", task.task));
                }
                _ => {}
            }
        }
    }

    fn check(&self, task: &UnderWay, status: Status) {
        let record = self.ring.completion(task.index);
        let found = (record.task, status, record.results[0]);
        let is_done = status == Status::Done && record.task == task.task;
        let is_right = match task.expected {
            Expected::Done(Some(word)) => is_done && record.results[0] == word,
            Expected::Done(None) => is_done,
            Expected::Fault => status == Status::Fault && record.task == task.task,
            Expected::Fence { batch, sum } => {
                let mut word = [0];
                let read = self.ring.read_window(1, batch, &mut word);
                is_done && read.is_ok() && word[0] == sum
            }
        };
        if !is_right {
            let problem = format!("task {}: {:?} became {found:?}", task.task, task.expected);
            self.seen.fail(problem);
        }
    }
}

/// A task: its kind, arguments and answer. `batch` is also the word that members of it add to.
fn draw(batch: u32, random: &mut Random) -> (Kind, Vec<u32>, Expected) {
    match random.below(7) {
        0 => (Kind::Nop, vec![], Expected::Done(Some(0))),
        1 => (Kind::Add, vec![0, 1], Expected::Done(None)),
        2 | 3 => (Kind::Add, vec![batch, 1], Expected::Done(None)),
        4 => (Kind::Load, vec![WINDOW, 0], Expected::Fault),
        5 => {
            let turns = random.below(4);
            (Kind::User, vec![turns], Expected::Done(Some(turns)))
        }
        _ => {
            let address = 4 + batch;
            let value = random.word();
            let short = |op, value| Short { op, address, value };
            let shorts = [short(ShortOp::Store, value), short(ShortOp::Load, 0)];
            let arguments = Short::encode(&shorts).expect("two fit");
            (
                Kind::Packed,
                arguments[..11].to_vec(),
                Expected::Done(Some(0)),
            )
        }
    }
}

/// Checks the properties that hold when every actor has ended.
fn judge(memory: &Memory, drawn: &Drawn, ledger: &Ledger, deaths: Deaths) -> Result<(), String> {
    let reader = memory.actor(Side::Host, None);
    let mut control = None;
    reader.play(|| control = Some(Ring::new(&reader, drawn.layout).control()));
    let control = control.ok_or("the control block could not be read")?;
    let handled = ledger.handled.lock().expect("no actor panics with it");
    let answered = ledger.answered.lock().expect("no actor panics with it");
    if let Some((task, times)) = handled.iter().find(|(_, times)| **times != 1) {
        return Err(format!("task {task} was handled {times} times"));
    }
    if let Some(task) = answered.iter().find(|task| !handled.contains_key(task)) {
        return Err(format!("task {task} was answered by nobody"));
    }
    let lost = ledger.lost.load(Ordering::SeqCst);
    if deaths == Deaths::None {
        let posted = drawn.producers * (TASKS + 1);
        let sum = handled
            .keys()
            .fold(0, |sum: u32, task| sum.wrapping_add(hash_of(*task)));
        let waiting = control
            .levels
            .iter()
            .map(|level| level.posted.wrapping_sub(level.claimed));
        let done = control.done.wrapping_sub(NEAR_WRAP);
        let found = (answered.len() as u32, done, control.checksum);
        if found != (posted, posted, sum) || waiting.sum::<u32>() != 0 {
            return Err(format!("{posted} tasks, hashes {sum:#x}: {found:x?}"));
        }
        if control.tenants[1].running != 0 {
            return Err(format!(
                "{} slots count as running",
                control.tenants[1].running
            ));
        }
    }
    // A dead worker has one slot; a fence may wait for it, and so may posts without space.
    if deaths == Deaths::Producer && lost > 0 {
        return Err(format!("{lost} tasks of other producers were lost"));
    }
    Ok(())
}
