"""`seawall.csgraph` against SciPy on random matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse import csgraph as scipy_csgraph
from seawall import csgraph


def matrices() -> list[Any]:
    """Sparse and dense matrices with loops, empty rows, ties, and no entry at all."""
    found: list[Any] = [sparse.csr_array((1, 1)), np.zeros((4, 4))]
    for seed in range(12):
        rng = np.random.default_rng(seed)
        nodes = int(rng.integers(2, 60))
        density = float(rng.choice([0.02, 0.1, 0.4]))
        matrix = sparse.random_array((nodes, nodes), density=density, rng=rng, format="csr")
        if seed % 3 == 0:
            matrix.data = np.ceil(matrix.data * 4)
        found.append(matrix.toarray() if seed % 4 == 3 else matrix)
    return found


@pytest.mark.parametrize("directed", [True, False])
def test_components_have_the_labels_of_scipy(directed: bool) -> None:
    for matrix in matrices():
        for connection in ("weak", "strong"):
            there = scipy_csgraph.connected_components(matrix, directed, connection)
            here = csgraph.connected_components(matrix, directed, connection)
            assert here[0] == there[0]
            np.testing.assert_array_equal(here[1], there[1])


@pytest.mark.parametrize("directed", [True, False])
def test_orders_and_trees_are_those_of_scipy(directed: bool) -> None:
    for matrix in matrices():
        for start in (0, matrix.shape[0] - 1):
            for name in ("breadth_first_order", "depth_first_order"):
                there = getattr(scipy_csgraph, name)(matrix, start, directed)
                here = getattr(csgraph, name)(matrix, start, directed)
                for mine, theirs in zip(here, there):
                    np.testing.assert_array_equal(mine, theirs)
            for name in ("breadth_first_tree", "depth_first_tree"):
                there = getattr(scipy_csgraph, name)(matrix, start, directed)
                here = getattr(csgraph, name)(matrix, start, directed)
                np.testing.assert_array_equal(here.toarray(), there.toarray())


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("unweighted", [True, False])
@pytest.mark.parametrize("method", ["auto", "D", "BF", "J", "FW"])
def test_distances_are_those_of_scipy(method: str, unweighted: bool, directed: bool) -> None:
    for matrix in matrices():
        args: dict[str, Any] = {"directed": directed, "unweighted": unweighted}
        there = scipy_csgraph.shortest_path(matrix, "D", **args)
        here, before = csgraph.shortest_path(matrix, method, return_predecessors=True, **args)
        np.testing.assert_allclose(here, there, rtol=1e-12)
        dense = sparse.csr_array(matrix).toarray()
        if not directed:
            both = np.where(dense == 0, np.inf, dense)
            dense = np.minimum(both, both.T)
        sources, targets = np.nonzero(before >= 0)
        parents = before[sources, targets]
        steps = 1.0 if unweighted else dense[parents, targets]
        np.testing.assert_allclose(here[sources, parents] + steps, here[sources, targets])


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_rows_that_contradict_each_other_are_refused(kind: type) -> None:
    def matrix() -> Any:
        found = sparse.csr_array((3, 3))
        found.data = np.ones(3)
        found.indices, found.indptr = np.array([1, 2, 0], kind), np.array([0, 1, 2, 3], kind)
        return found

    assert csgraph.breadth_first_order(matrix(), 0)[0].tolist() == [0, 1, 2]
    for place, value in (("indices", 3), ("indices", -1), ("indptr", 99), ("indptr", -7)):
        wrong = matrix()
        getattr(wrong, place)[1] = value
        with pytest.raises(ValueError):
            csgraph.breadth_first_order(wrong, 0)
    for start in (3, -4):
        with pytest.raises((ValueError, OverflowError)):
            csgraph.breadth_first_order(matrix(), start)


def test_options_of_dijkstra() -> None:
    matrix = matrices()[5]
    for indices in (0, [0, 1], [[0], [1]], -1, []):
        there = scipy_csgraph.dijkstra(matrix, indices=indices)
        np.testing.assert_allclose(csgraph.dijkstra(matrix, indices=indices), there)
    for kwargs in ({"limit": 0.5}, {"limit": 0}, {"min_only": True, "indices": [0, 1]}):
        there = scipy_csgraph.dijkstra(matrix, **kwargs)
        np.testing.assert_allclose(csgraph.dijkstra(matrix, **kwargs), there)
    for wrong in ({"indices": 10**6}, {"limit": -1}):
        with pytest.raises(ValueError):
            csgraph.dijkstra(matrix, **wrong)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("unweighted", [True, False])
def test_bellman_ford_names_the_predecessors_of_scipy(unweighted: bool, directed: bool) -> None:
    rng = np.random.default_rng(7)
    for nodes in [*range(1, 9), 20, 40]:
        # Few weights, so that many paths have one length.
        dense = np.where(rng.random((nodes, nodes)) < 0.3, rng.integers(1, 3, (nodes, nodes)), 0)
        for matrix in (dense, sparse.csr_array(dense), sparse.csc_array(dense)):
            args = directed, None, True, unweighted
            found = zip(csgraph.bellman_ford(matrix, *args), scipy_csgraph.bellman_ford(matrix, *args))
            for mine, theirs in found:
                np.testing.assert_array_equal(mine, theirs)


def test_negative_weights() -> None:
    matrix = np.array([[0, 2, 1], [0, 0, -2], [0, 0, 0]])
    np.testing.assert_array_equal(csgraph.bellman_ford(matrix, indices=0), [0, 2, 0])
    np.testing.assert_array_equal(csgraph.johnson(matrix, indices=0), [0, 2, 0])
    with pytest.raises(csgraph.NegativeCycleError):
        csgraph.bellman_ford(matrix, directed=False)


@pytest.mark.parametrize("kind", ["i1", "i4", "i8", "u8", "f4", "f8", "?"])
def test_rows_in_any_order_are_followed_as_scipy_follows_them(kind: str) -> None:
    for matrix in matrices():
        rows = sparse.csr_array(matrix)
        for node in range(rows.shape[0]):
            row = slice(rows.indptr[node], rows.indptr[node + 1])
            rows.indices[row] = rows.indices[row][::-1].copy()
        data, names = np.ones(rows.nnz, kind), ("breadth_first_order", "depth_first_order")
        for name, directed in ((name, directed) for name in names for directed in (True, False)):
            found = [
                getattr(module, name)(
                    # Neither is to see what the other does to the rows.
                    sparse.csr_array((data, rows.indices.copy(), rows.indptr), rows.shape), 0, directed
                )
                for module in (scipy_csgraph, csgraph)
            ]
            for theirs, mine in zip(*found):
                np.testing.assert_array_equal(mine, theirs)


def test_spanning_trees_are_those_of_scipy() -> None:
    for matrix in matrices():
        there = scipy_csgraph.minimum_spanning_tree(matrix)
        here = csgraph.minimum_spanning_tree(matrix)
        np.testing.assert_array_equal(here.toarray(), there.toarray())


def test_every_name_of_scipy_is_here() -> None:
    assert all(hasattr(csgraph, name) for name in scipy_csgraph.__all__)


def test_a_way_through_an_infinite_weight_is_none() -> None:
    graph = sparse.csr_array(([np.inf, 1.0], ([0, 1], [1, 2])), shape=(3, 3))
    for name in ("dijkstra", "johnson", "shortest_path"):
        options = {"indices": 0, "return_predecessors": True}
        mine = getattr(csgraph, name)(graph, **options)
        other = getattr(scipy_csgraph, name)(graph, **options)
        for found, expected in zip(mine, other, strict=True):
            np.testing.assert_array_equal(found, expected)


def test_trees_have_the_types_of_their_graph_and_flags_may_be_numbers() -> None:
    dense = np.array([[0, 1.0, 0], [0, 0, 1], [0, 0, 0]])
    for graph in (dense, sparse.csr_array(dense), sparse.csr_matrix(dense)):
        mine = csgraph.minimum_spanning_tree(graph)
        other = scipy_csgraph.minimum_spanning_tree(graph)
        assert mine.indices.dtype == other.indices.dtype and type(mine) is type(other)
    found = csgraph.connected_components(dense, directed=0, connection="strong")
    expected = scipy_csgraph.connected_components(dense, directed=0, connection="strong")
    assert found[0] == expected[0] and (found[1] == expected[1]).all()
