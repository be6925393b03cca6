"""A plugin of pytest: counts the calls of the backend, so that a suite that visits nothing fails."""

from __future__ import annotations

from collections import Counter
from functools import wraps
from typing import Any

from nx_seawall import FUNCTIONS
from nx_seawall.backend import Backend

#: Functions that the tests of NetworkX visit, but not with arguments that the backend takes.
UNVISITED: dict[str, str] = {}

CALLS: Counter[str] = Counter()


def counted(name: str, function: Any) -> Any:
    """The function, which counts its calls."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        CALLS[name] += 1
        return function(*args, **kwargs)

    return call


for _name in FUNCTIONS:
    setattr(Backend, _name, staticmethod(counted(_name, getattr(Backend, _name))))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says how often the backend ran."""
    missing = FUNCTIONS.keys() - CALLS.keys() - UNVISITED.keys()
    terminalreporter.write_line(
        f"{CALLS.total()} calls of {len(CALLS)} of the backend's {len(FUNCTIONS)} functions"
        + (f"; not called: {', '.join(sorted(missing))}" if missing else "")
    )


def pytest_sessionfinish(session: Any) -> None:
    """Fails where hardly anything was called."""
    if len(CALLS) < len(FUNCTIONS) // 2:
        session.exitstatus = 1
