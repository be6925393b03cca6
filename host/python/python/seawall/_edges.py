"""Edges as their users have them: arrays, pairs, data frames, Arrow streams."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._errors import RequestError

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]


class Edges(NamedTuple):
    """Ends of edges as numbers, weights if there are any, names of nodes if they are not numbers."""

    sources: Array
    targets: Array
    weights: Array | None
    names: Array | None


def refuse(text: str, kind: str = "WrongType") -> RequestError:
    """Returns an exception with its kind."""
    error = RequestError(text)
    error.kind = kind
    return error


def collect(
    edges: Any,
    targets: Any,
    weights: Any,
    columns: tuple[str | None, str | None, str | None],
    named: bool | None,
) -> Edges:
    """Returns the edges of any of the kinds that `Graph.from_edges` takes."""
    if targets is not None:
        sources, targets = np.asarray(edges), np.asarray(targets)
    elif hasattr(edges, "columns") or hasattr(edges, "__arrow_c_stream__"):
        sources, targets, found = _of_table(edges, columns)
        weights = found if weights is None else weights
    else:
        sources, targets, found = _of_pairs(edges)
        weights = found if weights is None else weights
    if weights is not None:
        weights = np.ascontiguousarray(weights)
        if weights.dtype == object:
            weights = _numeric(weights)
        elif weights.dtype == bool:
            weights = weights.astype(np.uint8)
        elif weights.dtype.kind not in "iuf":
            raise refuse(f"weights of type {weights.dtype}; give integers or floats")
        elif weights.dtype == np.float16:
            weights = weights.astype(np.float32)
    for ends in (sources, targets):
        if ends.ndim != 1:
            raise refuse(f"ends of edges in {ends.ndim} dimensions; give one", "Shape")
    is_whole = all(ends.dtype.kind in "iu" or not len(ends) for ends in (sources, targets))
    if named is None:
        named = not is_whole
    if not named:
        if not is_whole:
            raise refuse("ends of edges that are no integers; leave named=False out")
        return Edges(_plain(sources), _plain(targets), weights, None)
    sources, targets, names = _numbered(sources, targets)
    return Edges(sources, targets, weights, names)


def _plain(ends: Array) -> Array:
    ends = ends if ends.dtype.kind in "iu" else ends.astype(np.uint32)
    return np.ascontiguousarray(ends)


def _numeric(values: Array) -> Array:
    """Weights in Python objects: whole numbers if all are, floats otherwise."""
    if all(isinstance(value, (int, np.integer)) for value in values):
        return values.astype(np.int64)
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as problem:
        raise refuse(f"a weight is no number: {problem}") from None


def _of_pairs(edges: Any) -> tuple[Array, Array, Array | None]:
    if isinstance(edges, np.ndarray):
        if edges.ndim != 2 or edges.shape[1] not in (2, 3):
            raise refuse(
                f"edges of shape {edges.shape}; give (edges, 2), or (edges, 3) with weights", "Shape"
            )
        ends = edges[:, :2]
        if ends.dtype.kind == "f":
            whole = ends.astype(np.int64)
            if not np.array_equal(whole, ends):
                raise refuse("ends of edges that are no whole numbers")
            ends = whole
        weights = edges[:, 2] if edges.shape[1] == 3 else None
        return ends[:, 0], ends[:, 1], weights
    if not isinstance(edges, Iterable):
        raise refuse(f"edges of type {type(edges).__name__}; give pairs, arrays or a table")
    rows = list(edges)
    lengths = {len(row) for row in rows}
    if not rows:
        empty = np.empty(0, np.uint32)
        return empty, empty, None
    if lengths not in ({2}, {3}):
        raise refuse(f"edges of {sorted(lengths)} values; give 2, or 3 with a weight", "Shape")
    columns = [_column([row[at] for row in rows]) for at in range(lengths.pop())]
    return columns[0], columns[1], columns[2] if len(columns) == 3 else None


def _column(values: list[Any]) -> Array:
    """An array of one type, of objects where they are mixed: 1 and "1" are two names."""
    if all(type(value) is int for value in values):
        try:
            return np.array(values, np.int64)
        except OverflowError:
            pass
    elif all(isinstance(value, (float, int, np.number)) for value in values):
        return np.array(values)
    column = np.empty(len(values), object)
    column[:] = values
    return column


def _of_table(
    table: Any, columns: tuple[str | None, str | None, str | None]
) -> tuple[Array, Array, Array | None]:
    if not hasattr(table, "columns") or not hasattr(table, "__getitem__"):
        table = _arrow(table)
    names = [str(name) for name in getattr(table, "column_names", None) or table.columns]
    source, target, weight = columns
    if source is None or target is None:
        if len(names) < 2:
            raise refuse(f"a table of the columns {names}; it needs two for the ends", "Columns")
        known = "source" in names and "target" in names
        source = source or ("source" if known else names[0])
        target = target or ("target" if known else names[1])
    for name in (source, target, weight):
        if name is not None and name not in names:
            raise refuse(f"no column {name!r}; the table has {names}", "Columns")
    if weight is None and "weight" in names:
        weight = "weight"
    found = [np.asarray(table[name]) for name in (source, target)]
    return found[0], found[1], None if weight is None else np.asarray(table[weight])


def _arrow(stream: Any) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise refuse(
            "an Arrow stream is read with pyarrow, which is not installed; "
            "install it, or give arrays",
            "Missing",
        ) from None
    return pyarrow.table(stream)


def _numbered(sources: Array, targets: Array) -> tuple[Array, Array, Array]:
    """Numbers names by their first occurrence, ends of an edge one after the other."""
    both = np.empty(2 * len(sources), np.result_type(sources, targets))
    both[0::2], both[1::2] = sources, targets
    if both.dtype == object:
        number: dict[Any, int] = {}
        numbers = np.fromiter(
            (number.setdefault(name, len(number)) for name in both), np.int64, len(both)
        )
        names = np.empty(len(number), object)
        names[:] = list(number)
    else:
        found, first, numbers = np.unique(both, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        names, numbers = found[order], rank[numbers.ravel()]
    return np.ascontiguousarray(numbers[0::2]), np.ascontiguousarray(numbers[1::2]), names
