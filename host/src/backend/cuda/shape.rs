//! Lanes of a block of the persistent kernel, by graph and work.
//!
//! By default there is one block per multiprocessor. More lanes hide more memory latency; fewer
//! lanes have more registers each, and a cheaper barrier. All figures are from an H200.

use super::CudaOptions;
use super::cluster::CLUSTER_MAX;
use crate::backend::DeviceInfo;
use crate::graph::Graph;
use crate::program::encoded::EncodedProgram;
use seawall_core::abi::program::Opcode;

/// Dominant work of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Only frontier searches and operations on words.
    Searches,
    /// Many rounds, each over the nodes that the last one found.
    Rounds,
    /// Connected components.
    Components,
    /// Passes over all nodes or edges.
    Passes,
}

impl Work {
    /// Returns the dominant work of `program`, other than searching.
    pub(super) fn of(program: &EncodedProgram) -> Self {
        let has = |wanted: fn(Opcode) -> bool| {
            let opcodes = program.waves.iter();
            opcodes
                .filter_map(|wave| Opcode::from_word(wave.opcode))
                .any(wanted)
        };
        if has(|opcode| {
            matches!(
                opcode,
                Opcode::StepPaths
                    | Opcode::StepPathsWide
                    | Opcode::StepPathsFloat
                    | Opcode::StepPeel
                    | Opcode::StepSets
            )
        }) {
            Self::Rounds
        } else if has(|opcode| matches!(opcode, Opcode::LinkSample | Opcode::LinkRest)) {
            Self::Components
        } else {
            Self::Passes
        }
    }
}

/// Lanes of a block by work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lanes {
    searches: u32,
    rounds: u32,
    components: u32,
    passes: u32,
}

/// For graphs of higher degree. Wide steps of a search and passes need all lanes
/// (`gen:rmat:22:16`: a search 0.57 ms, with 640 lanes 0.65 ms; a wave that links along every edge
/// 2.2 and 3.1 ms). For other work registers are worth more: core numbers take 21.8 ms instead of
/// 33.1 ms with 1024 lanes, components 1.1 instead of 1.3 to 1.5 ms, paths the same.
const RICH: Lanes = Lanes {
    searches: 1024,
    rounds: 640,
    components: 640,
    passes: 1024,
};

/// For graphs of low degree, whose searches are deep and narrow, so that a cheaper barrier is
/// worth more than more lanes. In a cluster they need one lane per edge of most frontiers
/// (`gen:grid:2048`: 10.9 ms with 640 lanes, 11.3 ms with 512). Lanes fetch what they keep in
/// memory again after every barrier, so rounds get few lanes (paths there: 65 ms with 128 lanes,
/// 82 ms with 512, both without the registers that few lanes leave). Components take 1.06 ms
/// there, with 512 lanes 1.32 ms; triangles 3.4 and 4.7 ms.
const LEAN: Lanes = Lanes {
    searches: 640,
    rounds: 128,
    components: 1024,
    passes: 1024,
};

/// Lanes of searches on smaller graphs of low degree (`gen:grid:512`: 2.2 ms, with 512 lanes 2.6
/// ms).
const SMALL_SEARCHES: u32 = 256;

/// Number of nodes below which a graph counts as small there.
const SMALL_NODES: u32 = 1 << 20;

/// Highest average degree of a graph of low degree.
const LEAN_DEGREE: u64 = 8;

impl Lanes {
    /// Returns the lanes for `graph`.
    fn of(graph: &Graph) -> Self {
        if !is_lean(graph) {
            RICH
        } else if graph.nodes() < SMALL_NODES {
            Self {
                searches: SMALL_SEARCHES,
                ..LEAN
            }
        } else {
            LEAN
        }
    }

    /// Returns the lanes for `work`.
    pub(super) const fn of_work(self, work: Work) -> u32 {
        match work {
            Work::Searches => self.searches,
            Work::Rounds => self.rounds,
            Work::Components => self.components,
            Work::Passes => self.passes,
        }
    }
}

fn is_lean(graph: &Graph) -> bool {
    u64::from(graph.edges()) <= LEAN_DEGREE * u64::from(graph.nodes())
}

/// Requested shape; `None` means the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// Blocks of the grid.
    pub(super) blocks: Option<u32>,
    /// Lanes of a block.
    pub(super) lanes: Option<u32>,
    /// Lanes of a block by work, instead of these.
    pub(super) lanes_by_work: Option<Lanes>,
    /// Blocks of a cluster.
    pub(super) cluster: Option<u32>,
}

impl Asked {
    /// Returns the shape of the persistent kernel for `graph`: the one in `options`, or one block
    /// per multiprocessor with lanes by work. Blocks form clusters on graphs of low degree if the
    /// device supports them, since a narrow frontier then needs no barrier of the whole grid.
    pub(super) fn for_mega(graph: &Graph, options: &CudaOptions, info: &DeviceInfo) -> Self {
        if options.blocks.is_some() || options.lanes.is_some() || options.cluster.is_some() {
            return Self::plainly(options);
        }
        let clusters = is_lean(graph) && info.compute_capability >= Some((9, 0));
        Self {
            blocks: Some(info.units),
            lanes: None,
            lanes_by_work: Some(Lanes::of(graph)),
            cluster: clusters.then_some(CLUSTER_MAX),
        }
    }

    /// Returns only what `options` specify.
    pub(super) fn plainly(options: &CudaOptions) -> Self {
        Self {
            blocks: options.blocks,
            lanes: options.lanes,
            lanes_by_work: None,
            cluster: options.cluster,
        }
    }

    /// Returns the shape for one kind of work; clusters are for searches.
    pub(super) fn for_work(self, work: Work) -> Self {
        let by_work = self.lanes_by_work.map(|lanes| lanes.of_work(work));
        Self {
            lanes: by_work.or(self.lanes),
            lanes_by_work: None,
            cluster: self.cluster.filter(|_| work == Work::Searches),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(nodes: u32, degree: u32) -> Graph {
        let edges: Vec<_> = (0..nodes)
            .flat_map(|from| (1..=degree).map(move |step| (from, (from + step) % nodes)))
            .collect();
        Graph::from_edges(nodes, &edges, false).unwrap()
    }

    fn hopper() -> DeviceInfo {
        DeviceInfo {
            name: "a device".to_owned(),
            units: 132,
            compute_capability: Some((9, 0)),
            memory_bytes: 1 << 37,
        }
    }

    #[test]
    fn graphs_of_low_degree_are_searched_in_clusters_of_small_blocks() {
        let options = CudaOptions::default();
        let asked = Asked::for_mega(&graph(100, 2), &options, &hopper());
        let search = asked.for_work(Work::Searches);
        assert_eq!(
            (search.blocks, search.lanes, search.cluster),
            (Some(132), Some(SMALL_SEARCHES), Some(CLUSTER_MAX))
        );
        let rounds = asked.for_work(Work::Rounds);
        assert_eq!((rounds.lanes, rounds.cluster), (Some(LEAN.rounds), None));
        let older = DeviceInfo {
            compute_capability: Some((8, 0)),
            ..hopper()
        };
        let asked = Asked::for_mega(&graph(100, 2), &options, &older);
        assert_eq!(asked.for_work(Work::Searches).cluster, None);
    }

    #[test]
    fn graphs_of_high_degree_get_no_clusters() {
        let asked = Asked::for_mega(&graph(100, 20), &CudaOptions::default(), &hopper());
        let search = asked.for_work(Work::Searches);
        assert_eq!((search.lanes, search.cluster), (Some(1024), None));
        assert_eq!(asked.for_work(Work::Passes).lanes, Some(RICH.passes));
    }

    #[test]
    fn requested_lanes_hold_for_all_work() {
        let options = CudaOptions {
            lanes: Some(96),
            ..CudaOptions::default()
        };
        let asked = Asked::for_mega(&graph(100, 2), &options, &hopper());
        for work in [Work::Searches, Work::Rounds, Work::Components, Work::Passes] {
            assert_eq!(asked.for_work(work).lanes, Some(96));
            assert_eq!(asked.for_work(work).blocks, None);
        }
    }
}
