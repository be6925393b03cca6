//! The planner for C.
//!
//! Pointers become slices, the planner plans, and results point into the caller's
//! buffers. Nothing is allocated or kept between calls. No panic can unwind into C:
//! the planner has no panic path, and one would abort at the border. The header
//! `include/seawall.h` is written from this crate.
#![cfg_attr(not(feature = "std"), no_std)]

mod buffers;
mod convergence;
mod devices;
mod entry;
mod execution;
mod records;
mod status;

pub use buffers::{Buffers, Requirements};
pub use convergence::{
    Convergence, ConvergenceRequest, Progress, seawall_convergence, seawall_convergence_after,
};
pub use devices::{Devices, DevicesSummary, Exchange, WaveFlag, seawall_plan_devices};
pub use entry::{
    seawall_plan, seawall_plan_groups, seawall_plan_layers, seawall_requirements,
    seawall_status_name,
};
pub use execution::{
    Execution, ExecutionRequest, ExecutionTopology, Launch, LaunchRequest, Signals,
    seawall_plan_execution,
};
pub use records::{
    Arena, ArenaOptions, Budget, Dag, Dependency, Groups, Layers, Offsets, Strategy, Summary, Wave,
};
pub use status::{Problem, Status};

#[cfg(not(feature = "std"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // Optimised code never gets here, and firmware has nothing to return to.
    loop {}
}
