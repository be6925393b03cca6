//! Shape of the persistent kernel, by the planner's launch policy.
//!
//! The policy gets the device's limits, the lanes that were measured for a kind of work
//! ([`LaneTable`](crate::backend::lanes::LaneTable)), and whether a narrower kernel has every
//! opcode of the program. It returns lanes, blocks, and the mode, which chooses that kernel.
//!
//! It decides little here, on purpose: a resident kernel keeps one block on every multiprocessor,
//! however short a queue is, because a wave over edges needs all of them. So blocks are the
//! multiprocessors and lanes are those of the table, clamped to the limits of the device and
//! rounded to whole warps, and the mode follows from the program. The policy decides sizes where
//! queues vary: the workers of a service ([`service`](crate::service)) and the dispatches of
//! `seawall plan`.

use super::CudaOptions;
use super::cluster::CLUSTER_MAX;
use crate::backend::gpu::DeviceLimits;
use crate::backend::lanes::{Kind, Lanes, Work};
use crate::graph::Graph;
use seawall_core::launch::{
    AdapterLimits, LaunchMode, LaunchPlan, LaunchPolicy, LaunchRequest, LaunchThresholds,
};
use seawall_core::ratio::Bps;

/// The planner's policy for resident kernels. They have at most one block per multiprocessor, so
/// more lanes lower no occupancy. A program that fits a narrower kernel is hot as a whole, however
/// few its waves or nodes are.
const POLICY: LaunchPolicy = {
    let thresholds = LaunchThresholds {
        lanes_max: 1024,
        hot_opcode_min: 1,
        fused_queue_min: u32::MAX,
        ..LaunchThresholds::STANDARD
    };
    match LaunchPolicy::new(thresholds) {
        Ok(policy) => policy,
        Err(_) => LaunchPolicy::STANDARD,
    }
};

/// The graph and the device that shapes are planned for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    lanes: Lanes,
    units: u32,
    lanes_max: u32,
    nodes: u32,
    edges: u32,
}

impl Site {
    /// Plans the launch for `work`; `is_hot` says whether a narrower kernel knows the program.
    ///
    /// All nodes may be active, and every lane has a slot even if there are fewer, because waves
    /// over edges need lanes too. The blocks of a resident kernel take no memory of the budget, so
    /// its pressure does not reduce them.
    fn plan(&self, work: Work, is_hot: bool) -> Option<LaunchPlan> {
        let lanes = self.lanes.of_work(work).min(self.lanes_max);
        let slots = self.units.saturating_mul(lanes);
        let request = LaunchRequest {
            queue_len: self.nodes.max(slots),
            requested_worker_groups: self.units,
            limits: AdapterLimits {
                max_workgroup_size_x: lanes,
                max_compute_workgroups_per_dimension: self.units,
                max_compute_invocations_per_workgroup: self.lanes_max,
            },
            hot_opcode_count: u32::from(is_hot),
            graph_node_count: self.nodes,
            graph_edge_count: self.edges,
            memory_pressure: Some(Bps(0)),
            requested_hit_capacity: 1,
            ..LaunchRequest::default()
        };
        POLICY.plan(&request, None).ok()
    }
}

/// Requested shape; `None` means the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RequestedShape {
    /// Blocks of the grid.
    pub(super) blocks: Option<u32>,
    /// Lanes of a block.
    pub(super) lanes: Option<u32>,
    /// Graph and device to plan blocks and lanes for, by work, instead of these.
    pub(super) site: Option<Site>,
    /// Blocks of a cluster.
    pub(super) cluster: Option<u32>,
}

impl RequestedShape {
    /// Returns the shape of the persistent kernel for `graph`: the one in `options`, or one
    /// planned by work. Blocks form clusters on graphs of low degree if the device supports them,
    /// since a narrow frontier then needs no barrier of the whole grid.
    pub(super) fn for_mega(graph: &Graph, options: &CudaOptions, limits: &DeviceLimits) -> Self {
        if options.blocks.is_some() || options.lanes.is_some() || options.cluster.is_some() {
            return Self::plainly(options);
        }
        let kind = Kind::of(graph);
        let info = &limits.info;
        let clusters = kind != Kind::Rich && info.compute_capability >= Some((9, 0));
        Self {
            site: Some(Site {
                lanes: options.lane_table.of_kind(kind),
                units: info.units,
                lanes_max: limits.lanes_max,
                nodes: graph.nodes(),
                edges: graph.edges(),
            }),
            cluster: clusters.then_some(CLUSTER_MAX),
            ..Self::default()
        }
    }

    /// Returns only what `options` specify.
    pub(super) fn plainly(options: &CudaOptions) -> Self {
        Self {
            blocks: options.blocks,
            lanes: options.lanes,
            site: None,
            cluster: options.cluster,
        }
    }

    /// Returns the shape for one kind of work, and its mode; clusters are for searches. `is_hot`
    /// says whether a narrower kernel knows the program.
    pub(super) fn for_work(self, work: Work, is_hot: bool) -> (Self, LaunchMode) {
        let plan = self.site.and_then(|site| site.plan(work, is_hot));
        let plainly = if is_hot {
            LaunchMode::Fused
        } else {
            LaunchMode::Interpreter
        };
        let asked = Self {
            blocks: plan.map_or(self.blocks, |plan| Some(plan.grid_groups)),
            lanes: plan.map_or(self.lanes, |plan| Some(plan.lanes_per_group)),
            site: None,
            cluster: self.cluster.filter(|_| work == Work::Searches),
        };
        (asked, plan.map_or(plainly, |plan| plan.mode))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::DeviceInfo;
    use crate::backend::lanes::LaneTable;

    fn graph(nodes: u32, degree: u32) -> Graph {
        let edges: Vec<_> = (0..nodes)
            .flat_map(|from| (1..=degree).map(move |step| (from, (from + step) % nodes)))
            .collect();
        Graph::from_edges(nodes, &edges, false).unwrap()
    }

    fn hopper() -> DeviceLimits {
        DeviceLimits {
            ordinal: 0,
            info: DeviceInfo {
                name: "a device".to_owned(),
                units: 132,
                compute_capability: Some((9, 0)),
                memory_bytes: 1 << 37,
            },
            driver_version: 13_000,
            cooperative_launch: true,
            warp_lanes: 32,
            lanes_max: 1024,
            lanes_per_unit: 2048,
            blocks_per_unit: 32,
            shared_block_bytes: 48 << 10,
            shared_block_optin_bytes: 227 << 10,
            shared_unit_bytes: 228 << 10,
            cache_bytes: 50 << 20,
            kernel_timeout: false,
        }
    }

    const WORKS: [Work; 4] = [Work::Searches, Work::Rounds, Work::Components, Work::Passes];

    #[test]
    fn a_plan_has_the_lanes_of_the_table_on_every_multiprocessor() {
        let table = LaneTable::default();
        for (graph, kind) in [(graph(100, 2), Kind::Small), (graph(100, 20), Kind::Rich)] {
            let asked = RequestedShape::for_mega(&graph, &CudaOptions::default(), &hopper());
            for work in WORKS {
                let (shape, _) = asked.for_work(work, false);
                let lanes = table.of_kind(kind).of_work(work);
                assert_eq!(
                    (shape.blocks, shape.lanes),
                    (Some(132), Some(lanes)),
                    "{work:?}"
                );
            }
        }
    }

    #[test]
    fn tuned_lanes_replace_the_defaults_up_to_those_of_the_device() {
        let lanes = Lanes {
            searches: 96,
            rounds: 128,
            components: 512,
            passes: 1024,
        };
        let options = CudaOptions {
            lane_table: LaneTable::default().with(Kind::Small, lanes),
            ..CudaOptions::default()
        };
        let device = DeviceLimits {
            lanes_max: 256,
            ..hopper()
        };
        let asked = RequestedShape::for_mega(&graph(100, 2), &options, &device);
        let found = WORKS.map(|work| asked.for_work(work, false).0.lanes);
        assert_eq!(found, [Some(96), Some(128), Some(256), Some(256)]);
    }

    #[test]
    fn programs_that_a_narrower_kernel_knows_are_fused() {
        for options in [
            CudaOptions::default(),
            CudaOptions {
                lanes: Some(96),
                ..CudaOptions::default()
            },
        ] {
            let asked = RequestedShape::for_mega(&graph(100, 2), &options, &hopper());
            let mode = |is_hot| asked.for_work(Work::Passes, is_hot).1;
            assert_eq!(
                (mode(true), mode(false)),
                (LaunchMode::Fused, LaunchMode::Interpreter)
            );
        }
    }

    #[test]
    fn a_narrower_kernel_has_the_same_shape() {
        let options = CudaOptions::default();
        let mut asked = RequestedShape::for_mega(&graph(100, 2), &options, &hopper());
        for (nodes, edges) in [(100, 200), (1 << 22, 1 << 24), (1 << 22, 1 << 28)] {
            if let Some(site) = &mut asked.site {
                (site.nodes, site.edges) = (nodes, edges);
            }
            for work in [Work::Searches, Work::Rounds, Work::Components, Work::Passes] {
                let shape = |is_hot| asked.for_work(work, is_hot).0;
                assert_eq!(shape(true), shape(false), "{work:?}, {nodes} nodes");
            }
        }
    }

    #[test]
    fn graphs_of_low_degree_are_searched_in_clusters() {
        let options = CudaOptions::default();
        let cluster = |graph: &Graph, limits: &DeviceLimits, work| {
            let asked = RequestedShape::for_mega(graph, &options, limits);
            asked.for_work(work, true).0.cluster
        };
        let mut older = hopper();
        older.info.compute_capability = Some((8, 0));
        let (lean, rich) = (graph(100, 2), graph(100, 20));
        assert_eq!(cluster(&lean, &hopper(), Work::Searches), Some(CLUSTER_MAX));
        assert_eq!(cluster(&lean, &hopper(), Work::Rounds), None);
        assert_eq!(cluster(&lean, &older, Work::Searches), None);
        assert_eq!(cluster(&rich, &hopper(), Work::Searches), None);
    }

    #[test]
    fn requested_lanes_hold_for_all_work() {
        let options = CudaOptions {
            lanes: Some(96),
            ..CudaOptions::default()
        };
        let asked = RequestedShape::for_mega(&graph(100, 2), &options, &hopper());
        for work in WORKS {
            let (shape, _) = asked.for_work(work, false);
            assert_eq!((shape.lanes, shape.blocks), (Some(96), None));
        }
    }
}
