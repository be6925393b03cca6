//! One streamed run: the passes of each analysis, and its column.

use super::buffer::short;
use super::components::{Components, labels};
use super::marks::Marks;
use super::memory_plan::Sizes;
use super::mirrors::Mirrors;
use super::on_machine::Work;
use super::overflow::Overflow;
use super::parents::Parents;
use super::plan::{Fallen, Plan, Run, StreamResult};
use super::ranks::{Ranking, has_settled};
use super::relax::{Float, Length, Levels, Search, Whole, Wide};
use super::report::Tally;
use crate::analysis::{Detail, End, Streaming, ranking_iterations_max};
use crate::backend::BackendError;
use crate::column::Column;
use crate::graph::WeightKind;
use crate::graph::memory::zeroed;
use crate::run::RunError;
use seawall_core::abi::UNREACHED;
use seawall_core::abi::stream::StreamKind;

impl Run<'_> {
    pub(super) fn run(&self, plan: &mut Plan, tally: &mut Tally) -> Result<StreamResult, RunError> {
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
                Ok(StreamResult { values, ..found })
            }
            Streaming::Lengths => self.lengths(plan, tally),
            Streaming::Components => self.components(plan, tally),
            Streaming::Ranks => self.ranks(plan, tally),
        }
    }

    /// Refuses a file that is marked symmetric if some edge has no mirror image, by a separate
    /// pass.
    pub(super) fn check_mirrors(&self, plan: &Plan) -> Result<(), RunError> {
        let mirrors = Mirrors::new();
        self.passes(plan, &mirrors, &mut Tally::default(), |sweep| sweep.pass())?;
        let found = mirrors.check();
        found.map_err(|problem| self.input.file.bad(problem).into())
    }

    /// Lowers values until none falls, in at most `passes` passes.
    fn fall<L: Length>(
        &self,
        plan: &Plan,
        length: L,
        passes: u32,
        tally: &mut Tally,
    ) -> Result<Fallen<L::Word>, RunError> {
        if let (Some(on), Some(kind)) =
            (plan.sizes.on_machine.then_some(self.on).flatten(), L::KIND)
        {
            let fallen = self.fall_on(plan, on, &length, kind, passes, tally)?;
            return Ok(Fallen {
                values: fallen.values.into_iter().map(L::word_of).collect(),
                end: fallen.end,
                overflow: fallen.overflow,
            });
        }
        let rows = &self.input.rows;
        let marks = Marks::new(rows, &plan.windows).map_err(short)?;
        let sources = self.request.sources();
        let search = Search::new(length, sources, marks, rows.len()).map_err(short)?;
        let mut iterations = 0;
        self.passes(plan, &search, tally, |sweep| {
            while !search.is_done() && iterations < passes {
                sweep.pass()?;
                iterations += 1;
            }
            Ok(())
        })?;
        let converged = search.is_done();
        Ok(Fallen {
            overflow: search.has_overflowed(),
            values: search.into_values(),
            end: End {
                iterations,
                converged,
            },
        })
    }

    fn levels(&self, plan: &Plan, tally: &mut Tally) -> Result<StreamResult, RunError> {
        let limit = self.limit().unwrap_or(UNREACHED - 1).min(UNREACHED - 1);
        let fallen = self.fall(plan, Levels { limit }, u32::MAX, tally)?;
        let levels = fallen.values;
        let mut parents = None;
        if self.request.detail == Detail::Parents {
            let rows = &self.input.rows;
            let marks = Marks::new(rows, &plan.windows).map_err(short)?;
            let kernel = Parents::new(&levels, marks).map_err(short)?;
            self.passes(plan, &kernel, tally, |sweep| sweep.pass())?;
            parents = Some(kernel.into_parents());
        }
        let end = End::of_levels(&levels, limit, |row| self.input.rows.degree(row));
        Ok(StreamResult {
            values: Column::U32(levels),
            parents,
            end,
        })
    }

    fn lengths(&self, plan: &mut Plan, tally: &mut Tally) -> Result<StreamResult, RunError> {
        let passes = self.limit().unwrap_or(u32::MAX);
        let is_float =
            plan.sizes.weighted && self.input.file.weight_kind() == Some(WeightKind::Float);
        if is_float {
            return self.floats(plan, passes, tally);
        }
        let fallen = self.fall(plan, Whole, passes, tally)?;
        let has_gaps = || fallen.values.contains(&UNREACHED);
        if !(fallen.overflow && fallen.end.converged && has_gaps()) {
            return Ok(StreamResult::of(Column::U32(fallen.values), fallen.end));
        }
        drop(fallen);
        *plan = self.plan(Sizes {
            wide: true,
            threads: self.threads,
            on_machine: false,
            ..plan.sizes
        })?;
        let fallen = self.fall(plan, Wide, passes, tally)?;
        Ok(StreamResult::of(narrowest(fallen.values), fallen.end))
    }

    fn floats(
        &self,
        plan: &Plan,
        passes: u32,
        tally: &mut Tally,
    ) -> Result<StreamResult, RunError> {
        let fallen = self.fall(plan, Float, passes, tally)?;
        let floats: Vec<f32> = fallen.values.into_iter().map(f32::from_bits).collect();
        if fallen.overflow && fallen.end.converged {
            let kernel = Overflow::new(&floats);
            self.passes(plan, &kernel, tally, |sweep| sweep.pass())?;
            if let Some(ends) = kernel.ends() {
                let [from, to] = ends.map(|node| self.input.nodes.original_id(node));
                let kind = WeightKind::Float;
                return Err(BackendError::PathTooLong { from, to, kind }.into());
            }
        }
        Ok(StreamResult::of(Column::F32(floats), fallen.end))
    }

    fn components(&self, plan: &Plan, tally: &mut Tally) -> Result<StreamResult, RunError> {
        let end = End::ONCE;
        if let Some(on) = self.on {
            let nodes = self.input.rows.len();
            let mut parents: Vec<u32> = zeroed(nodes as usize).map_err(short)?;
            (0..).zip(&mut parents).for_each(|(node, own)| *own = node);
            let work = Work::of(StreamKind::Link, &parents);
            let ((), parents) = self.on_machine(plan, on, work, true, tally, |sweep, _| {
                sweep.pass()?;
                sweep.step()
            })?;
            return Ok(StreamResult::of(Column::U32(labels(parents)), end));
        }
        let components = Components::new(self.input.rows.len()).map_err(short)?;
        self.passes(plan, &components, tally, |sweep| sweep.pass())?;
        Ok(StreamResult::of(Column::U32(components.into_labels()), end))
    }

    fn ranks(&self, plan: &Plan, tally: &mut Tally) -> Result<StreamResult, RunError> {
        let asked = self.request.ranking;
        let most = ranking_iterations_max(asked.damping);
        let limit = self.limit().map_or(most, |limit| limit.min(most));
        let threads = plan.sizes.threads;
        let rows = &self.input.rows;
        let mut end = End::BEFORE;
        if let Some(on) = self.on {
            return self.ranks_on(plan, on, limit, tally);
        }
        let ranking = Ranking::new(rows, asked.damping, threads).map_err(short)?;
        self.passes(plan, &ranking, tally, |sweep| {
            while !end.converged && end.iterations < limit {
                sweep.pass()?;
                end.iterations += 1;
                end.converged = has_settled(ranking.apply(), asked.tolerance);
            }
            Ok(())
        })?;
        Ok(StreamResult::of(Column::F32(ranking.into_ranks()), end))
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
