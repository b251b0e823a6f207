"""What an import and a command cost before they do anything, beside `langgraph-memory` 0.1.0.

    pip install -e '.[app]' -r benchmarks/requirements.txt
    python benchmarks/importing.py [--runs 9]

Each line runs in a process of its own, several times over; the least processor time counts, children and all threads
included. The last column compares with `import langgraph_memory` in the same run.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

PEER = "import langgraph_memory"
IMPORTS = (PEER, "import langgraph.store.base", "import mnemoscope", "from mnemoscope import MemoryEngine")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        store = ["--namespace", "memories/ana", "--store", str(Path(folder) / "memories.db")]
        command = [str(Path(sys.executable).with_name("mnemoscope"))]
        subprocess.run([*command, "remember", "I love tea.", *store], check=True, stdout=subprocess.DEVNULL)
        lines = {text: [sys.executable, "-c", text] for text in IMPORTS}
        lines |= {f"mnemoscope {each[0]}": [*command, *each] for each in (["--help"], ["list", *store])}
        seconds = {text: _seconds(line, runs) for text, line in lines.items()}
    print("| | seconds | times the peer |\n| --- | ---: | ---: |")
    for text, least in seconds.items():
        print(f"| `{text}` | {least:.2f} | {least / seconds[PEER]:.2f} |")


def _seconds(line: Sequence[str], runs: int) -> float:
    return min(_processor_time(line) for _ in range(runs))


def _processor_time(line: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL, env=os.environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
