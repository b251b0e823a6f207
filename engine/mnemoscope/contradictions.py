"""Contradictions: two memories of which the later one says that the earlier one no longer holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TypeAlias

import numpy as np

from .facts import ConsolidationDecision, ExtractedFact, Judgement
from .findings import Finding, found, proposed
from .records import MemoryRecord
from .rule_consolidation import compare_statements
from .survey import Survey

__all__ = ["contradictions", "said_at"]

COMPARED = 20
"""How many earlier values of one attribute the latest ones are compared with."""

JUDGED = 40
"""How many pairs a model is asked about in one call, the most similar of them."""

_Pairs: TypeAlias = dict[tuple[int, int], float | None]


def contradictions(survey: Survey) -> list[Finding]:
    """Pairs of one sphere, the later memory first, with the reason why both cannot hold.

    Candidates are memories with another value for the same attribute of the same subject, and similar ones.
    Rules decide; where a judge is given, it decides about the most similar pairs instead of the rules.
    """
    candidates = _candidates(survey)
    judged = _judged(survey, candidates) if survey.judge is not None else {}
    findings = []
    for (later, earlier), similarity in candidates.items():
        if (later, earlier) in judged:
            reason = judged[later, earlier]
        else:
            comparison = compare_statements(survey.statement(later), survey.statement(earlier))
            reason = comparison.reason if comparison.relation == "correction" else None
        if reason is not None:
            pair = [survey.records[later], survey.records[earlier]]
            proposal = proposed("forget", pair[1])
            findings.append(found("contradictions", pair, reason, proposal, weight=similarity or 0.0))
    survey.watch.at(1.0)
    return sorted(findings, key=lambda each: (-each.weight, each.refs))


def said_at(record: MemoryRecord) -> datetime:
    """When the memory was last said, or else when its text last changed."""
    return max((each.said_at for each in record.evidence if each.said_at), default=record.changed_at)


def _candidates(survey: Survey) -> _Pairs:
    """Pairs (later, earlier) with their similarity, None where it is below what is looked at."""
    pairs: _Pairs = {_in_time(survey, *pair): None for pair in _of_one_attribute(survey)}
    for one, other, similarity in survey.pairs.above(survey.criteria.contradiction_similarity):
        pairs[_in_time(survey, one, other)] = similarity
    return pairs


def _of_one_attribute(survey: Survey) -> Iterator[tuple[int, int]]:
    groups: defaultdict[tuple[int, str, str], list[int]] = defaultdict(list)
    for done, at in enumerate(np.flatnonzero(survey.is_open).tolist()):
        if done % 1000 == 0:
            survey.watch.at(0.8)
        attribute = survey.statement(at).attribute
        if attribute is not None:
            # A sentence kept in its own language names nobody: it is the person who is talking.
            groups[int(survey.sphere[at]), attribute.name, attribute.subject or "user"].append(at)
    for members in groups.values():
        members.sort(key=lambda at: (said_at(survey.records[at]), survey.records[at].key))
        for later in range(1, len(members)):
            for earlier in range(max(0, later - COMPARED), later):
                yield members[later], members[earlier]


def _in_time(survey: Survey, one: int, other: int) -> tuple[int, int]:
    mine, theirs = ((said_at(survey.records[at]), survey.records[at].key) for at in (one, other))
    return (one, other) if mine > theirs else (other, one)


def _judged(survey: Survey, candidates: Mapping[tuple[int, int], float | None]) -> dict[tuple[int, int], str | None]:
    """What the judge says of the most similar pairs: the reason, or None where it sees no contradiction."""
    asked = sorted(candidates, key=lambda pair: -(candidates[pair] or 0.0))[:JUDGED]
    requests = [(_fact(survey.records[later]), [(survey.records[earlier], candidates[later, earlier] or 0.0)])
                for later, earlier in asked]  # fmt: skip
    if hasattr(survey.judge, "judge"):
        judgement: Judgement = survey.judge.judge(requests)
        decisions = judgement.decisions
    else:
        decisions = [survey.judge(*request) for request in requests]
    answers = zip(asked, requests, decisions, strict=True)
    return {pair: _reason(decision, request[1][0][0]) for pair, request, decision in answers if decision is not None}


def _fact(record: MemoryRecord) -> ExtractedFact:
    return ExtractedFact(content=record.content, categories=record.categories, said_at=said_at(record))


def _reason(decision: ConsolidationDecision, earlier: MemoryRecord) -> str | None:
    if decision.action not in ("update", "forget") or decision.target_key != earlier.key:
        return None
    return decision.reason or "The judge says that the earlier memory no longer holds."
