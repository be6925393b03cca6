//! Runs that CPU threads take over, from a GPU that ends none.

use super::*;
use crate::backend::{DeviceInfo, RunStats, Session, SessionMemory, SessionWork};
use crate::column::Column;
use crate::job::choose::Opened;
use crate::program::{EncodedProgram, RegisterId};
use crate::run::choose::choose;
use crate::run::plan::Target;
use crate::run::resident::Station;
use crate::run::takeover::Patience;
use crate::run::{AnalysisKind, Executor, Machine, Topology};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const NAME: &str = "a GPU";

/// The limits that a session was given, one for each run.
type Limits = Arc<Mutex<Vec<Option<Duration>>>>;

/// A GPU whose runs end only at their limit.
struct Endless {
    device: DeviceInfo,
    limit: Option<Duration>,
    limits: Limits,
}

impl Session for Endless {
    fn device(&self) -> &DeviceInfo {
        &self.device
    }

    fn upload_ns(&self) -> u64 {
        7
    }

    fn cancel_by(&mut self, _canceller: Canceller) {}

    fn end_after(&mut self, limit: Option<Duration>) {
        self.limit = limit;
    }

    fn trace_runs(&mut self, _trace: bool) {}

    fn load(&mut self, _program: &EncodedProgram) -> Result<(), BackendError> {
        Ok(())
    }

    fn run(&mut self, _inputs: &[u32]) -> Result<RunStats, BackendError> {
        self.limits.lock().unwrap().push(self.limit);
        let limit = self.limit.ok_or(BackendError::Cancelled)?;
        Err(BackendError::Overdue {
            after_ns: u64::try_from(limit.as_nanos()).unwrap(),
        })
    }

    fn work(&self) -> SessionWork {
        SessionWork::default()
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory::default()
    }

    fn read(&mut self, _of: RegisterId, _words: &mut Vec<u32>) -> Result<(), BackendError> {
        Err(BackendError::NotLoaded)
    }
}

/// A path that is too short for shortcuts.
fn path() -> Graph {
    let edges: Vec<(u32, u32)> = (0..1_000).map(|node| (node, node + 1)).collect();
    Graph::from_edges(1_001, &edges, true).unwrap()
}

fn machine() -> Machine {
    Machine {
        takeover: true,
        ..Machine::gpu(Executor::Mega, 0)
    }
}

/// That GPU with `placed`, opened for requests of `asked` about `graph`, and its limits.
fn resident<'g>(graph: &'g Graph, placed: &'g Graph, asked: Machine) -> (Resident<'g>, Limits) {
    let limits = Limits::default();
    let device = DeviceInfo {
        name: NAME.to_owned(),
        compute_capability: Some((9, 0)),
        units: 132,
        memory_bytes: 1 << 37,
    };
    let session = Endless {
        device,
        limit: None,
        limits: Arc::clone(&limits),
    };
    let request = RunRequest::new(AnalysisKind::Bfs, vec![0]).on(asked);
    let choice = choose(graph, &request);
    let resident = Resident {
        asked,
        graph: placed,
        main: Station {
            opened: Opened {
                session: Box::new(session),
                executor: Executor::Mega,
                reason: None,
            },
            target: Target::of(&request, &choice),
            loaded: None,
            patience: Patience::default(),
        },
        takeover: None,
    };
    (resident, limits)
}

/// An analyzer of `graph` on that GPU, opened for requests of `asked`, and its limits.
fn analyzer(graph: &Graph, asked: Machine) -> (Analyzer<'_>, Limits) {
    let (resident, limits) = resident(graph, graph, asked);
    let analyzer = Analyzer {
        residents: [Some(resident), None],
        ..Analyzer::new(graph)
    };
    (analyzer, limits)
}

#[test]
fn a_graph_with_shortcuts_is_beside_the_graph_and_threads_take_the_graph() {
    let edges: Vec<(u32, u32)> = (0..3_000).map(|node| (node, node + 1)).collect();
    let graph = Graph::from_edges(3_001, &edges, true).unwrap();
    let more = graph
        .with_shortcuts(crate::graph::EdgeLengths::One)
        .unwrap();
    let (plain, plain_limits) = resident(&graph, &graph, machine());
    let (shortened, limits) = resident(&graph, more, machine());
    let mut analyzer = Analyzer {
        residents: [Some(plain), Some(shortened)],
        ..Analyzer::new(&graph)
    };
    let runs = || [&plain_limits, &limits].map(|all| all.lock().unwrap().len());
    let levels = Column::U32((0..3_001_u32).map(|node| node.abs_diff(5)).collect());
    for (analysis, expected) in [
        (AnalysisKind::Bfs, [0, 1]),
        (AnalysisKind::Closeness, [1, 1]),
        (AnalysisKind::Bfs, [1, 1]),
        (AnalysisKind::Reach, [1, 2]),
    ] {
        let request = RunRequest::new(analysis, vec![5]).on(machine());
        let outcome = analyzer.run(&request).unwrap();
        assert_eq!(runs(), expected, "{analysis}");
        assert_eq!(outcome.taken.shortcuts, 0, "{analysis}");
        assert_eq!(outcome.taken_over_from.as_deref(), Some(NAME));
        assert!(analysis != AnalysisKind::Bfs || outcome.values == levels);
    }
    // Another machine takes the place of both.
    let request = RunRequest::new(AnalysisKind::Bfs, vec![5]).on(Machine::cpu(None));
    assert!(analyzer.run(&request).unwrap().values == levels);
    assert!(analyzer.residents[1].is_none());
}

#[test]
fn threads_answer_in_place_of_a_gpu_without_an_end() {
    let graph = path();
    let (mut analyzer, limits) = analyzer(&graph, machine());
    let given = || limits.lock().unwrap().clone();
    let ask = |analysis, on| RunRequest::new(analysis, vec![5]).on(on);
    let kinds = [
        AnalysisKind::Bfs,
        AnalysisKind::Closeness,
        AnalysisKind::Betweenness,
        AnalysisKind::Bfs,
        AnalysisKind::Closeness,
    ];
    let mut asked = Vec::new();
    for kind in kinds {
        let runs = given().len();
        let outcome = analyzer.run(&ask(kind, machine())).unwrap();
        let plain = crate::run::execute(&graph, &ask(kind, Machine::cpu(None))).unwrap();
        assert_eq!(outcome.backend, Executor::Cpu);
        assert_eq!(outcome.taken_over_from.as_deref(), Some(NAME));
        assert_eq!(outcome.values, plain.values, "{kind}");
        assert_eq!(outcome.session.predicted, outcome.session.counted, "{kind}");
        let reason = outcome.backend_reason.unwrap();
        assert!(
            reason.starts_with("a GPU had not ended the run after"),
            "{reason}"
        );
        // The GPU ran each analysis once.
        let is_first = !asked.contains(&kind);
        asked.push(kind);
        assert_eq!(given().len() - runs, usize::from(is_first), "{kind}");
        let limit = given().last().copied().flatten().unwrap();
        assert!(limit >= Duration::from_millis(10), "{limit:?}");
        if is_first {
            assert!(u128::from(outcome.times.run) > limit.as_nanos());
            assert_eq!(outcome.times.run, outcome.times.first_run);
            let names: Vec<_> = outcome.events.iter().map(|event| &*event.name).collect();
            assert!(names.contains(&"run without an end"), "{names:?}");
        }
    }
}

#[test]
fn the_time_before_counts_to_the_first_of_several_runs() {
    let graph = path();
    let (mut analyzer, _) = analyzer(&graph, machine());
    let request = RunRequest {
        repeat: NonZeroU32::new(3).unwrap(),
        ..RunRequest::new(AnalysisKind::Bfs, vec![0]).on(machine())
    };
    let times = analyzer.run(&request).unwrap().times;
    assert!(times.first_run >= 10_000_000, "{times:?}");
    assert!(times.run < times.first_run, "{times:?}");
}

#[test]
fn requests_for_rounds_steps_or_that_machine_alone_stay_on_it() {
    let graph = path();
    let request = RunRequest::new(AnalysisKind::Bfs, vec![0]).on(machine());
    let stays = [
        request.clone().on(Machine::gpu(Executor::Mega, 0)),
        RunRequest {
            max_iterations: NonZeroU32::new(1 << 20),
            ..request.clone()
        },
        RunRequest {
            topology: Some(Topology::Fused),
            ..request.clone()
        },
    ];
    for request in stays {
        let (mut analyzer, limits) = analyzer(&graph, request.machine);
        assert!(analyzer.run(&request).is_err());
        assert_eq!(*limits.lock().unwrap(), [None]);
    }
    // So do those that follow one that was taken over.
    let (mut analyzer, limits) = analyzer(&graph, request.machine);
    assert!(analyzer.run(&request).is_ok());
    let limited = RunRequest {
        max_iterations: NonZeroU32::new(1 << 20),
        ..request.clone()
    };
    assert!(analyzer.run(&limited).is_err());
    let given = limits.lock().unwrap().clone();
    assert_eq!(given, [Some(Duration::from_millis(10)), None]);
    let mut patience = Patience::default();
    assert!(patience.of(&graph, &request, Executor::Graph).is_none());
    assert!(patience.of(&graph, &request, Executor::Cpu).is_none());
    let one = patience.of(&graph, &request, Executor::Mega).unwrap();
    assert_eq!(one, Duration::from_millis(10));
}

/// A graph that keeps threads busy gives a GPU more than the least time.
#[test]
fn a_gpu_gets_twice_the_time_of_threads() {
    let graph = crate::graph::load("gen:grid:700", &Default::default(), None).unwrap();
    let request = RunRequest::new(AnalysisKind::Betweenness, vec![0]).on(machine());
    let mut patience = Patience::default();
    let one = patience.of(&graph.graph, &request, Executor::Mega).unwrap();
    let expected = crate::run::forecast_ns(&graph.graph, &request.clone().on(Machine::cpu(None)));
    let share = one.as_nanos() as f64 / expected;
    assert!((1.9..2.1).contains(&share), "{one:?}, {expected}");
    // It is kept for as many sources, and made anew for others.
    let other = RunRequest {
        sources: vec![3],
        ..request.clone()
    };
    assert_eq!(patience.of(&graph.graph, &other, Executor::Mega), Some(one));
    let many = RunRequest {
        sources: (0..64).collect(),
        ..request
    };
    assert!(patience.of(&graph.graph, &many, Executor::Mega) > Some(one));
}
