//! Times of the strongest specialised program for each job, recorded elsewhere.
//!
//! One H200, driver 580, CUDA 13.0, 2026-11, device time without the peer's preprocessing on the
//! host; each result was checked. They appear beside rows of the persistent kernel at full size,
//! on any machine, as a goal: they are not measurements of the present run.

use super::row::{Clock, Figure, Row};
use super::section::Section;

/// Analysis of the vocabulary, graph, program, milliseconds.
const VOCABULARY: [(&str, &str, &str, f64); 11] = [
    ("mis", "gen:rmat:22:16", "ECL-MIS", 0.55),
    ("mis", "gen:uniform:22:16", "ECL-MIS", 1.2),
    ("mis", "gen:grid:2048", "ECL-MIS", 0.38),
    ("colouring", "gen:rmat:22:16", "ECL-GC", 26.4),
    ("colouring", "gen:uniform:22:16", "ECL-GC", 4.39),
    ("colouring", "gen:grid:2048", "ECL-GC", 0.37),
    ("msf", "gen:rmat:22:16", "ECL-MST", 20.3),
    ("msf", "gen:uniform:22:16", "ECL-MST", 14.3),
    ("msf", "gen:grid:2048", "ECL-MST", 6.17),
    ("scc", "gen:rmat-directed:22:16", "ECL-SCC", 11.5),
    ("scc", "gen:chain:262144", "ECL-SCC", 0.20),
];

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

/// Analysis, graph, milliseconds of the GAP suite with 16 threads on the same machine, wall time.
const GAP: [(&str, &str, f64); 10] = [
    ("bfs", "gen:rmat:22:16", 12.5),
    ("bfs", "gen:uniform:22:16", 14.7),
    ("bfs", "gen:grid:2048", 63.0),
    ("sssp", "gen:rmat:22:16", 116.0),
    ("sssp", "gen:uniform:22:16", 182.0),
    ("sssp", "gen:grid:2048", 51.5),
    ("cc", "gen:rmat:22:16", 20.3),
    ("cc", "gen:grid:2048", 9.0),
    ("pagerank", "gen:rmat:22:16", 32.7),
    ("pagerank", "gen:uniform:22:16", 38.2),
];

/// The recorded time for `row`: of a GPU's program if the row is of the persistent kernel, of the
/// GAP suite if it is of the CPU backend.
pub(super) fn recorded(row: &Row) -> Option<Figure> {
    let names = |name: &str| row.what.split([' ', ',']).any(|word| word == name);
    if row.section == Section::Cpu {
        let mut found = GAP
            .iter()
            .filter(|(analysis, graph, _)| names(analysis) && names(graph));
        let (.., ms) = found.next()?;
        return Some(Figure::new("GAP, 16 threads", ms * 1e6));
    }
    if row.clock != Clock::Device || row.ours.name != "mega" {
        return None;
    }
    if row.section == Section::Vocabulary {
        let (program, ms) = of_vocabulary(names)?;
        return Some(Figure::new(program, ms * 1e6));
    }
    let mut found = RECORDED
        .iter()
        .filter(|(section, graph, ..)| *section == row.section && names(graph));
    let (.., program, ms) = found.next()?;
    Some(Figure::new(*program, ms * 1e6))
}

/// The program, and its milliseconds, for the analysis of the vocabulary and the graph that are
/// both named.
pub(super) fn of_vocabulary(names: impl Fn(&str) -> bool) -> Option<(&'static str, f64)> {
    let mut found = VOCABULARY
        .iter()
        .filter(|(analysis, graph, ..)| names(analysis) && names(graph));
    let (.., program, ms) = *found.next()?;
    Some((program, ms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Baseline;

    fn of(section: Section, what: &str, clock: Clock, name: &str) -> Option<String> {
        let missing = Baseline::Missing {
            name: "none".to_owned(),
            why: "a test".to_owned(),
        };
        let row = Row::new(what, clock, Figure::new(name, 1.0), missing);
        recorded(&Row { section, ..row }).map(|figure| figure.name)
    }

    #[test]
    fn a_row_has_the_peer_of_its_machine() {
        let what = "sssp gen:grid:2048, from 0";
        let of_cpu = of(Section::Cpu, what, Clock::Wall, "cpu, 2 threads");
        assert_eq!(of_cpu.as_deref(), Some("GAP, 16 threads"));
        let of_gpu = of(Section::Sssp, what, Clock::Device, "mega");
        assert_eq!(of_gpu.as_deref(), Some("Tigr"));
        assert_eq!(of(Section::Sssp, what, Clock::Wall, "cpu, 2 threads"), None);
        let what = "mis gen:grid:2048";
        let of_gpu = of(Section::Vocabulary, what, Clock::Device, "mega");
        assert_eq!(of_gpu.as_deref(), Some("ECL-MIS"));
        assert_eq!(
            of(Section::Cpu, "bfs gen:grid:48", Clock::Wall, "cpu"),
            None
        );
    }
}
