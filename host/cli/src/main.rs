//! The command line.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: seawall_cli::Allocator = seawall_cli::Allocator::new();

fn main() -> ExitCode {
    seawall_cli::main()
}
