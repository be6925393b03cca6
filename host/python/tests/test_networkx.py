"""The backend against NetworkX itself: results, their order, and exceptions."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import itertools
import math
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import nx_seawall
import pytest
import scipy.sparse
from nx_seawall.backend import Backend
from seawall import csgraph

pytestmark = pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs")


def plain(value: Any, typed: bool = True) -> Any:
    """A value with its order and, if `typed`, its types, so that equal ones are alike."""
    if isinstance(value, nx.Graph):
        parts = [value._adj, value._pred] if value.is_directed() else [value._adj]
        rows = [[(node, list(row.items())) for node, row in part.items()] for part in parts]
        return "graph", list(value.nodes.items()), rows, value.graph
    if isinstance(value, dict):
        return [(key, plain(item, typed)) for key, item in value.items()]
    if isinstance(value, (set, frozenset)):
        return "set", value
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain(item, typed) for item in value]
    return (value, type(value)) if typed else value


def outcome(typed: bool, function: Any, *args: Any, **kwargs: Any) -> Any:
    """What a call returns or raises."""
    try:
        return plain(function(*args, **kwargs), typed)
    except Exception as error:
        return type(error), str(error)


def both(name: str, graph: nx.Graph, *args: Any, typed: bool = True, **kwargs: Any) -> Any:
    """The outcomes of NetworkX and of the backend, if it takes the call."""
    function = getattr(nx, name, None) or getattr(nx.community, name)
    there = outcome(typed, function, graph, *args, backend="networkx", **kwargs)
    if Backend.can_run(name, (graph, *args), kwargs) is not True:
        return there, there
    return there, outcome(typed, function, graph, *args, backend="seawall", **kwargs)


#: Arguments that a function is tried with: how many nodes it takes, and its keywords.
CALLS: dict[str, tuple[int, list[dict[str, Any]]]] = {
    "all_pairs_bellman_ford_path": (0, [{}]),
    "all_pairs_bellman_ford_path_length": (0, [{}, {"weight": "other"}]),
    "all_pairs_dijkstra": (0, [{}, {"cutoff": 3}]),
    "all_pairs_dijkstra_path": (0, [{}]),
    "all_pairs_dijkstra_path_length": (0, [{}, {"weight": None}]),
    "all_pairs_shortest_path": (0, [{}, {"cutoff": 2}]),
    "all_pairs_shortest_path_length": (0, [{}, {"cutoff": 1.5}]),
    "ancestors": (1, [{}]),
    "average_clustering": (0, [{}, {"count_zeros": False}]),
    "average_shortest_path_length": (0, [{}, {"method": "unweighted"}]),
    "bellman_ford_path": (2, [{}]),
    "bellman_ford_path_length": (2, [{}, {"weight": None}]),
    "bellman_ford_predecessor_and_distance": (1, [{}, {"heuristic": True}]),
    "betweenness_centrality": (
        0,
        [
            {},
            {"normalized": False},
            {"endpoints": True},
            {"k": 2, "seed": 3},
            {"weight": "weight"},
            {"k": 2, "seed": 1, "normalized": False, "endpoints": True},
        ],
    ),
    "bfs_edges": (1, [{}, {"depth_limit": 2}, {"reverse": True}]),
    "bfs_layers": (1, [{}]),
    "bfs_predecessors": (1, [{}, {"depth_limit": 1}]),
    "bfs_successors": (1, [{}]),
    "bfs_tree": (1, [{}, {"depth_limit": 3}]),
    "bidirectional_dijkstra": (2, [{}, {"weight": None}]),
    "bidirectional_shortest_path": (2, [{}]),
    "center": (0, [{}]),
    "closeness_centrality": (0, [{}, {"wf_improved": False}]),
    "clustering": (0, [{}]),
    "connected_components": (0, [{}]),
    "core_number": (0, [{}]),
    "degree_centrality": (0, [{}]),
    "descendants": (1, [{}]),
    "descendants_at_distance": (1, [{"distance": 2}]),
    "diameter": (0, [{}]),
    "dijkstra_path": (2, [{}]),
    "dijkstra_path_length": (2, [{}, {"weight": "other"}]),
    "dijkstra_predecessor_and_distance": (1, [{}, {"cutoff": 4.5}]),
    "eccentricity": (0, [{}]),
    "edge_betweenness_centrality": (0, [{}, {"normalized": False}, {"k": 2, "seed": 3}, {"weight": "weight"}]),
    "greedy_color": (0, [{}]),
    "harmonic_centrality": (0, [{}]),
    "has_path": (2, [{}]),
    "in_degree_centrality": (0, [{}]),
    "is_arborescence": (0, [{}]),
    "is_branching": (0, [{}]),
    "is_connected": (0, [{}]),
    "is_directed_acyclic_graph": (0, [{}]),
    "is_forest": (0, [{}]),
    "is_isolate": (1, [{}]),
    "is_strongly_connected": (0, [{}]),
    "is_tree": (0, [{}]),
    "is_weakly_connected": (0, [{}]),
    "isolates": (0, [{}]),
    "k_core": (0, [{}, {"k": 2}]),
    "k_corona": (0, [{"k": 1}]),
    "k_crust": (0, [{}]),
    "k_shell": (0, [{}, {"k": 1}]),
    "label_propagation_communities": (0, [{}]),
    "maximal_independent_set": (0, [{"seed": 1}, {"seed": 4}]),
    "maximum_spanning_edges": (0, [{}, {"data": False}]),
    "maximum_spanning_tree": (0, [{}]),
    "minimum_spanning_edges": (0, [{}, {"data": False}]),
    "minimum_spanning_tree": (0, [{}, {"weight": "other"}]),
    "negative_edge_cycle": (0, [{}, {"heuristic": False}]),
    "node_connected_component": (1, [{}]),
    "number_connected_components": (0, [{}]),
    "number_of_isolates": (0, [{}]),
    "number_strongly_connected_components": (0, [{}]),
    "number_weakly_connected_components": (0, [{}]),
    "out_degree_centrality": (0, [{}]),
    "pagerank": (0, [{}, {"weight": None}, {"alpha": 0.5}, {"max_iter": 2}]),
    "periphery": (0, [{}]),
    "predecessor": (1, [{}, {"cutoff": 2}, {"return_seen": True}]),
    "radius": (0, [{}]),
    "shortest_path": (1, [{}, {"weight": "weight"}]),
    "shortest_path_length": (2, [{}, {"weight": "weight"}]),
    "single_source_bellman_ford": (1, [{}, {"weight": "other"}]),
    "single_source_bellman_ford_path": (1, [{}]),
    "single_source_bellman_ford_path_length": (1, [{}]),
    "single_source_dijkstra": (1, [{}, {"cutoff": 5}]),
    "single_source_dijkstra_path": (1, [{}]),
    "single_source_dijkstra_path_length": (1, [{}, {"cutoff": 0}]),
    "single_source_shortest_path": (1, [{}, {"cutoff": 2}]),
    "single_source_shortest_path_length": (1, [{}, {"cutoff": 2}, {"cutoff": -1}]),
    "single_target_shortest_path": (1, [{}]),
    "single_target_shortest_path_length": (1, [{}]),
    "strongly_connected_components": (0, [{}]),
    "transitivity": (0, [{}]),
    "triangles": (0, [{}]),
    "weakly_connected_components": (0, [{}]),
}

#: Functions of many sources, which have tests of their own.
OTHERS = {
    "multi_source_dijkstra",
    "multi_source_dijkstra_path",
    "multi_source_dijkstra_path_length",
}


def test_every_function_is_tried() -> None:
    assert CALLS.keys() | OTHERS == nx_seawall.FUNCTIONS.keys()


def weigh(graph: nx.Graph, kind: str, seed: int) -> nx.Graph:
    """Weights of one kind on most edges."""
    rng = random.Random(seed)
    draw = {
        "none": lambda: None,
        "whole": lambda: rng.randrange(6),
        "float": lambda: rng.choice([0.1, 0.5, 1.25, 3.0]),
        "mixed": lambda: rng.choice([1, 2.5, 7]),
    }[kind]
    for _, _, data in graph.edges(data=True):
        if kind == "float" or (kind != "none" and rng.random() < 0.9):
            data["weight"] = draw()
    return graph


@pytest.mark.parametrize("kind", ["none", "whole", "float", "mixed"])
@pytest.mark.parametrize("name", sorted(CALLS))
def test_equals_networkx(name: str, kind: str, graphs: list[nx.Graph]) -> None:
    takes, choices = CALLS[name]
    for at, graph in enumerate(graphs):
        weigh(graph, kind, at)
        nodes = list(graph)[:3] + ["no such node"]
        for kwargs in choices:
            for args in itertools.product(nodes, repeat=takes):
                # Beside floats, the length of a path of whole weights is a float, too.
                there, here = both(name, graph, *args, typed=kind != "mixed", **kwargs)
                assert here == there, (graph, args, kwargs)


@pytest.mark.parametrize("kind", ["none", "whole", "float"])
@pytest.mark.parametrize("name", sorted(OTHERS))
def test_many_sources_equal_networkx(name: str, kind: str, graphs: list[nx.Graph]) -> None:
    for at, graph in enumerate(graphs):
        weigh(graph, kind, at)
        some = list(graph)
        for sources in ([], some[:1], some[:3], {*some[1:4]}, ["no such node"]):
            there, here = both(name, graph, sources)
            assert here == there
    graph = nx.path_graph(6)
    for target in (0, 4, "no such node"):
        there, here = both("multi_source_dijkstra", graph, [0, 5], target)
        assert here == there


@pytest.mark.parametrize("heaviest", [1, 9, 256, 257, 10**6])
def test_lightest_paths_of_any_whole_weights(heaviest: int) -> None:
    # Up to 256 they wait in buckets, beyond in a heap; zeroes join the bucket that is read.
    rng = random.Random(heaviest)
    for kind in (nx.Graph, nx.DiGraph):
        graph = nx.gnm_random_graph(300, 1200, seed=heaviest, directed=kind is nx.DiGraph)
        for _, _, data in graph.edges(data=True):
            data["weight"] = rng.choice([0, rng.randint(1, heaviest), heaviest])
        graph.add_edge(5, 5, weight=0)
        some = list(graph)[:3]
        for cutoff in (None, -1, 0, heaviest, 2.5 * heaviest):
            for name in ("single_source_dijkstra", "dijkstra_predecessor_and_distance"):
                for weight in ("weight", None):
                    there, here = both(name, graph, 5, cutoff=cutoff, weight=weight)
                    assert here == there
            there, here = both("multi_source_dijkstra", graph, some, cutoff=cutoff)
            assert here == there
        for target in (17, 42, 99):
            there, here = both("single_source_dijkstra", graph, 5, target)
            assert here == there
        there, here = both("single_source_dijkstra_path_length", graph, 5, weight=None)
        assert here == there


SIGNED = [name for name in CALLS if "bellman_ford" in name or name == "negative_edge_cycle"]


@pytest.mark.parametrize("name", sorted(SIGNED))
def test_negative_weights_and_cycles(name: str) -> None:
    takes, choices = CALLS[name]
    rng = random.Random(len(name))
    for _ in range(150):
        kind = rng.choice([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
        count = rng.randint(1, 30)
        graph = kind()
        graph.add_nodes_from(range(count))
        weights = rng.choice([[-1, 2, 3, 9, 9, 9], [-0.5, 1.5, 2.25, 4.0], [0, 0, 1], [0.0, 0.1, 0.3]])
        for _ in range(rng.randint(0, 3 * count)):
            u, v = rng.randrange(count), rng.randrange(count)
            if u != v or rng.random() < 0.1:
                graph.add_edge(u, v, weight=rng.choice(weights))
        args = [rng.randrange(count) for _ in range(takes)]
        for kwargs in choices:
            there, here = both(name, graph, *args, **kwargs)
            assert here == there, (list(graph.edges(data=True)), args, kwargs)
        if takes:
            ends = {"source": args[0], "target": rng.choice([None, 0, count])}
            for function in ("shortest_path", "shortest_path_length"):
                there, here = both(function, graph, **ends, weight="weight", method="bellman-ford")
                assert here == there, (list(graph.edges(data=True)), ends)


def test_paths_between_two_nodes_are_the_same() -> None:
    rng = random.Random(7)
    for count in (2, 9, 60, 400):
        for graph in (
            nx.gnm_random_graph(count, 2 * count, seed=count),
            nx.path_graph(count),
            nx.gnm_random_graph(count, 3 * count, seed=count, directed=True),
            nx.MultiGraph(nx.star_graph(count)),
            nx.relabel_nodes(nx.grid_2d_graph(20, 1 + count // 20), str),
        ):
            for _, _, data in graph.edges(data=True):
                data["weight"] = rng.choice([0, 1, 1, 2, 5])
            nodes = list(graph)
            for _ in range(20):
                ends = rng.choice(nodes), rng.choice(nodes)
                for weight in (None, "weight"):
                    there, here = both("shortest_path", graph, *ends, weight=weight)
                    assert here == there
                    for name in ("shortest_path", "shortest_path_length"):
                        there, here = both(name, graph, target=ends[1], weight=weight)
                        assert here == there


@pytest.mark.parametrize("count, edges", [(5, 0), (200, 10), (300, 900), (4000, 40), (3000, 6000)])
def test_a_seed_has_the_same_independent_set(count: int, edges: int) -> None:
    # A set of nodes is iterated over in the order of its table, which is made anew as nodes go.
    names = nx.gnm_random_graph(count, edges, seed=count)
    for graph in (names, nx.relabel_nodes(names, lambda node: f"node {node}")):
        first = next(iter(graph))
        for nodes in (None, [first], [first, *graph[first]]):
            there, here = both("maximal_independent_set", graph, nodes, seed=edges)
            assert here == there
    for seed in (np.random.RandomState(4), np.random.default_rng(4)):
        there = nx.maximal_independent_set(names, seed=copy.deepcopy(seed), backend="networkx")
        assert nx.maximal_independent_set(names, seed=seed, backend="seawall") == there


@pytest.mark.parametrize("name", ["minimum_spanning_tree", "maximum_spanning_tree"])
def test_trees_have_copies_of_attributes(name: str) -> None:
    graph = nx.Graph(title="roads")
    graph.add_node("c", colour="red")
    for at, (u, v) in enumerate([("a", "b"), ("b", "c"), ("c", "a"), ("d", "e"), ("e", "e")]):
        graph.add_edge(u, v, weight=[-0.0, 0.0, -3.5, 2.0, 1.0][at], lanes=at)
    there, here = both(name, graph)
    assert here == there
    tree = getattr(nx, name)(graph, backend="seawall")
    assert type(tree) is nx.Graph
    assert tree.nodes["c"] is not graph.nodes["c"]
    for u, v, data in tree.edges(data=True):
        assert data is tree[v][u]
        assert data is not graph[u][v]
    tree.add_edge("a", "f")
    assert tree.number_of_nodes() == 6

    class Roads(nx.Graph):
        pass

    there, here = both(name, Roads(graph))
    assert here == there
    assert type(getattr(nx, name)(Roads(graph), backend="seawall")) is Roads


@pytest.mark.parametrize("name", ["k_core", "k_shell", "k_crust"])
def test_parts_of_graphs_have_copies_in_the_order_of_networkx(name: str) -> None:
    graph = nx.gnm_random_graph(90, 260, seed=5)
    graph.graph["title"] = "roads"
    graph.add_edge(3, 3, lanes=2)
    for at, (u, v, data) in enumerate(graph.edges(data=True)):
        data["lanes"] = at
        graph.nodes[u]["last"] = v
    numbers = {v: v * 7 % 5 for v in sorted(graph, key=lambda v: -v)}
    for k in (None, 1, 3, 4, 9):
        there, here = both(name, graph, k=k, core_number=numbers)
        assert here == there
    part = getattr(nx, name)(graph, core_number=numbers, backend="seawall")
    assert type(part) is nx.Graph
    for u, v, data in part.edges(data=True):
        assert data is part[v][u]
        assert data is not graph[u][v]


def test_a_tree_of_a_search_is_a_graph_like_any_other() -> None:
    graph = nx.gnm_random_graph(300, 1500, seed=2)
    for limit in (None, 0, 2):
        there, here = both("bfs_tree", graph, 7, depth_limit=limit)
        assert here == there
    tree = nx.bfs_tree(graph, 7, backend="seawall")
    assert type(tree) is nx.DiGraph
    assert all(tree.pred[v][u] is data for u, v, data in tree.edges(data=True))
    tree.remove_node(7)
    tree.add_edge("new", 8)
    assert sorted(map(str, pickle.loads(pickle.dumps(tree)))) == sorted(map(str, tree))


@pytest.mark.parametrize("is_directed", [False, True])
def test_levels_that_are_searched_against_the_edges(is_directed: bool) -> None:
    # The last levels of these find few of many nodes.
    names = ["single_source_shortest_path_length", "single_source_shortest_path", "bfs_edges"]
    names += ["bfs_layers", "bfs_predecessors", "bfs_successors", "predecessor", "descendants"]
    for seed, edges in enumerate((2000, 5000, 9000)):
        graph = nx.gnm_random_graph(1000, edges, seed, is_directed)
        converted = Backend.convert_from_nx(graph)
        # From here on a directed graph has its reversed edges at hand.
        assert nx.ancestors(converted, 1) == nx.ancestors(graph, 1, backend="networkx")
        for name in names:
            function = getattr(nx, name)
            there = plain(function(graph, seed, backend="networkx"))
            for _ in range(2):
                assert plain(function(converted, seed)) == there, name
        for target in range(20):
            there = nx.has_path(graph, seed, target, backend="networkx")
            assert nx.has_path(converted, seed, target) == there
            if there:
                length = nx.shortest_path_length(graph, seed, target, backend="networkx")
                assert nx.shortest_path_length(converted, seed, target) == length
        some = {"nbunch": range(9)}
        there, here = both("harmonic_centrality", graph, **some)
        assert here == there
        there, here = both("closeness_centrality", graph, 3)
        assert here == there


def test_a_class_with_rows_of_its_own_is_left_to_networkx() -> None:
    class Complement(nx.Graph):
        def __getitem__(self, node: Any) -> Any:
            return {other: {} for other in self if other != node and other not in self._adj[node]}

        def neighbors(self, node: Any) -> Any:
            return iter(self[node])

    graph = Complement(nx.path_graph(90))
    with pytest.raises(NotImplementedError):
        nx.node_connected_component(graph, 0, backend="seawall")
    with nx.config(backend_priority=["seawall"]):
        assert nx.descendants_at_distance(graph, 0, 1) == set(range(2, 90))


@pytest.mark.parametrize("limit", [0, 1, 1.5, -1, -0.5, 10**30, math.inf, math.nan, np.int64(2)])
@pytest.mark.parametrize(
    "name",
    ["predecessor", "single_source_shortest_path", "bfs_tree", "single_source_dijkstra_path_length"],
)
def test_limits_of_any_size(name: str, limit: Any, graphs: list[nx.Graph]) -> None:
    key = "depth_limit" if name == "bfs_tree" else "cutoff"
    for graph in graphs:
        for node in list(graph)[:2]:
            there, here = both(name, graph, node, **{key: limit})
            assert here == there


@pytest.mark.parametrize("generator", [np.random.RandomState, np.random.default_rng, random.Random])
def test_samples_by_any_generator(generator: Any) -> None:
    graph = nx.gnp_random_graph(12, 0.3, seed=2)
    for keywords in ({}, {"normalized": False}, {"endpoints": True}):
        there, here = (
            nx.betweenness_centrality(graph, k=4, seed=generator(5), backend=name, **keywords)
            for name in ("networkx", "seawall")
        )
        assert plain(here) == plain(there)


def test_ranks_along_infinite_weights() -> None:
    for kind in (nx.Graph, nx.DiGraph):
        graph = kind([(0, 1, {"weight": math.inf}), (1, 2, {"weight": 2.5}), (2, 0, {"weight": 1})])
        there, here = both("pagerank", graph)
        assert here == there


def test_distances_that_no_level_has() -> None:
    graph = nx.gnm_random_graph(200, 400, seed=4)
    for distance in (-1, 0, 1.0, 2, 2.5, 99, 10**400, math.inf, None, "far"):
        there, here = both("descendants_at_distance", graph, 3, distance)
        assert here == there


def test_more_colours_than_a_word_has_bits() -> None:
    graph = nx.complete_graph(150)
    graph.add_edges_from((150 + v, v * w % 150) for v in range(60) for w in range(1, 90))
    graph.add_edges_from((v, v) for v in range(0, 200, 3))
    there, here = both("greedy_color", graph)
    assert here == there
    assert max(nx.greedy_color(graph, backend="seawall").values()) == 149


def test_trees_of_graphs_that_changed_or_were_copied() -> None:
    graph = nx.gnm_random_graph(400, 900, seed=3)
    # Numbers of its two dictionaries are other objects then.
    copied = pickle.loads(pickle.dumps(graph))
    there, here = both("minimum_spanning_tree", copied)
    assert here == there
    for change in ("add", "remove", "swap", "edge"):
        stale = Backend.convert_from_nx(graph.copy(), {"weight": 1})
        if change in ("remove", "swap"):
            stale.source.remove_node(3)
        if change in ("add", "swap"):
            stale.source.add_node("new")
        if change == "edge":
            stale.source.remove_edges_from(list(graph.edges)[:800])
        with pytest.raises(NotImplementedError, match="changed after its conversion"):
            Backend.minimum_spanning_tree(stale)


def test_the_collector_is_left_as_it_was() -> None:
    graph = nx.path_graph(50)
    try:
        for is_enabled in (True, False):
            (gc.enable if is_enabled else gc.disable)()
            for name in ("minimum_spanning_tree", "connected_components", "bfs_tree"):
                args = (0,) if name == "bfs_tree" else ()
                outcome(True, getattr(nx, name), graph, *args, backend="seawall")
                assert gc.isenabled() == is_enabled
    finally:
        gc.enable()


def test_small_graphs_are_judged_by_all_that_a_call_takes() -> None:
    graph = nx.gnm_random_graph(10, 20, seed=1)
    # NetworkX asks the backend again for each source, so that declining costs more than a run.
    for name in ("closeness_centrality", "all_pairs_shortest_path_length", "harmonic_centrality"):
        assert Backend.should_run(name, (graph,), {}) is True
    for name in ("degree_centrality", "connected_components", "isolates"):
        assert isinstance(Backend.should_run(name, (graph,), {}), str)
        assert isinstance(Backend.should_run(name, (graph.subgraph([0, 1]),), {}), str)
    assert Backend.should_run("degree_centrality", (Backend.convert_from_nx(graph),), {}) is True


def test_forecasts_look_at_few_rows_of_many() -> None:
    looked = 0

    class Row(dict):  # type: ignore[type-arg]
        def __len__(self) -> int:
            nonlocal looked
            looked += 1
            return super().__len__()

    graph = nx.cycle_graph(5000)
    graph._adj = {node: Row(row) for node, row in graph._adj.items()}
    graph.remove_nodes_from(range(100, 1000))
    looked = 0
    reason = Backend.should_run("is_isolate", (graph, 3), {})
    assert isinstance(reason, str)
    assert 0 < looked <= 32
    assert Backend.should_run("core_number", (), {"G": graph}) is True
    assert Backend.should_run("core_number", (nx.Graph(),), {}) is not True


def test_parameters_of_pagerank_round_alike() -> None:
    graph = nx.gnp_random_graph(200, 0.03, seed=1, directed=True)
    some = {v: v % 7 for v in range(0, 200, 3)}
    for kwargs in (
        {"personalization": some},
        {"dangling": some},
        {"nstart": some},
        {"tol": 1e-12, "max_iter": 1000},
    ):
        there, here = both("pagerank", graph, **kwargs)
        assert here == there
    with pytest.raises(ZeroDivisionError):
        nx.pagerank(graph, personalization={0: 0}, backend="seawall")


def test_subsets_of_nodes() -> None:
    graph = nx.gnp_random_graph(30, 0.2, seed=4)
    for name in ("triangles", "clustering", "eccentricity"):
        key = "v" if name == "eccentricity" else "nodes"
        for nodes in (3, [1, 5, 99], []):
            there, here = both(name, graph, **{key: nodes})
            assert here == there
    for kwargs in ({"nbunch": [1, 2]}, {"sources": [3, 4]}, {"nbunch": [1], "sources": [2, 3]}):
        there, here = both("harmonic_centrality", graph, **kwargs)
        assert here == there


def test_multigraphs_and_views() -> None:
    graph = nx.MultiDiGraph([(0, 1), (0, 1), (1, 2), (2, 2)])
    for at, (_, _, data) in enumerate(graph.edges(data=True)):
        data["weight"] = 5 - at
    assert nx.single_source_dijkstra_path_length(graph, 0, backend="seawall") == {0: 0, 1: 4, 2: 7}
    assert nx.descendants(graph, 0, backend="seawall") == {1, 2}
    view = nx.path_graph(10).subgraph([1, 2, 3, 7])
    found = nx.connected_components(view, backend="seawall")
    assert list(found) == [{1, 2, 3}, {7}]
    turned = nx.reverse_view(nx.DiGraph([(0, 1), (1, 2)]))
    assert nx.descendants(turned, 2, backend="seawall") == {0, 1}


@pytest.mark.parametrize("seed", range(20))
def test_every_entry_has_its_own_weight(seed: int) -> None:
    rng = random.Random(seed)
    kind = rng.choice([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
    graph = kind()
    nodes = rng.sample(range(100), 12) if seed % 2 else [str(node) for node in range(12)]
    for _ in range(rng.randrange(60)):
        graph.add_edge(rng.choice(nodes), rng.choice(nodes), weight=rng.choice([1, 2, 3.5, -4]))
    if seed % 3 == 0 and graph.is_directed() and not graph.is_multigraph():
        # The two entries of an edge of this view may have different weights.
        graph = graph.to_undirected(as_view=True)
    if seed % 5 == 0 and len(graph) > 1 and isinstance(graph._adj, dict):
        # An entry whose other direction differs or lacks, which no method of NetworkX makes.
        first, second = list(graph)[:2]
        graph._adj[first][second] = {0: {"weight": 7}} if graph.is_multigraph() else {"weight": 7}

    def weight(data: Any) -> Any:
        if not graph.is_multigraph():
            return data.get("weight", 1)
        return min(entry.get("weight", 1) for entry in data.values())

    numbers = {node: number for number, node in enumerate(graph)}
    expected = [
        (numbers[node], numbers[end], weight(data))
        for node, row in graph.adjacency()
        for end, data in row.items()
    ]
    offsets, targets, weights = Backend.convert_from_nx(graph, {"weight": 1}).any.arrays()
    sources = np.repeat(np.arange(len(graph)), np.diff(offsets))
    found = list(zip(sources.tolist(), targets.tolist(), weights.tolist()))
    assert found == expected


def test_threads_share_a_converted_graph() -> None:
    """All threads start at once, so that all of them find nothing prepared."""
    graph = nx.gnm_random_graph(500, 1500, seed=4)
    names = ("core_number", "connected_components", "pagerank", "closeness_centrality")
    expected = [plain(getattr(nx, name)(graph, backend="networkx")) for name in names]
    for _ in range(3):
        converted = Backend.convert_from_nx(graph)
        start = threading.Barrier(8)

        def ask(at: int) -> Any:
            start.wait()
            return plain(getattr(nx, names[at % 4])(converted))

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(ask, range(8))) == expected + expected


def test_conversions_are_cached_until_the_graph_changes() -> None:
    graph = nx.path_graph(5)
    assert nx.number_connected_components(graph, backend="seawall") == 1
    assert graph.__networkx_cache__["backends"]["seawall"]
    assert nx.number_connected_components(graph, backend="seawall") == 1
    graph.add_edge(10, 11)
    assert not graph.__networkx_cache__.get("backends")
    assert nx.number_connected_components(graph, backend="seawall") == 2
    graph.remove_node(2)
    assert nx.number_connected_components(graph, backend="seawall") == 3
    graph.add_edge(0, 1, weight=7)
    assert nx.dijkstra_path_length(graph, 0, 1, backend="seawall") == 7


VIEWS: dict[str, Any] = {
    "subgraph": lambda graph: graph.subgraph(list(graph)[:40]),
    "filter": lambda graph: nx.subgraph_view(graph, filter_edge=lambda u, v: (u + v) % 3 > 0),
    "reverse": lambda graph: nx.reverse_view(graph),
    "undirected": lambda graph: graph.to_undirected(as_view=True),
    "directed": lambda graph: graph.to_directed(as_view=True),
    "copy": lambda graph: graph.copy(as_view=True),
    "frozen": lambda graph: nx.freeze(graph.copy(as_view=True)),
    "twice": lambda graph: nx.reverse_view(graph).subgraph(list(graph)[:30]),
}


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("view", sorted(VIEWS))
def test_views_see_what_changes_in_their_graph(view: str, kind: type) -> None:
    rng = random.Random(view)
    if kind is nx.Graph and view in {"reverse", "twice"}:
        return
    graph = kind(nx.gnm_random_graph(60, 70, seed=5, directed=kind is nx.DiGraph))
    seen = VIEWS[view](graph)
    for _ in range(12):
        for name in ("single_source_shortest_path_length", "pagerank", "descendants"):
            there, here = both(name, seen, *([] if name == "pagerank" else [0]))
            assert here == there
        if rng.random() < 0.5 and graph.number_of_edges():
            graph.remove_edge(*rng.choice(list(graph.edges)))
        else:
            graph.add_edge(rng.randrange(60), rng.randrange(60))


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
def test_graphs_are_copied_with_their_conversions(kind: type) -> None:
    graph = kind([(0, 1, {"weight": 4}), (1, 2, {"weight": 1}), (2, 3, {"weight": 2})])
    asked = ("single_source_dijkstra_path_length", "single_source_shortest_path_length")
    for name in asked:
        getattr(nx, name)(graph, 0, backend="seawall")
    copies = [copy.deepcopy(graph), pickle.loads(pickle.dumps(graph)), copy.copy(graph)]
    for copied in copies:
        for name in asked:
            there, here = both(name, copied, 0)
            assert here == there
    for copied in copies[:2]:
        copied.add_edge(0, 3, weight=1)
        for other, length in ((copied, 1), (graph, 7)):
            lengths = nx.single_source_dijkstra_path_length(other, 0, backend="seawall")
            assert lengths[3] == length
    converted = copy.deepcopy(Backend.convert_from_nx(graph))
    assert nx.descendants(converted, 0) == {1, 2, 3}


def test_weights_that_are_refused_run_in_networkx() -> None:
    graph = nx.path_graph(4)
    graph[0][1]["weight"] = float("nan")
    with pytest.raises(NotImplementedError):
        nx.dijkstra_path_length(graph, 0, 3, backend="seawall")
    with nx.config(backend_priority=["seawall"]):
        nx.dijkstra_path_length(graph, 0, 3)
    huge = nx.Graph()
    huge.add_edge(0, 1, weight=2**70)
    with nx.config(backend_priority=["seawall"]):
        assert nx.dijkstra_path_length(huge, 0, 1) == 2**70


def asked_in_a_fork() -> list[str]:
    # Of this size the library answers, and loops over sources use its threads.
    graph = nx.gnm_random_graph(300, 3000, seed=3)
    found = []
    for name in (
        "all_pairs_dijkstra_path_length",
        "average_shortest_path_length",
        "betweenness_centrality",
        "closeness_centrality",
        "connected_components",
        "core_number",
        "diameter",
        "eccentricity",
        "edge_betweenness_centrality",
        "harmonic_centrality",
        "pagerank",
        "triangles",
    ):
        answer = getattr(nx, name)(graph, backend="seawall")
        if name.endswith(("betweenness_centrality", "pagerank")):
            answer = {one: round(value, 9) for one, value in answer.items()}
        found.append(f"{name}: {answer if isinstance(answer, dict | int | float) else list(answer)}")
    matrix = nx.to_scipy_sparse_array(graph, format="csr", dtype=float)
    for columns in (
        csgraph.dijkstra(matrix, indices=range(70)),
        csgraph.johnson(matrix, indices=[0, 1]),
        csgraph.connected_components(matrix)[1],
        csgraph.minimum_spanning_tree(matrix).todense(),
    ):
        found.append(str(columns.tolist()))
    return found


def ask_in_a_fork(queue: Any) -> None:
    queue.put(asked_in_a_fork())


ODD_WEIGHTS: list[Any] = [Fraction(1, 3), 2**70, 2**53 + 1, -(2**53) - 1, math.nan, "x"]


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("weight", [*ODD_WEIGHTS, None])
@pytest.mark.parametrize("name", sorted(nx_seawall.FUNCTIONS))
def test_any_weight_is_answered_as_networkx_does(
    name: str, weight: Any, kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Backend, "should_run", staticmethod(lambda *_: True))
    # Those that the backend does not read are left to NetworkX before the first result.
    graph = kind([(0, 1, {"weight": 2}), (1, 2, {"weight": weight}), (1, 2, {"weight": 3})])
    graph.add_edges_from([(0, 2, {"weight": 2**53}), (2, 3, {"weight": 1}), (1, 3, {})])
    graph.add_edge(4, 5, weight=weight)
    takes = CALLS[name][0] if name in CALLS else 1
    args = [[0]] if name in OTHERS else list(range(takes))
    function = getattr(nx, name, None) or getattr(nx.community, name)
    parameters = inspect.signature(getattr(Backend, name)).parameters
    every: list[dict[str, Any]] = [{"weight": "weight"}] if "weight" in parameters else [{}]
    if name == "k_corona":
        every = [{"k": 1}]
    if name == "descendants_at_distance":
        every = [{"distance": 1}]
    if name == "maximal_independent_set":
        every = [{"seed": 1}]
    for kwargs in every:
        there = outcome(True, function, graph, *args, backend="networkx", **kwargs)
        with nx.config(backend_priority=["seawall"]):
            here = outcome(True, function, graph, *args, **kwargs)
        # A NaN equals none.
        assert here == there or repr(here) == repr(there)


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("name", ["pagerank", "minimum_spanning_edges", "single_source_dijkstra"])
def test_views_without_directions_have_the_weights_of_networkx(
    name: str, kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Backend, "should_run", staticmethod(lambda *_: True))
    graph = kind()
    graph.add_weighted_edges_from([(0, 1, 1), (1, 0, 9), (1, 2, 2), (2, 0, 4), (0, 2, 1)])
    view = graph.to_undirected(as_view=True)
    args = [0] if name == "single_source_dijkstra" else []
    function = getattr(nx, name)
    there = outcome(True, function, view, *args, backend="networkx")
    with nx.config(backend_priority=["seawall"]):
        assert outcome(True, function, view, *args) == there


def test_a_cutoff_beyond_53_bits_is_exact() -> None:
    graph = nx.path_graph(3)
    graph[0][1]["weight"], graph[1][2]["weight"] = 2**53 + 1, 1
    for cutoff in (2**53, 2**53 + 1, 2**53 + 2, float(2**53)):
        there, here = both("single_source_dijkstra_path_length", graph, 0, cutoff=cutoff)
        assert here == there


@pytest.mark.parametrize("name", ["bfs_edges", "bfs_tree", "bfs_successors", "descendants", "ancestors"])
def test_what_has_no_hash_is_a_type_error(name: str) -> None:
    there, here = both(name, nx.path_graph(3), [1])
    assert here == there


def test_a_fork_answers_with_one_thread() -> None:
    expected = asked_in_a_fork()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=ask_in_a_fork, args=(queue,))
    process.start()
    assert queue.get(timeout=60) == expected
    process.join()


@pytest.mark.parametrize("name", ["betweenness_centrality", "edge_betweenness_centrality"])
def test_a_refused_sample_draws_nothing(name: str) -> None:
    graph = nx.Graph()
    # Sums of these are not exact in floats.
    heavy = [(0, 1, 2**53), (0, 5, 3), (1, 2, 3), (1, 4, 1), (1, 5, 2**32), (1, 3, 2**53)]
    graph.add_weighted_edges_from([*heavy, (2, 3, 2**53), (2, 4, 2**53)])
    there = getattr(nx, name)(graph, k=2, weight="weight", seed=1, backend="networkx")
    with nx.config(backend_priority=["seawall"]):
        assert getattr(nx, name)(graph, k=2, weight="weight", seed=1) == there
    for weight in (None, "weight"):
        light = nx.gnm_random_graph(30, 90, seed=2)
        one, other = random.Random(5), random.Random(5)
        there = getattr(nx, name)(light, k=4, weight=weight, seed=one, backend="networkx")
        here = getattr(nx, name)(light, k=4, weight=weight, seed=other, backend="seawall")
        assert here == pytest.approx(there)
        assert one.random() == other.random()


def test_ends_that_are_none_or_unhashable_are_taken_as_networkx_takes_them() -> None:
    graph = nx.path_graph(3)
    for source, target in ((0, None), (None, 2), (None, None), (7, None)):
        there, here = both("has_path", graph, source, target)
        assert here == there
    for name, ends in (
        ("single_source_bellman_ford", ([0],)),
        ("bellman_ford_path", (0, [1])),
        ("bellman_ford_path_length", ([0], 1)),
    ):
        there, here = both(name, graph, *ends)
        assert here == there
    assert both("predecessor", graph, 0, cutoff=-math.inf)[0] == both("predecessor", graph, 0, cutoff=-1)[1]


def test_a_large_graph_keeps_its_thread() -> None:
    graph = nx.gnm_random_graph(3000, 12_000, seed=7)
    converted = Backend.convert_from_nx(graph)
    for _ in range(2):
        assert nx.core_number(converted) == nx.core_number(graph, backend="networkx")
        found = list(nx.connected_components(converted))
        assert found == list(nx.connected_components(graph, backend="networkx"))


@pytest.mark.parametrize("entries", [200, 6000])
def test_loops_and_the_library_answer_alike(entries: int) -> None:
    # Loops answer for graphs of fewer than 4,096 entries, the library for others, but for triangles
    # where there is no GPU.
    for is_directed in (False, True):
        graph = nx.gnm_random_graph(300, entries // (2 - is_directed), 5, is_directed)
        converted = Backend.convert_from_nx(graph)
        names = ["core_number"]
        if is_directed:
            names += ["number_strongly_connected_components", "number_weakly_connected_components"]
        else:
            names += ["triangles", "clustering", "transitivity", "number_connected_components"]
        if entries > 2000:
            names += ["eccentricity", "center"]
        for name in names:
            function = getattr(nx, name)
            assert function(converted) == function(graph, backend="networkx"), name


def test_reasons_are_strings() -> None:
    graph = nx.path_graph(3)
    assert Backend.can_run("greedy_color", (graph, "smallest_last"), {}) != True  # noqa: E712
    assert isinstance(Backend.can_run("dijkstra_path", (graph, 0, 1, min), {}), str)
    reason = Backend.should_run("has_path", (graph, 0, 1), {})
    assert isinstance(reason, str)
    assert "NetworkX is expected to take" in reason
    large = nx.gnp_random_graph(300, 0.1, seed=1)
    assert Backend.should_run("betweenness_centrality", (large,), {}) is True


def test_a_converted_graph_is_taken_by_networkx_too() -> None:
    graph = Backend.convert_from_nx(nx.path_graph(4))
    assert nx.number_connected_components(graph) == 1
    assert len(graph) == 4
    assert list(graph) == [0, 1, 2, 3]
    assert Backend.convert_to_nx(graph).number_of_edges() == 3


def test_the_information_imports_no_library() -> None:
    code = (
        "import sys, nx_seawall; nx_seawall.info(); "
        "assert not {'numpy', 'seawall', 'networkx'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    from importlib.metadata import entry_points

    found = {e.name: e for e in entry_points(group="networkx.backends")}
    assert found["seawall"].load() is Backend
    assert nx.config.backends.seawall is not None


@pytest.mark.parametrize("name", ["betweenness_centrality", "edge_betweenness_centrality"])
def test_nothing_is_drawn_before_a_call_is_left_to_networkx(name: str) -> None:
    edges = [(0, 1, -1), (1, 2, 2), (0, 3, 5), (3, 4, 1), (5, 3, 1)]
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(edges)
    found = []
    for priority in ([], ["seawall"]):
        with nx.config(backend_priority=priority):
            draws = random.Random(4)
            values = getattr(nx, name)(graph, k=3, weight="weight", seed=draws)
            found.append((values, draws.random()))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["betweenness_centrality", "harmonic_centrality", "dijkstra"])
def test_ctrl_c_ends_searches_from_many_nodes(name: str) -> None:
    graph = nx.gnm_random_graph(20_000, 60_000, seed=1)
    if name == "dijkstra":
        matrix = scipy.sparse.random_array((4000, 4000), density=0.02, rng=1, format="csr")
        ask = functools.partial(csgraph.dijkstra, matrix)
    else:
        ask = functools.partial(getattr(nx, name), graph, backend="seawall")
        nx.core_number(graph, backend="seawall")
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        ask()
    assert time.perf_counter() - start < 2
    timer.join()
