"""Every setting does something: one probe a knob, whose result differs between two of its values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from engine_fixture import ANA, START, Judge, Vectors, decide, engine_over, facts, memory_store
from mnemoscope import MemoryConfig, MemoryEngine, MemoryRecord
from mnemoscope.config import KNOBS
from mnemoscope.stores import GenericAdapter, Write

TEA = Vectors({"tea": [1, 0, *[0] * 30], "likes tea": [0.9, 0.436, *[0] * 30], "drinks tea": [0.8, 0.6, *[0] * 30]})
EQUAL = {"semantic_weight": 0.1, "recency_weight": 0.1, "importance_weight": 0.1}


@dataclass
class Settable:
    """A clock that is set by hand."""

    now: Any = field(default=START)

    def __call__(self) -> Any:
        return self.now


def ranked(**knobs: Any) -> str:
    """The first of four memories of which each is best by one part of the score alone."""
    engine = engine_over(memory_store(TEA), clock=lambda: START)
    for key, text, days, importance in (
        ("near", "likes tea", 900, 0.0),
        ("worded", "tea house opens at nine", 900, 0.0),
        ("new", "chess", 1, 0.0),
        ("weighty", "chess too", 900, 0.8),
        ("plain", "chess three", 900, None),
    ):
        record = MemoryRecord(key, ANA, text, importance=importance, created_at=START - timedelta(days=days))
        vector = np.array(TEA.embed_query(text), np.float32)
        engine.adapter.write([Write(ANA, key, record.to_value(), {"content": vector})])
    config = MemoryConfig(**{**EQUAL, "default_importance": 0.1, **knobs})
    return engine.recall("tea", ANA, config=config, touch=False)[0].record.key


def returned(**knobs: Any) -> int:
    """How many memories come back."""
    engine = engine_over(memory_store(TEA), config=MemoryConfig(**{**EQUAL, **knobs}))
    engine.remember_facts(facts("tea", "a stone"), ANA)
    return len(engine.recall("tea", ANA))


def judged(**knobs: Any) -> list[int]:
    """How many similar memories the judge was shown."""
    judge = Judge(decide("skip"))
    engine = engine_over(memory_store(TEA), consolidator=judge, config=MemoryConfig(**knobs))
    loose = engine_over(engine.adapter, config=MemoryConfig(consolidation_threshold=1.0))
    loose.remember_facts(facts("likes tea", "drinks tea"), ANA)
    engine.remember_facts(facts("tea"), ANA)
    return [len(similar) for _, similar in judge.asked]


def examined(**knobs: Any) -> int:
    """How far a search was widened that its first step proves."""
    engine = engine_over(GenericAdapter(memory_store(TEA)), config=MemoryConfig(**knobs))
    engine.remember_facts(facts(*(f"fact {at}" for at in range(30))), ANA)
    weights = MemoryConfig(semantic_weight=1, recency_weight=0, importance_weight=0, **knobs)
    return engine.recall("fact 1", ANA, limit=1, config=weights, touch=False).examined


def touched(**knobs: Any) -> int:
    engine = engine_over(config=MemoryConfig(**knobs))
    engine.remember_facts(facts("likes tea"), ANA)
    engine.recall("tea", ANA)
    return len(engine.usage.recalls(ANA))


def suppressed(**knobs: Any) -> int:
    engine, clock = aged(knobs)
    engine.forget(ANA, key=engine.list(ANA)[0].key)
    clock.now += timedelta(days=10)
    engine.remember_facts(facts("likes tea"), ANA)
    return len(engine.list(ANA))


def old_history(**knobs: Any) -> Any:
    engine, clock = aged(knobs)
    clock.now += timedelta(days=10)
    return int(engine.curation.trim_history())


def transcript(**knobs: Any) -> int:
    engine = engine_over(config=MemoryConfig(**knobs))
    engine.remember([{"role": "user", "content": "I like tea."}], ANA)
    return len(engine.runs.list(ANA)[0].messages)


def old_transcripts(**knobs: Any) -> int:
    engine, clock = aged(knobs)
    engine.remember([{"role": "user", "content": "I like milk."}], ANA)
    clock.now += timedelta(days=10)
    return int(engine.runs.trim_transcripts())


def aged(knobs: dict[str, Any]) -> tuple[MemoryEngine, Settable]:
    clock = Settable()
    engine = engine_over(clock=clock, config=MemoryConfig(**knobs))
    engine.remember_facts(facts("likes tea"), ANA)
    return engine, clock


PROBES: dict[str, tuple[Callable[..., Any], Any, Any]] = {
    "semantic_weight": (ranked, 0.0, 1.0),
    "recency_weight": (ranked, 0.0, 1.0),
    "importance_weight": (ranked, 0.0, 1.0),
    "recency_half_life_days": (lambda **knobs: ranked(recency_weight=0.3, **knobs), 1.0, 1e5),
    "lexical_weight": (ranked, 0.0, 1.0),
    "min_score": (returned, 0.0, 0.9),
    "min_similarity": (returned, 0.0, 0.9),
    "default_importance": (ranked, 0.0, 1.0),
    "consolidation_threshold": (judged, 0.5, 1.0),
    "consolidation_limit": (lambda **knobs: judged(consolidation_threshold=0.5, **knobs), 1, 5),
    "recall_oversample": (examined, 1, 20),
    "touch_on_recall": (touched, False, True),
    "suppress_for_days": (suppressed, 5.0, 50.0),
    "history_days": (old_history, 5.0, 50.0),
    "keep_transcripts": (transcript, False, True),
    "transcript_days": (old_transcripts, 5.0, 50.0),
}


@pytest.mark.parametrize("name", KNOBS)
def test_every_knob_changes_a_result(name: str) -> None:
    probe, one, other = PROBES[name]
    assert probe(**{name: one}) != probe(**{name: other})
