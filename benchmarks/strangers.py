"""A store filled by the real LangMem and the real langgraph-memory: opened, recalled, edited, adopted and undone.

    pip install -e '.[sqlite]' -r benchmarks/requirements.txt
    python benchmarks/strangers.py

No model is called: LangMem's manager gets a scripted chat model, langgraph-memory callables. After every step the
packages themselves read the store again. Each step is a claim; where one does not hold the command fails.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.store.base import BaseStore
from langgraph_memory import MemoryEngine as TheirEngine
from langgraph_memory.types import ConsolidationDecision, ExtractedFact
from langmem import create_manage_memory_tool, create_memory_store_manager, create_search_memory_tool
from mnemoscope import MemoryEngine, RuleConsolidator, RuleExtractor
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.stores.sqlite import open_sqlite
from pydantic import BaseModel, Field

SPACE = ("memories", "ana")
SHARED = ("shared", "ana")
NEW = {
    "LangMem tool": "Ana prefers black coffee.",
    "LangMem manager": "Ana moved to Porto.",
    "LangMem schema": "name: Ana\nage: 6",
    "langgraph-memory": "Ana gave her bees away.",
}
"""What each text is changed to."""

READ_AFTER_EDIT = {**NEW, "LangMem schema": {"name": "Ana", "age": 6}}
UNCHANGED = ("LangMem tool", "langgraph-memory")
"""Whose readers notice nothing of an adoption."""


class Person(BaseModel):
    """A schema for LangMem's manager."""

    name: str
    age: int


class Scripted(BaseChatModel):
    """A chat model that calls the given tools at once, whatever it is asked; with none, it says nothing."""

    calls: list[dict[str, Any]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, _messages: list[BaseMessage], *_arguments: Any, **_options: Any) -> ChatResult:
        answer = AIMessage("", tool_calls=[{**call, "id": f"call{at}"} for at, call in enumerate(self.calls)])
        return ChatResult(generations=[ChatGeneration(message=answer)])

    def bind_tools(self, *_arguments: Any, **_options: Any) -> Scripted:
        """The same model: it calls what it was told to."""
        return self


def fill(store: BaseStore) -> dict[str, str]:
    """Let each package write; the texts by the name of who wrote them."""
    tool = create_manage_memory_tool(SPACE, store=store)
    tool.invoke({"action": "create", "content": "Ana likes green tea."})
    manage(store, [{"name": "Memory", "args": {"content": "Ana lives in Lisbon."}}])
    manage(store, [{"name": "Person", "args": {"name": "Ana", "age": 5}}], [Person])
    theirs(store).remember("Ana keeps bees.", SHARED, categories=["hobby"])
    return {
        "LangMem tool": "Ana likes green tea.",
        "LangMem manager": "Ana lives in Lisbon.",
        "LangMem schema": "name: Ana\nage: 5",
        "langgraph-memory": "Ana keeps bees.",
    }


def manage(store: BaseStore, calls: list[dict[str, Any]], schemas: list[type] | None = None) -> Any:
    """One turn of LangMem's manager, over the namespace of managers."""
    options = {"schemas": schemas} if schemas else {}
    manager = create_memory_store_manager(
        Scripted(calls=calls), namespace=(*SPACE, "managed"), store=store, enable_inserts=True, **options
    )
    return manager.invoke({"messages": [{"role": "user", "content": "Hello, I am Ana."}]})


def theirs(store: BaseStore) -> TheirEngine:
    """The other engine, with a line as a fact."""
    return TheirEngine(
        store,
        extractor=lambda text: [ExtractedFact(content=text)],
        consolidator=lambda _fact, _similar: ConsolidationDecision(action="insert"),
    )


def read_by_writers(store: BaseStore) -> dict[str, Any]:
    """What each package reads of its own now."""
    search = create_search_memory_tool(SPACE, store=store, response_format="content_and_artifact")
    found = search.func("Ana", limit=10)[1]
    manage(store, [], [Person])
    managed = {item.value["kind"]: item.value["content"] for item in store.search((*SPACE, "managed"), limit=10)}
    return {
        "LangMem tool": next(item.value["content"] for item in found if item.namespace == SPACE),
        "LangMem manager": managed.get("Memory", {}).get("content"),
        "LangMem schema": managed.get("Person"),
        "langgraph-memory": "; ".join(record.content for record in theirs(store).list(SHARED)),
    }


def main() -> None:
    """Go through all of it and print what was found."""
    with tempfile.TemporaryDirectory() as folder:
        store = open_sqlite(Path(folder) / "strangers.sqlite", embeddings=HashingEmbeddings(128))
        engine = MemoryEngine(store, extractor=RuleExtractor(), consolidator=RuleConsolidator())
        go_through(store, engine)
        engine.close()
        store.conn.close()


def go_through(store: BaseStore, engine: MemoryEngine) -> None:
    """Fill, recall, edit, undo, adopt, and undo again."""
    texts = fill(store)
    before, read_before = everything(store), read_by_writers(store)
    claim("opened: every item is listed, and none is bad", listed(engine) == sorted(texts.values()))
    refs = recalled(engine, texts)
    claim("recalled: each text comes first for itself", refs.keys() == texts.keys())
    claim("recalling wrote nothing to their items", everything(store) == before)
    groups = edited(engine, refs)
    claim("edited: recalled by the new text", recalled(engine, NEW).keys() == NEW.keys())
    claim("edited: each package reads the new text as its own", read_by_writers(store) == READ_AFTER_EDIT)
    for group in groups:
        engine.undo(group)
    claim("edits undone: every value as it was", everything(store) == before)
    claim("edits undone: each package reads what it wrote", read_by_writers(store) == read_before)
    plan = engine.curation.plan_adoption()
    print(f"       plan: {dict(plan.counts)}, {len(plan.unadoptable)} cannot be, {plan.ours} have our envelope")
    claim("planned: all but that of langgraph-memory, whose envelope is ours", (len(plan), plan.ours) == (3, 1))
    changes = engine.curation.apply_adoption(plan)
    claim("adopted: nothing is left to adopt", len(engine.curation.plan_adoption()) == 0)
    claim("adopted: each text comes first for itself", recalled(engine, texts).keys() == texts.keys())
    after = read_by_writers(store)
    claim("adopted: LangMem's tool and langgraph-memory read theirs", *same(after, read_before, UNCHANGED))
    claim("adopted: LangMem's managers find no schema of theirs any more", after["LangMem schema"] is None)
    engine.undo(changes[0].group)
    claim("adoption undone: every value as it was", everything(store) == before)
    claim("adoption undone: each package reads what it wrote", read_by_writers(store) == read_before)


def everything(store: BaseStore) -> dict[tuple[Any, ...], Any]:
    """Every item but those of our books."""
    items = store.search((), limit=1_000)
    return {(*item.namespace, item.key): item.value for item in items if item.namespace[0] != "__mnemoscope__"}


def listed(engine: MemoryEngine) -> list[str]:
    """The text of everything that can be read, on behalf of whoever wrote it."""
    spaces = (SPACE, (*SPACE, "managed"), SHARED)
    return sorted(record.content for space in spaces for record in engine.list(space) if not record.problems)


def recalled(engine: MemoryEngine, texts: dict[str, str]) -> dict[str, tuple[tuple[str, ...], str]]:
    """Where the memory of each text is, as recall finds it first."""
    found = {}
    for name, text in texts.items():
        namespace = SHARED if name == "langgraph-memory" else SPACE
        best = engine.recall(text, namespace, subtree=True, limit=1)[0].record
        if best.content == text:
            found[name] = (best.namespace, best.key)
    return found


def edited(engine: MemoryEngine, refs: dict[str, tuple[tuple[str, ...], str]]) -> list[str]:
    """Change each text; the groups of the changes."""
    return [engine.update(*ref, content=NEW[name]).group for name, ref in refs.items()]


def same(one: dict[str, Any], other: dict[str, Any], names: tuple[str, ...]) -> list[bool]:
    """Whether both hold the same under each name."""
    return [one[name] == other[name] for name in names]


def claim(text: str, *holds: bool) -> None:
    """Print the claim; end with a failure where it does not hold."""
    print(f"{'ok' if all(holds) else 'FAILED':6} {text}", flush=True)
    if not all(holds):
        sys.exit(1)


if __name__ == "__main__":
    main()
