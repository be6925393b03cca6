//! Maintainer commands: `cargo xtask COMMAND`.
//!
//! Each command lives in its own file and returns a typed error that names the
//! remedy. This file parses arguments and nothing else, with one exception:
//! rustc calls the same executable as its linker while PTX is built, so the
//! environment is asked first which of the two roles is meant.

mod api;
mod archive;
mod bare_metal;
mod book;
mod browse;
mod build_ptx;
mod embed;
mod formats;
mod fuzz;
mod golden;
mod header;
mod licences;
mod metadata;
mod msrv;
mod package;
mod peers;
mod platforms;
mod precompile;
mod sbom;
mod users;

mod error;
mod process;
mod ptx;
mod workspace;
mod xz;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;

/// Maintainer commands of the Seawall workspace.
#[derive(Parser)]
#[command(name = "xtask", bin_name = "cargo xtask", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compile the device kernels to PTX into host/ptx.
    BuildPtx(build_ptx::Options),
    /// Compile the kernels that a first run waits for to machine code into host/ptx.
    Precompile(precompile::Options),
    /// Compare what each kernel costs with host/ptx/golden.txt.
    Golden(golden::Options),
    /// Compare the public API of the libraries with the record, or write that.
    Api(api::Options),
    /// Open the page of a run and a drawing in a browser without a window.
    Browse(browse::Options),
    /// Pack the program with completions and manual pages.
    Archive(archive::Options),
    /// Check that the command line without CUDA compiles for Windows and macOS.
    Platforms(platforms::Options),
    /// Compile the planner for targets without an operating system.
    BareMetal(bare_metal::Options),
    /// Plan on a microcontroller: flash, stack, no panic path, the host's plan.
    Embed(embed::Options),
    /// Check that firmware can log every public type of the planner.
    Formats,
    /// Run the fuzz targets on their seeds and on what earlier runs found.
    Fuzz(fuzz::Options),
    /// Write the planner's C header, or check that it is fresh.
    Header(header::Options),
    /// Check every dependency's licence and origin against deny.toml.
    Licences,
    /// Check that every page is in the book and every link leads somewhere.
    Book,
    /// Pack the crates to publish, check them, and build them together in an empty folder.
    Package(package::Options),
    /// Write a bill of materials of the lock file (CycloneDX).
    Sbom(sbom::Options),
    /// Time Seawall beside SciPy, igraph, networkit and rustworkx.
    Peers(peers::Options),
    /// Check that no dependency needs a newer compiler than the workspace promises.
    Msrv,
    /// Check that the product uses every public module of the planner.
    Users,
}

fn main() -> ExitCode {
    let outcome = match ptx::link::LinkJob::from_environment() {
        Some(job) => job.and_then(|job| job.run(std::env::args().skip(1).collect())),
        None => run(Arguments::parse().command),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), Error> {
    match command {
        Command::BuildPtx(options) => build_ptx::run(&options),
        Command::Peers(options) => peers::run(&options),
        Command::Precompile(options) => precompile::run(&options),
        Command::Golden(options) => golden::run(&options),
        Command::Api(options) => api::run(&options),
        Command::Browse(options) => browse::run(&options),
        Command::Archive(options) => archive::run(&options),
        Command::Platforms(options) => platforms::run(&options),
        Command::BareMetal(options) => bare_metal::run(&options),
        Command::Embed(options) => embed::run(&options),
        Command::Book => book::run(),
        Command::Package(options) => package::run(&options),
        Command::Sbom(options) => sbom::run(&options),
        Command::Formats => formats::run(),
        Command::Fuzz(options) => fuzz::run(&options),
        Command::Header(options) => header::run(&options),
        Command::Licences => licences::run(),
        Command::Msrv => msrv::run(),
        Command::Users => users::run(),
    }
}
