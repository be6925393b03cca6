//! Analyses files with every analysis and prints the figures.
//!
//! `cargo run --release -p seawall-modules --example analyse_module -- FILE.wasm..`

use seawall::executor::Machine;
use seawall_modules::flow::On;
use seawall_modules::model::Program;
use seawall_modules::points_to::OpenTables;
use seawall_modules::report::{AnalysisName, Request, Resolve, run};
use std::error::Error;
use std::num::NonZeroUsize;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut program = Program::default();
    let clock = Instant::now();
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        seawall_modules::read(&mut program, &path, bytes)?;
    }
    println!("read in {:?}", clock.elapsed());
    let request = Request {
        analyses: AnalysisName::ALL.to_vec(),
        reach: Vec::new(),
        sources: vec!["load".parse()?],
        sinks: Vec::new(),
        ways: 0,
        resolve: Resolve::default(),
        open_tables: OpenTables::default(),
        on: On::new(Machine::cpu(NonZeroUsize::new(1))),
    };
    let answer = run(&program, &request)?;
    println!("{:?}", answer.program);
    for analysis in &answer.analyses {
        println!("{analysis:?}");
    }
    Ok(())
}
