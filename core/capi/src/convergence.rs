//! The convergence contract for C: a fixpoint that ends on the device.

use seawall_core::convergence::{self, ConvergenceContract, Outcome};

use crate::buffers::{record, writable};
use crate::entry::finish;
use crate::status::{Failure, Problem, Status};

/// A caller's request for a device-resident fixpoint.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ConvergenceRequest {
    /// Iterations after which the device stops without convergence.
    pub max_device_iterations: u32,
    /// Bytes of the changed flag; 4.
    pub changed_flag_bytes: u32,
    /// Reads of the flag by the host before the end; 0.
    pub requested_host_iteration_polls: u32,
}

/// A fixpoint that the device ends by itself. The host reads the flag once, at the end.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Convergence {
    /// Iterations after which the device stops without convergence.
    pub max_device_iterations: u32,
    /// Synchronisations of the host with the device.
    pub host_sync_points: u32,
    /// Bytes of the flag that the host reads at the end.
    pub changed_flag_readback_bytes: u32,
    /// Reads of the flag by the host before the end.
    pub host_iteration_polls: u32,
}

/// State of a fixpoint after an iteration.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The iteration changed something and another one is allowed.
    Running = 0,
    /// The iteration changed nothing.
    Converged = 1,
    /// The last allowed iteration still changed something.
    Exhausted = 2,
}

/// Checks a request and writes its contract.
///
/// `problem` may be null.
///
/// # Safety
///
/// Pointers that are not null point to valid records; nothing overlaps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seawall_convergence(
    request: *const ConvergenceRequest,
    contract: *mut Convergence,
    problem: *mut Problem,
) -> Status {
    // SAFETY: the caller vouches for all pointers.
    let outcome = unsafe { plan(request, contract) };
    // SAFETY: as above.
    unsafe { finish(outcome, problem) }
}

/// Writes the state of a fixpoint after `iteration`, counted from 1.
///
/// `changed_flag` is the number of the last iteration that changed anything.
/// `problem` may be null.
///
/// # Safety
///
/// As for `seawall_convergence`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seawall_convergence_after(
    contract: *const Convergence,
    iteration: u32,
    changed_flag: u32,
    progress: *mut Progress,
    problem: *mut Problem,
) -> Status {
    // SAFETY: the caller vouches for all pointers.
    let outcome = unsafe { after(contract, [iteration, changed_flag], progress) };
    // SAFETY: as above.
    unsafe { finish(outcome, problem) }
}

/// # Safety
///
/// As for [`seawall_convergence`].
unsafe fn plan(
    request: *const ConvergenceRequest,
    contract: *mut Convergence,
) -> Result<(), Failure> {
    writable(contract)?;
    // SAFETY: the caller vouches for the record.
    let request = unsafe { record(request) }?;
    let planned = convergence::ConvergenceRequest {
        max_device_iterations: request.max_device_iterations,
        changed_flag_bytes: request.changed_flag_bytes,
        requested_host_iteration_polls: request.requested_host_iteration_polls,
    }
    .contract()?;
    let result = Convergence {
        max_device_iterations: planned.max_device_iterations(),
        host_sync_points: planned.host_sync_points(),
        changed_flag_readback_bytes: planned.changed_flag_readback_bytes(),
        host_iteration_polls: planned.host_iteration_polls(),
    };
    // SAFETY: checked above; the caller vouches for the space.
    unsafe { contract.write(result) };
    Ok(())
}

/// # Safety
///
/// As for [`seawall_convergence`].
unsafe fn after(
    contract: *const Convergence,
    [iteration, changed_flag]: [u32; 2],
    progress: *mut Progress,
) -> Result<(), Failure> {
    writable(progress)?;
    // SAFETY: the caller vouches for the record.
    let most = unsafe { record(contract) }?.max_device_iterations;
    let contract = ConvergenceContract::device_resident(most)?;
    let result = match contract.after_iteration(iteration, changed_flag) {
        None => Progress::Running,
        Some(Outcome::Converged { .. }) => Progress::Converged,
        Some(Outcome::Exhausted { .. }) => Progress::Exhausted,
    };
    // SAFETY: checked above; the caller vouches for the space.
    unsafe { progress.write(result) };
    Ok(())
}
