//! Forecasts of runs on the CPU, by the cost model that chooses machines, and the sizes of graphs that
//! they ask for.

use crate::graph::kind_of;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyDict, PyString, PyTuple};
use pyo3::{Borrowed, IntoPyObjectExt, ffi, intern};
use seawall::analysis::AnalysisKind;
use seawall::calibrate::{Calibration, predict};
use seawall::cost::{Costs, Job, Tally};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};
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
    let nodes = adjacency.len()?;
    let entries = match adjacency.cast::<PyDict>() {
        Ok(rows) => sampled_entries(rows),
        Err(_) => {
            let mut entries = 0;
            for row in adjacency.call_method0(intern!(py, "values"))?.try_iter()? {
                entries += row?.len()?;
            }
            entries
        }
    };
    Ok((nodes, entries, is_converted))
}

/// Rows that a forecast looks at: those of a large graph would take longer than many a call.
const ROWS_SAMPLED: usize = 32;

/// Entries of all rows, of more than [`ROWS_SAMPLED`] by those of some that lie evenly among them.
fn sampled_entries(rows: &Bound<'_, PyDict>) -> usize {
    let nodes = rows.len();
    let stride = (nodes / ROWS_SAMPLED).max(1);
    let (mut looked, mut entries) = (0, 0);
    with_critical_section(rows, || {
        for first in (0..nodes).step_by(stride).take(ROWS_SAMPLED) {
            let (mut at, mut row) = (first as ffi::Py_ssize_t, std::ptr::null_mut());
            // SAFETY: `rows` is a dictionary. A place is the number of an entry, whatever its value: the
            // call looks for the next one that is there, and for none beyond the last.
            let is_found =
                unsafe { ffi::PyDict_Next(rows.as_ptr(), &mut at, std::ptr::null_mut(), &mut row) };
            if is_found == 0 {
                break;
            }
            looked += 1;
            // SAFETY: the row is alive, as nothing ran since it was found.
            let row = unsafe { Borrowed::from_ptr(rows.py(), row) }.to_owned();
            entries += row.len().unwrap_or(0);
        }
    });
    match looked {
        0 => 0,
        _ => entries * nodes / looked,
    }
}

/// Verdicts that a rule keeps: small graphs of equal sizes are common, and a forecast takes as long as
/// the shortest calls.
const VERDICTS_MAX: usize = 1 << 12;

/// The rules that decide about a call of one function.
#[pyclass(frozen, module = "seawall._seawall")]
struct Rule {
    /// Place of each argument; after the last place where it is given by name alone.
    places: Py<PyDict>,
    /// How many arguments may be given by place.
    most: usize,
    /// Arguments without a default, which come first.
    required: Vec<Py<PyString>>,
    /// Arguments that the check takes: name, place and default.
    wanted: Vec<(Py<PyString>, usize, Py<PyAny>)>,
    check: Option<Py<PyAny>>,
    /// Takes nodes, entries, and whether the graph is converted.
    verdict: Py<PyAny>,
    known: Mutex<HashMap<(usize, usize, bool), Py<PyAny>>>,
}

/// The parts of a signature that a [`Rule`] keeps.
type Signature<'py> = (
    Bound<'py, PyDict>,
    usize,
    Vec<Py<PyString>>,
    Vec<(Py<PyString>, usize, Py<PyAny>)>,
);

#[pymethods]
impl Rule {
    #[new]
    fn new(signature: Signature<'_>, check: Option<Py<PyAny>>, verdict: Py<PyAny>) -> Self {
        let (places, most, required, wanted) = signature;
        Self {
            places: places.unbind(),
            most,
            required,
            wanted,
            check,
            verdict,
            known: Mutex::default(),
        }
    }
}

impl Rule {
    /// Tells whether arguments fit the signature: NetworkX raises its own error for those that are too
    /// many, unknown, double or missing.
    fn fits(&self, args: &Bound<'_, PyTuple>, kwargs: &Bound<'_, PyDict>) -> PyResult<bool> {
        let py = args.py();
        let count = args.len();
        let mut fits = count <= self.most;
        for (key, _) in kwargs {
            let place = self.places.bind(py).get_item(&key)?;
            let is_later = match place {
                Some(place) => place.extract::<usize>()? >= count,
                None => key.eq(intern!(py, "backend"))?,
            };
            fits &= is_later;
        }
        for key in self.required.iter().skip(count) {
            fits = fits && kwargs.contains(key.bind(py))?;
        }
        Ok(fits)
    }

    fn check<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = args.py();
        let Some(check) = &self.check else {
            return true.into_bound_py_any(py);
        };
        if !self.fits(args, kwargs)? {
            return "arguments that do not fit the signature".into_bound_py_any(py);
        }
        let mut values = Vec::with_capacity(self.wanted.len());
        for (key, place, default) in &self.wanted {
            values.push(match *place < args.len() {
                true => args.get_item(*place)?,
                false => match kwargs.get_item(key.bind(py))? {
                    Some(value) => value,
                    None => default.bind(py).clone(),
                },
            });
        }
        check.bind(py).call1(PyTuple::new(py, values)?)
    }

    fn verdict<'py>(&self, graph: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = graph.py();
        let size = sizes(graph)?;
        let known = |rule: &Self| {
            rule.known
                .lock()
                .ok()?
                .get(&size)
                .map(|found| found.clone_ref(py))
        };
        if let Some(found) = known(self) {
            return Ok(found.into_bound(py));
        }
        let found = self.verdict.bind(py).call1(size)?;
        if let Ok(mut known) = self.known.lock() {
            if known.len() >= VERDICTS_MAX {
                known.clear();
            }
            known.insert(size, found.clone().unbind());
        }
        Ok(found)
    }
}

/// Answers what NetworkX asks before each call. Most calls for small graphs are shorter than these
/// answers would be in Python.
#[pyclass(frozen, module = "seawall._seawall")]
struct Adviser {
    /// Rules by the name of their function.
    rules: Py<PyDict>,
    /// The class of converted graphs.
    converted: Py<PyAny>,
}

#[pymethods]
impl Adviser {
    #[new]
    fn new(rules: Py<PyDict>, converted: Py<PyAny>) -> Self {
        Self { rules, converted }
    }

    /// Tells whether a function takes these arguments, or why not.
    fn can_run<'py>(
        &self,
        name: &Bound<'py, PyString>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.rule(name)? {
            Some(rule) => rule.get().check(args, kwargs),
            None => true.into_bound_py_any(name.py()),
        }
    }

    /// Tells whether conversion and run are expected to take less time than NetworkX; the forecast is
    /// the reason why not.
    fn should_run<'py>(
        &self,
        name: &Bound<'py, PyString>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = name.py();
        let graph = match args.is_empty() {
            false => Some(args.get_item(0)?),
            true => kwargs.get_item(intern!(py, "G"))?,
        };
        let Some((rule, graph)) = self.rule(name)?.zip(graph) else {
            return true.into_bound_py_any(py);
        };
        if graph.get_type().is(self.converted.bind(py)) {
            return true.into_bound_py_any(py);
        }
        rule.get().verdict(&graph)
    }
}

impl Adviser {
    fn rule<'py>(&self, name: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, Rule>>> {
        let rule = self.rules.bind(name.py()).get_item(name)?;
        Ok(rule.map(|rule| rule.cast_into::<Rule>()).transpose()?)
    }
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Rule>()?;
    module.add_class::<Adviser>()?;
    module.add_function(wrap_pyfunction!(forecast, module)?)
}
