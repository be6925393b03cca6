"""The class `Graph`: constructors, analyses against NetworkX and SciPy, errors, interrupts."""

from __future__ import annotations

import doctest
import importlib
import json
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sparse
import seawall
from seawall import Graph
from seawall._graph import _OPTIONS


def simple(graphs: list[nx.Graph], kind: type = nx.Graph) -> list[nx.Graph]:
    """The graphs with numbers for names and without loops, as `kind`."""
    found = []
    for graph in graphs:
        graph = nx.convert_node_labels_to_integers(kind(graph.edges))
        graph.remove_edges_from(list(nx.selfloop_edges(graph)))
        if len(graph):
            found.append(graph)
    return found


def of(graph: nx.Graph) -> Graph:
    return Graph.from_networkx(graph)


def parts(labels: Any) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


def test_searches(graphs: list[nx.Graph]) -> None:
    for graph in simple(graphs, nx.DiGraph) + simple(graphs):
        mine = of(graph)
        levels, parents = mine.bfs(0, parents=True)
        expected = nx.single_source_shortest_path_length(graph, 0)
        assert levels.tolist() == [expected.get(v, -1) for v in graph.nodes]
        assert levels.dtype == np.int32
        for node, parent in enumerate(parents.tolist()):
            if node and parent >= 0:
                assert graph.has_edge(parent, node)
                assert levels[parent] + 1 == levels[node]
        assert (mine.reach(0) == (levels >= 0)).all()
        sources = list(graph)[:70]
        each = mine.reach(sources, each=True)
        assert each.shape == (len(sources), len(graph))
        for row, source in zip(each, sources):
            assert set(np.flatnonzero(row)) == nx.descendants(graph, source) | {source}
        expected = nx.closeness_centrality(graph)
        np.testing.assert_allclose(mine.closeness(), list(expected.values()), rtol=1e-5)
        far = [max(nx.single_source_shortest_path_length(graph, v).values()) for v in graph]
        assert mine.eccentricity().tolist() == far
        assert mine.eccentricity([len(graph) - 1]).tolist() == far[-1:]


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_weights(graphs: list[nx.Graph], dtype: Any) -> None:
    rng = np.random.default_rng(3)
    for graph in simple(graphs):
        if not graph.number_of_edges():
            continue
        for _, _, data in graph.edges(data=True):
            weight = rng.integers(1, 50)
            data["weight"] = int(weight) if dtype == np.int64 else float(weight) / 4
        mine = of(graph)
        expected = nx.single_source_dijkstra_path_length(graph, 0)
        none = -1 if dtype == np.int64 else np.inf
        distances = mine.distances(0)
        assert distances.tolist() == [expected.get(v, none) for v in graph]
        tree = nx.minimum_spanning_tree(graph)
        forest = mine.spanning_forest()
        assert forest.weight == pytest.approx(tree.size("weight"))
        assert len(forest.edges) == tree.number_of_edges()
        assert all(graph.has_edge(*edge) for edge in forest.edges.tolist())
        widest = nx.maximum_spanning_tree(graph)
        for node, width in enumerate(mine.widest(0).tolist()):
            if node == 0:
                assert width == np.inf
            elif node not in expected:
                assert width == -np.inf
            else:
                path = nx.shortest_path(widest, 0, node)
                assert width == min(graph[u][v]["weight"] for u, v in zip(path, path[1:]))


def test_structure(graphs: list[nx.Graph]) -> None:
    for graph in simple(graphs):
        mine = of(graph)
        components = mine.components()
        expected = {frozenset(part) for part in nx.connected_components(graph)}
        assert parts(components.labels) == expected
        assert components.count == len(expected)
        assert mine.to_dict(mine.core_numbers()) == nx.core_number(graph)
        assert mine.to_dict(mine.triangles()) == nx.triangles(graph)
        assert mine.triangle_total() == sum(nx.triangles(graph).values()) // 3
        chosen = mine.independent_set()
        colours = mine.colouring()
        assert all(not (chosen[u] and chosen[v]) for u, v in graph.edges)
        assert all(chosen[v] or any(chosen[w] for w in graph[v]) for v in graph)
        assert all(colours[u] != colours[v] for u, v in graph.edges)
        communities = mine.communities()
        assert communities.count == len(np.unique(communities.labels))
    for graph in simple(graphs, nx.DiGraph):
        mine = of(graph)
        expected = {frozenset(part) for part in nx.strongly_connected_components(graph)}
        strong = mine.strong_components()
        assert parts(strong.labels) == expected
        assert strong.count == len(expected)


def test_rankings(graphs: list[nx.Graph]) -> None:
    for graph in simple(graphs, nx.DiGraph):
        mine = of(graph)
        expected = nx.pagerank(graph, tol=1e-10, max_iter=500)
        ranks = mine.pagerank(tolerance=1e-7)
        assert ranks.ranks.dtype == np.float32
        np.testing.assert_allclose(ranks.ranks, list(expected.values()), atol=2e-6)
        personal = {0: 1}
        expected = nx.pagerank(graph, personalization=personal, tol=1e-10, max_iter=500)
        found = mine.personalized_pagerank(0, tolerance=1e-7).ranks
        np.testing.assert_allclose(found, list(expected.values()), atol=2e-6)
        one = mine.pagerank(max_iterations=1)
        assert one.iterations == 1


def test_betweenness(graphs: list[nx.Graph]) -> None:
    for graph in simple(graphs, nx.DiGraph):
        expected = nx.betweenness_centrality(graph, normalized=False)
        found = of(graph).betweenness()
        np.testing.assert_allclose(found, list(expected.values()), rtol=1e-4, atol=1e-4)


PAIRS = [("a", "b"), ("b", "c"), ("d", "a")]


def test_edges_of_every_kind() -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")

    columns = {
        "weight": [2, 3, 4],
        "source": [u for u, _ in PAIRS],
        "target": [v for _, v in PAIRS],
    }
    triples = [(u, v, w) for (u, v), w in zip(PAIRS, columns["weight"])]
    frame = pandas.DataFrame(columns)

    class Stream:
        """An Arrow stream and nothing else."""

        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return pyarrow.table(columns).__arrow_c_stream__(requested_schema)

    renamed = frame.rename(columns={"source": "u", "target": "v", "weight": "w"})
    found = [
        Graph.from_edges(triples),
        Graph.from_edges(frame),
        Graph.from_edges(renamed, source="u", target="v", weight="w"),
        Graph.from_edges(polars.DataFrame(columns)),
        Graph.from_edges(pyarrow.table(columns)),
        Graph.from_edges(Stream()),
        Graph.from_edges(columns["source"], columns["target"], weights=columns["weight"]),
    ]
    for graph in found:
        assert graph.names is not None
        assert graph.names.tolist() == ["a", "b", "c", "d"]
        assert graph.to_dict(graph.distances("a")) == {"a": 0, "b": 2, "c": 5, "d": 4}
        assert graph.frame(level=graph.bfs("d")).level["c"] == 3


@pytest.mark.parametrize(
    "dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "object"]
)
def test_arrays_of_every_type(dtype: str) -> None:
    ends = np.array([[0, 1], [1, 2], [5, 1]]).astype(dtype)
    for array in (ends, np.asfortranarray(ends), ends[::-1]):
        graph = Graph.from_edges(array, directed=True)
        number = graph.number
        if dtype == "object":
            assert set(graph.names) == {0, 1, 2, 5}
        else:
            assert graph.nodes == 6
            assert graph.edges == 3
        assert graph.bfs(0)[number(2)] == 2
    if dtype != "object":
        wide = Graph.from_edges([(0, 1)], weights=np.array([3]).astype(dtype))
        assert wide.distances(0)[1] == 3
    assert Graph.from_edges([], nodes=4).nodes == 4
    assert Graph.from_edges(np.empty((0, 2), np.int64)).nodes == 0
    assert Graph.from_edges([(10**12, 5)], named=True).to_dict(np.array([1, 2])) == {10**12: 1, 5: 2}


def test_rounded_weights_are_counted() -> None:
    assert Graph.from_edges([(0, 1, 0.1), (1, 2, 0.5)]).rounded_weights == 1
    assert Graph.from_edges([(0, 1, 2.0)]).rounded_weights == 0


def test_matrices_of_scipy(graphs: list[nx.Graph]) -> None:
    for graph in graphs:
        if not len(graph):
            continue
        graph = nx.convert_node_labels_to_integers(graph)
        matrix = nx.to_scipy_sparse_array(graph, format="csr")
        mine = Graph.from_scipy(matrix, directed=graph.is_directed())
        expected = nx.single_source_shortest_path_length(graph, 0)
        assert mine.bfs(0).tolist() == [expected.get(v, -1) for v in graph]
    weighted = sparse.coo_matrix(([3.5, 2.0], ([0, 1], [1, 2])), shape=(4, 4))
    assert Graph.from_scipy(weighted).distances(0).tolist() == [0, 3.5, 5.5, np.inf]


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "some.el"
    file.write_text("10 20\n20 30\n20 20\n10 20\n")
    graph = Graph.load(file)
    assert graph.to_dict(graph.bfs(10)) == {10: 0, 20: 1, 30: 2}
    assert graph.stats["listed_edges"] == 4
    assert Graph.load(file, directed=False).bfs([30])[0] == 2
    file.write_text("ann eve\neve b\u00f6b\n")
    named = Graph.load(file)
    assert named.to_dict(named.bfs("ann")) == {"ann": 0, "b\u00f6b": 2, "eve": 1}
    assert named.frame(level=named.bfs(["eve"])).level["ann"] == -1
    file.write_text("0 1\n1 2\n")
    assert Graph.load(file).names is None
    with pytest.raises(seawall.GraphError) as caught:
        Graph.load(tmp_path / "missing")
    assert caught.value.kind == "Io"
    assert caught.value.action == "open"
    assert "cannot open" in str(caught.value)


def raises(kind: str, call: Any, **fields: Any) -> None:
    with pytest.raises(seawall.Error) as caught:
        call()
    assert isinstance(caught.value, ValueError)
    assert caught.value.kind == kind
    for name, value in fields.items():
        assert getattr(caught.value, name) == value


def test_errors_have_kind_and_fields() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)])
    arrow = Graph.from_edges([(0, 1)], directed=True)
    named = Graph.from_edges(PAIRS)
    raises("NoWeights", lambda: graph.distances(0), analysis="sssp")
    raises("Directed", lambda: arrow.core_numbers(), analysis="kcore")
    raises("NoSource", lambda: graph.bfs([]), analysis="bfs")
    raises("NoSuchSource", lambda: graph.bfs(7))
    raises("NoSuchSource", lambda: graph.bfs(np.array([0, -1])))
    raises("NoSuchSource", lambda: named.bfs("z"))
    raises("NoSuchSource", lambda: named.bfs([["a"]]))
    raises("WrongOption", lambda: graph.bfs(0, machine="abacus"))
    raises("WrongOption", lambda: graph.bfs(0, threads=0))
    raises("WrongOption", lambda: graph.bfs(0, speed=3))
    raises("WrongOption", lambda: graph.run("sorting"))
    raises("OverBudget", lambda: graph.bfs(0, machine="cpu", budget_bytes=1), budget_bytes=1)
    raises("EdgeOutOfRange", lambda: Graph.from_edges([(0, 9)], nodes=5), node=9, nodes=5)
    raises("BadWeight", lambda: Graph.from_edges([(0, 1, np.inf)]), index=0, weight=np.inf)
    raises("OutOfRange", lambda: Graph.from_edges([(0, 1, -(2**31) - 1)]))
    raises("OutOfRange", lambda: Graph.from_edges([(0, 1, 10**20)]))
    raises("OutOfRange", lambda: Graph.from_edges([(0, -1)]))
    raises("OutOfRange", lambda: Graph.from_edges([(0, 2**32)]))
    raises("Lengths", lambda: Graph.from_edges([0, 1], [1]))
    raises("Shape", lambda: Graph.from_edges([(0, 1), (1, 2, 3)]))
    raises("Shape", lambda: Graph.from_scipy(sparse.csr_array((2, 3))))
    for count, length in ((2, 2), (2, 3), (3, 2), (3, 7)):
        arrays = tuple(np.arange(length) for _ in range(count))
        raises("Shape", lambda arrays=arrays: Graph.from_edges(arrays))
    assert Graph.from_edges([np.array([0, 1]), np.array([1, 2])]).nodes == 3
    for weight in ("heavy", "3", None, 1j, [2]):
        raises("WrongType", lambda weight=weight: Graph.from_edges([(0, 1, weight), (1, 2, 1)]))


def test_options_that_are_none_have_their_defaults() -> None:
    graph = Graph.from_edges([(0, 1, 2), (1, 2, 3)])
    expected = graph.bfs(0).tolist()
    session = graph.session(machine="cpu", threads=1)
    for option in sorted(_OPTIONS):
        for one in (graph, session):
            assert one.run("bfs", 0, **{option: None})["values"].tolist() == expected, option


WRONG_NODES: list[Any] = [
    *("a", b"a", np.nan, np.inf, 1.5, (0, 9), {}, object(), -1, 3, 2**70, [[0, 1]], iter([9])),
    *(np.array([0.5]), np.array([2**40]), np.array([True, False, True]), ["a"]),
]


@pytest.mark.parametrize("node", WRONG_NODES, ids=repr)
def test_what_is_no_node_is_an_error_of_the_library(node: Any) -> None:
    for graph in (Graph.from_edges([(0, 1), (1, 2)]), Graph.from_edges([("x", "y"), ("y", 7.25)])):
        with pytest.raises(seawall.RequestError):
            graph.bfs(node)


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("threads", [-1, 1.5, "two", 2**70]),
        ("device", [-1, 2**40]),
        ("budget_bytes", [-1, 2**64]),
        ("max_iterations", [-1, 0, 2**32]),
        ("time_budget", [-1, 0, "long", float("nan")]),
        ("jit", [3, "sometimes"]),
        ("loops", ["some", 1]),
        ("parallel", ["last", 1]),
    ],
)
def test_a_wrong_value_of_an_option_is_named(option: str, values: list[Any]) -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)])
    for value in values:
        with pytest.raises(seawall.RequestError) as caught:
            graph.pagerank(**{option: value})
        assert option.split("_")[0] in str(caught.value)


@pytest.mark.parametrize("nodes", [-1, 2**32 - 1, 2**70, 2.0, "3"])
def test_a_number_of_nodes_that_cannot_be_is_refused(nodes: Any) -> None:
    raises("TooManyNodes", lambda: Graph.from_edges([(0, 1)], nodes=nodes))


def test_sources_are_of_any_kind() -> None:
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    numbers = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
    names = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    for graph, wanted in ((numbers, [0, 2]), (names, ["a", "c"])):
        expected = graph.bfs(wanted).tolist()
        series = pandas.Series(wanted, index=[7, 8])
        unhashed: list[Any] = [set(wanted), dict.fromkeys(wanted).keys(), np.array(wanted), series]
        for sources in (*unhashed, pandas.Index(wanted), pyarrow.array(wanted)):
            assert graph.bfs(sources).tolist() == expected, type(sources)
    assert numbers.bfs((0, 2)).tolist() == numbers.bfs(iter([0, 2])).tolist() == [0, 1, 0, 1]
    assert numbers.bfs(np.array(2)).tolist() == [2, 1, 0, 1]
    assert names.bfs(np.array("c")).tolist() == [2, 1, 0, 1]
    tuples = Graph.from_edges([((0, 1), (0, 2))])
    assert tuples.bfs((0, 2)).tolist() == tuples.bfs({(0, 2)}).tolist() == [1, 0]
    parts = Graph.from_edges([(frozenset("a"), frozenset("bc")), (frozenset("bc"), "a")])
    assert parts.bfs(frozenset("bc")).tolist() == [1, 0, 1]
    assert parts.bfs(frozenset("a")).tolist() == [0, 1, 2]
    assert parts.bfs(frozenset({"a", frozenset("a")})).tolist() == [0, 1, 0]


KINDS = ["int", "uint", "str", "bytes", "float", "object"]


@pytest.mark.parametrize("left", KINDS)
@pytest.mark.parametrize("right", KINDS)
def test_names_of_two_kinds_stay_apart(left: str, right: str) -> None:
    large = 2**53
    arrays = {
        "int": np.array([1, large + 1, -3]),
        "uint": np.array([1, large + 1, large], np.uint64),
        "str": np.array(["1", str(large), "x"]),
        "bytes": np.array([b"1", b"a", b"x"]),
        "float": np.array([1.0, float(large), 0.5]),
        "object": np.array([1, "1", large + 1], object),
    }
    ends = [array.tolist() for array in (arrays[left], arrays[right])]
    graph = Graph.from_edges(arrays[left], arrays[right], directed=True, named=True)
    assert graph.names is not None
    names = {*ends[0], *ends[1]}
    assert set(graph.names.tolist()) == names
    assert graph.nodes == len(names)
    for u, v in zip(*ends):
        assert graph.bfs(u)[graph.number(v)] == (0 if u == v else 1)
    listed = Graph.from_edges(list(zip(*ends)), directed=True, named=True)
    assert listed.names is not None
    assert set(listed.names.tolist()) == names
    assert listed.nodes == len(names)


def test_an_end_that_is_missing_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    for ends in ([0, None, 2], ["a", None, "c"], [0.5, float("nan"), 1.5]):
        columns = {"source": ends, "target": ends[::-1]}
        for table in (pandas.DataFrame, pyarrow.table, polars.DataFrame):
            raises("MissingEnd", lambda table=table: Graph.from_edges(table(columns)))
        raises("MissingEnd", lambda ends=ends: Graph.from_edges([(0.5, end) for end in ends]))
    nullable = pandas.DataFrame({"source": pandas.array([0, None], "Int64"), "target": [1, 2]})
    raises("MissingEnd", lambda: Graph.from_edges(nullable))
    days = pandas.DataFrame({"source": pandas.to_datetime(["2026-01-01", None])})
    raises("MissingEnd", lambda: Graph.from_edges(days.assign(target=days.source)))


def test_columns_of_the_ends_are_known_named_or_the_first() -> None:
    pandas = pytest.importorskip("pandas")
    rows = [[5, 0, 1], [6, 1, 2]]

    def reached(*names: Any, **chosen: Any) -> list[int]:
        table = pandas.DataFrame(rows, columns=list(names))
        return Graph.from_edges(table, directed=True, **chosen).bfs(0).tolist()

    for names in (("w", "source", "target"), ("id", "From", "To"), ("target_id", "src", "dst")):
        assert reached(*names) == [0, 1, 2]
    assert reached("id", "target", "source") == [0, -1, -1]
    assert reached("a", "b", "c", source="b", target="c") == [0, 1, 2]
    assert reached(0, 1, 2, source=1, target=2) == [0, 1, 2]
    assert reached("a", "target", "source", source="source", target="target") == [0, -1, -1]
    rows = [[0, 1, 5], [1, 2, 6]]
    for names in (("a", "b", "c"), (0, 1, 2), ("from", "to", "w")):
        assert reached(*names) == [0, 1, 2]
    # Positions would be a guess, or both ends one column.
    for names, chosen in (
        (("target", "other", "w"), {}),
        (("other", "source", "w"), {}),
        (("a", "b", "c"), {"source": "b"}),
        (("a", "b", "c"), {"target": "a"}),
        (("source", "target", "w"), {"source": "target"}),
        (("a", "b", "c"), {"source": "z"}),
    ):
        raises("Columns", lambda names=names, chosen=chosen: reached(*names, **chosen))
    raises("WrongType", lambda: Graph.from_edges({(0, 1): 5}))


@pytest.mark.parametrize("byte_order", ["<", ">"])
@pytest.mark.parametrize("kind", ["i2", "i4", "i8", "u2", "u4", "u8", "f4", "f8"])
def test_arrays_of_either_byte_order(byte_order: str, kind: str) -> None:
    weights = np.array([3, 2]).astype(byte_order + kind)
    ends = np.array([0, 1]).astype(byte_order + ("i8" if kind[0] == "f" else kind))
    graph = Graph.from_edges(ends, ends + ends.dtype.type(1), weights=weights)
    assert graph.names is None
    assert graph.distances(0).tolist() == [0, 3, 5]
    assert Graph.from_edges([0], [1], weights=np.array([1.5], np.longdouble)).distances(0)[1] == 1.5


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("weight", [None, int, float, np.int64, np.float32, "some"])
def test_graphs_of_networkx_keep_all_edges(kind: type, weight: Any) -> None:
    rng = random.Random(f"{kind.__name__} {weight}")
    for nodes in (1, 2, 5, 9):
        graph = kind()
        graph.add_nodes_from(f"n{node}" for node in range(nodes))
        for _ in range(4 * nodes):
            u, v = (f"n{rng.randrange(nodes)}" for _ in range(2))
            graph.add_edge(u, v)
            if weight is not None and (weight != "some" or rng.random() < 0.5):
                made = int if weight == "some" else weight
                last = graph[u][v] if not graph.is_multigraph() else graph[u][v][max(graph[u][v])]
                last["weight"] = made(rng.randint(1, 5))
        mine = of(graph)
        edges, loops = graph.number_of_edges(), nx.number_of_selfloops(graph)
        assert mine.loops == loops
        assert mine.edges == (edges if graph.is_directed() else 2 * edges - loops)
        ranks = nx.pagerank(graph, tol=1e-12, max_iter=2000, backend="networkx")
        found = mine.to_dict(mine.pagerank(tolerance=1e-7).ranks)
        assert found == pytest.approx(ranks, abs=1e-5)
        # A node on each edge makes paths of parallel ones that NetworkX tells apart.
        halves = nx.DiGraph() if graph.is_directed() else nx.Graph()
        halves.add_nodes_from(graph)
        for at, (u, v) in enumerate(graph.edges()):
            halves.add_edges_from([(u, at), (at, v)])
        shares = nx.betweenness_centrality_subset(halves, list(graph), list(graph))
        shares = {node: shares[node] for node in graph}
        assert mine.to_dict(mine.betweenness()) == pytest.approx(shares, rel=1e-4, abs=1e-4)
        if weight is not None and mine.weight_kind:
            lengths = nx.single_source_dijkstra_path_length(graph, "n0", backend="networkx")
            mine_too = mine.to_dict(mine.distances("n0"))
            assert {node: mine_too[node] for node in lengths} == pytest.approx(lengths)


def test_weights_of_networkx_that_are_none_are_refused() -> None:
    for weight in ("heavy", None, 1j):
        for kind in (nx.Graph, nx.MultiGraph):
            graph = kind([(0, 1, {"weight": weight})])
            raises("WrongType", lambda graph=graph: of(graph))
    raises("WrongType", lambda: Graph.from_networkx(nx.path_graph(2), weight=lambda *_: 1))


def test_negative_weights() -> None:
    rng = random.Random(7)
    for kind in (int, float):
        for _ in range(20):
            nodes = rng.randint(2, 9)
            drawn = nx.gnp_random_graph(nodes, 0.4, seed=rng.randrange(999), directed=True)
            # Of potentials, so that no cycle is negative.
            height = [rng.randint(-9, 9) for _ in range(nodes)]
            for u, v, data in drawn.edges(data=True):
                data["weight"] = kind(rng.randint(0, 4) + height[u] - height[v])
            mine = of(drawn)
            if mine.weight_kind is None:
                continue
            lengths = nx.single_source_bellman_ford_path_length(drawn, 0)
            none = {int: 2**63 - 1, float: np.inf}[kind]
            none = none if mine.weight_kind.startswith("signed") or kind is float else -1
            assert mine.distances(0).tolist() == [lengths.get(node, none) for node in range(nodes)]
            if mine.weight_kind.startswith("signed"):
                raises("WeightTooSmall", mine.pagerank)
            pairs = [(u, v, w) for u, v, w in drawn.edges(data="weight")]
            both_ways = nx.MultiGraph()
            both_ways.add_weighted_edges_from(pairs)
            tree = nx.minimum_spanning_tree(both_ways)
            forest = Graph.from_edges(pairs, nodes=nodes).spanning_forest()
            assert forest.weight == pytest.approx(tree.size(weight="weight"))
            matrix = nx.to_scipy_sparse_array(drawn, nodelist=range(nodes))
            again = Graph.from_scipy(matrix, weighted=True)
            assert again.edges == mine.edges
    raises("NegativeCycle", lambda: Graph.from_edges([(0, 1, -1)]).distances(0))
    mixed = Graph.from_edges([(0, 1, -1), (1, 2, 2**32 - 1)], directed=True)
    assert mixed.weight_kind == "signed float"
    assert mixed.rounded_weights == 1


def test_the_first_of_parallel_edges(tmp_path: Path) -> None:
    file = tmp_path / "some.el"
    file.write_text("0 1 5\n0 1 3\n1 2 1\n")
    listed = Graph.load(file, listed_order=True)
    assert listed.distances(0).tolist() == [0, 3, 4]
    assert listed.distances(0, parallel="first").tolist() == [0, 5, 6]
    with pytest.raises(seawall.RequestError, match="listed_order"):
        Graph.load(file).distances(0, parallel="first")
    plain = Graph.from_edges([(0, 1), (0, 1), (1, 2)])
    assert plain.betweenness(parallel="first").tolist() == [0, 1, 0]


def test_the_smaller_end_of_an_edge_of_a_forest_is_first(graphs: list[nx.Graph]) -> None:
    for graph in simple(graphs):
        rng = random.Random(len(graph))
        for _, _, data in graph.edges(data=True):
            data["weight"] = rng.randint(1, 9)
        if graph.number_of_edges():
            ends = of(graph).spanning_forest().edges
            assert (ends[:, 0] < ends[:, 1]).all()
            assert all(graph.has_edge(*pair) for pair in ends.tolist())


def test_a_gpu_that_is_missing_is_an_error_of_the_machine() -> None:
    graph = Graph.from_edges([(0, 1)])
    try:
        assert graph.bfs(0, machine="mega").tolist() == [0, 1]
    except seawall.MachineError as error:
        assert error.kind in {"Unavailable", "Unsupported"}
        assert "use the CPU" in str(error)


def test_the_last_run_is_told_and_drawn() -> None:
    graph = Graph.load("gen:grid:30x30")
    assert graph.last_run is None
    graph.bfs(0)
    assert graph.last_run is not None
    assert graph.last_run.analysis == "bfs"
    assert graph.last_run.machine in {"cpu", "mega"}
    assert graph.last_run.times["run"] > 0
    assert graph.last_run.answer == {"eccentricity": 58}
    html = graph._repr_html_()
    assert "<td>900</td>" in html
    assert "bfs on" in html
    assert graph.run("bfs", 0, check=True)["checked"] is True


@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize("seed", range(8))
def test_names_change_no_result(kind: type, seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 30))
    path = np.arange(nodes - 1)
    extra = rng.integers(0, nodes, (2, int(rng.integers(0, 3 * nodes))))
    sources, targets = np.concatenate([path, extra[0]]), np.concatenate([path + 1, extra[1]])
    options: Any = {"weights": 1 + (sources + targets) % 7, "directed": bool(seed % 2)}
    plain = Graph.from_edges(sources, targets, **options)
    # Whole numbers that are also numbers of other nodes.
    names = np.array([kind(name) for name in rng.permutation(nodes) + 1])
    named = Graph.from_edges(names[sources], names[targets], named=True, **options)
    place = [named.number(name) for name in names.tolist()]
    some = rng.choice(nodes, min(3, nodes), replace=False)
    for name in ("bfs", "reach", "distances", "widest", "personalized_pagerank", "betweenness"):
        here = getattr(plain, name)(some.tolist())
        there = getattr(named, name)(names[some].tolist())
        if name == "personalized_pagerank":
            here, there = here.ranks, there.ranks
        np.testing.assert_allclose(here, there[place], rtol=1e-5, atol=1e-7, err_msg=name)
    for name in ("betweenness", "closeness", "eccentricity"):
        here, there = getattr(plain, name)(), getattr(named, name)()
        np.testing.assert_allclose(here, there[place], rtol=1e-5, atol=1e-7, err_msg=name)
    for name in ("closeness", "eccentricity"):
        here = getattr(plain, name)(some.tolist())
        there = getattr(named, name)(names[some].tolist())
        np.testing.assert_allclose(here, there, rtol=1e-5, err_msg=name)
    here = plain.reach(some.tolist(), each=True)
    np.testing.assert_array_equal(here, named.reach(names[some].tolist(), each=True)[:, place])


def test_sessions_answer_many_questions() -> None:
    graph = Graph.load("gen:grid:20x20")
    with graph.session(machine="cpu", threads=1) as session:
        assert [int(session.bfs(v).max()) for v in range(5)] == [38, 37, 36, 35, 34]
    # It opens a machine anew.
    assert int(session.bfs(0).max()) == 38


def test_threads_share_a_graph() -> None:
    graph = Graph.load("gen:grid:40x40")
    expected = [graph.bfs(v).tolist() for v in range(8)]
    found: list[Any] = [None] * 8

    def ask(at: int) -> None:
        for _ in range(5):
            found[at] = graph.bfs(at).tolist()

    threads = [threading.Thread(target=ask, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_the_lock_is_given_back_during_a_run() -> None:
    graph = Graph.load("gen:grid:300x300")
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    start = time.perf_counter()
    graph.betweenness(range(20), machine="cpu", threads=1)
    seconds = time.perf_counter() - start
    done.set()
    ticker.join()
    assert ticks > seconds * 5


def test_ctrl_c_ends_a_run() -> None:
    graph = Graph.load("gen:grid:400x400")
    sources = range(graph.nodes)
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        graph.betweenness(sources, machine="cpu")
    assert time.perf_counter() - start < 20
    assert int(graph.bfs(0).max()) == 798


def test_a_load_tells_how_far_it_is_and_ctrl_c_ends_it(tmp_path, capfd) -> None:
    told = []
    lines = np.random.default_rng(1).integers(0, 1 << 20, (3_000_000, 2))
    path = tmp_path / "lines.el"
    np.savetxt(path, lines, "%d")
    graph = Graph.load(path, progress=lambda phase, seconds: told.append((phase, seconds)))
    assert graph.nodes > 900_000 and told
    assert all(phase in ("loading", "building") or phase.startswith("reading, ") for phase, _ in told)
    assert [seconds for _, seconds in told] == sorted(seconds for _, seconds in told)

    class Stop(Exception):
        pass

    def stop(phase: str, seconds: float) -> None:
        raise Stop

    before = threading.active_count()
    with pytest.raises(Stop):
        Graph.load(path, progress=stop)
    waits = tmp_path / "waits.el"
    os.mkfifo(waits)
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        Graph.load(waits)
    with open(waits, "w") as sink:
        sink.write("0 1\n")
    timer.join()
    assert threading.active_count() == before
    time.sleep(0.5)
    assert capfd.readouterr().err == ""


def test_devices_share_a_question() -> None:
    graph = Graph.load("gen:rmat:12:8", weights="ignored")
    for analysis, sources in [
        ("bfs", [1]),
        ("cc", []),
        ("pagerank", []),
        ("closeness", [1, 2, 3]),
        ("triangle-total", []),
        ("scc", []),
        ("ppr", [1]),
    ]:
        one = graph.run(analysis, sources, machine="cpu", threads=1)
        many = graph.run(analysis, sources, machine="cpu", threads=2, devices=[0, 1, 2])
        assert (one["devices"], many["devices"]) == (1, 3)
        np.testing.assert_array_equal(one["values"], many["values"])
    # Without a GPU, and where one is faster, all of them are one.
    assert graph.run("bfs", 1, devices="all")["devices"] == 1
    for wrong in ("some", "0,x"):
        with pytest.raises(seawall.RequestError, match="is no number of a device"):
            graph.run("bfs", 1, devices=wrong)
    with pytest.raises(seawall.RequestError, match="runs on one device"):
        graph.run("labels", machine="cpu", devices=[0, 1])


def test_ctrl_c_ends_a_run_on_devices() -> None:
    graph = Graph.load("gen:grid:500x500", weights="ignored")
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    # Thousands of iterations, however fast the machine is.
    slowly = {"damping": 0.99999, "tolerance": 0.0, "max_iterations": 10**9}
    with pytest.raises(KeyboardInterrupt):
        graph.run("pagerank", machine="cpu", devices=[0, 1], **slowly)
    assert time.perf_counter() - start < 20
    assert graph.run("bfs", 0, machine="cpu", devices=[0, 1])["answer"]["eccentricity"] == 998


def ask_in_a_fork(queue: Any) -> None:
    try:
        Graph.from_edges([(0, 1)]).bfs(0)
    except seawall.MachineError as error:
        queue.put(error.kind)


def test_a_fork_is_refused_rather_than_waiting_for_ever() -> None:
    Graph.from_edges([(0, 1)]).bfs(0)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=ask_in_a_fork, args=(queue,))
    process.start()
    assert queue.get(timeout=30) == "Forked"
    process.join()


def test_a_graph_without_nodes_has_no_values() -> None:
    graph = Graph.from_edges([])
    for name in ("closeness", "betweenness", "eccentricity", "core_numbers", "components"):
        found = getattr(graph, name)()
        assert len(getattr(found, "labels", found)) == 0, name


def test_what_is_no_graph_is_refused_by_its_type() -> None:
    with pytest.raises(seawall.RequestError, match="not int"):
        Graph.from_networkx(5)  # type: ignore[arg-type]
    with pytest.raises(seawall.RequestError, match="not NoneType"):
        seawall.Program().run(None)  # type: ignore[arg-type]


def test_every_analysis_is_a_method() -> None:
    methods = {
        "bfs": "bfs",
        "reach": "reach",
        "cc": "components",
        "sssp": "distances",
        "pagerank": "pagerank",
        "kcore": "core_numbers",
        "triangles": "triangles",
        "widest": "widest",
        "mis": "independent_set",
        "colouring": "colouring",
        "scc": "strong_components",
        "msf": "spanning_forest",
        "labels": "communities",
        "ppr": "personalized_pagerank",
        "betweenness": "betweenness",
        "triangle-total": "triangle_total",
        "closeness": "closeness",
        "eccentricity": "eccentricity",
    }
    assert methods.keys() == {kind["name"] for kind in seawall.analyses()}
    assert all(callable(getattr(Graph, name)) for name in methods.values())


@pytest.mark.parametrize(
    "name",
    ["seawall", "seawall._graph", "seawall._plan", "seawall._program", "seawall.csgraph", "nx_seawall"],
)
def test_examples_of_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_stubs_name_what_is_there() -> None:
    import ast

    stub = Path(seawall.__file__).with_name("_seawall.pyi")
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.ClassDef):
            found = getattr(seawall._seawall, node.name)
            named = {
                item.name if isinstance(item, ast.FunctionDef) else item.target.id
                for item in node.body
                if isinstance(item, (ast.FunctionDef, ast.AnnAssign))
            }
            there = {name for name in vars(found) if not name.startswith("_")}
            assert {name for name in named if not name.startswith("_")} == there


@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_types_are_checked(checker: str, tmp_path: Path) -> None:
    """Both checkers read the installed packages, strictly."""
    packages = [Path(seawall.__file__).parent, Path(seawall.__file__).parents[1] / "nx_seawall"]
    if checker == "mypy":
        config = Path(__file__).parents[1] / "pyproject.toml"
        run = ["mypy", "--config-file", str(config), "-p", "seawall", "-p", "nx_seawall"]
    else:
        config = tmp_path / "pyrightconfig.json"
        settings = {"include": [str(path) for path in packages], "typeCheckingMode": "standard"}
        config.write_text(json.dumps(settings))
        run = ["basedpyright", "-p", str(config), "--pythonpath", sys.executable]
    run[:0] = [sys.executable, "-m"]
    checked = subprocess.run(run, capture_output=True, text=True, cwd="/")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_pictures_and_a_page_of_any_analysis(tmp_path):
    graph = seawall.Graph.from_edges([("ann", "bob"), ("bob", "cleo"), ("cleo", "ann")])
    drawing, plot, page = tmp_path / "a.svg", tmp_path / "b.png", tmp_path / "c.html"
    graph.bfs("ann", draw=drawing, plot=str(plot), page=page)
    text = drawing.read_text()
    assert text.startswith("<svg ") and text.count("<circle ") == 3
    for name in ["ann", "bob", "cleo"]:
        assert f">{name}</text>" in text
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert "<h2>Plan</h2>" in page.read_text()
    with pytest.raises(seawall.RequestError, match="end the name in .svg or .png"):
        graph.pagerank(draw=tmp_path / "a.gif")
    with pytest.raises(seawall.RequestError, match="at most 4,096 nodes"):
        seawall.Graph.load("gen:grid:100").components(draw=drawing)
    with pytest.raises(OSError, match="missing"):
        graph.pagerank(plot=tmp_path / "missing" / "b.svg")


@pytest.mark.parametrize(
    "weights", [None, [3, 1, 2, 2, 5], [0.5, 1.25, 2, 2, 0], [-1, 4, 2, 2, 0], [-0.5, 4, 2, 2, 1]]
)
@pytest.mark.parametrize("directed", [True, False])
def test_a_graph_is_pickled_with_names_weights_and_loops(weights, directed, tmp_path):
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("c", "d"), ("d", "d")]
    graph = Graph.from_edges(edges, weights=weights, directed=directed)
    session = graph.session(machine="cpu", threads=1)
    for first in (graph, session):
        again = pickle.loads(pickle.dumps(first))
        assert type(again) is type(first) and repr(again) == repr(first)
        assert list(again.names) == ["a", "b", "c", "d"] and again.loops == 1
        for mine, other in zip(first.arrays(), again.arrays(), strict=True):
            assert (mine is None and other is None) or (mine == other).all()
        assert again.components().count == 1
        again.close()
    assert weakref.ref(graph)() is graph
    table = tmp_path / "parallel.csv"
    table.write_text("source,target,weight\n0,1,9\n0,1,4\n1,2,3\n")
    for listed in (True, False):
        loaded = Graph.load(table, listed_order=listed)
        for one in (loaded, pickle.loads(pickle.dumps(loaded))):
            if listed:
                assert list(one.distances(0, parallel="first")) == [0, 9, 12]
                continue
            with pytest.raises(seawall.RequestError, match="listed_order"):
                one.distances(0, parallel="first")
    broken = graph._graph.parts() | {"targets": graph.arrays()[1][::-1].copy()}
    with pytest.raises(seawall.GraphError):
        type(graph._graph).of_parts(broken)


def test_a_file_is_read_by_chosen_columns_formats_and_names(tmp_path):
    table = tmp_path / "calls.csv"
    table.write_text("day,caller,callee,minutes\n1,7,8,3\n2,8,9,4\n")
    with pytest.raises(seawall.GraphError, match="--source-column"):
        Graph.load(table)
    for columns in ({"source": "caller", "target": "callee", "weight": "minutes"},
                    {"source": 2, "target": 3, "weight": 4}):
        graph = Graph.load(table, **columns)
        assert list(graph.names) == [7, 8, 9] and list(graph.distances([7])) == [0, 3, 7]
    assert list(Graph.load(table, source="caller", target="callee", named=True).names) == ["7", "8", "9"]
    with pytest.raises(seawall.GraphError, match="no column \"who\""):
        Graph.load(table, source="who", target="callee")
    rows = tmp_path / "rows"
    rows.write_text("3 2\n2\n1 3\n2\n")
    assert Graph.load(rows, format="metis").edges == 4
    with pytest.raises(seawall.RequestError, match="known are"):
        Graph.load(rows, format="metal")
    (tmp_path / "names.txt").write_text("u v\nv w\n")
    with pytest.raises(seawall.GraphError, match="node below"):
        Graph.load(tmp_path / "names.txt")
    with pytest.raises(seawall.RequestError, match="NaN"):
        graph.bfs(7, time_budget=float("nan"))


def test_lists_of_mixed_types_name_what_pairs_of_them_name() -> None:
    assert list(Graph.from_edges([1, "1"], ["b", "c"]).names) == [1, "b", "1", "c"]
    assert list(Graph.from_edges(["a", "b"], ["b", "c"]).names) == ["a", "b", "c"]
    with pytest.raises(seawall.RequestError, match="an end without a node"):
        Graph.from_edges(["a", float("nan")], ["b", "c"])


def test_masked_values_are_missing() -> None:
    masked = np.ma.masked_array([1, 2, 3], mask=[0, 1, 0])
    for ask in (
        lambda: Graph.from_edges(np.array([0, 1, 2]), masked),
        lambda: Graph.from_edges(np.ma.masked_array([[0, 1], [1, 2]], mask=[[0, 0], [0, 1]])),
        lambda: Graph.from_edges([(0, 1), (1, 2), (2, 3)], weights=masked),
        lambda: Graph.from_edges([(0, 1), (1, 3)]).bfs(masked),
    ):
        with pytest.raises(seawall.RequestError, match="is masked"):
            ask()
    whole = np.ma.masked_array([1, 2, 3])
    assert Graph.from_edges(np.array([0, 1, 2]), whole).nodes == 4


def test_nonsense_in_the_place_of_sources_and_options_is_refused() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
    for sources, reason in [([False, True], "in a mask"), (True, "in a mask"), (None, "no sources")]:
        with pytest.raises(seawall.RequestError, match=reason):
            graph.bfs(sources)
    assert graph.closeness().shape == (4,)
    for seconds in (-1, 0, float("nan")):
        with pytest.raises(seawall.RequestError, match="give a number above 0"):
            graph.bfs(0, time_budget=seconds)
    for column in (-1, 0, True, 1.5):
        with pytest.raises(seawall.RequestError, match="its number from 1"):
            Graph.load("none.csv", source=column)
    with pytest.raises(seawall.RequestError, match="an edge is 0"):
        Graph.from_edges([0, 1])
    with pytest.raises(seawall.RequestError, match="a wave is"):
        seawall.plan([(1, 2, 3)])
    with pytest.raises(seawall.RequestError, match="progress is 5"):
        graph.bfs(0, progress=5)
    with pytest.raises(seawall.RequestError, match="damping"):
        graph.bfs(0, damping=0.5)
    for option in ({"damping": 0.1}, {"weighted": True}, {"foo": 1}):
        with pytest.raises(seawall.RequestError, match="of a session"):
            graph.session(**option)
