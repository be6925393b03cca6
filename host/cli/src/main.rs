//! The command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    seawall_cli::main()
}
