//! `cargo xtask peers`: Seawall beside the graph libraries that are used from Python.
//!
//! A virtual environment below `target/peers` gets SciPy, igraph, networkit and rustworkx by pip,
//! once. `peers/peers.py` makes the graphs, asks every program the same questions on one thread,
//! compares the answers and prints a table. CI does not run it, since it measures.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::error::Error;
use crate::process;
use crate::workspace;

/// Options of `peers`.
#[derive(Args)]
#[command(
    after_help = "Example: cargo xtask peers --graphs rmat,grid --analyses bfs,scc --scale 16"
)]
pub(crate) struct Options {
    /// The program to measure [default: built anew, `target/release/seawall`].
    #[arg(long, value_name = "FILE")]
    seawall: Option<PathBuf>,
    /// The folder that has NY.gr.xz and FLA.gr.xz, road networks of the 9th DIMACS challenge in
    /// PACE's format; without it they are skipped.
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Names of graphs, separated by commas [default: all].
    #[arg(long)]
    graphs: Option<String>,
    /// Names of analyses, separated by commas [default: all that a peer has].
    #[arg(long)]
    analyses: Option<String>,
    /// Scale of the Kronecker graphs, which have 16 edges for each of 2^SCALE nodes.
    #[arg(long, default_value_t = 18)]
    scale: u32,
    /// Runs of each program, of which the median counts.
    #[arg(long, default_value_t = 5)]
    repeat: u32,
    /// Total change at which rankings of Seawall and networkit end; igraph's always end at 1e-10.
    #[arg(long, default_value_t = 1e-4)]
    tolerance: f64,
    /// Threads of Seawall and of networkit; the others use one.
    #[arg(long, default_value_t = 1)]
    threads: u32,
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let folder = workspace::target("peers");
    let python = environment(&folder)?;
    let seawall = match &options.seawall {
        Some(file) => file.clone(),
        None => built()?,
    };
    let mut command = Command::new(python);
    command.arg(scripts().join("peers.py"));
    command.arg(seawall).arg(folder.join("graphs"));
    command.args(["--scale", &options.scale.to_string()]);
    command.args(["--repeat", &options.repeat.to_string()]);
    command.args(["--threads", &options.threads.to_string()]);
    command.args(["--tolerance", &options.tolerance.to_string()]);
    if let Some(data) = &options.data {
        command.arg("--data").arg(data);
    }
    for (name, value) in [
        ("--graphs", &options.graphs),
        ("--analyses", &options.analyses),
    ] {
        if let Some(value) = value {
            command.args([name, value]);
        }
    }
    process::show(&mut command)
}

fn scripts() -> PathBuf {
    workspace::root().join("xtask/peers")
}

/// Makes the virtual environment if it is missing; returns its interpreter.
fn environment(folder: &Path) -> Result<PathBuf, Error> {
    let home = folder.join("venv");
    let python = home.join("bin/python");
    if !python.exists() {
        workspace::create_folder(folder)?;
        process::show(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
    }
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--requirement"]);
    process::show(pip.arg(scripts().join("requirements.txt")))?;
    Ok(python)
}

/// Builds the command line; returns its file.
fn built() -> Result<PathBuf, Error> {
    process::show(process::cargo().args(["build", "--release", "--package", "seawall-cli"]))?;
    Ok(workspace::target("release").join("seawall"))
}
