//! The graph of a run as read, and the form in which an analysis took it.

use crate::analysis::{AnalysisKind, is_reached, weightless_edges};
use crate::graph::{Form, Graph, Loops, Parallel, as_text};
use crate::run::RunRequest;
use serde::Serialize;

/// Directions of a graph's edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Each edge has the direction that was listed.
    #[default]
    Directed,
    /// Each edge has both directions.
    Undirected,
}

/// A graph as read, and the form in which an analysis took it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Taken {
    /// Directions of its edges.
    pub direction: Direction,
    /// Whether every edge is known to have its mirror image, also of a directed graph.
    pub symmetric: bool,
    /// Edges from a node to itself.
    pub self_loops: u64,
    /// Edges beyond the first one with the same ends; an undirected one counts twice.
    pub parallel_edges: u64,
    /// Listed edges of an undirected graph that are the other direction of an edge that was listed.
    /// The loader of the graph fills this in.
    pub mirrored_edges: u64,
    /// Edges along chains that the run had besides, each as long as the way that it replaces.
    #[serde(skip_serializing_if = "is_zero")]
    pub shortcuts: u64,
    /// Edges whose weights, not 0, were too small beside the largest to count, an undirected one
    /// twice.
    #[serde(skip_serializing_if = "is_zero")]
    pub weightless_edges: u64,
    /// Loops that were taken.
    #[serde(serialize_with = "as_text")]
    pub loops_taken: Loops,
    /// Parallel edges that were taken.
    #[serde(serialize_with = "as_text")]
    pub parallel_taken: Parallel,
    /// Reason for dropped loops, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loops_reason: Option<&'static str>,
    /// Reason for merged parallel edges, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_reason: Option<&'static str>,
    /// Whether a search reached almost nothing, and would reach more if edges had both directions.
    /// The loader of the graph fills this in.
    pub undirected_reaches_more: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Reason given for the form that a request chooses.
const ASKED: &str = "as asked";

impl Taken {
    /// Describes a graph taken as read.
    #[must_use]
    pub fn as_read(read: &Graph) -> Self {
        Self {
            direction: if read.is_symmetric() {
                Direction::Undirected
            } else {
                Direction::Directed
            },
            symmetric: read.is_symmetric(),
            self_loops: u64::from(read.loops()),
            parallel_edges: u64::from(read.parallel_edges()),
            ..Self::default()
        }
    }

    /// Describes a graph taken in a caller's form.
    #[must_use]
    pub fn as_asked(read: &Graph, form: Form) -> Self {
        let taken = Self::as_read(read);
        taken.in_form(form, ASKED, ASKED)
    }

    pub(crate) fn of(read: &Graph, form: &Graph, request: &RunRequest) -> Self {
        let mut taken = Self::as_read(read);
        if request.analysis == AnalysisKind::Labels && request.centrality.weighted {
            taken.weightless_edges = weightless_edges(form);
        }
        if std::ptr::eq(read, form) {
            return taken;
        }
        let (loops, parallel) = request.rules();
        let drops_loops = request.loops == Some(Loops::Drop);
        let merges = request.parallel.is_some_and(|it| it != Parallel::Keep);
        let loops = if drops_loops { ASKED } else { loops.reason() };
        let parallel = if merges { ASKED } else { parallel.reason() };
        request
            .form_of(read)
            .map_or(taken, |asked| taken.in_form(asked, loops, parallel))
    }

    fn in_form(self, form: Form, loops: &'static str, parallel: &'static str) -> Self {
        let mut taken = self;
        if self.self_loops > 0 && form.loops == Loops::Drop {
            (taken.loops_taken, taken.loops_reason) = (form.loops, Some(loops));
        }
        if self.parallel_edges > 0 && form.parallel != Parallel::Keep {
            (taken.parallel_taken, taken.parallel_reason) = (form.parallel, Some(parallel));
        }
        taken
    }
}

/// Share of the nodes below which a search counts as having reached almost nothing.
const LITTLE: u64 = 100;

impl super::RunOutcome {
    /// Returns whether the run reached almost nothing of a directed graph: no more than the sources
    /// or a hundredth of the nodes.
    #[must_use]
    pub fn reached_little(&self) -> bool {
        let few = (self.sources.len() as u64).max(self.nodes / LITTLE);
        let walks = self.analysis.facts().walks;
        walks && !self.taken.symmetric && self.reached <= few && self.reached < self.nodes
    }

    /// Returns whether the run reached almost nothing of a directed graph, and would reach more if
    /// edges had both directions. Takes a pass over the edges if it reached almost nothing.
    #[must_use]
    pub fn would_reach_more(&self, read: &Graph) -> bool {
        let values = self.analysis.facts().values;
        let is_reached = |node: u32| is_reached(values, &self.values, node as usize);
        self.reached_little()
            && (0..read.nodes()).any(|node| {
                let mut row = read.neighbours(node).iter();
                row.any(|to| is_reached(*to) && !is_reached(node))
            })
    }
}
