//! The planner for C.
//!
//! Thin on purpose: C's pointers become slices, the planner plans, results point
//! into the caller's buffers. Nothing is allocated or kept between calls, and no
//! panic can leave, because the planner has no panic path; even one would abort at
//! the border. The header `include/seawall.h` is written from this crate.
#![cfg_attr(not(feature = "std"), no_std)]

mod buffers;
mod entry;
mod records;
mod status;

pub use buffers::{Buffers, Requirements};
pub use entry::{
    seawall_plan, seawall_plan_groups, seawall_plan_layers, seawall_requirements,
    seawall_status_name,
};
pub use records::{
    Arena, ArenaOptions, Budget, Dag, Dependency, Groups, Layers, Offsets, Strategy, Summary, Wave,
};
pub use status::{Problem, Status};

#[cfg(not(feature = "std"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // Optimised code never gets here; firmware without an operating system has nowhere to go.
    loop {}
}
