"""The support agent on PostgreSQL with pgvector, memories and threads in one database.

Run it with `python examples/support_agent_postgres.py postgresql://app@localhost/agents`, then look at it with
`mnemoscope --store postgresql://app@localhost/agents`.
"""

from __future__ import annotations

import sys
from contextlib import closing

from langgraph.checkpoint.postgres import PostgresSaver
from mnemoscope.embedding import BundledEmbeddings
from mnemoscope.stores.postgres import open_postgres
from support_agent import serve


def main(url: str) -> None:
    """Serve two users from this database."""
    store = open_postgres(url, embeddings=BundledEmbeddings())
    with closing(store.conn), PostgresSaver.from_conn_string(url) as threads:
        threads.setup()
        serve(store, threads)


if __name__ == "__main__":
    main(sys.argv[1])
