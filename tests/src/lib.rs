//! Shared oracles and generators for the tests.
