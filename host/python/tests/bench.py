"""Measures the installed package: `python host/python/tests/bench.py [--small] [--cpu]`.

`--every` measures every function of the backend on graphs of 10 and 30 nodes instead.

Prints tables for docs/python.md: import, conversions and calls, then functions of the backend beside
NetworkX, and the analyses beside SciPy, and beside igraph, networkit and rustworkx where installed.
Times are medians of five runs, in one process.
"""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse.csgraph
import seawall
from nx_seawall.backend import Backend
from seawall import csgraph

#: Functions of NetworkX that visit all edges, with further arguments.
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "connected_components": (),
    "descendants": (0,),
    "bfs_layers": (0,),
    "single_source_shortest_path_length": (0,),
    "single_source_shortest_path": (0,),
    "bfs_edges": (0,),
    "bfs_tree": (0,),
    "predecessor": (0,),
    "single_source_dijkstra_path_length": (0,),
    "single_source_dijkstra": (0,),
    "core_number": (),
    "k_core": (),
    "triangles": (),
    "pagerank": (),
    "minimum_spanning_edges": (),
    "minimum_spanning_tree": (),
    "greedy_color": (),
    "average_clustering": (),
    "label_propagation_communities": (),
    "strongly_connected_components": (),
}

#: The clock: `--cpu` takes the time of all threads, for machines that do other work meanwhile.
clock = time.perf_counter


def median(call: Callable[[], Any], repeat: int = 5) -> float:
    """Seconds of the median of some calls."""
    times = []
    for _ in range(repeat):
        start = clock()
        result = call()
        if hasattr(result, "__next__"):
            list(result)
        times.append(clock() - start)
        # Objects of the last call are not freed in the time of the next one.
        del result
    return statistics.median(times)


def show(name: str, *cells: str) -> None:
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def text(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def imports() -> None:
    """Import of the package beside that of NumPy, which it needs."""

    def seconds(code: str) -> float:
        found = []
        for _ in range(7):
            now = f"time.{clock.__name__}()"
            timed = f"import time; s = {now}; {code}; print({now} - s)"
            run = subprocess.run([sys.executable, "-c", timed], capture_output=True, check=True)
            found.append(float(run.stdout))
        return statistics.median(found)

    show("import of NumPy alone", text(seconds("import numpy")))
    both = f"import numpy; s = time.{clock.__name__}(); import seawall"
    show("import of seawall after it", text(seconds(both)))


def conversions(edges: int) -> None:
    rng = np.random.default_rng(1)
    nodes = edges // 10
    ends = rng.integers(0, nodes, (2, edges))
    count = f"{edges:,} edges of NumPy"
    for dtype in (np.int64, np.uint32):
        a, b = ends.astype(dtype)
        name = np.dtype(dtype).name
        for directed in (True, False):
            kind = "directed" if directed else "undirected"
            options = {"nodes": nodes, "directed": directed}
            seconds = median(lambda: seawall.Graph.from_edges(a, b, **options))
            show(f"{count}, {name}, {kind}", text(seconds))
    matrix = scipy.sparse.csr_array(
        (np.ones(edges, np.int8), (ends[0], ends[1])), shape=(nodes, nodes)
    )
    matrix.sum_duplicates()
    seconds = median(lambda: seawall.Graph.from_scipy(matrix, weighted=False))
    show(f"{matrix.nnz:,} entries of SciPy", text(seconds))
    graph = nx.gnm_random_graph(edges // 100, edges // 20, seed=1)

    rng = np.random.default_rng(1)
    for _, _, data in graph.edges(data=True):
        data["weight"] = int(rng.integers(1, 100))
    named = nx.relabel_nodes(graph, str)
    for title, one in (("numbers", graph), ("strings", named)):
        edges_of = f"{one.number_of_edges():,} edges of NetworkX, {title} for nodes"

        def plain() -> None:
            for _ in one.edges:
                pass

        def weighted() -> None:
            for _ in one.edges(data="weight"):
                pass

        weights = {"weight": 1}
        show(f"{edges_of}: iteration", text(median(plain)))
        show("the same: conversion", text(median(lambda: Backend.convert_from_nx(one))))
        show("the same: iteration with weights", text(median(weighted)))
        convert = lambda: Backend.convert_from_nx(one, edge_attrs=weights)
        show("the same: conversion with weights", text(median(convert)))


def calls() -> None:
    graph = seawall.Graph.load("gen:grid:4x4")
    graph.bfs(0)
    seconds = median(lambda: graph.bfs(0), 200)
    run = graph.last_run.times["run"] if graph.last_run else 0.0
    show("`graph.bfs(0)` of 16 nodes", f"{text(seconds)}, of which {text(run)} run")
    converted = Backend.convert_from_nx(nx.path_graph(16))
    seconds = median(lambda: nx.number_connected_components(converted), 200)
    show("`nx.number_connected_components` of 16 converted nodes", text(seconds))


def small(count: int) -> None:
    graphs = [nx.gnp_random_graph(30, 0.15, seed=seed) for seed in range(count)]

    def over(function: Any, backend: str) -> float:
        for graph in graphs:
            graph.__networkx_cache__.clear()
        start = clock()
        with nx.config(backend_priority=["seawall"] if backend == "seawall" else []):
            for graph in graphs:
                found = function(graph)
                if hasattr(found, "__next__"):
                    list(found)
        return clock() - start

    for name in ("connected_components", "core_number", "triangles", "betweenness_centrality"):
        function = getattr(nx, name)
        theirs, ours = over(function, "networkx"), over(function, "seawall")
        title = f"`{name}`, {count:,} graphs of 30 nodes"
        show(title, text(theirs), text(ours), f"{theirs / ours:.1f}")


#: Functions of directed graphs alone.
DIRECTED = {
    "in_degree_centrality",
    "is_strongly_connected",
    "is_weakly_connected",
    "number_strongly_connected_components",
    "number_weakly_connected_components",
    "out_degree_centrality",
    "strongly_connected_components",
    "weakly_connected_components",
}


def every(nodes: int, count: int, rounds: int) -> None:
    """All functions on small graphs, conversion counted: the least time of some rounds in turns.

    NetworkX is measured twice, which shows the noise.
    """
    from test_networkx import CALLS, OTHERS

    def ways(graph: nx.Graph) -> list[nx.Graph]:
        for _, _, data in graph.edges(data=True):
            data["weight"] = 1 + (len(graph) + 7 * graph.size()) % 5
        return [graph, nx.DiGraph(graph)]

    drawn = [ways(nx.gnm_random_graph(nodes, 2 * nodes + at % 5, seed=at)) for at in range(count)]

    def over(function: Any, graphs: list[nx.Graph], call: tuple[Any, Any], mine: bool) -> float:
        for graph in graphs:
            graph.__networkx_cache__.clear()
        args, kwargs = call
        with nx.config(backend_priority=["seawall"] if mine else []):
            start = clock()
            for graph in graphs:
                try:
                    found = function(graph, *args, **kwargs)
                    if hasattr(found, "__next__"):
                        list(found)
                except nx.NetworkXException:
                    pass
            return (clock() - start) / len(graphs)

    print(f"\nGraphs of {nodes} nodes and {2 * nodes} edges, conversion counted\n")
    show("function", "NetworkX", "again", "seawall", "loss", "times", "runs here")
    show("---", "---:", "---:", "---:", "---:", "---:", "---")
    calls = {name: (tuple(range(takes)), kwargs[0]) for name, (takes, kwargs) in CALLS.items()}
    calls |= {name: (([0, 1],), {}) for name in sorted(OTHERS)}
    for name, call in calls.items():
        function = getattr(nx, name, None) or getattr(nx.community, name)
        graphs = [pair[name in DIRECTED] for pair in drawn]
        best = [math.inf] * 3
        for _ in range(rounds):
            for at, mine in enumerate((False, False, True)):
                best[at] = min(best[at], over(function, graphs, call, mine))
        ran = sum("backends" in graph.__networkx_cache__ for graph in graphs)
        theirs, again, ours = best
        loss = (ours - min(theirs, again)) * 1e6
        cells = (text(theirs), text(again), text(ours), f"{loss:.1f} µs")
        show(f"`{name}`", *cells, f"{min(theirs, again) / ours:.2f}", f"{ran} of {count}")


def dispatcher() -> None:
    """What asking alone costs NetworkX: backends without the function, that decline, or that answer
    at once, in the place of this one."""
    from networkx.utils import backends

    class Without:
        pass

    class Declining:
        can_run = staticmethod(lambda *_: True)
        should_run = staticmethod(lambda *_: False)
        convert_from_nx = staticmethod(lambda graph, **_: graph)
        core_number = is_isolate = staticmethod(lambda *_: {})

    class Answering(Declining):
        should_run = staticmethod(lambda *_: True)

    graph = nx.gnm_random_graph(10, 20, seed=1)
    ways = {
        "nobody is asked": None,
        "a backend without the function": Without,
        "one that declines at once": Declining,
        "one that answers at once, without converting": Answering,
        "seawall": Backend,
    }
    show("10 nodes", "`is_isolate`", "`core_number`")
    show("---", "---:", "---:")
    loaded = backends._loaded_backends
    for title, backend in ways.items():
        loaded["seawall"] = backend
        with nx.config(backend_priority=["seawall"] if backend else []):
            cells = []
            for function, args in ((nx.is_isolate, (0,)), (nx.core_number, ())):

                def calls() -> None:
                    for _ in range(1000):
                        graph.__networkx_cache__.clear()
                        function(graph, *args)

                calls()
                best = min(median(calls, 1) for _ in range(15))
                cells.append(f"{best * 1e3:.2f} µs")
        show(title, *cells)
    loaded["seawall"] = Backend


def functions(graph: nx.Graph, title: str, repeat: int) -> None:
    converted = Backend.convert_from_nx(graph, edge_attrs={"weight": 1})
    conversion = median(lambda: Backend.convert_from_nx(graph, edge_attrs={"weight": 1}), 3)
    print(f"\n{title}, converted in {text(conversion)}\n")
    show("function", "NetworkX", "seawall", "times", "conversion counted")
    show("---", "---:", "---:", "---:", "---:")
    for name, args in FUNCTIONS.items():
        function = getattr(nx, name, None) or getattr(nx.community, name)
        of = nx.DiGraph(graph) if name.startswith("strongly") else None
        with nx.config(backend_priority=[]):
            theirs = median(lambda: function(of or graph, *args, backend="networkx"), repeat)
        mine = converted if of is None else Backend.convert_from_nx(of)
        ours = median(lambda: function(mine, *args))
        counted = theirs / (ours + conversion)
        show(f"`{name}`", text(theirs), text(ours), f"{theirs / ours:.0f}", f"{counted:.1f}")


def others(graph: nx.Graph) -> None:
    """Analyses on one thread beside other libraries, conversions not counted."""
    mine = seawall.Graph.from_networkx(graph, weight=None).session(machine="cpu", threads=1)
    matrix = nx.to_scipy_sparse_array(graph, format="csr", weight=None)
    rows: dict[str, dict[str, Callable[[], Any]]] = {
        "bfs": {
            "seawall": lambda: mine.bfs(0),
        },
        "bfs order and tree": {
            "seawall": lambda: csgraph.breadth_first_order(matrix, 0),
            "SciPy": lambda: scipy.sparse.csgraph.breadth_first_order(matrix, 0),
        },
        "components": {
            "seawall": lambda: mine.components(),
            "SciPy": lambda: scipy.sparse.csgraph.connected_components(matrix),
        },
        "pagerank": {"seawall": lambda: mine.pagerank()},
        "core numbers": {"seawall": lambda: mine.core_numbers()},
        "triangles": {"seawall": lambda: mine.triangles()},
    }
    edges = list(graph.edges)
    try:
        import igraph

        one = igraph.Graph(n=len(graph), edges=edges)
        rows["bfs"]["igraph"] = lambda: one.distances(0)
        rows["components"]["igraph"] = lambda: one.connected_components()
        rows["pagerank"]["igraph"] = lambda: one.pagerank()
        rows["core numbers"]["igraph"] = lambda: one.coreness()
    except ImportError:
        pass
    try:
        import rustworkx

        two = rustworkx.PyGraph()
        two.add_nodes_from(range(len(graph)))
        two.add_edges_from_no_data(edges)
        rows["components"]["rustworkx"] = lambda: rustworkx.connected_components(two)
        rows["core numbers"]["rustworkx"] = lambda: rustworkx.core_number(two)
    except ImportError:
        pass
    try:
        import networkit

        networkit.setNumberOfThreads(1)
        three = networkit.Graph(len(graph))
        for a, b in edges:
            three.addEdge(a, b)
        for name, algorithm in (
            ("bfs", lambda: networkit.distance.BFS(three, 0)),
            ("components", lambda: networkit.components.ConnectedComponents(three)),
            ("pagerank", lambda: networkit.centrality.PageRank(three)),
            ("core numbers", lambda: networkit.centrality.CoreDecomposition(three)),
        ):
            rows[name]["networkit"] = lambda algorithm=algorithm: algorithm().run()
    except ImportError:
        pass
    names = ["seawall", "SciPy", "igraph", "rustworkx", "networkit"]
    print(f"\nOne thread, {len(graph):,} nodes, {graph.number_of_edges():,} edges\n")
    show("analysis", *names)
    show("---", *["---:"] * len(names))
    for name, row in rows.items():
        show(name, *(text(median(row[known])) if known in row else "" for known in names))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tenth of all sizes")
    parser.add_argument("--cpu", action="store_true", help="CPU time instead of elapsed time")
    parser.add_argument("--every", action="store_true", help="all functions on small graphs")
    parser.add_argument("--once", action="store_true", help="NetworkX once on the large graph")
    options = parser.parse_args()
    scale = 10 if options.small else 1
    if options.cpu:
        global clock
        clock = time.process_time
    if options.every:
        dispatcher()
        for nodes in (10, 30):
            every(nodes, 100, 7)
        return
    show("what", "time")
    show("---", "---:")
    imports()
    conversions(10_000_000 // scale)
    calls()
    print()
    show("small graphs, conversion counted", "NetworkX", "seawall", "times")
    show("---", "---:", "---:", "---:")
    small(10_000 // scale)
    rng = np.random.default_rng(2)
    graph = nx.gnm_random_graph(200_000 // scale, 1_000_000 // scale, seed=1)
    for _, _, data in graph.edges(data=True):
        data["weight"] = int(rng.integers(1, 100))
    others(graph)
    title = f"Random, {len(graph):,} nodes, {graph.number_of_edges():,} edges"
    functions(graph, title, 1 if options.once else 5)


if __name__ == "__main__":
    main()
