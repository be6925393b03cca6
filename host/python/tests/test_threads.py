"""Threads that ask at once, with the interpreter's lock or without it."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import networkx as nx
import numpy as np
import pytest
import seawall
from nx_seawall.backend import Backend
from seawall import Graph, csgraph
from test_networkx import plain

pytestmark = pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs")

#: Threads, more than processors, so that they also interrupt each other.
THREADS = 8


def at_once(ask: Callable[[int], Any]) -> list[Any]:
    """What `ask` returns for each of some threads, which all start together."""
    start = threading.Barrier(THREADS)

    def one(at: int) -> Any:
        start.wait()
        return ask(at)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this interpreter has its lock always"
)
def test_a_free_threaded_interpreter_keeps_its_lock_off() -> None:
    # The import of an extension that does not declare that it needs no lock turns it on, unless the
    # environment holds it off.
    code = (
        "import sys, networkx as nx, seawall; "
        "assert seawall.Graph.load('gen:grid:3x3').bfs(0).max() == 4; "
        "assert nx.number_connected_components(nx.path_graph(3), backend='seawall') == 1; "
        "assert not sys._is_gil_enabled()"
    )
    environment = {key: value for key, value in os.environ.items() if key != "PYTHON_GIL"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_threads_ask_a_new_graph_each_analysis() -> None:
    """The first question of each graph is asked by all threads, so that they open its machine."""
    expected = None
    for _ in range(5):
        graph = Graph.load("gen:rmat:8:8")
        questions: list[Callable[[], Any]] = [
            lambda: graph.bfs(1).tolist(),
            lambda: graph.distances(1).tolist(),
            lambda: graph.components().labels.tolist(),
            lambda: graph.core_numbers().tolist(),
            lambda: graph.triangles().tolist(),
            lambda: graph.pagerank(machine="cpu", threads=1).ranks.tolist(),
            lambda: graph.closeness([1, 2, 3]).tolist(),
            lambda: graph.reach([1, 2], each=True).tolist(),
        ]
        if expected is None:
            expected = [question() for question in questions]
            graph = Graph.load("gen:rmat:8:8")
        # Each thread asks all of them, in an order of its own.
        def ask(at: int) -> Any:
            found = {}
            for step in range(len(questions)):
                which = (at * 3 + step) % len(questions)
                found[which] = questions[which]()
            return [found[which] for which in range(len(questions))]

        for answers in at_once(ask):
            assert answers == expected


def test_threads_share_a_session_and_close_it() -> None:
    graph = Graph.load("gen:grid:30x30")
    expected = [graph.bfs(at).tolist() for at in range(THREADS)]
    for _ in range(3):
        with graph.session(machine="cpu", threads=1) as session:

            def ask(at: int) -> Any:
                return [session.bfs((at + step) % THREADS).tolist() for step in range(20)]

            for at, answers in enumerate(at_once(ask)):
                assert answers == [expected[(at + step) % THREADS] for step in range(20)]
        # A closed session opens a machine anew, for each of the threads that come together.
        assert at_once(lambda at: session.bfs(at).tolist()) == expected


def test_threads_look_names_up_and_convert() -> None:
    source = nx.relabel_nodes(nx.gnm_random_graph(300, 900, seed=2), str)
    expected = nx.single_source_shortest_path_length(source, "7", backend="networkx")
    for _ in range(5):
        graph = Graph.from_networkx(source)

        def ask(at: int) -> Any:
            # Names are put into a dictionary by the first that asks.
            mine = graph if at % 2 else Graph.from_networkx(source)
            levels = mine.to_dict(mine.bfs("7"))
            return {node: level for node, level in levels.items() if level >= 0}

        assert at_once(ask) == [expected] * THREADS


def test_threads_call_the_backend_on_one_graph_of_networkx() -> None:
    names = [
        "core_number",
        "triangles",
        "average_clustering",
        "greedy_color",
        "minimum_spanning_tree",
        "betweenness_centrality",
        "pagerank",
        "connected_components",
    ]
    for nodes in (40, 2000):
        graph = nx.gnm_random_graph(nodes, 3 * nodes, seed=5)
        for at, (_, _, data) in enumerate(graph.edges(data=True)):
            data["weight"] = 1 + at * 7 % 11
        some = names if nodes < 100 else [name for name in names if name[0] != "b"]
        functions = [getattr(nx, name) for name in some]
        expected = [plain(function(graph, backend="networkx")) for function in functions]
        for _ in range(3):
            # Through the cache of conversions that NetworkX keeps beside the graph, and beside it.
            graph.__networkx_cache__.clear()
            converted = Backend.convert_from_nx(graph)

            def ask(at: int) -> Any:
                which = at % len(functions)
                if at % 2:
                    return which, plain(functions[which](converted))
                return which, plain(functions[which](graph, backend="seawall"))

            for which, found in at_once(ask):
                assert found == expected[which], some[which]


def test_threads_run_programs_and_matrices() -> None:
    graph = Graph.load("gen:grid:20x20")
    program = seawall.Program()
    labels = program.per_node("labels", keep=True)
    program.iota(labels)

    @program.each()
    def twice(node: Any) -> None:
        node.store(labels, node.latest(labels, node.index) * 2)

    matrix = nx.to_scipy_sparse_array(nx.gnm_random_graph(200, 500, seed=3), format="csr")
    count, own = csgraph.connected_components(matrix)

    def ask(at: int) -> Any:
        values = program.run(graph).values["labels"]
        return np.array_equal(values, 2 * np.arange(400)), csgraph.connected_components(matrix)

    for is_right, (found, found_labels) in at_once(ask):
        assert is_right
        assert found == count
        np.testing.assert_array_equal(found_labels, own)
