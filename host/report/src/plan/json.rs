//! The plan as one JSON object, for scripts.

use std::io::{self, Write};

use seawall_core::launch::LaunchPlan;
use seawall_core::plan::devices::{Exchange, Scope};
use seawall_core::plan::execution::OverBudget;
use seawall_core::plan::{Arena, Execution, Groups};
use seawall_core::topology::memory::MemoryPlan;
use seawall_core::topology::{Reason, Topology};
use serde::Serialize;

use super::{DevicesView, PlanView};

#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    groups: &'a Groups<'a>,
    arena: Option<&'a Arena<'a>>,
    #[serde(flatten)]
    execution: Option<Detail<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_arena: Option<OverBudget>,
    #[serde(skip_serializing_if = "Option::is_none")]
    devices: Option<Devices>,
}

/// Exchanges of several devices, and what they buy.
#[derive(Serialize)]
struct Devices {
    count: u32,
    exchanges: Vec<Sent>,
    exchanges_lower_bound: u64,
    received_bytes: u64,
    predicted_one_ns: u64,
    predicted_all_ns: u64,
    better: &'static str,
}

/// One exchange, and the waves whose outputs it carries.
#[derive(Serialize)]
struct Sent {
    #[serde(flatten)]
    exchange: Exchange,
    scope: Scope,
    waves: Vec<u32>,
}

impl Devices {
    fn of(view: &DevicesView<'_>) -> Self {
        let (exchanges, prediction) = (view.exchanges, view.prediction);
        let mut sent: Vec<Sent> = exchanges
            .iter()
            .map(|exchange| Sent {
                exchange,
                scope: Scope::System,
                waves: Vec::new(),
            })
            .collect();
        for (wave, carrier) in (0..).zip(exchanges.carriers()) {
            if let Some(carrier) = carrier {
                sent[carrier].waves.push(wave);
            }
        }
        Self {
            count: exchanges.devices(),
            exchanges: sent,
            exchanges_lower_bound: exchanges.lower_bound(),
            received_bytes: exchanges.received_bytes(),
            predicted_one_ns: prediction.one_ns,
            predicted_all_ns: prediction.all_ns,
            better: if prediction.is_one_faster() {
                "one"
            } else {
                "all"
            },
        }
    }
}

/// Figures that follow from groups and arena.
#[derive(Serialize)]
struct Detail<'a> {
    results: &'static str,
    required_bytes: u64,
    pressure_bps: u32,
    topology: Chosen,
    memory: &'a MemoryPlan,
    launch: Option<&'a LaunchPlan>,
}

#[derive(Serialize)]
struct Chosen {
    name: Topology,
    wanted: Topology,
    reason: Reason,
    downgraded: bool,
    memory_pressure_bps: u32,
    average_degree_bps: u64,
    launch_pressure_bps: u32,
}

impl<'a> Detail<'a> {
    fn of(plan: &'a Execution<'a>) -> Self {
        let decision = &plan.decision;
        Self {
            results: if plan.results_stay {
                "stay"
            } else {
                "read_early"
            },
            required_bytes: plan.required_bytes,
            pressure_bps: plan.pressure_bps,
            topology: Chosen {
                name: plan.memory.topology,
                wanted: decision.topology,
                reason: decision.reason,
                downgraded: plan.downgraded,
                memory_pressure_bps: decision.memory_pressure_bps,
                average_degree_bps: decision.average_degree_bps,
                launch_pressure_bps: decision.launch_pressure_bps,
            },
            memory: &plan.memory,
            launch: plan.launch.as_ref(),
        }
    }
}

/// Writes the plan as one line of JSON.
///
/// `groups` holds wave ids; `arena` holds an offset for each of a wave's three
/// regions, by wave id. It is null, and all that follows from it is missing, when no
/// arena of 64 bits holds the regions, and for groups in order when none fits the
/// budget, which `no_arena` then explains.
///
/// # Errors
/// [`std::io::Error`] of `out`.
pub fn write(view: &PlanView<'_>, out: &mut dyn Write) -> io::Result<()> {
    let report = Report {
        groups: view.groups,
        arena: view.arena(),
        execution: view.execution.map(Detail::of),
        no_arena: view.shortfall,
        devices: view.devices.as_ref().map(Devices::of),
    };
    serde_json::to_writer(&mut *out, &report)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::super::tests::written;

    #[test]
    fn the_object_holds_every_promised_field_and_no_other() {
        let text = written(["a", "b", "c", "d"], super::write);
        let plan: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut names: Vec<_> = plan
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        names.sort_unstable();
        let mut promised = [
            "groups",
            "global_barriers",
            "lower_bound",
            "peak_frontier_bytes",
            "peak_scratch_bytes",
            "peak_output_bytes",
            "peak_group_bytes",
            "amortized_readback_bytes",
            "max_group_width",
            "arena",
            "results",
            "required_bytes",
            "pressure_bps",
            "topology",
            "memory",
            "launch",
        ];
        promised.sort_unstable();
        assert_eq!(names, promised);
        assert_eq!(plan["groups"], serde_json::json!([[0], [1, 2], [3]]));
        assert_eq!(plan["arena"]["offsets"].as_array().unwrap().len(), 4);
    }
}
