"""A line that shows what a long run is doing, in terminals and notebooks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

#: Called with the phase, such as ``running``, and the seconds since the question.
Progress = Callable[[str, float], Any]

#: Seconds before a line is shown at all.
_SILENT = 0.5


class Line:
    """Writes one line on standard error over and over, and clears it at the end."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._shown = 0

    def __call__(self, phase: str, seconds: float) -> None:
        if seconds < _SILENT:
            return
        text = f"{self._title}: {phase}, {seconds:.1f} s"
        sys.stderr.write("\r" + text.ljust(self._shown))
        sys.stderr.flush()
        self._shown = len(text)

    def close(self) -> None:
        """Clears the line."""
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()
