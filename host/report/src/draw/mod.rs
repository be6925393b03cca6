//! A graph as a picture: its nodes in the colours of their values, its edges as lines, and on them
//! the path to a target or the edges of a tree.

mod colours;
mod places;

use std::collections::HashSet;
use std::io::{self, Write};

use super::canvas::{Anchor, Area, Canvas, PictureFormat, TEXT_SIZE, fitted, text_width};
use colours::{Colours, Legend, shade};
use places::Place;
use seawall::analysis::{Picture, Values};
use seawall::graph::Graph;
use seawall::outcome::{Column, RunOutcome};
use seawall::units::{Count, counted};

/// Most nodes of a drawn graph: with more, dots cover each other.
pub const NODES_MAX: u32 = 4096;
/// Most edges of a drawn graph.
pub const EDGES_MAX: u32 = 1 << 15;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 760.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 56.0;
/// Space around the nodes, in which their names are.
const MARGIN: f64 = 36.0;
/// Nodes up to which each has its name.
const NAMED_MAX: u32 = 64;
/// Edges up to which directed ones have arrows.
const ARROWS_MAX: u32 = 512;
/// Sources up to which each is marked.
const MARKED_MAX: usize = 32;
/// Parts of the scale of colours in the legend.
const PARTS: usize = 24;

/// Draws `graph`, which has at most [`NODES_MAX`] nodes and [`EDGES_MAX`] edges; `label` names a
/// node, `source` says below the title what was drawn and when.
///
/// # Errors
/// If `out` fails.
pub fn write(
    outcome: &RunOutcome,
    graph: &Graph,
    label: &dyn Fn(u32) -> String,
    source: &str,
    format: PictureFormat,
    out: &mut dyn Write,
) -> io::Result<()> {
    let drawing = Drawing::of(outcome, graph, label);
    let mut canvas = Canvas::begin(out, format, (WIDTH, HEIGHT))?;
    let Picture { axis, .. } = outcome.analysis.definition().picture(&outcome.values);
    let title = outcome.analysis.facts().title;
    canvas.text("title", (20.0, 24.0), Anchor::Start, title)?;
    let size = (u64::from(graph.nodes()), u64::from(graph.edges()));
    let source = format!(
        "{source}: {}, {}",
        counted(size.0, "node"),
        counted(size.1, "edge")
    );
    let source = fitted(&source, WIDTH - 40.0);
    canvas.text("faint", (20.0, 42.0), Anchor::Start, &source)?;
    drawing.draw_edges(&mut canvas)?;
    drawing.draw_nodes(&mut canvas)?;
    drawing.draw_legend(axis, &mut canvas)?;
    canvas.end()
}

/// What is drawn, and where.
struct Drawing<'g> {
    graph: &'g Graph,
    /// The name of a node.
    label: &'g dyn Fn(u32) -> String,
    places: Vec<Place>,
    colours: Colours,
    /// Nodes of the path, from its source on.
    path: Vec<u32>,
    /// Edges of a tree or forest, the smaller end first.
    tree: HashSet<(u32, u32)>,
    sources: Vec<u32>,
    radius: f64,
}

impl<'g> Drawing<'g> {
    fn of(outcome: &RunOutcome, graph: &'g Graph, label: &'g dyn Fn(u32) -> String) -> Self {
        let rows = places::neighbours(graph);
        let path = outcome.path.as_ref().map(|path| path.labels());
        let path = path.unwrap_or_default();
        let find = |label: &String| graph.find(label);
        let sources = outcome.sources.iter().take(MARKED_MAX);
        Self {
            graph,
            label,
            places: fitted_places(places::places(&rows)),
            colours: Colours::of(outcome, label),
            path: path.iter().filter_map(find).collect(),
            tree: if path.is_empty() {
                tree_of(outcome)
            } else {
                HashSet::new()
            },
            sources: sources.filter_map(|id| graph.node_of(*id)).collect(),
            radius: match graph.nodes() {
                ..=NAMED_MAX => 9.0,
                513.. => 3.0,
                _ => 5.0,
            },
        }
    }

    fn place(&self, node: u32) -> Place {
        self.places[node as usize]
    }

    fn draw_edges(&self, canvas: &mut Canvas<'_>) -> io::Result<()> {
        let graph = self.graph;
        let has_arrows = !graph.is_symmetric() && graph.edges() <= ARROWS_MAX;
        let mut seen = HashSet::new();
        for node in 0..graph.nodes() {
            for &other in graph
                .neighbours(node)
                .iter()
                .filter(|other| **other != node)
            {
                let key = (node.min(other), node.max(other));
                if has_arrows {
                    let class = if self.tree.contains(&key) {
                        "tree"
                    } else {
                        "edge"
                    };
                    canvas.arrow(class, &self.shortened(node, other), "")?;
                } else if !self.tree.contains(&key) && seen.insert(key) {
                    canvas.line("link", self.place(node), self.place(other))?;
                }
            }
        }
        if !has_arrows {
            let mut tree: Vec<_> = self.tree.iter().copied().collect();
            tree.sort_unstable();
            for (one, other) in tree {
                canvas.line("tree", self.place(one), self.place(other))?;
            }
        }
        for pair in self.path.windows(2) {
            canvas.line("path", self.place(pair[0]), self.place(pair[1]))?;
        }
        Ok(())
    }

    /// The ends of an arrow, outside of the circles of its nodes.
    fn shortened(&self, from: u32, to: u32) -> [Place; 2] {
        let (from, to) = (self.place(from), self.place(to));
        let (x, y) = (to.0 - from.0, to.1 - from.1);
        let share = (self.radius + 1.0) / (x * x + y * y).sqrt().max(2.0 * self.radius + 4.0);
        let start = (from.0 + x * share, from.1 + y * share);
        [start, (to.0 - x * share, to.1 - y * share)]
    }

    fn draw_nodes(&self, canvas: &mut Canvas<'_>) -> io::Result<()> {
        let ends = [self.path.first(), self.path.last()];
        let marked: Vec<u32> = self
            .sources
            .iter()
            .chain(ends.into_iter().flatten())
            .copied()
            .collect();
        let is_on_path: HashSet<u32> = self.path.iter().copied().collect();
        for node in 0..self.graph.nodes() {
            let class = match () {
                () if marked.contains(&node) => "marked",
                () if is_on_path.contains(&node) => "on-path",
                () => "node",
            };
            let label = (self.label)(node);
            let hint = match self.colours.text(node) {
                "" => format!("node {label}"),
                value => format!("node {label}: {value}"),
            };
            let colour = self.colours.node(node);
            canvas.circle(class, (self.place(node), self.radius), colour, &hint)?;
        }
        let is_named = |node: &u32| self.graph.nodes() <= NAMED_MAX || marked.contains(node);
        for node in (0..self.graph.nodes()).filter(is_named) {
            let label = (self.label)(node);
            let label = fitted(&label, 2.0 * MARGIN);
            let half = text_width(&label, TEXT_SIZE) / 2.0;
            let (x, y) = self.place(node);
            let x = x.clamp(half + 2.0, (WIDTH - half - 2.0).max(half + 2.0));
            canvas.text(
                "node-name",
                (x, y + self.radius + 12.0),
                Anchor::Middle,
                &label,
            )?;
        }
        Ok(())
    }

    fn draw_legend(&self, axis: &str, canvas: &mut Canvas<'_>) -> io::Result<()> {
        let y = HEIGHT - 22.0;
        match &self.colours.legend {
            Legend::Empty => Ok(()),
            Legend::Scale {
                lowest,
                highest,
                is_logarithmic,
            } => {
                let mut x = 20.0 + text_width(lowest, TEXT_SIZE) + 8.0;
                canvas.text("faint", (20.0, y), Anchor::Start, lowest)?;
                for part in 0..PARTS {
                    let area = Area {
                        x,
                        y: y - 11.0,
                        width: 8.0,
                        height: 14.0,
                    };
                    let share = part as f64 / (PARTS - 1) as f64;
                    canvas.patch(area, shade(share))?;
                    x += 8.0;
                }
                let scale = if *is_logarithmic {
                    " (logarithmic scale)"
                } else {
                    ""
                };
                let text = format!("{highest}   {axis}{scale}");
                let text = fitted(&text, WIDTH - x - 28.0);
                canvas.text("faint", (x + 8.0, y), Anchor::Start, &text)
            }
            Legend::Sets(sets) => {
                let mut x = 20.0;
                for (colour, text) in sets {
                    let end = x + 22.0 + text_width(text, TEXT_SIZE);
                    if end > WIDTH - 8.0 {
                        break;
                    }
                    canvas.circle("node", ((x + 6.0, y - 4.0), 6.0), *colour, text)?;
                    canvas.text("faint", (x + 18.0, y), Anchor::Start, text)?;
                    x = end + 16.0;
                }
                Ok(())
            }
        }
    }
}

/// The edges of a tree or forest that the answer has.
fn tree_of(outcome: &RunOutcome) -> HashSet<(u32, u32)> {
    let ends = |node: u32, parent: u32| (node.min(parent), node.max(parent));
    if let Some(parents) = &outcome.parents {
        let parents = (0..)
            .zip(parents)
            .filter(|(node, parent)| **parent != u32::MAX && parent != &node);
        return parents.map(|(node, parent)| ends(node, *parent)).collect();
    }
    let Column::U64(values) = &outcome.values else {
        return HashSet::new();
    };
    if outcome.analysis.facts().values != Values::Edges {
        return HashSet::new();
    }
    let edges = values.iter().filter(|edge| **edge != u64::MAX);
    edges
        .map(|edge| ends((edge >> 32) as u32, *edge as u32))
        .collect()
}

/// The places in the picture's units, within its margins.
fn fitted_places(mut places: Vec<Place>) -> Vec<Place> {
    let bounds = |of: fn(&Place) -> f64| {
        let low = places.iter().map(of).fold(f64::INFINITY, f64::min);
        let high = places.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        (low, high)
    };
    let (left, right) = bounds(|place| place.0);
    let (top, bottom) = bounds(|place| place.1);
    let area = (WIDTH - 2.0 * MARGIN, HEIGHT - TOP - BOTTOM - 2.0 * MARGIN);
    let scale = (area.0 / (right - left).max(1e-9)).min(area.1 / (bottom - top).max(1e-9));
    // A single node, or all in one place.
    let scale = if scale.is_finite() {
        scale.min(1e6)
    } else {
        1.0
    };
    let middle = (f64::midpoint(left, right), f64::midpoint(top, bottom));
    for (x, y) in &mut places {
        *x = (*x - middle.0) * scale + WIDTH / 2.0;
        *y = (*y - middle.1) * scale + f64::midpoint(TOP, HEIGHT - BOTTOM);
    }
    places
}

/// Says why a graph of this size is not drawn; `None` if it is.
pub fn refusal(graph: &Graph) -> Option<String> {
    let (nodes, edges) = (graph.nodes(), graph.edges());
    (nodes > NODES_MAX || edges > EDGES_MAX).then(|| {
        let most = |most: u32| Count(u64::from(most)).to_string();
        format!(
            "a drawing has at most {} nodes and {} edges, and this graph has {} and {}",
            most(NODES_MAX),
            most(EDGES_MAX),
            most(nodes),
            most(edges)
        )
    })
}
