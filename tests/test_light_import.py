"""What an import and the command's help load: nothing that they do not need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODELS = ["langchain.chat_models", "langchain.embeddings", "langchain.agents", "langsmith.client"]
HEAVY = [*MODELS, "langgraph_sdk", "langgraph.runtime", "langgraph.graph"]


def loaded_by(code: str) -> set[str]:
    printing = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", printing], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_importing_the_package_loads_nothing_of_langchain() -> None:
    assert not {"langchain_core", "langgraph.store.base", "numpy"} & loaded_by("import mnemoscope")


def test_importing_the_engine_loads_no_model_agent_or_client() -> None:
    loaded = loaded_by("from mnemoscope import MemoryEngine")
    assert "mnemoscope.engine.facade" in loaded
    assert not set(HEAVY) & loaded


@pytest.mark.parametrize("arguments", [["--help"], ["list", "--help"]])
def test_help_loads_neither_stores_nor_the_dashboard(arguments: list[str]) -> None:
    code = f"from app.shell.command import mnemoscope\nmnemoscope({arguments!r}, standalone_mode=False)"
    assert not {"langchain_core", "numpy", "streamlit", "pandas", "mnemoscope.engine.facade"} & loaded_by(code)
