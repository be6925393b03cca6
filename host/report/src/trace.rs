//! The run as a Chrome trace, for `chrome://tracing` or Perfetto.
//!
//! A trace shows the times on one row for the host and one for the device. A third row has the
//! waves of the last run, each for the time of its group; a body's time is that of all its
//! iterations, put at the first one. Waves whose group was not measured are marks without a
//! length. A fourth row has the steps of searches with the reason of each. A row for each block
//! follows, where several ran the program in one launch: its work and its waiting at barriers.

use std::io::{self, Write};

use serde::Serialize;

use super::timeline;
use seawall::outcome::{
    Event, GroupSummary, RunOutcome, StepSummary, Timeline, Track, WaveSummary,
};

#[derive(Serialize)]
struct Trace<'a> {
    #[serde(rename = "traceEvents")]
    events: Vec<Entry<'a>>,
    #[serde(rename = "displayTimeUnit")]
    unit: &'static str,
}

#[derive(Serialize)]
#[serde(tag = "ph")]
pub(super) enum Entry<'a> {
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
        cat: &'static str,
        pid: u32,
        tid: u32,
        ts: f64,
        dur: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        args: Option<SpanArgs<'a>>,
    },
    #[serde(rename = "i")]
    Mark {
        name: &'a str,
        cat: &'static str,
        pid: u32,
        tid: u32,
        ts: f64,
        s: &'static str,
        args: WaveArgs<'a>,
    },
}

#[derive(Serialize)]
pub(super) struct NameArgs {
    name: String,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum SpanArgs<'a> {
    Wave(WaveArgs<'a>),
    Step(&'a StepSummary),
}

#[derive(Serialize)]
pub(super) struct WaveArgs<'a> {
    opcode: &'a str,
    group: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_of: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iterations: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<u32>,
}

const PROCESS: u32 = 1;
/// The row of the waves.
const WAVES: u32 = 3;
/// The row of the steps of searches.
const STEPS: u32 = 4;

fn row(track: Track) -> u32 {
    match track {
        Track::Host => 1,
        Track::Device => 2,
    }
}

/// The parts of a run that a trace shows.
pub struct Traced<'a> {
    /// Duration of loading, which comes first.
    pub load_ns: u64,
    /// Name of the machine.
    pub device: String,
    /// Spans since the end of loading.
    pub events: &'a [Event],
    /// Waves of the last run.
    pub waves: &'a [WaveSummary],
    /// Groups of waves.
    pub groups: &'a [GroupSummary],
    /// Steps of searches.
    pub steps: &'a [StepSummary],
    /// The work of blocks between barriers.
    pub timeline: Option<&'a Timeline>,
}

/// Writes the trace as one JSON object; its times are microseconds from the
/// start of loading.
///
/// # Errors
/// [`std::io::Error`] of `out`.
pub fn write(outcome: &RunOutcome, out: &mut dyn Write) -> io::Result<()> {
    let traced = Traced {
        load_ns: outcome.times.load,
        device: format!("{} ({})", outcome.device, outcome.backend),
        events: &outcome.events,
        waves: &outcome.waves,
        groups: &outcome.groups,
        steps: &outcome.steps,
        timeline: outcome.timeline.as_ref(),
    };
    write_traced(traced, out)
}

/// [`write()`] of any run.
pub fn write_traced(traced: Traced<'_>, out: &mut dyn Write) -> io::Result<()> {
    let loaded = traced.load_ns;
    let load = Event {
        name: "load".to_owned(),
        track: Track::Host,
        start_ns: 0,
        duration_ns: loaded,
    };
    let mut events = vec![
        label("process_name", 0, "seawall".to_owned()),
        label("thread_name", row(Track::Host), "host".to_owned()),
        label("thread_name", row(Track::Device), traced.device),
        label("thread_name", WAVES, "waves, by their groups".to_owned()),
        label("thread_name", STEPS, "steps of searches".to_owned()),
        span(&load, 0),
    ];
    events.extend(traced.events.iter().map(|event| span(event, loaded)));
    let mut runs = traced.events.iter();
    let last = runs.rfind(|event| event.track == Track::Device);
    let start = last.map_or(0, |run| run.start_ns).saturating_add(loaded);
    let group = |wave: &WaveSummary| {
        let mut groups = traced.groups.iter();
        groups.find(|group| group.group == wave.group)
    };
    let waves = traced.waves.iter();
    events.extend(waves.map(|wave| timed(wave, group(wave), start)));
    events.extend(traced.steps.iter().map(|taken| step(taken, start)));
    if let Some(timeline) = traced.timeline {
        events.extend(timeline::rows(timeline, STEPS + 1, start));
    }
    finish(events, out)
}

/// Writes the object.
pub(super) fn finish(events: Vec<Entry<'_>>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Trace { events, unit: "ns" })?;
    writeln!(out)
}

/// Names a row, or the process.
pub(super) fn named_row(row: Option<u32>, name: String) -> Entry<'static> {
    match row {
        None => label("process_name", 0, name),
        Some(row) => label("thread_name", row, name),
    }
}

/// A span with its name and category, its row, its start and its duration in nanoseconds.
pub(super) fn span_of<'a>(
    name: &'a str,
    cat: &'static str,
    tid: u32,
    start_ns: u64,
    duration_ns: u64,
) -> Entry<'a> {
    Entry::Span {
        name,
        cat,
        pid: PROCESS,
        tid,
        ts: start_ns as f64 / 1e3,
        dur: duration_ns as f64 / 1e3,
        args: None,
    }
}

fn label(what: &'static str, tid: u32, name: String) -> Entry<'static> {
    Entry::Name {
        name: what,
        pid: PROCESS,
        tid,
        args: NameArgs { name },
    }
}

fn span(event: &Event, shift_ns: u64) -> Entry<'_> {
    let start_ns = event.start_ns.saturating_add(shift_ns);
    let time = (start_ns, event.duration_ns);
    span_of(&event.name, "phase", row(event.track), time.0, time.1)
}

/// A wave for the time of its group, or a mark if that was not measured.
fn timed<'a>(wave: &'a WaveSummary, group: Option<&'a GroupSummary>, start_ns: u64) -> Entry<'a> {
    let measured = group.and_then(|group| Some((group, group.start_ns?, group.measured_ns?)));
    let Some((group, since_ns, duration_ns)) = measured else {
        return mark(wave, start_ns);
    };
    Entry::Span {
        name: &wave.name,
        cat: "wave",
        pid: PROCESS,
        tid: WAVES,
        ts: start_ns.saturating_add(since_ns) as f64 / 1e3,
        dur: duration_ns as f64 / 1e3,
        args: Some(SpanArgs::Wave(WaveArgs {
            runs: group.runs,
            ..args(wave)
        })),
    }
}

fn step(step: &StepSummary, start_ns: u64) -> Entry<'_> {
    Entry::Span {
        name: step.step,
        cat: "step",
        pid: PROCESS,
        tid: STEPS,
        ts: start_ns.saturating_add(step.start_ns) as f64 / 1e3,
        dur: step.duration_ns as f64 / 1e3,
        args: Some(SpanArgs::Step(step)),
    }
}

fn args(wave: &WaveSummary) -> WaveArgs<'_> {
    WaveArgs {
        opcode: &wave.opcode,
        group: wave.group,
        body_of: wave.body_of.as_deref(),
        iterations: wave.iterations,
        runs: None,
    }
}

fn mark(wave: &WaveSummary, start_ns: u64) -> Entry<'_> {
    Entry::Mark {
        name: &wave.name,
        cat: "wave",
        pid: PROCESS,
        tid: WAVES,
        ts: start_ns as f64 / 1e3,
        s: "t",
        args: args(wave),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::{searched, with};
    use serde_json::{Value, json};

    fn trace(outcome: &RunOutcome) -> Vec<Value> {
        let mut bytes = Vec::new();
        write(outcome, &mut bytes).unwrap();
        let trace: Value = serde_json::from_slice(&bytes).unwrap();
        trace["traceEvents"].as_array().unwrap().clone()
    }

    #[test]
    fn recorded_spans_start_after_loading_and_waves_at_the_last_run() {
        let run = |start_ns| Event {
            name: "run".to_owned(),
            track: Track::Device,
            start_ns,
            duration_ns: 2000,
        };
        let mut wave = searched().waves.remove(0);
        wave.name = "spread".to_owned();
        wave.opcode = "Expand".to_owned();
        (wave.group, wave.body_of) = (4, Some("loop".to_owned()));
        wave.iterations = None;
        let events = trace(&with(|described| {
            described.events = vec![run(9), run(99)];
            described.waves = vec![wave];
        }));
        let spans: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
        assert_eq!(spans.len(), 3);
        assert_eq!(
            (&spans[1]["ts"], &spans[1]["dur"]),
            (&0.01.into(), &2.0.into())
        );
        let mark = events.iter().find(|event| event["ph"] == "i").unwrap();
        assert_eq!(mark["ts"], 0.1);
        let args = json!({"opcode": "Expand", "group": 4, "body_of": "loop"});
        assert_eq!(mark["args"], args);
    }
}
