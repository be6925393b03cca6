//! Times of a program: of the host's work, and of each run.

use std::time::Instant;

use seawall::outcome::{Event, Track};
use seawall::units::elapsed_ns;

/// Spans since the clock started.
pub(super) struct Spans {
    clock: Instant,
    pub(super) events: Vec<Event>,
}

impl Spans {
    /// Starts the clock.
    pub(super) fn new() -> Self {
        Self {
            clock: Instant::now(),
            events: Vec::new(),
        }
    }

    pub(super) fn host<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        self.span(name.to_owned(), Track::Host, work)
    }

    pub(super) fn run<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let name = format!("run {}", self.runs().count() + 1);
        self.span(name, Track::Device, run)
    }

    fn span<T>(&mut self, name: String, track: Track, work: impl FnOnce() -> T) -> T {
        let start_ns = elapsed_ns(self.clock);
        let done = work();
        self.events.push(Event {
            name,
            track,
            start_ns,
            duration_ns: elapsed_ns(self.clock).saturating_sub(start_ns),
        });
        done
    }

    fn runs(&self) -> impl Iterator<Item = &Event> {
        let events = self.events.iter();
        events.filter(|event| event.track == Track::Device)
    }

    pub(super) fn first_run_ns(&self) -> u64 {
        self.runs().next().map_or(0, |run| run.duration_ns)
    }

    pub(super) fn median_run_ns(&self) -> u64 {
        let mut times: Vec<u64> = self.runs().map(|run| run.duration_ns).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or(0)
    }
}
