//! The search for groups whose arena fits.
//!
//! The requested plan comes first. If its arena is too large, plans of smaller and smaller groups
//! follow, which keep less alive. These do not depend on the budget, so the least of their needs
//! is the least budget that works: a budget is accepted if one of them fits, and refused if none
//! does.

use super::super::arena::{self, ArenaOptions, Results, Size};
use super::super::depth_first;
use super::super::groups::{self, Budget, Groups, Plan, Strategy};
use super::{ExecutionError, OverBudget, Request};
use crate::error::{ArenaError, GroupError};
use crate::scratch::ExecutionScratchView;

/// A way to make groups.
#[derive(Clone, Copy)]
enum Candidate {
    /// As requested, under the budget.
    Asked,
    /// In order, under the budget.
    InOrder,
    /// One group per layer.
    Layers,
    /// Depth first, in groups of at most this many bytes.
    DepthFirst(u64),
}

/// Candidates that do not depend on the budget.
const LADDER: u32 = 8;

/// Groups that fit with their arena, as the scratch holds them.
pub(super) struct Found<'a> {
    pub(super) plan: Plan,
    pub(super) options: ArenaOptions<'a>,
    pub(super) size: Size,
}

/// A request, and the scratch that its plans are made in.
pub(super) struct Planner<'p, 'a> {
    pub(super) request: &'p Request<'a>,
    pub(super) scratch: ExecutionScratchView<'a>,
    /// Layers and lower bound of the program, once it has been checked.
    checked: Option<Plan>,
}

impl<'p, 'a> Planner<'p, 'a> {
    pub(super) fn new(request: &'p Request<'a>, scratch: ExecutionScratchView<'a>) -> Self {
        Self {
            request,
            scratch,
            checked: None,
        }
    }

    /// Bytes that groups and arena may take.
    pub(super) fn available(&self) -> u64 {
        let Budget {
            budget_bytes,
            resident_bytes,
            ..
        } = self.request.budget;
        budget_bytes.saturating_sub(resident_bytes)
    }

    /// Leaves the groups of the first candidate that fits in the scratch, and their arena.
    pub(super) fn find(&mut self) -> Result<Found<'a>, ExecutionError> {
        let fixed = self.request.leeway.fixed_groups;
        match self.under_budget()? {
            Some((_, found)) if found.plan.whole || fixed => Ok(found),
            // Groups shaped by the budget may fit by chance, which must not decide whether the
            // budget works.
            Some((candidate, found)) => {
                self.any_fits()?;
                let plan = self.group(candidate)?;
                self.lay_out(&plan, &found.options)?;
                Ok(found)
            }
            None => self.any_fits(),
        }
    }

    /// Tries the requested groups, or those in order, which may keep less alive.
    fn under_budget(&mut self) -> Result<Option<(Candidate, Found<'a>)>, ExecutionError> {
        let in_order = match self.request.strategy {
            Strategy::InOrder => None,
            Strategy::Packed => Some(Candidate::InOrder),
        };
        for candidate in [Some(Candidate::Asked), in_order].into_iter().flatten() {
            let plan = self.group(candidate)?;
            if let Some(found) = self.fit(plan)? {
                return Ok(Some((candidate, found)));
            }
        }
        Ok(None)
    }

    /// Returns the first candidate of the ladder that fits.
    fn any_fits(&mut self) -> Result<Found<'a>, ExecutionError> {
        let whole = self.whole_bytes();
        for rung in 0..self.rungs() {
            let plan = self.group(candidate(rung, whole))?;
            if let Some(found) = self.fit(plan)? {
                return Ok(found);
            }
        }
        Err(OverBudget {
            required_bytes: self.least()?,
            budget_bytes: self.request.budget.budget_bytes,
        }
        .into())
    }

    /// Returns the least need of a candidate of the ladder, with resident bytes.
    pub(super) fn least(&mut self) -> Result<u64, ExecutionError> {
        let whole = self.whole_bytes();
        if self.checked.is_none() {
            self.group(Candidate::Layers)?;
        }
        let mut least = None;
        for rung in 0..self.rungs() {
            let plan = self.group(candidate(rung, whole))?;
            for options in self.layouts() {
                let (peak, size) = self.lay_out(&plan, &options)?;
                let need = peak.max(size.bytes);
                least = Some(least.map_or(need, |least: u64| least.min(need)));
            }
        }
        let resident = self.request.budget.resident_bytes;
        let overflow = ArenaError::Overflow {
            field: "resident plus arena bytes",
        };
        resident
            .checked_add(least.unwrap_or(0))
            .ok_or(overflow.into())
    }

    /// Candidates that may replace the requested groups.
    fn rungs(&self) -> u32 {
        if self.request.leeway.fixed_groups {
            1
        } else {
            LADDER
        }
    }

    /// Fused bytes of all waves.
    fn whole_bytes(&self) -> u64 {
        let waves = self.request.dag.waves.iter();
        waves.fold(0, |sum, wave| sum.saturating_add(wave.checked_bytes()))
    }

    #[inline(never)]
    fn group(&mut self, candidate: Candidate) -> Result<Plan, GroupError> {
        let Request {
            dag,
            budget,
            strategy,
            ..
        } = self.request;
        let scratch = &mut self.scratch.groups;
        let unlimited = Budget {
            resident_bytes: 0,
            budget_bytes: u64::MAX,
            ..*budget
        };
        let plan = match (candidate, self.checked) {
            (Candidate::DepthFirst(most), Some(checked)) => Plan {
                groups: depth_first::schedule(dag, most, &mut scratch.layers),
                ..checked
            },
            (Candidate::Asked, _) => groups::plan(dag, budget, *strategy, scratch)?,
            (Candidate::InOrder, _) => groups::plan(dag, budget, Strategy::InOrder, scratch)?,
            _ => groups::plan(dag, &unlimited, Strategy::InOrder, scratch)?,
        };
        self.checked.get_or_insert(plan);
        Ok(plan)
    }

    /// Returns the first layout of these groups that fits, if there is one.
    fn fit(&mut self, plan: Plan) -> Result<Option<Found<'a>>, ArenaError> {
        let available = self.available();
        for options in self.layouts() {
            let (peak, size) = self.lay_out(&plan, &options)?;
            if peak.max(size.bytes) <= available {
                return Ok(Some(Found {
                    plan,
                    options,
                    size,
                }));
            }
        }
        Ok(None)
    }

    /// Returns the layouts that the request admits, with one copy of scratch, the best first.
    fn layouts(&self) -> impl Iterator<Item = ArenaOptions<'a>> + use<'a> {
        let request = *self.request;
        (0..LAYOUTS).filter_map(move |number| layout(&request, number))
    }

    /// Lays the arena out; returns its size and the largest group's bytes.
    #[inline(never)]
    pub(super) fn lay_out(
        &mut self,
        plan: &Plan,
        options: &ArenaOptions<'_>,
    ) -> Result<(u64, Size), ArenaError> {
        let ExecutionScratchView { groups, arena } = &mut self.scratch;
        let Request { dag, budget, .. } = self.request;
        let groups = groups::of_scratch(dag, budget, plan, groups.layers.reborrow());
        let size = arena::lay_out(dag, &groups, options, arena)?;
        Ok((groups.summary().peak_group_bytes, size))
    }

    /// The groups that the scratch holds.
    pub(super) fn groups(&mut self, plan: &Plan) -> Groups<'_> {
        let Request { dag, budget, .. } = self.request;
        groups::of_scratch(dag, budget, plan, self.scratch.groups.layers.reborrow())
    }
}

/// Layouts that a request can admit: two alignments, results kept and not.
const LAYOUTS: u32 = 4;

fn layout<'a>(request: &Request<'a>, number: u32) -> Option<ArenaOptions<'a>> {
    let (arena, leeway) = (request.arena, request.leeway);
    let (finer, early) = (number & 1 == 1, number & 2 == 2);
    let least = leeway.least_alignment_bytes;
    if finer && (least == 0 || least >= arena.alignment_bytes) || early && !leeway.early_results {
        return None;
    }
    Some(ArenaOptions {
        alignment_bytes: if finer { least } else { arena.alignment_bytes },
        results: if early { Results::None } else { arena.results },
        ..ArenaOptions::default()
    })
}

/// Returns the candidate of a rung, for a program with this many fused bytes.
fn candidate(rung: u32, whole_bytes: u64) -> Candidate {
    match rung {
        0 => Candidate::Layers,
        rung if rung.wrapping_add(1) < LADDER => {
            Candidate::DepthFirst(whole_bytes.wrapping_shr(rung))
        }
        _ => Candidate::DepthFirst(0),
    }
}
