//! Pictures as SVG.

use std::fmt;
use std::io::{self, Write};

use super::style::{LINES, ORANGE, PURPLE, STYLES, Style};
use super::{Anchor, Area, Colour, Point};

/// Escapes text for XML: markup is escaped, control characters become `?`.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                _ if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                    f.write_char('?')?;
                }
                _ => f.write_char(letter)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

/// Tips of arrows, by the colours of their lines. Arrows in other colours have the first.
const TIPS: [(&str, Colour); 3] = [("tip", LINES), ("tip-way", ORANGE), ("tip-back", PURPLE)];

/// An element that is being written.
pub(super) struct Svg;

impl Svg {
    pub(super) fn begin(out: &mut dyn Write, (width, height): (f64, f64)) -> io::Result<Self> {
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">"
        )?;
        write!(out, "<style>text{{font-family:system-ui,sans-serif}}")?;
        for style in STYLES {
            write!(out, "{style}")?;
        }
        writeln!(out, "</style>")?;
        write!(out, "<defs>")?;
        for (tip, colour) in TIPS {
            write!(
                out,
                "<marker id=\"{tip}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"{colour}\"/></marker>"
            )?;
        }
        writeln!(out, "</defs>")?;
        writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>")?;
        Ok(Self)
    }

    pub(super) fn area(
        &self,
        out: &mut dyn Write,
        class: &str,
        area: Area,
        hint: &str,
    ) -> io::Result<()> {
        let class = Style::of(class).class;
        let Area {
            x,
            y,
            width,
            height,
        } = area;
        write!(
            out,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"3\">"
        )?;
        writeln!(out, "<title>{}</title></rect>", Escaped(hint))
    }

    pub(super) fn line(
        &self,
        out: &mut dyn Write,
        class: &str,
        from: Point,
        to: Point,
    ) -> io::Result<()> {
        let class = Style::of(class).class;
        writeln!(
            out,
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            from.0, from.1, to.0, to.1
        )
    }

    pub(super) fn arrow(
        &self,
        out: &mut dyn Write,
        class: &str,
        corners: &[Point],
        hint: &str,
    ) -> io::Result<()> {
        let Style { class, stroke, .. } = Style::of(class);
        let of_colour = |(_, tip): &&(&str, Colour)| stroke.is_some_and(|(line, _)| line == *tip);
        let (tip, _) = TIPS.iter().find(of_colour).unwrap_or(&TIPS[0]);
        write!(
            out,
            "<polyline class=\"{class}\" marker-end=\"url(#{tip})\" points=\""
        )?;
        for (at, (x, y)) in corners.iter().enumerate() {
            let between = if at > 0 { " " } else { "" };
            write!(out, "{between}{x:.1},{y:.1}")?;
        }
        writeln!(out, "\"><title>{}</title></polyline>", Escaped(hint))
    }

    pub(super) fn circle(
        &self,
        out: &mut dyn Write,
        class: &str,
        ((x, y), radius): (Point, f64),
        colour: Colour,
        hint: &str,
    ) -> io::Result<()> {
        let class = Style::of(class).class;
        writeln!(
            out,
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{colour}\"><title>{}</title></circle>",
            Escaped(hint)
        )
    }

    pub(super) fn patch(&self, out: &mut dyn Write, area: Area, colour: Colour) -> io::Result<()> {
        let Area {
            x,
            y,
            width,
            height,
        } = area;
        writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\"/>"
        )
    }

    /// The first of two texts; the second appears on hover.
    pub(super) fn hinted(
        &self,
        out: &mut dyn Write,
        class: &str,
        at: (Point, Anchor),
        [cut, text]: [&str; 2],
    ) -> io::Result<()> {
        write!(out, "<g><title>{}</title>", Escaped(text))?;
        self.text(out, class, at, cut)?;
        writeln!(out, "</g>")
    }

    pub(super) fn text(
        &self,
        out: &mut dyn Write,
        class: &str,
        ((x, y), anchor): (Point, Anchor),
        text: &str,
    ) -> io::Result<()> {
        let class = Style::of(class).class;
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        writeln!(
            out,
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            Escaped(text)
        )
    }

    pub(super) fn end(self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "</svg>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_leave_its_element() {
        let hostile = Escaped("</text><script>\"&\u{1b}[31m");
        assert_eq!(
            hostile.to_string(),
            "&lt;/text&gt;&lt;script&gt;&quot;&amp;?[31m"
        );
    }
}
