//! The result as a picture: the number of nodes by value.
//!
//! With a target, the path to it is below. For a search this is the size of its frontier at each level, which decides which topology pays.

mod histogram;
mod path;

use std::io::{self, Write};

use super::svg::{Anchor, Area, Canvas, TEXT_SIZE, text_width};
use histogram::{Bar, Histogram, Scale};
use seawall::analysis::Picture;
use seawall::outcome::RunOutcome;
use seawall::units::Count;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 360.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 56.0;
/// Space between two labels of an axis.
const APART: f64 = 16.0;
/// Smallest height of a non-empty bar, so that single nodes are visible.
const BAR_MIN: f64 = 1.0;

/// Draws the picture as SVG.
///
/// # Errors
/// If `out` fails.
pub fn write(outcome: &RunOutcome, out: &mut dyn Write) -> io::Result<()> {
    let histogram = Histogram::of(outcome);
    let Picture { title, axis, .. } = outcome.analysis.definition().picture(&outcome.values);
    let frame = Frame::of(&histogram);
    let below = outcome.path.as_ref().map_or(0.0, |_| path::HEIGHT);
    let mut canvas = Canvas::begin(out, WIDTH, HEIGHT + below)?;
    canvas.text("title", (frame.left, 28.0), Anchor::Start, title)?;
    frame.draw(&histogram, axis, &mut canvas)?;
    for (at, bar) in histogram.bars.iter().enumerate() {
        frame.draw_bar(at, bar, &mut canvas)?;
    }
    frame.label_bars(&histogram.bars, &mut canvas)?;
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
        }
    }

    fn draw(&self, histogram: &Histogram, axis: &str, canvas: &mut Canvas<'_>) -> io::Result<()> {
        let (left, floor) = (self.left, self.floor);
        canvas.line("axis", (left, floor), (self.right, floor))?;
        canvas.line("axis", (left, TOP), (left, floor))?;
        let highest = Count(self.highest).to_string();
        canvas.text("faint", (left - 8.0, TOP + 4.0), Anchor::End, &highest)?;
        canvas.text("faint", (left - 8.0, floor), Anchor::End, "0 nodes")?;
        let axis = match histogram.scale {
            Scale::Even => axis.to_owned(),
            Scale::Logarithmic => format!("{axis} (logarithmic axis)"),
        };
        let middle = (f64::midpoint(left, self.right), HEIGHT - 12.0);
        canvas.text("faint", middle, Anchor::Middle, &axis)
    }

    fn draw_bar(&self, at: usize, bar: &Bar, canvas: &mut Canvas<'_>) -> io::Result<()> {
        let share = bar.nodes as f64 / self.highest.max(1) as f64;
        let height = (self.floor - TOP) * share;
        let least = if bar.nodes > 0 { BAR_MIN } else { 0.0 };
        let height = height.max(least);
        let area = Area {
            x: self.left + self.pitch * (at as f64 + 0.05),
            y: self.floor - height,
            width: self.pitch * 0.9,
            height,
        };
        let hint = format!("{}: {} nodes", bar.label, Count(bar.nodes));
        canvas.area("bar", area, &hint)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::text::tests::with;
    use seawall::analysis::AnalysisKind;
    use seawall::outcome::Column;

    fn drawn(analysis: AnalysisKind, values: Column) -> String {
        let mut bytes = Vec::new();
        let outcome = with(|described| {
            described.analysis = analysis;
            described.values = values;
        });
        write(&outcome, &mut bytes).unwrap();
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
    fn an_axis_says_that_it_is_logarithmic() {
        let ranks = (1..=1000).map(|at| 1.0 / at as f32).collect();
        let text = drawn(AnalysisKind::Pagerank, Column::F32(ranks));
        assert!(text.contains("rank (logarithmic axis)"));
    }
}
