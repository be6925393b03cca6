//! `cargo xtask platforms`: the command line without CUDA compiles for other systems.
//!
//! It is checked, not linked or run: a compiler with its library's source needs nothing of those
//! systems for that.

use std::process::Command;

use clap::Args;

use crate::error::Error;
use crate::process;
use crate::ptx::toolchain::{Route, Toolchain};
use crate::workspace;

/// Options of `platforms`.
#[derive(Args)]
pub(crate) struct Options {
    /// Target triples to check for.
    #[arg(long = "target", default_values_t = ["x86_64-pc-windows-msvc", "aarch64-apple-darwin"].map(str::to_owned))]
    targets: Vec<String>,
    /// The compiler to use.
    #[arg(long, value_enum, default_value_t = Route::Auto)]
    toolchain: Route,
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let toolchain = Toolchain::find(options.toolchain)?;
    for target in &options.targets {
        process::show(&mut check(&toolchain, target))?;
        println!("{target}: seawall-cli without CUDA compiles");
    }
    Ok(())
}

fn check(toolchain: &Toolchain, target: &str) -> Command {
    let mut cargo = toolchain.cargo();
    cargo
        .args(["check", "--quiet", "-Zbuild-std=std,panic_abort"])
        .args(["--package", "seawall-cli", "--no-default-features"])
        .args(["--features", "jit", "--target", target, "--target-dir"])
        .arg(workspace::target("platforms"));
    cargo
}
