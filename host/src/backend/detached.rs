//! Runs whose waves may never end: waves of other crates, whose code is unknown here.
//!
//! All of these runs use threads other than the caller's. The caller waits for them until the time
//! budget and a grace period are over. If a thread is still at work then, the caller continues
//! without it. The thread owns the memory that it uses, which lives until the thread ends, if it
//! ever does.

use super::threads::start_all;
use super::{BackendError, Canceller};
use std::any::Any;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time that threads have to end a run once it is to end: many times the time of a loaded machine
/// for a wave that checks its time budget.
const GRACE: Duration = Duration::from_secs(1);

/// Time between polls of a request to end the run.
const LOOK: Duration = Duration::from_millis(50);

/// A run and its memory.
pub(super) trait Work: Send + Sync + 'static {
    /// Result of a thread.
    type Output: Send + 'static;

    /// The part of thread `block`.
    fn run(&self, block: u32) -> Self::Output;
}

/// Memory that the threads of a run use, once their session has abandoned it to them.
pub(super) type Heritage = Mutex<Option<Box<dyn Any + Send>>>;

/// Abandons `memory` to the threads of a run, which own the container of `to`.
pub(super) fn leave_to(to: &Heritage, memory: impl Any + Send) {
    *to.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(memory));
}

#[derive(Debug)]
pub(super) enum Ended<F> {
    /// All threads ended, with these results.
    All(Vec<F>),
    /// Number of threads still at work, and nanoseconds since the end of the run.
    Stuck { threads: u32, after_ns: u64 },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Until<'a> {
    /// Time that it may take, nanoseconds.
    pub(super) time_budget_ns: u64,
    /// Ends it earlier.
    pub(super) canceller: &'a Canceller,
}

/// Runs all `threads` parts of `work` at once, none of them on this thread. A panic of a part
/// continues on this thread once all have ended.
///
/// # Errors
/// [`BackendError::Threads`] if the system starts fewer threads; no part ran.
pub(super) fn run<W: Work>(
    threads: u32,
    work: &Arc<W>,
    until: Until<'_>,
) -> Result<Ended<W::Output>, BackendError> {
    let (sender, receiver) = channel();
    let work = Arc::clone(work);
    start_all(threads, move |block| part(&*work, block, &sender))?;
    Ok(wait(threads, &receiver, until))
}

type Outcome<F> = std::thread::Result<F>;

fn part<W: Work>(work: &W, block: u32, sender: &Sender<Outcome<W::Output>>) {
    let run = std::panic::AssertUnwindSafe(|| work.run(block));
    // The receiver is gone if the caller has gone on.
    let _ = sender.send(std::panic::catch_unwind(run));
}

fn wait<F>(threads: u32, ends: &Receiver<Outcome<F>>, until: Until<'_>) -> Ended<F> {
    let start = Instant::now();
    let budget = Duration::from_nanos(until.time_budget_ns);
    let mut over_since = start.checked_add(budget);
    let (mut found, mut panicked, mut left) = (Vec::new(), None, threads);
    while left > 0 {
        if until.canceller.is_asked() {
            let now = Instant::now();
            over_since = Some(over_since.map_or(now, |over| over.min(now)));
        }
        match ends.recv_timeout(LOOK) {
            Ok(Ok(one)) => {
                found.push(one);
                left -= 1;
            }
            Ok(Err(panic)) => {
                panicked.get_or_insert(panic);
                left -= 1;
            }
            Err(RecvTimeoutError::Timeout) => {
                if over_since.is_some_and(|over| over.elapsed() > GRACE) {
                    let after_ns = start.elapsed().as_nanos() as u64;
                    return Ended::Stuck {
                        threads: left,
                        after_ns,
                    };
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    match panicked {
        Some(panic) => std::panic::resume_unwind(panic),
        None => Ended::All(found),
    }
}
