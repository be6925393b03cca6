//! `cargo xtask bare-metal`: the planner compiles for targets without an operating system.
//!
//! Checks `seawall-core` with only `core`, so a dependency that brings an allocator or the standard
//! library fails here. It generates no code: `cargo xtask embed` links the same crate and target.

use std::process::Command;

use clap::Args;

use crate::error::Error;
use crate::process;
use crate::ptx::toolchain::{Route, Toolchain};
use crate::workspace;

/// Options of `bare-metal`.
#[derive(Args)]
pub(crate) struct Options {
    /// Target triples to build for.
    #[arg(long = "target", default_values_t = ["thumbv7em-none-eabihf".to_owned()])]
    targets: Vec<String>,
    /// The compiler to use.
    #[arg(long, value_enum, default_value_t = Route::Auto)]
    toolchain: Route,
}

/// Feature sets that firmware uses.
const FEATURES: [&str; 2] = ["", "defmt"];

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let toolchain = Toolchain::find(options.toolchain)?;
    for target in &options.targets {
        for features in FEATURES {
            process::show(&mut check(&toolchain, target, features))?;
            println!("{target}: seawall-core compiles with features [{features}]");
        }
    }
    Ok(())
}

fn check(toolchain: &Toolchain, target: &str, features: &str) -> Command {
    let mut cargo = toolchain.cargo();
    cargo
        .args(["check", "--quiet", "-Zbuild-std=core"])
        .args(["--package", "seawall-core", "--features", features])
        .args(["--target", target, "--target-dir"])
        .arg(workspace::target("bare-metal"));
    cargo
}
