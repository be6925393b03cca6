//! Machine code of the programs of a service.

use crate::reports::squares;
use seawall::backend::CodeReport;
use seawall::executor::Jit;
use seawall::graph::Graph;
use seawall::service::{Config, On, Program, Query, Reply, Service, Span};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn service(on: On, jit: Jit) -> Service {
    let edges: Vec<(u32, u32)> = (0..99).map(|node| (node, node + 1)).collect();
    let graph = Graph::from_edges(100, &edges, true).unwrap();
    let (program, result) = squares(0);
    let config = Config {
        on,
        workers: NonZeroUsize::new(2),
        jit,
        programs: vec![Program::new(Arc::new(program), result)],
        ..Config::default()
    };
    Service::start(Arc::new(graph), config).unwrap()
}

/// Asks for the program a hundred times at once.
fn ask(service: &Service) {
    let client = service.client(1).unwrap();
    let query = Query::Run {
        program: 0,
        inputs: Span::default(),
        to: Span {
            address: 0,
            words: 100,
        },
    };
    let tickets = (0..100).map(|_| client.submit(query.clone()).unwrap());
    for ticket in tickets.collect::<Vec<_>>() {
        let reply = ticket.wait(None).unwrap().reply;
        assert_eq!(
            reply,
            Reply::Written {
                words: 100,
                overflow: 0
            }
        );
    }
    let mut words = [0; 100];
    client.read(0, &mut words).unwrap();
    assert_eq!(words[99], 99 * 99);
}

fn code(service: &Service) -> CodeReport {
    service.stats().code.unwrap()
}

#[test]
fn a_service_compiles_what_it_is_asked_to_and_says_why_not() {
    for (on, jit, compiled) in [
        (On::Threads, Jit::Always, 1),
        (On::Threads, Jit::Never, 0),
        (On::Blocks, Jit::Always, 0),
    ] {
        let service = service(on, jit);
        ask(&service);
        let code = code(&service);
        assert_eq!((code.waves, code.compiled), (1, compiled), "{code:?}");
        assert_eq!(code.reason.is_none(), compiled == 1, "{code:?}");
    }
}

#[test]
fn a_hot_program_is_compiled_while_it_is_asked_for() {
    let service = service(On::Threads, Jit::Auto);
    let begun = Instant::now();
    while code(&service).compiled == 0 {
        ask(&service);
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "it is the only work"
        );
    }
    ask(&service);
}
