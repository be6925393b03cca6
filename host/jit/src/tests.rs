//! Functions of code written by hand, called as kernels call them.

use crate::{CodeWave, Compiled, Tables, assembly};
use seawall_core::abi::code::{
    AT_HAND, Edges, EdgesPart, Instruction, Join, Joined, Kind, NEIGHBOUR, NUMBER, OF_EDGE, Op,
    TEMPORARY, WORD,
};
use seawall_core::abi::compiled::EachCall;
use seawall_core::abi::program::{EachRecord, Region, RegisterRecord};

fn register(words: u32, offset_bytes: u64) -> RegisterRecord {
    RegisterRecord {
        region: Region::Arena as u32,
        words,
        offset_bytes,
    }
}

fn step(op: Op, temps: [u8; 4], [first, second]: [u32; 2]) -> Instruction {
    let op = op as u32;
    Instruction {
        op,
        temps,
        first,
        second,
    }
}

/// Runs `code` for the items of a path of four nodes, on an arena of words.
fn run(code: &[Instruction], items: u32, is_alone: bool, arena: &mut [u32]) -> EachCall {
    let registers = [register(4, 0), register(4, 16)];
    let tables = Tables {
        nodes: 4,
        registers: &registers,
        code,
        is_alone,
    };
    let record = EachRecord {
        first: 0,
        instructions: code.len() as u32,
        items,
        needs: 0,
        before: 0,
    };
    let wave = CodeWave {
        record,
        is_listed: false,
    };
    let compiled = Compiled::of(&tables, &[wave]).unwrap();
    assert_eq!(compiled.refused(), None);
    assert!(compiled.bytes() > 0 && !assembly(&tables, &wave).unwrap().is_empty());
    let (offsets, targets) = ([0_u32, 1, 3, 5, 6], [1_u32, 0, 2, 1, 3, 2]);
    let mut call = EachCall {
        arena: arena.as_mut_ptr() as u64,
        offsets: offsets.as_ptr() as u64,
        targets: targets.as_ptr() as u64,
        ..EachCall::default()
    };
    let code = compiled.waves()[0].code;
    // SAFETY: the arrays have the lengths that the tables state.
    unsafe { code(&raw mut call, 0, items) };
    call
}

#[test]
fn items_and_edges_have_loops() {
    let sum = Joined {
        how: Join::Sum,
        kind: Kind::U32,
    };
    let part = EdgesPart {
        edges: Edges::Out,
        ends_early: false,
        may_stop: false,
        reductions: 1,
    };
    let (found, partial) = (TEMPORARY, TEMPORARY | 1 | OF_EDGE);
    let reduce = [found, 0, partial, sum.to_word() as u8];
    let code = [
        step(Op::Edges, [0; 4], [part.to_word(), 2]),
        step(Op::Load, [0, NEIGHBOUR, 0, 0], [0, 0]),
        step(Op::Reduce, reduce, [0, 0]),
        step(Op::Store, [0, found, 0, 0], [1, 0]),
    ];
    for is_alone in [true, false] {
        let mut arena = [1, 10, 100, 1000, 0, 0, 0, 0];
        let call = run(&code, 4, is_alone, &mut arena);
        assert_eq!(arena[4..], [10, 101, 1010, 100]);
        assert_eq!((call.misses, call.raised), (0, 0));
    }
}

#[test]
fn the_first_index_out_of_range_is_noted() {
    let most = Joined {
        how: Join::Max,
        kind: Kind::U32,
    };
    // Register 1 at twice the number gets the number, and the loop's flag is raised.
    let code = [
        step(Op::Mul, [TEMPORARY, NUMBER, WORD, 0], [2, 0]),
        step(Op::Take, [TEMPORARY | 1, NUMBER, 0, 0], [0, 0]),
        step(
            Op::Scatter,
            [AT_HAND, TEMPORARY, TEMPORARY | 1, most.to_word() as u8],
            [1, 0],
        ),
        step(Op::Raise, [0, WORD, 0, 0], [1, 0]),
    ];
    for is_alone in [true, false] {
        let mut arena = [0; 8];
        let call = run(&code, 4, is_alone, &mut arena);
        assert_eq!(arena, [0, 0, 0, 0, 0, 0, 1, 0]);
        assert_eq!((call.missed, call.missed_len, call.raised), (4, 4, 1));
    }
}

#[test]
fn code_that_was_not_checked_is_left_out() {
    let unknown = Instruction {
        op: Op::COUNT,
        temps: [0; 4],
        first: 0,
        second: 0,
    };
    let record = EachRecord {
        first: 0,
        instructions: 1,
        items: 1,
        needs: 0,
        before: 0,
    };
    let missing = EachRecord { first: 7, ..record };
    let tables = Tables {
        nodes: 1,
        registers: &[],
        code: &[unknown],
        is_alone: true,
    };
    let waves = [record, missing].map(|record| CodeWave {
        record,
        is_listed: false,
    });
    let compiled = Compiled::of(&tables, &waves).unwrap();
    assert!(compiled.waves().is_empty() && compiled.refused().is_some());
}
