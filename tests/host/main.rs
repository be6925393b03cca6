//! Host-side conformance and property tests.
mod allocations;
mod graph;
mod vectors;
