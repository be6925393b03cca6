//! The path to a target, below the bars.

use std::io;

use crate::canvas::{Anchor, Area, Canvas, TEXT_SIZE, text_width};
use seawall::outcome::FoundPath;
use seawall::units::counted;

/// Height of the path and its line of text.
pub(super) const HEIGHT: f64 = 84.0;

/// Most nodes of a path that are drawn; of a longer one the first and the last.
const NODES_MAX: usize = 12;
/// Height of a node.
const NODE: f64 = 24.0;
/// Width of an arrow.
const ARROW: f64 = 22.0;

/// A drawn node, or the placeholder of omitted ones.
struct Stop {
    label: String,
    is_node: bool,
}

/// Draws `path` from `left` to `right`, below `top`.
pub(super) fn draw(
    path: &FoundPath,
    left: f64,
    right: f64,
    top: f64,
    canvas: &mut Canvas<'_>,
) -> io::Result<()> {
    let (Some(weight), [_, ..]) = (&path.weight, path.nodes.as_slice()) else {
        let text = format!("No path to {}: no source reaches it", path.target_label());
        return canvas.text("faint", (left, top + 16.0), Anchor::Start, &text);
    };
    let edges = counted(path.nodes.len() as u64 - 1, "edge");
    let text = format!("Path to {}: {edges}, {weight} in all", path.target_label());
    canvas.text("faint", (left, top + 16.0), Anchor::Start, &text)?;
    let stops = stops(&path.labels());
    let count = stops.len() as f64;
    let widest = (right - left - ARROW * (count - 1.0)) / count;
    let (mut x, y) = (left, top + 32.0);
    for (at, stop) in stops.iter().enumerate() {
        if at > 0 {
            let middle = y + NODE / 2.0;
            canvas.arrow(
                "edge",
                &[(x + 2.0, middle), (x + ARROW - 2.0, middle)],
                "an edge of the path",
            )?;
            x += ARROW;
        }
        let width = (text_width(&stop.label, TEXT_SIZE) + 14.0).min(widest);
        if stop.is_node {
            let area = Area {
                x,
                y,
                width,
                height: NODE,
            };
            canvas.area("box", area, &stop.label)?;
        }
        let middle = (x + width / 2.0, y + NODE / 2.0 + 4.0);
        canvas.label("step", middle, width - 6.0, Anchor::Middle, &stop.label)?;
        x += width;
    }
    Ok(())
}

/// The nodes that are drawn, in order.
fn stops(labels: &[String]) -> Vec<Stop> {
    let node = |label: &String| Stop {
        label: label.clone(),
        is_node: true,
    };
    if labels.len() <= NODES_MAX {
        return labels.iter().map(node).collect();
    }
    let (first, last) = (NODES_MAX / 2, labels.len() - (NODES_MAX - 1) / 2);
    let mut stops: Vec<Stop> = labels[..first].iter().map(node).collect();
    stops.push(Stop {
        label: format!("… {} …", counted((last - first) as u64, "node")),
        is_node: false,
    });
    stops.extend(labels[last..].iter().map(node));
    stops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_long_path_is_counted() {
        let labels = |nodes: u32| (0..nodes).map(|node| node.to_string()).collect::<Vec<_>>();
        let described = |nodes| {
            let stops = stops(&labels(nodes)).into_iter();
            stops.map(|stop| stop.label).collect::<Vec<_>>()
        };
        assert_eq!(described(12), labels(12));
        let long = described(40);
        assert_eq!(long.len(), 12);
        assert_eq!(
            (long[5].as_str(), long[6].as_str(), long[7].as_str()),
            ("5", "… 29 nodes …", "35")
        );
    }
}
