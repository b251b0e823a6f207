from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from engine_fixture import swap
from mnemoscope import Change, ExtractedFact, MemoryConfig, MemoryEngine
from mnemoscope.core import utc_now
from mnemoscope.recall import Profile
from streamlit.testing.v1 import AppTest

from app.components import actions
from app.session import links
from app.views.history import change as history_change
from app.views.history import compare, filters, undo
from app.views.history import table as history_list

Dashboard = Callable[..., AppTest]
ANA, BEN = ("memories", "ana"), ("memories", "ben")
HERE = {"ns": ["memories", "ana"]}
LISBON, PORTO = "Ana lives in Lisbon.", "Ana lives in Porto."


def texts(test: AppTest) -> str:
    return "\n".join(str(element.value) for element in (*test.text, *test.markdown, *test.caption, *test.code))


def contents(engine: MemoryEngine) -> set[str]:
    return {record.content for record in engine.list(ANA, None, include_private=True)}


def key_of(engine: MemoryEngine, content: str) -> str:
    return next(record.key for record in engine.list(ANA, None) if record.content == content)


def history(dashboard: Dashboard, engine: MemoryEngine, **query: Any) -> AppTest:
    state = query.pop("state", None)
    test = dashboard(engine, "history", query=HERE | query, writing=query.pop("writing", True), state=state)
    assert not test.exception
    return test


def moved_to_porto(engine: MemoryEngine, **how: Any) -> Change:
    return engine.update(ANA, key_of(engine, LISBON), content=PORTO, **{"actor": "maria", "reason": "She moved", **how})


# Changes


def test_every_change_is_listed_latest_first_with_who_and_why(
    dashboard: Dashboard, seeded_engine: MemoryEngine
) -> None:
    moved_to_porto(seeded_engine)
    shown = history(dashboard, seeded_engine).dataframe[0].value
    assert list(shown["what"]) == ["update", "insert", "insert", "insert", "insert"]
    assert (shown["who"][0], shown["why"][0], shown["text"][0]) == ("maria", "She moved", PORTO)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"h_by": "maria"}, ["forget", "update"]),
        ({"h_kind": "forget"}, ["forget"]),
        ({"h_by": "maria", "h_kind": "insert"}, []),
        ({"h_from": "2020-01-01", "h_until": "2020-12-31"}, []),
    ],
)
def test_the_url_filters_by_actor_kind_and_time(
    dashboard: Dashboard, seeded_engine: MemoryEngine, query: dict[str, str], expected: list[str]
) -> None:
    moved_to_porto(seeded_engine)
    seeded_engine.forget(ANA, key=key_of(seeded_engine, PORTO), actor="maria")
    test = history(dashboard, seeded_engine, **query)
    assert [what for table in test.dataframe for what in table.value["what"]] == expected
    if not expected:
        test.button(key="history.clear").click().run()
        assert len(test.dataframe[0].value) == 6


def test_the_history_of_one_key_and_of_one_run(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    change = moved_to_porto(seeded_engine)
    assert list(history(dashboard, seeded_engine, h_key=change.key).dataframe[0].value["what"]) == ["update", "insert"]
    run = seeded_engine.history(ANA)[-1].run
    assert list(history(dashboard, seeded_engine, h_run=run).dataframe[0].value["what"]) == ["insert"] * 4


def test_pages_are_read_as_one_goes_and_never_the_whole_journal(
    dashboard: Dashboard, seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = key_of(seeded_engine, LISBON)
    for number in range(60):
        seeded_engine.update(ANA, key, importance=number / 100)
    limits: list[Any] = []
    latest = seeded_engine.adapter.latest
    monkeypatch.setattr(
        seeded_engine.adapter,
        "latest",
        lambda *given, **named: limits.append(named.get("limit")) or latest(*given, **named),
    )
    test = history(dashboard, seeded_engine)
    assert len(test.dataframe[0].value) == filters.ROWS
    assert None not in limits
    test.button(key=history_list.OLDER_KEY).click().run()
    assert len(test.dataframe[0].value) == 14
    assert test.query_params[filters.BEFORE]
    test.button(key=history_list.NEWEST_KEY).click().run()
    assert len(test.dataframe[0].value) == filters.ROWS


def test_a_change_opens_with_its_difference_and_is_undone(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    change = moved_to_porto(seeded_engine)
    test = history(dashboard, seeded_engine, h_id=change.id)
    drawn = [json.loads(each.proto.json) for each in test.get("bidi_component")]
    pieces = next((each["pieces"] for each in drawn if "pieces" in each), None)
    assert pieces is None or {"kind": "old", "text": "Lisbon"} in pieces
    assert "She moved" in texts(test)
    test.button(key=history_change.UNDO_KEY).click().run()
    assert LISBON in contents(seeded_engine)
    assert seeded_engine.history(ANA, limit=1)[0].undoes == change.id


def test_a_group_is_undone_at_once(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    before = contents(seeded_engine)
    seeded_engine.forget(ANA, keys=[record.key for record in seeded_engine.list(ANA)], actor="maria")
    change = seeded_engine.history(ANA, limit=1)[0]
    test = history(dashboard, seeded_engine, h_id=change.id)
    assert test.button(key=history_change.GROUP_KEY).label == "Undo all 4 of its group"
    test.button(key=history_change.GROUP_KEY).click().run()
    assert contents(seeded_engine) == before
    test.button(key=actions.UNDO_KEY).click().run()
    assert contents(seeded_engine) == set()


def test_an_undo_of_what_changed_since_is_refused_with_both_texts(
    dashboard: Dashboard, seeded_engine: MemoryEngine
) -> None:
    change = moved_to_porto(seeded_engine)
    seeded_engine.update(ANA, change.key, content="Ana lives in Faro.", actor="ben")
    test = history(dashboard, seeded_engine, h_id=change.id)
    test.button(key=history_change.UNDO_KEY).click().run()
    assert "Ana lives in Faro." in contents(seeded_engine)
    shown = texts(test)
    assert PORTO in shown
    assert "Ana lives in Faro." in shown


def test_a_private_change_is_told_without_its_text(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    fact = ExtractedFact(content="Ana has a secret.", importance=0.5)
    seeded_engine.remember_facts([fact], ANA, source="chat", private=True)
    change = seeded_engine.history(ANA, limit=1)[0]
    test = history(dashboard, seeded_engine, h_id=change.id)
    assert test.dataframe[0].value["text"][0] == "(private)"
    assert "secret" not in texts(test)
    test.toggle(key=filters.PRIVATE_KEY).set_value(True).run()
    assert test.dataframe[0].value["text"][0] == "Ana has a secret."


def test_a_change_that_does_not_exist_breaks_nothing(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    assert "There is no such change" in texts(history(dashboard, seeded_engine, h_id="no-such-change"))


def test_nothing_is_undone_while_writing_is_off(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    change = moved_to_porto(seeded_engine)
    test = dashboard(seeded_engine, "history", query=HERE | {"h_id": change.id})
    assert test.button(key=history_change.UNDO_KEY).disabled


# Taking back


def test_all_that_somebody_did_is_shown_first_and_then_taken_back(
    dashboard: Dashboard, seeded_engine: MemoryEngine
) -> None:
    before = contents(seeded_engine)
    moved_to_porto(seeded_engine)
    seeded_engine.forget(ANA, key=key_of(seeded_engine, "Ana prefers short answers."), actor="maria")
    tea = key_of(seeded_engine, "Ana's favourite drink is green tea.")
    seeded_engine.update(ANA, tea, importance=0.1, actor="maria")
    seeded_engine.update(ANA, tea, importance=0.2, actor="ben")
    after = contents(seeded_engine)
    test = history(dashboard, seeded_engine, h_view=links.HISTORY_UNDO, h_by="maria")
    goes_back, stays = (table.value for table in test.dataframe)
    assert sorted(zip(goes_back["now"], goes_back["then"], strict=True)) == [
        ("(not there)", "Ana prefers short answers."), (PORTO, LISBON),
    ]  # fmt: skip
    assert "ben has changed it since" in stays["obstacle"][0]
    assert contents(seeded_engine) == after
    test.button(key=undo.APPLY_KEY).click().run()
    assert contents(seeded_engine) == before
    assert [toast.value for toast in test.toast] == ["Took back 2 memories."]
    test.button(key=actions.UNDO_KEY).click().run()
    assert contents(seeded_engine) == after


def test_only_what_was_done_since_a_time_is_taken_back(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    moved_to_porto(seeded_engine)
    tomorrow = (utc_now() + timedelta(days=1)).date().isoformat()
    query = {"h_view": links.HISTORY_UNDO, "h_by": "maria", "h_since": tomorrow}
    assert "There is nothing to take back" in texts(history(dashboard, seeded_engine, **query))


def test_a_run_is_taken_back_from_one_of_its_changes(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    change = seeded_engine.history(ANA)[0]
    test = history(dashboard, seeded_engine, h_id=change.id)
    test.button(key=history_change.RUN_KEY).click().run()
    assert not test.exception
    assert "Goes back: 4 memories" in [heading.value for heading in test.subheader]
    test.button(key=undo.APPLY_KEY).click().run()
    assert contents(seeded_engine) == set()


def test_a_plan_that_went_stale_is_refused(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    change = moved_to_porto(seeded_engine)
    test = history(dashboard, seeded_engine, h_view=links.HISTORY_UNDO, h_by="maria")
    seeded_engine.update(ANA, change.key, content="Ana lives in Faro.", actor="ben")
    test.button(key=undo.APPLY_KEY).click().run()
    assert "Ana lives in Faro." in contents(seeded_engine)
    assert "Nothing was changed" in test.error[0].value


def test_a_change_of_a_profile_has_no_namespace_and_one_of_a_memory_has(
    dashboard: Dashboard, seeded_engine: MemoryEngine
) -> None:
    [of_memory] = seeded_engine.history(ANA, limit=1)
    seeded_engine.tuning.save_profile(Profile("mine", MemoryConfig(semantic_weight=0.9)))
    [of_profile] = seeded_engine.history(limit=1)
    assert of_profile.shelf == "profiles"
    labels = {
        change.id: [each.value for each in history(dashboard, seeded_engine, h_id=change.id).caption]
        for change in (of_memory, of_profile)
    }
    assert ["Namespace" in labels[change.id] for change in (of_memory, of_profile)] == [True, False]


# Then and now


def test_a_namespace_is_compared_with_how_it_was(
    dashboard: Dashboard, seeded_engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = datetime(2031, 5, 1, 12, tzinfo=UTC)
    swap(seeded_engine, clock=lambda: start)
    monkeypatch.setattr(seeded_engine.context.journal, "_clock", lambda: start + timedelta(hours=1))
    moved_to_porto(seeded_engine)
    seeded_engine.forget(ANA, key=key_of(seeded_engine, "Ana prefers short answers."))
    seeded_engine.update(ANA, key_of(seeded_engine, "Ana's favourite drink is green tea."), importance=0.1)
    seeded_engine.remember_facts([ExtractedFact(content="Ana plays chess.")], ANA)
    query = {"h_view": "Then and now", "h_day": "2031-05-01", "h_at": "12:00"}
    shown = history(dashboard, seeded_engine, **query).dataframe[0].value
    assert list(zip(shown["what"], shown["then"], shown["now"], strict=True)) == [
        ("Came", "(not there)", "Ana plays chess."),
        ("Went", "Ana prefers short answers.", "(not there)"),
        ("Reworded", LISBON, PORTO),
        ("Relabelled", "Ana's favourite drink is green tea.", "Ana's favourite drink is green tea."),
    ]
    test = history(dashboard, seeded_engine, **query, state={compare.WHAT_KEY: "same"})
    assert len(test.dataframe[0].value) == 1


def test_what_was_trimmed_is_not_guessed(dashboard: Dashboard, seeded_engine: MemoryEngine) -> None:
    moved_to_porto(seeded_engine)
    count = seeded_engine.curation.trim_history(timedelta())
    seeded_engine.curation.trim_history(timedelta(), confirm=int(count))
    test = history(dashboard, seeded_engine, h_view="Then and now")
    assert "older changes were trimmed" in texts(test)


def test_an_empty_history_says_so(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    says = {
        "Changes": "Nothing has changed here yet",
        links.HISTORY_UNDO: "Choose whose changes to take back",
        "Then and now": "Nothing is remembered here yet",
    }
    for view, words in says.items():
        test = dashboard(empty_engine, "history", query={"h_view": view})
        assert not test.exception
        assert words in texts(test)
