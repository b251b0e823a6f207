"""A process killed at any moment of its work leaves the store as it was or as it would have been, never half.

`MNEMOSCOPE_KILLS=200 pytest tests/test_kill.py` kills two hundred times, and `MNEMOSCOPE_KILL_SEED` repeats a run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

WRITER = Path(__file__).resolve().parents[1] / "support" / "killed_writer.py"
KILLS = int(os.environ.get("MNEMOSCOPE_KILLS", "25"))
SEED = int(os.environ.get("MNEMOSCOPE_KILL_SEED", "1"))


def test_a_killed_process_leaves_items_journal_tombstones_and_vectors_whole(tmp_path: Path) -> None:
    command = [sys.executable, str(WRITER), str(tmp_path / "memories.sqlite"), str(KILLS), str(SEED)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60 + 15 * KILLS)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["faults"] == []
    assert sum(told["cut"].values()) == KILLS
    assert "the writer failed by itself" not in told["cut"]
    assert told["groups"] >= KILLS
