//! The plan as a picture: one column per group, one line per barrier, one arrow per dependency.

use std::io::{self, Write};

use super::PlanView;
use super::layout::{BOX_WIDTH, ColumnOf, Layout, MARGIN, PITCH};
use crate::canvas::{Anchor, Canvas, PictureFormat};
use seawall::units::{bytes, counted};
use seawall_core::plan::WaveId;

/// Start of the heading.
const HEADING_LEFT: f64 = 20.0;

/// Draws the plan as SVG. Linear in waves and dependencies.
///
/// # Errors
/// [`std::io::Error`] of `out`.
pub fn write(view: &PlanView<'_>, out: &mut dyn Write) -> io::Result<()> {
    let layout = Layout::of(view.groups, view.dag.waves.len());
    let (width, height) = layout.size();
    let mut canvas = Canvas::begin(out, PictureFormat::Svg, (width, height))?;
    heading(view, &mut canvas)?;
    for column in &layout.columns {
        draw_column(view, &layout, column, &mut canvas)?;
    }
    arrows(view, &layout, &mut canvas)?;
    canvas.end()
}

fn heading(view: &PlanView<'_>, canvas: &mut Canvas<'_>) -> io::Result<()> {
    let summary = view.groups.summary();
    let title = format!(
        "{} in {}, {}",
        counted(view.dag.waves.len() as u64, "wave"),
        counted(view.groups.len() as u64, "group"),
        counted(summary.global_barriers, "global barrier")
    );
    canvas.text("title", (HEADING_LEFT, 28.0), Anchor::Start, &title)?;
    let note = format!("largest group {}", bytes(summary.peak_group_bytes));
    canvas.text("faint", (HEADING_LEFT, 48.0), Anchor::Start, &note)
}

/// Draws the barrier before a column, its frame and its boxes.
fn draw_column(
    view: &PlanView<'_>,
    layout: &Layout<'_>,
    column: &ColumnOf<'_>,
    canvas: &mut Canvas<'_>,
) -> io::Result<()> {
    let frame = layout.frame(column);
    let caption = caption(column);
    canvas.area("group", frame, &caption)?;
    let middle = (frame.x + frame.width / 2.0, frame.y + 17.0);
    let space = frame.width - 2.0 * MARGIN;
    canvas.label("faint", middle, space, Anchor::Middle, &caption)?;
    if column.group > 0 && column.is_first {
        barrier(view, layout, column, canvas)?;
    }
    let mut waves = column.waves.iter();
    waves.try_for_each(|wave| draw_wave(view, layout, *wave, canvas))
}

fn caption(column: &ColumnOf<'_>) -> String {
    if column.is_first {
        format!("group {}: {}", column.group, bytes(column.bytes))
    } else {
        format!("group {}, more waves", column.group)
    }
}

fn barrier(
    view: &PlanView<'_>,
    layout: &Layout<'_>,
    column: &ColumnOf<'_>,
    canvas: &mut Canvas<'_>,
) -> io::Result<()> {
    let [top, bottom] = layout.barrier(column);
    canvas.line("barrier", top, bottom)?;
    let label = match view.exchange_before(column.group) {
        Some(exchange) => format!("all devices: {}", bytes(exchange.received_bytes)),
        None => format!("barrier {}", column.group),
    };
    let space = (PITCH - BOX_WIDTH) - 2.0;
    canvas.label("faint", (top.0, top.1 - 8.0), space, Anchor::Middle, &label)
}

fn draw_wave(
    view: &PlanView<'_>,
    layout: &Layout<'_>,
    wave: WaveId,
    canvas: &mut Canvas<'_>,
) -> io::Result<()> {
    let Some(area) = layout.box_of(wave) else {
        return Ok(());
    };
    let label = view.label(wave);
    let size = bytes(view.fused_bytes(wave)).to_string();
    canvas.area("box", area, &format!("{label}: {size}"))?;
    let middle = area.x + area.width / 2.0;
    let space = area.width - 10.0;
    let at = (middle, area.y + 17.0);
    canvas.label("name", at, space, Anchor::Middle, &label)?;
    canvas.text("faint", (middle, area.y + 33.0), Anchor::Middle, &size)
}

fn arrows(view: &PlanView<'_>, layout: &Layout<'_>, canvas: &mut Canvas<'_>) -> io::Result<()> {
    for dependency in view.dag.dependencies {
        let (before, after) = (dependency.before, dependency.after);
        if let Some(corners) = layout.arrow(before as usize, after as usize) {
            let names = [before, after].map(|wave| view.label(WaveId(wave)));
            canvas.arrow("edge", &corners, &names.join(" → "))?;
        }
    }
    Ok(())
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
        assert!(text.contains("<title>1 ein ziemlich langer Name für eine Welle</title>"));
        assert!(text.contains(">1 ein ziemlich") && text.contains("…</text>"));
    }
}
