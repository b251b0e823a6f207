"""Random batches of writes leave an adapter equal to a plain dictionary."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples
from mnemoscope import ConflictError
from mnemoscope.stores import KEEP, Guard, Ref, Write, copy_json, same_json
from stores_fixture import BACKENDS, Backend, vectors_for

SPACES = [("a",), ("a", "b"), ("ab",), ("A",), ("%",), ("a_b",), ("é", "日本")]
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
REFS = st.tuples(st.sampled_from(SPACES), st.sampled_from(["", "k", "K", "k.1", "%", "ключ"]))
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(CHARACTERS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(CHARACTERS, max_size=5), inner, max_size=3),
    max_leaves=6,
)
VALUES = st.dictionaries(st.text(CHARACTERS, max_size=5), JSON, max_size=3)
TEXTS = st.sampled_from(["green tea", "black coffee", "red wine"])
VECTORS = st.just({}) | st.just(KEEP) | TEXTS.map(vectors_for)
WRITES = st.builds(
    lambda ref, value, vectors: Write(ref[0], ref[1], value, vectors=vectors), REFS, st.none() | VALUES, VECTORS
)
BATCHES = st.lists(st.tuples(st.lists(WRITES, max_size=6), st.booleans()), min_size=1, max_size=6)

EXACT = ("memory", "sqlite", "postgres")
"""The stores whose vectors can be read."""

Model = dict[Ref, tuple[dict[str, Any], list[float] | None]]


def applied(model: Model, writes: list[Write]) -> Model:
    """The model after a batch: a mapping from place to value and vector."""
    after = dict(model)
    for write in {write.ref: write for write in writes}.values():
        if write.value is None:
            after.pop(write.ref, None)
            continue
        kept = after[write.ref][1] if write.ref in after else None
        vector = kept if write.vectors is KEEP else write.vectors.get("content")  # type: ignore[union-attr]
        after[write.ref] = (dict(write.value), None if vector is None else list(map(float, vector)))
    return after


def read(backend: Backend) -> Model:
    loaded = backend.adapter.load((), subtree=True)
    vectors = [each.get("content") for each in loaded.vectors_by_item()]
    return {
        item.ref: (item.value, None if vector is None else vector.tolist())
        for item, vector in zip(loaded.items, vectors, strict=True)
    }


def assert_same(read: Model, model: Model) -> None:
    assert read.keys() == model.keys()
    for ref, (value, vector) in model.items():
        assert same_json(read[ref][0], value)
        assert read[ref][1] == vector


@pytest.mark.parametrize("opened", [BACKENDS[name] for name in EXACT], ids=EXACT)
@examples(40)
@given(batches=BATCHES)
def test_an_adapter_is_a_dictionary(
    opened: Callable[[Path], AbstractContextManager[Backend]], batches: list[tuple[list[Write], bool]]
) -> None:
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as backend:
        model: Model = {}
        for writes, holds in batches:
            guards = [Guard(*ref, value if holds else {**value, "stale": 1}) for ref, (value, _) in model.items()]
            if guards and not holds:
                with pytest.raises(ConflictError):
                    backend.adapter.write(writes, guards)
            else:
                backend.adapter.write(writes, guards)
                model = applied(model, writes)
            assert_same(read(backend), model)
        spaces = [space for space, _ in model]
        assert backend.adapter.counts() == {space: spaces.count(space) for space in sorted(set(spaces))}
        assert list(backend.adapter.markers((), subtree=True)) == sorted(model)


@given(value=JSON)
def test_equality_of_json_is_reflexive_and_tells_truth_from_one(value: Any) -> None:
    assert same_json(value, copy_json(value))
    assert not same_json([value, True], [value, 1])
    assert same_json([value, float("nan"), 1], [value, np.nan, 1.0])
