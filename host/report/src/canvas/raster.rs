//! Pictures as PNG. Text is in a fixed font that is part of the program, so that a host without fonts
//! has it too; letters beyond Latin are question marks.

use std::io::{self, Write};

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, RasterizedChar, get_raster};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, PathBuilder, Pixmap, PremultipliedColorU8, Rect,
    Stroke, StrokeDash, Transform,
};

use super::style::{Style, WHITE};
use super::{Anchor, Area, Colour, Point};

/// Pixels of a unit.
const SCALE: f64 = 2.0;

/// Most pixels of a side, so that a picture's memory is bounded.
const SIDE_MAX: f64 = 16384.0;

/// Length and half the width of an arrow's tip.
const TIP: (f64, f64) = (7.0, 3.5);

/// Places around a letter at which its halo is drawn, in pixels.
const HALO: [(i64, i64); 8] = [
    (-2, -2),
    (-2, 2),
    (2, -2),
    (2, 2),
    (-3, 0),
    (3, 0),
    (0, -3),
    (0, 3),
];

/// Pixels that are being drawn.
pub(super) struct Raster {
    map: Pixmap,
}

fn paint(colour: Colour) -> Paint<'static> {
    let [red, green, blue] = colour.0;
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, 255);
    paint.anti_alias = true;
    paint
}

fn scaled() -> Transform {
    Transform::from_scale(SCALE as f32, SCALE as f32)
}

impl Raster {
    pub(super) fn begin((width, height): (f64, f64)) -> io::Result<Self> {
        let side = |units: f64| (units * SCALE).ceil();
        let (width, height) = (side(width), side(height));
        let is_sound = |side: f64| (1.0..=SIDE_MAX).contains(&side);
        let map = (is_sound(width) && is_sound(height))
            .then(|| Pixmap::new(width as u32, height as u32))
            .flatten();
        let mut map = map.ok_or_else(|| {
            io::Error::other(format!(
                "a picture of {width} by {height} pixels is too large; write it as .svg"
            ))
        })?;
        map.fill(Color::WHITE);
        Ok(Self { map })
    }

    fn fill(&mut self, path: &tiny_skia::Path, colour: Colour) {
        let rule = FillRule::Winding;
        self.map
            .fill_path(path, &paint(colour), rule, scaled(), None);
    }

    fn stroke(&mut self, path: &tiny_skia::Path, style: Style) {
        let Some((colour, width)) = style.stroke.filter(|(_, width)| *width > 0.0) else {
            return;
        };
        let stroke = Stroke {
            width,
            line_cap: LineCap::Round,
            line_join: LineJoin::Round,
            dash: style
                .dash
                .and_then(|(dash, space)| StrokeDash::new(vec![dash, space], 0.0)),
            ..Stroke::default()
        };
        self.map
            .stroke_path(path, &paint(colour), &stroke, scaled(), None);
    }

    pub(super) fn area(&mut self, class: &str, area: Area) {
        let style = Style::of(class);
        if let Some(path) = rectangle(area) {
            if let Some(colour) = style.fill {
                self.fill(&path, colour);
            }
            self.stroke(&path, style);
        }
    }

    pub(super) fn patch(&mut self, area: Area, colour: Colour) {
        if let Some(path) = rectangle(area) {
            self.fill(&path, colour);
        }
    }

    pub(super) fn line(&mut self, class: &str, corners: &[Point]) {
        let mut path = PathBuilder::new();
        for (at, (x, y)) in corners.iter().enumerate() {
            match at {
                0 => path.move_to(*x as f32, *y as f32),
                _ => path.line_to(*x as f32, *y as f32),
            }
        }
        if let Some(path) = path.finish() {
            self.stroke(&path, Style::of(class));
        }
    }

    pub(super) fn arrow(&mut self, class: &str, corners: &[Point]) {
        self.line(class, corners);
        let Some(&(x, y)) = corners.last() else {
            return;
        };
        let before = corners.iter().rev().find(|corner| **corner != (x, y));
        let (Some(&(from_x, from_y)), Some((colour, _))) = (before, Style::of(class).stroke) else {
            return;
        };
        let (across, down) = (x - from_x, y - from_y);
        let length = (across * across + down * down).sqrt();
        let (along_x, along_y) = (across / length, down / length);
        let corner = |side: f64| {
            let (back, half) = (TIP.0, TIP.1 * side);
            (
                x - along_x * back - along_y * half,
                y - along_y * back + along_x * half,
            )
        };
        let (left, right) = (corner(1.0), corner(-1.0));
        let mut tip = PathBuilder::new();
        tip.move_to(x as f32, y as f32);
        tip.line_to(left.0 as f32, left.1 as f32);
        tip.line_to(right.0 as f32, right.1 as f32);
        tip.close();
        if let Some(tip) = tip.finish() {
            self.fill(&tip, colour);
        }
    }

    pub(super) fn circle(&mut self, class: &str, ((x, y), radius): (Point, f64), colour: Colour) {
        if let Some(path) = PathBuilder::from_circle(x as f32, y as f32, radius as f32) {
            self.fill(&path, colour);
            self.stroke(&path, Style::of(class));
        }
    }

    pub(super) fn text(&mut self, class: &str, ((x, y), anchor): (Point, Anchor), text: &str) {
        let style = Style::of(class);
        let (_, is_bold) = style.text.unwrap_or((12.0, false));
        let letters: Vec<RasterizedChar> =
            text.chars().filter_map(|it| letter(it, is_bold)).collect();
        let width: usize = letters.iter().map(RasterizedChar::width).sum();
        let share = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5,
            Anchor::End => 1.0,
        };
        let left = (x * SCALE - width as f64 * share).round() as i64;
        // Letters stand on the line at some four fifths of their height.
        let height = letters.first().map_or(0, RasterizedChar::height) as f64;
        let top = (y * SCALE - height * 0.8).round() as i64;
        if style.stroke.is_some() {
            for (across, down) in HALO {
                self.letters(&letters, (left + across, top + down), WHITE);
            }
        }
        self.letters(&letters, (left, top), style.fill.unwrap_or(WHITE));
    }

    fn letters(&mut self, letters: &[RasterizedChar], (left, top): (i64, i64), colour: Colour) {
        let mut left = left;
        for letter in letters {
            for (row, line) in (top..).zip(letter.rows()) {
                for (column, cover) in (left..).zip(line.iter()) {
                    self.blend((column, row), *cover, colour);
                }
            }
            left += letter.width() as i64;
        }
    }

    /// Covers a pixel by a share of 255 with a colour; outside of the picture there is none.
    fn blend(&mut self, (column, row): (i64, i64), cover: u8, colour: Colour) {
        let size = (i64::from(self.map.width()), i64::from(self.map.height()));
        if cover == 0 || !(0..size.0).contains(&column) || !(0..size.1).contains(&row) {
            return;
        }
        let at = (row * size.0 + column) as usize;
        let Some(pixel) = self.map.pixels_mut().get_mut(at) else {
            return;
        };
        let mixed = |below: u8, above: u8| {
            let (below, above, cover) = (u32::from(below), u32::from(above), u32::from(cover));
            ((below * (255 - cover) + above * cover) / 255) as u8
        };
        let [red, green, blue] = colour.0;
        let mixed = PremultipliedColorU8::from_rgba(
            mixed(pixel.red(), red),
            mixed(pixel.green(), green),
            mixed(pixel.blue(), blue),
            255,
        );
        *pixel = mixed.unwrap_or(*pixel);
    }

    pub(super) fn end(self, out: &mut dyn Write) -> io::Result<()> {
        let bytes = self.map.encode_png().map_err(io::Error::other)?;
        out.write_all(&bytes)
    }
}

fn rectangle(area: Area) -> Option<tiny_skia::Path> {
    let Area {
        x,
        y,
        width,
        height,
    } = area;
    let area = Rect::from_xywh(x as f32, y as f32, width as f32, height as f32)?;
    Some(PathBuilder::from_rect(area))
}

/// A letter, or what stands for it.
fn letter(letter: char, is_bold: bool) -> Option<RasterizedChar> {
    let (weight, height) = match is_bold {
        true => (FontWeight::Bold, RasterHeight::Size32),
        false => (FontWeight::Regular, RasterHeight::Size20),
    };
    let alike = match letter {
        '…' => '.',
        '–' | '—' => '-',
        '“' | '”' => '"',
        '’' => '\'',
        other => other,
    };
    get_raster(alike, weight, height).or_else(|| get_raster('?', weight, height))
}
