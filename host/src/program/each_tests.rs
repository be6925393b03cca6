use super::*;
use crate::program::{Edge, PlanRequest};
use seawall_core::abi::code::{Edges, Join};

fn problem(code: impl for<'c> FnOnce(Item<'c>, [RegisterId; 3])) -> CodeError {
    let mut program = ProgramBuilder::new(10);
    let words = program.per_node("words", Kind::U32).unwrap();
    let floats = program.per_node("floats", Kind::F32).unwrap();
    let one = program.values("one", Kind::U32, 1).unwrap();
    for register in [words, floats, one] {
        program.fill("zero", register, 0);
    }
    program.each("wave", Over::Nodes, |item| code(item, [words, floats, one]));
    match program.encode(&PlanRequest::default()) {
        Err(ProgramError::Code { wave, problem }) => {
            assert_eq!(wave, "wave");
            problem
        }
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[test]
fn kinds_are_not_mixed() {
    let found = problem(|item, [words, floats, _]| {
        item.store(words, item.load(words) + item.load(floats));
    });
    let (needed, found_kind) = (Kind::U32, Kind::F32);
    assert!(
        matches!(found, CodeError::Kind { needed: n, found: f, .. } if (n, f) == (needed, found_kind))
    );
    let found = problem(|item, [words, floats, _]| {
        item.store(floats, item.load(words));
    });
    assert!(
        matches!(&found, CodeError::RegisterKind { register, .. } if register == "floats"),
        "{found}"
    );
}

#[test]
fn a_register_that_code_fills_in_part_has_to_hold_something() {
    let unwritten = |over: fn(RegisterId, RegisterId) -> Over, only: bool| {
        let mut program = ProgramBuilder::new(10);
        let list = program.per_node("list", Kind::U32).unwrap();
        let count = program.values("count", Kind::U32, 1).unwrap();
        let to = program.values("to", Kind::U32, 20).unwrap();
        program.iota("list", list);
        program.fill("count", count, 3);
        program.each("wave", over(list, count), |item| {
            if only {
                item.only(item.index().below(5));
            }
            item.store(to, 1);
        });
        program.keep(to);
        let encoded = program.encode(&PlanRequest::default());
        matches!(
            encoded,
            Err(ProgramError::UnwrittenRegister { register, .. }) if register == "to"
        )
    };
    assert!(unwritten(|list, count| Over::List { list, count }, false));
    assert!(unwritten(|_, _| Over::Count(20), true));
    assert!(unwritten(|_, _| Over::Count(19), false));
    assert!(!unwritten(|_, _| Over::Count(20), false));
}

#[test]
fn a_wave_goes_over_no_more_items_than_anything_has() {
    let mut program = ProgramBuilder::new(10);
    let sum = program.values("sum", Kind::U32, 1).unwrap();
    program.fill("clear", sum, 0);
    program.each("wave", Over::Count(65_537), |item| {
        item.scatter(sum, 0, Join::Sum, 1);
    });
    program.keep(sum);
    let (encoded, _) = program.encode(&PlanRequest::default()).unwrap();
    let text = encoded.check().unwrap_err().to_string();
    assert!(
        text.contains("65537 items and this program allows 65536"),
        "{text}"
    );
}

/// The refusal of a wave that reads `words` where it writes them.
fn own_words() -> CodeError {
    let register = "words".to_owned();
    CodeError::ReadsWhatItWrites { register }
}

#[test]
fn results_that_depend_on_who_comes_first_are_refused() {
    let found = problem(|item, [words, ..]| {
        let least = item.gather(Edges::Out, Join::Min, |edge| edge.there(words));
        item.store(words, least);
    });
    assert_eq!(found, own_words());
    let found = problem(|item, [words, ..]| {
        item.scatter(words, 0, Join::Sum, item.load(words));
    });
    assert_eq!(found, own_words());
}

#[test]
fn registers_have_a_value_for_each_item() {
    let found = problem(|item, [.., one]| item.store(one, 1));
    let expected = CodeError::TooShort {
        register: "one".into(),
        held: 1,
        items: 10,
    };
    assert_eq!(found, expected);
}

#[test]
fn values_of_edges_end_with_their_part() {
    let found = problem(|item, [words, ..]| {
        let mut kept = None;
        item.each_edge(Edges::Out, |edge| kept = Some(edge.neighbour()));
        if let Some(neighbour) = kept {
            item.store(words, neighbour);
        }
    });
    assert_eq!(found, CodeError::ValueOfEdge);
}

#[test]
fn an_edge_ends_with_its_part() {
    let leaked = |use_it: for<'c> fn(Item<'c>, Edge<'c>, RegisterId)| {
        problem(|item, [words, ..]| {
            let mut kept = None;
            item.each_edge(Edges::Out, |edge| kept = Some(edge));
            if let Some(edge) = kept {
                use_it(item, edge, words);
            }
        })
    };
    let uses: [for<'c> fn(Item<'c>, Edge<'c>, RegisterId); 7] = [
        |item, edge, words| item.store(words, edge.neighbour()),
        |item, edge, words| item.store(words, edge.number()),
        |item, edge, words| item.store(words, edge.weight()),
        |item, edge, words| item.store(words, edge.there(words)),
        |_, edge, _| edge.only(1),
        |_, edge, _| edge.until(1),
        |item, edge, words| {
            let other = item.gather(Edges::In, Join::Sum, |_| edge.neighbour());
            item.store(words, other);
        },
    ];
    for use_it in uses {
        assert_eq!(leaked(use_it), CodeError::ValueOfEdge);
    }
}

#[test]
fn stores_beside_joins_and_changes_of_the_items_are_refused() {
    let register = "words".to_owned();
    let found = problem(|item, [words, ..]| {
        item.store(words, 1);
        item.scatter(words, 0, Join::Sum, 1);
    });
    assert_eq!(found, CodeError::StoresWhatItJoins { register });
    let mut program = ProgramBuilder::new(10);
    let list = program.per_node("list", Kind::U32).unwrap();
    let count = program.values("count", Kind::U32, 1).unwrap();
    program.iota("list", list);
    program.fill("all", count, 10);
    program.each("wave", Over::List { list, count }, |item| {
        item.scatter(count, 0, Join::Sum, 1);
    });
    let refused = program.encode(&PlanRequest::default()).unwrap_err();
    let register = "count".to_owned();
    let (wave, problem) = ("wave".to_owned(), CodeError::ChangesItsItems { register });
    assert_eq!(refused, ProgramError::Code { wave, problem });
}

#[test]
fn numbers_stand_on_either_side() {
    let mut program = ProgramBuilder::new(10);
    let words = program.per_node("words", Kind::U32).unwrap();
    let floats = program.per_node("floats", Kind::F32).unwrap();
    program.each("wave", Over::Nodes, |item| {
        let number = item.index();
        item.store(words, 9 - number + 3_u32 * number);
        item.store(floats, 1.0 / number.to_f32() - 2 * number.to_f32());
    });
    program.keep(words);
    program.keep(floats);
    assert!(program.encode(&PlanRequest::default()).is_ok());
}

#[test]
fn no_value_of_an_edge_takes_the_place_of_one_that_the_next_edge_uses() {
    let mut program = ProgramBuilder::new(10);
    let words = program.per_node("words", Kind::U32).unwrap();
    program.fill("clear", words, 0);
    program.each("wave", Over::Nodes, |node| {
        let (own, degree) = (node.index(), node.degree(Edges::Out, node.index()));
        node.each_edge(Edges::Out, |edge| {
            // Its last step makes an unused value.
            edge.scatter(words, edge.neighbour() % degree, Join::Max, own);
        });
    });
    let (encoded, _) = program.encode(&PlanRequest::default()).unwrap();
    let begin = encoded
        .code
        .iter()
        .position(|at| at.op == Op::Edges as u32)
        .unwrap();
    use seawall_core::abi::code::{NUMBERED, OF_EDGE, TEMPORARY};
    let part = &encoded.code[begin + 1..];
    for at in part {
        let [to, from @ ..] = at.temps;
        for used in from.into_iter().filter(|used| used & TEMPORARY != 0) {
            let is_of_item = used & OF_EDGE == 0;
            let takes_place = to & TEMPORARY != 0 && to & NUMBERED == used & NUMBERED;
            assert!(!is_of_item || !takes_place, "{part:?}");
        }
    }
}

#[test]
fn the_least_and_the_largest_of_neighbours_fit_one_wave() {
    for kind in [Kind::U32, Kind::I32, Kind::F32] {
        let mut program = ProgramBuilder::new(10);
        let given = program.input_values("given", kind, 10).unwrap();
        let [low, high] = ["low", "high"].map(|name| program.per_node(name, Kind::U32).unwrap());
        let [least, most] = ["least", "most"].map(|name| program.per_node(name, kind).unwrap());
        program.each("both", Over::Nodes, |node| {
            let [value, first] = node.argmin(Edges::Out, |edge| edge.there(given));
            let [other, last] = node.argmax(Edges::Out, |edge| edge.there(given));
            node.store(low, first);
            node.store(high, last);
            node.store(least, value);
            node.store(most, other);
        });
        program.keep(low);
        program.encode(&PlanRequest::default()).unwrap();
    }
}

#[test]
fn constants_and_numbers_stand_in_instructions_and_values_without_use_are_not_made() {
    let mut program = ProgramBuilder::new(10);
    let words = program.per_node("words", Kind::U32).unwrap();
    program.fill("clear", words, 0);
    program.each("wave", Over::Nodes, |node| {
        let number = node.index();
        let _ = number * 3;
        node.store(
            words,
            (node.constant(7_u32) + number) - (node.constant(9_u32) - number),
        );
        node.each_edge(Edges::Out, |edge| {
            let _ = edge.neighbour() ^ 5;
            edge.only(edge.neighbour().above(6));
        });
    });
    program.keep(words);
    let (encoded, _) = program.encode(&PlanRequest::default()).unwrap();
    let ops: Vec<_> = encoded.code.iter().map(|at| at.op).collect();
    // The first operand of an instruction is the accumulator, so it is loaded first.
    let expected = [
        Op::Take,
        Op::Add,
        Op::Sub,
        Op::Sub,
        Op::Store,
        Op::Edges,
        Op::Above,
    ];
    assert_eq!(ops, expected.map(|op| op as u32));
    let last = encoded.code[6];
    assert!([last.first, last.second].contains(&6), "{last:?}");
}

#[test]
fn too_many_values_at_a_time_are_refused() {
    let found = problem(|item, [words, ..]| {
        let all: Vec<_> = (0..20_u32).map(|number| item.index() + number).collect();
        let sum = all.into_iter().reduce(|sum, value| sum + value);
        if let Some(sum) = sum {
            item.store(words, sum);
        }
    });
    assert!(matches!(found, CodeError::TooManyValues { .. }));
}
