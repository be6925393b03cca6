//! Memory in plans, and programs without a plan.

use super::{bare, chain};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, Session};
use seawall::program::{
    BitOp, ComponentStep, Lengths, Mark, Meet, Paths, PlanRequest, ProgramBuilder, ProgramError,
    Ranks, RegisterId,
};
use seawall_core::abi::program::Reduction;
use std::num::NonZeroUsize;

#[test]
fn memory_of_dead_registers_is_reused_without_harm() {
    let (program, last) = chain(40, 3000);
    let (encoded, summary) = program.encode(&PlanRequest::default()).unwrap();
    let all = encoded
        .registers
        .iter()
        .map(|register| u64::from(register.words) * 4)
        .sum::<u64>();
    assert!(
        summary.arena_bytes < all,
        "{} of {all} bytes",
        summary.arena_bytes
    );
    let graph = bare(100);
    for threads in [1, 3] {
        let mut session =
            CpuSession::open(&graph, NonZeroUsize::new(threads), RunLimits::default()).unwrap();
        session.load(&encoded).unwrap();
        for _ in 0..3 {
            session.run(&[]).unwrap();
            let mut words = Vec::new();
            session.read(last, &mut words).unwrap();
            assert!(
                words
                    .iter()
                    .enumerate()
                    .all(|(at, word)| *word == at as u32)
            );
        }
    }
}

#[test]
fn a_budget_below_the_arena_is_refused_with_the_bytes_needed() {
    let (program, _) = chain(6, 3000);
    let wide = program.encode(&PlanRequest::default()).unwrap().1;
    let with = |budget_bytes| PlanRequest {
        resident_bytes: 1000,
        budget_bytes: Some(budget_bytes),
        ..PlanRequest::default()
    };
    // Two registers of a link and the previous one, each of 3000 words in lines of 256 bytes.
    let needed_bytes = 3 * 12_032 + 1000;
    assert!(needed_bytes < wide.arena_bytes);
    for budget_bytes in [0, 999, 1000, 1001, 2000, needed_bytes - 1] {
        let error = program.encode(&with(budget_bytes)).unwrap_err();
        let expected = ProgramError::OverBudget {
            needed_bytes,
            budget_bytes,
        };
        assert_eq!(error, expected);
    }
    let (_, narrow) = program.encode(&with(needed_bytes)).unwrap();
    assert_eq!(narrow.arena_bytes, needed_bytes - 1000);
    assert!(narrow.groups > wide.groups);
    // Each wave fits by itself, but all live registers together do not.
    let mut wide = ProgramBuilder::new(100);
    let registers: Vec<_> = (0..4).map(|_| wide.words("wide", 64).unwrap()).collect();
    for register in &registers {
        wide.fill("fill", *register, 1);
        wide.keep(*register);
    }
    match wide.encode(&PlanRequest {
        budget_bytes: Some(600),
        ..PlanRequest::default()
    }) {
        Err(ProgramError::OverBudget {
            needed_bytes: 1024,
            budget_bytes: 600,
        }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn reading_before_any_write_is_refused() {
    let mut program = ProgramBuilder::new(10);
    let [a, b] = ["a", "b"].map(|name| program.words(name, 10).unwrap());
    program.fill("fill", a, 1);
    program.combine("join", BitOp::Or, a, [a, b]);
    let error = program.encode(&PlanRequest::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "wave 1 (join) reads register b, which no earlier wave writes; fill it first"
    );
}

#[test]
fn a_loop_that_reads_before_it_writes_is_refused_and_the_reverse_is_not() {
    let mut program = ProgramBuilder::new(10);
    let [a, b] = ["a", "b"].map(|name| program.words(name, 10).unwrap());
    program.fixpoint("bad", 3, |program| {
        program.copy("copy", b, a);
        program.fill("fill", a, 1);
    });
    let error = program.encode(&PlanRequest::default()).unwrap_err();
    assert!(
        matches!(&error, ProgramError::UnwrittenRegister { register, .. } if register == "a"),
        "{error}"
    );
    let mut program = ProgramBuilder::new(10);
    let [a, b] = ["a", "b"].map(|name| program.words(name, 10).unwrap());
    program.fixpoint("good", 3, |program| {
        program.fill("fill", a, 1);
        program.copy("copy", b, a);
    });
    assert!(program.encode(&PlanRequest::default()).is_ok());
}

/// Every case in which words of a register stay unwritten, so that they would be another
/// register's.
#[test]
fn registers_that_may_be_left_unfilled_are_not_read() {
    use seawall::program::Over;
    type Filling = fn(&mut ProgramBuilder, [seawall::program::RegisterId; 4]);
    let refused = |filling: Filling, is_kept: bool| {
        let mut program = ProgramBuilder::new(10);
        let [list, count, to, copy] =
            [10, 1, 12, 12].map(|words| program.words("register", words).unwrap());
        program.fill("list", list, 0);
        program.fill("count", count, 1);
        filling(&mut program, [list, count, to, copy]);
        if is_kept {
            program.keep(to);
        } else {
            program.copy("read", copy, to);
            program.keep(copy);
        }
        match program.encode(&PlanRequest::default()) {
            Ok(_) => false,
            Err(ProgramError::UnwrittenRegister { .. } | ProgramError::UnwrittenResult { .. }) => {
                true
            }
            Err(other) => panic!("{other}"),
        }
    };
    let fillings: [(bool, Filling); 9] = [
        (false, |program, [.., to, _]| program.fill("all", to, 0)),
        (true, |_, _| {}),
        (true, |program, [list, count, to, _]| {
            program.each("some", Over::List { list, count }, |item| item.store(to, 1));
        }),
        (true, |program, [.., to, _]| {
            program.each("some", Over::Nodes, |item| item.store(to, 1));
        }),
        (true, |program, [_, count, to, _]| {
            program.while_nonzero("perhaps", count, 3, |body| body.fill("all", to, 0));
        }),
        (true, |program, [.., to, _]| {
            program.fixpoint("never", 0, |body| body.fill("all", to, 0));
        }),
        (false, |program, [.., to, _]| {
            program.fixpoint("once", 1, |body| body.fill("all", to, 0));
        }),
        (true, |program, [list, _, to, _]| {
            program.parents("some", to, list)
        }),
        (true, |program, [list, _, to, _]| {
            program.iota("forest", list);
            let majority = seawall::program::ComponentStep::Majority { to };
            program.components("one", majority, list);
        }),
    ];
    for (number, (expected, filling)) in fillings.into_iter().enumerate() {
        for is_kept in [false, true] {
            assert_eq!(refused(filling, is_kept), expected, "filling {number}");
        }
    }
}

#[test]
fn loops_without_a_body_and_in_a_body_are_refused_by_name() {
    let mut program = ProgramBuilder::new(10);
    program.fixpoint("hollow", 3, |_| {});
    let error = program.encode(&PlanRequest::default()).unwrap_err();
    assert!(
        matches!(&error, ProgramError::EmptyBody { name } if name == "hollow"),
        "{error}"
    );
    let mut program = ProgramBuilder::new(10);
    let a = program.words("a", 10).unwrap();
    program.fixpoint("outer", 3, |program| {
        program.fixpoint("inner", 3, |program| program.fill("fill", a, 1));
    });
    let error = program.encode(&PlanRequest::default()).unwrap_err();
    assert!(
        matches!(error, ProgramError::NestedFixpoint { .. }),
        "{error}"
    );
}

#[test]
fn registers_beyond_32_bits_are_refused() {
    let mut program = ProgramBuilder::new(10);
    assert!(program.words("longest", u64::from(u32::MAX)).is_ok());
    let error = program.words("too long", 1 << 32).unwrap_err();
    assert!(
        matches!(
            error,
            ProgramError::RegisterTooLong {
                words: 0x1_0000_0000,
                ..
            }
        ),
        "{error}"
    );
}

/// Returns the error of a program of 10 nodes with the registers `a` (10 words) and `b` (one
/// word), to which `add` adds waves.
fn refused(add: impl FnOnce(&mut ProgramBuilder, [RegisterId; 2])) -> ProgramError {
    let mut program = ProgramBuilder::new(10);
    let registers = [("a", 10), ("b", 1)].map(|(name, words)| program.words(name, words).unwrap());
    for register in registers {
        program.fill("fill", register, 0);
    }
    add(&mut program, registers);
    program.encode(&PlanRequest::default()).unwrap_err()
}

#[test]
fn registers_of_another_builder_are_refused_by_every_call() {
    let mut other = ProgramBuilder::new(10);
    let foreign = [0; 5].map(|_| other.words("theirs", 10).unwrap());
    let calls: [fn(&mut ProgramBuilder, RegisterId, RegisterId); 5] = [
        |program, _, theirs| program.keep(theirs),
        |program, _, theirs| program.fill("fill", theirs, 1),
        |program, own, theirs| program.copy("copy", own, theirs),
        |program, own, theirs| program.search("search", own, Mark::Levels(theirs), 3),
        |program, own, theirs| {
            program.fixpoint("loop", 3, |body| body.copy("copy", own, theirs));
        },
    ];
    for call in calls {
        for theirs in foreign {
            let error = refused(|program, [own, _]| call(program, own, theirs));
            assert!(
                matches!(error, ProgramError::ForeignRegister { .. }),
                "{error}"
            );
        }
    }
}

#[test]
fn a_clone_keeps_its_registers_and_has_no_later_ones() {
    let mut program = ProgramBuilder::new(10);
    let a = program.words("a", 10).unwrap();
    let mut clone = program.clone();
    let later = program.words("later", 10).unwrap();
    clone.words("of the clone", 10).unwrap();
    clone.fill("fill", a, 1);
    assert!(clone.encode(&PlanRequest::default()).is_ok());
    clone.fill("fill", later, 1);
    assert!(clone.encode(&PlanRequest::default()).is_err());
}

#[test]
fn registers_too_short_are_refused_with_the_length_needed() {
    type Add = fn(&mut ProgramBuilder, [RegisterId; 2]);
    let cases: [(Add, u64); 7] = [
        (|program, [a, b]| program.copy("wave", a, b), 10),
        (
            |program, [a, b]| program.combine("wave", BitOp::Or, a, [a, b]),
            10,
        ),
        (
            |program, [_, b]| program.components("wave", ComponentStep::Compress, b),
            10,
        ),
        (|program, [_, b]| program.step_peel("wave", b, b), 10),
        (|program, [a, b]| program.parents("wave", a, b), 10),
        (
            |program, [a, _]| {
                let meet = Meet {
                    facts: 3,
                    intersect: false,
                };
                program.meet("wave", a, a, meet);
            },
            30,
        ),
        (
            |program, [a, b]| {
                let none = program.words("none", 0).unwrap();
                program.reduce("wave", Reduction::Sum, none, a);
                program.copy("unused", b, b);
            },
            1,
        ),
    ];
    for (add, least) in cases {
        let error = refused(add);
        let text = error.to_string();
        let ProgramError::RegisterTooShort { wave, needed, .. } = error else {
            panic!("{text}")
        };
        assert_eq!((wave.as_str(), needed), ("wave", least));
    }
}

/// The registers of a ranking, with `a` for ranks and contributions.
fn ranks(program: &mut ProgramBuilder, a: RegisterId, starts: Option<RegisterId>) -> Ranks {
    let totals = program.totals("totals").unwrap();
    program.fill("fill", totals, 0);
    Ranks {
        ranks: a,
        contributions: a,
        sums: program.words("sums", 20).unwrap(),
        totals,
        starts,
    }
}

#[test]
fn start_shares_that_are_too_few_are_refused() {
    type Add = fn(&mut ProgramBuilder, Ranks);
    let cases: [(&str, Add); 3] = [
        ("seed", |program, ranks| program.seed_ranks("seed", ranks)),
        ("apply", |program, ranks| {
            program.step_ranks(ranks, 0.85, 0.0)
        }),
        ("step", |program, ranks| {
            program.step_ranks_by_rows(ranks, (0.85, 0.0))
        }),
    ];
    for (name, add) in cases {
        let error = refused(|program, [a, b]| {
            let ranks = ranks(program, a, Some(b));
            program.fixpoint("rank", 3, |body| add(body, ranks));
        });
        let text = error.to_string();
        let ProgramError::RegisterTooShort { wave, needed, .. } = error else {
            panic!("{text}")
        };
        assert_eq!((wave.as_str(), needed), (name, 10));
    }
}

#[test]
fn invalid_parameters_are_refused() {
    for damping in [1.0, -0.5, 2.0, f32::NAN] {
        let error = refused(|program, [a, _]| {
            let ranks = ranks(program, a, None);
            program.fixpoint("rank", 3, |body| body.step_ranks(ranks, damping, 0.0));
        });
        assert!(matches!(error, ProgramError::Damping { .. }), "{error}");
    }
    let error = refused(|program, [a, _]| {
        let work = program.work("work").unwrap();
        let paths = Paths {
            distances: a,
            work,
            width: 0,
            lengths: Lengths::Whole,
        };
        program.step_paths("step", paths);
    });
    assert!(matches!(error, ProgramError::NoWidth { .. }), "{error}");
}

#[test]
fn a_body_that_replaces_its_builder_is_refused() {
    let mut program = ProgramBuilder::new(10);
    program.fixpoint("loop", 3, |body| *body = ProgramBuilder::new(10));
    let error = program.encode(&PlanRequest::default()).unwrap_err();
    assert!(
        matches!(error, ProgramError::ReplacedBuilder { .. }),
        "{error}"
    );
}

/// Four chains, each of a large register between two small ones, and a loop whose body fills two
/// private registers.
fn with_passing_registers() -> (ProgramBuilder, Vec<RegisterId>) {
    let mut program = ProgramBuilder::new(100);
    let mut results = Vec::new();
    for value in 0..4 {
        let [start, end] = ["start", "end"].map(|name| program.words(name, 64).unwrap());
        let large = program.words("large", 4096).unwrap();
        let indices = program.words("indices", 64).unwrap();
        program.fill("start", start, value);
        program.iota("indices", indices);
        program.fill("grow", large, value + 10);
        program.gather("shrink", end, large, indices);
        program.combine("join", BitOp::Or, end, [end, start]);
        program.keep(end);
        results.push(end);
    }
    let [first, second] = ["first", "second"].map(|name| program.words(name, 2048).unwrap());
    let count = program.words("count", 2048).unwrap();
    program.fill("count", count, 0);
    program.fixpoint("loop", 3, |body| {
        body.fill("first", first, 5);
        body.combine("keep first", BitOp::Or, count, [count, first]);
        body.fill("second", second, 8);
        body.combine("keep second", BitOp::Or, count, [count, second]);
    });
    program.keep(count);
    results.push(count);
    (program, results)
}

#[test]
fn a_shrinking_budget_splits_groups_and_shares_memory_until_nothing_helps() {
    let (program, results) = with_passing_registers();
    let graph = bare(100);
    let answers = |budget_bytes| {
        let request = PlanRequest {
            budget_bytes,
            ..PlanRequest::default()
        };
        let (encoded, summary) = program.encode(&request)?;
        let mut session =
            CpuSession::open(&graph, NonZeroUsize::new(2), RunLimits::default()).unwrap();
        session.load(&encoded).unwrap();
        session.run(&[]).unwrap();
        let mut words = Vec::new();
        let read = results.iter().map(|result| {
            session.read(*result, &mut words).unwrap();
            words.clone()
        });
        Ok::<_, ProgramError>((summary, read.collect::<Vec<_>>()))
    };
    let (wide, expected) = answers(None).unwrap();
    assert_eq!(expected[4], vec![13; 2048]);
    let Err(ProgramError::OverBudget { needed_bytes, .. }) = answers(Some(0)) else {
        panic!("nothing fits in no bytes");
    };
    assert!(
        needed_bytes < wide.arena_bytes / 2,
        "{needed_bytes} of {wide:?}"
    );
    assert!(answers(Some(needed_bytes - 1)).is_err());
    let mut groups = Vec::new();
    for part in (0..=8).rev() {
        let budget = needed_bytes + (wide.arena_bytes - needed_bytes) * part / 8;
        let (summary, found) = answers(Some(budget)).unwrap();
        assert!(summary.arena_bytes <= budget, "{summary:?} in {budget}");
        assert_eq!(found, expected, "{budget}");
        groups.push(summary.groups);
    }
    assert_eq!(groups[0], wide.groups);
    assert!(groups[8] > groups[0], "{groups:?}");
}

#[test]
fn registers_of_a_body_alone_share_memory_group_by_group() {
    let body_of = |shared: bool| {
        let mut program = ProgramBuilder::new(100);
        let [a, b] = ["a", "b"].map(|name| program.words(name, 1024).unwrap());
        let sum = program.words("sum", 1024).unwrap();
        program.fill("sum", sum, 0);
        if !shared {
            program.fill("a", a, 1);
            program.fill("b", b, 1);
        }
        program.fixpoint("loop", 2, |body| {
            body.fill("a", a, 1);
            body.combine("add a", BitOp::Or, sum, [sum, a]);
            body.fill("b", b, 2);
            body.combine("add b", BitOp::Or, sum, [sum, b]);
        });
        program.keep(sum);
        let least = program.encode(&PlanRequest {
            budget_bytes: Some(0),
            ..PlanRequest::default()
        });
        match least {
            Err(ProgramError::OverBudget { needed_bytes, .. }) => needed_bytes,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((body_of(true), body_of(false)), (2 * 4096, 3 * 4096));
}
