"""Programs of users: Python functions that are recorded once, as the builder of Rust does.

`Program` makes the text of `docs/program-text.md`; every operation on a value adds a statement to
the code that is being recorded, and nothing runs before `Program.run`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ._edges import refuse
from ._graph import Graph

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

__all__ = ["Edge", "Item", "Program", "ProgramResult", "Register", "Value"]

Kind = Literal["u32", "i32", "f32", "u64"]
Direction = Literal["out", "in"]
Join = Literal["min", "max", "sum", "or", "and", "any"]
Number = int | float

_DTYPES: dict[str, Any] = {
    "u32": np.uint32,
    "i32": np.int32,
    "f32": np.float32,
    "u64": np.uint64,
}


class ProgramResult(NamedTuple):
    """What a run of a program found."""

    #: Arrays of the registers that are kept, by name.
    values: dict[str, Array]
    #: Iterations of each loop on the top level, and whether it converged.
    loops: list[tuple[int, bool]]
    #: Groups of waves between barriers.
    groups: int
    #: ``cpu``, ``mega``, ``launches`` or ``graph``.
    machine: str
    device: str
    #: Seconds of the run.
    seconds: float
    #: Bytes allocated on the machine.
    bytes: int
    #: Number of devices that shared the program.
    devices: int
    #: On the CPU, how waves of code ran: how many there are (`waves`), how many of them as machine
    #: code (`compiled`), `seconds` of compiling, and the `reason` why others were interpreted.
    code: dict[str, Any] | None


class Register(NamedTuple):
    """An array of values on the machine that runs a program."""

    name: str
    kind: str


class Value:
    """A value in recorded code. Operators record; what they return is no number yet."""

    __slots__ = ("_code", "_text", "kind")

    #: ``u32``, ``i32``, ``f32`` or ``u64``.
    kind: str

    def __init__(self, code: _Code, text: Any, kind: str) -> None:
        self._code = code
        self._text = text
        self.kind = kind

    def __bool__(self) -> bool:
        raise TypeError("a recorded value has no truth yet; use select, only, both or either")

    __hash__ = object.__hash__

    def _with(self, operation: str, other: Value | Number, kind: str | None = None) -> Value:
        right = self._code.operand(other, self.kind)
        return self._code.record([operation, self._text, right], kind or self.kind)

    def _after(self, operation: str, other: Number) -> Value:
        left = self._code.operand(other, self.kind)
        return self._code.record([operation, left, self._text], self.kind)

    def _alone(self, operation: str, kind: str | None = None) -> Value:
        return self._code.record([operation, self._text], kind or self.kind)

    def __add__(self, other: Value | Number) -> Value:
        return self._with("add", other)

    def __radd__(self, other: Number) -> Value:
        return self._after("add", other)

    def __sub__(self, other: Value | Number) -> Value:
        return self._with("sub", other)

    def __rsub__(self, other: Number) -> Value:
        return self._after("sub", other)

    def __mul__(self, other: Value | Number) -> Value:
        return self._with("mul", other)

    def __rmul__(self, other: Number) -> Value:
        return self._after("mul", other)

    def __truediv__(self, other: Value | Number) -> Value:
        self._must(self.kind == "f32", "/ divides floats; use // for whole numbers")
        return self._with("div", other)

    def __rtruediv__(self, other: Number) -> Value:
        self._must(self.kind == "f32", "/ divides floats; use // for whole numbers")
        return self._after("div", other)

    def __floordiv__(self, other: Value | Number) -> Value:
        self._must(self.kind != "f32", "// divides whole numbers; use / for floats")
        return self._with("div", other)

    def __mod__(self, other: Value | Number) -> Value:
        return self._with("rem", other)

    def __and__(self, other: Value | Number) -> Value:
        return self._with("and", other)

    def __or__(self, other: Value | Number) -> Value:
        return self._with("or", other)

    def __xor__(self, other: Value | Number) -> Value:
        return self._with("xor", other)

    def __lshift__(self, bits: Value | int) -> Value:
        right = self._code.operand(bits, "u32")
        return self._code.record(["shl", self._text, right], self.kind)

    def __rshift__(self, bits: Value | int) -> Value:
        right = self._code.operand(bits, "u32")
        return self._code.record(["shr", self._text, right], self.kind)

    def __lt__(self, other: Value | Number) -> Value:
        return self._with("below", other, "u32")

    def __le__(self, other: Value | Number) -> Value:
        return self._with("at_most", other, "u32")

    def __gt__(self, other: Value | Number) -> Value:
        return self._with("above", other, "u32")

    def __ge__(self, other: Value | Number) -> Value:
        return self._code.value(other, self.kind) <= self

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        return self._with("equals", other, "u32")  # type: ignore[arg-type]

    def __ne__(self, other: object) -> Value:  # type: ignore[override]
        return self._with("differs", other, "u32")  # type: ignore[arg-type]

    def min(self, other: Value | Number) -> Value:
        """Returns the smaller one."""
        return self._with("min", other)

    def max(self, other: Value | Number) -> Value:
        """Returns the larger one."""
        return self._with("max", other)

    def both(self, other: Value) -> Value:
        """Returns 1 if both conditions hold."""
        return self._with("both", other, "u32")

    def either(self, other: Value) -> Value:
        """Returns 1 if one of the conditions holds."""
        return self._with("either", other, "u32")

    def below_high(self, high: Value | int) -> Value:
        """Returns the pair of this low word and a high one, which compares by the high one first."""
        return self._with("below_high", high, "u64")

    def select(self, yes: Value | Number, no: Value | Number) -> Value:
        """Returns `yes` where this condition holds, and `no` elsewhere."""
        kind = next((v.kind for v in (yes, no) if isinstance(v, Value)), "u32")
        parts = [self._code.operand(value, kind) for value in (yes, no)]
        return self._code.record(["select", self._text, *parts], kind)

    def random(self, counter: Value | int, seed: int) -> Value:
        """Returns random bits of this key, the same on every machine."""
        parts = [self._code.operand(counter, "u32"), int(seed)]
        return self._code.record(["random", self._text, *parts], "u32")

    def hash(self) -> Value:
        """Returns mixed bits."""
        return self._alone("hash")

    def ones(self) -> Value:
        """Returns the number of bits that are set."""
        return self._alone("ones", "u32")

    def low_zeros(self) -> Value:
        """Returns the number of bits below the lowest one that is set."""
        return self._alone("low_zeros", "u32")

    def high(self) -> Value:
        """Returns the high word of 64 bits."""
        return self._alone("high", "u32")

    def bits(self) -> Value:
        """Returns the bits of a float as a whole number."""
        return self._alone("bits", "u32")

    def is_zero(self) -> Value:
        """Returns 1 for 0, and 0 for anything else."""
        return self._alone("is_zero", "u32")

    def to(self, kind: Kind) -> Value:
        """Returns the value as another kind."""
        return self._alone(f"to_{kind}", kind)

    def _must(self, holds: bool, text: str) -> None:
        if not holds:
            raise TypeError(text)


class _Code:
    """The statements of a wave while they are recorded."""

    def __init__(self) -> None:
        self.lists: list[list[dict[str, Any]]] = [[]]
        self._names = 0

    def name(self) -> str:
        """Returns a name that no other value has."""
        self._names += 1
        return f"v{self._names}"

    def say(self, **statement: Any) -> None:
        """Adds a statement."""
        self.lists[-1].append(statement)

    def record(self, expression: list[Any], kind: str) -> Value:
        """Adds the statement that names a value."""
        name = self.name()
        self.say(let=name, be=expression)
        return Value(self, name, kind)

    def operand(self, value: Value | Number, kind: str) -> Any:
        """Returns the text of an operand; plain numbers become `kind`."""
        if isinstance(value, Value):
            if value._code is not self:
                raise refuse("a value of another wave; keep it in a register", "ForeignValue")
            return value._text
        if kind != "f32" and not isinstance(value, (int, np.integer)):
            raise TypeError(f"{value!r} beside a value of kind {kind}; give a whole number")
        return [kind, float(value) if kind == "f32" else int(value)]

    def value(self, value: Value | Number, kind: str) -> Value:
        """Returns a value as it is, and a number as a value of `kind`."""
        if isinstance(value, Value):
            return value
        return Value(self, self.operand(value, kind), kind)


class _Place:
    """What code can do at an item and at an edge."""

    __slots__ = ("_code",)

    def __init__(self, code: _Code) -> None:
        self._code = code

    @property
    def index(self) -> Value:
        """Number of the item: of the node, of the value, of the count."""
        return self._code.record(["index"], "u32")

    def load(self, register: Register) -> Value:
        """Returns the item's own value, from before the wave."""
        return self._code.record(["load", register.name], register.kind)

    def at(self, register: Register, index: Value | int) -> Value:
        """Returns the value at `index`, from before the wave."""
        place = self._code.operand(index, "u32")
        return self._code.record(["at", register.name, place], register.kind)

    def latest(self, register: Register, index: Value | int) -> Value:
        """Returns the value at `index` as it is now, which other items may have changed."""
        place = self._code.operand(index, "u32")
        return self._code.record(["latest", register.name, place], register.kind)

    def degree(self, direction: Direction, node: Value | int) -> Value:
        """Returns the number of edges of a node."""
        operand = self._code.operand(node, "u32")
        return self._code.record(["degree", direction, operand], "u32")

    def first_edge(self, direction: Direction, node: Value | int) -> Value:
        """Returns the number of the first edge of a node."""
        operand = self._code.operand(node, "u32")
        return self._code.record(["first_edge", direction, operand], "u32")

    def only(self, condition: Value) -> None:
        """Leaves out the rest of the code where `condition` does not hold."""
        self._code.say(only=self._code.operand(condition, "u32"))

    def scatter(
        self, register: Register, index: Value | int, join: Join, value: Value | Number
    ) -> Value:
        """Joins `value` to the value at `index`, and returns what was there before."""
        place, found = self._code.operand(index, "u32"), self._code.operand(value, register.kind)
        name = self._code.name()
        self._code.say(scatter=register.name, at=place, join=join, value=found, let=name)
        return Value(self._code, name, register.kind)

    def fold(self, register: Register, join: Join, value: Value | Number) -> None:
        """Joins the values of all items to the first one of a register."""
        found = self._code.operand(value, register.kind)
        self._code.say(fold=register.name, join=join, value=found)

    def append(
        self, to: Register, count: Register, value: Value | int, where: Value | None = None
    ) -> None:
        """Puts `value` at the end of a list, whose length is in `count`."""
        statement = {"append": to.name, "count": count.name}
        statement["value"] = self._code.operand(value, "u32")
        if where is not None:
            statement["where"] = self._code.operand(where, "u32")
        self._code.say(**statement)

    def changed(self, condition: Value | int = 1) -> None:
        """Has the fixpoint around the wave go on where `condition` holds."""
        self._code.say(changed=self._code.operand(condition, "u32"))


class Edge(_Place):
    """An edge of an item, for which code is recorded."""

    __slots__ = ()

    @property
    def neighbour(self) -> Value:
        """The node at the other end."""
        return self._code.record(["neighbour"], "u32")

    @property
    def number(self) -> Value:
        """Number of the edge."""
        return self._code.record(["number"], "u32")

    @property
    def weight(self) -> Value:
        """Its whole weight, 1 without weights."""
        return self._code.record(["weight"], "u32")

    @property
    def float_weight(self) -> Value:
        """Its weight as a float."""
        return self._code.record(["float_weight"], "f32")

    def there(self, register: Register) -> Value:
        """Returns the value of the node at the other end, from before the wave."""
        return self._code.record(["there", register.name], register.kind)

    def until(self, condition: Value) -> None:
        """Lets the rest of the row be left out where `condition` holds."""
        self._code.say(until=self._code.operand(condition, "u32"))


class Item(_Place):
    """A node, a value or a number, for which the code of a wave is recorded."""

    __slots__ = ()

    def store(self, register: Register, value: Value | Number) -> None:
        """Stores the item's own value."""
        self._code.say(store=register.name, value=self._code.operand(value, register.kind))

    def edges(
        self, direction: Direction, code: Callable[[Edge], Sequence[tuple[Join, Value]] | None]
    ) -> list[Value]:
        """Runs code for each edge, and returns up to three values that it joins."""
        found, joins = self._record_edges(direction, lambda edge: code(edge) or ())
        names = []
        for how, value in found:
            names.append((self._code.name(), "u32" if how == "any" else value.kind))
            joins.append({"let": names[-1][0], "how": how, "value": value._text})
        return [Value(self._code, name, kind) for name, kind in names]

    def gather(self, direction: Direction, join: Join, code: Callable[[Edge], Value]) -> Value:
        """Joins what `code` returns for each edge."""
        return self.edges(direction, lambda edge: [(join, code(edge))])[0]

    def argmin(self, direction: Direction, code: Callable[[Edge], Value]) -> tuple[Value, Value]:
        """Returns the least value that `code` returns, and the node at that edge's other end."""
        return self._extreme("argmin", direction, code)

    def argmax(self, direction: Direction, code: Callable[[Edge], Value]) -> tuple[Value, Value]:
        """Returns the largest value that `code` returns, and the node at that edge's other end."""
        return self._extreme("argmax", direction, code)

    def _extreme(
        self, how: str, direction: Direction, code: Callable[[Edge], Value]
    ) -> tuple[Value, Value]:
        found, joins = self._record_edges(direction, code)
        name, node = self._code.name(), self._code.name()
        joins.append({"let": name, "node": node, "how": how, "value": found._text})
        return Value(self._code, name, found.kind), Value(self._code, node, "u32")

    def _record_edges(self, direction: Direction, code: Callable[[Edge], Any]) -> Any:
        statements: list[dict[str, Any]] = []
        joins: list[dict[str, Any]] = []
        self._code.lists.append(statements)
        try:
            found = code(Edge(self._code))
        finally:
            self._code.lists.pop()
        self._code.say(edges=direction, code=statements, join=joins)
        return found, joins


class Program:
    """Registers, and waves in the order in which they would run one after the other.

    >>> import seawall
    >>> program = seawall.Program()
    >>> labels = program.per_node("labels", keep=True)
    >>> program.iota(labels)
    >>> @program.fixpoint()
    ... def spread():
    ...     @program.each()
    ...     def look_around(node):
    ...         own = node.latest(labels, node.index)
    ...         least = node.gather("out", "min", lambda e: e.latest(labels, e.neighbour))
    ...         node.only(least < own)
    ...         node.store(labels, least)
    ...         node.changed()
    >>> graph = seawall.Graph.from_edges([(0, 4), (4, 2), (1, 3)])
    >>> program.run(graph).values["labels"].tolist()
    [0, 1, 0, 1, 0]
    """

    def __init__(self) -> None:
        self._registers: list[dict[str, Any]] = []
        self._waves: list[dict[str, Any]] = []

    def text(self) -> str:
        """Returns the program as the JSON that ``seawall run --program`` reads."""
        # Imported with the first program: a tenth of the import of the package.
        import json

        return json.dumps({"version": 1, "registers": self._registers, "waves": self._waves})

    # Registers.

    def _register(self, name: str, kind: str, keep: bool, **more: Any) -> Register:
        kept = {"keep": True} if keep else {}
        self._registers.append({"name": name, "kind": kind, **more, **kept})
        return Register(name, "u32" if kind in ("frontier", "bitset") else kind)

    def values(self, name: str, count: int, kind: Kind = "u32", *, keep: bool = False) -> Register:
        """Returns a register of `count` values; one that is kept is a result."""
        return self._register(name, kind, keep, count=int(count))

    def per_node(self, name: str, kind: Kind = "u32", *, keep: bool = False) -> Register:
        """Returns a register of a value for each node."""
        return self._register(name, kind, keep, count="nodes")

    def per_edge(self, name: str, kind: Kind = "u32", *, keep: bool = False) -> Register:
        """Returns a register of a value for each edge."""
        return self._register(name, kind, keep, count="edges")

    def input(
        self, name: str, count: int | Literal["nodes", "edges"], kind: Kind = "u32"
    ) -> Register:
        """Returns a register that `run` fills from an array; zeros where it has none."""
        return self._register(name, kind, False, count=count, input=True)

    def frontier(self, name: str) -> Register:
        """Returns the frontier of a search."""
        return self._register(name, "frontier", False)

    def bitset(self, name: str, *, keep: bool = False) -> Register:
        """Returns a bit for each node, in words."""
        return self._register(name, "bitset", keep)

    # Waves.

    def fill(self, to: Register, value: Number) -> None:
        """Stores a number in every place: in a register of floats the float next to it."""
        wave: dict[str, Any] = {"wave": "fill", "to": to.name}
        if to.kind == "f32":
            # JSON has no infinite numbers.
            wave["value"] = {"word": int(np.float32(value).view(np.uint32))}
        elif value == int(value):
            wave["value"] = int(value)
        else:
            raise refuse(f"{value!r} in every place of a register of {to.kind}; give a whole number")
        self._waves.append(wave)

    def iota(self, to: Register) -> None:
        """Stores its own number in every place."""
        self._waves.append({"wave": "iota", "to": to.name})

    def copy(self, to: Register, source: Register) -> None:
        """Copies a register to one of the same kind."""
        self._waves.append({"wave": "copy", "to": to.name, "from": source.name})

    def reduce(
        self, to: Register, source: Register, how: Literal["any", "count", "sum", "min", "max"]
    ) -> None:
        """Reduces all values of a register to the first one of another of its kind.

        `any` and `count`, which counts bits, look at words, whatever the kinds are.
        """
        self._waves.append({"wave": "reduce", "to": to.name, "from": source.name, "how": how})

    def search(
        self,
        frontier: Register,
        sources: Register,
        *,
        levels: Register | None = None,
        parents: Register | None = None,
        limit: int | None = None,
    ) -> None:
        """Searches breadth first from the nodes that a register lists."""
        wave: dict[str, Any] = {"wave": "search", "frontier": frontier.name, "from": sources.name}
        marks = {"levels": levels, "parents": parents}
        wave.update({name: mark.name for name, mark in marks.items() if mark is not None})
        self._waves.append(wave if limit is None else {**wave, "limit": limit})

    def visited(self, to: Register, frontier: Register) -> None:
        """Stores the bits of the nodes that a search has reached."""
        self._waves.append({"wave": "visited", "to": to.name, "frontier": frontier.name})

    def compact(self, to: Register, count: Register, mask: Register) -> None:
        """Lists the numbers of the values of `mask` that are not 0, in any order."""
        names = {"list": to.name, "count": count.name, "mask": mask.name}
        self._waves.append({"wave": "compact", **names})

    def segmented_reduce(
        self,
        to: Register,
        source: Register,
        how: Join,
        *,
        numbers: Register | None = None,
        rows: Direction | None = None,
    ) -> None:
        """Joins values to one for each segment: by the numbers of a register, or rows of edges."""
        wave: dict[str, Any] = {"wave": "segmented_reduce", "to": to.name, "from": source.name}
        wave["how"] = how
        if numbers is not None:
            wave["numbers"] = numbers.name
        if rows is not None:
            wave["rows"] = rows
        self._waves.append(wave)

    def each(
        self, over: Literal["nodes"] | Register | int | tuple[Register, Register] = "nodes"
    ) -> Callable[[Callable[[Item], Any]], None]:
        """Records the decorated function as code for each node, each value of a register, each
        number below a count, or each entry of a list and its count."""
        where: Any = over
        if isinstance(over, Register):
            where = {"values": over.name}
        elif isinstance(over, tuple):
            where = {"list": over[0].name, "count": over[1].name}
        elif isinstance(over, int):
            where = {"count": over}

        def record(function: Callable[[Item], Any]) -> None:
            code = _Code()
            function(Item(code))
            wave = {"wave": "each", "name": _name_of(function), "over": where}
            self._waves.append({**wave, "code": code.lists[0]})

        return record

    def fixpoint(self, limit: int | None = None) -> Callable[[Callable[[], Any]], None]:
        """Repeats the waves that the decorated function adds until none of them calls `changed`."""
        return self._loop({"wave": "fixpoint"}, limit)

    def while_nonzero(
        self, register: Register, limit: int | None = None
    ) -> Callable[[Callable[[], Any]], None]:
        """Repeats the waves that the decorated function adds while the first value is not 0."""
        return self._loop({"wave": "while", "register": register.name}, limit)

    def once(self, function: Callable[[], Any]) -> None:
        """Adds waves whose results depend on the graph alone: only the first run runs them."""
        with self._body() as body:
            function()
        self._waves.append({"wave": "once", "body": body})

    def _loop(
        self, wave: dict[str, Any], limit: int | None
    ) -> Callable[[Callable[[], Any]], None]:
        def record(function: Callable[[], Any]) -> None:
            with self._body() as body:
                function()
            most = {} if limit is None else {"limit": limit}
            self._waves.append({**wave, **most, "name": _name_of(function), "body": body})

        return record

    @contextmanager
    def _body(self) -> Iterator[list[dict[str, Any]]]:
        outer, self._waves = self._waves, []
        try:
            yield self._waves
        finally:
            self._waves = outer

    # Runs.

    def run(
        self, graph: Graph, inputs: Mapping[str, Any] | None = None, **options: Any
    ) -> ProgramResult:
        """Runs the program on a graph, where it stays loaded for the next run.

        `inputs` are arrays by the names of input registers. Options are those of analyses:
        `machine`, `threads`, `device`, `devices`, `budget_bytes`, `time_budget`, `progress`, and
        `jit` (``always`` compiles the program before its first run, ``never`` interprets it,
        ``auto`` compiles once that pays); for `machine`, ``auto`` is the CPU. Several `devices`
        share a program that only gathers and scatters; any other is refused with the reason.
        """
        if not isinstance(graph, Graph):
            raise refuse(f"a seawall.Graph is needed, not {type(graph).__name__}")
        kinds = {register["name"]: register["kind"] for register in self._registers}
        words = []
        for name, values in (inputs or {}).items():
            array = _checked(name, np.asarray(values), _DTYPES[kinds.get(name, "u32")])
            words.append((name, array.ravel().view(np.uint32)))
        found = graph._run_program(self.text(), words, options)
        results = found.pop("results")
        arrays = {name: results[name].view(_DTYPES.get(kinds[name], np.uint32)) for name in results}
        return ProgramResult(arrays, **found)


def _checked(name: str, values: Array, dtype: Any) -> Array:
    """The values as `dtype`; whole numbers have to fit."""
    if np.issubdtype(dtype, np.integer) and values.size:
        most = np.iinfo(dtype)
        if values.dtype.kind not in "iub":
            raise refuse(f"values of type {values.dtype} for the input {name!r}; give integers")
        if int(values.min()) < most.min or int(values.max()) > most.max:
            text = f"a value of the input {name!r} is not from {most.min} to {most.max}"
            raise refuse(text, "OutOfRange")
    return np.ascontiguousarray(values, dtype)


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", "wave").replace("_", " ")
