//! A thousand waves that wait for each other: the cost of order alone.
//!
//! Each wave joins the results of the last two, so the end shows a wave that was left out, ran
//! twice or ran early: the words repeat every third wave. They depend on each other word by word,
//! which the persistent kernel knows and launches cannot exploit.

use super::BenchError;
use super::row::{Baseline, Clock, Figure, Floor, Row, Timing};
use super::setting::Setting;
use super::timing::{self, Times, open, times};
use seawall::backend::cuda::measure::Meter;
use seawall::executor::{Executor, Machine};
use seawall::graph::Graph;
use seawall::program::{BitOp, PlanRequest, ProgramBuilder, ProgramError, RegisterId};
use seawall::run::RunError;
use std::num::NonZeroUsize;

/// Waves of the chain.
const WAVES: u32 = 1000;

/// Words of each wave.
const WORDS: u32 = 4096;

/// Largest share of the time of a CUDA graph, by device time.
const GRAPH_FLOOR: Floor = Floor::Ratio(0.5);

/// Largest share of the time of a launch and a wait per wave, by wall time.
const SYNC_FLOOR: Floor = Floor::Ratio(0.07);

/// Adds a row for each way to run the chain.
pub(super) fn rows(setting: &mut Setting<'_>) -> Result<(), BenchError> {
    let Some(device) = setting.gpu.as_ref().map(|limits| limits.ordinal) else {
        return cpu_rows(setting);
    };
    let mega = chain(setting, Machine::gpu(Executor::Mega, device))?;
    let graph = chain(setting, Machine::gpu(Executor::Graph, device))?;
    let launches = chain(setting, Machine::gpu(Executor::Launches, device))?;
    let beside = |name: &str, ns: Timing| Baseline::Measured(Figure::new(name, ns));
    let row = |baseline, clock, ns| Row::new(what(), clock, Figure::new("mega", ns), baseline);
    let device_row = |name, ns| row(beside(name, ns), Clock::Device, mega.device_ns);
    setting.push(device_row("graph", graph.device_ns).with_floor(Some(GRAPH_FLOOR)));
    setting.push(device_row("launches", launches.device_ns));
    let sync_ns = Meter::open(device)?.launch_sync_ns()?;
    let sync = beside("launch + sync a wave", Timing::from(sync_ns));
    setting.push(row(sync, Clock::Wall, mega.wall_ns).with_floor(Some(SYNC_FLOOR)));
    let name = "graph of empty kernels";
    let empty = match setting
        .compare("chain", &[WAVES])
        .map(|text| text.trim().parse::<f64>())
    {
        Ok(Ok(ns)) => beside(name, Timing::from(ns)),
        other => Baseline::Missing {
            name: name.to_owned(),
            why: other.err().unwrap_or_else(|| "not measured".to_owned()),
        },
    };
    setting.push(row(empty, Clock::Device, mega.device_ns));
    Ok(())
}

fn cpu_rows(setting: &mut Setting<'_>) -> Result<(), BenchError> {
    let machines = [timing::cpu(setting.threads), timing::cpu(NonZeroUsize::MIN)];
    let [all, one] = machines.map(|machine| chain(setting, machine));
    let (all, one) = (all?, one?);
    let ours = Figure::new(timing::name(&machines[0]), all.wall_ns);
    let other = Baseline::Measured(Figure::new(timing::name(&machines[1]), one.wall_ns));
    setting.push(Row::new(what(), Clock::Wall, ours, other));
    Ok(())
}

fn what() -> String {
    format!("{WAVES} waves of {WORDS} words")
}

/// Times a wave of the chain on `machine`; records a wrong result.
fn chain(setting: &mut Setting<'_>, machine: Machine) -> Result<Times, BenchError> {
    let name = timing::name(&machine);
    setting.say(format!("chain of waves: {name}"));
    let (program, result) = program().map_err(RunError::from)?;
    let plan = PlanRequest::default();
    let (encoded, _) = program.encode(&plan).map_err(RunError::from)?;
    let graph = Graph::from_edges(1, &[], false)?;
    let mut session = open(&machine, &graph)?;
    session.load(&encoded)?;
    let all = times(session.as_mut(), &[], setting.quick)?;
    let mut words = Vec::new();
    session.read(result, &mut words)?;
    if words != expected() {
        setting.differs(format!("{}: {name} returns a wrong end", what()));
    }
    Ok(all.share(WAVES))
}

/// Two registers that are filled, then `WAVES` waves that each read both and
/// write the older one.
fn program() -> Result<(ProgramBuilder, RegisterId), ProgramError> {
    let mut program = ProgramBuilder::new(1);
    let pair = [
        program.words("even", u64::from(WORDS))?,
        program.words("odd", u64::from(WORDS))?,
    ];
    program.iota("number the words", pair[0]);
    program.fill("fill", pair[1], FILL);
    for wave in 0..WAVES {
        program.combine("join", BitOp::Xor, pair[written(wave)], pair);
    }
    let last = pair[written(WAVES - 1)];
    program.keep(last);
    Ok((program, last))
}

const FILL: u32 = 0x5a5a_00ff;

/// Register that a wave writes.
const fn written(wave: u32) -> usize {
    wave as usize % 2
}

/// Expected content of the last register, word by word.
fn expected() -> Vec<u32> {
    let end = |word: u32| {
        let mut pair = [word, FILL];
        for wave in 0..WAVES {
            pair[written(wave)] = pair[0] ^ pair[1];
        }
        pair[written(WAVES - 1)]
    };
    (0..WORDS).map(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_is_one_and_its_end_depends_on_the_word() {
        let (program, _) = program().unwrap();
        let (_, plan) = program.encode(&PlanRequest::default()).unwrap();
        assert_eq!(plan.groups, WAVES + 1);
        let end = expected();
        assert_ne!(end[1], end[2]);
        assert_ne!(end[1], FILL);
    }
}
