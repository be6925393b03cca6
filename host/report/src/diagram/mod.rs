//! Boxes with lines of text and arrows between them, from top to bottom: parts of call graphs, and
//! the blocks of a function.

mod layers;

use std::borrow::Cow;
use std::io::{self, Write};

use super::canvas::{Anchor, Area, Canvas, PictureFormat, Point, TEXT_SIZE, text_width};
use layers::Layers;
use seawall::units::Count;

/// Most boxes of a diagram: more would be a picture of many screens.
pub const BOXES_MAX: usize = 512;
/// Most arrows of a diagram.
pub const ARROWS_MAX: usize = 1024;

/// Space around everything.
const MARGIN: f64 = 24.0;
/// Least width, for the heading.
const WIDTH_MIN: f64 = 760.0;
/// Height of a line of text.
const LINE: f64 = 15.0;
/// Space around the text of a box.
const INSET: (f64, f64) = (9.0, 6.0);
/// Least and most width of a box's text.
const TEXT: (f64, f64) = (48.0, 250.0);
/// Width of a letter in a PNG, whose letters are equally wide.
const LETTER: f64 = 5.6;
/// Space between a box and the ring around it.
const RING: f64 = 4.0;
/// Width and height of a sample of the legend.
const SAMPLE: (f64, f64) = (26.0, 12.0);
/// Space between the entries of the legend.
const APART: f64 = 22.0;
/// Width of a letter of the title in those of other text.
const TITLE: f64 = 1.6;

/// Kinds of boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxKind {
    /// A box like most.
    Plain,
    /// A function that is exported.
    Export,
    /// A function that is imported.
    Import,
    /// A choice among functions.
    Dispatch,
    /// A block that nothing follows.
    Exit,
    /// The box that the diagram is about.
    Subject,
}

/// Kinds of arrows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrowKind {
    /// An arrow like most.
    Plain,
    /// An arrow that closes a loop.
    Back,
    /// A step of a way.
    Way,
    /// A step of a way for which the graph has no edge.
    Gap,
}

/// A box.
#[derive(Clone, Debug)]
pub struct TextBox {
    /// Its kind.
    pub kind: BoxKind,
    /// Whether a way passes it.
    pub is_on_way: bool,
    /// Its text; the first line is its name.
    pub lines: Vec<String>,
    /// A text that appears on hover.
    pub hint: String,
}

/// An arrow.
#[derive(Clone, Debug)]
pub struct Arrow {
    /// The box where it begins.
    pub from: usize,
    /// The box where it ends.
    pub to: usize,
    /// Its kind.
    pub kind: ArrowKind,
}

/// Things that the legend explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Boxes of a kind.
    Box(BoxKind),
    /// Boxes on a way.
    OnWay,
    /// Arrows of a kind.
    Arrow(ArrowKind),
}

/// A diagram. Arrows to a box that is not later in the list close a loop and go up; the others go
/// down.
#[derive(Clone, Debug, Default)]
pub struct Diagram {
    /// Its title.
    pub title: String,
    /// Lines below the title: what is drawn, of which file, and when.
    pub notes: Vec<String>,
    /// The boxes.
    pub boxes: Vec<TextBox>,
    /// The arrows.
    pub arrows: Vec<Arrow>,
    /// Meanings of kinds; those that the diagram lacks are left out.
    pub legend: Vec<(Sample, &'static str)>,
}

/// Says why a diagram of this size is not drawn; `None` if it is.
#[must_use]
pub fn refusal(boxes: usize, arrows: usize) -> Option<String> {
    (boxes > BOXES_MAX || arrows > ARROWS_MAX).then(|| {
        let [boxes, arrows] = [boxes, arrows].map(|count| Count(count as u64));
        let [boxes_max, arrows_max] = [BOXES_MAX, ARROWS_MAX].map(|count| Count(count as u64));
        format!(
            "it has {boxes} blocks and {arrows} edges, and a drawing has at most {boxes_max} and {arrows_max}"
        )
    })
}

/// Draws a diagram of at most [`BOXES_MAX`] boxes and [`ARROWS_MAX`] arrows.
///
/// # Errors
/// If `out` fails, or a PNG would have too many pixels.
pub fn write(diagram: &Diagram, format: PictureFormat, out: &mut dyn Write) -> io::Result<()> {
    let drawing = Drawing::of(diagram);
    let mut canvas = Canvas::begin(out, format, drawing.size)?;
    drawing.draw_heading(&mut canvas)?;
    drawing.draw_boxes(&mut canvas)?;
    drawing.draw_arrows(&mut canvas)?;
    drawing.draw_legend(&mut canvas)?;
    canvas.end()
}

impl BoxKind {
    const fn class(self) -> &'static str {
        match self {
            Self::Plain => "box",
            Self::Export => "export",
            Self::Import | Self::Exit => "outer",
            Self::Dispatch => "dispatch",
            Self::Subject => "subject",
        }
    }
}

impl ArrowKind {
    const fn class(self) -> &'static str {
        match self {
            Self::Plain => "edge",
            Self::Back => "back",
            Self::Way => "way",
            Self::Gap => "gap",
        }
    }
}

/// A diagram with the places of everything.
struct Drawing<'a> {
    diagram: &'a Diagram,
    layers: Layers,
    /// Height at which the layers begin.
    corner: Point,
    /// Entries of the legend, each with the place of its sample.
    legend: Vec<(Point, Sample, &'static str)>,
    size: Point,
}

impl<'a> Drawing<'a> {
    fn of(diagram: &'a Diagram) -> Self {
        let sizes: Vec<Point> = diagram.boxes.iter().map(size).collect();
        let arrows = diagram.arrows.iter().map(|arrow| (arrow.from, arrow.to));
        let layers = Layers::of(&sizes, &arrows.collect::<Vec<_>>());
        let width = (layers.size.0 + 2.0 * MARGIN).max(WIDTH_MIN).ceil();
        let top = 24.0 + 18.0 * diagram.notes.len() as f64 + MARGIN;
        let corner = ((width - layers.size.0) / 2.0, top);
        let (legend, bottom) = legend(diagram, width, top + layers.size.1 + MARGIN);
        Self {
            diagram,
            layers,
            corner,
            legend,
            size: (width, bottom.ceil()),
        }
    }

    fn draw_heading(&self, canvas: &mut Canvas<'_>) -> io::Result<()> {
        let width = self.size.0 - 2.0 * MARGIN;
        let title = &self.diagram.title;
        let at = (MARGIN, 26.0);
        canvas.label("title", at, width / TITLE, Anchor::Start, title)?;
        for (line, note) in self.diagram.notes.iter().enumerate() {
            let at = (MARGIN, 46.0 + 18.0 * line as f64);
            canvas.label("faint", at, width, Anchor::Start, note)?;
        }
        Ok(())
    }

    /// The place of a box in the picture.
    fn area(&self, number: usize) -> Area {
        let area = self.layers.boxes[number];
        Area {
            x: area.x + self.corner.0,
            y: area.y + self.corner.1,
            ..area
        }
    }

    fn draw_boxes(&self, canvas: &mut Canvas<'_>) -> io::Result<()> {
        for (number, one) in self.diagram.boxes.iter().enumerate() {
            let area = self.area(number);
            if one.is_on_way {
                canvas.area("ring", ring(area), &one.hint)?;
            }
            canvas.area(one.kind.class(), area, &one.hint)?;
            for (line, text) in one.lines.iter().enumerate() {
                let class = if line == 0 { "name" } else { "fact" };
                let y = area.y + INSET.1 + LINE * line as f64 + 11.0;
                let at = (area.x + INSET.0, y);
                canvas.text(class, at, Anchor::Start, &cut(text))?;
            }
        }
        Ok(())
    }

    /// Draws the arrows; those of ways last, above the others.
    fn draw_arrows(&self, canvas: &mut Canvas<'_>) -> io::Result<()> {
        let kinds = [
            ArrowKind::Plain,
            ArrowKind::Back,
            ArrowKind::Gap,
            ArrowKind::Way,
        ];
        for kind in kinds {
            for (arrow, corners) in self.diagram.arrows.iter().zip(&self.layers.arrows) {
                if arrow.kind != kind {
                    continue;
                }
                let names = [arrow.from, arrow.to].map(|end| self.name(end));
                let corners = corners.iter();
                let moved = corners.map(|(x, y)| (x + self.corner.0, y + self.corner.1));
                let corners: Vec<Point> = moved.collect();
                canvas.arrow(kind.class(), &corners, &names.join(" → "))?;
            }
        }
        Ok(())
    }

    fn name(&self, number: usize) -> &str {
        let lines = &self.diagram.boxes[number].lines;
        lines.first().map_or("", String::as_str)
    }

    fn draw_legend(&self, canvas: &mut Canvas<'_>) -> io::Result<()> {
        for ((x, y), sample, text) in &self.legend {
            let area = Area {
                x: *x,
                y: y - 10.0,
                width: SAMPLE.0,
                height: SAMPLE.1,
            };
            let middle = area.y + area.height / 2.0;
            match sample {
                Sample::Box(kind) => canvas.area(kind.class(), area, text)?,
                Sample::OnWay => canvas.area("ring", area, text)?,
                Sample::Arrow(kind) => {
                    let ends = [(*x, middle), (x + SAMPLE.0, middle)];
                    canvas.arrow(kind.class(), &ends, text)?;
                }
            }
            let at = (x + SAMPLE.0 + 8.0, *y);
            canvas.text("faint", at, Anchor::Start, text)?;
        }
        Ok(())
    }
}

/// The text of a line, cut to the most width of a box.
fn cut(text: &str) -> Cow<'_, str> {
    if wide(text) <= TEXT.1 {
        return Cow::Borrowed(text);
    }
    let mut front = String::new();
    for letter in text.chars() {
        front.push(letter);
        if wide(&front) > TEXT.1 - TEXT_SIZE {
            front.pop();
            break;
        }
    }
    Cow::Owned(format!("{}…", front.trim_end()))
}

/// Width of a text in both formats.
fn wide(text: &str) -> f64 {
    text_width(text, TEXT_SIZE).max(LETTER * text.chars().count() as f64)
}

/// Width and height of a box.
fn size(one: &TextBox) -> Point {
    let widths = one.lines.iter().map(|line| wide(line));
    let width = widths.fold(TEXT.0, f64::max).min(TEXT.1);
    let height = LINE * one.lines.len().max(1) as f64;
    (width + 2.0 * INSET.0, height + 2.0 * INSET.1)
}

fn ring(area: Area) -> Area {
    Area {
        x: area.x - RING,
        y: area.y - RING,
        width: area.width + 2.0 * RING,
        height: area.height + 2.0 * RING,
    }
}

/// The entries of the legend below `top`, in lines, and the lower side of the picture.
fn legend(diagram: &Diagram, width: f64, top: f64) -> (Vec<(Point, Sample, &'static str)>, f64) {
    let is_drawn = |sample: Sample| match sample {
        Sample::Box(kind) => diagram.boxes.iter().any(|one| one.kind == kind),
        Sample::OnWay => diagram.boxes.iter().any(|one| one.is_on_way),
        Sample::Arrow(kind) => diagram.arrows.iter().any(|arrow| arrow.kind == kind),
    };
    let (mut x, mut y) = (MARGIN, top + 10.0);
    let mut entries = Vec::new();
    for (sample, text) in diagram
        .legend
        .iter()
        .filter(|(sample, _)| is_drawn(*sample))
    {
        let end = x + SAMPLE.0 + 8.0 + wide(text);
        if end > width - MARGIN && x > MARGIN {
            (x, y) = (MARGIN, y + 20.0);
        }
        entries.push(((x, y), *sample, *text));
        x += SAMPLE.0 + 8.0 + wide(text) + APART;
    }
    (entries, y + 18.0)
}
