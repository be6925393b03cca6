#![no_std]
//! One program of 64 waves, planned from end to end with static memory.
//!
//! Shared by the example (`plan`), by its twin on the host (`twin`), which must print the same
//! lines, and by the images that are only linked: they show the flash and stack of the planner,
//! and that it has no panic path. Nothing here knows a processor or a board.

pub mod floating;
pub mod program;
pub mod report;
pub mod steps;

#[cfg(feature = "proof")]
mod proof;
