//! Times of the strongest specialised program for each job, recorded elsewhere.
//!
//! One H200, driver 580, CUDA 13.0, 2026-11, device time without the peer's preprocessing on the
//! host; each result was checked. They appear beside rows of the persistent kernel at full size,
//! on any machine, as a goal: they are not measurements of the present run.

use super::row::{Clock, Figure, Row};
use super::section::Section;

/// Section, graph, program, milliseconds.
const RECORDED: [(Section, &str, &str, f64); 19] = [
    (Section::Bfs, "gen:rmat:22:16", "XBFS", 0.79),
    (Section::Bfs, "gen:uniform:22:16", "XBFS", 0.89),
    (Section::Bfs, "gen:grid:2048", "Atos", 21.7),
    (Section::Sssp, "gen:rmat:22:16", "Tigr", 7.07),
    (Section::Sssp, "gen:uniform:22:16", "Tigr", 26.1),
    (Section::Sssp, "gen:grid:2048", "Tigr", 251.0),
    (Section::Pagerank, "gen:rmat:22:16", "puzzlef", 2.20),
    (Section::Pagerank, "gen:uniform:22:16", "puzzlef", 4.45),
    (Section::Pagerank, "gen:grid:2048", "puzzlef", 0.099),
    (Section::Cc, "gen:rmat:22:16", "ECL-CC", 2.08),
    (Section::Cc, "gen:uniform:22:16", "ECL-CC", 3.70),
    (Section::Cc, "gen:grid:2048", "ECL-CC", 0.39),
    (Section::Kcore, "gen:rmat:22:16", "KCoreGPU", 63.0),
    (Section::Kcore, "gen:uniform:22:16", "KCoreGPU", 2.80),
    (Section::Kcore, "gen:grid:2048", "KCoreGPU", 53.0),
    (Section::Triangles, "gen:rmat:18:16", "WeTriC", 1.06),
    (Section::Triangles, "gen:rmat:22:16", "WeTriC", 46.0),
    (Section::Triangles, "gen:uniform:22:16", "GroupTC", 4.85),
    (Section::Triangles, "gen:grid:2048", "WeTriC", 0.073),
];

/// The recorded time for `row`, if it is of the persistent kernel and there is one.
pub(super) fn recorded(row: &Row) -> Option<Figure> {
    if row.clock != Clock::Device || row.ours.name != "mega" {
        return None;
    }
    let names = |graph: &str| row.what.split([' ', ',']).any(|word| word == graph);
    let mut found = RECORDED
        .iter()
        .filter(|(section, graph, ..)| *section == row.section && names(graph));
    let (.., program, ms) = found.next()?;
    Some(Figure::new(*program, ms * 1e6))
}
