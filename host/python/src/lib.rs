//! The compiled part of the Python package `seawall`.
//!
//! [`graph`] is what `seawall.Graph` wraps, [`worker`] the thread that answers its questions,
//! [`nx`] the backend of NetworkX, [`csgraph`] the functions of `scipy.sparse.csgraph`, and
//! [`error`] turns errors into exceptions. `docs/python.md` shows the package as its users have it.

mod csgraph;
mod error;
mod graph;
mod nx;
mod worker;

use pyo3::prelude::*;

#[pymodule]
fn _seawall(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    error::check_fork()?;
    graph::add(module)?;
    nx::add(module)?;
    csgraph::add(module)
}
