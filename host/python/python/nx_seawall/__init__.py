"""The backend ``seawall`` of NetworkX: what it has, without importing it.

NetworkX reads `info` at its own import, so nothing here imports NumPy or the library.
"""

from __future__ import annotations

from typing import Any

#: Functions of the backend, each with a note where it does less than NetworkX.
FUNCTIONS: dict[str, str] = {
    "all_pairs_bellman_ford_path": "Weights are int or float.",
    "all_pairs_bellman_ford_path_length": "Weights are int or float.",
    "all_pairs_dijkstra": "Weights are int or float.",
    "all_pairs_dijkstra_path": "Weights are int or float.",
    "all_pairs_dijkstra_path_length": "Weights are int or float.",
    "all_pairs_shortest_path": "",
    "all_pairs_shortest_path_length": "",
    "ancestors": "",
    "average_clustering": "Undirected graphs without weights.",
    "average_shortest_path_length": "Without weights.",
    "bellman_ford_path": "Weights are int or float.",
    "bellman_ford_path_length": "Weights are int or float.",
    "bellman_ford_predecessor_and_distance": "Weights are int or float.",
    "betweenness_centrality": "No multigraphs.",
    "bfs_edges": "No `sort_neighbors`; no `reverse` of directed graphs.",
    "bfs_layers": "",
    "bfs_predecessors": "No `sort_neighbors`.",
    "bfs_successors": "No `sort_neighbors`.",
    "bfs_tree": "No `sort_neighbors`; no `reverse` of directed graphs.",
    "bidirectional_dijkstra": "Weights are int or float.",
    "bidirectional_shortest_path": "",
    "center": "Without weights and `usebounds`; no trees.",
    "closeness_centrality": "Without `distance`.",
    "clustering": "Undirected graphs without weights.",
    "connected_components": "",
    "core_number": "",
    "degree_centrality": "No multigraphs.",
    "descendants": "",
    "descendants_at_distance": "",
    "diameter": "Without weights and `usebounds`.",
    "dijkstra_path": "Weights are int or float.",
    "dijkstra_path_length": "Weights are int or float.",
    "dijkstra_predecessor_and_distance": "Weights are int or float.",
    "eccentricity": "Without weights and `sp`.",
    "edge_betweenness_centrality": "No multigraphs.",
    "greedy_color": "Strategy `largest_first` without `interchange`; no multigraphs.",
    "harmonic_centrality": "Without `distance`.",
    "has_path": "",
    "in_degree_centrality": "No multigraphs.",
    "is_arborescence": "",
    "is_branching": "",
    "is_connected": "",
    "is_directed_acyclic_graph": "",
    "is_forest": "",
    "is_isolate": "",
    "is_strongly_connected": "",
    "is_tree": "",
    "is_weakly_connected": "",
    "isolates": "",
    "k_core": "",
    "k_corona": "",
    "k_crust": "",
    "k_shell": "",
    "label_propagation_communities": "No multigraphs.",
    "maximal_independent_set": "",
    "maximum_spanning_edges": "Kruskal's algorithm; no multigraphs, no NaN.",
    "maximum_spanning_tree": "Kruskal's algorithm; no multigraphs, no NaN.",
    "minimum_spanning_edges": "Kruskal's algorithm; no multigraphs, no NaN.",
    "minimum_spanning_tree": "Kruskal's algorithm; no multigraphs, no NaN.",
    "multi_source_dijkstra": "Weights are int or float.",
    "multi_source_dijkstra_path": "Weights are int or float.",
    "multi_source_dijkstra_path_length": "Weights are int or float.",
    "negative_edge_cycle": "Weights are int or float.",
    "node_connected_component": "",
    "number_connected_components": "",
    "number_of_isolates": "",
    "number_strongly_connected_components": "",
    "number_weakly_connected_components": "",
    "out_degree_centrality": "No multigraphs.",
    "pagerank": "No multigraphs.",
    "periphery": "Without weights and `usebounds`.",
    "predecessor": "",
    "radius": "Without weights and `usebounds`.",
    "shortest_path": "",
    "shortest_path_length": "",
    "single_source_bellman_ford": "Weights are int or float.",
    "single_source_bellman_ford_path": "Weights are int or float.",
    "single_source_bellman_ford_path_length": "Weights are int or float.",
    "single_source_dijkstra": "Weights are int or float.",
    "single_source_dijkstra_path": "Weights are int or float.",
    "single_source_dijkstra_path_length": "Weights are int or float.",
    "single_source_shortest_path": "",
    "single_source_shortest_path_length": "",
    "single_target_shortest_path": "",
    "single_target_shortest_path_length": "",
    "strongly_connected_components": "",
    "transitivity": "Undirected graphs.",
    "triangles": "No multigraphs.",
    "weakly_connected_components": "",
}


def info() -> dict[str, Any]:
    """Returns what NetworkX shows of the backend.

    >>> import nx_seawall
    >>> nx_seawall.info()["backend_name"]
    'seawall'
    """
    functions = {name: {"additional_docs": note} for name, note in FUNCTIONS.items()}
    return {
        "backend_name": "seawall",
        "project": "nx-seawall",
        "package": "nx_seawall",
        "short_summary": "Exact results of NetworkX, from compiled code in the CPU's threads.",
        "functions": functions,
    }
