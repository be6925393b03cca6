//! Waves that keep the whole machine busy, on which the persistent kernel must not be slower than
//! launches.

use super::BenchError;
use super::analyses::same;
use super::graphs::RMAT;
use super::row::{Baseline, Clock, Figure, Floor, Row, Unit};
use super::setting::Setting;
use super::timing::{self, Times, open, times};
use seawall::analysis::{Reading, oracle};
use seawall::backend::Session;
use seawall::executor::{Executor, Machine};
use seawall::graph::Graph;
use seawall::outcome::Column;
use seawall::program::{
    ComponentStep, PlanRequest, ProgramBuilder, ProgramError, Ranks, RegisterId,
};
use seawall::run::RunError;
use seawall::units::Count;
use std::num::NonZeroUsize;

/// Largest share of the time of one launch per wave.
const FLOOR: Floor = Floor::Ratio(1.05);

const TURNS: usize = 7;

/// A program whose time is that of one wave over every edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wave {
    /// Links both ends of every edge, with atomics.
    Link,
    /// Gathers along every edge, without atomics.
    Gather,
}

impl Wave {
    const fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Gather => "gather",
        }
    }

    const fn reading(self) -> Reading {
        match self {
            Self::Link => Reading::Words,
            Self::Gather => Reading::Floats,
        }
    }

    fn program(self, nodes: u32) -> Result<(ProgramBuilder, RegisterId), ProgramError> {
        let mut program = ProgramBuilder::new(nodes);
        let result = match self {
            Self::Link => link(&mut program, nodes)?,
            Self::Gather => gather(&mut program, nodes)?,
        };
        program.keep(result);
        Ok((program, result))
    }
}

fn link(program: &mut ProgramBuilder, nodes: u32) -> Result<RegisterId, ProgramError> {
    let labels = program.words("labels", u64::from(nodes))?;
    program.iota("number the nodes", labels);
    program.components("link", ComponentStep::Link, labels);
    program.components("compress", ComponentStep::Compress, labels);
    Ok(labels)
}

/// One iteration of a ranking.
fn gather(program: &mut ProgramBuilder, nodes: u32) -> Result<RegisterId, ProgramError> {
    let nodes = u64::from(nodes);
    let ranks = Ranks {
        ranks: program.words("ranks", nodes)?,
        contributions: program.words("contributions", nodes)?,
        sums: program.words("sums", 2 * nodes)?,
        totals: program.totals("totals")?,
        starts: None,
    };
    program.fill("clear totals", ranks.totals, 0);
    program.seed_ranks("start even", ranks);
    program.fixpoint("rank", 1, |body| body.step_ranks(ranks, 0.85, 0.0));
    Ok(ranks.ranks)
}

pub(super) fn rows(setting: &mut Setting<'_>) -> Result<(), BenchError> {
    setting.say(format!("making {}", RMAT.text(setting.quick)));
    let graph = RMAT.load(setting.quick, false)?;
    let machines = match &setting.gpu {
        Some(limits) => [Executor::Mega, Executor::Launches]
            .map(|executor| Machine::gpu(executor, limits.ordinal)),
        None => [timing::cpu(setting.threads), timing::cpu(NonZeroUsize::MIN)],
    };
    for wave in [Wave::Link, Wave::Gather] {
        let ((ours, left), (other, right)) = side_by_side(setting, &graph, wave, machines)?;
        let name = wave.name();
        if !same(&left, &right) {
            setting.differs(format!("wide {name}: executors differ"));
        }
        if wave == Wave::Link && left != Column::U32(oracle::components(&graph)) {
            setting.differs(format!("wide {name}: the components are wrong"));
        }
        let clock = match machines[0].executor {
            Some(Executor::Cpu) => Clock::Wall,
            _ => Clock::Device,
        };
        let figure =
            |machine: Machine, times: Times| Figure::new(timing::name(&machine), times.by(clock));
        let baseline = Baseline::Measured(figure(machines[1], other));
        let edges = Count(u64::from(graph.edges()));
        let row = Row::new(
            format!("{name}, {edges} edges"),
            clock,
            figure(machines[0], ours),
            baseline,
        );
        let floor = (clock == Clock::Device).then_some(FLOOR);
        setting.push(row.shown_in(Unit::Milliseconds).with_floor(floor));
    }
    Ok(())
}

type Measured = (Times, Column);

/// Times `wave` on both machines and returns its results. The machines take turns, because the
/// time of a wave with atomics depends on the order of arrival, and so on the run.
fn side_by_side(
    setting: &mut Setting<'_>,
    graph: &Graph,
    wave: Wave,
    machines: [Machine; 2],
) -> Result<(Measured, Measured), BenchError> {
    let (program, result) = wave.program(graph.nodes()).map_err(RunError::from)?;
    let plan = PlanRequest::default();
    let (encoded, _) = program.encode(&plan).map_err(RunError::from)?;
    let [mut ours, mut other] = [open(&machines[0], graph)?, open(&machines[1], graph)?];
    ours.load(&encoded)?;
    other.load(&encoded)?;
    let turns = if setting.quick { 1 } else { TURNS };
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for turn in 1..=turns {
        setting.say(format!("wide {}: turn {turn} of {turns}", wave.name()));
        first.push(times(ours.as_mut(), &[], setting.quick)?);
        second.push(times(other.as_mut(), &[], setting.quick)?);
    }
    let column = |session: &mut dyn Session| {
        let mut words = Vec::new();
        session.read(result, &mut words)?;
        Ok::<_, BenchError>(wave.reading().column(graph.nodes(), words))
    };
    let (left, right) = (column(ours.as_mut())?, column(other.as_mut())?);
    Ok(((Times::over(&first), left), (Times::over(&second), right)))
}
