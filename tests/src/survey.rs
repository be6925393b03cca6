//! Shapes of graphs on which work has to follow the size: those of `bench --section survey`.

pub use seawall_cli::bench::{Sample, samples};
