//! Host-side conformance and property tests.
mod allocations;
mod analyzer;
mod analyses;
mod anything;
mod batch;
mod capi;
mod cli;
mod details;
mod execution;
mod graph;
mod lanes;
mod limits;
mod outgrown;
mod paths;
mod programs;
mod tiles;
mod vectors;
