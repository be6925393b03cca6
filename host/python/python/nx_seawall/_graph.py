"""A graph of NetworkX with its conversions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from seawall._seawall import NxGraph

#: Stands for weights that were not asked for.
_PLAIN = (None, 1)


def _key_of(attribute: Any, default: Any) -> tuple[Any, Any]:
    return _PLAIN if attribute is None else (attribute, default)


def _unmade() -> Graph:
    return Graph.__new__(Graph)


class Graph:
    """A converted graph.

    It refers to the graph that it was made of: NetworkX drops conversions that it caches when a
    graph changes, and functions that return nodes, edges or graphs with attributes take these
    from there.
    """

    __networkx_backend__ = "seawall"

    # NetworkX keeps a conversion with each graph. The fewer objects the collector has to walk over,
    # the later it walks over all: a dictionary of conversions is made for the second one.
    __slots__ = ("__weakref__", "_any", "_key", "_others", "source")

    def __init__(self, source: Any, attribute: Any = None, default: Any = 1) -> None:
        self.source = source
        self._key = _key_of(attribute, default)
        self._any: NxGraph | None = NxGraph.from_networkx(source, *self._key)
        self._others: dict[tuple[Any, ...], NxGraph] | None = None

    def __setstate__(self, state: tuple[Any, tuple[Any, Any]]) -> None:
        self.source, self._key = state
        self._any = self._others = None

    def __reduce__(self) -> tuple[Any, ...]:
        # Who copies or pickles a graph of NetworkX does so with its conversions. The copy of the
        # graph is not whole yet then, so that theirs is converted when it is asked for.
        return _unmade, (), (self.source, self._key)

    def rows(self, attribute: Any = None, default: Any = 1) -> NxGraph:
        """Returns the rows, with the weights of an attribute."""
        key = _key_of(attribute, default)
        return self.any if key == self._key else self._other(key, False)

    def backward(self, attribute: Any = None, default: Any = 1) -> NxGraph:
        """Returns the rows of the reversed edges, in the order that NetworkX has them."""
        if not self.is_directed():
            return self.rows(attribute, default)
        return self._other(_key_of(attribute, default), True)

    def turned(self, attribute: Any = None, default: Any = 1) -> Graph:
        """Returns the graph of the reversed edges, with the weights of an attribute."""
        if not self.is_directed():
            return self
        turned = _unmade()
        turned.source = self.source.reverse(copy=False)
        turned._key = _key_of(attribute, default)
        turned._any, turned._others = self.backward(attribute, default), None
        return turned

    def _other(self, key: tuple[Any, Any], is_reversed: bool) -> NxGraph:
        if self._others is None:
            self._others = {}
        others = self._others
        place = (*key, is_reversed)
        if place not in others:
            source = self.source.reverse(copy=False) if is_reversed else self.source
            others[place] = NxGraph.from_networkx(source, *key)
        return others[place]

    @property
    def any(self) -> NxGraph:
        """The rows, with whatever weights."""
        if self._any is None:
            self._any = NxGraph.from_networkx(self.source, *self._key)
        return self._any

    @property
    def graph(self) -> dict[Any, Any]:
        """The attributes of the graph."""
        attributes: dict[Any, Any] = self.source.graph
        return attributes

    @property
    def index(self) -> dict[Any, int]:
        """Number of each node."""
        return self.any.index

    def number(self, node: Any) -> int | None:
        """Returns the number of a node, None for what is no node."""
        try:
            return self.index.get(node)
        except TypeError:
            return None

    def is_directed(self) -> bool:
        return self.any.is_directed

    def is_multigraph(self) -> bool:
        return bool(self.source.is_multigraph())

    def number_of_nodes(self) -> int:
        return len(self.any)

    def number_of_edges(self) -> int:
        return int(self.source.number_of_edges())

    def __len__(self) -> int:
        return len(self.any)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.any.nodes)

    def __contains__(self, node: Any) -> bool:
        return self.number(node) is not None
