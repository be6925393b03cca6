"""Graph analyses on one persistent GPU kernel, or on the CPU.

>>> import seawall
>>> graph = seawall.Graph.from_edges([("a", "b"), ("b", "c"), ("d", "e")])
>>> graph.components().count
2
>>> graph.to_dict(graph.bfs("a"))
{'a': 0, 'b': 1, 'c': 2, 'd': -1, 'e': -1}
"""

from __future__ import annotations

from ._errors import Cancelled, Error, GraphError, MachineError, RequestError
from ._graph import (
    BfsTree,
    Column,
    Communities,
    Components,
    Forest,
    Graph,
    Ranks,
    RunReport,
    Session,
    analyses,
)
from ._plan import Plan, Wave, plan
from ._program import Edge, Item, Program, ProgramResult, Register, Value
from ._seawall import __version__

__all__ = [
    "BfsTree",
    "Cancelled",
    "Column",
    "Communities",
    "Components",
    "Edge",
    "Error",
    "Forest",
    "Graph",
    "GraphError",
    "Item",
    "MachineError",
    "Plan",
    "Program",
    "ProgramResult",
    "Ranks",
    "Register",
    "RequestError",
    "RunReport",
    "Session",
    "Value",
    "Wave",
    "__version__",
    "analyses",
    "plan",
]
