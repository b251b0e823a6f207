"""How well each ranking finds the memories that answer LoCoMo's questions.

With the project installed, run `python benchmarks/locomo.py path/to/locomo.json`. The data set (snap-research/LoCoMo,
CC BY-NC 4.0) is not part of this project. Counted are the questions of categories 1 to 4 whose evidence is searched.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from mnemoscope.embedding import load_embeddings
from mnemoscope.lexical import LexicalIndex
from numpy.typing import NDArray

Scores = NDArray[np.float32]

SEMANTIC_SHARE = 0.6


@dataclass(frozen=True)
class Question:
    """A question, with the dialogue ids of the turns that answer it."""

    text: str
    evidence: frozenset[str]


@dataclass(frozen=True)
class Candidates:
    """What one conversation offers to be found: each text with the dialogue ids that it speaks for."""

    texts: list[str]
    sources: list[frozenset[str]]
    questions: list[Question]


@dataclass(frozen=True)
class Signals:
    """For one question, the cosine and the BM25 score of every candidate."""

    cosine: Scores
    bm25: Scores


@dataclass(frozen=True)
class Result:
    """The means of one ranking over all questions."""

    corpus: str
    ranking: str
    questions: int
    recall_at_5: float
    recall_at_10: float
    mrr: float
    ndcg_at_10: float


def by_cosine(signals: Signals) -> Scores:
    return signals.cosine


def by_bm25(signals: Signals) -> Scores:
    return signals.bm25


def by_fusion(signals: Signals) -> Scores:
    best = float(signals.bm25.max()) or 1.0
    fused: Scores = SEMANTIC_SHARE * np.maximum(signals.cosine, 0) + (1 - SEMANTIC_SHARE) * signals.bm25 / best
    return fused


RANKINGS: dict[str, Callable[[Signals], Scores]] = {
    "cosine": by_cosine,
    "BM25": by_bm25,
    "score fusion": by_fusion,
}


def turns(conversation: dict[str, Any]) -> Iterator[tuple[str, frozenset[str]]]:
    for name, session in conversation["conversation"].items():
        if re.fullmatch(r"session_\d+", name):
            for turn in session:
                shared = f" and shared {turn['blip_caption']}" if "blip_caption" in turn else ""
                yield f'{turn["speaker"]} said, "{turn["text"]}"{shared}', frozenset([turn["dia_id"]])


def observations(conversation: dict[str, Any]) -> Iterator[tuple[str, frozenset[str]]]:
    for session in conversation["observation"].values():
        for facts in session.values():
            for fact, dialogue_id in facts:
                yield fact, frozenset(dialogue_ids(dialogue_id))


CORPORA = {"turns": turns, "observations": observations}


def dialogue_ids(value: Any) -> list[str]:
    """The ids in a value that may hold several in one string, such as "D8:6; D9:17"."""
    return re.findall(r"D\d+:\d+", json.dumps(value))


def candidates(conversation: dict[str, Any], corpus: str) -> Candidates:
    texts, sources = zip(*CORPORA[corpus](conversation), strict=True)
    known = frozenset().union(*sources)
    asked = [
        Question(entry["question"], known.intersection(dialogue_ids(entry["evidence"])))
        for entry in conversation["qa"]
        if entry["category"] in (1, 2, 3, 4)
    ]
    return Candidates(list(texts), list(sources), [question for question in asked if question.evidence])


def signals(offered: Candidates, embedder: str) -> Iterator[Signals]:
    embeddings = load_embeddings(embedder)
    memories = np.array(embeddings.embed_documents(offered.texts), dtype=np.float32)
    queries = np.array(embeddings.embed_documents([q.text for q in offered.questions]), dtype=np.float32)
    index = LexicalIndex.build(offered.texts)
    for question, query in zip(offered.questions, queries, strict=True):
        yield Signals(memories @ query, index.scores(question.text))


def metrics(scores: Scores, question: Question, sources: list[frozenset[str]]) -> tuple[float, ...]:
    """recall@5, recall@10, reciprocal rank and nDCG@10: each piece of evidence counts where it is first met."""
    wanted = set(question.evidence)
    ranks = []
    for rank, place in enumerate(np.argsort(-scores, kind="stable"), start=1):
        met = wanted & sources[place]
        ranks += [rank] * len(met)
        wanted -= met
        if not wanted:
            break
    count = len(question.evidence)
    gain = sum(1 / np.log2(rank + 1) for rank in ranks if rank <= 10)
    best = sum(1 / np.log2(rank + 1) for rank in range(1, min(count, 10) + 1))
    return (
        sum(rank <= 5 for rank in ranks) / count,
        sum(rank <= 10 for rank in ranks) / count,
        1 / min(ranks),
        gain / best,
    )


def measure(conversations: list[dict[str, Any]], corpus: str, embedder: str) -> list[Result]:
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in RANKINGS}
    for conversation in conversations:
        offered = candidates(conversation, corpus)
        for question, found in zip(offered.questions, signals(offered, embedder), strict=True):
            for name, ranking in RANKINGS.items():
                rows[name].append(metrics(ranking(found), question, offered.sources))
    return [Result(corpus, name, len(each), *map(float, np.mean(each, axis=0))) for name, each in rows.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description="Recall, MRR and nDCG of each ranking on LoCoMo.")
    parser.add_argument("path", type=Path, help="LoCoMo's JSON file")
    parser.add_argument("--corpus", choices=CORPORA, action="append", help="what is searched (default: each)")
    parser.add_argument("--embedder", default="bundled", help="any name that load_embeddings takes")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    conversations = json.loads(arguments.path.read_text(encoding="utf-8"))
    results = [
        result
        for corpus in arguments.corpus or CORPORA
        for result in measure(conversations, corpus, arguments.embedder)
    ]
    if arguments.json:
        print(json.dumps([asdict(result) for result in results], indent=2))
        return
    print("| searched | ranking | questions | recall@5 | recall@10 | MRR | nDCG@10 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in results:
        figures = (row.recall_at_5, row.recall_at_10, row.mrr, row.ndcg_at_10)
        print(f"| {row.corpus} | {row.ranking} | {row.questions} | " + " | ".join(f"{x:.3f}" for x in figures) + " |")


if __name__ == "__main__":
    main()
