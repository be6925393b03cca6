//! WebAssembly modules and flow graphs: accepted ones have sound blocks, and every analysis of them
//! ends with the same findings, whether its facts go to the machine at once or in parts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seawall::executor::Machine;
use seawall_fuzz::{limit, pool};
use seawall_modules::flow::{Limits, On};
use seawall_modules::model::{Body, Program};
use seawall_modules::report::{AnalysisName, Request, run};
use seawall_modules::taint::{Port, Spec};
use seawall_modules::{ModuleError, read};
use std::num::NonZeroUsize;

fuzz_target!(|bytes: &[u8]| {
    pool::start();
    limit::allow(64 << 20, "tables of the machine's threads");
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
        (Ok(_), Err(ModuleError::TooManyFacts { .. })) => {}
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
