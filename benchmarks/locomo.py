"""How well each preset finds the memories that answer LoCoMo's questions, by `MemoryEngine.recall` itself.

With the project installed, run `python benchmarks/locomo.py path/to/locomo.json`. The data set (snap-research/LoCoMo,
CC BY-NC 4.0) is not part of this project. Counted are the questions of categories 1 to 4 whose evidence is searched.
Each conversation is one namespace; memories have the time of their session, and are asked for a day after the last.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from langgraph.store.memory import InMemoryStore
from mnemoscope import PRESETS, MemoryConfig, MemoryEngine, MemoryRecord, RuleConsolidator, RuleExtractor
from mnemoscope.embedding import load_embeddings
from mnemoscope.evaluation import Places, interval, measure
from mnemoscope.stores import Write

METRICS = ("recall@5", "recall@10", "mrr", "ndcg@10")
DEPTH = 100
NAMESPACE = ("locomo",)

ALONE = {
    "cosine alone": MemoryConfig(semantic_weight=1, recency_weight=0, importance_weight=0),
    "words alone": MemoryConfig(semantic_weight=1, recency_weight=0, importance_weight=0, lexical_weight=1),
}
"""For comparison: each half of the similarity by itself."""


@dataclass(frozen=True)
class Question:
    """A question, with the dialogue ids of the turns that answer it."""

    text: str
    evidence: frozenset[str]


@dataclass(frozen=True)
class Memory:
    """A text to be found: when it was said, and the dialogue ids that it speaks for."""

    text: str
    said_at: datetime
    sources: frozenset[str]


@dataclass(frozen=True)
class Corpus:
    """What one conversation offers to be found, and what is asked."""

    memories: list[Memory]
    questions: list[Question]


class Embedded(Embeddings):
    """An embedder that is asked for every text once, for all rankings together."""

    def __init__(self, embeddings: Embeddings, texts: list[str]) -> None:
        self._vectors = dict(zip(texts, embeddings.embed_documents(texts), strict=True))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self._vectors[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._vectors[text]


def turns(conversation: dict[str, Any]) -> Iterator[Memory]:
    sessions = conversation["conversation"]
    for name in sessions:
        if re.fullmatch(r"session_\d+", name):
            for turn in sessions[name]:
                shared = f" and shared {turn['blip_caption']}" if "blip_caption" in turn else ""
                text = f'{turn["speaker"]} said, "{turn["text"]}"{shared}'
                yield Memory(text, time_of(sessions, name), frozenset([turn["dia_id"]]))


def observations(conversation: dict[str, Any]) -> Iterator[Memory]:
    for name, session in conversation["observation"].items():
        said_at = time_of(conversation["conversation"], name.removesuffix("_observation"))
        for facts in session.values():
            for fact, dialogue_id in facts:
                yield Memory(fact, said_at, frozenset(dialogue_ids(dialogue_id)))


CORPORA = {"turns": turns, "observations": observations}


def time_of(sessions: dict[str, Any], name: str) -> datetime:
    return datetime.strptime(sessions[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def dialogue_ids(value: Any) -> list[str]:
    """The ids in a value that may hold several in one string, such as "D8:6; D9:17"."""
    return re.findall(r"D\d+:\d+", json.dumps(value))


def corpus_of(conversation: dict[str, Any], name: str) -> Corpus:
    memories = list(CORPORA[name](conversation))
    known = frozenset().union(*(memory.sources for memory in memories))
    asked = [
        Question(entry["question"], known.intersection(dialogue_ids(entry["evidence"])))
        for entry in conversation["qa"]
        if entry["category"] in (1, 2, 3, 4)
    ]
    return Corpus(memories, [question for question in asked if question.evidence])


def engine_over(corpus: Corpus, embeddings: Embeddings) -> MemoryEngine:
    texts = [*(memory.text for memory in corpus.memories), *(question.text for question in corpus.questions)]
    embedded = Embedded(embeddings, list(dict.fromkeys(texts)))
    size = len(embedded.embed_query(texts[0]))
    store = InMemoryStore(index={"dims": size, "embed": embedded, "fields": ["content"]})
    asked_at = max(memory.said_at for memory in corpus.memories) + timedelta(days=1)
    engine = MemoryEngine(store, extractor=RuleExtractor(), consolidator=RuleConsolidator(), clock=lambda: asked_at)
    engine.adapter.write([write(at, memory, embedded) for at, memory in enumerate(corpus.memories)])
    return engine


def write(at: int, memory: Memory, embedded: Embedded) -> Write:
    record = MemoryRecord(str(at), NAMESPACE, memory.text, created_at=memory.said_at)
    vector = np.array(embedded.embed_query(memory.text), np.float32)
    return Write(NAMESPACE, record.key, record.to_value(), {"content": vector})


def places(engine: MemoryEngine, corpus: Corpus, question: Question, config: MemoryConfig) -> Places:
    """Where each piece of evidence is first met."""
    found: dict[str, int] = {}
    result = engine.recall(question.text, NAMESPACE, limit=DEPTH, config=config, touch=False)
    for place, match in enumerate(result, start=1):
        for source in corpus.memories[int(match.record.key)].sources:
            found.setdefault(source, place)
    return Places(tuple(found.get(source) for source in sorted(question.evidence)))


def measured(conversations: list[dict[str, Any]], name: str, embedder: str) -> Iterator[dict[str, Any]]:
    """For every ranking: the metrics over all questions, and nDCG@10 of each conversation by itself."""
    embeddings = load_embeddings(embedder)
    rankings = {**ALONE, **{name: config for name, config in PRESETS.items() if name != "rules"}}
    found: dict[str, list[list[Places]]] = {ranking: [] for ranking in rankings}
    for conversation in conversations:
        corpus = corpus_of(conversation, name)
        engine = engine_over(corpus, embeddings)
        for ranking, config in rankings.items():
            found[ranking].append([places(engine, corpus, question, config) for question in corpus.questions])
        engine.close()
    for ranking, parts in found.items():
        together = [each for part in parts for each in part]
        row: dict[str, Any] = {"searched": name, "ranking": ranking, "questions": len(together)}
        row |= {metric: interval([measure(each, metric) for each in together]) for metric in METRICS}
        row["by conversation"] = [float(np.mean([measure(each, "ndcg@10") for each in part])) for part in parts]
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description="Recall, MRR and nDCG of each preset on LoCoMo.")
    parser.add_argument("path", type=Path, help="LoCoMo's JSON file")
    parser.add_argument("--corpus", choices=CORPORA, action="append", help="what is searched (default: each)")
    parser.add_argument("--embedder", default="bundled", help="any name that load_embeddings takes")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    conversations = json.loads(arguments.path.read_text(encoding="utf-8"))
    rows = [row for name in arguments.corpus or CORPORA for row in measured(conversations, name, arguments.embedder)]
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return
    print("| searched | ranking | questions | recall@5 | recall@10 | MRR | nDCG@10 (95 %) | by conversation |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        means = " | ".join(f"{row[name].mean:.3f}" for name in METRICS)
        bounds = f"{row['ndcg@10'].low:.3f}–{row['ndcg@10'].high:.3f}"
        parts = " ".join(f"{each:.3f}" for each in row["by conversation"])
        print(f"| {row['searched']} | {row['ranking']} | {row['questions']} | {means} ({bounds}) | {parts} |")


if __name__ == "__main__":
    main()
