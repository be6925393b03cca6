//! Threads that wait for the next run.
//!
//! The blocks of a run meet at barriers, so all of its threads must run at once: each run has its
//! own team. Starting 16 threads takes 0.5 ms and more, which is longer than many runs, so teams
//! are kept for later runs of the process and sleep in between.

use super::BackendError;
use crate::graph::threads::check_start;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, RwLock};
use std::thread::{Builder, ScopedJoinHandle};

/// Most threads of a run: more than any machine has would wait for each other at every barrier.
pub const THREADS_MAX: usize = 4096;

/// Returns the threads that the machine can run at once, at most those of a run.
#[must_use]
pub fn available_threads() -> NonZeroUsize {
    // This call takes 30 us where the system has to read the limits of a container.
    static THREADS: OnceLock<NonZeroUsize> = OnceLock::new();
    let most = NonZeroUsize::new(THREADS_MAX).unwrap_or(NonZeroUsize::MIN);
    *THREADS.get_or_init(|| {
        let found = std::thread::available_parallelism();
        found.unwrap_or(NonZeroUsize::MIN).min(most)
    })
}

/// The number of `threads`; by default all of the machine's.
pub(crate) fn threads_or_all(threads: Option<NonZeroUsize>) -> u32 {
    let threads = threads.unwrap_or_else(available_threads).get();
    u32::try_from(threads).unwrap_or(u32::MAX)
}

static IDLE: Mutex<Vec<ThreadPool>> = Mutex::new(Vec::new());

/// Calls `block` once for each number below `count`, all concurrently, the first one on this
/// thread. Returns after all have returned.
///
/// # Errors
/// [`BackendError::Threads`] if the system starts no further thread; no block ran.
pub(super) fn run_blocks(count: u32, block: impl Fn(u32) + Sync) -> Result<(), BackendError> {
    if count <= 1 {
        block(0);
        return Ok(());
    }
    if count as usize > available_threads().get() {
        return run_once(count, block);
    }
    let team = Team::of(count)?;
    let block = &block;
    team.0.in_place_scope(|scope| {
        scope.spawn_broadcast(move |_, member| block(1 + member.index() as u32));
        block(0);
    });
    team.rest();
    Ok(())
}

/// [`run_blocks`] for more threads than the machine runs at once, on threads of this run only.
/// Threads of a pool steal work from each other, which takes seconds where there are thousands.
fn run_once(count: u32, block: impl Fn(u32) + Sync) -> Result<(), BackendError> {
    let all_started = RwLock::new(false);
    let mut start = all_started.write().unwrap_or_else(PoisonError::into_inner);
    let member = |number: u32| {
        if *all_started.read().unwrap_or_else(PoisonError::into_inner) {
            block(number);
        }
    };
    std::thread::scope(|scope| {
        let member = &member;
        let threads: Result<Vec<_>, _> = (1..count)
            .map(|number| {
                check_start()?;
                let thread = Builder::new().name(format!("seawall-{number}"));
                thread.spawn_scoped(scope, move || member(number))
            })
            .collect();
        *start = threads.is_ok();
        drop(start);
        let threads = threads.map_err(|error| not_started(count as usize, &error))?;
        block(0);
        join_all(threads);
        Ok(())
    })
}

/// Returns what all `threads` return. All have started before any is waited for, and have ended before
/// a panic goes on.
pub(crate) fn join_all<'s, T>(
    threads: impl IntoIterator<Item = ScopedJoinHandle<'s, T>>,
) -> Vec<T> {
    let threads: Vec<_> = threads.into_iter().collect();
    let ended: Vec<_> = threads.into_iter().map(ScopedJoinHandle::join).collect();
    let found = ended.into_iter();
    let found = found.map(|ended| ended.unwrap_or_else(|panic| resume_unwind(panic)));
    found.collect()
}

/// Calls `block` once for each number below `count`, all at once, on other threads, and returns at
/// once. A block must not panic.
///
/// # Errors
/// [`BackendError::Threads`] if the system starts fewer threads; no block ran.
pub(super) fn start_all(
    count: u32,
    block: impl Fn(u32) + Send + Sync + 'static,
) -> Result<(), BackendError> {
    let block = Arc::new(block);
    // Whether all have started; a thread that waits for this must not block the others.
    let may_start = Arc::new((Mutex::new(None), Condvar::new()));
    let start = |number: u32| {
        check_start()?;
        let (block, may_start) = (Arc::clone(&block), Arc::clone(&may_start));
        let thread = Builder::new().name(format!("seawall-{number}"));
        thread.spawn(move || {
            let (decided, bell) = &*may_start;
            let decision = decided.lock().unwrap_or_else(PoisonError::into_inner);
            let decision = bell.wait_while(decision, |decision| decision.is_none());
            let decision = *decision.unwrap_or_else(PoisonError::into_inner);
            if decision == Some(true) {
                block(number);
            }
        })
    };
    let started: Result<Vec<_>, _> = (0..count).map(start).collect();
    let (decided, bell) = &*may_start;
    *decided.lock().unwrap_or_else(PoisonError::into_inner) = Some(started.is_ok());
    bell.notify_all();
    match started {
        Ok(_) => Ok(()),
        Err(error) => Err(not_started(count as usize, &error)),
    }
}

/// Returns the error for a run whose threads did not all start.
fn not_started(threads: usize, error: &dyn std::fmt::Display) -> BackendError {
    BackendError::Threads {
        threads,
        reason: error.to_string(),
    }
}

/// Starts the threads that a run with `count` of them will need, unless they exist or would not be
/// kept.
pub(super) fn prepare(count: u32) -> Result<(), BackendError> {
    if (2..=available_threads().get()).contains(&(count as usize)) {
        Team::of(count)?.rest();
    }
    Ok(())
}

/// All threads of a run except the one that starts it.
struct Team(ThreadPool);

impl Team {
    /// Returns an idle team of the size that a run with `count` threads needs, or a new one.
    fn of(count: u32) -> Result<Self, BackendError> {
        let others = count as usize - 1;
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let found = idle
            .iter()
            .position(|team| team.current_num_threads() == others);
        let found = found.map(|place| idle.swap_remove(place));
        drop(idle);
        found.map_or_else(|| Self::start(others), |team| Ok(Self(team)))
    }

    fn start(others: usize) -> Result<Self, BackendError> {
        check_start().map_err(|error| not_started(others + 1, &error))?;
        let team = ThreadPoolBuilder::new()
            .num_threads(others)
            .thread_name(|place| format!("seawall-{}", place + 1))
            .build();
        team.map(Self)
            .map_err(|error| not_started(others + 1, &error))
    }

    /// Keeps the team for a later run, unless more threads would then wait than the machine runs
    /// at once.
    fn rest(self) {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting: usize = idle.iter().map(ThreadPool::current_num_threads).sum();
        if waiting + self.0.current_num_threads() <= available_threads().get() {
            idle.push(self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn each_block_runs_once_and_all_at_once() {
        for count in [1, 2, 5, 2, 5, 1] {
            let (meeting, ran) = (Barrier::new(count as usize), AtomicU32::new(0));
            run_blocks(count, |block| {
                meeting.wait();
                ran.fetch_add(1 << (4 * block), Ordering::Relaxed);
            })
            .unwrap();
            let each = (0..count).map(|block| 1 << (4 * block)).sum::<u32>();
            assert_eq!(ran.into_inner(), each);
        }
    }

    #[test]
    fn concurrent_runs_have_separate_teams() {
        let meeting = Barrier::new(6);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    run_blocks(3, |_| {
                        meeting.wait();
                    })
                    .unwrap();
                });
            }
        });
    }

    #[test]
    fn a_panic_on_a_further_thread_reaches_the_caller() {
        let many = 2 * available_threads().get() as u32;
        for count in [many, many + 1] {
            let caught = std::panic::catch_unwind(|| {
                run_blocks(count, |block| assert_ne!(block, count - 1, "the last one"))
            });
            let message = caught.unwrap_err().downcast::<String>().unwrap();
            assert!(message.contains("the last one"), "{message}");
        }
    }

    #[test]
    fn thousands_of_threads_start_and_end_within_seconds() {
        let (start, ran) = (std::time::Instant::now(), AtomicU32::new(0));
        run_blocks(THREADS_MAX as u32, |_| {
            ran.fetch_add(1, Ordering::Relaxed);
        })
        .unwrap();
        assert_eq!(ran.into_inner(), THREADS_MAX as u32);
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    }

    #[test]
    fn no_more_threads_wait_than_the_machine_runs_at_once() {
        let all = available_threads().get();
        let meeting = Barrier::new(3 * all);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    run_blocks(all as u32, |_| {
                        meeting.wait();
                    })
                    .unwrap();
                });
            }
        });
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting: usize = idle.iter().map(ThreadPool::current_num_threads).sum();
        assert!(waiting <= available_threads().get());
    }
}
