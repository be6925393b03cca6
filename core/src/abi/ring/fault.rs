//! Faults: the ends of slots that could not be done.

/// Reason of a refusal or of a slot's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum FaultCode {
    /// The opcode is reserved or has no handler; the detail is the opcode.
    UnknownOpcode = 1,
    /// There is no such tenant; the detail is its number.
    BadTenant = 2,
    /// There is no such priority, or the slot is not one of it; the detail is the word.
    BadPriority = 3,
    /// There is no such batch; the detail is its number.
    BadBatch = 4,
    /// The tenant may not ask for this; the detail is the opcode.
    NotPermitted = 5,
    /// An address lies outside the tenant's window; the detail is the address.
    BadAddress = 6,
    /// An argument has no meaning; the detail is its value.
    BadArgument = 7,
    /// The handler took longer than a slot may; the detail is 0.
    TimeBudget = 8,
    /// A node is none of the graph; the detail is its number.
    NoSuchNode = 9,
    /// There is no such program; the detail is its number.
    NoSuchProgram = 10,
    /// The program ended in a fault; the detail is the code of its fault record.
    ProgramFault = 11,
    /// The machine lacked a resource that the handler needed, such as memory.
    Machine = 12,
    /// A handler of a user's opcode panicked or refused; the detail is its own.
    Handler = 13,
    /// A slot named a continuation in a state that cannot continue; the detail is the flags.
    BadContinuation = 14,
    /// A code that this version does not know.
    Unknown = u32::MAX,
}

impl FaultCode {
    /// Every code that a slot can end with.
    pub const ALL: [Self; 14] = [
        Self::UnknownOpcode,
        Self::BadTenant,
        Self::BadPriority,
        Self::BadBatch,
        Self::NotPermitted,
        Self::BadAddress,
        Self::BadArgument,
        Self::TimeBudget,
        Self::NoSuchNode,
        Self::NoSuchProgram,
        Self::ProgramFault,
        Self::Machine,
        Self::Handler,
        Self::BadContinuation,
    ];

    /// The code of a word.
    #[must_use]
    pub fn from_word(word: u32) -> Self {
        let known = Self::ALL.into_iter().find(|code| *code as u32 == word);
        known.unwrap_or(Self::Unknown)
    }
}
