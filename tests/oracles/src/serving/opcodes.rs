//! Users' opcodes answered by programs, and programs with waves of another crate.

use super::{client, config, expect_fault, reply, start};
use crate::graphs;
use crate::random::Random;
use own_wave::{Cool, Differ, Spread};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, Session};
use seawall::graph::Graph;
use seawall::own::OwnWaves;
use seawall::program::{
    Call, Edges, EncodedProgram, Join, Kind, Over, PlanRequest, ProgramBuilder, ProgramError,
    RegisterId,
};
use seawall::service::{Config, On, Program, Query, Reply, Span};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The opcode that counts nodes.
const COUNT: u32 = 50;
/// The opcode that heats, with waves of another crate.
const HEAT: u32 = 0x7FFF_FFFF;

/// Counts the nodes with more edges than the first argument says, and joins their numbers with
/// the second one.
fn count(nodes: u32) -> Result<(EncodedProgram, RegisterId), ProgramError> {
    let mut program = ProgramBuilder::new(nodes);
    let given = program.input("given", 2)?;
    let found = program.words("found", 2)?;
    program.fill("nothing yet", found, 0);
    program.each("count", Over::Nodes, |node| {
        let [least, factor] = [0, 1].map(|at| node.at(given, at));
        node.only(node.degree(Edges::Out, node.index()).above(least));
        node.scatter(found, 0, Join::Sum, 1);
        node.scatter(found, 1, Join::Sum, node.index() * factor);
    });
    program.keep(found);
    Ok((program.encode(&PlanRequest::default())?.0, found))
}

fn counted(graph: &Graph, [least, factor]: [u32; 2]) -> [u32; 2] {
    let above = |node: &u32| graph.neighbours(*node).len() > least as usize;
    let found = (0..graph.nodes()).filter(above);
    found.fold([0_u32; 2], |[count, sum], node| {
        [count + 1, sum.wrapping_add(node.wrapping_mul(factor))]
    })
}

/// Heat of each node after some turns, and the largest loss of the last one.
fn heat(nodes: u32, waves: &OwnWaves) -> Result<(EncodedProgram, [RegisterId; 2]), ProgramError> {
    let mut program = ProgramBuilder::new(nodes);
    program.use_waves(waves);
    let mut words = |name| program.words(name, nodes.into());
    let [now, next] = [words("now")?, words("next")?];
    let loss = program.words("loss", 1)?;
    program.iota("begin", now);
    for _ in 0..3 {
        program.own::<Spread>("spread", Call::to(next).first(now));
        program.own::<Cool>("cool", Call::to(now).first(next).with([3]));
    }
    program.fill("no loss", loss, 0);
    let call = Call::to(loss).first(now).second(next).with([0]);
    program.own::<Differ>("loss", call);
    program.keep(now);
    program.keep(loss);
    Ok((program.encode(&PlanRequest::default())?.0, [now, loss]))
}

/// The result of a separate session.
fn heated(
    graph: &Graph,
    program: &EncodedProgram,
    kept: [RegisterId; 2],
) -> Result<[Vec<u32>; 2], String> {
    let one = NonZeroUsize::new(1);
    let session = CpuSession::open(graph, one, RunLimits::default());
    let mut session = session.map_err(|error| error.to_string())?;
    session.load(program).map_err(|error| error.to_string())?;
    session.run(&[]).map_err(|error| error.to_string())?;
    let mut found = [Vec::new(), Vec::new()];
    for (register, words) in kept.into_iter().zip(&mut found) {
        let read = session.read(register, words);
        read.map_err(|error| error.to_string())?;
    }
    Ok(found)
}

/// Sends random queries for these opcodes and programs, with the waves in the machine's form.
///
/// # Errors
/// The first answer that differs.
pub fn check(on: On, waves: &OwnWaves, seed: u64) -> Result<(), String> {
    let mut random = Random::new(seed);
    let shape = random.pick(&graphs::SHAPES).ok_or("no shapes")?;
    let graph = graphs::draw(shape, 500, true, &mut random).graph();
    let graph = Arc::new(graph.map_err(|error| error.to_string())?);
    let (count, found) = count(graph.nodes()).map_err(|error| error.to_string())?;
    let (heat, kept) = heat(graph.nodes(), waves).map_err(|error| error.to_string())?;
    let expected = heated(&graph, &heat, kept)?;
    let heat = Arc::new(heat);
    let [now, loss] = kept.map(|register| Program::new(Arc::clone(&heat), register));
    let config = Config {
        programs: vec![
            Program::new(Arc::new(count), found).with_opcode(COUNT),
            loss.with_opcode(HEAT),
            now,
        ],
        ..config(on, 2)
    };
    let service = start(Arc::clone(&graph), config)?;
    let client = client(&service)?;
    let user = |opcode, arguments: [u32; 2]| {
        let mut all = [7; 11];
        all[..2].copy_from_slice(&arguments);
        Query::User {
            opcode,
            arguments: all,
        }
    };
    for _ in 0..20 {
        let given = [random.below(8), random.below(u32::MAX)];
        let mut words = [0; 9];
        words[..2].copy_from_slice(&counted(&graph, given));
        super::expect(&client, user(COUNT, given), Reply::User(words))?;
        words = [0; 9];
        words[0] = expected[1][0];
        super::expect(&client, user(HEAT, given), Reply::User(words))?;
        let to = Span {
            address: random.below(100),
            words: graph.nodes(),
        };
        let run = Query::Run {
            program: 2,
            inputs: Span::default(),
            to,
        };
        reply(&client, run)?;
        let mut found = vec![0; expected[0].len()];
        let read = client.read(to.address, &mut found);
        read.map_err(|error| error.to_string())?;
        if found != expected[0] {
            return Err(format!("{shape:?}: {found:?} and not {:?}", expected[0]));
        }
    }
    expect_fault(&client, user(COUNT + 1, [0; 2]), "opcode")
}

/// Services with invalid or duplicate opcodes do not start.
///
/// # Errors
/// If one does.
pub fn refused(on: On) -> Result<(), String> {
    let graph = Graph::from_edges(9, &[(0, 1)], false);
    let graph = Arc::new(graph.map_err(|error| error.to_string())?);
    let program = |inputs, results, opcode| {
        let mut program = ProgramBuilder::new(9);
        let given = program.input_values("given", Kind::U32, inputs)?;
        let found = program.values("found", Kind::U32, results)?;
        program.each("copy", Over::Values(found), |item| {
            item.store(found, item.at(given, 0));
        });
        program.keep(found);
        let program = Arc::new(program.encode(&PlanRequest::default())?.0);
        Ok(Program::new(program, found).with_opcode(opcode))
    };
    let cases: [(&str, Vec<Result<Program, ProgramError>>); 4] = [
        ("12 words of inputs and 9", vec![program(12, 9, 50)]),
        (
            "11 words of inputs and 10 of its result",
            vec![program(11, 10, 50)],
        ),
        ("is not a user's", vec![program(11, 9, 7)]),
        ("given to two", vec![program(11, 9, 8), program(1, 1, 8)]),
    ];
    for (text, programs) in cases {
        let programs = programs.into_iter().collect::<Result<Vec<_>, _>>();
        let config = Config {
            programs: programs.map_err(|error| error.to_string())?,
            ..config(on, 1)
        };
        match start(Arc::clone(&graph), config) {
            Err(said) if said.contains(text) => {}
            other => return Err(format!("{other:?} and not {text}")),
        }
    }
    let config = Config {
        programs: vec![program(11, 9, 8).map_err(|error| error.to_string())?],
        ..config(on, 1)
    };
    let service = start(graph, config)?;
    let query = Query::User {
        opcode: 8,
        arguments: [u32::MAX; 11],
    };
    super::expect(&client(&service)?, query, Reply::User([u32::MAX; 9]))
}
