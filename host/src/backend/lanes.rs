//! Lanes of a block of the persistent kernel, by graph and work.
//!
//! By default there is one block per multiprocessor. More lanes hide more memory latency; fewer
//! lanes have more registers each, and a cheaper barrier. The defaults were measured on an H200;
//! `seawall info --calibrate --tune` measures them on another device.

use crate::graph::Graph;
use serde::{Deserialize, Serialize};

/// Dominant work of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Only frontier searches and operations on words.
    Searches,
    /// Many rounds, each over the nodes that the last one found.
    Rounds,
    /// Connected components.
    Components,
    /// Passes over all nodes or edges.
    Passes,
}

/// Lanes of a block by work, each a multiple of 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lanes {
    /// For searches.
    pub searches: u32,
    /// For rounds.
    pub rounds: u32,
    /// For components.
    pub components: u32,
    /// For passes.
    pub passes: u32,
}

impl Lanes {
    /// Returns the lanes for `work`.
    #[must_use]
    pub const fn of_work(self, work: Work) -> u32 {
        match work {
            Work::Searches => self.searches,
            Work::Rounds => self.rounds,
            Work::Components => self.components,
            Work::Passes => self.passes,
        }
    }

    /// Returns the same with `lanes` for `work`.
    #[must_use]
    pub const fn with(mut self, work: Work, lanes: u32) -> Self {
        match work {
            Work::Searches => self.searches = lanes,
            Work::Rounds => self.rounds = lanes,
            Work::Components => self.components = lanes,
            Work::Passes => self.passes = lanes,
        }
        self
    }

    fn is_sane(self) -> bool {
        [self.searches, self.rounds, self.components, self.passes]
            .into_iter()
            .all(is_block)
    }
}

/// Most lanes of a block on any device.
const LANES_MAX: u32 = 1024;

fn is_block(lanes: u32) -> bool {
    lanes.is_multiple_of(32) && (32..=LANES_MAX).contains(&lanes)
}

/// Kind of graph that decides about lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A graph of higher degree.
    Rich,
    /// A graph of low degree, with many nodes.
    Lean,
    /// A graph of low degree, with fewer nodes.
    Small,
}

impl Kind {
    /// Returns the kind of `graph`.
    #[must_use]
    pub fn of(graph: &Graph) -> Self {
        Self::of_size(graph.nodes(), u64::from(graph.edges()))
    }

    /// Returns the kind of a graph of this size.
    pub(crate) fn of_size(nodes: u32, edges: u64) -> Self {
        if edges > LEAN_DEGREE * u64::from(nodes) {
            Self::Rich
        } else if nodes < SMALL_NODES {
            Self::Small
        } else {
            Self::Lean
        }
    }
}

/// Number of nodes below which a graph of low degree counts as small.
const SMALL_NODES: u32 = 1 << 20;

/// Highest average degree of a graph of low degree.
const LEAN_DEGREE: u64 = 8;

/// Lanes of a block by the kind of the graph and by work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneTable {
    /// For graphs of higher degree.
    pub rich: Lanes,
    /// For graphs of low degree.
    pub lean: Lanes,
    /// For smaller graphs of low degree.
    pub small: Lanes,
}

/// Wide steps of a search and passes need all lanes (`gen:rmat:22:16`: a search 0.57 ms, with 640
/// lanes 0.65 ms; a wave that links along every edge 2.2 and 3.1 ms). For other work registers are
/// worth more: core numbers take 21.8 ms instead of 33.1 ms with 1024 lanes, components 1.1 instead
/// of 1.3 to 1.5 ms, paths the same.
const RICH: Lanes = Lanes {
    searches: 1024,
    rounds: 640,
    components: 640,
    passes: 1024,
};

/// Searches are deep and narrow, so that a cheaper barrier is worth more than more lanes. In a
/// cluster they need one lane per edge of most frontiers (`gen:grid:2048`: 10.9 ms with 640 lanes,
/// 11.3 ms with 512). Lanes fetch values in memory again after every barrier, so rounds get few
/// lanes (paths there: 65 ms with 128 lanes, 82 ms with 512, both without the registers that few
/// lanes leave). Components take 1.06 ms there, with 512 lanes 1.32 ms; triangles 3.4 and 4.7 ms.
const LEAN: Lanes = Lanes {
    searches: 640,
    rounds: 128,
    components: 1024,
    passes: 1024,
};

/// `gen:grid:512` is searched in 2.2 ms, with 512 lanes in 2.6 ms.
const SMALL: Lanes = Lanes {
    searches: 256,
    ..LEAN
};

impl Default for LaneTable {
    /// Returns the lanes that were measured on an H200.
    fn default() -> Self {
        Self {
            rich: RICH,
            lean: LEAN,
            small: SMALL,
        }
    }
}

impl LaneTable {
    /// Returns the lanes for a kind of graph.
    #[must_use]
    pub const fn of_kind(&self, kind: Kind) -> Lanes {
        match kind {
            Kind::Rich => self.rich,
            Kind::Lean => self.lean,
            Kind::Small => self.small,
        }
    }

    /// Returns the same table with other lanes for a kind of graph.
    #[must_use]
    pub const fn with(mut self, kind: Kind, lanes: Lanes) -> Self {
        match kind {
            Kind::Rich => self.rich = lanes,
            Kind::Lean => self.lean = lanes,
            Kind::Small => self.small = lanes,
        }
        self
    }

    /// Returns whether every entry is a valid block size.
    #[must_use]
    pub fn is_sane(&self) -> bool {
        [self.rich, self.lean, self.small]
            .into_iter()
            .all(Lanes::is_sane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_where_they_were_stored() {
        let mut table = LaneTable::default();
        let kinds = [Kind::Rich, Kind::Lean, Kind::Small];
        let works = [Work::Searches, Work::Rounds, Work::Components, Work::Passes];
        let all = || {
            kinds
                .iter()
                .flat_map(|kind| works.map(|work| (*kind, work)))
        };
        for ((kind, work), lanes) in all().zip((32..).step_by(32)) {
            table = table.with(kind, table.of_kind(kind).with(work, lanes));
        }
        for ((kind, work), lanes) in all().zip((32..).step_by(32)) {
            assert_eq!(table.of_kind(kind).of_work(work), lanes);
        }
        assert!(table.is_sane());
    }

    #[test]
    fn entries_that_are_no_block_are_found() {
        for lanes in [0, 1, 33, 1056] {
            let table = LaneTable::default();
            let broken = table.with(Kind::Lean, LEAN.with(Work::Rounds, lanes));
            assert!(!broken.is_sane(), "{lanes}");
        }
    }

    #[test]
    fn graphs_have_a_kind_by_degree_and_size() {
        let graph = |nodes: u32, degree: u32| {
            let step = |from| (1..=degree).map(move |step| (from, (from + step) % nodes));
            let edges: Vec<_> = (0..nodes).flat_map(step).collect();
            Graph::from_edges(nodes, &edges, false).unwrap()
        };
        assert_eq!(Kind::of(&graph(100, 20)), Kind::Rich);
        assert_eq!(Kind::of(&graph(100, 2)), Kind::Small);
        assert_eq!(Kind::of(&graph(SMALL_NODES, 1)), Kind::Lean);
    }
}
