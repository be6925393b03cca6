//! Calls of the planner with registers as its regions, and its working memory.

use seawall_core::cache::{AnalysisKind, DeviceKey, Identity, Subject};
use seawall_core::plan::execution::{Chooser, Request};
use seawall_core::plan::{
    ArenaOptions, Budget, Execution, ExecutionError, Requirements, Results, execution,
};
use seawall_core::scratch::{
    ArenaScratchView, ExecutionScratchView, GroupScratchView, ScratchView,
};
use seawall_core::wave::Dag;

/// A request whose regions are registers, with the results that stay and the alignment.
pub(super) fn in_registers<'a>(
    dag: Dag<'a>,
    budget: Budget,
    results: Results<'a>,
    alignment_bytes: u64,
) -> Request<'a> {
    Request {
        arena: ArenaOptions {
            alignment_bytes,
            results,
            ..ArenaOptions::default()
        },
        ..Request::new(dag, budget)
    }
}

/// Plans with the topology that has one copy of scratch: waves only have registers, and the device
/// decides step by step how a frontier is searched.
pub(super) fn run_planner<'a>(
    request: &Request<'a>,
    space: &'a mut PlannerMemory,
) -> Result<Execution<'a>, ExecutionError> {
    let mut subject = Subject::new(Identity {
        graph_layout_hash: 0,
        analysis: AnalysisKind::Custom(0),
        device: DeviceKey::default(),
    });
    let policy = seawall_core::topology::TopologyPolicy::DEFAULT;
    execution(request, Chooser::plain(&policy, &mut subject), space.view())
}

pub(super) fn waves_of(plan: &Execution<'_>) -> Vec<Vec<u32>> {
    let groups = plan.groups.iter();
    groups
        .map(|group| group.waves.iter().map(|wave| wave.0).collect())
        .collect()
}

pub(super) fn bytes_of(plan: &Execution<'_>) -> Vec<u64> {
    let groups = plan.groups.iter();
    groups.map(|group| group.fused_bytes).collect()
}

/// Identity of any machine whose blocks can meet, for plans of DAGs without a graph.
pub const ANY_MACHINE: Identity = Identity {
    graph_layout_hash: 0,
    analysis: AnalysisKind::Custom(0),
    device: DeviceKey {
        compute_capability_major: 0,
        compute_capability_minor: 0,
        warp_size: 32,
        max_threads_per_block: 1024,
        grid_sync: true,
        tensor_cores: false,
    },
};

/// The planner's working memory.
#[derive(Debug)]
pub struct PlannerMemory {
    needs: Requirements,
    words: Vec<u32>,
    longs: Vec<u64>,
}

impl PlannerMemory {
    /// Allocates enough for `dag` with any strategy. Linear in waves and dependencies.
    #[must_use]
    pub fn for_dag(dag: &Dag<'_>) -> Self {
        let needs = Requirements::for_dag(dag.waves.len(), dag.dependencies.len());
        let layers = needs.layer_words + needs.dependency_words;
        Self {
            needs,
            words: vec![0; layers + needs.pack_words + needs.arena_words],
            longs: vec![0; needs.pack_bytes + needs.arena_offsets],
        }
    }

    /// Space for the groups only.
    pub fn groups(&mut self) -> GroupScratchView<'_> {
        self.parts().0
    }

    /// Space for the groups and the arena that follows them.
    pub fn view(&mut self) -> ExecutionScratchView<'_> {
        let (groups, arena) = self.parts();
        ExecutionScratchView::new(groups, arena)
    }

    fn parts(&mut self) -> (GroupScratchView<'_>, ArenaScratchView<'_>) {
        let (layers, words) = self.words.split_at_mut(self.needs.layer_words);
        let (dependencies, words) = words.split_at_mut(self.needs.dependency_words);
        let (pack, arena) = words.split_at_mut(self.needs.pack_words);
        let (bytes, offsets) = self.longs.split_at_mut(self.needs.pack_bytes);
        let layers = ScratchView::new(layers, dependencies);
        (
            GroupScratchView::new(layers, pack, bytes),
            ArenaScratchView::new(arena, offsets),
        )
    }
}
