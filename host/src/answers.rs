//! The analyses as functions, one line each.
//!
//! Each takes the machine that is expected to be fastest, by the same forecast as `auto` on the
//! command line, and the defaults of [`RunRequest`]. They carry the names of the command line;
//! `docs/json.md` says what their numbers mean. For a machine of one's choice, times, limits or a
//! check use [`run::execute`](crate::run::execute).

use crate::column::Column;
use crate::graph::Graph;
use crate::run::{AnalysisKind, RunError, RunRequest, execute};

fn column(graph: &Graph, analysis: AnalysisKind, sources: &[u32]) -> Result<Column, RunError> {
    let request = RunRequest::new(analysis, sources.to_vec());
    Ok(execute(graph, &request)?.values)
}

/// Values of an analysis that has one word a node.
fn words(graph: &Graph, analysis: AnalysisKind, sources: &[u32]) -> Result<Vec<u32>, RunError> {
    let found = column(graph, analysis, sources)?;
    debug_assert!(matches!(found, Column::U32(_)), "{analysis:?} has no words");
    Ok(match found {
        Column::U32(values) => values,
        _ => Vec::new(),
    })
}

/// Values of an analysis that has one float a node.
fn floats(graph: &Graph, analysis: AnalysisKind, sources: &[u32]) -> Result<Vec<f32>, RunError> {
    let found = column(graph, analysis, sources)?;
    debug_assert!(found.floats().is_some(), "{analysis:?} has no floats");
    Ok(match found {
        Column::F32(values) => values,
        _ => Vec::new(),
    })
}

fn flags(graph: &Graph, analysis: AnalysisKind, sources: &[u32]) -> Result<Vec<bool>, RunError> {
    let values = words(graph, analysis, sources)?;
    Ok(values.into_iter().map(|value| value != 0).collect())
}

/// Level of every node in a breadth-first search from `source`, [`Column::UNREACHED`] where it
/// does not get.
///
/// ```
/// let path = seawall::Graph::from_edges(4, &[(0, 1), (1, 2)], false)?;
/// assert_eq!(seawall::bfs(&path, 0)?, [0, 1, 2, seawall::Column::UNREACHED]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If `source` is not a node, the graph has too many edges for this machine, or the machine fails.
pub fn bfs(graph: &Graph, source: u32) -> Result<Vec<u32>, RunError> {
    words(graph, AnalysisKind::Bfs, &[source])
}

/// Whether `sources` reach each node.
///
/// # Errors
/// As [`bfs`]; if there is no source.
pub fn reach(graph: &Graph, sources: &[u32]) -> Result<Vec<bool>, RunError> {
    flags(graph, AnalysisKind::Reach, sources)
}

/// The smallest node of each node's connected component, directions ignored.
///
/// # Errors
/// As [`bfs`].
pub fn cc(graph: &Graph) -> Result<Vec<u32>, RunError> {
    words(graph, AnalysisKind::Cc, &[])
}

/// The smallest node of each node's strongly connected component.
///
/// # Errors
/// As [`bfs`].
pub fn scc(graph: &Graph) -> Result<Vec<u32>, RunError> {
    words(graph, AnalysisKind::Scc, &[])
}

/// Length of a shortest path from `source` to every node, in the kind of numbers that the graph's
/// weights have, wide enough for the longest.
///
/// # Errors
/// As [`bfs`]; if the graph has no weights, or a cycle of negative weight is reached.
pub fn sssp(graph: &Graph, source: u32) -> Result<Column, RunError> {
    column(graph, AnalysisKind::Sssp, &[source])
}

/// The least weight along a widest path from `source` to every node.
///
/// # Errors
/// As [`bfs`]; if the graph has no weights.
pub fn widest(graph: &Graph, source: u32) -> Result<Column, RunError> {
    column(graph, AnalysisKind::Widest, &[source])
}

/// PageRank of every node, along the graph's weights if it has some.
///
/// # Errors
/// As [`bfs`].
pub fn pagerank(graph: &Graph) -> Result<Vec<f32>, RunError> {
    floats(graph, AnalysisKind::Pagerank, &[])
}

/// PageRank of every node for a walker who starts anew at `sources`.
///
/// # Errors
/// As [`bfs`]; if there is no source.
pub fn ppr(graph: &Graph, sources: &[u32]) -> Result<Vec<f32>, RunError> {
    floats(graph, AnalysisKind::Ppr, sources)
}

/// Core number of every node.
///
/// # Errors
/// As [`bfs`]; if the graph is directed.
pub fn kcore(graph: &Graph) -> Result<Vec<u32>, RunError> {
    words(graph, AnalysisKind::Kcore, &[])
}

/// Number of triangles at every node.
///
/// # Errors
/// As [`bfs`]; if the graph is directed.
pub fn triangles(graph: &Graph) -> Result<Vec<u32>, RunError> {
    words(graph, AnalysisKind::Triangles, &[])
}

/// Whether each node is in a maximal independent set.
///
/// # Errors
/// As [`kcore`].
pub fn mis(graph: &Graph) -> Result<Vec<bool>, RunError> {
    flags(graph, AnalysisKind::Mis, &[])
}

/// A colour for every node, from 0 on; no two neighbours have the same.
///
/// # Errors
/// As [`kcore`].
pub fn colouring(graph: &Graph) -> Result<Vec<u32>, RunError> {
    words(graph, AnalysisKind::Colouring, &[])
}

/// The smallest node of each node's community, by label propagation.
///
/// # Errors
/// As [`kcore`].
pub fn labels(graph: &Graph) -> Result<Vec<u32>, RunError> {
    words(graph, AnalysisKind::Labels, &[])
}

/// Edges of a minimum spanning forest, as their ends, the smaller one first.
///
/// # Errors
/// As [`kcore`]; if the graph has no weights.
pub fn msf(graph: &Graph) -> Result<Vec<(u32, u32)>, RunError> {
    let Column::U64(held) = column(graph, AnalysisKind::Msf, &[])? else {
        return Ok(Vec::new());
    };
    let held = held.into_iter().filter(|edge| *edge != u64::MAX);
    let ends = |edge: u64| [edge as u32, (edge >> 32) as u32];
    let ordered = |[one, other]: [u32; 2]| (one.min(other), one.max(other));
    Ok(held.map(ends).map(ordered).collect())
}

/// Betweenness of every node over the shortest paths from `sources`, by numbers of edges.
///
/// # Errors
/// As [`bfs`]; if there is no source.
pub fn betweenness(graph: &Graph, sources: &[u32]) -> Result<Vec<f32>, RunError> {
    floats(graph, AnalysisKind::Betweenness, sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles that share node 2, a tail from 4 to 5, and node 6 alone.
    fn graph() -> Graph {
        let ends = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4), (4, 5)];
        let edges: Vec<_> = (1..).zip(ends).map(|(w, (a, b))| (a, b, w)).collect();
        Graph::from_weighted_edges(7, &edges, true).unwrap()
    }

    #[test]
    fn every_function_answers_in_its_own_kind_of_numbers() {
        let (graph, none) = (graph(), Column::UNREACHED);
        assert_eq!(bfs(&graph, 0).unwrap(), [0, 1, 1, 2, 2, 3, none]);
        let reached = reach(&graph, &[5]).unwrap();
        assert_eq!(reached, [true, true, true, true, true, true, false]);
        assert_eq!(cc(&graph).unwrap(), [0, 0, 0, 0, 0, 0, 6]);
        assert_eq!(scc(&graph).unwrap(), [0, 0, 0, 0, 0, 0, 6]);
        let lengths = Column::U32(vec![0, 1, 3, 7, 9, 16, none]);
        assert_eq!(sssp(&graph, 0).unwrap(), lengths);
        assert_eq!(widest(&graph, 5).unwrap().len(), 7);
        let ranks = pagerank(&graph).unwrap();
        assert!((ranks.iter().sum::<f32>() - 1.0).abs() < 1e-4);
        assert!(ppr(&graph, &[0]).unwrap()[6].abs() < 1e-9);
        assert_eq!(kcore(&graph).unwrap(), [2, 2, 2, 2, 2, 1, 0]);
        assert_eq!(triangles(&graph).unwrap(), [1, 1, 2, 1, 1, 0, 0]);
        let set = mis(&graph).unwrap();
        let colours = colouring(&graph).unwrap();
        for (a, b) in [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4), (4, 5)] {
            assert!(!(set[a] && set[b]) && colours[a] != colours[b]);
        }
        assert!(set[6]);
        assert_eq!(labels(&graph).unwrap()[6], 6);
        let mut forest = msf(&graph).unwrap();
        forest.sort_unstable();
        assert_eq!(forest, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]);
        let through = betweenness(&graph, &[0, 1, 2, 3, 4, 5]).unwrap();
        assert!(through[2] > through[4] && through[4] > through[0]);
        assert!(bfs(&graph, 7).is_err());
    }
}
