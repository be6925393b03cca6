//! Invalid code and loops: refused at build or at load, or a fault with the index.

use super::{bare, fault_of, plan, run_watched};
use seawall::backend::{BackendError, ProgramSession};
use seawall::executor::{Jit, Machine};
use seawall::program::{
    CodeFault, EncodedProgram, Item, Join, Kind, Over, PlanRequest, ProgramBuilder, ProgramError,
    RegisterId, TableError,
};
use seawall_core::abi::code::{DEPTH_MAX, OF_EDGE, Op, TEMPS};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::{Opcode, WhileRecord};
use std::num::NonZeroUsize;

const NODES: u32 = 100;

/// Adds up the neighbours' numbers, and counts down from 3.
fn counting() -> EncodedProgram {
    let mut program = ProgramBuilder::new(NODES);
    let sums = program.per_node("sums", Kind::U32).unwrap();
    let left = program.values("left", Kind::U32, 1).unwrap();
    program.fill("none", sums, 0);
    program.fill("three", left, 3);
    program.while_nonzero("count", left, 10, |body| {
        body.each("add", Over::Nodes, |node| {
            let sum = node.gather(seawall::program::Edges::Out, Join::Sum, |edge| {
                edge.neighbour() & u32::MAX
            });
            node.store(sums, node.load(sums) + sum);
        });
        body.each("count", Over::Count(1), |item| {
            item.store(left, item.load(left) - 1);
        });
    });
    program.keep(sums);
    plan(&program)
}

fn refusal(change: impl FnOnce(&mut EncodedProgram)) -> TableError {
    let mut program = counting();
    program.check().unwrap();
    change(&mut program);
    program.check().unwrap_err()
}

fn fault(change: impl FnOnce(&mut EncodedProgram)) -> CodeFault {
    match refusal(change) {
        TableError::Code { fault, .. } => fault,
        other => panic!("{other}"),
    }
}

#[test]
fn a_loop_on_a_register_runs_until_it_is_0() {
    let stats = run_watched(counting(), 3).unwrap();
    let end = stats.control.loops[0];
    assert_eq!((end.iterations, end.converged), (3, 1));
}

#[test]
fn instructions_that_mean_nothing_are_refused_at_load() {
    let at = |program: &EncodedProgram, op: Op| {
        let place = program.code.iter().position(|at| at.op == op as u32);
        place.unwrap()
    };
    assert_eq!(fault(|p| p.code[0].op = Op::COUNT), CodeFault::Unknown);
    assert_eq!(
        fault(|p| {
            let reduce = at(p, Op::Reduce);
            p.code[reduce].temps[3] = 0xff;
        }),
        CodeFault::Unknown
    );
    assert_eq!(
        fault(|p| {
            let store = at(p, Op::Store);
            p.code[store].temps[1] = OF_EDGE | TEMPS;
        }),
        CodeFault::Temporary
    );
    assert_eq!(
        fault(|p| {
            let load = at(p, Op::Load);
            p.code[load].first = p.registers.len() as u32;
        }),
        CodeFault::Register
    );
    assert_eq!(
        fault(|p| {
            let edges = at(p, Op::Edges);
            p.code[edges].second = u32::MAX;
        }),
        CodeFault::Part
    );
    // An edge's property outside of an edge, and nested edges.
    assert_eq!(
        fault(|p| {
            let store = at(p, Op::Store);
            p.code[store].op = Op::EdgeNumber as u32;
        }),
        CodeFault::Place
    );
    assert_eq!(
        fault(|p| {
            let inside = at(p, Op::And);
            p.code[inside].op = Op::Edges as u32;
        }),
        CodeFault::Place
    );
}

#[test]
fn waves_run_code_of_the_table_and_whole_parts_of_it() {
    let each = |p: &mut EncodedProgram, change: fn(&mut [u32; 5])| {
        let mut waves = p.waves.iter_mut();
        let wave = waves.find(|wave| wave.opcode == Opcode::Each as u32);
        change(&mut wave.unwrap().parameters);
    };
    let changes: [fn(&mut [u32; 5]); 3] = [
        |parameters| parameters[1] = u32::MAX,
        |parameters| parameters[0] = u32::MAX,
        |parameters| parameters[1] = 2,
    ];
    for change in changes {
        let found = refusal(|p| each(p, change));
        assert!(matches!(found, TableError::CodeRange { .. }), "{found}");
    }
}

#[test]
fn the_first_group_of_a_loop_leaves_its_register_alone() {
    let found = refusal(|p| {
        let condition = |wave: &&mut _| {
            let wave: &&mut seawall_core::abi::program::WaveRecord = wave;
            wave.opcode == Opcode::While as u32
        };
        let wave = p.waves.iter_mut().find(condition).unwrap();
        let mut record = WhileRecord::from_parameters(wave.parameters);
        // Without the empty group before the one that counts.
        record.first_group += 1;
        record.groups -= 1;
        wave.parameters = record.to_parameters();
    });
    assert!(
        matches!(found, TableError::Condition { register: 1, .. }),
        "{found}"
    );
    let found = refusal(|p| {
        let mut waves = p.waves.iter_mut();
        let wave = waves.find(|wave| wave.opcode == Opcode::While as u32);
        wave.unwrap().parameters[4] = 1;
    });
    assert!(
        matches!(
            found,
            TableError::Depth {
                says: 1,
                depth: 0,
                ..
            }
        ),
        "{found}"
    );
}

#[test]
fn loops_on_a_register_are_three_deep() {
    fn nest(program: &mut ProgramBuilder, registers: &[seawall::program::RegisterId]) {
        let Some((left, others)) = registers.split_first() else {
            return;
        };
        program.while_nonzero("nest", *left, 3, |body| {
            body.each("count", Over::Count(1), |item| {
                item.store(*left, item.load(*left) - 1);
            });
            nest(body, others);
        });
    }
    let encode = |depth: u32| {
        let mut program = ProgramBuilder::new(NODES);
        let names = (0..depth).map(|_| program.values("left", Kind::U32, 1).unwrap());
        let registers: Vec<_> = names.collect();
        registers
            .iter()
            .for_each(|left| program.fill("two", *left, 2));
        nest(&mut program, &registers);
        program.encode(&PlanRequest::default())
    };
    let (deepest, _) = encode(DEPTH_MAX).unwrap();
    assert_eq!(
        run_watched(deepest, 2).unwrap().control.loops[0].iterations,
        2
    );
    match encode(DEPTH_MAX + 1) {
        Err(ProgramError::TooDeep { depth, most, .. }) => {
            assert_eq!((depth, most), (DEPTH_MAX, DEPTH_MAX - 1));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_index_that_a_register_does_not_hold_ends_the_run() {
    let writes: [for<'c> fn(seawall::program::Item<'c>, [seawall::program::RegisterId; 2]); 3] = [
        |item, [register, _]| {
            item.scatter(register, item.index() + 55, Join::Max, 1);
        },
        |item, [register, _]| {
            item.scatter(register, 99, Join::Max, 1);
        },
        |item, [register, count]| item.append((register, count), item.index(), 1),
    ];
    for (number, write) in writes.into_iter().enumerate() {
        let mut program = ProgramBuilder::new(NODES);
        let short = program.values("short", Kind::U32, 50).unwrap();
        let count = program.values("count", Kind::U32, 1).unwrap();
        program.fill("zero", short, 0);
        program.fill("none", count, 0);
        program.each("reach", Over::Nodes, |item| write(item, [short, count]));
        program.keep(short);
        for threads in [1, 4] {
            let (record, wave) = fault_of(run_watched(plan(&program), threads));
            assert_eq!(
                (FaultCode::from_word(record.code), wave.as_str()),
                (FaultCode::BadIndex, "reach"),
                "{number}"
            );
            assert!(record.arrived >= 50 && record.expected == 50, "{record:?}");
        }
    }
}

/// Code that uses the list `taken`, its length, and the register `other`.
type Uses = for<'c> fn(Item<'c>, [RegisterId; 3]);

#[test]
fn a_fault_of_an_index_names_lists_and_registers_of_its_length() {
    let cases: [(u64, Uses, &str); 4] = [
        (
            60,
            |item, [taken, count, other]| {
                item.append((taken, count), item.index(), 1);
                item.scatter(other, item.index() % 60, Join::Max, 1);
            },
            "the list taken has space for 50 values, and one more was appended as value ",
        ),
        (
            60,
            |item, [taken, ..]| {
                item.scatter(taken, item.index() % 51, Join::Max, 1);
            },
            "index 50 of a register of 50 words, taken; correct what the wave takes it from; at",
        ),
        (
            50,
            |item, [taken, _, other]| {
                item.scatter(taken, item.index() % 50, Join::Max, 1);
                item.scatter(other, item.index() % 51, Join::Max, 1);
            },
            "index 50 of a register of 50 words, taken or other; correct",
        ),
        (
            50,
            |item, [taken, count, other]| {
                item.append((taken, count), item.index(), item.index().below(3));
                item.scatter(other, item.index() % 51, Join::Max, 1);
            },
            "index 50 of a register of 50 words, the list taken or other; correct what the wave takes it from, or make the list longer; at",
        ),
    ];
    for (length, uses, expected) in cases {
        let mut program = ProgramBuilder::new(NODES);
        let taken = program.values("taken", Kind::U32, 50).unwrap();
        let count = program.values("count", Kind::U32, 1).unwrap();
        let other = program.values("other", Kind::U32, length).unwrap();
        for register in [taken, count, other] {
            program.fill("zero", register, 0);
        }
        program.each("reach", Over::Nodes, |item| {
            uses(item, [taken, count, other])
        });
        program.keep(other);
        let (program, graph) = (plan(&program), bare(NODES));
        for (jit, threads) in [(Jit::Never, 1), (Jit::Never, 3), (Jit::Always, 1)] {
            let mut machine = Machine::cpu(NonZeroUsize::new(threads));
            machine.jit = jit;
            let mut session = ProgramSession::open(&graph, &machine).unwrap();
            session.load(&program).unwrap();
            let text = session.run().unwrap_err().to_string();
            assert!(text.starts_with(expected), "{text}");
            assert!(text.contains("wave 3 (reach)"), "{text}");
        }
    }
}

#[test]
fn a_list_that_names_no_node_ends_the_run() {
    let mut program = ProgramBuilder::new(NODES);
    let list = program.values("list", Kind::U32, 3).unwrap();
    let count = program.values("count", Kind::U32, 1).unwrap();
    let to = program.per_node("to", Kind::U32).unwrap();
    program.fill("far", list, NODES);
    program.fill("three", count, 3);
    program.fill("zero", to, 0);
    program.each("gather", Over::List { list, count }, |node| {
        let sum = node.gather(seawall::program::Edges::Out, Join::Sum, |edge| {
            edge.neighbour()
        });
        node.store(to, sum);
    });
    let result = run_watched(plan(&program), 2);
    assert!(
        matches!(&result, Err(BackendError::Fault { .. })),
        "{result:?}"
    );
    let (record, _) = fault_of(result);
    assert_eq!((record.arrived, record.expected), (NODES, NODES));
}

/// No instruction after the last one of the table is fetched.
#[test]
fn code_that_a_block_does_not_hold_may_end_with_a_condition() {
    let mut program = ProgramBuilder::new(NODES);
    let numbers = program.per_node("numbers", Kind::U32).unwrap();
    program.iota("number", numbers);
    program.each("leave out", Over::Nodes, |node| {
        for least in 0..120_u32 {
            node.only(node.load(numbers).above(least));
        }
    });
    program.keep(numbers);
    let encoded = plan(&program);
    assert!(encoded.code.len() > 200);
    run_watched(encoded, 1).unwrap();
}
