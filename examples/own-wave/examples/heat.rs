//! Heat that spreads over a graph, on the CPU or a GPU.
//!
//! ```text
//! cargo run --release -p own-wave --example heat
//! cargo xtask build-ptx --crate examples/own-wave
//! cargo run --release -p own-wave --example heat -- mega examples/own-wave/ptx
//! ```

use own_wave::{Cool, Differ, Heat, Spread};
use seawall::backend::ProgramSession;
use seawall::executor::{Executor, Machine};
use seawall::graph::{LoadOptions, load};
use seawall::own::OwnWaves;
use seawall::program::{Call, PlanRequest, ProgramBuilder};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "cpu".to_owned());
    let executor = Executor::ALL.into_iter().find(|known| known.name() == name);
    let executor = executor.ok_or("the first argument is cpu, mega, launches or graph")?;
    let mut waves = OwnWaves::of::<Heat>();
    if let Some(folder) = arguments.next() {
        waves = waves.with_ptx_in(folder)?;
    }

    let graph = load("gen:rmat:14:8", &LoadOptions::default(), None)?.graph;
    let nodes = graph.nodes();
    let mut program = ProgramBuilder::new(nodes);
    program.use_waves(&waves);
    let heat = program.words("heat", nodes.into())?;
    let spread = program.words("spread", nodes.into())?;
    let next = program.words("next", nodes.into())?;
    let differ = program.words("differ", 1)?;
    program.iota("begin", heat);
    program.fixpoint("until it settles", 1000, |body| {
        body.own::<Spread>("spread", Call::to(spread).first(heat));
        body.own::<Cool>("cool", Call::to(next).first(spread).with([8]));
        body.fill("no difference", differ, 0);
        let call = Call::to(differ).first(heat).second(next).with([4]);
        body.own::<Differ>("differ", call);
        body.copy("go on", heat, next);
    });
    program.keep(heat);
    let (encoded, plan) = program.encode(&PlanRequest::default())?;

    let machine = match executor {
        Executor::Cpu => Machine::cpu(None),
        gpu => Machine::gpu(gpu, 0),
    };
    let mut session = ProgramSession::open(&graph, &machine)?;
    session.load(&encoded)?;
    let stats = session.run()?;
    let mut found = Vec::new();
    session.read(heat, &mut found)?;
    println!(
        "{}: {} groups, {} rounds in {:.1} ms, the warmest node has {}",
        session.device().name,
        plan.groups,
        stats.control.loops[0].iterations,
        stats.run_ns as f64 / 1e6,
        found.iter().max().copied().unwrap_or(0),
    );
    Ok(())
}
