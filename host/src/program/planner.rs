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

/// The planner's working memory.
pub(super) struct PlannerMemory {
    needs: Requirements,
    words: Vec<u32>,
    longs: Vec<u64>,
}

impl PlannerMemory {
    pub(super) fn for_dag(dag: &Dag<'_>) -> Self {
        let needs = Requirements::for_dag(dag.waves.len(), dag.dependencies.len());
        let layers = needs.layer_words + needs.dependency_words;
        Self {
            needs,
            words: vec![0; layers + needs.pack_words + needs.arena_words],
            longs: vec![0; needs.pack_bytes + needs.arena_offsets],
        }
    }

    pub(super) fn view(&mut self) -> ExecutionScratchView<'_> {
        let (layers, words) = self.words.split_at_mut(self.needs.layer_words);
        let (dependencies, words) = words.split_at_mut(self.needs.dependency_words);
        let (pack, arena) = words.split_at_mut(self.needs.pack_words);
        let (bytes, offsets) = self.longs.split_at_mut(self.needs.pack_bytes);
        let layers = ScratchView::new(layers, dependencies);
        ExecutionScratchView::new(
            GroupScratchView::new(layers, pack, bytes),
            ArenaScratchView::new(arena, offsets),
        )
    }
}
