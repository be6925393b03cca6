"""Exceptions of the package.

Every exception has the text of the library's error, its ``kind``, which is the name of the error
in the library, and its fields as attributes.
"""

from __future__ import annotations

__all__ = ["Cancelled", "Error", "GraphError", "MachineError", "RequestError"]


class Error(Exception):
    """Base of all exceptions of the package."""

    #: Name of the error in the library.
    kind: str = ""


class GraphError(Error, ValueError):
    """A graph could not be read or made, and would not on any machine."""


class RequestError(Error, ValueError):
    """A question or its arguments are wrong; they fail on every machine."""


class MachineError(Error, RuntimeError):
    """The question is sound, but the machine lacks something, denied it, or failed."""


class Cancelled(Error):
    """The run was cancelled before it was done."""
