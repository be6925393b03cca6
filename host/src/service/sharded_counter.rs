//! Sharded counters and locks, so that threads rarely contend for a cache line.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// Shards of each counter.
pub(super) const PARTS: usize = 8;

/// The shard of this thread, which is fixed.
pub(super) fn part_of_thread() -> usize {
    static THREADS: AtomicU32 = AtomicU32::new(0);
    thread_local! {
        static NUMBER: u32 = THREADS.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number as usize % PARTS)
}

/// A value in separate cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Line<T>(pub(super) T);

/// A counter.
#[derive(Debug, Default)]
pub(super) struct ShardedCounter([Line<AtomicU64>; PARTS]);

impl ShardedCounter {
    /// Adds to this thread's shard, with release order.
    pub(super) fn add(&self, count: u64) {
        if let Some(Line(part)) = self.0.get(part_of_thread()) {
            part.fetch_add(count, Ordering::Release);
        }
    }

    /// Subtracts 1, as [`ShardedCounter::add`].
    pub(super) fn take(&self) {
        self.add(u64::MAX);
    }

    /// The sum; concurrent changes may be included or not.
    pub(super) fn sum(&self) -> u64 {
        let parts = self.0.iter().map(|Line(part)| part.load(Ordering::Acquire));
        parts.fold(0, u64::wrapping_add)
    }
}

/// Unique numbers, until those of a shard wrap.
#[derive(Debug, Default)]
pub(super) struct Numbers([Line<AtomicU32>; PARTS]);

impl Numbers {
    /// The next number of this thread's shard.
    pub(super) fn next(&self) -> u32 {
        let part = part_of_thread();
        let Line(count) = &self.0[part];
        let before = count.fetch_add(1, Ordering::Relaxed);
        before.wrapping_mul(PARTS as u32).wrapping_add(part as u32)
    }
}

/// A gate for posts. Many threads hold it open at a time, and one closes it.
#[derive(Debug, Default)]
pub(super) struct Gate([Line<RwLock<bool>>; PARTS]);

impl Gate {
    /// Keeps the gate open as long as the guard lives; `None` if it is closed.
    pub(super) fn pass(&self) -> Option<RwLockReadGuard<'_, bool>> {
        let Line(part) = self.0.get(part_of_thread())?;
        let is_closed = part.read().unwrap_or_else(PoisonError::into_inner);
        (!*is_closed).then_some(is_closed)
    }

    /// Closes it once no thread keeps it open.
    pub(super) fn close(&self) {
        for Line(part) in &self.0 {
            *part.write().unwrap_or_else(PoisonError::into_inner) = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_all_threads_are_in_the_sum() {
        let counter = ShardedCounter::default();
        std::thread::scope(|scope| {
            for _ in 0..2 * PARTS {
                scope.spawn(|| (0..100).for_each(|_| counter.add(3)));
            }
        });
        counter.take();
        assert_eq!(counter.sum(), 2 * PARTS as u64 * 300 - 1);
    }

    #[test]
    fn no_number_comes_twice() {
        let numbers = Numbers::default();
        let mut all: Vec<u32> = std::thread::scope(|scope| {
            let take = || (0..100).map(|_| numbers.next()).collect::<Vec<_>>();
            let threads: Vec<_> = (0..2 * PARTS).map(|_| scope.spawn(take)).collect();
            let parts = threads.into_iter().map(|thread| thread.join().unwrap());
            parts.flatten().collect()
        });
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * PARTS * 100);
    }

    #[test]
    fn a_closed_gate_lets_no_thread_pass() {
        let gate = Gate::default();
        assert!(gate.pass().is_some());
        gate.close();
        std::thread::scope(|scope| {
            for _ in 0..PARTS {
                scope.spawn(|| assert!(gate.pass().is_none()));
            }
        });
    }
}
