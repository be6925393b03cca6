//! Times of the strongest specialised program for each job, recorded elsewhere.
//!
//! One H200, driver 580, CUDA 13.0, 2026-11, device time without the peer's preprocessing on the
//! host; each result was checked. They appear beside rows of the persistent kernel at full size,
//! on any machine, as a goal: they are not measurements of the present run.

use super::graphs::{self, Spec};
use super::row::{Clock, Figure, Row};
use super::section::Section;
use seawall::analysis::AnalysisKind::{self, Bfs, Cc, Colouring, Mis, Msf, Pagerank, Scc, Sssp};

/// Analysis of the vocabulary, graph, program, milliseconds.
pub(super) const VOCABULARY: [(AnalysisKind, Spec, &str, f64); 11] = [
    (Mis, graphs::RMAT, "ECL-MIS", 0.55),
    (Mis, graphs::UNIFORM, "ECL-MIS", 1.2),
    (Mis, graphs::GRID, "ECL-MIS", 0.38),
    (Colouring, graphs::RMAT, "ECL-GC", 26.4),
    (Colouring, graphs::UNIFORM, "ECL-GC", 4.39),
    (Colouring, graphs::GRID, "ECL-GC", 0.37),
    (Msf, graphs::RMAT, "ECL-MST", 20.3),
    (Msf, graphs::UNIFORM, "ECL-MST", 14.3),
    (Msf, graphs::GRID, "ECL-MST", 6.17),
    (Scc, graphs::DIRECTED_RMAT, "ECL-SCC", 11.5),
    (Scc, graphs::CHAIN, "ECL-SCC", 0.20),
];

/// Section, graph, program, milliseconds.
const RECORDED: [(Section, Spec, &str, f64); 19] = [
    (Section::Bfs, graphs::RMAT, "XBFS", 0.79),
    (Section::Bfs, graphs::UNIFORM, "XBFS", 0.89),
    (Section::Bfs, graphs::GRID, "Atos", 21.7),
    (Section::Sssp, graphs::RMAT, "Tigr", 7.07),
    (Section::Sssp, graphs::UNIFORM, "Tigr", 26.1),
    (Section::Sssp, graphs::GRID, "Tigr", 251.0),
    (Section::Pagerank, graphs::RMAT, "puzzlef", 2.20),
    (Section::Pagerank, graphs::UNIFORM, "puzzlef", 4.45),
    (Section::Pagerank, graphs::GRID, "puzzlef", 0.099),
    (Section::Cc, graphs::RMAT, "ECL-CC", 2.08),
    (Section::Cc, graphs::UNIFORM, "ECL-CC", 3.70),
    (Section::Cc, graphs::GRID, "ECL-CC", 0.39),
    (Section::Kcore, graphs::RMAT, "KCoreGPU", 63.0),
    (Section::Kcore, graphs::UNIFORM, "KCoreGPU", 2.80),
    (Section::Kcore, graphs::GRID, "KCoreGPU", 53.0),
    (Section::Triangles, graphs::SMALL_RMAT, "WeTriC", 1.06),
    (Section::Triangles, graphs::RMAT, "WeTriC", 46.0),
    (Section::Triangles, graphs::UNIFORM, "GroupTC", 4.85),
    (Section::Triangles, graphs::GRID, "WeTriC", 0.073),
];

/// Analysis, graph, milliseconds of the GAP suite with 16 threads on the same machine, wall time.
pub(super) const GAP: [(AnalysisKind, Spec, f64); 10] = [
    (Bfs, graphs::RMAT, 12.5),
    (Bfs, graphs::UNIFORM, 14.7),
    (Bfs, graphs::GRID, 63.0),
    (Sssp, graphs::RMAT, 116.0),
    (Sssp, graphs::UNIFORM, 182.0),
    (Sssp, graphs::GRID, 51.5),
    (Cc, graphs::RMAT, 20.3),
    (Cc, graphs::GRID, 9.0),
    (Pagerank, graphs::RMAT, 32.7),
    (Pagerank, graphs::UNIFORM, 38.2),
];

/// The recorded time for `row`: of a GPU's program if the row is of the persistent kernel, of the
/// GAP suite if it is of the CPU backend.
pub(super) fn recorded(row: &Row) -> Option<Figure> {
    let names = |name: &str| row.what.split([' ', ',']).any(|word| word == name);
    let is_of = |kind: AnalysisKind, graph: Spec| names(kind.name()) && names(graph.full);
    let (program, ms) = match row.section {
        Section::Cpu => {
            let mut found = GAP.iter().filter(|(kind, graph, _)| is_of(*kind, *graph));
            ("GAP, 16 threads", found.next()?.2)
        }
        _ if row.clock != Clock::Device || row.ours.name != "mega" => return None,
        Section::Vocabulary => {
            let mut found = VOCABULARY
                .iter()
                .filter(|(kind, graph, ..)| is_of(*kind, *graph));
            let (.., program, ms) = *found.next()?;
            (program, ms)
        }
        section => {
            let is_it = |of: Section, graph: Spec| of == section && names(graph.full);
            let mut found = RECORDED.iter().filter(|(of, graph, ..)| is_it(*of, *graph));
            let (.., program, ms) = *found.next()?;
            (program, ms)
        }
    };
    Some(Figure::new(program, ms * 1e6))
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
