"""Runs the Python of README.md and docs/python.md, with the data that the pages take for granted."""

from __future__ import annotations

import ast
import lzma
import re
from pathlib import Path
from typing import Any

import networkx as nx
import pandas
import pytest
from scipy import sparse

ROOT = Path(__file__).parents[3]


def listings(page: str) -> list[str]:
    text = (ROOT / page).read_text()
    found = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found
    return found


def run(listing: str, names: dict[str, Any]) -> int:
    """Runs a listing, compares values with comments that are literals, and counts these."""
    compared = 0
    lines = listing.splitlines()
    for statement in ast.parse(listing).body:
        comment = lines[(statement.end_lineno or 0) - 1].partition("#")[2].strip()
        if isinstance(statement, ast.Expr) and comment.startswith(("{", "[")):
            value = eval(compile(ast.Expression(statement.value), "page", "eval"), names)
            assert value == ast.literal_eval(comment)
            compared += 1
        else:
            exec(compile(ast.Module([statement], []), "page", "exec"), names)
    return compared


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_readme(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "calls.csv").write_text("source,target\nann,eve\neve,bob\nbob,ann\n")
    for listing in listings("README.md"):
        run(listing, {})
    ranks = ast.literal_eval(capsys.readouterr().out)
    assert ranks == pytest.approx({"ann": 1 / 3, "bob": 1 / 3, "eve": 1 / 3})


def test_guide(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nx.config, "backend_priority", nx.config.backend_priority)
    with lzma.open(folder / "roads.gr.xz", "wt") as file:
        file.write("p sp 2 1\na 1 2 5\n")
    names = {
        "frame": pandas.DataFrame({"from": [1], "to": [2], "km": [0.5]}),
        "matrix": sparse.csr_array(([1.5], ([0], [1])), shape=(2, 2)),
        "G": nx.karate_club_graph(),
    }
    assert sum(run(listing, names) for listing in listings("docs/python.md")) == 1
