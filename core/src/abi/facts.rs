//! Registers that a wave reads and writes, and its requirements on them.
//!
//! Hot loops use words of memory as indices unchecked: parents in a forest, nodes in a queue. That
//! is sound only if no wave outside the same family wrote those words. A host proves it by these
//! facts before anything runs; a kernel relies on it.

/// A claim on the words of a register that kernels rely on.
///
/// ```
/// use seawall_core::abi::facts::Invariant;
/// assert!(Invariant::Fresh.satisfies(Invariant::Frontier));
/// assert!(!Invariant::Frontier.satisfies(Invariant::Fresh));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Invariant {
    /// No word is above its own number.
    Forest,
    /// A frontier that no search has begun to expand.
    Fresh,
    /// A frontier whose queues hold nodes of the graph and the places of their rows.
    Frontier,
    /// An empty work register.
    Work,
    /// A work register that holds the sources of shortest paths, or a round of them.
    Paths,
    /// A work register that holds a round of peeling.
    Peeling,
    /// A work register that holds a level of the searches from many sources.
    Sets,
    /// The rest of every row of the graph, at the row's start.
    Rows,
    /// The length of the rest of every row of the graph.
    Lengths,
    /// An empty register of hubs.
    NoHubs,
    /// A register with the keys of all nodes and the list of those that become hubs.
    Listed,
    /// A register with the hubs by rank, which are hubs only by their keys.
    Hubs,
}

impl Invariant {
    /// Whether this claim on a register implies `wanted`.
    #[must_use]
    pub fn satisfies(self, wanted: Self) -> bool {
        self == wanted || (self == Self::Fresh && wanted == Self::Frontier)
    }

    /// The claim that holds if this or `other` does, if there is one.
    #[must_use]
    pub fn either(self, other: Self) -> Option<Self> {
        if other.satisfies(self) {
            Some(self)
        } else if self.satisfies(other) {
            Some(other)
        } else {
            None
        }
    }

    /// The requirement of waves that rely on this, and how a program meets it.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::Forest => "parents that number their own nodes; start with iota",
            Self::Fresh => "a frontier that was reset and not searched since; reset it",
            Self::Frontier => "a frontier; reset and seed it",
            Self::Work => "an empty work register; reset it",
            Self::Paths => "a work register seeded for paths; seed it right before the loop",
            Self::Peeling => "a work register seeded for peeling; seed it right before the loop",
            Self::Sets => "a work register seeded for sets; seed it right before the loop",
            Self::Rows => "oriented rows; orient the edges into it",
            Self::Lengths => "lengths of oriented rows; orient the edges into it",
            Self::NoHubs => "an empty register of hubs; reset it",
            Self::Listed => "listed hubs; pick them",
            Self::Hubs => "ranked hubs; rank them",
        }
    }
}

/// The allowed place of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Stage {
    /// Anywhere.
    Any,
    /// Outside of loops, since its result is for the loop that follows.
    BeforeLoop,
    /// In the body of a loop that ends by the changed flag.
    Round,
    /// In the body of the search that its first source drives.
    Search,
}

/// An operand of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Operand {
    /// The destination.
    To = 0,
    /// Source 0.
    First = 1,
    /// Source 1.
    Second = 2,
    /// Source 2.
    Third = 3,
}

impl Operand {
    /// Every operand that an opcode has.
    pub const ALL: [Self; 4] = [Self::To, Self::First, Self::Second, Self::Third];
}

/// A register and a claim on it that a wave relies on or establishes.
pub type Claim = (Operand, Invariant);

/// The amount of work of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Work {
    /// None.
    Nothing,
    /// A few accesses for each word of an operand: narrow if the operand is short.
    Words(Operand),
    /// The same amount, but always wide.
    WideWords(Operand),
    /// More, or an amount that depends on the graph: always wide.
    Wide,
}

/// An array of the graph besides the outgoing edges, which every program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Array {
    /// Rows of incoming edges.
    Incoming = 0,
    /// Weights of outgoing edges, whole numbers.
    Weights = 1,
    /// Weights of outgoing edges, the bits of floats.
    FloatWeights = 2,
    /// Weights of incoming edges, whole numbers.
    IncomingWeights = 3,
    /// Weights of incoming edges, the bits of floats.
    IncomingFloatWeights = 4,
}

/// The least length of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Length {
    /// Any, also 0.
    Any,
    /// So many words.
    Words(u32),
    /// So many words for each node.
    Nodes(u32),
    /// As many words for each node as this parameter of the wave says, at least one.
    NodesOf(u8),
    /// As many words as the destination has.
    AsTo,
    /// A bit for each node.
    Bits,
    /// A frontier ([`FrontierLayout`](super::search::FrontierLayout)).
    Frontier,
    /// A [work register](super::work).
    Work,
    /// A register of [hubs](super::hubs), for as many as fit: kernels compare its length with the
    /// space that it states.
    Hubs,
}

/// Facts about an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Facts {
    /// Operands that it reads.
    pub reads: &'static [Operand],
    /// Operands of which it writes words: all words, unless it reads the operand too. A required
    /// claim on such an operand stays true.
    pub writes: &'static [Operand],
    /// Arrays of the graph that it reads.
    pub arrays: &'static [Array],
    /// Whether word `i` of each written operand depends only on words `i` of the operands read. Its
    /// operands then have as many words as the destination at least.
    pub word_wise: bool,
    /// The amount of its work.
    pub work: Work,
    /// Its requirements.
    pub needs: &'static [Claim],
    /// The claims that hold after it, whatever was there before.
    pub makes: &'static [Claim],
    /// Its allowed place.
    pub stage: Stage,
}

impl Facts {
    pub(super) const NONE: Self = Self {
        reads: &[],
        writes: &[],
        arrays: &[],
        word_wise: false,
        work: Work::Wide,
        needs: &[],
        makes: &[],
        stage: Stage::Any,
    };

    /// The facts of a wave that reads and writes these operands, with wide work.
    #[must_use]
    pub const fn of(reads: &'static [Operand], writes: &'static [Operand]) -> Self {
        Self {
            reads,
            writes,
            ..Self::NONE
        }
    }

    /// The same facts of a wave that reads `arrays` of the graph.
    #[must_use]
    pub const fn reading(self, arrays: &'static [Array]) -> Self {
        Self { arrays, ..self }
    }

    /// The same facts of a wave with a few accesses for each word of `operand`.
    #[must_use]
    pub const fn per_word_of(self, operand: Operand) -> Self {
        let work = Work::Words(operand);
        Self { work, ..self }
    }

    pub(super) const fn wide_per_word_of(self, operand: Operand) -> Self {
        let work = Work::WideWords(operand);
        Self { work, ..self }
    }

    pub(super) const fn idle(self) -> Self {
        let work = Work::Nothing;
        Self { work, ..self }
    }

    /// The same facts of a wave that handles each word of its destination by itself.
    #[must_use]
    pub const fn word_wise(self) -> Self {
        Self {
            word_wise: true,
            work: Work::Words(Operand::To),
            ..self
        }
    }

    /// The same facts without claims or requirements.
    #[must_use]
    pub const fn without_claims(self) -> Self {
        Self {
            needs: &[],
            makes: &[],
            stage: Stage::Any,
            ..self
        }
    }

    pub(super) const fn needing(self, needs: &'static [Claim]) -> Self {
        Self { needs, ..self }
    }

    pub(super) const fn making(self, makes: &'static [Claim]) -> Self {
        Self { makes, ..self }
    }

    pub(super) const fn at(self, stage: Stage) -> Self {
        Self { stage, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::super::program::Opcode;
    use super::*;

    #[test]
    fn what_a_wave_relies_on_is_an_operand_of_it() {
        for opcode in Opcode::ALL {
            let facts = opcode.facts();
            for (operand, _) in facts.needs {
                assert!(facts.reads.contains(operand), "{opcode:?}");
            }
            for (operand, _) in facts.makes {
                assert!(facts.writes.contains(operand), "{opcode:?}");
            }
        }
    }

    #[test]
    fn waves_by_word_write_their_destination_and_none_of_what_others_read() {
        for opcode in Opcode::ALL {
            let facts = opcode.facts();
            if facts.word_wise {
                assert_eq!(facts.writes, [Operand::To], "{opcode:?}");
                assert_eq!(facts.work, Work::Words(Operand::To), "{opcode:?}");
            }
        }
    }

    #[test]
    fn a_fresh_frontier_is_a_frontier() {
        let either = Invariant::Fresh.either(Invariant::Frontier);
        assert_eq!(either, Some(Invariant::Frontier));
        assert_eq!(either, Invariant::Frontier.either(Invariant::Fresh));
        assert_eq!(Invariant::Work.either(Invariant::Fresh), None);
        assert_eq!(
            Invariant::Work.either(Invariant::Work),
            Some(Invariant::Work)
        );
    }
}
