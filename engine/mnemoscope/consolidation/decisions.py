"""Settlement: decisions become changes, one fact after the other, each seeing what the ones before it did.

It is pure, so a plan can be settled again after a person has left facts out or edited them.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..config import MemoryConfig
from ..core.namespaces import Namespace
from ..core.payloads import MADE_OF_FIELDS, cleaned_object
from ..core.records import Evidence, MemoryRecord
from ..core.text import normalise, storable
from ..errors import InputError
from ..extraction.documents import FIELDS
from ..extraction.facts import ACTIONS, ConsolidationDecision, ExtractedFact, Similar, readable
from ..stores.base import StoredItem
from .plan import ChangeKind, Plan, PlannedChange, PlannedFact, Terms

__all__ = ["Settlement", "choose", "edit_decision", "edit_fact", "memory_key", "merged_names", "records_of"]


_KEYS = uuid.UUID("6f1d7b0e-6a57-4c3c-9a55-6d0f4d4b7c11")


def memory_key(content: str, terms: Terms, salt: int = 0) -> str:
    """The key of a new memory: equal texts of equal visibility get the same one, so that two writers who
    insert the same fact at once collide instead of storing it twice. `salt` gives the next where it is taken.
    """
    owner = f"\x1f{terms.source}" if terms.private else ""
    return str(uuid.uuid5(_KEYS, f"{normalise(content)}{owner}\x1f{salt}"))


def merged_names(*lists: Sequence[str]) -> list[str]:
    """The names of all lists in order, each once."""
    return list(dict.fromkeys(name for names in lists for name in names))


def records_of(stored: Mapping[str, StoredItem]) -> dict[str, MemoryRecord]:
    """The memories among which a plan is settled, by key, from the items as they were read."""
    return {
        key: MemoryRecord.from_item(replace(item, value=cleaned_object(item.value))) for key, item in stored.items()
    }


@dataclass
class _Touched:
    facts: list[int]
    reason: str


class Settlement:
    """The memories of a namespace as the facts of one plan change them.

    `known` are memories at the start by key, `taken` keys in use; `run` is the plan's id.
    """

    def __init__(
        self,
        namespace: Namespace,
        terms: Terms,
        config: MemoryConfig,
        now: datetime,
        run: str,
        *,
        known: Mapping[str, MemoryRecord],
        taken: frozenset[str],
    ) -> None:
        self.terms = terms
        self.now = now
        self._namespace = namespace
        self._config = config
        self._run = run
        self._known = known
        self._taken = taken
        self._touched: dict[str, _Touched] = {}
        self._targets: dict[str, str] = {}
        self.current: dict[str, MemoryRecord | None] = {}

    def record(self, key: str) -> MemoryRecord | None:
        """The memory at this key as the facts so far leave it."""
        return self.current[key] if key in self.current else self._known.get(key)

    def settle(
        self, at: int, fact: ExtractedFact, compared: Similar, decision: ConsolidationDecision | None, note: str = ""
    ) -> PlannedFact:
        """Carry out one decision. None means that there was nothing to judge, or, with a `note`, no judgement."""
        if decision is None:
            return self._insert(at, fact, compared, None, note or "Nothing known is like it.", rejected=note or None)
        decision = _cleaned(decision)
        rejected = self._rejection(decision, compared)
        if rejected:
            reason = f"Inserted as it is, because the proposal was not accepted: {rejected}"
            return self._insert(at, fact, compared, decision, reason, rejected=rejected)
        for key in map(self._resolved, decision.also_forget):
            self._put(at, key, None, decision.reason)
        if decision.action == "insert":
            reworded = fact.model_copy(update={"content": _worded(fact, decision)})
            return self._insert(at, reworded, compared, decision, decision.reason or "It is new.", original=fact)
        return self._change(at, fact, compared, decision)

    def keep(
        self, at: int, fact: ExtractedFact, present: MemoryRecord, reason: str, compared: Similar | None = None
    ) -> PlannedFact:
        """Leave the memory as it is, because it already says so."""
        offered = compared or []
        if present.key not in {record.key for record, _ in offered}:
            offered = [(present, 1.0), *offered]
        return self.settle(
            at, fact, offered, ConsolidationDecision(action="skip", target_key=present.key, reason=reason)
        )

    def suppress(self, fact: ExtractedFact, reason: str) -> PlannedFact:
        """Leave the fact out, because a memory like it was forgotten."""
        return PlannedFact(fact, "suppressed", reason, None)

    def changes(self) -> tuple[PlannedChange, ...]:
        """What becomes of each memory, all facts taken together."""
        found: list[PlannedChange] = []
        for key, after in self.current.items():
            before, touched = self._known.get(key), self._touched[key]
            # A memory changed there and back within one plan is not changed at all.
            if (before and before.content) == (after and after.content):
                continue
            action: ChangeKind = "insert" if before is None else "forget" if after is None else "update"
            found.append(PlannedChange(action, key, before, after, touched.reason, tuple(touched.facts)))
        return tuple(found)

    def _rejection(self, decision: ConsolidationDecision, compared: Similar) -> str | None:
        if decision.action not in ACTIONS:
            return f"the action {decision.action!r} is none of {', '.join(ACTIONS)}"
        named = [] if decision.action == "insert" else [decision.target_key]
        offered = {self._resolved(record.key) for record, _ in compared}
        for target in [*named, *decision.also_forget]:
            key = self._resolved(target)
            if key not in offered:
                return f"the memory {target!r} was not among those offered"
            if self.record(key) is None:
                return f"the memory {key!r} is no longer there, because of an earlier fact or choice"
        reworded = self.record(self._resolved(decision.target_key)) if decision.action == "update" else None
        if reworded is not None and reworded.text_at == MADE_OF_FIELDS:
            return (
                f"the memory {reworded.key!r} is made of fields, which a sentence cannot stand in for; adopt it first"
            )
        if named and self._resolved(decision.target_key) in map(self._resolved, decision.also_forget):
            return f"the memory {decision.target_key!r} is to be kept and forgotten at once"
        return None

    def _resolved(self, key: str | None) -> str:
        # A fact of the same batch may have been merged into a memory instead of getting its own key.
        return self._targets.get(key or "", key or "")

    def _insert(
        self,
        at: int,
        fact: ExtractedFact,
        compared: Similar,
        decision: ConsolidationDecision | None,
        reason: str,
        *,
        rejected: str | None = None,
        original: ExtractedFact | None = None,
    ) -> PlannedFact:
        key = self._free_key(fact.content)
        self._put(at, key, self._new(fact, key), reason)
        self._targets[memory_key(fact.content, self.terms)] = key
        return PlannedFact(original or fact, "insert", reason, key, compared, decision, rejected)

    def _change(self, at: int, fact: ExtractedFact, compared: Similar, decision: ConsolidationDecision) -> PlannedFact:
        key = self._resolved(decision.target_key)
        present = self.record(key)
        assert present is not None, "checked by _rejection"
        self._targets[memory_key(fact.content, self.terms)] = key
        if decision.action == "forget":
            self._put(at, key, None, decision.reason)
            if decision.content:
                reworded = fact.model_copy(update={"content": _worded(fact, decision)})
                return replace(
                    self._insert(at, reworded, compared, decision, decision.reason, original=fact), outcome="insert"
                )
            return PlannedFact(fact, "forget", decision.reason, key, compared, decision)
        text = _worded(fact, decision)
        if decision.action == "update" and text != present.content:
            self._put(at, key, self._updated(present, fact, text), decision.reason)
            return PlannedFact(fact, "update", decision.reason, key, compared, decision)
        return PlannedFact(fact, "skip", decision.reason or "It is already known.", key, compared, decision)

    def _put(self, at: int, key: str, record: MemoryRecord | None, reason: str) -> None:
        touched = self._touched.setdefault(key, _Touched([], reason))
        touched.facts.append(at)
        touched.reason = reason
        self.current[key] = record

    def _free_key(self, content: str) -> str:
        salt = 0
        while (key := memory_key(content, self.terms, salt)) in self._taken or key in self.current:
            salt += 1
        return key

    def _new(self, fact: ExtractedFact, key: str) -> MemoryRecord:
        terms = self.terms
        return MemoryRecord(
            key=key,
            namespace=self._namespace,
            content=fact.content,
            categories=merged_names(fact.categories, terms.categories),
            importance=self._importance(fact, self._config.default_importance),
            created_at=self.now,
            last_accessed=self.now,
            source=terms.source,
            private=terms.private,
            metadata={**fact.metadata, **terms.metadata},
            evidence=[self._evidence(fact)],
        )

    def _updated(self, present: MemoryRecord, fact: ExtractedFact, text: str) -> MemoryRecord:
        return replace(
            present,
            content=text,
            categories=merged_names(present.categories, fact.categories, self.terms.categories),
            importance=self._importance(fact, present.importance),
            metadata={**present.metadata, **fact.metadata, **self.terms.metadata},
            updated_at=self.now,
            revision=present.revision + 1,
            evidence=[*present.evidence, self._evidence(fact)],
        )

    def _importance(self, fact: ExtractedFact, otherwise: float | None) -> float | None:
        if self.terms.importance is not None:
            return self.terms.importance
        return otherwise if fact.importance is None else fact.importance

    def _evidence(self, fact: ExtractedFact) -> Evidence:
        return Evidence(self.terms.source, fact.message_ids, fact.quote, fact.said_at, self._run, fact.date)


def _worded(fact: ExtractedFact, decision: ConsolidationDecision) -> str:
    # The text of a document follows from its fields, so a judge does not reword it.
    return fact.content if FIELDS in fact.metadata else decision.content or fact.content


def _cleaned(decision: ConsolidationDecision) -> ConsolidationDecision:
    text = storable(decision.content or "")[0].strip()
    return decision.model_copy(update={"content": text or None, "reason": storable(decision.reason)[0]})


def choose(plan: Plan, chosen: Sequence[int]) -> Plan:
    """The same plan with these facts alone (positions in `plan.facts`), for committing a selection.

    Raises:
        InputError: there is no fact at one of the positions.
    """
    for at in chosen:
        _check_position(plan, at)
    kept = frozenset(chosen)
    return _settled_again(plan, [replace(fact, chosen=at in kept) for at, fact in enumerate(plan.facts)])


def edit_fact(plan: Plan, at: int, fact: ExtractedFact) -> Plan:
    """The same plan with another fact at this position, decided as the one before it.

    Raises:
        InputError: there is no fact at this position, or this one has no text.
    """
    _check_position(plan, at)
    clean = readable(fact)
    if clean is None or not clean.content:
        raise InputError("A fact needs some text; leave it out of the plan instead of emptying it.")
    edited = list(plan.facts)
    edited[at] = replace(edited[at], fact=clean)
    return _settled_again(plan, edited)


def edit_decision(plan: Plan, at: int, decision: ConsolidationDecision) -> Plan:
    """The same plan with another decision for the fact at this position; it overrules a suppression too."""
    _check_position(plan, at)
    edited = list(plan.facts)
    edited[at] = replace(edited[at], decision=decision, outcome="insert")
    return _settled_again(plan, edited)


def _check_position(plan: Plan, at: int) -> None:
    if not 0 <= at < len(plan.facts):
        raise InputError(f"The plan has {len(plan.facts)} facts, counted from 0; there is none at {at}.")


def _settled_again(plan: Plan, facts: list[PlannedFact]) -> Plan:
    known = records_of(plan.stored)
    settlement = Settlement(
        plan.namespace, plan.terms, plan.config, plan.created_at, plan.id, known=known, taken=plan.taken
    )
    settled = [_again(settlement, at, fact) for at, fact in enumerate(facts)]
    return replace(plan, facts=tuple(settled), changes=settlement.changes())


def _again(settlement: Settlement, at: int, planned: PlannedFact) -> PlannedFact:
    if not planned.chosen or planned.outcome == "suppressed":
        return planned
    note = planned.reason if planned.decision is None and planned.rejected else ""
    settled = settlement.settle(at, planned.fact, planned.compared, planned.decision, note)
    return replace(settled, collapsed=planned.collapsed)
