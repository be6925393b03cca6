//! Answers of queries equal those of plain oracles.

use super::{LONG, fault, loaded, reply, start, start_on, workers};
use proptest::prelude::*;
use seawall::analysis::{self, AnalysisKind, Question};
use seawall::column::Column;
use seawall::graph::Graph;
use seawall::program::PlanRequest;
use seawall::service::{
    Client, Config, FaultCode, Metric, Program, Query, Refusal, Reply, Service, Short, ShortOp,
    Span,
};
use seawall_oracles::graphs::EdgeList;
use seawall_oracles::oracle;
use std::sync::Arc;

fn client(service: &Service) -> Client {
    service.client(1).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn pairs_are_as_far_as_a_search_by_levels_says(
        nodes in 1..40_u32,
        edges in prop::collection::vec((0..40_u32, 0..40_u32), 0..120),
        undirected: bool,
    ) {
        let edges = edges.into_iter().map(|(a, b)| (a % nodes, b % nodes)).collect();
        let list = EdgeList { nodes, edges, undirected };
        let service = start_on(list.graph().unwrap(), Config { workers: workers(2), ..Config::default() });
        let client = client(&service);
        for source in 0..nodes.min(6) {
            let levels = oracle::levels(&list, &[source], u32::MAX);
            for (target, level) in (0..).zip(levels) {
                let is_reached = level != Column::UNREACHED;
                let hops = Reply::Distance(is_reached.then_some(u64::from(level)));
                let metric = Metric::Hops;
                prop_assert_eq!(reply(&client, Query::Distance { source, target, metric }), hops);
                let reached = reply(&client, Query::Reach { source, target });
                prop_assert_eq!(reached, Reply::Reached(is_reached));
            }
        }
    }
}

#[test]
fn the_lightest_path_counts_weights_beyond_32_bits() {
    let heavy = u32::MAX;
    let edges = [
        (0, 1, heavy),
        (1, 2, heavy),
        (0, 3, 5),
        (3, 4, 5),
        (0, 4, 11),
    ];
    let graph = Graph::from_weighted_edges(6, &edges, false).unwrap();
    let service = start_on(graph, Config::default());
    let distance = |target| {
        let metric = Metric::Weights;
        reply(
            &client(&service),
            Query::Distance {
                source: 0,
                target,
                metric,
            },
        )
    };
    assert_eq!(distance(2), Reply::Distance(Some(2 * u64::from(heavy))));
    assert_eq!(distance(4), Reply::Distance(Some(10)));
    assert_eq!(distance(5), Reply::Distance(None));
    assert_eq!(distance(0), Reply::Distance(Some(0)));
}

#[test]
fn weights_that_are_not_there_are_a_fault() {
    let service = start(Config::default());
    let query = Query::Distance {
        source: 0,
        target: 1,
        metric: Metric::Weights,
    };
    assert_eq!(
        fault(&client(&service), query),
        Refusal::new(FaultCode::BadArgument, 1)
    );
}

#[test]
fn nodes_that_are_none_are_a_fault_with_their_number() {
    let service = start(Config::default());
    let none = Refusal::new(FaultCode::NoSuchNode, 256);
    let metric = Metric::Hops;
    for query in [
        Query::Reach {
            source: 256,
            target: 0,
        },
        Query::Reach {
            source: 0,
            target: 256,
        },
        Query::Distance {
            source: 0,
            target: 256,
            metric,
        },
        Query::Neighbours {
            node: 256,
            to: Span::default(),
        },
    ] {
        assert_eq!(fault(&client(&service), query), none);
    }
}

#[test]
fn neighbours_that_do_not_fit_are_counted() {
    let graph = loaded("gen:rmat:8:8:3");
    let node = (0..graph.nodes())
        .max_by_key(|node| graph.neighbours(*node).len())
        .unwrap();
    let expected = graph.neighbours(node).to_vec();
    let service = start_on(graph, Config::default());
    let client = client(&service);
    for capacity in [0, 3, expected.len() as u32, expected.len() as u32 + 5] {
        client.write(0, &[u32::MAX; 300]).unwrap();
        let to = Span {
            address: 10,
            words: capacity,
        };
        let words = capacity.min(expected.len() as u32);
        let overflow = expected.len() as u32 - words;
        assert_eq!(
            reply(&client, Query::Neighbours { node, to }),
            Reply::Written { words, overflow }
        );
        let mut window = vec![0; 300];
        client.read(0, &mut window).unwrap();
        assert_eq!(window[10..10 + words as usize], expected[..words as usize]);
        let rest = window[10 + words as usize..].iter().chain(&window[..10]);
        assert!(rest.copied().all(|word| word == u32::MAX));
    }
}

#[test]
fn words_of_the_window_are_read_written_added_swapped_and_copied() {
    let service = start(Config::default());
    let client = client(&service);
    let word = |address| reply(&client, Query::Load { address });
    assert_eq!(
        reply(
            &client,
            Query::Store {
                address: 3,
                value: 7
            }
        ),
        Reply::Done
    );
    assert_eq!(
        reply(
            &client,
            Query::Add {
                address: 3,
                value: u32::MAX
            }
        ),
        Reply::Word(7)
    );
    assert_eq!(word(3), Reply::Word(6));
    let swap = |expected, value| {
        reply(
            &client,
            Query::CompareSwap {
                address: 3,
                expected,
                value,
            },
        )
    };
    assert_eq!(swap(5, 9), Reply::Word(6));
    assert_eq!(swap(6, 9), Reply::Word(6));
    assert_eq!(word(3), Reply::Word(9));
}

#[test]
fn copies_may_overlap_in_both_directions() {
    let service = start(Config::default());
    let client = client(&service);
    for (from, to) in [(0, 3), (3, 0), (2, 2)] {
        let mut expected: Vec<u32> = (100..120).collect();
        client.write(0, &expected).unwrap();
        let span = Span {
            address: from,
            words: 10,
        };
        assert_eq!(reply(&client, Query::Copy { from: span, to }), Reply::Done);
        expected.copy_within(from as usize..from as usize + 10, to as usize);
        let mut found = vec![0; 20];
        client.read(0, &mut found).unwrap();
        assert_eq!(found, expected);
    }
}

#[test]
fn packed_operations_run_in_order_and_answer_each() {
    let service = start(Config::default());
    let client = client(&service);
    let short = |op, address, value| Short { op, address, value };
    let shorts = vec![
        short(ShortOp::Store, 1, 40),
        short(ShortOp::Add, 1, 2),
        short(ShortOp::Nop, u32::MAX, 0),
        short(ShortOp::Load, 1, 0),
    ];
    assert_eq!(
        reply(&client, Query::Packed(shorts)),
        Reply::Packed([0, 40, 0, 42])
    );
    assert_eq!(
        reply(&client, Query::Packed(Vec::new())),
        Reply::Packed([0; 4])
    );
    assert!(
        client
            .submit(Query::Packed(vec![Short::default(); 5]))
            .is_err()
    );
}

#[test]
fn an_automaton_reads_long_texts_in_turns() {
    let service = start(Config::default());
    let client = client(&service);
    // The state is the number of ones modulo 3.
    client.write(0, &[3, 2, 0, 1, 1, 2, 2, 0]).unwrap();
    let text: Vec<u32> = (0..1000).map(|at| u32::from(at % 7 < 3)).collect();
    client.write(100, &text).unwrap();
    let input = Span {
        address: 100,
        words: 1000,
    };
    let ticket = client
        .submit(Query::Automaton {
            table: 0,
            input,
            parent: 77,
        })
        .unwrap();
    let answer = ticket.wait(LONG).unwrap();
    assert_eq!(answer.reply, Reply::Word(text.iter().sum::<u32>() % 3));
    assert_eq!((answer.turns, answer.parent), (4, 77));
    client.write(500, &[2]).unwrap();
    let outside = fault(
        &client,
        Query::Automaton {
            table: 0,
            input,
            parent: 0,
        },
    );
    assert_eq!(outside, Refusal::new(FaultCode::BadArgument, 2));
}

#[test]
fn a_wave_program_runs_with_the_inputs_of_its_query() {
    let graph = loaded("gen:rmat:8:8:3");
    let list = EdgeList::of(&graph);
    let question = Question::new(vec![0]);
    let built = analysis::build(AnalysisKind::Bfs, &graph, &question).unwrap();
    let (program, _) = built.program.encode(&PlanRequest::default()).unwrap();
    let programs = vec![Program::new(Arc::new(program), built.result)];
    let service = start_on(
        graph,
        Config {
            programs,
            workers: workers(2),
            ..Config::default()
        },
    );
    let client = client(&service);
    for source in [0, 17, 200] {
        let mut inputs = built.inputs.clone();
        inputs[0] = source;
        client.write(0, &inputs).unwrap();
        let span = Span {
            address: 0,
            words: inputs.len() as u32,
        };
        let to = Span {
            address: 1000,
            words: 300,
        };
        let run = Query::Run {
            program: 0,
            inputs: span,
            to,
        };
        assert_eq!(
            reply(&client, run),
            Reply::Written {
                words: 256,
                overflow: 0
            }
        );
        let mut levels = vec![0; 256];
        client.read(1000, &mut levels).unwrap();
        assert_eq!(levels, oracle::levels(&list, &[source], u32::MAX));
    }
    let nothing = Span::default();
    let run = |program, inputs| {
        fault(
            &client,
            Query::Run {
                program,
                inputs,
                to: nothing,
            },
        )
    };
    assert_eq!(run(1, nothing), Refusal::new(FaultCode::NoSuchProgram, 1));
    assert_eq!(run(0, nothing), Refusal::new(FaultCode::BadArgument, 0));
}

#[test]
fn what_is_printed_can_be_read_and_what_is_overwritten_is_counted() {
    let service = start(Config {
        print_records: 4,
        ..Config::default()
    });
    let client = client(&service);
    let mut log = service.log();
    assert_eq!(log.next_line(), None);
    let ticket = client.submit(Query::Print(vec![1, 2, 3])).unwrap();
    ticket.wait(LONG).unwrap();
    let line = log.next_line().unwrap();
    assert_eq!(
        (line.tenant, line.task, line.text()),
        (1, ticket.task(), &[1, 2, 3][..])
    );
    for number in 0..10 {
        assert_eq!(reply(&client, Query::Print(vec![number])), Reply::Done);
    }
    let seen: Vec<u32> = std::iter::from_fn(|| log.next_line())
        .map(|line| line.text()[0])
        .collect();
    assert_eq!((seen, log.lost()), (vec![6, 7, 8, 9], 6));
    assert!(client.submit(Query::Print(vec![0; 9])).is_err());
}
