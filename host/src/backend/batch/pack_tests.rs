use super::*;
use crate::analysis::{self, AnalysisKind, Question};
use crate::executor::Executor;
use crate::program::{EncodedProgram, PlanRequest, ProgramBuilder};
use seawall_core::abi::program::{Region, RegisterRecord};
use std::sync::Arc;

/// A search from node 0 of every graph, with one program for equal sizes.
fn jobs(graphs: &[Graph]) -> Vec<Job<'_>> {
    let mut known: Vec<(u32, Arc<EncodedProgram>)> = Vec::new();
    let mut job = |graph| {
        let question = Question {
            max_iterations: 99,
            ..Question::new(vec![0])
        };
        let built = analysis::build(AnalysisKind::Bfs, graph, &question);
        let built = built.unwrap();
        let old = known.iter().find(|(nodes, _)| *nodes == graph.nodes());
        let program = match old {
            Some((_, program)) => Arc::clone(program),
            None => {
                let (program, _) = built.program.encode(&PlanRequest::default()).unwrap();
                let program = Arc::new(program);
                known.push((graph.nodes(), Arc::clone(&program)));
                program
            }
        };
        Job {
            graph,
            result: program.register(built.result.number()).unwrap(),
            program,
            inputs: built.inputs,
        }
    };
    graphs.iter().map(&mut job).collect()
}

fn paths(lengths: &[u32]) -> Vec<Graph> {
    let path = |&nodes: &u32| {
        let edges: Vec<_> = (1..nodes).map(|node| (node - 1, node)).collect();
        Graph::from_edges(nodes, &edges, false).unwrap()
    };
    lengths.iter().map(path).collect()
}

fn space(workers: u32, available_bytes: u64) -> BatchLimits {
    BatchLimits {
        workers,
        available_bytes,
        time_budget_ns: 7,
        machine: (Executor::Cpu, 0),
    }
}

#[test]
fn many_graphs_share_the_arenas_of_few_workers_and_few_graphs_have_their_own() {
    let graphs = paths(&[600; 50]);
    let shared = Pack::new(&jobs(&graphs), space(4, u64::MAX)).unwrap();
    assert_eq!(shared.workers(), 4);
    assert!(shared.arena_stride > 0);
    let arenas: Vec<u64> = shared.places.iter().map(|place| place.arena).collect();
    assert!(arenas.iter().all(|arena| *arena == shared.arenas));
    assert_eq!(shared.bytes() - shared.arenas, 4 * shared.arena_stride);
    let own = Pack::new(&jobs(&graphs[..3]), space(40, u64::MAX)).unwrap();
    assert_eq!((own.workers(), own.arena_stride), (3, 0));
    let arenas: Vec<u64> = own.places.iter().map(|place| place.arena).collect();
    assert!(arenas.windows(2).all(|pair| pair[0] < pair[1]));
}

/// One large graph among small ones must not cause a large arena for every worker.
#[test]
fn a_large_graph_among_small_ones_does_not_multiply_its_arena() {
    let mut lengths = vec![10; 20];
    lengths.push(100_000);
    let graphs = paths(&lengths);
    let pack = Pack::new(&jobs(&graphs), space(16, u64::MAX)).unwrap();
    assert_eq!(pack.arena_stride, 0);
    assert_eq!(pack.order[0], 20, "the large graph goes first");
}

#[test]
fn scarce_memory_reduces_the_workers_and_too_little_is_an_error() {
    let graphs = paths(&[600; 50]);
    let jobs = jobs(&graphs);
    let whole = Pack::new(&jobs, space(4, u64::MAX)).unwrap();
    let less = whole.bytes() - 1;
    let fewer = Pack::new(&jobs, space(4, less)).unwrap();
    assert_eq!(fewer.workers(), 3);
    assert!(fewer.bytes() <= less);
    let one = whole.arenas + whole.arena_stride;
    assert_eq!(Pack::new(&jobs, space(4, one)).unwrap().workers(), 1);
    let error = Pack::new(&jobs, space(4, one - 1)).unwrap_err();
    let BatchError::Backend(BackendError::OutOfMemory {
        needed, available, ..
    }) = error
    else {
        panic!("{error}")
    };
    assert_eq!((needed, available), (one, one - 1));
}

#[test]
fn equal_programs_have_one_set_of_tables() {
    let graphs = paths(&[5, 7, 5, 7, 7]);
    let pack = Pack::new(&jobs(&graphs), space(2, u64::MAX)).unwrap();
    assert_eq!(pack.tables.len(), 2);
    let users: Vec<usize> = pack.places.iter().map(|place| place.tables).collect();
    assert_eq!(users, [0, 1, 0, 1, 1]);
}

#[test]
fn every_launch_record_leads_to_the_parts_of_its_graph() {
    let graphs = paths(&[3, 40, 7]);
    let jobs = jobs(&graphs);
    let pack = Pack::new(&jobs, space(2, u64::MAX)).unwrap();
    let base = 1 << 40;
    let mut image = vec![255; pack.image_bytes() as usize];
    pack.write(&jobs, base, (0, &mut image));
    let record: BatchRecord = take(&image, 0);
    assert_eq!(
        (record.magic, record.version, record.graphs),
        (MAGIC, VERSION, 3)
    );
    assert_eq!(record.state, base + pack.image_bytes());
    let word = |address: u64| take::<u32>(&image, address - base);
    for (position, nodes) in [(0, 40), (1, 7), (2, 3)] {
        let at = record.launches - base + position * size_of::<LaunchRecord>() as u64;
        let launch: LaunchRecord = take(&image, at);
        assert_eq!((launch.nodes, launch.edges), (nodes, nodes - 1));
        assert_eq!(word(launch.offsets + 4), 1);
        assert_eq!(word(launch.targets), 1);
        assert_eq!(
            (word(launch.inputs), word(launch.inputs + 4)),
            (0, u32::MAX)
        );
        let job = pack.order[position as usize] as usize;
        let register = u64::from(jobs[job].result.number());
        let moved: RegisterRecord = take(&image, launch.register_table - base + register * 16);
        assert_eq!(moved.region, Region::Input as u32);
        assert_eq!((moved.words, moved.offset_bytes), (nodes, 256));
        assert_eq!(
            launch.control,
            base + pack.controls + (job * size_of::<ControlRecord>()) as u64
        );
    }
}

/// Buffers are filled and emptied one after the other, as on a GPU.
#[test]
fn images_and_results_are_the_same_whatever_the_buffers() {
    let graphs = paths(&[3, 40, 700, 7, 600]);
    let jobs = jobs(&graphs);
    let pack = Pack::new(&jobs, space(2, u64::MAX)).unwrap();
    let bytes = pack.image_bytes() as usize;
    let mut whole = vec![255; bytes];
    pack.write(&jobs, 1 << 40, (0, &mut whole));
    let io = pack.io();
    // Words that differ from each other, in the place of results.
    let words = (0..(io.end - io.start) as u32 / 4).flat_map(u32::to_ne_bytes);
    let memory: Vec<u8> = words.collect();
    let gathered = |buffer: usize| {
        let mut results = vec![Vec::new(); jobs.len()];
        for (turn, part) in (0..).zip(memory.chunks(buffer)) {
            pack.gather(io.start + turn * buffer as u64, part, &mut results);
        }
        results
    };
    let results = gathered(memory.len());
    let lengths: Vec<usize> = results.iter().map(Vec::len).collect();
    assert_eq!(lengths, [3, 40, 700, 7, 600]);
    for buffer in [256, 1024, 65_536] {
        let mut parts = vec![255; bytes];
        for (turn, part) in (0..).zip(parts.chunks_mut(buffer)) {
            pack.write(&jobs, 1 << 40, (turn * buffer as u64, part));
        }
        assert!(parts == whole, "{buffer}");
        assert_eq!(gathered(buffer), results, "{buffer}");
    }
}

#[test]
fn an_inconsistent_job_is_named() {
    let graphs = paths(&[5, 5]);
    let index_of = |jobs: &[Job<'_>]| match Pack::new(jobs, space(1, u64::MAX)) {
        Err(BatchError::Job { index, source }) => (index, source.to_string()),
        other => panic!("{other:?}"),
    };
    let mut bad = jobs(&graphs);
    bad[1].inputs.pop();
    assert!(index_of(&bad).1.contains("64 input words"));
    assert_eq!(index_of(&bad).0, 1);
    let mut bad = jobs(&graphs);
    bad[1].result = ProgramBuilder::new(5).words("foreign", 1).unwrap();
    assert!(index_of(&bad).1.contains("another program"));
    let mut bad = jobs(&graphs);
    let mut program = EncodedProgram::clone(&bad[0].program);
    program.registers[0].words = u32::MAX;
    bad[0].program = Arc::new(program);
    assert_eq!(index_of(&bad).0, 0);
    assert!(matches!(
        Pack::new(&[], space(1, u64::MAX)),
        Err(BatchError::Size { jobs: 0, .. })
    ));
}

#[test]
fn the_first_fault_is_that_of_the_job_and_not_of_its_place() {
    let graphs = paths(&[3, 40, 7]);
    let pack = Pack::new(&jobs(&graphs), space(2, u64::MAX)).unwrap();
    let zeroed = pack.zeroed();
    let mut bytes = vec![0; (zeroed.end - zeroed.start) as usize];
    assert_eq!(pack.controls(&bytes).unwrap().len(), 3);
    let state = BatchState {
        fault: 2,
        ..Zeroable::zeroed()
    };
    bytes[..size_of_val(&state)].copy_from_slice(bytemuck::bytes_of(&state));
    assert!(matches!(
        pack.controls(&bytes),
        Err(BatchError::Job { index: 2, .. })
    ));
    let state = BatchState {
        fault: BatchState::BAD_RECORD,
        ..state
    };
    bytes[..size_of_val(&state)].copy_from_slice(bytemuck::bytes_of(&state));
    assert!(matches!(
        pack.controls(&bytes),
        Err(BatchError::Backend(BackendError::Fault { .. }))
    ));
}

#[test]
fn a_batch_whose_graphs_exceed_the_memory_is_refused() {
    let graphs = paths(&[5]);
    let mut program = ProgramBuilder::new(5);
    let words = program.input("words", 64).unwrap();
    program.keep(words);
    let (program, _) = program.encode(&PlanRequest::default()).unwrap();
    assert_eq!(program.arena_bytes, 0);
    let job = Job {
        graph: &graphs[0],
        program: Arc::new(program),
        inputs: vec![0; 64],
        result: words,
    };
    let needed = Pack::new(std::slice::from_ref(&job), space(1, u64::MAX));
    let needed = needed.unwrap().bytes();
    assert!(Pack::new(std::slice::from_ref(&job), space(1, needed)).is_ok());
    let refused = Pack::new(&[job], space(1, needed - 1));
    assert!(matches!(
        refused,
        Err(BatchError::Backend(BackendError::OutOfMemory { needed: reported, .. })) if reported == needed
    ));
}
