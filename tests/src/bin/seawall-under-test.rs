//! The program as the command line tests start it.
//!
//! Cargo builds the programs of a test's own package before it, and of no other.

use std::process::ExitCode;

fn main() -> ExitCode {
    seawall_cli::main()
}
