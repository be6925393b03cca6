//! Wave programs that queries run, against separate sessions.

use super::{LONG, client, config, expect, expect_fault, start};
use crate::graphs;
use crate::random::Random;
use seawall::analysis::{self, AnalysisKind, Built, Question};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, Session};
use seawall::graph::{Graph, LoadOptions};
use seawall::program::{
    EncodedProgram, Join, Over, PlanRequest, ProgramBuilder, ProgramError, RegisterId,
};
use seawall::service::{
    Client, Config, On, Program, Query, Reply, Service, Span, Ticket, TicketError,
};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

/// One analysis of each family of waves.
const KINDS: [AnalysisKind; 7] = [
    AnalysisKind::Bfs,
    AnalysisKind::Cc,
    AnalysisKind::Kcore,
    AnalysisKind::Triangles,
    AnalysisKind::Pagerank,
    AnalysisKind::Mis,
    AnalysisKind::Scc,
];

/// Most nodes of a drawn graph.
const NODES: u32 = 300;

/// Queries that are open at the same time.
const OPEN: u32 = 6;

/// A program with its inputs and its expected result.
struct Case {
    built: Built,
    encoded: Arc<EncodedProgram>,
    expected: Vec<u32>,
}

/// Runs programs on drawn graphs, several at a time, and compares each result.
///
/// # Errors
/// The first result that differs.
pub fn check(on: On, workers: usize, seed: u64, graphs: u32) -> Result<(), String> {
    let mut random = Random::new(seed);
    for _ in 0..graphs {
        let nodes = 1 + random.below(NODES);
        let shape = random.pick(&graphs::SHAPES).ok_or("no shapes")?;
        let list = graphs::draw(shape, nodes, true, &mut random);
        let graph = list.graph().map_err(|error| error.to_string())?;
        one_graph(on, workers, graph, &mut random)
            .map_err(|error| format!("{shape:?}, {nodes} nodes: {error}"))?;
    }
    Ok(())
}

fn case(kind: AnalysisKind, graph: &Graph, random: &mut Random) -> Result<Case, String> {
    let sources = match kind {
        AnalysisKind::Bfs => vec![random.below(graph.nodes())],
        _ => Vec::new(),
    };
    let built = analysis::build(kind, graph, &Question::new(sources));
    let built = built.map_err(|error| error.to_string())?;
    let encoded = built.program.encode(&PlanRequest::default());
    let (encoded, _) = encoded.map_err(|error| error.to_string())?;
    let one = NonZeroUsize::new(1);
    let mut expected = Vec::new();
    let mut session = CpuSession::open(graph, one, RunLimits::default());
    let run = session.as_mut().map_err(|error| error.to_string())?;
    run.load(&encoded).map_err(|error| error.to_string())?;
    let ran = run.run(&built.inputs);
    ran.map_err(|error| error.to_string())?;
    run.read(built.result, &mut expected)
        .map_err(|error| error.to_string())?;
    Ok(Case {
        encoded: Arc::new(encoded),
        built,
        expected,
    })
}

fn program(case: &Case) -> Program {
    Program::new(Arc::clone(&case.encoded), case.built.result)
}

fn one_graph(on: On, workers: usize, graph: Graph, random: &mut Random) -> Result<(), String> {
    let cases = KINDS.map(|kind| case(kind, &graph, random));
    let cases = cases.into_iter().collect::<Result<Vec<_>, _>>()?;
    let config = Config {
        programs: cases.iter().map(program).collect(),
        ..config(on, workers)
    };
    let service = start(graph, config)?;
    let client = client(&service)?;
    for _ in 0..4 {
        let asked = (0..OPEN).map(|space| {
            let number = random.below(KINDS.len() as u32);
            ask(&client, &cases, number, space, random)
        });
        for asked in asked.collect::<Vec<_>>() {
            asked?.compare(&client, &cases)?;
        }
    }
    refusals(&client, &cases)
}

/// A query in flight.
struct OpenQuery {
    number: u32,
    to: Span,
    ticket: Ticket,
}

/// Words of the window for each query.
const ROOM: u32 = 4 * NODES;

fn ask(
    client: &Client,
    cases: &[Case],
    number: u32,
    space: u32,
    random: &mut Random,
) -> Result<OpenQuery, String> {
    let case = &cases[number as usize];
    let address = space * ROOM;
    let inputs = Span {
        address,
        words: case.built.inputs.len() as u32,
    };
    client
        .write(address, &case.built.inputs)
        .map_err(|error| error.to_string())?;
    let to = Span {
        address: address + inputs.words,
        words: random.below(2 * NODES),
    };
    let query = Query::Run {
        program: number,
        inputs,
        to,
    };
    let ticket = client.submit(query).map_err(|error| error.to_string())?;
    Ok(OpenQuery { number, to, ticket })
}

impl OpenQuery {
    fn compare(self, client: &Client, cases: &[Case]) -> Result<(), String> {
        let kind = KINDS[self.number as usize];
        let expected = &cases[self.number as usize].expected;
        let answer = self.ticket.wait(LONG);
        let reply = answer.map_err(|error| format!("{kind}: {error}"))?.reply;
        let fitting = expected.len().min(self.to.words as usize);
        let written = Reply::Written {
            words: fitting as u32,
            overflow: (expected.len() - fitting) as u32,
        };
        if reply != written {
            return Err(format!("{kind}: {reply:?} and not {written:?}"));
        }
        let mut found = vec![0; fitting];
        client
            .read(self.to.address, &mut found)
            .map_err(|error| error.to_string())?;
        if found != expected[..fitting] {
            return Err(format!("{kind}: {found:?} and not {expected:?}"));
        }
        Ok(())
    }
}

fn refusals(client: &Client, cases: &[Case]) -> Result<(), String> {
    let run = |program, words| Query::Run {
        program,
        inputs: Span { address: 0, words },
        to: Span::default(),
    };
    let words = cases[0].built.inputs.len() as u32;
    expect_fault(client, run(KINDS.len() as u32, words), "program")?;
    expect_fault(client, run(0, words + 1), "argument")?;
    client
        .write(0, &cases[0].built.inputs)
        .map_err(|error| error.to_string())?;
    let kept = Reply::Written {
        words: 0,
        overflow: cases[0].expected.len() as u32,
    };
    expect(client, run(0, words), kept)
}

/// A program that takes longer than a slot may ends in a fault, and the next one is answered.
///
/// # Errors
/// If it does not.
pub fn late(on: On) -> Result<(), String> {
    let pairs: Vec<_> = (1..60_000).map(|node| (node - 1, node)).collect();
    let graph = Graph::from_edges(60_000, &pairs, true).map_err(|error| error.to_string())?;
    let cases = [
        case(AnalysisKind::Bfs, &graph, &mut Random::new(1))?,
        case(AnalysisKind::Cc, &graph, &mut Random::new(1))?,
    ];
    let config = Config {
        programs: cases.iter().map(program).collect(),
        slot_budget: Duration::from_micros(300),
        ..config(on, 1)
    };
    let service: Service = start(graph, config)?;
    let client = client(&service)?;
    let inputs = &cases[0].built.inputs;
    client.write(0, inputs).map_err(|error| error.to_string())?;
    let query = Query::Run {
        program: 0,
        inputs: Span {
            address: 0,
            words: inputs.len() as u32,
        },
        to: Span::default(),
    };
    for _ in 0..3 {
        let ticket = client.submit(query.clone());
        match ticket.map_err(|error| error.to_string())?.wait(LONG) {
            Err(TicketError::Fault(_)) => {}
            other => return Err(format!("{other:?} and no fault")),
        }
        expect(&client, Query::Nop, Reply::Done)?;
    }
    Ok(())
}

/// Counts how often a list of three names each word of a register.
fn scattered(nodes: u32, words: u64) -> Result<(EncodedProgram, RegisterId), ProgramError> {
    let mut program = ProgramBuilder::new(nodes);
    let places = program.input("places", 3)?;
    let found = program.words("found", words)?;
    program.fill("nothing yet", found, 0);
    program.each("put away", Over::Values(places), |item| {
        item.scatter(found, item.load(places), Join::Sum, 1);
    });
    program.keep(found);
    Ok((program.encode(&PlanRequest::default())?.0, found))
}

/// A program that stops itself reports the wave and the index.
///
/// # Errors
/// The property that does not hold.
pub fn stopped(on: On) -> Result<(), String> {
    const WORDS: u64 = 10;
    const PLACE: u32 = 12;
    let graph = seawall::graph::load("gen:chain:9", &LoadOptions::default(), None);
    let graph = graph.map_err(|error| error.to_string())?.graph;
    let built = scattered(graph.nodes(), WORDS).map_err(|error| error.to_string())?;
    let program = Program::new(Arc::new(built.0), built.1);
    let config = Config {
        programs: vec![program.clone(), program.clone()],
        ..config(on, 2)
    };
    let service = start(graph, config)?;
    let client = client(&service)?;
    client
        .write(0, &[3, PLACE, 3])
        .map_err(|error| error.to_string())?;
    let span = |address, words| Span { address, words };
    // The region of inputs is longer than the register.
    let inputs = (program.program.input_bytes / 4) as u32;
    let query = Query::Run {
        program: 1,
        inputs: span(0, inputs),
        to: span(inputs, WORDS as u32),
    };
    let ticket = client.submit(query).map_err(|error| error.to_string())?;
    let fault = match ticket.wait(LONG) {
        Err(TicketError::Program(fault)) => fault,
        other => return Err(format!("{other:?}")),
    };
    let record = fault.record;
    let found = (fault.program, record.wave, record.arrived, record.expected);
    if found != (1, 1, PLACE, WORDS as u32) {
        return Err(format!("{found:?}"));
    }
    let text = fault.to_string();
    let has = |part: &str| text.contains(part);
    if has("wave 1 (put away)") && has("index 12 of a register of 10 words, found") {
        return Ok(());
    }
    Err(text)
}
