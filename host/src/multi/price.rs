//! Prices of several devices, and whether one is faster.

use super::Devices;
use super::execute::Work;
use crate::graph::Graph;
use seawall_core::plan::devices::{self, Scope};

/// Prices of several devices, as measured: of barriers and exchanges those of the planner.
///
/// Two H200 of one host, 2026-11-27, PageRank of `gen:rmat:22:16`: one GPU with its own
/// kernels took 3.3 ms for 11 iterations, one device with the kernel of several 20.1 ms.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Prices {
    /// Barriers and exchanges.
    machine: devices::Prices,
    /// Edges that one GPU visits in a nanosecond by its own kernels.
    one_edges_per_ns: f64,
    /// Edges that each of several devices visits in a nanosecond.
    edges_per_ns: f64,
}

impl Default for Prices {
    fn default() -> Self {
        Self {
            machine: devices::Prices::default(),
            one_edges_per_ns: 447.0,
            edges_per_ns: 73.0,
        }
    }
}

impl Prices {
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
    let prices = Prices::default();
    let (edges, nodes) = (f64::from(graph.edges()), f64::from(graph.nodes()));
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
        let prices = Prices::default();
        let time = |devices| prices.run_ns(2e9, 12.0, 3e8, devices);
        assert!(time(1) < time(2) && time(4) < time(2) && time(12) < time(1));
    }
}
