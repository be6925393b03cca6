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

import numpy as np
from distributed import Client

import seawall


@lru_cache(maxsize=1)
def loaded(path: str) -> seawall.Graph:
    """The graph of this worker."""
    return seawall.Graph.load(path)


def closeness(path: str, nodes: list[int]) -> list[float]:
    """The closeness of some nodes, by one search for up to 1,024 of them."""
    return loaded(path).closeness(nodes, machine="cpu", threads=1).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", help="a file that all workers can read, or a generator")
    parser.add_argument("count", type=int, help="nodes, the first ones")
    parser.add_argument("--scheduler", default=os.environ.get("DASK_SCHEDULER_ADDRESS"))
    options = parser.parse_args()
    # Workers that this starts are processes, which import this file: hence the guard below.
    with Client(options.scheduler) if options.scheduler else Client(threads_per_worker=1) as client:
        workers = max(1, len(client.scheduler_info()["workers"]))
        nodes = list(range(options.count))
        part = -(-len(nodes) // workers)
        parts = [nodes[at : at + part] for at in range(0, len(nodes), part)]
        values = client.gather(client.map(closeness, [options.graph] * len(parts), parts))
    ranks = np.concatenate([np.asarray(part) for part in values]) if values else np.empty(0)
    top = np.argsort(-ranks, kind="stable")[:5]
    print(f"{len(ranks)} nodes on {workers} workers")
    for node in top:
        print(f"{node}\t{ranks[node]:.6g}")


if __name__ == "__main__":
    main()
