//! Pictures of boxes, lines, circles and text, as SVG or as PNG.
//!
//! They are self-contained: no script, no font and no style from elsewhere.

mod raster;
mod style;
mod svg;

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use raster::Raster;
pub(super) use svg::Escaped;
use svg::Svg;

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
pub enum Anchor {
    /// The text begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

/// A rectangle in user units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Its left side.
    pub x: f64,
    /// Its upper side.
    pub y: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

/// A place in user units.
pub type Point = (f64, f64);

/// Formats of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// Vectors.
    Svg,
    /// Pixels, two for each unit.
    Png,
}

/// What the name of a picture must be, for a refusal.
pub const NAMED: &str = "pictures are SVG or PNG; end the name in .svg or .png";

impl PictureFormat {
    /// The format by the suffix of a file; `None` for others.
    pub fn of(path: &Path) -> Option<Self> {
        let suffix = path.extension()?.to_str()?;
        match () {
            () if suffix.eq_ignore_ascii_case("svg") => Some(Self::Svg),
            () if suffix.eq_ignore_ascii_case("png") => Some(Self::Png),
            () => None,
        }
    }
}

/// A picture that is being drawn.
pub struct Canvas<'a> {
    out: &'a mut dyn Write,
    surface: Surface,
}

enum Surface {
    Svg(Svg),
    Raster(Raster),
}

impl<'a> Canvas<'a> {
    /// Starts a picture of this size on white.
    pub fn begin(
        out: &'a mut dyn Write,
        format: PictureFormat,
        (width, height): (f64, f64),
    ) -> io::Result<Self> {
        let surface = match format {
            PictureFormat::Svg => Surface::Svg(Svg::begin(out, (width, height))?),
            PictureFormat::Png => Surface::Raster(Raster::begin((width, height))?),
        };
        Ok(Self { out, surface })
    }

    /// A box of a style class, with a text that appears on hover.
    pub fn area(&mut self, class: &str, area: Area, hint: &str) -> io::Result<()> {
        match &mut self.surface {
            Surface::Svg(svg) => svg.area(self.out, class, area, hint),
            Surface::Raster(raster) => {
                raster.area(class, area);
                Ok(())
            }
        }
    }

    /// A straight line of a style class.
    pub fn line(&mut self, class: &str, from: Point, to: Point) -> io::Result<()> {
        match &mut self.surface {
            Surface::Svg(svg) => svg.line(self.out, class, from, to),
            Surface::Raster(raster) => {
                raster.line(class, &[from, to]);
                Ok(())
            }
        }
    }

    /// Straight lines of a style class through `corners` that end in an arrow, with a text that
    /// appears on hover.
    pub(super) fn arrow(&mut self, class: &str, corners: &[Point], hint: &str) -> io::Result<()> {
        match &mut self.surface {
            Surface::Svg(svg) => svg.arrow(self.out, class, corners, hint),
            Surface::Raster(raster) => {
                raster.arrow(class, corners);
                Ok(())
            }
        }
    }

    /// A circle of a style class in a colour, with a text that appears on hover.
    pub(super) fn circle(
        &mut self,
        class: &str,
        (middle, radius): (Point, f64),
        colour: Colour,
        hint: &str,
    ) -> io::Result<()> {
        match &mut self.surface {
            Surface::Svg(svg) => svg.circle(self.out, class, (middle, radius), colour, hint),
            Surface::Raster(raster) => {
                raster.circle(class, (middle, radius), colour);
                Ok(())
            }
        }
    }

    /// A rectangle in a colour, without a border.
    pub(super) fn patch(&mut self, area: Area, colour: Colour) -> io::Result<()> {
        match &mut self.surface {
            Surface::Svg(svg) => svg.patch(self.out, area, colour),
            Surface::Raster(raster) => {
                raster.patch(area, colour);
                Ok(())
            }
        }
    }

    /// Text that is cut to `width` if it is longer; on hover it appears in full.
    pub fn label(
        &mut self,
        class: &str,
        at: Point,
        width: f64,
        anchor: Anchor,
        text: &str,
    ) -> io::Result<()> {
        let cut = fitted(text, width);
        match &mut self.surface {
            Surface::Svg(svg) if cut != text => {
                svg.hinted(self.out, class, (at, anchor), [&cut, text])
            }
            _ => self.text(class, at, anchor, &cut),
        }
    }

    /// Text of a style class.
    pub fn text(&mut self, class: &str, at: Point, anchor: Anchor, text: &str) -> io::Result<()> {
        match &mut self.surface {
            Surface::Svg(svg) => svg.text(self.out, class, (at, anchor), text),
            Surface::Raster(raster) => {
                raster.text(class, (at, anchor), text);
                Ok(())
            }
        }
    }

    /// Ends the picture.
    pub fn end(self) -> io::Result<()> {
        match self.surface {
            Surface::Svg(svg) => svg.end(self.out),
            Surface::Raster(raster) => raster.end(self.out),
        }
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
    fn a_png_of_a_class_of_pictures_has_its_size_and_its_colours() {
        let mut bytes = Vec::new();
        let mut canvas = Canvas::begin(&mut bytes, PictureFormat::Png, (60.0, 40.0)).unwrap();
        let area = Area {
            x: 10.0,
            y: 10.0,
            width: 20.0,
            height: 10.0,
        };
        canvas.patch(area, Colour([255, 0, 0])).unwrap();
        canvas
            .text("title", (2.0, 38.0), Anchor::Start, "…ä数")
            .unwrap();
        canvas
            .text("faint", (-500.0, 1e9), Anchor::Middle, "outside")
            .unwrap();
        canvas
            .arrow("edge", &[(1.0, 1.0), (50.0, 30.0), (50.0, 30.0)], "")
            .unwrap();
        canvas
            .circle("node", ((40.0, 8.0), 5.0), Colour([0, 0, 255]), "")
            .unwrap();
        canvas.end().unwrap();
        let map = tiny_skia::Pixmap::decode_png(&bytes).unwrap();
        assert_eq!((map.width(), map.height()), (120, 80));
        let at = |x, y| map.pixel(x, y).map(|it| (it.red(), it.green(), it.blue()));
        assert_eq!(at(40, 30), Some((255, 0, 0)));
        assert_eq!(at(80, 16), Some((0, 0, 255)));
        assert_eq!(at(0, 0), Some((255, 255, 255)));
    }

    #[test]
    fn the_suffix_decides_the_format() {
        let of = |path: &str| PictureFormat::of(Path::new(path));
        assert_eq!(of("a.svg"), Some(PictureFormat::Svg));
        assert_eq!(of("b/A.PNG"), Some(PictureFormat::Png));
        assert_eq!((of("svg"), of("a.jpg"), of("")), (None, None, None));
    }
}
