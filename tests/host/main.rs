//! Host-side conformance and property tests.
mod allocations;
mod analyzer;
mod analyses;
mod composed;
mod anything;
mod batch;
mod capi;
mod cli;
mod details;
mod drawn;
mod execution;
mod explain;
mod graph;
mod lanes;
mod limits;
mod many;
mod memory;
mod outgrown;
mod paths;
mod plan_cache;
mod programs;
mod sessions;
#[cfg(unix)]
mod streams;
mod text;
mod tiles;
mod vectors;
