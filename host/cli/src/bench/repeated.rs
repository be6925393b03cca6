//! A loop of many iterations with almost no work: a search along a path.

use super::BenchError;
use super::row::{Baseline, Clock, Figure, Floor, Row};
use super::setting::Setting;
use super::timing::{self, Times, open, times};
use seawall::analysis::{self, AnalysisKind, Question, oracle};
use seawall::executor::{Executor, Machine};
use seawall::graph::Graph;
use seawall::outcome::Column;
use seawall::program::PlanRequest;
use seawall::run::RunError;
use std::num::NonZeroUsize;

/// Iterations of the loop.
const ITERATIONS: u32 = 10_000;

/// Longest iteration of the persistent kernel, nanoseconds.
const FLOOR: Floor = Floor::Ns(1200.0);

/// Adds a row for each way to run the loop.
pub(super) fn rows(setting: &mut Setting<'_>) -> Result<(), BenchError> {
    let edges: Vec<(u32, u32)> = (0..ITERATIONS).map(|node| (node, node + 1)).collect();
    let path = Graph::from_edges(ITERATIONS + 1, &edges, false)?;
    let what = format!("{ITERATIONS} iterations");
    let Some(device) = setting.gpu.as_ref().map(|limits| limits.ordinal) else {
        let machines = [timing::cpu(setting.threads), timing::cpu(NonZeroUsize::MIN)];
        let [all, one] = machines.map(|machine| search(setting, &path, machine));
        let (all, one) = (all?, one?);
        let ours = Figure::new(timing::name(&machines[0]), all.wall_ns);
        let other = Figure::new(timing::name(&machines[1]), one.wall_ns);
        let row = Row::new(what, Clock::Wall, ours, Baseline::Measured(other));
        setting.push(row);
        return Ok(());
    };
    let mega = search(setting, &path, Machine::gpu(Executor::Mega, device))?;
    let row = |baseline| {
        let ours = Figure::new("mega", mega.device_ns);
        Row::new(what.clone(), Clock::Device, ours, baseline)
    };
    let name = "conditional while node";
    let node = setting.compare("loop", &[ITERATIONS]);
    let baseline = match node.map(|text| text.trim().parse::<f64>()) {
        Ok(Ok(ns)) => Baseline::Measured(Figure::new(name, ns)),
        other => Baseline::Missing {
            name: name.to_owned(),
            why: other
                .err()
                .unwrap_or_else(|| "not supported by toolkit or driver".to_owned()),
        },
    };
    setting.push(row(baseline).with_floor(Some(FLOOR)));
    for executor in [Executor::Graph, Executor::Launches] {
        let machine = Machine::gpu(executor, device);
        let other = search(setting, &path, machine)?;
        let figure = Figure::new(timing::name(&machine), other.device_ns);
        setting.push(row(Baseline::Measured(figure)));
    }
    Ok(())
}

/// Times an iteration on `machine`; records a wrong result.
fn search(setting: &mut Setting<'_>, path: &Graph, machine: Machine) -> Result<Times, BenchError> {
    let name = timing::name(&machine);
    setting.say(format!("loop: {name}"));
    let question = Question::new(vec![0]);
    let built = analysis::build(AnalysisKind::Bfs, path, &question).map_err(RunError::from)?;
    let (encoded, _) = built
        .program
        .encode(&PlanRequest::default())
        .map_err(RunError::from)?;
    let mut session = open(&machine, path)?;
    session.load(&encoded)?;
    let all = times(session.as_mut(), &built.inputs, setting.quick)?;
    let mut words = Vec::new();
    session.read(built.result, &mut words)?;
    let levels = oracle::levels(path, &[0], u32::MAX - 1);
    if built.reading.column(path.nodes(), words) != Column::U32(levels) {
        setting.differs(format!("loop: {name} returns wrong levels"));
    }
    Ok(all.share(ITERATIONS))
}
