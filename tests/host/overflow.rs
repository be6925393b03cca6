//! User programs with 32-bit distances: a path that exceeds them is an error, for any register
//! that the program reads.

use crate::paths::long;
use proptest::prelude::*;
use seawall::backend::batch::cpu::CpuBatch;
use seawall::backend::batch::{BatchError, BatchSession, Job};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{BackendError, RunLimits, Session};
use seawall::graph::{Graph, WeightKind};
use seawall::outcome::Column;
use seawall::program::{Lengths, Paths, PlanRequest, ProgramBuilder, RegisterId};
use std::num::NonZeroUsize;
use std::sync::Arc;

const TOP: u32 = u32::MAX;

/// A search from the listed nodes, with the registers of its distances and of half of them.
struct Search {
    program: ProgramBuilder,
    paths: Paths,
    list: RegisterId,
    halves: RegisterId,
}

impl Search {
    fn new(nodes: u32, lengths: Lengths) -> Self {
        let mut program = ProgramBuilder::new(nodes);
        let list = program.input("sources", 64).unwrap();
        let words = u64::from(nodes) * lengths.words();
        let paths = Paths {
            distances: program.words("distances", words).unwrap(),
            work: program.work("work").unwrap(),
            width: 1 << 20,
            lengths,
        };
        let halves = program.words("halves", words).unwrap();
        let mut search = Self {
            program,
            paths,
            list,
            halves,
        };
        search.add();
        search.program.copy("copy", halves, paths.distances);
        search.program.keep(halves);
        search
    }

    fn add(&mut self) {
        let (program, paths) = (&mut self.program, self.paths);
        program.fill("no path", paths.distances, paths.lengths.never());
        program.reset_work("reset", paths.work);
        program.seed_paths("seed", paths, self.list);
        program.fixpoint("settle", 1 << 20, |body| body.step_paths("step", paths));
    }

    fn load<'g>(&self, graph: &'g Graph) -> Result<CpuSession<'g>, BackendError> {
        let (program, _) = self.program.encode(&PlanRequest::default()).unwrap();
        let mut session =
            CpuSession::open(graph, NonZeroUsize::new(2), RunLimits::default()).unwrap();
        session.load(&program)?;
        Ok(session)
    }
}

fn from(sources: &[u32]) -> Vec<u32> {
    let mut words = sources.to_vec();
    words.resize(64, TOP);
    words
}

fn read(session: &mut CpuSession<'_>, register: RegisterId) -> Result<Vec<u32>, BackendError> {
    let mut words = vec![7];
    let result = session.read(register, &mut words);
    assert!(
        result.is_ok() || words.is_empty(),
        "no word of a wrong answer"
    );
    result.map(|()| words)
}

/// A path of nodes 0 to 2, and the isolated node 3.
fn row(weight: u32) -> Graph {
    let edges = [(0, 1, weight), (1, 2, weight)];
    Graph::from_weighted_edges(4, &edges, false).unwrap()
}

#[test]
fn a_path_that_outgrows_32_bits_is_an_error_of_every_read() {
    let (graph, search) = (row(4_000_000_000), Search::new(4, Lengths::Whole));
    for register in [search.paths.distances, search.halves] {
        let mut session = search.load(&graph).unwrap();
        session.run(&from(&[0])).unwrap();
        for _ in 0..2 {
            let error = read(&mut session, register).unwrap_err();
            let text = error.to_string();
            assert!(
                matches!(error, BackendError::PathTooLong { from: 1, to: 2, .. }),
                "{text}"
            );
            assert!(text.contains("64 bits"), "{text}");
        }
        session.run(&from(&[1])).unwrap();
        let words = read(&mut session, register).unwrap();
        assert_eq!(words, [TOP, 0, 4_000_000_000, TOP], "of another run");
    }
}

#[test]
fn float_paths_beyond_the_largest_float_are_errors_too() {
    let edges = [(0, 1, 3e38), (1, 2, 3e38)];
    let graph = Graph::from_float_edges(3, &edges, false).unwrap();
    let search = Search::new(3, Lengths::Float);
    let mut session = search.load(&graph).unwrap();
    session.run(&from(&[0])).unwrap();
    let error = read(&mut session, search.halves).unwrap_err();
    let kind = WeightKind::Float;
    assert!(
        matches!(error, BackendError::PathTooLong { from: 1, to: 2, kind: found } if found == kind),
        "{error}"
    );
}

#[test]
fn distances_of_64_bits_hold_every_path() {
    let graph = row(4_000_000_000);
    let search = Search::new(4, Lengths::Wide { shift: 12 });
    let mut session = search.load(&graph).unwrap();
    session.run(&from(&[0])).unwrap();
    let words = read(&mut session, search.paths.distances).unwrap();
    assert_eq!(
        u64::from(words[4]) | u64::from(words[5]) << 32,
        8_000_000_000
    );
}

#[test]
fn unreadable_distances_are_refused_where_paths_may_be_long() {
    let fill = |search: &mut Search| search.program.fill("wipe", search.paths.distances, 0);
    let again = |search: &mut Search| search.add();
    for change in [fill as fn(&mut Search), again] {
        let mut search = Search::new(4, Lengths::Whole);
        change(&mut search);
        let error = search.load(&row(4_000_000_000)).unwrap_err();
        assert!(matches!(error, BackendError::PathsUnseen { .. }), "{error}");
        let short = row(1_000_000_000);
        let mut session = search.load(&short).unwrap();
        session.run(&from(&[0])).unwrap();
        let copied = [0, 1_000_000_000, 2_000_000_000, TOP];
        assert_eq!(read(&mut session, search.halves).unwrap(), copied);
    }
}

#[test]
fn a_loop_that_changes_the_distances_of_its_search_hides_them() {
    let mut search = Search::new(4, Lengths::Whole);
    let (program, paths) = (&mut search.program, search.paths);
    program.reset_work("reset", paths.work);
    program.seed_paths("seed", paths, search.list);
    let halves = search.halves;
    program.fixpoint("both", 3, |body| {
        body.step_paths("step", paths);
        body.copy("back", paths.distances, halves);
    });
    let error = search.load(&row(4_000_000_000)).unwrap_err();
    assert!(matches!(error, BackendError::PathsUnseen { .. }), "{error}");
}

#[test]
fn searches_along_two_kinds_of_weights_match_no_graph() {
    let mut search = Search::new(4, Lengths::Whole);
    search.paths.lengths = Lengths::Float;
    search.add();
    let floats = Graph::from_float_edges(4, &[(0, 1, 1.5)], false).unwrap();
    for graph in [row(1), floats] {
        let error = search.load(&graph).unwrap_err();
        assert!(
            matches!(error, BackendError::WrongWeights { .. }),
            "{error}"
        );
    }
}

#[test]
fn a_path_too_long_is_an_error_of_its_graph_alone() {
    let search = Search::new(4, Lengths::Whole);
    let (program, _) = search.program.encode(&PlanRequest::default()).unwrap();
    let program = Arc::new(program);
    let [short, long] = [row(5), row(4_000_000_000)];
    let jobs = |result| {
        [&short, &long, &short].map(|graph| Job {
            graph,
            program: program.clone(),
            inputs: from(&[0]),
            result,
        })
    };
    let open = |result| {
        let limits = (RunLimits::default(), None);
        CpuBatch::open(&jobs(result), NonZeroUsize::new(2), limits.0, limits.1)
    };
    let mut batch = open(search.paths.distances).unwrap();
    batch.run().unwrap();
    let each = batch.read_each().unwrap();
    assert_eq!(each[0].as_ref().unwrap(), &[0, 5, 10, TOP]);
    assert_eq!(each[2].as_ref().unwrap(), &[0, 5, 10, TOP]);
    assert!(matches!(
        each[1],
        Err(BackendError::PathTooLong { from: 1, to: 2, .. })
    ));
    let error = batch.read().unwrap_err();
    assert!(matches!(error, BatchError::Job { index: 1, .. }), "{error}");
    let error = open(search.halves).unwrap_err();
    assert!(
        matches!(
            error,
            BatchError::Job {
                index: 1,
                source: BackendError::PathsUnseen { .. }
            }
        ),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_read_is_correct_or_an_error((list, weights) in long()) {
        let graph = weights.graph(&list).unwrap();
        let search = Search::new(list.nodes, Lengths::Whole);
        let mut session = search.load(&graph).unwrap();
        session.run(&from(&[0])).unwrap();
        match (read(&mut session, search.halves), weights.distances(&list, &[0])) {
            (Ok(words), wanted) => prop_assert_eq!(Column::U32(words), wanted),
            (Err(BackendError::PathTooLong { .. }), Column::U64(_)) => {}
            (found, wanted) => prop_assert!(false, "{:?} for {:?}", found, wanted),
        }
    }
}
