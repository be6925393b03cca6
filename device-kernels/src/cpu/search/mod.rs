//! Searches by threads.

pub mod thread_group;
pub mod few_threads;
pub mod ahead_counters;
pub mod levels_ahead;
pub mod one_thread;
pub mod bins;
