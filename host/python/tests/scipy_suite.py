"""A plugin of pytest: puts the functions of `seawall.csgraph` in the place of SciPy's own.

Tests import them by name, so they are replaced in the modules of the tests, too.
"""

from __future__ import annotations

import types
from collections.abc import Hashable
from typing import Any

import pytest
import scipy.sparse.csgraph as theirs
from seawall import csgraph as ours

#: Functions of this package, by name.
OURS = {
    name: getattr(ours, name)
    for name in ours.__all__
    if getattr(getattr(ours, name), "__module__", "") == ours.__name__
}

#: Tests that do not hold, each with its reason.
XFAILS: dict[str, str] = {}


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Replaces the functions once every module of tests is imported."""
    assert len(OURS) >= 10, OURS
    replacements = {getattr(theirs, name): function for name, function in OURS.items()}
    # Ours go on to SciPy's where they leave work to it.
    ours._scipy = types.SimpleNamespace(**vars(theirs))
    modules = {item.module for item in items}
    assert len(modules) >= 8, modules
    for module in [theirs, *modules]:
        for name, value in list(vars(module).items()):
            if callable(value) and isinstance(value, Hashable) and value in replacements:
                setattr(module, name, replacements[value])
    for item in items:
        for name, reason in XFAILS.items():
            if item.nodeid.endswith(name):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
