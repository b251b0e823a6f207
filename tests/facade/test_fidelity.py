"""What nobody edited stays as it was stored, whatever JSON that is: by edits, undo, forgetting, moves and exports."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import ANA, BEN, engine_over
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import examples
from mnemoscope import InputError, MemoryEngine
from mnemoscope.stores import Write
from stores_fixture import Backend, opened_memory, opened_postgres, opened_sqlite

HOLDS: dict[str, Callable[[Path], AbstractContextManager[Backend]]] = {
    "memory": opened_memory,
    "sqlite": opened_sqlite,
    "postgres": opened_postgres,
}
NUMBERS = (
    st.integers()
    | st.sampled_from([2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**40, -(10**300)])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([5e-324, 1.7976931348623157e308, -0.0, 0.1, 2.0, 1e22])
)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=5) | st.sampled_from(
    ["", "kind", "metadata", "importance", "categories", "created_at", "content.x", "$or", "__mnemoscope__"]
)
ODD_TEXTS = st.sampled_from(["a\x00b", "\ud800", "x\udfff", "\ufffd", "\u202e"])


def json_of(texts: st.SearchStrategy[str], numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    parts = st.recursive(
        st.none() | st.booleans() | numbers | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
        max_leaves=8,
    )
    return st.builds(lambda more, text: {**more, "content": text}, st.dictionaries(NAMES, parts, max_size=4), texts)


PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=10)
STORED = {
    "memory": json_of(PLAIN | ODD_TEXTS, NUMBERS | st.sampled_from([float("inf"), float("-inf")])),
    "sqlite": json_of(PLAIN | ODD_TEXTS, NUMBERS | st.sampled_from([float("inf"), float("-inf")])),
    # A jsonb has no -0.0, and writes a float such as 1e22 as a whole number.
    "postgres": json_of(PLAIN, NUMBERS.filter(lambda each: isinstance(each, int) or 1e-5 < abs(each) < 1e15)),
}


def deep(levels: int) -> dict[str, Any]:
    value: Any = 1
    for _ in range(levels):
        value = {"deeper": [value]}
    return {"content": "Ana drinks tea.", "nested": value}


def spelt(value: object) -> str:
    """The value as JSON text, in which 1, 1.0 and true are three things."""
    return json.dumps(value, sort_keys=True)


def stored(engine: MemoryEngine, namespace: tuple[str, ...] = ANA) -> str:
    (item,) = engine.context.adapter.load(namespace).items
    return spelt(item.value)


def check_every_road(backend: Backend, value: dict[str, Any]) -> None:
    engine = engine_over(backend.adapter)  # type: ignore[arg-type]
    engine.context.adapter.write([Write(ANA, "k", value, as_stored=True)])
    before = stored(engine)
    assert before == spelt(value)

    labelled = engine.update(ANA, "k", categories=["odd"])
    untouched = {name: part for name, part in value.items() if name not in ("categories", "revision", "updated_at")}
    (item,) = engine.context.adapter.load(ANA).items
    assert spelt({name: item.value[name] for name in untouched}) == spelt(untouched)
    engine.undo(labelled.id)
    assert stored(engine) == before

    engine.forget(ANA, key="k")
    engine.restore(ANA, "k")
    engine.undo(engine.forget(ANA, key="k").group or "")
    assert stored(engine) == before

    engine.curation.move([(ANA, "k")], BEN)
    assert stored(engine, BEN) == before
    engine.curation.move([(BEN, "k")], ANA)
    assert stored(engine) == before

    exported = b"".join(engine.transfer.export(ANA, vectors=False, history=False))
    engine.context.adapter.write([Write(ANA, "k", None)])
    engine.transfer.apply_import(engine.transfer.plan_import(exported, conflicts="overwrite"))
    assert stored(engine) == before


@pytest.mark.parametrize("kind", HOLDS)
@given(data=st.data())
@examples(30)
def test_no_road_changes_what_nobody_edited(kind: str, data: Any) -> None:
    value = data.draw(STORED[kind])
    with tempfile.TemporaryDirectory() as folder, HOLDS[kind](Path(folder)) as backend:
        check_every_road(backend, value)


@pytest.mark.parametrize("kind", HOLDS)
@pytest.mark.parametrize(
    "value",
    [
        {"kind": "memory", "content": "Ana drinks tea.", "fingerprint": 2**64 - 1},
        {"content": "Ana drinks tea.", "big": 2**70, "metadata": {"n": [10**40, {"m": -(2**63) - 1}]}},
        deep(74),
        deep(120),
    ],
    ids=["uint64", "big", "149 levels", "241 levels"],
)
def test_numbers_of_any_size_and_deep_nesting_stay(kind: str, value: dict[str, Any], tmp_path: Path) -> None:
    with HOLDS[kind](tmp_path) as backend:
        check_every_road(backend, value)


def test_what_is_new_is_refused_by_name_where_not_every_store_takes_it(tmp_path: Path) -> None:
    with opened_sqlite(tmp_path) as backend:
        engine = engine_over(backend.adapter)  # type: ignore[arg-type]
        engine.context.adapter.write([Write(ANA, "k", {"content": "x", "metadata": {"n": 2**70}}, as_stored=True)])
        with pytest.raises(InputError, match=r"'metadata\.m' is .*, beyond 64 bits"):
            engine.update(ANA, "k", metadata={"n": 2**70, "m": 2**71})
        engine.update(ANA, "k", metadata={"n": 2**70, "m": 1})
        assert engine.list(ANA)[0].metadata == {"n": 2**70, "m": 1}


def test_what_a_store_cannot_hold_is_refused_by_name_and_nothing_is_imported(tmp_path: Path) -> None:
    with opened_sqlite(tmp_path) as backend:
        engine = engine_over(backend.adapter)  # type: ignore[arg-type]
        engine.context.adapter.write([Write(ANA, "k", {"content": "x", "odd": "a\x00b"}, as_stored=True)])
        exported = b"".join(engine.transfer.export(ANA, vectors=False, history=False))
    with opened_postgres(tmp_path) as backend:
        engine = engine_over(backend.adapter)  # type: ignore[arg-type]
        plan = engine.transfer.plan_import(exported)
        assert [(row.status, "'odd' holds NUL" in row.reason) for row in plan.rows] == [("invalid", True)]
        assert engine.counts() == {}
