//! A service on the GPU: its answers, its counters, and its times.

use crate::tally::Tally;
use seawall::graph::{Graph, LoadOptions, load};
use seawall::service::{Config, On, Service};
use seawall_oracles::serving::load::{Op, flood, round_trips};
use seawall_oracles::serving::{
    client, config, counters, opcodes, pairs, programs, start, windows,
};
use std::time::{Duration, Instant};

/// The device that serves.
const GPU: On = On::Gpu { device: 0 };

/// Slots of the counters in a plain run.
const SLOTS: u64 = 200_000;

/// Checks answers and counters. `slots` is the number of slots of the counters.
pub(crate) fn run(seed: u64, quick: bool, slots: Option<u64>, tally: &mut Tally) {
    let graphs = if quick { 2 } else { 24 };
    let orders = if quick { 200 } else { 5_000 };
    let slots = slots.unwrap_or(if quick { 400 } else { SLOTS });
    let shown = format!("SEED={seed}");
    let mut check = |what, body: &dyn Fn() -> Result<(), String>| {
        let began = Instant::now();
        tally.check(what, "service", &shown, body);
        println!("{:6.1} s  {what}", began.elapsed().as_secs_f64());
    };
    check("windows", &|| windows::check(GPU, seed, orders));
    check("refusals", &|| windows::refusals(GPU));
    check("needs threads", &|| windows::needs_threads(GPU));
    check("pairs", &|| pairs::check(GPU, 32, seed, graphs));
    check("programs", &|| programs::check(GPU, 8, seed, graphs));
    check("promotion", &|| windows::promotes(GPU, 8));
    check("opcodes", &|| opcodes::refused(GPU));
    check("late programs", &|| programs::late(GPU));
    check("programs that stop", &|| programs::stopped(GPU));
    check("counters", &|| {
        counters::check(GPU, 4, seed, slots).map(|posted| println!("         {posted}"))
    });
    check("starts and drops", &|| ends(if quick { 2 } else { 20 }));
}

/// A service that is dropped with work in flight always ends.
fn ends(times: u32) -> Result<(), String> {
    for _ in 0..times {
        let graph = Graph::from_edges(2, &[(0, 1)], false).map_err(|error| error.to_string())?;
        let service = start(graph, config(GPU, 4))?;
        let client = client(&service)?;
        let query = seawall::service::Query::Nop;
        let tickets: Vec<_> = (0..50).map(|_| client.submit(query.clone())).collect();
        let began = Instant::now();
        drop(service);
        for ticket in tickets {
            let ticket = ticket.map_err(|error| error.to_string())?;
            let end = ticket.wait(Some(Duration::ZERO));
            if matches!(end, Err(seawall::service::TicketError::TimedOut(_))) {
                return Err("a ticket has no end".to_owned());
            }
        }
        if began.elapsed() > Duration::from_secs(2) {
            return Err(format!("a drop took {:?}", began.elapsed()));
        }
    }
    Ok(())
}

/// Prints times and rates on a graph, on the GPU and on threads.
pub(crate) fn measure(spec: &str) -> Result<(), String> {
    let graph = load(spec, &LoadOptions::default(), None).map_err(|error| error.to_string())?;
    let graph = graph.graph;
    let nodes = graph.nodes();
    println!("service on {spec}: {nodes} nodes, {} edges", graph.edges());
    let graph = std::sync::Arc::new(graph);
    for on in [GPU, On::Threads] {
        let began = Instant::now();
        let slots = Config {
            on,
            slots: [64, 64, 4096, 64, 64],
            ..Config::default()
        };
        let service = Service::start(std::sync::Arc::clone(&graph), slots);
        let service = service.map_err(|error| error.to_string())?;
        let place = service.stats().machine;
        println!("{place}: started in {:.2} s", began.elapsed().as_secs_f64());
        times(&service, nodes, graph.weights().is_some())?;
        idle(&place);
        let stats = service.shut_down();
        println!(
            "{place}: {} posted, {} answered, {} faults",
            stats.submitted, stats.delivered, stats.faults
        );
    }
    Ok(())
}

fn times(service: &Service, nodes: u32, is_weighted: bool) -> Result<(), String> {
    let client = client(service)?;
    let place = service.stats().machine;
    let second = Duration::from_secs(1);
    let mut ops = vec![
        (Op::Nop, "nop"),
        (Op::Add, "add"),
        (Op::Reach, "reach"),
        (Op::Hops, "hops"),
    ];
    if is_weighted {
        ops.push((Op::Weights, "weights"));
    }
    for (op, name) in ops {
        // The first ones wake machines and fill caches.
        round_trips(&client, op, nodes, (200, second))?;
        let times = round_trips(&client, op, nodes, (200_000, second))?;
        println!("{place}: {name}: {times}");
    }
    for (op, name, pairs) in [
        (Op::Nop, "nop", [(1, 256), (4, 256), (8, 256)]),
        (Op::Reach, "reach", [(1, 64), (4, 64), (8, 64)]),
        (Op::Hops, "hops", [(1, 64), (4, 64), (8, 64)]),
    ] {
        for (producers, open) in pairs {
            let rate = flood(service, op, nodes, producers, open, second / 2)?;
            println!("{place}: {name}: {producers} producers with {open} open: {rate:.0} a second");
        }
    }
    Ok(())
}

/// Prints the share of a core that the process takes while the service has nothing to do.
fn idle(place: &str) {
    std::thread::sleep(Duration::from_millis(500));
    let (before, began) = (cpu_ticks(), Instant::now());
    std::thread::sleep(Duration::from_secs(2));
    let used = cpu_ticks().saturating_sub(before) as f64 / 100.0;
    let share = 100.0 * used / began.elapsed().as_secs_f64();
    println!("{place}: idle: {share:.1} % of a core");
}

/// Hundredths of a second of processor time that this process has taken.
fn cpu_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<u64> = after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse().ok())
        .collect();
    fields.iter().sum()
}
