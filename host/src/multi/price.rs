//! Prices of several devices, and whether one is faster.

use super::Devices;
use super::way::Work;
use crate::graph::Graph;
use seawall_core::plan::devices::{self, Scope};

/// Prices of several devices, as measured: of barriers and exchanges those of the planner.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Prices {
    /// Barriers and exchanges.
    machine: devices::Prices,
    /// Edges that one GPU visits in a nanosecond by its own kernels.
    one_edges_per_ns: f64,
    /// Edges that each of several devices visits in a nanosecond.
    edges_per_ns: f64,
}

/// Nodes from which on one GPU gathers ranks by slices instead of tiles, which are faster.
const SLICED: u32 = 1 << 24;

/// Edges a node from which on a search is taken to have few levels, each of many nodes.
const SHALLOW: f64 = 16.0;

impl Prices {
    /// Those of an analysis of a graph of this size, measured on one and two H200 of one host,
    /// 2026-11-28: runs of `gen:rmat:26:16`, of `gen:rmat:22:16` for core numbers and ranks of fewer
    /// nodes, and of `gen:grid:2048` for searches of many levels (docs/many-gpus.md).
    fn of(work: Work, nodes: u32, edges: f64) -> Self {
        let [one_edges_per_ns, edges_per_ns] = match work {
            Work::Levels | Work::Reached if edges < SHALLOW * f64::from(nodes) => [1.5, 0.12],
            Work::Levels | Work::Reached => [323.0, 219.0],
            Work::Lengths => [97.0, 25.0],
            Work::Components => [583.0, 72.0],
            Work::Ranks if nodes < SLICED => [447.0, 134.0],
            Work::Ranks => [148.0, 108.0],
            Work::Cores => [11.7, 0.8],
        };
        Self {
            machine: devices::Prices::default(),
            one_edges_per_ns,
            edges_per_ns,
        }
    }

    /// The time of an analysis that visits `edges` edges in `steps` steps and exchanges `bytes`
    /// bytes with each device in all, on `devices` devices: a prediction, nanoseconds.
    fn run_ns(&self, edges: f64, steps: f64, bytes: f64, devices: u32) -> f64 {
        if devices < 2 {
            return edges / self.one_edges_per_ns;
        }
        let devices = f64::from(devices);
        let work = edges / (devices * self.edges_per_ns);
        let received = bytes * (devices - 1.0) / devices;
        let barrier_ns = self.machine.barrier_ns(Scope::System) as f64;
        let bytes_per_ns = f64::from(self.machine.link_bytes_per_us) / 1e3;
        work + steps * barrier_ns + received / bytes_per_ns
    }
}

/// Why one device is faster than several for an analysis of `graph`, if that is so for any graph of
/// its size: a run that visits each edge once saves less than its least number of barriers costs.
#[must_use]
pub(super) fn reason_for_one(graph: &Graph, work: Work, devices: &Devices) -> Option<String> {
    let (edges, nodes) = (f64::from(graph.edges()), f64::from(graph.nodes()));
    let prices = Prices::of(work, graph.nodes(), edges);
    let (passes, steps, bytes) = match work {
        Work::Levels | Work::Reached => (1.0, 6.0, nodes / 8.0),
        Work::Lengths => (2.0, 12.0, nodes * 4.0),
        Work::Components => (1.0, 2.0, nodes * 8.0),
        Work::Ranks => (12.0, 12.0, nodes * 48.0),
        Work::Cores => (1.0, 100.0, nodes / 2.0),
    };
    let time = |count| prices.run_ns(edges * passes, steps, bytes, count);
    let [one, all] = [1, devices.count()].map(time);
    (all >= one).then(|| {
        format!(
            "one device is the better choice: about {:.0} us of work against {:.0} us with the barriers and the exchange of {}",
            one / 1e3,
            all / 1e3,
            devices.count()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_graphs_are_cut_and_small_ones_are_not() {
        let small = Graph::from_edges(3, &[(0, 1), (1, 2)], true).unwrap();
        let two = Devices::Gpus(vec![0, 1]);
        let reason = reason_for_one(&small, Work::Levels, &two).unwrap();
        assert!(
            reason.contains("one device is the better choice"),
            "{reason}"
        );
        // The edges of gen:rmat:26:16.
        let time = |work, count| {
            let prices = Prices::of(work, 1 << 26, 2.1e9);
            prices.run_ns(2.1e9, 12.0, 3e8, count)
        };
        for work in [Work::Levels, Work::Ranks] {
            assert!(time(work, 2) < time(work, 1) && time(work, 4) < time(work, 2));
        }
        for work in [Work::Components, Work::Cores, Work::Lengths] {
            assert!(time(work, 1) < time(work, 2));
        }
        // Roads have many levels.
        let roads = Prices::of(Work::Levels, 1 << 24, 4e7);
        assert!(roads.run_ns(4e7, 6.0, 2e6, 1) < roads.run_ns(4e7, 6.0, 2e6, 8));
    }
}
