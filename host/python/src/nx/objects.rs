//! Objects of Python, made in great numbers.

use super::rows::{Rows, prefetch};
use super::search::Levels;
use super::{Dicts, NxGraph};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyDict, PyList, PySequence, PySet};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

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

/// The hash table of a set from which nodes go. CPython makes it anew, in another order, once more
/// than a quarter of its places are of nodes that have gone.
pub(super) struct Table {
    /// Places that are or were taken.
    filled: usize,
    places: usize,
}

impl Table {
    fn of(set: &Bound<'_, PySet>, filled: usize) -> PyResult<Self> {
        let places = Self::places(set)?;
        Ok(Self { filled, places })
    }

    /// The table of `left`, the difference of two sets: a copy of the first from which few nodes went,
    /// or one that was filled with those left.
    pub(super) fn of_difference<'py>(
        all: &Bound<'py, PySet>,
        out: &Bound<'py, PySet>,
        left: &Bound<'py, PySet>,
    ) -> PyResult<Self> {
        if all.len() >> 2 > out.len() {
            let copy = all.call_method0("copy")?;
            let copy = Self::of(copy.cast()?, all.len())?;
            if !copy.is_outgrown(left.len()) {
                return Self::of(left, copy.filled);
            }
        }
        Self::of(left, left.len())
    }

    fn is_outgrown(&self, left: usize) -> bool {
        self.filled - left > (self.places - 1) / 4
    }

    /// Tells whether removing nodes, in one call, made the table anew.
    pub(super) fn is_made_anew(&mut self, set: &Bound<'_, PySet>) -> PyResult<bool> {
        let is_anew = self.is_outgrown(set.len());
        if is_anew {
            *self = Self::of(set, set.len())?;
        }
        Ok(is_anew)
    }

    /// Places of a table: a set of few nodes has it in itself, of eight, others beside it.
    fn places(set: &Bound<'_, PySet>) -> PyResult<usize> {
        let size = |set: &Bound<'_, PySet>| set.call_method0("__sizeof__")?.extract::<usize>();
        let beside = size(set)?.saturating_sub(size(&PySet::empty(set.py())?)?);
        let place = 2 * size_of::<usize>();
        Ok(if beside == 0 { 8 } else { beside / place })
    }
}

/// Adds the keys of a dictionary, if all of them are whole numbers of 32 bits; else tells that they are
/// not, and adds none. Values stay out of the caches.
pub(super) fn push_keys(dict: &Bound<'_, PyDict>, numbers: &mut Vec<u32>) -> bool {
    let known = numbers.len();
    let is_whole = with_critical_section(dict, || {
        let (mut at, mut key) = (0, std::ptr::null_mut());
        // SAFETY: `dict` is a dictionary, and nothing here changes it.
        while unsafe { ffi::PyDict_Next(dict.as_ptr(), &mut at, &mut key, std::ptr::null_mut()) }
            == 1
        {
            let mut overflow = 0;
            // SAFETY: the key is alive as long as the dictionary is not changed: reading the value of
            // the type `int` itself runs no code of Python.
            let value = unsafe {
                match ffi::PyLong_CheckExact(key) {
                    1 => ffi::PyLong_AsLongAndOverflow(key, &mut overflow),
                    _ => -1,
                }
            };
            match u32::try_from(value) {
                Ok(number) => numbers.push(number),
                Err(_) => return false,
            }
        }
        true
    });
    if !is_whole {
        numbers.truncate(known);
    }
    is_whole
}

/// Asks for what a row's data is read from: for the objects, or, once these are there, for the tables
/// of those that are dictionaries. Numbers of nodes below `first` are left out.
pub(super) fn fetch_data(row: &Bound<'_, PyDict>, first: u32, is_there: bool) {
    with_critical_section(row, || {
        let (mut at, mut key, mut data) = (0, std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: `row` is a dictionary, and nothing here changes it.
        while unsafe { ffi::PyDict_Next(row.as_ptr(), &mut at, &mut key, &mut data) } == 1 {
            let mut overflow = 0;
            // SAFETY: the key is alive as long as the dictionary is not changed: reading the value of
            // the type `int` itself runs no code of Python.
            let is_before = unsafe {
                ffi::PyLong_CheckExact(key) == 1
                    && ffi::PyLong_AsLongAndOverflow(key, &mut overflow) < first.into()
            };
            if is_before {
                continue;
            }
            if !is_there {
                prefetch(data.cast());
                continue;
            }
            // SAFETY: as is the key.
            let data = unsafe { Borrowed::from_ptr(row.py(), data) };
            if let Ok(dict) = data.cast::<PyDict>() {
                fetch_table(&dict, 2);
            }
        }
    });
}

fn changed() -> PyErr {
    super::refused("a graph that changed after its conversion")
}

/// Nodes whose objects are fetched before the first of them is used: they lie anywhere in memory, and
/// so the waits for them overlap.
pub(super) const AHEAD: usize = 32;

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
        for nodes in order.chunks(AHEAD) {
            self.fetch(py, nodes);
            for &node in nodes {
                dict.set_item(self.node(py, node), value(node))?;
            }
        }
        Ok(())
    }

    pub(super) fn fetch(&self, py: Python<'_>, nodes: &[u32]) {
        fetch(nodes.iter().map(|node| self.node(py, *node)));
    }

    /// Adds the nodes with the lists of nodes that `rows` has for their places in the order.
    pub(super) fn put_lists<'py>(
        &self,
        py: Python<'py>,
        dict: &Bound<'py, PyDict>,
        order: &[u32],
        rows: &Rows,
    ) -> PyResult<()> {
        let places = rows.all().map(|place| (place, order[place as usize]));
        for (place, node) in places {
            if (place as usize).is_multiple_of(AHEAD) {
                let ahead = place as usize..order.len().min(place as usize + AHEAD);
                self.fetch(py, &order[ahead.clone()]);
                self.fetch(
                    py,
                    &rows.targets[rows.offsets[ahead.start]..rows.offsets[ahead.end]],
                );
            }
            dict.set_item(self.node(py, node), self.list(py, rows.of(place))?)?;
        }
        Ok(())
    }

    /// Adds the nodes with the paths to them, or the paths from them if `to_source`: `order` has each
    /// after its parent. A path is its parent's and a node, which is made in one piece.
    pub(super) fn put_paths<'py>(
        &self,
        py: Python<'py>,
        dict: &Bound<'py, PyDict>,
        order: &[u32],
        parent: &[u32],
        to_source: bool,
    ) -> PyResult<()> {
        let mut paths: Vec<Option<Bound<'py, PySequence>>> = vec![None; self.nodes.len()];
        let last = PyList::new(py, [py.None()])?;
        for nodes in order.chunks(AHEAD) {
            self.fetch(py, nodes);
            for &node in nodes {
                last.set_item(0, self.node(py, node))?;
                let before = paths.get(parent[node as usize] as usize);
                let path = match before.and_then(Option::as_ref) {
                    Some(path) if to_source => last.as_sequence().concat(path)?,
                    Some(path) => path.concat(last.as_sequence())?,
                    None => last.as_sequence().to_list()?.into_sequence(),
                };
                dict.set_item(self.node(py, node), &path)?;
                paths[node as usize] = Some(path);
            }
        }
        Ok(())
    }

    /// Adds nodes, in this order, and edges to an empty graph of the class `Graph`, by its dictionaries:
    /// attributes of nodes and of edges are copied, as `add_nodes_from` and `add_edges_from` do.
    ///
    /// Row after row: what is made together lies together in memory, and so do rows of the source.
    ///
    /// # Errors
    /// NotImplementedError where the nodes and edges of `source` are no longer those of this.
    pub(super) fn grow<'py>(
        &self,
        py: Python<'py>,
        source: &Dicts<'py>,
        made: &Dicts<'py>,
        order: &[u32],
        ends: &Ends,
    ) -> PyResult<()> {
        let _uncollected = Uncollected::new(py);
        let attributes = self.parts(&source.0)?;
        let rows = self.parts(&source.1)?;
        let mut data: Vec<Option<Bound<'py, PyDict>>> = vec![None; ends.edges];
        let mut given = Vec::with_capacity(AHEAD);
        for ahead in order.chunks(AHEAD) {
            fetch(ahead.iter().map(|node| rows[*node as usize].as_any()));
            for &node in ahead {
                let near = ends.of(node);
                fetch(near.iter().map(|end| self.node(py, end.0)));
                fetch(
                    near.iter()
                        .filter_map(|end| Some(data[end.1 as usize].as_ref()?.as_any())),
                );
                fetch_table(&rows[node as usize], TABLE_LINES);
            }
            for &node in ahead {
                let near = ends.of(node).iter();
                for &(other, edge) in near.filter(|end| data[end.1 as usize].is_none()) {
                    let found = rows[node as usize].get_item(self.node(py, other))?;
                    given.push((edge, found.ok_or_else(changed)?.cast_into::<PyDict>()?));
                }
            }
            given
                .iter()
                .for_each(|(_, dict)| fetch_table(dict, TABLE_LINES));
            for (edge, dict) in given.drain(..) {
                let known = &mut data[edge as usize];
                if known.is_none() {
                    *known = Some(dict.copy()?);
                }
            }
            for &node in ahead {
                let row = PyDict::new(py);
                for &(other, edge) in ends.of(node) {
                    if let Some(copy) = &data[edge as usize] {
                        row.set_item(self.node(py, other), copy)?;
                    }
                }
                let object = self.node(py, node);
                made.0.set_item(object, attributes[node as usize].copy()?)?;
                made.1.set_item(object, row)?;
            }
        }
        Ok(())
    }

    /// Adds the nodes and edges of a search to an empty graph of the class `DiGraph`, by its
    /// dictionaries of nodes, successors and predecessors.
    pub(super) fn grow_tree<'py>(
        &self,
        py: Python<'py>,
        found: &Levels,
        tree: &(Bound<'py, PyDict>, Bound<'py, PyDict>, Bound<'py, PyDict>),
    ) -> PyResult<()> {
        let _uncollected = Uncollected::new(py);
        let (nodes, next, before) = tree;
        let parent = |node: u32| found.parent[node as usize];
        // Data of the edge to each node but the first, in the order of the search: children follow
        // each other in it, as their parents do.
        let mut data = Vec::with_capacity(found.order.len());
        for (place, &node) in found.order.iter().enumerate() {
            if place.is_multiple_of(AHEAD) {
                let ahead = found.order[place..].iter().take(AHEAD);
                fetch(ahead.map(|node| self.node(py, *node)));
            }
            let row = PyDict::new(py);
            while let Some(&child) = found.order.get(data.len() + 1)
                && parent(child) == node
            {
                let edge = PyDict::new(py);
                row.set_item(self.node(py, child), &edge)?;
                data.push(edge);
            }
            let back = PyDict::new(py);
            if let Some(edge) = place.checked_sub(1).and_then(|at| data.get(at)) {
                back.set_item(self.node(py, parent(node)), edge)?;
            }
            let object = self.node(py, node);
            nodes.set_item(object, PyDict::new(py))?;
            next.set_item(object, row)?;
            before.set_item(object, back)?;
        }
        Ok(())
    }

    /// The data of some edges, found at their first ends: in the order of those, whose rows lie
    /// together in memory.
    pub(super) fn data_of<'py>(
        &self,
        py: Python<'py>,
        source_rows: &Bound<'py, PyDict>,
        edges: &[(u32, u32)],
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let rows = self.parts(source_rows)?;
        let mut places: Vec<usize> = (0..edges.len()).collect();
        places.sort_by_key(|at| edges[*at].0);
        let mut data: Vec<Option<Bound<'py, PyAny>>> = vec![None; edges.len()];
        for ahead in places.chunks(AHEAD) {
            fetch(ahead.iter().map(|at| rows[edges[*at].0 as usize].as_any()));
            fetch(ahead.iter().map(|at| self.node(py, edges[*at].1)));
            ahead
                .iter()
                .for_each(|at| fetch_table(&rows[edges[*at].0 as usize], TABLE_LINES));
            for &at in ahead {
                let (from, to) = edges[at];
                data[at] = rows[from as usize].get_item(self.node(py, to))?;
            }
        }
        data.into_iter()
            .map(|found| found.ok_or_else(changed))
            .collect()
    }

    /// The dictionaries that a dictionary of the source has for each node.
    fn parts<'py>(&self, whole: &Bound<'py, PyDict>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        if whole.len() != self.nodes.len() {
            return Err(changed());
        }
        let mut parts = Vec::with_capacity(self.nodes.len());
        for ((node, part), known) in whole.iter().zip(&self.nodes) {
            if !known.is(&node) && !node.eq(known)? {
                return Err(changed());
            }
            parts.push(part.cast_into::<PyDict>()?);
        }
        Ok(parts)
    }
}

/// Distance from an object's beginning to what is read of it beside the count of references: the value
/// of a whole number, the hash of a string. Half of all numbers lie across two lines.
const BODY: usize = 24;

/// Asks for the objects of some nodes, or others of their size.
fn fetch<'a, 'py: 'a>(objects: impl Iterator<Item = &'a Bound<'py, PyAny>>) {
    for object in objects {
        let start = object.as_ptr().cast::<u8>().cast_const();
        prefetch(start);
        prefetch(start.wrapping_add(BODY));
    }
}

/// Distance from a dictionary's beginning to the address of its table, in all versions of Python so far
/// but free-threaded ones. Elsewhere the hint asks for some other line.
const TABLE: usize = 32;

/// Lines of the table of a dictionary of some ten entries.
const TABLE_LINES: usize = 5;

/// Asks for so many lines of the table of a dictionary.
fn fetch_table(dict: &Bound<'_, PyDict>, lines: usize) {
    let start = dict.as_ptr().cast::<u8>().cast_const();
    // SAFETY: an object of this type is longer than this in all versions, and aligned to words. The
    // word becomes a hint, so it does not matter which field it is, nor who writes it meanwhile.
    let table = unsafe { AtomicPtr::<u8>::from_ptr(start.add(TABLE).cast_mut().cast()) };
    let table = table.load(Relaxed).cast_const();
    for line in 0..lines {
        prefetch(table.wrapping_add(64 * line));
    }
}

/// Edges without directions at each of their ends.
pub(super) struct Ends {
    offsets: Vec<usize>,
    /// The other end, and the number of the edge.
    near: Vec<(u32, u32)>,
    edges: usize,
}

impl Ends {
    fn of(&self, node: u32) -> &[(u32, u32)] {
        &self.near[self.offsets[node as usize]..self.offsets[node as usize + 1]]
    }

    /// The ends of edges, at each node in the order of the edges; a loop has one.
    pub(super) fn new(nodes: usize, edges: &[(u32, u32)]) -> Self {
        let mut offsets = vec![0; nodes + 1];
        for &(from, to) in edges {
            offsets[from as usize + 1] += 1;
            offsets[to as usize + 1] += usize::from(from != to);
        }
        for node in 1..offsets.len() {
            offsets[node] += offsets[node - 1];
        }
        let mut next = offsets.clone();
        let mut near = vec![(0, 0); offsets.last().copied().unwrap_or(0)];
        for (edge, &(from, to)) in (0..).zip(edges) {
            let both = [(from, to), (to, from)];
            for (one, other) in both.into_iter().take(1 + usize::from(from != to)) {
                near[next[one as usize]] = (other, edge);
                next[one as usize] += 1;
            }
        }
        Self {
            offsets,
            near,
            edges: edges.len(),
        }
    }
}
