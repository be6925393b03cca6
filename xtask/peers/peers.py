"""Times Seawall beside SciPy, igraph, networkit and rustworkx on one thread.

Every program gets the same graph in its own resident form and answers the same question; Seawall's
figure is the median of `time_ns.run` of one process, the others' is the median wall time of the
call that returns all values. Answers are compared by a summary (components, sums of distances,
forest weight ...); a row whose summaries differ is marked and makes the command fail. Labels differ
from program to program: their modularity is printed, and a program counts if its own is not below
Seawall's.

Run it through `cargo xtask peers`, which makes the virtual environment.
"""

import argparse
import json
import lzma
import multiprocessing
import os
import statistics
import subprocess
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = "1"

import igraph
import networkit
import numpy as np
import rustworkx
import scipy.sparse as sp
from scipy.sparse import csgraph

networkit.setNumberOfThreads(1)

UNREACHED = 2**32 - 1

# Paths of two edges above which SciPy's product is left out: some ten seconds.
PATHS_OF_TWO = 10**9


class Graph:
    """A directed weighted graph, or with `symmetric` one whose edges all have mirror images."""

    def __init__(self, name, ends, nodes, symmetric, source=None, folder=".", tolerance=1e-4):
        rng = np.random.default_rng(11)
        u, v = ends
        keep = u != v
        u, v = u[keep].astype(np.int64), v[keep].astype(np.int64)
        if symmetric:
            u, v = np.minimum(u, v), np.maximum(u, v)
        key = np.unique(u * nodes + v)
        u, v = key // nodes, key % nodes
        w = rng.integers(1, 1000, len(u))
        self.name, self.nodes, self.tolerance = name, nodes, tolerance
        self.symmetric, self.directed = symmetric, not symmetric
        self.u, self.v, self.w = u, v, w
        if symmetric:
            u, v, w = np.r_[u, v], np.r_[v, u], np.r_[w, w]
        self.csr = sp.csr_matrix((w.astype(np.int32), (u, v)), (nodes, nodes))
        degrees = np.diff(self.csr.indptr)
        self.source = int(degrees.argmax()) if source is None else source
        self.sources = [int(node) for node in np.flatnonzero(degrees > 0)[:: max(1, nodes // 9)][:8]]
        self.file = os.path.join(folder, name + ".npz")
        sp.save_npz(self.file, self.csr, compressed=False)
        self.forms = {}

    def form(self, name, make):
        if name not in self.forms:
            self.forms[name] = make()
        return self.forms[name]

    def floats(self):
        return self.form("floats", lambda: self.csr.astype(np.float64))

    def igraph(self):
        def make():
            graph = igraph.Graph(
                n=self.nodes, edges=np.column_stack([self.u, self.v]), directed=not self.symmetric
            )
            graph.es["weight"] = self.w.astype(float)
            return graph

        return self.form("igraph", make)

    def networkit(self, weighted):
        def make():
            data = (self.w.astype(float), (self.u, self.v))
            return networkit.GraphFromCoo(
                data, n=self.nodes, weighted=weighted, directed=not self.symmetric
            )

        return self.form(("networkit", weighted), make)

    def networkit_negative(self):
        """The graph whose greatest spanning forest is the least one of this graph."""

        def make():
            data = (-self.w.astype(float), (self.u, self.v))
            return networkit.GraphFromCoo(data, n=self.nodes, weighted=True, directed=False)

        return self.form("negative", make)

    def rustworkx(self):
        def make():
            graph = rustworkx.PyGraph() if self.symmetric else rustworkx.PyDiGraph()
            graph.add_nodes_from(range(self.nodes))
            edges = zip(self.u.tolist(), self.v.tolist(), self.w.astype(float).tolist())
            graph.add_edges_from(list(edges))
            return graph

        return self.form("rustworkx", make)


def total(values):
    """The sum of the reached nodes' values and their number."""
    values = np.asarray(values, dtype=np.float64)
    kept = values[np.abs(values) < UNREACHED - 1]
    return float(kept.sum()), len(kept)


def highest(ranks):
    """The sum of ranks and the three highest."""
    ranks = np.asarray(ranks, dtype=np.float64)
    return float(ranks.sum()), *np.sort(ranks)[-3:].tolist()


def done(algorithm):
    algorithm.run()
    return algorithm


def searches(graph):
    floats, ig, s = graph.floats(), graph.igraph(), graph.source
    plain = graph.networkit(False)
    return {
        "scipy": lambda: len(csgraph.breadth_first_order(floats, s)[0]),
        "igraph": lambda: len(ig.bfs(s, mode="out")[0]),
        "networkit": lambda: total(done(networkit.distance.BFS(plain, s, False)).getDistances())[1],
    }


def paths(graph):
    floats, ig, s = graph.floats(), graph.igraph(), graph.source
    weighted = graph.networkit(True)
    return {
        "scipy": lambda: total(csgraph.dijkstra(floats, indices=s)),
        "igraph": lambda: total(ig.distances(s, weights="weight", mode="out")[0]),
        "networkit": lambda: total(
            done(networkit.distance.Dijkstra(weighted, s, False)).getDistances()
        ),
    }


def components(graph):
    floats, ig, plain, rx = graph.floats(), graph.igraph(), graph.networkit(False), graph.rustworkx()
    rx_count = rustworkx.connected_components if graph.symmetric else rustworkx.weakly_connected_components
    nk_count = networkit.components.ConnectedComponents
    if not graph.symmetric:
        nk_count = networkit.components.WeaklyConnectedComponents
    return {
        "scipy": lambda: csgraph.connected_components(floats, graph.directed, "weak")[0],
        "igraph": lambda: len(ig.connected_components(mode="weak").sizes()),
        "networkit": lambda: done(nk_count(plain)).numberOfComponents(),
        "rustworkx": lambda: len(rx_count(rx)),
    }


def strong_components(graph):
    floats, ig = graph.floats(), graph.igraph()
    peers = {
        "scipy": lambda: csgraph.connected_components(floats, True, "strong")[0],
        "igraph": lambda: len(ig.connected_components(mode="strong").sizes()),
    }
    if graph.directed:
        plain, rx = graph.networkit(False), graph.rustworkx()
        strong = networkit.components.StronglyConnectedComponents
        peers["networkit"] = lambda: done(strong(plain)).numberOfComponents()
        peers["rustworkx"] = lambda: len(rustworkx.strongly_connected_components(rx))
    return peers


def ranks(graph):
    # igraph has no tolerance: PRPACK ends at 1e-10, whatever the others are asked for.
    ig, weighted = graph.igraph(), graph.networkit(True)

    def of_networkit():
        # It loses the ranks of nodes without edges, so only its time counts.
        pages = networkit.centrality.PageRank(weighted, 0.85, graph.tolerance)
        pages.norm = networkit.centrality.Norm.L1_NORM
        done(pages)

    return {
        "igraph": lambda: highest(ig.pagerank(weights="weight")),
        "networkit": of_networkit,
    }


def personal_ranks(graph):
    ig, s = graph.igraph(), graph.source

    def of_igraph():
        return highest(ig.personalized_pagerank(reset_vertices=[s], weights="weight"))

    return {"igraph": of_igraph}


def cores(graph):
    ig, plain = graph.igraph(), graph.networkit(False)
    return {
        "igraph": lambda: total(ig.coreness())[0],
        "networkit": lambda: total(done(networkit.centrality.CoreDecomposition(plain)).scores())[0],
    }


def triangles(graph):
    plain = graph.networkit(False)
    plain.indexEdges()
    ones = graph.csr.copy()
    ones.data[:] = 1
    count = networkit.sparsification.TriangleEdgeScore
    peers = {"networkit": lambda: int(sum(done(count(plain)).scores())) // 3}
    # A product takes a step for each path of two edges, and cannot be interrupted.
    degrees = np.diff(ones.indptr).astype(np.int64)
    if (degrees**2).sum() < PATHS_OF_TWO:
        peers["scipy"] = lambda: int((ones @ ones).multiply(ones).sum()) // 6
    return peers


def forests(graph):
    floats, ig, rx = graph.floats(), graph.igraph(), graph.rustworkx()
    negative = graph.networkit_negative()
    forest = networkit.graph.RandomMaximumSpanningForest

    def of_igraph():
        return sum(ig.es[ig.spanning_tree(weights="weight", return_tree=False)]["weight"])

    return {
        "scipy": lambda: float(csgraph.minimum_spanning_tree(floats).sum()),
        "igraph": of_igraph,
        "networkit": lambda: -done(forest(negative)).getMSF(False).totalEdgeWeight(),
        "rustworkx": lambda: sum(
            edge[2] for edge in rustworkx.minimum_spanning_edges(rx, weight_fn=float)
        ),
    }


def betweenness(graph):
    ig, plain, sources = graph.igraph(), graph.networkit(False), graph.sources
    estimate = networkit.centrality.EstimateBetweenness
    # An undirected path from a source counts half there, also if its other end is no source.
    ends = 2 if graph.symmetric else 1

    def of_igraph():
        values = np.array(ig.betweenness(sources=sources, directed=graph.directed))
        # A grid has more shortest paths than a double holds; igraph then has no number.
        return None if np.isnan(values).any() else ends * total(values)[0]

    def of_networkit():
        # It draws its own sources, so only its time counts.
        done(estimate(plain, len(graph.sources)))

    return {
        "igraph": of_igraph,
        "networkit": of_networkit,
    }


def closeness(graph):
    ig, s = graph.igraph(), graph.source
    return {"igraph": lambda: ig.closeness(vertices=[s], mode="in") and None}


def eccentricity(graph):
    ig, s = graph.igraph(), graph.source
    return {"igraph": lambda: ig.eccentricity(vertices=[s], mode="out")[0]}


def modularity(graph, labels):
    """The share of edges inside communities, beyond what their degrees would give by chance."""
    labels = np.unique(np.asarray(labels), return_inverse=True)[1]
    inside = np.count_nonzero(labels[graph.u] == labels[graph.v]) / len(graph.u)
    degrees = np.bincount(labels, np.diff(graph.csr.indptr)) / (2 * len(graph.u))
    return float(inside - (degrees**2).sum())


def communities(graph):
    ig, plain = graph.igraph(), graph.networkit(False)

    def of_igraph():
        found = ig.community_label_propagation()
        return lambda: modularity(graph, found.membership)

    def of_networkit():
        # Its threshold of changes below which it ends; Seawall and igraph end where none is left.
        found = done(networkit.community.PLP(plain, 0, 2**31))
        return lambda: modularity(graph, found.getPartition().getVector())

    return {"igraph": of_igraph, "networkit": of_networkit}


def colours(graph):
    ig = graph.igraph()
    return {"igraph": lambda: ig.vertex_coloring_greedy() and None}


def count_nodes(values):
    return len(np.unique(values))


def first(values):
    kept = values[values != UNREACHED]
    return float(kept[0]) if len(kept) else 0.0


# Name on the command line: peers, summary of Seawall's column, whether the graph is undirected, and
# which sources are given.
ANALYSES = {
    "bfs": (searches, lambda x: total(x)[1], False, "one"),
    "sssp": (paths, total, False, "one"),
    "cc": (components, count_nodes, False, None),
    "scc": (strong_components, count_nodes, False, None),
    "pagerank": (ranks, highest, False, None),
    "ppr": (personal_ranks, highest, False, "one"),
    "kcore": (cores, lambda x: total(x)[0], True, None),
    "triangle-total": (triangles, None, True, None),
    "msf": (forests, None, True, None),
    "betweenness": (betweenness, lambda x: total(x)[0], False, "many"),
    "closeness": (closeness, None, False, "one"),
    "eccentricity": (eccentricity, first, False, "one"),
    "labels": (communities, None, True, None),
    "colouring": (colours, None, True, None),
}


# Analyses that end at a total change.
RANKINGS = ["pagerank", "ppr"]

# Analyses whose answers differ from program to program, with a figure of their quality.
GRADED = {"labels": modularity}

# A program whose answer is worse than another's by more than this does not count as answering.
WORSE = 0.05


# Answers that are figures of the report instead of a column.
REPORTED = {"msf": "forest_weight", "triangle-total": "triangles"}


def seawall(options, graph, analysis):
    """Milliseconds of a run, and the summary of its answer."""
    _, summary, _, given = ANALYSES[analysis]
    out = os.path.join(options.folder, "out.npy")
    command = [options.seawall, "run", graph.file, "--analysis", analysis, "--json", "--quiet"]
    command += ["--backend", "cpu", "--threads", str(options.threads)]
    command += ["--repeat", str(options.repeat), "--out", out]
    if graph.symmetric:
        command.append("--undirected")
    if analysis in RANKINGS:
        command += ["--tolerance", str(graph.tolerance)]
    for node in {"one": [graph.source], "many": graph.sources, None: []}[given]:
        command += ["--source", str(node)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=options.limit * (options.repeat + 1))
    report = json.loads(run.stdout)
    if run.returncode != 0:
        return None, report.get("error", {}).get("message", run.stdout)[:60]
    if analysis in REPORTED:
        answer = float(report[REPORTED[analysis]])
    else:
        values = np.load(out)["value"]
        answer = summary(values) if summary else None
        if analysis in GRADED:
            answer = GRADED[analysis](graph, values)
    return report["time_ns"]["run"] / 1e6, answer


def timed(call, repeat, limit):
    """Milliseconds of a call, the median, and its answer; nothing if the first run takes longer than
    `limit` seconds. Calls run in a copy of this process, as most libraries cannot be interrupted."""
    ends, theirs = multiprocessing.Pipe(duplex=False)

    def run():
        begin = time.monotonic()
        for _ in range(repeat):
            start = time.perf_counter()
            answer = call()
            figure = (time.perf_counter() - start) * 1e3
            theirs.send((figure, answer() if callable(answer) else answer))
            if time.monotonic() - begin > limit:
                break

    copy = multiprocessing.get_context("fork").Process(target=run)
    copy.start()
    theirs.close()
    times, answer, patience = [], None, limit
    try:
        while len(times) < repeat and ends.poll(patience):
            figure, answer = ends.recv()
            times.append(figure)
            # A call that ended in time may be slower the next time.
            patience = 3 * limit
    except EOFError:
        pass
    copy.kill()
    copy.join()
    return (statistics.median(times), answer) if times else (None, None)


def is_equal(a, b):
    if a is None or b is None:
        return True
    return bool(np.allclose(np.atleast_1d(a), np.atleast_1d(b), rtol=1e-3))


def graphs(options):
    """The named graphs, made when they are asked for."""
    rng = np.random.default_rng(7)

    def kronecker(symmetric, scale):
        edges = 16 << scale
        u = np.zeros(edges, np.int64)
        v = np.zeros(edges, np.int64)
        for bit in range(scale):
            draw = rng.random(edges)
            u |= (draw >= 0.76).astype(np.int64) << bit
            v |= (((draw >= 0.57) & (draw < 0.76)) | (draw >= 0.95)).astype(np.int64) << bit
        shuffled = rng.permutation(1 << scale)
        return (shuffled[u], shuffled[v]), 1 << scale, symmetric

    def road(file):
        def make():
            path = os.path.join(options.data, file)
            if not os.path.exists(path):
                print(f"skipped {file}: {path} is missing", file=sys.stderr)
                return None
            lines = lzma.open(path, "rt").read().splitlines()
            head = next(line for line in lines if line.startswith("p "))
            pairs = [line for line in lines if line and line[0].isdigit()]
            ends = np.loadtxt(pairs, np.int64) - 1
            return (ends[:, 0], ends[:, 1]), int(head.split()[2]), True

        return make

    def grid(side):
        node = np.arange(side * side).reshape(side, side)
        u = np.r_[node[:, :-1].ravel(), node[:-1].ravel()]
        v = np.r_[node[:, 1:].ravel(), node[1:].ravel()]
        return (u, v), side * side, True

    def star(nodes):
        return (np.zeros(nodes - 1, np.int64), np.arange(1, nodes)), nodes, True

    def path(nodes):
        shuffled = rng.permutation(nodes)
        return (shuffled[:-1], shuffled[1:]), nodes, True

    def triangle_chain(count):
        """Directed triangles, each with an edge to the next one."""
        base = np.arange(count) * 3
        u = np.r_[base, base + 1, base + 2, base[:-1] + 2]
        v = np.r_[base + 1, base + 2, base, base[1:]]
        shuffled = rng.permutation(3 * count)
        return (shuffled[u], shuffled[v]), 3 * count, False

    def power_law(nodes, edges):
        ends = [(nodes * rng.random(edges) ** 3).astype(np.int64) for _ in range(2)]
        return tuple(ends), nodes, False

    return {
        "rmat": lambda: kronecker(True, options.scale),
        "rmat-directed": lambda: kronecker(False, options.scale),
        "new-york": road("NY.gr.xz"),
        "florida": road("FLA.gr.xz"),
        "grid": lambda: grid(1000),
        "star": lambda: star(1_000_000),
        "path": lambda: path(200_000),
        "triangles": lambda: triangle_chain(70_000),
        "power-law": lambda: power_law(1_000_000, 10_000_000),
    }


def rows_of(options, graph, analysis):
    make, _, undirected, _ = ANALYSES[analysis]
    if undirected and graph.directed:
        return None
    try:
        ours, expected = seawall(options, graph, analysis)
    except subprocess.TimeoutExpired:
        ours, expected = None, f"over {options.limit} s a run"
    row = {"graph": graph.name, "analysis": analysis, "seawall": ours, "answer": expected}
    for name, call in make(graph).items():
        row[name], answer = timed(call, options.repeat, options.limit)
        if ours is None or answer is None:
            continue
        if analysis in GRADED:
            row.setdefault("grades", {"Seawall": expected})[name] = answer
        elif not is_equal(answer, expected):
            row.setdefault("differs", []).append(f"{name}: {answer}, Seawall: {expected}")
    return row


PROGRAMS = ["scipy", "igraph", "networkit", "rustworkx"]


def counted(row):
    """The times of the other programs, without those whose answer is worse than ours."""
    grades = row.get("grades", {})
    least = grades.get("Seawall", 0) - WORSE
    return [row[name] for name in PROGRAMS if row.get(name) is not None and grades.get(name, least) >= least]


def shown(row):
    figure = lambda value: "–" if value is None else f"{value:.2f}"
    others = counted(row)
    best = min(others) if others else None
    ours = row["seawall"]
    lead = f"{best / ours:.2f}" if best and ours else "–"
    cells = [row["analysis"], row["graph"], figure(ours)]
    cells += [figure(row.get(name)) for name in PROGRAMS] + [lead]
    notes = "; ".join(row.get("differs", []))
    grades = ", ".join(f"{name} {grade:.3f}" for name, grade in row.get("grades", {}).items())
    more = (" differs: " + notes if notes else "") + (" quality: " + grades if grades else "")
    return "| " + " | ".join(cells) + " |" + more


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seawall")
    parser.add_argument("folder")
    parser.add_argument("--data", default="", help="folder of NY.gr.xz and FLA.gr.xz")
    parser.add_argument("--scale", type=int, default=18, help="scale of the Kronecker graphs")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1, help="threads of Seawall and networkit")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="total change at which rankings end")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds for one figure")
    parser.add_argument("--graphs", help="names, separated by commas")
    parser.add_argument("--analyses", help="names, separated by commas")
    options = parser.parse_args()
    networkit.setNumberOfThreads(options.threads)
    os.makedirs(options.folder, exist_ok=True)
    known = graphs(options)
    wanted = options.graphs.split(",") if options.graphs else list(known)
    analyses = options.analyses.split(",") if options.analyses else list(ANALYSES)
    print("Milliseconds on", options.threads, "thread(s), median; lead: the fastest other over Seawall")
    print("| analysis | graph | Seawall | " + " | ".join(PROGRAMS) + " | lead |")
    print("| --- | --- |" + " ---: |" * (len(PROGRAMS) + 2))
    leads, differs = [], 0
    for name in wanted:
        made = known[name]()
        if made is None:
            continue
        graph = Graph(name, *made, folder=options.folder, tolerance=options.tolerance)
        for analysis in analyses:
            row = rows_of(options, graph, analysis)
            if row is None:
                continue
            print(shown(row), flush=True)
            others = counted(row)
            if others and row["seawall"]:
                leads.append((min(others) / row["seawall"], analysis, name))
            differs += "differs" in row
    behind = sorted(lead for lead in leads if lead[0] < 1)
    if leads:
        mean = float(np.exp(np.mean(np.log([lead[0] for lead in leads]))))
        print(f"{len(leads)} rows, geometric mean {mean:.2f}, {len(behind)} behind:")
    for lead, analysis, name in behind:
        print(f"  {analysis} of {name}: {lead:.2f}")
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
