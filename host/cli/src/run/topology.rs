//! The shapes that `--topology` can force on a search.

use clap::ValueEnum;
use seawall_core::topology::Topology;

/// The shape of a search's steps, spelled as reports and the planner spell it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum TopologyChoice {
    /// Chosen on the device from the frontier's nodes and edges.
    #[default]
    Auto,
    /// Push from a queue, one warp per 32 adjacent nodes.
    #[value(name = "warp_sparse", alias = "warp-sparse")]
    WarpSparse,
    /// Push from a queue, edges shared out evenly.
    Sparse,
    /// Push from a queue into a bitset.
    Hybrid,
    /// Pull over incoming edges, one warp per bitset word.
    Dense,
    /// Pull over incoming edges, one block per tile of gathered nodes.
    #[value(name = "block_dense", alias = "block-dense")]
    BlockDense,
    /// Small frontiers by one block alone, others as warp_sparse.
    Fused,
}

impl TopologyChoice {
    /// The shape to force, if one was named.
    pub(super) fn forced(self) -> Option<Topology> {
        match self {
            Self::Auto => None,
            Self::WarpSparse => Some(Topology::WarpSparse),
            Self::Sparse => Some(Topology::Sparse),
            Self::Hybrid => Some(Topology::Hybrid),
            Self::Dense => Some(Topology::Dense),
            Self::BlockDense => Some(Topology::BlockDense),
            Self::Fused => Some(Topology::Fused),
        }
    }
}
