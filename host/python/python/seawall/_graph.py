"""The class `Graph`: every analysis is a method."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _seawall
from ._edges import collect, refuse, unmasked, weights_of
from ._errors import GraphError
from ._progress import Line, Progress

if TYPE_CHECKING:
    import networkx
    import numpy.typing as npt
    import pandas

    Array = npt.NDArray[Any]
    Ints = npt.NDArray[np.signedinteger[Any]]
    Floats = npt.NDArray[np.float32]
    Bools = npt.NDArray[np.bool_]

__all__ = [
    "BfsTree",
    "Column",
    "Communities",
    "Components",
    "Forest",
    "Graph",
    "Ranks",
    "RunReport",
    "Session",
    "analyses",
]

#: What marks a node in 32 bits that no source reaches.
_UNREACHED = 2**32 - 1

#: An analysis without sources.
_NO_SOURCES: Any = object()


class Column(np.ndarray[Any, np.dtype[Any]]):
    """An array of results, which is also a column of Arrow and a tensor of DLPack without a copy.

    >>> import pyarrow, seawall
    >>> levels = seawall.Graph.from_edges([(0, 1), (1, 2)]).bfs(0)
    >>> pyarrow.array(levels).to_pylist()
    [0, 1, 2]
    """

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Returns the capsules of Arrow's C data interface; conditions are copied into bits."""
        array = np.ascontiguousarray(self).view(np.ndarray)
        if array.dtype == bool:
            return _seawall.arrow_array(np.packbits(array, bitorder="little"), len(array))
        return _seawall.arrow_array(array, None)

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))


class Components(NamedTuple):
    """Components of a graph."""

    #: Number of components.
    count: int  # type: ignore[assignment]
    #: The smallest node of the component of each node.
    labels: Ints


class BfsTree(NamedTuple):
    """Levels and parents of a breadth-first search."""

    #: Level of each node, -1 where no source reaches it.
    levels: Ints
    #: The smallest node on the previous level with an edge to each; a source is its own parent,
    #: -1 where no source reaches a node.
    parents: Ints


class Ranks(NamedTuple):
    """A ranking."""

    #: Rank of each node, all of them 1 in total.
    ranks: Floats
    #: Iterations that ran.
    iterations: int
    #: Whether the last iteration changed less than the tolerance.
    converged: bool


class Communities(NamedTuple):
    """Communities of a graph."""

    #: Number of communities.
    count: int  # type: ignore[assignment]
    #: Label of each node, a node.
    labels: Ints
    #: Iterations that ran.
    iterations: int
    #: Whether the last iteration changed nothing.
    converged: bool


class Forest(NamedTuple):
    """A minimum spanning forest."""

    #: Ends of its edges, the smaller one first: an array of two columns.
    edges: Ints
    #: Sum of their weights.
    weight: float


class RunReport(NamedTuple):
    """What the last question to a graph took, and where it ran."""

    analysis: str
    #: ``cpu``, ``mega``, ``launches`` or ``graph``.
    machine: str
    #: Why this machine, where it was left open.
    reason: str | None
    device: str
    #: Devices that shared the question.
    devices: int
    #: Rounds of the search, or iterations.
    rounds: int
    #: Bytes allocated on the machine.
    bytes: int
    #: Seconds of ``upload``, ``plan``, ``run`` and ``readback``.
    times: dict[str, float]
    #: The answer in numbers.
    answer: dict[str, float]
    #: The GPU from which CPU threads took the run over, if they did.
    taken_over_from: str | None


def analyses() -> list[dict[str, Any]]:
    """Returns name and facts of every analysis.

    >>> import seawall
    >>> seawall.analyses()[0]["name"]
    'bfs'
    """
    return _seawall.analyses()


class Graph:
    """A directed or undirected graph, with or without weights and names.

    It does not change. The first question opens a machine, later ones find the graph there; any
    number of threads may ask. Nodes are numbers from 0, or names where the graph has `names`;
    results are arrays in the order of the nodes. Loops and parallel edges are kept; an analysis
    takes them by its own rule, or as the options `loops` (``keep``, ``drop``) and `parallel`
    (``keep``, ``first``, ``least``, ``greatest``, ``sum``) say.
    """

    __slots__ = ("__weakref__", "_defaults", "_graph", "_last", "_numbers", "names", "stats")

    #: Names of the nodes, or None if they are numbers.
    names: Array | None
    #: What a load found in its file.
    stats: dict[str, Any]

    def __init__(self, graph: _seawall.Graph, names: Array | None = None) -> None:
        self._graph = graph
        self._numbers: dict[Any, int] | None = None
        self._defaults: dict[str, Any] = {}
        self.names = names
        self._last: dict[str, Any] | None = None
        self.stats = {}

    @classmethod
    def from_edges(
        cls,
        edges: Any,
        targets: Any = None,
        *,
        weights: Any = None,
        nodes: int | None = None,
        directed: bool = False,
        source: str | None = None,
        target: str | None = None,
        weight: str | None = None,
        named: bool | None = None,
    ) -> Graph:
        """Builds a graph of edges.

        `edges` is an iterable of pairs (or triples with weights), an array of two or three
        columns, the array of sources beside that of `targets` (a tuple of arrays is refused, since
        each might be a column or an edge), or a table: a data frame of pandas
        or polars, or anything with ``__arrow_c_stream__``. In a table `source`, `target` and
        `weight` name the columns; by default they are ``source``, ``target`` and ``weight``, other
        pairs of known names such as ``from`` and ``to``, or the first two columns.

        Integers are node numbers from 0 to `nodes`; anything else is a name, and `named=True`
        makes integers names, too; None and what is not a number are an error. Weights of 64 bits
        become floats of 32 bits or whole numbers of 32 bits; `rounded_weights` counts those that
        lost digits. An edge that an undirected graph has in both directions, with one weight, is one
        edge; one that it has twice in the same direction is two. Only `distances` and
        `spanning_forest` take negative weights. Edges are copied once.

        >>> import numpy, seawall
        >>> graph = seawall.Graph.from_edges(numpy.array([[0, 1], [1, 2]]), directed=True)
        >>> graph.bfs(0)
        array([0, 1, 2], dtype=int32)
        """
        found = collect(edges, targets, weights, (source, target, weight), named)
        if nodes is not None and not (isinstance(nodes, (int, np.integer)) and 0 <= nodes < 2**32 - 1):
            raise refuse(f"{nodes!r} nodes; give a whole number from 0 to 4294967294", "TooManyNodes")
        if found.names is not None:
            if nodes is not None and nodes != len(found.names):
                raise refuse("the number of nodes follows from their names; leave it out")
            nodes = len(found.names)
        graph = _seawall.Graph.from_edges(
            found.sources, found.targets, found.weights, nodes, not directed
        )
        return cls(graph, found.names)

    @classmethod
    def from_scipy(cls, matrix: Any, *, directed: bool = True, weighted: bool | None = None) -> Graph:
        """Builds a graph of a sparse matrix of SciPy: an entry is an edge from its row.

        By default values are weights unless all are 1. An undirected graph takes the entries of
        either triangle. Rows that ascend are taken in one pass.

        >>> import scipy.sparse, seawall
        >>> matrix = scipy.sparse.csr_array(([1, 1], ([0, 1], [1, 2])), shape=(3, 3))
        >>> seawall.Graph.from_scipy(matrix).nodes
        3
        """
        if not hasattr(matrix, "tocsr"):
            raise refuse(f"a matrix of type {type(matrix).__name__}; give a sparse one of SciPy")
        if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
            raise refuse(f"a matrix of shape {matrix.shape}; give a square one", "Shape")
        matrix = matrix.tocsr()
        rows = matrix.shape[0]
        data = np.asarray(matrix.data)
        if weighted is None:
            weighted = not bool((data == 1).all())
        values = weights_of(data) if weighted else None
        is_signed = values is not None and bool((values < 0).any())
        offsets = np.ascontiguousarray(matrix.indptr)
        targets = np.ascontiguousarray(matrix.indices)
        if directed and rows and not is_signed and matrix.has_canonical_format:
            try:
                return cls(_seawall.Graph.from_csr(offsets, targets, values, False))
            except GraphError:
                # Rows that do not ascend, which the builder of edges sorts.
                pass
        if (np.diff(offsets) < 0).any():
            raise refuse("the offsets of rows descend", "Shape")
        sources = np.repeat(np.arange(rows, dtype=np.int64), np.diff(offsets))
        graph = _seawall.Graph.from_edges(sources, targets, values, rows, not directed)
        return cls(graph)

    @classmethod
    def from_networkx(cls, graph: networkx.Graph[Any], *, weight: str | None = "weight") -> Graph:
        """Builds a graph of one of NetworkX, with its directions and nodes as names.

        Edges have the weights of the attribute `weight`, if any edge has it; edges without it
        have 1. Parallel edges of a multigraph stay.

        >>> import networkx, seawall
        >>> seawall.Graph.from_networkx(networkx.path_graph(4)).eccentricity().tolist()
        [3, 2, 2, 3]
        """
        if not (hasattr(graph, "is_multigraph") and hasattr(graph, "is_directed")):
            raise refuse(f"a graph of NetworkX is needed, not {type(graph).__name__}")
        if callable(weight):
            raise refuse("a weight that is a function; give the name of an attribute")
        if weight is not None:
            has_weight = any(weight in data for _, _, data in graph.edges(data=True))
            weight = weight if has_weight else None
        nodes = list(graph)
        undirected = not graph.is_directed()
        columns = None if graph.is_multigraph() else _rows_of(graph, weight, undirected)
        sources, targets, weights = columns or _listed(graph, nodes, weight)
        names = None
        if any(type(name) is not int or name != at for at, name in enumerate(nodes)):
            names = np.empty(len(nodes), object)
            names[:] = nodes
        made = _seawall.Graph.from_edges(sources, targets, weights, len(nodes), undirected)
        return cls(made, names)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        directed: bool = True,
        weights: str = "given",
        skip_columns: bool = False,
        listed_order: bool = False,
        format: str | None = None,
        named: bool = False,
        source: str | int | None = None,
        target: str | int | None = None,
        weight: str | int | None = None,
        progress: bool | Progress = False,
    ) -> Graph:
        """Loads a file in any format that the command line reads, or a generator (``gen:...``).

        In a table `source`, `target` and `weight` choose columns by name, or by number from 1, and
        others are skipped; `named=True` makes numbers names, too. `format` names the format of a file
        that shows it neither by content nor by name, as the command line does (``el``, ``metis``).
        With `directed=False` every edge counts in both directions. `weights` is ``given``,
        ``unit`` for 1 on every edge, or ``ignored``; generators draw 1 to 64. Names or ids of the file
        are the names of nodes where they are not the numbers from 0. `stats` has what was dropped.
        Parallel edges with weights are in the order of these, or with `listed_order` in that of the
        file, which ``parallel="first"`` needs. `progress` is as of `run`; Ctrl-C ends the load.

        >>> import seawall
        >>> seawall.Graph.load("gen:grid:3x2")
        <seawall.Graph: 6 nodes, 14 edges, undirected, integer weights>
        """
        for column in (source, target, weight):
            is_number = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
            if not (column is None or isinstance(column, str) or is_number and column > 0):
                raise refuse(f"a column {column!r}; give its name, or its number from 1", "Columns")
        choices = {
            "undirected": not directed,
            "weights": weights,
            "skip_columns": skip_columns,
            "listed_order": listed_order,
            "names": named,
            "format": format,
            "source": source,
            "target": target,
            "weight": weight,
        }
        file = os.fsdecode(path)
        with _told(os.path.basename(file), progress) as tell:
            loaded, stats = _seawall.Graph.load(file, choices, tell)
        graph = cls(loaded, loaded.ids())
        graph.stats = stats
        return graph

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self._graph.nodes

    @property
    def edges(self) -> int:
        """Number of directed edges; an undirected one counts twice, but a loop once."""
        return self._graph.edges

    @property
    def loops(self) -> int:
        """Number of edges from a node to itself."""
        return self._graph.loops

    @property
    def parallel_edges(self) -> int:
        """Number of edges beyond the first with the same ends."""
        return self._graph.parallel_edges

    @property
    def directed(self) -> bool:
        """Whether some edge may lack its mirror image."""
        return not self._graph.is_symmetric

    @property
    def weight_kind(self) -> str | None:
        """``"integer"`` or ``"float"``, with ``"signed "`` before it if a weight is negative, or None
        without weights."""
        return self._graph.weight_kind

    @property
    def rounded_weights(self) -> int:
        """Weights that floats of 32 bits do not represent exactly."""
        return self._graph.rounded_weights

    @property
    def memory_bytes(self) -> int:
        """Bytes that the graph takes."""
        return self._graph.memory_bytes

    def arrays(self) -> tuple[Array, Array, Array | None]:
        """Returns copies of offsets, targets and weights, as of compressed sparse rows."""
        return self._graph.arrays()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the graph with its names, such as for the workers of Dask; the machine stays here."""
        return _unpickled, (type(self), self._graph.parts(), self.names, self.stats, self._defaults)

    def session(self, **machine: Any) -> Session:
        """Returns a session with a machine of its own, with `machine` as its default options.

        The options are those of every analysis: `machine` (``auto``, ``cpu``, ``mega``,
        ``launches``, ``graph``), `threads`, `device`, `budget_bytes`, `time_budget` in seconds,
        `jit` (``auto``, ``never``, ``always``: whether waves of code become machine code),
        `takeover` (False leaves a run to the GPU where CPU threads would take it over), and
        `progress`: True for a line on standard error, or a function that is called with the
        phase and the seconds so far.

        >>> import seawall
        >>> graph = seawall.Graph.load("gen:grid:100x1")
        >>> with graph.session(machine="cpu", threads=1) as session:
        ...     [int(session.bfs(node).max()) for node in (0, 50)]
        [99, 50]
        """
        if wrong := machine.keys() - _SESSION_OPTIONS:
            known = ", ".join(sorted(_SESSION_OPTIONS))
            raise refuse(f"no option {min(wrong)!r} of a session; known are {known}", "WrongOption")
        session = Session(self._graph.session(), self.names)
        session._numbers = self._numbers
        session._defaults = {**self._defaults, **machine}
        session.stats = self.stats
        return session

    def close(self) -> None:
        """Gives back what the graph has on its machine; the next question opens one anew."""
        self._graph.close()

    def __len__(self) -> int:
        return self.nodes

    def _facts(self) -> list[str]:
        kind = "directed" if self.directed else "undirected"
        weights = f"{self.weight_kind} weights" if self.weight_kind else "no weights"
        return [f"{self.nodes:,} nodes", f"{self.edges:,} edges", kind, weights]

    def __repr__(self) -> str:
        return f"<seawall.{type(self).__name__}: {', '.join(self._facts())}>"

    def _repr_html_(self) -> str:
        from html import escape

        rows = [("nodes", f"{self.nodes:,}"), ("edges", f"{self.edges:,}")]
        rows += [("kind", self._facts()[2]), ("weights", self.weight_kind or "none")]
        rows += [("memory", f"{self.memory_bytes / 1e6:,.1f} MB")]
        if self.names is not None and len(self.names):
            some = ", ".join(str(name) for name in self.names[:3])
            rows += [("names", some + (", …" if self.nodes > 3 else ""))]
        if self.last_run is not None:
            seconds = self.last_run.times["run"]
            text = f"{self.last_run.analysis} on {self.last_run.device}, {seconds * 1e3:.3g} ms"
            rows += [("last run", text)]
        cells = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(text)}</td></tr>"
            for name, text in rows
        )
        return f"<table><caption>{type(self).__name__}</caption>{cells}</table>"

    def to_dict(self, values: Array) -> dict[Any, Any]:
        """Returns values of nodes by the names of the nodes.

        >>> import seawall
        >>> graph = seawall.Graph.from_edges([("x", "y")])
        >>> graph.to_dict(graph.core_numbers())
        {'x': 1, 'y': 1}
        """
        if len(values) != self.nodes:
            raise refuse(f"{len(values)} values for {self.nodes} nodes", "Lengths")
        names = range(self.nodes) if self.names is None else self.names.tolist()
        return dict(zip(names, values.tolist()))

    def frame(self, **columns: Array) -> pandas.DataFrame:
        """Returns a data frame of pandas with values of nodes, indexed by name."""
        import pandas

        index = pandas.RangeIndex(self.nodes) if self.names is None else pandas.Index(self.names)
        return pandas.DataFrame(columns, index=index.rename("node"))

    def number(self, node: Any) -> int:
        """Returns the number of a node by its name.

        >>> import seawall
        >>> seawall.Graph.from_edges([("x", "y")]).number("y")
        1
        """
        if self.names is None:
            try:
                number = int(node)
                if number == node and 0 <= number < self.nodes:
                    return number
            except (TypeError, ValueError, OverflowError):
                pass
            raise refuse(f"no node {node!r}: there are {self.nodes}, from 0", "NoSuchSource")
        try:
            return self._known()[node.item() if isinstance(node, np.generic) else node]
        except (KeyError, TypeError):
            raise refuse(f"no node is named {node!r}", "NoSuchSource") from None

    def _known(self) -> dict[Any, int]:
        """The number of each name."""
        if self._numbers is None:
            names = [] if self.names is None else self.names.tolist()
            self._numbers = dict(zip(names, range(len(names))))
        return self._numbers

    def _sources(self, sources: Any) -> npt.NDArray[np.uint32]:
        if type(sources) is int and self.names is None and 0 <= sources < self._graph.nodes:
            return np.array([sources], np.uint32)
        if sources is None:
            raise refuse("no sources; give one or several nodes", "NoSource")
        sources = _flat(sources)
        if self.names is None and isinstance(sources, np.ndarray) and sources.dtype.kind in "iu":
            if len(sources) and not (sources.min() >= 0 and sources.max() < self.nodes):
                wrong = sources[(sources < 0) | (sources >= self.nodes)][0]
                raise refuse(f"no node {wrong}: there are {self.nodes}, from 0", "NoSuchSource")
            return sources.astype(np.uint32)
        many = list(sources) if self._are_many(sources) else [sources]
        if self.names is None and any(isinstance(node, (bool, np.bool_)) for node in many):
            raise refuse(_MASK)
        return np.array([self.number(node) for node in many], np.uint32)

    def _are_many(self, sources: Any) -> bool:
        """Whether these are several sources: tuples and frozen sets may be names, too."""
        if not isinstance(sources, Iterable) or isinstance(sources, (str, bytes)):
            return False
        if self.names is None:
            return True
        try:
            is_name = sources in self._known()
        except TypeError:
            return True
        return not is_name and isinstance(sources, (frozenset, range))

    def run(self, analysis: str, sources: Any = _NO_SOURCES, **options: Any) -> dict[str, Any]:
        """Runs an analysis by its name, and returns all that is known of the run.

        ``values`` are those of the library: `2**32 - 1` marks nodes that no source reaches.

        `plot` is the path of a picture of the nodes counted by their values, `draw` of one of the
        graph in the colours of its values, up to 4096 nodes, both ``.svg`` or ``.png``; `page` is
        that of a page of HTML with answer, times and plan. Every analysis takes them.

        >>> import seawall, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> graph = seawall.Graph.from_edges([("ann", "bob"), ("bob", "cleo")])
        >>> ranks = graph.pagerank(draw=folder + "/calls.png", page=folder + "/calls.html")

        `devices` are several GPUs for one question, by number, or ``"all"``, which takes one where
        that is faster; with `machine` ``"cpu"`` as many devices are simulated.

        >>> import seawall
        >>> graph = seawall.Graph.load("gen:grid:50")
        >>> found = graph.run("bfs", 0, machine="cpu", devices=[0, 1, 2])
        >>> found["devices"], int(found["values"].max())
        (3, 98)
        """
        numbers = np.empty(0, np.uint32) if sources is _NO_SOURCES else self._sources(sources)
        return self._run(analysis, numbers, options)

    def _run(
        self, analysis: str, numbers: npt.NDArray[np.uint32], options: dict[str, Any]
    ) -> dict[str, Any]:
        """Runs an analysis from nodes by their numbers."""
        chosen, progress = self._chosen(options, _OPTIONS)
        if "draw" in chosen and self.names is not None and self.nodes <= _NAMED_MAX:
            chosen["names"] = [str(name) for name in self.names]
        with _told(analysis, progress) as tell:
            found = self._graph.run(analysis, numbers, chosen, tell)
        found["values"] = found["values"].view(Column)
        if found["parents"] is not None:
            found["parents"] = found["parents"].view(Column)
        # Without the columns, which may be large.
        self._last = {name: found[name] for name in _REPORTED}
        return found

    @property
    def last_run(self) -> RunReport | None:
        """What the last question took, and where it ran."""
        return None if self._last is None else RunReport(**self._last)

    def _run_program(
        self, text: str, inputs: list[tuple[str, Array]], options: dict[str, Any]
    ) -> dict[str, Any]:
        chosen, progress = self._chosen(options, _MACHINE_OPTIONS | {"devices"})
        with _told("program", progress) as tell:
            return self._graph.run_program(text, inputs, chosen, tell)

    def _chosen(self, options: dict[str, Any], known: frozenset[str]) -> tuple[dict[str, Any], Any]:
        """The options with their defaults, which those that are None have, and the progress."""
        if not options and not self._defaults:
            return _AUTO, None
        chosen = {**self._defaults, **options}
        if wrong := chosen.keys() - known:
            text = f"no option {min(wrong)!r}; known are {', '.join(sorted(known))}"
            raise refuse(text, "WrongOption")
        progress = chosen.pop("progress", None)
        given = {name: value for name, value in chosen.items() if value is not None}
        return {**_AUTO, **given}, progress

    def _signed(self, values: Array) -> Ints:
        """Numbers below the nodes, -1 for none: the same bits where they fit."""
        if self.nodes < 2**31:
            return values.view(np.int32)
        return np.where(values == _UNREACHED, np.int64(-1), values.astype(np.int64))

    def bfs(self, sources: Any, *, parents: bool = False, **options: Any) -> Any:
        """Returns the level of every node, -1 where no source reaches it, with `parents` a
        `BfsTree`.

        >>> import seawall
        >>> seawall.Graph.from_edges([(0, 1), (1, 2)]).bfs(0, parents=True).parents
        array([0, 0, 1], dtype=int32)
        """
        if not parents:
            return self._signed(self.run("bfs", sources, **options)["values"])
        found = self.run("bfs", sources, detail="parents", **options)
        return BfsTree(self._signed(found["values"]), self._signed(found["parents"]))

    def reach(self, sources: Any, *, each: bool = False, **options: Any) -> Bools:
        """Tells which nodes the sources reach; with `each` a row for every source.

        >>> import seawall
        >>> seawall.Graph.from_edges([(0, 1), (2, 3)]).reach([0, 2], each=True).tolist()
        [[True, True, False, False], [False, False, True, True]]
        """
        if not each:
            return self.run("reach", sources, **options)["values"].astype(bool)
        numbers = self._sources(sources)
        words = self._run("reach", numbers, {"detail": "each", **options})["values"]
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        sets = bits.reshape(self.nodes, -1)[:, : len(numbers)]
        return np.ascontiguousarray(sets.T).astype(bool)

    def distances(self, sources: Any, **options: Any) -> Array:
        """Returns the length of the lightest path to every node: whole numbers of 64 bits, -1
        where no source reaches a node, or floats of 32 bits, infinite there. Where a weight is
        negative, whole distances are `2**63 - 1` there, and a cycle of a negative length that a
        source reaches is an error of the kind ``NegativeCycle``.

        >>> import seawall
        >>> seawall.Graph.from_edges([(0, 1, 5), (1, 2, 2), (0, 2, 9)]).distances(0)
        array([0, 5, 7])
        """
        values: Array = self.run("sssp", sources, **options)["values"]
        return _wide(values)

    def widest(self, sources: Any, **options: Any) -> npt.NDArray[np.float64]:
        """Returns the width of the widest path to every node: the least weight along it; infinite
        at sources, minus infinite where no source reaches a node.

        >>> import seawall
        >>> seawall.Graph.from_edges([(0, 1, 5), (1, 2, 2)]).widest(0)
        array([inf,  5.,  2.])
        """
        values = self.run("widest", sources, **options)["values"]
        wide: npt.NDArray[np.float64] = values.astype(np.float64)
        if values.dtype == np.uint32:
            wide[values == _UNREACHED] = -np.inf
            wide[values == _UNREACHED - 1] = np.inf
        else:
            is_source = np.zeros(self.nodes, bool)
            is_source[self._sources(sources)] = True
            unreached = ~np.isfinite(values) & ~is_source
            wide[unreached] = -np.inf
            wide[is_source] = np.inf
        return wide

    def components(self, **options: Any) -> Components:
        """Returns the connected components, directions ignored.

        >>> import seawall
        >>> seawall.Graph.from_edges([(0, 1), (2, 3)]).components()
        Components(count=2, labels=array([0, 0, 2, 2], dtype=int32))
        """
        found = self.run("cc", **options)
        return Components(found["answer"]["components"], self._signed(found["values"]))

    def strong_components(self, **options: Any) -> Components:
        """Returns the strongly connected components.

        >>> import seawall
        >>> pairs = [(0, 1), (1, 0), (1, 2)]
        >>> seawall.Graph.from_edges(pairs, directed=True).strong_components().count
        2
        """
        found = self.run("scc", **options)
        return Components(found["answer"]["components"], self._signed(found["values"]))

    def pagerank(
        self,
        *,
        damping: float = 0.85,
        tolerance: float = 1e-4,
        max_iterations: int | None = None,
        **options: Any,
    ) -> Ranks:
        """Returns the rank of every node, in floats of 32 bits.

        It ends when the changes of an iteration sum to less than `tolerance`.

        >>> import seawall
        >>> ranks = seawall.Graph.from_edges([(0, 1), (1, 2)]).pagerank().ranks
        >>> int(ranks.argmax())
        1
        """
        chosen = {"damping": damping, "tolerance": tolerance, "max_iterations": max_iterations}
        return self._ranks(self.run("pagerank", **chosen, **options))

    def personalized_pagerank(
        self,
        sources: Any,
        *,
        damping: float = 0.85,
        tolerance: float = 1e-4,
        max_iterations: int | None = None,
        **options: Any,
    ) -> Ranks:
        """Returns the rank of every node for a walker who starts anew at the sources.

        >>> import seawall
        >>> ranks = seawall.Graph.from_edges([(0, 1), (2, 3)]).personalized_pagerank(0).ranks
        >>> ranks[2:].tolist()
        [0.0, 0.0]
        """
        chosen = {"damping": damping, "tolerance": tolerance, "max_iterations": max_iterations}
        return self._ranks(self.run("ppr", sources, **chosen, **options))

    def _ranks(self, found: dict[str, Any]) -> Ranks:
        return Ranks(found["values"], found["rounds"], found["converged"])

    def core_numbers(self, **options: Any) -> Ints:
        """Returns the core number of every node of an undirected graph.

        >>> import seawall
        >>> seawall.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]).core_numbers().tolist()
        [2, 2, 2, 1]
        """
        return self._signed(self.run("kcore", **options)["values"])

    def triangles(self, **options: Any) -> npt.NDArray[np.int64]:
        """Returns the number of triangles at every node of an undirected graph.

        >>> import seawall
        >>> seawall.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]).triangles().tolist()
        [1, 1, 1, 0]
        """
        return self.run("triangles", **options)["values"].astype(np.int64)

    def triangle_total(self, **options: Any) -> int:
        """Returns the number of triangles of an undirected graph.

        >>> import seawall
        >>> seawall.Graph.from_edges([(0, 1), (1, 2), (2, 0)]).triangle_total()
        1
        """
        return int(self.run("triangle-total", **options)["answer"]["triangles"])

    def independent_set(self, **options: Any) -> Bools:
        """Tells which nodes are in a maximal independent set of an undirected graph.

        >>> import seawall
        >>> int(seawall.Graph.from_edges([(0, 1), (0, 2), (1, 2)]).independent_set().sum())
        1
        """
        return self.run("mis", **options)["values"].astype(bool)

    def colouring(self, **options: Any) -> Ints:
        """Returns a colour for every node, from 0, no two neighbours of the same.

        >>> import seawall
        >>> len(set(seawall.Graph.from_edges([(0, 1), (1, 2)]).colouring().tolist()))
        2
        """
        return self._signed(self.run("colouring", **options)["values"])

    def spanning_forest(self, **options: Any) -> Forest:
        """Returns a minimum spanning forest of an undirected graph with weights.

        >>> import seawall
        >>> seawall.Graph.from_edges([(0, 1, 5), (1, 2, 2), (0, 2, 9)]).spanning_forest().weight
        7.0
        """
        found = self.run("msf", **options)
        edges = found["values"]
        edges = edges[edges != 2**64 - 1]
        ends = np.stack([edges & np.uint64(_UNREACHED), edges >> np.uint64(32)], axis=1)
        return Forest(np.sort(ends.astype(np.int64), axis=1), float(found["answer"]["forest_weight"]))

    def communities(self, *, max_iterations: int | None = None, **options: Any) -> Communities:
        """Returns communities of an undirected graph by label propagation.

        >>> import seawall
        >>> seawall.Graph.from_edges([(0, 1), (1, 2), (2, 0), (3, 4)]).communities().labels.shape
        (5,)
        """
        found = self.run("labels", max_iterations=max_iterations, **options)
        labels = self._signed(found["values"])
        count = len(np.unique(labels))
        return Communities(count, labels, found["rounds"], found["converged"])

    def betweenness(
        self,
        sources: Any = None,
        *,
        weighted: bool = False,
        normalized: bool = False,
        **options: Any,
    ) -> Floats:
        """Returns the sum over `sources`, all nodes by default, of the shares of shortest paths
        through every node.

        >>> import seawall
        >>> seawall.Graph.from_edges([(0, 1), (1, 2)]).betweenness().tolist()
        [0.0, 1.0, 0.0]
        """
        if self._has_no_sources(sources):
            return np.empty(0, np.float32)
        chosen = {"weighted": weighted, "normalized": normalized}
        found = self._run("betweenness", self._all_or(sources), {**chosen, **options})
        values: Floats = found["values"]
        return values

    def closeness(
        self,
        sources: Any = None,
        *,
        weighted: bool = False,
        direction: str | None = None,
        **options: Any,
    ) -> Floats:
        """Returns how near each of `sources`, all nodes by default, is to the nodes that reach it
        (Wasserman and Faust), in the order of the sources; `direction` ``out`` takes the nodes that
        it reaches.

        >>> import seawall
        >>> seawall.Graph.from_edges([(0, 1), (1, 2)]).closeness(1)
        array([1.], dtype=float32)
        """
        if self._has_no_sources(sources):
            return np.empty(0, np.float32)
        chosen = {"weighted": weighted, "direction": direction}
        return self._of_sources("closeness", sources, {**chosen, **options})

    def eccentricity(
        self,
        sources: Any = None,
        *,
        weighted: bool = False,
        **options: Any,
    ) -> Array:
        """Returns the distance of the farthest node that each of `sources`, all nodes by default,
        reaches, in the order of the sources.

        >>> import seawall
        >>> seawall.Graph.from_edges([(0, 1), (1, 2)]).eccentricity([0, 1]).tolist()
        [2, 1]
        """
        if self._has_no_sources(sources):
            return np.empty(0, np.uint32)
        found = self._of_sources("eccentricity", sources, {"weighted": weighted, **options})
        return _wide(found)

    def _of_sources(self, analysis: str, sources: Any, options: dict[str, Any]) -> Array:
        numbers = self._all_or(sources)
        values: Array = self._run(analysis, numbers, options)["values"]
        return values[numbers]

    def _has_no_sources(self, sources: Any) -> bool:
        """Whether all nodes are the sources of a graph without any."""
        return sources is None and self.nodes == 0

    def _all_or(self, sources: Any) -> npt.NDArray[np.uint32]:
        """The sources, or all nodes for None."""
        if sources is None:
            return np.arange(self.nodes, dtype=np.uint32)
        return self._sources(sources)


_MACHINE_OPTIONS = frozenset(
    {
        "budget_bytes",
        "device",
        "jit",
        "machine",
        "progress",
        "takeover",
        "threads",
        "time_budget",
    }
)

#: Options that a session may have for all of its questions.
_SESSION_OPTIONS = _MACHINE_OPTIONS | {"devices", "loops", "parallel"}

#: What is said of truth values in the place of nodes.
_MASK = "sources in a mask; give nodes, such as numpy.flatnonzero(mask)"

_OPTIONS = _MACHINE_OPTIONS | {
    "check",
    "damping",
    "detail",
    "devices",
    "direction",
    "draw",
    "loops",
    "max_iterations",
    "normalized",
    "page",
    "parallel",
    "plot",
    "tolerance",
    "weighted",
}


#: Most nodes of a drawing, which has their names.
_NAMED_MAX = 4096

#: The options of a question that has none.
_AUTO: dict[str, Any] = {"machine": "auto"}

#: What is kept of a run.
_REPORTED = RunReport._fields


@contextmanager
def _told(title: str, progress: bool | Progress | None) -> Iterator[Progress | None]:
    """Yields what to call with progress: for True a line that is shown meanwhile."""
    if progress is not True:
        if progress and not callable(progress):
            raise refuse(f"progress is {progress!r}; give True, False or a function", "WrongOption")
        yield progress or None
        return
    line = Line(title)
    try:
        yield line
    finally:
        line.close()


def _flat(sources: Any) -> Any:
    """Sources in anything like an array as one row, others as they are."""
    if not hasattr(sources, "__array__") or isinstance(sources, np.generic):
        return sources
    row = unmasked(sources, "source").ravel()
    if row.dtype == bool:
        raise refuse(_MASK)
    return row


def _rows_of(graph: Any, weight: Any, undirected: bool) -> tuple[Array, Array, Any] | None:
    """Ends and weights of the edges of a graph of NetworkX; None where weights are of types that
    only Python converts."""
    try:
        offsets, targets, weights = _seawall.NxGraph.from_networkx(graph, weight).arrays()
    except NotImplementedError:
        return None
    sources = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    if undirected:
        once = sources <= targets
        sources, targets = sources[once], targets[once]
        weights = None if weights is None else weights[once]
    return sources, targets, weights


def _listed(graph: Any, nodes: list[Any], weight: Any) -> tuple[Array, Array, Any]:
    """As `_rows_of`, edge by edge, with each of parallel edges."""
    number = {node: at for at, node in enumerate(nodes)}
    edges = list(graph.edges(data=True if weight is None else weight, default=1))
    ends = np.array([(number[u], number[v]) for u, v, _ in edges], np.int64).reshape(-1, 2)
    if not graph.is_directed():
        # An edge that is listed from its other end would be the same one.
        ends.sort(axis=1)
    sources, targets = np.ascontiguousarray(ends.T)
    if weight is None:
        return sources, targets, None
    values = np.empty(len(edges), object)
    values[:] = [value for *_, value in edges]
    return sources, targets, weights_of(values)


def _unpickled(
    kind: type[Graph],
    parts: dict[str, Any],
    names: Array | None,
    stats: dict[str, Any],
    defaults: dict[str, Any],
) -> Graph:
    graph = kind(_seawall.Graph.of_parts(parts), names)
    graph.stats, graph._defaults = stats, defaults
    return graph


def _wide(values: Array) -> Array:
    """Distances of 64 bits, -1 where there is none; floats stay."""
    if values.dtype == np.uint64:
        return values.view(np.int64)
    if values.dtype == np.uint32:
        wide = values.astype(np.int64)
        wide[values == _UNREACHED] = -1
        return wide
    return values


class Session(Graph):
    """A graph on a machine of its own, for many questions. It is a context that closes itself."""

    __slots__ = ()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
