//! A plan as JSON, as text, as a Graphviz graph and as a picture.
//!
//! The four writers read one borrowed view, so that none plans and all show the same groups.

pub mod dot;
pub mod json;
mod layout;
pub mod program;
pub mod svg;
pub mod text;

use std::borrow::Cow;

use seawall_core::plan::devices::{Exchange, Exchanges, Prediction};
use seawall_core::plan::execution::OverBudget;
use seawall_core::plan::{Arena, Budget, Dag, Execution, Groups, WaveId};

/// A finished plan and its input.
pub struct PlanView<'a> {
    /// Waves and dependencies.
    pub dag: Dag<'a>,
    /// Name of each wave that has one; others are shown by number.
    pub names: &'a [Option<String>],
    /// The budget that the groups keep.
    pub budget: Budget,
    /// The groups.
    pub groups: &'a Groups<'a>,
    /// Execution of the groups; `None` if only the groups are planned.
    pub execution: Option<&'a Execution<'a>>,
    /// Reason why there is no execution, if no arena for the groups fits the budget.
    pub shortfall: Option<OverBudget>,
    /// Exchanges, if the plan is that of each of several devices.
    pub devices: Option<DevicesView<'a>>,
}

/// The part of a plan that concerns several devices.
pub struct DevicesView<'a> {
    /// The exchanges between groups.
    pub exchanges: &'a Exchanges<'a>,
    /// Times on one device and on all.
    pub prediction: Prediction,
}

impl PlanView<'_> {
    /// The arena; `None` if its size does not fit in 64 bits or in the budget.
    fn arena(&self) -> Option<&Arena<'_>> {
        self.execution.map(|plan| &plan.arena)
    }

    /// The exchange between a group and the one before, if there is one.
    fn exchange_before(&self, group: usize) -> Option<Exchange> {
        let before = u32::try_from(group.checked_sub(1)?).ok()?;
        self.devices.as_ref()?.exchanges.after_group(before)
    }

    /// The wave's number, and its name if it has one, on one line without
    /// control characters.
    fn label(&self, wave: WaveId) -> String {
        match self.names.get(wave.index()).and_then(Option::as_deref) {
            Some(name) => format!("{wave} {}", printable(name)),
            None => wave.to_string(),
        }
    }

    /// Fused bytes of one wave.
    fn fused_bytes(&self, wave: WaveId) -> u64 {
        self.dag
            .waves
            .get(wave.index())
            .and_then(|wave| wave.fused_bytes())
            .unwrap_or(0)
    }

    /// Bytes that a group may hold, if the budget limits them.
    fn group_budget(&self) -> Option<u64> {
        (self.budget.budget_bytes != u64::MAX).then(|| {
            self.budget
                .budget_bytes
                .saturating_sub(self.budget.resident_bytes)
        })
    }
}

/// Replaces control characters in `name`, which a terminal would obey.
fn printable(name: &str) -> Cow<'_, str> {
    if name.chars().any(char::is_control) {
        Cow::Owned(
            name.chars()
                .map(|letter| if letter.is_control() { '?' } else { letter })
                .collect(),
        )
    } else {
        Cow::Borrowed(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seawall_core::cache::{AnalysisKind, DeviceKey, Identity, Subject};
    use seawall_core::plan::execution::{Chooser, Request};
    use seawall_core::plan::{Dependency, Wave, execution};
    use seawall_core::scratch::ExecutionScratch;
    use seawall_core::topology::TopologyPolicy;
    use std::io::{self, Write};

    /// Plans a diamond of four waves and returns the output of `write`.
    pub(super) fn written(
        names: [&str; 4],
        write: fn(&PlanView<'_>, &mut dyn Write) -> io::Result<()>,
    ) -> String {
        let wave = Wave {
            frontier_bytes: 600,
            scratch_bytes: 100,
            output_bytes: 24,
        };
        let edge = |(before, after)| Dependency { before, after };
        let dag = Dag {
            waves: &[wave; 4],
            dependencies: &[(0, 1), (0, 2), (1, 3), (2, 3)].map(edge),
        };
        let budget = Budget {
            resident_bytes: 1000,
            budget_bytes: 4096,
            readback_bytes: 0,
        };
        let mut scratch = ExecutionScratch::<4, 4>::new();
        let mut subject = Subject::new(Identity {
            graph_layout_hash: 1,
            analysis: AnalysisKind::Custom(0),
            device: DeviceKey::default(),
        });
        let chooser = Chooser::plain(&TopologyPolicy::DEFAULT, &mut subject);
        let plan = execution(&Request::new(dag, budget), chooser, &mut scratch).unwrap();
        let names = names.map(|name| Some(name.to_owned()));
        let view = PlanView {
            dag,
            names: &names,
            budget,
            groups: &plan.groups,
            execution: Some(&plan),
            shortfall: None,
            devices: None,
        };
        let mut bytes = Vec::new();
        write(&view, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }
}
