"""A plugin of pytest: questions that name no machine go to `SEAWALL_TEST_MACHINE`.

Fails where hardly any question was answered there.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import seawall._graph as graph

MACHINE = os.environ["SEAWALL_TEST_MACHINE"]

RUNS: Counter[str] = Counter()

graph._AUTO.update(machine=MACHINE, takeover=False)


def counted(function: Any) -> Any:
    """The function, which counts the machines of its results."""

    def run(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        RUNS[found["machine"]] += 1
        return found

    run.__doc__ = function.__doc__
    return run


setattr(graph.Graph, "_run", counted(graph.Graph._run))
setattr(graph.Graph, "_run_program", counted(graph.Graph._run_program))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says where questions were answered."""
    terminalreporter.write_line(f"runs by machine: {dict(RUNS)}")


def pytest_sessionfinish(session: Any) -> None:
    """Fails where the machine had less than most of them."""
    if 2 * RUNS[MACHINE] < RUNS.total() or not RUNS[MACHINE]:
        session.exitstatus = 1
