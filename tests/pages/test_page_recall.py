from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.memory import InMemoryStore
from mnemoscope import (
    ExtractedFact,
    MemoryConfig,
    MemoryEngine,
    MemoryRecord,
    RuleConsolidator,
    RuleExtractor,
    StoreUnavailableError,
)
from mnemoscope.embedding import HashingEmbeddings
from mnemoscope.index import Drop
from mnemoscope.recall import PARTS, CaseBook, ProfileBook, node_text
from mnemoscope.stores import Write
from streamlit.testing.v1 import AppTest

from app.components.tables import key_of
from app.session import links
from app.views.recall import agent, bars, drag, query, results, saving, sliders, states
from app.views.recall.filters import KEYS as FILTERS
from app.views.recall.filters import RecallFilters
from app.views.recall.query import QUERY_KEY, RecallQuery
from app.views.recall.results import BESIDE_KEY, DRAGGED_KEY
from app.views.recall.sliders import KEYS, PRESET_KEY, RESET_KEY, RankingSettings

Dashboard = Callable[..., AppTest]
ANA = ("memories", "ana")
HERE = {"ns": ["memories", "ana"]}
HOSTILE = "**bold** ![x](http://example.invalid/x.png) tea \u202eexe"
NOW = datetime.now(UTC)


class CountingEmbeddings(HashingEmbeddings):
    """The hashing embedder, counting its calls."""

    calls = 0

    def embed_query(self, text: str) -> list[float]:
        self.calls += 1
        return super().embed_query(text)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls += 1
        return [HashingEmbeddings.embed_query(self, text) for text in texts]


@pytest.fixture
def embedder() -> CountingEmbeddings:
    return CountingEmbeddings(256)


@pytest.fixture
def engine(embedder: CountingEmbeddings) -> MemoryEngine:
    """An old memory that fits "green tea", a recent one that fits less, a private one and a hostile one."""
    store = InMemoryStore(index={"dims": 256, "embed": embedder, "fields": ["content"]})
    rows: list[tuple[str, list[str], float, int, bool]] = [
        ("Ana drinks green tea", ["food"], 0.5, 200, False),
        ("Ana met Rita at work", ["people"], 0.5, 1, False),
        ("Ana's green door code is 4411", ["home"], 0.5, 3, True),
        (HOSTILE, ["food", "![y](http://example.invalid)"], 0.1, 9, False),
    ]  # fmt: skip
    for content, categories, importance, days, private in rows:
        moment = NOW - timedelta(days=days)
        config = MemoryConfig(consolidation_threshold=1.0)
        past = MemoryEngine(
            store,
            extractor=RuleExtractor(),
            consolidator=RuleConsolidator(),
            config=config,
            clock=lambda moment=moment: moment,
        )
        fact = ExtractedFact(content=content, categories=categories, importance=importance)
        past.remember_facts([fact], ANA, source="nurse", private=private)
    return MemoryEngine(store, extractor=RuleExtractor(), consolidator=RuleConsolidator())


def ask(
    dashboard: Dashboard, engine: MemoryEngine, text: str, link: dict[str, Any] | None = None, **state: Any
) -> AppTest:
    test = dashboard(engine, "recall", query={**HERE, **(link or {})}, state={QUERY_KEY: text, **state})
    assert not test.exception
    return test


def texts(test: AppTest) -> str:
    shown = (*test.text, *test.markdown, *test.caption, *test.code, *test.subheader, *test.warning)
    return "\n".join(str(element.value) for element in shown)


def returned(test: AppTest) -> list[str]:
    """The memories above "Not returned", in their order, as the agent would be given them."""
    given_ = next(code.value for code in test.code if code.value.startswith("- (score="))
    return [json.JSONDecoder().raw_decode(line.split(") ", 1)[1])[0] for line in given_.splitlines()]


def key_holding(engine: MemoryEngine, text: str) -> str:
    return next(each.key for each in engine.list(ANA, include_private=True) if text in each.content)


def stored_bytes(engine: MemoryEngine) -> str:
    snapshot = engine.adapter.load((), subtree=True)
    return repr([(item.ref, item.value, item.updated_at) for item in snapshot.items]) + repr(snapshot.matrix.tobytes())


def test_without_a_query_the_page_offers_some(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = ask(dashboard, engine, "")
    assert "What would the agent remember?" in texts(test)
    test.button(key="recall.example-food").click().run()
    assert test.text_input(key=QUERY_KEY).value == "food"
    assert "**bold** ![x](http://example.invalid/x.png) tea <U+202E>exe" in returned(test)


def test_a_category_that_could_be_markup_is_offered_nowhere_as_a_label(
    dashboard: Dashboard, engine: MemoryEngine
) -> None:
    test = ask(dashboard, engine, "")
    assert not [button.label for button in test.button if "example.invalid" in button.label]


def test_a_query_brings_the_ranking_of_the_engine(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = ask(dashboard, engine, "green tea")
    expected = node_text(engine.recall("green tea", ANA, touch=False))
    assert [code.value for code in test.code if code.value.startswith("- (score=")] == [
        expected.replace("\u202e", "<U+202E>")
    ]
    assert "3 returned · exact · 4 of 4 memories examined" in texts(test)


def test_every_bar_holds_the_three_parts_of_the_score(dashboard: Dashboard, engine: MemoryEngine) -> None:
    match = engine.recall("green tea", ANA, touch=False)[0]
    bars = [html.proto.body for html in ask(dashboard, engine, "green tea").get("html") if "Score " in html.proto.body]
    assert f"Score {match.score:.3f}" in bars[0]
    for part in match.parts:
        assert f"{part.name} {part.raw:.3f} × {part.weight:g} = {part.contribution:.3f}" in bars[0]


def test_sliders_rank_again_without_the_store_and_without_the_embedder(
    dashboard: Dashboard, engine: MemoryEngine, embedder: CountingEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = ask(dashboard, engine, "green tea")
    before = returned(test)
    calls: list[str] = []
    embedder.calls = 0
    # AppTest runs the header again as well, which looks at the store's counts and embedder; a browser does not.
    for name in ("load", "latest", "markers", "search", "search_each", "write"):
        monkeypatch.setattr(engine.adapter, name, lambda *_a, _name=name, **_k: calls.append(_name))
    test.slider(key=KEYS["recency_weight"]).set_value(0.0).run()
    after = returned(test)
    test.select_slider(key=KEYS["recency_half_life_days"]).set_value(365.0).run()
    test.slider(key=KEYS["min_score"]).set_value(0.35).run()
    assert not test.exception
    assert before != after
    assert after[0] == "Ana drinks green tea"
    assert (calls, embedder.calls) == ([], 0)


def test_a_move_is_shown_against_the_stored_profile(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = ask(dashboard, engine, "green tea", **{KEYS["recency_weight"]: 0.0})
    assert any("▲" in html.proto.body for html in test.get("html"))
    assert "The agent uses the stored profile, not this." in texts(test)
    test.button(key=RESET_KEY).click().run()
    assert test.slider(key=KEYS["recency_weight"]).value == 0.3
    assert not any("▲" in html.proto.body for html in test.get("html"))


def test_another_profile_is_shown_beside_the_settings_here(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = ask(dashboard, engine, "green tea", **{BESIDE_KEY: True, KEYS["recency_weight"]: 1.0, KEYS["limit"]: 1})
    assert "In both: 0 of 1 memory." in texts(test)
    assert {"Ana drinks green tea", "Ana met Rita at work"} <= {text.value for text in test.text}


def test_near_misses_come_before_what_was_filtered_out(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = ask(dashboard, engine, "green tea", **{FILTERS["categories"]: ["people"], KEYS["min_score"]: 0.99})
    assert "The best: score" in texts(test)
    rows = [text.value for text in test.text if text.value.startswith(("Ana", "**"))]
    assert rows[0] == "Ana met Rita at work"


def test_a_preset_moves_every_slider(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = ask(dashboard, engine, "green tea", **{KEYS["semantic_weight"]: 0.9})
    test.selectbox(key=PRESET_KEY).select("classic").run()
    assert test.slider(key=KEYS["semantic_weight"]).value == 0.5


def test_all_weights_at_nothing_still_rank(dashboard: Dashboard, engine: MemoryEngine) -> None:
    weights = ("semantic_weight", "recency_weight", "importance_weight")
    test = ask(dashboard, engine, "green tea", **{KEYS[name]: 0.0 for name in weights})
    assert len(returned(test)) == 3


def test_what_is_dropped_is_counted_by_reason_and_shown_with_it(dashboard: Dashboard, engine: MemoryEngine) -> None:
    shown = texts(ask(dashboard, engine, "green tea", **{KEYS["limit"]: 1}))
    assert "Not returned: 3 memories" in shown
    assert "1 private memory is not shown." in shown


def test_a_private_memory_is_seen_only_when_asked_for(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = ask(dashboard, engine, "door code")
    assert "4411" not in texts(test)
    test.toggle(key=FILTERS["include_private"]).set_value(True).run()
    assert "Ana's green door code is 4411" in returned(test)


def test_a_link_to_a_private_memory_does_not_show_it(dashboard: Dashboard, engine: MemoryEngine) -> None:
    link: dict[str, Any] = {"r_m": key_holding(engine, "4411"), "r_mn": list(ANA)}
    shown = texts(ask(dashboard, engine, "door code", link))
    assert "4411" not in shown
    assert "The memory in this link is private." in shown


def test_a_missing_memory_is_explained_and_brought_in_by_one_change(dashboard: Dashboard, engine: MemoryEngine) -> None:
    key = key_holding(engine, "green tea")
    test = ask(dashboard, engine, "green tea", **{KEYS["limit"]: 1, KEYS["semantic_weight"]: 0.2})
    assert "Ana drinks green tea" not in returned(test)
    test.button(key=key_of("recall.explain", [(ANA, key)])).click().run()
    assert "It is not returned: score" in texts(test)
    button = next(each for each in test.button if each.label.startswith("Raise the weight of similarity from 0.2 to"))
    button.click().run()
    assert returned(test) == ["Ana drinks green tea"]
    assert "It is returned, at place 1 of 3" in texts(test)


@pytest.mark.parametrize(
    ("forget", "sentence"),
    [(True, "It was forgotten by tester"), (False, "There is no memory with this key here")],
)
def test_a_link_to_what_is_gone_says_what_became_of_it(
    dashboard: Dashboard, engine: MemoryEngine, forget: bool, sentence: str
) -> None:
    key = key_holding(engine, "Rita") if forget else "nothing"
    if forget:
        engine.forget(ANA, key=key, actor="tester")
    assert sentence in texts(ask(dashboard, engine, "green tea", {"r_m": key, "r_mn": list(ANA)}))


def test_filters_that_leave_nothing_can_be_cleared(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = ask(dashboard, engine, "green tea", **{FILTERS["categories"]: ["elsewhere"]})
    assert "The filters leave none of 4 memories." in texts(test)
    test.button(key="recall.clear").click().run()
    assert len(returned(test)) == 3


def test_a_minimum_that_nothing_reaches_is_another_state(dashboard: Dashboard, engine: MemoryEngine) -> None:
    shown = texts(ask(dashboard, engine, "green tea", **{KEYS["min_score"]: 1.0}))
    assert "No memory reaches the minimum." in shown
    assert "The filters leave none" not in shown


def test_what_keeps_everything_out_is_told_with_its_count_and_loosened_by_one_click(
    dashboard: Dashboard, engine: MemoryEngine
) -> None:
    test = ask(dashboard, engine, "green tea", **{FILTERS["categories"]: ["home"], KEYS["min_score"]: 0.9})
    shown = texts(test)
    assert "The filters leave none of 4 memories." in shown
    assert "in another category: 3" in shown
    assert "private to another source: 1" in shown
    test.button(key=states.loosen_key(Drop.PRIVATE)).click().run()
    assert "Filters and minimums leave none of 4 memories." in texts(test)
    test.button(key=states.loosen_key(Drop.BELOW_SCORE)).click().run()
    assert returned(test) == ["Ana's green door code is 4411"]


@pytest.mark.parametrize(
    ("state", "left"),
    [
        ({FILTERS["since"]: (NOW - timedelta(days=5)).date()}, ["Ana met Rita at work"]),
        ({FILTERS["until"]: (NOW - timedelta(days=100)).date()}, ["Ana drinks green tea"]),
        ({FILTERS["filter"]: '{"importance": {"$lt": 0.3}}'}, [HOSTILE]),
        ({FILTERS["as_of"]: (NOW - timedelta(days=100)).date()}, ["Ana drinks green tea"]),
        ({FILTERS["source"]: "nurse", FILTERS["categories"]: ["home"]}, ["Ana's green door code is 4411"]),
    ],
    ids=["since", "until", "filter", "as of", "source"],
)
def test_every_filter_is_asked_of_the_store_and_counted(
    dashboard: Dashboard, engine: MemoryEngine, state: dict[str, Any], left: list[str]
) -> None:
    test = ask(dashboard, engine, "green tea", **state)
    assert [text.split(" ", 1)[0] for text in returned(test)] == [text.split(" ", 1)[0] for text in left]
    assert len(returned(test)) == len(left)
    test.button(key="recall.clear-all").click().run()
    assert len(returned(test)) == 3


def test_a_filter_that_is_none_recalls_nothing_and_says_what_is_wrong(
    dashboard: Dashboard, engine: MemoryEngine
) -> None:
    test = ask(dashboard, engine, "green tea", **{FILTERS["filter"]: '{"source": {"$like": 1}}'})
    assert "Unknown operator '$like'" in texts(test)
    assert "The filter on fields cannot be read" in test.error[0].value
    assert "returned" not in texts(test)


def test_a_budget_of_tokens_leaves_out_what_does_not_fit(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = ask(dashboard, engine, "green tea", **{KEYS["max_tokens"]: 20})
    assert "1 returned" in texts(test)
    assert "(2 more did not fit.)" in texts(test)
    assert "beyond the token budget of 20" in "\n".join(each.proto.body for each in test.get("html"))


def test_queries_of_this_session_and_of_agents_can_be_asked_again(dashboard: Dashboard, engine: MemoryEngine) -> None:
    engine.recall("door **code**", ANA)
    engine.flush()
    test = ask(dashboard, engine, "green tea")
    test.text_input(key=QUERY_KEY).set_value("work").run()
    assert test.selectbox(key=query.OWN_KEY).options == ["green tea"]
    [label] = test.selectbox(key=query.AGENTS_KEY).options
    assert label.startswith("door **code**  ·  1 time, ")
    test.selectbox(key=query.AGENTS_KEY).select("door **code**").run()
    assert test.text_input(key=QUERY_KEY).value == "door **code**"
    test.selectbox(key=query.OWN_KEY).select("green tea").run()
    assert test.text_input(key=QUERY_KEY).value == "green tea"


def test_what_is_ranked_while_dragging_is_what_the_page_ranks(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = ask(dashboard, engine, "green tea", **{DRAGGED_KEY: True, KEYS["lexical_weight"]: 0.4})
    [component] = [each for each in test.get("bidi_component") if "sliders" in each.proto.json]
    data = json.loads(component.proto.json)
    weights = {each["name"]: each["steps"][each["at"]] for each in data["sliders"]}
    found = []
    for text, cosine, lexical, days, importance in data["rows"]:
        similarity = 0.6 * max(cosine or 0.0, 0.0) + 0.4 * lexical
        recency = 0.5 ** (max(days, 0.0) / weights["recency_half_life_days"])
        parts = zip((similarity, recency, importance), list(weights.values())[:3], strict=True)
        found.append((-sum(raw * weight for raw, weight in parts), text.split(" ", 1)[0]))
    assert [text for _, text in sorted(found)] == [text.split(" ", 1)[0] for text in returned(test)]
    assert not any("door code" in row[0] for row in data["rows"])


def test_the_weights_that_are_dragged_say_so_where_the_others_were(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = ask(dashboard, engine, "green tea")
    told = "Drag them above the ranking."
    assert told not in [each.value for each in test.caption]
    test.toggle(key=DRAGGED_KEY).set_value(True).run()
    assert told in [each.value for each in test.caption]
    assert test.slider(key=KEYS["recency_weight"]).value == MemoryConfig().recency_weight


def test_the_most_promising_are_the_first_by_the_score_and_by_each_part(engine: MemoryEngine) -> None:
    rng = np.random.default_rng(4)
    writes = []
    for at in range(900):
        record = MemoryRecord(
            f"k{at}", ("many",), f"text {at}", importance=float(rng.random()),
            created_at=NOW - timedelta(days=float(rng.uniform(0, 300))),
        )  # fmt: skip
        writes.append(Write(("many",), record.key, record.to_value(), {"content": rng.normal(size=256).astype("f4")}))
    engine.adapter.write(writes)
    result = engine.recall("green tea", ("many",), limit=10, touch=False)
    chosen = drag.pick_promising(result)
    assert len(chosen) == len(set(chosen)) == drag.MOST
    assert set(result.ranking.order.tolist()) <= set(chosen)
    for weights in ({"semantic_weight": 1.0}, {"recency_weight": 1.0}, {"importance_weight": 1.0}):
        alone = MemoryConfig(**{"semantic_weight": 0.0, "recency_weight": 0.0, "importance_weight": 0.0, **weights})
        assert set(result.rerank(alone).ranking.order.tolist()) <= set(chosen)


def test_an_empty_namespace_names_a_sibling_that_answers(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = dashboard(engine, "recall", query={"ns": ["memories", "nobody"]}, state={QUERY_KEY: "green tea"})
    assert not test.exception
    assert "There is no such namespace" in texts(test)
    assert "memories/ana" in texts(test)


def test_a_failing_store_is_a_failure_and_no_empty_result(
    dashboard: Dashboard, engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_arguments: Any, **_options: Any) -> None:
        raise StoreUnavailableError("The file is locked.")

    monkeypatch.setattr(engine, "recall", away)
    test = ask(dashboard, engine, "green tea")
    assert "The store did not answer" in test.error[0].value
    assert "Nothing is remembered" not in texts(test)


def test_a_query_without_meaning_is_warned_of(dashboard: Dashboard, engine: MemoryEngine) -> None:
    assert "Nothing may answer this query." in texts(ask(dashboard, engine, "xylophone quokka"))
    assert "Nothing may answer this query." not in texts(ask(dashboard, engine, "green tea"))


def test_looking_changes_no_byte_of_the_store(dashboard: Dashboard, engine: MemoryEngine) -> None:
    before = stored_bytes(engine)
    test = ask(dashboard, engine, "green tea")
    test.button(key=key_of("recall.explain", [(ANA, key_holding(engine, "Rita"))])).click().run()
    test.slider(key=KEYS["semantic_weight"]).set_value(0.1).run()
    engine.flush()
    assert stored_bytes(engine) == before


def test_the_python_line_gives_the_same_result(engine: MemoryEngine) -> None:
    since = NOW - timedelta(days=100)
    filters = RecallFilters(("food",), include_private=True, since=since, filter='{"source": "nurse"}')
    asked = RecallQuery('say "tea"\n', ANA, False, filters)
    config = MemoryConfig(semantic_weight=0.25, recency_half_life_days=7.0, min_score=0.1, min_similarity=0.05)
    chosen = RankingSettings(config, 2, 500)
    names: dict[str, Any] = {"engine": engine}
    exec(agent.write_recall(asked, chosen), names)
    expected = engine.recall(
        asked.text, ANA, categories=["food"], include_private=True, limit=2, since=since, config=config,
        filter={"source": "nurse"}, max_tokens=500,
    )  # fmt: skip
    assert names["result"]
    assert [match.record.key for match in names["result"]] == [match.record.key for match in expected]
    assert names["config"] == config


def test_the_part_that_decides_is_named_with_its_share() -> None:
    assert results.describe_shares({"similarity": 0.1, "recency": 0.84, "importance": 0.06}) == (
        "**Recency decides 84% of this ranking**, similarity 10%, importance 6%."
    )
    assert results.describe_shares({"similarity": 1.2, "recency": -0.2, "importance": 0.0}) == (
        "**Similarity decides most: 86%**, against recency 14%."
    )
    assert results.describe_shares({"similarity": 0.95, "recency": -0.91, "importance": 0.96}) == (
        "**Importance decides most: 34%**, similarity 34%, against recency 32%."
    )
    assert results.describe_shares({"similarity": 5.0, "recency": -9.0, "importance": 5.0}) == (
        "**Similarity leads: 26%**, importance 26%, against recency 47%."
    )


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=3), st.floats(0.001, 3))
def test_a_bar_is_never_wider_than_its_track(values: list[float], scale: float) -> None:
    from mnemoscope import ScorePart

    parts = [ScorePart(name, value, 1.0, value) for name, value in zip(PARTS, values, strict=True)]
    drawn = bars.write_bar(parts, sum(values), scale=scale)
    widths = [float(piece.split("%")[0]) for piece in drawn.split("width:")[1:] if piece.split(";")[0].endswith("%")]
    assert all(0 <= width <= 100 for width in widths)


def test_a_remedy_is_taken_by_the_next_step_of_its_widget() -> None:
    from mnemoscope.recall import Remedy

    stored = MemoryConfig()
    assert sliders.find_step(Remedy("recency_weight", 0.3, 0.4211, 0.4212, 0.1), stored) == 0.43
    assert sliders.find_step(Remedy("recency_half_life_days", 30.0, 51.3, 52.0, 0.1), stored) == 55
    assert sliders.find_step(Remedy("limit", 10, 400, 400, 4.0), stored) is None
    assert sliders.find_step(Remedy("min_similarity", 0.4, None, None, 1.0), stored) == 0.0


def test_a_query_is_saved_as_a_case(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = dashboard(engine, "recall", query={**HERE, QUERY_KEY: "green tea"}, writing=True)
    test.button(key=saving.CASE_KEY).click().run()
    assert not test.exception
    [found] = CaseBook(engine.adapter).all()
    first = engine.recall("green tea", ANA, touch=False)[0].record.key
    assert (found.query, found.namespace, found.expected) == ("green tea", ANA, (first,))


def test_the_memory_that_is_explained_is_what_a_case_expects(dashboard: Dashboard, engine: MemoryEngine) -> None:
    last = engine.recall("green tea", ANA, touch=False)[-1].record.key
    query = {**HERE, QUERY_KEY: "green tea", KEYS["limit"]: "1", **links.query_of_explanation((ANA, last))}
    test = dashboard(engine, "recall", query=query, writing=True)
    test.button(key=saving.CASE_KEY).click().run()
    assert CaseBook(engine.adapter).all()[0].expected == (last,)


def test_settings_are_saved_as_a_profile_that_can_be_chosen(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = dashboard(engine, "recall", query={**HERE, QUERY_KEY: "green tea"}, writing=True)
    test.slider(key=KEYS["recency_weight"]).set_value(0.07).run()
    test.text_input(key="recall.tune.profile.name").set_value("calm").run()
    test.button(key="recall.tune.profile.save").click().run()
    assert ProfileBook(engine.adapter).all()["calm"].config == MemoryConfig(recency_weight=0.07)
    test.button(key=RESET_KEY).click().run()
    assert test.slider(key=KEYS["recency_weight"]).value == 0.3
    test.selectbox(key=PRESET_KEY).set_value("calm").run()
    assert test.slider(key=KEYS["recency_weight"]).value == 0.07


def test_without_writing_nothing_can_be_kept(dashboard: Dashboard, engine: MemoryEngine) -> None:
    test = dashboard(engine, "recall", query={**HERE, QUERY_KEY: "green tea"})
    assert test.button(key=saving.CASE_KEY).disabled
    assert test.button(key="recall.tune.profile.save").disabled
