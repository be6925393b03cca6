//! A user's wave program: reaching definitions over a control-flow graph.
//!
//! `cargo run --release -p seawall --example dataflow`
//!
//! ```text
//! 0: x = 1          d0
//! 1: y = 2          d1
//! 2: while ..
//! 3:   x = x + y    d2
//! 4:   y = 3        d3
//! 5: return x
//! ```
//!
//! Each block has one word of facts, one bit per definition. A definition reaches a block if it
//! reaches the end of a predecessor. It reaches the end of a block if the block makes it, or does
//! not kill it. Two waves compute this, and a fixpoint repeats them until nothing changes. The
//! dependencies between the waves follow from their reads and writes.

use seawall::backend::ProgramSession;
use seawall::executor::Machine;
use seawall::graph::Graph;
use seawall::program::{Meet, PlanRequest, ProgramBuilder, ProgramError, RegisterId, Transfer};
use std::error::Error;

const BLOCKS: u32 = 6;
const FLOW: [(u32, u32); 6] = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 2), (2, 5)];
/// Definitions that each block makes, one bit each.
const MADE: [u32; BLOCKS as usize] = [0b0001, 0b0010, 0, 0b0100, 0b1000, 0];
/// Definitions of the same variable that each block kills.
const ENDED: [u32; BLOCKS as usize] = [0b0100, 0b1000, 0, 0b0001, 0b0010, 0];

fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::from_edges(BLOCKS, &FLOW, false)?;
    let (program, registers) = reaching_definitions()?;
    let (encoded, plan) = program.encode(&PlanRequest::default())?;
    println!(
        "{} groups, {} global barriers",
        plan.groups, plan.global_barriers
    );

    let mut session = ProgramSession::open(&graph, &Machine::cpu(None))?;
    session.load(&encoded)?;
    session.set_input(registers.made, &MADE)?;
    session.set_input(registers.ended, &ENDED)?;
    let stats = session.run()?;
    println!("{} iterations", stats.control.loops[0].iterations);

    let mut facts = Vec::new();
    session.read(registers.at_start, &mut facts)?;
    for (block, word) in facts.iter().enumerate() {
        let definitions: Vec<_> = (0..4)
            .filter(|bit| word >> bit & 1 == 1)
            .map(|bit| format!("d{bit}"))
            .collect();
        println!("block {block}: {}", definitions.join(" "));
    }
    Ok(())
}

/// The registers that are set and read.
struct Registers {
    made: RegisterId,
    ended: RegisterId,
    /// The facts at the start of each block.
    at_start: RegisterId,
}

/// The program and its registers.
fn reaching_definitions() -> Result<(ProgramBuilder, Registers), ProgramError> {
    let mut program = ProgramBuilder::new(BLOCKS);
    let words = u64::from(BLOCKS);
    let generated = program.input("made", words)?;
    let killed = program.input("ended", words)?;
    let at_start = program.words("facts at the start", words)?;
    let at_end = program.words("facts at the end", words)?;

    program.fill("nothing reaches a start", at_start, 0);
    program.fill("nothing reaches an end", at_end, 0);
    program.fixpoint("settle", BLOCKS * 4 + 1, |body| {
        let union = Meet {
            facts: 1,
            intersect: false,
        };
        body.meet("gather from predecessors", at_start, at_end, union);
        let transfer = Transfer {
            from: at_start,
            generated,
            killed,
        };
        body.gen_kill("pass through the block", at_end, transfer);
    });
    program.keep(at_start);
    let registers = Registers {
        made: generated,
        ended: killed,
        at_start,
    };
    Ok((program, registers))
}
