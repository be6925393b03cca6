"""Expected times: of a run by the library's cost model, of the rest by measurement.

Nanoseconds of CPU time on two shared x86-64 cores, NetworkX 3.6.1 and CPython 3.11, 26 November 2026.
Those of NetworkX are the least of random graphs of 30 nodes, 300 and 20,000: larger graphs take
longer for each edge, so that a forecast in favour of a conversion holds for them, too.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import lru_cache, partial
from typing import Any, NamedTuple

from seawall._seawall import forecast as _forecast


class _Kind(NamedTuple):
    #: The analysis whose forecast stands for the work.
    analysis: str
    #: NetworkX, for a node or an entry of the adjacency, times nodes if each is a start.
    networkx_ns: float
    #: Making the result here, for a node.
    result_ns: float = 0.0
    #: Whether each node is a start.
    is_repeated: bool = False
    #: Whether the library answers, rather than a loop in order.
    is_asked: bool = False
    #: Whether weights are read.
    is_weighted: bool = False
    #: Iterations.
    rounds: float = 1.0


class Cost(Enum):
    """Kinds of functions."""

    LOCAL = _Kind("bfs", 0.0)
    PAIR = _Kind("bfs", 5.0)
    SEARCH = _Kind("bfs", 190.0, 200.0)
    PATHS = _Kind("bfs", 215.0, 800.0)
    DEGREES = _Kind("cc", 60.0, 200.0)
    COMPONENTS = _Kind("cc", 190.0, 80.0, is_asked=True)
    STRONG = _Kind("scc", 1200.0, is_asked=True)
    STRONG_SETS = _Kind("scc", 1200.0, 250.0)
    CORES = _Kind("kcore", 780.0, 100.0, is_asked=True)
    COLOURS = _Kind("cc", 640.0, 300.0)
    COMMUNITIES = _Kind("labels", 7700.0, 300.0)
    SUBGRAPH = _Kind("kcore", 5000.0, 50_000.0, is_asked=True)
    SORTED = _Kind("msf", 3200.0, 10_000.0, is_weighted=True)
    WEIGHTED = _Kind("sssp", 610.0, 1000.0, is_weighted=True)
    TRIANGLES = _Kind("triangles", 1250.0, 100.0, is_asked=True)
    RANKS = _Kind("pagerank", 2300.0, 100.0, is_weighted=True, rounds=50.0)
    ALL_PAIRS = _Kind("closeness", 60.0, is_repeated=True)
    FARTHEST = _Kind("eccentricity", 60.0, is_repeated=True, is_asked=True)


class _Conversion(NamedTuple):
    """A conversion of a graph, or of its rows to a graph of the library."""

    call_ns: float
    node_ns: float
    entry_ns: float

    def of(self, nodes: float, entries: float) -> float:
        return self.call_ns + self.node_ns * nodes + self.entry_ns * entries


_PLAIN = _Conversion(40_000.0, 190.0, 130.0)
_WITH_WEIGHTS = _Conversion(40_000.0, 190.0, 560.0)
_FOR_LIBRARY = _Conversion(130_000.0, 0.0, 10.0)

#: Entries below which a loop answers in the place of the library, as in the extension.
_ENTRIES_OF_QUESTION = 1 << 12

#: A call, and one that the library answers.
_CALL_NS, _ASKED_NS = 5_000.0, 60_000.0


def _verdict(kind: _Kind, nodes: int, entries: int, is_converted: bool) -> bool | str:
    starts = nodes if kind.is_repeated else 1
    there = _CALL_NS + kind.networkx_ns * (nodes + entries) * starts
    conversion = 0.0
    if not is_converted:
        conversion = (_WITH_WEIGHTS if kind.is_weighted else _PLAIN).of(nodes, entries)
        if kind.is_asked and entries >= _ENTRIES_OF_QUESTION:
            conversion += _FOR_LIBRARY.of(nodes, entries)
    is_asked = kind.is_asked and entries >= _ENTRIES_OF_QUESTION
    run = kind.result_ns * nodes + (_ASKED_NS if is_asked else _CALL_NS)
    if there <= conversion + run:
        return (
            f"NetworkX is expected to take {int(there) // 1000} µs; here a call takes "
            f"{int(run) // 1000} µs beside its run and a conversion of {int(conversion) // 1000} µs"
        )
    one_ns, all_ns = _forecast(kind.analysis, (nodes, entries), starts, kind.rounds)
    run += all_ns if kind.is_repeated else one_ns
    if run + conversion < there:
        return True
    return (
        f"NetworkX is expected to take {_text(there)}; "
        f"here a run takes {_text(run)} after a conversion of {_text(conversion)}"
    )


#: The answer for each kind of function by nodes, entries, and whether the graph is converted. Small
#: graphs of equal sizes are common, and a forecast takes as long as the shortest calls.
_VERDICTS = {cost: lru_cache(1 << 12)(partial(_verdict, cost.value)) for cost in Cost}


def forecasts(cost: Cost) -> Callable[[Any], bool | str]:
    """Returns what tells whether a call for a graph is expected to take less time here, or how much
    each would take."""
    verdict = _VERDICTS[cost]

    def forecast(graph: Any) -> bool | str:
        if getattr(graph, "__networkx_backend__", "networkx") == "seawall":
            return True
        rows = graph._adj
        cache = getattr(graph, "__networkx_cache__", None)
        is_converted = bool(cache and cache.get("backends", {}).get("seawall"))
        # `number_of_edges` takes longer than everything else here.
        return verdict(len(rows), sum(map(len, rows.values())), is_converted)

    return forecast


def _text(ns: float) -> str:
    if ns < 1e6:
        return f"{ns / 1e3:.0f} µs"
    return f"{ns / 1e6:.0f} ms" if ns < 1e9 else f"{ns / 1e9:.1f} s"
