"""Expected times: of a run here by the library's cost model, of a conversion and of NetworkX by
measurement.

``host/python/tests/costs`` measures the figures of this file; those below are of two shared x86-64
cores, NetworkX 3.6.1 and CPython 3.11, 26 November 2026.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from seawall._seawall import forecast as _forecast


class _Kind(NamedTuple):
    #: The analysis whose forecast stands for the work.
    analysis: str
    #: Whether it starts from each node.
    is_repeated: bool
    #: Nanoseconds of NetworkX for a node or an entry of the adjacency, times nodes if repeated.
    networkx_ns: float
    #: Nanoseconds of making the result, a node, times nodes if repeated.
    result_ns: float
    #: Iterations.
    rounds: float = 1.0


class Cost(Enum):
    """Kinds of functions."""

    LOCAL = _Kind("bfs", False, 0.0, 0.0)
    PAIR = _Kind("bfs", False, 20.0, 0.0)
    SEARCH = _Kind("bfs", False, 60.0, 40.0)
    PATHS = _Kind("bfs", False, 300.0, 400.0)
    LINEAR = _Kind("cc", False, 120.0, 40.0)
    SUBGRAPH = _Kind("kcore", False, 800.0, 2000.0)
    SORTED = _Kind("msf", False, 700.0, 300.0)
    WEIGHTED = _Kind("sssp", False, 500.0, 100.0)
    TRIANGLES = _Kind("triangles", False, 900.0, 40.0)
    RANKS = _Kind("pagerank", False, 1500.0, 40.0, 50.0)
    ALL_PAIRS = _Kind("closeness", True, 60.0, 0.0)


#: Nanoseconds of a conversion: an entry of the adjacency, a node, the call.
_CONVERSION = (90.0, 150.0, 12_000.0)

#: Nanoseconds of a call of either.
_CALL = 5_000.0


def forecast(cost: Cost, graph: Any) -> bool | str:
    """Tells whether a call is expected to take less time here, or how much each would take."""
    if getattr(graph, "__networkx_backend__", "networkx") == "seawall":
        return True
    nodes, entries = len(graph), graph.number_of_edges()
    if not graph.is_directed():
        entries *= 2
    kind: _Kind = cost.value
    starts = float(nodes if kind.is_repeated else 1)
    there = _CALL + kind.networkx_ns * (entries + nodes) * starts
    run = _run_ns(kind, (nodes, entries), starts)
    conversion = 0.0
    if not _is_converted(graph):
        an_entry, a_node, call = _CONVERSION
        conversion = call + an_entry * entries + a_node * nodes
    if run + conversion < there:
        return True
    return (
        f"NetworkX is expected to take {_text(there)}; "
        f"here a run takes {_text(run)} after a conversion of {_text(conversion)}"
    )


def _run_ns(kind: _Kind, size: tuple[float, float], starts: float) -> float:
    """The forecast of the library and the making of the result."""
    one_ns, all_ns = _forecast(kind.analysis, size, starts, kind.rounds)
    run = min(one_ns, all_ns) if kind.is_repeated else one_ns
    return _CALL + run + kind.result_ns * size[0] * starts


def _is_converted(graph: Any) -> bool:
    cache = getattr(graph, "__networkx_cache__", None) or {}
    return bool(cache.get("backends", {}).get("seawall"))


def _text(ns: float) -> str:
    if ns < 1e6:
        return f"{ns / 1e3:.0f} µs"
    return f"{ns / 1e6:.0f} ms" if ns < 1e9 else f"{ns / 1e9:.1f} s"
