//! Problems of a wave program.

use super::table_error::TableError;
use crate::graph::as_text;
use seawall_core::abi::code::{Join, Kind};
use seawall_core::abi::facts::{Invariant, Operand};
use seawall_core::plan::ExecutionError;

/// A program could not be planned or encoded.
#[derive(Clone, Debug, PartialEq, serde::Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProgramError {
    /// A register of another builder.
    #[error(
        "{user} names register {register} of another program; use what this program's builder returned"
    )]
    ForeignRegister {
        /// The wave or the call that names it.
        user: String,
        /// Its number in the builder that it comes from.
        register: u32,
    },
    /// The body of a fixpoint replaced its builder by another one.
    #[error("the body of fixpoint {name} replaced the builder; add its waves to the one given")]
    ReplacedBuilder {
        /// Name of the fixpoint.
        name: String,
    },
    /// A wave that runs once reads a changing register, or another wave changes a register of such
    /// waves.
    #[error(
        "wave {wave} changes register {register} of waves that run once, or runs once and reads it though it changes; put it outside of `once`"
    )]
    ChangesBetweenRuns {
        /// Name of the wave.
        wave: String,
        /// Name of the register.
        register: String,
    },
    /// A wave that runs once is a loop or in the body of one.
    #[error(
        "wave {wave} is to run once, but is a loop or in the body of one; use `once` outside of loops, for other waves"
    )]
    LoopOnce {
        /// Name of the wave.
        wave: String,
    },
    /// A register is shorter than a wave needs.
    #[error(
        "wave {wave} needs {needed} words of register {register}, which has {words}; make it longer"
    )]
    RegisterTooShort {
        /// Name of the wave.
        wave: String,
        /// Name of the register.
        register: String,
        /// Words that it has.
        words: u32,
        /// Words that the wave needs.
        needed: u64,
    },
    /// The bucket of shortest paths would never move.
    #[error("wave {wave} moves its bound by 0 a round; give it a width of at least 1")]
    NoWidth {
        /// Name of the wave.
        wave: String,
    },
    /// A number of hubs that no kernel supports.
    #[error("{user} has space for {space} hubs; take a power of two from 2048 to 16384")]
    HubSpace {
        /// Name of the wave or the register.
        user: String,
        /// The requested space.
        space: u32,
    },
    /// Sizes of slices that no kernel supports.
    #[error(
        "{user} has slices of 2^{width_log2} nodes and parts of 2^{part_log2} rows; take at most 2^31 nodes, 2^5 to 2^20 rows, and so few slices that 32 bits count a row for each node and slice"
    )]
    SliceShape {
        /// Name of the wave or of the registers.
        user: String,
        /// Nodes of a slice, as a power of two.
        width_log2: u32,
        /// Rows of a part, as a power of two.
        part_log2: u32,
    },
    /// A damping that no ranking supports.
    #[error("a damping of {damping}; it is a share from 0 to below 1, such as 0.85")]
    Damping {
        /// The requested damping.
        damping: f32,
    },
    /// A total change at which no ranking ends.
    #[error("a tolerance of {tolerance}; it is a total change from 0 to below 1, such as 0.0001")]
    Tolerance {
        /// The requested tolerance.
        tolerance: f32,
    },
    /// A wave reads a register that no earlier wave writes.
    #[error(
        "wave {wave} ({name}) reads register {register}, which no earlier wave writes; fill it first"
    )]
    UnwrittenRegister {
        /// Number of the wave.
        wave: u32,
        /// Its name.
        name: String,
        /// Name of the register.
        register: String,
    },
    /// A kept register that no wave writes, or only a loop that may have no iteration.
    #[error("register {register} is kept, and no wave is sure to write it; fill it first")]
    UnwrittenResult {
        /// Name of the register.
        register: String,
    },
    /// A register is longer than the tables can express.
    #[error(
        "register {name} needs {words} words and at most {max} can be addressed; use a smaller graph"
    )]
    RegisterTooLong {
        /// Name of the register.
        name: String,
        /// Words that it needs.
        words: u64,
        /// The most words a register can have.
        max: u64,
    },
    /// A fixpoint stands in the body of another one.
    #[error("wave {name} is a fixpoint inside another fixpoint's body; unroll one of them")]
    NestedFixpoint {
        /// Name of the inner fixpoint.
        name: String,
    },
    /// A loop is nested too deep.
    #[error(
        "loop {name} is inside {depth} others and at most {most} may be; put its waves into the outer one"
    )]
    TooDeep {
        /// Name of the loop.
        name: String,
        /// Nesting depth.
        depth: u32,
        /// Largest nesting depth.
        most: u32,
    },
    /// The code of a wave is invalid.
    #[error("wave {wave}: {problem}")]
    Code {
        /// Name of the wave.
        wave: String,
        /// The problem.
        #[source]
        #[serde(serialize_with = "as_text")]
        problem: CodeError,
    },
    /// A wave of another crate is used wrongly.
    #[error("wave {wave}: {problem}")]
    Own {
        /// Name of the wave.
        wave: String,
        /// The problem.
        #[source]
        #[serde(serialize_with = "as_text")]
        problem: OwnError,
    },
    /// A fixpoint has nothing to repeat.
    #[error("fixpoint {name} has an empty body; give it at least one wave")]
    EmptyBody {
        /// Name of the fixpoint.
        name: String,
    },
    /// A register does not have the content that a wave relies on.
    #[error("wave {wave} ({name}) needs register {register} to be {}", needs.remedy())]
    Unproven {
        /// Number of the wave.
        wave: u32,
        /// Its name.
        name: String,
        /// Name of the register.
        register: String,
        /// The value that it must have.
        #[serde(skip)]
        needs: Invariant,
    },
    /// A wave relies on something else that the program does not provide.
    #[error(transparent)]
    Tables(#[serde(skip)] TableError),
    /// No plan keeps the program inside its budget.
    #[error(
        "the program needs {needed_bytes} bytes, resident ones included, and the budget is {budget_bytes}; raise it to at least that"
    )]
    OverBudget {
        /// The least budget that works.
        needed_bytes: u64,
        /// Bytes of the budget.
        budget_bytes: u64,
    },
    /// The planner refused the waves or their registers.
    #[error("planning the waves: {0}")]
    #[serde(untagged)]
    Plan(#[from] ExecutionError),
}

/// A wave of another crate is used wrongly.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OwnError {
    /// The set in use lacks the wave.
    #[error("no set in use has the wave {name}; call use_waves with one that does")]
    NoSuchWave {
        /// Name of the wave in its crate.
        name: &'static str,
    },
    /// The program uses a set already.
    #[error("the program uses another set of waves; put all waves into one set")]
    TwoSets,
    /// An operand that the wave has is missing.
    #[error("its facts declare operand {operand:?} and it has none; name a register")]
    Missing {
        /// The operand.
        operand: Operand,
    },
    /// An operand that the wave does not have.
    #[error("its facts declare no operand {operand:?} and it has one; leave it out")]
    Unused {
        /// The operand.
        operand: Operand,
    },
    /// Weights of two kinds.
    #[error("weights are whole numbers and floats at once; use those that the graph has")]
    TwoWeights,
}

/// The code of a wave is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// A value of another kind than an operation takes.
    #[error("{what} takes values of {needed:?} and got one of {found:?}; convert it")]
    Kind {
        /// The operation.
        what: &'static str,
        /// Kind of the value.
        found: Kind,
        /// Kind that it takes.
        needed: Kind,
    },
    /// A value of another kind than a register holds.
    #[error("register {register} holds values of {needed:?}, not of {found:?}; convert it")]
    RegisterKind {
        /// Name of the register.
        register: String,
        /// Kind of the value.
        found: Kind,
        /// Kind of the register.
        needed: Kind,
    },
    /// An operation that values of a kind do not have.
    #[error("there is no {what} of values of {kind:?}; convert them")]
    NoSuchOperation {
        /// The operation.
        what: &'static str,
        /// Kind of the values.
        kind: Kind,
    },
    /// A join that values of a kind do not have.
    #[error("values of {kind:?} have no {how:?}; convert them")]
    NoSuchJoin {
        /// The join.
        how: Join,
        /// Kind of the values.
        kind: Kind,
    },
    /// An edge, or a value of one, is used outside of its edge.
    #[error("an edge or a value of one is used outside of its edges; return it to be joined")]
    ValueOfEdge,
    /// Edges of edges.
    #[error("edges are visited inside of edges; gather one of them in a wave before")]
    EdgesInEdges,
    /// An operation that an edge does not have.
    #[error("{what} stands among edges; join a value and do it at the item")]
    AtEdge {
        /// The request.
        what: &'static str,
    },
    /// Weights of two kinds.
    #[error("weights are whole numbers and floats at once; use those that the graph has")]
    TwoWeights,
    /// Items read values that others write.
    #[error(
        "register {register} is changed by some items and read by others, which may come before or after; store to another register, or read the latest value if either will do"
    )]
    ReadsWhatItWrites {
        /// Name of the register.
        register: String,
    },
    /// Items store to values that others join to.
    #[error(
        "register {register} is stored to by items and joined to by others, which may come before or after; join in both cases, or do one of them in another wave"
    )]
    StoresWhatItJoins {
        /// Name of the register.
        register: String,
    },
    /// Code changes the list whose entries are its items.
    #[error(
        "register {register} says which entries are the items of this wave, and the wave changes it; write to another one"
    )]
    ChangesItsItems {
        /// Name of the register.
        register: String,
    },
    /// A register has no value for each item.
    #[error("register {register} holds {held} values and there are {items} items; make it longer")]
    TooShort {
        /// Name of the register.
        register: String,
        /// Values that it holds.
        held: u32,
        /// Items of the wave.
        items: u32,
    },
    /// More values at a time than there is space for.
    #[error(
        "more values are in use at a time than {most} words hold, of which 64-bit values take two, and results of edges twice as many; store some in registers and load them in a second wave"
    )]
    TooManyValues {
        /// Words that there are.
        most: u32,
    },
}
