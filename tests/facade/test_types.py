"""What a type checker tells a caller of the engine: the right results, and wrong options by name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CALLER = """
from mnemoscope import MemoryEngine

async def use(engine: MemoryEngine) -> None:
    reveal_type(engine.recall("tea", ("m",)))
    reveal_type(await engine.arecall("tea", ("m",)))
    reveal_type(await engine.aremember("tea", ("m",)))
    reveal_type(await engine.aplan("tea", ("m",)))
    reveal_type(await engine.aforget(("m",), keys=["a"]))
    reveal_type(await engine.curation.aerase(("m",), "key", confirm="m"))
    engine.recall("tea", ("m",), limt=3)
    await engine.arecall("tea", ("m",), limt=3)
    await engine.arecall("tea", ("m",), limit="3")
"""
SAID = [
    (5, "RecallResult"),
    (6, "RecallResult"),
    (7, "Applied"),
    (8, "Plan"),
    (9, "Forgotten"),
    (10, "ErasureReceipt"),
    (11, "call-arg"),
    (12, "call-arg"),
    (13, "arg-type"),
]


def test_results_and_options_are_typed_in_both_forms(tmp_path: Path) -> None:
    caller = tmp_path / "caller.py"
    caller.write_text(CALLER, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", str(caller)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    revealed = re.findall(r"caller\.py:(\d+): note: Revealed type is \"(?:\w+\.)*(\w+)\"", checked.stdout)
    faults = re.findall(r"caller\.py:(\d+): error: .*\[([a-z-]+)\]", checked.stdout)
    assert [(int(line), name) for line, name in [*revealed, *faults]] == SAID, checked.stdout + checked.stderr
