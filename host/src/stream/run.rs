//! One streamed run: from a request to passes of a kernel, and to the column.

use super::buffer::Buffers;
use super::checks::Checked;
use super::components::{Components, labels};
use super::marks::Marks;
use super::on_machine::{On, Work};
use super::outgrown::Outgrown;
use super::parents::Parents;
use super::ranks::{Ranking, has_settled};
use super::relax::{Float, Length, Levels, Search, Whole, Wide};
use super::report::Tally;
use super::room::{Room, Sizes};
use super::sweep::{Hands, Kernel, Limits, Setup, Sweep, direct, sweep};
use super::windows::Windows;
use super::{StreamOptions, Streamed};
use crate::analysis::{Detail, End, Streaming, ranking_iterations_max};
use crate::backend::{BackendError, Canceller};
use crate::column::Column;
use crate::graph::WeightKind;
use crate::graph::memory::{Shortage, check, zeroed};
use crate::run::{RunError, RunRequest};
use seawall_core::abi::UNREACHED;
use seawall_core::abi::stream::StreamKind;
use std::cell::RefCell;
use std::num::NonZeroU32;
use std::time::Instant;

/// A run in progress.
pub(super) struct Run<'a> {
    pub(super) input: &'a Streamed,
    pub(super) request: &'a RunRequest,
    pub(super) options: StreamOptions,
    pub(super) canceller: &'a Canceller,
    pub(super) started: Instant,
    /// A machine other than the threads of this process.
    pub(super) on: Option<On>,
    /// Threads of the CPU.
    pub(super) threads: usize,
}

/// The windows of a run, in the memory that it has.
pub(super) struct Plan {
    pub(super) sizes: Sizes,
    pub(super) room: Room,
    pub(super) windows: Windows,
    checked: Checked,
    /// Taken by the first kernel.
    buffers: RefCell<Option<Buffers>>,
}

/// Findings of a run.
pub(super) struct Found {
    pub(super) values: Column,
    pub(super) parents: Option<Vec<u32>>,
    pub(super) end: End,
}

/// Values that fell as far as they do.
pub(super) struct Fallen<W> {
    pub(super) values: Vec<W>,
    pub(super) end: End,
    /// Whether a path was too long for a word.
    pub(super) outgrown: bool,
}

impl Run<'_> {
    /// Plans memory and windows.
    ///
    /// # Errors
    /// [`RunError::StreamOverBudget`] with the least budget that works.
    pub(super) fn plan(&self, sizes: Sizes) -> Result<Plan, RunError> {
        let budget_bytes = self.request.machine.budget_bytes;
        let has = |bytes| {
            // A machine's memory is found out there.
            let own = if sizes.on_machine { 0 } else { bytes };
            check(own).is_ok()
        };
        let room = sizes.plan(budget_bytes, self.options.window_bytes, has);
        let mut room = room.map_err(|needed_bytes| RunError::StreamOverBudget {
            analysis: self.request.analysis,
            needed_bytes,
            budget_bytes: budget_bytes.unwrap_or(u64::MAX),
        })?;
        let (file, rows) = (&self.input.file, &self.input.rows);
        let windows = Windows::new(file, rows, (room.window_bytes, sizes.weighted));
        if room.keeps && !sizes.on_machine {
            room.buffers = windows.len() as u64;
        }
        let kind = file.weight_kind().unwrap_or_default();
        let checked = Checked::new(windows.len(), (file.node_count(), kind));
        Ok(Plan {
            sizes,
            room,
            windows,
            checked,
            buffers: RefCell::new(None),
        })
    }

    /// Runs the analysis once.
    ///
    /// # Errors
    /// As [`Streamed::run`].
    pub(super) fn run(&self, plan: &mut Plan, tally: &mut Tally) -> Result<Found, RunError> {
        match plan.sizes.streaming {
            Streaming::Levels => self.levels(plan, tally),
            Streaming::Reached => {
                let found = self.levels(plan, tally)?;
                let Column::U32(mut flags) = found.values else {
                    return Ok(found);
                };
                let flag = |level: &mut u32| *level = u32::from(*level != UNREACHED);
                flags.iter_mut().for_each(flag);
                let values = Column::U32(flags);
                Ok(Found { values, ..found })
            }
            Streaming::Lengths => self.lengths(plan, tally),
            Streaming::Components => self.components(plan, tally),
            Streaming::Ranks => self.ranks(plan, tally),
        }
    }

    /// The limit of iterations.
    fn limit(&self) -> Option<u32> {
        self.request.max_iterations.map(NonZeroU32::get)
    }

    /// Makes passes of one kernel.
    fn passes<R>(
        &self,
        plan: &Plan,
        (kernel, tally): (&dyn Kernel, &mut Tally),
        drive: impl FnOnce(&mut Sweep<'_, '_, '_>) -> Result<R, RunError>,
    ) -> Result<R, RunError> {
        let mut taken = plan.buffers.borrow_mut();
        let buffers = match taken.take() {
            Some(buffers) => taken.insert(buffers),
            None => taken.insert(Buffers::of(plan)?),
        };
        let hands = Hands::Threads(self.threads);
        self.passes_of(plan, (kernel, &hands, buffers.split()), tally, drive)
    }

    /// Makes passes of one kernel by a crew, through these buffers.
    pub(super) fn passes_of<'b, R>(
        &self,
        plan: &Plan,
        (kernel, hands, buffers): (&dyn Kernel, &Hands<'_>, Vec<&'b mut [u8]>),
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
            flight: plan.room.flight as usize,
            keeps: plan.room.keeps && !plan.sizes.on_machine,
            direct: direct(file, self.options.caching),
            limits: Limits {
                started: self.started,
                time_budget_ns: self.request.machine.time_budget_ns,
                canceller: self.canceller,
            },
        };
        sweep(&setup, (kernel, hands, buffers), tally, drive)
    }

    /// Lowers values until none falls, in at most `passes` passes.
    fn fall<L: Length>(
        &self,
        plan: &Plan,
        (length, passes): (L, u32),
        tally: &mut Tally,
    ) -> Result<Fallen<L::Word>, RunError> {
        if let (Some(on), Some(kind)) =
            (plan.sizes.on_machine.then_some(self.on).flatten(), L::KIND)
        {
            let fallen = self.fall_on((plan, on), (&length, kind, passes), tally)?;
            return Ok(Fallen {
                values: fallen.values.into_iter().map(L::word_of).collect(),
                end: fallen.end,
                outgrown: fallen.outgrown,
            });
        }
        let rows = &self.input.rows;
        let marks = Marks::new(rows, &plan.windows).map_err(short)?;
        let sources = self.request.sources();
        let search = Search::new(length, sources, (marks, rows.len())).map_err(short)?;
        let mut iterations = 0;
        self.passes(plan, (&search, tally), |sweep| {
            while !search.is_done() && iterations < passes {
                sweep.pass()?;
                iterations += 1;
            }
            Ok(())
        })?;
        let converged = search.is_done();
        Ok(Fallen {
            outgrown: search.has_outgrown(),
            values: search.into_values(),
            end: End {
                iterations,
                converged,
            },
        })
    }

    fn levels(&self, plan: &Plan, tally: &mut Tally) -> Result<Found, RunError> {
        let limit = self.limit().unwrap_or(UNREACHED - 1).min(UNREACHED - 1);
        let fallen = self.fall(plan, (Levels { limit }, u32::MAX), tally)?;
        let levels = fallen.values;
        let mut parents = None;
        if self.request.detail == Detail::Parents {
            let rows = &self.input.rows;
            let marks = Marks::new(rows, &plan.windows).map_err(short)?;
            let kernel = Parents::new(&levels, marks).map_err(short)?;
            self.passes(plan, (&kernel, tally), |sweep| sweep.pass())?;
            parents = Some(kernel.into_parents());
        }
        let deepest = levels.iter().filter(|level| **level != UNREACHED).max();
        let deepest = deepest.copied().unwrap_or(0);
        let goes_on =
            |(row, level): (u32, &u32)| *level == limit && self.input.rows.degree(row) > 0;
        let end = End {
            iterations: deepest.saturating_add(1).min(limit),
            converged: deepest < limit || !(0..).zip(&levels).any(goes_on),
        };
        Ok(Found {
            values: Column::U32(levels),
            parents,
            end,
        })
    }

    fn lengths(&self, plan: &mut Plan, tally: &mut Tally) -> Result<Found, RunError> {
        let passes = self.limit().unwrap_or(u32::MAX);
        let is_float =
            plan.sizes.weighted && self.input.file.weight_kind() == Some(WeightKind::Float);
        if is_float {
            return self.floats(plan, passes, tally);
        }
        let fallen = self.fall(plan, (Whole, passes), tally)?;
        let has_gaps = || fallen.values.contains(&UNREACHED);
        if !(fallen.outgrown && fallen.end.converged && has_gaps()) {
            return Ok(Found::of(Column::U32(fallen.values), fallen.end));
        }
        drop(fallen);
        *plan = self.plan(Sizes {
            wide: true,
            threads: self.threads,
            on_machine: false,
            ..plan.sizes
        })?;
        let fallen = self.fall(plan, (Wide, passes), tally)?;
        Ok(Found::of(narrowest(fallen.values), fallen.end))
    }

    fn floats(&self, plan: &Plan, passes: u32, tally: &mut Tally) -> Result<Found, RunError> {
        let fallen = self.fall(plan, (Float, passes), tally)?;
        let floats: Vec<f32> = fallen.values.into_iter().map(f32::from_bits).collect();
        if fallen.outgrown && fallen.end.converged {
            let kernel = Outgrown::new(&floats);
            self.passes(plan, (&kernel, tally), |sweep| sweep.pass())?;
            if let Some(ends) = kernel.ends() {
                let [from, to] = ends.map(|node| self.input.nodes.original_id(node));
                let kind = WeightKind::Float;
                return Err(BackendError::PathTooLong { from, to, kind }.into());
            }
        }
        Ok(Found::of(Column::F32(floats), fallen.end))
    }

    fn components(&self, plan: &Plan, tally: &mut Tally) -> Result<Found, RunError> {
        let end = End {
            iterations: 1,
            converged: true,
        };
        if let Some(on) = self.on {
            let nodes = self.input.rows.len();
            let mut parents: Vec<u32> = zeroed(nodes as usize).map_err(short)?;
            (0..).zip(&mut parents).for_each(|(node, own)| *own = node);
            let work = Work::of(StreamKind::Link, &parents);
            let ((), parents) = self.on_machine((plan, on), (work, true), tally, |sweep, _| {
                sweep.pass()?;
                sweep.step()
            })?;
            return Ok(Found::of(Column::U32(labels(parents)), end));
        }
        let components = Components::new(self.input.rows.len()).map_err(short)?;
        self.passes(plan, (&components, tally), |sweep| sweep.pass())?;
        Ok(Found::of(Column::U32(components.into_labels()), end))
    }

    fn ranks(&self, plan: &Plan, tally: &mut Tally) -> Result<Found, RunError> {
        let asked = self.request.ranking;
        let most = ranking_iterations_max(asked.damping);
        let limit = self.limit().map_or(most, |limit| limit.min(most));
        let threads = plan.sizes.threads;
        let rows = &self.input.rows;
        let mut end = End {
            iterations: 0,
            converged: false,
        };
        if let Some(on) = self.on {
            return self.ranks_on((plan, on), limit, tally);
        }
        let ranking = Ranking::new(rows, (asked.damping, threads)).map_err(short)?;
        self.passes(plan, (&ranking, tally), |sweep| {
            while !end.converged && end.iterations < limit {
                sweep.pass()?;
                end.iterations += 1;
                end.converged = has_settled(ranking.apply(), asked.tolerance);
            }
            Ok(())
        })?;
        Ok(Found::of(Column::F32(ranking.into_ranks()), end))
    }
}

impl Found {
    pub(super) fn of(values: Column, end: End) -> Self {
        Self {
            values,
            parents: None,
            end,
        }
    }
}

/// Distances in 32 bits if they fit.
fn narrowest(lengths: Vec<u64>) -> Column {
    let fits = |length: &u64| *length < u64::from(UNREACHED) || *length == u64::MAX;
    if !lengths.iter().all(fits) {
        return Column::U64(lengths);
    }
    let short = |length: u64| u32::try_from(length).unwrap_or(UNREACHED);
    Column::U32(lengths.into_iter().map(short).collect())
}

pub(super) fn short(short: Shortage) -> RunError {
    BackendError::OutOfMemory {
        what: "a streamed run",
        needed: short.needed,
        available: short.available,
    }
    .into()
}
