//! `seawall completions` and `seawall man`: what shells and manuals know of the program, made from
//! its arguments.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Command, CommandFactory, ValueEnum};
use clap_complete::{generate, shells};
use seawall::graph::file::write_whole;

use super::output::print;
use super::{Cli, CliError};

const SHELL_EXAMPLES: &str = "\
Examples:
  seawall completions bash > ~/.local/share/bash-completion/completions/seawall
  seawall completions zsh > ~/.zfunc/_seawall
  seawall completions fish > ~/.config/fish/completions/seawall.fish

For zsh, ~/.zshrc has `fpath=(~/.zfunc $fpath)` before `compinit`.";

const MAN_EXAMPLES: &str = "\
Examples:
  seawall man | man -l -
  seawall man --out ~/.local/share/man/man1";

/// Print the completions of a shell.
#[derive(Debug, Args)]
#[command(after_help = SHELL_EXAMPLES)]
pub(super) struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// A shell by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shell {
    /// GNU Bash.
    Bash,
    /// Z shell.
    Zsh,
    /// Fish.
    Fish,
}

/// Print or write the manual pages.
#[derive(Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(super) struct ManArgs {
    /// Folder for the pages of the program and of each command [default: the program's page goes to
    /// standard output].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn completions(args: &CompletionsArgs) -> Result<ExitCode, CliError> {
    let mut program = Cli::command();
    print(|out| {
        // The generators panic where writing fails, and memory does not.
        let mut script = Vec::new();
        match args.shell {
            Shell::Bash => generate(shells::Bash, &mut program, "seawall", &mut script),
            Shell::Zsh => generate(shells::Zsh, &mut program, "seawall", &mut script),
            Shell::Fish => generate(shells::Fish, &mut program, "seawall", &mut script),
        }
        out.write_all(&script)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page of the program, or writes all pages.
pub(super) fn man(args: &ManArgs) -> Result<ExitCode, CliError> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    match &args.out {
        None => print(|out| clap_mangen::Man::new(program).render(out))?,
        Some(folder) => write_pages(program, folder)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a command and those of its subcommands, as `seawall-run.1`.
fn write_pages(command: Command, folder: &Path) -> Result<(), CliError> {
    for subcommand in command.get_subcommands() {
        write_pages(subcommand.clone(), folder)?;
    }
    let page = clap_mangen::Man::new(command);
    let file = folder.join(page.get_filename());
    Ok(write_whole(&file, |out| page.render(out))?)
}
