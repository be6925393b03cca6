//! Just enough SVG to draw boxes, lines and text.
//!
//! Pictures are self-contained: no script, no font and no style from elsewhere.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

/// Escapes text for XML: markup is escaped, control characters become `?`.
pub(super) struct Escaped<'a>(pub(super) &'a str);

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

/// Upper bound of a letter's width in parts of the font's size: fonts differ, and the reader's is
/// not known.
fn letter_width(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '|' | '!' | '\'' | ' ' => 0.36,
        'f' | 't' | 'r' | '(' | ')' | '-' | '/' => 0.45,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.98,
        'A'..='Z' | '_' | '&' => 0.76,
        _ if letter.is_ascii() => 0.62,
        _ => 1.0,
    }
}

/// Upper bound of the width of `text` in a font of this size.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().map(letter_width).sum::<f64>() * size
}

/// Cuts `text` with an ellipsis if it is wider than `width`.
pub(super) fn fitted(text: &str, width: f64) -> Cow<'_, str> {
    if text_width(text, TEXT_SIZE) <= width {
        return Cow::Borrowed(text);
    }
    let mut left = width - text_width("…", TEXT_SIZE);
    let front = text.chars().take_while(|letter| {
        left -= letter_width(*letter) * TEXT_SIZE;
        left >= 0.0
    });
    let front: String = front.collect();
    Cow::Owned(format!("{}…", front.trim_end()))
}

/// Size of plain text in user units.
pub(super) const TEXT_SIZE: f64 = 12.0;

/// Alignment of text at its anchor point.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A rectangle in user units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// A picture that is being drawn.
pub(crate) struct Canvas<'a> {
    out: &'a mut dyn Write,
}

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#1b2733}\
.title{font-size:16px;font-weight:600}.faint{fill:#5b6b7a}\
.box{fill:#d7e8f7;stroke:#2f6f9f}.group{fill:#f5f8fb;stroke:#c3d0dc}.bar{fill:#2f6f9f}.body{fill:#fdf3e7;stroke:#c2571a;stroke-dasharray:5 3}\
.edge{fill:none;stroke:#7d8fa0;stroke-linejoin:round}.barrier{stroke:#c2571a;stroke-width:3}.axis{stroke:#7d8fa0}";

impl<'a> Canvas<'a> {
    /// Starts a picture of this size on white.
    pub(crate) fn begin(out: &'a mut dyn Write, width: f64, height: f64) -> io::Result<Self> {
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">"
        )?;
        writeln!(out, "<style>{STYLE}</style>")?;
        writeln!(
            out,
            "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#7d8fa0\"/></marker></defs>"
        )?;
        writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>")?;
        Ok(Self { out })
    }

    /// A box of a style class, with a text that appears on hover.
    pub(crate) fn area(&mut self, class: &str, area: Area, hint: &str) -> io::Result<()> {
        let Area {
            x,
            y,
            width,
            height,
        } = area;
        write!(
            self.out,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"3\">"
        )?;
        writeln!(self.out, "<title>{}</title></rect>", Escaped(hint))
    }

    /// A straight line of a style class.
    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) -> io::Result<()> {
        writeln!(
            self.out,
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            from.0, from.1, to.0, to.1
        )
    }

    /// Straight lines through `corners` that end in an arrow, with a text that appears on hover.
    pub(super) fn arrow(&mut self, corners: &[(f64, f64)], hint: &str) -> io::Result<()> {
        write!(
            self.out,
            "<polyline class=\"edge\" marker-end=\"url(#tip)\" points=\""
        )?;
        for (at, (x, y)) in corners.iter().enumerate() {
            let between = if at > 0 { " " } else { "" };
            write!(self.out, "{between}{x:.1},{y:.1}")?;
        }
        writeln!(self.out, "\"><title>{}</title></polyline>", Escaped(hint))
    }

    /// Text that is cut to `width` if it is longer; on hover it appears in full.
    pub(crate) fn label(
        &mut self,
        class: &str,
        at: (f64, f64),
        width: f64,
        anchor: Anchor,
        text: &str,
    ) -> io::Result<()> {
        match fitted(text, width) {
            Cow::Borrowed(text) => self.text(class, at, anchor, text),
            Cow::Owned(cut) => {
                write!(self.out, "<g><title>{}</title>", Escaped(text))?;
                self.text(class, at, anchor, &cut)?;
                writeln!(self.out, "</g>")
            }
        }
    }

    /// Text of a style class.
    pub(crate) fn text(
        &mut self,
        class: &str,
        at: (f64, f64),
        anchor: Anchor,
        text: &str,
    ) -> io::Result<()> {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        writeln!(
            self.out,
            "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            at.0,
            at.1,
            Escaped(text)
        )
    }

    /// Ends the picture.
    pub(crate) fn end(self) -> io::Result<()> {
        writeln!(self.out, "</svg>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_fits_stays_and_others_end_in_an_ellipsis() {
        assert_eq!(fitted("load", 100.0), "load");
        assert_eq!(fitted("", 0.0), "");
        for text in [
            "a name that is too long",
            "WWWWWWWWWWWW",
            "数据流图数据流图",
        ] {
            let cut = fitted(text, 60.0);
            assert!(cut.ends_with('…'), "{cut}");
            assert!(text_width(&cut, TEXT_SIZE) <= 60.0, "{cut}");
        }
    }

    #[test]
    fn no_text_can_leave_its_element() {
        let hostile = Escaped("</text><script>\"&\u{1b}[31m");
        assert_eq!(
            hostile.to_string(),
            "&lt;/text&gt;&lt;script&gt;&quot;&amp;?[31m"
        );
    }
}
