"""Managers: plans without a store, and a runnable that keeps the memories and the profile of a user up to date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypedDict, Unpack

from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel

from ..config import MemoryConfig
from ..consolidation.llm_consolidator import LLMConsolidator
from ..consolidation.plan import Plan, Terms
from ..consolidation.planner import Planner
from ..consolidation.remember import remember_unread
from ..consolidation.seen_turns import turns_in
from ..context import Context
from ..conversations.messages import read_messages
from ..core.execution import Step, Steps, arun, run
from ..core.namespaces import Namespace
from ..core.records import MemoryRecord
from ..core.text import shown
from ..core.times import Clock, utc_now
from ..embedding.encode import embed_texts
from ..embedding.hashing import HashingEmbeddings
from ..errors import ConfigurationError, InputError
from ..extraction.documents import DocumentExtractor
from ..extraction.facts import Consolidator, Extractor
from ..extraction.llm import LLMExtractor
from ..journal.changes import Change
from ..journal.provenance import came_from
from ..models.lenient import read_as
from ..stores.base import Write
from ..stores.choice import adapt
from .scopes import NamespaceSource
from .user_profiles import ProfileKeeper, profile_namespace

__all__ = ["Existing", "MemoryManager", "PlanOptions", "aplan_without_store", "plan_without_store"]


Existing: TypeAlias = "MemoryRecord | str | tuple[str, str]"
"""A memory that is there already: a record, a text, or a key with its text."""

_NOWHERE: Namespace = ("existing",)


class MemoryManager(Runnable[Any, list[Change]]):
    """Reads a conversation and changes the memories, and the profile, of its user; each turn once.

    `invoke` and `ainvoke` take messages, or a graph's state with "messages", and give the changes that were made,
    as the journal has them. Made by `engine.agents.manager(…)`.
    """

    def __init__(self, context: Context, scope: NamespaceSource, extractor: Any, profile: ProfileKeeper | None) -> None:
        self._context = context
        self._scope = scope
        self._extractor = extractor
        self._profile = profile

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> list[Change]:
        """Read a conversation, and change what it changes.

        Raises:
            MissingNamespaceError: the configuration names no namespace.
            ModelError: the model failed; nothing is written, and the turns count as not read.
        """
        return run(self._manage(input, ensure_config(config)))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> list[Change]:
        """The asynchronous form of `invoke`."""
        return await arun(self._manage(input, ensure_config(config)))

    def profile(self, config: RunnableConfig) -> BaseModel:
        """The user's profile as it is; its defaults where nothing is known.

        Raises:
            ConfigurationError: this manager keeps no profile.
        """
        return run(self._read(self._scope.namespace(config)))

    async def aprofile(self, config: RunnableConfig) -> BaseModel:
        """The asynchronous form of `profile`."""
        return await arun(self._read(self._scope.namespace(config)))

    def _manage(self, given: Any, config: RunnableConfig) -> Steps[list[Change]]:
        where = self._scope.namespace(config)
        messages = given.get("messages") if isinstance(given, Mapping) and "role" not in given else given
        transcript, reason = turns_in(messages), came_from("memory manager", config)
        changes: list[Change] = []
        if self._extractor is not None:
            planner, reader = Planner(self._context, self._extractor), _reader(self._extractor)
            applied = yield from remember_unread(
                self._context, planner, transcript, where, Terms(reason=reason), reader=reader
            )
            changes += applied.changes
        if self._profile is not None:
            changes += yield from self._profile.keep(self._context, where, transcript, reason=reason)
        return changes

    def _read(self, where: Namespace) -> Steps[BaseModel]:
        if self._profile is None:
            raise ConfigurationError("This manager keeps no profile; make one by engine.agents.manager(profile=…).")
        place = (profile_namespace(where), self._profile.key)
        (item,) = yield Step(self._context.adapter.get, ([place],))
        return read_as(self._profile.schema, self._profile.read(item))


def _reader(extractor: object) -> str:
    """Under which name a turn is marked as read: documents are read apart from plain facts."""
    return ",".join(sorted(extractor.schemas)) if isinstance(extractor, DocumentExtractor) else ""


class PlanOptions(TypedDict, total=False):
    """The options of `plan_without_store`."""

    model: Any
    extractor: Extractor | None
    consolidator: Consolidator | None
    embeddings: Embeddings | None
    config: MemoryConfig | None
    clock: Clock


def plan_without_store(messages: object, existing: Sequence[Existing] = (), **options: Unpack[PlanOptions]) -> Plan:
    """What a conversation would change of these memories: facts, decisions and changes, with no store at all.

    Args:
        messages: text, or messages in any form.
        existing: what is known: records, texts, or (key, text) pairs; a text gets its position as key ("0", "1", …).
        options: `model` (a chat model for extraction and consolidation, where they are not given), `extractor` and
            `consolidator` as for `MemoryEngine`, `embeddings` (how alike texts are; None compares words), `config`
            (thresholds; None offers every memory that has anything in common with a fact, up to 100), `clock`.

    Raises:
        ConfigurationError: there is neither a model nor both callables.
        InputError: a memory is none, or two have the same key.
    """
    return run(_plan(messages, existing, **options))


async def aplan_without_store(
    messages: object, existing: Sequence[Existing] = (), **options: Unpack[PlanOptions]
) -> Plan:
    """The asynchronous form of `plan_without_store`, with the same options."""
    return await arun(_plan(messages, existing, **options))


def _plan(
    messages: object,
    existing: Sequence[Existing],
    *,
    model: Any = None,
    extractor: Extractor | None = None,
    consolidator: Consolidator | None = None,
    embeddings: Embeddings | None = None,
    config: MemoryConfig | None = None,
    clock: Clock = utc_now,
) -> Steps[Plan]:
    if model is None and (extractor is None or consolidator is None):
        raise ConfigurationError("plan_without_store needs a model, or both extractor= and consolidator=.")
    embedder = embeddings or HashingEmbeddings()
    dimensions = len(embedder.embed_query("a"))
    records = [_record(memory, at, clock) for at, memory in enumerate(existing)]
    if len({record.key for record in records}) < len(records):
        raise InputError("Two of the existing memories have the same key.")
    context = Context.over(
        adapt(InMemoryStore(index={"dims": dimensions, "embed": embedder, "fields": ["content"]})),
        config=config or MemoryConfig(consolidation_threshold=1e-6, consolidation_limit=100),
        extractor=extractor if extractor is not None else LLMExtractor(model),
        consolidator=consolidator if consolidator is not None else LLMConsolidator(model),
        clock=clock,
        actor="agent",
    )
    if records:
        vectors = yield from embed_texts(context.adapter, [record.content for record in records])
        writes = [
            Write(_NOWHERE, record.key, record.to_value(), {"content": vectors[record.content]}) for record in records
        ]
        yield Step(context.adapter.write, (writes,))
    return (yield from Planner(context).from_transcript(read_messages(messages), _NOWHERE, Terms()))


def _record(memory: Existing, at: int, clock: Clock) -> MemoryRecord:
    if isinstance(memory, MemoryRecord):
        return memory
    key, text = (str(at), memory) if isinstance(memory, str) else memory
    if not isinstance(key, str) or not isinstance(text, str) or not text.strip():
        raise InputError(f"existing[{at}] must be a MemoryRecord, a text, or a key and a text, got {shown(memory)}.")
    return MemoryRecord(key, _NOWHERE, text, created_at=clock())
