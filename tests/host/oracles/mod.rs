//! What judges the other tests: oracles, drawn graphs and drawn scripts.

mod draw;
mod graphs;
mod oracle;
