from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import mnemoscope
import pytest
from mnemoscope import MemoryEngine

ENGINE = Path(__file__).resolve().parents[2] / "engine"

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
    "extract", "plan", "plan_facts", "apply", "remember", "remember_facts", "recall", "explain", "get", "list",
    "counts", "access", "update", "update_at", "forget", "forget_at", "clear", "restore", "trash", "history", "undo",
    "as_of",
)  # fmt: skip


def test_every_exported_name_is_there_sorted_and_once() -> None:
    names = mnemoscope.__all__
    assert all(hasattr(mnemoscope, name) for name in names)
    assert sorted(names, key=lambda name: (not name.isupper(), name)) == names
    assert len(set(names)) == len(names)


def test_every_public_name_of_the_package_is_exported() -> None:
    public = {
        name for name, value in vars(mnemoscope).items() if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert public == set(mnemoscope.__all__)


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
