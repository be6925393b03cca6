//! The waves of this crate on CPU threads, against a plain loop.

use own_wave::{Cool, Differ, Heat, Spread};
use seawall::backend::ProgramSession;
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, Session};
use seawall::executor::Machine;
use seawall::graph::Graph;
use seawall::own::OwnWaves;
use seawall::program::{Call, EncodedProgram, PlanRequest, ProgramBuilder, RegisterId};
use std::num::NonZeroUsize;

const TOLERANCE: u32 = 4;
const LOSS: u32 = 6;

/// A ring with a chord, in both directions.
fn graph() -> Graph {
    let edges: Vec<_> = (0..1000_u32)
        .flat_map(|node| [(node, (node + 1) % 1000), ((node + 1) % 1000, node)])
        .chain([(3, 500), (500, 3)])
        .collect();
    Graph::from_edges(1000, &edges, false).unwrap()
}

/// Spreads heat until no node changes by more than the tolerance; its input and its result.
fn program(nodes: u32) -> (EncodedProgram, RegisterId, RegisterId) {
    let mut program = ProgramBuilder::new(nodes);
    program.use_waves(&OwnWaves::of::<Heat>());
    let start = program.input("start", nodes.into()).unwrap();
    let [heat, spread, next] =
        ["heat", "spread", "next"].map(|name| program.words(name, nodes.into()).unwrap());
    let differ = program.words("differ", 1).unwrap();
    program.copy("begin", heat, start);
    program.fixpoint("until it settles", 10_000, |body| {
        body.own::<Spread>("spread", Call::to(spread).first(heat));
        body.own::<Cool>("cool", Call::to(next).first(spread).with([LOSS]));
        body.fill("no difference", differ, 0);
        let call = Call::to(differ).first(heat).second(next).with([TOLERANCE]);
        body.own::<Differ>("differ", call);
        body.copy("go on", heat, next);
    });
    program.keep(heat);
    let (encoded, _) = program.encode(&PlanRequest::default()).unwrap();
    encoded.check().unwrap();
    (encoded, start, heat)
}

fn start(nodes: u32) -> Vec<u32> {
    (0..nodes)
        .map(|node| if node % 7 == 0 { 1 << 20 } else { 0 })
        .collect()
}

/// The same by a plain loop.
fn expected(graph: &Graph, mut heat: Vec<u32>) -> Vec<u32> {
    let incoming = graph.incoming();
    loop {
        let next = |node: u32| {
            let row = &incoming.targets()[incoming.row(node)];
            let sum: u64 = row.iter().map(|from| u64::from(heat[*from as usize])).sum();
            let mean = sum.checked_div(row.len() as u64);
            let spread = mean.map_or(heat[node as usize], |mean| mean as u32);
            spread - (spread >> LOSS)
        };
        let next: Vec<u32> = (0..graph.nodes()).map(next).collect();
        let settled = heat
            .iter()
            .zip(&next)
            .all(|(a, b)| a.abs_diff(*b) <= TOLERANCE);
        heat = next;
        if settled {
            return heat;
        }
    }
}

#[test]
fn heat_spreads_alike_on_any_number_of_threads() {
    let graph = graph();
    let (encoded, input, heat) = program(graph.nodes());
    let wanted = expected(&graph, start(graph.nodes()));
    for threads in [1, 2, 5] {
        let machine = Machine::cpu(NonZeroUsize::new(threads));
        let mut session = ProgramSession::open(&graph, &machine).unwrap();
        session.load(&encoded).unwrap();
        session.set_input(input, &start(graph.nodes())).unwrap();
        session.run().unwrap();
        let mut found = Vec::new();
        session.read(heat, &mut found).unwrap();
        assert_eq!(found, wanted, "{threads} threads");
    }
}

#[test]
fn the_waves_do_what_they_declare() {
    let graph = graph();
    let (encoded, ..) = program(graph.nodes());
    let session = CpuSession::open(&graph, None, RunLimits::default()).unwrap();
    let mut session = session.checking_facts();
    session.load(&encoded).unwrap();
    let mut inputs = start(graph.nodes());
    inputs.resize((encoded.input_bytes / 4) as usize, 0);
    session.run(&inputs).unwrap();
}
