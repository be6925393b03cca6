//! The work of each block between the barriers of a run: as a line of text, as rows of a trace, and as
//! a drawing of a page.
//!
//! A block works from where it left a barrier until it arrives at the next one, and waits until it
//! leaves that. Work is that of the wave which the barrier ends.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::canvas::Escaped;
use super::plot::round_step;
use super::trace::{Entry, named_row, span_of};
use seawall::outcome::{BarrierSummary, Timeline};
use seawall::units::{Nanoseconds, counted};

/// Colours of waves in the order of their first barriers; further waves share the last one.
const COLOURS: [&str; 6] = [
    "#2f6f9f", "#c2571a", "#2e7d5b", "#7b4b9e", "#b08a00", "#7d8fa0",
];
/// Width of the drawing, and where its rows begin, in user units.
const WIDTH: f64 = 860.0;
const LEFT: f64 = 70.0;
/// Greatest height of all rows, and of one.
const ROWS_HEIGHT: f64 = 396.0;
const ROW_HEIGHT: f64 = 14.0;
/// Most ticks of the axis of time.
const TICKS_MAX: u64 = 8;

/// A wave's work of one block.
struct Work {
    block: usize,
    start_ns: u64,
    end_ns: u64,
}

/// All work up to each barrier, with the barrier.
fn work(timeline: &Timeline) -> impl Iterator<Item = (&BarrierSummary, Vec<Work>)> {
    let before = timeline.barriers.iter().map(Some);
    let before = std::iter::once(None).chain(before);
    timeline
        .barriers
        .iter()
        .zip(before)
        .map(|(barrier, before)| {
            let start = |block: usize| before.and_then(|before| before.left_ns.get(block));
            let of_block = |(block, arrived): (usize, &u64)| Work {
                block,
                start_ns: start(block).copied().unwrap_or(0),
                end_ns: *arrived,
            };
            let works = barrier.arrived_ns.iter().enumerate().map(of_block);
            (barrier, works.collect())
        })
}

/// The timeline in a sentence.
pub(super) fn described(timeline: &Timeline) -> String {
    let [least, mean, most] = timeline.waited_percent();
    format!(
        "{} waited {mean:.0} % of the time up to {} (from {least:.0} to {most:.0} %)",
        counted(timeline.blocks as u64, "block"),
        match timeline.barriers.len() {
            1 => "the first barrier".to_owned(),
            barriers => format!("barrier {barriers}"),
        },
    )
}

/// Rows of a trace from `row` on: a row for each block of a run that began at `start_ns`.
pub(super) fn rows(timeline: &Timeline, row: u32, start_ns: u64) -> Vec<Entry<'_>> {
    let row_of = |block: usize| row.saturating_add(u32::try_from(block).unwrap_or(u32::MAX));
    let named = |block| named_row(Some(row_of(block)), format!("block {block}"));
    let mut entries: Vec<_> = (0..timeline.blocks).map(named).collect();
    for (barrier, works) in work(timeline) {
        for (work, left_ns) in works.iter().zip(&barrier.left_ns) {
            let at = |ns: u64| start_ns.saturating_add(ns);
            let row = row_of(work.block);
            let took = work.end_ns.saturating_sub(work.start_ns);
            let waited = left_ns.saturating_sub(work.end_ns);
            entries.push(span_of(&barrier.wave, "work", row, at(work.start_ns), took));
            entries.push(span_of("barrier", "wait", row, at(work.end_ns), waited));
        }
    }
    entries
}

/// The waves that barriers end, in the order of their first ones.
fn waves(timeline: &Timeline) -> Vec<&str> {
    let mut waves = Vec::new();
    for barrier in &timeline.barriers {
        if !waves.contains(&barrier.wave.as_str()) {
            waves.push(&barrier.wave);
        }
    }
    waves
}

/// Draws the timeline into a page.
pub(super) fn draw(timeline: &Timeline, out: &mut dyn Write) -> io::Result<()> {
    let ends = timeline
        .barriers
        .iter()
        .flat_map(|barrier| &barrier.left_ns);
    let end = ends.max().copied().unwrap_or(0).max(1);
    let height = (ROWS_HEIGHT / timeline.blocks.max(1) as f64).min(ROW_HEIGHT);
    let rows = height * timeline.blocks as f64;
    let x = |ns: u64| LEFT + (WIDTH - LEFT) * ns as f64 / end as f64;
    writeln!(
        out,
        "<h2>Blocks between barriers</h2><p class=\"faint\">{}. Colours are work until the barrier that ends a wave, gaps are waiting.</p>",
        Escaped(&described(timeline))
    )?;
    let waves = waves(timeline);
    let colour = |wave: &str| {
        let place = waves.iter().position(|other| *other == wave);
        COLOURS[place.unwrap_or(0).min(COLOURS.len() - 1)]
    };
    write!(out, "<p>")?;
    for wave in &waves {
        let (colour, wave) = (colour(wave), Escaped(wave));
        write!(out, "<span style=\"color:{colour}\">■</span> {wave} ")?;
    }
    writeln!(
        out,
        "</p>\n<svg viewBox=\"0 0 {WIDTH} {:.1}\" role=\"img\"><rect x=\"{LEFT}\" width=\"{}\" height=\"{rows:.1}\" fill=\"#eef2f6\"/>",
        rows + 24.0,
        WIDTH - LEFT
    )?;
    for (at, (barrier, works)) in work(timeline).enumerate() {
        let mut path = String::new();
        for work in works {
            let (from, to) = (x(work.start_ns), x(work.end_ns.max(work.start_ns)));
            let y = height * work.block as f64;
            let (wide, high) = (to - from, height * 0.9);
            // Writing to a string does not fail.
            let _ = write!(path, "M{from:.1} {y:.1}h{wide:.2}v{high:.2}h-{wide:.2}z");
        }
        writeln!(
            out,
            "<path fill=\"{}\" fill-opacity=\"{}\" d=\"{path}\"><title>{}, iteration {}</title></path>",
            colour(&barrier.wave),
            // Tells work before a barrier from work after it.
            if at % 2 == 0 { "1" } else { "0.75" },
            Escaped(&barrier.wave),
            barrier.iteration
        )?;
    }
    draw_axes(timeline, end, rows, out)?;
    writeln!(out, "</svg>")
}

/// The axis of time below the rows, and the first and the last block beside them.
fn draw_axes(timeline: &Timeline, end: u64, rows: f64, out: &mut dyn Write) -> io::Result<()> {
    let step = round_step(end, TICKS_MAX);
    let mut text = |x: f64, y: f64, anchor: &str, text: &str| {
        writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"11\" fill=\"#5b6b7a\" text-anchor=\"{anchor}\">{text}</text>"
        )
    };
    for tick in 0..=end / step {
        let x = LEFT + (WIDTH - LEFT) * (tick * step) as f64 / end as f64;
        let anchor = match tick {
            0 => "start",
            _ if x > WIDTH - 30.0 => "end",
            _ => "middle",
        };
        text(
            x,
            rows + 16.0,
            anchor,
            &Nanoseconds(tick * step).to_string(),
        )?;
    }
    let last = timeline.blocks.saturating_sub(1);
    text(LEFT - 6.0, 10.0, "end", "block 0")?;
    if last > 0 && rows > 24.0 {
        text(LEFT - 6.0, rows - 1.0, "end", &format!("block {last}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two blocks at two barriers; the second block has twice the work of the first.
    fn timeline() -> Timeline {
        let barrier = |wave: &str, arrived: [u64; 2], left: u64| BarrierSummary {
            wave: wave.to_owned(),
            iteration: 3,
            arrived_ns: arrived.to_vec(),
            left_ns: vec![left; 2],
        };
        Timeline {
            blocks: 2,
            barriers: vec![
                barrier("fill", [500, 1_000], 1_000),
                barrier("a < b", [1_500, 2_000], 2_000),
            ],
        }
    }

    #[test]
    fn waiting_is_counted_for_each_block() {
        assert_eq!(timeline().waited_percent(), [0.0, 25.0, 50.0]);
        assert_eq!(
            described(&timeline()),
            "2 blocks waited 25 % of the time up to barrier 2 (from 0 to 50 %)"
        );
    }

    #[test]
    fn a_block_works_from_one_barrier_to_the_next() {
        let timeline = timeline();
        let rows = serde_json::to_value(rows(&timeline, 10, 7_000)).unwrap();
        let spans = rows.as_array().unwrap().iter();
        let spans: Vec<_> = spans
            .filter(|entry| entry["ph"] == "X" && entry["tid"] == 10)
            .map(|entry| {
                let time = [&entry["ts"], &entry["dur"]].map(|time| time.as_f64().unwrap());
                (entry["name"].as_str().unwrap(), time)
            })
            .collect();
        let expected = [
            ("fill", [7.0, 0.5]),
            ("barrier", [7.5, 0.5]),
            ("a < b", [8.0, 0.5]),
            ("barrier", [8.5, 0.5]),
        ];
        assert_eq!(spans, expected);
    }

    #[test]
    fn the_drawing_has_a_bar_for_each_work_and_escapes_names() {
        let mut text = Vec::new();
        draw(&timeline(), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.matches('M').count(), 4, "{text}");
        // The first block's first work is a quarter of the time.
        let quarter = (WIDTH - LEFT) / 4.0;
        assert!(
            text.contains(&format!("M{LEFT:.1} 0.0h{quarter:.2}")),
            "{text}"
        );
        assert!(text.contains("a &lt; b, iteration 3") && !text.contains("a < b"));
        assert!(
            text.contains("block 1") && text.contains("2.0 us"),
            "{text}"
        );
    }
}
