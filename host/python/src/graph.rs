//! The class `Graph`: arrays in, results of analyses as arrays out.
//!
//! `seawall.Graph` wraps it, with names of nodes, data frames and documentation.

use crate::error;
use crate::forked;
use crate::loading::loaded;
use crate::pictures::Pictures;
use crate::program::ProgramRequest;
use crate::worker::{Question, Worker};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use rayon::prelude::*;
use seawall::analysis::{Direction, Number};
use seawall::executor::Jit;
use seawall::graph::{self, ColumnChoice, ColumnRef, CsrArrays, Format, LoadOptions};
use seawall::graph::{Loops, Parallel, WeightChoice, WeightKind};
use seawall::multi::{DeviceChoice, NoDevice};
use seawall::outcome::{Column, Rounds, RunOutcome};
use seawall::run::{AnalysisKind, Detail, Executor, Machine, RunRequest};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Values that one thread converts at least: fewer are done before another one is awake.
const SHARE: usize = 1 << 15;

/// A graph of the library, and the thread that answers questions about it.
#[pyclass(frozen, module = "seawall._seawall")]
#[derive(Debug)]
pub(crate) struct Graph {
    graph: Arc<graph::Graph>,
    worker: Mutex<Option<Arc<Worker>>>,
    /// Weights that a 32-bit float does not represent exactly.
    #[pyo3(get)]
    rounded_weights: u64,
}

/// A machine, limits, and the parameters of an analysis, as Python names them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Options {
    machine: String,
    #[pyo3(default)]
    threads: Option<usize>,
    #[pyo3(default)]
    device: Option<u32>,
    #[pyo3(default)]
    devices: Option<Devices>,
    #[pyo3(default)]
    budget_bytes: Option<u64>,
    #[pyo3(default)]
    time_budget: Option<f64>,
    #[pyo3(default)]
    jit: Option<String>,
    #[pyo3(default)]
    takeover: Option<bool>,
    #[pyo3(default)]
    detail: Option<String>,
    #[pyo3(default)]
    damping: Option<f32>,
    #[pyo3(default)]
    tolerance: Option<f32>,
    #[pyo3(default)]
    max_iterations: Option<u32>,
    #[pyo3(default)]
    check: Option<bool>,
    #[pyo3(default)]
    weighted: Option<bool>,
    #[pyo3(default)]
    normalized: Option<bool>,
    #[pyo3(default)]
    direction: Option<String>,
    #[pyo3(default)]
    loops: Option<String>,
    #[pyo3(default)]
    parallel: Option<String>,
    #[pyo3(default)]
    plot: Option<PathBuf>,
    #[pyo3(default)]
    draw: Option<PathBuf>,
    #[pyo3(default)]
    page: Option<PathBuf>,
    #[pyo3(default)]
    names: Option<Vec<String>>,
}

impl Options {
    /// Reads the options; an error names the one that has no such value.
    fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = given.py();
        given.extract().map_err(|problem: PyErr| {
            let place = problem.value(py).to_string();
            let Some((_, name)) = place.rsplit_once("Options.") else {
                return problem;
            };
            let value = given.get_item(name).map(|value| value.to_string());
            let text = format!("{name} {}; it cannot be that", value.unwrap_or_default());
            error::request(py, "WrongOption", &text)
        })
    }
}

/// Devices by number, or by the name of all.
#[derive(FromPyObject)]
enum Devices {
    Name(String),
    Numbers(Vec<u32>),
}

/// How a file is read, as Python names it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct LoadChoices {
    undirected: bool,
    weights: Option<String>,
    skip_columns: bool,
    listed_order: bool,
    names: bool,
    format: Option<String>,
    source: Option<TableColumn>,
    target: Option<TableColumn>,
    weight: Option<TableColumn>,
}

/// A column of a table by its number from 1, or by its name.
#[derive(FromPyObject)]
enum TableColumn {
    Number(usize),
    Name(String),
}

impl From<TableColumn> for ColumnRef {
    fn from(column: TableColumn) -> Self {
        match column {
            TableColumn::Number(number) => Self::Number(number),
            TableColumn::Name(name) => Self::Name(name),
        }
    }
}

impl LoadChoices {
    fn options(self, py: Python<'_>) -> PyResult<LoadOptions> {
        let weights = [
            ("given", WeightChoice::Given),
            ("unit", WeightChoice::Unit),
            ("ignored", WeightChoice::Ignored),
        ];
        let formats = Format::ALL.map(|format| (format.name(), format));
        Ok(LoadOptions {
            undirected: self.undirected,
            weights: chosen(py, "weights", &self.weights, &weights)?.unwrap_or(WeightChoice::Given),
            skip_columns: self.skip_columns,
            listed_order: self.listed_order,
            names: self.names,
            format: chosen(py, "format", &self.format, &formats)?,
            columns: ColumnChoice {
                source: self.source.map(Into::into),
                target: self.target.map(Into::into),
                weight: self.weight.map(Into::into),
            },
            signed: true,
        })
    }
}

/// What [`Graph::parts`] returns.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Parts<'py> {
    offsets: Bound<'py, PyAny>,
    targets: Bound<'py, PyAny>,
    weights: Option<Bound<'py, PyAny>>,
    kind: Option<String>,
    symmetric: bool,
    by_weight: bool,
    rounded_weights: u64,
}

/// Weights of edges from an array.
enum Weights {
    None,
    Whole(Vec<u32>),
    /// Whole numbers of which one is negative.
    Signed(Vec<i32>),
    Real(Vec<f32>, u64),
}

/// Calls `$then` with the elements of `$array`, of whichever whole type they are.
macro_rules! of_whole {
    ($array:expr, $slice:ident => $then:expr) => {
        of_whole!(@ $array, $slice => $then, i64 u32 i32 u64 u16 i16 u8 i8)
    };
    (@ $array:expr, $slice:ident => $then:expr, $($kind:ty)*) => {
        $(if let Ok(array) = $array.cast::<PyArray1<$kind>>() {
            let array = array.try_readonly()?;
            let $slice = array.as_slice()?;
            Some($then)
        } else)* {
            None
        }
    };
}

/// Returns the elements as 32-bit words; an error names the first that is none.
#[expect(
    clippy::useless_conversion,
    clippy::unnecessary_fallible_conversions,
    reason = "the macro takes arrays of every whole type, u32 and smaller ones among them"
)]
fn words(py: Python<'_>, array: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<u32>> {
    let found = of_whole!(array, slice => py.detach(|| {
        let mut words = vec![0; slice.len()];
        let places = words.par_iter_mut().zip(slice).with_min_len(SHARE);
        let is_whole = places
            .map(|(place, value)| u32::try_from(*value).map(|word| *place = word).is_ok())
            .reduce(|| true, |left, right| left && right);
        if is_whole {
            return Ok(words);
        }
        let wrong = (0..).zip(slice).find(|(_, value)| u32::try_from(**value).is_err());
        Err(wrong.map_or((0, String::new()), |(index, value)| (index, value.to_string())))
    }));
    match found {
        Some(Ok(words)) => Ok(words),
        Some(Err((index, value))) => {
            let index: usize = index;
            let text = format!("{what} {index} is {value}; they are from 0 to {}", u32::MAX);
            Err(error::request(py, "OutOfRange", &text))
        }
        None => {
            let kind = array.getattr("dtype")?;
            let text = format!("{what}s of type {kind}; give a contiguous array of integers");
            Err(error::request(py, "WrongType", &text))
        }
    }
}

/// Builds a graph of two contiguous arrays of one type, which are read where they are. None where
/// they are something else, or contain what is no node: [`words`] takes and names these.
fn of_columns(
    py: Python<'_>,
    sources: &Bound<'_, PyAny>,
    targets: &Bound<'_, PyAny>,
    nodes: Option<u32>,
    undirected: bool,
) -> Option<graph::Graph> {
    macro_rules! of_kinds {
        ($($kind:ty)*) => {
            $(if let (Ok(sources), Ok(targets)) =
                (sources.cast::<PyArray1<$kind>>(), targets.cast::<PyArray1<$kind>>())
            {
                let (sources, targets) = (sources.try_readonly().ok()?, targets.try_readonly().ok()?);
                let (sources, targets) = (sources.as_slice().ok()?, targets.as_slice().ok()?);
                let build = || graph::Graph::from_columns(nodes, sources, targets, undirected);
                return py.detach(build).ok();
            })*
        };
    }
    of_kinds!(i64 i32 u32 u64);
    None
}

fn weights(py: Python<'_>, array: Option<&Bound<'_, PyAny>>) -> PyResult<Weights> {
    let Some(array) = array else {
        return Ok(Weights::None);
    };
    if let Ok(array) = array.cast::<PyArray1<f32>>() {
        return Ok(Weights::Real(array.try_readonly()?.as_slice()?.to_vec(), 0));
    }
    if let Ok(array) = array.cast::<PyArray1<f64>>() {
        let array = array.try_readonly()?;
        let slice = array.as_slice()?;
        let floats: Vec<f32> = slice.iter().map(|weight| *weight as f32).collect();
        let pairs = floats.iter().zip(slice);
        let rounded = pairs
            .filter(|(float, exact)| f64::from(**float) != **exact)
            .count();
        return Ok(Weights::Real(floats, rounded as u64));
    }
    match signed(py, array)? {
        Some(weights) => Ok(weights),
        None => Ok(Weights::Whole(words(py, array, "weight")?)),
    }
}

/// Whole weights of which one is negative; None of others. As soon as one of them has no place in
/// 32 bits with a sign, all become the nearest floats, as those of a file do.
fn signed(py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<Option<Weights>> {
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if kind != "i" {
        return Ok(None);
    }
    let options = PyDict::new(py);
    options.set_item("copy", false)?;
    let wide = array.call_method("astype", ("int64",), Some(&options))?;
    let wide = wide.cast::<PyArray1<i64>>()?.try_readonly()?;
    let wide = wide.as_slice()?;
    if wide.iter().all(|weight| *weight >= 0) {
        return Ok(None);
    }
    let range = i64::from(i32::MIN)..=i64::from(u32::MAX);
    if let Some(at) = wide.iter().position(|weight| !range.contains(weight)) {
        let (first, last) = (range.start(), range.end());
        let text = format!(
            "weight {at} is {}; they are from {first} to {last}",
            wide[at]
        );
        return Err(error::request(py, "OutOfRange", &text));
    }
    let whole: Result<Vec<i32>, _> = wide.iter().map(|weight| i32::try_from(*weight)).collect();
    if let Ok(whole) = whole {
        return Ok(Some(Weights::Signed(whole)));
    }
    let floats: Vec<f32> = wide.iter().map(|weight| *weight as f32).collect();
    let is_rounded = |(float, exact): &(&f32, &i64)| f64::from(**float) != **exact as f64;
    let rounded = floats.iter().zip(wide).filter(is_rounded).count();
    Ok(Some(Weights::Real(floats, rounded as u64)))
}

fn parallel<T: Copy, U: Copy>(py: Python<'_>, left: &[T], right: &[U], what: &str) -> PyResult<()> {
    if left.len() == right.len() {
        return Ok(());
    }
    let text = format!(
        "{} {what} for {} edges; give one for each",
        right.len(),
        left.len()
    );
    Err(error::request(py, "Lengths", &text))
}

#[pymethods]
impl Graph {
    /// Builds a graph of edges in arrays.
    #[staticmethod]
    fn from_edges(
        py: Python<'_>,
        sources: &Bound<'_, PyAny>,
        targets: &Bound<'_, PyAny>,
        weight: Option<&Bound<'_, PyAny>>,
        nodes: Option<u32>,
        undirected: bool,
    ) -> PyResult<Self> {
        forked::check()?;
        if weight.is_none()
            && let Some(built) = of_columns(py, sources, targets, nodes, undirected)
        {
            return Self::made(py, Ok(built), 0);
        }
        let from = words(py, sources, "source")?;
        let to = words(py, targets, "target")?;
        let weights = weights(py, weight)?;
        parallel(py, &from, &to, "targets")?;
        let most = || {
            let ends = from.par_iter().chain(&to).copied();
            ends.max().map_or(0, |most| most.saturating_add(1))
        };
        let nodes = nodes.unwrap_or_else(|| py.detach(most));
        let mut rounded = 0;
        let ends = || from.par_iter().copied().zip(to.par_iter().copied());
        let built = match weights {
            Weights::None => py.detach(|| {
                let edges: Vec<_> = ends().with_min_len(SHARE).collect();
                graph::Graph::from_edges(nodes, &edges, undirected)
            }),
            Weights::Whole(weights) => {
                parallel(py, &from, &weights, "weights")?;
                py.detach(|| {
                    let edges = ends().zip(weights).with_min_len(SHARE);
                    let edges: Vec<_> = edges.map(|((from, to), w)| (from, to, w)).collect();
                    graph::Graph::from_weighted_edges(nodes, &edges, undirected)
                })
            }
            Weights::Signed(weights) => {
                parallel(py, &from, &weights, "weights")?;
                py.detach(|| {
                    let edges = ends().zip(weights).with_min_len(SHARE);
                    let edges: Vec<_> = edges.map(|((from, to), w)| (from, to, w)).collect();
                    graph::Graph::from_signed_edges(nodes, &edges, undirected)
                })
            }
            Weights::Real(weights, count) => {
                parallel(py, &from, &weights, "weights")?;
                rounded = count;
                py.detach(|| {
                    let edges = ends().zip(weights).with_min_len(SHARE);
                    let edges: Vec<_> = edges.map(|((from, to), w)| (from, to, w)).collect();
                    graph::Graph::from_signed_float_edges(nodes, &edges, undirected)
                })
            }
        };
        Self::made(py, built, rounded)
    }

    /// Takes compressed sparse rows that ascend.
    #[staticmethod]
    fn from_csr(
        py: Python<'_>,
        offsets: &Bound<'_, PyAny>,
        targets: &Bound<'_, PyAny>,
        weight: Option<&Bound<'_, PyAny>>,
        symmetric: bool,
    ) -> PyResult<Self> {
        forked::check()?;
        let offsets = words(py, offsets, "offset")?;
        let targets = words(py, targets, "target")?;
        let (weights, kind, rounded) = match weights(py, weight)? {
            Weights::None => (None, WeightKind::Integer, 0),
            Weights::Whole(weights) => (Some(weights), WeightKind::Integer, 0),
            Weights::Signed(_) => {
                let text = "rows with negative weights; give edges";
                return Err(error::request(py, "OutOfRange", text));
            }
            Weights::Real(weights, rounded) => {
                // Adding 0.0 turns -0.0 into 0.0; the check of the arrays refuses other floats.
                let words = weights
                    .iter()
                    .map(|weight| (weight + 0.0).to_bits())
                    .collect();
                (Some(words), WeightKind::Float, rounded)
            }
        };
        let arrays = CsrArrays {
            offsets,
            targets,
            weights,
            kind,
            symmetric,
            by_weight: false,
        };
        Self::made(py, py.detach(|| graph::Graph::from_csr(arrays)), rounded)
    }

    /// Loads a file or a generator; returns the graph and what the load found. Ctrl-C ends it.
    #[staticmethod]
    fn load<'py>(
        py: Python<'py>,
        path: PathBuf,
        choices: LoadChoices,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Self, Bound<'py, PyDict>)> {
        forked::check()?;
        let loaded = loaded(py, path, choices.options(py)?, progress.as_ref())?;
        let stats = PyDict::new(py);
        stats.set_item("format", loaded.stats.format.to_string())?;
        stats.set_item("listed_edges", loaded.stats.listed_edges)?;
        stats.set_item("loops", loaded.graph.loops())?;
        stats.set_item("parallel_edges", loaded.graph.parallel_edges())?;
        stats.set_item("rounded_weights", loaded.stats.rounded_weights)?;
        let rounded = loaded.stats.rounded_weights;
        Ok((Self::made(py, Ok(loaded.graph), rounded)?, stats))
    }

    /// Number of nodes.
    #[getter]
    fn nodes(&self) -> u32 {
        self.graph.nodes()
    }

    /// Number of directed edges.
    #[getter]
    fn edges(&self) -> u32 {
        self.graph.edges()
    }

    /// Number of edges from a node to itself.
    #[getter]
    fn loops(&self) -> u32 {
        self.graph.loops()
    }

    /// Number of edges beyond the first with the same ends.
    #[getter]
    fn parallel_edges(&self) -> u32 {
        self.graph.parallel_edges()
    }

    /// Whether every edge has its mirror image.
    #[getter]
    fn is_symmetric(&self) -> bool {
        self.graph.is_symmetric()
    }

    /// `"integer"`, `"float"` or None.
    #[getter]
    fn weight_kind(&self) -> Option<String> {
        self.graph.weight_kind().map(|kind| kind.to_string())
    }

    /// Bytes that the graph takes.
    #[getter]
    fn memory_bytes(&self) -> usize {
        self.graph.memory_bytes()
    }

    /// Names or ids of the nodes in the file, or None if they are the numbers.
    fn ids<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let nodes = 0..self.graph.nodes();
        if self.graph.has_names() {
            let name = |node| PyString::new(py, self.graph.name_of(node).unwrap_or_default());
            let names: Vec<Py<PyAny>> = nodes.map(|node| name(node).into_any().unbind()).collect();
            return Some(PyArray1::from_vec(py, names).into_any());
        }
        let ids: Vec<u64> = nodes.map(|node| self.graph.original_id(node)).collect();
        let is_plain = (0..).zip(&ids).all(|(node, id): (u64, _)| node == *id);
        (!is_plain).then(|| PyArray1::from_vec(py, ids).into_any())
    }

    /// Offsets and targets, copied, and weights if there are any.
    fn arrays<'py>(
        &self,
        py: Python<'py>,
    ) -> (
        Bound<'py, PyAny>,
        Bound<'py, PyAny>,
        Option<Bound<'py, PyAny>>,
    ) {
        let weights = self
            .graph
            .weights()
            .map(|words| match self.graph.weight_kind() {
                Some(kind) if kind.is_signed() => {
                    let numbers: Vec<f64> = words.iter().map(|word| kind.number(*word)).collect();
                    PyArray1::from_vec(py, numbers).into_any()
                }
                Some(WeightKind::Float) => {
                    let floats: Vec<f32> = words.iter().map(|word| f32::from_bits(*word)).collect();
                    PyArray1::from_vec(py, floats).into_any()
                }
                _ => words.to_pyarray(py).into_any(),
            });
        let offsets = self.graph.offsets().to_pyarray(py).into_any();
        (
            offsets,
            self.graph.targets().to_pyarray(py).into_any(),
            weights,
        )
    }

    /// Rows and weights as they are kept, copied, from which [`Self::of_parts`] makes the graph again.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parts = PyDict::new(py);
        let weights = self.graph.weights();
        parts.set_item("offsets", self.graph.offsets().to_pyarray(py))?;
        parts.set_item("targets", self.graph.targets().to_pyarray(py))?;
        parts.set_item("weights", weights.map(|words| words.to_pyarray(py)))?;
        parts.set_item("kind", self.weight_kind())?;
        parts.set_item("symmetric", self.graph.is_symmetric())?;
        parts.set_item("by_weight", !self.graph.is_listed())?;
        parts.set_item("rounded_weights", self.rounded_weights)?;
        Ok(parts)
    }

    /// The graph of these parts, which are checked like any rows.
    #[staticmethod]
    fn of_parts(py: Python<'_>, parts: Parts<'_>) -> PyResult<Self> {
        forked::check()?;
        let weights = parts.weights.map(|array| words(py, &array, "weight"));
        let kinds = [
            WeightKind::Integer,
            WeightKind::Float,
            WeightKind::Signed,
            WeightKind::SignedFloat,
        ];
        let names = kinds.map(|kind| kind.to_string());
        let kinds: Vec<_> = names.iter().map(String::as_str).zip(kinds).collect();
        let arrays = CsrArrays {
            offsets: words(py, &parts.offsets, "offset")?,
            targets: words(py, &parts.targets, "target")?,
            weights: weights.transpose()?,
            kind: chosen(py, "kind", &parts.kind, &kinds)?.unwrap_or_default(),
            symmetric: parts.symmetric,
            by_weight: parts.by_weight,
        };
        let built = py.detach(|| graph::Graph::from_csr(arrays));
        Self::made(py, built, parts.rounded_weights)
    }

    /// Runs an analysis on the thread of the graph; later questions find the graph there.
    fn run<'py>(
        &self,
        py: Python<'py>,
        analysis: &str,
        sources: PyReadonlyArray1<'py, u32>,
        options: &Bound<'py, PyAny>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        forked::check()?;
        let options = Options::of(options)?;
        let files = [&options.plot, &options.draw, &options.page];
        let names = options.names.as_deref().unwrap_or_default();
        let pictures = Pictures::of(py, &self.graph, files, names)?;
        let mut request = request(py, analysis, sources.as_slice()?.to_vec(), &options)?;
        request.explain = pictures.explains();
        let question = Question {
            request,
            devices: devices(py, &options)?,
        };
        let worker = self.worker()?;
        let outcome = worker.run(py, question, progress.as_ref())?;
        // A drawing takes up to a second, in which other threads of Python go on.
        py.detach(|| pictures.write(&outcome, &self.graph))?;
        report(py, outcome)
    }

    /// Runs a program's text, with words of inputs by name, on the thread of the graph.
    fn run_program<'py>(
        &self,
        py: Python<'py>,
        text: String,
        inputs: Vec<(String, PyReadonlyArray1<'py, u32>)>,
        options: &Bound<'py, PyAny>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        forked::check()?;
        let options = Options::of(options)?;
        let words = |(name, words): (String, PyReadonlyArray1<'py, u32>)| {
            Ok((name, words.as_slice()?.to_vec()))
        };
        let inputs: PyResult<Vec<_>> = inputs.into_iter().map(words).collect();
        let request = ProgramRequest {
            text,
            inputs: inputs?,
            machine: machine(py, &options)?,
            devices: devices(py, &options)?,
        };
        let worker = self.worker()?;
        worker
            .run_program(py, request, progress.as_ref())?
            .report(py)
    }

    /// A graph with the same edges and a thread of its own.
    fn session(&self) -> Self {
        Self {
            graph: Arc::clone(&self.graph),
            worker: Mutex::new(None),
            rounded_weights: self.rounded_weights,
        }
    }

    /// Ends the thread, and with it what it keeps on its machine.
    fn close(&self) {
        *self.worker.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Graph {
    fn made(
        py: Python<'_>,
        built: Result<graph::Graph, graph::GraphError>,
        rounded_weights: u64,
    ) -> PyResult<Self> {
        let graph = Arc::new(built.map_err(|problem| error::of_graph(py, &problem))?);
        Ok(Self {
            graph,
            worker: Mutex::new(None),
            rounded_weights,
        })
    }

    fn worker(&self) -> PyResult<Arc<Worker>> {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(worker) = &*worker {
            return Ok(Arc::clone(worker));
        }
        let started = Arc::new(Worker::start(Arc::clone(&self.graph))?);
        Ok(Arc::clone(worker.insert(started)))
    }
}

pub(crate) fn kind_of(py: Python<'_>, name: &str) -> PyResult<AnalysisKind> {
    let mut all = AnalysisKind::ALL.into_iter();
    all.find(|kind| kind.name() == name).ok_or_else(|| {
        let names: Vec<&str> = AnalysisKind::ALL.iter().map(|kind| kind.name()).collect();
        let text = format!("no analysis {name:?}; known are {}", names.join(", "));
        error::request(py, "WrongOption", &text)
    })
}

fn request(
    py: Python<'_>,
    analysis: &str,
    sources: Vec<u32>,
    options: &Options,
) -> PyResult<RunRequest> {
    let kind = kind_of(py, analysis)?;
    let mut request = RunRequest::new(kind, sources).on(machine(py, options)?);
    if let Some(detail) = options.detail.as_deref() {
        request.detail = match detail {
            "parents" => Detail::Parents,
            "each" => Detail::EachSource,
            other => {
                let text = format!("detail {other:?}; known are parents and each");
                return Err(error::request(py, "WrongOption", &text));
            }
        };
    }
    request.ranking.damping = options.damping.unwrap_or(request.ranking.damping);
    request.ranking.tolerance = options.tolerance.unwrap_or(request.ranking.tolerance);
    request.check = options.check.unwrap_or(false);
    request.centrality.weighted = options.weighted.unwrap_or(false);
    request.centrality.normalized = options.normalized.unwrap_or(false);
    let directions = [("in", Direction::Inward), ("out", Direction::Outward)];
    request.centrality.direction = chosen(py, "direction", &options.direction, &directions)?;
    let loops = Loops::ALL.map(|loops| (loops.name(), loops));
    request.loops = chosen(py, "loops", &options.loops, &loops)?;
    let parallel = Parallel::ALL.map(|parallel| (parallel.name(), parallel));
    request.parallel = chosen(py, "parallel", &options.parallel, &parallel)?;
    if let Some(limit) = options.max_iterations {
        let none = || error::request(py, "WrongOption", "max_iterations 0; allow at least 1");
        request.max_iterations = Some(NonZeroU32::new(limit).ok_or_else(none)?);
    }
    Ok(request)
}

fn devices(py: Python<'_>, options: &Options) -> PyResult<Option<DeviceChoice>> {
    match &options.devices {
        None => Ok(None),
        Some(Devices::Numbers(numbers)) => Ok(Some(DeviceChoice::Numbers(numbers.clone()))),
        Some(Devices::Name(name)) => {
            let wrong = |problem: NoDevice| {
                error::request(py, "WrongOption", &format!("devices: {problem}"))
            };
            Ok(Some(name.parse().map_err(wrong)?))
        }
    }
}

/// The choice of this name.
fn chosen<T: Copy>(
    py: Python<'_>,
    option: &str,
    name: &Option<String>,
    known: &[(&str, T)],
) -> PyResult<Option<T>> {
    let Some(name) = name else {
        return Ok(None);
    };
    if let Some((_, choice)) = known.iter().find(|(other, _)| other == name) {
        return Ok(Some(*choice));
    }
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let text = format!("{option} {name:?}; known are {}", names.join(", "));
    Err(error::request(py, "WrongOption", &text))
}

fn machine(py: Python<'_>, options: &Options) -> PyResult<Machine> {
    let mut machine = Machine::auto();
    machine.executor = match options.machine.as_str() {
        "auto" => None,
        name => {
            let found = Executor::ALL
                .into_iter()
                .find(|executor| executor.name() == name);
            Some(found.ok_or_else(|| {
                let names: Vec<&str> = Executor::ALL.iter().map(|known| known.name()).collect();
                let text = format!("no machine {name:?}; known are auto, {}", names.join(", "));
                error::request(py, "WrongOption", &text)
            })?)
        }
    };
    if let Some(threads) = options.threads {
        let none = || error::request(py, "WrongOption", "0 threads; allow at least 1");
        machine.threads = Some(NonZeroUsize::new(threads).ok_or_else(none)?);
    }
    machine.device = options.device.unwrap_or(0);
    machine.budget_bytes = options.budget_bytes;
    if let Some(seconds) = options.time_budget {
        if seconds.is_nan() || seconds <= 0.0 {
            let text = format!("a time budget of {seconds} seconds; give a number above 0");
            return Err(error::request(py, "WrongOption", &text));
        }
        // A float becomes the nearest whole number of the type.
        machine.time_budget_ns = (seconds * 1e9) as u64;
    }
    let policies = Jit::ALL.map(|policy| (policy.name(), policy));
    machine.jit = chosen(py, "jit", &options.jit, &policies)?.unwrap_or(machine.jit);
    machine.takeover = options.takeover.unwrap_or(machine.takeover);
    Ok(machine)
}

fn report<'py>(py: Python<'py>, outcome: RunOutcome) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let RunOutcome {
        values, parents, ..
    } = outcome;
    let values = match values {
        Column::U32(values) => PyArray1::from_vec(py, values).into_any(),
        Column::U64(values) => PyArray1::from_vec(py, values).into_any(),
        Column::I64(values) => PyArray1::from_vec(py, values).into_any(),
        Column::F32(values) => PyArray1::from_vec(py, values).into_any(),
        Column::Sets(sets) => sets.words().to_pyarray(py).into_any(),
        _ => return Err(error::request(py, "WrongOption", "a result of a new kind")),
    };
    dict.set_item("values", values)?;
    dict.set_item(
        "parents",
        parents.map(|parents| PyArray1::from_vec(py, parents)),
    )?;
    dict.set_item("analysis", outcome.analysis.name())?;
    dict.set_item("machine", outcome.backend.name())?;
    dict.set_item("reason", outcome.backend_reason)?;
    dict.set_item("taken_over_from", outcome.taken_over_from)?;
    dict.set_item("device", outcome.device)?;
    let devices = outcome.devices.map_or(1, |devices| devices.count);
    dict.set_item("devices", devices)?;
    dict.set_item("reached", outcome.reached)?;
    dict.set_item("converged", outcome.converged)?;
    dict.set_item("checked", outcome.checked)?;
    dict.set_item("dropped_loops", outcome.dropped.self_loops)?;
    dict.set_item("dropped_parallel_edges", outcome.dropped.duplicates)?;
    dict.set_item("bytes", outcome.memory.allocated_bytes)?;
    let (Rounds::Levels(rounds) | Rounds::Iterations(rounds)) = outcome.rounds;
    dict.set_item("rounds", rounds)?;
    let answer = PyDict::new(py);
    for figure in &outcome.answer.figures {
        match &figure.value {
            Number::Whole(number) => answer.set_item(figure.name, number)?,
            Number::Signed(number) => answer.set_item(figure.name, number)?,
            Number::Name(name) => answer.set_item(figure.name, name)?,
            Number::Real(number) => answer.set_item(figure.name, number)?,
            Number::Double(number) => answer.set_item(figure.name, number)?,
        }
    }
    dict.set_item("answer", answer)?;
    let seconds = |ns: u64| ns as f64 / 1e9;
    let times = PyDict::new(py);
    times.set_item("upload", seconds(outcome.times.upload))?;
    times.set_item("plan", seconds(outcome.times.plan))?;
    times.set_item("run", seconds(outcome.times.run))?;
    times.set_item("readback", seconds(outcome.times.readback))?;
    dict.set_item("times", times)?;
    Ok(dict)
}

/// Names and facts of all analyses.
#[pyfunction]
fn analyses(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let describe = |kind: &AnalysisKind| -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("name", kind.name())?;
        dict.set_item("summary", kind.summary())?;
        dict.set_item("takes_sources", kind.takes_sources())?;
        dict.set_item("is_undirected", kind.is_undirected())?;
        dict.set_item("reads_weights", kind.reads_weights())?;
        Ok(dict)
    };
    let all: PyResult<Vec<_>> = AnalysisKind::ALL.iter().map(describe).collect();
    PyList::new(py, all?)
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Graph>()?;
    module.add_function(wrap_pyfunction!(analyses, module)?)
}
