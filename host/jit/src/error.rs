//! Reasons for which there is no machine code.

/// The reason for which there is no machine code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JitError {
    /// Cranelift makes no code for this processor.
    #[error("no machine code for this processor: {reason}")]
    Processor {
        /// Cranelift's message.
        reason: String,
    },
    /// The system gives no memory that may be executed.
    #[error("the system allows no executable memory: {reason}")]
    Memory {
        /// The system's message.
        reason: String,
    },
    /// The code has not passed the checks of programs.
    #[error("instruction {instruction} has not passed the checks of programs")]
    Unchecked {
        /// Its number in the table.
        instruction: usize,
    },
    /// Two different waves have the same code, by whose number a GPU's kernel finds that of a wave.
    #[error("two waves share the code from instruction {instruction} on")]
    Shared {
        /// The number of its first instruction in the program's table.
        instruction: usize,
    },
    /// Cranelift refuses a function.
    #[error("Cranelift: {reason}")]
    Cranelift {
        /// Its message.
        reason: String,
    },
}
