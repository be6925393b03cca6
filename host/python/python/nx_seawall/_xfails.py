"""Tests of NetworkX that cannot hold for a converted graph, each with its reason."""

from __future__ import annotations

from typing import Any

#: Reasons by the end of a test's id.
XFAILS: dict[str, str] = {}


def mark(items: list[Any]) -> None:
    """Marks the tests."""
    import pytest

    for item in items:
        for name, reason in XFAILS.items():
            if item.nodeid.endswith(name):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
