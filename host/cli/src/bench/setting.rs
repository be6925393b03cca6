//! The machine of a benchmark, and the report as it grows.

use super::nvcc::{Nvcc, NvccError};
use super::peers;
use super::row::{Baseline, Row};
use super::section::Section;
use super::{BenchReport, BenchRequest};
use seawall::backend::cpu::available_threads;
use seawall::backend::cuda::{self, DeviceLimits};
use std::num::NonZeroUsize;

/// Input of the sections, and the destination of their rows.
pub(super) struct Setting<'p> {
    /// The GPU, if it can be used.
    pub(super) gpu: Option<DeviceLimits>,
    pub(super) threads: NonZeroUsize,
    /// Small graphs.
    pub(super) quick: bool,
    section: Section,
    nvcc: Option<Result<Nvcc, NvccError>>,
    rows: Vec<Row>,
    notes: Vec<String>,
    wrong: Vec<String>,
    progress: &'p mut dyn FnMut(String),
}

impl<'p> Setting<'p> {
    /// Looks for the GPU that `request` names.
    pub(super) fn find(request: &BenchRequest, progress: &'p mut dyn FnMut(String)) -> Self {
        let found = cuda::probe();
        let mut notes = Vec::new();
        let gpu = match found {
            Ok(devices) => {
                let many = devices.len();
                let mut devices = devices.into_iter();
                let found = devices.find(|limits| limits.ordinal == request.device);
                if found.is_none() {
                    notes.push(format!(
                        "rows of a GPU are left out: there is no device {}; {many} are visible, numbered from 0",
                        request.device
                    ));
                }
                found
            }
            Err(error) => {
                notes.push(format!("rows of a GPU are left out: {error}"));
                None
            }
        };
        Self {
            gpu,
            threads: request.threads.unwrap_or_else(available_threads),
            quick: request.quick,
            section: Section::Barrier,
            nvcc: None,
            rows: Vec::new(),
            notes,
            wrong: Vec::new(),
            progress,
        }
    }

    /// Starts `section`, to which the following rows belong.
    pub(super) fn begin(&mut self, section: Section) {
        self.section = section;
    }

    pub(super) const fn section(&self) -> Section {
        self.section
    }

    /// Shows the current step.
    pub(super) fn say(&mut self, text: impl Into<String>) {
        (self.progress)(text.into());
    }

    /// Adds a row to the current section; floors hold for full sizes only.
    pub(super) fn push(&mut self, row: Row) {
        let row = if self.quick {
            row.with_floor(None)
        } else {
            row
        };
        let mut row = Row {
            section: self.section,
            ..row
        };
        row.recorded = peers::recorded(&row);
        self.rows.push(row);
    }

    /// Records that something is missing, once.
    pub(super) fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    pub(super) fn differs(&mut self, text: String) {
        self.wrong.push(text);
    }

    /// Returns the output of a comparison program on the GPU, or the reason why there is none. The
    /// program receives the device's number and `arguments`.
    pub(super) fn compare(
        &mut self,
        name: &'static str,
        arguments: &[u32],
    ) -> Result<String, String> {
        let Some(limits) = &self.gpu else {
            return Err("no GPU".to_owned());
        };
        let nvcc = self.nvcc.get_or_insert_with(|| Nvcc::find(limits));
        let output = match nvcc {
            Ok(nvcc) => nvcc.run(name, limits.ordinal, arguments),
            Err(error) => Err(error.clone()),
        };
        output.map_err(|error| {
            self.note(format!(
                "the comparison program {name}.cu is left out: {error}"
            ));
            error.short().to_owned()
        })
    }

    /// Runs a comparison program on the GPU, which prints its time, and names the time `of`; an output
    /// that is no number is reported as `unmeasured`.
    pub(super) fn baseline(
        &mut self,
        name: &'static str,
        argument: u32,
        of: &str,
        unmeasured: &str,
    ) -> Baseline {
        let ns = self.compare(name, &[argument]);
        let ns = ns.and_then(|text| text.trim().parse().map_err(|_| unmeasured.to_owned()));
        Baseline::of(of, ns)
    }

    pub(super) fn into_report(self) -> BenchReport {
        BenchReport {
            version: env!("CARGO_PKG_VERSION"),
            device: self.gpu.as_ref().map(|limits| limits.info.name.clone()),
            driver: self.gpu.as_ref().map(DeviceLimits::driver_text),
            threads: self.threads.get(),
            quick: self.quick,
            rows: self.rows,
            notes: self.notes,
            wrong: self.wrong,
        }
    }
}
