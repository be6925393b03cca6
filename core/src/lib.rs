#![no_std]
//! Planner.
pub mod abi;
pub mod ratio;
pub mod topology;
pub mod launch;
pub mod cache;
