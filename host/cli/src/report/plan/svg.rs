//! The plan as a picture: a column a group, a line a barrier, an arrow a dependency.

use std::io::{self, Write};

use super::PlanView;
use crate::report::svg::{Anchor, Area, Canvas};
use seawall::units::{bytes, counted};

const BOX_WIDTH: f64 = 150.0;
const BOX_HEIGHT: f64 = 40.0;
const GAP: f64 = 12.0;
const COLUMN_PITCH: f64 = 240.0;
const LEFT: f64 = 30.0;
const TOP: f64 = 110.0;
/// Letters of a wave's name that fit its box.
const NAME_LETTERS: usize = 20;

/// Draws the plan as SVG. Linear in waves and dependencies.
///
/// # Errors
/// When `out` fails.
pub fn write(view: &PlanView<'_>, out: &mut dyn Write) -> io::Result<()> {
    let summary = view.groups.summary();
    let columns = view.groups.len().max(1) as f64;
    let rows = summary.max_group_width.max(1) as f64;
    let width = (LEFT * 2.0 + COLUMN_PITCH * (columns - 1.0) + BOX_WIDTH).max(460.0);
    let height = TOP + (BOX_HEIGHT + GAP) * rows + 30.0;
    let mut canvas = Canvas::begin(out, width, height)?;
    let title = format!(
        "{} in {}, {}",
        counted(view.dag.waves.len() as u64, "wave"),
        counted(view.groups.len() as u64, "group"),
        counted(summary.global_barriers, "global barrier")
    );
    canvas.text("title", (LEFT, 28.0), Anchor::Start, &title)?;
    let note = format!("largest group {}", bytes(summary.peak_group_bytes));
    canvas.text("faint", (LEFT, 48.0), Anchor::Start, &note)?;
    let places = columns_of(view, &mut canvas, height)?;
    arrows(view, &places, &mut canvas)?;
    canvas.end()
}

/// Draws groups and barriers; the result says where each wave's box begins.
fn columns_of(
    view: &PlanView<'_>,
    canvas: &mut Canvas<'_>,
    height: f64,
) -> io::Result<Vec<(f64, f64)>> {
    let mut places = vec![(0.0, 0.0); view.dag.waves.len()];
    for (number, group) in view.groups.iter().enumerate() {
        let x = LEFT + COLUMN_PITCH * number as f64;
        let body = (BOX_HEIGHT + GAP) * group.waves.len() as f64 - GAP;
        let frame = Area {
            x: x - 10.0,
            y: TOP - 38.0,
            width: BOX_WIDTH + 20.0,
            height: body + 48.0,
        };
        canvas.area("group", frame, &format!("group {number}"))?;
        let caption = format!("group {number}: {}", bytes(group.fused_bytes));
        canvas.text(
            "faint",
            (x + BOX_WIDTH / 2.0, TOP - 16.0),
            Anchor::Middle,
            &caption,
        )?;
        if number > 0 {
            let middle = x - (COLUMN_PITCH - BOX_WIDTH) / 2.0;
            canvas.line("barrier", (middle, TOP - 38.0), (middle, height - 20.0))?;
            canvas.text(
                "faint",
                (middle, TOP - 44.0),
                Anchor::Middle,
                &format!("barrier {number}"),
            )?;
        }
        for (row, &wave) in group.waves.iter().enumerate() {
            let y = TOP + (BOX_HEIGHT + GAP) * row as f64;
            if let Some(place) = places.get_mut(wave.index()) {
                *place = (x, y);
            }
            let label = view.label(wave);
            let size = bytes(view.fused_bytes(wave)).to_string();
            let area = Area {
                x,
                y,
                width: BOX_WIDTH,
                height: BOX_HEIGHT,
            };
            canvas.area("box", area, &format!("{label}: {size}"))?;
            let middle = x + BOX_WIDTH / 2.0;
            canvas.text(
                "name",
                (middle, y + 17.0),
                Anchor::Middle,
                &shortened(&label),
            )?;
            canvas.text("faint", (middle, y + 33.0), Anchor::Middle, &size)?;
        }
    }
    Ok(places)
}

fn arrows(view: &PlanView<'_>, places: &[(f64, f64)], canvas: &mut Canvas<'_>) -> io::Result<()> {
    for dependency in view.dag.dependencies {
        let from = places.get(dependency.before as usize);
        let to = places.get(dependency.after as usize);
        if let (Some(&(from_x, from_y)), Some(&(to_x, to_y))) = (from, to) {
            let start = (from_x + BOX_WIDTH, from_y + BOX_HEIGHT / 2.0);
            canvas.arrow(start, (to_x, to_y + BOX_HEIGHT / 2.0))?;
        }
    }
    Ok(())
}

fn shortened(label: &str) -> String {
    match label.char_indices().nth(NAME_LETTERS) {
        Some((end, _)) => format!("{}...", &label[..end]),
        None => label.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::written;

    #[test]
    fn every_wave_barrier_and_dependency_is_drawn() {
        let text = written(["load", "left", "right", "join"], super::write);
        assert_eq!(text.matches("class=\"box\"").count(), 4);
        assert_eq!(text.matches("class=\"barrier\"").count(), 2);
        assert_eq!(text.matches("class=\"edge\"").count(), 4);
        assert!(text.ends_with("</svg>\n"));
    }

    #[test]
    fn names_are_escaped_and_cut() {
        let text = written(
            ["<b>", "ein ziemlich langer Name für eine Welle", "c", "d"],
            super::write,
        );
        assert!(text.contains("0 &lt;b&gt;") && !text.contains("<b>"));
        assert!(text.contains("1 ein ziemlich lange...<"));
    }
}
