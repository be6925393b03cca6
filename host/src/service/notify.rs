//! A notification that threads wait for until something changes.

use super::sharded_counter::ShardedCounter;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Counts changes and wakes the threads that wait for the next one.
#[derive(Debug, Default)]
pub(super) struct Notify {
    changes: ShardedCounter,
    sleepers: AtomicU32,
    lock: Mutex<()>,
    rung: Condvar,
}

impl Notify {
    /// Changes so far; read this before checking for changes.
    pub(super) fn changes(&self) -> u64 {
        self.changes.sum()
    }

    /// Wakes all sleepers.
    pub(super) fn ring(&self) {
        self.changes.add(1);
        // Either this thread sees the sleeper, or the sleeper sees this change.
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            // A sleeping thread holds the lock from its last check of the changes until it sleeps,
            // so it is either asleep now or has seen this change.
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.rung.notify_all();
        }
    }

    /// Sleeps until there were changes after the first `seen`, for `longest` at most.
    pub(super) fn wait(&self, seen: u64, longest: Duration) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if self.changes() == seen {
            // The waiting thread checks again itself, however it was woken.
            drop(self.rung.wait_timeout(lock, longest));
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }
}
