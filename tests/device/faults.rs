//! Programs that must fail, and sessions that must not open.

use crate::tally::Tally;
use seawall::backend::cuda::{CudaOptions, CudaSession, Executor, LoopNodes};
use seawall::backend::{BackendError, RunLimits, Session};
use seawall::graph::Graph;
use seawall::program::EncodedProgram;
use seawall_core::abi::control::{FaultCode, FaultRecord};
use seawall_core::abi::program::{NO_REGISTER, Opcode};
use seawall_oracles::faulty;

/// An executor and its machine.
#[derive(Clone, Copy, Debug)]
struct Tried {
    executor: Executor,
    loops: Option<LoopNodes>,
    quick: bool,
}

impl Tried {
    /// A short time budget; longer and with fewer blocks under a checker.
    fn options(self) -> CudaOptions {
        let milliseconds = if self.quick { 1000 } else { 200 };
        CudaOptions {
            limits: RunLimits {
                time_budget_ns: milliseconds * 1_000_000,
            },
            blocks: self.quick.then_some(3),
            lanes: self.quick.then_some(64),
            loops: self.loops,
            ..CudaOptions::default()
        }
    }
}

/// Runs every faulty program on `executor`.
pub(crate) fn run(executor: Executor, name: &'static str, quick: bool, tally: &mut Tally) {
    for loops in loops_of(executor, quick) {
        let tried = Tried {
            executor,
            loops,
            quick,
        };
        run_all(tried, name, tally);
    }
}

/// Both kinds of loops if there are two, except under a checker: `compute-sanitizer` does not
/// follow conditional nodes.
fn loops_of(executor: Executor, quick: bool) -> Vec<Option<LoopNodes>> {
    match executor {
        Executor::Graph if quick => vec![Some(LoopNodes::Unrolled)],
        Executor::Graph => vec![None, Some(LoopNodes::Unrolled)],
        Executor::Mega | Executor::Launches | Executor::Cpu => vec![None],
    }
}

fn run_all(tried: Tried, name: &'static str, tally: &mut Tally) {
    let mut check = |what, job: fn(Tried) -> Result<(), String>| {
        tally.check(what, name, "no seed", || job(tried));
    };
    check("grid that does not fit", oversized);
    check("lanes that no block can have", odd_lanes);
    check("stalled block", stalled);
    check("loop without an end", endless);
    check("unknown opcode", unknown_opcode);
    check("bad register", bad_register);
    check("index out of range", bad_index);
    check("fault that later launches rely on", fault_before_others);
    check("tables that contradict each other", bad_tables);
    check("wrong order of calls", wrong_order);
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn bare() -> Result<Graph, String> {
    Graph::from_edges(faulty::NODES, &[], false).map_err(text)
}

fn expect(is_right: bool, found: impl FnOnce() -> String) -> Result<(), String> {
    if is_right { Ok(()) } else { Err(found()) }
}

/// Runs `program`, which must fault, then a sound one in the same session.
fn fault_of(tried: Tried, program: &EncodedProgram) -> Result<(FaultRecord, String), String> {
    let (record, wave, _) = fault_and_missing(tried, program)?;
    Ok((record, wave))
}

/// As [`fault_of`], with the blocks that a watchdog reports as missing.
fn fault_and_missing(
    tried: Tried,
    program: &EncodedProgram,
) -> Result<(FaultRecord, String, Vec<u32>), String> {
    let graph = bare()?;
    let mut session = CudaSession::open(tried.executor, &graph, tried.options()).map_err(text)?;
    session.load(program).map_err(text)?;
    let found = match session.run(&[]) {
        Err(BackendError::Fault {
            record,
            wave_name,
            missing,
            ..
        }) => (record, wave_name, missing.into_vec()),
        other => return Err(format!("expected a fault, got {other:?}")),
    };
    let plain = faulty::plain().map_err(text)?;
    session.load(&plain).map_err(text)?;
    session
        .run(&[])
        .map_err(|error| format!("the run after the fault: {error}"))?;
    let mut words = Vec::new();
    session
        .read(faulty::total(&plain), &mut words)
        .map_err(text)?;
    expect(words == [faulty::SUM], || {
        format!("the run after the fault added up to {words:?}")
    })?;
    Ok(found)
}

fn oversized(tried: Tried) -> Result<(), String> {
    let graph = bare()?;
    let wanted = 1_000_000;
    let asked = CudaOptions {
        blocks: Some(wanted),
        ..tried.options()
    };
    let opened = CudaSession::open(tried.executor, &graph, asked);
    match (tried.executor, opened) {
        (
            Executor::Mega,
            Err(BackendError::NotCoResident {
                wanted: reported,
                fitting,
                multiprocessors,
                ..
            }),
        ) => expect(
            reported == wanted && fitting >= multiprocessors && multiprocessors > 0,
            || format!("{reported} wanted, {fitting} fit on {multiprocessors}"),
        ),
        (Executor::Mega, Ok(session)) => Err(format!("opened with {:?}", session.shape())),
        (Executor::Launches | Executor::Graph | Executor::Cpu, Ok(_)) => Ok(()),
        (_, Err(error)) => Err(text(error)),
    }
}

fn odd_lanes(tried: Tried) -> Result<(), String> {
    let graph = bare()?;
    for lanes in [1, 33, 1025, 2048] {
        let asked = CudaOptions {
            lanes: Some(lanes),
            ..tried.options()
        };
        let opened = CudaSession::open(tried.executor, &graph, asked);
        if !matches!(opened, Err(BackendError::Unsupported { .. })) {
            return Err(format!(
                "{lanes} lanes: {:?}",
                opened.map(|session| session.shape())
            ));
        }
    }
    Ok(())
}

/// Only blocks that wait for each other detect a missing one; a separate launch reports itself.
fn stalled(tried: Tried) -> Result<(), String> {
    let (record, wave, missing) = fault_and_missing(tried, &faulty::stalled(1).map_err(text)?)?;
    let code = FaultCode::from_word(record.code);
    let reported = || format!("{code:?} of {wave}: {record:?}, missing {missing:?}");
    expect(
        wave == faulty::STALL && record.opcode == Opcode::Stall as u32,
        reported,
    )?;
    if tried.executor != Executor::Mega {
        return expect(code == FaultCode::TimeBudget, reported);
    }
    let one_is_missing = record.arrived + 1 == record.expected && record.expected > 1;
    expect(
        code == FaultCode::Watchdog && one_is_missing && record.block != 1 && missing == [1],
        reported,
    )
}

fn endless(tried: Tried) -> Result<(), String> {
    let (record, wave) = fault_of(tried, &faulty::endless().map_err(text)?)?;
    let code = FaultCode::from_word(record.code);
    let is_budget = matches!(code, FaultCode::TimeBudget | FaultCode::Watchdog);
    expect(
        is_budget && wave == faulty::ENDLESS && record.iteration > 0,
        || format!("{code:?} of {wave}: {record:?}"),
    )
}

fn unknown_opcode(tried: Tried) -> Result<(), String> {
    for opcode in [Opcode::ALL.len() as u32, u32::MAX] {
        let program = faulty::broken(Some(opcode), None).map_err(text)?;
        let (record, wave) = fault_of(tried, &program)?;
        let is_right = FaultCode::from_word(record.code) == FaultCode::UnknownOpcode;
        expect(
            is_right && record.opcode == opcode && wave == faulty::COPY,
            || format!("{wave}: {record:?}"),
        )?;
    }
    Ok(())
}

fn bad_register(tried: Tried) -> Result<(), String> {
    for source in [2, 3, NO_REGISTER] {
        let program = faulty::broken(None, Some(source)).map_err(text)?;
        let (record, wave) = fault_of(tried, &program)?;
        let is_right = FaultCode::from_word(record.code) == FaultCode::BadRegister;
        expect(is_right && wave == faulty::COPY, || {
            format!("register {source}: {wave}: {record:?}")
        })?;
    }
    Ok(())
}

/// An index just beyond its register, and one far from all memory.
fn bad_index(tried: Tried) -> Result<(), String> {
    for index in [faulty::PICKED_FROM, 0x7000_0000, u32::MAX] {
        let program = faulty::out_of_range(index).map_err(text)?;
        let (record, wave) = fault_of(tried, &program)?;
        let is_right = FaultCode::from_word(record.code) == FaultCode::BadIndex
            && (record.arrived, record.expected) == (index, faulty::PICKED_FROM);
        expect(is_right && wave == faulty::PICK, || {
            format!("index {index}: {wave}: {record:?}")
        })?;
    }
    Ok(())
}

/// A faulting wave leaves a register unwritten, which later waves must not use.
fn fault_before_others(tried: Tried) -> Result<(), String> {
    let program = faulty::unmade().map_err(text)?;
    let (record, wave) = fault_of(tried, &program)?;
    let is_right = FaultCode::from_word(record.code) == FaultCode::BadRegister;
    expect(is_right && wave == faulty::ORIENT, || {
        format!("{wave}: {record:?}")
    })
}

fn bad_tables(tried: Tried) -> Result<(), String> {
    let graph = bare()?;
    let mut session = CudaSession::open(tried.executor, &graph, tried.options()).map_err(text)?;
    let mut program = faulty::plain().map_err(text)?;
    program.registers[0].words = u32::MAX;
    match session.load(&program) {
        Err(BackendError::BadProgram { .. }) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

fn wrong_order(tried: Tried) -> Result<(), String> {
    let graph = bare()?;
    let mut session = CudaSession::open(tried.executor, &graph, tried.options()).map_err(text)?;
    let run = session.run(&[]);
    expect(matches!(run, Err(BackendError::NotLoaded)), || {
        format!("run: {run:?}")
    })?;
    let plain = faulty::plain().map_err(text)?;
    session.load(&plain).map_err(text)?;
    let run = session.run(&[1, 2]);
    expect(matches!(run, Err(BackendError::InputLength { .. })), || {
        format!("run with inputs: {run:?}")
    })?;
    session.run(&[]).map(|_| ()).map_err(text)
}
