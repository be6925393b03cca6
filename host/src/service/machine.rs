//! Services on machines with separate memory: the kernel's thread and the collector of answers.

use super::{GRACE, On, Shared, watchdog};
use crate::backend::serve::{Serving, Started};
use crate::backend::served::ServedProgram;
use crate::backend::{BackendError, cpu, cuda};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// Time between two polls while a thread sleeps until an answer comes.
const LOOK: Duration = Duration::from_micros(50);

/// Time for which a sleeping thread has the collector poll often; a slower answer arrives at most
/// one [`QUIET_LOOK`] late.
const CALLED: Duration = Duration::from_millis(20);

/// Time between two polls while none does: waiting threads poll for themselves.
const QUIET_LOOK: Duration = Duration::from_millis(1);

/// Time without a query after which the service sleeps until the next one.
const QUIET: Duration = Duration::from_millis(200);

/// Longest sleep.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);

/// Time between two polls by the watchdog.
const KEEP: Duration = Duration::from_millis(10);

/// Whether the machine serves, or why it does not.
pub(super) type StartNotice = Sender<Result<(), BackendError>>;

/// The thread of the kernel. It notifies once when it has started or failed.
pub(super) fn run(shared: &Arc<Shared>, on: On, notice: &StartNotice) {
    let served = serve(shared, on, notice);
    if let Err(error) = served {
        // A kernel that does not end may still use the ring.
        std::mem::forget(Arc::clone(shared));
        // Failures after the start are not reported here; tickets end with an error.
        let _ = notice.send(Err(error));
    }
    shared.close();
    shared.is_over.store(true, Ordering::Relaxed);
    shared.in_flight.harvest_all(shared.ring());
    shared.alive.fetch_sub(1, Ordering::Release);
    shared.in_flight.end_all();
    shared.notify.ring();
}

fn serve(shared: &Arc<Shared>, on: On, notice: &StartNotice) -> Result<(), BackendError> {
    let Some(posts) = &shared.posts else {
        return Ok(());
    };
    let programs: Vec<_> = shared
        .programs
        .iter()
        .map(|served| ServedProgram {
            program: &served.program,
            result: served.result,
            opcode: served.opcode.unwrap_or(0),
        })
        .collect();
    let serving = Serving {
        graph: &shared.graph,
        layout: shared.layout,
        ring: shared.words.pages(),
        posts: posts.words().pages(),
        dispatchers: super::posts::QUEUES,
        posts_each: posts.each(),
        workers: shared.workers,
        slot_budget_ns: u64::try_from(shared.slot_budget.as_nanos()).unwrap_or(u64::MAX),
        jit: shared.jit,
        programs: &programs,
    };
    let started = |started: Started| {
        // This is called once.
        let _ = shared.machine.set(started);
        let _ = notice.send(Ok(()));
    };
    match on {
        On::Gpu { device } => {
            let most = shared.slot_budget.saturating_add(GRACE / 2);
            let is_over = || shared.is_forced.load(Ordering::Relaxed);
            cuda::serve::run(&serving, device, started, (is_over, most))
        }
        On::Blocks | On::Threads => cpu::serve::run(&serving, started),
    }
}

/// Collects answers for sleeping threads, and supervises the service.
pub(super) fn collect(shared: &Arc<Shared>) {
    let (mut active, mut kept) = (Instant::now(), Instant::now());
    let mut called = None;
    let mut seen = watchdog::Seen::of(shared);
    while !shared.has_ended() {
        let changes = shared.notify.changes();
        let is_busy = shared.is_busy();
        if shared.calls_collector.swap(false, Ordering::Relaxed) {
            called = Some(Instant::now());
        }
        if is_busy {
            shared.in_flight.harvest_all(shared.ring());
            active = Instant::now();
        }
        if kept.elapsed() >= KEEP {
            seen.tick(shared);
            kept = Instant::now();
        }
        if active.elapsed() > QUIET {
            shared.notify.wait(changes, LONGEST_SLEEP);
            active = Instant::now();
        } else {
            let is_called = called.is_some_and(|since: Instant| since.elapsed() < CALLED);
            let looks_often = is_busy && is_called;
            std::thread::sleep(if looks_often { LOOK } else { QUIET_LOOK });
        }
    }
}
