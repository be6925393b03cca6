//! The kernels of the embedded modules, by name.

use seawall_core::abi::multi::MultiKind;
use std::ffi::CStr;

/// The entry points of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// Walks a whole program.
    Mega,
    /// Walks a whole program that only searches, with fewer registers.
    MegaSearch,
    /// Walks a whole program of paths, core numbers or sets of sources.
    MegaRounds,
    /// Walks a whole program that only runs code.
    MegaCode,
    /// Walks such a program by machine code that the host links to it.
    MegaLinked,
    /// Walks any program.
    MegaAll,
    /// Runs the ordinary waves of one group of a program that only runs code.
    GroupCode,
    /// Runs one body group of a loop of such a program.
    BodyCode,
    /// Runs the ordinary waves of one group of a program that runs code.
    GroupAll,
    /// Runs one body group of a loop of a program that runs code.
    BodyAll,
    /// Runs the ordinary waves of one group of a program by machine code that the host links to it.
    GroupLinked,
    /// Runs one body group of a loop of such a program.
    BodyLinked,
    /// Counts an iteration of a loop on a register and decides whether another follows.
    Again,
    /// Runs the programs of a batch of which some run code.
    BatchAll,
    /// Runs programs of a batch that only run code, by machine code that the host links to it.
    BatchLinked,
    /// Runs the ordinary waves of one top-level group.
    Group,
    /// Resets the state of a loop.
    Begin,
    /// Runs one body group of a loop.
    Body,
    /// Sets whether the loop of a conditional node continues.
    While,
    /// Crosses grid barriers and does nothing else.
    Barriers,
    /// Runs the programs of a batch, one graph a block at a time.
    Batch,
    /// The same in small blocks, for batches whose programs only search.
    BatchSearch,
    /// Serves until the host ends it.
    Serve,
    /// The same, with programs.
    ServeAll,
    /// The same, with programs that only run code, by machine code that the host links to it.
    ServeLinked,
    /// Runs one device's part of a search on several.
    MultiLevels,
    /// Runs one device's part of shortest paths on several.
    MultiLengths,
    /// Runs one device's part of a ranking on several.
    MultiRanks,
    /// Runs one device's part of components on several.
    MultiComponents,
    /// Runs one device's part of core numbers on several.
    MultiCores,
    /// Joins one device's part of copies that several devices wrote.
    Join,
    /// Takes edges that stream from the host, until that ends it.
    Stream,
    /// Walks a whole program with waves of another crate, whose PTX holds it.
    OwnMega,
    /// Runs the ordinary waves of one top-level group of such a program.
    OwnGroup,
    /// Runs one body group of a loop of such a program.
    OwnBody,
    /// Runs the programs of a batch of which some have waves of another crate.
    OwnBatch,
    /// Serves, with programs of which some have waves of another crate.
    OwnServe,
}

impl Entry {
    /// Every entry of the embedded modules, in the order of this enum.
    #[cfg(test)]
    pub(super) const ALL: [Self; 32] = [
        Self::Mega,
        Self::MegaSearch,
        Self::MegaRounds,
        Self::MegaCode,
        Self::MegaLinked,
        Self::MegaAll,
        Self::GroupCode,
        Self::BodyCode,
        Self::GroupAll,
        Self::BodyAll,
        Self::GroupLinked,
        Self::BodyLinked,
        Self::Again,
        Self::BatchAll,
        Self::BatchLinked,
        Self::Group,
        Self::Begin,
        Self::Body,
        Self::While,
        Self::Barriers,
        Self::Batch,
        Self::BatchSearch,
        Self::Serve,
        Self::ServeAll,
        Self::ServeLinked,
        Self::Stream,
        Self::MultiLevels,
        Self::MultiLengths,
        Self::MultiRanks,
        Self::MultiComponents,
        Self::MultiCores,
        Self::Join,
    ];

    /// Name of the kernel.
    pub(super) const fn name(self) -> &'static CStr {
        match self {
            Self::Mega => c"seawall_mega",
            Self::MegaSearch => c"seawall_mega_search",
            Self::MegaRounds => c"seawall_mega_rounds",
            Self::MegaCode => c"seawall_mega_code",
            Self::MegaLinked => c"seawall_mega_linked",
            Self::MegaAll => c"seawall_mega_all",
            Self::GroupCode => c"seawall_group_code",
            Self::BodyCode => c"seawall_body_code",
            Self::GroupAll => c"seawall_group_all",
            Self::BodyAll => c"seawall_body_all",
            Self::GroupLinked => c"seawall_group_linked",
            Self::BodyLinked => c"seawall_body_linked",
            Self::Again => c"seawall_again",
            Self::BatchAll => c"seawall_batch_all",
            Self::BatchLinked => c"seawall_batch_linked",
            Self::Group => c"seawall_group",
            Self::Begin => c"seawall_begin",
            Self::Body => c"seawall_body",
            Self::While => c"seawall_while",
            Self::Barriers => c"seawall_barriers",
            Self::Batch => c"seawall_batch",
            Self::BatchSearch => c"seawall_batch_search",
            Self::Serve => c"seawall_serve",
            Self::ServeAll => c"seawall_serve_all",
            Self::ServeLinked => c"seawall_serve_linked",
            Self::Stream => c"seawall_stream",
            Self::MultiLevels => c"seawall_multi_levels",
            Self::MultiLengths => c"seawall_multi_lengths",
            Self::MultiRanks => c"seawall_multi_ranks",
            Self::MultiComponents => c"seawall_multi_components",
            Self::MultiCores => c"seawall_multi_cores",
            Self::Join => c"seawall_join",
            Self::OwnMega => c"seawall_own_mega",
            Self::OwnGroup => c"seawall_own_group",
            Self::OwnBody => c"seawall_own_body",
            Self::OwnBatch => c"seawall_own_batch",
            Self::OwnServe => c"seawall_own_serve",
        }
    }

    /// The kernel of one device's part of such a run.
    pub(super) const fn of_several(kind: MultiKind) -> Self {
        match kind {
            MultiKind::Levels | MultiKind::Barriers => Self::MultiLevels,
            MultiKind::Whole | MultiKind::Float => Self::MultiLengths,
            MultiKind::Ranks => Self::MultiRanks,
            MultiKind::Components => Self::MultiComponents,
            MultiKind::Cores => Self::MultiCores,
        }
    }

    /// Number of 32-bit parameters after the address of the launch or batch record.
    pub(super) const fn words(self) -> usize {
        match self {
            Self::Mega | Self::MegaSearch | Self::MegaRounds => 0,
            Self::MegaCode | Self::MegaLinked | Self::MegaAll | Self::OwnMega => 0,
            Self::Batch | Self::BatchSearch | Self::BatchAll => 0,
            Self::BatchLinked | Self::OwnBatch => 0,
            Self::Serve | Self::ServeAll | Self::ServeLinked | Self::OwnServe => 0,
            Self::Stream | Self::Join => 0,
            Self::MultiLevels | Self::MultiLengths | Self::MultiRanks => 0,
            Self::MultiComponents | Self::MultiCores => 0,
            Self::Group | Self::GroupCode | Self::GroupAll | Self::GroupLinked | Self::OwnGroup => {
                1
            }
            Self::Begin | Self::Again | Self::Barriers => 1,
            Self::Body
            | Self::BodyCode
            | Self::BodyAll
            | Self::BodyLinked
            | Self::OwnBody
            | Self::While => 3,
        }
    }
}
