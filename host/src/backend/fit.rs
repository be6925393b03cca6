//! Checks that a program, a graph, inputs and registers match.
//!
//! Every session uses them, so that all sessions refuse the same input.

use super::BackendError;
use crate::graph::Graph;
use crate::program::{EncodedProgram, GraphNeeds, RegisterId};

/// Refuses a program whose tables contradict each other or that does not match `graph`.
pub(super) fn check(program: &EncodedProgram, graph: &Graph) -> Result<(), BackendError> {
    check_graph(program, graph)?;
    check_tables(program)
}

/// Applies [`check`], and refuses a register that the program does not have.
pub(crate) fn check_answer(
    program: &EncodedProgram,
    graph: &Graph,
    register: RegisterId,
) -> Result<(), BackendError> {
    check(program, graph)?;
    Ids::of(program).number_of(register).map(drop)
}

/// Refuses a graph of another size, or one that lacks an array that the program reads.
pub(super) fn check_graph(program: &EncodedProgram, graph: &Graph) -> Result<(), BackendError> {
    if program.nodes != graph.nodes() {
        return Err(BackendError::OtherGraph {
            expected: program.nodes,
            given: graph.nodes(),
        });
    }
    check_needs(program.needs, graph)
}

/// Refuses a graph without the arrays in `needs`, and makes its incoming rows if they are needed.
///
/// # Errors
/// [`BackendError::MissingGraphArray`] when it has no weights,
/// [`BackendError::WrongWeights`] when it has others;
/// [`BackendError::OutOfMemory`].
pub(super) fn check_needs(needs: GraphNeeds, graph: &Graph) -> Result<(), BackendError> {
    match (needs.weights, graph.weight_kind()) {
        (Some(_), None) => Err(BackendError::MissingGraphArray {
            what: "edge weights",
        }),
        (Some(needed), Some(found)) if needed != found => {
            Err(BackendError::WrongWeights { needed, found })
        }
        _ if needs.incoming => make_incoming(graph),
        _ => Ok(()),
    }
}

fn make_incoming(graph: &Graph) -> Result<(), BackendError> {
    let made = graph.try_incoming().map(|_| ());
    made.map_err(BackendError::short("the rows of incoming edges"))
}

/// Refuses tables that contradict each other.
pub(super) fn check_tables(program: &EncodedProgram) -> Result<(), BackendError> {
    program
        .check()
        .map_err(|problem| BackendError::BadProgram { problem })
}

/// Refuses inputs whose length differs from that of the input region.
pub(super) fn check_inputs(expected_bytes: u64, inputs: &[u32]) -> Result<(), BackendError> {
    let (expected, given) = (expected_bytes / 4, inputs.len() as u64);
    if given == expected {
        return Ok(());
    }
    Err(BackendError::InputLength { expected, given })
}

/// The identifiers of a program's registers, by number.
#[derive(Debug)]
pub(super) struct Ids(Vec<RegisterId>);

impl Ids {
    pub(super) fn of(program: &EncodedProgram) -> Self {
        let numbers = 0..program.registers.len() as u32;
        Self(numbers.filter_map(|at| program.register(at)).collect())
    }

    /// Returns the number of `register`.
    ///
    /// # Errors
    /// If the register belongs to another program, or was added after the program was encoded.
    pub(super) fn number_of(&self, register: RegisterId) -> Result<usize, BackendError> {
        let number = register.number();
        match self.0.get(number as usize) {
            Some(id) if *id == register => Ok(number as usize),
            Some(_) => Err(BackendError::ForeignRegister { register: number }),
            None => Err(BackendError::NoSuchRegister {
                register: number,
                registers: self.0.len() as u32,
            }),
        }
    }
}
