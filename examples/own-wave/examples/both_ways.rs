//! One analysis by three methods: components by built-in waves, by code, and by a custom wave.
//! Prints the time of each on CPU threads, and fails if results differ.
//!
//! `cargo run --release -p own-wave --example both_ways [GRAPH]`

use own_wave::{Heat, Lower};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, Session};
use seawall::graph::{Graph, LoadOptions, load};
use seawall::own::OwnWaves;
use seawall::program::{
    Call, ComponentStep, Edges, Join, Kind, Over, PlanRequest, ProgramBuilder, ProgramError,
    RegisterId,
};

type Written = fn(&mut ProgramBuilder, RegisterId);

fn built_in(program: &mut ProgramBuilder, labels: RegisterId) {
    program.components("link", ComponentStep::Link, labels);
    program.components("compress", ComponentStep::Compress, labels);
}

fn code(program: &mut ProgramBuilder, labels: RegisterId) {
    program.fixpoint("code", u32::MAX, |body| {
        body.each("lower", Over::Nodes, |node| {
            let own = node.load(labels);
            let least = node.gather(Edges::Out, Join::Min, |edge| {
                edge.latest(labels, edge.neighbour())
            });
            node.only(least.below(own));
            node.store(labels, least);
            node.changed(1);
        });
    });
}

fn own(program: &mut ProgramBuilder, labels: RegisterId) {
    program.use_waves(&OwnWaves::of::<Heat>());
    program.fixpoint("own", u32::MAX, |body| {
        body.own::<Lower>("lower", Call::to(labels));
    });
}

fn program(nodes: u32, write: Written) -> Result<(ProgramBuilder, RegisterId), ProgramError> {
    let mut program = ProgramBuilder::new(nodes);
    let labels = program.per_node("labels", Kind::U32)?;
    program.iota("number", labels);
    write(&mut program, labels);
    program.keep(labels);
    Ok((program, labels))
}

/// The labels, and the median time of five runs in milliseconds.
fn run(graph: &Graph, write: Written) -> Result<(Vec<u32>, f64), Box<dyn std::error::Error>> {
    let (program, labels) = program(graph.nodes(), write)?;
    let (encoded, _) = program.encode(&PlanRequest::default())?;
    let mut session = CpuSession::open(graph, None, RunLimits::default())?;
    session.load(&encoded)?;
    let mut times = Vec::new();
    for _ in 0..5 {
        times.push(session.run(&[])?.run_ns);
    }
    times.sort_unstable();
    let mut found = Vec::new();
    session.read(labels, &mut found)?;
    Ok((found, times[2] as f64 / 1e6))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1);
    let name = name.unwrap_or_else(|| "gen:uniform:18:8".to_owned());
    let graph = load(&name, &LoadOptions::default(), None)?.graph;
    let (wanted, first) = run(&graph, built_in)?;
    println!("{name}\nbuilt-in waves {first:9.1} ms");
    for (what, write) in [("code", code as Written), ("a custom wave", own)] {
        let (found, time) = run(&graph, write)?;
        if found != wanted {
            return Err(format!("{what} found other components; is the graph undirected?").into());
        }
        println!("{what:14} {time:9.1} ms");
    }
    Ok(())
}
