//! The topology of a plan, and its consequences.

use super::super::arena::{self, ArenaOptions};
use super::super::groups::Groups;
use super::candidates::{FittingGroups, Planner};
use super::{Dispatch, Execution, ExecutionError, Request};
use crate::cache::{CacheView, PlanCache, Subject};
use crate::launch::{LaunchError, LaunchPlan, LaunchRequest};
use crate::ratio::Bps;
use crate::topology::memory::{Footprint, MemoryError, MemoryPlan};
use crate::topology::{Decision, Signals, Topology, TopologyPolicy};

/// The chooser of the topology: a policy, with or without a cache.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Chooser<'c> {
    subject: &'c mut Subject,
    source: Source<'c>,
}

#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
enum Source<'c> {
    Policy(&'c TopologyPolicy),
    Cache(CacheView<'c>),
}

impl<'c> Chooser<'c> {
    /// A policy without a cache.
    pub fn plain(policy: &'c TopologyPolicy, subject: &'c mut Subject) -> Self {
        let source = Source::Policy(policy);
        Self { subject, source }
    }

    /// A cache, which returns its policy's answers.
    pub fn cached<const N: usize>(cache: &'c mut PlanCache<N>, subject: &'c mut Subject) -> Self {
        let source = Source::Cache(cache.view());
        Self { subject, source }
    }

    /// Chooses given the previous topology, and remembers nothing.
    fn choose(&mut self, signals: &Signals) -> Decision {
        let mut subject = *self.subject;
        match &mut self.source {
            Source::Policy(policy) => subject.select(policy, signals),
            Source::Cache(cache) => cache.select(&mut subject, signals),
        }
    }
}

/// Chooses the topology of the groups, and completes their plan.
pub(super) fn execution<'a>(
    mut planner: Planner<'_, 'a>,
    found: FittingGroups<'a>,
    mut chooser: Chooser<'_>,
) -> Result<Execution<'a>, ExecutionError> {
    let request = *planner.request;
    let resident = request.budget.resident_bytes;
    let sparse = memory(&request, &planner.groups(&found.plan), Topology::Sparse)?;
    let needed = |memory: &MemoryPlan, arena_bytes: u64| {
        let arena = resident.saturating_add(arena_bytes);
        memory.required_bytes.max(arena)
    };
    let decision = chooser.choose(&Signals {
        required_bytes: needed(&sparse, found.size.bytes),
        budget_bytes: request.budget.budget_bytes,
        ..request.signals
    });
    let settled = match decision.topology {
        Topology::Sparse => None,
        wanted => settle(&mut planner, &found, wanted)?,
    };
    let downgraded = settled.is_none() && decision.topology != Topology::Sparse;
    let (memory, options, size) = match settled {
        Some(settled) => settled,
        None => {
            if downgraded {
                planner.lay_out(&found.plan, &found.options)?;
            }
            (sparse, found.options, found.size)
        }
    };
    let required_bytes = needed(&memory, size.bytes);
    let pressure = Bps::share(required_bytes, request.budget.budget_bytes).unwrap_or_default();
    let launch = match &request.dispatch {
        Some(dispatch) => Some(launch(&request, dispatch, (required_bytes, pressure))?),
        None => None,
    };
    chooser.subject.record(memory.topology);
    let found = FittingGroups {
        plan: found.plan,
        options,
        size,
    };
    let (groups, arena) = planner.into_parts(&found);
    Ok(Execution {
        groups,
        arena,
        results_stay: options.results == request.arena.results,
        decision,
        memory,
        downgraded,
        required_bytes,
        pressure_bps: pressure.0,
        launch,
    })
}

type Settled<'a> = (MemoryPlan, ArenaOptions<'a>, arena::Size);

/// Memory and arena under the wanted topology, if they fit.
fn settle<'a>(
    planner: &mut Planner<'_, 'a>,
    found: &FittingGroups<'a>,
    wanted: Topology,
) -> Result<Option<Settled<'a>>, ExecutionError> {
    let request = *planner.request;
    let Ok(memory) = memory(&request, &planner.groups(&found.plan), wanted) else {
        return Ok(None);
    };
    let options = ArenaOptions {
        topology: wanted,
        ..found.options
    };
    let has_scratch = planner.groups(&found.plan).summary().peak_scratch_bytes > 0;
    if !has_scratch {
        return Ok(Some((memory, options, found.size)));
    }
    let available = planner.available();
    let size = planner.lay_out(&found.plan, &options);
    // An overflow does not fit either.
    let fitting = size.ok().filter(|(_, size)| size.bytes <= available);
    Ok(fitting.map(|(_, size)| (memory, options, size)))
}

/// The memory of the group with the largest need under a topology.
fn memory(
    request: &Request<'_>,
    groups: &Groups<'_>,
    topology: Topology,
) -> Result<MemoryPlan, MemoryError> {
    let graph_bytes = request.budget.resident_bytes;
    let footprint = |frontier_bytes, scratch_bytes, output_bytes| Footprint {
        nodes: request.signals.nodes,
        edges: request.signals.edges,
        frontier_bytes,
        scratch_bytes,
        output_bytes,
        budget_bytes: request.budget.budget_bytes,
        ..Footprint::default()
    };
    let mut most: Option<MemoryPlan> = None;
    for group in groups.iter() {
        let footprint = footprint(
            group.frontier_bytes,
            group.scratch_bytes,
            group.output_bytes,
        );
        let plan = footprint.beside(graph_bytes, topology)?;
        if most.is_none_or(|most| plan.required_bytes > most.required_bytes) {
            most = Some(plan);
        }
    }
    match most {
        Some(plan) => Ok(plan),
        None => footprint(0, 0, 0).beside(graph_bytes, topology),
    }
}

/// Sizes the dispatch with the memory of the plan.
fn launch(
    request: &Request<'_>,
    dispatch: &Dispatch<'_>,
    (required_bytes, pressure): (u64, Bps),
) -> Result<LaunchPlan, LaunchError> {
    let known = LaunchRequest {
        memory_pressure: Some(pressure),
        resident_device_bytes: required_bytes,
        device_memory_budget_bytes: match request.budget.budget_bytes {
            u64::MAX => 0,
            limit => limit,
        },
        ..dispatch.request
    };
    dispatch.policy.plan(&known, None)
}
