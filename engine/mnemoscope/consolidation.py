"""`LLMConsolidator`: one call of a chat model decides what becomes of all facts of a batch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from .errors import ModelError
from .facts import ConsolidationDecision, ExtractedFact, Judgement, Similar
from .models import Answer, Asker, prompt_text
from .records import MemoryRecord

__all__ = ["LLMConsolidator"]

Request: TypeAlias = tuple[ExtractedFact, Similar]


class _Proposal(BaseModel):
    """What to do with one fact."""

    fact: int = Field(description="The number of the fact.")
    action: str = Field(description='"insert", "update", "skip" or "forget".')
    label: int | None = Field(default=None, description="The label of the memory that is meant.")
    content: str | None = Field(default=None, description="For update: the text the memory should have from now on.")
    reason: str = Field(default="", description="Why, in a few words.")


class _Proposals(BaseModel):
    """The decisions, one for each fact."""

    decisions: list[_Proposal] = Field(default_factory=list)


class LLMConsolidator:
    """Judges facts with a chat model; `prompt` replaces the instructions that ship with the library."""

    def __init__(self, model: Any, *, prompt: str | None = None) -> None:
        self._asker = Asker(model, _Proposals, "consolidate")
        self._prompt = prompt or prompt_text("consolidate")

    @property
    def label(self) -> str:
        """The name under which it is shown."""
        return self._asker.model_name

    def __call__(self, fact: ExtractedFact, similar: Similar) -> ConsolidationDecision:
        """The decision for one fact; an insert where the model gives none."""
        judgement = self.judge([(fact, similar)])
        return judgement.decisions[0] or ConsolidationDecision(action="insert", reason=judgement.notes.get(0, ""))

    def judge(self, requests: Sequence[Request]) -> Judgement:
        """The decisions for all facts, in one call. A model that fails loses no fact: the notes say why."""
        try:
            return _judgement(self._asker.ask(self._asked(requests)), requests)
        except ModelError as error:
            return _failed(requests, error)

    async def ajudge(self, requests: Sequence[Request]) -> Judgement:
        """The asynchronous form of `judge`."""
        try:
            return _judgement(await self._asker.aask(self._asked(requests)), requests)
        except ModelError as error:
            return _failed(requests, error)

    def _asked(self, requests: Sequence[Request]) -> list[BaseMessage]:
        lines = [
            json.dumps(
                {
                    "fact": number,
                    "text": fact.content,
                    "said_at": fact.said_at.date().isoformat() if fact.said_at else None,
                    "memories": [_shown(label, record) for label, (record, _) in enumerate(similar, start=1)],
                },
                ensure_ascii=False,
            )
            for number, (fact, similar) in enumerate(requests, start=1)
        ]
        return [SystemMessage(self._prompt), HumanMessage("\n".join(["The facts, one JSON object a line:", *lines]))]


def _shown(label: int, record: MemoryRecord) -> dict[str, object]:
    return {
        "label": label,
        "text": record.content,
        "date": record.changed_at.date().isoformat(),
        "categories": record.categories,
    }


def _judgement(answer: Answer[_Proposals], requests: Sequence[Request]) -> Judgement:
    proposals = {proposal.fact: proposal for proposal in reversed(answer.value.decisions)}
    decisions: list[ConsolidationDecision | None] = []
    notes: dict[int, str] = {}
    for at, (_, similar) in enumerate(requests):
        proposal = proposals.get(at + 1)
        if proposal is None:
            notes[at] = "Inserted as it is, because the judge gave no decision for it."
            decisions.append(None)
            continue
        decisions.append(_decision(proposal, similar))
    return Judgement(decisions, answer.calls, notes)


def _decision(proposal: _Proposal, similar: Similar) -> ConsolidationDecision:
    key = None
    if proposal.label is not None:
        # A label that was not offered stays visible, as the proposal that is then rejected.
        offered = 1 <= proposal.label <= len(similar)
        key = similar[proposal.label - 1][0].key if offered else f"label {proposal.label}"
    return ConsolidationDecision(
        action=proposal.action.strip().lower(), target_key=key, content=proposal.content or None, reason=proposal.reason
    )


def _failed(requests: Sequence[Request], error: ModelError) -> Judgement:
    note = f"Inserted as it is, because the judge failed: {error}"
    return Judgement([None] * len(requests), (), dict.fromkeys(range(len(requests)), note))
