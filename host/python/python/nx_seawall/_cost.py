"""Expected times of NetworkX, of a conversion and of a run here.

The figures are of one core of a server of 2023; only their ratios decide.
"""

from __future__ import annotations

from enum import Enum
from typing import Any


class Cost(Enum):
    """Kinds of functions: nanoseconds an entry of the adjacency in NetworkX, the same here, and
    whether the work is repeated from each node."""

    LOCAL = (0.0, 0.0, False)
    PAIR = (20.0, 4.0, False)
    SEARCH = (60.0, 6.0, False)
    PATHS = (300.0, 60.0, False)
    LINEAR = (120.0, 10.0, False)
    SUBGRAPH = (800.0, 500.0, False)
    SORTED = (700.0, 60.0, False)
    WEIGHTED = (500.0, 40.0, False)
    TRIANGLES = (900.0, 15.0, False)
    RANKS = (1500.0, 150.0, False)
    ALL_PAIRS = (60.0, 6.0, True)


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
    there, here, is_repeated = cost.value
    work = (entries + nodes) * (max(nodes, 1) if is_repeated else 1)
    there, here = _CALL + there * work, _CALL + here * work
    conversion = 0.0
    if not _is_converted(graph):
        an_entry, a_node, call = _CONVERSION
        conversion = call + an_entry * entries + a_node * nodes
    if here + conversion < there:
        return True
    return (
        f"NetworkX is expected to take {_text(there)}; "
        f"here a run takes {_text(here)} after a conversion of {_text(conversion)}"
    )


def _is_converted(graph: Any) -> bool:
    cache = getattr(graph, "__networkx_cache__", None) or {}
    return bool(cache.get("backends", {}).get("seawall"))


def _text(ns: float) -> str:
    if ns < 1e6:
        return f"{ns / 1e3:.0f} µs"
    return f"{ns / 1e6:.0f} ms" if ns < 1e9 else f"{ns / 1e9:.1f} s"
