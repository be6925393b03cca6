//! Types of values, and joins of many values into one.

/// A type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Kind {
    /// Whole numbers of 32 bits without a sign.
    U32 = 0,
    /// Whole numbers of 32 bits with a sign.
    I32 = 1,
    /// Floats of 32 bits.
    F32 = 2,
    /// Whole numbers of 64 bits without a sign, low word first.
    U64 = 3,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::U32, Self::I32, Self::F32, Self::U64];

    /// Returns the kind of a word; `None` if the word names none.
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        match word {
            0 => Some(Self::U32),
            1 => Some(Self::I32),
            2 => Some(Self::F32),
            3 => Some(Self::U64),
            _ => None,
        }
    }

    /// Its name in texts: `u32`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::F32 => "f32",
            Self::U64 => "u64",
        }
    }

    /// Words of a value.
    #[must_use]
    pub const fn words(self) -> u32 {
        match self {
            Self::U32 | Self::I32 | Self::F32 => 1,
            Self::U64 => 2,
        }
    }
}

/// An operation that joins values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Join {
    /// The least.
    Min = 0,
    /// The largest.
    Max = 1,
    /// The sum: of whole numbers modulo 2 to their bits, of floats in any order.
    Sum = 2,
    /// The bits that any value has.
    Or = 3,
    /// The bits that all values have.
    And = 4,
    /// 1 if any is not 0, else the previous value, 0 at first.
    Any = 5,
}

impl Join {
    /// Every join.
    pub const ALL: [Self; 6] = [
        Self::Min,
        Self::Max,
        Self::Sum,
        Self::Or,
        Self::And,
        Self::Any,
    ];

    /// Returns the join of a word; `None` if the word names none.
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        match word {
            0 => Some(Self::Min),
            1 => Some(Self::Max),
            2 => Some(Self::Sum),
            3 => Some(Self::Or),
            4 => Some(Self::And),
            5 => Some(Self::Any),
            _ => None,
        }
    }

    /// Whether the join takes values of `kind`.
    #[must_use]
    pub const fn takes(self, kind: Kind) -> bool {
        match self {
            Self::Min | Self::Max | Self::Sum => true,
            Self::Or | Self::And => matches!(kind, Kind::U32 | Kind::U64),
            Self::Any => matches!(kind, Kind::U32),
        }
    }
}

/// A join and the kind of its values, as an instruction's `c` holds both.
///
/// ```
/// use seawall_core::abi::code::{Join, Joined, Kind};
/// let least = Joined { how: Join::Min, kind: Kind::F32 };
/// assert_eq!(Joined::from_word(least.to_word()), Some(least));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Joined {
    /// The join.
    pub how: Join,
    /// The kind of its values.
    pub kind: Kind,
}

impl Joined {
    /// The word of both, below 64.
    #[must_use]
    pub const fn to_word(self) -> u32 {
        self.how as u32 | (self.kind as u32) << 3
    }

    /// Returns both from a word; `None` if it names none, or if the join does not take values of
    /// the kind.
    #[must_use]
    pub const fn from_word(word: u32) -> Option<Self> {
        match (Join::from_word(word & 7), Kind::from_word(word >> 3)) {
            (Some(how), Some(kind)) if how.takes(kind) => Some(Self { how, kind }),
            _ => None,
        }
    }

    /// Whether copies that values were joined to apart can be joined only by who knows the value
    /// from before.
    #[must_use]
    pub const fn needs_before(self) -> bool {
        matches!(self.how, Join::Sum | Join::Any)
    }

    /// The neutral value, in the low bits.
    #[must_use]
    pub const fn identity(self) -> u64 {
        match (self.how, self.kind) {
            (Join::Sum | Join::Or | Join::Any, _) => 0,
            (Join::And, Kind::U64) | (Join::Min, Kind::U64) => u64::MAX,
            (Join::And, _) | (Join::Min, Kind::U32) => u32::MAX as u64,
            (Join::Max, Kind::U32 | Kind::U64) => 0,
            (Join::Min, Kind::I32) => i32::MAX as u64,
            (Join::Max, Kind::I32) => 1 << 31,
            (Join::Min, Kind::F32) => f32::INFINITY.to_bits() as u64,
            (Join::Max, Kind::F32) => f32::NEG_INFINITY.to_bits() as u64,
        }
    }

    /// The absorbing value, in the low bits, if there is one.
    #[must_use]
    pub const fn end(self) -> Option<u64> {
        match (self.how, self.kind) {
            (Join::Sum, _) | (_, Kind::F32) => None,
            (Join::Any, _) => Some(1),
            (Join::Or, Kind::U64) | (Join::Max, Kind::U64) => Some(u64::MAX),
            (Join::Or, _) | (Join::Max, Kind::U32) => Some(u32::MAX as u64),
            (Join::And, _) | (Join::Min, Kind::U32 | Kind::U64) => Some(0),
            (Join::Max, Kind::I32) => Some(i32::MAX as u64),
            (Join::Min, Kind::I32) => Some(1 << 31),
        }
    }
}
