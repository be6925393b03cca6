"""Runs the cells of docs/roads-and-mails.ipynb, on drawn data and on the real files where they are.

`NOTEBOOK_PICTURES=DIR` keeps the pictures.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
import seawall

matplotlib.use("Agg")

ROOT = Path(__file__).parents[3]
NOTEBOOK = json.loads((ROOT / "docs/roads-and-mails.ipynb").read_text())
REAL = ROOT.parent / "shared/data"


def draw(folder: Path) -> None:
    """Writes a grid of roads and mails of small circles, in the formats of the real files."""
    side = 30
    at = np.arange(side * side).reshape(side, side) + 1
    across = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], axis=1)
    down = np.stack([at[:-1].ravel(), at[1:].ravel()], axis=1)
    roads = [f"a {a} {b} {1 + (a * 7 + b) % 5}" for a, b in np.concatenate([across, down])]
    roads += [f"a {b} {a} {1 + (a * 7 + b) % 5}" for a, b in np.concatenate([across, down])]
    header = ["c drawn", f"p sp {at.size} {len(roads)}"]
    (folder / "USA-road-d.NY.gr").write_text("\n".join(header + roads) + "\n")
    rng = np.random.default_rng(1)
    mails = ["# FromNodeId\tToNodeId"]
    for circle in range(40):
        ends = rng.integers(0, 12, (30, 2)) + 12 * circle
        mails += [f"{a}\t{b}" for a, b in ends if a != b]
        mails.append(f"{12 * circle}\t{12 * ((circle + 1) % 40)}")
    (folder / "email-Enron.txt").write_text("\n".join(mails) + "\n")


def run() -> dict[str, Any]:
    """Runs all cells in one namespace, as a kernel does."""
    import matplotlib.pyplot as plt

    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in NOTEBOOK["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    names["pictures"] = [plt.figure(number) for number in plt.get_fignums()]
    folder = os.environ.get("NOTEBOOK_PICTURES")
    for number, picture in enumerate(names["pictures"]):
        picture.canvas.draw()
        if folder:
            picture.savefig(Path(folder) / f"picture-{number}.png", dpi=90)
    plt.close("all")
    return names


@pytest.mark.parametrize("data", ["drawn", "real"])
def test_cells_run(data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path if data == "drawn" else REAL
    if data == "drawn":
        draw(folder)
    elif not (folder / "NY.gr.xz").exists():
        pytest.skip(f"no real data in {folder}")
    monkeypatch.setenv("SEAWALL_DATA", str(folder))
    names = run()
    assert len(names["pictures"]) == 5
    graph, people = names["graph"], names["people"]
    if data == "real":
        assert (graph.nodes, graph.edges) == (264_346, 2 * 365_050)
        assert (people.nodes, people.edges) == (36_691, 2 * 183_830)
    else:
        assert graph.weight_kind == "integer"
    assert abs(float(names["table"]["rank"].sum()) - 1) < 1e-3
    assert isinstance(graph, seawall.Graph)
    assert names["sizes"].sum() == people.nodes
    # Neighbours on the map are near each other: it is one.
    ends = names["segments"]
    lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    assert np.median(lengths) < 0.2


def test_the_notebook_has_no_outputs() -> None:
    cells = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert cells and all(not cell["outputs"] for cell in cells)
    assert all(cell["execution_count"] is None for cell in cells)
