//! What must hold of layers, groups and arenas.
//!
//! Run with `cargo test -p seawall-core --features serde --test planning`.

mod oracle;
mod support;

mod arena;
mod groups;
mod layers;
mod pack;
mod vectors;
