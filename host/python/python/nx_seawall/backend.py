"""The functions of the backend, and the object that NetworkX asks for them.

A function has the signature of its namesake in NetworkX, and its results, order and exceptions.
Where it has less, its check says so before it is called, and NetworkX runs its own.
"""

from __future__ import annotations

import copy
import gc
import inspect
import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import networkx as nx
from networkx.classes.coreviews import UnionAdjacency
from networkx.utils import not_implemented_for, py_random_state
from seawall._seawall import Adviser, Rule

from . import FUNCTIONS
from ._cost import Cost, verdict
from ._graph import Graph

#: True, or the reason why not.
Answer = bool | str
Node = Hashable
Lengths = dict[Any, Any]
Paths = dict[Any, list[Any]]

_RULES: dict[str, Rule] = {}
_ADVISER = Adviser(_RULES, Graph)


class Backend:
    """What NetworkX asks: functions by name, conversions, and whether it should use them."""

    @staticmethod
    def convert_from_nx(
        graph: Any,
        edge_attrs: dict[Any, Any] | None = None,
        **_: Any,
    ) -> Graph:
        """Converts a graph with at most one attribute of its edges."""
        if isinstance(graph, Graph):
            return graph
        kind = type(graph)
        if getattr(kind, "__getitem__", None) is not nx.Graph.__getitem__:
            # Such as NetworkX's own dense graphs, which keep the edges that they do not have.
            raise NotImplementedError(f"seawall: {kind.__name__} has rows of its own")
        if hasattr(graph, "_graph"):
            # A view, which nobody tells when its graph changes: it has no cache from here on.
            graph.__networkx_cache__ = None
        attributes = edge_attrs or {}
        if len(attributes) > 1:
            return Graph(graph)
        for name, default in attributes.items():
            return Graph(graph, name, 1 if default is None else default)
        return Graph(graph)

    @staticmethod
    def convert_to_nx(result: Any, **_: Any) -> Any:
        """Returns the graph that a conversion was made of, and anything else as it is."""
        return result.source if isinstance(result, Graph) else result

    #: Tells whether a function takes these arguments, or why not.
    can_run = _ADVISER.can_run

    #: Tells whether conversion and run are expected to take less time than NetworkX; the forecast is
    #: the reason why not.
    should_run = _ADVISER.should_run

    @staticmethod
    def on_start_tests(items: list[Any]) -> None:
        """Marks tests of NetworkX that cannot hold for converted graphs."""
        from ._xfails import mark

        mark(items)


def _signature(function: Any, check: Callable[..., Answer] | None) -> tuple[Any, ...]:
    """What decides whether arguments fit a function, for its rule."""
    parameters = inspect.signature(function).parameters.values()
    empty = inspect.Parameter.empty
    by_place = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    places = {p.name: len(by_place) for p in parameters}
    places.update({key: place for place, key in enumerate(by_place)})
    defaults = {p.name: p.default for p in parameters}
    required = [key for key, default in defaults.items() if default is empty]
    taken = inspect.signature(check).parameters if check else ()
    wanted = [(key, places[key], defaults[key]) for key in taken]
    return places, len(by_place), required, wanted


def _has(cost: Cost, check: Callable[..., Answer] | None = None) -> Callable[[Any], Any]:
    """Adds a function to the backend; `check` takes those of its arguments that decide."""

    def add(function: Any) -> Any:
        name = function.__name__
        if name not in FUNCTIONS:
            raise KeyError(f"{name} is missing in nx_seawall.FUNCTIONS")
        setattr(Backend, name, staticmethod(function))
        _RULES[name] = Rule(_signature(function, check), check, partial(verdict, cost.value))
        return function

    return add


def _number(G: Graph, node: Any, text: str) -> int:
    number = G.number(node)
    if number is None:
        raise nx.NodeNotFound(text)
    return number


# Checks, by the arguments that they look at.


def _weight_is_name(weight: Any) -> Answer:
    return "a weight function is Python" if callable(weight) else True


def _is_simple(G: Any) -> Answer:
    return "a multigraph" if G.is_multigraph() else True


def _is_undirected(G: Any) -> Answer:
    return "a directed graph, whose predecessors have an order of their own" if G.is_directed() else True


def _is_plain(weight: Any) -> Answer:
    return True if weight is None else "weights"


# Shortest paths without weights.


@_has(Cost.SEARCH)
def single_source_shortest_path_length(
    G: Graph, source: Node, cutoff: float | None = None
) -> dict[Any, int]:
    number = _number(G, source, f"Source {source} is not in G")
    return G.any.levels([number], cutoff)


@_has(Cost.SEARCH)
def single_target_shortest_path_length(
    G: Graph, target: Node, cutoff: float | None = None
) -> dict[Any, int]:
    number = _number(G, target, f"Target {target} is not in G")
    return G.backward().levels([number], cutoff)


@_has(Cost.ALL_PAIRS)
def all_pairs_shortest_path_length(
    G: Graph, cutoff: float | None = None
) -> Iterator[tuple[Any, dict[Any, int]]]:
    rows = G.any
    for number, node in enumerate(G):
        yield node, rows.levels([number], cutoff)


@_has(Cost.PATHS)
def single_source_shortest_path(G: Graph, source: Node, cutoff: float | None = None) -> Paths:
    number = _number(G, source, f"Source {source} not in G")
    return G.any.paths(number, cutoff)


@_has(Cost.PATHS)
def single_target_shortest_path(G: Graph, target: Node, cutoff: float | None = None) -> Paths:
    number = _number(G, target, f"Target {target} not in G")
    return G.backward().paths(number, cutoff, to_source=True)


@_has(Cost.ALL_PAIRS)
def all_pairs_shortest_path(
    G: Graph, cutoff: float | None = None
) -> Iterator[tuple[Any, Paths]]:
    rows = G.any
    for number, node in enumerate(G):
        yield node, rows.paths(number, cutoff)


@_has(Cost.SEARCH)
def predecessor(
    G: Graph,
    source: Node,
    target: Any = None,
    cutoff: int | None = None,
    return_seen: bool | None = None,
) -> Any:
    number = _number(G, source, f"Source {source} not in G")
    # NetworkX compares after each level: 0 and what is no number are no limit.
    most = math.ceil(max(cutoff, 1)) if cutoff and cutoff < len(G) else None
    lists, seen = G.any.predecessors(number, most, bool(return_seen))
    if target is None:
        return (lists, seen) if return_seen else lists
    if return_seen:
        return (lists[target], seen[target]) if target in lists else ([], -1)
    return lists.get(target, [])


def _path_ends(G: Graph, source: Node, target: Node) -> tuple[int, int]:
    first = _number(G, source, f"Source {source} is not in G")
    return first, _number(G, target, f"Target {target} is not in G")


@_has(Cost.PAIR)
def bidirectional_shortest_path(G: Graph, source: Node, target: Node) -> list[Any]:
    path = G.any.path_between(*_path_ends(G, source, target), G.backward())
    if path is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return path


@_has(Cost.PAIR)
def has_path(G: Graph, source: Node, target: Node) -> bool:
    if source is None or target is None:
        # NetworkX asks for the paths of all nodes then, and there are some.
        for node, end in ((source, "Source"), (target, "Target")):
            if node is not None:
                _number(G, node, f"{end} {node} not in G")
        return True
    return G.any.level_of(*_path_ends(G, source, target)) is not None


# What these two call is asked about, too, with times of its own.
@_has(Cost.PAIR, _weight_is_name)
def shortest_path_length(
    G: Graph,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    method: str = "dijkstra",
) -> Any:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    is_signed = method == "bellman-ford"
    if source is None and target is None:
        if weight is None:
            return all_pairs_shortest_path_length(G)
        all_lengths = all_pairs_bellman_ford_path_length if is_signed else all_pairs_dijkstra_path_length
        return all_lengths(G, weight=weight)
    if source is None or target is None:
        start = target if source is None else source
        G = G.turned(weight) if source is None else G
        if weight is None:
            return single_source_shortest_path_length(G, start)
        lengths = single_source_bellman_ford_path_length if is_signed else single_source_dijkstra_path_length
        return lengths(G, start, weight=weight)
    if weight is not None:
        length = bellman_ford_path_length if is_signed else dijkstra_path_length
        return length(G, source, target, weight)
    level = G.any.level_of(*_path_ends(G, source, target))
    if level is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return level


@_has(Cost.PAIR, _weight_is_name)
def shortest_path(
    G: Graph,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    method: str = "dijkstra",
) -> Any:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    is_signed = method == "bellman-ford"
    if source is None and target is None:
        if weight is None:
            return all_pairs_shortest_path(G)
        all_paths = all_pairs_bellman_ford_path if is_signed else all_pairs_dijkstra_path
        return all_paths(G, weight=weight)
    if source is not None and target is not None:
        if weight is None:
            return bidirectional_shortest_path(G, source, target)
        if is_signed:
            return bellman_ford_path(G, source, target, weight)
        return bidirectional_dijkstra(G, source, target, weight)[1]
    start = target if source is None else source
    G = G.turned(weight) if source is None else G
    if weight is None:
        paths = single_source_shortest_path(G, start)
    elif is_signed:
        paths = single_source_bellman_ford_path(G, start, weight=weight)
    else:
        paths = single_source_dijkstra_path(G, start, weight=weight)
    if source is None:
        for path in paths.values():
            path.reverse()
    return paths


def _average_check(weight: Any, method: Any) -> Answer:
    if method not in (None, "unweighted"):
        return f"the method {method}"
    return _is_plain(weight)


@_has(Cost.ALL_PAIRS, _average_check)
def average_shortest_path_length(G: Graph, weight: Any = None, method: str | None = None) -> float:
    nodes = len(G)
    if nodes == 0:
        text = "the null graph has no paths, thus there is no average shortest path length"
        raise nx.NetworkXPointlessConcept(text)
    if nodes == 1:
        return 0
    reached, totals = G.any.reaches()
    if min(reached) != nodes:
        kind = "strongly connected" if G.is_directed() else "connected"
        raise nx.NetworkXError(f"Graph is not {kind}.")
    return sum(totals) / (nodes * (nodes - 1))


# Lightest paths.


def _targets(G: Graph, target: Any) -> int | None:
    """Number of a target; one that is no node is never found, as in NetworkX."""
    return None if target is None else G.number(target)


@_has(Cost.WEIGHTED_SET, _weight_is_name)
def multi_source_dijkstra(
    G: Graph, sources: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    numbers = _many(G, sources)
    if target in sources:
        return (0, [target])
    rows = G.rows(weight)
    lengths, paths = rows.lightest_paths(numbers, cutoff, _targets(G, target))
    if target is None:
        return lengths, paths
    try:
        return lengths[target], paths[target]
    except KeyError as problem:
        raise nx.NetworkXNoPath(f"No path to {target}.") from problem


def _many(G: Graph, sources: Any) -> list[int]:
    if not sources:
        raise ValueError("sources must not be empty")
    return [_number(G, node, f"Node {node} not found in graph") for node in sources]


@_has(Cost.WEIGHTED_PATHS, _weight_is_name)
def multi_source_dijkstra_path(
    G: Graph, sources: Any, cutoff: Any = None, weight: Any = "weight"
) -> Paths:
    return G.rows(weight).lightest_paths(_many(G, sources), cutoff)[1]


@_has(Cost.WEIGHTED_SET, _weight_is_name)
def multi_source_dijkstra_path_length(
    G: Graph, sources: Any, cutoff: Any = None, weight: Any = "weight"
) -> Lengths:
    return G.rows(weight).lengths(_many(G, sources), cutoff)


@_has(Cost.WEIGHTED_PATHS, _weight_is_name)
def single_source_dijkstra(
    G: Graph, source: Node, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    return multi_source_dijkstra(G, {source}, cutoff=cutoff, target=target, weight=weight)


@_has(Cost.WEIGHTED_PATHS, _weight_is_name)
def single_source_dijkstra_path(
    G: Graph, source: Node, cutoff: Any = None, weight: Any = "weight"
) -> Paths:
    return multi_source_dijkstra_path(G, {source}, cutoff, weight)


@_has(Cost.WEIGHTED, _weight_is_name)
def single_source_dijkstra_path_length(
    G: Graph, source: Node, cutoff: Any = None, weight: Any = "weight"
) -> Lengths:
    return multi_source_dijkstra_path_length(G, {source}, cutoff, weight)


@_has(Cost.WEIGHTED_PATHS, _weight_is_name)
def dijkstra_path(G: Graph, source: Node, target: Node, weight: Any = "weight") -> list[Any]:
    found: list[Any] = single_source_dijkstra(G, source, target=target, weight=weight)[1]
    return found


@_has(Cost.WEIGHTED_PAIR, _weight_is_name)
def dijkstra_path_length(G: Graph, source: Node, target: Node, weight: Any = "weight") -> Any:
    number = _number(G, source, f"Node {source} not found in graph")
    if source == target:
        return 0
    lengths = G.rows(weight).lengths([number], None, _targets(G, target))
    try:
        return lengths[target]
    except KeyError as problem:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}") from problem


@_has(Cost.WEIGHTED, _weight_is_name)
def dijkstra_predecessor_and_distance(
    G: Graph, source: Node, cutoff: Any = None, weight: Any = "weight"
) -> tuple[Paths, Lengths]:
    number = _number(G, source, f"Node {source} is not found in the graph")
    lengths, before = G.rows(weight).lightest_predecessors(number, cutoff)
    return before, lengths


# Weights are read before the first pair is asked for: what cannot be is left to NetworkX then.


@_has(Cost.ALL_PAIRS, _weight_is_name)
def all_pairs_dijkstra(
    G: Graph, cutoff: Any = None, weight: Any = "weight"
) -> Iterator[tuple[Any, tuple[Lengths, Paths]]]:
    rows = G.rows(weight)
    return ((node, rows.lightest_paths([number], cutoff)) for number, node in enumerate(G))


@_has(Cost.ALL_PAIRS, _weight_is_name)
def all_pairs_dijkstra_path_length(
    G: Graph, cutoff: Any = None, weight: Any = "weight"
) -> Iterator[tuple[Any, Lengths]]:
    rows = G.rows(weight)
    return ((node, rows.lengths([number], cutoff)) for number, node in enumerate(G))


@_has(Cost.ALL_PAIRS, _weight_is_name)
def all_pairs_dijkstra_path(
    G: Graph, cutoff: Any = None, weight: Any = "weight"
) -> Iterator[tuple[Any, Paths]]:
    return ((node, paths) for node, (_, paths) in all_pairs_dijkstra(G, cutoff, weight))


@_has(Cost.WEIGHTED_PAIR, _weight_is_name)
def bidirectional_dijkstra(
    G: Graph, source: Node, target: Node, weight: Any = "weight"
) -> tuple[Any, list[Any]]:
    ends = _path_ends(G, source, target)
    if source == target:
        return 0, [source]
    found = G.rows(weight).lightest_between(*ends, G.backward(weight))
    if found is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return found


# Lightest paths along weights that may be negative.


def _signed(found: Any) -> Any:
    if found is None:
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    return found


@_has(Cost.WEIGHTED_PATHS, _weight_is_name)
def single_source_bellman_ford(
    G: Graph, source: Node, target: Any = None, weight: Any = "weight"
) -> Any:
    if source == target:
        _number(G, source, f"Node {source} is not found in the graph")
        return 0, [source]
    hash(source)  # As in NetworkX, a TypeError comes before all else.
    number = _number(G, source, f"Source {source} not in G")
    if target is None:
        return _signed(G.rows(weight).signed_paths(number))
    goal = G.number(target)
    lengths, paths = _signed(G.rows(weight).signed_paths(number, number if goal is None else goal))
    if target not in paths:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    return lengths[target], paths[target]


@_has(Cost.WEIGHTED_PAIR, _weight_is_name)
def bellman_ford_path(
    G: Graph, source: Node, target: Node, weight: Any = "weight"
) -> list[Any]:
    path: list[Any] = single_source_bellman_ford(G, source, target, weight)[1]
    return path


@_has(Cost.WEIGHTED_PAIR, _weight_is_name)
def bellman_ford_path_length(G: Graph, source: Node, target: Node, weight: Any = "weight") -> Any:
    if source == target:
        _number(G, source, f"Node {source} not found in graph")
        return 0
    lengths = single_source_bellman_ford_path_length(G, source, weight)
    try:
        return lengths[target]
    except KeyError as problem:
        raise nx.NetworkXNoPath(f"node {target} not reachable from {source}") from problem


@_has(Cost.WEIGHTED_PATHS, _weight_is_name)
def single_source_bellman_ford_path(G: Graph, source: Node, weight: Any = "weight") -> Paths:
    paths: Paths = single_source_bellman_ford(G, source, None, weight)[1]
    return paths


@_has(Cost.WEIGHTED, _weight_is_name)
def single_source_bellman_ford_path_length(
    G: Graph, source: Node, weight: Any = "weight"
) -> Lengths:
    hash(source)  # As in NetworkX, a TypeError comes before all else.
    number = _number(G, source, f"Source {source} not in G")
    lengths: Lengths = _signed(G.rows(weight).signed_paths(number, with_paths=False))[0]
    return lengths


@_has(Cost.ALL_PAIRS, _weight_is_name)
def all_pairs_bellman_ford_path_length(
    G: Graph, weight: Any = "weight"
) -> Iterator[tuple[Any, Lengths]]:
    G.rows(weight)
    return ((node, single_source_bellman_ford_path_length(G, node, weight)) for node in G)


@_has(Cost.ALL_PAIRS, _weight_is_name)
def all_pairs_bellman_ford_path(
    G: Graph, weight: Any = "weight"
) -> Iterator[tuple[Any, Paths]]:
    G.rows(weight)
    return ((node, single_source_bellman_ford_path(G, node, weight)) for node in G)


@_has(Cost.WEIGHTED_PATHS, _weight_is_name)
def bellman_ford_predecessor_and_distance(
    G: Graph,
    source: Node,
    target: Any = None,
    weight: Any = "weight",
    heuristic: bool = False,
) -> tuple[dict[Any, list[Any]], Lengths]:
    number = _number(G, source, f"Node {source} is not found in the graph")
    rows = G.rows(weight)
    if rows.has_negative_loop():
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    if len(G) == 1:
        return {source: []}, {source: 0}
    lengths, before = _signed(rows.signed_predecessors(number, bool(heuristic)))
    return before, lengths


@_has(Cost.WEIGHTED, _weight_is_name)
def negative_edge_cycle(G: Graph, weight: Any = "weight", heuristic: bool = True) -> bool:
    return G.number_of_edges() != 0 and G.rows(weight).has_negative_cycle(bool(heuristic))


# Breadth-first searches, descendants and ancestors.


def _search_check(G: Any, reverse: bool, sort_neighbors: Any) -> Answer:
    if sort_neighbors is not None:
        return "sort_neighbors is Python"
    return _is_undirected(G) if reverse else True


def _unsorted(sort_neighbors: Any) -> Answer:
    return True if sort_neighbors is None else "sort_neighbors is Python"


def _start(G: Graph, source: Node) -> int:
    # What has no hash is a TypeError, as of a look into the rows.
    number = G.index.get(source)
    if number is None:
        # As the neighbours of a node that is none.
        raise nx.NetworkXError(f"The node {source} is not in the {_kind(G)}.")
    return number


def _kind(G: Graph) -> str:
    return "digraph" if G.is_directed() else "graph"


@_has(Cost.SEARCH, _search_check)
def bfs_edges(
    G: Graph,
    source: Node,
    reverse: bool = False,
    depth_limit: int | None = None,
    sort_neighbors: Any = None,
) -> Iterator[tuple[Any, Any]]:
    yield from G.any.bfs_edges(_start(G, source), depth_limit)


@_has(Cost.SEARCH, _search_check)
def bfs_tree(
    G: Graph,
    source: Node,
    reverse: bool = False,
    depth_limit: int | None = None,
    sort_neighbors: Any = None,
) -> Any:
    tree: Any = nx.DiGraph()
    parts = tree._node, tree._succ, tree._pred
    G.any.bfs_tree_into(_start(G, source), depth_limit, parts)
    return tree


@_has(Cost.SEARCH_OF_OTHERS, _unsorted)
def bfs_predecessors(
    G: Graph, source: Node, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    yield from G.any.bfs_edges(_start(G, source), depth_limit, True)


@_has(Cost.SEARCH_OF_OTHERS, _unsorted)
def bfs_successors(
    G: Graph, source: Node, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, list[Any]]]:
    yield from G.any.bfs_successors(_start(G, source), depth_limit)


@_has(Cost.SEARCH)
def bfs_layers(G: Graph, sources: Any) -> Iterator[list[Any]]:
    if sources in G:
        sources = [sources]
    numbers = []
    for source in list(set(sources)):
        number = G.number(source)
        if number is None:
            raise nx.NetworkXError(f"The node {source} is not in the graph.")
        numbers.append(number)
    yield from G.any.layers(numbers)


@_has(Cost.SEARCH)
def descendants_at_distance(G: Graph, source: Node, distance: int) -> set[Any]:
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    is_near = isinstance(distance, (int, float)) and abs(distance) < 1 << 32
    layers = G.any.layers([G.index[source]], distance if is_near else None)
    found = [layer for at, layer in enumerate(layers) if at == distance]
    return set(found[0]) if found else set()


@_has(Cost.SEARCH_OF_OTHERS)
def descendants(G: Graph, source: Node) -> set[Any]:
    return G.any.reached(_start(G, source))


@_has(Cost.SEARCH_OF_OTHERS)
def ancestors(G: Graph, source: Node) -> set[Any]:
    return G.any.reached(_start(G, source), reverse=True)


@_has(Cost.DEGREES)
def is_directed_acyclic_graph(G: Graph) -> bool:
    return G.is_directed() and G.any.generations()[1] == len(G)


# Components.


_NULL = "Connectivity is undefined for the null graph."


@_has(Cost.COMPONENTS)
@not_implemented_for("directed")
def connected_components(G: Graph) -> Iterator[set[Any]]:
    yield from G.any.components()


@_has(Cost.COUNT)
@not_implemented_for("directed")
def number_connected_components(G: Graph) -> int:
    return G.any.component_count()


@_has(Cost.COUNT)
@not_implemented_for("directed")
def is_connected(G: Graph) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept(_NULL)
    return G.any.reached_count(0) == len(G)


@_has(Cost.SEARCH)
@not_implemented_for("directed")
def node_connected_component(G: Graph, n: Node) -> set[Any]:
    return G.any.reached(G.index[n], is_strict=False)


@_has(Cost.WEAK)
@not_implemented_for("undirected")
def weakly_connected_components(G: Graph) -> Iterator[set[Any]]:
    yield from G.any.components()


@_has(Cost.WEAK_COUNT)
@not_implemented_for("undirected")
def number_weakly_connected_components(G: Graph) -> int:
    return G.any.component_count()


@_has(Cost.WEAK_COUNT)
@not_implemented_for("undirected")
def is_weakly_connected(G: Graph) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept(_NULL)
    return G.any.component_count() == 1


@_has(Cost.STRONG_SETS)
@not_implemented_for("undirected")
def strongly_connected_components(G: Graph) -> Iterator[set[Any]]:
    yield from G.any.strong_components()


@_has(Cost.STRONG)
@not_implemented_for("undirected")
def number_strongly_connected_components(G: Graph) -> int:
    return G.any.strong_component_count()


@_has(Cost.STRONG)
@not_implemented_for("undirected")
def is_strongly_connected(G: Graph) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept(_NULL)
    return G.any.strong_component_count() == 1


@_has(Cost.DEGREES)
def isolates(G: Graph) -> Iterator[Any]:
    degrees = _total_degrees(G)
    return (node for node, degree in zip(G, degrees) if degree == 0)


@_has(Cost.DEGREES)
def number_of_isolates(G: Graph) -> int:
    return _total_degrees(G).count(0)


@_has(Cost.LOCAL)
def is_isolate(G: Graph, n: Node) -> bool:
    return bool(G.source.degree(n) == 0)


def _total_degrees(G: Graph) -> list[int]:
    outgoing = G.any.degrees(False)
    if not G.is_directed():
        return outgoing
    return [a + b for a, b in zip(outgoing, G.any.degrees(True))]


# Cores, triangles, colours, communities, trees.


@_has(Cost.CORES)
@not_implemented_for("multigraph")
def core_number(G: Graph) -> dict[Any, int]:
    if G.any.loops() > 0:
        text = (
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
        raise nx.NetworkXNotImplemented(text)
    return G.any.core_numbers()


def _core_subgraph(
    G: Graph, is_kept: Callable[[Any, Any, Any], bool], k: Any, core: Any
) -> Any:
    core = _core_numbers(G) if core is None else core
    k = max(core.values()) if k is None else k
    return _induced(G, [v for v in core if is_kept(v, k, core)])


def _induced(G: Graph, nodes: list[Any]) -> Any:
    """A copy of the part of a graph with these nodes, in the order that NetworkX copies them."""
    source = G.source
    view = source.subgraph(nodes)
    if not _is_plain_graph(source):
        return view.copy()
    made, index = source.__class__(), G.index
    made.graph.update(source.graph)
    order = [index[node] for node in view._node]
    parts = (source._node, source._adj), (made._node, made._adj)
    G.any.induced_into(order, *parts)
    return made


def _core_numbers(G: Graph) -> dict[Any, int]:
    found: dict[Any, int] = core_number(G)
    return found


@_has(Cost.SUBGRAPH)
@not_implemented_for("multigraph")
def k_core(G: Graph, k: int | None = None, core_number: Any = None) -> Any:
    return _core_subgraph(G, lambda v, k, core: core[v] >= k, k, core_number)


@_has(Cost.SUBGRAPH)
@not_implemented_for("multigraph")
def k_shell(G: Graph, k: int | None = None, core_number: Any = None) -> Any:
    return _core_subgraph(G, lambda v, k, core: core[v] == k, k, core_number)


@_has(Cost.SUBGRAPH)
@not_implemented_for("multigraph")
def k_crust(G: Graph, k: int | None = None, core_number: Any = None) -> Any:
    core = _core_numbers(G) if core_number is None else core_number
    k = max(core.values()) - 1 if k is None else k
    return _induced(G, [v for v in core if core[v] <= k])


@_has(Cost.SUBGRAPH)
@not_implemented_for("multigraph")
def k_corona(G: Graph, k: int, core_number: Any = None) -> Any:
    source = G.source

    def is_kept(v: Any, k: int, core: Any) -> bool:
        return core[v] == k and k == sum(1 for w in source[v] if core[w] >= k)

    return _core_subgraph(G, is_kept, k, core_number)


@_has(Cost.TRIANGLES, _is_simple)
@not_implemented_for("directed")
def triangles(G: Graph, nodes: Any = None) -> Any:
    return _chosen(G, G.any.triangles(), nodes)


def _chosen(G: Graph, values: dict[Any, Any], nodes: Any) -> Any:
    """The value of a node, or those of some nodes, as NetworkX tells them apart."""
    if nodes is None:
        return values
    if nodes in G:
        return values[nodes]
    return {node: values[node] for node in G.source.nbunch_iter(nodes)}


def _clustering_check(G: Any, weight: Any) -> Answer:
    if G.is_directed():
        return "a directed graph"
    if G.is_multigraph():
        return "a multigraph"
    return _is_plain(weight)


@_has(Cost.CLUSTERING, _clustering_check)
def clustering(G: Graph, nodes: Any = None, weight: Any = None) -> Any:
    return _chosen(G, G.any.clustering(), nodes)


@_has(Cost.CLUSTERING, _clustering_check)
def average_clustering(
    G: Graph, nodes: Any = None, weight: Any = None, count_zeros: bool = True
) -> float:
    values = G.any.clustering_values() if nodes is None else list(clustering(G, nodes).values())
    if not count_zeros:
        values = [value for value in values if abs(value) > 0]
    return sum(values) / len(values)


def _transitivity_check(G: Any) -> Answer:
    return _clustering_check(G, None)


@_has(Cost.CLUSTERING, _transitivity_check)
def transitivity(G: Graph) -> float:
    triangles, pairs = G.any.triads()
    return 0 if triangles == 0 else triangles / pairs


def _colour_check(G: Any, strategy: Any, interchange: bool) -> Answer:
    if strategy != "largest_first" or interchange:
        return "only the strategy largest_first without interchange"
    return _is_undirected(G) if G.is_directed() else _is_simple(G)


@_has(Cost.COLOURS, _colour_check)
def greedy_color(
    G: Graph, strategy: Any = "largest_first", interchange: bool = False
) -> dict[Any, int]:
    return G.any.largest_first()


@_has(Cost.COMMUNITIES, _is_simple)
@not_implemented_for("directed")
def label_propagation_communities(G: Graph) -> Iterable[set[Any]]:
    return G.any.propagated().values()


def _tree_check(G: Any, weight: Any, algorithm: Any) -> Answer:
    if algorithm != "kruskal":
        return f"the algorithm {algorithm}"
    return "a multigraph" if G.is_multigraph() else _weight_is_name(weight)


def _spanning(G: Graph, minimum: bool, weight: Any, data: bool) -> Iterator[Any]:
    rows, neighbours = G.rows(weight), G.source._adj
    if data and _is_plain_graph(G.source):
        return iter(rows.spanning_data(minimum, neighbours))
    edges = rows.spanning(minimum)
    if not data:
        return iter(edges)
    return ((u, v, neighbours[u][v]) for u, v in edges)


@_has(Cost.SORTED, _tree_check)
@not_implemented_for("directed")
def minimum_spanning_edges(
    G: Graph,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[Any]:
    return _spanning(G, True, weight, data)


@_has(Cost.SORTED, _tree_check)
@not_implemented_for("directed")
def maximum_spanning_edges(
    G: Graph,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[Any]:
    return _spanning(G, False, weight, data)


def _is_plain_graph(graph: Any) -> bool:
    """Whether a graph has the dictionaries of the class `Graph`, rather than views or others."""
    kind = type(graph)
    return kind is nx.Graph and type(graph._node) is type(graph._adj) is dict


def _tree(G: Graph, minimum: bool, weight: Any) -> Any:
    source = G.source
    tree = source.__class__()
    tree.graph.update(source.graph)
    if _is_plain_graph(source):
        parts = source._node, source._adj
        # As `add_edges_from` leaves them, without its checks of each edge.
        G.rows(weight).spanning_into(minimum, parts, (tree._node, tree._adj))
        return tree
    edges = _spanning(G, minimum, weight, True)
    with _no_collection():
        tree.add_nodes_from(source.nodes.items())
        tree.add_edges_from(edges)
    return tree


@contextmanager
def _no_collection() -> Iterator[None]:
    """Makes many objects, none of them garbage, without the collector's walks over all others."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@_has(Cost.SORTED, _tree_check)
@not_implemented_for("directed")
def minimum_spanning_tree(
    G: Graph, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    return _tree(G, True, weight)


@_has(Cost.SORTED, _tree_check)
@not_implemented_for("directed")
def maximum_spanning_tree(
    G: Graph, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    return _tree(G, False, weight)


@_has(Cost.WEAK_COUNT)
def is_forest(G: Graph) -> bool:
    nodes = len(G)
    if nodes == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    # Each component has at least an edge less than nodes; there are parallel edges and loops.
    return nodes - G.any.component_count() == G.number_of_edges()


# NetworkX counts edges first, and asks about components of none but graphs with as many as a tree.
@_has(Cost.LOCAL)
def is_tree(G: Graph) -> bool:
    nodes = len(G)
    if nodes == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    return nodes - 1 == G.number_of_edges() and G.any.component_count() == 1


@_has(Cost.LOCAL)
@not_implemented_for("undirected")
def is_arborescence(G: Graph) -> bool:
    return is_tree(G) and max(G.any.degrees(True)) <= 1


@_has(Cost.WEAK_COUNT)
@not_implemented_for("undirected")
def is_branching(G: Graph) -> bool:
    return is_forest(G) and max(G.any.degrees(True)) <= 1


@_has(Cost.INDEPENDENT)
@not_implemented_for("directed")
@py_random_state("seed")
def maximal_independent_set(G: Graph, nodes: Any = None, seed: Any = None) -> list[Any]:
    everyone = list(G)
    first = set(nodes) if nodes else {seed.choice(everyone)}
    if not first.issubset(G):
        raise nx.NetworkXUnfeasible(f"{first} is not a subset of the nodes of G")
    near = {neighbour for node in first for neighbour in G.source._adj[node]}
    if near & first:
        raise nx.NetworkXUnfeasible(f"{first} is not an independent set of G")
    # A set of nodes has its order from how it was made: as in NetworkX, so that a seed has the same
    # result.
    return list(first) + G.any.independent(set(everyone), near | first, seed.choice)


# Centralities and distances.


@_has(Cost.DEGREES, _is_simple)
def degree_centrality(G: Graph) -> dict[Any, float]:
    return _degree_shares(G, _total_degrees(G))


@_has(Cost.DEGREES, _is_simple)
@not_implemented_for("undirected")
def in_degree_centrality(G: Graph) -> dict[Any, float]:
    return _degree_shares(G, G.any.degrees(True))


@_has(Cost.DEGREES, _is_simple)
@not_implemented_for("undirected")
def out_degree_centrality(G: Graph) -> dict[Any, float]:
    return _degree_shares(G, G.any.degrees(False))


def _degree_shares(G: Graph, degrees: list[int]) -> dict[Any, float]:
    if len(G) <= 1:
        return dict.fromkeys(G, 1)
    scale = 1.0 / (len(G) - 1.0)
    return {node: degree * scale for node, degree in zip(G, degrees)}


def _no_distance(distance: Any) -> Answer:
    return "distances" if distance is not None else True


@_has(Cost.ALL_PAIRS, _no_distance)
def closeness_centrality(
    G: Graph, u: Any = None, distance: Any = None, wf_improved: bool = True
) -> Any:
    if u is None:
        return G.any.closeness(None, bool(wf_improved))
    number = _number(G, u, f"Source {u} is not in G")
    return G.any.closeness([number], bool(wf_improved))[u]


@_has(Cost.ALL_PAIRS, _no_distance)
def harmonic_centrality(
    G: Graph, nbunch: Any = None, distance: Any = None, sources: Any = None
) -> dict[Any, float]:
    source = G.source
    wanted = set(source.nbunch_iter(nbunch) if nbunch is not None else source.nodes)
    starts = set(source.nbunch_iter(sources) if sources is not None else source.nodes)
    # Sums start in the order of these sets, as in NetworkX, so that they round alike.
    centrality: dict[Any, float] = dict.fromkeys(wanted, 0)
    index, is_transposed = G.index, len(wanted) < len(starts)
    if is_transposed:
        wanted, starts = starts, wanted
    found = G.any.harmonic([index[v] for v in starts], [index[v] for v in wanted], is_transposed)
    for node in centrality:
        centrality[node] = found[node]
    return centrality


def _betweenness_check(G: Any, weight: Any) -> Answer:
    return "a multigraph" if G.is_multigraph() else _weight_is_name(weight)


def _of_sample(
    G: Graph, k: int | None, weight: Any, seed: Any, ask: Callable[[list[int] | None], Any]
) -> tuple[list[Any] | None, Any]:
    """Draws `k` nodes and asks for the values of their paths; nothing is drawn for `None`."""
    if k is None:
        return None, ask(None)
    # What is refused along weights is left to NetworkX, which draws then: a copy draws before it.
    drawing = seed if weight is None else copy.deepcopy(seed)
    sampled = list(drawing.sample(list(G), k))
    values = ask([G.index[node] for node in sampled])
    if drawing is not seed:
        seed.sample(list(G), k)
    return sampled, values


@_has(Cost.ALL_PAIRS, _betweenness_check)
@py_random_state("seed")
def betweenness_centrality(
    G: Graph,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    nodes = len(G)
    k = None if k == nodes else k
    rows = G.rows(weight)
    if weight is not None and rows.weight_min() < 0:
        raise NotImplementedError("seawall: a weight is negative")
    sampled, values = _of_sample(
        G, k, weight, seed, lambda starts: rows.betweenness(starts, weight is not None, bool(endpoints))
    )
    others = nodes if endpoints else nodes - 1
    if others < 2:
        return values
    starts_count = others if k is None else k
    if k is None or endpoints:
        if normalized:
            scale = 1 / (starts_count * (others - 1))
        else:
            scale = others / (starts_count * (1 if G.is_directed() else 2))
        return values if scale == 1 else {node: v * scale for node, v in values.items()}
    if normalized:
        near = 1 / ((starts_count - 1) * (others - 1)) if starts_count > 1 else math.nan
        far = 1 / (starts_count * (others - 1))
    else:
        half = 1 if G.is_directed() else 2
        near = others / ((starts_count - 1) * half) if starts_count > 1 else math.nan
        far = others / (starts_count * half)
    chosen = set(sampled or ())
    return {node: v * (near if node in chosen else far) for node, v in values.items()}


@_has(Cost.ALL_PAIRS, _betweenness_check)
@py_random_state("seed")
def edge_betweenness_centrality(
    G: Graph,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    seed: Any = None,
) -> dict[Any, float]:
    nodes = len(G)
    rows = G.rows(weight)
    if weight is not None and rows.weight_min() < 0:
        raise NotImplementedError("seawall: a weight is negative")
    _, values = _of_sample(
        G, k, weight, seed, lambda starts: rows.edge_betweenness(starts, weight is not None)
    )
    if nodes < 2:
        return values
    starts_count = nodes if k is None else k
    if normalized:
        scale = 1 / (starts_count * (nodes - 1))
    else:
        scale = nodes / (starts_count * (1 if G.is_directed() else 2))
    return values if scale == 1 else {edge: v * scale for edge, v in values.items()}


def _is_mirrored(rows: Any) -> bool:
    """Whether both entries of every edge have one weight; NetworkX takes that of one of them."""
    import numpy as np

    offsets, ends, weights = rows.arrays()
    starts = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    orders = np.lexsort((ends, starts)), np.lexsort((starts, ends))
    return weights is None or np.array_equal(*(weights[order] for order in orders))


@_has(Cost.RANKS, _is_simple)
def pagerank(
    G: Graph,
    alpha: float = 0.85,
    personalization: Any = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: Any = None,
    weight: Any = "weight",
    dangling: Any = None,
) -> dict[Any, float]:
    import numpy as np

    nodes = len(G)
    if nodes == 0:
        return {}
    names = list(G)
    rows = G.rows(weight)
    if isinstance(G.source._adj, UnionAdjacency) and not _is_mirrored(rows):
        raise NotImplementedError("seawall: a view without directions, with two weights of an edge")

    def given(values: Any) -> Any:
        return np.array([values.get(name, 0) for name in names], dtype=float)

    if nstart is None:
        ranks = np.repeat(1.0 / nodes, nodes)
    else:
        ranks = given(nstart)
        ranks /= ranks.sum()
    if personalization is None:
        start = np.repeat(1.0 / nodes, nodes)
    else:
        start = given(personalization)
        if start.sum() == 0:
            raise ZeroDivisionError
        start /= start.sum()
    if dangling is None:
        spread = start
    else:
        spread = given(dangling)
        spread /= spread.sum()
    lost = rows.dangling()
    for _ in range(max_iter):
        last = ranks
        ranks = alpha * (rows.walk(last) + sum(last[lost]) * spread) + (1 - alpha) * start
        if np.absolute(ranks - last).sum() < nodes * tol:
            return dict(zip(names, ranks.tolist()))
    raise nx.PowerIterationFailedConvergence(max_iter)


def _plain_eccentricity(G: Any, sp: Any, weight: Any) -> Answer:
    return "lengths that are given" if sp is not None else _is_plain(weight)


@_has(Cost.FARTHEST, _plain_eccentricity)
def eccentricity(G: Graph, v: Any = None, sp: Any = None, weight: Any = None) -> Any:
    nodes = list(G.source.nbunch_iter(v))
    largest = G.any.eccentricities([G.index[node] for node in nodes])
    if largest is None:
        if G.is_directed():
            text = (
                "Found infinite path length because the digraph is not strongly connected"
            )
        else:
            text = "Found infinite path length because the graph is not connected"
        raise nx.NetworkXError(text)
    values = dict(zip(nodes, largest))
    return values[v] if v in G else values


def _extrema_check(e: Any, usebounds: bool, weight: Any) -> Answer:
    if usebounds or e is not None:
        return "bounds, or eccentricities that are given"
    return _is_plain(weight)


@_has(Cost.FARTHEST, _extrema_check)
def diameter(G: Graph, e: Any = None, usebounds: bool = False, weight: Any = None) -> int:
    return max(eccentricity(G).values())


@_has(Cost.FARTHEST, _extrema_check)
def radius(G: Graph, e: Any = None, usebounds: bool = False, weight: Any = None) -> int:
    return min(eccentricity(G).values())


@_has(Cost.FARTHEST, _extrema_check)
def periphery(G: Graph, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    values = eccentricity(G)
    most = max(values.values())
    return [node for node in values if values[node] == most]


def _center_check(G: Any, e: Any, usebounds: bool, weight: Any) -> Answer:
    nodes, edges = G.number_of_nodes(), G.number_of_edges()
    if not G.is_directed() and (nodes == 0 or edges == nodes - 1):
        return "perhaps a tree, which NetworkX peels"
    return _extrema_check(e, usebounds, weight)


@_has(Cost.FARTHEST, _center_check)
def center(G: Graph, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    values = eccentricity(G)
    least = min(values.values())
    return [node for node in values if values[node] == least]


if missing := FUNCTIONS.keys() - _RULES.keys():
    raise ImportError(f"nx_seawall.FUNCTIONS has names without functions: {sorted(missing)}")
