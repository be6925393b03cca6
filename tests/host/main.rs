//! Host-side conformance and property tests.
mod allocations;
mod cli;
mod graph;
mod vectors;
