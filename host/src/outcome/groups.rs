//! The groups of a program as they were planned and as they ran, for explanations and traces.

use super::WaveSummary;
use crate::backend::{BarrierCrossed, GroupTime, StepTaken, Trace};
use crate::program::EncodedProgram;
use seawall_core::abi::search::Step;
use serde::{Deserialize, Serialize};

/// A group of waves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupSummary {
    /// Its number in the program's tables.
    pub group: u32,
    /// Name of the loop whose body it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_of: Option<String>,
    /// Names of its waves.
    pub waves: Vec<String>,
    /// Bytes that the planner counted for it.
    pub bytes: u64,
    /// Topology of most steps of its search, by the planner's name; for other groups the blocks
    /// that run it: `one_block`, `joined` to the group before it, or `all_blocks`.
    pub topology: String,
    /// Code of the rule that chose that topology most often, or the reason for the blocks.
    pub reason: String,
    /// Predicted time of all its runs, nanoseconds; bodies count to their loops.
    pub predicted_ns: Option<u64>,
    /// Number of its runs, if the machine measured it.
    pub runs: Option<u32>,
    /// Time of these runs, barriers after them included, nanoseconds.
    pub measured_ns: Option<u64>,
    /// The earlier group that it was measured with: one block ran both without a grid barrier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_with: Option<u32>,
    /// Start of its first run since the start of the program, nanoseconds.
    #[serde(skip)]
    pub start_ns: Option<u64>,
}

/// A step of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepSummary {
    /// Name of its loop.
    #[serde(rename = "loop")]
    pub search: String,
    /// Iteration of the search.
    pub iteration: u32,
    /// The step that ran: a topology by the planner's name, or `compact`.
    pub step: &'static str,
    /// The topology that was chosen.
    pub topology: &'static str,
    /// Code of the rule that chose it.
    pub reason: &'static str,
    /// Nodes of the frontier.
    pub nodes: u32,
    /// Edges of the frontier.
    pub edges: u32,
    /// Start since the start of the program, nanoseconds.
    pub start_ns: u64,
    /// Duration, nanoseconds.
    pub duration_ns: u64,
}

/// The work of each block of the grid between barriers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Blocks of a GPU, or threads.
    pub blocks: usize,
    /// The first barriers of the whole grid, in their order.
    pub barriers: Vec<BarrierSummary>,
}

/// A barrier of the whole grid. Its times are those of each block, since the start of the program,
/// nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BarrierSummary {
    /// Name of the wave whose work it ends.
    pub wave: String,
    /// Iteration of the innermost loop around it.
    pub iteration: u32,
    /// When the block arrived.
    pub arrived_ns: Vec<u64>,
    /// When it went on.
    pub left_ns: Vec<u64>,
}

impl Timeline {
    /// Whether there is a barrier, and each has the times of all blocks: so is every timeline of a
    /// run, but one from a file may not be.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let whole = |barrier: &BarrierSummary| {
            let lengths = [barrier.arrived_ns.len(), barrier.left_ns.len()];
            lengths == [self.blocks; 2]
        };
        !self.barriers.is_empty() && self.barriers.iter().all(whole)
    }

    /// Shares of the time up to the last barrier for which blocks waited at barriers: the least, the
    /// mean and the greatest, in percent.
    #[must_use]
    pub fn waited_percent(&self) -> [f64; 3] {
        let waited = |block: usize| {
            let times = self.barriers.iter().map(|barrier| {
                let [arrived, left] =
                    [&barrier.arrived_ns, &barrier.left_ns].map(|ns| ns.get(block));
                left.copied()
                    .unwrap_or(0)
                    .saturating_sub(arrived.copied().unwrap_or(0))
            });
            times.fold(0, u64::saturating_add)
        };
        let last = self.barriers.last();
        let all = last.and_then(|last| last.left_ns.iter().max());
        let percent = |ns: u64| 100.0 * ns as f64 / (all.copied().unwrap_or(0).max(1)) as f64;
        let each: Vec<u64> = (0..self.blocks).map(waited).collect();
        let sum = each.iter().copied().fold(0, u64::saturating_add);
        let mean = percent(sum) / self.blocks.max(1) as f64;
        let [least, most] = [each.iter().min(), each.iter().max()];
        let [least, most] = [least, most].map(|ns| percent(ns.copied().unwrap_or(0)));
        [least, mean, most]
    }
}

/// Lists the groups of `program`, whose waves are `waves`; `predicted` has the times of its
/// top-level groups.
pub(crate) fn groups(
    program: &EncodedProgram,
    waves: &[WaveSummary],
    trace: Option<&Trace>,
    predicted: &[f64],
) -> Vec<GroupSummary> {
    let mut groups: Vec<GroupSummary> = Vec::new();
    for wave in waves {
        if let Some(last) = groups.iter_mut().find(|last| last.group == wave.group) {
            last.waves.push(wave.name.clone());
            continue;
        }
        groups.push(group(program, wave, predicted));
    }
    for group in &mut groups {
        if let Some(trace) = trace {
            measure(group, trace);
            choose(group, waves, &trace.steps);
        }
    }
    groups
}

/// The group that begins with `wave`, as it was planned.
fn group(program: &EncodedProgram, wave: &WaveSummary, predicted: &[f64]) -> GroupSummary {
    let at = wave.group as usize;
    let record = program.groups.get(at);
    let (topology, reason) = match record {
        Some(record) if record.joined != 0 => ("joined", "works word by word as the one before"),
        Some(record) if record.narrow != 0 => ("one_block", "little work"),
        _ => ("all_blocks", "work for all blocks"),
    };
    GroupSummary {
        group: wave.group,
        body_of: wave.body_of.clone(),
        waves: vec![wave.name.clone()],
        bytes: program.group_bytes.get(at).copied().unwrap_or(0),
        topology: topology.to_owned(),
        reason: reason.to_owned(),
        predicted_ns: predicted.get(at).map(|ns| *ns as u64),
        runs: None,
        measured_ns: None,
        measured_with: None,
        start_ns: None,
    }
}

/// Fills in the measured time of a group.
fn measure(group: &mut GroupSummary, trace: &Trace) {
    let number = group.group;
    let holds = |time: &&GroupTime| (time.group..time.group + time.groups.max(1)).contains(&number);
    let Some(time) = trace.groups.iter().find(holds) else {
        return;
    };
    group.runs = Some(time.runs);
    if time.group != number {
        group.measured_with = Some(time.group);
        return;
    }
    group.measured_ns = Some(time.spent_ns);
    group.start_ns = Some(time.start_ns);
}

/// Fills in the most frequent choice of the steps of a group's searches.
fn choose(group: &mut GroupSummary, waves: &[WaveSummary], steps: &[StepTaken]) {
    let loops = waves.iter().filter(|wave| wave.group == group.group);
    let loops: Vec<u32> = loops.map(|wave| wave.wave).collect();
    let steps = steps.iter();
    let steps = steps.filter(|step| loops.contains(&step.wave) && step.step != Step::Compact);
    let mut counts: Vec<((&str, &str), usize)> = Vec::new();
    for step in steps {
        let choice = (step_name(step.step), step.reason.code());
        match counts.iter_mut().find(|(known, _)| *known == choice) {
            Some((_, count)) => *count += 1,
            None => counts.push((choice, 1)),
        }
    }
    if let Some(((topology, reason), _)) = counts.into_iter().max_by_key(|(_, count)| *count) {
        group.topology = topology.to_owned();
        group.reason = reason.to_owned();
    }
}

/// Lists the steps of a trace; `names` are those of waves by number.
pub(crate) fn steps(trace: &Trace, names: &[String]) -> Vec<StepSummary> {
    let name = |wave: u32| names.get(wave as usize).cloned().unwrap_or_default();
    let summary = |step: &StepTaken| StepSummary {
        search: name(step.wave),
        iteration: step.iteration,
        step: step_name(step.step),
        topology: step.topology.name(),
        reason: step.reason.code(),
        nodes: step.nodes,
        edges: step.edges,
        start_ns: step.start_ns,
        duration_ns: step.duration_ns,
    };
    trace.steps.iter().map(summary).collect()
}

/// The timeline of a trace, if it has barriers; `names` are those of waves by number.
pub(crate) fn timeline(trace: &Trace, names: &[String]) -> Option<Timeline> {
    let first = trace.barriers.first()?;
    let summary = |barrier: &BarrierCrossed| BarrierSummary {
        wave: names
            .get(barrier.wave as usize)
            .cloned()
            .unwrap_or_default(),
        iteration: barrier.iteration,
        arrived_ns: barrier.arrived_ns.clone(),
        left_ns: barrier.left_ns.clone(),
    };
    Some(Timeline {
        blocks: first.arrived_ns.len(),
        barriers: trace.barriers.iter().map(summary).collect(),
    })
}

fn step_name(step: Step) -> &'static str {
    use seawall_core::topology::Topology;
    Topology::from_u32(step as u32).map_or("compact", Topology::name)
}
