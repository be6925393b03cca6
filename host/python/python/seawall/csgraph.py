"""The functions of `scipy.sparse.csgraph`, with its signatures.

Components, searches, shortest paths and spanning trees are this package's, on all threads where
there are several sources; everything else is SciPy's own, so that the module stands in for it.

>>> import numpy
>>> from seawall import csgraph
>>> csgraph.dijkstra(numpy.array([[0, 2, 9], [0, 0, 3], [0, 0, 0]]), indices=0)
array([0., 2., 5.])
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy
from scipy.sparse import csr_array, issparse
from scipy.sparse import csgraph as _scipy
from scipy.sparse.csgraph import *  # noqa: F403
from scipy.sparse.csgraph import NegativeCycleError, reconstruct_path
from scipy.sparse.csgraph._validation import validate_graph

from ._seawall import Matrix, breadth_first

__all__ = list(_scipy.__all__)

#: Node that SciPy writes where there is none.
_ABSENT = -9999

#: Whether SciPy follows the last edge of a row first when it numbers strong components.
_LAST_EDGE_FIRST = tuple(int(part) for part in scipy.__version__.split(".")[:2]) < (1, 18)


def _listed(graph: Any, directed: bool) -> tuple[Any, Matrix]:
    """The graph as SciPy reads it, and its rows."""
    graph = validate_graph(graph, directed, dense_output=False)
    rows = Matrix(
        graph.indptr.astype(np.int64),
        graph.indices.astype(np.int64),
        np.ascontiguousarray(graph.data, np.float64),
    )
    return graph, rows


def _matrix(graph: Any, directed: bool) -> tuple[Any, Matrix]:
    """The graph as SciPy reads it, and its rows, those of both directions if it is undirected."""
    graph, rows = _listed(graph, directed)
    return graph, rows if directed else rows.undirected()


def connected_components(
    csgraph: Any, directed: bool = True, connection: str = "weak", return_labels: bool = True
) -> Any:
    """As `scipy.sparse.csgraph.connected_components`, with the same labels.

    >>> import numpy
    >>> from seawall import csgraph
    >>> csgraph.connected_components(numpy.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]]))
    (2, array([0, 0, 1], dtype=int32))
    """
    if connection.lower() not in ("weak", "strong"):
        raise ValueError("connection must be 'weak' or 'strong'")
    is_strong = bool(directed) and connection.lower() == "strong"
    _, rows = _matrix(csgraph, True)
    count, labels = rows.components(is_strong, _LAST_EDGE_FIRST)
    return (count, labels) if return_labels else count


def _has_rows(csgraph: Any) -> bool:
    """Whether this is a square matrix of compressed rows whose arrays are taken as they are."""
    return (
        issparse(csgraph)
        and csgraph.format == "csr"
        and csgraph.ndim == 2
        and csgraph.shape[0] == csgraph.shape[1] > 0
        and csgraph.indices.dtype == csgraph.indptr.dtype
        and csgraph.indptr.dtype in (np.int32, np.int64)
        and csgraph.indices.flags.c_contiguous
        and csgraph.indptr.flags.c_contiguous
        # SciPy sorts the rows of other types while it converts them.
        and (csgraph.dtype == np.float64 or csgraph.has_sorted_indices)
    )


def _start(nodes: int, start: int) -> int:
    start = int(start)
    return start + nodes if start < 0 else start


def breadth_first_order(
    csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True
) -> Any:
    """As `scipy.sparse.csgraph.breadth_first_order`, in the same order.

    >>> import numpy
    >>> from seawall import csgraph
    >>> csgraph.breadth_first_order(numpy.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]]), 0)[0]
    array([0, 2, 1], dtype=int32)
    """
    # The values of entries do not matter, so that rows in place are taken as they are.
    if directed and _has_rows(csgraph):
        start = _start(csgraph.shape[0], i_start)
        order, before = breadth_first(csgraph.indptr, csgraph.indices, start)
    else:
        graph, rows = _matrix(csgraph, directed)
        order, before = rows.breadth_first(_start(graph.shape[0], i_start))
    return (order, before) if return_predecessors else order


def depth_first_order(
    csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True
) -> Any:
    """As `scipy.sparse.csgraph.depth_first_order`, in the same order.

    >>> import numpy
    >>> from seawall import csgraph
    >>> csgraph.depth_first_order(numpy.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]]), 0)[0]
    array([0, 1, 2], dtype=int32)
    """
    graph, rows = _matrix(csgraph, directed)
    order, before = rows.depth_first(_start(graph.shape[0], i_start))
    return (order, before) if return_predecessors else order


def breadth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> Any:
    """As `scipy.sparse.csgraph.breadth_first_tree`.

    >>> import numpy
    >>> from seawall import csgraph
    >>> tree = csgraph.breadth_first_tree(numpy.array([[0, 5, 6], [0, 0, 7], [0, 0, 0]]), 0)
    >>> tree.toarray().tolist()
    [[0.0, 5.0, 6.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    _, before = breadth_first_order(csgraph, i_start, directed, True)
    return reconstruct_path(csgraph, before, directed)


def depth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> Any:
    """As `scipy.sparse.csgraph.depth_first_tree`.

    >>> import numpy
    >>> from seawall import csgraph
    >>> tree = csgraph.depth_first_tree(numpy.array([[0, 5, 6], [0, 0, 7], [0, 0, 0]]), 0)
    >>> tree.toarray().tolist()
    [[0.0, 5.0, 0.0], [0.0, 0.0, 7.0], [0.0, 0.0, 0.0]]
    """
    _, before = depth_first_order(csgraph, i_start, directed, True)
    return reconstruct_path(csgraph, before, directed)


def minimum_spanning_tree(csgraph: Any, overwrite: bool = False) -> Any:
    """As `scipy.sparse.csgraph.minimum_spanning_tree`; ties are decided alike.

    >>> import numpy
    >>> from seawall import csgraph
    >>> csgraph.minimum_spanning_tree(numpy.array([[0, 5, 1], [0, 0, 2], [0, 0, 0]])).nnz
    2
    """
    graph, rows = _matrix(csgraph, True)
    kept = np.sort(rows.spanning(np.argsort(graph.data, kind="stable").astype(np.int64)))
    nodes = np.arange(graph.shape[0], dtype=graph.indices.dtype)
    sources = np.repeat(nodes, np.diff(graph.indptr))
    entries = (graph.data[kept], (sources[kept], graph.indices[kept]))
    tree = type(graph)(csr_array(entries, shape=graph.shape))
    tree.eliminate_zeros()
    return tree


def _indices(nodes: int, indices: Any) -> tuple[Any, tuple[int, ...]]:
    """Sources as one row, and the shape of results."""
    if indices is None:
        return np.arange(nodes), (nodes, nodes)
    given = np.asarray(indices)
    flat = np.atleast_1d(given).ravel().astype(np.int64)
    flat = np.where(flat < 0, flat + nodes, flat)
    if len(flat) and (flat.min() < 0 or flat.max() >= nodes):
        raise ValueError(f"indices out of range 0...{nodes}")
    return flat, (*given.shape, nodes)


def dijkstra(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    limit: float = np.inf,
    min_only: bool = False,
) -> Any:
    """As `scipy.sparse.csgraph.dijkstra`; sources are shared among the threads.

    Of two paths of one length another may be returned. Graphs with negative weights are left to
    SciPy, which warns.

    >>> import numpy
    >>> from seawall import csgraph
    >>> csgraph.dijkstra(numpy.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]), indices=[0, 1])
    array([[ 0.,  1.,  2.],
           [inf,  0.,  1.]])
    """
    graph, rows = _matrix(csgraph, directed)
    if min_only or (not unweighted and (graph.data < 0).any()):
        return _scipy.dijkstra(
            csgraph, directed, indices, return_predecessors, unweighted, limit, min_only
        )
    limit = float(limit)
    if limit < 0:
        raise ValueError("limit must be >= 0")
    if np.isnan(limit):
        raise ValueError("limit must be a number")
    sources, shape = _indices(graph.shape[0], indices)
    distances, before = rows.dijkstra(sources.tolist(), not unweighted, limit)
    distances = distances.reshape(shape)
    if not return_predecessors:
        return distances
    before = before.reshape(shape)
    # A way through an infinite weight is none.
    before[np.isinf(distances)] = -9999
    return distances, before


def bellman_ford(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """As `scipy.sparse.csgraph.bellman_ford`, with the same predecessors.

    >>> import numpy
    >>> from seawall import csgraph
    >>> csgraph.bellman_ford(numpy.array([[0, 2, 1], [0, 0, -2], [0, 0, 0]]), indices=0)
    array([0., 2., 0.])
    """
    graph, rows = _listed(csgraph, directed)
    sources, shape = _indices(graph.shape[0], indices)
    found = rows.bellman_ford(sources.tolist(), not unweighted, bool(directed))
    if found is None:
        raise NegativeCycleError("Negative cycle detected on node (or its neighbours)")
    distances, before = (part.reshape(shape) for part in found)
    return (distances, before) if return_predecessors else distances


def johnson(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """As `scipy.sparse.csgraph.johnson`; without negative weights it is `dijkstra`.

    >>> import numpy
    >>> from seawall import csgraph
    >>> csgraph.johnson(numpy.array([[0, 2], [0, 0]]), indices=0)
    array([0., 2.])
    """
    graph, _ = _matrix(csgraph, directed)
    if not unweighted and (graph.data < 0).any():
        return _scipy.johnson(csgraph, directed, indices, return_predecessors, unweighted)
    return dijkstra(csgraph, directed, indices, return_predecessors, unweighted)


def shortest_path(
    csgraph: Any,
    method: str = "auto",
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    indices: Any = None,
) -> Any:
    """As `scipy.sparse.csgraph.shortest_path`; ``auto`` is `dijkstra`, or `johnson` where weights
    are negative, and ``FW`` is SciPy's.

    >>> import numpy
    >>> from seawall import csgraph
    >>> csgraph.shortest_path(numpy.array([[0, 2], [0, 0]]), indices=0)
    array([0., 2.])
    """
    functions = {"D": dijkstra, "BF": bellman_ford, "J": johnson, "auto": johnson}
    function: Any = functions.get(method)
    if function is None:
        return _scipy.shortest_path(
            csgraph, method, directed, return_predecessors, unweighted, overwrite, indices
        )
    return function(csgraph, directed, indices, return_predecessors, unweighted)
