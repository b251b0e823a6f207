"""Contradictions: two memories of which the later one says that the earlier one no longer holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from ..core.records import MemoryRecord
from ..extraction.facts import ConsolidationDecision, ExtractedFact, Judgement
from ..extraction.rules.consolidator import compare_statements
from .findings import Finding, found, proposed
from .survey import Survey

__all__ = ["contradictions", "said_at"]


JUDGED = 40
"""How many pairs a model is asked about in one call, the most similar of them."""

_Pairs: TypeAlias = dict[tuple[int, int], float | None]


def contradictions(survey: Survey) -> list[Finding]:
    """Pairs of one sphere, the later memory first, with the reason why both cannot hold; each earlier one once.

    Candidates are memories with another value for the same attribute of the same subject, and similar ones.
    Rules decide; where a judge is given, it decides about the most similar pairs instead of the rules.
    """
    candidates = _candidates(survey)
    judged = _judged(survey, candidates) if survey.judge is not None else {}
    findings: dict[int, Finding] = {}
    for (later, earlier), similarity in candidates.items():
        if (later, earlier) in judged:
            reason = judged[later, earlier]
        else:
            comparison = compare_statements(survey.statement(later), survey.statement(earlier))
            reason = comparison.reason if comparison.relation == "correction" else None
        if reason is not None and earlier not in findings:
            pair = [survey.records[later], survey.records[earlier]]
            proposal = proposed("forget", pair[1])
            findings[earlier] = found("contradictions", pair, reason, proposal, weight=similarity or 0.0)
    survey.watch.at(1.0)
    return sorted(findings.values(), key=lambda each: (-each.weight, each.refs))


def said_at(record: MemoryRecord) -> datetime:
    """When the memory was last said, or else when its text last changed."""
    return max((each.said_at for each in record.evidence if each.said_at), default=record.changed_at)


def _candidates(survey: Survey) -> _Pairs:
    """Pairs (later, earlier), those with the latest value of an attribute first; None where no similarity is known."""
    similar = list(survey.pairs.above(survey.criteria.contradiction_similarity))
    known = {(one, other): similarity for one, other, similarity in similar}
    attributes = _attributes(survey)
    pairs: _Pairs = {}
    for later, earlier in _of_one_attribute(survey, attributes):
        pairs[later, earlier] = known.get((min(later, earlier), max(later, earlier)))
    for one, other, similarity in similar:
        # Two values of one attribute are compared in time alone; hundreds of them would give thousands of pairs.
        if one not in attributes or attributes[one] != attributes.get(other):
            pairs[_in_time(survey, one, other)] = similarity
    return pairs


def _attributes(survey: Survey) -> dict[int, tuple[int, str, str]]:
    """The sphere, attribute and subject of every memory that states one."""
    stated: dict[int, tuple[int, str, str]] = {}
    for done, at in enumerate(np.flatnonzero(survey.is_open).tolist()):
        if done % 1000 == 0:
            survey.watch.at(0.8 + 0.2 * done / len(survey.records))
        attribute = survey.statement(at).attribute
        if attribute is not None:
            # A sentence kept in its own language names nobody: it is the person who is talking.
            stated[at] = int(survey.sphere[at]), attribute.name, attribute.subject or "user"
    return stated


def _of_one_attribute(survey: Survey, attributes: Mapping[int, tuple[int, str, str]]) -> Iterator[tuple[int, int]]:
    """Every earlier value with the latest one and, after those, with the next one."""
    groups: defaultdict[tuple[int, str, str], list[int]] = defaultdict(list)
    for at, attribute in attributes.items():
        groups[attribute].append(at)
    for members in groups.values():
        members.sort(key=lambda at: (said_at(survey.records[at]), survey.records[at].key))
        for earlier in members[:-1]:
            yield members[-1], earlier
        for earlier, later in pairwise(members[:-1]):
            yield later, earlier


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
