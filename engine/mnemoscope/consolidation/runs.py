"""`Run`: what one applied plan read, decided and wrote, kept so that memories and turns lead to each other."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from ..conversations.messages import Message
from ..core.frozen import KeepsTuples
from ..core.namespaces import Namespace
from ..core.payloads import cleaned_object
from ..core.text import storable
from ..core.times import from_iso, read_time, to_iso
from ..errors import ModelCall
from ..extraction.screening import looks_like_secret
from ..extraction.sensitive import masked, sensitive_parts
from ..journal.changes import book
from ..stores.base import StoredItem, Write
from .plan import Plan, PlannedFact

__all__ = ["NOT_KEPT", "Run", "RunFact", "run_of", "run_write", "without_transcript"]


NOT_KEPT = "[not kept: it spoke of a secret]"
"""What stands in a kept transcript in place of a sentence with a password, key or card number."""

_LONGEST_TRANSCRIPT = 200_000
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")


def _turn_value(message: Message) -> dict[str, Any]:
    said_at = to_iso(message.said_at) if message.said_at else None
    return {"id": message.id, "role": message.role, "text": message.text, "name": message.name, "said_at": said_at}


@dataclass(frozen=True)
class RunFact(KeepsTuples):
    """One fact of a run: what it says and rests on, what was decided, and the memory that it led to.

    `target` is the key of the memory inserted, updated, kept or forgotten, `also_forgot` those withdrawn with it, and
    `compared` the similarity to each memory it was compared with, by key. `chosen` is False for one that was left
    out before the plan was applied, `erased` says that its texts were removed for good. `date` is the day that the
    fact speaks of.
    """

    content: str
    outcome: str
    reason: str
    target: str | None
    message_ids: tuple[str, ...] = ()
    quote: str | None = None
    categories: tuple[str, ...] = ()
    said_at: datetime | None = None
    action: str | None = None
    rejected: str | None = None
    also_forgot: tuple[str, ...] = ()
    compared: Mapping[str, float] = field(default_factory=dict)
    collapsed: int = 0
    chosen: bool = True
    erased: bool = False
    date: str | None = None

    def to_value(self) -> dict[str, Any]:
        """The stored form."""
        return {**asdict(self), "said_at": to_iso(self.said_at) if self.said_at else None}

    @classmethod
    def from_value(cls, value: Mapping[str, Any]) -> RunFact:
        """Read the stored form."""
        lists = {name: tuple(value[name]) for name in ("message_ids", "categories", "also_forgot")}
        return cls(**{**value, **lists, "said_at": read_time(value["said_at"])})


@dataclass(frozen=True)
class Run(KeepsTuples):
    """One plan as it was applied; `at` is when it was made.

    `source` is the caller's name for the conversation, `settings` the configuration in full, and `calls` the model
    calls without what the model answered. `messages` are the spoken turns, sentences with secrets left out;
    `not_kept` counts turns that are not there, because of their length, because transcripts are not kept, or because
    they were removed.
    """

    id: str
    namespace: Namespace
    at: datetime
    actor: str
    source: str | None
    reason: str
    extractor: str
    consolidator: str
    prompt_versions: Mapping[str, str]
    settings: Mapping[str, Any]
    messages: tuple[Message, ...]
    not_kept: int
    facts: tuple[RunFact, ...]
    calls: tuple[ModelCall, ...]
    left_out: Mapping[str, int]
    held_back: Mapping[str, int]
    remarks: Mapping[str, int]
    seconds: float

    def facts_of_turn(self, message_id: str) -> list[RunFact]:
        """What was taken out of this turn; each leads to its memory."""
        return [fact for fact in self.facts if message_id in fact.message_ids]

    def facts_of_memory(self, key: str) -> list[RunFact]:
        """What led to this memory."""
        return [fact for fact in self.facts if fact.chosen and key in (fact.target, *fact.also_forgot)]

    def turns_of_memory(self, key: str) -> list[Message]:
        """The turns that this memory came from, in order."""
        ids = {name for fact in self.facts_of_memory(key) for name in fact.message_ids}
        return [message for message in self.messages if message.id in ids]

    def to_value(self) -> dict[str, Any]:
        """The stored form."""
        messages = [_turn_value(each) for each in self.messages]
        calls = [{name: part for name, part in asdict(call).items() if name != "raw"} for call in self.calls]
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            "kind": "run",
            "namespace": list(self.namespace),
            "at": to_iso(self.at),
            "messages": messages,
            "facts": [fact.to_value() for fact in self.facts],
            "calls": calls,
            **{name: dict(getattr(self, name)) for name in _TABLES},
        }

    @classmethod
    def from_item(cls, item: StoredItem) -> Run:
        """Read a stored run."""
        value = item.value
        messages = [Message(**{**each, "said_at": read_time(each["said_at"])}) for each in value["messages"]]
        return cls(
            **{name: value[name] for name in (*_PLAIN, *_TABLES)},
            namespace=tuple(value["namespace"]),
            at=from_iso(value["at"]),
            messages=tuple(messages),
            facts=tuple(RunFact.from_value(each) for each in value["facts"]),
            calls=tuple(ModelCall(**each) for each in value["calls"]),
        )


_PLAIN = ("id", "actor", "source", "reason", "extractor", "consolidator", "not_kept", "seconds")
_TABLES = ("prompt_versions", "settings", "left_out", "held_back", "remarks")


def run_of(plan: Plan, *, actor: str) -> Run:
    """What is kept of a plan once it is applied."""
    spoken = [each for each in plan.messages if each.role in ("user", "assistant")]
    kept = _kept(spoken, plan.facts) if plan.config.keep_transcripts else []
    return Run(
        id=plan.id,
        namespace=plan.namespace,
        at=plan.created_at,
        actor=actor,
        source=plan.terms.source,
        reason=plan.terms.reason,
        extractor=plan.extractor,
        consolidator=plan.consolidator,
        prompt_versions=plan.prompt_versions,
        settings=asdict(plan.config),
        messages=tuple(kept),
        not_kept=len(spoken) - len(kept),
        facts=tuple(map(_run_fact, plan.facts)),
        calls=plan.calls,
        left_out=plan.left_out,
        held_back=plan.held_back,
        remarks=plan.remarks,
        seconds=plan.seconds,
    )


def run_write(run: Run) -> Write:
    """The write that keeps a run."""
    return Write(book("runs", run.namespace), run.id, cleaned_object(run.to_value()))


def without_transcript(run: Run) -> Run:
    """The run without its turns and the quotes out of them."""
    facts = tuple(replace(fact, quote=None) for fact in run.facts)
    return replace(run, messages=(), not_kept=run.not_kept + len(run.messages), facts=facts)


def _kept(spoken: Sequence[Message], facts: Sequence[PlannedFact]) -> list[Message]:
    """The turns that facts rest on, and of the others as many as there is room for, in order."""
    cited = {name for planned in facts for name in planned.fact.message_ids}
    room = _LONGEST_TRANSCRIPT - sum(len(each.text) for each in spoken if each.id in cited)
    kept = []
    for message in spoken:
        if message.id not in cited:
            if len(message.text) > room:
                continue
            room -= len(message.text)
        kept.append(replace(message, text=_without_secrets(message.text)))
    return kept


def _without_secrets(text: str) -> str:
    pieces, start = [], 0
    for end in [*_SENTENCE_END.finditer(text), None]:
        piece = text[start : end.start() if end else len(text)]
        pieces.append(NOT_KEPT if looks_like_secret(piece) else piece)
        if end:
            pieces.append(end.group())
            start = end.end()
    clean = "".join(pieces)
    for kind, part in sensitive_parts(clean):
        clean = clean.replace(part, masked(part)) if kind.is_secret else clean
    return storable(clean)[0]


def _run_fact(planned: PlannedFact) -> RunFact:
    fact, decision = planned.fact, planned.decision
    is_followed = decision is not None and planned.rejected is None
    return RunFact(
        content=fact.content,
        outcome=planned.outcome,
        reason=planned.reason,
        target=planned.target,
        message_ids=tuple(fact.message_ids),
        quote=fact.quote,
        categories=tuple(fact.categories),
        said_at=fact.said_at,
        action=decision.action if decision else None,
        rejected=planned.rejected,
        also_forgot=tuple(decision.also_forget) if decision and is_followed else (),
        compared={record.key: round(similarity, 4) for record, similarity in planned.compared},
        collapsed=planned.collapsed,
        chosen=planned.chosen,
        date=fact.date,
    )
