//! A loop of many iterations with almost no work: a search along a path.

use super::BenchError;
use super::row::{Clock, Floor, Row};
use super::setting::Setting;
use super::timing::{self, Done};
use seawall::analysis::{self, AnalysisKind, Question, oracle};
use seawall::executor::{Executor, Machine};
use seawall::graph::Graph;
use seawall::outcome::Column;
use seawall::run::RunError;
use std::num::NonZeroUsize;

const ITERATIONS: u32 = 10_000;

/// Longest iteration of the persistent kernel, nanoseconds.
const FLOOR: Floor = Floor::Ns(1200.0);

/// Adds a row for each way to run the loop.
pub(super) fn rows(setting: &mut Setting<'_>) -> Result<(), BenchError> {
    let edges: Vec<(u32, u32)> = (0..ITERATIONS).map(|node| (node, node + 1)).collect();
    let path = Graph::from_edges(ITERATIONS + 1, &edges, false)?;
    let what = format!("{ITERATIONS} iterations");
    let Some(device) = setting.gpu.as_ref().map(|limits| limits.ordinal) else {
        let all = search(setting, &path, timing::cpu(setting.threads))?;
        let one = search(setting, &path, timing::cpu(NonZeroUsize::MIN))?;
        let (ours, other) = (all.figure(Clock::Wall), one.beside(Clock::Wall));
        setting.push(Row::new(what, Clock::Wall, ours, other));
        return Ok(());
    };
    let mega = search(setting, &path, Machine::gpu(Executor::Mega, device))?;
    let row = |baseline| {
        let ours = mega.figure(Clock::Device);
        Row::new(what.clone(), Clock::Device, ours, baseline)
    };
    let baseline = setting.baseline(
        "loop",
        ITERATIONS,
        "conditional while node",
        "not supported by toolkit or driver",
    );
    setting.push(row(baseline).with_floor(Some(FLOOR)));
    for executor in [Executor::Graph, Executor::Launches] {
        let other = search(setting, &path, Machine::gpu(executor, device))?;
        setting.push(row(other.beside(Clock::Device)));
    }
    Ok(())
}

/// Times an iteration on `machine`; records a wrong result.
fn search(setting: &mut Setting<'_>, path: &Graph, machine: Machine) -> Result<Done, BenchError> {
    let name = timing::name(&machine);
    setting.say(format!("loop: {name}"));
    let question = Question::new(vec![0]);
    let built = analysis::build(AnalysisKind::Bfs, path, &question).map_err(RunError::from)?;
    let mut done = timing::one(&machine, path, setting.quick, &built)?;
    let levels = oracle::levels(path, &[0], u32::MAX - 1);
    if done.columns != [Column::U32(levels)] {
        setting.differs(format!("loop: {name} returns wrong levels"));
    }
    done.times = done.times.share(ITERATIONS);
    Ok(done)
}
