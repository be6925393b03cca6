//! Every type of another workspace crate in the public interface of `seawall`, by a path of
//! `seawall`: a program needs no other crate to name it.

use seawall::backend::batch::BatchStats;
use seawall::backend::{
    BackendError, ControlRecord, FaultCode, FaultRecord, LaunchRecord, LoopRecord, RunStats, Step,
    StepReason, StepTaken, Topology,
};
use seawall::evidence::{ReuseTelemetry, Sample};
use seawall::own::{Array, Declaration, Facts, Operand, OwnWaves, Wave, Waves, Work};
use seawall::program::{
    self, CacheCounters, Call, Edges, EncodedProgram, ExecutionError, GroupRecord, Instruction,
    Invariant, Item, Join, Kind, Measure, PlanCache, PlanRequest, ProgramBuilder, ProgramError,
    Reduction, RegisterId, RegisterRecord, SearchPolicy, Stage, Strategy, TableError,
    TopologyPolicy, WaveRecord,
};
use seawall::run::RunRequest;
use seawall::service::{Continuation, Outcome, Refusal, Short, ShortOp};
use seawall::tiles::{TileRecord, Tiles};

/// Takes and returns the types of the functions and fields, so that a different type does not
/// compile.
#[test]
fn every_type_of_a_public_signature_has_a_name_in_this_crate() {
    let mut program = ProgramBuilder::new(8);
    let [to, from] = ["to", "from"].map(|name| program.per_node(name, Kind::U32).unwrap());
    program.iota("number", from);
    let how: Reduction = Reduction::Max;
    let scalar: RegisterId = program.words("scalar", 1).unwrap();
    program.reduce("largest", how, scalar, from);
    program.each("degrees", program::Over::Nodes, |item: Item<'_>| {
        let edges: Edges = Edges::Out;
        let join: Join = Join::Sum;
        item.store(to, item.gather(edges, join, |edge| edge.neighbour()));
    });
    program.search_policy(SearchPolicy {
        topology: TopologyPolicy::DEFAULT,
        ..SearchPolicy::default()
    });
    let topology: Topology = Topology::Sparse;
    program.force_topology(topology);
    for register in [to, scalar] {
        program.keep(register);
    }
    let request = PlanRequest {
        strategy: Strategy::InOrder,
        ..PlanRequest::default()
    };
    let (encoded, _) = program.encode(&request).unwrap();
    let records: (
        &[GroupRecord],
        &[WaveRecord],
        &[RegisterRecord],
        &[Instruction],
    ) = (
        &encoded.groups,
        &encoded.waves,
        &encoded.registers,
        &encoded.code,
    );
    assert!(!records.0.is_empty() && !records.1.is_empty());
    assert!(!records.2.is_empty() && !records.3.is_empty());
}

/// Names that must exist for this to compile.
fn _errors_and_reports() {
    fn of_error(error: &BackendError) -> Option<(&FaultRecord, FaultCode)> {
        match error {
            BackendError::Fault { record, .. } => Some((record, FaultCode::from_word(record.code))),
            _ => None,
        }
    }
    fn of_program(error: &ProgramError) -> Option<&ExecutionError> {
        match error {
            ProgramError::Plan(error) => Some(error),
            _ => None,
        }
    }
    fn of_tables(error: &TableError) -> (Option<Invariant>, Option<Stage>) {
        match error {
            TableError::Unproven { needs, .. } => (Some(*needs), None),
            TableError::Misplaced { stage, .. } => (None, Some(*stage)),
            _ => (None, None),
        }
    }
    fn of_run(stats: &RunStats) -> (&ControlRecord, &[LoopRecord]) {
        (&stats.control, &stats.control.loops)
    }
    fn of_step(step: &StepTaken) -> (Step, StepReason, Topology) {
        (step.step, step.reason, step.topology)
    }
    fn of_wave<W: Wave, S: Waves>(program: &mut ProgramBuilder) -> &'static [Declaration] {
        program.own::<W>("own", Call::default());
        let facts: Facts = W::FACTS;
        let _: (&[Operand], &[Array], Work) = (facts.reads, facts.arrays, facts.work);
        OwnWaves::of::<S>().list()
    }
    let _: fn(&LaunchRecord, u32) -> Result<(), BackendError> = |_, _| Ok(());
    let _: fn(&BatchStats) -> &[ControlRecord] = |stats| &stats.controls;
    let _: fn(&Tiles) -> &[TileRecord] = Tiles::records;
    let _: fn(&PlanCache) -> CacheCounters = |cache| cache.counters().cache;
    let _: fn(&seawall::outcome::RunOutcome) -> &ReuseTelemetry = |outcome| &outcome.session.reuse;
    let _: fn(&RunRequest) -> Option<seawall::run::Topology> = |request| request.topology;
    let _: (Option<Measure>, Option<Sample>) = (None, None);
    let _: (Option<Continuation>, Option<Outcome>, Option<Refusal>) = (None, None, None);
    let _: (Option<Short>, Option<ShortOp>) = (None, None);
    let _: fn(&EncodedProgram) -> String = |program| program.register_name(0);
    let _ = (of_error, of_program, of_tables, of_run, of_step);
    let _ = of_wave::<NoWave, (NoWave,)>;
}

/// A wave that does nothing.
#[expect(dead_code, reason = "only its type is named")]
struct NoWave;

impl Wave for NoWave {
    const NAME: &'static str = "NoWave";
    const FACTS: Facts = Facts::of(&[], &[Operand::To]);

    fn run<M: seawall_device::own::Machine>(
        _wave: &mut seawall_device::own::Running<'_, M>,
    ) -> Result<(), seawall_device::own::Fault> {
        Ok(())
    }
}
