"""The script for a Dask cluster, with workers of this machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import seawall

SCRIPT = Path(__file__).parents[3] / "examples" / "clusters" / "dask_sources.py"


def test_sources_are_dealt_out_to_dask_workers(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    command = [sys.executable, str(SCRIPT), "gen:grid:40", "200"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    head, *rows = found.stdout.splitlines()
    assert head.startswith("200 nodes on ")
    wanted = seawall.Graph.load("gen:grid:40").closeness(range(200))
    top = np.argsort(-wanted, kind="stable")[:5]
    assert rows == [f"{node}\t{wanted[node]:.6g}" for node in top]
