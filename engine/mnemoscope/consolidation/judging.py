"""Judging: what becomes of each fact, in turn, whatever the consolidator answers or raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..config import MemoryConfig
from ..core.execution import Step, Steps, guard_call
from ..core.records import MemoryRecord
from ..core.text import normalise, one_line, shown
from ..errors import ModelError
from ..extraction.facts import ConsolidationDecision, ExtractedFact, Judgement, Similar
from ..extraction.rules.consolidator import RuleConsolidator
from ..extraction.screening import screen
from ..journal.changes import Tombstone
from ..models.client import CALLS_A_QUESTION
from .decisions import Settlement, memory_key, merged_names
from .drafts import Draft
from .lookup import KEYS_TRIED, Known, usable
from .plan import PlannedFact, Terms

__all__ = ["RULES_STOOD_IN", "Judging"]


RULES_STOOD_IN = "fact judged by rules, since reading the conversation took both model calls"
"""The remark on facts for which no model call was left."""


class Judging:
    """Settles the drafts of one plan, asking the consolidator where something known is like a fact.

    `earlier` are the same facts as a plan before this one settled them: where a fact is still offered the same
    memories its decision stands, and nobody is asked again. `most_calls` of a model may judge all of them: with 1 an
    answer that cannot be read is not asked for again, and with 0 the rules decide.
    """

    def __init__(
        self,
        consolidator: Any,
        config: MemoryConfig,
        drafts: Sequence[Draft],
        known: Known,
        settlement: Settlement,
        earlier: Sequence[PlannedFact] = (),
        most_calls: int = CALLS_A_QUESTION,
    ) -> None:
        is_model = hasattr(consolidator, "judge_once")
        self._rules_stand_in = is_model and not most_calls
        self._is_asked_once = is_model and most_calls == 1
        self._consolidator = RuleConsolidator() if self._rules_stand_in else consolidator
        self._config = config
        self._drafts = drafts
        self._known = known
        self._settlement = settlement
        self._earlier = earlier

    def settled(self) -> Steps[tuple[list[PlannedFact], Judgement]]:
        """Every fact with what becomes of it, and the judgement where one was given for all together."""
        if hasattr(self._consolidator, "judge"):
            return (yield from self._together())
        settled = yield from self._in_turn()
        judged = sum(each.decision is not None and bool(each.compared) for each in settled)
        return settled, Judgement([], remarks={RULES_STOOD_IN: judged} if self._rules_stand_in and judged else {})

    def _in_turn(self) -> Steps[list[PlannedFact]]:
        settled: list[PlannedFact] = []
        for at, draft in enumerate(self._drafts):
            early = self._settled_early(at, self._present_offers(at))
            if isinstance(early, PlannedFact):
                settled.append(replace(early, collapsed=draft.collapsed))
                continue
            decision: ConsolidationDecision | None = None
            note = ""
            if early and self._consolidator is not None:
                decision = self._standing(at, early)
                if decision is None:
                    decision, note = yield from self._ask(draft.fact, early)
            planned = self._settlement.settle(at, draft.fact, early, decision, note)
            settled.append(replace(planned, collapsed=draft.collapsed))
        return settled

    def _ask(self, fact: ExtractedFact, similar: Similar) -> Steps[tuple[ConsolidationDecision | None, str]]:
        try:
            answer = yield from guard_call(Step(self._consolidator, (fact, similar)), "The judge")
        except ModelError as error:
            return None, _failed(error)
        return _decision(answer, fact)

    def _together(self) -> Steps[tuple[list[PlannedFact], Judgement]]:
        """Offers are made from the state at the start and the earlier facts; decisions are then settled in turn."""
        offers = [self._pending_offers(at) for at in range(len(self._drafts))]
        standing = {at: self._standing(at, similar) for at, similar in enumerate(offers)}
        asked = [
            at
            for at, similar in enumerate(offers)
            if similar and standing[at] is None and self._needs_judge(at, similar)
        ]
        judgement = yield from self._judgement([(self._drafts[at].fact, offers[at]) for at in asked])
        answers = {
            at: _decision(answer, self._drafts[at].fact) for at, answer in zip(asked, judgement.decisions, strict=True)
        }
        notes = {asked[at]: note for at, note in judgement.notes.items() if 0 <= at < len(asked)}
        settled = []
        for at, draft in enumerate(self._drafts):
            early = self._settled_early(at, offers[at])
            if not isinstance(early, PlannedFact):
                decision, note = answers.get(at, (standing[at], ""))
                early = self._settlement.settle(at, draft.fact, offers[at], decision, notes.get(at, note))
            settled.append(replace(early, collapsed=draft.collapsed))
        return settled, judgement

    def _judgement(self, requests: Sequence[tuple[ExtractedFact, Similar]]) -> Steps[Judgement]:
        if not requests:
            return Judgement([])
        judge, name = self._consolidator, "judge_once" if self._is_asked_once else "judge"
        try:
            step = Step(getattr(judge, name), (requests,), getattr(judge, f"a{name}", None))
            answer = yield from guard_call(step, "The judge")
        except ModelError as error:
            return _no_judgement(len(requests), _failed(error), error)
        if not isinstance(answer, Judgement) or len(answer.decisions) != len(requests):
            note = f"Inserted as it is, because the judge answered {shown(answer)} to {len(requests)} facts."
            return _no_judgement(len(requests), note)
        return answer

    def _standing(self, at: int, similar: Similar) -> ConsolidationDecision | None:
        """The decision of the plan before this one, where it was about the same memories."""
        if at >= len(self._earlier) or not similar:
            return None
        before = self._earlier[at]
        return before.decision if _texts(before.compared) == _texts(similar) else None

    def _needs_judge(self, at: int, similar: Similar) -> bool:
        if at in self._known.stones or at in self._known.learned:
            return False
        text = normalise(self._drafts[at].fact.content)
        return all(normalise(record.content) != text for record, _ in similar)

    def _settled_early(self, at: int, similar: Similar) -> PlannedFact | Similar:
        """The fact settled without any judge, or else the memories to judge it against."""
        fact, settlement = self._drafts[at].fact, self._settlement
        if at in self._known.stones:
            return settlement.suppress(fact, _suppression(self._known.stones[at]))
        if at in self._known.learned:
            learned = self._known.learned[at]
            return settlement.keep(at, fact, learned, "This turn was already learned from, by the same words.")
        text = normalise(fact.content)
        for record, _ in similar:
            present = settlement.record(record.key) or record
            if normalise(present.content) == text:
                return settlement.keep(at, fact, record, "It is already known.", similar)
        for salt in range(KEYS_TRIED):
            twin = settlement.record(memory_key(fact.content, settlement.terms, salt))
            if twin and normalise(twin.content) == text and usable(twin, settlement.terms, settlement.now):
                return settlement.keep(at, fact, twin, "It is already known.", similar)
        return similar

    def _present_offers(self, at: int) -> Similar:
        """Similar memories as the facts before this one have left them, those facts' own included."""
        current = self._settlement.current
        untouched = [pair for pair in self._known.similar[at] if pair[0].key not in current]
        near = {self._drafts[earlier].fact.content: cosine for earlier, cosine in self._near(at)}
        records = [record for record in current.values() if record is not None] if near else []
        return self._cut(untouched + [(each, near[each.content]) for each in records if each.content in near])

    def _pending_offers(self, at: int) -> Similar:
        terms = self._settlement.terms
        earlier = [
            (_pending(self._drafts[position].fact, terms, self._config), cosine) for position, cosine in self._near(at)
        ]
        return self._cut(self._known.similar[at] + earlier)

    def _near(self, at: int) -> list[tuple[int, float]]:
        """The earlier facts that are like this one, by position, with their cosines."""
        if self._config.consolidation_threshold >= 1.0 or not at or not len(self._matrix):
            return []
        cosines = np.minimum(self._matrix[:at] @ self._matrix[at], 1.0)
        near = np.flatnonzero(cosines >= self._config.consolidation_threshold)
        return [(position, float(cosines[position])) for position in near.tolist()]

    @cached_property
    def _matrix(self) -> NDArray[np.float32]:
        """The vectors of the facts, in their order; none where the store keeps its embedder to itself."""
        vectors = self._known.vectors
        return np.array([vectors[draft.fact.content] for draft in self._drafts] if vectors else [], np.float32)

    def _cut(self, similar: Similar) -> Similar:
        if self._config.consolidation_threshold >= 1.0:
            return []
        near = [pair for pair in similar if pair[1] >= self._config.consolidation_threshold]
        return sorted(near, key=lambda pair: -pair[1])[: self._config.consolidation_limit]


def _texts(similar: Similar) -> dict[str, str]:
    return {record.key: record.content for record, _ in similar}


def _decision(answer: object, fact: ExtractedFact) -> tuple[ConsolidationDecision | None, str]:
    if isinstance(answer, ConsolidationDecision):
        fault = screen(answer.content or "")
        # What the fact says itself was let in already: by the extractor's screening, or by a caller's own decision.
        if fault is None or screen(fact.content) is not None:
            return answer, ""
        return None, f"Inserted as it is, because the judge's wording looks like {_NAMED[fault]}."
    return None, f"Inserted as it is, because the judge answered {shown(answer)} instead of a decision."


_NAMED = {"secret": "a secret", "instruction": "an instruction"}


def _failed(error: ModelError) -> str:
    return f"Inserted as it is, because the judge failed: {error}"


def _no_judgement(count: int, note: str, error: ModelError | None = None) -> Judgement:
    notes: Mapping[int, str] = dict.fromkeys(range(count), note)
    return Judgement([None] * count, error.calls if error else (), notes)


def _suppression(stone: Tombstone) -> str:
    why = f": {one_line(stone.reason)}" if stone.reason else ""
    return (
        f"Suppressed, because {one_line(stone.actor)} forgot a memory like it on "
        f"{stone.forgotten_at:%Y-%m-%d}{why}. Allow it again to let it be remembered."
    )


def _pending(fact: ExtractedFact, terms: Terms, config: MemoryConfig) -> MemoryRecord:
    """An earlier fact of the same batch, as the memory it is going to be."""
    return MemoryRecord(
        key=memory_key(fact.content, terms),
        namespace=(),
        content=fact.content,
        categories=merged_names(fact.categories, terms.categories),
        importance=config.default_importance if fact.importance is None else fact.importance,
        source=terms.source,
        private=terms.private,
    )
