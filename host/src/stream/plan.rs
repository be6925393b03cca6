//! A streamed run: the request, the plan of its memory, and passes of a kernel.

use super::buffer::Buffers;
use super::checks::Checked;
use super::consumer::{Kernel, Limits, Setup};
use super::memory_plan::{MemoryPlan, Sizes};
use super::report::Tally;
use super::sweep::{Hands, Sweep, direct, sweep};
use super::windows::Windows;
use super::{StreamOptions, Streamed};
use crate::analysis::End;
use crate::backend::Canceller;
use crate::column::Column;
use crate::graph::memory::check;
use crate::run::{RunError, RunRequest};
use std::cell::RefCell;
use std::num::NonZeroU32;
use std::time::Instant;

/// The machine of a run with a persistent kernel.
#[derive(Clone, Copy, Debug)]
pub(super) enum On {
    Gpu(u32),
    /// The kernel's blocks on a number of threads.
    Blocks(u32),
}

pub(super) struct Run<'a> {
    pub(super) input: &'a Streamed,
    pub(super) request: &'a RunRequest,
    pub(super) options: StreamOptions,
    pub(super) canceller: &'a Canceller,
    pub(super) started: Instant,
    /// A machine other than the threads of this process.
    pub(super) on: Option<On>,
    pub(super) threads: usize,
}

/// The windows of a run in memory.
pub(super) struct Plan {
    pub(super) sizes: Sizes,
    pub(super) memory_plan: MemoryPlan,
    pub(super) windows: Windows,
    checked: Checked,
    /// Taken by the first kernel.
    kept: RefCell<Option<Buffers>>,
}

pub(super) struct StreamResult {
    pub(super) values: Column,
    pub(super) parents: Option<Vec<u32>>,
    pub(super) end: End,
}

/// Final values.
pub(super) struct Fallen<W> {
    pub(super) values: Vec<W>,
    pub(super) end: End,
    /// Whether a path was too long for a word.
    pub(super) overflow: bool,
}

impl Plan {
    /// Takes memory for windows.
    pub(super) fn buffers(&self) -> Result<Buffers, RunError> {
        Buffers::of(
            &self.windows,
            self.memory_plan.buffers,
            self.memory_plan.keeps,
        )
    }
}

impl StreamResult {
    pub(super) fn of(values: Column, end: End) -> Self {
        Self {
            values,
            parents: None,
            end,
        }
    }
}

impl Run<'_> {
    pub(super) fn plan(&self, sizes: Sizes) -> Result<Plan, RunError> {
        let budget_bytes = self.request.machine.budget_bytes;
        let has = |bytes| {
            // The machine determines its own memory.
            let own = if sizes.on_machine { 0 } else { bytes };
            check(own).is_ok()
        };
        let memory_plan = sizes.plan(budget_bytes, self.options.window_bytes, has);
        let mut memory_plan = memory_plan.map_err(|needed_bytes| RunError::StreamOverBudget {
            analysis: self.request.analysis,
            needed_bytes,
            budget_bytes: budget_bytes.unwrap_or(u64::MAX),
        })?;
        let (file, rows) = (&self.input.file, &self.input.rows);
        let windows = Windows::new(file, rows, memory_plan.window_bytes, sizes.weighted);
        if memory_plan.keeps && !sizes.on_machine {
            memory_plan.buffers = windows.len() as u64;
        }
        let checked = Checked::new(windows.len(), file);
        Ok(Plan {
            sizes,
            memory_plan,
            windows,
            checked,
            kept: RefCell::new(None),
        })
    }

    pub(super) fn limit(&self) -> Option<u32> {
        self.request.max_iterations.map(NonZeroU32::get)
    }

    /// Makes passes of one kernel.
    pub(super) fn passes<R>(
        &self,
        plan: &Plan,
        kernel: &dyn Kernel,
        tally: &mut Tally,
        drive: impl FnOnce(&mut Sweep<'_, '_, '_>) -> Result<R, RunError>,
    ) -> Result<R, RunError> {
        let mut taken = plan.kept.borrow_mut();
        let buffers = match taken.take() {
            Some(buffers) => taken.insert(buffers),
            None => taken.insert(plan.buffers()?),
        };
        let hands = Hands::Threads(self.threads);
        self.passes_of(plan, kernel, &hands, buffers.split(), tally, drive)
    }

    /// Makes passes of one kernel by a consumer, through these buffers.
    pub(super) fn passes_of<'b, R>(
        &self,
        plan: &Plan,
        kernel: &dyn Kernel,
        hands: &Hands<'_>,
        buffers: Vec<&'b mut [u8]>,
        tally: &mut Tally,
        drive: impl FnOnce(&mut Sweep<'_, 'b, '_>) -> Result<R, RunError>,
    ) -> Result<R, RunError> {
        let file = &self.input.file;
        let setup = Setup {
            file,
            rows: &self.input.rows,
            windows: &plan.windows,
            checked: &plan.checked,
            reader: self.options.reader,
            flight: plan.memory_plan.flight as usize,
            keeps: plan.memory_plan.keeps && !plan.sizes.on_machine,
            direct: direct(file, self.options.caching),
            limits: Limits {
                started: self.started,
                time_budget_ns: self.request.machine.time_budget_ns,
                canceller: self.canceller,
            },
        };
        sweep(&setup, kernel, hands, buffers, tally, drive)
    }
}
