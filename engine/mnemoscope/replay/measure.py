"""Extraction measured: conversations with the memories that they should leave, replayed and compared.

What is found and what is expected are matched one to one by the cosine of their texts, the most similar pair first,
from a stated similarity on. Everything happens in scratch stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from ..consolidation.plan import Plan
from ..consolidation.planner import label_of
from ..conversations.messages import Message
from ..conversations.samples import SampleConversation
from ..core.execution import Step, Steps, arun, run
from ..core.namespaces import Namespace
from ..core.progress import Watch
from ..core.records import MemoryRecord
from ..core.text import normalise
from ..embedding.named import identity_of
from ..engine.facade import MemoryEngine
from ..errors import ModelCall, ModelError
from ..extraction.quotes import Quotable
from ..worklists.junk import junk_reason
from ..worklists.scripts import script_of
from .setups import ReplaySetup, scratch_engine

__all__ = [
    "MATCH_FROM",
    "CaseResult",
    "Match",
    "ReplayCase",
    "ReplayReport",
    "aevaluate",
    "case_of",
    "evaluate",
    "matched",
]


MATCH_FROM = 0.75
"""Cosine from which a memory counts as the expected one, unless the caller says otherwise."""

_TIE = 0.005
_WHERE: Namespace = ("replay", "case")


@dataclass(frozen=True)
class ReplayCase:
    """A conversation, the texts it should leave in an empty namespace, and phrases that no memory may hold."""

    id: str
    messages: tuple[Message, ...]
    expected: tuple[str, ...]
    unwanted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Match:
    """A memory that counts as an expected one. With `is_tie` another pairing was as similar, within 0.005."""

    found: str
    expected: str
    similarity: float
    is_tie: bool = False


@dataclass(frozen=True)
class CaseResult:
    """What one replay left.

    `memories` are the texts afterwards, `junk` those that say nothing or hold something unwanted. Of the `proposed`
    facts `unsupported` rest on words that were not said. `again` counts changes that a second replay made.
    `script_kept` of `script_known` memories are in the letters of the words they rest on. `failure` is a class of
    `ModelError` where the replay failed.
    """

    id: str
    memories: tuple[str, ...]
    matches: tuple[Match, ...]
    missed: tuple[str, ...]
    surplus: tuple[str, ...]
    junk: tuple[str, ...] = ()
    proposed: int = 0
    unsupported: int = 0
    again: int = 0
    script_kept: int = 0
    script_known: int = 0
    calls: tuple[ModelCall, ...] = ()
    seconds: float = 0.0
    failure: str | None = None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of this case's precision and recall; None where nothing was expected or left."""
        return _share(2 * len(self.matches), len(self.memories) + len(self.matches) + len(self.missed))


@dataclass(frozen=True)
class ReplayReport:
    """One setup over all cases. Rates are shares of all memories or facts; None where there was nothing to count."""

    setup: str
    extractor: str
    embedder: str
    match_from: float
    cases: tuple[CaseResult, ...]

    @property
    def precision(self) -> float | None:
        """The share of memories that were expected."""
        return _share(self._matches, self._count("memories"))

    @property
    def recall(self) -> float | None:
        """The share of expected memories that are there."""
        return _share(self._matches, self._matches + self._count("missed"))

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall."""
        total = self._count("memories") + self._matches + self._count("missed")
        return _share(2 * self._matches, total)

    @property
    def figures(self) -> dict[str, float | int | None]:
        """All figures by name."""
        calls = [call for case in self.cases for call in case.calls]
        costs = [call.cost for call in calls if call.cost is not None]
        return {
            "conversations": len(self.cases),
            "failed": sum(case.failure is not None for case in self.cases),
            "expected": self._matches + self._count("missed"),
            "memories": self._count("memories"),
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "ties": sum(match.is_tie for case in self.cases for match in case.matches),
            "junk_rate": _share(self._count("junk"), self._count("memories")),
            "unsupported_rate": _share(self._sum("unsupported"), self._sum("proposed")),
            "converged": _share(sum(not case.again for case in self.cases), len(self.cases)),
            "script_kept": _share(self._sum("script_kept"), self._sum("script_known")),
            "model_calls": len(calls),
            "input_tokens": sum(call.input_tokens or 0 for call in calls),
            "output_tokens": sum(call.output_tokens or 0 for call in calls),
            "cost": sum(costs) if costs else None,
            "seconds": round(self._sum("seconds"), 3),
        }

    def to_value(self) -> dict[str, Any]:
        """The report as JSON, without what models answered."""
        cases = [asdict(case) for case in self.cases]
        for case in cases:
            for call in case["calls"]:
                del call["raw"]
        named = {name: getattr(self, name) for name in ("setup", "extractor", "embedder", "match_from")}
        return {**named, "figures": self.figures, "cases": cases}

    @cached_property
    def _matches(self) -> int:
        return self._count("matches")

    def _count(self, name: str) -> int:
        return sum(len(getattr(case, name)) for case in self.cases)

    def _sum(self, name: str) -> Any:
        return sum(getattr(case, name) for case in self.cases)


def case_of(sample: SampleConversation) -> ReplayCase:
    """The case that a sample conversation makes."""
    expected = tuple(each.content for each in sample.expected)
    return ReplayCase(sample.id, tuple(sample.messages), expected, tuple(sample.not_expected))


def evaluate(
    cases: Iterable[ReplayCase],
    setup: ReplaySetup,
    embeddings: Embeddings,
    *,
    match_from: float = MATCH_FROM,
    watch: Watch | None = None,
) -> ReplayReport:
    """Replay every case twice into a scratch store of its own, and compare what it leaves with what it should.

    A case whose extraction fails counts as leaving nothing.

    Raises:
        ConfigurationError: the setup names a model that there is not.
        CancelledWorkError: the watch was told to stop.
    """
    return run(_steps(list(cases), setup, embeddings, match_from, watch or Watch()))


async def aevaluate(
    cases: Iterable[ReplayCase],
    setup: ReplaySetup,
    embeddings: Embeddings,
    *,
    match_from: float = MATCH_FROM,
    watch: Watch | None = None,
) -> ReplayReport:
    """The asynchronous form of `evaluate`; a task that is cancelled lets go of the model at once."""
    return await arun(_steps(list(cases), setup, embeddings, match_from, watch or Watch()))


def _steps(
    cases: Sequence[ReplayCase], setup: ReplaySetup, embeddings: Embeddings, match_from: float, watch: Watch
) -> Steps[ReplayReport]:
    # One reader for all cases, so that a client is built once and a way that a model does not know is tried once.
    ready = replace(setup, **setup.parts())
    results = []
    for done, case in enumerate(cases):
        watch.at(done / len(cases))
        results.append((yield from _result(case, ready, embeddings, match_from)))
    watch.at(1.0)
    extractor = label_of(ready.extractor)
    return ReplayReport(setup.name, extractor, identity_of(embeddings), match_from, tuple(results))


def matched(
    found: Sequence[str], expected: Sequence[str], embeddings: Embeddings, *, match_from: float = MATCH_FROM
) -> list[Match]:
    """Pairs of found and expected texts, one to one, the most similar first; equal texts are similar by 1."""
    if not found or not expected:
        return []
    cosines = _cosines(found, expected, embeddings)
    matches = []
    left = cosines.copy()
    while (best := float(left.max())) >= match_from:
        row, column = divmod(int(left.argmax()), len(expected))
        rivals = np.concatenate([np.delete(left[row], column), np.delete(left[:, column], row)])
        is_tie = bool(np.any(rivals >= best - _TIE))
        matches.append(Match(found[row], expected[column], round(best, 4), is_tie))
        left[row, :] = left[:, column] = -np.inf
    return matches


def _result(case: ReplayCase, setup: ReplaySetup, embeddings: Embeddings, match_from: float) -> Steps[CaseResult]:
    if not any(message.text.strip() for message in case.messages):
        return CaseResult(case.id, (), (), case.expected, ())
    engine = yield Step(lambda: scratch_engine(setup, embeddings))
    plan = yield Step(engine.plan, (list(case.messages), _WHERE), engine.aplan)
    if plan.failure is not None:
        return CaseResult(
            case.id, (), (), case.expected, (), calls=plan.calls, seconds=plan.seconds, failure=plan.failure.failure
        )
    yield Step(engine.apply, (plan,), engine.aapply)
    records = engine.list(_WHERE, None)
    texts = [record.content for record in records]
    matches = yield Step(lambda: matched(texts, case.expected, embeddings, match_from=match_from))
    again = yield from _changes_again(engine, case)
    scripts = [kept for record in records if (kept := _script_kept(record)) is not None]
    return CaseResult(
        id=case.id,
        memories=tuple(texts),
        matches=tuple(matches),
        missed=_without(case.expected, [match.expected for match in matches]),
        surplus=_without(texts, [match.found for match in matches]),
        junk=tuple(text for text in texts if _is_junk(text, case)),
        proposed=len(plan.facts) + len(plan.withheld),
        unsupported=_unsupported(plan),
        again=again,
        script_kept=sum(scripts),
        script_known=len(scripts),
        calls=plan.calls,
        seconds=plan.seconds,
    )


def _changes_again(engine: MemoryEngine, case: ReplayCase) -> Steps[int]:
    try:
        return len((yield Step(engine.remember, (list(case.messages), _WHERE), engine.aremember)).changes)
    except ModelError:
        return 0


def _cosines(found: Sequence[str], expected: Sequence[str], embeddings: Embeddings) -> NDArray[np.float32]:
    rows, columns = (_unit(embeddings.embed_documents(list(texts))) for texts in (found, expected))
    cosines = rows @ columns.T
    plain = [normalise(text) for text in expected]
    for at, text in enumerate(found):
        equal = [other == normalise(text) for other in plain]
        cosines[at, equal] = 1.0
    return cosines


def _unit(vectors: Sequence[Sequence[float]]) -> NDArray[np.float32]:
    matrix = np.asarray(vectors, np.float32)
    lengths: NDArray[np.float32] = np.linalg.norm(matrix, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    unit: NDArray[np.float32] = matrix / lengths
    return unit


def _is_junk(text: str, case: ReplayCase) -> bool:
    return junk_reason(text) is not None or any(normalise(phrase) in normalise(text) for phrase in case.unwanted)


def _unsupported(plan: Plan) -> int:
    said = [Quotable(message.text) for message in plan.messages]
    facts = [planned.fact for planned in plan.facts] + [each.fact for each in plan.withheld]
    return sum(not any(text.find(fact.quote or "") for text in said) for fact in facts)


def _script_kept(record: MemoryRecord) -> bool | None:
    """Whether the memory is in the letters of its quotes; None where that cannot be said."""
    mine = script_of(record.content)
    theirs = {script_of(each.quote) for each in record.evidence if each.quote}
    return None if mine is None or not theirs or None in theirs else mine in theirs


def _without(texts: Iterable[str], taken: Iterable[str]) -> tuple[str, ...]:
    left = list(texts)
    for text in taken:
        left.remove(text)
    return tuple(left)


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None
