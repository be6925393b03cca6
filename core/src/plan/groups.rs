//! Groups: the waves that run between two barriers, kept inside a byte budget.
//!
//! A group's bytes are the fused bytes of its waves. A group may hold the bytes that
//! the budget leaves beside the resident graph. `InOrder` cuts layers where the
//! next wave does not fit; `Packed` lets waves slide to later groups to need
//! fewer of them (see `pack` for how). Offsets inside a device
//! allocation are the [`super::arena()`]'s work.

mod cut;

use bytemuck::TransparentWrapper;

use super::layers::{self, Shape, length, run};
use super::pack::{self, Job};
use crate::error::GroupError;
use crate::scratch::GroupScratchView;
use crate::wave::{Dag, Wave, WaveId};
use cut::Cut;

/// Bytes that a plan may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Budget {
    /// Bytes that stay on the device for the whole run: the graph.
    pub resident_bytes: u64,
    /// Total bytes.
    pub budget_bytes: u64,
    /// Bytes that the last interval read back; a floor of the amortised figure.
    pub readback_bytes: u64,
}

/// Strategies that turn layers into groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Strategy {
    /// Next-fit inside each layer, ids ascending. Linear, needs layer scratch only.
    InOrder,
    /// List scheduling under the budget; never more groups than `InOrder`.
    #[default]
    Packed,
}

/// The figures of a plan that do not depend on which wave is where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct GroupSummary {
    /// Barriers between groups: one less than there are groups, or none.
    pub global_barriers: u64,
    /// No plan has fewer groups: the layers, or all bytes over the group budget.
    pub lower_bound: u64,
    /// Largest sum of frontier bytes in a group.
    pub peak_frontier_bytes: u64,
    /// Largest sum of scratch bytes (one copy) in a group.
    pub peak_scratch_bytes: u64,
    /// Largest sum of output bytes in a group.
    pub peak_output_bytes: u64,
    /// Largest sum of fused bytes in a group; later budget checks use it.
    pub peak_group_bytes: u64,
    /// The last readback or the largest output of a group, whichever is more.
    pub amortized_readback_bytes: u64,
    /// Most waves in one group.
    pub max_group_width: u64,
}

/// Waves in groups, inside the scratch that was borrowed for them.
///
/// ```
/// use seawall_core::plan::{groups, Budget, Dag, Strategy, Wave};
/// use seawall_core::scratch::GroupScratch;
///
/// let wave = Wave { frontier_bytes: 0, scratch_bytes: 0, output_bytes: 60 };
/// let dag = Dag { waves: &[wave; 3], dependencies: &[] };
/// let budget = Budget { budget_bytes: 120, ..Budget::default() };
/// let mut scratch = GroupScratch::<3, 0>::new();
/// let plan = groups(&dag, &budget, Strategy::Packed, &mut scratch)?;
/// let widths: Vec<usize> = plan.iter().map(|group| group.waves.len()).collect();
/// assert_eq!((plan.len(), widths), (2, vec![2, 1]));
/// # Ok::<(), seawall_core::error::GroupError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Groups<'a> {
    waves: &'a [Wave],
    order: &'a [WaveId],
    ends: &'a [u32],
    layers: usize,
    summary: GroupSummary,
}

/// One group: its waves and the sums of their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Group<'a> {
    /// The waves, ids ascending.
    pub waves: &'a [WaveId],
    /// Sum of frontier bytes.
    pub frontier_bytes: u64,
    /// Sum of scratch bytes, one copy per wave.
    pub scratch_bytes: u64,
    /// Sum of output bytes.
    pub output_bytes: u64,
    /// Sum of fused bytes; never above the group budget.
    pub fused_bytes: u64,
}

impl<'a> Group<'a> {
    /// Sums cannot overflow: the fused sum was compared with the budget.
    fn sum(waves: &'a [WaveId], records: &[Wave]) -> Self {
        let empty = Group {
            waves,
            frontier_bytes: 0,
            scratch_bytes: 0,
            output_bytes: 0,
            fused_bytes: 0,
        };
        waves
            .iter()
            .filter_map(|id| records.get(id.index()))
            .fold(empty, |sum, wave| Group {
                waves,
                frontier_bytes: sum.frontier_bytes.wrapping_add(wave.frontier_bytes),
                scratch_bytes: sum.scratch_bytes.wrapping_add(wave.scratch_bytes),
                output_bytes: sum.output_bytes.wrapping_add(wave.output_bytes),
                fused_bytes: sum.fused_bytes.wrapping_add(wave.checked_bytes()),
            })
    }
}

impl<'a> Groups<'a> {
    /// All waves, group by group.
    #[must_use]
    pub fn order(&self) -> &'a [WaveId] {
        self.order
    }

    /// End of each group in [`Self::order`].
    #[must_use]
    pub fn ends(&self) -> &'a [u32] {
        self.ends
    }

    /// The wave records that the plan was made for.
    #[must_use]
    pub fn waves(&self) -> &'a [Wave] {
        self.waves
    }

    /// Number of groups.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no waves.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Number of layers: the groups that an unlimited budget would take.
    #[must_use]
    pub fn layers(&self) -> usize {
        self.layers
    }

    /// The figures of the whole plan.
    #[must_use]
    pub fn summary(&self) -> &GroupSummary {
        &self.summary
    }

    /// Whether no plan has fewer groups.
    #[must_use]
    pub fn is_proved_optimal(&self) -> bool {
        length(self.ends) == self.summary.lower_bound
    }

    /// One group, counted from zero. Costs time in its width.
    #[must_use]
    pub fn get(&self, group: usize) -> Option<Group<'a>> {
        Some(Group::sum(run(self.order, self.ends, group)?, self.waves))
    }

    /// The groups, first to last.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Group<'a>> + Clone + use<'a> {
        let groups = *self;
        (0..self.ends.len())
            .map(move |group| groups.get(group).unwrap_or(Group::sum(&[], groups.waves)))
    }
}

/// Puts the waves of a program into groups that fit the budget.
///
/// `InOrder` takes `O(W + D)` time and a layers' scratch, `Packed`
/// `O((W + D) log W)` and a [`crate::scratch::GroupScratch`].
///
/// # Errors
/// In this order: the earliest bad record, a scratch that is too small, a
/// cycle, resident bytes above the budget, then wave by wave in the order of
/// the layers fused bytes that overflow or exceed the group budget.
///
/// ```
/// use seawall_core::plan::{groups, Budget, Dag, Strategy, Wave};
/// use seawall_core::scratch::GroupScratch;
///
/// let mut scratch = GroupScratch::<8, 8>::new();
/// let wave = Wave { frontier_bytes: 40, scratch_bytes: 0, output_bytes: 0 };
/// let dag = Dag { waves: &[wave; 3], dependencies: &[] };
/// let budget = Budget { budget_bytes: 100, ..Budget::default() };
/// let plan = groups(&dag, &budget, Strategy::Packed, &mut scratch)?;
/// assert_eq!(plan.len(), 2);
/// assert!(plan.is_proved_optimal());
/// assert_eq!(plan.summary().peak_group_bytes, 80);
/// # Ok::<(), seawall_core::error::GroupError>(())
/// ```
pub fn groups<'a>(
    dag: &Dag<'a>,
    budget: &Budget,
    strategy: Strategy,
    scratch: impl Into<GroupScratchView<'a>>,
) -> Result<Groups<'a>, GroupError> {
    let mut view = scratch.into();
    let plan = plan(dag, budget, strategy, &mut view)?;
    Ok(of_scratch(
        dag,
        budget,
        &plan,
        view.layers.order,
        view.layers.depth,
    ))
}

/// The groups that planning left in a scratch.
pub(super) fn of_scratch<'a>(
    dag: &Dag<'a>,
    budget: &Budget,
    plan: &Plan,
    order: &'a [u32],
    ends: &'a [u32],
) -> Groups<'a> {
    let order = WaveId::wrap_slice(order.get(..dag.waves.len()).unwrap_or_default());
    let ends = ends.get(..plan.groups as usize).unwrap_or_default();
    let mut groups = Groups {
        waves: dag.waves,
        order,
        ends,
        layers: plan.layers,
        summary: GroupSummary {
            lower_bound: plan.lower_bound,
            ..GroupSummary::default()
        },
    };
    groups.summary = summarize(&groups, budget);
    groups
}

/// Result of the planning steps.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    pub(super) layers: usize,
    pub(super) groups: u32,
    pub(super) lower_bound: u64,
    /// Whether every layer is one group.
    pub(super) whole: bool,
}

/// Leaves the order in `layers.order`, the group ends in `layers.depth`.
pub(super) fn plan(
    dag: &Dag<'_>,
    budget: &Budget,
    strategy: Strategy,
    scratch: &mut GroupScratchView<'_>,
) -> Result<Plan, GroupError> {
    let shape = Shape::from(dag);
    let fits = scratch.layers.check(shape.waves, length(dag.dependencies));
    let fits = match strategy {
        Strategy::InOrder => fits,
        Strategy::Packed => fits.and_then(|()| scratch.pack.check(shape.waves)),
    };
    let counts = layers::plan(shape, fits, &mut scratch.layers)?;
    let group_bytes = group_budget(budget)?;
    let order = scratch.layers.order.get(..counts.waves).unwrap_or_default();
    let layer_ends = scratch.layers.ends.get(..counts.layers).unwrap_or_default();
    let mut cut = Cut::new(dag.waves, group_bytes, scratch.layers.depth);
    cut.layers(order, layer_ends)?;
    let in_order = cut.groups();
    let lower_bound = length(layer_ends).max(cut.fewest());
    let whole = u64::from(in_order) == length(layer_ends);
    let job = Job {
        dag: *dag,
        group_bytes,
        lower_bound,
    };
    let groups = match strategy {
        Strategy::Packed if u64::from(in_order) > lower_bound => {
            pack::improve(&job, in_order, scratch)
        }
        _ => in_order,
    };
    Ok(Plan {
        layers: counts.layers,
        groups,
        lower_bound,
        whole,
    })
}

fn group_budget(budget: &Budget) -> Result<u64, GroupError> {
    budget
        .budget_bytes
        .checked_sub(budget.resident_bytes)
        .ok_or(GroupError::ResidentOverBudget {
            required_bytes: budget.resident_bytes,
            budget_bytes: budget.budget_bytes,
        })
}

fn summarize(groups: &Groups<'_>, budget: &Budget) -> GroupSummary {
    let mut summary = GroupSummary {
        global_barriers: length(groups.ends).saturating_sub(1),
        ..groups.summary
    };
    for group in groups.iter() {
        let GroupSummary {
            peak_frontier_bytes,
            peak_scratch_bytes,
            ..
        } = summary;
        summary.peak_frontier_bytes = peak_frontier_bytes.max(group.frontier_bytes);
        summary.peak_scratch_bytes = peak_scratch_bytes.max(group.scratch_bytes);
        summary.peak_output_bytes = summary.peak_output_bytes.max(group.output_bytes);
        summary.peak_group_bytes = summary.peak_group_bytes.max(group.fused_bytes);
        summary.max_group_width = summary.max_group_width.max(length(group.waves));
    }
    summary.amortized_readback_bytes = budget.readback_bytes.max(summary.peak_output_bytes);
    summary
}
