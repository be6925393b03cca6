"""The class `Graph`: constructors, analyses against NetworkX and SciPy, errors, interrupts."""

from __future__ import annotations

import doctest
import importlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sparse
import seawall
from seawall import Graph


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
    raises("BadWeight", lambda: Graph.from_edges([(0, 1, -1.5)]), index=0, weight=-1.5)
    raises("OutOfRange", lambda: Graph.from_edges([(0, 1, -1)]))
    raises("OutOfRange", lambda: Graph.from_edges([(0, -1)]))
    raises("OutOfRange", lambda: Graph.from_edges([(0, 2**32)]))
    raises("Lengths", lambda: Graph.from_edges([0, 1], [1]))
    raises("Shape", lambda: Graph.from_edges([(0, 1), (1, 2, 3)]))
    raises("Shape", lambda: Graph.from_scipy(sparse.csr_array((2, 3))))
    with pytest.raises(seawall.Error):
        Graph.from_edges([(0, 1, "heavy")])


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
    graph = Graph.load("gen:grid:1500x1500")
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        graph.run("sssp", 0, machine="cpu", devices=[0, 1])
    assert time.perf_counter() - start < 20
    assert graph.run("bfs", 0, machine="cpu", devices=[0, 1])["answer"]["eccentricity"] == 2998


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
