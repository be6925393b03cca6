"""The GPU beside the CPU: run by the script `gpu`, which sets `SEAWALL_TEST_MACHINE`."""

from __future__ import annotations

import os
from typing import Any

import networkx as nx
import numpy as np
import pytest
import seawall
from seawall import Graph, Program

MACHINE = os.environ.get("SEAWALL_TEST_MACHINE", "")

pytestmark = pytest.mark.skipif(not MACHINE, reason="needs a GPU; see the script `gpu`")

#: Analyses that have one result on every machine, with their arguments.
EXACT: dict[str, tuple[Any, ...]] = {
    "bfs": (0,),
    "reach": (0,),
    "distances": (0,),
    "widest": (0,),
    "components": (),
    "core_numbers": (),
    "triangles": (),
    "independent_set": (),
    "colouring": (),
    "communities": (),
    "spanning_forest": (),
}

#: Analyses in floats.
NEAR: dict[str, tuple[Any, ...]] = {
    "pagerank": (),
    "personalized_pagerank": (0,),
    "betweenness": (list(range(20)),),
    "closeness": (list(range(20)),),
}


def graph() -> Graph:
    """A graph with weights, hubs, a long path and lone nodes."""
    rng = np.random.default_rng(3)
    ends = np.minimum(rng.integers(0, 5000, (2, 40_000)), rng.integers(0, 5000, (2, 40_000)))
    path = np.arange(5000, 5400)
    sources = np.concatenate([ends[0], path[:-1]])
    targets = np.concatenate([ends[1], path[1:]])
    other = sources != targets
    sources, targets = sources[other], targets[other]
    weights = 1 + (sources * 31 + targets * 31) % 50
    return Graph.from_edges(sources, targets, weights=weights, nodes=5500)


@pytest.mark.parametrize("name", [*EXACT, *NEAR])
def test_results_are_those_of_the_cpu(name: str) -> None:
    mine = graph()
    args = {**EXACT, **NEAR}[name]
    here = getattr(mine, name)(*args, machine="cpu")
    there = getattr(mine, name)(*args, machine=MACHINE, takeover=False)
    assert mine.last_run is not None and mine.last_run.machine == MACHINE
    assert mine.last_run.times["upload"] >= 0
    pairs = list(zip(here, there)) if isinstance(here, tuple) else [(here, there)]
    if name == "communities":
        # One thread changes nodes in turn, a GPU many at once: iterations differ, results do not.
        pairs = pairs[:2]
    for one, other in pairs:
        if name in EXACT:
            np.testing.assert_array_equal(one, other)
        elif isinstance(one, np.ndarray):
            np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-6)


def test_auto_takes_the_gpu_for_much_work() -> None:
    mine = Graph.load("gen:rmat:20:16", weights="ignored", directed=False)
    with mine.session() as session:
        sources = list(range(8192))
        values = session.closeness(sources)
        assert session.last_run is not None and session.last_run.machine != "cpu"
        assert session.last_run.reason
    again = mine.closeness(sources[:64], machine="cpu", time_budget=300.0)
    np.testing.assert_allclose(np.asarray(values)[:64], np.asarray(again), rtol=1e-6)


def test_programs_run_there() -> None:
    mine = graph()
    program = Program()
    labels = program.per_node("labels", keep=True)
    program.iota(labels)

    @program.fixpoint()
    def spread() -> None:
        @program.each()
        def look_around(node: Any) -> None:
            least = node.gather("out", "min", lambda edge: edge.latest(labels, edge.neighbour))
            node.only(least < node.latest(labels, node.index))
            node.store(labels, least)
            node.changed()

    found = program.run(mine, machine=MACHINE)
    assert found.machine == MACHINE
    np.testing.assert_array_equal(found.values["labels"], mine.components(machine="cpu").labels)


def test_networkx_gets_the_same_results() -> None:
    one = nx.gnm_random_graph(60_000, 400_000, seed=2)
    assert nx.number_connected_components(one, backend="seawall") == (
        nx.number_connected_components(one)
    )
    assert nx.core_number(one, backend="seawall") == nx.core_number(one)


def test_a_gpu_answers_many_sessions() -> None:
    mine = graph()
    levels = mine.bfs(0, machine="cpu")
    for _ in range(20):
        with mine.session(machine=MACHINE) as session:
            np.testing.assert_array_equal(session.bfs(0), levels)


def test_cancelling_leaves_the_gpu_whole() -> None:
    mine = Graph.load("gen:grid:3000x3000")
    with pytest.raises(seawall.Error):
        mine.betweenness(list(range(2000)), machine=MACHINE, time_budget=0.2)
    assert int(mine.bfs(0, machine=MACHINE).max()) == 5998
