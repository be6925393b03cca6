//! The functions that C calls.
//!
//! Each checks its pointers, plans, and writes its results last: a call that
//! fails has written to buffers, but to no result.

use core::ffi::c_char;
use core::ptr;

use seawall_core::error::GroupError;
use seawall_core::plan::{self, ExecutionError};

use crate::buffers::{Buffers, Requirements, record, shared, writable};
use crate::records::{Arena, ArenaOptions, Budget, Dag, Groups, Layers, Offsets, Strategy};
use crate::status::{Failure, Problem, Status};

/// Input of a plan of groups.
struct Request<'a> {
    dag: plan::Dag<'a>,
    budget: plan::Budget,
    strategy: plan::Strategy,
}

/// Returns the number of elements that each buffer needs; too large a program asks for `SIZE_MAX`.
///
/// # Safety
///
/// `requirements` points to space for one record.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seawall_requirements(
    wave_count: usize,
    dependency_count: usize,
    requirements: *mut Requirements,
) -> Status {
    if let Err(status) = writable(requirements) {
        return status;
    }
    let needs = plan::Requirements::for_dag(wave_count, dependency_count);
    // SAFETY: checked above; the caller vouches for the space.
    unsafe { requirements.write(needs.into()) };
    Status::Ok
}

/// Puts waves into layers, the fewest barriers that their order allows, in linear time.
///
/// `problem` may be null.
///
/// # Safety
///
/// Pointers that are not null point to valid records; tables and buffers hold what their
/// lengths say; nothing overlaps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seawall_plan_layers(
    dag: *const Dag,
    buffers: *const Buffers,
    layers: *mut Layers,
    problem: *mut Problem,
) -> Status {
    // SAFETY: the caller vouches for all pointers.
    let outcome = unsafe { plan_layers(dag, buffers, layers) };
    // SAFETY: as above.
    unsafe { finish(outcome, problem) }
}

/// Puts waves into groups that fit a budget. `strategy` is one of `SeawallStrategy`.
///
/// `problem` may be null.
///
/// # Safety
///
/// As for `seawall_plan_layers`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seawall_plan_groups(
    dag: *const Dag,
    budget: *const Budget,
    strategy: u32,
    buffers: *const Buffers,
    groups: *mut Groups,
    problem: *mut Problem,
) -> Status {
    // SAFETY: the caller vouches for all pointers.
    let outcome = unsafe { plan_groups(dag, budget, strategy, buffers, groups) };
    // SAFETY: as above.
    unsafe { finish(outcome, problem) }
}

/// Puts waves into groups and assigns every region an offset in one arena, which fits the budget
/// beside the resident bytes. Groups are packed, or smaller where the arena of packed ones does not
/// fit. Any budget that is too small is refused with the least one that works.
///
/// `offsets` takes one record per wave; `problem` may be null.
///
/// # Safety
///
/// As for `seawall_plan_layers`; `offsets` has space for a record of every wave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seawall_plan(
    dag: *const Dag,
    budget: *const Budget,
    options: *const ArenaOptions,
    buffers: *const Buffers,
    groups: *mut Groups,
    arena: *mut Arena,
    offsets: *mut Offsets,
    problem: *mut Problem,
) -> Status {
    let results = Results {
        groups,
        arena,
        offsets,
    };
    // SAFETY: the caller vouches for all pointers.
    let outcome = unsafe { plan_all(dag, budget, options, buffers, results) };
    // SAFETY: as above.
    unsafe { finish(outcome, problem) }
}

/// The name of an outcome in `snake_case`; `"unknown"` for any other number. Never null.
#[unsafe(no_mangle)]
pub extern "C" fn seawall_status_name(status: u32) -> *const c_char {
    Status::from_number(status)
        .map_or(c"unknown", Status::name)
        .as_ptr()
}

/// The output of `seawall_plan`.
struct Results {
    groups: *mut Groups,
    arena: *mut Arena,
    offsets: *mut Offsets,
}

/// # Safety
///
/// `problem` is null or has space for a record.
pub(crate) unsafe fn finish(outcome: Result<(), Failure>, problem: *mut Problem) -> Status {
    let Err(failure) = outcome else {
        return Status::Ok;
    };
    if writable(problem).is_ok() {
        // SAFETY: not null; the caller vouches for the space.
        unsafe { problem.write(failure.problem) };
    }
    failure.status
}

/// # Safety
///
/// As for [`seawall_plan_layers`].
pub(crate) unsafe fn program<'a>(dag: *const Dag) -> Result<plan::Dag<'a>, Status> {
    // SAFETY: the caller vouches for the record.
    let dag = unsafe { record(dag) }?;
    // SAFETY: the caller vouches for the tables; their layout is the planner's, as asserted.
    let waves = unsafe { shared(dag.waves.cast::<plan::Wave>(), dag.wave_count) }?;
    let dependencies: *const plan::Dependency = dag.dependencies.cast();
    // SAFETY: as above.
    let dependencies = unsafe { shared(dependencies, dag.dependency_count) }?;
    Ok(plan::Dag {
        waves,
        dependencies,
    })
}

/// # Safety
///
/// As for [`seawall_plan_layers`].
unsafe fn request<'a>(
    dag: *const Dag,
    budget: *const Budget,
    strategy: u32,
) -> Result<Request<'a>, Status> {
    Ok(Request {
        // SAFETY: the caller vouches for the program.
        dag: unsafe { program(dag) }?,
        // SAFETY: the caller vouches for the record.
        budget: unsafe { record(budget) }?.into(),
        strategy: self::strategy(strategy)?,
    })
}

/// The strategy of a number.
pub(crate) fn strategy(number: u32) -> Result<plan::Strategy, Status> {
    const IN_ORDER: u32 = Strategy::InOrder as u32;
    const PACKED: u32 = Strategy::Packed as u32;
    match number {
        IN_ORDER => Ok(plan::Strategy::InOrder),
        PACKED => Ok(plan::Strategy::Packed),
        _ => Err(Status::InvalidStrategy),
    }
}

/// # Safety
///
/// As for [`seawall_plan_layers`].
unsafe fn plan_layers(
    dag: *const Dag,
    buffers: *const Buffers,
    layers: *mut Layers,
) -> Result<(), Failure> {
    writable(layers)?;
    // SAFETY: the caller vouches for the program.
    let dag = unsafe { program(dag) }?;
    // SAFETY: the caller vouches for record and buffers.
    let scratch = unsafe { record(buffers)?.layers() }?;
    let plan = plan::layers(&dag, scratch)?;
    let result = Layers {
        order: plan.order().as_ptr().cast(),
        wave_count: plan.order().len(),
        ends: plan.ends().as_ptr(),
        layer_count: plan.len(),
    };
    // SAFETY: checked above; the caller vouches for the space.
    unsafe { layers.write(result) };
    Ok(())
}

/// # Safety
///
/// As for [`seawall_plan_layers`].
unsafe fn plan_groups(
    dag: *const Dag,
    budget: *const Budget,
    strategy: u32,
    buffers: *const Buffers,
    groups: *mut Groups,
) -> Result<(), Failure> {
    writable(groups)?;
    // SAFETY: the caller vouches for the program and the budget.
    let request = unsafe { request(dag, budget, strategy) }?;
    // SAFETY: the caller vouches for record and buffers.
    let scratch = unsafe { record(buffers)?.groups() }?;
    let plan = plan::groups(&request.dag, &request.budget, request.strategy, scratch)?;
    // SAFETY: checked above; the caller vouches for the space.
    unsafe { groups.write(as_groups(&plan)) };
    Ok(())
}

pub(crate) fn as_groups(plan: &plan::Groups<'_>) -> Groups {
    Groups {
        order: plan.order().as_ptr().cast(),
        wave_count: plan.order().len(),
        ends: plan.ends().as_ptr(),
        group_count: plan.len(),
        summary: plan.summary().into(),
    }
}

/// # Safety
///
/// As for [`seawall_plan`].
unsafe fn plan_all(
    dag: *const Dag,
    budget: *const Budget,
    options: *const ArenaOptions,
    buffers: *const Buffers,
    results: Results,
) -> Result<(), Failure> {
    writable(results.groups)?;
    writable(results.arena)?;
    // SAFETY: the caller vouches for the program and the budget.
    let request = unsafe { request(dag, budget, Strategy::Packed as u32) }?;
    if !request.dag.waves.is_empty() {
        writable(results.offsets)?;
    }
    // SAFETY: the caller vouches for the record.
    let options = unsafe { record(options) }?;
    // SAFETY: the caller vouches for the record.
    let buffers = unsafe { record(buffers) }?;
    // SAFETY: the caller vouches for the words.
    let options = unsafe { arena_options(&options) }?;
    let request = plan::execution::Request {
        arena: options,
        ..plan::execution::Request::new(request.dag, request.budget)
    };
    // SAFETY: the caller vouches for the buffers, which do not overlap.
    let scratch = unsafe { buffers.execution()? };
    let planned = plan::execution::layout(&request, scratch);
    let (groups, arena) = match planned {
        Ok(planned) => planned,
        Err(error) => {
            return Err(refusal(error, request.budget.budget_bytes, || {
                // SAFETY: the caller vouches for the buffers, whose first use has ended.
                let scratch = unsafe { buffers.execution()? };
                Ok(plan::execution::least_budget(&request, scratch)?)
            }));
        }
    };
    // SAFETY: checked above; the caller vouches for the space, one record of offsets per wave.
    unsafe {
        for (wave, at) in arena.iter().enumerate() {
            ptr::write(results.offsets.wrapping_add(wave), as_offsets(at));
        }
        results.groups.write(as_groups(&groups));
        results.arena.write(Arena {
            bytes: arena.bytes(),
            lower_bound: arena.lower_bound(),
        });
    }
    Ok(())
}

/// A refusal of a request. If the budget is too small, it names the one of `least`, that works.
pub(crate) fn refusal(
    error: ExecutionError,
    budget_bytes: u64,
    least: impl FnOnce() -> Result<u64, Failure>,
) -> Failure {
    if !matches!(
        error,
        ExecutionError::Groups(
            GroupError::ResidentOverBudget { .. } | GroupError::WaveOverBudget { .. }
        )
    ) {
        return error.into();
    }
    match least() {
        Ok(least) => Failure::new(Status::ArenaOverBudget, [least, budget_bytes, 0]),
        Err(failure) => failure,
    }
}

pub(crate) fn as_offsets(at: plan::Offsets) -> Offsets {
    Offsets {
        frontier: at.frontier,
        scratch: at.scratch,
        output: at.output,
    }
}

/// # Safety
///
/// The words hold their count.
pub(crate) unsafe fn arena_options<'a>(
    options: &ArenaOptions,
) -> Result<plan::ArenaOptions<'a>, Status> {
    let results = if options.result_words.is_null() {
        plan::Results::Sinks
    } else {
        // SAFETY: passed on to the caller.
        plan::Results::Bits(unsafe { shared(options.result_words, options.result_word_count) }?)
    };
    Ok(plan::ArenaOptions {
        alignment_bytes: options.alignment_bytes,
        results,
        ..plan::ArenaOptions::default()
    })
}
