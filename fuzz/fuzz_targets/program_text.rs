//! Programs as text: one that is accepted runs to an end, with the same results in a second run
//! and in another session.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seawall::backend::ProgramSession;
use seawall::executor::Machine;
use seawall::graph::Graph;
use seawall::program::{GraphSize, PlanRequest, read_text};
use std::num::NonZeroUsize;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let edges = [(0, 1, 3), (1, 2, 1), (2, 0, 7), (3, 1, 2)];
    let graph = Graph::from_weighted_edges(5, &edges, false).expect("a small graph");
    let size = GraphSize {
        nodes: graph.nodes(),
        edges: graph.edges(),
    };
    let read = match read_text(text, size) {
        Ok(read) => read,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let budget = PlanRequest {
        budget_bytes: Some(1 << 20),
        ..PlanRequest::default()
    };
    let Ok((encoded, _)) = read.program.encode(&budget) else {
        return;
    };
    let mut machine = Machine::cpu(NonZeroUsize::new(1));
    machine.time_budget_ns = 50_000_000;
    let run = || {
        let mut session = ProgramSession::open(&graph, &machine).expect("one thread");
        session.load(&encoded).ok()?;
        for input in &read.inputs {
            session
                .set_input(input.register, &input.words)
                .expect("an input");
        }
        let mut answers = || {
            session.run().ok()?;
            let mut words = Vec::new();
            let results = read.results.iter().map(|result| {
                session.read(result.register, &mut words).expect("a result");
                words.clone()
            });
            Some(results.collect::<Vec<_>>())
        };
        Some((answers()?, answers()?))
    };
    // A program sees no memory of another program or of an earlier run.
    if let (Some(one), Some(other)) = (run(), run()) {
        assert_eq!(one, other);
        assert_eq!(one.0, one.1);
    }
});
