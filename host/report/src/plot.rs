//! The result as a picture: the number of nodes by value.
//!
//! With a target, the path to it is below. For a search this is the size of its frontier at each level, which decides which topology pays.

mod histogram;
mod path;

use std::io::{self, Write};

use super::canvas::{Anchor, Area, Canvas, PictureFormat, TEXT_SIZE, fitted, text_width};
pub(crate) use histogram::round_step;
use histogram::{Bar, Histogram, Scale, Tick};
use seawall::analysis::Picture;
use seawall::outcome::RunOutcome;
use seawall::units::Count;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 360.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 56.0;
/// Space between two labels of an axis.
const APART: f64 = 16.0;
/// Most steps between the ticks of the axis of nodes.
const STEPS_MAX: u64 = 6;
/// Smallest height of a non-empty bar, so that single nodes are visible.
const BAR_MIN: f64 = 1.0;

/// Draws the picture; `source` says below the title what was drawn and when.
///
/// # Errors
/// If `out` fails.
pub fn write(
    outcome: &RunOutcome,
    source: &str,
    format: PictureFormat,
    out: &mut dyn Write,
) -> io::Result<()> {
    let histogram = Histogram::of(outcome);
    let Picture { title, axis, .. } = outcome.analysis.definition().picture(&outcome.values);
    let frame = Frame::of(&histogram);
    let below = outcome.path.as_ref().map_or(0.0, |_| path::HEIGHT);
    let mut canvas = Canvas::begin(out, format, (WIDTH, HEIGHT + below))?;
    canvas.text("title", (frame.left, 24.0), Anchor::Start, title)?;
    let source = fitted(source, frame.right - frame.left);
    canvas.text("faint", (frame.left, 42.0), Anchor::Start, &source)?;
    frame.draw(&histogram, axis, &mut canvas)?;
    for (at, bar) in histogram.bars.iter().enumerate() {
        frame.draw_bar(at, bar, &mut canvas)?;
    }
    match histogram.ticks.as_slice() {
        [] => frame.label_bars(&histogram.bars, &mut canvas)?,
        ticks => frame.draw_ticks(ticks, &mut canvas)?,
    }
    if let Some(path) = &outcome.path {
        path::draw(path, frame.left, frame.right, HEIGHT, &mut canvas)?;
    }
    canvas.end()
}

/// The axes.
struct Frame {
    left: f64,
    floor: f64,
    right: f64,
    /// Distance of bars.
    pitch: f64,
    highest: u64,
    /// Whether heights are logarithms of counts.
    is_logarithmic: bool,
}

impl Frame {
    fn of(histogram: &Histogram) -> Self {
        let highest = histogram.highest();
        let widest = text_width(&Count(highest).to_string(), TEXT_SIZE);
        let left = 20.0 + widest.max(text_width("0 nodes", TEXT_SIZE));
        let right = WIDTH - RIGHT;
        Self {
            left,
            floor: HEIGHT - BOTTOM,
            right,
            pitch: (right - left) / histogram.bars.len().max(1) as f64,
            highest,
            is_logarithmic: histogram.has_one_that_hides_others(),
        }
    }

    fn draw(&self, histogram: &Histogram, axis: &str, canvas: &mut Canvas<'_>) -> io::Result<()> {
        let (left, floor) = (self.left, self.floor);
        canvas.line("axis", (left, floor), (self.right, floor))?;
        canvas.line("axis", (left, TOP), (left, floor))?;
        for tick in self.ticks() {
            let at = floor - self.height(tick);
            let text = match (tick, self.is_logarithmic) {
                (0, _) => "0 nodes".to_owned(),
                (1, true) => "1 node".to_owned(),
                (tick, _) => Count(tick).to_string(),
            };
            canvas.line("axis", (left - 4.0, at), (left, at))?;
            canvas.text("faint", (left - 8.0, at + 4.0), Anchor::End, &text)?;
        }
        let scales = match (histogram.scale, self.is_logarithmic) {
            (Scale::Even, false) => "",
            (Scale::Logarithmic, false) => " (logarithmic axis)",
            (Scale::Even, true) => " (logarithmic counts)",
            (Scale::Logarithmic, true) => " (logarithmic axis and counts)",
        };
        let axis = format!("{axis}{scales}");
        let middle = (f64::midpoint(left, self.right), HEIGHT - 12.0);
        canvas.text("faint", middle, Anchor::Middle, &axis)
    }

    /// Height of so many nodes.
    fn height(&self, nodes: u64) -> f64 {
        let share = match self.is_logarithmic {
            // One node has a height of its own.
            true => (2.0 * nodes.max(1) as f64).ln() / (2.0 * self.highest as f64).ln(),
            false => nodes as f64 / self.highest.max(1) as f64,
        };
        (self.floor - TOP) * share
    }

    /// Round counts along the axis of nodes.
    fn ticks(&self) -> Vec<u64> {
        if !self.is_logarithmic {
            return ticks(self.highest).collect();
        }
        let decades = self.highest.ilog10();
        let step = decades / STEPS_MAX as u32 + 1;
        (0..=decades)
            .step_by(step as usize)
            .map(|power| 10_u64.pow(power))
            .collect()
    }

    fn draw_bar(&self, at: usize, bar: &Bar, canvas: &mut Canvas<'_>) -> io::Result<()> {
        let least = if bar.nodes > 0 { BAR_MIN } else { 0.0 };
        let height = match bar.nodes {
            0 => 0.0,
            nodes => self.height(nodes).max(least),
        };
        let area = Area {
            x: self.left + self.pitch * (at as f64 + 0.05),
            y: self.floor - height,
            width: self.pitch * 0.9,
            height,
        };
        let hint = format!("{}: {} nodes", bar.label, Count(bar.nodes));
        canvas.area("bar", area, &hint)
    }

    /// Draws round values below the axis, as many as do not touch.
    fn draw_ticks(&self, ticks: &[Tick], canvas: &mut Canvas<'_>) -> io::Result<()> {
        let mut free = f64::NEG_INFINITY;
        for tick in ticks {
            let at = self.left + self.pitch * tick.at;
            let half = text_width(&tick.label, TEXT_SIZE) / 2.0;
            let middle = at.min(WIDTH - 4.0 - half).max(half + 4.0);
            if middle - half < free {
                continue;
            }
            canvas.line("axis", (at, self.floor), (at, self.floor + 4.0))?;
            let place = (middle, self.floor + 18.0);
            canvas.text("faint", place, Anchor::Middle, &tick.label)?;
            free = middle + half + APART;
        }
        Ok(())
    }

    /// Labels the first and the last bar, and as many between them as fit.
    fn label_bars(&self, bars: &[Bar], canvas: &mut Canvas<'_>) -> io::Result<()> {
        let Some(last) = bars.len().checked_sub(1) else {
            return Ok(());
        };
        let end = self.span(last, &bars[last]);
        let mut free = f64::NEG_INFINITY;
        for (at, bar) in bars.iter().enumerate() {
            let span = self.span(at, bar);
            let fits = at == last || span.1 + APART <= end.0;
            if at == 0 && at != last && span.1 + APART > end.0 || (at > 0 && span.0 < free) {
                continue;
            }
            if fits {
                let place = (f64::midpoint(span.0, span.1), self.floor + 18.0);
                canvas.text("faint", place, Anchor::Middle, &bar.label)?;
                free = span.1 + APART;
            }
        }
        Ok(())
    }

    /// Start and end of a bar's label: below its middle, but within the picture.
    fn span(&self, at: usize, bar: &Bar) -> (f64, f64) {
        let half = text_width(&bar.label, TEXT_SIZE) / 2.0;
        let middle = self.left + self.pitch * (at as f64 + 0.5);
        let middle = middle.min(WIDTH - 4.0 - half).max(half + 4.0);
        (middle - half, middle + half)
    }
}

/// Round numbers from 0 to at most `highest`, at equal distances.
fn ticks(highest: u64) -> impl Iterator<Item = u64> {
    let step = round_step(highest, STEPS_MAX);
    (0..=highest / step).map(move |at| at * step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::with;
    use seawall::analysis::AnalysisKind;
    use seawall::outcome::Column;

    fn drawn(analysis: AnalysisKind, values: Column) -> String {
        let mut bytes = Vec::new();
        let outcome = with(|described| {
            described.analysis = analysis;
            described.values = values;
        });
        write(
            &outcome,
            "a & b, 2026-11-27",
            PictureFormat::Svg,
            &mut bytes,
        )
        .unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_picture_is_one_closed_element() {
        for values in [vec![], vec![u32::MAX], vec![3, 4]] {
            let text = drawn(AnalysisKind::Bfs, Column::U32(values));
            assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
            assert!(!text.contains("NaN") && !text.contains("inf"));
        }
    }

    #[test]
    fn ticks_are_round_and_few() {
        let of = |highest| ticks(highest).collect::<Vec<_>>();
        assert_eq!(of(0), [0]);
        assert_eq!(of(1), [0, 1]);
        assert_eq!(of(7), [0, 2, 4, 6]);
        assert_eq!(of(264_346), [0, 50_000, 100_000, 150_000, 200_000, 250_000]);
        assert!(of(u64::MAX).len() <= STEPS_MAX as usize + 1);
    }

    #[test]
    fn the_picture_names_its_source() {
        let text = drawn(AnalysisKind::Bfs, Column::U32(vec![0, 1]));
        assert!(text.contains(">a &amp; b, 2026-11-27</text>"), "{text}");
    }

    #[test]
    fn an_axis_says_that_it_is_logarithmic() {
        let ranks = (1..=1000).map(|at| 1.0 / at as f32).collect();
        let text = drawn(AnalysisKind::Pagerank, Column::F32(ranks));
        assert!(text.contains("rank (logarithmic axis)"));
    }
}
