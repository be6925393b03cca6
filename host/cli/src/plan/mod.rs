//! `seawall plan`: a wave DAG in JSON, its plan as text, JSON or a picture.

mod error;
mod input;
mod memory;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use seawall_core::error::ArenaError;
use seawall_core::plan::{ArenaOptions, Strategy, arena, groups};

pub use error::PlanError;
pub use input::Program;
use memory::Memory;

use super::CliError;
use super::output::print;
use crate::report::plan::{PlanView, dot, json, svg, text};

const EXAMPLES: &str = "\
Examples:
  seawall plan waves.json
  seawall plan waves.json --format json | jq .global_barriers
  seawall plan - --format svg < waves.json > plan.svg
  seawall plan waves.json --format dot --strategy in-order | dot -Tpng -o plan.png

The input:
  {\"waves\": [{\"name\": \"expand\", \"frontier_bytes\": 4096, \"scratch_bytes\": 64, \"output_bytes\": 4096},
             {\"frontier_bytes\": 4096, \"scratch_bytes\": 0, \"output_bytes\": 8}],
   \"dependencies\": [[0, 1]],
   \"resident_bytes\": 1048576, \"budget_bytes\": 2097152, \"readback_bytes\": 0}
name and the last three are optional; without budget_bytes there is no limit.
A wave counts with its frontier, four times its scratch, and its output.

An input that cannot be planned gives {\"error\": {\"kind\": ...}} on standard output
and exit code 2.";

/// Plan a wave DAG: group its waves and place the barriers.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PlanArgs {
    /// File with the DAG as JSON; - for standard input.
    #[arg(value_name = "FILE")]
    file: String,
    /// Form of the output.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: PlanFormat,
    /// Print the plan as one JSON object, as --format json does.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Grouping of waves.
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    strategy: StrategyName,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum PlanFormat {
    /// A text drawing.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// A Graphviz graph.
    Dot,
    /// A picture.
    Svg,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum StrategyName {
    /// Waves may slide to later groups; the fewest groups.
    #[default]
    Packed,
    /// Each layer is cut in ascending order.
    InOrder,
}

impl From<StrategyName> for Strategy {
    fn from(name: StrategyName) -> Self {
        match name {
            StrategyName::Packed => Self::Packed,
            StrategyName::InOrder => Self::InOrder,
        }
    }
}

impl PlanFormat {
    fn write(self, view: &PlanView<'_>, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Text => text::write(view, out),
            Self::Json => json::write(view, out),
            Self::Dot => dot::write(view, out),
            Self::Svg => svg::write(view, out),
        }
    }

    /// Tells whether the report is for a person, who needs a message only once.
    fn is_for_a_person(self) -> bool {
        self == Self::Text && io::stdout().is_terminal()
    }
}

impl PlanArgs {
    fn format(&self) -> PlanFormat {
        if self.json {
            PlanFormat::Json
        } else {
            self.format
        }
    }

    /// Tells whether standard output is for scripts.
    pub(super) fn is_for_scripts(&self) -> bool {
        !self.format().is_for_a_person()
    }
}

/// Reads, plans and shows. Errors in the input are reported twice: to scripts on standard output,
/// to people on standard error.
pub(super) fn command(args: &PlanArgs) -> Result<ExitCode, CliError> {
    show(args).map(|()| ExitCode::SUCCESS)
}

fn show(args: &PlanArgs) -> Result<(), CliError> {
    let program = Program::read(&args.file)?;
    let mut memory = Memory::of(&program.dag());
    let (dag, budget) = (program.dag(), program.budget);
    let (group_room, arena_room) = memory.views();
    let groups =
        groups(&dag, &budget, args.strategy.into(), group_room).map_err(PlanError::Groups)?;
    let arena = match arena(&dag, &groups, &ArenaOptions::default(), arena_room) {
        Ok(arena) => Some(arena),
        Err(ArenaError::Overflow { .. }) => None,
        Err(error) => return Err(PlanError::Arena(error).into()),
    };
    let view = PlanView {
        dag,
        names: &program.names,
        budget,
        groups: &groups,
        arena: arena.as_ref(),
    };
    print(|out| args.format().write(&view, out))
}
