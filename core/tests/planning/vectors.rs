//! The published conformance vectors for barriers and frontier memory, and the JSON of plans.
//!
//! `SEAWALL_VECTORS` names the folder; without it a small set written here is run.

use std::fs;

use crate::support::*;
use seawall_core::cache::{AnalysisKind, DeviceKey, Identity, Subject};
use seawall_core::error::{GroupError, LayerError};
use seawall_core::plan::execution::{Chooser, Request};
use seawall_core::plan::{
    ArenaOptions, Budget, Dag, Dependency, ExecutionError, Requirements, Shape, Strategy, Wave,
    check_records, execution, layers_of,
};
use seawall_core::ratio::{Bps, Ppm};
use seawall_core::scratch::ExecutionScratch;
use seawall_core::topology::memory::MemoryPlan;
use seawall_core::topology::{Signals, TopologyPolicy};
use serde_json::{Value, json};

/// One line of the set, kept short: every kind of outcome once.
const BARRIERS: &str = r#"
{"in":{"waves":0,"dependencies":[]},"ok":{"layers":[],"global_barriers":0}}
{"in":{"waves":3,"dependencies":[[2,0]]},"ok":{"layers":[[1,2],[0]],"global_barriers":1}}
{"in":{"waves":3,"dependencies":[[9223372036854775807,0]]},"err":{"kind":"invalid_wave","waves":3,"before":9223372036854775807,"after":0}}
{"in":{"waves":1152921504606846976,"dependencies":[[1,1]]},"err":{"kind":"self_dependency","wave":1}}
{"in":{"waves":4,"dependencies":[[0,1],[1,0],[1,2],[3,2]]},"err":{"kind":"cycle","unscheduled":3}}
"#;

const FRONTIER_MEMORY: &str = r#"
{"in":{"waves":[],"dependencies":[],"resident_bytes":6,"budget_bytes":5,"readback_bytes":7},"err":{"kind":"resident_over_budget","required_bytes":6,"budget_bytes":5}}
{"in":{"waves":[[1,4611686018427387904,0]],"dependencies":[],"resident_bytes":0,"budget_bytes":5,"readback_bytes":7},"err":{"kind":"overflow","field":"fused wave bytes"}}
{"in":{"waves":[[1,0,0],[9,0,0]],"dependencies":[],"resident_bytes":1,"budget_bytes":5,"readback_bytes":7},"err":{"kind":"wave_over_budget","wave":1,"required_bytes":9,"budget_bytes":4}}
{"in":{"waves":[[1,0,2],[2,0,2],[1,0,0]],"dependencies":[[2,1]],"resident_bytes":1,"budget_bytes":5,"readback_bytes":1},"ok":{"groups":[[0,2],[1]],"global_barriers":1,"peak_frontier_bytes":2,"peak_scratch_bytes":0,"peak_output_bytes":2,"peak_group_bytes":4,"amortized_readback_bytes":2,"max_group_width":2}}
"#;

const EXECUTION: &str = r#"
{"id":"execution-0001","in":{"dispatch_cost_ns":1000,"frontier_density_ppm":500000,"readback_bytes":1048576,"nodes":0,"edges":0,"budget_bytes":0,"launch_overhead_ns":250,"fusion_pressure_bps":9000,"previous":null,"bytes_per_node":1,"bytes_per_edge":1,"frontier_bytes":0,"scratch_bytes":0,"output_bytes":0},"ok":{"topology":"fused","downgraded":false,"graph_bytes":0,"frontier_bytes":0,"scratch_bytes":0,"output_bytes":0,"required_bytes":0,"memory_pressure_bps":0}}
{"id":"execution-0004","in":{"dispatch_cost_ns":1000,"frontier_density_ppm":500000,"readback_bytes":1048576,"nodes":1000,"edges":4000,"budget_bytes":10,"launch_overhead_ns":250,"fusion_pressure_bps":9000,"previous":null,"bytes_per_node":16,"bytes_per_edge":8,"frontier_bytes":1,"scratch_bytes":1,"output_bytes":1},"err":{"kind":"over_budget","topology":"sparse","required_bytes":48003,"budget_bytes":10}}
{"id":"execution-0006","in":{"dispatch_cost_ns":1000,"frontier_density_ppm":0,"readback_bytes":0,"nodes":0,"edges":0,"budget_bytes":120,"launch_overhead_ns":0,"fusion_pressure_bps":0,"previous":null,"bytes_per_node":1,"bytes_per_edge":1,"frontier_bytes":100,"scratch_bytes":0,"output_bytes":0},"ok":{"topology":"sparse","downgraded":true,"graph_bytes":0,"frontier_bytes":100,"scratch_bytes":0,"output_bytes":0,"required_bytes":100,"memory_pressure_bps":8333}}
{"id":"execution-0007","in":{"dispatch_cost_ns":1000,"frontier_density_ppm":0,"readback_bytes":0,"nodes":0,"edges":0,"budget_bytes":200,"launch_overhead_ns":0,"fusion_pressure_bps":0,"previous":null,"bytes_per_node":1,"bytes_per_edge":1,"frontier_bytes":100,"scratch_bytes":0,"output_bytes":0},"ok":{"topology":"warp_sparse","downgraded":false,"graph_bytes":0,"frontier_bytes":100,"scratch_bytes":32,"output_bytes":0,"required_bytes":132,"memory_pressure_bps":6600}}
{"id":"execution-0010","in":{"dispatch_cost_ns":1000,"frontier_density_ppm":900000,"readback_bytes":0,"nodes":1000,"edges":4000,"budget_bytes":100000,"launch_overhead_ns":0,"fusion_pressure_bps":0,"previous":null,"bytes_per_node":1,"bytes_per_edge":1,"frontier_bytes":0,"scratch_bytes":0,"output_bytes":0},"ok":{"topology":"block_dense","downgraded":false,"graph_bytes":5000,"frontier_bytes":0,"scratch_bytes":2048,"output_bytes":0,"required_bytes":7048,"memory_pressure_bps":704}}
{"id":"execution-0012","in":{"dispatch_cost_ns":1000,"frontier_density_ppm":900000,"readback_bytes":0,"nodes":1000,"edges":4000,"budget_bytes":7047,"launch_overhead_ns":0,"fusion_pressure_bps":0,"previous":null,"bytes_per_node":1,"bytes_per_edge":1,"frontier_bytes":0,"scratch_bytes":0,"output_bytes":0},"ok":{"topology":"sparse","downgraded":true,"graph_bytes":5000,"frontier_bytes":0,"scratch_bytes":0,"output_bytes":0,"required_bytes":5000,"memory_pressure_bps":7095}}
"#;

fn lines(name: &str, built_in: &str) -> Vec<Value> {
    let text = match std::env::var_os("SEAWALL_VECTORS") {
        Some(folder) => fs::read_to_string(std::path::Path::new(&folder).join(name)).unwrap(),
        None => built_in.to_owned(),
    };
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn records(input: &Value) -> Vec<(u64, u64)> {
    let list = input["dependencies"].as_array().unwrap();
    list.iter()
        .map(|pair| (number(&pair[0]), number(&pair[1])))
        .collect()
}

/// Called once the records have passed the check, so that every id fits.
fn narrow(records: &[(u64, u64)]) -> Vec<Dependency> {
    let narrow = |wide: &u64| u32::try_from(*wide).unwrap();
    records
        .iter()
        .map(|(b, a)| Dependency {
            before: narrow(b),
            after: narrow(a),
        })
        .collect()
}

fn layer_error(error: &LayerError) -> Value {
    match *error {
        LayerError::InvalidWave {
            waves,
            before,
            after,
        } => {
            json!({"kind": error.kind(), "waves": waves, "before": before, "after": after})
        }
        LayerError::SelfDependency { wave } => json!({"kind": error.kind(), "wave": wave}),
        LayerError::Cycle { unscheduled, .. } => {
            json!({"kind": error.kind(), "unscheduled": unscheduled})
        }
        LayerError::ScratchTooSmall(small) => panic!("{small}"),
    }
}

fn group_error(error: &GroupError) -> Value {
    let kind = error.kind();
    match *error {
        GroupError::ResidentOverBudget {
            required_bytes,
            budget_bytes,
        } => {
            json!({"kind": kind, "required_bytes": required_bytes, "budget_bytes": budget_bytes})
        }
        GroupError::Overflow { field } => json!({"kind": kind, "field": field}),
        GroupError::WaveOverBudget {
            wave,
            required_bytes,
            budget_bytes,
        } => json!({
            "kind": kind, "wave": wave.0,
            "required_bytes": required_bytes, "budget_bytes": budget_bytes,
        }),
        GroupError::Layers(ref error) => layer_error(error),
        GroupError::ScratchTooSmall(small) => panic!("{small}"),
    }
}

fn barriers(input: &Value) -> Result<Value, LayerError> {
    let (waves, records) = (number(&input["waves"]), records(input));
    check_records(waves, records.iter().copied())?;
    let dependencies = narrow(&records);
    let count = usize::try_from(waves).unwrap();
    let mut buffers = Buffers::sized(Requirements::for_dag(count, dependencies.len()));
    let plan = layers_of(
        Shape {
            waves,
            dependencies: &dependencies,
        },
        buffers.layers(),
    )?;
    let layers: Vec<_> = plan.iter().map(ids).collect();
    Ok(json!({"layers": layers, "global_barriers": plan.global_barriers()}))
}

fn wave(value: &Value) -> Wave {
    let field = |index: usize, name: &str| {
        number(if value.is_array() {
            &value[index]
        } else {
            &value[name]
        })
    };
    Wave {
        frontier_bytes: field(0, "frontier_bytes"),
        scratch_bytes: field(1, "scratch_bytes"),
        output_bytes: field(2, "output_bytes"),
    }
}

fn frontier_memory(input: &Value) -> Result<Value, GroupError> {
    let waves: Vec<_> = input["waves"]
        .as_array()
        .unwrap()
        .iter()
        .map(wave)
        .collect();
    let records = records(input);
    check_records(waves.len() as u64, records.iter().copied())?;
    let program = Program {
        waves,
        dependencies: narrow(&records),
    };
    let budget = Budget {
        resident_bytes: number(&input["resident_bytes"]),
        budget_bytes: number(&input["budget_bytes"]),
        readback_bytes: number(&input["readback_bytes"]),
    };
    let plan = plan_groups(&program, &budget, Strategy::InOrder)?;
    let summary = plan.summary;
    Ok(json!({
        "groups": plan.groups, "global_barriers": summary.global_barriers,
        "peak_frontier_bytes": summary.peak_frontier_bytes,
        "peak_scratch_bytes": summary.peak_scratch_bytes,
        "peak_output_bytes": summary.peak_output_bytes,
        "peak_group_bytes": summary.peak_group_bytes,
        "amortized_readback_bytes": summary.amortized_readback_bytes,
        "max_group_width": summary.max_group_width,
    }))
}

#[test]
fn barriers_follow_the_vectors() {
    for line in lines("barriers.jsonl", BARRIERS) {
        match barriers(&line["in"]) {
            Ok(found) => assert_eq!(found, line["ok"], "{}", line["id"]),
            Err(error) => assert_eq!(layer_error(&error), line["err"], "{}", line["id"]),
        }
    }
}

#[test]
fn groups_follow_the_vectors() {
    for line in lines("frontier_memory.jsonl", FRONTIER_MEMORY) {
        match frontier_memory(&line["in"]) {
            Ok(found) => assert_eq!(found, line["ok"], "{}", line["id"]),
            Err(error) => assert_eq!(group_error(&error), line["err"], "{}", line["id"]),
        }
    }
}

#[cfg(feature = "serde")]
#[test]
fn plans_and_errors_serialize_in_the_shape_of_the_vectors() {
    use seawall_core::plan::{Results, arena, groups};
    let wave = Wave {
        frontier_bytes: 1,
        scratch_bytes: 0,
        output_bytes: 2,
    };
    let order = Dependency {
        before: 1,
        after: 0,
    };
    let program = Program {
        waves: vec![wave; 2],
        dependencies: vec![order],
    };
    let budget = Budget {
        budget_bytes: 10,
        ..Budget::default()
    };
    let mut buffers = Buffers::for_program(&program);
    let (group_space, arena_space) = buffers.split();
    let plan = groups(&program.dag(), &budget, Strategy::Packed, group_space).unwrap();
    let found = serde_json::to_value(plan).unwrap();
    assert_eq!(found["groups"], json!([[1], [0]]));
    assert_eq!(
        (&found["lower_bound"], &found["max_group_width"]),
        (&json!(2), &json!(1))
    );
    let options = ArenaOptions {
        alignment_bytes: 1,
        results: Results::None,
        ..ArenaOptions::default()
    };
    let layout = arena(&program.dag(), &plan, &options, arena_space).unwrap();
    let found = serde_json::to_value(layout).unwrap();
    assert_eq!(
        (&found["bytes"], &found["lower_bound"]),
        (&json!(5), &json!(5))
    );
    assert!(found["offsets"][1]["output"].is_u64());
    let error = GroupError::from(LayerError::SelfDependency { wave: 3 });
    assert_eq!(
        serde_json::to_value(error).unwrap(),
        json!({"kind": "self_dependency", "wave": 3})
    );
    let error = plan_groups(
        &program,
        &Budget {
            resident_bytes: 1,
            ..Budget::default()
        },
        Strategy::Packed,
    );
    assert_eq!(
        serde_json::to_value(error.unwrap_err()).unwrap()["kind"],
        "resident_over_budget"
    );
}

/// The wave and the request of an `execution` vector; `None` if the size of its graph exceeds 64
/// bits.
fn execution_vector(input: &Value) -> Option<(Wave, Budget, Signals)> {
    let of = |name: &str| number(&input[name]);
    let nodes = of("nodes").checked_mul(of("bytes_per_node"))?;
    let edges = of("edges").checked_mul(of("bytes_per_edge"))?;
    let wave = Wave {
        frontier_bytes: of("frontier_bytes"),
        scratch_bytes: of("scratch_bytes"),
        output_bytes: of("output_bytes"),
    };
    let budget = Budget {
        resident_bytes: nodes.checked_add(edges)?,
        budget_bytes: of("budget_bytes"),
        readback_bytes: 0,
    };
    let signals = Signals {
        dispatch_cost_ns: of("dispatch_cost_ns"),
        frontier_density: Ppm(of("frontier_density_ppm") as u32),
        readback_bytes: of("readback_bytes"),
        nodes: of("nodes"),
        edges: of("edges"),
        launch_overhead_ns: of("launch_overhead_ns"),
        fusion_pressure: Bps(of("fusion_pressure_bps") as u32),
        ..Signals::default()
    };
    Some((wave, budget, signals))
}

/// The memory of the group and whether Sparse replaced the wanted topology.
fn execute_vector(
    (wave, budget, signals): (Wave, Budget, Signals),
) -> Result<(MemoryPlan, bool), ExecutionError> {
    let dag = Dag {
        waves: &[wave],
        dependencies: &[],
    };
    let request = Request {
        arena: ArenaOptions {
            alignment_bytes: 1,
            ..ArenaOptions::default()
        },
        signals,
        ..Request::new(dag, budget)
    };
    let mut subject = Subject::new(Identity {
        graph_layout_hash: 1,
        analysis: AnalysisKind::Dataflow,
        device: DeviceKey {
            grid_sync: true,
            ..DeviceKey::default()
        },
    });
    let chooser = Chooser::plain(&TopologyPolicy::DEFAULT, &mut subject);
    let mut scratch = ExecutionScratch::<1, 0>::new();
    let plan = execution(&request, chooser, &mut scratch)?;
    Ok((plan.memory, plan.downgraded))
}

/// The `execution` vectors as programs of one wave and one group. If the group needs more than its
/// topology, for the scratch copies of a fused group, the group decides.
#[test]
fn the_topology_of_an_execution_follows_the_vectors() {
    let mut accepted = 0;
    for line in lines("execution.jsonl", EXECUTION) {
        let Some(vector) = execution_vector(&line["in"]) else {
            continue;
        };
        let id = &line["id"];
        let Ok((memory, downgraded)) = execute_vector(vector) else {
            let (wave, budget, _) = vector;
            let fused = wave
                .fused_bytes()
                .and_then(|bytes| bytes.checked_add(budget.resident_bytes));
            assert!(
                fused.is_none_or(|bytes| bytes > budget.budget_bytes),
                "{id}"
            );
            continue;
        };
        accepted += 1;
        let found = json!({
            "topology": memory.topology.name(), "downgraded": downgraded,
            "graph_bytes": memory.graph_bytes, "frontier_bytes": memory.frontier_bytes,
            "scratch_bytes": memory.scratch_bytes, "output_bytes": memory.output_bytes,
            "required_bytes": memory.required_bytes,
            "memory_pressure_bps": memory.memory_pressure_bps,
        });
        assert_eq!(found, line["ok"], "{id}");
    }
    assert!(accepted >= 4, "{accepted} accepted");
}
