from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mnemoscope import ConsolidationDecision, ExtractedFact, MemoryEngine, MemoryRecord, Message, ModelError
from mnemoscope.consolidation import PlannedFact
from streamlit.testing.v1 import AppTest

from app.views.replay.plan import facts, plan
from app.views.replay.plan.facts import FACT_KEY, VIEW_KEY, tick_key
from app.views.replay.plan.run import Run
from app.views.replay.setting import PLAN_KEY
from app.views.replay.source import transcript, upload
from app.views.replay.source.conversation import ORIGIN_KEY, SAMPLE_KEY, TARGET_KEY

Dashboard = Callable[..., AppTest]
EVE = ("memories", "eve")
MUSEUMS = 3
LYON = {"p_sample": "ana-moves-to-lyon", "ns": list(EVE)}
HOSTILE = "I live in <b>Oslo</b> ![x](http://example.invalid/x.png)."


def planned(test: AppTest) -> AppTest:
    return test.button(key=PLAN_KEY).click().run()


def run_of(test: AppTest) -> Run:
    run = test.session_state["replay.run"]
    assert isinstance(run, Run)
    return run


def plain(test: AppTest) -> str:
    return "\n".join(str(element.value) for element in (*test.text, *test.code))


def markup(test: AppTest) -> str:
    elements = (*test.markdown, *test.caption, *test.error, *test.warning, *test.subheader)
    return "\n".join(str(element.value) for element in elements)


def contents(engine: MemoryEngine, namespace: tuple[str, ...] = EVE) -> set[str]:
    return {record.content for record in engine.list(namespace)}


def uploaded(dashboard: Dashboard, engine: MemoryEngine, data: bytes, name: str = "talk.json") -> AppTest:
    test = dashboard(engine, "replay", query={"ns": list(EVE)}, writing=True, state={ORIGIN_KEY: "upload"})
    return test.file_uploader(key=upload.UPLOAD_KEY).set_value((name, data, "application/json")).run()


def talk(*texts: str) -> bytes:
    return json.dumps([{"role": "user", "content": text} for text in texts]).encode()


def test_planning_shows_the_facts_and_writes_nothing(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = planned(dashboard(empty_engine, "replay", query=LYON, writing=True))
    assert not test.exception
    assert "User moved to Lyon last month" in plain(test)
    assert "Rules extract facts here, not a model. 12 messages read in" in markup(test)
    assert empty_engine.counts() == {}
    assert empty_engine.history() == []


def test_committing_writes_every_fact_with_its_evidence_as_one_undoable_change(
    dashboard: Dashboard, empty_engine: MemoryEngine
) -> None:
    test = planned(dashboard(empty_engine, "replay", query=LYON, writing=True))
    expected = {fact.fact.content for fact in run_of(test).plan.facts}
    test.button(key=plan.COMMIT_KEY).click().run()
    assert contents(empty_engine) == expected
    record = next(each for each in empty_engine.list(EVE) if each.content == "User left Farfetch for Ubisoft")
    assert [(each.source, each.message_ids, each.quote) for each in record.evidence] == [
        ("ana-moves-to-lyon", ["ana-moves-to-lyon:3"], "I also left Farfetch for Ubisoft")
    ]
    assert {change.actor for change in empty_engine.history(EVE)} == {"tester"}
    test.button(key="feedback.undo").click().run()
    assert contents(empty_engine) == set()
    assert "was committed and then undone" in markup(test)


def test_only_the_ticked_facts_are_committed(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = planned(dashboard(empty_engine, "replay", query=LYON, writing=True))
    test.button(key=plan.NONE_KEY).click().run()
    assert test.button(key=plan.COMMIT_KEY).disabled
    for at in (0, 3):
        test.checkbox(key=tick_key(run_of(test), at)).check().run()
    assert test.button(key=plan.COMMIT_KEY).label == "Commit 2 of 8 facts"
    assert "plan = choose(plan, [0, 3])" in plain(test)
    test.button(key=plan.COMMIT_KEY).click().run()
    assert contents(empty_engine) == {"User moved to Lyon last month", "User enjoys museums now"}


def test_a_discarded_plan_leaves_nothing(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = planned(dashboard(empty_engine, "replay", query=LYON, writing=True))
    test.button(key=plan.DISCARD_KEY).click().run()
    assert "Nothing is planned yet" in markup(test)
    assert empty_engine.counts() == {}


def test_the_same_conversation_again_adds_nothing(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = planned(dashboard(empty_engine, "replay", query=LYON, writing=True))
    test.button(key=plan.COMMIT_KEY).click().run()
    before = contents(empty_engine)
    planned(test)
    assert test.button(key=plan.COMMIT_KEY).disabled
    assert "There is nothing to commit: everything in it is already known here" in plain(test)
    test.button(key=plan.EMPTY_KEY).click().run()
    assert not test.exception
    assert run_of(test).plan.namespace == ("memories", "trial-1")
    assert not test.button(key=plan.COMMIT_KEY).disabled
    assert ("memories", "trial-1") not in empty_engine.counts()
    assert contents(empty_engine) == before


def test_while_writing_is_off_the_commit_is_disabled_and_says_why(
    dashboard: Dashboard, empty_engine: MemoryEngine
) -> None:
    test = planned(dashboard(empty_engine, "replay", query=LYON, writing=False))
    assert test.button(key=plan.COMMIT_KEY).disabled
    assert "Writing is off. Switch it on at the top to commit." in plain(test)


def updating(engine: MemoryEngine) -> MemoryEngine:
    """An engine whose judge updates the nearest memory in words of its own; one is there."""

    def judge(_fact: ExtractedFact, similar: list[tuple[MemoryRecord, float]]) -> ConsolidationDecision:
        key = similar[0][0].key
        return ConsolidationDecision(action="update", target_key=key, content="As the judge words it", reason="Newer.")

    engine.remember_facts([ExtractedFact(content="User enjoys museums")], EVE)
    return MemoryEngine(engine.store, extractor=engine.extractor, consolidator=judge)


def corrected(test: AppTest, at: int, *, text: str | None = None, decision: int | None = None) -> AppTest:
    test.session_state[VIEW_KEY] = "one"
    test.session_state[FACT_KEY] = str(at + 1)
    test.run()
    run = run_of(test)
    if text is not None:
        test.text_area(key=facts.form_key(run, at, "text")).set_value(text)
    if decision is not None:
        test.selectbox(key=facts.form_key(run, at, "decision")).set_value(decision)
    return test.button(key=f"FormSubmitter:{facts.form_key(run, at, 'form')}-Change the plan").click().run()


def test_a_corrected_fact_is_stored_as_it_was_corrected(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = planned(dashboard(empty_engine, "replay", query=LYON, writing=True))
    corrected(test, 0, text="Ana moved to Lyon in June")
    assert "'content': 'Ana moved to Lyon in June'" in plain(test)
    test.button(key=plan.COMMIT_KEY).click().run()
    assert "Ana moved to Lyon in June" in contents(empty_engine)
    assert "User moved to Lyon last month" not in contents(empty_engine)


def test_a_fact_without_text_is_refused(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = planned(dashboard(empty_engine, "replay", query=LYON, writing=True))
    corrected(test, 0, text="  ")
    assert "A fact needs some text" in plain(test)
    assert run_of(test).plan.facts[0].fact.content == "User moved to Lyon last month"


def test_the_corrected_text_of_an_update_wins_over_the_judges(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    engine = updating(empty_engine)
    test = planned(dashboard(engine, "replay", query=LYON, writing=True))
    corrected(test, MUSEUMS, text="Ana loves museums")
    test.button(key=plan.COMMIT_KEY).click().run()
    assert "Ana loves museums" in contents(engine)
    assert not {"User enjoys museums", "As the judge words it"} & contents(engine)


def test_a_decision_can_be_changed(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    engine = updating(empty_engine)
    test = planned(dashboard(engine, "replay", query=LYON, writing=True))
    corrected(test, MUSEUMS, decision=0)
    assert run_of(test).plan.facts[MUSEUMS].outcome == "insert"
    test.button(key=plan.COMMIT_KEY).click().run()
    assert {"User enjoys museums", "User enjoys museums now"} <= contents(engine)
    assert "Decided by tester." in {change.reason for change in engine.history(EVE)}


def test_a_memory_that_changed_meanwhile_refuses_the_commit_with_both_texts(
    dashboard: Dashboard, empty_engine: MemoryEngine
) -> None:
    engine = updating(empty_engine)
    test = planned(dashboard(engine, "replay", query=LYON, writing=True))
    engine.update(EVE, engine.list(EVE)[0].key, content="User avoids museums")
    test.button(key=plan.COMMIT_KEY).click().run()
    assert "**Nothing was committed**" in markup(test)
    assert {"User enjoys museums", "User avoids museums"} <= {code.value for code in test.code}
    assert contents(engine) == {"User avoids museums"}
    test.button(key=plan.AGAIN_KEY).click().run()
    assert "**Nothing was committed**" not in markup(test)
    test.button(key=plan.COMMIT_KEY).click().run()
    assert "User left Farfetch for Ubisoft" in contents(engine)


def test_an_uploaded_file_is_recognised_and_its_unreadable_parts_counted(
    dashboard: Dashboard, empty_engine: MemoryEngine
) -> None:
    lines = [
        json.dumps({"messages": [{"role": "user", "content": "I live in Oslo."}]}),
        "{broken",
        json.dumps({"messages": [{"role": "user", "content": "I play the cello."}]}),
    ]
    test = uploaded(dashboard, empty_engine, "\n".join(lines).encode(), "talks.jsonl")
    assert "2 conversations." in markup(test)
    assert "1 part of the file could not be read" in [each.label for each in test.expander]
    test.selectbox(key=upload.CONVERSATION_KEY).set_value("conversation-2").run()
    planned(test).button(key=plan.COMMIT_KEY).click().run()
    assert contents(empty_engine) == {"User plays the cello"}
    assert empty_engine.list(EVE)[0].evidence[0].source == "talks.jsonl/conversation-2"


@pytest.mark.parametrize("data", [b"", b"\x00\xff\x00\xfe\x01", b"{", b"[1, 2]", b"no speaker anywhere"])
def test_a_broken_upload_is_an_error_that_loses_nothing(
    dashboard: Dashboard, empty_engine: MemoryEngine, data: bytes
) -> None:
    test = planned(dashboard(empty_engine, "replay", query=LYON, writing=True))
    test.segmented_control(key=ORIGIN_KEY).set_value("upload").run()
    test.file_uploader(key=upload.UPLOAD_KEY).set_value(("bad.json", data, "")).run()
    assert not test.exception
    assert "**This file cannot be read as conversations**" in markup(test)
    assert test.button(key=PLAN_KEY).disabled
    test.segmented_control(key=ORIGIN_KEY).set_value("sample").run()
    assert "User moved to Lyon last month" in plain(test)


def test_the_format_can_be_corrected(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = uploaded(dashboard, empty_engine, talk("I live in Oslo."))
    test.selectbox(key=upload.FORMAT_KEY).set_value("chatgpt").run()
    assert "**This file cannot be read as conversations**" in markup(test)
    test.selectbox(key=upload.FORMAT_KEY).set_value(upload.AS_RECOGNISED).run()
    assert "1 conversation." in markup(test)


def test_the_command_of_a_whole_file_is_shown_and_none_for_a_part_of_its_facts(
    dashboard: Dashboard, empty_engine: MemoryEngine
) -> None:
    test = planned(uploaded(dashboard, empty_engine, talk("I live in Oslo.", "I love sailing.")))
    assert "mnemoscope remember" in plain(test)
    assert "--file talk.json" in plain(test)
    test.checkbox(key=tick_key(run_of(test), 0)).uncheck().run()
    assert "mnemoscope remember" not in plain(test)


def test_another_file_of_the_same_name_needs_a_plan_of_its_own(
    dashboard: Dashboard, empty_engine: MemoryEngine
) -> None:
    test = planned(uploaded(dashboard, empty_engine, talk("I live in Oslo.")))
    assert "User lives in Oslo" in plain(test)
    data = talk("I live in Rome.")
    test.file_uploader(key=upload.UPLOAD_KEY).set_value(("talk.json", data, "application/json")).run()
    assert "Nothing is planned yet" in markup(test)


def test_what_was_said_is_never_drawn_as_markup(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    name = "**x** <i>.json"
    test = planned(uploaded(dashboard, empty_engine, talk(HOSTILE), name))
    stored = run_of(test).plan.facts[0].fact.content
    assert "<b>Oslo</b>" in stored
    assert stored in plain(test)
    for view in ("all", "one", "changes"):
        test.segmented_control(key=VIEW_KEY).set_value(view).run()
        assert not test.exception
        labels = [element.label for element in (*test.button, *test.expander, *test.checkbox)]
        assert "<b>" not in markup(test) + "\n".join(labels)
        assert "<i>" not in markup(test)


def test_an_empty_conversation_says_that_there_is_nothing_to_plan(
    dashboard: Dashboard, empty_engine: MemoryEngine
) -> None:
    test = dashboard(empty_engine, "replay", query={"p_sample": "empty"})
    assert "Nobody says anything here" in markup(test)
    assert test.button(key=PLAN_KEY).disabled


def test_small_talk_gives_a_plan_that_says_why_it_is_empty(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = planned(dashboard(empty_engine, "replay", query={"p_sample": "ana-small-talk"}))
    assert "This conversation teaches nothing" in markup(test)
    assert "5 × nothing durable" in plain(test)


def typed(namespace: str) -> dict[str, Any]:
    return {TARGET_KEY: namespace, "replay.suggested_target": ("memories", "ana")}


def test_what_cannot_be_a_namespace_is_explained(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = dashboard(empty_engine, "replay", state=typed("a//b"))
    assert "**This cannot be a namespace.**" in markup(test)
    assert test.button(key=PLAN_KEY).disabled


def test_a_new_namespace_can_be_typed(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = planned(dashboard(empty_engine, "replay", state=typed("people/ana@x.org"), writing=True))
    test.button(key=plan.COMMIT_KEY).click().run()
    assert list(empty_engine.counts()) == [("people", "ana@x%2Eorg")]


def test_a_failed_extraction_is_a_state_of_its_own_with_the_raw_output(
    dashboard: Dashboard, empty_engine: MemoryEngine
) -> None:
    def extractor(_text: str) -> list[ExtractedFact]:
        raise ModelError("The model answered prose.", failure="invalid_json", raw="Sure! **Here** you go")

    engine = MemoryEngine(empty_engine.store, extractor=extractor, consolidator=empty_engine.consolidator)
    test = planned(dashboard(engine, "replay", query=LYON, writing=True))
    assert not test.exception
    assert "**No facts could be extracted**" in markup(test)
    assert "Sure! **Here** you go" in plain(test)
    assert not [button for button in test.button if button.key == plan.COMMIT_KEY]


def test_an_unknown_sample_in_the_url_is_dropped(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    test = dashboard(empty_engine, "replay", query={"p_sample": "<b>", "p_view": "nope", "p_fact": "99"})
    assert not test.exception
    assert test.selectbox(key=SAMPLE_KEY).value == "ana-first-trip"


def fact_on(quote: str | None, *ids: str) -> PlannedFact:
    return PlannedFact(ExtractedFact(content="x", quote=quote, message_ids=list(ids)), "insert", "", None)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ([], [("I sing. I dance.", ())]),
        ([fact_on("I dance.", "m1")], [("I sing. ", ()), ("I dance.", (0,))]),
        ([fact_on("I dance.", "m2"), fact_on(None, "m1")], [("I sing. I dance.", ())]),
        ([fact_on("I sing. I"), fact_on("I dance")], [("I sing. ", (0,)), ("I", (0, 1)), (" dance", (1,)), (".", ())]),
    ],
)
def test_a_message_is_cut_at_the_quotes_and_stays_complete(facts: list[PlannedFact], expected: list[Any]) -> None:
    message = Message(id="m1", role="user", text="I sing. I dance.")
    found = transcript.cut_pieces(message, facts)
    assert [(piece.text, piece.facts) for piece in found] == expected


def test_a_quote_that_nobody_said_is_pointed_out(dashboard: Dashboard, empty_engine: MemoryEngine) -> None:
    def extractor(_text: str) -> list[ExtractedFact]:
        return [ExtractedFact(content="Ana sings.", quote="I sing every day.")]

    engine = MemoryEngine(empty_engine.store, extractor=extractor, consolidator=empty_engine.consolidator)
    test = planned(dashboard(engine, "replay", query={**LYON, "p_view": "one"}))
    assert "This quote does not stand in the conversation." in markup(test)
