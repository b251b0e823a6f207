from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import mnemoscope
import pytest
from mnemoscope import MemoryEngine

ENGINE = Path(__file__).resolve().parents[2] / "engine"
FACES = sorted(".".join(path.parent.relative_to(ENGINE).parts) for path in ENGINE.rglob("__init__.pyi"))

OF_LANGGRAPH_MEMORY = {
    "MemoryEngine",
    "MemoryConfig",
    "MemoryRecord",
    "MemoryMatch",
    "ExtractedFact",
    "ExtractedFacts",
    "ConsolidationDecision",
    "LLMExtractor",
    "LLMConsolidator",
    "composite_score",
}

TWINS = (
    "extract", "plan", "replan", "apply", "remember", "remember_facts", "recall", "explain", "get", "list", "counts",
    "update", "forget", "restore", "history", "undo", "as_of", "on_prune", "flush", "close",
)  # fmt: skip


@pytest.mark.parametrize("face", FACES)
def test_every_name_of_a_face_is_there_sorted_and_once(face: str) -> None:
    package = importlib.import_module(face)
    assert all(hasattr(package, name) for name in package.__all__)
    assert sorted(set(package.__all__)) == sorted(package.__all__)


def test_the_first_face_is_small_enough_to_be_read() -> None:
    assert len(mnemoscope.__all__) <= 45
    assert len([name for name in dir(MemoryEngine) if not name.startswith("_")]) <= 60


def test_users_of_langgraph_memory_change_one_import() -> None:
    assert set(mnemoscope.__all__) >= OF_LANGGRAPH_MEMORY


def test_every_exported_name_is_documented() -> None:
    for name in mnemoscope.__all__:
        value = getattr(mnemoscope, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            assert inspect.getdoc(value), name


def test_the_engine_imports_no_dashboard_library() -> None:
    code = (
        "import sys, mnemoscope; from mnemoscope import MemoryEngine, LLMExtractor;"
        "print([name for name in ('streamlit', 'pandas', 'plotly', 'pyarrow', 'altair') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ENGINE, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", TWINS)
def test_every_method_that_waits_for_something_has_an_async_form(name: str) -> None:
    assert inspect.iscoroutinefunction(getattr(MemoryEngine, f"a{name}"))
    assert inspect.getdoc(getattr(MemoryEngine, f"a{name}"))


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("remember", "content namespace categories importance source private metadata extract"),
        ("recall", "query namespace categories limit min_score source include_private filter touch"),
        ("list", "namespace limit"),
        ("forget", "namespace key categories older_than"),
    ],
)
def test_the_methods_take_the_arguments_of_langgraph_memory(method: str, parameters: str) -> None:
    assert set(parameters.split()) <= set(inspect.signature(getattr(MemoryEngine, method)).parameters)
