//! A thousand waves that wait for each other: the cost of order alone.
//!
//! Each wave joins the results of the last two, so the end shows a wave that was left out, ran
//! twice or ran early: the words repeat every third wave. They depend on each other word by word,
//! which the persistent kernel knows and launches cannot exploit.

use super::BenchError;
use super::row::{Baseline, Clock, Floor, Row};
use super::setting::Setting;
use super::timing::{self, Done};
use seawall::analysis::{Built, Reading};
use seawall::backend::cuda::measure::Meter;
use seawall::executor::{Executor, Machine};
use seawall::graph::Graph;
use seawall::outcome::Column;
use seawall::program::{BitOp, ProgramBuilder, ProgramError, RegisterId};
use seawall::run::RunError;
use std::num::NonZeroUsize;

const WAVES: u32 = 1000;

const WORDS: u32 = 4096;

/// Largest share of the time of a CUDA graph, by device time.
const GRAPH_FLOOR: Floor = Floor::Ratio(0.5);

/// Largest share of the time of a launch and a wait per wave, by wall time.
const SYNC_FLOOR: Floor = Floor::Ratio(0.07);

pub(super) fn rows(setting: &mut Setting<'_>) -> Result<(), BenchError> {
    let Some(device) = setting.gpu.as_ref().map(|limits| limits.ordinal) else {
        let all = chain(setting, timing::cpu(setting.threads))?;
        let one = chain(setting, timing::cpu(NonZeroUsize::MIN))?;
        let (ours, other) = (all.figure(Clock::Wall), one.beside(Clock::Wall));
        setting.push(Row::new(what(), Clock::Wall, ours, other));
        return Ok(());
    };
    let mega = chain(setting, Machine::gpu(Executor::Mega, device))?;
    let graph = chain(setting, Machine::gpu(Executor::Graph, device))?;
    let launches = chain(setting, Machine::gpu(Executor::Launches, device))?;
    let row = |baseline, clock| Row::new(what(), clock, mega.figure(clock), baseline);
    let of_graph = row(graph.beside(Clock::Device), Clock::Device);
    setting.push(of_graph.with_floor(Some(GRAPH_FLOOR)));
    setting.push(row(launches.beside(Clock::Device), Clock::Device));
    let sync = Baseline::of(
        "launch + sync a wave",
        Ok(Meter::open(device)?.launch_sync_ns()?),
    );
    setting.push(row(sync, Clock::Wall).with_floor(Some(SYNC_FLOOR)));
    let empty = setting.baseline("chain", WAVES, "graph of empty kernels", "not measured");
    setting.push(row(empty, Clock::Device));
    Ok(())
}

fn what() -> String {
    format!("{WAVES} waves of {WORDS} words")
}

/// Times a wave of the chain on `machine`; records a wrong result.
fn chain(setting: &mut Setting<'_>, machine: Machine) -> Result<Done, BenchError> {
    let name = timing::name(&machine);
    setting.say(format!("chain of waves: {name}"));
    let (program, result) = program().map_err(RunError::from)?;
    let built = Built {
        program,
        inputs: Vec::new(),
        result,
        parents: None,
        reading: Reading::Words,
    };
    // As many nodes as the words of the result.
    let graph = Graph::from_edges(WORDS, &[], false)?;
    let mut done = timing::one(&machine, &graph, setting.quick, &built)?;
    if done.columns != [Column::U32(expected())] {
        setting.differs(format!("{}: {name} returns a wrong end", what()));
    }
    done.times = done.times.share(WAVES);
    Ok(done)
}

/// Two registers that are filled, then `WAVES` waves that each read both and
/// write the older one.
fn program() -> Result<(ProgramBuilder, RegisterId), ProgramError> {
    let mut program = ProgramBuilder::new(WORDS);
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
    use seawall::program::PlanRequest;

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
