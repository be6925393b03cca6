//! Kinds of work, and the opcodes that name them.

/// Request of a slot. Waves have separate opcodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Kind {
    /// Nothing.
    Nop = 0,
    /// Write a word of the window.
    Store = 1,
    /// Add to a word of the window.
    Add = 2,
    /// Read a word of the window.
    Load = 3,
    /// Replace a word of the window if it is as expected.
    CompareSwap = 4,
    /// Copy words of the window.
    Copy = 5,
    /// Run an automaton over symbols in the window.
    DfaStep = 6,
    /// Wait for a batch.
    BatchFence = 7,
    /// Run a wave program.
    RunProgram = 8,
    /// Whether a node reaches another one.
    Reach = 9,
    /// The distance of a node from another one.
    Distance = 10,
    /// The neighbours of a node.
    Neighbours = 11,
    /// Several short operations.
    Packed = 12,
    /// Write to the log.
    Print = 13,
    /// End the service when its work is done.
    Shutdown = 14,
    /// A user's opcode.
    User = 15,
}

impl Kind {
    /// Number of kinds.
    pub const COUNT: usize = 16;

    /// Every kind, by index.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Nop,
        Self::Store,
        Self::Add,
        Self::Load,
        Self::CompareSwap,
        Self::Copy,
        Self::DfaStep,
        Self::BatchFence,
        Self::RunProgram,
        Self::Reach,
        Self::Distance,
        Self::Neighbours,
        Self::Packed,
        Self::Print,
        Self::Shutdown,
        Self::User,
    ];

    /// Returns the kind of an opcode; `None` if the opcode is reserved.
    ///
    /// ```
    /// use seawall_core::abi::ring::Kind;
    /// assert_eq!(Kind::of(3), Some(Kind::Load));
    /// assert_eq!(Kind::of(0x1_0000), Some(Kind::User));
    /// assert_eq!(Kind::of(0x8000_0002), None);
    /// ```
    #[must_use]
    pub const fn of(opcode: u32) -> Option<Self> {
        Some(match opcode {
            0 => Self::Nop,
            1 => Self::Store,
            2 => Self::Add,
            3 => Self::Load,
            4 => Self::CompareSwap,
            5 => Self::Copy,
            6 => Self::DfaStep,
            7 => Self::BatchFence,
            8..=0xFFEF | 0x1_0000..=0x7FFF_FFFF => Self::User,
            0xFFF0 => Self::RunProgram,
            0xFFF1 => Self::Reach,
            0xFFF2 => Self::Distance,
            0xFFF3 => Self::Neighbours,
            0xFFFE => Self::Print,
            0x8000_0001 => Self::Packed,
            0xFFFF_FFFF => Self::Shutdown,
            _ => return None,
        })
    }

    /// The opcode of a built-in kind; the first one of a user's.
    #[must_use]
    pub const fn opcode(self) -> u32 {
        match self {
            Self::RunProgram => 0xFFF0,
            Self::Reach => 0xFFF1,
            Self::Distance => 0xFFF2,
            Self::Neighbours => 0xFFF3,
            Self::Packed => 0x8000_0001,
            Self::Print => 0xFFFE,
            Self::Shutdown => 0xFFFF_FFFF,
            Self::User => 8,
            _ => self as u32,
        }
    }

    /// The bit of this kind in a tenant's mask.
    #[must_use]
    pub const fn bit(self) -> u32 {
        1_u32.wrapping_shl(self as u32)
    }

    /// Whether it ends in the turn in which it begins, after a few accesses to memory.
    #[must_use]
    pub const fn is_short(self) -> bool {
        matches!(
            self,
            Self::Nop
                | Self::Store
                | Self::Add
                | Self::Load
                | Self::CompareSwap
                | Self::Packed
                | Self::Print
                | Self::Shutdown
        )
    }

    /// Mask of every kind that a tenant may have.
    pub const TENANT_MASK: u32 = 0xFFFF & !Self::Shutdown.bit();
}
