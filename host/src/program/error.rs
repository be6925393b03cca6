//! Problems of a wave program.

use super::table_error::TableError;
use seawall_core::abi::facts::Invariant;
use seawall_core::plan::ExecutionError;

/// A program could not be planned or encoded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
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
    /// The body of a fixpoint put another builder in the place of its own.
    #[error("the body of fixpoint {name} replaced the builder; add its waves to the one given")]
    ReplacedBuilder {
        /// Name of the fixpoint.
        name: String,
    },
    /// A register is shorter than a wave needs.
    #[error(
        "wave {wave} needs {needed} words of register {register}, which has {words}; make it longer"
    )]
    RegisterTooShort {
        /// Name of the wave.
        wave: String,
        /// Name of the register.
        register: &'static str,
        /// Words that it has.
        words: u32,
        /// Words that the wave needs.
        needed: u64,
    },
    /// The bound of shortest paths would never move.
    #[error("wave {wave} moves its bound by 0 a round; give it a width of at least 1")]
    NoWidth {
        /// Name of the wave.
        wave: String,
    },
    /// A share of rank that no ranking passes on.
    #[error("a damping of {damping}; it is a share from 0 to below 1, such as 0.85")]
    Damping {
        /// The damping asked for.
        damping: f32,
    },
    /// A total change at which no ranking ends.
    #[error("a tolerance of {tolerance}; it is a total change from 0 to below 1, such as 0.0001")]
    Tolerance {
        /// The tolerance asked for.
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
        register: &'static str,
    },
    /// A register is longer than the tables can say.
    #[error(
        "register {name} needs {words} words and at most {max} can be addressed; use a smaller graph"
    )]
    RegisterTooLong {
        /// Name of the register.
        name: &'static str,
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
    /// A fixpoint has nothing to repeat.
    #[error("fixpoint {name} has an empty body; give it at least one wave")]
    EmptyBody {
        /// Name of the fixpoint.
        name: String,
    },
    /// A register does not hold what a wave takes for granted.
    #[error("wave {wave} ({name}) needs register {register} to be {}", needs.remedy())]
    Unproven {
        /// Number of the wave.
        wave: u32,
        /// Its name.
        name: String,
        /// Name of the register.
        register: &'static str,
        /// The value that it must have.
        needs: Invariant,
    },
    /// A wave relies on something else that the program does not provide.
    #[error(transparent)]
    Tables(TableError),
    /// The planner refused the waves or their registers.
    #[error("planning the waves: {0}")]
    Plan(#[from] ExecutionError),
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
}
