//! Runs on a persistent kernel: its inputs and its passes.

use super::buffer::short;
use super::machine::{Machine, Said, Wanted};
use super::memory_plan::Keeping;
use super::plan::{Fallen, On, Plan, Run, StreamResult};
use super::ranks::{exponent, first, first_shares, has_settled};
use super::relax::Length;
use super::report::Tally;
use super::sweep::{Hands, Sweep};
use super::windows::SECTOR;
use crate::analysis::End;
use crate::backend::pages::Pages;
use crate::backend::streaming::{Open, StreamJob, board_words};
use crate::backend::{BackendError, cpu, cuda};
use crate::column::Column;
use crate::graph::memory::zeroed;
use crate::run::RunError;
use seawall_core::abi::stream::StreamKind;
use std::sync::Arc;

pub(super) struct Work<'a> {
    kind: StreamKind,
    limit: u32,
    ranking: (f32, u32),
    dangling: u64,
    shares: &'a [u32],
    /// Values of nodes at the start.
    values: &'a [u32],
    /// Bits of the rows that have work first.
    rows: &'a [u32],
}

impl<'a> Work<'a> {
    pub(super) const fn of(kind: StreamKind, values: &'a [u32]) -> Self {
        Self {
            kind,
            limit: u32::MAX,
            ranking: (0.0, 0),
            dangling: 0,
            shares: &[],
            values,
            rows: &[],
        }
    }
}

/// Time beyond the budget of a run after which its kernel ends by itself, nanoseconds.
const GRACE_NS: u64 = 10_000_000_000;

impl Run<'_> {
    /// Makes passes of a kernel on the run's machine, steered by `drive`; returns the values of
    /// nodes.
    pub(super) fn on_machine<R>(
        &self,
        plan: &Plan,
        on: On,
        work: Work<'_>,
        all: bool,
        tally: &mut Tally,
        drive: impl FnOnce(&mut Sweep<'_, '_, '_>, &Said<'_>) -> Result<R, RunError>,
    ) -> Result<(R, Vec<u32>), RunError> {
        let mut buffers = plan.buffers()?;
        let memory = buffers.memory();
        let windows = plan.windows.len() as u32;
        let posts = plan.memory_plan.buffers as u32;
        let short_of_memory = || BackendError::OutOfMemory {
            what: "the board of a stream",
            needed: 4 * u64::from(board_words(posts, windows)),
            available: 0,
        };
        let board = Pages::new(board_words(posts, windows)).ok_or_else(short_of_memory)?;
        let streaming = StreamJob {
            kind: work.kind,
            rows: &self.input.rows,
            windows,
            shift: plan.windows.bytes().ilog2(),
            skew: plan.windows.skew() as u32,
            posts,
            limit: work.limit,
            ranking: work.ranking,
            dangling: work.dangling,
            shares: work.shares,
            board: Arc::new(board),
            buffers: memory,
            values: work.values,
            work: work.rows,
            kept: plan.memory_plan.keeps.then_some((
                plan.windows.buffer_bytes().next_multiple_of(SECTOR),
                plan.sizes.keeping == Keeping::Always,
            )),
            time_ns: self.request.machine.time_budget_ns.saturating_add(GRACE_NS),
        };
        let said = Said::of(&streaming);
        let drive = |open: &Open<'_>| {
            open.name.clone_into(&mut tally.machine);
            let machine = Machine::new(&said, open, &streaming);
            let hands = Hands::Machine(&machine);
            let wanted = Wanted { said: &said, all };
            let buffers = buffers.split();
            self.passes_of(plan, &wanted, &hands, buffers, tally, |sweep| {
                drive(sweep, &said)
            })
        };
        let (end, values) = match on {
            On::Gpu(device) => cuda::streaming::run(&streaming, device, drive)?,
            On::Blocks(workers) => cpu::streaming::run(&streaming, workers, drive)?,
        };
        Ok((end?, values))
    }

    /// Lowers values on a machine.
    pub(super) fn fall_on<L: Length>(
        &self,
        plan: &Plan,
        on: On,
        length: &L,
        kind: StreamKind,
        passes: u32,
        tally: &mut Tally,
    ) -> Result<Fallen<u32>, RunError> {
        let nodes = self.input.rows.len();
        let never = L::NEVER_WORD;
        let mut values: Vec<u32> = zeroed(nodes as usize).map_err(short)?;
        values.fill(never);
        let mut rows: Vec<u32> = zeroed(nodes.div_ceil(32) as usize).map_err(short)?;
        for source in self.request.sources() {
            if let Some(value) = values.get_mut(*source as usize) {
                *value = 0;
                rows[(source / 32) as usize] |= 1 << (source % 32);
            }
        }
        let work = Work {
            limit: length.limit(),
            rows: &rows,
            ..Work::of(kind, &values)
        };
        let mut end = End::BEFORE;
        let mut overflow = false;
        let ((), values) = self.on_machine(plan, on, work, false, tally, |sweep, said| {
            sweep.step()?;
            while said.is_busy() && end.iterations < passes {
                sweep.pass()?;
                sweep.step()?;
                end.iterations += 1;
            }
            end.converged = !said.is_busy();
            overflow = said.has_overflowed();
            Ok(())
        })?;
        Ok(Fallen {
            values,
            end,
            overflow,
        })
    }

    /// Ranks on a machine. If the file claims that edges have mirror images, shares are pulled,
    /// which takes an atomic addition for a few edges instead of each; the first pass detects a
    /// false claim, and shares are then pushed.
    pub(super) fn ranks_on(
        &self,
        plan: &Plan,
        on: On,
        limit: u32,
        tally: &mut Tally,
    ) -> Result<StreamResult, RunError> {
        let rows = &self.input.rows;
        let asked = self.request.ranking;
        let (rank, dangling) = first(rows);
        let mut ranks: Vec<u32> = zeroed(rows.len() as usize).map_err(short)?;
        ranks.fill(rank.to_bits());
        let exponent = exponent(rows.edges());
        let mut kind = StreamKind::Push;
        let mut shares = Vec::new();
        if self.input.file.is_symmetric() {
            kind = StreamKind::Pull;
            shares = first_shares(rows, rank, exponent).map_err(short)?;
        }
        loop {
            let work = Work {
                ranking: (asked.damping, exponent),
                dangling,
                shares: &shares,
                ..Work::of(kind, &ranks)
            };
            let mut end = End::BEFORE;
            let run = self.on_machine(plan, on, work, true, tally, |sweep, said| {
                while !end.converged && end.iterations < limit {
                    sweep.pass()?;
                    sweep.step()?;
                    if kind == StreamKind::Pull && !said.has_mirrors() {
                        return Ok(false);
                    }
                    end.iterations += 1;
                    end.converged = has_settled(said.change(), asked.tolerance);
                }
                Ok(true)
            });
            let (is_whole, found) = run?;
            if is_whole {
                let found = found.into_iter().map(f32::from_bits).collect();
                return Ok(StreamResult::of(Column::F32(found), end));
            }
            kind = StreamKind::Push;
            shares = Vec::new();
        }
    }
}
