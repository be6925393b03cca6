"""Plans of wave DAGs: which waves run together, and where their memory is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from typing import Any, NamedTuple

from . import _seawall
from ._edges import refuse
from ._errors import RequestError

__all__ = ["Plan", "Wave", "plan"]


class Wave(NamedTuple):
    """Bytes of a wave; scratch counts four times."""

    frontier_bytes: int = 0
    scratch_bytes: int = 0
    output_bytes: int = 0
    name: str | None = None


class Plan(NamedTuple):
    """A plan: waves of a group run at the same time, and all wait between groups."""

    #: The waves that were planned.
    waves: list[Wave]
    #: Numbers of the waves of each group.
    groups: list[list[int]]
    #: Bytes of each group.
    group_bytes: list[int]
    #: Whether no plan has fewer groups.
    is_minimal: bool
    #: Groups that no plan can go below.
    lower_bound: int
    #: Whether results stay to the end; otherwise each has to be read right after its group.
    results_stay: bool
    #: Bytes of arena and resident bytes, and of the largest group if that is more.
    required_bytes: int
    #: Bytes of the arena that holds all that is alive at once.
    arena_bytes: int
    #: Offsets of frontier, scratch and output in the arena, by wave.
    offsets: list[tuple[int, int, int]]

    @property
    def barriers(self) -> int:
        """Barriers between groups."""
        return max(len(self.groups) - 1, 0)

    def _names(self, group: list[int]) -> str:
        return ", ".join(self.waves[wave].name or f"wave {wave}" for wave in group)

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><th>{at}</th><td style='text-align:left'>{escape(self._names(group))}</td>"
            f"<td>{size:,}</td></tr>"
            for at, (group, size) in enumerate(zip(self.groups, self.group_bytes))
        )
        head = "<tr><th>group</th><th style='text-align:left'>waves</th><th>bytes</th></tr>"
        return f"<table><caption>{self.barriers} barriers</caption>{head}{rows}</table>"


def plan(
    waves: Iterable[Wave | Mapping[str, Any]],
    dependencies: Iterable[tuple[int, int]] = (),
    *,
    budget_bytes: int | None = None,
    resident_bytes: int = 0,
    readback_bytes: int = 0,
) -> Plan:
    """Plans waves: groups with the fewest barriers, and an arena, inside a budget if there is one.

    Waves are `Wave` or mappings with their fields, as in the files of ``seawall plan``;
    a dependency names a wave and one that waits for it. `resident_bytes` stay beside the arena.

    Raises `RequestError` for dependencies that are none, and where no plan keeps the budget, with
    ``required_bytes``.

    >>> import seawall
    >>> wave = seawall.Wave(output_bytes=60)
    >>> seawall.plan([wave, wave, wave], [(0, 2)]).groups
    [[0, 1], [2]]
    """
    known = Wave._fields
    listed: list[Wave] = []
    for wave in waves:
        if isinstance(wave, Wave):
            listed.append(wave)
            continue
        if not isinstance(wave, Mapping):
            raise refuse(f"a wave is {wave!r}; give a seawall.Wave, or a mapping with its fields")
        if wrong := wave.keys() - set(known):
            raise refuse(f"no field {min(wrong)!r} of a wave; known are {', '.join(known)}")
        listed.append(Wave(**wave))
    sizes = [wave[:3] for wave in listed]
    try:
        pairs = [(index(before), index(after)) for before, after in dependencies]
        found = _seawall.plan(sizes, pairs, (budget_bytes, resident_bytes, readback_bytes))
    except RequestError:
        raise
    except (TypeError, ValueError, OverflowError) as problem:
        text = f"waves and bytes are whole numbers from 0, dependencies are pairs: {problem}"
        raise refuse(text, "WrongNumber") from None
    return Plan(listed, **found)
