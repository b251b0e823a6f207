"""The sample store: our sample conversations, remembered over months of simulated time, and then curated."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from .config import PRESETS
from .embedding import BundledEmbeddings
from .engine import MemoryEngine
from .facts import ExtractedFact
from .namespaces import Namespace
from .rule_consolidation import RuleConsolidator
from .rules import RuleExtractor
from .samples import SampleConversation, load_samples
from .stores.sqlite_file import open_sqlite
from .times import utc_now

__all__ = ["build_demo"]

ANA: Namespace = ("memories", "ana")

# What the sample agent was asked later: it fills the access history.
_QUESTIONS: dict[Namespace, tuple[str, ...]] = {
    ANA: ("Where does she live now?", "What does she like to eat?", "Plans with the family"),
    ("memories", "ben"): ("Which languages does he write?", "Where does he work?"),
}


class _Clock:
    """Simulated time."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def build_demo(path: str | Path, *, now: datetime | None = None) -> None:
    """Make an SQLite file that holds what the sample agent remembers, as of `now`."""
    present = now or utc_now()
    clock = _Clock(present)
    store = open_sqlite(path, embeddings=BundledEmbeddings())
    engine = MemoryEngine(
        store,
        extractor=RuleExtractor(),
        consolidator=RuleConsolidator(),
        config=PRESETS["rules"],
        clock=clock,
        actor="ada",
    )
    try:
        for sample in load_samples(present):
            if sample.messages:
                _remember(engine, clock, sample)
        clock.now = present - timedelta(days=2)
        _ask(engine)
        _curate(engine, clock, present)
    finally:
        engine.close()
        store.conn.close()


def _remember(engine: MemoryEngine, clock: _Clock, sample: SampleConversation) -> None:
    last = [message.said_at for message in sample.messages if message.said_at]
    clock.now = max(last) + timedelta(minutes=1) if last else clock.now
    engine.remember(sample.messages, sample.namespace, source=sample.id)


def _ask(engine: MemoryEngine) -> None:
    for namespace, questions in _QUESTIONS.items():
        for question in questions:
            engine.recall(question, namespace, limit=3)


def _curate(engine: MemoryEngine, clock: _Clock, present: datetime) -> None:
    clock.now = present - timedelta(days=1, hours=3)
    note = ExtractedFact(content="Prefers to be called in the morning", categories=["contact"], importance=0.5)
    engine.remember_facts([note], ANA, source="support-desk", private=True, actor="curator")
    oldest = min(engine.list(ANA, limit=None), key=lambda record: (record.importance or 0.0, record.created_at))
    clock.now = present - timedelta(hours=20)
    engine.forget(ANA, key=oldest.key, actor="curator", reason="no longer of any use")
