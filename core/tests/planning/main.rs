//! Properties of layers, groups and arenas.
//!
//! Run with `cargo test -p seawall-core --features serde --test planning`.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test ends on its own mistakes"
)]

mod oracle;
mod support;

mod arena;
mod devices;
mod execution;
mod groups;
mod layers;
mod least;
mod pack;
mod vectors;
