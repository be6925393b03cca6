//! Decision whether tiles pay for a ranking on a GPU.
//!
//! The host makes them when such a program is first loaded, with every thread,
//! and each iteration is faster from then on. Figures are of the two graphs of 134 M
//! edges of `docs/performance.md`.

use super::predict::time;
use crate::cost::{GpuCosts, Job};
use crate::units::counted;

/// Time per edge of all threads together, nanoseconds: 1.5 to 1.9 s with two threads, 0.37 to 0.44
/// s with 16.
const SHARED_NS: f64 = 27.0;

/// Time per edge of one thread while the others wait, nanoseconds: 0.13 s in total.
const ALONE_NS: f64 = 1.0;

/// Share of an edge's cost row by row that tiles save: an iteration took 0.36 instead
/// of 0.99 ms, and with default costs an edge of a pass costs 1.2 ms in all.
const SAVED: f64 = 0.5;

/// Costs and savings of tiles, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TilePrediction {
    /// Making and uploading them, once.
    pub making_ns: f64,
    /// Savings of all iterations of all runs, which share the making.
    pub saved_ns: f64,
    /// Those runs.
    pub runs: f64,
}

/// Predicts costs and savings of tiles for `passes` passes over the edges of `job` in each of its
/// runs, if `threads` threads make them.
#[must_use]
pub fn predict_tiles(job: &Job, passes: f64, costs: &GpuCosts, threads: u32) -> TilePrediction {
    let making_ns = SHARED_NS / f64::from(threads.max(1)) + ALONE_NS;
    let runs = job.repeat.max(1.0);
    TilePrediction {
        making_ns: job.edges * (making_ns + 4.0 * costs.upload_byte_ns),
        saved_ns: job.edges * SAVED * costs.run.gather_ns * passes * runs,
        runs,
    }
}

impl TilePrediction {
    /// Tells whether they save more than they cost.
    #[must_use]
    pub fn pays(&self) -> bool {
        self.saved_ns > self.making_ns
    }

    /// Reason why they are not made, in one line.
    #[must_use]
    pub fn reason_against(&self) -> String {
        format!(
            "ranks are gathered without tiles: they would take about {} to make and save about {} in {}",
            time(self.making_ns),
            time(self.saved_ns),
            counted(self.runs as u64, "run")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{AnalysisKind, Ranking};
    use crate::cost::Tally;

    /// A ranking of `gen:rmat:22:16` with as many iterations, run `repeat` times, when
    /// `threads` threads make the tiles.
    fn predicted(max_iterations: f64, repeat: f64, threads: u32) -> TilePrediction {
        let analysis = AnalysisKind::Pagerank.definition();
        let ranking = Ranking {
            tolerance: 0.0,
            ..Ranking::default()
        };
        let job = Job {
            nodes: 4_194_304.0,
            edges: 128_312_678.0,
            weighted: false,
            can_pull: true,
            tally: Tally::default(),
            sources: 1.0,
            rounds: analysis
                .rounds_predicted(ranking)
                .clamp(1.0, max_iterations),
            repeat,
        };
        let passes = analysis.tiled_passes(&job);
        predict_tiles(&job, passes, &GpuCosts::default(), threads)
    }

    #[test]
    fn predictions_are_near_measurements() {
        for (threads, milliseconds) in [(16, 0.37e3..0.44e3), (2, 1.5e3..1.9e3)] {
            let making = predicted(1.0, 1.0, threads).making_ns * 1e-6;
            let [least, most] = [0.9 * milliseconds.start, 1.1 * milliseconds.end];
            assert!((least..most).contains(&making), "{threads}: {making}");
        }
        let saved = predicted(1.0, 100.0, 16).saved_ns * 1e-6;
        assert!(
            (0.8..1.25).contains(&(saved / (0.99 - 0.36) / 100.0)),
            "{saved}"
        );
    }

    #[test]
    fn tiles_pay_from_about_six_hundred_iterations_on_in_one_run_or_many() {
        assert!(!predicted(20.0, 25.0, 16).pays());
        assert!(predicted(20.0, 35.0, 16).pays());
        assert!(!predicted(20.0, 35.0, 2).pays());
        assert!(predicted(20.0, 175.0, 2).pays());
        // One run pays for them alone.
        assert!(!predicted(30.0, 1.0, 16).pays());
        assert!(!predicted(1e9, 1.0, 16).pays());
        assert!(predicted(1e9, 8.0, 16).pays());
    }

    #[test]
    fn the_reason_has_both_figures() {
        assert_eq!(
            predicted(10.0, 1.0, 16).reason_against(),
            "ranks are gathered without tiles: they would take about 360.0 ms to make and save about 6.0 ms in 1 run"
        );
    }
}
