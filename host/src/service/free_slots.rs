//! Free slots of a priority.
//!
//! Each shard of the slots has a separate list. A thread takes from the list of its shard first, so
//! threads only contend if slots are scarce.

use super::sharded_counter::{Line, PARTS, part_of_thread};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Free slots.
#[derive(Debug, Default)]
pub(super) struct FreeSlots {
    lists: [Line<Mutex<Vec<u32>>>; PARTS],
    waiting: AtomicU32,
    lock: Mutex<()>,
    returned: Condvar,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FreeSlots {
    /// Creates lists of these slots, all free.
    pub(super) fn new(slots: impl DoubleEndedIterator<Item = u32>) -> Self {
        let space = Self::default();
        // The first slot of each list is taken first.
        for slot in slots.rev() {
            locked(space.list_of(slot)).push(slot);
        }
        space
    }

    fn list_of(&self, slot: u32) -> &Mutex<Vec<u32>> {
        let Line(list) = &self.lists[slot as usize % PARTS];
        list
    }

    /// A free slot.
    pub(super) fn take(&self) -> Option<u32> {
        let first = part_of_thread();
        (0..PARTS).find_map(|step| {
            let Line(list) = &self.lists[(first + step) % PARTS];
            locked(list).pop()
        })
    }

    /// Frees a slot.
    pub(super) fn give_back(&self, slot: u32) {
        locked(self.list_of(slot)).push(slot);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            // A waiting thread holds this lock from its check of the lists until it sleeps.
            drop(locked(&self.lock));
            self.returned.notify_one();
        }
    }

    /// Waits until a slot may be free.
    pub(super) fn wait(&self, longest: Duration) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let lock = locked(&self.lock);
        let is_full = self.lists.iter().all(|Line(list)| locked(list).is_empty());
        if is_full {
            // The caller checks again, however it was woken.
            drop(self.returned.wait_timeout(lock, longest));
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    /// Wakes all waiting threads.
    pub(super) fn wake_all(&self) {
        drop(locked(&self.lock));
        self.returned.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn every_slot_is_taken_once_by_any_thread() {
        let space = FreeSlots::new(10..30);
        let mut taken: Vec<u32> = std::iter::from_fn(|| space.take()).collect();
        taken.sort_unstable();
        assert_eq!(taken, (10..30).collect::<Vec<_>>());
        space.give_back(12);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| space.take());
            assert_eq!(other.join().unwrap(), Some(12));
        });
    }

    #[test]
    fn whoever_waits_is_woken_by_a_slot_of_any_part() {
        let space = FreeSlots::new(0..0);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let began = Instant::now();
                while space.take().is_none() {
                    space.wait(Duration::from_secs(20));
                }
                began.elapsed()
            });
            while space.waiting.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            space.give_back(5);
            assert!(waiter.join().unwrap() < Duration::from_secs(15));
        });
    }
}
