"""The script for a Dask cluster, with workers of this machine."""

from __future__ import annotations

import lzma
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import seawall

SCRIPT = Path(__file__).parents[3] / "examples" / "clusters" / "dask_sources.py"


def printed_by(arguments: list[str], folder: Path) -> list[str]:
    command = [sys.executable, str(SCRIPT), *arguments]
    found = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=folder)
    assert found.returncode == 0, found.stderr
    return found.stdout.splitlines()


def test_the_command_of_the_page_runs(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    page = (SCRIPT.parents[2] / "docs" / "clusters.md").read_text()
    begin = "python examples/clusters/dask_sources.py "
    (command,) = [line for line in page.splitlines() if line.startswith(begin)]
    name, count = command.removeprefix(begin).split()
    with lzma.open(tmp_path / name, "wt") as file:
        file.write("p sp 5000 2\na 1 2 5\na 2 1 5\n")
    head, *rows = printed_by([name, count], tmp_path)
    assert head.startswith(f"{count} nodes on ")
    assert {row.split("\t")[0] for row in rows[:2]} == {"1", "2"}


def test_sources_are_dealt_out_to_dask_workers(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    head, *rows = printed_by(["gen:grid:40", "200"], tmp_path)
    assert head.startswith("200 nodes on ")
    wanted = seawall.Graph.load("gen:grid:40").closeness(range(200))
    top = np.argsort(-wanted, kind="stable")[:5]
    assert rows == [f"{node}\t{wanted[node]:.6g}" for node in top]
