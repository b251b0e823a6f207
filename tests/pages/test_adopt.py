"""Curate, part Adopt: what would be adopted is shown, adopted by one action, and put back by one undo."""

from __future__ import annotations

import tomllib
from collections.abc import Callable

import pytest
from mnemoscope import MemoryEngine, StoreUnavailableError
from mnemoscope.curation import TextHint
from streamlit.testing.v1 import AppTest

from app.components import actions
from app.text import toml
from app.views.curate import adopt

Dashboard = Callable[..., AppTest]
ANA = ("memories", "ana")
PART = {"w_part": "Adopt"}
NESTED = {"kind": "Memory", "content": {"content": "Ana sails. **bold**"}}


@pytest.fixture
def engine(empty_engine: MemoryEngine) -> MemoryEngine:
    empty_engine.store.put(ANA, "nested", NESTED)
    empty_engine.store.put(ANA, "empty", {"n": 1})
    empty_engine.remember("Ana lives in Lisbon.", ANA, extract=False)
    return empty_engine


def stored(engine: MemoryEngine, key: str = "nested") -> object:
    item = engine.store.get(ANA, key)
    return None if item is None else item.value


def test_the_plan_is_shown_and_nothing_is_written(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = dashboard(engine, "curate", query=PART)
    assert not test.exception
    figures = {metric.label: metric.value for metric in test.metric}
    expected = {"LangMem managers": "1", "LangMem tools": "0", "Ours already": "1", "Cannot be adopted": "1"}
    assert figures.items() >= expected.items()
    code = "\n".join(each.value for each in test.code)
    assert '"kind": "Memory"' in code
    assert '"kind": "memory"' in code
    assert test.button(key=adopt.APPLY_KEY).disabled
    assert stored(engine) == NESTED


def test_adopting_is_one_action_and_undo_puts_it_back(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = dashboard(engine, "curate", query=PART, writing=True)
    test.button(key=adopt.APPLY_KEY).click().run()
    record = engine.get(ANA, "nested")
    assert record is not None
    assert (record.kind, record.content) == ("memory", "Ana sails. **bold**")
    assert engine.history(ANA, "nested")[0].actor == "tester"
    assert "Nothing to adopt here" in "\n".join(each.value for each in test.markdown)
    test.button(key=actions.UNDO_KEY).click().run()
    assert stored(engine) == NESTED


def test_what_changed_meanwhile_is_refused_and_said(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = dashboard(engine, "curate", query=PART, writing=True)
    engine.store.put(ANA, "nested", {"content": "Other."})
    test.button(key=adopt.APPLY_KEY).click().run()
    assert "**Nothing was changed**" in [error.value for error in test.error]
    assert stored(engine) == {"content": "Other."}


def test_an_empty_scope_says_so(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    test = dashboard(seeded_engine, "curate", query=PART)
    assert "Nothing to adopt here" in "\n".join(each.value for each in test.markdown)


def test_a_store_that_fails_does_not_look_empty(
    dashboard: Dashboard, engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_arguments: object, **_options: object) -> None:
        raise StoreUnavailableError("The host is down.")

    monkeypatch.setattr(engine.curation, "plan_adoption", fails)
    test = dashboard(engine, "curate", query=PART)
    assert "The store did not answer" in "\n".join(error.value for error in test.error)
    assert "Nothing to adopt here" not in "\n".join(each.value for each in test.markdown)


def test_a_field_that_may_be_the_text_is_shown_with_the_lines_that_name_it(
    dashboard: Dashboard, engine: MemoryEngine
) -> None:
    for at, text in enumerate(("Bees make honey all day.", 'Wax is "made" of [nothing](http://x.invalid)\u202e.')):
        engine.store.put(("docs", "web"), str(at), {"title": "Bees", "body": text, "at": "2025-03-01"})
    test = dashboard(engine, "curate", query=PART)
    assert not test.exception
    rows = next(each.value for each in test.dataframe if "Field" in each.value.columns).to_dict("records")
    assert [(row["Field"], row["Items that have it"], row["Example"]) for row in rows] == [
        ("body", "2 of 2 (100%)", "Bees make honey all day.")
    ]
    assert '.text_fields]\n"docs/web" = "body"\n' in "\n".join(each.value for each in test.code)


def test_the_lines_name_one_field_for_each_namespace_and_are_toml() -> None:
    hints = [TextHint(("a", "b.c"), name, 5 - at, 9, 10, "x") for at, name in enumerate(('say "hi"', "second"))]
    lines = toml.write_text_fields("my team", [(h.namespace, h.field) for h in adopt.pick_first_of_each(hints)])
    assert tomllib.loads(lines) == {"connections": {"my team": {"text_fields": {"a/b.c": 'say "hi"'}}}}
