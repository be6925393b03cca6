//! The program as the command line tests start it.
//!
//! Cargo builds only the programs of a test's own package before it.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: seawall_cli::Allocator = seawall_cli::Allocator::new();

fn main() -> ExitCode {
    seawall_cli::main()
}
