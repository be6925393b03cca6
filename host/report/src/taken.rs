//! Rows about the edges of a graph: their directions, loops and parallel ones, and dropped edges.

use std::io::{self, Write};

use super::head::row;
use seawall::outcome::{Direction, Dropped, Taken};
use seawall::units::counted;

/// Writes the properties of the edges of one or several graphs, and dropped edges with the reasons.
pub fn write(
    out: &mut dyn Write,
    directions: String,
    taken: &Taken,
    dropped: Dropped,
) -> io::Result<()> {
    row(out, "edges", &edges(directions, taken))?;
    left_out(taken, dropped).map_or(Ok(()), |text| row(out, "left out", &text))
}

/// The directions of a graph's edges.
pub fn directions(taken: &Taken) -> String {
    match (taken.direction, taken.symmetric) {
        (Direction::Undirected, _) => "undirected".to_owned(),
        (Direction::Directed, false) => "directed".to_owned(),
        (Direction::Directed, true) => {
            "directed, each with its mirror image (symmetric)".to_owned()
        }
    }
}

/// Directions, loops and parallel edges.
fn edges(directions: String, taken: &Taken) -> String {
    let mut text = directions;
    let counts = [
        (taken.self_loops, "self loop"),
        (taken.parallel_edges, "parallel edge"),
    ];
    for (count, noun) in counts.into_iter().filter(|(count, _)| *count > 0) {
        text += &format!(", {}", counted(count, noun));
    }
    if taken.mirrored_edges > 0 {
        text += &format!(
            "; {} listed from both ends",
            counted(taken.mirrored_edges, "edge")
        );
    }
    text
}

/// Edges that an analysis did not get, with the reasons; `None` if it got all.
fn left_out(taken: &Taken, dropped: Dropped) -> Option<String> {
    let light = "too light beside the heaviest";
    let parts = [
        (dropped.self_loops, "self loop", taken.loops_reason),
        (dropped.duplicates, "duplicate edge", taken.parallel_reason),
        (taken.weightless_edges, "edge", Some(light)),
    ];
    let described = parts.iter().filter(|(count, ..)| *count > 0);
    let described: Vec<String> = described
        .map(|(count, noun, reason)| {
            let count = counted(*count, noun);
            reason.map_or(count.clone(), |reason| format!("{count} ({reason})"))
        })
        .collect();
    (!described.is_empty()).then(|| described.join(", "))
}

/// Advice for a search that reached almost nothing of a directed graph.
pub const HINT: &str =
    "next to nothing was reached along the directions of edges; --undirected takes each in both";

/// Returns that advice, if it applies.
pub fn hint(taken: &Taken) -> Option<&'static str> {
    taken.undirected_reaches_more.then_some(HINT)
}
