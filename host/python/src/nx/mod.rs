//! Graphs of NetworkX as rows, and the searches of its backend.
//!
//! Everything here gives the results of NetworkX in its order: rows keep the order of its
//! dictionaries, floats are added as it adds them. Where a result has no order of its own, the
//! library's analysis finds it. Dictionaries, lists and sets are made here, since making them in
//! Python would take most of the time.

mod bellman_ford;
mod centrality;
mod objects;
mod pairs;
pub(crate) mod rows;
pub(crate) mod search;
pub(crate) mod structure;

use crate::error;
use crate::forked::{self, detached};
use crate::waiting::on_sources;
use crate::worker::{Question, Worker};
use bellman_ford::{Comparable, Paths};
use centrality::{Edges, Reach, Walk};
use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use objects::{AHEAD, Ends, Table, Uncollected};
use pyo3::exceptions::{PyNotImplementedError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyRange, PySet, PyTuple};
use pyo3::{IntoPyObjectExt, intern};
use rows::{Rows, Weights};
use search::{BUCKETS_MAX, Contradiction, Goal, Length, Lengths, Levels, NONE, Ways};
use seawall::analysis::AnalysisKind;
use seawall::backend::cuda;
use seawall::graph::Graph;
use seawall::outcome::Column;
use seawall::run::{self, RunRequest};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use structure::Order;

/// Entries of the adjacency from which on a graph gets a thread with its first question: starting
/// one takes longer than most analyses of a smaller graph.
const ENTRIES_OF_THREAD: usize = 1 << 14;

/// Entries of the adjacency below which a plain loop answers: a question of the library takes 60 µs
/// beside its run, in which these loops end.
const ENTRIES_OF_QUESTION: usize = 1 << 12;

/// Entries of the adjacency below which a loop counts triangles where there is no GPU: in half the
/// time that the library takes on two threads.
const ENTRIES_OF_TRIANGLES: usize = 1 << 22;

/// Nodes from which on the data of edges is asked for ahead: that of fewer stays in the caches.
const NODES_OF_FETCHES: usize = 1 << 12;

/// A graph of NetworkX, converted. It does not change with the graph that it was made of.
#[pyclass(frozen, module = "seawall._seawall")]
#[derive(Debug)]
pub(crate) struct NxGraph {
    nodes: Vec<Py<PyAny>>,
    /// Number of each node; where nodes are their own numbers, made when it is first asked for.
    index: OnceLock<Py<PyDict>>,
    #[pyo3(get)]
    is_directed: bool,
    rows: Rows,
    back: OnceLock<(Rows, Vec<usize>)>,
    weights: Weights,
    /// The heaviest weight, if all are whole, none is negative and none exceeds [`BUCKETS_MAX`].
    heaviest: OnceLock<Option<u32>>,
    walk: OnceLock<Walk>,
    /// The same graph in the library, from the first question on, and its thread.
    graph: OnceLock<Arc<Graph>>,
    worker: OnceLock<Worker>,
}

/// Weights of edges while they are read.
#[derive(Default)]
struct Reader {
    whole: Vec<i64>,
    real: Vec<f64>,
    has_real: bool,
    total: i128,
    /// Addresses of the dictionaries of entries, of those of graphs without directions.
    owners: Vec<usize>,
}

impl Reader {
    /// Takes the weight of one entry, or of the two entries of an edge.
    fn push(&mut self, value: &Bound<'_, PyAny>, entries: u8) -> PyResult<()> {
        if value.is_exact_instance_of::<PyFloat>() {
            let real: f64 = value.extract()?;
            if real.is_nan() {
                return Err(refused("a weight is NaN"));
            }
            self.has_real = true;
            self.real.push(real);
            self.whole.push(0);
        } else if value.is_exact_instance_of::<PyInt>() {
            let whole = value.extract::<i64>();
            let whole = whole.map_err(|_| refused("a whole weight exceeds 64 bits"))?;
            self.total += i128::from(whole).abs() * i128::from(entries);
            self.whole.push(whole);
            self.real.push(whole as f64);
        } else {
            return Err(refused("a weight is neither int nor float"));
        }
        Ok(())
    }

    /// Leaves a place for the weight of an entry whose other direction is known.
    fn skip(&mut self) {
        self.whole.push(0);
        self.real.push(0.0);
    }

    /// Fills the places that were left, those of ends before their row's node, from the entries of
    /// the other direction. Tells whether all of these exist and have the same dictionary.
    fn mirror(&mut self, rows: &Rows) -> bool {
        let (back, places) = rows.transposed();
        let mut slots = vec![0; rows.nodes()];
        for node in rows.all() {
            for at in back.range(node) {
                slots[back.targets[at] as usize] = places[at];
            }
            for place in rows.range(node) {
                let before = rows.targets[place];
                if before >= node {
                    continue;
                }
                let other = slots[before as usize];
                let is_other = rows.range(before).contains(&other) && rows.targets[other] == node;
                if !is_other || self.owners[place] != self.owners[other] {
                    return false;
                }
                self.whole[place] = self.whole[other];
                self.real[place] = self.real[other];
            }
        }
        true
    }

    fn finish(self) -> PyResult<Weights> {
        if self.has_real {
            // Sums of whole weights are exact in floats as far as these go.
            return match self.total < 1 << 53 {
                true => Ok(Weights::Real(self.real)),
                false => Err(refused("whole weights beside floats exceed 53 bits")),
            };
        }
        match self.total < i128::from(i64::MAX) {
            true => Ok(Weights::Whole(self.whole)),
            false => Err(refused("the sum of all weights exceeds 64 bits")),
        }
    }
}

/// Two dictionaries, such as those of nodes and of rows.
type Dicts<'py> = (Bound<'py, PyDict>, Bound<'py, PyDict>);

fn refused(reason: &str) -> PyErr {
    PyNotImplementedError::new_err(format!("seawall: {reason}"))
}

/// Returns the weight of the entry for a neighbour; of parallel edges the least counts.
fn weight_of<'py>(
    data: &Bound<'py, PyAny>,
    attribute: &Bound<'py, PyAny>,
    default: &Bound<'py, PyAny>,
    is_multigraph: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let one = |data: &Bound<'py, PyAny>| -> PyResult<Bound<'py, PyAny>> {
        Ok(plain(data)?
            .get_item(attribute)?
            .unwrap_or_else(|| default.clone()))
    };
    if !is_multigraph {
        return one(data);
    }
    let mut least: Option<Bound<'py, PyAny>> = None;
    for data in plain(data)?.values() {
        let found = one(&data)?;
        least = match least {
            Some(least) => {
                let is_less = found.lt(&least);
                let is_less = is_less.map_err(|_| refused("weights that have no order"))?;
                Some(if is_less { found } else { least })
            }
            None => Some(found),
        };
    }
    Ok(least.unwrap_or_else(|| default.clone()))
}

/// Returns a mapping as a dictionary: itself, or a copy of a view's entries.
fn plain<'py>(mapping: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    if let Ok(dict) = mapping.cast::<PyDict>() {
        return Ok(dict.clone());
    }
    let dict = PyDict::new(mapping.py());
    for entry in mapping
        .call_method0(intern!(mapping.py(), "items"))?
        .try_iter()?
    {
        let (key, value): (Bound<'py, PyAny>, Bound<'py, PyAny>) = entry?.extract()?;
        dict.set_item(key, value)?;
    }
    Ok(dict)
}

#[pymethods]
impl NxGraph {
    /// Converts `graph`, with the weights that edges have under `attribute`, unless it is None.
    #[staticmethod]
    #[pyo3(signature = (graph, attribute = None, default = None))]
    fn from_networkx<'py>(
        py: Python<'py>,
        graph: &Bound<'py, PyAny>,
        attribute: Option<&Bound<'py, PyAny>>,
        default: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let is_directed: bool = graph.call_method0(intern!(py, "is_directed"))?.extract()?;
        // Both entries of an edge have one dictionary, so that reading one of them will do; views make
        // theirs anew.
        let adjacency = graph.getattr(intern!(py, "_adj"))?;
        let is_shared = !is_directed && adjacency.is_exact_instance_of::<PyDict>();
        let read = |is_shared| Self::read(graph, attribute, default, is_directed, is_shared);
        let converted = match read(is_shared)? {
            None => read(false)?,
            found => found,
        };
        converted.ok_or_else(|| refused("a graph that changes meanwhile"))
    }

    /// Number of each node.
    #[getter]
    fn index<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if let Some(known) = self.index.get() {
            return Ok(known.bind(py).clone());
        }
        let made = index_of(py, &self.nodes)?.unbind();
        Ok(self.index.get_or_init(|| made).bind(py).clone())
    }

    /// The nodes, in order.
    #[getter]
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, &self.nodes)
    }

    fn __len__(&self) -> usize {
        self.nodes.len()
    }

    /// Entries of the adjacency: an undirected edge has two, a loop one.
    #[getter]
    fn entries(&self) -> usize {
        self.rows.targets.len()
    }

    /// Number of loops.
    fn loops(&self) -> usize {
        let loops = |node: u32| {
            self.rows
                .of(node)
                .iter()
                .filter(|next| **next == node)
                .count()
        };
        self.rows.all().map(loops).sum()
    }

    /// Offsets of rows, ends of edges, and weights if there are any, as arrays.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let offsets: Vec<i64> = self
            .rows
            .offsets
            .iter()
            .map(|offset| *offset as i64)
            .collect();
        let targets = self.rows.targets.to_pyarray(py);
        let weights = match &self.weights {
            Weights::Unit => py.None().into_bound(py),
            Weights::Whole(weights) => weights.to_pyarray(py).into_any(),
            Weights::Real(weights) => weights.to_pyarray(py).into_any(),
        };
        (offsets.to_pyarray(py), targets, weights).into_pyobject(py)
    }

    /// Levels of the nodes that the sources reach, in the order in which they are found.
    #[pyo3(signature = (sources, cutoff = None, reverse = false))]
    fn levels<'py>(
        &self,
        py: Python<'py>,
        sources: Vec<u32>,
        cutoff: Option<f64>,
        reverse: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let found = self.search(py, &sources, cutoff, reverse)?;
        let dict = PyDict::new(py);
        for (level, nodes) in found.layers().enumerate() {
            let level = level.into_pyobject(py)?;
            self.put(py, &dict, nodes, |_| &level)?;
        }
        Ok(dict)
    }

    /// Level of `target`; None if it is not reached.
    fn level_of(&self, py: Python<'_>, source: u32, target: u32) -> PyResult<Option<u32>> {
        let sources = self.checked(Some(vec![source]))?;
        Ok(detached(py, || {
            let mut levels = Levels::of_order(self.nodes.len());
            levels.search(self.ways(false), &sources, NONE, Some(target));
            levels.level_of_target(target)
        }))
    }

    /// A path to each node that the source reaches, in the order in which they are found;
    /// `reverse` searches against the edges and lists paths to the source.
    #[pyo3(signature = (source, cutoff = None, to_source = false))]
    fn paths<'py>(
        &self,
        py: Python<'py>,
        source: u32,
        cutoff: Option<f64>,
        to_source: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let found = self.search_tree(py, &[source], cutoff, false)?;
        let _uncollected = Uncollected::new(py);
        let dict = PyDict::new(py);
        self.put_paths(py, &dict, &found.order, &found.parent, to_source)?;
        Ok(dict)
    }

    /// The edges of a breadth-first search, in its order: parents and children, or the other way round.
    #[pyo3(signature = (source, depth_limit = None, child_first = false))]
    fn bfs_edges<'py>(
        &self,
        py: Python<'py>,
        source: u32,
        depth_limit: Option<f64>,
        child_first: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let found = self.search_tree(py, &[source], depth_limit, false)?;
        let _uncollected = Uncollected::new(py);
        let edge = |(place, node): (usize, &u32)| {
            self.fetch(py, found.order.get(place + AHEAD).copied().as_slice());
            let parent = self.node(py, found.parent[*node as usize]);
            match child_first {
                true => (self.node(py, *node), parent),
                false => (parent, self.node(py, *node)),
            }
        };
        PyList::new(py, found.order.iter().enumerate().skip(1).map(edge))
    }

    /// The children of each node that has some in a breadth-first search, and of the source.
    #[pyo3(signature = (source, depth_limit = None))]
    fn bfs_successors<'py>(
        &self,
        py: Python<'py>,
        source: u32,
        depth_limit: Option<f64>,
    ) -> PyResult<Bound<'py, PyList>> {
        let found = self.search_tree(py, &[source], depth_limit, false)?;
        let _uncollected = Uncollected::new(py);
        let parent = |node: &u32| found.parent[*node as usize];
        let (_, reached) = found.order.split_at(1.min(found.order.len()));
        let all = PyList::empty(py);
        if reached.is_empty() {
            all.append((self.node(py, source), PyList::empty(py)))?;
        }
        for children in reached.chunk_by(|a, b| parent(a) == parent(b)) {
            self.fetch(py, children);
            all.append((
                self.node(py, parent(&children[0])),
                self.list(py, children)?,
            ))?;
        }
        Ok(all)
    }

    /// The layers of a breadth-first search from sources in this order.
    #[pyo3(signature = (sources, cutoff = None))]
    fn layers<'py>(
        &self,
        py: Python<'py>,
        sources: Vec<u32>,
        cutoff: Option<f64>,
    ) -> PyResult<Bound<'py, PyList>> {
        let found = self.search(py, &sources, cutoff, false)?;
        let _uncollected = Uncollected::new(py);
        let layers: PyResult<Vec<_>> = found.layers().map(|nodes| self.list(py, nodes)).collect();
        PyList::new(py, layers?)
    }

    /// The nodes that the source reaches, or that reach it, without itself if `is_strict`.
    #[pyo3(signature = (source, reverse = false, is_strict = true))]
    fn reached<'py>(
        &self,
        py: Python<'py>,
        source: u32,
        reverse: bool,
        is_strict: bool,
    ) -> PyResult<Bound<'py, PySet>> {
        let found = self.search(py, &[source], None, reverse)?;
        let nodes = found.reached().filter(|node| !is_strict || *node != source);
        self.set(py, &nodes.collect::<Vec<_>>())
    }

    /// Number of nodes that the source reaches, itself included.
    fn reached_count(&self, py: Python<'_>, source: u32) -> PyResult<usize> {
        Ok(self.search(py, &[source], None, false)?.order.len())
    }

    /// Predecessors on shortest paths, and levels if these are wanted: two dictionaries.
    fn predecessors<'py>(
        &self,
        py: Python<'py>,
        source: u32,
        cutoff: Option<u32>,
        with_levels: bool,
    ) -> PyResult<Dicts<'py>> {
        let limit = cutoff.filter(|most| *most > 0);
        let found = self.search(py, &[source], limit.map(f64::from), false)?;
        let before = detached(py, || search::parents(&self.rows, &found));
        let _uncollected = Uncollected::new(py);
        let (lists, levels) = (PyDict::new(py), PyDict::new(py));
        self.put_lists(py, &lists, &found.order, &before)?;
        for (level, nodes) in found.layers().enumerate().filter(|_| with_levels) {
            let level = level.into_pyobject(py)?;
            self.put(py, &levels, nodes, |_| &level)?;
        }
        Ok((lists, levels))
    }

    /// Lengths of lightest paths, in the order in which nodes are finished.
    #[pyo3(signature = (sources, cutoff = None, target = None))]
    fn lengths<'py>(
        &self,
        py: Python<'py>,
        sources: Vec<u32>,
        cutoff: Option<&Bound<'py, PyAny>>,
        target: Option<u32>,
    ) -> PyResult<Bound<'py, PyDict>> {
        Ok(self
            .lightest(py, &sources, cutoff, target, Wanted::Lengths)?
            .0)
    }

    /// Lengths and paths: two dictionaries.
    #[pyo3(signature = (sources, cutoff = None, target = None))]
    fn lightest_paths<'py>(
        &self,
        py: Python<'py>,
        sources: Vec<u32>,
        cutoff: Option<&Bound<'py, PyAny>>,
        target: Option<u32>,
    ) -> PyResult<Dicts<'py>> {
        self.lightest(py, &sources, cutoff, target, Wanted::Paths)
    }

    /// Lengths, and all predecessors on lightest paths: two dictionaries.
    #[pyo3(signature = (source, cutoff = None))]
    fn lightest_predecessors<'py>(
        &self,
        py: Python<'py>,
        source: u32,
        cutoff: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Dicts<'py>> {
        self.lightest(py, &[source], cutoff, None, Wanted::Predecessors)
    }

    /// A path of fewest edges between two nodes; None if there is none. `back` has the reversed edges.
    fn path_between<'py>(
        &self,
        py: Python<'py>,
        source: u32,
        target: u32,
        back: &Bound<'py, Self>,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        let ways = self.both_ways(source, target, back.get())?;
        let found = detached(py, || pairs::shortest(ways, source, target));
        found.map(|path| self.list(py, &path)).transpose()
    }

    /// Length of a lightest path between two nodes, and the path; None if there is none. `back` has
    /// the reversed edges, with their weights.
    fn lightest_between<'py>(
        &self,
        py: Python<'py>,
        source: u32,
        target: u32,
        back: &Bound<'py, Self>,
    ) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyList>)>> {
        let back = back.get();
        let ways = self.both_ways(source, target, back)?;
        let (length, path) = match (&self.weights, &back.weights) {
            (Weights::Real(ahead), Weights::Real(behind)) => {
                let weight = |side: usize, place: usize| [ahead, behind][side][place];
                let found = detached(py, || pairs::lightest(ways, weight, source, target));
                match found.map_err(contradiction_of_two)? {
                    Some((length, path)) => (length.into_bound_py_any(py)?, path),
                    None => return Ok(None),
                }
            }
            (ahead, behind) => {
                let weight = |side: usize, place: usize| [ahead, behind][side].whole(place);
                let found = detached(py, || pairs::lightest(ways, weight, source, target));
                match found.map_err(contradiction_of_two)? {
                    Some((length, path)) => (length.into_bound_py_any(py)?, path),
                    None => return Ok(None),
                }
            }
        };
        Ok(Some((length, self.list(py, &path)?)))
    }

    /// Lengths along weights that may be negative, and paths: two dictionaries, of one node if it is
    /// named. None if some circle has a negative length.
    #[pyo3(signature = (source, target = None, with_paths = true))]
    fn signed_paths<'py>(
        &self,
        py: Python<'py>,
        source: u32,
        target: Option<u32>,
        with_paths: bool,
    ) -> PyResult<Option<Dicts<'py>>> {
        let wanted = if with_paths {
            Wanted::Paths
        } else {
            Wanted::Lengths
        };
        self.signed(py, source, target, true, wanted)
    }

    /// The same lengths, and all predecessors on lightest paths. With `early`, a negative circle is
    /// found when a node comes twice on a path of updates.
    fn signed_predecessors<'py>(
        &self,
        py: Python<'py>,
        source: u32,
        early: bool,
    ) -> PyResult<Option<Dicts<'py>>> {
        self.signed(py, source, None, early, Wanted::Predecessors)
    }

    /// Whether some circle of edges has a negative length, also one loop.
    fn has_negative_cycle(&self, py: Python<'_>, early: bool) -> bool {
        let all: Vec<u32> = self.rows.all().collect();
        let (rows, waits) = (&self.rows, self.nodes.len());
        let search = || match &self.weights {
            Weights::Real(weights) => {
                Paths::search(rows, |at| weights[at], &all, 1.0, early, waits).is_err()
            }
            weights => Paths::search(rows, |at| weights.whole(at), &all, 1, early, waits).is_err(),
        };
        self.has_negative_loop() || detached(py, search)
    }

    /// Whether a loop has a negative weight.
    fn has_negative_loop(&self) -> bool {
        self.rows.all().any(|node| {
            let mut loops = self.rows.range(node);
            loops.any(|at| self.rows.targets[at] == node && self.weights.float(at) < 0.0)
        })
    }

    /// Adds nodes to an independent set, of those of the set `all` that are not in `out`: each is the
    /// one at the place that `choice` takes of a range among those left, in the order of their set,
    /// and goes from there with its neighbours.
    fn independent<'py>(
        &self,
        py: Python<'py>,
        all: &Bound<'py, PySet>,
        out: &Bound<'py, PySet>,
        choice: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let chosen = PyList::empty(py);
        let available = all.call_method1(intern!(py, "difference"), (out,))?;
        let available = available.cast::<PySet>()?;
        let mut table = Table::of_difference(all, out, available)?;
        let mut order = self.order_of(py, available)?;
        while !available.is_empty() {
            let range = py.get_type::<PyRange>().call1((available.len(),))?;
            let place = order.ranks.find(choice.call1((range,))?.extract()?);
            let node = order.nodes.get(place).copied();
            let node = node.ok_or_else(|| PyValueError::new_err("a choice beyond its range"))?;
            chosen.append(self.node(py, node))?;
            let near = std::iter::once(&node).chain(self.rows.of(node));
            let gone: Vec<u32> = near.copied().filter(|node| order.remove(*node)).collect();
            available.call_method1(intern!(py, "difference_update"), (self.list(py, &gone)?,))?;
            if table.is_made_anew(available)? {
                order = self.order_of(py, available)?;
            }
        }
        Ok(chosen)
    }

    /// Components, directions ignored, as sets.
    fn components<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let labels = self.component_labels(py)?;
        // A component stands where its first node does, which is its label.
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); labels.len()];
        for (node, label) in self.rows.all().zip(labels) {
            members[label as usize].push(node);
        }
        members.retain(|nodes| !nodes.is_empty());
        self.sets(py, &members)
    }

    /// Number of components, directions ignored.
    fn component_count(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(count(&self.component_labels(py)?))
    }

    /// Strongly connected components as sets.
    fn strong_components<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let found = detached(py, || structure::strong_components(&self.rows));
        self.sets(py, &found)
    }

    /// Number of strongly connected components.
    fn strong_component_count(&self, py: Python<'_>) -> PyResult<usize> {
        if self.is_small() {
            return Ok(structure::strong_components(&self.rows).len());
        }
        Ok(count(&self.labels(py, AnalysisKind::Scc)?))
    }

    /// Core number of every node.
    fn core_numbers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        // Edges in both directions count each, which the library has no rule for.
        if self.is_directed || self.is_small() {
            let back = self.back();
            let found = detached(py, || structure::core_numbers(&self.rows, back));
            return self.dict(py, &found);
        }
        self.dict(py, &self.labels(py, AnalysisKind::Kcore)?)
    }

    /// Triangles at every node of an undirected graph.
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.dict(py, &self.triangle_counts(py)?)
    }

    /// Local clustering of every node of an undirected graph.
    fn clustering<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = self.triangle_counts(py)?;
        let dict = PyDict::new(py);
        for (node, count) in self.rows.all().zip(found) {
            dict.set_item(self.node(py, node), self.share(py, node, count)?)?;
        }
        Ok(dict)
    }

    /// The values of `clustering` alone.
    fn clustering_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let found = self.triangle_counts(py)?;
        let share = |(node, count)| self.share(py, node, count);
        let values: PyResult<Vec<_>> = self.rows.all().zip(found).map(share).collect();
        PyList::new(py, values?)
    }

    /// Twice the triangles at all nodes, and the pairs of neighbours of all nodes.
    fn triads(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let found: u64 = self.triangle_counts(py)?.iter().sum();
        let degrees = self.rows.all().map(|node| self.simple_degree(node));
        Ok((2 * found, degrees.map(|d| d * d.saturating_sub(1)).sum()))
    }

    /// Colours of nodes by falling degree, in that order.
    fn largest_first<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = detached(py, || structure::largest_first(&self.rows));
        let (order, colours) = found;
        let most = order.iter().map(|node| colours[*node as usize] + 1).max();
        let known = (0..most.unwrap_or(0)).map(|colour| colour.into_pyobject(py));
        let known: Vec<Bound<'py, PyInt>> = known.collect::<Result<_, _>>()?;
        let dict = PyDict::new(py);
        let colour = |node: u32| &known[colours[node as usize] as usize];
        self.put(py, &dict, &order, colour)?;
        Ok(dict)
    }

    /// Communities by semi-synchronous label propagation, by label.
    fn propagated<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let labels = detached(py, || structure::propagated_labels(&self.rows));
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        let mut order = Vec::new();
        for (node, &label) in self.rows.all().zip(&labels) {
            if members[label as usize].is_empty() {
                order.push(label);
            }
            members[label as usize].push(node);
        }
        let dict = PyDict::new(py);
        for label in order {
            dict.set_item(label, self.set(py, &members[label as usize])?)?;
        }
        Ok(dict)
    }

    /// Edges of a spanning forest as pairs, lightest or heaviest first.
    fn spanning<'py>(&self, py: Python<'py>, minimum: bool) -> PyResult<Bound<'py, PyList>> {
        let edges = detached(py, || self.forest(minimum));
        let _uncollected = Uncollected::new(py);
        let pair = |(from, to): &(u32, u32)| (self.node(py, *from), self.node(py, *to));
        PyList::new(py, edges.iter().map(pair))
    }

    /// The same edges with their data, which the rows of the graph that this was made of have.
    fn spanning_data<'py>(
        &self,
        py: Python<'py>,
        minimum: bool,
        source_rows: Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyList>> {
        let edges = detached(py, || self.forest(minimum));
        let _uncollected = Uncollected::new(py);
        let data = self.data_of(py, &source_rows, &edges)?;
        let edges = edges.iter().zip(&data);
        PyList::new(
            py,
            edges.map(|((from, to), data)| (self.node(py, *from), self.node(py, *to), data)),
        )
    }

    /// Puts a spanning forest into the empty dictionaries `nodes` and `rows` of a `Graph`; those of
    /// the graph that this was made of are `source_nodes` and `source_rows`.
    fn spanning_into<'py>(
        &self,
        py: Python<'py>,
        minimum: bool,
        source: Dicts<'py>,
        forest: Dicts<'py>,
    ) -> PyResult<()> {
        let ends = detached(py, || Ends::new(self.nodes.len(), &self.forest(minimum)));
        let order: Vec<u32> = self.rows.all().collect();
        self.grow(py, &source, &forest, &order, &ends)
    }

    /// Puts the nodes of `order` and the edges between them into the empty dictionaries of a `Graph`, as
    /// in `spanning_into`.
    fn induced_into<'py>(
        &self,
        py: Python<'py>,
        order: Vec<u32>,
        source: Dicts<'py>,
        made: Dicts<'py>,
    ) -> PyResult<()> {
        let order = self.checked(Some(order))?;
        let ends = detached(py, || {
            let edges = structure::induced(&self.rows, &order);
            Ends::new(self.nodes.len(), &edges)
        });
        self.grow(py, &source, &made, &order, &ends)
    }

    /// Puts the tree of a breadth-first search into the empty dictionaries of a `DiGraph`: nodes,
    /// successors and predecessors.
    fn bfs_tree_into<'py>(
        &self,
        py: Python<'py>,
        source: u32,
        depth_limit: Option<f64>,
        tree: (Bound<'py, PyDict>, Bound<'py, PyDict>, Bound<'py, PyDict>),
    ) -> PyResult<()> {
        let found = self.search_tree(py, &[source], depth_limit, false)?;
        self.grow_tree(py, &found, &tree)
    }

    /// Generations of a directed graph as lists, and how many nodes they have.
    fn generations<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyList>, usize)> {
        let found = detached(py, || structure::generations(&self.rows));
        let lists: PyResult<Vec<_>> = found.iter().map(|nodes| self.list(py, nodes)).collect();
        Ok((PyList::new(py, lists?)?, found.iter().map(Vec::len).sum()))
    }

    /// Searches from each node: nodes that it reaches, and the sum of their levels.
    fn reaches(&self, py: Python<'_>) -> PyResult<(Vec<u64>, Vec<u64>)> {
        let sources: Vec<u32> = self.rows.all().collect();
        let search = |stop: &AtomicBool| centrality::reaches(self.ways(false), &sources, stop);
        let found = on_sources(py, sources.len(), search)?;
        Ok(found.iter().map(|reach| (reach.nodes, reach.total)).unzip())
    }

    /// Level of the farthest node from each source; None if some node is out of reach of one.
    fn eccentricities(&self, py: Python<'_>, sources: Vec<u32>) -> PyResult<Option<Vec<u32>>> {
        let sources = self.checked(Some(sources))?;
        let kind = match self.is_directed {
            true => AnalysisKind::Scc,
            false => AnalysisKind::Cc,
        };
        if sources.is_empty() || self.is_small() || count(&self.labels(py, kind)?) != 1 {
            let search = |stop: &AtomicBool| centrality::reaches(self.ways(false), &sources, stop);
            let found = on_sources(py, sources.len(), search)?;
            let is_whole = |reach: &Reach| reach.nodes == self.nodes.len() as u64;
            let largest = found.iter().map(|reach| reach.largest).collect();
            return Ok(found.iter().all(is_whole).then_some(largest));
        }
        let mut once = sources.clone();
        once.sort_unstable();
        once.dedup();
        match self.ask(py, AnalysisKind::Eccentricity, once)? {
            Column::U32(largest) => {
                let largest = sources.iter().map(|node| largest[*node as usize]);
                Ok(Some(largest.collect()))
            }
            _ => Err(refused("a column of another kind")),
        }
    }

    /// Closeness of each source, by the levels of the nodes that reach it.
    #[pyo3(signature = (sources = None, is_improved = true))]
    fn closeness<'py>(
        &self,
        py: Python<'py>,
        sources: Option<Vec<u32>>,
        is_improved: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let sources = self.checked(sources)?;
        let search = |stop: &AtomicBool| centrality::reaches(self.ways(true), &sources, stop);
        let found = on_sources(py, sources.len(), search)?;
        let dict = PyDict::new(py);
        for (&node, reach) in sources.iter().zip(found) {
            let mut value = 0.0;
            if reach.total > 0 && self.nodes.len() > 1 {
                let others = reach.nodes as f64 - 1.0;
                value = others / reach.total as f64;
                if is_improved {
                    value *= others / (self.nodes.len() - 1) as f64;
                }
            }
            dict.set_item(self.node(py, node), value)?;
        }
        Ok(dict)
    }

    /// Sums of 1 over levels from each source, for the nodes of `wanted` or the sources.
    fn harmonic<'py>(
        &self,
        py: Python<'py>,
        sources: Vec<u32>,
        wanted: Vec<u32>,
        is_transposed: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (sources, wanted) = (self.checked(Some(sources))?, self.checked(Some(wanted))?);
        let mut flags = vec![false; self.nodes.len()];
        for &node in &wanted {
            flags[node as usize] = true;
        }
        let ways = self.ways(is_transposed);
        let search =
            |stop: &AtomicBool| centrality::harmonic(ways, &sources, &flags, is_transposed, stop);
        let found = on_sources(py, sources.len(), search)?;
        let dict = PyDict::new(py);
        for &node in if is_transposed { &sources } else { &wanted } {
            match found[node as usize] {
                0.0 => dict.set_item(self.node(py, node), 0)?,
                sum => dict.set_item(self.node(py, node), sum)?,
            }
        }
        Ok(dict)
    }

    /// Shares of shortest paths from the sources through every node, not scaled.
    #[pyo3(signature = (sources = None, is_weighted = false, endpoints = false))]
    fn betweenness<'py>(
        &self,
        py: Python<'py>,
        sources: Option<Vec<u32>>,
        is_weighted: bool,
        endpoints: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let sources = self.checked(sources)?;
        let weights = is_weighted.then(|| self.exact_floats()).transpose()?;
        let weights = weights.as_deref();
        let search = |stop: &AtomicBool| {
            centrality::betweenness(&self.rows, weights, &sources, endpoints, stop)
        };
        let found = on_sources(py, sources.len(), search)?;
        self.dict(py, &found)
    }

    /// Shares of shortest paths from the sources over every edge, not scaled, by its ends.
    #[pyo3(signature = (sources = None, is_weighted = false))]
    fn edge_betweenness<'py>(
        &self,
        py: Python<'py>,
        sources: Option<Vec<u32>>,
        is_weighted: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let sources = self.checked(sources)?;
        let weights = is_weighted.then(|| self.exact_floats()).transpose()?;
        let weights = weights.as_deref();
        let edges = Edges::new(&self.rows, self.is_directed);
        let search = |stop: &AtomicBool| {
            centrality::edge_betweenness(&self.rows, weights, &sources, &edges, stop)
        };
        let found = on_sources(py, sources.len(), search)?;
        let dict = PyDict::new(py);
        for ((node, next), share) in edges.ends.into_iter().zip(found) {
            dict.set_item((self.node(py, node), self.node(py, next)), share)?;
        }
        Ok(dict)
    }

    /// The least weight; infinite without edges.
    fn weight_min(&self) -> f64 {
        self.floats().into_iter().fold(f64::INFINITY, f64::min)
    }

    /// One step of a random walk along weights: what every node receives of `ranks`.
    fn walk<'py>(
        &self,
        py: Python<'py>,
        ranks: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let ranks = ranks.as_slice()?;
        if ranks.len() != self.nodes.len() {
            let text = format!("{} ranks for {} nodes", ranks.len(), self.nodes.len());
            return Err(PyValueError::new_err(text));
        }
        let found = detached(py, || self.transitions().step(ranks));
        Ok(numpy::PyArray1::from_vec(py, found))
    }

    /// Nodes that pass nothing on, ascending.
    fn dangling<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        detached(py, || self.transitions().dangling.clone()).to_pyarray(py)
    }

    /// Outgoing edges of every node, or incoming ones; a loop of an undirected graph counts twice.
    fn degrees(&self, incoming: bool) -> Vec<usize> {
        let rows = self.towards(incoming);
        let twice = |node: u32| match self.is_directed {
            true => 0,
            false => rows.of(node).iter().filter(|next| **next == node).count(),
        };
        rows.all()
            .map(|node| rows.degree(node) + twice(node))
            .collect()
    }
}

/// What a search for lightest paths has to return beside lengths.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Lengths,
    Paths,
    Predecessors,
}

impl NxGraph {
    /// Reads a graph; where both entries of an edge share a dictionary, one of them. None where they
    /// were said to, but do not.
    fn read<'py>(
        graph: &Bound<'py, PyAny>,
        attribute: Option<&Bound<'py, PyAny>>,
        default: Option<&Bound<'py, PyAny>>,
        is_directed: bool,
        is_shared: bool,
    ) -> PyResult<Option<Self>> {
        let py = graph.py();
        let is_multigraph = graph
            .call_method0(intern!(py, "is_multigraph"))?
            .extract()?;
        let adjacency = plain(&graph.getattr(intern!(py, "_adj"))?)?;
        let mut nodes = Vec::with_capacity(adjacency.len());
        let mut is_range = true;
        for node in adjacency.keys() {
            let number = nodes.len();
            is_range &= node.is_exact_instance_of::<PyInt>()
                && node.extract::<usize>().is_ok_and(|own| own == number);
            nodes.push(node.unbind());
        }
        let index = match is_range {
            true => None,
            false => Some(index_of(py, &nodes)?),
        };
        if nodes.len() >= NONE as usize {
            return Err(refused("more nodes than 32 bits number"));
        }
        let one = 1_i64.into_bound_py_any(py)?;
        let default = default.filter(|value| !value.is_none()).unwrap_or(&one);
        let attribute = attribute.filter(|name| !name.is_none());
        let mut offsets = Vec::with_capacity(nodes.len() + 1);
        offsets.push(0);
        let mut targets = Vec::new();
        let mut weights = Reader::default();
        let number_of = |node: Bound<'py, PyAny>| -> PyResult<u32> {
            let Some(index) = &index else {
                return node.extract();
            };
            let number = index.get_item(&node)?;
            let number = number.ok_or_else(|| refused("an edge to no node"))?;
            number.extract()
        };
        let mut ahead = (0_u32..).zip(&adjacency).peekable();
        while let Some((own, (_, row))) = ahead.next() {
            let row = plain(&row)?;
            if attribute.is_some() && nodes.len() >= NODES_OF_FETCHES {
                let first = |own| if is_shared && is_range { own } else { 0 };
                if let Some((next, (_, row))) = ahead.peek()
                    && let Ok(row) = row.cast::<PyDict>()
                {
                    objects::fetch_data(row, first(*next), false);
                }
                objects::fetch_data(&row, first(own), true);
            }
            match attribute {
                // Data of edges that nobody asks for stays out of the caches.
                None if is_range && objects::push_keys(&row, &mut targets) => (),
                None => {
                    for node in row.keys() {
                        targets.push(number_of(node)?);
                    }
                }
                Some(attribute) => {
                    for (node, data) in &row {
                        let number = number_of(node)?;
                        targets.push(number);
                        if is_shared {
                            weights.owners.push(data.as_ptr().addr());
                            if number < own {
                                weights.skip();
                                continue;
                            }
                        }
                        let weight = weight_of(&data, attribute, default, is_multigraph)?;
                        weights.push(&weight, 1 + u8::from(is_shared && number > own))?;
                    }
                }
            }
            offsets.push(targets.len());
        }
        if targets.iter().any(|target| *target as usize >= nodes.len()) {
            return Err(refused("an edge to no node"));
        }
        let rows = Rows { offsets, targets };
        if attribute.is_some() && is_shared && !weights.mirror(&rows) {
            return Ok(None);
        }
        let weights = match attribute {
            Some(_) => weights.finish()?,
            None => Weights::Unit,
        };
        Ok(Some(Self {
            nodes,
            index: index.map_or_else(OnceLock::new, |index| OnceLock::from(index.unbind())),
            is_directed,
            rows,
            back: OnceLock::new(),
            weights,
            heaviest: OnceLock::new(),
            walk: OnceLock::new(),
            graph: OnceLock::new(),
            worker: OnceLock::new(),
        }))
    }

    fn node<'py>(&self, py: Python<'py>, node: u32) -> &Bound<'py, PyAny> {
        self.nodes[node as usize].bind(py)
    }

    /// Asks the library, on the machine that it chooses. A large graph gets a thread, where Ctrl-C
    /// ends runs and the machine stays open, at once; a small one with its second question.
    fn ask(&self, py: Python<'_>, analysis: AnalysisKind, sources: Vec<u32>) -> PyResult<Column> {
        let request = RunRequest::new(analysis, sources).on(forked::machine());
        let known = self.graph.get();
        let is_new = known.is_none();
        let graph = match known {
            Some(graph) => graph,
            None => {
                let made = detached(py, || self.rows.graph(!self.is_directed));
                let made = made.map_err(|problem| error::of_graph(py, &problem))?;
                self.graph.get_or_init(|| Arc::new(made))
            }
        };
        let is_small = is_new && self.rows.targets.len() < ENTRIES_OF_THREAD;
        if is_small || forked::is_forked() {
            let found = detached(py, || run::execute(graph, &request));
            let found = found.map_err(|problem| error::of_run(py, &problem))?;
            return Ok(found.values);
        }
        let worker = match self.worker.get() {
            Some(worker) => worker,
            None => {
                let started = Worker::start(Arc::clone(graph))?;
                self.worker.get_or_init(|| started)
            }
        };
        let question = Question {
            request,
            devices: None,
        };
        Ok(worker.run(py, question, None)?.values)
    }

    /// A word for each node.
    fn labels(&self, py: Python<'_>, analysis: AnalysisKind) -> PyResult<Vec<u32>> {
        match self.ask(py, analysis, Vec::new())? {
            Column::U32(words) => Ok(words),
            _ => Err(refused("a column of another kind")),
        }
    }

    /// The first node of every node's component, directions ignored.
    fn component_labels(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        match self.is_small() {
            true => Ok(structure::components(&self.rows)),
            false => self.labels(py, AnalysisKind::Cc),
        }
    }

    /// Tells whether a plain loop takes less time than a question of the library.
    fn is_small(&self) -> bool {
        self.rows.targets.len() < ENTRIES_OF_QUESTION
    }

    /// Edges of a spanning forest, lightest or heaviest first.
    fn forest(&self, minimum: bool) -> Vec<(u32, u32)> {
        let towards = |key: u64| if minimum { key } else { !key };
        match &self.weights {
            Weights::Unit => structure::kruskal(&self.rows, |_| 0),
            Weights::Whole(w) => {
                structure::kruskal(&self.rows, |at| towards(structure::key_of_whole(w[at])))
            }
            Weights::Real(w) => {
                structure::kruskal(&self.rows, |at| towards(structure::key_of_real(w[at])))
            }
        }
    }

    /// The share of pairs of neighbours that are neighbours themselves, a whole 0 for none.
    fn share<'py>(&self, py: Python<'py>, node: u32, count: u64) -> PyResult<Bound<'py, PyAny>> {
        if count == 0 {
            return 0.into_bound_py_any(py);
        }
        let degree = self.simple_degree(node);
        ((2 * count) as f64 / (degree * (degree - 1)) as f64).into_bound_py_any(py)
    }

    fn triangle_counts(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        let entries = self.rows.targets.len();
        if self.is_small() || (entries < ENTRIES_OF_TRIANGLES && !has_device()) {
            return Ok(detached(py, || structure::triangles(&self.rows)));
        }
        match self.ask(py, AnalysisKind::Triangles, Vec::new())? {
            Column::U32(words) => Ok(words.into_iter().map(u64::from).collect()),
            Column::U64(counts) => Ok(counts),
            _ => Err(refused("a column of another kind")),
        }
    }

    fn back(&self) -> Option<&Rows> {
        let transposed = || &self.back.get_or_init(|| self.rows.transposed()).0;
        self.is_directed.then(transposed)
    }

    fn towards(&self, reverse: bool) -> &Rows {
        let back = if reverse { self.back() } else { None };
        back.unwrap_or(&self.rows)
    }

    fn transitions(&self) -> &Walk {
        self.walk.get_or_init(|| match &self.weights {
            Weights::Unit => Walk::new(&self.rows, |_| 1.0),
            Weights::Whole(w) => Walk::new(&self.rows, |place| w[place] as f64),
            Weights::Real(w) => Walk::new(&self.rows, |place| w[place]),
        })
    }

    /// Weights whose sums along paths are exact if they are whole.
    fn exact_floats(&self) -> PyResult<Vec<f64>> {
        if let Weights::Whole(weights) = &self.weights {
            let total: i128 = weights.iter().map(|weight| i128::from(*weight).abs()).sum();
            if total >= 1 << 53 {
                return Err(refused("whole weights exceed 53 bits"));
            }
        }
        Ok(self.floats())
    }

    fn floats(&self) -> Vec<f64> {
        let places = 0..self.rows.targets.len();
        places.map(|place| self.weights.float(place)).collect()
    }

    /// Number of neighbours, itself left out.
    fn simple_degree(&self, node: u32) -> u64 {
        self.rows
            .of(node)
            .iter()
            .filter(|next| **next != node)
            .count() as u64
    }

    /// The sources, all nodes by default.
    fn checked(&self, sources: Option<Vec<u32>>) -> PyResult<Vec<u32>> {
        let Some(sources) = sources else {
            return Ok(self.rows.all().collect());
        };
        match sources
            .iter()
            .find(|node| **node as usize >= self.nodes.len())
        {
            None => Ok(sources),
            Some(node) => Err(PyValueError::new_err(format!("no node {node}"))),
        }
    }

    /// Edges to follow, or the reversed ones.
    fn ways(&self, reverse: bool) -> Ways<'_> {
        let (rows, other) = match (self.is_directed, reverse) {
            (false, _) => (&self.rows, Some(&self.rows)),
            (true, false) => (&self.rows, self.back.get().map(|back| &back.0)),
            (true, true) => (self.towards(true), Some(&self.rows)),
        };
        Ways { rows, back: other }
    }

    /// Searches for nodes by level.
    fn search(
        &self,
        py: Python<'_>,
        sources: &[u32],
        cutoff: Option<f64>,
        reverse: bool,
    ) -> PyResult<Levels> {
        let levels = Levels::of_order(self.nodes.len());
        self.search_with(py, levels, sources, cutoff, reverse)
    }

    /// As [`search`](Self::search), with parents.
    fn search_tree(
        &self,
        py: Python<'_>,
        sources: &[u32],
        cutoff: Option<f64>,
        reverse: bool,
    ) -> PyResult<Levels> {
        let levels = Levels::new(self.nodes.len());
        self.search_with(py, levels, sources, cutoff, reverse)
    }

    fn search_with(
        &self,
        py: Python<'_>,
        mut levels: Levels,
        sources: &[u32],
        cutoff: Option<f64>,
        reverse: bool,
    ) -> PyResult<Levels> {
        let sources = self.checked(Some(sources.to_vec()))?;
        // The search goes on while the level is below the cutoff.
        let most = cutoff.map_or(NONE, |cutoff| {
            cutoff.ceil().clamp(0.0, f64::from(NONE)) as u32
        });
        Ok(detached(py, || {
            levels.search(self.ways(reverse), &sources, most, None);
            levels
        }))
    }

    fn lightest<'py>(
        &self,
        py: Python<'py>,
        sources: &[u32],
        cutoff: Option<&Bound<'py, PyAny>>,
        target: Option<u32>,
        wanted: Wanted,
    ) -> PyResult<Dicts<'py>> {
        let sources = self.checked(Some(sources.to_vec()))?;
        let given = cutoff.filter(|value| !value.is_none());
        let cutoff: Option<f64> = given.map(PyAnyMethods::extract).transpose()?;
        // No length exceeds what is no number.
        let cutoff = cutoff.filter(|cutoff| !cutoff.is_nan());
        match &self.weights {
            Weights::Real(weights) => {
                let goal = Goal {
                    cutoff,
                    target,
                    all_parents: wanted == Wanted::Predecessors,
                };
                let found = self.run(py, |place| weights[place], &sources, goal)?;
                self.lightest_dicts(py, &sources, target, &found, wanted)
            }
            weights => {
                // Whole lengths exceed a cutoff where they exceed its floor. A whole one may have more
                // digits than a float.
                let whole = given.and_then(|value| value.extract().ok());
                let floor = whole.or(cutoff.map(|cutoff| cutoff.floor() as i64));
                let goal = Goal {
                    cutoff: floor,
                    target,
                    all_parents: wanted == Wanted::Predecessors,
                };
                let found = match (weights, self.heaviest()) {
                    (Weights::Whole(weights), Some(heaviest)) => {
                        let weight = |place: usize| weights[place] as u32;
                        self.run_light(py, weight, &sources, goal, heaviest)
                    }
                    (Weights::Whole(weights), _) => {
                        self.run(py, |place| weights[place], &sources, goal)?
                    }
                    _ => self.run_light(py, |_| 1, &sources, goal, 1),
                };
                self.lightest_dicts(py, &sources, target, &found, wanted)
            }
        }
    }

    /// The heaviest weight, where a search may take buckets: they are no more than nodes.
    fn heaviest(&self) -> Option<u32> {
        *self.heaviest.get_or_init(|| {
            let Weights::Whole(weights) = &self.weights else {
                return None;
            };
            // The longest path has a length of 32 bits.
            let nodes = self.nodes.len().max(1) as i64;
            let most = BUCKETS_MAX.min(nodes).min(i64::from(NONE) / nodes);
            let is_light = weights.iter().all(|weight| (0..=most).contains(weight));
            let heaviest = weights.iter().copied().max().unwrap_or(0);
            is_light.then(|| u32::try_from(heaviest).unwrap_or(0))
        })
    }

    fn run_light(
        &self,
        py: Python<'_>,
        weight: impl Fn(usize) -> u32 + Sync + Send,
        sources: &[u32],
        goal: Goal<i64>,
        heaviest: u32,
    ) -> Lengths<i64> {
        detached(py, || {
            let mut lengths = Lengths::new(self.nodes.len());
            lengths.search_light(&self.rows, weight, sources, goal, heaviest);
            lengths
        })
    }

    fn run<W: Length>(
        &self,
        py: Python<'_>,
        weight: impl Fn(usize) -> W + Sync + Send,
        sources: &[u32],
        goal: Goal<W>,
    ) -> PyResult<Lengths<W>> {
        let search = || {
            let mut lengths = Lengths::new(self.nodes.len());
            lengths
                .search(&self.rows, weight, sources, goal)
                .map(|()| lengths)
        };
        detached(py, search).map_err(contradiction)
    }

    fn lightest_dicts<'py, W>(
        &self,
        py: Python<'py>,
        sources: &[u32],
        target: Option<u32>,
        found: &Lengths<W>,
        wanted: Wanted,
    ) -> PyResult<Dicts<'py>>
    where
        W: Length + IntoPyObject<'py>,
    {
        let _uncollected = Uncollected::new(py);
        let (lengths, more) = (PyDict::new(py), PyDict::new(py));
        let length = |node: u32| found.length[node as usize];
        // A caller that names a target looks at no other.
        let one = target.map(|target| [target]);
        let order = one.as_ref().map_or(&found.order[..], |one| one);
        match target.is_some_and(|target| !found.is_done(target)) {
            true => (),
            false => self.put(py, &lengths, order, length)?,
        }
        for &source in sources {
            // A whole 0, also along floats; its place is known, so that it stays there.
            if found.is_done(source) && found.parent[source as usize] == NONE {
                lengths.set_item(self.node(py, source), 0)?;
            }
        }
        match wanted {
            Wanted::Lengths => (),
            Wanted::Paths => {
                for &source in sources {
                    more.set_item(self.node(py, source), self.list(py, &[source])?)?;
                }
                match target {
                    None => self.put_paths(py, &more, &found.order, &found.parent, false)?,
                    Some(node) if found.is_done(node) => {
                        let path = path_to(&found.parent, node);
                        more.set_item(self.node(py, node), self.list(py, &path)?)?;
                    }
                    Some(_) => (),
                }
            }
            Wanted::Predecessors => {
                let mut later = found.noted.iter().skip(AHEAD);
                for &node in sources.iter().chain(&found.noted) {
                    self.fetch(py, later.next().copied().as_slice());
                    let parents = &found.parents[node as usize];
                    more.set_item(self.node(py, node), self.list(py, parents)?)?;
                }
            }
        }
        Ok((lengths, more))
    }

    /// The edges and those of `back`, in which both nodes must be.
    fn both_ways<'a>(
        &'a self,
        source: u32,
        target: u32,
        back: &'a Self,
    ) -> PyResult<[&'a Rows; 2]> {
        self.checked(Some(vec![source, target]))?;
        back.checked(Some(vec![source, target]))?;
        Ok([&self.rows, &back.rows])
    }

    fn signed<'py>(
        &self,
        py: Python<'py>,
        source: u32,
        target: Option<u32>,
        early: bool,
        wanted: Wanted,
    ) -> PyResult<Option<Dicts<'py>>> {
        self.checked(Some(vec![source]))?;
        let (rows, waits) = (&self.rows, self.nodes.len());
        match &self.weights {
            Weights::Real(weights) => {
                let weight = |place: usize| weights[place];
                let found = detached(py, || {
                    Paths::search(rows, weight, &[source], 0.0, early, waits)
                });
                let found = found
                    .ok()
                    .map(|found| self.signed_dicts(py, source, target, &found, wanted));
                found.transpose()
            }
            weights => {
                let weight = |place: usize| weights.whole(place);
                let found = detached(py, || {
                    Paths::search(rows, weight, &[source], 0, early, waits)
                });
                let found = found
                    .ok()
                    .map(|found| self.signed_dicts(py, source, target, &found, wanted));
                found.transpose()
            }
        }
    }

    fn signed_dicts<'py, W>(
        &self,
        py: Python<'py>,
        source: u32,
        target: Option<u32>,
        found: &Paths<W>,
        wanted: Wanted,
    ) -> PyResult<Dicts<'py>>
    where
        W: Comparable + IntoPyObject<'py>,
    {
        let _uncollected = Uncollected::new(py);
        let (lengths, more) = (PyDict::new(py), PyDict::new(py));
        let one = target.filter(|node| found.has(*node)).map(|node| [node]);
        let order = match (target, &one) {
            (Some(_), one) => one.as_ref().map_or(&[][..], |one| one),
            (None, _) => &found.order,
        };
        self.put(py, &lengths, order, |node| found.length[node as usize])?;
        if order.contains(&source) {
            // A whole 0, also along floats.
            lengths.set_item(self.node(py, source), 0)?;
        }
        for &node in order {
            let list = match wanted {
                Wanted::Lengths => break,
                Wanted::Paths => self.list(py, &found.path(source, node))?,
                Wanted::Predecessors => self.list(py, &found.before[node as usize])?,
            };
            more.set_item(self.node(py, node), list)?;
        }
        Ok((lengths, more))
    }

    /// The nodes of a set, in its order.
    fn order_of(&self, py: Python<'_>, set: &Bound<'_, PySet>) -> PyResult<Order> {
        let index = self.index(py)?;
        let number = |node: Bound<'_, PyAny>| match index.get_item(node)? {
            Some(number) => number.extract(),
            None => Err(refused("a graph that changes meanwhile")),
        };
        let nodes: PyResult<Vec<u32>> = set.iter().map(number).collect();
        Ok(Order::new(nodes?, self.nodes.len()))
    }

    fn list<'py>(&self, py: Python<'py>, nodes: &[u32]) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, nodes.iter().map(|node| self.node(py, *node)))
    }

    /// A set of nodes, put into it in ascending order: so they lie side by side in memory, and in the
    /// set where they are numbers.
    fn set<'py>(&self, py: Python<'py>, nodes: &[u32]) -> PyResult<Bound<'py, PySet>> {
        let sorted = |nodes: &[u32]| {
            let mut nodes = nodes.to_vec();
            nodes.sort_unstable();
            nodes
        };
        let sorted = (!nodes.is_sorted()).then(|| sorted(nodes));
        let nodes = sorted.as_deref().unwrap_or(nodes);
        PySet::new(py, nodes.iter().map(|node| self.node(py, *node)))
    }

    fn sets<'py>(&self, py: Python<'py>, all: &[Vec<u32>]) -> PyResult<Bound<'py, PyList>> {
        let _uncollected = Uncollected::new(py);
        let sets: PyResult<Vec<_>> = all.iter().map(|nodes| self.set(py, nodes)).collect();
        PyList::new(py, sets?)
    }

    /// One value for each node, in the order of the nodes.
    fn dict<'py, T>(&self, py: Python<'py>, values: &[T]) -> PyResult<Bound<'py, PyDict>>
    where
        T: Copy + IntoPyObject<'py>,
    {
        let dict = PyDict::new(py);
        for (node, value) in self.nodes.iter().zip(values) {
            dict.set_item(node.bind(py), *value)?;
        }
        Ok(dict)
    }
}

/// Tells whether this machine has a GPU that a driver knows.
fn has_device() -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| cuda::probe().is_ok_and(|found| !found.is_empty()))
}

/// NetworkX joins the words of one of its two messages.
fn contradiction_of_two(_: Contradiction) -> PyErr {
    PyValueError::new_err("Contradictory paths found: negative weights?")
}

fn contradiction(_: Contradiction) -> PyErr {
    PyValueError::new_err(("Contradictory paths found:", "negative weights?"))
}

/// Returns the number of each node.
fn index_of<'py>(py: Python<'py>, nodes: &[Py<PyAny>]) -> PyResult<Bound<'py, PyDict>> {
    let index = PyDict::new(py);
    for (number, node) in nodes.iter().enumerate() {
        index.set_item(node.bind(py), number)?;
    }
    Ok(index)
}

/// Number of components of nodes that are labelled with the first node of theirs.
fn count(labels: &[u32]) -> usize {
    (0..)
        .zip(labels)
        .filter(|(node, label)| node == *label)
        .count()
}

fn path_to(parent: &[u32], node: u32) -> Vec<u32> {
    let mut path = vec![node];
    let mut at = parent[node as usize];
    while at != NONE {
        path.push(at);
        at = parent[at as usize];
    }
    path.reverse();
    path
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NxGraph>()
}
