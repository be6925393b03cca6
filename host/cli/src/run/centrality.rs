//! Options of centralities.

use clap::{Args, ValueEnum};
use seawall::run::{Centrality, Direction};

#[derive(Debug, Args)]
#[command(next_help_heading = super::DETAILS)]
pub(super) struct CentralityArgs {
    /// With betweenness, closeness and eccentricity: edges are as long as their weights; on the cpu
    /// backend. With labels: edges count by their weights.
    #[arg(long, hide_short_help = true)]
    weighted: bool,
    /// With closeness: distances to the nodes or from them [default: inward].
    #[arg(long, value_enum, value_name = "WAY", hide_short_help = true)]
    direction: Option<DirectionName>,
    /// With betweenness: divide by the number of pairs of ends, as NetworkX does.
    #[arg(long, hide_short_help = true)]
    normalized: bool,
}

/// A direction of paths by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DirectionName {
    /// From other nodes to the source.
    Inward,
    /// From the source to other nodes.
    Outward,
}

impl CentralityArgs {
    pub(super) fn asked(&self) -> Centrality {
        let direction = self.direction.map(|name| match name {
            DirectionName::Inward => Direction::Inward,
            DirectionName::Outward => Direction::Outward,
        });
        let mut asked = Centrality::default();
        asked.weighted = self.weighted;
        asked.direction = direction;
        asked.normalized = self.normalized;
        asked
    }
}
