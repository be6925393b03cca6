//! Options of centralities.

use clap::Args;
use seawall::run::{Centrality, Direction};

#[derive(Debug, Args)]
#[command(next_help_heading = super::DETAILS)]
pub(super) struct CentralityArgs {
    /// With betweenness, closeness and eccentricity: edges are as long as their weights; on the cpu
    /// backend. With labels: edges count by their weights.
    #[arg(long, hide_short_help = true)]
    weighted: bool,
    /// With closeness: distances to the nodes or from them [default: inward].
    #[arg(long, value_name = "WAY", hide_short_help = true)]
    direction: Option<Direction>,
    /// With betweenness: divide by the number of pairs of ends, as NetworkX does.
    #[arg(long, hide_short_help = true)]
    normalized: bool,
}

impl CentralityArgs {
    pub(super) fn asked(&self) -> Centrality {
        let mut asked = Centrality::default();
        asked.weighted = self.weighted;
        asked.direction = self.direction;
        asked.normalized = self.normalized;
        asked
    }
}
