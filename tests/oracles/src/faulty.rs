//! Programs that end with a fault, which every executor must report in the same way.
//!
//! All of them run on a graph of at least [`NODES`] nodes.

use seawall::program::{
    BitOp, EncodedProgram, PlanRequest, ProgramBuilder, ProgramError, RegisterId, Transfer,
    Triangles,
};
use seawall_core::abi::program::{Opcode, Reduction};

/// Nodes of the programs' graphs.
pub const NODES: u32 = 100;

/// Name of the wave that [`stalled`] stalls in.
pub const STALL: &str = "hold the door";

/// Name of the loop of [`endless`].
pub const ENDLESS: &str = "endless";

fn plan(program: &ProgramBuilder) -> Result<EncodedProgram, ProgramError> {
    Ok(program.encode(&PlanRequest::default())?.0)
}

/// A wave that delays `block`, with others before and after it.
///
/// # Errors
/// Only the planner's errors.
pub fn stalled(block: u32) -> Result<EncodedProgram, ProgramError> {
    let mut program = ProgramBuilder::new(NODES);
    let a = program.words("a", 20_000)?;
    let b = program.words("b", 20_000)?;
    let c = program.words("c", 20_000)?;
    program.fill("fill", a, 1);
    program.copy("copy", b, a);
    program.stall(STALL, block);
    program.copy("after", c, b);
    program.keep(c);
    plan(&program)
}

/// A loop whose facts flip in each iteration, so that it never converges.
///
/// # Errors
/// Only the planner's errors.
pub fn endless() -> Result<EncodedProgram, ProgramError> {
    let mut program = ProgramBuilder::new(NODES);
    let [a, ones] = [program.words("a", 100)?, program.words("ones", 100)?];
    let [none, flipped] = [program.words("none", 100)?, program.words("flipped", 100)?];
    program.fill("a", a, 0);
    program.fill("ones", ones, 1);
    program.fill("none", none, 0);
    program.fixpoint(ENDLESS, u32::MAX, |program| {
        program.combine("flip", BitOp::Xor, flipped, [a, ones]);
        let transfer = Transfer {
            from: flipped,
            generated: none,
            killed: none,
        };
        program.gen_kill("store", a, transfer);
    });
    program.keep(a);
    plan(&program)
}

/// Name of the wave of [`out_of_range`] that follows indices.
pub const PICK: &str = "pick";

/// Words of the register that [`out_of_range`] reads by index.
pub const PICKED_FROM: u32 = 6;

/// A wave that follows `index` from memory into a register of [`PICKED_FROM`] words; the loop
/// after it would never end.
///
/// # Errors
/// Only the planner's errors.
pub fn out_of_range(index: u32) -> Result<EncodedProgram, ProgramError> {
    let mut program = ProgramBuilder::new(NODES);
    let from = program.words("from", PICKED_FROM.into())?;
    let [indices, to] = [program.words("indices", 300)?, program.words("to", 300)?];
    program.iota("number", from);
    program.fill("indices", indices, index);
    program.gather(PICK, to, from, indices);
    program.keep(to);
    plan(&program)
}

/// Name of the wave of [`unmade`] that faults.
pub const ORIENT: &str = "orient too few";

/// A wave that faults because one of its registers is too short before it has written the other,
/// and a later wave that relies on that one.
///
/// # Errors
/// Only the planner's errors.
pub fn unmade() -> Result<EncodedProgram, ProgramError> {
    let mut program = ProgramBuilder::new(NODES);
    let corners = program.words("corners", NODES.into())?;
    let forward = program.words("forward", 1000)?;
    let [short, degrees] = [
        program.words("short", NODES.into())?,
        program.words("degrees", NODES.into())?,
    ];
    let other = program.words("other", 1000)?;
    let orient = |forward, degrees| Triangles {
        corners,
        forward,
        degrees,
        held: 0,
        centers: None,
    };
    program.fill("corners", corners, 0);
    program.orient_edges("orient others", orient(other, degrees));
    program.orient_edges(ORIENT, orient(forward, short));
    program.count_triangles("count", orient(forward, degrees));
    program.keep(corners);
    let mut program = plan(&program)?;
    program.registers[short.number() as usize].words = 1;
    Ok(program)
}

/// The copy in the middle of [`plain`].
pub const COPY: &str = "copy";

/// Returns the register of [`plain`] that finally holds [`SUM`].
///
/// # Panics
/// For another program.
#[must_use]
pub fn total(program: &EncodedProgram) -> RegisterId {
    program
        .register(2)
        .expect("the program has three registers")
}

/// The sum of [`plain`].
pub const SUM: u32 = 299 * 300 / 2;

/// Three valid waves, to be broken by hand.
///
/// # Errors
/// Only the planner's errors.
pub fn plain() -> Result<EncodedProgram, ProgramError> {
    let mut program = ProgramBuilder::new(NODES);
    let [a, b] = [program.words("a", 300)?, program.words("b", 300)?];
    let sum = program.words("sum", 1)?;
    program.iota("number", a);
    program.copy(COPY, b, a);
    program.reduce("add", Reduction::Sum, sum, b);
    program.keep(sum);
    plan(&program)
}

/// Returns [`plain`] with another opcode or source in its copy.
///
/// # Errors
/// Only the planner's errors.
pub fn broken(opcode: Option<u32>, source: Option<u32>) -> Result<EncodedProgram, ProgramError> {
    let mut program = plain()?;
    let is_copy = |wave: &&mut _| {
        let wave: &seawall_core::abi::program::WaveRecord = wave;
        wave.opcode == Opcode::Copy as u32
    };
    if let Some(copy) = program.waves.iter_mut().find(is_copy) {
        copy.opcode = opcode.unwrap_or(copy.opcode);
        copy.sources[0] = source.unwrap_or(copy.sources[0]);
    }
    Ok(program)
}
