//! Problems of the tables of a program.

use seawall_core::abi::facts::{Invariant, Stage};

/// The tables of a program contradict each other, or a wave relies on something that the
/// waves before it do not provide.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// More entries than 32 bits count.
    #[error("{entries} {table}, more than 32 bits count")]
    TooMany {
        /// The table.
        table: &'static str,
        /// Its entries.
        entries: usize,
    },
    /// More top-level groups than groups.
    #[error("{top} top-level groups in a table of {groups}")]
    TopGroups {
        /// Top-level groups.
        top: u32,
        /// All groups.
        groups: u32,
    },
    /// A group contains waves outside the table.
    #[error("group {group} holds {count} waves from {first}, the table {waves}")]
    GroupRange {
        /// The group.
        group: usize,
        /// Its first wave.
        first: u32,
        /// Its waves.
        count: u32,
        /// Waves of the table.
        waves: u32,
    },
    /// Two groups hold a wave.
    #[error("group {group} holds wave {entry} of the table, which another group holds too")]
    SharedWave {
        /// The second group.
        group: usize,
        /// Index of the wave in the table.
        entry: u32,
    },
    /// The table does not hold a wave that is to run once.
    #[error("wave {entry} of the table is to run once, the table holds {waves}")]
    Once {
        /// Index of the wave in the table.
        entry: u32,
        /// Waves of the table.
        waves: usize,
    },
    /// Successive narrow groups do not lie one after the other.
    #[error("narrow group {group} starts at wave {first}, the one before it ends at {end}")]
    NarrowApart {
        /// The group.
        group: usize,
        /// Its first wave.
        first: u32,
        /// End of the group before it.
        end: u32,
    },
    /// A narrow group has a loop.
    #[error("narrow group {group} has the loop of wave {wave}; only wide groups run loops")]
    NarrowLoop {
        /// The group.
        group: usize,
        /// Number of the loop's wave.
        wave: u32,
    },
    /// A group wrongly claims that it needs no barrier before it.
    #[error(
        "group {group} is joined to the one before it, but depends on it by more than single words"
    )]
    Joined {
        /// The group.
        group: usize,
    },
    /// A loop's body is outside the range of bodies.
    #[error(
        "the loop of wave {wave} has {count} body groups from {first}; bodies are groups {top} to {groups}"
    )]
    BodyRange {
        /// Number of the loop's wave.
        wave: u32,
        /// First group of its body.
        first: u32,
        /// Groups of its body.
        count: u32,
        /// Top-level groups.
        top: u32,
        /// All groups.
        groups: usize,
    },
    /// Two loops share a body group.
    #[error("the loop of wave {wave} has body group {group}, which another loop has too")]
    SharedBody {
        /// Number of the second loop's wave.
        wave: u32,
        /// The group.
        group: u32,
    },
    /// A register is in a region that does not exist.
    #[error("register {register} is in region {region}, there is none")]
    Region {
        /// The register.
        register: usize,
        /// Its region.
        region: u32,
    },
    /// A register leaves its region.
    #[error(
        "register {register} has {words} words at byte {offset_bytes}, its region {region_bytes} bytes"
    )]
    RegisterRange {
        /// The register.
        register: usize,
        /// Its words.
        words: u32,
        /// Its first byte.
        offset_bytes: u64,
        /// Bytes of the region.
        region_bytes: u64,
    },
    /// A register is not aligned for the widest accesses.
    #[error(
        "register {register} starts at byte {offset_bytes}, which is no multiple of {alignment_bytes}"
    )]
    Misaligned {
        /// The register.
        register: usize,
        /// Its first byte.
        offset_bytes: u64,
        /// The alignment that it should have.
        alignment_bytes: u64,
    },
    /// A wave writes a register that another one of its group uses.
    #[error(
        "waves {} ({}) and {} ({}) are in one group, and one writes what the other uses; put them into two",
        waves[0], names[0], waves[1], names[1]
    )]
    Conflict {
        /// Numbers of the waves.
        waves: [u32; 2],
        /// Their names.
        names: [String; 2],
    },
    /// A register does not have the content that a wave relies on.
    #[error("wave {wave} ({name}) needs register {register} to be {}", needs.remedy())]
    Unproven {
        /// Number of the wave.
        wave: u32,
        /// Its name.
        name: String,
        /// The register.
        register: u32,
        /// The value that it must have.
        needs: Invariant,
    },
    /// A wave is in a place where it cannot run.
    #[error("wave {wave} ({name}) {}", place_of(*stage))]
    Misplaced {
        /// Number of the wave.
        wave: u32,
        /// Its name.
        name: String,
        /// Its allowed place.
        stage: Stage,
    },
    /// A wave runs code outside the table, or cuts an edge part.
    #[error("wave {wave} runs {count} instructions from {first} of {held}, or cuts edges in two")]
    CodeRange {
        /// Number of the wave.
        wave: u32,
        /// Its first instruction.
        first: u32,
        /// Its instructions.
        count: u32,
        /// Instructions of the table.
        held: usize,
    },
    /// A wave declares other needs of its code than it has.
    #[error("wave {wave} does not say what its code needs")]
    CodeNeeds {
        /// Number of the wave.
        wave: u32,
    },
    /// A wave of code goes over more items than anything in the program has.
    #[error(
        "wave {wave} goes over {items} items and this program allows {most}: the nodes, the words of its longest register, or 65536"
    )]
    TooManyItems {
        /// Number of the wave.
        wave: u32,
        /// Its items.
        items: u32,
        /// Most items of this program.
        most: u32,
    },
    /// An instruction cannot be run.
    #[error("instruction {instruction} {}", fault.text())]
    Code {
        /// Index of the instruction.
        instruction: usize,
        /// The problem.
        fault: CodeFault,
    },
    /// A loop on a register that its first body group changes.
    #[error(
        "the loop of wave {wave} ({name}) reads register {register}, which its first body group changes; put a group before that"
    )]
    Condition {
        /// Number of the loop's wave.
        wave: u32,
        /// Its name.
        name: String,
        /// The register.
        register: u32,
    },
    /// A loop on a register is nested at another depth than it declares.
    #[error(
        "the loop of wave {wave} says that it is in {says} others and is in {depth}; loops may be in at most {most}"
    )]
    Depth {
        /// Number of the loop's wave.
        wave: u32,
        /// Declared nesting depth.
        says: u32,
        /// Nesting depth.
        depth: u32,
        /// Largest nesting depth.
        most: u32,
    },
    /// The loop of a search does not expand its frontier exactly once.
    #[error(
        "the search of wave {wave} ({name}) has {expansions} expansions in its body; give it 1"
    )]
    Expansions {
        /// Number of the loop's wave.
        wave: u32,
        /// Its name.
        name: String,
        /// Expansions of its body.
        expansions: usize,
    },
}

/// Reason why an instruction cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeFault {
    /// It names no operation, or a join that its kind of values does not have.
    Unknown,
    /// It is inside or outside of an edge part, where it must not be.
    Place,
    /// It uses a missing temporary.
    Temporary,
    /// It uses a missing register.
    Register,
    /// Its edge part exceeds the table.
    Part,
}

impl CodeFault {
    const fn text(self) -> &'static str {
        match self {
            Self::Unknown => "names no operation",
            Self::Place => "stands where it cannot run",
            Self::Temporary => "uses a temporary that there is not",
            Self::Register => "uses a register that the table does not hold",
            Self::Part => "begins edges that end after the table",
        }
    }
}

const fn place_of(stage: Stage) -> &'static str {
    match stage {
        Stage::Any => "writes the frontier of the search that it is in; put it outside",
        Stage::BeforeLoop => "seeds a loop; put it before the loop, outside of others",
        Stage::Round => "is a round; put it into the body of a loop that ends by changes",
        Stage::Search => "expands a frontier; put it into the search of that frontier",
    }
}
