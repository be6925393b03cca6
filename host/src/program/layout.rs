//! Planning of a program's waves: groups, and the memory of registers.
//!
//! The planner decides. This file states the byte envelopes of the waves and reads its answers: an
//! output is the registers that a wave is the first to write, a frontier the registers that only
//! the body of a loop uses, in a separate layout. A body is planned wide, and also with as little
//! memory as possible in case the first plan does not fit. As a last resort registers share cache
//! lines.

use super::PlanSummary;
use super::builder::{PlanRequest, ProgramBuilder};
use super::error::ProgramError;
use super::hazards::{Hazards, infer};
use super::planner::{PlannerMemory, bytes_of, in_registers, run_planner, waves_of};
use super::wave::{ACCESS_BYTES, ALIGNMENT_BYTES, Body, RegisterSpec, WaveSpec};
use seawall_core::abi::code::DEPTH_MAX;
use seawall_core::abi::program::{GroupRecord, Opcode, Region, RegisterRecord};
use seawall_core::plan::execution::{Request, least_budget};
use seawall_core::plan::{Budget, ExecutionError, Offsets, Results, Strategy};
use seawall_core::wave::{Dag, Wave};

pub(super) struct Layout {
    pub(super) groups: Vec<Vec<u32>>,
    pub(super) group_bytes: Vec<u64>,
    pub(super) bodies: Vec<Option<BodyLayout>>,
    pub(super) registers: Vec<RegisterRecord>,
    pub(super) input_bytes: u64,
    pub(super) summary: PlanSummary,
}

#[derive(Clone, Default)]
pub(super) struct BodyLayout {
    /// Waves of each group, by their number in the body.
    pub(super) groups: Vec<Vec<u32>>,
    pub(super) group_bytes: Vec<u64>,
    /// Bytes of the registers that only the body uses.
    bytes: u64,
    /// These registers, and the place of each.
    places: Vec<(usize, u64)>,
    /// Loops around the loop of this body.
    pub(super) depth: u32,
    /// Body of each wave of this one that has one.
    pub(super) bodies: Vec<Option<BodyLayout>>,
}

/// Plans `builder`, with as much memory as `request` allows.
pub(super) fn plan(
    builder: &ProgramBuilder,
    request: &PlanRequest,
) -> Result<Layout, ProgramError> {
    let hazards = infer(&builder.registers, &builder.waves, false)?;
    let mut least_bytes = u64::MAX;
    for width in [Width::Wide, Width::Narrow, Width::Tight] {
        let planning = Planning::new(builder, request, &hazards, width)?;
        match planning.lay_out() {
            Err(error) if is_short(&error) => {
                least_bytes = least_bytes.min(planning.least()?);
            }
            done => return done.map_err(ProgramError::from),
        }
    }
    // The plan without a budget can have so few groups that the size of its tables matters.
    let budget_bytes = request.budget_bytes.unwrap_or(u64::MAX);
    let unlimited = PlanRequest {
        budget_bytes: None,
        ..*request
    };
    let free = Planning::new(builder, &unlimited, &hazards, Width::Wide)?.lay_out()?;
    let needed_bytes = taken(builder, request, &free);
    if needed_bytes <= budget_bytes {
        return Ok(free);
    }
    Err(ProgramError::OverBudget {
        needed_bytes: least_bytes.min(needed_bytes),
        budget_bytes,
    })
}

/// Bytes that a plan takes with its tables, inputs and the resident graph.
fn taken(builder: &ProgramBuilder, request: &PlanRequest, layout: &Layout) -> u64 {
    let arena = layout.summary.arena_bytes;
    let Some(line) = request.table_line_bytes else {
        let regions = arena.saturating_add(layout.input_bytes);
        return request.resident_bytes.saturating_add(regions);
    };
    let lines = |bytes: u64| bytes.next_multiple_of(ALIGNMENT_BYTES).max(line);
    let table = |groups: usize| {
        let bytes = size_of::<GroupRecord>().saturating_mul(groups) as u64;
        bytes.next_multiple_of(line.max(1))
    };
    let groups = layout.groups.len() + groups_of_bodies(&layout.bodies);
    // The resident bytes count the smallest allocation for both regions.
    let counted = table(builder.table_lengths().groups).saturating_add(2 * line);
    let rest = request.resident_bytes.saturating_sub(counted);
    [table(groups), lines(arena), lines(layout.input_bytes)]
        .into_iter()
        .fold(rest, u64::saturating_add)
}

fn groups_of_bodies(bodies: &[Option<BodyLayout>]) -> usize {
    let bodies = bodies.iter().flatten();
    bodies
        .map(|body| body.groups.len() + groups_of_bodies(&body.bodies))
        .sum()
}

/// Whether a larger budget would help.
fn is_short(error: &ExecutionError) -> bool {
    use seawall_core::error::GroupError::{ResidentOverBudget, WaveOverBudget};
    matches!(
        error,
        ExecutionError::OverBudget(_)
            | ExecutionError::Groups(ResidentOverBudget { .. } | WaveOverBudget { .. })
    )
}

/// Memory policy of bodies and registers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    /// Bodies take as much as their widest groups.
    Wide,
    /// As little as possible.
    Narrow,
    /// As little as possible, and registers side by side, so that some share a cache line.
    Tight,
}

impl Width {
    /// Alignment of registers, bytes.
    fn alignment_bytes(self) -> u64 {
        match self {
            Self::Wide | Self::Narrow => ALIGNMENT_BYTES,
            Self::Tight => ACCESS_BYTES,
        }
    }
}

struct Planning<'p> {
    builder: &'p ProgramBuilder,
    width: Width,
    strategy: Strategy,
    budget: Budget,
    hazards: &'p Hazards,
    bodies: Vec<Option<BodyLayout>>,
    envelopes: Vec<Wave>,
    kept: Vec<u32>,
    inputs: Vec<u64>,
    input_bytes: u64,
}

impl<'p> Planning<'p> {
    fn new(
        builder: &'p ProgramBuilder,
        request: &PlanRequest,
        hazards: &'p Hazards,
        width: Width,
    ) -> Result<Self, ProgramError> {
        let (inputs, input_bytes) = input_offsets(&builder.registers);
        let resident_bytes = request.resident_bytes.saturating_add(input_bytes);
        let users = Users::of(builder);
        let bodies = (0..).zip(&builder.waves);
        let bodies = bodies
            .map(|(number, wave)| {
                let body = wave.body.as_ref();
                let around = Around {
                    name: wave.name.clone(),
                    depth: 0,
                };
                body.map(|body| {
                    let locals = users.locals(number, body);
                    plan_body(builder, &around, body, &locals, width)
                })
                .transpose()
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            builder,
            width,
            strategy: request.strategy,
            budget: Budget {
                resident_bytes,
                budget_bytes: in_lines(request.budget_bytes, resident_bytes),
                readback_bytes: 0,
            },
            envelopes: envelopes(builder, hazards, width, &bodies),
            kept: kept_waves(builder, hazards),
            hazards,
            bodies,
            inputs,
            input_bytes,
        })
    }

    fn request(&self) -> Request<'_> {
        let dag = Dag {
            waves: &self.envelopes,
            dependencies: &self.hazards.dependencies,
        };
        Request {
            strategy: self.strategy,
            ..in_registers(
                dag,
                self.budget,
                Results::Bits(&self.kept),
                self.width.alignment_bytes(),
            )
        }
    }

    /// The least budget, whose arena is whole lines.
    fn least(&self) -> Result<u64, ExecutionError> {
        let mut space = PlannerMemory::for_dag(&self.request().dag);
        let least = least_budget(&self.request(), space.view())?;
        let resident = self.budget.resident_bytes;
        let arena = least.saturating_sub(resident);
        let lines = arena.checked_next_multiple_of(ALIGNMENT_BYTES);
        Ok(resident.saturating_add(lines.unwrap_or(u64::MAX)))
    }

    fn lay_out(&self) -> Result<Layout, ExecutionError> {
        let request = self.request();
        let mut space = PlannerMemory::for_dag(&request.dag);
        let plan = run_planner(&request, &mut space)?;
        let summary = plan.groups.summary();
        let offsets: Vec<Offsets> = plan.arena.iter().collect();
        Ok(Layout {
            groups: waves_of(&plan),
            group_bytes: bytes_of(&plan),
            registers: self.place(&offsets),
            bodies: self.bodies.clone(),
            input_bytes: self.input_bytes,
            summary: PlanSummary {
                groups: plan.groups.len() as u32,
                global_barriers: summary.global_barriers as u32,
                lower_bound: summary.lower_bound,
                peak_group_bytes: summary.peak_group_bytes,
                arena_bytes: plan.arena.bytes(),
            },
        })
    }

    /// Gives every register its place: side by side in the output of the wave that owns it, in the
    /// frontier of the only loop that uses it, or in the input region.
    fn place(&self, offsets: &[Offsets]) -> Vec<RegisterRecord> {
        let mut next: Vec<u64> = offsets.iter().map(|at| at.output).collect();
        let locals = self.local_places(offsets);
        let registers = self.builder.registers.iter().enumerate();
        registers
            .map(|(at, register)| {
                let (region, offset_bytes, words) = match (self.hazards.owners[at], locals[at]) {
                    _ if register.is_input => (Region::Input, self.inputs[at], register.words),
                    (_, Some(offset)) => (Region::Arena, offset, register.words),
                    (Some(owner), None) => {
                        let offset = next[owner as usize];
                        next[owner as usize] += register.bytes(self.width.alignment_bytes());
                        (Region::Arena, offset, register.words)
                    }
                    (None, None) => (Region::Arena, 0, 0),
                };
                RegisterRecord {
                    region: region as u32,
                    words,
                    offset_bytes,
                }
            })
            .collect()
    }

    fn local_places(&self, offsets: &[Offsets]) -> Vec<Option<u64>> {
        let mut places = vec![None; self.builder.registers.len()];
        for (body, at) in self.bodies.iter().zip(offsets) {
            for (register, offset) in body.iter().flat_map(|body| &body.places) {
                places[*register] = Some(at.frontier + offset);
            }
        }
        places
    }
}

struct Users {
    /// The only top-level wave that uses a register; `None` for several or none.
    only: Vec<Option<u32>>,
}

impl Users {
    fn of(builder: &ProgramBuilder) -> Self {
        let mut users = vec![(None, true); builder.registers.len()];
        for (number, wave) in (0_u32..).zip(&builder.waves) {
            for slot in wave.reads.iter().chain(&wave.writes) {
                let (user, alone) = &mut users[slot.0 as usize];
                *alone &= user.is_none_or(|user| user == number);
                *user = Some(number);
            }
        }
        let open = |register: &RegisterSpec| register.is_input || register.is_result;
        let only = builder.registers.iter().zip(users);
        let only = only.map(|(register, (user, alone))| {
            let is_inner = alone && !open(register);
            user.filter(|_| is_inner)
        });
        Self {
            only: only.collect(),
        }
    }

    /// Registers that only the body of wave `number` uses, and fills anew in each iteration. A loop
    /// within it may end before its first iteration, code may write only some items, and the
    /// condition is read after the last wave: their registers stay outside.
    fn locals(&self, number: u32, body: &Body) -> Vec<bool> {
        let mut locals: Vec<_> = self.only.iter().map(|only| *only == Some(number)).collect();
        let in_part = |wave: &&WaveSpec| wave.body.is_some() || wave.does.is(Opcode::Each);
        let in_part = body.waves.iter().filter(in_part);
        let touched = in_part.flat_map(|wave| wave.reads.iter().chain(&wave.writes));
        for slot in touched.chain(&body.condition).chain(&body.frontier) {
            locals[slot.0 as usize] = false;
        }
        let mut filled = vec![false; locals.len()];
        for wave in &body.waves {
            for slot in &wave.reads {
                let at = slot.0 as usize;
                locals[at] &= filled[at];
            }
            for slot in &wave.writes {
                filled[slot.0 as usize] = true;
            }
        }
        locals
    }
}

/// A loop, for its body.
struct Around {
    /// Returns it with the names of the loops around it.
    name: String,
    depth: u32,
}

/// Groups the waves of a body and lays out the registers that only it uses.
fn plan_body(
    builder: &ProgramBuilder,
    around: &Around,
    body: &Body,
    locals: &[bool],
    width: Width,
) -> Result<BodyLayout, ProgramError> {
    check_body(around, body)?;
    let hazards = infer(&builder.registers, &body.waves, true)?;
    let mut waves = vec![Wave::default(); body.waves.len()];
    let mut places = Vec::new();
    for (at, register) in builder.registers.iter().enumerate() {
        if let (true, Some(owner)) = (locals[at], hazards.owners[at]) {
            let output = &mut waves[owner as usize].output_bytes;
            places.push((at, owner, *output));
            *output += register.bytes(width.alignment_bytes());
        }
    }
    let dag = Dag {
        waves: &waves,
        dependencies: &hazards.dependencies,
    };
    let mut budget = Budget {
        budget_bytes: u64::MAX,
        ..Budget::default()
    };
    let layout = (Results::None, width.alignment_bytes());
    let mut space = PlannerMemory::for_dag(&dag);
    if width != Width::Wide {
        let unlimited = in_registers(dag, budget, layout.0, layout.1);
        budget.budget_bytes = least_budget(&unlimited, space.view())?;
    }
    let plan = run_planner(&in_registers(dag, budget, layout.0, layout.1), &mut space)?;
    let start = |owner: u32| plan.arena.iter().nth(owner as usize).unwrap_or_default();
    let places = places.into_iter();
    let (mut groups, mut group_bytes) = (waves_of(&plan), bytes_of(&plan));
    // Slow blocks may still read the condition while the first group runs.
    let writes = |wave: &u32| {
        let writes = &body.waves[*wave as usize].writes;
        body.condition.is_some_and(|at| writes.contains(&at))
    };
    if groups.first().is_some_and(|first| first.iter().any(writes)) {
        groups.insert(0, Vec::new());
        group_bytes.insert(0, 0);
    }
    Ok(BodyLayout {
        groups,
        group_bytes,
        depth: around.depth,
        bodies: inner_bodies(builder, around, body)?,
        bytes: plan.arena.bytes(),
        places: places
            .map(|(at, owner, within)| (at, start(owner).output + within))
            .collect(),
    })
}

/// Plans the loops of a body; all their registers have places outside.
fn inner_bodies(
    builder: &ProgramBuilder,
    around: &Around,
    body: &Body,
) -> Result<Vec<Option<BodyLayout>>, ProgramError> {
    let locals = vec![false; builder.registers.len()];
    let plan = |wave: &WaveSpec| {
        let inner = Around {
            name: format!("{} / {}", around.name, wave.name),
            depth: around.depth + 1,
        };
        let body = wave.body.as_ref();
        body.map(|body| plan_body(builder, &inner, body, &locals, Width::Wide))
            .transpose()
    };
    body.waves.iter().map(plan).collect()
}

/// Whether the loops in `body` may be nested as they are.
fn check_body(around: &Around, body: &Body) -> Result<(), ProgramError> {
    let name = || around.name.clone();
    if body.waves.is_empty() {
        return Err(ProgramError::EmptyBody { name: name() });
    }
    let has_loops = body.waves.iter().any(|inner| inner.body.is_some());
    if has_loops && body.condition.is_none() {
        return Err(ProgramError::NestedFixpoint { name: name() });
    }
    if body.condition.is_some() && around.depth >= DEPTH_MAX {
        return Err(ProgramError::TooDeep {
            name: name(),
            depth: around.depth,
            most: DEPTH_MAX - 1,
        });
    }
    Ok(())
}

/// The budget with the arena in whole lines, as machines allocate it.
fn in_lines(budget_bytes: Option<u64>, resident_bytes: u64) -> u64 {
    let Some(budget) = budget_bytes else {
        return u64::MAX;
    };
    match budget.checked_sub(resident_bytes) {
        Some(arena) => budget - arena % ALIGNMENT_BYTES,
        None => budget,
    }
}

/// Offsets of the input registers and bytes of their region. Each takes whole lines in every plan,
/// since callers fill the region before they know the plan.
fn input_offsets(registers: &[RegisterSpec]) -> (Vec<u64>, u64) {
    let mut end = 0;
    let offsets = registers
        .iter()
        .map(|register| {
            let offset = end;
            if register.is_input {
                end += register.bytes(ALIGNMENT_BYTES);
            }
            offset
        })
        .collect();
    (offsets, end.next_multiple_of(ALIGNMENT_BYTES))
}

/// Byte envelopes: a wave's output is the registers that it is the first to write, its frontier
/// those that only the body of a loop uses.
fn envelopes(
    builder: &ProgramBuilder,
    hazards: &Hazards,
    width: Width,
    bodies: &[Option<BodyLayout>],
) -> Vec<Wave> {
    let frontier = |body: &Option<BodyLayout>| Wave {
        frontier_bytes: body.as_ref().map_or(0, |body| body.bytes),
        ..Wave::default()
    };
    let mut waves: Vec<Wave> = bodies.iter().map(frontier).collect();
    let mut is_local = vec![false; builder.registers.len()];
    for (register, _) in bodies.iter().flatten().flat_map(|body| &body.places) {
        is_local[*register] = true;
    }
    let registers = builder.registers.iter().zip(&hazards.owners).zip(is_local);
    for ((register, owner), is_local) in registers {
        if let (Some(owner), false) = (owner, register.is_input || is_local) {
            waves[*owner as usize].output_bytes += register.bytes(width.alignment_bytes());
        }
    }
    waves
}

/// One bit per wave: whether it owns a register that is kept to the end.
fn kept_waves(builder: &ProgramBuilder, hazards: &Hazards) -> Vec<u32> {
    let mut kept = vec![0_u32; builder.waves.len().div_ceil(32)];
    for (register, owner) in builder.registers.iter().zip(&hazards.owners) {
        if let (Some(owner), true) = (owner, register.is_result) {
            kept[*owner as usize / 32] |= 1 << (owner % 32);
        }
    }
    kept
}
