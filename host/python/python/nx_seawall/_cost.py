"""Expected times: of a run by the library's cost model, of the rest by measurement.

Nanoseconds of CPU time on two shared x86-64 cores, NetworkX 3.6.1 and CPython 3.11, 29 November 2026,
fitted to random graphs of 5 to 150 nodes (`bench.py --every` shows what comes of them). Larger graphs
take longer for each edge, NetworkX more so than a conversion, so that a forecast in favour holds for
them, too.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from seawall._seawall import forecast as _forecast


class Kind(NamedTuple):
    """What a call takes, by the sizes of the graph."""

    #: The analysis whose forecast stands for the work.
    analysis: str
    #: NetworkX, for a call.
    networkx_call_ns: float
    #: NetworkX, for a node or an entry of the adjacency, times nodes if each is a start.
    networkx_ns: float
    #: Making the result here, for a node.
    result_ns: float = 0.0
    #: The rest of a call here, conversion left out.
    call_ns: float = 5_000.0
    #: NetworkX, for a start, if each node is one: its functions call others for each, and these ask
    #: the backend again.
    networkx_start_ns: float = 0.0
    #: Whether each node is a start.
    is_repeated: bool = False
    #: Whether the library answers, rather than a loop in order.
    is_asked: bool = False
    #: Whether weights are read.
    is_weighted: bool = False
    #: Iterations.
    rounds: float = 1.0
    #: NetworkX, for each node that is left where it lists them for each that it takes.
    networkx_left_ns: float = 0.0


class Cost(Enum):
    """Kinds of functions."""

    LOCAL = Kind("bfs", 3_000.0, 0.0)
    PAIR = Kind("bfs", 8_000.0, 2.0)
    SEARCH = Kind("bfs", 4_000.0, 48.0, 70.0)
    SEARCH_OF_OTHERS = Kind("bfs", 7_500.0, 55.0, 70.0)
    PATHS = Kind("bfs", 5_000.0, 50.0, 160.0)
    DEGREES = Kind("cc", 4_000.0, 20.0, 70.0)
    COMPONENTS = Kind("cc", 3_500.0, 40.0, 40.0, is_asked=True)
    COUNT = Kind("cc", 7_300.0, 36.0, is_asked=True)
    WEAK = Kind("cc", 3_000.0, 62.0, 40.0, is_asked=True)
    WEAK_COUNT = Kind("cc", 6_600.0, 61.0, is_asked=True)
    STRONG = Kind("scc", 8_000.0, 250.0, is_asked=True)
    STRONG_SETS = Kind("scc", 5_000.0, 260.0, 90.0)
    CORES = Kind("kcore", 9_000.0, 185.0, 60.0, is_asked=True)
    COLOURS = Kind("cc", 4_000.0, 180.0, 100.0, 7_000.0)
    COMMUNITIES = Kind("labels", 10_000.0, 1_500.0, 200.0)
    SUBGRAPH = Kind("kcore", 30_000.0, 1_250.0, 1_300.0, 38_000.0, is_asked=True)
    SORTED = Kind("msf", 10_000.0, 560.0, 300.0, 7_000.0, is_weighted=True)
    WEIGHTED = Kind("sssp", 7_500.0, 160.0, 100.0, 3_500.0, is_weighted=True)
    WEIGHTED_PATHS = Kind("sssp", 9_000.0, 200.0, 220.0, 3_500.0, is_weighted=True)
    WEIGHTED_PAIR = Kind("sssp", 5_000.0, 120.0, 20.0, 3_500.0, is_weighted=True)
    WEIGHTED_SET = Kind("sssp", 4_500.0, 175.0, 150.0, 3_500.0, is_weighted=True)
    INDEPENDENT = Kind("cc", 5_000.0, 5.0, 700.0, 10_000.0, networkx_left_ns=6.0)
    TRIANGLES = Kind("triangles", 5_000.0, 310.0, 70.0, 8_000.0, is_asked=True)
    CLUSTERING = Kind("triangles", 2_000.0, 900.0, 70.0, 8_000.0, is_asked=True)
    RANKS = Kind("pagerank", 190_000.0, 800.0, 100.0, 60_000.0, is_weighted=True, rounds=50.0)
    ALL_PAIRS = Kind("closeness", 5_000.0, 50.0, networkx_start_ns=4_000.0, is_repeated=True)
    FARTHEST = Kind(
        "eccentricity", 5_000.0, 50.0, networkx_start_ns=11_000.0, is_repeated=True, is_asked=True
    )


class _Conversion(NamedTuple):
    """A conversion of a graph, or of its rows to a graph of the library."""

    call_ns: float
    node_ns: float
    entry_ns: float

    def of(self, nodes: float, entries: float) -> float:
        return self.call_ns + self.node_ns * nodes + self.entry_ns * entries


_PLAIN = _Conversion(7_500.0, 20.0, 15.0)
_WITH_WEIGHTS = _Conversion(15_000.0, 30.0, 55.0)
_FOR_LIBRARY = _Conversion(130_000.0, 0.0, 10.0)

#: Entries below which a loop answers in the place of the library, as in the extension.
_ENTRIES_OF_QUESTION = 1 << 12

#: A question to the library.
_QUESTION_NS = 60_000.0

#: The opening of a machine in forecasts, which loops do without.
_OPENING_NS = 10_000.0


def verdict(kind: Kind, nodes: int, entries: int, is_converted: bool) -> bool | str:
    """Tells whether a call for a graph is expected to take less time here, or how much each would
    take."""
    starts = nodes if kind.is_repeated else 1
    there = kind.networkx_call_ns + kind.networkx_start_ns * starts
    there += kind.networkx_ns * (nodes + entries) * starts
    if kind.networkx_left_ns:
        # A set has about as many nodes as n over the mean degree and one (Turán).
        there += kind.networkx_left_ns * nodes / 2 * nodes * nodes / max(nodes + entries, 1)
    is_asked = kind.is_asked and entries >= _ENTRIES_OF_QUESTION
    conversion = 0.0
    if not is_converted:
        conversion = (_WITH_WEIGHTS if kind.is_weighted else _PLAIN).of(nodes, entries)
        if is_asked:
            conversion += _FOR_LIBRARY.of(nodes, entries)
    run = kind.call_ns + kind.result_ns * nodes + (_QUESTION_NS if is_asked else 0.0)
    if there <= conversion + run:
        return (
            f"NetworkX is expected to take {int(there) // 1000} µs; here a call takes "
            f"{int(run) // 1000} µs beside its run and a conversion of {int(conversion) // 1000} µs"
        )
    one_ns, all_ns = _forecast(kind.analysis, (nodes, entries), starts, kind.rounds)
    found = min(one_ns, all_ns) if kind.is_repeated else one_ns
    run += found if is_asked else max(found - _OPENING_NS, 0.0)
    if run + conversion < there:
        return True
    return (
        f"NetworkX is expected to take {_text(there)}; "
        f"here a run takes {_text(run)} after a conversion of {_text(conversion)}"
    )


def _text(ns: float) -> str:
    if ns < 1e6:
        return f"{ns / 1e3:.0f} µs"
    return f"{ns / 1e6:.0f} ms" if ns < 1e9 else f"{ns / 1e9:.1f} s"
