//! The search for groups whose arena fits.
//!
//! The requested plan comes first. If its arena is too large, plans of smaller and smaller groups
//! follow, which keep less alive. These depend neither on the budget nor on the numbers of the
//! waves, so the least of their needs is the least budget that works: a budget is accepted if one
//! of them fits, and refused if none does.

use super::super::arena::{self, Arena, ArenaOptions, Results, Size};
use super::super::groups::{self, Budget, Groups, Plan, Strategy};
use super::super::layers::length;
use super::super::{canonical, scarce};
use super::{ExecutionError, OverBudget, Request};
use crate::error::{ArenaError, GroupError};
use crate::scratch::ExecutionScratchView;

/// A method of making groups.
#[derive(Clone, Copy)]
enum Candidate {
    /// As requested, under the budget.
    Asked,
    /// In order, under the budget.
    InOrder,
    /// As requested, without a budget.
    Unlimited,
    /// One group per layer.
    Layers,
    /// Along a line that keeps little alive, in groups of at most this many bytes.
    Scarce(u64),
}

/// Candidates that do not depend on the budget.
const LADDER: u32 = 8;
/// Most waves of programs that are always laid out by the names of their waves; larger ones are
/// only if memory is short.
const NAMED_WAVES: usize = arena::REFINED_WAVES;

/// Groups that fit with their arena, as the scratch holds them.
pub(super) struct FittingGroups<'a> {
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
    /// Whether the layers' scratch holds the names of the waves.
    is_named: bool,
    /// Whether it also holds a line that keeps little alive.
    is_lined_up: bool,
}

impl<'p, 'a> Planner<'p, 'a> {
    pub(super) fn new(request: &'p Request<'a>, scratch: ExecutionScratchView<'a>) -> Self {
        Self {
            request,
            scratch,
            checked: None,
            is_named: false,
            is_lined_up: false,
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
    pub(super) fn find(&mut self) -> Result<FittingGroups<'a>, ExecutionError> {
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
    fn under_budget(&mut self) -> Result<Option<(Candidate, FittingGroups<'a>)>, ExecutionError> {
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
    fn any_fits(&mut self) -> Result<FittingGroups<'a>, ExecutionError> {
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

    /// Returns the least need of a candidate of the ladder, or of the plan without a budget, with
    /// resident bytes.
    pub(super) fn least(&mut self) -> Result<u64, ExecutionError> {
        let whole = self.whole_bytes();
        let mut least = u64::MAX;
        // Programs of few waves are laid out alike in both.
        if self.request.dag.waves.len() > NAMED_WAVES {
            least = self.least_need(Candidate::Unlimited)?;
        }
        for rung in 0..self.rungs() {
            least = least.min(self.least_need(candidate(rung, whole))?);
        }
        let resident = self.request.budget.resident_bytes;
        let overflow = ArenaError::Overflow {
            field: "resident plus arena bytes",
        };
        resident.checked_add(least).ok_or(overflow.into())
    }

    /// Returns the least need of a candidate in any layout.
    fn least_need(&mut self, candidate: Candidate) -> Result<u64, ExecutionError> {
        let plan = self.group(candidate)?;
        let mut least = u64::MAX;
        for options in self.layouts() {
            let (peak, size) = self.lay_out(&plan, &options)?;
            least = least.min(peak.max(size.bytes));
        }
        Ok(least)
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
        if let Candidate::Scarce(most) = candidate {
            return self.group_scarcely(most);
        }
        let Request {
            dag,
            budget,
            strategy,
            ..
        } = self.request;
        let unlimited = Budget {
            resident_bytes: 0,
            budget_bytes: u64::MAX,
            ..*budget
        };
        let (budget, strategy) = match candidate {
            Candidate::Asked => (budget, *strategy),
            Candidate::InOrder => (budget, Strategy::InOrder),
            Candidate::Unlimited => (&unlimited, *strategy),
            Candidate::Layers | Candidate::Scarce(_) => (&unlimited, Strategy::InOrder),
        };
        let plan = groups::plan(dag, budget, strategy, &mut self.scratch.groups)?;
        self.checked.get_or_insert(plan);
        self.is_lined_up = false;
        self.is_named = matches!(candidate, Candidate::Layers) || dag.waves.len() <= NAMED_WAVES;
        // Scratch without space for an arena is refused where the arena is laid out.
        self.is_named &= self.scratch.arena.check(length(dag.waves)).is_ok();
        if self.is_named {
            let ExecutionScratchView { groups, arena } = &mut self.scratch;
            canonical::name(dag, self.request.arena.results, &mut groups.layers, arena);
        }
        Ok(plan)
    }

    /// Makes groups along a line that keeps little alive.
    fn group_scarcely(&mut self, group_bytes: u64) -> Result<Plan, GroupError> {
        let layers = match self.checked {
            Some(plan) if self.is_named => plan,
            _ => self.group(Candidate::Layers)?,
        };
        let dag = &self.request.dag;
        let finest = self.layouts().last().unwrap_or_default();
        let ExecutionScratchView { groups, arena } = &mut self.scratch;
        if !self.is_lined_up {
            scarce::line_up(dag, &finest, &mut groups.layers, arena);
            self.is_lined_up = true;
        }
        Ok(Plan {
            groups: scarce::groups(dag, group_bytes, &mut groups.layers, arena),
            ..layers
        })
    }

    /// Returns the first layout of these groups that fits, if there is one.
    fn fit(&mut self, plan: Plan) -> Result<Option<FittingGroups<'a>>, ArenaError> {
        let available = self.available();
        for options in self.layouts() {
            let (peak, size) = self.lay_out(&plan, &options)?;
            if peak.max(size.bytes) <= available {
                return Ok(Some(FittingGroups {
                    plan,
                    options,
                    size,
                }));
            }
        }
        Ok(None)
    }

    /// Returns the layouts that the request allows, with one copy of scratch, the best first.
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
        let lists = (&*groups.layers.order, &*groups.layers.depth);
        let names = self.is_named.then_some(&*groups.layers.starts);
        let groups = groups::of_scratch(dag, budget, plan, lists.0, lists.1);
        let size = arena::lay_out(dag, &groups, options, names, arena)?;
        Ok((groups.summary().peak_group_bytes, size))
    }

    /// The groups and the arena that the scratch holds.
    pub(super) fn into_parts(self, found: &FittingGroups<'a>) -> (Groups<'a>, Arena<'a>) {
        let Request { dag, budget, .. } = self.request;
        let ExecutionScratchView { groups, arena } = self.scratch;
        let lists = (&*groups.layers.order, &*groups.layers.depth);
        (
            groups::of_scratch(dag, budget, &found.plan, lists.0, lists.1),
            arena::of_scratch(dag.waves.len(), &found.options, found.size, arena),
        )
    }

    /// The groups that the scratch holds.
    pub(super) fn groups(&mut self, plan: &Plan) -> Groups<'_> {
        let Request { dag, budget, .. } = self.request;
        let layers = &self.scratch.groups.layers;
        groups::of_scratch(dag, budget, plan, layers.order, layers.depth)
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
        rung if rung.wrapping_add(1) < LADDER => Candidate::Scarce(whole_bytes.wrapping_shr(rung)),
        _ => Candidate::Scarce(0),
    }
}
