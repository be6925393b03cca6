//! Forecasts of runs on the CPU, by the cost model that chooses machines, and the sizes of graphs that
//! they ask for.

use crate::graph::kind_of;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use seawall::analysis::AnalysisKind;
use seawall::calibrate::{Calibration, predict};
use seawall::cost::{Costs, Job, Tally};
use std::sync::OnceLock;
use std::thread::available_parallelism;

/// Growth of a search of a graph that nobody has looked at: that of a plane.
const GROWTH: f64 = 2.0;

/// The costs of this machine, read once: looking for the file takes longer than a small job.
fn costs() -> &'static Costs {
    static COSTS: OnceLock<Costs> = OnceLock::new();
    COSTS.get_or_init(|| {
        let threads = available_parallelism().map_or(1, usize::from);
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        let calibration = Calibration::load().ok().flatten().unwrap_or_default();
        calibration.costs(threads, None)
    })
}

/// Nanoseconds that `analysis` is expected to take on one CPU thread and on all of them, for a graph
/// of which sizes alone are known: its searches are taken for those of a plane.
#[pyfunction]
fn forecast(
    py: Python<'_>,
    analysis: &str,
    size: (f64, f64),
    sources: f64,
    rounds: f64,
) -> PyResult<(f64, f64)> {
    let (nodes, edges) = size;
    let analysis: AnalysisKind = kind_of(py, analysis)?;
    let job = Job {
        nodes,
        edges,
        weighted: analysis.reads_weights(),
        can_pull: false,
        tally: Tally::of_growth(nodes, nodes.sqrt().max(1.0), GROWTH),
        sources,
        rounds,
        repeat: 1.0,
    };
    let found = predict(analysis, &job, costs());
    Ok((found.one_ns, found.all_ns))
}

/// Nodes and entries of the adjacency of a graph of NetworkX, and whether it keeps a conversion:
/// what a forecast is made of, in less time than the shortest calls take.
#[pyfunction]
fn sizes(graph: &Bound<'_, PyAny>) -> PyResult<(usize, usize, bool)> {
    let py = graph.py();
    let mut is_converted = false;
    if let Some(cache) = graph.getattr_opt(intern!(py, "__networkx_cache__"))?
        && let Ok(cache) = cache.cast::<PyDict>()
        && let Some(backends) = cache.get_item(intern!(py, "backends"))?
    {
        is_converted = backends.contains(intern!(py, "seawall"))?;
    }
    let adjacency = graph.getattr(intern!(py, "_adj"))?;
    let mut entries = 0;
    if let Ok(rows) = adjacency.cast::<PyDict>() {
        for (_, row) in rows {
            entries += row.len()?;
        }
    } else {
        for row in adjacency.call_method0(intern!(py, "values"))?.try_iter()? {
            entries += row?.len()?;
        }
    }
    Ok((adjacency.len()?, entries, is_converted))
}

/// Adds the functions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(forecast, module)?)?;
    module.add_function(wrap_pyfunction!(sizes, module)?)
}
