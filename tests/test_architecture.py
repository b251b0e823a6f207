"""What holds for every module: who imports whom, what it exports, and how long it is."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ENGINE = sorted((ROOT / "engine").rglob("*.py"))
APP = sorted((ROOT / "app").rglob("*.py"))
PAGES = sorted((ROOT / "pages").rglob("*.py"))

FORBIDDEN = {
    "engine": {"app", "pages", "streamlit", "pandas", "plotly", "altair", "pyarrow", "click"},
    "app": {"pages"},
    "pages": {"pages", "pandas", "pyarrow"},
}
MAX_MODULE_LINES, MAX_FUNCTION_LINES, MAX_PAGE_LINES = 400, 50, 80


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_roots(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield (node.module or "").split(".")[0]


@pytest.mark.parametrize("path", [*ENGINE, *APP, *PAGES], ids=named)
def test_imports_point_from_pages_to_app_to_engine(path: Path) -> None:
    layer = path.relative_to(ROOT).parts[0]
    assert not FORBIDDEN[layer] & set(imported_roots(parsed(path)))


@pytest.mark.parametrize("path", ENGINE, ids=named)
def test_the_engine_imports_itself_relatively(path: Path) -> None:
    assert "mnemoscope" not in set(imported_roots(parsed(path)))


@pytest.mark.parametrize("path", [*ENGINE, *APP], ids=named)
def test_exported_names_are_sorted_and_complete(path: Path) -> None:
    tree = parsed(path)
    defined = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_")
    ]
    lists = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    exported = lists[0] if lists else []
    ordered = sorted(exported, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert exported == ordered
    assert set(defined) <= set(exported)


@pytest.mark.parametrize("path", [*ENGINE, *APP], ids=named)
def test_modules_and_functions_are_short(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    functions = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    long = [node.name for node in functions if body_lines(node) > MAX_FUNCTION_LINES]
    assert not long
    assert len(source.splitlines()) <= MAX_MODULE_LINES


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_pages_fit_on_one_screen(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_PAGE_LINES


@pytest.mark.parametrize("path", [*APP, *PAGES], ids=named)
def test_no_module_hides_one_of_the_standard_library(path: Path) -> None:
    assert path.stem == "__init__" or path.stem not in sys.stdlib_module_names


def test_streamlit_cannot_find_pages_by_itself() -> None:
    # With app/pages beside app/main.py a deep link would run a page without its frame.
    assert not (ROOT / "app" / "pages").exists()


def test_stored_text_is_never_drawn_as_html() -> None:
    drawn = [named(path) for path in (*APP, *PAGES) if "unsafe_allow_html" in path.read_text(encoding="utf-8")]
    assert not drawn


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    has_docstring = ast.get_docstring(function) is not None
    body = function.body[1:] if has_docstring else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
