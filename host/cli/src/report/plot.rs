//! The result as a picture: how many nodes have which value.
//!
//! For a search that is the size of its frontier at each level, the figure that
//! decides which topology pays.

use std::io::{self, Write};

use super::svg::{Anchor, Area, Canvas};
use seawall::outcome::{Column, RunOutcome};
use seawall::run::AnalysisKind;
use seawall::units::Count;

/// Most bars that one picture holds; more values share bars.
const BARS_MAX: u64 = 160;
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 50.0;

/// Bars of equal width over a range of values.
#[derive(Debug, PartialEq)]
struct Histogram {
    bars: Vec<Bar>,
}

/// Nodes whose values lie in one part of the range.
#[derive(Clone, Debug, PartialEq)]
struct Bar {
    label: String,
    nodes: u64,
}

impl Histogram {
    fn of(outcome: &RunOutcome) -> Self {
        match &outcome.values {
            Column::U32(labels) if outcome.analysis == AnalysisKind::Cc => Self::sizes(labels),
            Column::U32(values) => Self::words(values),
            Column::U64(values) => {
                Self::whole(|| values.iter().copied().filter(|value| *value != u64::MAX))
            }
            Column::F32(values) => Self::real(values),
            Column::Sets(sets) => Self::words(&sets.counts()),
        }
    }

    /// Values that some node has, unreached nodes left out.
    fn words(values: &[u32]) -> Self {
        let is_reached = |value: &&u32| **value != Column::UNREACHED;
        Self::whole(|| {
            values
                .iter()
                .filter(is_reached)
                .map(|value| u64::from(*value))
        })
    }

    fn whole<I: Iterator<Item = u64>>(reached: impl Fn() -> I) -> Self {
        let (Some(low), Some(high)) = (reached().min(), reached().max()) else {
            return Self { bars: Vec::new() };
        };
        // Values below the mark of the unreached, so 1 can be added.
        let step = (high - low + 1).div_ceil(BARS_MAX);
        let count = (high - low) / step + 1;
        let mut bars: Vec<Bar> = (0..count)
            .map(|at| Bar {
                label: whole_label(low + at * step, step),
                nodes: 0,
            })
            .collect();
        for value in reached() {
            bars[((value - low) / step) as usize].nodes += 1;
        }
        Self { bars }
    }

    fn real(values: &[f32]) -> Self {
        let finite = || {
            values
                .iter()
                .copied()
                .filter(|value| value.is_finite())
                .map(f64::from)
        };
        let low = finite().fold(f64::INFINITY, f64::min);
        let high = finite().fold(f64::NEG_INFINITY, f64::max);
        if low > high {
            return Self { bars: Vec::new() };
        }
        let step = if high > low {
            (high - low) / BARS_MAX as f64
        } else {
            1.0
        };
        let last = if high > low { BARS_MAX - 1 } else { 0 };
        let mut bars: Vec<Bar> = (0..=last)
            .map(|at| Bar {
                label: format!("{:.3e}", low + at as f64 * step),
                nodes: 0,
            })
            .collect();
        for value in finite() {
            let at = ((value - low) / step) as u64;
            bars[at.min(last) as usize].nodes += 1;
        }
        Self { bars }
    }

    /// Nodes by the size of their component, a bar for each power of two.
    fn sizes(labels: &[u32]) -> Self {
        let mut sizes = vec![0u64; labels.len()];
        for &label in labels {
            if let Some(size) = sizes.get_mut(label as usize) {
                *size += 1;
            }
        }
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let bars = (0..=largest.checked_ilog2().unwrap_or(0))
            .map(|log| {
                let nodes = sizes
                    .iter()
                    .filter(|size| size.checked_ilog2() == Some(log))
                    .sum();
                Bar {
                    label: whole_label(1 << log, 1 << log),
                    nodes,
                }
            })
            .collect();
        Self { bars }
    }

    fn highest(&self) -> u64 {
        self.bars.iter().map(|bar| bar.nodes).max().unwrap_or(0)
    }
}

fn whole_label(low: u64, step: u64) -> String {
    if step == 1 {
        low.to_string()
    } else {
        format!("{low} to {}", low.saturating_add(step - 1))
    }
}

fn titles(analysis: AnalysisKind) -> (&'static str, &'static str) {
    match analysis {
        AnalysisKind::Bfs => ("Frontier at each level", "level"),
        AnalysisKind::Reach => ("Nodes reached", "0 is not reached, 1 is reached"),
        AnalysisKind::Cc => (
            "Nodes by the size of their component",
            "nodes in the component",
        ),
        AnalysisKind::Sssp => ("Nodes by distance", "distance"),
        AnalysisKind::Pagerank => ("Nodes by rank", "rank"),
        AnalysisKind::Kcore => ("Nodes by core number", "core number"),
        AnalysisKind::Triangles => ("Nodes by triangles", "triangles at the node"),
    }
}

/// Draws the picture as SVG.
///
/// # Errors
/// When `out` fails.
pub fn write(outcome: &RunOutcome, out: &mut dyn Write) -> io::Result<()> {
    let histogram = Histogram::of(outcome);
    let (title, axis) = match outcome.values {
        Column::Sets(_) => ("Nodes by the sources that reach them", "sources"),
        _ => titles(outcome.analysis),
    };
    let mut canvas = Canvas::begin(out, WIDTH, HEIGHT)?;
    canvas.text("title", (LEFT, 28.0), Anchor::Start, title)?;
    let (floor, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    canvas.line("axis", (LEFT, floor), (right, floor))?;
    canvas.line("axis", (LEFT, TOP), (LEFT, floor))?;
    canvas.text(
        "faint",
        (LEFT - 8.0, TOP + 4.0),
        Anchor::End,
        &Count(histogram.highest()).to_string(),
    )?;
    canvas.text("faint", (LEFT - 8.0, floor), Anchor::End, "0 nodes")?;
    canvas.text(
        "faint",
        ((LEFT + right) / 2.0, HEIGHT - 12.0),
        Anchor::Middle,
        axis,
    )?;
    draw_bars(&histogram, &mut canvas)?;
    canvas.end()
}

fn draw_bars(histogram: &Histogram, canvas: &mut Canvas<'_>) -> io::Result<()> {
    let pitch = (WIDTH - LEFT - RIGHT) / histogram.bars.len().max(1) as f64;
    let floor = HEIGHT - BOTTOM;
    let highest = histogram.highest().max(1) as f64;
    let last = histogram.bars.len().saturating_sub(1);
    for (at, bar) in histogram.bars.iter().enumerate() {
        let height = (floor - TOP) * bar.nodes as f64 / highest;
        let x = LEFT + pitch * at as f64;
        let area = Area {
            x: x + pitch * 0.05,
            y: floor - height,
            width: pitch * 0.9,
            height,
        };
        canvas.area(
            "bar",
            area,
            &format!("{}: {} nodes", bar.label, Count(bar.nodes)),
        )?;
        if at == 0 || at == last {
            canvas.text(
                "faint",
                (x + pitch / 2.0, floor + 18.0),
                Anchor::Middle,
                &bar.label,
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::text::tests::outcome;

    fn counts(histogram: &Histogram) -> Vec<u64> {
        histogram.bars.iter().map(|bar| bar.nodes).collect()
    }

    #[test]
    fn a_search_shows_its_frontiers() {
        assert_eq!(counts(&Histogram::of(&outcome())), [1, 2]);
    }

    #[test]
    fn every_reached_node_is_in_a_bar_however_wide_the_range() {
        for high in [0, 1, 159, 160, 161, 100_000, u32::MAX - 1] {
            let histogram = Histogram::whole(&[0, high, high / 2, u32::MAX]);
            assert!(histogram.bars.len() as u64 <= BARS_MAX);
            assert_eq!(counts(&histogram).iter().sum::<u64>(), 3);
        }
    }

    #[test]
    fn ranks_fill_bars_and_nonsense_is_left_out() {
        assert_eq!(counts(&Histogram::real(&[0.5, 0.5])), [2]);
        let wide = Histogram::real(&[0.0, 1.0, f32::NAN, f32::MAX, f32::MIN]);
        assert_eq!(counts(&wide).iter().sum::<u64>(), 4);
        assert!(Histogram::real(&[f32::NAN]).bars.is_empty());
    }

    #[test]
    fn components_are_grouped_by_size() {
        assert_eq!(counts(&Histogram::sizes(&[0, 1, 1, 1, 4])), [2, 3]);
    }

    #[test]
    fn the_picture_is_one_closed_element() {
        for values in [vec![], vec![u32::MAX], vec![3, 4]] {
            let mut bytes = Vec::new();
            write(
                &RunOutcome {
                    values: Column::U32(values),
                    ..outcome()
                },
                &mut bytes,
            )
            .unwrap();
            let text = String::from_utf8(bytes).unwrap();
            assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
            assert!(!text.contains("NaN") && !text.contains("inf"));
        }
    }
}
