//! `seawall plan`: a wave DAG in JSON, its plan as text, JSON or a picture.

pub(super) mod error;
mod input;
mod memory;
mod program;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use seawall::program::{ANY_MACHINE, GraphSize, PlanRequest, PlannerMemory};
use seawall_core::cache::Subject;
use seawall_core::error::ArenaError;
use seawall_core::plan::devices::{self, DevicesError, Prices, devices};
use seawall_core::plan::execution::{Chooser, OverBudget, least_budget};
use seawall_core::plan::{Execution, ExecutionError, Groups, Strategy, execution, groups};
use seawall_core::topology::TopologyPolicy;

pub use error::PlanError;
pub use input::Program;
use memory::DevicesMemory;

use super::CliError;
use super::numbers::size;
use super::output::print;
use seawall_report::plan::{DevicesView, PlanView, dot, json, svg, text};

const EXAMPLES: &str = "\
Examples:
  seawall plan waves.json
  seawall plan waves.json --format json | jq .global_barriers
  seawall plan waves.json --devices 4
  seawall plan --program examples/programs/components.json --nodes 1000

The input, where name and the last three are optional; --help-all explains it:
  {\"waves\": [{\"name\": \"expand\", \"frontier_bytes\": 4096, \"scratch_bytes\": 64, \"output_bytes\": 4096},
             {\"frontier_bytes\": 4096, \"scratch_bytes\": 0, \"output_bytes\": 8}],
   \"dependencies\": [[0, 1]],
   \"resident_bytes\": 1048576, \"budget_bytes\": 2097152, \"readback_bytes\": 0}";

/// Examples and notes of the long help.
const ALL_EXAMPLES: &str = "\
Examples:
  seawall plan waves.json
  seawall plan waves.json --format json | jq .global_barriers
  seawall plan - --format svg < waves.json > plan.svg
  seawall plan --program examples/programs/components.json --nodes 1000
  seawall plan waves.json --format dot --strategy in-order | dot -Tpng -o plan.png

The input:
  {\"waves\": [{\"name\": \"expand\", \"frontier_bytes\": 4096, \"scratch_bytes\": 64, \"output_bytes\": 4096},
             {\"frontier_bytes\": 4096, \"scratch_bytes\": 0, \"output_bytes\": 8}],
   \"dependencies\": [[0, 1]],
   \"resident_bytes\": 1048576, \"budget_bytes\": 2097152, \"readback_bytes\": 0}
name and the last three are optional; without budget_bytes there is no limit.
A wave counts with its frontier, four times its scratch, and its output.
Further optional: alignment_bytes (of regions, 256), signals (nodes, edges,
frontier_density_ppm, readback_bytes, dispatch_cost_ns, launch_overhead_ns,
fusion_pressure_bps), from which the topology follows, and launch (queue_len,
max_workgroup_size_x, max_compute_workgroups_per_dimension,
max_compute_invocations_per_workgroup, ...), a dispatch to size.

With --devices each device has its part of the nodes, and the budget is that of
each. A wave with \"reads\": \"own_nodes\" looks only at its own part of what came
before; without that it may follow edges, and its predecessors' outputs are
exchanged first. With \"output\": \"total\" a wave leaves one sum or flag for all
nodes, to which each device adds.

A plan runs inside its budget: graph, and an arena for all that is alive at once.
Where results do not fit together, each has to be read right after its group
(\"results\": \"read_early\"). A budget that no plan keeps is refused with the least
one that works, which is the same however the waves are numbered. With --strategy
the groups are those of that strategy (of in-order, those of the conformance
vectors), and each counts by itself; where no arena for them fits, there is none
(\"arena\": null).

An input that cannot be planned ends with exit code 2, and with --json prints
{\"error\": {\"kind\": ...}} on standard output.";

/// Plan a wave DAG: group its waves and place the barriers.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = ALL_EXAMPLES, allow_negative_numbers = true)]
pub(super) struct PlanArgs {
    /// File with the DAG as JSON; - for standard input.
    #[arg(value_name = "FILE", required_unless_present = "program")]
    file: Option<String>,
    /// Plan the program of a JSON file instead.
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    program: Option<PathBuf>,
    // Clap drops a requirement that conflicts with what is given, so the conflict is named, too.
    /// With --program: nodes of the graph.
    #[arg(long, value_name = "N", default_value_t = 1 << 20, requires = "program", conflicts_with = "file")]
    nodes: u32,
    /// With --program: directed edges of the graph.
    #[arg(long, value_name = "N", default_value_t = 1 << 24, requires = "program", conflicts_with = "file")]
    edges: u32,
    /// With --program: bytes that its registers and inputs may take, such as 64MiB [default: no
    /// limit]; the graph does not count.
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "program", conflicts_with = "file")]
    budget: Option<u64>,
    /// Form of the output.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: PlanFormat,
    /// Print the plan as one JSON object, as --format json does.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Grouping of waves, whether an arena for it fits or not; without it the packed groups, or
    /// smaller ones if an arena needs that.
    #[arg(long, value_name = "NAME")]
    strategy: Option<StrategyName>,
    /// Plan for this many devices, each with a part of the nodes: where they exchange what, and
    /// whether one device is faster.
    #[arg(long, value_name = "N", conflicts_with = "program")]
    devices: Option<u32>,
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

#[derive(Clone, Copy, Debug, ValueEnum)]
enum StrategyName {
    /// Waves may slide to later groups; the fewest groups.
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
}

impl PlanArgs {
    fn format(&self) -> PlanFormat {
        if self.json {
            PlanFormat::Json
        } else {
            self.format
        }
    }

    /// Returns whether standard output is one JSON object.
    pub(super) fn is_for_scripts(&self) -> bool {
        self.format() == PlanFormat::Json
    }
}

/// Reads, plans and shows. Of JSON, errors in the input are reported twice: for scripts on standard
/// output, for readers on standard error.
pub(super) fn command(args: &PlanArgs) -> Result<ExitCode, CliError> {
    let shown = match (&args.program, &args.file) {
        (Some(file), _) => show_program(args, file),
        (None, Some(file)) => show(args, file),
        // Refused by the parser of arguments.
        (None, None) => Ok(()),
    };
    shown.map(|()| ExitCode::SUCCESS)
}

fn show_program(args: &PlanArgs, file: &Path) -> Result<(), CliError> {
    let graph = GraphSize {
        nodes: args.nodes,
        edges: args.edges,
    };
    let request = PlanRequest {
        strategy: args.strategy.map(Strategy::from).unwrap_or_default(),
        budget_bytes: args.budget,
        ..PlanRequest::default()
    };
    program::show(file, graph, request, args.format())
}

fn show(args: &PlanArgs, file: &str) -> Result<(), CliError> {
    let program = Program::read(file)?;
    if let Some(count) = args.devices {
        return show_devices(args, &program, count);
    }
    let mut memory = PlannerMemory::for_dag(&program.dag());
    let strategy = args.strategy.map(Strategy::from);
    let request = program.request(strategy);
    let mut subject = Subject::new(ANY_MACHINE);
    let chooser = Chooser::plain(&TopologyPolicy::DEFAULT, &mut subject);
    let error = match execution(&request, chooser, memory.view()) {
        Ok(plan) => {
            let view = view(&program, &plan.groups, Ok(&plan));
            return print(|out| args.format().write(&view, out));
        }
        Err(error) => error,
    };
    let Some(shortfall) = groups_alone(&error, strategy, &program) else {
        let least = match (&error, strategy) {
            (ExecutionError::Groups(_), None) => least_budget(&request, memory.view()).ok(),
            _ => None,
        };
        return Err(PlanError::refused(error, least).into());
    };
    let groups = groups(
        &program.dag(),
        &program.budget,
        request.strategy,
        memory.groups(),
    )
    .map_err(|error| PlanError::from(ExecutionError::from(error)))?;
    let view = view(&program, &groups, Err(shortfall));
    print(|out| args.format().write(&view, out))
}

fn show_devices(args: &PlanArgs, program: &Program, count: u32) -> Result<(), CliError> {
    let dag = program.dag();
    let (mut memory, mut more) = (PlannerMemory::for_dag(&dag), DevicesMemory::of(&dag));
    let request = program.request(args.strategy.map(Strategy::from));
    let mut subject = Subject::new(ANY_MACHINE);
    let chooser = Chooser::plain(&TopologyPolicy::DEFAULT, &mut subject);
    let cuts = program.cuts();
    let plan = match devices(&request, count, cuts, chooser, memory.view(), more.view()) {
        Ok(plan) => plan,
        Err(error) => {
            let least = match &error {
                DevicesError::Execution(ExecutionError::Groups(_)) if args.strategy.is_none() => {
                    let (scratch, more) = (memory.view(), more.view());
                    devices::least_budget(&request, count, cuts, scratch, more).ok()
                }
                _ => None,
            };
            return Err(PlanError::of_devices(error, least).into());
        }
    };
    let resident_bytes = program.budget.resident_bytes;
    let execution = &plan.execution;
    let mut view = view(program, &execution.groups, Ok(execution));
    view.dag.waves = execution.groups.waves();
    view.budget = plan.budget;
    view.devices = Some(DevicesView {
        exchanges: &plan.exchanges,
        prediction: plan.predict(dag.waves, resident_bytes, &Prices::default()),
    });
    print(|out| args.format().write(&view, out))
}

/// Whether groups are shown without an arena, and the budget that one would take.
fn groups_alone(
    error: &ExecutionError,
    strategy: Option<Strategy>,
    program: &Program,
) -> Option<Option<OverBudget>> {
    let is_fixed = strategy.is_some();
    match error {
        ExecutionError::OverBudget(short) if is_fixed => Some(Some(*short)),
        ExecutionError::Arena(ArenaError::Overflow { .. })
            if is_fixed || program.budget.budget_bytes == u64::MAX =>
        {
            Some(None)
        }
        _ => None,
    }
}

fn view<'a>(
    program: &'a Program,
    groups: &'a Groups<'a>,
    execution: Result<&'a Execution<'a>, Option<OverBudget>>,
) -> PlanView<'a> {
    PlanView {
        dag: program.dag(),
        names: &program.names,
        budget: program.budget,
        groups,
        execution: execution.ok(),
        shortfall: execution.err().flatten(),
        devices: None,
    }
}
