"""The planner: conversation → facts → what is known → decisions → `Plan`, as a procedure of steps.

Facts of one call are embedded in one batch, looked up in one matrix product (or one batched search),
judged in at most one call where the judge can, and read back in one round trip.
"""

from __future__ import annotations

import inspect
import time
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .config import MemoryConfig
from .errors import EmbeddingError, InputError, ModelError
from .facts import ConsolidationDecision, ExtractedFact, Extraction, Judgement, Similar
from .index import IndexCache, ScopeIndex, Turn
from .journal import Tombstone, book
from .messages import Message, Transcript
from .namespaces import Namespace
from .plans import Plan, PlannedFact, Terms
from .records import MemoryRecord
from .settlement import Settlement, memory_key, merged_names
from .steps import Step, Steps
from .stores.base import Hit, Ref, StoreAdapter
from .text import normalise, one_line, storable
from .times import Clock
from .visibility import Visibility

__all__ = ["Planner", "label_of", "unit_vectors"]

SUPPRESSED_FROM = 0.93
"""Similarity from which a fact counts as the one that was forgotten, though not said in the same words."""

_KEYS_TRIED = 3
_STONES_COMPARED = 3


@dataclass(frozen=True)
class _Draft:
    """A fact on its way: its text is clean, equal ones are collapsed into it."""

    fact: ExtractedFact
    collapsed: int = 0


@dataclass(frozen=True)
class _Known:
    """What the namespace holds that matters to these facts; positions are those of the facts.

    `learned` are memories that already rest on the very turn the fact was taken from.
    """

    similar: list[Similar]
    stones: dict[int, Tombstone]
    learned: dict[int, MemoryRecord]
    vectors: dict[str, NDArray[np.float32]]


class Planner:
    """Makes plans for one store with one extractor and one consolidator."""

    def __init__(
        self,
        adapter: StoreAdapter,
        indexes: IndexCache,
        extractor: Any,
        consolidator: Any,
        config: MemoryConfig,
        clock: Clock,
    ) -> None:
        self._adapter = adapter
        self._indexes = indexes
        self._extractor = extractor
        self._consolidator = consolidator
        self._config = config
        self._clock = clock

    def extract(self, messages: Sequence[Message]) -> Steps[Extraction]:
        """Facts out of messages, by whatever extractor there is."""
        if self._extractor is None:
            raise InputError(
                "This engine has no extractor: pass a model or extractor= to MemoryEngine, or extract=False here."
            )
        if hasattr(self._extractor, "extract"):
            acall = getattr(self._extractor, "aextract", None)
            found = yield Step(self._extractor.extract, (messages,), acall)
        else:
            found = yield Step(self._extractor, (_as_text(messages),))
        return found if isinstance(found, Extraction) else Extraction(list(found or []))

    def from_transcript(self, transcript: Transcript, namespace: Namespace, terms: Terms) -> Steps[Plan]:
        """The plan for a conversation. A failed extraction gives a plan that says so."""
        started = time.perf_counter()
        failure: ModelError | None = None
        try:
            extraction = yield from self.extract(transcript.messages)
        except ModelError as error:
            failure = error
            extraction = Extraction([], calls=error.calls)
        plan = yield from self.from_facts(extraction.facts, namespace, terms)
        return replace(
            plan,
            messages=transcript.messages,
            left_out=transcript.left_out,
            held_back={**plan.held_back, **extraction.held_back},
            calls=(*extraction.calls, *plan.calls),
            withheld=extraction.withheld,
            remarks=Counter(extraction.remarks) + Counter(plan.remarks),
            failure=failure,
            seconds=time.perf_counter() - started,
        )

    def from_facts(self, facts: Sequence[ExtractedFact], namespace: Namespace, terms: Terms) -> Steps[Plan]:
        """The plan for facts that are already extracted."""
        started = time.perf_counter()
        now, run = self._clock(), f"run-{uuid.uuid4()}"
        drafts, dropped = _drafted(facts)
        known = yield from self._look_up(drafts, namespace, terms)
        stored, taken = yield from self._read_back(drafts, known, namespace, terms)
        records = {key: MemoryRecord.from_item(item) for key, item in stored.items()}
        settlement = Settlement(namespace, terms, self._config, now, run, known=records, taken=taken)
        judgement = Judgement([])
        if hasattr(self._consolidator, "judge"):
            settled, judgement = yield from self._judged_together(drafts, known, settlement, terms)
        else:
            settled = yield from self._judged_in_turn(drafts, known, settlement, terms)
        return Plan(
            id=run,
            namespace=namespace,
            terms=terms,
            config=self._config,
            extractor=label_of(self._extractor),
            consolidator=label_of(self._consolidator),
            created_at=now,
            messages=(),
            facts=tuple(settled),
            changes=settlement.changes(),
            held_back=dropped,
            calls=judgement.calls,
            remarks=judgement.remarks,
            prompt_versions=_prompt_versions(extract=self._extractor, consolidate=self._consolidator),
            seconds=time.perf_counter() - started,
            stored=stored,
            taken=taken,
            vectors=known.vectors,
        )

    def embed(self, texts: Sequence[str]) -> Steps[dict[str, NDArray[np.float32]]]:
        """Unit vectors of these texts, in one batch; empty where the store keeps its embedder to itself."""
        embeddings = self._adapter.embeddings
        wanted = list(dict.fromkeys(texts))
        if embeddings is None or not wanted:
            return {}
        found = yield Step(embeddings.embed_documents, (wanted,), embeddings.aembed_documents)
        return dict(zip(wanted, unit_vectors(found, len(wanted), self._adapter.dimensions), strict=True))

    def _look_up(self, drafts: Sequence[_Draft], namespace: Namespace, terms: Terms) -> Steps[_Known]:
        facts = [draft.fact for draft in drafts]
        texts = [fact.content for fact in facts]
        if not texts:
            return _Known([], {}, {}, {})
        vectors = yield from self.embed(texts)
        if self._adapter.abilities.reads_vectors and vectors:
            index = yield Step(self._indexes.get, (namespace,))
            stones = yield Step(self._indexes.get, (book("tombstones", namespace),))
            matrix = np.stack([vectors[text] for text in texts])
            similar = _nearest(index, matrix, self._offered(terms, index), self._config)
            buried = (yield Step(self._buried, (namespace, terms))) if len(stones) else {}
            found = _matching_stones(facts, stones, stones.cosines(matrix), buried)
            return _Known(similar, found, _learned(facts, index.learned, terms), vectors)
        hits = yield Step(self._adapter.search_each, (namespace, texts, self._config.consolidation_limit))
        stone_hits = yield Step(self._adapter.search_each, (book("tombstones", namespace), texts, 3))
        similar = [_offered_hits(row, terms, self._config) for row in hits]
        found = _stones_of_hits(facts, stone_hits, terms)
        return _Known(similar, found, _learned_of_hits(facts, hits, terms), vectors)

    def _buried(self, namespace: Namespace, terms: Terms) -> dict[str, Tombstone]:
        items = self._adapter.load(book("tombstones", namespace)).items
        stones = {item.key: Tombstone.from_value(item.value) for item in items}
        return {key: stone for key, stone in stones.items() if not stone.allowed and _same_eyes(stone.record, terms)}

    def _offered(self, terms: Terms, index: ScopeIndex) -> NDArray[np.bool_]:
        """Which memories the judge may be shown: never another source's private ones, never across privacy."""
        seen = Visibility(source=terms.source).withheld(index, self._clock()) == 0
        same: NDArray[np.bool_] = seen & (index.private == terms.private)
        return same

    def _read_back(
        self, drafts: Sequence[_Draft], known: _Known, namespace: Namespace, terms: Terms
    ) -> Steps[tuple[dict[str, Any], frozenset[str]]]:
        compared = {record.key for similar in known.similar for record, _ in similar}
        fresh = {memory_key(draft.fact.content, terms, salt) for draft in drafts for salt in range(_KEYS_TRIED)}
        refs: list[Ref] = [(namespace, key) for key in sorted(compared | fresh)]
        items = (yield Step(self._adapter.get, (refs,))) if refs else []
        found = {item.key: item for item in items if item is not None}
        return found, frozenset(found)

    def _judged_in_turn(
        self, drafts: Sequence[_Draft], known: _Known, settlement: Settlement, terms: Terms
    ) -> Steps[list[PlannedFact]]:
        settled: list[PlannedFact] = []
        for at, draft in enumerate(drafts):
            early = self._settled_early(at, drafts, known, settlement, terms)
            if isinstance(early, PlannedFact):
                settled.append(replace(early, collapsed=draft.collapsed))
                continue
            decision, note = None, ""
            if early and self._consolidator is not None:
                decision, note = yield from self._ask(draft.fact, early)
            settled.append(replace(settlement.settle(at, draft.fact, early, decision, note), collapsed=draft.collapsed))
        return settled

    def _ask(self, fact: ExtractedFact, similar: Similar) -> Steps[tuple[ConsolidationDecision | None, str]]:
        try:
            decision = yield Step(self._consolidator, (fact, similar))
        except ModelError as error:
            return None, f"Inserted as it is, because the judge failed: {error}"
        if not isinstance(decision, ConsolidationDecision):
            return None, f"Inserted as it is, because the judge answered {decision!r} instead of a decision."
        return decision, ""

    def _judged_together(
        self, drafts: Sequence[_Draft], known: _Known, settlement: Settlement, terms: Terms
    ) -> Steps[tuple[list[PlannedFact], Judgement]]:
        """Offers are made from the state at the start and the earlier facts; decisions are then settled in turn."""
        offers = [self._pending_offers(at, drafts, known, terms) for at in range(len(drafts))]
        asked = [at for at, similar in enumerate(offers) if similar and not self._known_already(at, drafts, similar)]
        judgement = Judgement([])
        if asked:
            requests = [(drafts[at].fact, offers[at]) for at in asked]
            judge = self._consolidator
            judgement = yield Step(judge.judge, (requests,), getattr(judge, "ajudge", None))
        decisions = dict(zip(asked, judgement.decisions, strict=True))
        notes = {asked[at]: note for at, note in judgement.notes.items()}
        settled = []
        for at, draft in enumerate(drafts):
            early = self._settled_early(at, drafts, known, settlement, terms, offers[at])
            if not isinstance(early, PlannedFact):
                early = settlement.settle(at, draft.fact, offers[at], decisions.get(at), notes.get(at, ""))
            settled.append(replace(early, collapsed=draft.collapsed))
        return settled, judgement

    def _settled_early(
        self,
        at: int,
        drafts: Sequence[_Draft],
        known: _Known,
        settlement: Settlement,
        terms: Terms,
        offers: Similar | None = None,
    ) -> PlannedFact | Similar:
        """The fact settled without any judge, or else the memories to judge it against."""
        fact = drafts[at].fact
        if at in known.stones:
            return settlement.suppress(at, fact, _suppression(known.stones[at]))
        if at in known.learned:
            record = known.learned[at]
            return settlement.keep(at, fact, record, "This turn was already learned from, by the same words.")
        similar = self._present_offers(at, drafts, known, settlement, terms) if offers is None else offers
        for record, _ in similar:
            present = settlement.record(record.key) or record
            if normalise(present.content) == normalise(fact.content):
                return settlement.keep(at, fact, record, "It is already known.", similar)
        for salt in range(_KEYS_TRIED):
            twin = settlement.record(memory_key(fact.content, terms, salt))
            if twin is not None and normalise(twin.content) == normalise(fact.content):
                return settlement.keep(at, fact, twin, "It is already known.", similar)
        return similar

    def _known_already(self, at: int, drafts: Sequence[_Draft], similar: Similar) -> bool:
        text = normalise(drafts[at].fact.content)
        return any(normalise(record.content) == text for record, _ in similar)

    def _present_offers(
        self, at: int, drafts: Sequence[_Draft], known: _Known, settlement: Settlement, terms: Terms
    ) -> Similar:
        """Similar memories as the facts before this one have left them, those facts' own included."""
        del terms
        untouched = [(record, score) for record, score in known.similar[at] if record.key not in settlement.current]
        vector = known.vectors.get(drafts[at].fact.content)
        changed = [
            (record, similarity)
            for record in settlement.current.values()
            if record is not None and (similarity := _between(vector, known.vectors.get(record.content))) is not None
        ]
        return self._cut(untouched + changed)

    def _pending_offers(self, at: int, drafts: Sequence[_Draft], known: _Known, terms: Terms) -> Similar:
        vector = known.vectors.get(drafts[at].fact.content)
        earlier = [
            (_pending(draft.fact, terms, self._config), similarity)
            for draft in drafts[:at]
            if (similarity := _between(vector, known.vectors.get(draft.fact.content))) is not None
        ]
        return self._cut(known.similar[at] + earlier)

    def _cut(self, similar: Similar) -> Similar:
        if self._config.consolidation_threshold >= 1.0:
            return []
        near = [pair for pair in similar if pair[1] >= self._config.consolidation_threshold]
        return sorted(near, key=lambda pair: -pair[1])[: self._config.consolidation_limit]


def label_of(part: object) -> str:
    """The name under which an extractor or consolidator is shown."""
    if part is None:
        return "none"
    label = getattr(part, "label", None)
    if isinstance(label, str):
        return label
    return part.__name__ if inspect.isroutine(part) else type(part).__name__


def _prompt_versions(**parts: object) -> dict[str, str]:
    versions = {purpose: getattr(part, "prompt_version", None) for purpose, part in parts.items()}
    return {purpose: version for purpose, version in versions.items() if isinstance(version, str)}


def unit_vectors(vectors: object, count: int, dimensions: int | None) -> NDArray[np.float32]:
    """What an embedder returned as an array of unit vectors, shape (count, dimensions).

    Raises:
        EmbeddingError: it is not that many vectors of that dimension, or a value is not finite.
    """
    try:
        matrix = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbeddingError(f"The embedder returned something else than equally long vectors: {error}") from error
    if matrix.ndim != 2 or len(matrix) != count or (dimensions and matrix.shape[1] != dimensions):
        expected = f"{count} vectors of {dimensions or 'equal'} dimensions"
        raise EmbeddingError(
            f"The embedder returned an array of shape {matrix.shape}, but the store needs {expected}. "
            "Use the embedder that the store was filled with."
        )
    if not np.isfinite(matrix).all():
        raise EmbeddingError("The embedder returned a vector with a value that is not a finite number.")
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    return (matrix / np.where(norms > 0, norms, 1)).astype(np.float32)


def _as_text(messages: Sequence[Message]) -> str:
    """A transcript for extractors that take text: what people and the assistant said, a line each."""
    said = [message for message in messages if message.role in ("user", "assistant") and message.text.strip()]
    if len(said) == 1 and said[0].role == "user":
        return said[0].text
    return "\n".join(f"{message.name or message.role}: {message.text}" for message in said)


def _drafted(facts: Sequence[ExtractedFact]) -> tuple[list[_Draft], dict[str, int]]:
    drafts: dict[str, _Draft] = {}
    dropped: dict[str, int] = {}
    for fact in facts:
        text, replaced = storable(fact.content)
        text = text.strip()
        if replaced:
            dropped["unstorable characters replaced"] = dropped.get("unstorable characters replaced", 0) + replaced
        if not text:
            dropped["empty fact"] = dropped.get("empty fact", 0) + 1
            continue
        clean = fact.model_copy(update={"content": text})
        same = drafts.get(normalise(text))
        drafts[normalise(text)] = _collapsed(same, clean) if same else _Draft(clean)
    return list(drafts.values()), dropped


def _collapsed(draft: _Draft, twin: ExtractedFact) -> _Draft:
    kept = draft.fact
    importances = [each for each in (kept.importance, twin.importance) if each is not None]
    merged = kept.model_copy(
        update={
            "categories": merged_names(kept.categories, twin.categories),
            "message_ids": merged_names(kept.message_ids, twin.message_ids),
            "importance": max(importances, default=None),
        }
    )
    return _Draft(merged, draft.collapsed + 1)


def _nearest(
    index: ScopeIndex, matrix: NDArray[np.float32], offered: NDArray[np.bool_], config: MemoryConfig
) -> list[Similar]:
    if not len(index) or config.consolidation_threshold >= 1.0:
        return [[] for _ in matrix]
    cosines = np.nan_to_num(index.cosines(matrix), nan=-1.0)
    similarities: NDArray[np.float64] = np.where(offered, cosines, -1.0)
    count = min(config.consolidation_limit, len(index))
    best = np.argpartition(-similarities, count - 1, axis=1)[:, :count]
    found: list[Similar] = []
    for row, columns in zip(similarities, best, strict=True):
        ordered = sorted(columns.tolist(), key=lambda at: (-row[at], index.records[at].key))
        found.append(
            [(index.records[at], float(row[at])) for at in ordered if row[at] >= config.consolidation_threshold]
        )
    return found


def _offered_hits(hits: Sequence[Hit], terms: Terms, config: MemoryConfig) -> Similar:
    records = [(MemoryRecord.from_item(hit.item), hit.similarity) for hit in hits]
    return [
        (record, similarity)
        for record, similarity in records
        if similarity is not None and similarity >= config.consolidation_threshold and _same_eyes(record, terms)
    ]


def _same_eyes(record: MemoryRecord, terms: Terms) -> bool:
    """Whether the memory is for the same readers as what is being remembered now."""
    return record.private == terms.private and Visibility(source=terms.source).sees(record)


def _learned(
    facts: Sequence[ExtractedFact], learned: Mapping[Turn, MemoryRecord], terms: Terms
) -> dict[int, MemoryRecord]:
    turns = {at: (fact.quote, fact.said_at) for at, fact in enumerate(facts) if fact.quote and fact.said_at}
    found = {at: learned[turn] for at, turn in turns.items() if turn in learned}
    return {at: record for at, record in found.items() if _same_eyes(record, terms)}


def _learned_of_hits(
    facts: Sequence[ExtractedFact], hits: Sequence[Sequence[Hit]], terms: Terms
) -> dict[int, MemoryRecord]:
    found: dict[int, MemoryRecord] = {}
    for at, row in enumerate(hits):
        for record in map(MemoryRecord.from_item, (hit.item for hit in row)):
            if _rests_on(record, facts[at]) and _same_eyes(record, terms):
                found.setdefault(at, record)
    return found


def _matching_stones(
    facts: Sequence[ExtractedFact], stones: ScopeIndex, scores: NDArray[np.float64], buried: Mapping[str, Tombstone]
) -> dict[int, Tombstone]:
    found: dict[int, Tombstone] = {}
    nearest = np.argsort(-np.nan_to_num(scores, nan=-1.0), axis=1)[:, :_STONES_COMPARED]
    for at, fact in enumerate(facts):
        for row in nearest[at].tolist():
            stone = buried.get(stones.records[row].key)
            if stone is not None and _is_forgotten(fact, stone, float(scores[at, row])):
                found.setdefault(at, stone)
    for stone in buried.values():
        for at, fact in enumerate(facts):
            if _rests_on(stone.record, fact):
                found.setdefault(at, stone)
    return found


def _stones_of_hits(
    facts: Sequence[ExtractedFact], hits: Sequence[Sequence[Hit]], terms: Terms
) -> dict[int, Tombstone]:
    found: dict[int, Tombstone] = {}
    for at, (fact, row) in enumerate(zip(facts, hits, strict=True)):
        for hit in row:
            stone = Tombstone.from_value(hit.item.value)
            open_ = not stone.allowed and _same_eyes(stone.record, terms)
            if open_ and _is_forgotten(fact, stone, hit.similarity or 0.0):
                found.setdefault(at, stone)
    return found


def _is_forgotten(fact: ExtractedFact, stone: Tombstone, similarity: float) -> bool:
    same_words = normalise(fact.content) == normalise(stone.record.content)
    return same_words or similarity >= SUPPRESSED_FROM or _rests_on(stone.record, fact)


def _rests_on(record: MemoryRecord, fact: ExtractedFact) -> bool:
    """Whether the memory was already learned from the very turn that the fact was taken from."""
    if not fact.quote or fact.said_at is None:
        return False
    return any(each.quote == fact.quote and each.said_at == fact.said_at for each in record.evidence)


def _suppression(stone: Tombstone) -> str:
    why = f": {one_line(stone.reason)}" if stone.reason else ""
    return (
        f"Suppressed, because {one_line(stone.actor)} forgot a memory like it on "
        f"{stone.forgotten_at:%Y-%m-%d}{why}. Allow it again to let it be remembered."
    )


def _between(one: NDArray[np.float32] | None, other: NDArray[np.float32] | None) -> float | None:
    return None if one is None or other is None else float(one @ other)


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
