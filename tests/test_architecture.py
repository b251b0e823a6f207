"""What holds for the whole tree, and that import-linter finds what breaks its layers (`make lint`)."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_FILES, MAX_PAGE_LINES = 15, 80


@cache
def sources(folder: str) -> dict[str, ast.Module]:
    """Every module of a folder, parsed once."""
    paths = sorted((ROOT / folder).rglob("*.py"))
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def test_no_folder_holds_more_files_than_a_reader_takes_in() -> None:
    folders = {path.parent for name in ("engine", "app") for path in (ROOT / name).rglob("*.py")}
    crowded = {str(each.relative_to(ROOT)): len(list(each.glob("*.py"))) for each in folders}
    assert not {name: count for name, count in crowded.items() if count > MAX_FILES}


def test_the_engine_imports_itself_relatively() -> None:
    absolute = [
        name
        for name, tree in sources("engine").items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == "mnemoscope"
    ]
    assert not absolute


def test_exported_names_are_sorted_and_complete() -> None:
    wrong = []
    for name, tree in sources("engine").items():
        exported = _exported(tree)
        ordered = sorted(exported, key=lambda each: (not each.isupper(), not each[0].isupper(), each))
        if exported != ordered or not _public(tree) <= set(exported):
            wrong.append(name)
    assert not wrong


def test_pages_fit_on_one_screen() -> None:
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / "pages").glob("*.py")}
    assert not {name: length for name, length in lengths.items() if length > MAX_PAGE_LINES}


def test_nothing_on_the_path_hides_the_standard_library() -> None:
    # Streamlit puts the entry script's folder first on the path.
    on_path = {path.stem for folder in ("app", "pages") for path in (ROOT / folder).iterdir()} - {"__init__"}
    assert not on_path & sys.stdlib_module_names


def test_streamlit_cannot_find_pages_by_itself() -> None:
    # With app/pages beside app/main.py a deep link would run a page without its frame.
    assert not (ROOT / "app" / "pages").exists()


def test_stored_text_is_never_drawn_as_html() -> None:
    paths = [path for folder in ("app", "pages") for path in (ROOT / folder).rglob("*.py")]
    assert not [path.name for path in paths if "unsafe_allow_html" in path.read_text(encoding="utf-8")]


def test_an_upward_import_is_found(tmp_path: Path) -> None:
    for folder in ("engine", "app", "pages"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert _lint_imports(tmp_path) == ""
    module = tmp_path / "engine" / "mnemoscope" / "core" / "records.py"
    module.write_text(module.read_text(encoding="utf-8") + "\nfrom ..recall import ranking\n", encoding="utf-8")
    assert "mnemoscope.core.records -> mnemoscope.recall" in _lint_imports(tmp_path)


def _lint_imports(folder: Path) -> str:
    """What import-linter has to say of the tree in this folder; empty where every contract is kept."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(folder / "engine")])}
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode else ""


def _public(tree: ast.Module) -> set[str]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return {node.name for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")}


def _exported(tree: ast.Module) -> list[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []
