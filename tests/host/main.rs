//! Host-side conformance and property tests.
mod graph;
mod vectors;
