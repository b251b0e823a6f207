"""`LLMConsolidator`: one call of a chat model decides what becomes of all facts of a batch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from ..core.execution import Step, Steps, arun, run
from ..core.records import MemoryRecord
from ..core.text import json_line, one_line, storable
from ..errors import ModelError
from ..extraction.facts import ConsolidationDecision, ExtractedFact, Judgement, Similar
from ..models.answers import ListForm
from ..models.client import Answer, Asker, Prompt, prompt_version

__all__ = ["LLMConsolidator"]


Request: TypeAlias = tuple[ExtractedFact, Similar]

_NO_DECISION = "Inserted as it is, because the judge gave no decision for it."
_LONGEST_REASON = 500
_MOST_TARGETS = 100
_LABEL = re.compile(r"\d{1,6}")


class _Decision(BaseModel):
    """What to do with one fact."""

    model_config = ConfigDict(extra="forbid", title="Decision")

    fact: int = Field(description="The number of the fact.")
    action: str = Field(description='"insert", "update", "skip" or "forget".')
    label: int | None = Field(description="The label of the memory that is meant; null for insert.")
    content: str | None = Field(description="For update: the text the memory should have from now on; else null.")
    also_forget: list[int] = Field(description="Labels of further memories that the fact makes untrue; mostly empty.")
    reason: str = Field(description="Why, in a few words.")


class _Decisions(BaseModel):
    """The decisions, one for each fact."""

    model_config = ConfigDict(extra="forbid", title="Decisions")

    decisions: list[_Decision]


class LLMConsolidator:
    """Judges the facts of a batch with a chat model, in one call; two where the first answer cannot be read.

    The model sees small whole numbers for memories, never keys. What it proposes for a memory that was not offered
    with that fact is shown as a rejected proposal, and the fact is inserted.

    Args:
        model: a LangChain chat model, or a name that `init_chat_model` takes.
        prompt: instructions instead of those that ship with the library, or what gives them at each call.
    """

    def __init__(self, model: Any, *, prompt: str | Callable[[], str] | None = None) -> None:
        self._asker = Asker(model, ListForm(_Decisions, key="decisions", mark="fact"), "consolidate")
        self._prompt = Prompt(prompt, "consolidate")

    @property
    def label(self) -> str:
        """The name under which it is shown."""
        return self._asker.model_name

    @property
    def prompt(self) -> str:
        """The instructions that the last call followed, or that the first one will."""
        return self._prompt.text

    @property
    def prompt_version(self) -> str:
        """A short name for the exact wording of its prompt."""
        return prompt_version(self.prompt)

    def __call__(self, fact: ExtractedFact, similar: Similar) -> ConsolidationDecision:
        """The decision for one fact; an insert where the model gives none."""
        judgement = self.judge([(fact, similar)])
        return judgement.decisions[0] or ConsolidationDecision(action="insert", reason=judgement.notes[0])

    def judge(self, requests: Sequence[Request]) -> Judgement:
        """The decisions for all facts, in one call. A model that fails loses no fact: the notes say why."""
        return run(self._steps(requests))

    def judge_once(self, requests: Sequence[Request]) -> Judgement:
        """Like `judge`, but an answer that cannot be read is not asked for again."""
        return run(self._steps(requests, repairs=False))

    async def ajudge_once(self, requests: Sequence[Request]) -> Judgement:
        """The asynchronous form of `judge_once`."""
        return await arun(self._steps(requests, repairs=False))

    async def ajudge(self, requests: Sequence[Request]) -> Judgement:
        """The asynchronous form of `judge`."""
        return await arun(self._steps(requests))

    def _steps(self, requests: Sequence[Request], *, repairs: bool = True) -> Steps[Judgement]:
        if not requests:
            return Judgement([])
        labels = _labels(requests)
        try:
            instructions = yield Step(self._prompt.now)
            answer = yield from self._asker.ask(instructions, _fenced(requests, labels), repairs=repairs)
        except ModelError as error:
            note = f"Inserted as it is, because the judge failed: {error}"
            return Judgement([None] * len(requests), error.calls, dict.fromkeys(range(len(requests)), note))
        return _judgement(answer, len(requests), {label: key for key, label in labels.items()})


def _labels(requests: Sequence[Request]) -> dict[str, int]:
    """A label for each memory that is offered with any of the facts, by its key."""
    keys = dict.fromkeys(record.key for _, similar in requests for record, _ in similar)
    return {key: label for label, key in enumerate(keys, start=1)}


def _fenced(requests: Sequence[Request], labels: Mapping[str, int]) -> str:
    """Memories and facts as JSON, one a line: no text inside can pose as another line."""
    records = {record.key: record for _, similar in requests for record, _ in similar}
    memories = [_memory(labels[key], record) for key, record in records.items()]
    facts = [_fact(number, request, labels) for number, request in enumerate(requests, start=1)]
    return "\n".join(["The memories, one JSON object a line:", *memories, "The facts:", *facts, "End of the facts."])


def _memory(label: int, record: MemoryRecord) -> str:
    shown: dict[str, object] = {"memory": label, "text": record.content, "categories": record.categories}
    # An earlier fact of the batch has no namespace yet.
    shown |= {"date": f"{record.changed_at:%Y-%m-%d}"} if record.namespace else {"from_this_conversation": True}
    return json_line(shown)


def _fact(number: int, request: Request, labels: Mapping[str, int]) -> str:
    fact, similar = request
    shown: dict[str, object] = {"fact": number, "text": fact.content, "categories": fact.categories}
    if fact.said_at:
        shown["said_at"] = f"{fact.said_at:%Y-%m-%d}"
    return json_line(shown | {"similar": [labels[record.key] for record, _ in similar]})


def _judgement(answer: Answer, count: int, keys: Mapping[int, str]) -> Judgement:
    found: dict[int, ConsolidationDecision] = {}
    remarks: Counter[str] = Counter()
    for item in answer.items:
        number = _whole_number(item.get("fact")) if isinstance(item, Mapping) else None
        if not isinstance(item, Mapping) or number is None or not 1 <= number <= count:
            remarks["decision for no fact that was asked about"] += 1
        elif number in found:
            remarks["second decision for the same fact"] += 1
        else:
            found[number] = _decision(item, keys)
    if answer.is_partial:
        remarks["answer of which only a part could be read"] += 1
    decisions = [found.get(number) for number in range(1, count + 1)]
    notes = {at: _NO_DECISION for at, decision in enumerate(decisions) if decision is None}
    return Judgement(decisions, answer.calls, notes, dict(remarks))


def _decision(item: Mapping[str, object], keys: Mapping[int, str]) -> ConsolidationDecision:
    action = _text(item.get("action")).lower()
    return ConsolidationDecision(
        action=action,
        target_key=None if action == "insert" else _target(item.get("label"), keys),
        content=_text(item.get("content")) or None if action in ("update", "forget") else None,
        reason=one_line(_text(item.get("reason")))[:_LONGEST_REASON],
        also_forget=_further(item.get("also_forget"), keys),
    )


def _further(labels: object, keys: Mapping[int, str]) -> list[str]:
    given = labels if isinstance(labels, list) else [labels]
    return [target for label in given[:_MOST_TARGETS] if (target := _target(label, keys)) is not None]


def _target(label: object, keys: Mapping[int, str]) -> str | None:
    if label is None:
        return None
    # A label that was not offered stays visible, as the proposal that is then rejected.
    return keys.get(_whole_number(label) or 0) or f"label {one_line(str(label))[:40]}"


def _whole_number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and _LABEL.fullmatch(value.strip()):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else None


def _text(value: object) -> str:
    return storable(value)[0].strip() if isinstance(value, str) else ""
