//! Objects of Python, made in great numbers.

use super::NxGraph;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{IntoPyObjectExt, ffi};

/// Keeps the collector of cycles from walking over all objects again and again while many are made,
/// none of which is garbage.
pub(super) struct Uncollected<'py> {
    _py: Python<'py>,
    was_enabled: bool,
}

impl<'py> Uncollected<'py> {
    pub(super) fn new(py: Python<'py>) -> Self {
        // SAFETY: this thread is attached to the interpreter, as `py` shows.
        let was_enabled = unsafe { ffi::PyGC_Disable() } == 1;
        Self {
            _py: py,
            was_enabled,
        }
    }
}

impl Drop for Uncollected<'_> {
    fn drop(&mut self) {
        if self.was_enabled {
            // SAFETY: `_py` shows that this thread is still attached.
            unsafe { ffi::PyGC_Enable() };
        }
    }
}

fn changed() -> PyErr {
    super::refused("a graph that changed after its conversion")
}

/// Nodes whose objects are fetched before the first of them is used: they lie anywhere in memory, and
/// so the waits for them overlap.
const AHEAD: usize = 32;

impl NxGraph {
    /// Adds the nodes with their values to a dictionary, in this order.
    pub(super) fn put<'py, V>(
        &self,
        py: Python<'py>,
        dict: &Bound<'py, PyDict>,
        order: &[u32],
        value: impl Fn(u32) -> V,
    ) -> PyResult<()>
    where
        V: IntoPyObject<'py>,
    {
        let mut held = Vec::with_capacity(AHEAD);
        for nodes in order.chunks(AHEAD) {
            held.extend(nodes.iter().map(|node| self.node(py, *node).clone()));
            for (object, node) in held.drain(..).zip(nodes) {
                dict.set_item(object, value(*node))?;
            }
        }
        Ok(())
    }

    /// Adds nodes and edges of a forest to an empty graph of the class `Graph`, by its dictionaries:
    /// attributes of nodes and of edges are copied, as `add_nodes_from` and `add_edges_from` do.
    ///
    /// # Errors
    /// NotImplementedError where the nodes and edges of `source` are no longer those of this.
    pub(super) fn grow<'py>(
        &self,
        py: Python<'py>,
        source: (&Bound<'py, PyDict>, &Bound<'py, PyDict>),
        forest: (&Bound<'py, PyDict>, &Bound<'py, PyDict>),
        edges: &[(u32, u32)],
    ) -> PyResult<()> {
        let _uncollected = Uncollected::new(py);
        let (source_nodes, source_rows) = source;
        let (nodes, rows) = forest;
        if source_nodes.len() != self.nodes.len() || source_rows.len() != self.nodes.len() {
            return Err(changed());
        }
        let is_own = |at: usize, node: &Bound<'py, PyAny>| match self.nodes.get(at) {
            Some(known) => Ok(known.is(node) || node.eq(known)?),
            None => PyResult::Ok(false),
        };
        let mut own = Vec::with_capacity(self.nodes.len());
        let mut given = Vec::with_capacity(self.nodes.len());
        for (at, (node, attributes)) in source_nodes.iter().enumerate() {
            if !is_own(at, &node)? {
                return Err(changed());
            }
            let row = PyDict::new(py);
            nodes.set_item(&node, attributes.cast::<PyDict>()?.copy()?)?;
            rows.set_item(&node, &row)?;
            own.push(row);
        }
        for (at, (node, row)) in source_rows.iter().enumerate() {
            if !is_own(at, &node)? {
                return Err(changed());
            }
            given.push(row.cast_into::<PyDict>()?);
        }
        for &(from, to) in edges {
            let (from_node, to_node) = (self.node(py, from), self.node(py, to));
            let data = given[from as usize].get_item(to_node)?;
            let data = match data {
                Some(data) => data.cast_into::<PyDict>()?.copy()?,
                None => return Err(changed()),
            };
            let data = data.into_bound_py_any(py)?;
            own[from as usize].set_item(to_node, &data)?;
            own[to as usize].set_item(from_node, &data)?;
        }
        Ok(())
    }
}
