//! Threads that wait for the next run.
//!
//! The blocks of a run meet at barriers, so all of its threads must run at once: each run has its
//! own team. Starting 16 threads takes 0.5 ms and more, which is longer than many runs, so teams
//! are kept for later runs of the process and sleep in between.

use super::BackendError;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZeroUsize;
use std::sync::{Mutex, OnceLock, PoisonError};

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

/// Idle teams.
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
    let team = Team::of(count)?;
    let block = &block;
    team.0.in_place_scope(|scope| {
        scope.spawn_broadcast(move |_, member| block(1 + member.index() as u32));
        block(0);
    });
    team.rest();
    Ok(())
}

/// Starts the threads that a run with `count` of them will need, unless they exist or would not be
/// kept.
///
/// # Errors
/// [`BackendError::Threads`] as for a run.
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
        let team = ThreadPoolBuilder::new()
            .num_threads(others)
            .thread_name(|place| format!("seawall-{}", place + 1))
            .build();
        team.map(Self).map_err(|error| BackendError::Threads {
            threads: others + 1,
            reason: error.to_string(),
        })
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
    fn no_more_threads_wait_than_the_machine_runs_at_once() {
        let many = 3 * available_threads().get() as u32;
        run_blocks(many, |_| ()).unwrap();
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting: usize = idle.iter().map(ThreadPool::current_num_threads).sum();
        assert!(waiting <= available_threads().get());
    }
}
