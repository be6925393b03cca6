"""Programs, plans, progress, and results for Arrow and DLPack."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import seawall
from seawall import Graph, Program, Wave, plan


def components() -> Program:
    """The least node of each component."""
    program = Program()
    labels = program.per_node("labels", keep=True)
    program.iota(labels)

    @program.fixpoint()
    def spread() -> None:
        @program.each()
        def look_around(node: seawall.Item) -> None:
            own = node.latest(labels, node.index)
            least = node.gather("out", "min", lambda e: e.latest(labels, e.neighbour))
            node.only(least < own)
            node.store(labels, least)
            node.changed()

    return program


def test_components_by_a_program(graphs: list[nx.Graph]) -> None:
    program = components()
    for graph in graphs:
        graph = nx.Graph(nx.convert_node_labels_to_integers(graph))
        if not graph.number_of_edges():
            continue
        mine = Graph.from_networkx(graph)
        found = program.run(mine, machine="cpu", threads=1)
        assert found.values["labels"].tolist() == mine.components().labels.tolist()
        assert found.loops[0][1]
        assert (found.machine, found.groups) == ("cpu", 3) or found.groups > 0


def test_devices_share_a_program() -> None:
    graph = Graph.from_edges(np.arange(99), np.arange(1, 100))
    one = components().run(graph, machine="cpu", threads=1)
    two = components().run(graph, machine="cpu", devices=[0, 1])
    assert (one.devices, two.devices) == (1, 2)
    assert two.values["labels"].tolist() == one.values["labels"].tolist() == [0] * 100
    lists = Program()
    places, count = lists.per_node("places", keep=True), lists.values("count", 1, keep=True)
    lists.fill(places, 0)
    lists.fill(count, 0)
    lists.each()(lambda node: node.append(places, count, node.index))
    with pytest.raises(seawall.RequestError, match="appends to a list"):
        lists.run(graph, machine="cpu", devices=[0, 1])


def test_operators_compute_as_numpy_does() -> None:
    program = Program()
    count = 50
    a, b = program.input("a", count), program.input("b", count)
    c = program.input("c", count, "f32")
    kinds = {"whole": "u32", "signed": "i32", "float": "f32", "long": "u64"}
    kept = {name: program.values(name, count, kind, keep=True) for name, kind in kinds.items()}

    @program.each(count)
    def compute(item: seawall.Item) -> None:
        x, y, z = item.load(a), item.load(b), item.load(c)
        whole = (x + 3) * y - (7 - x % 5) + (x // 4) + (x << 2) + (y >> 1) + (x ^ y) + (x & 6)
        item.store(kept["whole"], (x < y).select(whole, (x | 1).max(y).min(900)))
        signed = x.to("i32") - 40
        item.store(kept["signed"], (signed >= 0).both(x != y).select(signed, signed * -2))
        item.store(kept["float"], (1 / (z + 2.5) - 0.25) * z / 2)
        item.store(kept["long"], x.below_high(y) + 5)

    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 100, (2, count), dtype=np.uint32)
    z = rng.random(count, dtype=np.float32)
    found = program.run(Graph.from_edges([(0, 1)]), {"a": x, "b": y, "c": z}).values
    whole = (x + 3) * y - (7 - x % 5) + x // 4 + (x << 2) + (y >> 1) + (x ^ y) + (x & 6)
    np.testing.assert_array_equal(
        found["whole"], np.where(x < y, whole, np.minimum(np.maximum(x | 1, y), 900))
    )
    signed = x.astype(np.int32) - 40
    np.testing.assert_array_equal(
        found["signed"], np.where((signed >= 0) & (x != y), signed, signed * -2)
    )
    np.testing.assert_allclose(found["float"], (1 / (z + 2.5) - 0.25) * z / 2, rtol=1e-6)
    pairs = x.astype(np.uint64) | y.astype(np.uint64) << np.uint64(32)
    np.testing.assert_array_equal(found["long"], pairs + np.uint64(5))
    assert found["long"].dtype == np.uint64


def test_edges_lists_and_searches() -> None:
    graph = nx.gnp_random_graph(60, 0.05, seed=2)
    mine = Graph.from_networkx(graph)
    program = Program()
    sources = program.input("sources", 2)
    levels = program.per_node("levels", keep=True)
    frontier = program.frontier("frontier")
    program.search(frontier, sources, levels=levels)
    degrees = program.per_node("degrees", keep=True)
    total = program.values("total", 1, keep=True)
    busiest = program.per_node("busiest", keep=True)
    found = program.per_node("list")
    size = program.values("size", 1, keep=True)
    for register, value in ((total, 0), (found, 0), (size, 0)):
        program.fill(register, value)

    @program.each()
    def count_edges(node: seawall.Item) -> None:
        [count] = node.edges("out", lambda edge: [("sum", (edge.neighbour * 0) + 1)])
        node.store(degrees, count)
        node.fold(total, "sum", count)
        node.append(found, size, node.index, where=count > 2)

    @program.each()
    def look(node: seawall.Item) -> None:
        _, who = node.argmax("out", lambda edge: edge.there(degrees))
        node.store(busiest, who)

    result = program.run(mine, {"sources": [0, 5]})
    near = nx.multi_source_dijkstra_path_length(graph, {0, 5}, weight=None)
    expected = [near.get(v, 2**32 - 1) for v in graph]
    assert result.values["levels"].tolist() == expected
    assert result.values["degrees"].tolist() == [d for _, d in graph.degree()]
    assert result.values["total"].tolist() == [2 * graph.number_of_edges()]
    assert result.values["size"].tolist() == [sum(d > 2 for _, d in graph.degree())]
    for node in graph:
        most = max((graph.degree(w) for w in graph[node]), default=None)
        who = int(result.values["busiest"][node])
        assert (who == 2**32 - 1) if most is None else graph.degree(who) == most
    # The same program with other inputs stays loaded.
    again = program.run(mine, {"sources": [7, 7]})
    assert int(again.values["levels"][7]) == 0


def test_loops_on_registers() -> None:
    program = Program()
    rest = program.values("rest", 1, keep=True)
    rounds = program.values("rounds", 1, keep=True)
    program.fill(rest, 10)
    program.fill(rounds, 0)

    @program.while_nonzero(rest)
    def count_down() -> None:
        @program.each(1)
        def step(item: seawall.Item) -> None:
            item.store(rest, item.load(rest) - 1)
            item.store(rounds, item.load(rounds) + 1)

    found = program.run(Graph.from_edges([(0, 1)]))
    assert found.values["rounds"].tolist() == [10]
    assert found.loops == [(10, True)]


def refused(kind: str, call: Any) -> seawall.RequestError:
    with pytest.raises(seawall.RequestError) as caught:
        call()
    assert caught.value.kind == kind, caught.value
    return caught.value


def test_errors_of_programs() -> None:
    graph = Graph.from_edges([(0, 1)])
    program = Program()
    out = program.per_node("out", keep=True)
    values: list[seawall.Value] = []

    @program.each()
    def first(node: seawall.Item) -> None:
        values.append(node.index)
        with pytest.raises(TypeError, match="select"):
            bool(node.index < 3)
        with pytest.raises(TypeError, match="//"):
            node.index / 2
        with pytest.raises(TypeError, match="whole number"):
            node.index + 0.5
        node.store(out, node.index)

    @Program().each()
    def second(node: seawall.Item) -> None:
        refused("ForeignValue", lambda: node.store(out, values[0]))

    assert program.run(graph).values["out"].tolist() == [0, 1]
    assert "no input" in str(refused("NoInput", lambda: program.run(graph, {"seeds": [1]})))
    refused("WrongOption", lambda: program.run(graph, damping=0.5))
    twice = Program()
    twice.per_node("same")
    twice.per_node("same")
    assert refused("Twice", lambda: twice.run(graph)).place == "registers[1]"
    unfilled = Program()
    a, b = unfilled.per_node("a"), unfilled.per_node("b", keep=True)
    unfilled.copy(b, a)
    with pytest.raises(seawall.RequestError, match="a"):
        unfilled.run(graph)
    sized = Program()
    given = sized.input("given", 3)
    kept = sized.values("kept", 3, keep=True)
    sized.copy(kept, given)
    assert sized.run(graph).values["kept"].tolist() == [0, 0, 0]
    assert sized.run(graph, {"given": [1, 2, 3]}).values["kept"].tolist() == [1, 2, 3]
    refused("OutOfRange", lambda: sized.run(graph, {"given": [1, -2, 3]}))
    refused("WrongType", lambda: sized.run(graph, {"given": [0.5, 1, 2]}))
    refused("InputLength", lambda: sized.run(graph, {"given": [1, 2]}))


def test_the_text_is_that_of_the_command_line() -> None:
    text = json.loads(components().text())
    example = Path(__file__).parents[3] / "examples" / "programs" / "components.json"
    known = json.loads(example.read_text())
    assert text["registers"] == known["registers"]
    assert [wave["wave"] for wave in text["waves"]] == [wave["wave"] for wave in known["waves"]]


def endless() -> Program:
    program = Program()
    register = program.per_node("never", keep=True)
    program.fill(register, 0)

    @program.fixpoint()
    def go_on() -> None:
        @program.each()
        def step(node: seawall.Item) -> None:
            node.store(register, node.load(register) + 1)
            node.changed()

    return program


def test_ctrl_c_and_budgets_end_programs() -> None:
    graph = Graph.load("gen:grid:200x200")
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        endless().run(graph)
    assert time.perf_counter() - start < 20
    with pytest.raises(seawall.MachineError):
        endless().run(graph, time_budget=0.2)
    assert components().run(graph).loops[0][1]


def test_machine_code_finds_the_same_and_the_result_says_so() -> None:
    graph = Graph.load("gen:grid:30x30")
    results = {}
    for policy in ("never", "always"):
        found = components().run(graph, jit=policy)
        assert found.code is not None
        compiled = found.code["waves"] if policy == "always" else 0
        assert (found.code["compiled"], found.code["waves"] > 0) == (compiled, True)
        assert (found.code["seconds"] > 0) == (policy == "always")
        results[policy] = found.values
    for name, values in results["never"].items():
        assert np.array_equal(values, results["always"][name])
    with pytest.raises(seawall.RequestError, match="perhaps"):
        components().run(graph, jit="perhaps")


def test_progress_is_called_and_may_end_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    graph = Graph.load("gen:grid:300x300")
    seen: list[tuple[str, float]] = []

    def look(phase: str, seconds: float) -> None:
        seen.append((phase, seconds))
        if len(seen) == 3:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        graph.betweenness(machine="cpu", progress=look)
    assert seen[-1][0] == "running"
    assert seen[0][1] < seen[-1][1]
    with pytest.raises(seawall.MachineError):
        graph.betweenness(machine="cpu", progress=True, time_budget=1.0)
    assert "betweenness: running, 0." in capsys.readouterr().err
    graph.bfs(0, progress=True)
    assert capsys.readouterr().err == ""


def test_plans() -> None:
    example = Path(__file__).parents[3] / "examples" / "waves.json"
    found = plan(**json.loads(example.read_text()))
    assert found.groups == [[0, 1, 2], [3], [4, 5], [6]]
    assert found.group_bytes == [77824, 53248, 24576, 1024]
    assert found.is_minimal
    assert found.barriers == 3
    assert found.lower_bound == 4
    assert len(found.offsets) == 7
    assert "seed, gen, kill" in found._repr_html_()
    wave = Wave(output_bytes=60)
    assert plan([wave] * 3, budget_bytes=180).groups == [[0, 1, 2]]
    early = plan([wave] * 3, budget_bytes=100)
    assert (early.groups, early.results_stay) == ([[0], [1], [2]], False)
    chain = [wave, wave, wave], [(0, 1), (1, 2)]
    error = refused("arena_over_budget", lambda: plan(*chain, budget_bytes=100))
    assert error.budget_bytes == 100
    assert plan(*chain, budget_bytes=error.required_bytes).required_bytes == error.required_bytes
    assert refused("invalid_wave", lambda: plan([wave], [(0, 3)])).after == 3
    refused("WrongType", lambda: plan([{"bytes": 3}]))
    for pairs in ([(0, -1)], [(0, 0.5)], [(0, 1, 2)], [0], [("0", 1)]):
        refused("WrongNumber", lambda pairs=pairs: plan([wave] * 2, pairs))
    for size in (-1, 0.5, 2**64, "1"):
        refused("WrongNumber", lambda size=size: plan([{"output_bytes": size}]))
        refused("WrongNumber", lambda size=size: plan([wave], budget_bytes=size))
    assert plan([]).groups == []


def test_results_are_columns_of_arrow_and_tensors() -> None:
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")

    graph = Graph.load("gen:grid:20x20")
    levels = graph.bfs(0)

    class Exported:
        """The column as anything but NumPy's array sees it."""

        __arrow_c_array__ = levels.__arrow_c_array__

    column = pyarrow.array(Exported())
    assert column.type == pyarrow.int32()
    assert column.to_pylist() == levels.tolist()
    # No copy: the same memory.
    assert column.buffers()[1].address == levels.ctypes.data
    conditions = graph.reach(3)
    reached = pyarrow.Array._import_from_c_capsule(*conditions.__arrow_c_array__())
    assert reached.type == pyarrow.bool_()
    assert reached.to_pylist() == [True] * 400
    ranks = graph.pagerank().ranks
    column_of_ranks = pyarrow.Array._import_from_c_capsule(*ranks.__arrow_c_array__())
    assert column_of_ranks.type == pyarrow.float32()
    assert column_of_ranks.to_pylist() == ranks.tolist()
    # Capsules that nobody takes give back what they keep.
    for _ in range(3):
        ranks.__arrow_c_array__()
    assert polars.Series("rank", ranks).to_list() == ranks.tolist()
    del levels, Exported
    assert column.to_pylist()[-1] == 38
    tensor = np.from_dlpack(ranks)
    assert np.shares_memory(tensor, ranks)
    turned = ranks.reshape(20, 20)
    with pytest.raises(seawall.RequestError):
        turned.__arrow_c_array__()
    every = pyarrow.Array._import_from_c_capsule(*graph.bfs(0)[::2].__arrow_c_array__())
    assert every.to_pylist() == graph.bfs(0)[::2].tolist()


def test_a_fill_is_a_number_of_the_register() -> None:
    program = seawall.Program()
    floats = program.values("floats", 2, "f32", keep=True)
    whole = program.values("whole", 2, "u32", keep=True)
    infinite = program.values("infinite", 2, "f32", keep=True)
    below = program.values("below", 2, "i32", keep=True)
    long = program.values("long", 2, "u64", keep=True)
    least = program.values("least", 1, "i32", keep=True)
    program.fill(floats, 1.5)
    program.fill(whole, 7)
    program.fill(infinite, float("inf"))
    program.fill(below, -3)
    program.fill(long, 2**40 + 1)
    program.reduce(least, below, "min")
    found = program.run(seawall.Graph.from_edges([(0, 1)])).values
    assert found["floats"].tolist() == [1.5, 1.5] and found["whole"].tolist() == [7, 7]
    assert found["infinite"].tolist() == [float("inf")] * 2 and found["below"].tolist() == [-3, -3]
    assert found["long"].tolist() == [2**40 + 1] * 2 and found["least"].tolist() == [-3]
    with pytest.raises(seawall.RequestError, match="whole number"):
        program.fill(whole, 1.5)
