//! Seawall on the host.
pub mod graph;
