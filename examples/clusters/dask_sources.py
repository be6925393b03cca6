"""Closeness of many nodes of one graph, dealt out to the workers of a Dask cluster.

    python dask_sources.py roads.gr.xz 4096                       # workers of this machine
    python dask_sources.py roads.gr.xz 4096 --scheduler tcp://head:8786

Each worker loads the graph once, by its path or generator, and keeps it from task to task. Within
another scheduler's job, DASK_SCHEDULER_ADDRESS names the cluster instead of --scheduler.
"""

from __future__ import annotations

import argparse
import os
from functools import lru_cache

from distributed import Client

import seawall


@lru_cache(maxsize=1)
def loaded(path: str) -> seawall.Graph:
    """The graph of this worker."""
    return seawall.Graph.load(path)


def closeness(path: str, first: int, end: int) -> list[tuple[str, float]]:
    """Names and closeness of the nodes from `first` to `end`, by one search for up to 1,024."""
    graph = loaded(path)
    nodes = range(first, min(end, graph.nodes))
    names = list(nodes) if graph.names is None else graph.names[first:end].tolist()
    values = graph.closeness(names, machine="cpu", threads=1).tolist()
    return list(zip(map(str, names), values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", help="a file that all workers can read, or a generator")
    parser.add_argument("count", type=int, help="nodes, the first ones")
    parser.add_argument("--scheduler", default=os.environ.get("DASK_SCHEDULER_ADDRESS"))
    options = parser.parse_args()
    # Workers that this starts are processes, which import this file: hence the guard below.
    with Client(options.scheduler) if options.scheduler else Client(threads_per_worker=1) as client:
        workers = max(1, len(client.scheduler_info()["workers"]))
        part = max(1, -(-options.count // workers))
        firsts = range(0, options.count, part)
        ends = [min(first + part, options.count) for first in firsts]
        parts = client.gather(client.map(closeness, [options.graph] * len(ends), firsts, ends))
    found = [pair for part in parts for pair in part]
    print(f"{len(found)} nodes on {workers} workers")
    for name, value in sorted(found, key=lambda pair: -pair[1])[:5]:
        print(f"{name}\t{value:.6g}")


if __name__ == "__main__":
    main()
