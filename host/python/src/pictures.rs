//! Pictures and the page of a run, at the paths that its options name.

use crate::error;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use seawall::graph::Graph;
use seawall::graph::file::write_whole;
use seawall::outcome::RunOutcome;
use seawall_report::canvas::{NAMED, PictureFormat};
use seawall_report::date::today;
use seawall_report::{draw, page, plot};
use std::path::{Path, PathBuf};

/// Files to write after a run.
#[derive(Debug)]
pub(crate) struct Pictures {
    plot: Option<(PathBuf, PictureFormat)>,
    draw: Option<(PathBuf, PictureFormat)>,
    page: Option<PathBuf>,
    /// Names of nodes, empty for numbers.
    names: Vec<String>,
}

impl Pictures {
    /// The files that are asked for, before the run.
    ///
    /// # Errors
    /// `RequestError` for a name that is no picture's, or a graph too large to be drawn.
    pub(crate) fn of(
        py: Python<'_>,
        graph: &Graph,
        [plot, draw, page]: [&Option<PathBuf>; 3],
        names: &[String],
    ) -> PyResult<Self> {
        let picture = |option: &str, path: &Option<PathBuf>| {
            let Some(path) = path else { return Ok(None) };
            let format = PictureFormat::of(path).ok_or_else(|| {
                let path = path.display();
                let text = format!("{option} {path}: {NAMED}");
                error::request(py, "WrongOption", &text)
            })?;
            Ok::<_, PyErr>(Some((path.clone(), format)))
        };
        let drawn = picture("draw", draw)?;
        if let Some(reason) = drawn.as_ref().and_then(|_| draw::refusal(graph)) {
            let text = format!("draw: {reason}; plot counts the nodes by their values");
            return Err(error::request(py, "WrongOption", &text));
        }
        Ok(Self {
            plot: picture("plot", plot)?,
            draw: drawn,
            page: page.clone(),
            names: names.to_vec(),
        })
    }

    /// Whether the run has to be explained.
    pub(crate) fn explains(&self) -> bool {
        self.page.is_some()
    }

    /// Writes the files.
    pub(crate) fn write(&self, outcome: &RunOutcome, graph: &Graph) -> PyResult<()> {
        let made = format!("seawall {}, {}", env!("CARGO_PKG_VERSION"), today());
        if let Some((path, format)) = &self.plot {
            write(path, |out| plot::write(outcome, &made, *format, out))?;
        }
        if let Some((path, format)) = &self.draw {
            let label = |node: u32| match self.names.get(node as usize) {
                Some(name) => name.clone(),
                None => graph.label_of(node).to_string(),
            };
            write(path, |out| {
                draw::write(outcome, graph, &label, &made, *format, out)
            })?;
        }
        if let Some(path) = &self.page {
            write(path, |out| page::write(outcome, &made, out))?;
        }
        Ok(())
    }
}

fn write(
    path: &Path,
    fill: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
) -> PyResult<()> {
    write_whole(path, fill).map_err(|error| PyOSError::new_err(error.to_string()))
}
