//! Events of a run, for the trace.

use crate::outcome::{Event, Track};
use crate::spans;
use crate::units::elapsed_ns;
use std::time::{Duration, Instant};

/// Name of the span in which loops and parallel edges are dropped.
const FORM: &str = "simple form";

/// The spans of a run, by its own clock.
pub(super) struct Log {
    pub(super) clock: Instant,
    pub(super) events: Vec<Event>,
}

impl Log {
    pub(super) fn begin() -> Self {
        Self {
            clock: Instant::now(),
            events: Vec::new(),
        }
    }

    /// Adds a span of the host.
    pub(super) fn host(&mut self, name: &str, start_ns: u64, duration_ns: u64) {
        self.add(Event {
            name: name.to_owned(),
            track: Track::Host,
            start_ns,
            duration_ns,
        });
    }

    /// Adds a span.
    pub(super) fn add(&mut self, event: Event) {
        spans::step(&event.name, event.duration_ns);
        self.events.push(event);
    }

    /// Adds the making of a form of the graph, which ends now.
    pub(super) fn formed(&mut self, form_ns: u64) {
        self.clock = self
            .clock
            .checked_sub(Duration::from_nanos(form_ns))
            .unwrap_or(self.clock);
        self.host(FORM, 0, form_ns);
    }

    /// Adds planning, which ends now, and before the first plan the choice of a machine.
    pub(super) fn planned(&mut self, plan_ns: u64) {
        let start = elapsed_ns(self.clock).saturating_sub(plan_ns);
        if self.events.iter().all(|event| event.name == FORM) {
            let formed = self.events.last().map_or(0, |event| event.duration_ns);
            self.host("choose", formed, start.saturating_sub(formed));
        }
        self.host("plan", start, plan_ns);
    }

    /// Adds the span of the host in which `work` is done.
    pub(super) fn until_now<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let start = elapsed_ns(self.clock);
        let done = work();
        let end = elapsed_ns(self.clock);
        self.host(name, start, end.saturating_sub(start));
        done
    }
}
