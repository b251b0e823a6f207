"""The README holds: its example runs, and every page, setting and command is in it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from mnemoscope.config import KNOBS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_runs_and_prints_what_was_recalled(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(example.strip().splitlines()) <= 11
    script = tmp_path / "example.py"
    script.write_text(example, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={"PATH": "", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "engine")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert len(lines) == 2
    assert "never eats peanuts" in ran.stdout
    assert "lives in Hanoi" in ran.stdout
    assert (tmp_path / "agent.sqlite").exists()


@pytest.mark.parametrize("knob", KNOBS)
def test_every_setting_is_documented_with_its_default(knob: str) -> None:
    default = KNOBS[knob].default
    shown = str(default).lower() if isinstance(default, bool) else f"{default:g}"
    assert f"| `{knob}` | {shown} | {KNOBS[knob].help} |" in README


def test_every_page_has_its_paragraph() -> None:
    from app.session.navigation import PAGES

    for page in PAGES:
        assert f"**{page.title}**" in README, page.title


def test_every_picture_and_link_of_the_readme_exists() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if "://" not in target:
            assert (ROOT / target).exists(), target
