//! Places of boxes in layers, by the steps of Sugiyama, Tagawa and Toda (IEEE Transactions on
//! Systems, Man, and Cybernetics 11(2), 1981): layers by longest ways, orders by barycentres, and
//! columns by least squares that keep the order.
//!
//! An arrow over several layers passes each between by a place of its own, so that it crosses no
//! box.

use crate::canvas::{Area, Point};

/// Boxes of a layer; more go to the next one.
const ROW_MAX: usize = 8;
/// Space between neighbours of a layer.
const GAP: f64 = 16.0;
/// Width of an arrow that passes a layer.
const PASS: f64 = 6.0;
/// Least and most height between two layers.
const BETWEEN: (f64, f64) = (34.0, 96.0);
/// Share of the widest step of an arrow that is added to the height between two layers.
const SLOPE: f64 = 0.07;
/// Rounds of ordering and of placing.
const ROUNDS: (usize, usize) = (16, 12);
/// Weight of straight lines when places are found.
const STRAIGHT: f64 = 6.0;
/// Space at the right of a box with an arrow to itself.
const LOOP: f64 = 14.0;

/// The layout of boxes and arrows.
pub(super) struct Layers {
    /// The place of each box, from the left and the top of all.
    pub(super) boxes: Vec<Area>,
    /// The corners of each arrow, from its start to its end.
    pub(super) arrows: Vec<Vec<Point>>,
    /// Width and height of all.
    pub(super) size: (f64, f64),
}

/// A box, or the place where an arrow passes a layer.
#[derive(Clone, Copy)]
struct Item {
    layer: usize,
    width: f64,
    height: f64,
    is_pass: bool,
    /// Its middle.
    x: f64,
}

/// Boxes and passes, and the lines between neighbouring layers.
struct Net {
    items: Vec<Item>,
    /// Neighbours of each item in the layer above and in the one below.
    up: Vec<Vec<usize>>,
    down: Vec<Vec<usize>>,
    /// Items of each layer from left to right.
    layers: Vec<Vec<usize>>,
    /// Items of each arrow, from top to bottom; none of arrows from a box to itself.
    ways: Vec<Vec<usize>>,
}

impl Layers {
    /// Places boxes of these sizes. Arrows to a box that is not later in the list close a loop and
    /// go up, the others go down.
    pub(super) fn of(sizes: &[(f64, f64)], arrows: &[(usize, usize)]) -> Self {
        let mut net = Net::of(sizes, arrows);
        net.order();
        net.place();
        net.drawn(arrows)
    }
}

/// The layer of each box: below those of all arrows that lead down to it, and not too full.
fn ranks(boxes: usize, arrows: &[(usize, usize)]) -> Vec<usize> {
    let mut above = vec![Vec::new(); boxes];
    let mut below = vec![Vec::new(); boxes];
    for (from, to) in arrows {
        if from != to {
            above[*from.max(to)].push(*from.min(to));
            below[*from.min(to)].push(*from.max(to));
        }
    }
    let mut layers = vec![0; boxes];
    let mut filled: Vec<usize> = Vec::new();
    let is_full = |filled: &[usize], layer: usize| filled.get(layer) >= Some(&ROW_MAX);
    for at in 0..boxes {
        let highest = above[at].iter().map(|before| layers[*before] + 1).max();
        let mut layer = highest.unwrap_or(0);
        while is_full(&filled, layer) {
            layer += 1;
        }
        filled.resize(filled.len().max(layer + 1), 0);
        filled[layer] += 1;
        layers[at] = layer;
    }
    // Boxes that nothing leads to come close to what they lead to.
    for at in (0..boxes).rev().filter(|at| above[*at].is_empty()) {
        let lowest = below[at].iter().map(|after| layers[*after] - 1).min();
        let mut layer = lowest.unwrap_or(0);
        while layer > layers[at] && is_full(&filled, layer) {
            layer -= 1;
        }
        if layer > layers[at] {
            filled[layers[at]] -= 1;
            filled[layer] += 1;
            layers[at] = layer;
        }
    }
    without_gaps(layers, &filled)
}

/// The layers without those that are empty.
fn without_gaps(mut layers: Vec<usize>, filled: &[usize]) -> Vec<usize> {
    let mut next = 0;
    let numbers: Vec<usize> = filled
        .iter()
        .map(|count| {
            let number = next;
            next += usize::from(*count > 0);
            number
        })
        .collect();
    for layer in &mut layers {
        *layer = numbers[*layer];
    }
    layers
}

impl Net {
    fn of(sizes: &[(f64, f64)], arrows: &[(usize, usize)]) -> Self {
        let ranks = ranks(sizes.len(), arrows);
        let mut net = Self {
            items: Vec::new(),
            up: Vec::new(),
            down: Vec::new(),
            layers: vec![Vec::new(); ranks.iter().max().map_or(0, |last| last + 1)],
            ways: Vec::new(),
        };
        for (at, ((width, height), layer)) in sizes.iter().zip(&ranks).enumerate() {
            let space = loop_space(arrows, at);
            net.add(*layer, (width + space, *height), false);
        }
        for (from, to) in arrows {
            let way = net.way(*from.min(to), *from.max(to));
            net.ways.push(way);
        }
        net
    }

    fn add(&mut self, layer: usize, (width, height): (f64, f64), is_pass: bool) -> usize {
        let number = self.items.len();
        self.items.push(Item {
            layer,
            width,
            height,
            is_pass,
            x: 0.0,
        });
        self.up.push(Vec::new());
        self.down.push(Vec::new());
        self.layers[layer].push(number);
        number
    }

    /// The items of an arrow between two boxes.
    fn way(&mut self, upper: usize, lower: usize) -> Vec<usize> {
        if upper == lower {
            return Vec::new();
        }
        let mut way = vec![upper];
        for layer in self.items[upper].layer + 1..self.items[lower].layer {
            let pass = self.add(layer, (PASS, 0.0), true);
            way.push(pass);
        }
        way.push(lower);
        for pair in way.windows(2) {
            self.down[pair[0]].push(pair[1]);
            self.up[pair[1]].push(pair[0]);
        }
        way
    }

    /// Orders each layer so that few lines cross.
    fn order(&mut self) {
        let mut best = (self.crossings(), self.layers.clone());
        for round in 0..ROUNDS.0 {
            let is_down = round % 2 == 0;
            let count = self.layers.len();
            for step in 1..count {
                let layer = if is_down { step } else { count - 1 - step };
                self.sort(layer, is_down);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.layers.clone());
            }
        }
        self.layers = best.1;
    }

    /// Sorts a layer by the means of the neighbours' positions above or below.
    fn sort(&mut self, layer: usize, is_down: bool) {
        let positions = self.positions();
        let sides = if is_down { &self.up } else { &self.down };
        let mean = |item: usize| match sides[item].as_slice() {
            [] => positions[item],
            row => row.iter().map(|other| positions[*other]).sum::<f64>() / row.len() as f64,
        };
        self.layers[layer].sort_by(|one, other| mean(*one).total_cmp(&mean(*other)));
    }

    /// The position of each item in its layer, of 1.
    fn positions(&self) -> Vec<f64> {
        let mut positions = vec![0.0; self.items.len()];
        for layer in &self.layers {
            for (at, item) in layer.iter().enumerate() {
                positions[*item] = (at as f64 + 0.5) / layer.len() as f64;
            }
        }
        positions
    }

    /// Number of pairs of lines that cross.
    fn crossings(&self) -> u64 {
        let mut place = vec![0; self.items.len()];
        for layer in &self.layers {
            for (at, item) in layer.iter().enumerate() {
                place[*item] = at;
            }
        }
        let of_layer = |layer: &Vec<usize>| {
            let mut ends = Vec::new();
            for item in layer {
                let first = ends.len();
                ends.extend(self.down[*item].iter().map(|below| place[*below]));
                ends[first..].sort_unstable();
            }
            inversions(&mut ends)
        };
        self.layers.iter().map(of_layer).sum()
    }

    /// Finds the middles of all items.
    fn place(&mut self) {
        for layer in 0..self.layers.len() {
            self.settle(layer, |_, _| 0.0);
        }
        for round in 0..ROUNDS.1 {
            let is_down = round % 2 == 0;
            let is_last = round + 2 >= ROUNDS.1;
            let count = self.layers.len();
            for step in 0..count {
                let layer = if is_down { step } else { count - 1 - step };
                self.settle(layer, |net, item| net.wish(item, is_down, is_last));
            }
        }
    }

    /// Place of an item that makes its lines short: below, above, or in the middle of both.
    fn wish(&self, item: usize, is_down: bool, is_last: bool) -> f64 {
        let (up, down) = (&self.up[item], &self.down[item]);
        let sides: [&[usize]; 2] = match (is_last, is_down) {
            (true, _) => [up, down],
            (_, true) => [up, &[]],
            _ => [down, &[]],
        };
        let all: Vec<f64> = sides
            .iter()
            .copied()
            .flatten()
            .map(|at| self.items[*at].x)
            .collect();
        match all.len() {
            0 => self.items[item].x,
            count => all.iter().sum::<f64>() / count as f64,
        }
    }

    /// Places a layer's items as near to where they wish to be as their order and widths allow:
    /// least squares, by pooling of adjacent violators.
    fn settle(&mut self, layer: usize, wish: impl Fn(&Self, usize) -> f64) {
        let mut offset = 0.0;
        let mut before: Option<Item> = None;
        // Items that touch: their mean, weight and number.
        let mut pools: Vec<(f64, f64, usize)> = Vec::new();
        let mut offsets = Vec::with_capacity(self.layers[layer].len());
        for item in &self.layers[layer] {
            let this = self.items[*item];
            if let Some(before) = before {
                let gap = if before.is_pass && this.is_pass {
                    GAP / 2.0
                } else {
                    GAP
                };
                offset += f64::midpoint(before.width, this.width) + gap;
            }
            before = Some(this);
            offsets.push(offset);
            let weight = if this.is_pass { STRAIGHT } else { 1.0 };
            let mut pool = (wish(self, *item) - offset, weight, 1);
            while let Some(last) = pools.pop_if(|last| last.0 >= pool.0) {
                let weight = last.1 + pool.1;
                let mean = (last.0 * last.1 + pool.0 * pool.1) / weight;
                pool = (mean, weight, last.2 + pool.2);
            }
            pools.push(pool);
        }
        let places = pools
            .into_iter()
            .flat_map(|pool| std::iter::repeat_n(pool.0, pool.2));
        for ((item, offset), place) in self.layers[layer].iter().zip(offsets).zip(places) {
            self.items[*item].x = place + offset;
        }
    }

    /// The upper and lower sides of each layer.
    fn rows(&self) -> Vec<(f64, f64)> {
        let mut top = 0.0;
        let mut rows = Vec::with_capacity(self.layers.len());
        for layer in &self.layers {
            let heights = layer.iter().map(|item| self.items[*item].height);
            let bottom = top + heights.fold(0.0, f64::max);
            rows.push((top, bottom));
            let steps = layer.iter().flat_map(|item| {
                let x = self.items[*item].x;
                let below = self.down[*item].iter();
                below.map(move |other| (self.items[*other].x - x).abs())
            });
            let widest = steps.fold(0.0, f64::max);
            top = bottom + (BETWEEN.0 + SLOPE * widest).min(BETWEEN.1);
        }
        rows
    }

    /// The drawing, moved to the left and upper side.
    fn drawn(&self, arrows: &[(usize, usize)]) -> Layers {
        let rows = self.rows();
        let sides = |sign: f64| {
            let items = self.items.iter();
            items.map(move |item| item.x + sign * item.width / 2.0)
        };
        let left = sides(-1.0).fold(f64::INFINITY, f64::min);
        let left = if left.is_finite() { left } else { 0.0 };
        let right = sides(1.0).fold(left, f64::max);
        let boxes = self
            .items
            .iter()
            .enumerate()
            .take_while(|(_, it)| !it.is_pass);
        let area = |(at, item): (usize, &Item)| Area {
            x: item.x - item.width / 2.0 - left,
            y: rows[item.layer].0,
            width: item.width - loop_space(arrows, at),
            height: item.height,
        };
        let frame = Frame {
            boxes: boxes.map(area).collect(),
            rows: &rows,
            left,
        };
        Layers {
            arrows: self.corners(arrows, &frame),
            size: (right - left, rows.last().map_or(0.0, |row| row.1)),
            boxes: frame.boxes,
        }
    }

    /// The corners of all arrows.
    fn corners(&self, arrows: &[(usize, usize)], frame: &Frame<'_>) -> Vec<Vec<Point>> {
        let ports = self.ports(&frame.boxes);
        let mut all = Vec::with_capacity(arrows.len());
        for ((from, to), (way, ports)) in arrows.iter().zip(self.ways.iter().zip(ports)) {
            let mut corners = match from == to {
                true => around(frame.boxes[*from]),
                false => self.descent(way, ports, frame),
            };
            if from > to {
                corners.reverse();
            }
            all.push(corners);
        }
        all
    }

    /// Places at which each arrow leaves its upper box and reaches its lower one: apart from others,
    /// in the order of the items that they lead to.
    fn ports(&self, boxes: &[Area]) -> Vec<[f64; 2]> {
        let mut ports = vec![[0.0; 2]; self.ways.len()];
        for is_upper in [true, false] {
            let mut sides: Vec<Vec<(f64, usize)>> = vec![Vec::new(); boxes.len()];
            for (arrow, way) in self.ways.iter().enumerate() {
                let [item, next] = match way.as_slice() {
                    [upper, next, ..] if is_upper => [*upper, *next],
                    [.., next, lower] => [*lower, *next],
                    _ => continue,
                };
                sides[item].push((self.items[next].x, arrow));
            }
            for (area, side) in boxes.iter().zip(&mut sides) {
                side.sort_by(|one, other| one.0.total_cmp(&other.0));
                let parts = side.len() as f64 + 1.0;
                for (at, (_, arrow)) in side.iter().enumerate() {
                    let x = area.x + area.width * (at as f64 + 1.0) / parts;
                    ports[*arrow][usize::from(!is_upper)] = x;
                }
            }
        }
        ports
    }

    /// The corners of an arrow from top to bottom.
    fn descent(&self, way: &[usize], [start, end]: [f64; 2], frame: &Frame<'_>) -> Vec<Point> {
        let mut corners = Vec::with_capacity(2 * way.len());
        for (at, item) in way.iter().enumerate() {
            let item = self.items[*item];
            let (top, bottom) = frame.rows[item.layer];
            if at == 0 {
                corners.push((start, top + item.height));
                if item.height < bottom - top {
                    corners.push((start, bottom));
                }
            } else if at + 1 == way.len() {
                corners.push((end, top));
            } else {
                let x = item.x - frame.left;
                corners.extend([(x, top), (x, bottom)]);
            }
        }
        corners
    }
}

/// The places of boxes while arrows are drawn.
struct Frame<'a> {
    boxes: Vec<Area>,
    /// Upper and lower sides of the layers.
    rows: &'a [(f64, f64)],
    left: f64,
}

/// Space that a box has at its right for an arrow to itself.
fn loop_space(arrows: &[(usize, usize)], at: usize) -> f64 {
    if arrows.contains(&(at, at)) {
        LOOP
    } else {
        0.0
    }
}

/// The corners of an arrow from a box to itself.
fn around(area: Area) -> Vec<Point> {
    let right = area.x + area.width;
    let (upper, lower) = (area.y + area.height * 0.3, area.y + area.height * 0.7);
    vec![
        (right, lower),
        (right + LOOP - 3.0, lower),
        (right + LOOP - 3.0, upper),
        (right, upper),
    ]
}

/// Number of pairs that are out of order; sorts them.
fn inversions(ends: &mut [usize]) -> u64 {
    if ends.len() < 2 {
        return 0;
    }
    let (left, right) = ends.split_at_mut(ends.len() / 2);
    let mut found = inversions(left) + inversions(right);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut one, mut other) = (0, 0);
    while one < left.len() || other < right.len() {
        let takes_left = other == right.len() || one < left.len() && left[one] <= right[other];
        if takes_left {
            merged.push(left[one]);
            one += 1;
        } else {
            merged.push(right[other]);
            other += 1;
            found += (left.len() - one) as u64;
        }
    }
    ends.copy_from_slice(&merged);
    found
}
