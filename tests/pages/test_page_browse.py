from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from mnemoscope import ExtractedFact, MemoryEngine, StoreUnavailableError
from mnemoscope.core import utc_now
from mnemoscope.index import Filters, browse
from streamlit.testing.v1 import AppTest

from app.components import actions, code
from app.views.browse import actions as browse_actions
from app.views.browse import edit, history, memory, results
from app.views.browse import filters as browse_filters

Dashboard = Callable[..., AppTest]
ANA = ("memories", "ana")
HERE = {"ns": ["memories", "ana"]}


def rows(test: AppTest) -> list[str]:
    return list(test.dataframe[0].value["content"])


def texts(test: AppTest) -> str:
    return "\n".join(str(element.value) for element in (*test.text, *test.markdown, *test.caption, *test.code))


def key_of(engine: MemoryEngine, start: str) -> str:
    return next(record.key for record in engine.list(ANA) if record.content.startswith(start))


def ticked(engine: MemoryEngine, *positions: int) -> dict[str, Any]:
    """The session state of a table whose rows are ticked, in the order of the page."""
    refs = [(record.namespace, record.key) for record in engine.list(ANA)]
    selection = {"selection": {"rows": list(positions), "columns": [], "cells": []}}
    return {results.table_key(refs): selection}


def open_popovers(test: AppTest) -> list[str]:
    return [block.proto.popover.label for block in test.get("popover") if block.proto.popover.open]


def opened(engine: MemoryEngine, start: str) -> dict[str, str | list[str]]:
    return {**HERE, "b_key": key_of(engine, start), "b_in": list(ANA)}


def remember_private(engine: MemoryEngine) -> None:
    secret = ExtractedFact(content="Ana has a secret.", categories=["secret"], importance=0.9)
    engine.remember_facts([secret], ANA, source="chat", private=True)


# Reading


def test_every_memory_of_the_scope_is_listed(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    test = dashboard(seeded_engine, "browse", query=HERE)
    assert not test.exception
    assert rows(test) == [text for text in rows(test) if not text.startswith("Ben")]
    assert len(rows(test)) == 4
    assert "**4 memories**:gray[]" in texts(test)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"b_q": "TEA drink"}, ["Ana's favourite drink is green tea."]),
        ({"b_cat": ["home", "preference"]}, ["Ana lives in Lisbon.", "Ana prefers short answers."]),
        ({"b_imp": ["0.6", "1"], "b_sort": "Most important"}, ["Ana lives in Lisbon.", "Ana prefers short answers."]),
        ({"b_sort": "A to Z", "b_q": "ana"}, [
            "Ana lives in Lisbon.", "Ana prefers short answers.", "Ana's favourite drink is green tea.",
        ]),
        ({"b_sort": "no such order", "b_q": "lisbon", "b_is": "nonsense"}, ["Ana lives in Lisbon."]),
    ],
)  # fmt: skip
def test_the_url_searches_filters_and_sorts(
    dashboard: Dashboard, seeded_engine: MemoryEngine, query: dict[str, Any], expected: list[str]
) -> None:
    test = dashboard(seeded_engine, "browse", query=HERE | query)
    shown = rows(test)
    assert (shown if "b_sort" in query else sorted(shown)) == expected


def test_search_by_meaning_sorts_by_similarity_and_leaves_none_out(
    dashboard: Dashboard, seeded_engine: MemoryEngine
) -> None:
    test = dashboard(seeded_engine, "browse", query=HERE | {"b_q": "favourite drink tea", "b_by": "Meaning"})
    assert rows(test)[0] == "Ana's favourite drink is green tea."
    assert len(rows(test)) == 4
    similarities = list(test.dataframe[0].value["similarity"])
    assert similarities == sorted(similarities, reverse=True)


def test_most_recalled_comes_first(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    seeded_engine.recall("short answers", ANA, limit=1, touch=True)
    test = dashboard(seeded_engine, "browse", query=HERE | {"b_sort": "Most recalled"})
    assert rows(test)[0] == "Ana prefers short answers."


def test_private_memories_are_hidden_and_counted_until_they_are_asked_for(
    dashboard: Dashboard, seeded_engine: MemoryEngine
) -> None:
    remember_private(seeded_engine)
    test = dashboard(seeded_engine, "browse", query=HERE)
    assert "Ana has a secret." not in rows(test)
    assert "1 private hidden" in texts(test)
    test.toggle(key="b_private").set_value(True).run()
    assert "Ana has a secret." in rows(test)
    assert "private hidden" not in texts(test)


def test_a_link_to_a_private_memory_does_not_show_it(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    remember_private(seeded_engine)
    record = next(record for record in seeded_engine.list(ANA, include_private=True) if record.private)
    query = {**HERE, "b_key": record.key, "b_in": list(ANA)}
    assert "Ana has a secret." not in texts(dashboard(seeded_engine, "browse", query=query))
    assert "Ana has a secret." in texts(dashboard(seeded_engine, "browse", query=query | {"b_private": "true"}))


def test_filters_that_leave_nothing_can_be_cleared(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    test = dashboard(seeded_engine, "browse", query=HERE | {"b_q": "zeppelin", "b_cat": ["food"]})
    assert "The filters leave none of 4 memories." in texts(test)
    test.button(key="browse.clear-all").click().run()
    assert len(rows(test)) == 4


def test_the_python_line_lists_the_same_memories(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    query = HERE | {"b_q": "ana", "b_imp": ["0.5", "1"], "b_sort": "Least important"}
    test = dashboard(seeded_engine, "browse", query=query)
    lines = next(element.value for element in test.code if "browse(" in element.value)
    *statements, last = lines.splitlines()
    names: dict[str, Any] = {"engine": seeded_engine}
    exec("\n".join(statements), names)
    assert [record.content for record in eval(last, names)] == rows(test) == [
        "Ana prefers short answers.", "Ana lives in Lisbon.",
    ]  # fmt: skip


def test_filters_from_the_url_are_counted_at_once(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    test = dashboard(seeded_engine, "browse", query=HERE | {"b_is": "Pinned", "b_imp": ["0.5", "1"]})
    assert "Filters · 2" in [block.proto.popover.label for block in test.get("popover")]


def test_an_empty_store_says_what_to_do_next(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    assert "Nothing is remembered here yet" in texts(dashboard(empty_engine, "browse"))


def test_a_store_that_fails_on_reading_is_a_message(
    dashboard: Dashboard, seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_arguments: Any, **_options: Any) -> None:
        raise StoreUnavailableError("The file is locked.")

    monkeypatch.setattr(seeded_engine, "index", away)
    assert "The store did not answer" in dashboard(seeded_engine, "browse").error[0].value


def test_many_memories_come_in_pages(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    facts = [ExtractedFact(content=f"The colour of box {at} is {at}.") for at in range(120)]
    empty_engine.remember_facts(facts, ANA)
    query = HERE | {"b_sort": "A to Z"}
    first = rows(dashboard(empty_engine, "browse", query=query))
    second = rows(dashboard(empty_engine, "browse", query=query | {browse_filters.PAGE_KEY: "2"}))
    assert (len(first), len(second)) == (100, 20)
    assert sorted([*first, *second]) == sorted(fact.content for fact in facts)


def test_the_open_memory_shows_what_is_known_of_it(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    seeded_engine.recall("green tea", ANA, limit=1, touch=True)
    shown = texts(dashboard(seeded_engine, "browse", query=opened(seeded_engine, "Ana's favourite")))
    assert "Ana's favourite drink is green tea." in shown
    assert "0.40" in shown
    assert "1 time, last just now" in shown
    assert "engine.get(('memories', 'ana')" in shown


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("Evidence", "run run-"),
        ("History", "by agent"),
        ("Alike", "Click one to open it."),
        ("Recalls", "It was never recalled."),
        ("Raw", "The item as it is read"),
    ],
)
def test_each_part_of_the_open_memory_is_drawn_when_it_is_chosen(
    dashboard: Dashboard, seeded_engine: MemoryEngine, part: str, expected: str
) -> None:
    test = dashboard(seeded_engine, "browse", query=opened(seeded_engine, "Ana lives"), state={memory.TABS_KEY: part})
    assert not test.exception
    assert expected in texts(test)


def test_the_recalls_of_a_memory_name_query_rank_thread_and_what_was_said_of_them(
    dashboard: Dashboard, seeded_engine: MemoryEngine
) -> None:
    node = seeded_engine.recall_node(namespace=("memories", "{user_id}"), limit=1)
    config = {"configurable": {"user_id": "ana", "thread_id": "evening"}}
    node.invoke({"messages": [{"role": "user", "content": "green tea"}]}, config)
    seeded_engine.recall("green tea", ANA, limit=1)
    key = key_of(seeded_engine, "Ana's favourite")
    latest = seeded_engine.usage.recalls(ANA)[key].recent[0]
    assert latest.recall is not None
    seeded_engine.usage.give_feedback(latest.recall, key, useful=True, actor="cara")
    query, part = opened(seeded_engine, "Ana's favourite"), {memory.TABS_KEY: "Recalls"}
    test = dashboard(seeded_engine, "browse", query=query, state=part)
    table = next(each.value for each in test.dataframe if "rank" in each.value)
    assert list(table["query"]) == ["green tea", "green tea"]
    assert list(table["rank"]) == [1, 1]
    assert sorted(table["thread"]) == ["evening", "–"]
    assert sorted(table["use"]) == ["yes, says cara", "–"]
    assert "Of use in 1 of 1 recall that somebody judged." in texts(test)


def test_hostile_text_is_shown_as_it_is_and_its_hidden_characters_are_named(
    dashboard: Dashboard, seeded_engine: MemoryEngine
) -> None:
    test = dashboard(seeded_engine, "browse", query=opened(seeded_engine, "**bold**"))
    hostile = "**bold** <b>html</b> ![x](http://example.invalid/x.png) <U+202E>exe"
    assert hostile in [element.value for element in test.text]
    drawn = [*test.markdown, *test.caption, *test.warning]
    assert not [element for element in drawn if "example.invalid" in str(element.value)]


def test_a_strangers_item_breaks_nothing(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    seeded_engine.store.put(ANA, "odd", {"title": "no text", "importance": "high", "categories": 7}, index=False)
    query = {**HERE, "b_key": "odd", "b_in": list(ANA)}
    for part in ("Evidence", "History", "Alike", "Recalls", "Raw"):
        test = dashboard(seeded_engine, "browse", query=query, state={memory.TABS_KEY: part})
        assert not test.exception
    assert "(no text)" in rows(test)
    assert "there is no text under 'content'" in texts(test)


def test_a_memory_of_another_namespace_is_not_opened_here(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    ben = seeded_engine.list(("memories", "ben"))[0]
    test = dashboard(seeded_engine, "browse", query={**HERE, "b_key": ben.key, "b_in": ["memories", "ben"]})
    assert "peanuts" not in texts(test)


def test_reading_and_browsing_writes_nothing(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    before = {record.key: record.to_value() for record in seeded_engine.list((), subtree=True)}
    for part in ("Evidence", "History", "Alike", "Recalls", "Raw"):
        query = opened(seeded_engine, "Ana lives") | {"b_q": "ana", "b_by": "Meaning"}
        dashboard(seeded_engine, "browse", query=query, writing=True, state={memory.TABS_KEY: part})
    assert {record.key: record.to_value() for record in seeded_engine.list((), subtree=True)} == before
    assert len(seeded_engine.history()) == 5
    assert seeded_engine.usage.recalls(ANA) == {}


@pytest.mark.parametrize(
    ("filters", "has_command"), [({"b_cat": "home"}, True), ({"b_q": "ana"}, False), ({"b_since": "2026-01-01"}, False)]
)
def test_the_code_of_a_table_runs_and_says_where_there_is_no_command(
    dashboard: Dashboard, seeded_engine: MemoryEngine, filters: dict[str, str], has_command: bool
) -> None:
    test = dashboard(seeded_engine, "browse", query=HERE | filters)
    said = [each.value for each in test.caption]
    assert code.ENGINE in said
    assert any(each.startswith("There is no command for it") for each in said) is not has_command
    assert any(each.value.startswith("mnemoscope list") for each in test.code) is has_command
    [line] = [each.value for each in test.code if "engine.index" in each.value]
    exec(line, {"engine": seeded_engine})


# Changing


def test_nothing_can_be_changed_while_writing_is_off(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    query = opened(seeded_engine, "Ana lives")
    test = dashboard(seeded_engine, "browse", query=query, state=ticked(seeded_engine, 0))
    assert test.button(key=edit.EDIT_KEY).disabled
    drawn = [block.proto.popover for block in test.get("popover")]
    assert [popover.disabled for popover in drawn if popover.label.startswith(("Forget", "Relabel"))] == [True] * 4


def test_an_edit_is_saved_with_who_and_why_and_can_be_undone(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    key = key_of(seeded_engine, "Ana lives")
    test = dashboard(seeded_engine, "browse", query=opened(seeded_engine, "Ana lives"), writing=True)
    test.button(key=edit.EDIT_KEY).click().run()
    test.text_area(key="browse.edit.content").set_value("Ana lives in Porto.")
    test.text_input(key="browse.edit.reason").set_value("She moved")
    test.button(key=edit.SAVE_KEY).click().run()
    assert not test.exception
    record = seeded_engine.get(ANA, key)
    assert record is not None
    assert (record.content, record.categories, record.importance, record.revision) == (
        "Ana lives in Porto.",
        ["home"],
        0.8,
        2,
    )
    change = seeded_engine.history(ANA, key)[0]
    assert (change.actor, change.reason) == ("tester", "She moved")
    assert seeded_engine.recall("Porto", ANA, limit=1, touch=False)[0].record.key == key
    test.button(key=actions.UNDO_KEY).click().run()
    restored = seeded_engine.get(ANA, key)
    assert restored is not None
    assert restored.content == "Ana lives in Lisbon."


def test_a_stale_edit_is_refused_with_both_texts_and_keeps_the_draft(
    dashboard: Dashboard, seeded_engine: MemoryEngine
) -> None:
    key = key_of(seeded_engine, "Ana lives")
    test = dashboard(seeded_engine, "browse", query=opened(seeded_engine, "Ana lives"), writing=True)
    test.button(key=edit.EDIT_KEY).click().run()
    seeded_engine.update(ANA, key, content="Ana lives in Faro.", importance=0.1, actor="someone else")
    test.text_area(key="browse.edit.content").set_value("Ana lives in Porto.")
    test.button(key=edit.SAVE_KEY).click().run()
    kept = seeded_engine.get(ANA, key)
    assert kept is not None
    assert kept.content == "Ana lives in Faro."
    assert "Ana lives in Faro." in texts(test)
    assert "Someone changed this memory while you were editing" in test.warning[0].value
    assert test.text_area(key="browse.edit.content").value == "Ana lives in Porto."
    test.button(key=edit.SAVE_KEY).click().run()
    saved = seeded_engine.get(ANA, key)
    assert saved is not None
    assert (saved.content, saved.importance) == ("Ana lives in Porto.", 0.1)


def test_an_edit_is_stale_too_where_the_store_was_written_under_the_same_revision(
    dashboard: Dashboard, seeded_engine: MemoryEngine
) -> None:
    key = key_of(seeded_engine, "Ana lives")
    test = dashboard(seeded_engine, "browse", query=opened(seeded_engine, "Ana lives"), writing=True)
    test.button(key=edit.EDIT_KEY).click().run()
    record = seeded_engine.get(ANA, key)
    assert record is not None
    seeded_engine.store.put(ANA, key, {**record.to_value(), "content": "Ana lives in Faro."})
    test.text_area(key="browse.edit.content").set_value("Ana lives in Porto.")
    test.button(key=edit.SAVE_KEY).click().run()
    kept = seeded_engine.get(ANA, key)
    assert kept is not None
    assert kept.content == "Ana lives in Faro."
    assert "Ana lives in Lisbon." in texts(test)
    assert "Someone changed this memory while you were editing" in test.warning[0].value


def test_saving_without_a_change_writes_nothing(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    test = dashboard(seeded_engine, "browse", query=opened(seeded_engine, "Ana lives"), writing=True)
    test.button(key=edit.EDIT_KEY).click().run()
    test.button(key=edit.SAVE_KEY).click().run()
    assert [toast.value for toast in test.toast] == ["Nothing had to change."]
    assert len(seeded_engine.history()) == 5


def test_an_empty_text_is_refused(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    test = dashboard(seeded_engine, "browse", query=opened(seeded_engine, "Ana lives"), writing=True)
    test.button(key=edit.EDIT_KEY).click().run()
    test.text_area(key="browse.edit.content").set_value("   ")
    test.button(key=edit.SAVE_KEY).click().run()
    assert "A memory needs some text" in texts(test)
    assert key_of(seeded_engine, "Ana lives in Lisbon.")


def test_one_memory_is_forgotten_and_its_panel_says_so(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    key = key_of(seeded_engine, "Ana lives")
    test = dashboard(seeded_engine, "browse", query=opened(seeded_engine, "Ana lives"), writing=True)
    test.button(key=edit.FORGET_KEY).click().run()
    assert seeded_engine.get(ANA, key) is None
    assert "It is not here any more" in texts(test)
    test.button(key=actions.UNDO_KEY).click().run()
    assert seeded_engine.get(ANA, key) is not None
    assert "Ana lives in Lisbon." in texts(test)


def test_ticked_memories_are_forgotten_by_identity_as_one_undoable_change(
    dashboard: Dashboard, seeded_engine: MemoryEngine
) -> None:
    listed = seeded_engine.list(ANA)
    test = dashboard(seeded_engine, "browse", query=HERE, writing=True, state=ticked(seeded_engine, 1, 3))
    assert "**Forget 2 memories?**" in texts(test)
    test.button(key=browse_actions.CONFIRM_KEY).click().run()
    left = {record.key for record in seeded_engine.list(ANA)}
    assert left == {listed[0].key, listed[2].key}
    assert [toast.value for toast in test.toast] == ["Forgot 2 memories."]
    test.button(key=actions.UNDO_KEY).click().run()
    assert {record.key for record in seeded_engine.list(ANA)} == {record.key for record in listed}


def test_all_that_match_are_forgotten_not_only_those_that_are_ticked(
    dashboard: Dashboard, seeded_engine: MemoryEngine
) -> None:
    listed = seeded_engine.list(ANA)
    every = browse_actions.every_key(browse(seeded_engine.index(ANA), Filters(), now=utc_now()))
    test = dashboard(seeded_engine, "browse", query=HERE, writing=True, state=ticked(seeded_engine, 0))
    assert "**Forget 1 memory?**" in texts(test)
    test.checkbox(key=every).check().run()
    assert f"**Forget {len(listed)} memories?**" in texts(test)
    test.button(key=browse_actions.CONFIRM_KEY).click().run()
    assert seeded_engine.list(ANA) == []
    assert len({change.group for change in seeded_engine.history(ANA, limit=len(listed))}) == 1
    test.button(key=actions.UNDO_KEY).click().run()
    assert {record.key for record in seeded_engine.list(ANA)} == {record.key for record in listed}


def test_ticked_memories_are_relabelled(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    listed = seeded_engine.list(ANA)
    state = ticked(seeded_engine, 0, 1) | {"browse.relabel.importance": 0.95}
    test = dashboard(seeded_engine, "browse", query=HERE, writing=True, state=state)
    test.button(key=browse_actions.RELABEL_KEY).click().run()
    changed = [seeded_engine.get(ANA, record.key) for record in listed]
    assert [record.importance == 0.95 for record in changed if record] == [True, True, False, False]


@pytest.mark.parametrize(
    ("form", "button"),
    [
        (browse_actions.FORGET_FORM_KEY, browse_actions.CONFIRM_KEY),
        (browse_actions.RELABEL_FORM_KEY, browse_actions.RELABEL_KEY),
    ],
)
def test_the_form_of_what_was_done_closes_and_is_empty(
    dashboard: Dashboard, seeded_engine: MemoryEngine, form: str, button: str
) -> None:
    state = ticked(seeded_engine, 0, 1) | {"browse.relabel.importance": 0.95, form: True}
    test = dashboard(seeded_engine, "browse", query=HERE, writing=True, state=state)
    assert len(open_popovers(test)) == 1
    test.button(key=button).click().run()
    assert not test.exception
    assert open_popovers(test) == []
    assert "0 memories" not in texts(test)


def test_the_latest_change_can_be_undone_from_the_history(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    key = key_of(seeded_engine, "Ana lives")
    seeded_engine.update(ANA, key, content="Ana lives in Porto.")
    test = dashboard(
        seeded_engine, "browse", query=opened(seeded_engine, "Ana lives"), writing=True,
        state={memory.TABS_KEY: "History"},
    )  # fmt: skip
    test.button(key=history.UNDO_KEY).click().run()
    assert not test.exception
    restored = seeded_engine.get(ANA, key)
    assert restored is not None
    assert restored.content == "Ana lives in Lisbon."


def test_what_was_forgotten_stays_in_the_history_of_its_key(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    query = opened(seeded_engine, "Ana lives")
    seeded_engine.forget(ANA, key=str(query["b_key"]), actor="maria", reason="She asked for it")
    shown = texts(dashboard(seeded_engine, "browse", query=query))
    assert "by maria" in shown
    assert "She asked for it" in shown
