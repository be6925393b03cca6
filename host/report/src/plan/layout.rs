//! Positions of the boxes and arrows of a drawn plan.
//!
//! A column holds the waves of a group, a wide group takes several columns, and bands of columns
//! follow each other like lines of text. All boxes are on one grid. Arrows run between columns and
//! between rows only, and from one band to another at the left margin, so that none crosses a box
//! or a text.

use crate::canvas::Area;
use seawall_core::plan::{Groups, WaveId};

pub(super) const BOX_WIDTH: f64 = 150.0;
pub(super) const BOX_HEIGHT: f64 = 40.0;
/// Distance of columns.
pub(super) const PITCH: f64 = 240.0;
/// Distance of rows.
const ROW: f64 = BOX_HEIGHT + GAP;
/// Gap between two boxes of a column.
const GAP: f64 = 14.0;
/// Gap between a box and the frame of its group, and distance of lanes.
pub(super) const MARGIN: f64 = 10.0;
const LANE: f64 = 4.0;
/// Number of lanes in half the gap between two columns.
const LANES: usize = 7;
/// Space above the first row of a band, for captions.
pub(super) const CAPTIONS: f64 = 62.0;
/// Space after the last row of a band.
const BELOW: f64 = 34.0;
/// Space of the heading above all bands.
const HEADING: f64 = 60.0;
/// Space left of the first column, for one band and for several, which have barriers and arrows
/// there.
const LEFT: f64 = 30.0;
const LEFT_OF_BANDS: f64 = 110.0;
const RIGHT: f64 = 30.0;
/// Columns of a band.
const COLUMNS_MAX: usize = 10;

/// The place of a wave's box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cell {
    band: usize,
    column: usize,
    row: usize,
}

/// A column of boxes.
#[derive(Clone, Debug)]
pub(super) struct ColumnOf<'a> {
    /// Number of the group.
    pub(super) group: usize,
    /// Whether the group begins here.
    pub(super) is_first: bool,
    /// Bytes of the group.
    pub(super) bytes: u64,
    /// Its waves from top to bottom.
    pub(super) waves: &'a [WaveId],
    band: usize,
    column: usize,
}

/// The layout of a plan.
pub(super) struct Layout<'a> {
    /// All columns in order.
    pub(super) columns: Vec<ColumnOf<'a>>,
    places: Vec<Option<Cell>>,
    tops: Vec<f64>,
    /// Rows of each band.
    rows: Vec<usize>,
}

impl<'a> Layout<'a> {
    /// Lays out the groups of a plan of `waves` waves. Linear in the waves.
    pub(super) fn of(groups: &'a Groups<'a>, waves: usize) -> Self {
        let rows_max = rows_max(waves);
        let mut layout = Self {
            columns: Vec::new(),
            places: vec![None; waves],
            tops: Vec::new(),
            rows: Vec::new(),
        };
        for (group, members) in groups.iter().enumerate() {
            for (part, waves) in members.waves.chunks(rows_max).enumerate() {
                layout.add(group, part == 0, members.fused_bytes, waves);
            }
        }
        layout.stack();
        layout
    }

    fn add(&mut self, group: usize, is_first: bool, bytes: u64, waves: &'a [WaveId]) {
        let at = self.columns.len();
        let (band, column) = (at / COLUMNS_MAX, at % COLUMNS_MAX);
        if column == 0 {
            self.rows.push(0);
        }
        if let Some(rows) = self.rows.last_mut() {
            *rows = (*rows).max(waves.len());
        }
        for (row, wave) in waves.iter().enumerate() {
            if let Some(place) = self.places.get_mut(wave.index()) {
                *place = Some(Cell { band, column, row });
            }
        }
        self.columns.push(ColumnOf {
            group,
            is_first,
            bytes,
            waves,
            band,
            column,
        });
    }

    /// Finds where each band begins.
    fn stack(&mut self) {
        let mut top = HEADING;
        for rows in &self.rows {
            self.tops.push(top + CAPTIONS);
            top += CAPTIONS + ROW * *rows as f64 + BELOW;
        }
    }

    /// Width and height of the picture.
    pub(super) fn size(&self) -> (f64, f64) {
        let columns = self.columns.len().clamp(1, COLUMNS_MAX) as f64;
        let width = self.left() + PITCH * (columns - 1.0) + BOX_WIDTH + MARGIN + RIGHT;
        let bands = self.tops.iter().zip(&self.rows);
        let bottoms = bands.map(|(top, rows)| top + ROW * *rows as f64 + BELOW);
        (width.max(480.0), bottoms.fold(HEADING, f64::max))
    }

    /// Space left of the first column.
    fn left(&self) -> f64 {
        if self.rows.len() > 1 {
            LEFT_OF_BANDS
        } else {
            LEFT
        }
    }

    fn x(&self, column: usize) -> f64 {
        self.left() + PITCH * column as f64
    }

    fn y(&self, place: Cell) -> f64 {
        let top = self.tops.get(place.band).copied().unwrap_or(HEADING);
        top + ROW * place.row as f64
    }

    /// The box of a wave.
    pub(super) fn box_of(&self, wave: WaveId) -> Option<Area> {
        let place = self.place(wave.index())?;
        Some(Area {
            x: self.x(place.column),
            y: self.y(place),
            width: BOX_WIDTH,
            height: BOX_HEIGHT,
        })
    }

    /// The frame around the boxes of a column.
    pub(super) fn frame(&self, column: &ColumnOf<'_>) -> Area {
        let top = self.tops.get(column.band).copied().unwrap_or(HEADING);
        Area {
            x: self.x(column.column) - MARGIN,
            y: top - MARGIN - 26.0,
            width: BOX_WIDTH + 2.0 * MARGIN,
            height: ROW * column.waves.len() as f64 - GAP + 2.0 * MARGIN + 26.0,
        }
    }

    /// The line of the barrier before a column, from top to bottom.
    pub(super) fn barrier(&self, column: &ColumnOf<'_>) -> [(f64, f64); 2] {
        let top = self.tops.get(column.band).copied().unwrap_or(HEADING);
        let rows = self.rows.get(column.band).copied().unwrap_or(1);
        let x = self.x(column.column) - (PITCH - BOX_WIDTH) / 2.0;
        [(x, top - 36.0), (x, top + ROW * rows as f64)]
    }

    fn place(&self, wave: usize) -> Option<Cell> {
        self.places.get(wave).copied().flatten()
    }

    /// The corners of the arrow between two waves.
    pub(super) fn arrow(&self, before: usize, after: usize) -> Option<Vec<(f64, f64)>> {
        let (from, to) = (self.place(before)?, self.place(after)?);
        let start = (
            self.x(from.column) + BOX_WIDTH,
            self.y(from) + BOX_HEIGHT * 0.35,
        );
        let end = (self.x(to.column), self.y(to) + BOX_HEIGHT * 0.65);
        let leave = start.0 + MARGIN + LANE * (from.row % LANES + 1) as f64;
        let mut corners = vec![start, (leave, start.1)];
        if from.band != to.band || from.column + 1 != to.column {
            let enter = end.0 - MARGIN - LANE * (to.row % LANES + 1) as f64;
            self.detour(from, to, leave, enter, &mut corners);
            corners.push((enter, end.1));
        } else {
            corners.push((leave, end.1));
        }
        corners.push(end);
        Some(corners)
    }

    /// The path between rows, past columns between the two boxes, and along the margin to another
    /// band.
    fn detour(&self, from: Cell, to: Cell, leave: f64, enter: f64, corners: &mut Vec<(f64, f64)>) {
        let shift = (from.column % 3) as f64 * 3.0 - 3.0;
        let under = self.y(from) + BOX_HEIGHT + GAP / 2.0 + shift;
        corners.push((leave, under));
        if from.band == to.band {
            corners.push((enter, under));
            return;
        }
        let margin = 4.0 + LANE * (from.band % LANES) as f64 / 2.0;
        let over = self.y(to) - GAP / 2.0 + shift;
        corners.push((margin, under));
        corners.push((margin, over));
        corners.push((enter, over));
    }
}

/// Number of rows per column: one column for few waves, a block for many.
fn rows_max(waves: usize) -> usize {
    (waves.isqrt() * 2).clamp(8, 32)
}
