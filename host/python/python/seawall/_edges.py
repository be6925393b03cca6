"""Edges as their users have them: arrays, pairs, data frames, Arrow streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._errors import RequestError

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]


#: Names of the columns where edges start and end, as of tables in files.
_PAIRS = (
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("u", "v"),
    ("i", "j"),
    ("row", "col"),
    ("tail", "head"),
    ("fromnodeid", "tonodeid"),
)

#: Names that say in the place of the other end that the first two columns are not in order.
_STARTS, _ENDS = (tuple(pair[at] for pair in _PAIRS[:3]) for at in (0, 1))


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
        sources, targets = _ends(edges), _ends(targets)
    elif hasattr(edges, "columns") or hasattr(edges, "__arrow_c_stream__"):
        sources, targets, found = _of_table(edges, columns)
        weights = found if weights is None else weights
    else:
        sources, targets, found = _of_pairs(edges)
        weights = found if weights is None else weights
    weights = None if weights is None else weights_of(weights)
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


def weights_of(weights: Any) -> Array:
    """Weights as an array of a type that the library reads."""
    weights = np.ascontiguousarray(unmasked(weights, "weight"))
    if weights.ndim != 1:
        raise refuse(f"weights in {weights.ndim} dimensions; give one", "Shape")
    kind = weights.dtype
    if kind == object:
        return _numeric(weights)
    if kind == bool:
        return weights.astype(np.uint8)
    if kind.kind not in "iuf":
        raise refuse(f"weights of type {kind}; give integers or floats")
    if kind.kind == "f":
        return weights.astype(np.float32 if kind.itemsize <= 4 else np.float64, copy=False)
    return _native(weights)


def unmasked(values: Any, what: str) -> Array:
    """Values as an array; a masked one is an error."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        at = int(np.ma.getmaskarray(values).ravel().argmax())
        raise refuse(f"{what} {at} is masked", "MissingEnd")
    return np.asarray(values)


def _ends(values: Any) -> Array:
    """Ends of edges as an array, of objects where a list mixes types: 1 and "1" are two names."""
    array = unmasked(values, "end of an edge")
    is_mixed = isinstance(values, (list, tuple)) and array.ndim == 1 and array.dtype.kind in "USf"
    return _column(list(values)) if is_mixed else array


def _native(array: Array) -> Array:
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _plain(ends: Array) -> Array:
    ends = _native(ends) if ends.dtype.kind in "iu" else ends.astype(np.uint32)
    return np.ascontiguousarray(ends)


def _numeric(values: Array) -> Array:
    """Weights in Python objects: whole numbers if all are, floats otherwise."""
    for value in values:
        if not hasattr(value, "__float__"):
            raise refuse(f"a weight is no number: {value!r}")
    try:
        if all(isinstance(value, (int, np.integer)) for value in values):
            return values.astype(np.int64)
        return values.astype(np.float64)
    except OverflowError:
        raise refuse("a weight exceeds 64 bits", "OutOfRange") from None
    except (TypeError, ValueError) as problem:
        raise refuse(f"a weight is no number: {problem}") from None


def _of_pairs(edges: Any) -> tuple[Array, Array, Array | None]:
    if isinstance(edges, np.ndarray):
        if edges.ndim != 2 or edges.shape[1] not in (2, 3):
            raise refuse(
                f"edges of shape {edges.shape}; give (edges, 2), or (edges, 3) with weights", "Shape"
            )
        ends = unmasked(edges[:, :2], "end of an edge")
        if ends.dtype.kind == "f":
            whole = ends.astype(np.int64)
            if not np.array_equal(whole, ends):
                raise refuse("ends of edges that are no whole numbers")
            ends = whole
        weights = edges[:, 2] if edges.shape[1] == 3 else None
        return ends[:, 0], ends[:, 1], weights
    if isinstance(edges, Mapping):
        raise refuse("edges in a mapping; give its items as triples, or a table")
    if not isinstance(edges, Iterable):
        raise refuse(f"edges of type {type(edges).__name__}; give pairs, arrays or a table")
    rows = list(edges)
    if isinstance(edges, tuple) and rows and all(isinstance(row, np.ndarray) for row in rows):
        # As SciPy has them; read as edges, two arrays of two would be two of them.
        raise refuse(
            "a tuple of arrays, which may be columns or edges; give sources and targets as two "
            "arguments, with weights=, or an array with an edge in each row",
            "Shape",
        )
    for row in rows:
        if not hasattr(row, "__len__"):
            raise refuse(f"an edge is {row!r}; give pairs, or sources and targets as two arguments")
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
    is_whole = all(isinstance(value, (int, np.integer)) for value in values)
    if is_whole or all(isinstance(value, (float, np.floating)) for value in values):
        try:
            column = np.array(values)
        except OverflowError:
            column = np.array(values, object)
        # NumPy makes floats of whole numbers that no type of its own holds together.
        if not is_whole or column.dtype.kind in "iub":
            return column
    column = np.empty(len(values), object)
    column[:] = values
    return column


def _of_table(
    table: Any, columns: tuple[Any, Any, Any]
) -> tuple[Array, Array, Array | None]:
    if not hasattr(table, "__arrow_c_stream__") and hasattr(table, "collect"):
        table = table.collect()
    if not hasattr(table, "columns") or not hasattr(table, "__getitem__"):
        table = _arrow(table)
    names = list(getattr(table, "column_names", None) or table.columns)
    weight = columns[2]
    source, target = _ends_of(names, *columns[:2])
    for name in (source, target, weight):
        if name is not None and name not in names:
            raise refuse(f"no column {name!r}; the table has {names}", "Columns")
    if weight is None and "weight" in names:
        weight = "weight"
    found = [np.asarray(table[name]) for name in (source, target)]
    return found[0], found[1], None if weight is None else np.asarray(table[weight])


def _ends_of(names: list[Any], source: Any, target: Any) -> tuple[Any, Any]:
    """The columns of both ends: those that are named, known names, or the first two."""
    if source is not None and target is not None:
        return source, target
    if len(names) < 2:
        raise refuse(f"a table of the columns {names}; it needs two for the ends", "Columns")
    plain: dict[str, Any] = {}
    for name in names:
        plain.setdefault(str(name).strip().lower(), name)
    known = [pair for pair in _PAIRS if plain.keys() >= set(pair)]
    pair = [plain[name] for name in known[0]] if known else names[:2]
    first, second = (str(name).strip().lower() for name in pair)
    found = pair[0] if source is None else source, pair[1] if target is None else target
    if found[0] == found[1] or not known and (first in _ENDS or second in _STARTS):
        text = f"the columns {names} do not say where edges start and end; name source and target"
        raise refuse(text, "Columns")
    return found


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
    kinds = {sources.dtype.kind, targets.dtype.kind}
    kind = np.result_type(sources, targets) if len(kinds) == 1 else np.dtype(object)
    both = np.empty(2 * len(sources), kind)
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
    is_object = names.dtype == object
    missing = np.array([_is_missing(name) for name in names]) if is_object else names != names
    if missing.any():
        at = int(missing.argmax())
        edge = int(np.argmax(numbers == at)) // 2
        raise refuse(f"edge {edge} has an end without a node ({names[at]})", "MissingEnd")
    return np.ascontiguousarray(numbers[0::2]), np.ascontiguousarray(numbers[1::2]), names


def _is_missing(name: Any) -> bool:
    """Whether a name stands for no value: None, NaN, or pandas' NA, which has no truth."""
    try:
        return name is None or bool(name != name)
    except TypeError:
        return True
