//! WebAssembly modules and flow graphs: accepted ones have sound blocks, and every analysis of them
//! ends with the same findings, whether its facts go to the machine at once or in parts. Grammars,
//! with a line `%%` and edges after them: accepted ones have the pairs of a plain iteration.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seawall::executor::Machine;
use seawall_fuzz::{limit, pool};
use seawall_modules::flow::{Limits, On};
use seawall_modules::grammar::{Edges, Grammar, Right, Select, Symbol, reach};
use seawall_modules::model::{Body, Program};
use seawall_modules::points_to::OpenTables;
use seawall_modules::report::{AnalysisName, Request, Resolve, run};
use seawall_modules::taint::{Port, Spec};
use seawall_modules::{ModuleError, read};
use std::collections::HashSet;
use std::num::NonZeroUsize;

fuzz_target!(|bytes: &[u8]| {
    pool::start();
    limit::allow(64 << 20, "tables of the machine's threads");
    let text = std::str::from_utf8(bytes).ok();
    if let Some((grammar, edges)) = text.and_then(|text| text.split_once("\n%%\n")) {
        if let Err(error) = check_grammar(grammar, edges) {
            assert!(!error.to_string().is_empty());
        }
        return;
    }
    let mut program = Program::default();
    if let Err(error) = read(&mut program, "input", bytes.to_vec()) {
        assert!(!error.to_string().is_empty());
        return;
    }
    for function in &program.functions {
        check(&function.body);
    }
    // Quadratic facts of larger inputs only take time.
    if program.blocks() > 2000 || program.ops() > 20_000 {
        return;
    }
    let whole = findings(&program, Limits::default());
    let few = Limits {
        batch_bytes: 1 << 18,
        ..Limits::default()
    };
    let parts = findings(&program, few);
    match (whole, parts) {
        (Ok(whole), Ok(parts)) => assert_eq!(whole, parts),
        (Ok(_), Err(ModuleError::TooManyFacts { .. } | ModuleError::TooLarge { .. })) => {}
        (whole, parts) => panic!("{whole:?} and {parts:?}"),
    }
});

/// Runs every analysis of a program.
fn findings(program: &Program, limits: Limits) -> Result<Vec<String>, ModuleError> {
    let all = |name: String| Spec {
        name,
        port: Port::All,
    };
    let sinks = program.functions.iter().filter_map(|one| one.name.clone());
    let request = Request {
        analyses: AnalysisName::ALL.to_vec(),
        reach: Vec::new(),
        sources: vec![all("load".to_owned())],
        sinks: sinks.take(1).map(all).collect(),
        ways: usize::MAX,
        resolve: Resolve::PointsTo,
        open_tables: OpenTables::Extended,
        on: On {
            machine: Machine::cpu(NonZeroUsize::new(1)),
            limits,
        },
    };
    let answer = run(program, &request)?;
    Ok(answer
        .findings
        .iter()
        .map(|one| format!("{one:?}"))
        .collect())
}

/// Rows of successors, operations and stack heights are within the body.
fn check(body: &Body) {
    let blocks = body.blocks.len();
    assert!(
        body.blocks
            .first()
            .is_none_or(|first| first.first_op == 0 && first.height == 0)
    );
    for block in 0..blocks {
        let ops = body.ops_of(block);
        assert!(ops.start <= ops.end && ops.end <= body.ops.len());
        let row = body.successors_of(block);
        assert!(row.iter().all(|to| (*to as usize) < blocks));
        assert!(row.windows(2).all(|pair| pair[0] < pair[1]));
    }
}

/// Compares the pairs of every symbol with a plain iteration over all productions and nodes.
fn check_grammar(grammar: &str, edges: &str) -> Result<(), ModuleError> {
    let grammar = Grammar::read("grammar", grammar)?;
    let mut read = Edges::default();
    read.read(&grammar, "edges", edges)?;
    let reached = reach(&grammar, &read, 8 << 20)?;
    let nodes = read.names.len() as u32;
    if nodes > 24 {
        return Ok(());
    }
    let mut plain = HashSet::new();
    let mut found = HashSet::new();
    for edge in &read.edges {
        insert(&mut plain, edge.symbol, edge.from, edge.to);
    }
    let mut before = usize::MAX;
    while before != plain.len() {
        before = plain.len();
        for production in &grammar.productions {
            for from in 0..nodes {
                for to in 0..nodes {
                    let holds = match production.right {
                        Right::Empty => from == to,
                        Right::One(one) => plain.contains(&(one, from, to)),
                        Right::Two(first, second) => (0..nodes).any(|middle| {
                            plain.contains(&(first, from, middle))
                                && plain.contains(&(second, middle, to))
                        }),
                    };
                    if holds {
                        insert(&mut plain, production.left, from, to);
                    }
                }
            }
        }
    }
    for symbol in grammar.symbols() {
        let select = Select {
            symbol,
            from: None,
            to: None,
        };
        for pair in reached.pairs(select) {
            insert(&mut found, symbol, pair.from, pair.to);
        }
    }
    assert_eq!(plain, found);
    Ok(())
}

fn insert(pairs: &mut HashSet<(Symbol, u32, u32)>, symbol: Symbol, from: u32, to: u32) {
    pairs.insert((symbol, from, to));
    pairs.insert((symbol.inverse(), to, from));
}
