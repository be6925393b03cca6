"""Random graphs of many shapes, from seeds."""

from __future__ import annotations

import random
from collections.abc import Iterator

import networkx as nx
import pytest


def shapes(seed: int) -> Iterator[nx.Graph]:
    """Random graphs with loops, long paths, stars, many components, none, and odd names."""
    rng = random.Random(seed)
    kind = nx.DiGraph if rng.random() < 0.5 else nx.Graph
    yield kind()
    lone = kind()
    lone.add_node("only")
    yield lone
    for nodes, edges in ((2, 1), (7, 5), (12, 30), (40, 45), (60, 300)):
        graph = kind()
        names = [rng.choice([v, str(v), (v, "x"), v + 0.5]) for v in range(nodes)]
        rng.shuffle(names)
        if rng.random() < 0.5:
            names = list(range(nodes))
        graph.add_nodes_from(names)
        for _ in range(edges):
            u, v = rng.choice(names), rng.choice(names)
            if u != v or rng.random() < 0.5:
                graph.add_edge(u, v)
        yield graph
    path = nx.path_graph(50, create_using=kind)
    path.add_edges_from((0, v) for v in range(100, 120))
    yield path


@pytest.fixture(params=range(6))
def graphs(request: pytest.FixtureRequest) -> list[nx.Graph]:
    """Graphs of one seed."""
    return list(shapes(request.param))
