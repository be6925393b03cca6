//! Exceptions: the errors of the library with their text, kind and fields.
//!
//! The classes are those of `seawall._errors`, since an exception with two bases cannot be made
//! here.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use seawall::backend::BackendError;
use seawall::graph::{Cause, FormError, GraphError};
use seawall::program::TextError;
use seawall::run::RunError;
use std::fmt::Debug;

type Fields<'py> = Bound<'py, PyDict>;

/// Returns an exception of class `name`, with `kind` and `fields` as attributes.
fn exception(
    py: Python<'_>,
    name: &str,
    text: &str,
    kind: &str,
    fields: &Fields<'_>,
) -> PyResult<PyErr> {
    let class = py.import("seawall._errors")?.getattr(name)?;
    let error = class.call1((text,))?;
    error.setattr("kind", kind)?;
    for (name, value) in fields {
        error.setattr(name.extract::<String>()?, value)?;
    }
    Ok(PyErr::from_value(error))
}

/// The exception of class `name`; what went wrong in making it if that failed.
pub(crate) fn raised(
    py: Python<'_>,
    name: &str,
    text: &str,
    kind: &str,
    fields: &Fields<'_>,
) -> PyErr {
    exception(py, name, text, kind, fields).unwrap_or_else(|problem| problem)
}

/// Name of the variant of an error.
fn kind_of(error: &impl Debug) -> String {
    let text = format!("{error:?}");
    let end = text
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(text.len());
    text[..end].to_owned()
}

fn class_of(cause: Cause) -> &'static str {
    match cause {
        Cause::Request => "RequestError",
        Cause::Failure => "MachineError",
    }
}

pub(crate) fn of_graph(py: Python<'_>, error: &GraphError) -> PyErr {
    let fields = PyDict::new(py);
    let filled = || -> PyResult<()> {
        match error {
            GraphError::EdgeOutOfRange { index, node, nodes } => {
                fields.set_item("index", index)?;
                fields.set_item("node", node)?;
                fields.set_item("nodes", nodes)
            }
            GraphError::BadWeight { index, weight } => {
                fields.set_item("index", index)?;
                fields.set_item("weight", weight)
            }
            GraphError::Io {
                file,
                action,
                source,
            } => {
                fields.set_item("file", file)?;
                fields.set_item("action", action)?;
                fields.set_item("errno", source.raw_os_error())
            }
            GraphError::Empty { file } => fields.set_item("file", file),
            GraphError::UnknownFormat { file, line, value } => {
                fields.set_item("file", file)?;
                fields.set_item("line", line)?;
                fields.set_item("value", value)
            }
            _ => Ok(()),
        }
    };
    if let Err(problem) = filled() {
        return problem;
    }
    let class = match error.cause() {
        Cause::Request => "GraphError",
        Cause::Failure => "MachineError",
    };
    raised(py, class, &error.to_string(), &kind_of(error), &fields)
}

pub(crate) fn of_run(py: Python<'_>, error: &RunError) -> PyErr {
    let fields = PyDict::new(py);
    let filled = || -> PyResult<()> {
        match error {
            RunError::NoWeights { analysis }
            | RunError::Directed { analysis }
            | RunError::NoSource { analysis } => fields.set_item("analysis", analysis.name()),
            RunError::WrongForm { analysis, what } => {
                fields.set_item("analysis", analysis.name())?;
                fields.set_item("what", what)
            }
            RunError::WeightTooLarge {
                analysis,
                from,
                to,
                weight,
                most,
            } => {
                fields.set_item("analysis", analysis.name())?;
                fields.set_item("source", from.to_string())?;
                fields.set_item("target", to.to_string())?;
                fields.set_item("weight", weight)?;
                fields.set_item("most", most)
            }
            RunError::TooManySources { sources, most } => {
                fields.set_item("sources", sources)?;
                fields.set_item("most", most)
            }
            RunError::NoSuchSource { source_node, nodes } => {
                fields.set_item("source_node", source_node)?;
                fields.set_item("nodes", nodes)
            }
            RunError::OverBudget {
                analysis,
                needed_bytes,
                budget_bytes,
            } => {
                fields.set_item("analysis", analysis.name())?;
                fields.set_item("needed_bytes", needed_bytes)?;
                fields.set_item("budget_bytes", budget_bytes)
            }
            _ => Ok(()),
        }
    };
    if let Err(problem) = filled() {
        return problem;
    }
    let (class, kind) = match error {
        RunError::Backend(BackendError::Cancelled) => ("Cancelled", "Cancelled".to_owned()),
        RunError::Backend(inner) => (class_of(error.cause()), kind_of(inner)),
        RunError::Program(inner) => (class_of(error.cause()), kind_of(inner)),
        RunError::Stream(inner) => (class_of(error.cause()), kind_of(inner)),
        _ => (class_of(error.cause()), kind_of(error)),
    };
    let text = match error {
        RunError::Form(FormError::Unlisted) => {
            "the first of parallel edges is not known, since they were put in the order of their \
             weights; load the file with listed_order=True, or leave the others out before"
                .to_owned()
        }
        _ => error.to_string(),
    };
    raised(py, class, &text, &kind, &fields)
}

/// The exception of a program's text.
pub(crate) fn of_text(py: Python<'_>, error: &TextError) -> PyErr {
    let fields = PyDict::new(py);
    let (filled, kind) = match error {
        TextError::Program(inner) => (Ok(()), kind_of(inner)),
        TextError::At { place, problem } => (fields.set_item("place", place), kind_of(problem)),
        _ => (Ok(()), kind_of(error)),
    };
    match filled {
        Ok(()) => raised(py, "RequestError", &error.to_string(), &kind, &fields),
        Err(problem) => problem,
    }
}

/// The exception of a wrong argument.
pub(crate) fn request(py: Python<'_>, kind: &str, text: &str) -> PyErr {
    raised(py, "RequestError", text, kind, &PyDict::new(py))
}

/// The error of work on a resident machine in a process that was forked off.
pub(crate) fn forked() -> PyErr {
    Python::attach(|py| {
        let text = "this process was forked after seawall was imported, and threads do not follow a \
                    fork; start processes with multiprocessing.set_start_method(\"spawn\")";
        raised(py, "MachineError", text, "Forked", &PyDict::new(py))
    })
}

/// The error of a thread that ended without an answer.
pub(crate) fn ended() -> PyErr {
    pyo3::exceptions::PyRuntimeError::new_err("the thread of the graph ended; this is a bug")
}
