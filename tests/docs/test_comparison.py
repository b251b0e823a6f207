"""The documentation of agents: every line of the comparison names a test that there is, and every example compiles."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPARISON = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
AGENTS = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
ROWS = [
    line for line in COMPARISON.splitlines() if line.startswith("| ") and not line.startswith(("| feature", "| ---"))
]


def claims_of(name: str) -> set[str]:
    tree = ast.parse((ROOT / "tests" / name).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_every_line_names_a_test_that_there_is(row: str) -> None:
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert len(cells) == 5
    assert all(cells)
    name, _, test = cells[-1].strip("`").partition("::")
    assert test in claims_of(name)


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", AGENTS, re.DOTALL), ids=lambda code: code[:20])
def test_the_code_shown_is_python_of_methods_that_there_are(code: str) -> None:
    from mnemoscope import MemoryEngine

    called = {
        node.attr
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "engine"
    }
    assert all(hasattr(MemoryEngine, name) for name in called)
