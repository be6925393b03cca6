//! Plans of wave DAGs.

use crate::error;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use seawall::program::{ANY_MACHINE, PlannerMemory};
use seawall_core::cache::Subject;
use seawall_core::error::{GroupError, LayerError};
use seawall_core::plan::execution::{Chooser, ExecutionError, Leeway, OverBudget, Request};
use seawall_core::plan::{Budget, Dag, Dependency, Execution, Group, Wave};
use seawall_core::plan::{check_records, execution};
use seawall_core::topology::TopologyPolicy;

/// Bytes of a frontier, of scratch and of an output.
type WaveBytes = (u64, u64, u64);

/// Plans groups and arena of waves and their dependencies.
#[pyfunction]
fn plan<'py>(
    py: Python<'py>,
    waves: Vec<WaveBytes>,
    dependencies: Vec<(u64, u64)>,
    budget: (Option<u64>, u64, u64),
) -> PyResult<Bound<'py, PyDict>> {
    let (budget_bytes, resident_bytes, readback_bytes) = budget;
    check_records(waves.len() as u64, dependencies.iter().copied())
        .map_err(|problem| refused(py, &ExecutionError::from(GroupError::from(problem))))?;
    let waves: Vec<Wave> = waves.into_iter().map(wave).collect();
    // Waves have 32-bit ids, which the check has compared with their number.
    let narrow = |id: u64| u32::try_from(id).unwrap_or(u32::MAX);
    let dependency = |(before, after)| Dependency {
        before: narrow(before),
        after: narrow(after),
    };
    let dependencies: Vec<Dependency> = dependencies.into_iter().map(dependency).collect();
    let dag = Dag {
        waves: &waves,
        dependencies: &dependencies,
    };
    let budget = Budget {
        resident_bytes,
        budget_bytes: budget_bytes.unwrap_or(u64::MAX),
        readback_bytes,
    };
    let request = Request {
        leeway: Leeway {
            least_alignment_bytes: 1,
            early_results: true,
            fixed_groups: false,
        },
        ..Request::new(dag, budget)
    };
    let mut memory = PlannerMemory::for_dag(&request.dag);
    let mut subject = Subject::new(ANY_MACHINE);
    let chooser = Chooser::plain(&TopologyPolicy::DEFAULT, &mut subject);
    match execution(&request, chooser, memory.view()) {
        Ok(plan) => report(py, &plan),
        Err(problem) => Err(refused(py, &problem)),
    }
}

const fn wave((frontier_bytes, scratch_bytes, output_bytes): WaveBytes) -> Wave {
    Wave {
        frontier_bytes,
        scratch_bytes,
        output_bytes,
    }
}

fn report<'py>(py: Python<'py>, plan: &Execution<'_>) -> PyResult<Bound<'py, PyDict>> {
    let (groups, arena) = (&plan.groups, &plan.arena);
    let dict = PyDict::new(py);
    let ids = |group: Group<'_>| -> Vec<u32> { group.waves.iter().map(|wave| wave.0).collect() };
    dict.set_item("groups", PyList::new(py, groups.iter().map(ids))?)?;
    let bytes = groups.iter().map(|group| group.fused_bytes);
    dict.set_item("group_bytes", PyList::new(py, bytes)?)?;
    dict.set_item("is_minimal", groups.is_proved_optimal())?;
    dict.set_item("lower_bound", groups.summary().lower_bound)?;
    dict.set_item("results_stay", plan.results_stay)?;
    dict.set_item("required_bytes", plan.required_bytes)?;
    dict.set_item("arena_bytes", arena.bytes())?;
    let offsets = arena.iter().map(|at| (at.frontier, at.scratch, at.output));
    dict.set_item("offsets", PyList::new(py, offsets)?)?;
    Ok(dict)
}

/// The exception of a DAG that has no plan.
fn refused(py: Python<'_>, problem: &ExecutionError) -> PyErr {
    let fields = PyDict::new(py);
    let bytes = match problem {
        ExecutionError::OverBudget(OverBudget {
            required_bytes,
            budget_bytes,
        })
        | ExecutionError::Groups(
            GroupError::ResidentOverBudget {
                required_bytes,
                budget_bytes,
            }
            | GroupError::WaveOverBudget {
                required_bytes,
                budget_bytes,
                ..
            },
        ) => vec![
            ("required_bytes", *required_bytes),
            ("budget_bytes", *budget_bytes),
        ],
        ExecutionError::Groups(GroupError::Layers(LayerError::InvalidWave {
            waves,
            before,
            after,
        })) => vec![("waves", *waves), ("before", *before), ("after", *after)],
        _ => Vec::new(),
    };
    for (name, value) in bytes {
        if let Err(problem) = fields.set_item(name, value) {
            return problem;
        }
    }
    error::raised(
        py,
        "RequestError",
        &problem.to_string(),
        problem.kind(),
        &fields,
    )
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(plan, module)?)
}
