//! Conversion of `petgraph` graphs (feature `petgraph`).

use ::petgraph::visit::{EdgeRef, GraphProp, IntoEdgeReferences, NodeIndexable};

use super::{Graph, GraphError};

impl Graph {
    /// Converts any `petgraph` graph; `weight` returns the weight of an edge, for shortest paths.
    ///
    /// Nodes keep their `NodeIndexable` numbers; numbers that a `StableGraph` no longer uses
    /// become nodes without edges. Edges of an undirected graph count in both directions. Time is
    /// linear in nodes and edges.
    ///
    /// ```
    /// use petgraph::graph::UnGraph;
    /// use seawall_graph::Graph;
    ///
    /// let roads = UnGraph::<(), u32>::from_edges([(0, 1, 7), (1, 2, 5)]);
    /// let graph = Graph::from_petgraph(&roads, |length| *length)?;
    /// assert_eq!(graph.neighbours(1), [0, 2]);
    /// assert_eq!(graph.weights(), Some(&[7, 7, 5, 5][..]));
    /// # Ok::<(), seawall_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// [`GraphError::TooManyNodes`] and [`GraphError::TooManyEdges`] beyond 32 bits.
    pub fn from_petgraph<G>(
        graph: G,
        weight: impl Fn(&G::EdgeWeight) -> u32,
    ) -> Result<Self, GraphError>
    where
        G: IntoEdgeReferences + NodeIndexable + GraphProp,
    {
        let bound = graph.node_bound();
        let nodes = u32::try_from(bound).map_err(|_| GraphError::TooManyNodes {
            file: "graph of petgraph".to_owned(),
            nodes: bound as u64,
            limit: super::build::MAX_NODES,
        })?;
        // Every index is below the bound, which fits.
        let number = |node| graph.to_index(node) as u32;
        let edges: Vec<_> = graph
            .edge_references()
            .map(|edge| {
                let ends = (number(edge.source()), number(edge.target()));
                (ends.0, ends.1, weight(edge.weight()))
            })
            .collect();
        Self::from_weighted_edges(nodes, &edges, !graph.is_directed())
    }
}

#[cfg(test)]
mod tests {
    use super::Graph;
    use ::petgraph::stable_graph::StableDiGraph;

    #[test]
    fn removed_nodes_leave_nodes_without_edges() {
        let mut list = StableDiGraph::<(), u32>::new();
        let [a, b, c] = [(); 3].map(|()| list.add_node(()));
        list.add_edge(a, c, 3);
        list.add_edge(a, b, 1);
        list.remove_node(b);
        let graph = Graph::from_petgraph(&list, |weight| *weight).unwrap();
        assert_eq!((graph.nodes(), graph.edges()), (3, 1));
        assert_eq!(graph.neighbours(0), [2]);
        assert_eq!(graph.weights(), Some(&[3][..]));
        assert!(!graph.is_symmetric());
    }
}
