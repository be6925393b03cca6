//! The groups of a program as text, as a Graphviz graph and as a picture: those of a loop's body
//! follow the group that the loop is in.

use std::io::{self, Write};

use super::printable;
use crate::canvas::{Anchor, Area, Canvas, PictureFormat};
use seawall::program::{EncodedProgram, PlanSummary};
use seawall::units::{bytes, counted};
use seawall_core::abi::program::{FixpointRecord, Opcode, WaveRecord};
use std::ops::Range;

/// A group of a program.
pub struct GroupView {
    /// Its number in the program's tables.
    pub number: u32,
    /// Names of its waves.
    pub waves: Vec<String>,
    /// Name of the loop whose body it is in.
    pub body_of: Option<String>,
    /// Loops around it.
    depth: usize,
    /// Bytes that the planner counted for it.
    bytes: u64,
    /// The last group of an iteration of the loop, if this is the first.
    repeats_from: Option<u32>,
}

/// The groups of `encoded`, each followed by the bodies of its loops.
pub fn groups(encoded: &EncodedProgram) -> Vec<GroupView> {
    let mut found = Vec::with_capacity(encoded.groups.len());
    add(encoded, 0..encoded.top_groups, None, 0, &mut found);
    found
}

fn add(
    encoded: &EncodedProgram,
    range: Range<u32>,
    body_of: Option<&str>,
    depth: usize,
    found: &mut Vec<GroupView>,
) {
    let ends = range.end.saturating_sub(1);
    for number in range.clone() {
        let Some(group) = encoded.groups.get(number as usize) else {
            return;
        };
        let waves = encoded.waves.iter().skip(group.first_wave as usize);
        let waves: Vec<&WaveRecord> = waves.take(group.waves as usize).collect();
        let name = |wave: &WaveRecord| {
            let name = encoded.wave_names.get(wave.wave as usize);
            printable(name.map_or("", String::as_str)).into_owned()
        };
        let is_first = body_of.is_some() && number == range.start;
        found.push(GroupView {
            number,
            waves: waves.iter().map(|wave| name(wave)).collect(),
            body_of: body_of.map(str::to_owned),
            depth,
            bytes: encoded
                .group_bytes
                .get(number as usize)
                .copied()
                .unwrap_or(0),
            repeats_from: is_first.then_some(ends),
        });
        for wave in waves.iter().filter(|wave| is_loop(wave)) {
            let body = FixpointRecord::from_parameters(wave.parameters);
            let groups = body.first_group..body.first_group.saturating_add(body.groups);
            // Bodies lie behind the groups of their loops.
            if groups.start > number {
                add(encoded, groups, Some(&name(wave)), depth + 1, found);
            }
        }
    }
}

fn is_loop(wave: &WaveRecord) -> bool {
    [Opcode::Fixpoint as u32, Opcode::While as u32].contains(&wave.opcode)
}

fn title(summary: &PlanSummary) -> String {
    let count = counted(u64::from(summary.groups), "group");
    let barriers = counted(u64::from(summary.global_barriers), "barrier");
    format!(
        "{count}, {barriers} between them, {} bytes of registers",
        summary.arena_bytes
    )
}

/// Writes a line for each group.
///
/// # Errors
/// If `out` fails.
pub fn text(groups: &[GroupView], summary: &PlanSummary, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", title(summary))?;
    for group in groups {
        let indent = "  ".repeat(group.depth);
        let body = group.body_of.as_deref();
        let body = body.map_or_else(String::new, |body| format!(" (body of {body})"));
        let waves = group.waves.join(", ");
        writeln!(out, "  {indent}group {:<3} {waves}{body}", group.number)?;
    }
    Ok(())
}

/// Writes the groups for `dot`: a cluster for each, and one around the body of a loop.
///
/// # Errors
/// If `out` fails.
pub fn dot(groups: &[GroupView], summary: &PlanSummary, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "digraph program {{")?;
    writeln!(out, "  label=\"{}\";", quoted(&title(summary)))?;
    writeln!(
        out,
        "  rankdir=LR; compound=true; fontname=\"sans-serif\"; newrank=true;"
    )?;
    writeln!(
        out,
        "  node [shape=box, style=filled, fillcolor=\"#d7e8f7\", fontname=\"sans-serif\"];"
    )?;
    // The numbers of the last groups of open bodies.
    let mut open: Vec<u32> = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        if let (Some(end), Some(body)) = (group.repeats_from, &group.body_of) {
            open.push(end);
            writeln!(out, "  subgraph cluster_body_{} {{", group.number)?;
            let label = quoted(&format!("repeats: body of {body}"));
            writeln!(out, "  label=\"{label}\"; style=dashed; color=\"#c2571a\";")?;
        }
        writeln!(out, "  subgraph cluster_{} {{", group.number)?;
        let label = format!("group {}\\n{}", group.number, bytes(group.bytes));
        writeln!(
            out,
            "    style=solid; color=\"#7d8fa0\"; label=\"{label}\";"
        )?;
        if group.waves.is_empty() {
            writeln!(out, "    g{}w0 [label=\"\", shape=point];", group.number)?;
        }
        for (wave, name) in group.waves.iter().enumerate() {
            writeln!(
                out,
                "    g{}w{wave} [label=\"{}\"];",
                group.number,
                quoted(name)
            )?;
        }
        writeln!(out, "  }}")?;
        // A body ends with its last group.
        let next_depth = groups.get(at + 1).map_or(0, |next| next.depth);
        while open.len() > next_depth {
            open.pop();
            writeln!(out, "  }}")?;
        }
    }
    for pair in groups.windows(2) {
        arrow(out, pair[0].number, pair[1].number, "")?;
    }
    for group in groups {
        if let Some(end) = group.repeats_from {
            arrow(out, end, group.number, ", style=dashed, constraint=false")?;
        }
    }
    writeln!(out, "}}")
}

fn arrow(out: &mut dyn Write, from: u32, to: u32, more: &str) -> io::Result<()> {
    writeln!(
        out,
        "  g{from}w0 -> g{to}w0 [ltail=cluster_{from}, lhead=cluster_{to}{more}];"
    )
}

/// Escapes the characters that end a Graphviz string.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

const WIDTH: f64 = 170.0;
const PITCH: f64 = 210.0;
const BOX: f64 = 28.0;
const ROW: f64 = 36.0;
const MARGIN: f64 = 10.0;
const LEFT: f64 = 30.0;
const HEADING: f64 = 60.0;
/// Space above the boxes of a column, for its captions.
const CAPTIONS: f64 = 48.0;
/// Space under the columns of a band, for the arrows of loops.
const BELOW: f64 = 60.0;
/// Columns of a band.
const COLUMNS: usize = 7;

/// Draws the groups as SVG: a column for each, in order, groups of bodies in a coloured frame, with
/// an arrow back to the beginning.
///
/// # Errors
/// If `out` fails.
pub fn svg(groups: &[GroupView], summary: &PlanSummary, out: &mut dyn Write) -> io::Result<()> {
    let bands: Vec<&[GroupView]> = groups.chunks(COLUMNS).collect();
    let heights = bands.iter().map(|band| band_height(band));
    let height = heights.fold(HEADING, |sum, height| sum + height);
    let columns = groups.len().clamp(1, COLUMNS) as f64;
    let width = (LEFT * 2.0 + PITCH * columns).max(480.0);
    let mut canvas = Canvas::begin(out, PictureFormat::Svg, (width, height))?;
    canvas.text("title", (LEFT, 28.0), Anchor::Start, &title(summary))?;
    let mut top = HEADING;
    for band in bands {
        draw_band(band, top, &mut canvas)?;
        top += band_height(band);
    }
    canvas.end()
}

fn rows(band: &[GroupView]) -> f64 {
    let rows = band.iter().map(|group| group.waves.len()).max();
    rows.unwrap_or(0).max(1) as f64
}

fn band_height(band: &[GroupView]) -> f64 {
    CAPTIONS + ROW * rows(band) + BELOW
}

fn draw_band(band: &[GroupView], top: f64, canvas: &mut Canvas<'_>) -> io::Result<()> {
    let bottom = top + CAPTIONS + ROW * rows(band);
    let x = |column: usize| LEFT + PITCH * column as f64;
    for (column, group) in band.iter().enumerate() {
        draw_group(group, x(column), top, canvas)?;
        if column > 0 {
            let line = x(column) - (PITCH - WIDTH) / 2.0;
            canvas.line("barrier", (line, top + 6.0), (line, bottom - 6.0))?;
        }
        let Some(end) = group.repeats_from else {
            continue;
        };
        let last = band.iter().position(|other| other.number == end);
        // A part of a body in another band repeats the caption.
        let last = last.unwrap_or(band.len() - 1).max(column);
        let under = bottom + 8.0 + 10.0 * group.depth as f64;
        let (from, to) = (x(last) + WIDTH - 20.0, x(column) + 20.0);
        let corners = [(from, bottom), (from, under), (to, under), (to, bottom)];
        let body = group.body_of.as_deref().unwrap_or_default();
        canvas.arrow("edge", &corners, &format!("{body} repeats"))?;
    }
    Ok(())
}

fn draw_group(group: &GroupView, x: f64, top: f64, canvas: &mut Canvas<'_>) -> io::Result<()> {
    let rows = group.waves.len().max(1) as f64;
    let frame = Area {
        x,
        y: top,
        width: WIDTH,
        height: CAPTIONS + ROW * rows - (ROW - BOX) + MARGIN,
    };
    let caption = format!("group {}: {}", group.number, bytes(group.bytes));
    let class = if group.body_of.is_some() {
        "body"
    } else {
        "group"
    };
    canvas.area(class, frame, &caption)?;
    let (middle, space) = (x + WIDTH / 2.0, WIDTH - 2.0 * MARGIN);
    let at = |y: f64| (middle, top + y);
    canvas.label("faint", at(17.0), space, Anchor::Middle, &caption)?;
    if let Some(body) = &group.body_of {
        canvas.label(
            "faint",
            at(35.0),
            space,
            Anchor::Middle,
            &format!("body of {body}"),
        )?;
    }
    for (row, name) in group.waves.iter().enumerate() {
        let area = Area {
            x: x + MARGIN,
            y: top + CAPTIONS + ROW * row as f64,
            width: space,
            height: BOX,
        };
        canvas.area("box", area, name)?;
        let at = (middle, area.y + 18.0);
        canvas.label("name", at, space - 8.0, Anchor::Middle, name)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use seawall::program::{GraphSize, PlanRequest, read_text};

    type Writer = fn(&[GroupView], &PlanSummary, &mut dyn Write) -> io::Result<()>;

    /// A nested loop with names that need escaping.
    fn written(write: Writer) -> String {
        let text = r#"{"version": 1, "registers": [
            {"name": "n", "kind": "u32", "count": 1, "keep": true},
            {"name": "m", "kind": "u32", "count": 1, "keep": true}],
          "waves": [
            {"wave": "fill", "name": "start \"<b>", "to": "n", "value": 3},
            {"wave": "fill", "to": "m", "value": 3},
            {"wave": "while", "name": "outer", "register": "n", "body": [
              {"wave": "while", "name": "inner", "register": "m", "body": [
                {"wave": "fill", "name": "clear", "to": "m", "value": 0}]},
              {"wave": "fill", "name": "end", "to": "n", "value": 0}]}]}"#;
        let size = GraphSize { nodes: 4, edges: 0 };
        let read = read_text(text, size).unwrap();
        let (encoded, summary) = read.program.encode(&PlanRequest::default()).unwrap();
        let mut bytes = Vec::new();
        write(&groups(&encoded), &summary, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn bodies_follow_their_loops_in_every_form() {
        let text = written(text);
        let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
        assert!(place("outer\n") < place("end (body of outer)"));
        assert!(place("end (body of outer)") < place("clear (body of outer / inner)"));
        let dot = written(dot);
        assert_eq!(dot.matches("repeats: body of").count(), 2, "{dot}");
        assert_eq!(dot.matches('{').count(), dot.matches('}').count(), "{dot}");
        assert!(dot.contains("start \\\"<b>"), "{dot}");
        let svg = written(svg);
        let bodies = svg.matches("class=\"body\"").count();
        assert!(bodies >= 2, "{svg}");
        assert_eq!(svg.matches("repeats</title>").count(), 2, "{svg}");
        assert!(svg.contains("&lt;b&gt;") && !svg.contains("<b>"), "{svg}");
    }
}
