//! Host-side conformance and property tests.
mod vectors;
