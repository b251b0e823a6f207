"""From LangMem to Mnemoscope on the same store: nothing is copied, and the migration can be undone.

Items that LangMem wrote are read as they are. Adopting them brings them to one envelope, with history and evidence, so
that they can be edited, judged and forgotten like any other. Run it with `python examples/migrate_from_langmem.py`.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from mnemoscope import MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.embedding import BundledEmbeddings

NAMESPACE = ("memories", "ana")


def written_by_langmem(store: BaseStore) -> None:
    """What an agent with LangMem's tool and manager leaves in a store; by its own tool where it is installed."""
    if importlib.util.find_spec("langmem") is not None:
        from langmem import create_manage_memory_tool

        create_manage_memory_tool(NAMESPACE, store=store).invoke({"content": "Ana drinks green tea."})
    else:
        store.put(NAMESPACE, "1b0c2a34-0000-4000-8000-000000000001", {"content": "Ana drinks green tea."})
    profile = {"kind": "UserProfile", "content": {"name": "Ana", "language": "Portuguese"}}
    store.put(NAMESPACE, "1b0c2a34-0000-4000-8000-000000000002", profile)


def migrate(store: BaseStore) -> MemoryEngine:
    """Look at what would be done, do it, and show that it can be taken back."""
    engine = MemoryEngine(store, extractor=RuleExtractor(), consolidator=RuleConsolidator())
    plan = engine.curation.plan_adoption(NAMESPACE)
    for adoption in plan.adoptions:
        print(f"{adoption.writer}: {adoption.text!r}")
    changes = engine.curation.apply_adoption(plan, reason="migrated from LangMem")
    print(f"{len(changes)} adopted; engine.undo({changes[0].group!r}) would take it back.")
    print(engine.recall("What does she drink?", NAMESPACE, limit=1)[0].format())
    return engine


def main() -> MemoryEngine:
    """Migrate a small store in memory."""
    embedder: Any = BundledEmbeddings()
    index = {"dims": len(embedder.embed_query("a")), "embed": embedder, "fields": ["content"]}
    store = InMemoryStore(index=index)  # type: ignore[arg-type]
    written_by_langmem(store)
    return migrate(store)


if __name__ == "__main__":
    main()
