"""A store filled by the real LangMem and the real langgraph-memory: opened, recalled, edited, adopted and undone.

    pip install -e '.[sqlite]' 'langmem==0.0.30' 'langgraph-memory==0.1.0'
    python benchmarks/strangers.py

No model is called: LangMem's manager gets a scripted chat model, langgraph-memory callables. After every step the
packages themselves read the store again: what they no longer read is a failure.
"""

from __future__ import annotations

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
from mnemoscope.hashing import HashingEmbeddings
from mnemoscope.stores.sqlite import open_sqlite
from pydantic import BaseModel, Field

SPACE = ("memories", "ana")
SHARED = ("shared", "ana")


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


def read_by_writers(store: BaseStore) -> dict[str, str]:
    """What each package reads of its own now."""
    search = create_search_memory_tool(SPACE, store=store, response_format="content_and_artifact")

    def tool() -> str:
        found = search.func("Ana", limit=10)[1]
        return "; ".join(str(item.value["content"]) for item in found if item.namespace == SPACE)

    def manager() -> str:
        manage(store, [], [Person])
        found = store.search((*SPACE, "managed"), limit=10)
        return "; ".join(f"{item.value['kind']}: {item.value['content']}" for item in found)

    def shared() -> str:
        return "; ".join(record.content for record in theirs(store).list(SHARED))

    return {"tool": tool(), "manager": manager(), "langgraph-memory": shared()}


def main() -> None:
    """Go through all of it and print what was found."""
    with tempfile.TemporaryDirectory() as folder:
        store = open_sqlite(Path(folder) / "strangers.sqlite", embeddings=HashingEmbeddings(128))
        texts = fill(store)
        engine = MemoryEngine(store, extractor=RuleExtractor(), consolidator=RuleConsolidator())
        before = everything(store)
        refs = recalled(engine, texts)
        show("filled", read_by_writers(store))
        groups = edited(engine, refs)
        show("edited here", read_by_writers(store))
        for group in groups:
            engine.undo(group)
        report("edits undone to the letter", everything(store) == before)
        plan = engine.plan_adoption()
        print(f"adoption: {dict(plan.counts)}, {len(plan.unadoptable)} cannot be, {plan.ours} have our envelope")
        changes = engine.apply_adoption(plan)
        report("every text is recalled after adoption", recalled(engine, texts).keys() == texts.keys())
        show("adopted", read_by_writers(store))
        engine.undo(changes[0].group)
        report("adoption undone to the letter", everything(store) == before)
        engine.close()
        store.conn.close()


def everything(store: BaseStore) -> dict[tuple[Any, ...], Any]:
    """Every item but those of our books."""
    items = store.search((), limit=1_000)
    return {(*item.namespace, item.key): item.value for item in items if item.namespace[0] != "__mnemoscope__"}


def recalled(engine: MemoryEngine, texts: dict[str, str]) -> dict[str, tuple[tuple[str, ...], str]]:
    """Where the memory of each text is, as recall finds it first."""
    found = {}
    for name, text in texts.items():
        namespace = SHARED if name == "langgraph-memory" else SPACE
        best = engine.recall(text, namespace, subtree=True, limit=1)[0].record
        print(f"recall {name:18} {'ok' if best.content == text else 'NOT FOUND'}  {best.content!r}")
        if best.content == text:
            found[name] = (best.namespace, best.key)
    return found


def edited(engine: MemoryEngine, refs: dict[str, tuple[tuple[str, ...], str]]) -> list[str]:
    """Change each text; the groups of the changes."""
    new = {name: f"{name} says it otherwise." for name in refs} | {"LangMem schema": "name: Ana\nage: 6"}
    return [engine.update(*ref, content=new[name]).group for name, ref in refs.items()]


def show(step: str, found: dict[str, str]) -> None:
    """Print what the packages read."""
    for name, text in found.items():
        print(f"{step:12} {name:18} reads  {text}")


def report(claim: str, holds: bool) -> None:
    """Print whether the claim holds."""
    print(f"{'ok' if holds else 'FAILED':6} {claim}")


if __name__ == "__main__":
    main()
