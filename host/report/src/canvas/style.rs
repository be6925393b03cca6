//! Styles of elements, by class: one table for both formats.

use std::fmt;

use super::Colour;

/// The look of a class.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub(super) class: &'static str,
    /// Colour of the inside, or of text.
    pub(super) fill: Option<Colour>,
    /// Colour and width of the line.
    pub(super) stroke: Option<(Colour, f32)>,
    /// Lengths of dashes and of the spaces between them.
    pub(super) dash: Option<(f32, f32)>,
    /// Height of text and whether it is bold.
    pub(super) text: Option<(f32, bool)>,
}

const INK: Colour = Colour([0x1b, 0x27, 0x33]);
const GREY: Colour = Colour([0x5b, 0x6b, 0x7a]);
pub(super) const LINES: Colour = Colour([0x7d, 0x8f, 0xa0]);
const BLUE: Colour = Colour([0x2f, 0x6f, 0x9f]);
const GREEN: Colour = Colour([0x2e, 0x7d, 0x5b]);
pub(super) const PURPLE: Colour = Colour([0x7b, 0x4b, 0x9e]);
pub(super) const ORANGE: Colour = Colour([0xc2, 0x57, 0x1a]);
pub(super) const WHITE: Colour = Colour([0xff; 3]);

const fn filled(class: &'static str, fill: Colour, stroke: Colour) -> Style {
    Style {
        fill: Some(fill),
        ..line(class, stroke, 1.0)
    }
}

const fn line(class: &'static str, stroke: Colour, width: f32) -> Style {
    Style {
        class,
        fill: None,
        stroke: Some((stroke, width)),
        dash: None,
        text: None,
    }
}

const fn text(class: &'static str, fill: Colour, size: f32, is_bold: bool) -> Style {
    Style {
        class,
        fill: Some(fill),
        stroke: None,
        dash: None,
        text: Some((size, is_bold)),
    }
}

/// All classes.
pub(super) const STYLES: [Style; 28] = [
    text("title", INK, 16.0, true),
    text("faint", GREY, 12.0, false),
    text("name", INK, 12.0, false),
    text("step", INK, 12.0, false),
    // Its halo keeps it readable on edges.
    Style {
        stroke: Some((WHITE, 3.0)),
        ..text("node-name", INK, 11.0, false)
    },
    filled("box", Colour([0xd7, 0xe8, 0xf7]), BLUE),
    filled(
        "group",
        Colour([0xf5, 0xf8, 0xfb]),
        Colour([0xc3, 0xd0, 0xdc]),
    ),
    Style {
        stroke: None,
        ..filled("bar", BLUE, BLUE)
    },
    Style {
        dash: Some((5.0, 3.0)),
        ..filled("body", Colour([0xfd, 0xf3, 0xe7]), ORANGE)
    },
    // Boxes of a call graph and of blocks.
    filled("outer", Colour([0xee, 0xee, 0xee]), GREY),
    filled("export", Colour([0xd9, 0xf0, 0xe3]), GREEN),
    Style {
        dash: Some((4.0, 3.0)),
        ..filled("dispatch", WHITE, GREY)
    },
    filled("subject", Colour([0xff, 0xe9, 0xb8]), INK),
    // Around boxes of a way.
    filled("ring", Colour([0xfb, 0xe3, 0xd4]), ORANGE),
    text("fact", INK, 11.0, false),
    line("edge", LINES, 1.0),
    line("way", ORANGE, 2.2),
    Style {
        dash: Some((5.0, 4.0)),
        ..line("gap", ORANGE, 1.6)
    },
    Style {
        dash: Some((6.0, 3.0)),
        ..line("back", PURPLE, 1.4)
    },
    line("barrier", ORANGE, 3.0),
    line("axis", LINES, 1.0),
    line("link", Colour([0xae, 0xbb, 0xc6]), 0.8),
    line("tree", GREY, 1.8),
    line("path", ORANGE, 4.0),
    line("node", WHITE, 0.7),
    line("on-path", ORANGE, 2.0),
    line("marked", INK, 2.5),
    line("none", WHITE, 0.0),
];

/// Classes of arrows, whose corners enclose nothing.
pub(super) const LINES_OF_ARROWS: [&str; 5] = ["edge", "tree", "way", "gap", "back"];

impl Style {
    /// The style of a class; every class that is drawn has one.
    pub(super) fn of(class: &str) -> Self {
        let found = STYLES.iter().find(|style| style.class == class);
        debug_assert!(found.is_some(), "no style for {class}");
        *found.unwrap_or(&STYLES[STYLES.len() - 1])
    }
}

impl fmt::Display for Style {
    /// The rule of a style sheet. Circles have their fills themselves, so lines set none for them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}{{", self.class)?;
        match self.fill {
            Some(fill) => write!(f, "fill:{fill};")?,
            None if LINES_OF_ARROWS.contains(&self.class) => write!(f, "fill:none;")?,
            None => {}
        }
        if let Some((stroke, width)) = self.stroke {
            write!(f, "stroke:{stroke};stroke-width:{width};")?;
        }
        if let Some((dash, space)) = self.dash {
            write!(f, "stroke-dasharray:{dash} {space};")?;
        }
        if let Some((size, is_bold)) = self.text {
            let weight = if is_bold { 600 } else { 400 };
            write!(
                f,
                "font-size:{size}px;font-weight:{weight};paint-order:stroke;"
            )?;
        }
        write!(f, "}}")
    }
}
