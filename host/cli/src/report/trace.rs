//! The run as a Chrome trace, for `chrome://tracing` or Perfetto.
//!
//! A trace shows where the time went, on one row for the host and one for the
//! device. Spans that the run recorded are shown as they are; without any, the
//! phases of the report stand one after the other.

use std::io::{self, Write};

use serde::Serialize;

use seawall::outcome::{Event, RunOutcome, Track};

#[derive(Serialize)]
struct Trace<'a> {
    #[serde(rename = "traceEvents")]
    events: Vec<Entry<'a>>,
    #[serde(rename = "displayTimeUnit")]
    unit: &'static str,
}

#[derive(Serialize)]
#[serde(tag = "ph")]
enum Entry<'a> {
    #[serde(rename = "M")]
    Name {
        name: &'static str,
        pid: u32,
        tid: u32,
        args: NameArgs,
    },
    #[serde(rename = "X")]
    Span {
        name: &'a str,
        pid: u32,
        tid: u32,
        ts: f64,
        dur: f64,
    },
}

#[derive(Serialize)]
struct NameArgs {
    name: String,
}

const PROCESS: u32 = 1;

fn row(track: Track) -> u32 {
    match track {
        Track::Host => 1,
        Track::Device => 2,
    }
}

/// Writes the trace as one JSON object; its times are microseconds from the
/// start of loading.
///
/// # Errors
/// When `out` fails.
pub fn write(outcome: &RunOutcome, out: &mut dyn Write) -> io::Result<()> {
    let phases = phases(outcome);
    let mut events = vec![
        label(Track::Host, "host".to_owned()),
        label(
            Track::Device,
            format!("{} ({})", outcome.device, outcome.backend),
        ),
    ];
    events.extend(phases.iter().map(|event| span(event, 0)));
    events.extend(
        outcome
            .events
            .iter()
            .map(|event| span(event, outcome.times.load)),
    );
    serde_json::to_writer(&mut *out, &Trace { events, unit: "ns" })?;
    writeln!(out)
}

fn label(track: Track, name: String) -> Entry<'static> {
    Entry::Name {
        name: "thread_name",
        pid: PROCESS,
        tid: row(track),
        args: NameArgs { name },
    }
}

fn span(event: &Event, shift_ns: u64) -> Entry<'_> {
    Entry::Span {
        name: &event.name,
        pid: PROCESS,
        tid: row(event.track),
        ts: event.start_ns.saturating_add(shift_ns) as f64 / 1e3,
        dur: event.duration_ns as f64 / 1e3,
    }
}

/// The phases that the recorded spans leave out: all of them when there are none.
fn phases(outcome: &RunOutcome) -> Vec<Event> {
    let times = outcome.times;
    let rest = [
        ("plan", Track::Host, times.plan),
        ("upload", Track::Host, times.upload),
        ("run", Track::Device, times.run),
        ("readback", Track::Host, times.readback),
    ];
    let rest = if outcome.events.is_empty() {
        &rest[..]
    } else {
        &[]
    };
    let mut start_ns = 0u64;
    std::iter::once(&("load", Track::Host, times.load))
        .chain(rest)
        .map(|&(name, track, duration_ns)| {
            let event = Event {
                name: name.to_owned(),
                track,
                start_ns,
                duration_ns,
            };
            start_ns = start_ns.saturating_add(duration_ns);
            event
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::text::tests::outcome;
    use serde_json::Value;

    fn trace(outcome: &RunOutcome) -> Vec<Value> {
        let mut bytes = Vec::new();
        write(outcome, &mut bytes).unwrap();
        let trace: Value = serde_json::from_slice(&bytes).unwrap();
        trace["traceEvents"].as_array().unwrap().clone()
    }

    #[test]
    fn without_spans_the_phases_follow_each_other() {
        let events = trace(&outcome());
        let spans: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
        assert_eq!(spans.len(), 5);
        for pair in spans.windows(2) {
            let end = pair[0]["ts"].as_f64().unwrap() + pair[0]["dur"].as_f64().unwrap();
            assert!((pair[1]["ts"].as_f64().unwrap() - end).abs() < 1e-9);
        }
    }

    #[test]
    fn recorded_spans_start_after_loading() {
        let event = Event {
            name: "wave".to_owned(),
            track: Track::Device,
            start_ns: 9,
            duration_ns: 2000,
        };
        let events = trace(&RunOutcome {
            events: vec![event],
            ..outcome()
        });
        let wave = events.iter().find(|event| event["name"] == "wave").unwrap();
        assert_eq!(wave["ts"], 0.01);
        assert_eq!(wave["dur"], 2.0);
        assert_eq!(events.iter().filter(|event| event["ph"] == "X").count(), 2);
    }
}
