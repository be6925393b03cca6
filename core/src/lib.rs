#![no_std]
//! Planner.
pub mod abi;
pub mod ratio;
pub mod topology;
pub mod launch;
pub mod cache;
pub mod session;
pub mod convergence;
pub mod evidence;
pub mod tuning;
pub mod wave;
pub mod scratch;
pub mod error;
pub mod plan;
