//! Ranks of edges in slices, on threads and on warps.

use crate::drawn::{Drawn, Tried, each, graphs};
use crate::lanes::{self, LIMITS, MACHINES};
use proptest::prelude::*;
use seawall::backend::Session;
use seawall::backend::cpu::CpuSession;
use seawall::graph::Graph;
use seawall::program::{EncodedProgram, PlanRequest, ProgramBuilder, ProgramError, SliceShape};
use seawall_core::abi::program::{Opcode, WaveRecord};
use seawall_oracles::graphs::with_hubs;
use seawall_oracles::random::Random;
use seawall_oracles::ranks::{run_sliced_ranks, run_slices, sliced_ranking};
use std::num::NonZeroUsize;

fn shapes() -> impl Strategy<Value = SliceShape> {
    (0..9_u32, 5..8_u32).prop_map(|(width_log2, part_log2)| SliceShape {
        width_log2,
        part_log2,
    })
}

fn threads(graph: &Graph, count: usize) -> CpuSession<'_> {
    CpuSession::open(graph, NonZeroUsize::new(count), LIMITS).unwrap()
}

fn check(session: &mut dyn Session, graph: &Graph, shape: SliceShape) -> Tried {
    run_slices(session, graph, shape, 2)?;
    if graph.nodes() == 0 {
        return Ok(());
    }
    run_sliced_ranks(session, graph, shape, 2)
}

#[test]
fn ranks_in_slices_equal_those_without_on_threads() {
    let case = (graphs(400), shapes(), 1..4_usize);
    each(40, case, |((list, _), shape, count): (Drawn, _, _)| {
        let graph = list.graph().unwrap();
        check(&mut threads(&graph, count), &graph, shape)
    });
}

#[test]
fn ranks_in_slices_equal_those_without_on_warps() {
    let case = (graphs(150), shapes(), MACHINES);
    each(6, case, |((list, _), shape, machine): (Drawn, _, _)| {
        let graph = list.graph().unwrap();
        check(&mut lanes::session(&graph, machine), &graph, shape)
    });
}

/// Rows that a block copies, besides rows for warps.
#[test]
fn rows_of_hubs_are_sliced_on_threads_and_on_warps() {
    let mut random = Random::new(7);
    let list = with_hubs(4700, 2, &mut random);
    let graph = list.graph().unwrap();
    let longest = (0..graph.nodes()).map(|node| graph.neighbours(node).len());
    assert!(longest.max() > Some(2048));
    for (width_log2, machine) in [(11, 1), (9, 3)] {
        let shape = SliceShape {
            width_log2,
            part_log2: 8,
        };
        run_slices(&mut lanes::session(&graph, machine), &graph, shape, 1).unwrap();
        check(&mut threads(&graph, 2), &graph, shape).unwrap();
    }
}

fn graph() -> Graph {
    with_hubs(300, 3, &mut Random::new(3)).graph().unwrap()
}

const SHAPE: SliceShape = SliceShape {
    width_log2: 5,
    part_log2: 5,
};

const SLICING: [Opcode; 4] = [
    Opcode::CountSlices,
    Opcode::ScanSlices,
    Opcode::PlaceSlices,
    Opcode::CopySlices,
];
const GATHERING: [Opcode; 1] = [Opcode::GatherSlices];

fn is_of(wave: &WaveRecord, opcodes: &[Opcode]) -> bool {
    opcodes.iter().any(|opcode| wave.opcode == *opcode as u32)
}

/// Runs changed tables, whose ranks may be any numbers, on threads and on warps.
fn run(graph: &Graph, program: &EncodedProgram) {
    let sessions = [threads(graph, 2), lanes::session(graph, 3)];
    for mut session in sessions {
        session.load(program).unwrap();
        // A fault is acceptable; debug assertions fail at a word outside of its register.
        let _ = session.run(&[]);
    }
}

#[test]
fn slices_of_one_shape_that_are_gathered_as_others_access_their_registers_alone() {
    let graph = graph();
    for [width_log2, part_log2] in [[5, 6], [6, 5], [9, 5], [8, 9]] {
        for at in 0..5 {
            let mut program = sliced_ranking(&graph, SHAPE).unwrap();
            let waves = program.waves.iter_mut();
            let mut waves = waves.filter(|wave| is_of(wave, &SLICING) || is_of(wave, &GATHERING));
            let wave = waves.nth(at).unwrap();
            wave.parameters[..2].copy_from_slice(&[width_log2, part_log2]);
            run(&graph, &program);
        }
    }
}

#[test]
fn slices_without_one_of_their_waves_access_their_registers_alone() {
    let graph = graph();
    for left_out in SLICING {
        let mut program = sliced_ranking(&graph, SHAPE).unwrap();
        for wave in &mut program.waves {
            if wave.opcode == left_out as u32 {
                wave.opcode = Opcode::Nop as u32;
            }
        }
        run(&graph, &program);
    }
}

#[test]
fn slices_that_hold_anything_are_gathered_within_their_registers() {
    let graph = graph();
    for word in [u32::MAX, 0, 1 << 31, 299, 300] {
        let mut program = sliced_ranking(&graph, SHAPE).unwrap();
        for wave in &mut program.waves {
            // All except the copies, which follow the row offsets.
            if is_of(wave, &SLICING[..3]) {
                wave.opcode = Opcode::Fill as u32;
                wave.parameters = [word, 0, 0, 0, 0];
            }
        }
        run(&graph, &program);
    }
}

#[test]
fn shapes_that_there_are_not_are_refused() {
    for [width_log2, part_log2] in [[32, 5], [5, 4], [5, 21]] {
        let shape = SliceShape {
            width_log2,
            part_log2,
        };
        let path: Vec<_> = (1..9).map(|node| (node - 1, node)).collect();
        let path = Graph::from_edges(9, &path, false).unwrap();
        let made = ProgramBuilder::new(9).slices(shape, path.incoming());
        assert!(matches!(made, Err(ProgramError::SliceShape { .. })));
        let mut program = ProgramBuilder::new(9);
        let mut slices = program.slices(SHAPE, path.incoming()).unwrap();
        slices.shape = shape;
        program.slice_edges(slices);
        let planned = program.encode(&PlanRequest::default());
        assert!(matches!(planned, Err(ProgramError::SliceShape { .. })));
    }
    // A slice for each of many nodes.
    let shape = SliceShape {
        width_log2: 0,
        part_log2: 5,
    };
    assert_eq!(shape.rows(1 << 20), None);
}
