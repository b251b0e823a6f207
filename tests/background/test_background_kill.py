"""Whoever is killed at any moment, every conversation that was taken over is remembered exactly once.

`MNEMOSCOPE_QUEUE_KILLS=200 pytest tests/test_background_kill.py` kills two hundred times, and `MNEMOSCOPE_KILL_SEED`
repeats a run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PROCESSES = Path(__file__).resolve().parents[1] / "support" / "killed_background.py"
KILLS = int(os.environ.get("MNEMOSCOPE_QUEUE_KILLS", "15"))
SEED = int(os.environ.get("MNEMOSCOPE_KILL_SEED", "1"))


def test_every_turn_that_was_taken_over_is_planned_once_whoever_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, str(PROCESSES), str(tmp_path), str(KILLS), str(SEED)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240 + 15 * KILLS)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["faults"] == []
    assert told["kills"] == KILLS
    assert told["turns"] >= KILLS
    assert told["recognised"] >= 1
