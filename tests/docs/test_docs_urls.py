"""docs/urls.md names every page, and every parameter that a page puts into its address or reads from it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from app.components.live import WATCHED
from app.session.navigation import PAGES

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "urls.md").read_text(encoding="utf-8")
PARAMETER = re.compile(r"[bhprtw]_[a-z_]+")
SECTIONS = {"b": "Browse", "r": "Recall", "t": "Tune", "p": "Replay", "w": "Curate", "h": "History"}


def used() -> set[str]:
    """The names of parameters in the code; keys of other widgets begin with the name of their page."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "app").rglob("*.py")]
    texts = (node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {text for text in texts if isinstance(text, str) and PARAMETER.fullmatch(text)}


def rows(section: str) -> set[str]:
    part = TEXT.split(f"\n## {section}\n")[1].split("\n## ")[0]
    return set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE))


def test_every_parameter_stands_with_its_page_and_none_else() -> None:
    found = used()
    for prefix, section in SECTIONS.items():
        assert rows(section) == {name for name in found if name.startswith(f"{prefix}_")}
    assert rows("On every page") == {"c", "ns", "below"}


def test_every_page_has_its_address() -> None:
    for row in PAGES:
        address = "/" if row is PAGES[0] else f"/{row.name}"
        assert f"| {row.title} | `{address}` |" in TEXT


def test_the_pages_that_follow_are_named() -> None:
    titles = [row.title for row in PAGES if row.name in WATCHED]
    assert f"{', '.join(titles[:-1])} and {titles[-1]} show what agents write" in TEXT
