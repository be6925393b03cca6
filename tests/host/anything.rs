//! Arbitrary values through the public functions: an answer or a typed error, never a panic.

use proptest::prelude::*;
use proptest::sample::select;
use seawall::Cause;
use seawall::analysis::{self, Question, Reading, oracle};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{BackendError, RunLimits, Session};
use seawall::batch::{self, BatchGraph};
use seawall::graph::Graph;
use seawall::outcome::{Column, SourceSets};
use seawall::program::{
    BitOp, ComponentStep, EncodedProgram, Lengths, Mark, Meet, Paths, PlanRequest, ProgramBuilder,
    ProgramError, Ranks, RegisterId, Sets, Transfer, Triangles,
};
use seawall::run::{AnalysisKind, Detail, Machine, Ranking, RunError, RunRequest, execute};
use seawall::tiles::{TileShape, Tiles};
use seawall_core::abi::program::Reduction;
use seawall_core::topology::Topology;
use std::num::{NonZeroU32, NonZeroUsize};

const ANALYSES: [AnalysisKind; 8] = [
    AnalysisKind::Bfs,
    AnalysisKind::Reach,
    AnalysisKind::Cc,
    AnalysisKind::Sssp,
    AnalysisKind::Pagerank,
    AnalysisKind::Kcore,
    AnalysisKind::Triangles,
    AnalysisKind::TriangleTotal,
];

/// Mostly small numbers, and the ones around every limit.
fn word() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0_u32..12, 1 => any::<u32>(), 1 => select(vec![u32::MAX, u32::MAX - 1, 1 << 31])]
}

fn float() -> impl Strategy<Value = f32> {
    prop_oneof![
        2 => 0.0_f32..1.0,
        1 => any::<u32>().prop_map(f32::from_bits),
        1 => select(vec![-0.0, 1.0, 2.0, f32::NAN, f32::INFINITY])
    ]
}

fn graph() -> impl Strategy<Value = Graph> {
    let edges = (0_u32..9).prop_flat_map(|nodes| {
        let most = nodes as usize * 3;
        let edge = (0..nodes.max(1), 0..nodes.max(1));
        (Just(nodes), proptest::collection::vec(edge, 0..=most))
    });
    (edges, any::<bool>(), any::<bool>()).prop_map(|((nodes, edges), undirected, weighted)| {
        let edges: &[(u32, u32)] = if nodes == 0 { &[] } else { &edges };
        let graph = Graph::from_edges(nodes, edges, undirected).unwrap();
        if weighted {
            graph.with_drawn_weights(7).unwrap()
        } else {
            graph
        }
    })
}

fn words(most: usize) -> impl Strategy<Value = Vec<u32>> {
    proptest::collection::vec(word(), 0..=most)
}

fn detail() -> impl Strategy<Value = Detail> {
    select(vec![
        Detail::Plain,
        Detail::Plain,
        Detail::Parents,
        Detail::EachSource,
    ])
}

fn request() -> impl Strategy<Value = RunRequest> {
    let what = (
        select(&ANALYSES[..]),
        words(4),
        detail(),
        (float(), float()),
    );
    let with = (
        select(vec![1_usize, 2, 4097, usize::MAX]),
        proptest::option::of(any::<u32>().prop_map(u64::from)),
        select(vec![0_u64, 1, 5_000_000, u64::MAX]),
        proptest::option::of(select(vec![1_u32, 2, u32::MAX])),
        proptest::option::of(select(vec![
            Topology::Sparse,
            Topology::Dense,
            Topology::Fused,
        ])),
    );
    (what, with).prop_map(|(what, with)| {
        let (analysis, sources, detail, (damping, tolerance)) = what;
        let (threads, budget_bytes, time_budget_ns, iterations, topology) = with;
        let mut machine = Machine::cpu(NonZeroUsize::new(threads));
        machine.budget_bytes = budget_bytes;
        machine.time_budget_ns = time_budget_ns;
        let mut request = RunRequest::new(analysis, sources).on(machine);
        request.max_iterations = iterations.and_then(NonZeroU32::new);
        request.ranking = Ranking { damping, tolerance };
        request.topology = topology;
        request.detail = detail;
        request.check = true;
        request
    })
}

/// Asserts the validity of a request that ran.
fn made_sense(graph: &Graph, request: &RunRequest) -> bool {
    let shares = [request.ranking.damping, request.ranking.tolerance];
    let sources = &request.sources;
    let starts = !sources.is_empty() && sources.iter().all(|node| *node < graph.nodes());
    shares.iter().all(|share| (0.0..1.0).contains(share))
        && request.machine.time_budget_ns > 0
        && request
            .machine
            .threads
            .is_none_or(|threads| threads.get() <= 4096)
        && (starts || !request.analysis.takes_sources())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_request_is_answered_correctly_or_refused(graph in graph(), request in request()) {
        match execute(&graph, &request) {
            Ok(outcome) => {
                prop_assert!(made_sense(&graph, &request));
                prop_assert_eq!(outcome.checked, Some(true));
            }
            Err(error) => {
                prop_assert!(made_sense(&graph, &request) || error.cause() == Cause::Request, "{}", error);
                prop_assert!(!error.to_string().contains("--"), "{}", error);
            }
        }
        let named = BatchGraph::new("graph", &graph, request.sources.clone());
        if let Err(error) = batch::execute(&[named], &request) {
            prop_assert!(!error.to_string().contains("--"), "{}", error);
        }
    }

    #[test]
    fn plain_functions_take_any_words(
        graph in graph(),
        sources in words(4),
        some in words(40),
        shape in (word(), 0_u32..1 << 12),
        limit in word(),
    ) {
        let question = |detail, wide| {
            let mut question = Question::new(sources.clone());
            question.max_iterations = limit;
            question.detail = detail;
            question.wide = wide;
            question
        };
        for kind in ANALYSES {
            for (detail, wide) in [(Detail::Plain, false), (Detail::EachSource, false), (Detail::Plain, true)] {
                let _ = analysis::build(kind, &graph, &question(detail, wide));
            }
        }
        let levels = oracle::levels(&graph, &sources, limit);
        prop_assert_eq!(levels.len(), graph.nodes() as usize);
        let _ = oracle::parents(&graph, &some);
        let _ = oracle::distances(&graph, &sources);
        let _ = oracle::reached_from(&graph, &sources, limit);
        for reading in [Reading::Words, Reading::WideWords, Reading::Floats, Reading::Bits, Reading::Sets { sources: limit as usize }] {
            let column = reading.column(limit.min(99), some.clone());
            prop_assert!(column.len() <= 99.max(some.len()));
            if let Column::Sets(sets) = column {
                let _ = (sets.counts(), sets.of(limit));
            }
        }
        let sets = SourceSets::new(limit.min(300) as usize, some.iter().map(|word| u64::from(*word)).collect());
        let _ = (sets.counts(), sets.reached(), sets.of(limit));
        let _ = (graph.neighbours(limit), graph.outgoing().degree(limit), graph.node_of(limit.into()));
        let _ = graph.original_id(limit);
        let (blocks, slots) = shape;
        let _ = Tiles::of(&graph, TileShape { blocks: blocks.min(64), slots, always: true });
    }
}

/// A call of a builder, with its registers and numbers.
#[derive(Clone, Debug)]
struct Call {
    which: u8,
    names: [u8; 4],
    words: [u32; 2],
    share: f32,
}

fn call() -> impl Strategy<Value = Call> {
    (0_u8..29, any::<[u8; 4]>(), [word(), word()], float()).prop_map(
        |(which, names, words, share)| Call {
            which,
            names,
            words,
            share,
        },
    )
}

/// Registers to use: some of this builder, some of another one.
struct Registers(Vec<RegisterId>);

impl Registers {
    fn named(&self, name: u8) -> RegisterId {
        self.0[usize::from(name) % self.0.len()]
    }
}

/// Makes a call.
fn carry_out(program: &mut ProgramBuilder, registers: &mut Registers, call: &Call) {
    let words = u64::from(call.words[0]);
    let made = match call.which {
        0 => program.words("words", words),
        1 => program.input("input", words),
        2 => program.frontier("frontier"),
        3 => program.work("work"),
        4 => program.totals("totals"),
        5 => program.bitset("bitset"),
        6 => program.words("long", words << 30),
        7..=17 => return add_plain(program, registers, call),
        _ => return add_composite(program, registers, call),
    };
    registers.0.extend(made);
}

fn add_plain(program: &mut ProgramBuilder, registers: &Registers, call: &Call) {
    let [a, b, c, d] = call.names.map(|name| registers.named(name));
    let [x, y] = call.words;
    let transfer = Transfer {
        from: b,
        generated: c,
        killed: d,
    };
    let meet = Meet {
        facts: x,
        intersect: y % 2 == 0,
    };
    let rest = ComponentStep::LinkRest { skip: x, except: b };
    match call.which {
        7 => program.keep(a),
        8 => program.fill("fill", a, x),
        9 => program.iota("iota", a),
        10 => program.copy("copy", a, b),
        11 => program.combine("combine", BitOp::ALL[y as usize % 4], a, [b, c]),
        12 => program.scatter("scatter", a, b, x),
        13 => program.reset("reset", a),
        14 => program.components("link", rest, a),
        15 => program.reduce("reduce", Reduction::Max, a, b),
        16 => program.gen_kill("gen", a, transfer),
        _ => program.meet("meet", a, b, meet),
    }
}

fn add_composite(program: &mut ProgramBuilder, registers: &Registers, call: &Call) {
    let [a, b, c, d] = call.names.map(|name| registers.named(name));
    let [x, y] = call.words;
    let paths = Paths {
        distances: a,
        work: b,
        width: x,
        lengths: [Lengths::Whole, Lengths::Wide { shift: y }, Lengths::Float][y as usize % 3],
    };
    let ranks = Ranks {
        ranks: a,
        contributions: b,
        sums: c,
        totals: d,
        starts: (x % 2 == 0).then(|| registers.named((y / 2) as u8)),
    };
    let sets = Sets {
        sets: [a, b],
        work: c,
        words: x,
    };
    let triangles = Triangles {
        corners: a,
        forward: b,
        degrees: c,
        held: x,
        centers: (y % 2 == 0).then_some([x, y]),
    };
    let mark = [
        Mark::Bits,
        Mark::Levels(b),
        Mark::Parents(b),
        Mark::BitsAhead,
    ][y as usize % 4];
    match call.which {
        18 => program.seed("seed", a, c, mark),
        19 => program.search("search", a, mark, x),
        20 => program.visited("visited", a, b),
        21 => program.fixpoint("loop", x, |body| body.step_paths("step", paths)),
        22 => program.seed_paths("seed", paths, c),
        23 if y % 2 == 0 => program.seed_ranks("even", ranks),
        23 => program.seed_ranks_by_rows("even", ranks),
        24 => program.fixpoint("rank", x, |body| {
            if y % 2 == 0 {
                body.step_ranks(ranks, call.share, call.share);
            } else {
                body.step_ranks_by_rows(ranks, (call.share, call.share));
            }
        }),
        25 => program.seed_sets("sets", sets, d),
        26 => program.fixpoint("sets", x, |body| body.step_sets("step", sets)),
        27 => program.count_triangles("count", triangles),
        _ => program.fixpoint("other", x, |body| *body = ProgramBuilder::new(y)),
    }
}

/// Returns the program of these calls, or the error.
fn encoded(
    nodes: u32,
    calls: &[Call],
    foreign: bool,
) -> (Registers, Result<EncodedProgram, ProgramError>) {
    let mut program = ProgramBuilder::new(nodes);
    let mut other = ProgramBuilder::new(nodes);
    let mut registers = Registers(vec![program.words("first", 20).unwrap()]);
    if foreign {
        registers.0.push(other.words("foreign", 20).unwrap());
    }
    for call in calls {
        carry_out(&mut program, &mut registers, call);
    }
    let request = PlanRequest {
        budget_bytes: Some(1 << 24),
        ..PlanRequest::default()
    };
    let encoded = program.encode(&request).map(|(encoded, _)| encoded);
    (registers, encoded)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_calls_of_a_builder_end_in_consistent_tables_or_an_error(
        nodes in word(),
        calls in proptest::collection::vec(call(), 0..8),
        foreign in any::<bool>(),
        graph in graph(),
        inputs in words(3),
    ) {
        let (registers, encoded) = encoded(nodes, &calls, foreign);
        let Ok(program) = encoded else { return Ok(()) };
        prop_assert_eq!(program.check(), Ok(()));
        let threads = NonZeroUsize::new(1);
        let mut session = CpuSession::open(&graph, threads, RunLimits::default()).unwrap();
        let mut words = Vec::new();
        prop_assert!(matches!(session.run(&inputs), Err(BackendError::NotLoaded)));
        match session.load(&program) {
            Ok(()) => prop_assert_eq!(program.nodes, graph.nodes()),
            Err(BackendError::OtherGraph { .. }) => prop_assert_ne!(program.nodes, graph.nodes()),
            Err(BackendError::MissingGraphArray { .. }) => prop_assert!(graph.weights().is_none()),
            Err(error) => prop_assert!(matches!(error, BackendError::OutOfMemory { .. }), "{}", error),
        }
        for register in registers.0 {
            let is_own = program.register(register.number()) == Some(register);
            match session.read(register, &mut words) {
                Ok(()) => prop_assert!(is_own),
                Err(BackendError::NotLoaded) => {}
                Err(_) => prop_assert!(!is_own),
            }
        }
    }
}

#[test]
fn a_wrong_request_names_its_fault() {
    let graph = Graph::from_edges(4, &[(0, 1), (1, 2)], false).unwrap();
    let bfs = |sources: &[u32]| {
        RunRequest::new(AnalysisKind::Bfs, sources.to_vec()).on(Machine::cpu(None))
    };
    let damped = |damping| {
        let mut request = bfs(&[0]);
        request.ranking.damping = damping;
        request
    };
    let refused = |request: RunRequest| {
        let alone = execute(&graph, &request).unwrap_err();
        assert_eq!(alone.cause(), Cause::Request, "{alone}");
        let named = BatchGraph::new("graph", &graph, request.sources.clone());
        let of_many = batch::execute(&[named], &request).unwrap_err();
        assert_eq!(of_many.to_string(), format!("graph: {alone}"));
        alone
    };
    assert!(matches!(refused(bfs(&[])), RunError::NoSource { .. }));
    assert!(matches!(
        refused(bfs(&[1, 4])),
        RunError::NoSuchSource {
            source_node: 4,
            nodes: 4
        }
    ));
    for damping in [2.0, 1.0, -0.1, f32::NAN] {
        let error = refused(damped(damping));
        assert!(
            matches!(error, RunError::Program(ProgramError::Damping { .. })),
            "{error}"
        );
    }
    let mut rushed = bfs(&[0]);
    rushed.machine.time_budget_ns = 0;
    assert!(matches!(refused(rushed), RunError::NoTime));
    let mut crowded = bfs(&[0]);
    crowded.machine.threads = NonZeroUsize::new(4097);
    let error = refused(crowded);
    assert!(
        matches!(
            error,
            RunError::Backend(BackendError::TooManyThreads {
                threads: 4097,
                most: 4096
            })
        ),
        "{error}"
    );
}
