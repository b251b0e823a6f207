"""CONTRIBUTING.md says where each behaviour lives: every module of the engine is named, and every name is a module."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ROOT / "engine" / "mnemoscope"
MODULES = {path.relative_to(ENGINE).with_suffix("").as_posix() for path in ENGINE.rglob("*.py")}
APP = {path.stem for path in (ROOT / "app").glob("*.py")}


def test_every_module_of_the_engine_is_named_where_its_behaviour_is() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    part = text.split("\n### The engine, by behaviour\n")[1].split("\n## ")[0]
    table, shell = part.split("\nIn `app/`")
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)?)`", table))
    assert named == MODULES - {"__init__", "stores/__init__"}
    assert set(re.findall(r"`([a-z_]+)`", shell)) <= APP
