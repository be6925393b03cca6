//! Tests of the judges of other tests: oracles, drawn graphs and drawn scripts.

mod draw;
mod graphs;
mod oracle;
