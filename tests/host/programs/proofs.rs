//! Programs whose waves would use arbitrary words as indices: refused by name, or a fault with the
//! index.

use super::{fault_of, plan, run_watched};
use seawall::backend::BackendError;
use seawall::program::{
    ComponentStep, EncodedProgram, Lengths, Mark, Meet, Paths, PlanRequest, ProgramBuilder,
    ProgramError, RegisterId, Sets, TableError, Transfer, Triangles,
};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::facts::{Invariant, Stage};
use seawall_core::abi::program::Opcode;
use seawall_oracles::faulty;

const NODES: u32 = 100;

fn words(program: &mut ProgramBuilder, name: &'static str) -> RegisterId {
    program.words(name, NODES.into()).unwrap()
}

/// Builds a program that must be refused; returns the wave, its requirement and the register.
fn refused(build: impl FnOnce(&mut ProgramBuilder)) -> (String, String, Invariant) {
    let mut program = ProgramBuilder::new(NODES);
    build(&mut program);
    match program.encode(&PlanRequest::default()) {
        Err(ProgramError::Unproven {
            name,
            register,
            needs,
            ..
        }) => (name, register, needs),
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[test]
fn invented_parents_are_refused() {
    for step in [
        ComponentStep::Link,
        ComponentStep::Compress,
        ComponentStep::LinkSample { skip: 0, edges: 2 },
    ] {
        let found = refused(|program| {
            let parents = words(program, "parents");
            program.fill("anything", parents, 0x7000_0000);
            program.components("follow", step, parents);
        });
        assert_eq!(
            found,
            ("follow".to_owned(), "parents".to_owned(), Invariant::Forest)
        );
    }
}

#[test]
fn parents_that_the_host_writes_are_refused() {
    let found = refused(|program| {
        let parents = program.input("parents", NODES.into()).unwrap();
        program.components("follow", ComponentStep::Compress, parents);
    });
    assert_eq!(found.1, "parents");
}

#[test]
fn parents_that_a_loop_spoils_after_their_use_are_refused() {
    let found = refused(|program| {
        let parents = words(program, "parents");
        program.iota("number", parents);
        program.fixpoint("again", 3, |program| {
            program.components("follow", ComponentStep::Compress, parents);
            program.fill("spoil", parents, u32::MAX);
        });
    });
    assert_eq!(found.0, "again / follow");
}

#[test]
fn a_peeling_without_a_seed_is_refused() {
    let found = refused(|program| {
        let [cores, work] = [words(program, "cores"), program.work("work").unwrap()];
        program.fill("cores", cores, 0x7000_0000);
        program.fill("work", work, 0x7000_0000);
        program.fixpoint("peel", 9, |program| program.step_peel("round", cores, work));
    });
    assert_eq!(
        found,
        (
            "peel / round".to_owned(),
            "work".to_owned(),
            Invariant::Peeling
        )
    );
}

#[test]
fn rounds_of_another_family_are_refused() {
    let found = refused(|program| {
        let list = program.input("list", 64).unwrap();
        let [distances, work] = [words(program, "distances"), program.work("work").unwrap()];
        let paths = Paths {
            distances,
            work,
            width: 1,
            lengths: Lengths::Whole,
        };
        program.fill("distances", distances, u32::MAX);
        program.reset_work("reset", work);
        program.seed_paths("seed", paths, list);
        program.fixpoint("peel", 9, |program| {
            program.step_peel("round", distances, work);
        });
    });
    assert_eq!(found.2, Invariant::Peeling);
}

#[test]
fn a_loop_between_a_seed_and_its_search_is_refused() {
    let found = refused(|program| {
        let [cores, work] = [words(program, "cores"), program.work("work").unwrap()];
        program.reset_work("reset", work);
        program.seed_peel("seed", cores, work);
        program.fixpoint("first", 2, |program| {
            program.step_peel("round", cores, work);
        });
        program.fixpoint("second", 2, |program| {
            program.step_peel("another round", cores, work);
        });
    });
    assert_eq!(found.0, "second / another round");
}

#[test]
fn a_plan_moves_no_loop_between_a_seed_and_its_search() {
    let mut program = ProgramBuilder::new(NODES);
    let [cores, work] = [words(&mut program, "cores"), program.work("work").unwrap()];
    let [facts, none] = [words(&mut program, "facts"), words(&mut program, "none")];
    program.fill("facts", facts, 0);
    program.fill("none", none, 0);
    program.reset_work("reset", work);
    program.seed_peel("seed", cores, work);
    program.fixpoint("peel", 9, |program| {
        program.step_peel("round", cores, work);
    });
    // Ready from the start, except for its place in the program.
    let transfer = Transfer {
        from: none,
        generated: none,
        killed: none,
    };
    program.fixpoint("flow", 3, |program| {
        program.gen_kill("transfer", facts, transfer);
    });
    program.keep(cores);
    program.keep(facts);
    run_watched(plan(&program), 2).unwrap();
}

#[test]
fn two_rounds_in_an_iteration_are_refused() {
    let found = refused(|program| {
        let [cores, work] = [words(program, "cores"), program.work("work").unwrap()];
        program.reset_work("reset", work);
        program.seed_peel("seed", cores, work);
        program.fixpoint("peel", 2, |program| {
            program.step_peel("round", cores, work);
            program.step_peel("another round", cores, work);
        });
    });
    assert_eq!(found.0, "peel / another round");
}

#[test]
fn sets_and_triangles_of_unmade_memory_are_refused() {
    let found = refused(|program| {
        let [even, odd] = [words(program, "even"), words(program, "odd")];
        let work = program.work("work").unwrap();
        for register in [even, odd, work] {
            program.fill("anything", register, 7);
        }
        let sets = Sets {
            sets: [even, odd],
            work,
            words: 1,
        };
        program.fixpoint("sets", 2, |program| program.step_sets("level", sets));
    });
    assert_eq!(found.2, Invariant::Sets);
    let found = refused(|program| {
        let [corners, degrees] = [words(program, "corners"), words(program, "degrees")];
        let forward = program.words("forward", 400).unwrap();
        for register in [corners, forward, degrees] {
            program.fill("anything", register, 0x7000_0000);
        }
        let triangles = Triangles {
            corners,
            forward,
            degrees,
            held: 0,
            centers: None,
        };
        program.count_triangles("count", triangles);
    });
    assert_eq!(
        found,
        ("count".to_owned(), "forward".to_owned(), Invariant::Rows)
    );
}

#[test]
fn a_frontier_must_be_reset_before_it_is_seeded_again() {
    let mark = Mark::Bits;
    let found = refused(|program| {
        let list = program.input("list", 64).unwrap();
        let frontier = program.frontier("frontier").unwrap();
        program.reset("reset", frontier);
        program.seed("seed", frontier, list, mark);
        program.search("search", frontier, mark, 9);
        program.seed("seed again", frontier, list, mark);
    });
    assert_eq!(found.0, "seed again");
    let mut program = ProgramBuilder::new(NODES);
    let list = program.input("list", 64).unwrap();
    let frontier = program.frontier("frontier").unwrap();
    let seen = program.bitset("seen").unwrap();
    for round in 0..2 {
        program.reset("reset", frontier);
        program.seed("seed", frontier, list, mark);
        program.search("search", frontier, mark, 2);
        program.search("go on", frontier, mark, 9 + round);
        program.visited("visited", seen, frontier);
    }
    program.keep(seen);
    run_watched(plan(&program), 2).unwrap();
}

/// A valid peeling, to be changed by hand.
fn peeling() -> EncodedProgram {
    let mut program = ProgramBuilder::new(NODES);
    let [cores, work] = [words(&mut program, "cores"), program.work("work").unwrap()];
    let scratch = words(&mut program, "scratch");
    program.reset_work("reset", work);
    program.seed_peel("seed", cores, work);
    program.fixpoint("peel", 9, |program| program.step_peel("round", cores, work));
    program.fill("other", scratch, 1);
    program.keep(cores);
    program.keep(scratch);
    plan(&program)
}

fn refused_at_load(damage: impl FnOnce(&mut EncodedProgram)) -> TableError {
    let mut program = peeling();
    damage(&mut program);
    match run_watched(program, 2) {
        Err(BackendError::BadProgram { problem }) => problem,
        other => panic!("expected a refusal, got {other:?}"),
    }
}

fn wave_of(program: &EncodedProgram, opcode: Opcode) -> usize {
    let is_it = |wave: &seawall_core::abi::program::WaveRecord| wave.opcode == opcode as u32;
    program.waves.iter().position(is_it).unwrap()
}

#[test]
fn tables_made_by_hand_are_checked_too() {
    assert!(run_watched(peeling(), 2).is_ok());
    let problem = refused_at_load(|program| {
        let at = wave_of(program, Opcode::ResetWork);
        program.waves[at].opcode = Opcode::Nop as u32;
    });
    assert!(matches!(
        problem,
        TableError::Unproven {
            needs: Invariant::Work,
            ..
        }
    ));
    let problem = refused_at_load(|program| {
        let at = wave_of(program, Opcode::SeedPeel);
        program.waves[at].opcode = Opcode::StepPeel as u32;
    });
    assert!(matches!(
        problem,
        TableError::Misplaced {
            stage: Stage::Round,
            ..
        } | TableError::Unproven { .. }
    ));
}

#[test]
fn an_overlapping_register_invalidates_the_facts_of_another() {
    let problem = refused_at_load(|program| {
        let [peel, fill] = [Opcode::StepPeel, Opcode::Fill].map(|opcode| wave_of(program, opcode));
        let work = program.waves[peel].sources[0] as usize;
        let scratch = program.waves[fill].destination as usize;
        program.registers[scratch].offset_bytes = program.registers[work].offset_bytes + 16;
    });
    // It is detected both within the group of the overwritten register and between groups.
    assert!(matches!(
        problem,
        TableError::Conflict { .. } | TableError::Unproven { .. }
    ));
}

#[test]
fn a_wave_of_two_groups_is_refused() {
    let problem = refused_at_load(|program| {
        let first = program.groups[0];
        program.groups[1] = first;
    });
    assert!(matches!(problem, TableError::SharedWave { .. }));
}

#[test]
fn an_index_out_of_range_ends_the_run_with_the_index() {
    for threads in [1, 2, 3] {
        for index in [faulty::PICKED_FROM, 0x7000_0000, u32::MAX] {
            let program = faulty::out_of_range(index).unwrap();
            let result = run_watched(program, threads);
            let text = result.as_ref().err().map(ToString::to_string);
            let (record, wave) = fault_of(result);
            assert_eq!(FaultCode::from_word(record.code), FaultCode::BadIndex);
            assert_eq!(
                (record.arrived, record.expected, wave.as_str()),
                (index, faulty::PICKED_FROM, faulty::PICK)
            );
            let message = format!(
                "index {index} of a register of {} words",
                faulty::PICKED_FROM
            );
            assert!(
                text.is_some_and(|text| text.contains(&message) && text.contains(faulty::PICK))
            );
        }
    }
}

#[test]
fn an_index_in_range_is_followed() {
    assert!(run_watched(faulty::out_of_range(faulty::PICKED_FROM - 1).unwrap(), 2).is_ok());
}

#[test]
fn a_fault_keeps_later_waves_from_unmade_registers() {
    let (record, wave) = fault_of(run_watched(faulty::unmade().unwrap(), 2));
    assert_eq!(FaultCode::from_word(record.code), FaultCode::BadRegister);
    assert_eq!(wave, faulty::ORIENT);
}

#[test]
fn a_wave_without_the_array_that_it_reads_is_an_error() {
    let mut program = ProgramBuilder::new(NODES);
    let [facts, met] = ["facts", "met"].map(|name| words(&mut program, name));
    program.fill("facts", facts, 1);
    program.fill("nothing met", met, 0);
    let union = Meet {
        facts: 1,
        intersect: false,
    };
    program.fixpoint("meet until nothing changes", 9, |body| {
        body.meet("meet", met, facts, union);
    });
    program.keep(met);
    let mut program = plan(&program);
    run_watched(program.clone(), 2).unwrap();
    program.needs.incoming = false;
    let (record, wave) = fault_of(run_watched(program, 2));
    assert_eq!(FaultCode::from_word(record.code), FaultCode::NoArray);
    assert!(wave.ends_with("meet"), "{wave}");
}
