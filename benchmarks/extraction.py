"""How much of LoCoMo's observations an extractor finds.

With the project installed, run `python benchmarks/extraction.py path/to/locomo.json`. The data set
(snap-research/LoCoMo, CC BY-NC 4.0) is not part of this project. Each session is one conversation; its observations
are what is expected.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from mnemoscope.conversations import Conversation, read_conversations
from mnemoscope.embedding import load_embeddings
from mnemoscope.replay import MATCH_FROM, ReplayCase, ReplaySetup, evaluate, read_setup


def cases(path: Path) -> Iterator[ReplayCase]:
    """Every session with its observations."""
    for sample in json.loads(path.read_text(encoding="utf-8")):
        text = json.dumps(sample).encode()
        for session in read_conversations(text, name="locomo.json"):
            if isinstance(session, Conversation):
                noted = sample["observation"].get(f"session_{session.id.rpartition('-')[2]}_observation", {})
                expected = tuple(fact for facts in noted.values() for fact, _ in facts)
                yield ReplayCase(session.id, tuple(session.messages), expected)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--config", type=Path, help="a setup as for `mnemoscope replay`; without one, the rules")
    parser.add_argument("--match-from", type=float, default=MATCH_FROM)
    parser.add_argument("--full", action="store_true", help="every session with its pairs, not the figures alone")
    arguments = parser.parse_args()
    setup = read_setup(arguments.config) if arguments.config else ReplaySetup()
    embeddings = load_embeddings(setup.embedder)
    report = evaluate(cases(arguments.path), setup, embeddings, match_from=arguments.match_from)
    print(json.dumps(report.to_value() if arguments.full else report.figures, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
