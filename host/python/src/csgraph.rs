//! Searches behind `seawall.csgraph`, in 64-bit floats as SciPy has them.

use crate::error;
use crate::forked::{self, detached};
use crate::nx::rows::Rows;
use crate::nx::search::{Contradiction, Goal, Lengths, Levels, NONE, Ways};
use crate::nx::structure;
use crate::waiting::on_sources;
use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use rayon::prelude::*;
use seawall::analysis::AnalysisKind;
use seawall::outcome::Column;
use seawall::run::{RunRequest, execute};
use std::sync::atomic::Ordering::Relaxed;

impl Matrix {
    /// Number and labels of strongly connected components, numbered as a depth-first search leaves
    /// them that follows the edges of a row from the first to the last, or the other way round.
    fn strong_labels(&self, last_edge_first: bool) -> (usize, Vec<i32>) {
        let mut rows = self.rows.clone();
        if last_edge_first {
            for node in self.rows.all() {
                rows.targets[self.rows.range(node)].reverse();
            }
        }
        let found = structure::strong_components(&rows);
        let mut labels = vec![0; self.rows.nodes()];
        for (label, nodes) in (0..).zip(&found) {
            for &node in nodes {
                labels[node as usize] = label;
            }
        }
        (found.len(), labels)
    }
}

/// Number of components, and labels that count these from 0, of labels that are the first node of
/// each.
fn by_first_node(column: &Column) -> (usize, Vec<i32>) {
    let Column::U32(firsts) = column else {
        return (0, Vec::new());
    };
    let mut count = 0;
    let mut labels: Vec<i32> = Vec::with_capacity(firsts.len());
    for (node, &first) in (0..).zip(firsts) {
        if node == first {
            labels.push(count);
            count += 1;
        } else {
            labels.push(labels[first as usize]);
        }
    }
    (count as usize, labels)
}

/// Node that SciPy writes where there is none.
const ABSENT: i32 = -9999;

/// Compressed sparse rows with 64-bit weights.
#[pyclass(frozen, module = "seawall._seawall")]
#[derive(Debug)]
pub(crate) struct Matrix {
    rows: Rows,
    weights: Vec<f64>,
}

type Ints<'py> = Bound<'py, PyArray1<i32>>;
type Floats<'py> = Bound<'py, PyArray1<f64>>;

#[pymethods]
impl Matrix {
    #[new]
    fn new(
        py: Python<'_>,
        offsets: PyReadonlyArray1<'_, i64>,
        targets: PyReadonlyArray1<'_, i64>,
        weights: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let (offsets, targets) = (offsets.as_slice()?, targets.as_slice()?);
        let bad = |text: &str| error::request(py, "BadArrays", text);
        let nodes = offsets.len().saturating_sub(1);
        let edges = targets.len() as i64;
        if offsets.first() != Some(&0) || offsets.last() != Some(&edges) || !offsets.is_sorted() {
            return Err(bad(
                "offsets that do not rise from 0 to the number of entries",
            ));
        }
        if nodes > i32::MAX as usize {
            return Err(bad("more nodes than 32 bits number"));
        }
        let fits = |target: &i64| usize::try_from(*target).is_ok_and(|target| target < nodes);
        if !targets.iter().all(fits) {
            return Err(bad("a column that is not below the number of rows"));
        }
        let weights = weights.as_slice()?.to_vec();
        if weights.len() != targets.len() {
            return Err(bad("another number of values than of columns"));
        }
        let rows = Rows {
            offsets: offsets.iter().map(|offset| *offset as usize).collect(),
            targets: targets.iter().map(|target| *target as u32).collect(),
        };
        Ok(Self { rows, weights })
    }

    /// The same rows with the reversed edges behind them.
    fn undirected(&self, py: Python<'_>) -> Self {
        detached(py, || {
            let (back, places) = self.rows.transposed();
            let mut offsets = vec![0];
            let (mut targets, mut weights) = (Vec::new(), Vec::new());
            for node in self.rows.all() {
                targets.extend_from_slice(self.rows.of(node));
                weights.extend_from_slice(&self.weights[self.rows.range(node)]);
                targets.extend_from_slice(back.of(node));
                weights.extend(
                    places[back.range(node)]
                        .iter()
                        .map(|place| self.weights[*place]),
                );
                offsets.push(targets.len());
            }
            Self {
                rows: Rows { offsets, targets },
                weights,
            }
        })
    }

    /// Number and labels of components: strong ones, see `strong_labels`, or with directions
    /// ignored.
    fn components<'py>(
        &self,
        py: Python<'py>,
        is_strong: bool,
        last_edge_first: bool,
    ) -> PyResult<(usize, Ints<'py>)> {
        let (count, labels) = if is_strong {
            detached(py, || self.strong_labels(last_edge_first))
        } else {
            let graph = detached(py, || self.rows.graph(false));
            let graph = graph.map_err(|problem| error::of_graph(py, &problem))?;
            let request = RunRequest::new(AnalysisKind::Cc, Vec::new()).on(forked::machine());
            let found = detached(py, || execute(&graph, &request));
            let found = found.map_err(|problem| error::of_run(py, &problem))?;
            by_first_node(&found.values)
        };
        Ok((count, PyArray1::from_vec(py, labels)))
    }

    /// Nodes in the order of a breadth-first search, and the predecessor of each node.
    fn breadth_first<'py>(&self, py: Python<'py>, source: u32) -> PyResult<(Ints<'py>, Ints<'py>)> {
        self.check(py, source)?;
        let mut levels = Levels::new(self.rows.nodes());
        detached(py, || {
            levels.search(Ways::forward(&self.rows), &[source], NONE, None)
        });
        let order = levels.order.iter().map(|node| *node as i32).collect();
        let parents = levels.parent.iter().map(|node| absent(*node)).collect();
        Ok((
            PyArray1::from_vec(py, order),
            PyArray1::from_vec(py, parents),
        ))
    }

    /// Nodes in the order of a depth-first search, and the predecessor of each node.
    fn depth_first<'py>(&self, py: Python<'py>, source: u32) -> PyResult<(Ints<'py>, Ints<'py>)> {
        self.check(py, source)?;
        let (order, parents) = detached(py, || depth_first(&self.rows, source));
        Ok((
            PyArray1::from_vec(py, order),
            PyArray1::from_vec(py, parents),
        ))
    }

    /// Distances and predecessors from each source, row after row; None where a weight is
    /// negative.
    #[pyo3(signature = (sources, is_weighted, limit))]
    fn dijkstra<'py>(
        &self,
        py: Python<'py>,
        sources: Vec<u32>,
        is_weighted: bool,
        limit: f64,
    ) -> PyResult<(Floats<'py>, Ints<'py>)> {
        for &source in &sources {
            self.check(py, source)?;
        }
        let nodes = self.rows.nodes();
        let goal = Goal {
            cutoff: Some(limit),
            target: None,
            all_parents: false,
        };
        let search = |lengths: &mut Lengths<f64>, source: &u32| {
            let weight = |place: usize| {
                if is_weighted {
                    self.weights[place]
                } else {
                    1.0
                }
            };
            let ended = lengths.search(&self.rows, weight, &[*source], goal);
            let (mut distance, mut parent) = (vec![f64::INFINITY; nodes], vec![ABSENT; nodes]);
            for &node in &lengths.order {
                distance[node as usize] = lengths.length[node as usize];
                parent[node as usize] = absent(lengths.parent[node as usize]);
            }
            ended.map(|()| (distance, parent))
        };
        let new = || Lengths::new(nodes);
        let found: Result<Vec<_>, Contradiction> = on_sources(py, sources.len(), |stop| {
            let heard = sources.par_iter().take_any_while(|_| !stop.load(Relaxed));
            heard.map_init(new, search).collect()
        })?;
        let negative = |Contradiction| error::request(py, "Negative", "a weight is negative");
        let mut distances = Vec::with_capacity(nodes * sources.len());
        let mut parents = Vec::with_capacity(nodes * sources.len());
        for (distance, parent) in found.map_err(negative)? {
            distances.extend(distance);
            parents.extend(parent);
        }
        Ok((
            PyArray1::from_vec(py, distances),
            PyArray1::from_vec(py, parents),
        ))
    }

    /// Distances and predecessors from each source, as [`Self::dijkstra`], along edges in both
    /// directions unless they are directed; weights may be negative. None if there is a circle of
    /// negative weight.
    fn bellman_ford<'py>(
        &self,
        py: Python<'py>,
        sources: Vec<u32>,
        is_weighted: bool,
        is_directed: bool,
    ) -> PyResult<Option<(Floats<'py>, Ints<'py>)>> {
        for &source in &sources {
            self.check(py, source)?;
        }
        let weight = |place: usize| {
            if is_weighted {
                self.weights[place]
            } else {
                1.0
            }
        };
        let search = |source: &u32| bellman_ford(&self.rows, weight, *source, is_directed);
        let found: Option<Vec<_>> = on_sources(py, sources.len(), |stop| {
            let heard = sources.par_iter().take_any_while(|_| !stop.load(Relaxed));
            heard.map(search).collect()
        })?;
        let joined = |found: Vec<(Vec<f64>, Vec<i32>)>| {
            let (distances, parents): (Vec<_>, Vec<_>) = found.into_iter().unzip();
            let distances = PyArray1::from_vec(py, distances.concat());
            (distances, PyArray1::from_vec(py, parents.concat()))
        };
        Ok(found.map(joined))
    }

    /// Places of the entries that span all components, entries either way alike, in `order`.
    fn spanning<'py>(
        &self,
        py: Python<'py>,
        order: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let order = order.as_slice()?;
        let edges = self.rows.targets.len();
        let fits = |place: &i64| usize::try_from(*place).is_ok_and(|place| place < edges);
        if !order.iter().all(fits) {
            return Err(error::request(py, "BadArrays", "a place that no entry has"));
        }
        let found = detached(py, || spanning(&self.rows, order));
        Ok(PyArray1::from_vec(py, found))
    }
}

impl Matrix {
    fn check(&self, py: Python<'_>, node: u32) -> PyResult<()> {
        match (node as usize) < self.rows.nodes() {
            true => Ok(()),
            false => {
                let text = format!("no node {node}: there are {}", self.rows.nodes());
                Err(error::request(py, "NoSuchSource", &text))
            }
        }
    }
}

/// Nodes in the order of a breadth-first search of rows in place, and the predecessor of each node.
/// Offsets and targets are of one type, of 32 or 64 bits.
#[pyfunction]
fn breadth_first<'py>(
    py: Python<'py>,
    offsets: &Bound<'py, PyAny>,
    targets: &Bound<'py, PyAny>,
    source: u32,
) -> PyResult<(Ints<'py>, Ints<'py>)> {
    match offsets.cast::<PyArray1<i32>>() {
        Ok(offsets) => breadth_first_of(py, offsets, targets.cast()?, source),
        Err(_) => breadth_first_of::<i64>(py, offsets.cast()?, targets.cast()?, source),
    }
}

fn breadth_first_of<'py, I: Element + Copy + TryInto<usize>>(
    py: Python<'py>,
    offsets: &Bound<'py, PyArray1<I>>,
    targets: &Bound<'py, PyArray1<I>>,
    source: u32,
) -> PyResult<(Ints<'py>, Ints<'py>)> {
    let (offsets, targets) = (offsets.try_readonly()?, targets.try_readonly()?);
    let (offsets, targets) = (offsets.as_slice()?, targets.as_slice()?);
    let nodes = offsets.len().saturating_sub(1);
    if source as usize >= nodes.min(i32::MAX as usize) {
        let text = format!("no node {source}: there are {nodes}");
        return Err(error::request(py, "NoSuchSource", &text));
    }
    let Some((order, parents)) = detached(py, || search_in_place(offsets, targets, source)) else {
        let text = "an offset or a column beyond the matrix";
        return Err(error::request(py, "BadArrays", text));
    };
    Ok((
        PyArray1::from_vec(py, order),
        PyArray1::from_vec(py, parents),
    ))
}

/// As [`breadth_first`], from a source that is a node; `None` where the arrays contradict each
/// other. A bit for each node stays in the first-level cache where a predecessor would not.
fn search_in_place<I: Copy + TryInto<usize>>(
    offsets: &[I],
    targets: &[I],
    source: u32,
) -> Option<(Vec<i32>, Vec<i32>)> {
    let whole = |number: I| -> Option<usize> { number.try_into().ok() };
    let nodes = offsets.len() - 1;
    let mut parents = vec![ABSENT; nodes];
    let mut seen = vec![0_u64; nodes.div_ceil(64)];
    let mut order = Vec::with_capacity(nodes);
    seen[source as usize / 64] |= 1 << (source % 64);
    order.push(source as i32);
    let mut at = 0;
    while let Some(&node) = order.get(at) {
        at += 1;
        let own = node as usize;
        for &next in targets.get(whole(offsets[own])?..whole(offsets[own + 1])?)? {
            let next = whole(next)?;
            let word = seen.get_mut(next / 64)?;
            if *word >> (next % 64) & 1 == 0 {
                *word |= 1 << (next % 64);
                *parents.get_mut(next)? = node;
                order.push(next as i32);
            }
        }
    }
    Some((order, parents))
}

fn absent(node: u32) -> i32 {
    if node == NONE { ABSENT } else { node as i32 }
}

fn depth_first(rows: &Rows, source: u32) -> (Vec<i32>, Vec<i32>) {
    let mut next: Vec<usize> = rows.offsets[..rows.nodes()].to_vec();
    let mut parents = vec![ABSENT; rows.nodes()];
    let mut seen = vec![false; rows.nodes()];
    let (mut stack, mut order) = (vec![source], vec![source as i32]);
    seen[source as usize] = true;
    while let Some(&node) = stack.last() {
        let own = node as usize;
        let end = rows.offsets[own + 1];
        let unseen = (next[own]..end).find(|at| !seen[rows.targets[*at] as usize]);
        next[own] = unseen.map_or(end, |at| at + 1);
        let Some(at) = unseen else {
            stack.pop();
            continue;
        };
        let found = rows.targets[at];
        seen[found as usize] = true;
        parents[found as usize] = node as i32;
        order.push(found as i32);
        stack.push(found);
    }
    (order, parents)
}

/// Rounds over all edges until none changes a distance; one more than there are nodes finds a
/// circle of negative weight. Edges without directions are tried forward and then backward, in the
/// place where they are listed, as SciPy tries them: that decides between paths of one length.
fn bellman_ford(
    rows: &Rows,
    weight: impl Fn(usize) -> f64,
    source: u32,
    is_directed: bool,
) -> Option<(Vec<f64>, Vec<i32>)> {
    let mut distance = vec![f64::INFINITY; rows.nodes()];
    let mut parent = vec![ABSENT; rows.nodes()];
    distance[source as usize] = 0.0;
    for _ in 0..=rows.nodes() {
        let mut has_changed = false;
        for node in rows.all() {
            let own = node as usize;
            for place in rows.range(node) {
                let (next, weight) = (rows.targets[place] as usize, weight(place));
                if distance[own] + weight < distance[next] {
                    distance[next] = distance[own] + weight;
                    parent[next] = node as i32;
                    has_changed = true;
                }
                if !is_directed && distance[next] + weight < distance[own] {
                    distance[own] = distance[next] + weight;
                    parent[own] = next as i32;
                    has_changed = true;
                }
            }
        }
        if !has_changed {
            return Some((distance, parent));
        }
    }
    None
}

fn spanning(rows: &Rows, order: &[i64]) -> Vec<i64> {
    let mut from = vec![0; rows.targets.len()];
    for node in rows.all() {
        from[rows.range(node)].fill(node);
    }
    let mut root: Vec<u32> = rows.all().collect();
    let is_kept = |place: &i64| {
        let place = *place as usize;
        let (a, b) = (from[place], rows.targets[place]);
        let (a, b) = (structure::find(&mut root, a), structure::find(&mut root, b));
        root[a.max(b) as usize] = a.min(b);
        a != b
    };
    order.iter().copied().filter(is_kept).collect()
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Matrix>()?;
    module.add_function(wrap_pyfunction!(breadth_first, module)?)
}
