//! Jobs, in the terms of their costs.

use super::figures::{CLASSES, WIDTH_LIMITS, class_of};

/// Levels of a search and the nodes on them, by the width of the frontier.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Levels of each class of width.
    pub levels: [f64; CLASSES],
    /// Nodes of these levels.
    pub nodes: [f64; CLASSES],
}

impl Tally {
    /// Counts one level of `width` nodes.
    pub fn count(&mut self, width: f64) {
        self.add(width, 1.0);
    }

    /// Counts `levels` levels of `width` nodes each.
    pub fn add(&mut self, width: f64, levels: f64) {
        let class = class_of(width);
        self.levels[class] += levels;
        self.nodes[class] += levels * width;
    }

    /// Returns the levels and nodes of a search that reaches `nodes` nodes on `levels` levels,
    /// where the nodes reached so far grow as the `growth`-th power of the level: 1 for a chain, 2
    /// for a grid.
    ///
    /// The order of widths does not matter here, so a search that widens and narrows again, as
    /// that of a grid does, has the same tally.
    #[must_use]
    pub fn of_growth(nodes: f64, levels: f64, growth: f64) -> Self {
        let mean = nodes / levels.max(1.0);
        let mut tally = Self::default();
        if growth < 1.05 {
            tally.add(mean, levels);
            return tally;
        }
        // Share of the levels that are at most as wide as a limit.
        let share = |limit: f64| {
            let share = (limit / (growth * mean)).powf(1.0 / (growth - 1.0));
            share.clamp(0.0, 1.0)
        };
        let mut from = 0.0;
        for class in 0..CLASSES {
            let to = WIDTH_LIMITS.get(class).map_or(1.0, |limit| share(*limit));
            tally.levels[class] = levels * (to - from);
            tally.nodes[class] = nodes * (to.powf(growth) - f64::powf(from, growth));
            from = to;
        }
        tally
    }

    /// Number of levels.
    #[must_use]
    pub fn depth(&self) -> f64 {
        self.levels.iter().sum()
    }
}

/// The properties of a job that determine its cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    /// Nodes of the graph.
    pub nodes: f64,
    /// Directed edges of the graph.
    pub edges: f64,
    /// Whether edge weights are read.
    pub weighted: bool,
    /// Whether searches may pull, and so skip edges.
    pub can_pull: bool,
    /// The search, for analyses that search.
    pub tally: Tally,
    /// Nodes that the request starts from.
    pub sources: f64,
    /// Expected rounds, for analyses that can predict them, up to the limit of the request.
    pub rounds: f64,
    /// Runs of the program on the resident graph.
    pub repeat: f64,
}

impl Job {
    /// Edges per node, 0 for a graph without nodes.
    #[must_use]
    pub fn degree(&self) -> f64 {
        if self.nodes > 0.0 {
            self.edges / self.nodes
        } else {
            0.0
        }
    }

    /// Bytes of the graph in every backend, with weights if they are read.
    #[must_use]
    pub fn graph_bytes(&self) -> f64 {
        let words = if self.weighted { 2.0 } else { 1.0 };
        4.0 * (self.nodes + words * self.edges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_of_a_chain_is_narrow() {
        let tally = Tally::of_growth(262_144.0, 73_934.0, 1.0);
        assert_eq!(tally.levels, [73_934.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn half_the_levels_of_a_large_grid_are_wide() {
        let tally = Tally::of_growth(4_194_304.0, 4095.0, 2.0);
        let wide = (tally.levels[2] + tally.levels[3]) / tally.depth();
        assert!((0.45..0.6).contains(&wide), "{wide}");
        let nodes: f64 = tally.nodes.iter().sum();
        assert!((nodes - 4_194_304.0).abs() < 1.0, "{nodes}");
    }

    #[test]
    fn widths_fall_into_their_classes() {
        let mut tally = Tally::default();
        [1.0, 32.0, 33.0, 1000.0, 1001.0, 5376.0, 5377.0]
            .into_iter()
            .for_each(|width| tally.count(width));
        assert_eq!(tally.levels, [2.0, 2.0, 2.0, 1.0]);
        assert_eq!(tally.nodes, [33.0, 1033.0, 6377.0, 5377.0]);
    }
}
