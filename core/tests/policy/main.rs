//! Properties of the policies: topology, cache, launch, session, evidence, tuning.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that overflows or panics has found something"
)]

mod cache;
mod evidence;
mod launch;
mod session;
mod thresholds;
mod topology;
mod tuning;
