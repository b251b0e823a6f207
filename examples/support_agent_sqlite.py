"""The support agent on one SQLite file, memories and threads.

Run it with `python examples/support_agent_sqlite.py support.sqlite`, then look at it with
`mnemoscope --store support.sqlite`.
"""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from langgraph.checkpoint.sqlite import SqliteSaver
from mnemoscope.embedding import BundledEmbeddings
from mnemoscope.stores.sqlite import open_sqlite
from support_agent import serve


def main(path: Path) -> None:
    """Serve two users from this file."""
    store = open_sqlite(path, embeddings=BundledEmbeddings())
    with closing(store.conn), closing(sqlite3.connect(path, check_same_thread=False)) as threads:
        serve(store, SqliteSaver(threads))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "support.sqlite"))
