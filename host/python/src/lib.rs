//! The compiled part of the Python package `seawall`.
//!
//! `graph` is what `seawall.Graph` wraps, `worker` the thread that answers its questions,
//! `program` runs programs of users there, `plan` plans wave DAGs, `arrow` exports results,
//! `nx` is the backend of NetworkX with `forecast`, `csgraph` the functions of
//! `scipy.sparse.csgraph`, and `error` turns errors into exceptions. `docs/python.md` shows the package as its users have it.

mod arrow;
mod csgraph;
mod error;
mod forecast;
mod forked;
mod graph;
mod loading;
mod nx;
mod pictures;
mod plan;
mod program;
mod waiting;
mod worker;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _seawall(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    forked::check()?;
    graph::add(module)?;
    plan::add(module)?;
    arrow::add(module)?;
    forecast::add(module)?;
    nx::add(module)?;
    csgraph::add(module)
}
