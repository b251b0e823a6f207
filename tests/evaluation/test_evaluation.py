"""Cases, metrics, and how profiles are measured and compared on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import ANA, BEN, KINDS, START, CountingEmbeddings, engine_over, facts, memory_store, opened
from hypothesis import given
from hypothesis import strategies as st
from mnemoscope import InputError, MemoryConfig, MemoryEngine
from mnemoscope.connections import load_connections
from mnemoscope.consolidation import Pair
from mnemoscope.evaluation import Places, collect, compare, evaluate, interval, measure, read_metric
from mnemoscope.recall import (
    Case,
    CaseBook,
    Profile,
    ProfileBook,
    case,
    cases_to_jsonl,
    profile_to_python,
    profile_to_toml,
    read_cases,
)
from mnemoscope.stores import View, Write

CLASSIC = Profile("classic", MemoryConfig())
WORDS = Profile("words", MemoryConfig(semantic_weight=1, recency_weight=0, importance_weight=0, lexical_weight=1))
FACTS = ("likes green tea", "lives in Paris", "has a dog named Otto", "plays chess on Sundays", "works as a nurse")


def taught(store: Any = None, **options: Any) -> MemoryEngine:
    engine = engine_over(store, clock=lambda: START, **options)
    engine.remember_facts(facts(*FACTS), ANA)
    return engine


def key_of(engine: MemoryEngine, text: str) -> str:
    return next(record.key for record in engine.list(ANA) if record.content == text)


def test_metrics_of_known_places() -> None:
    places = Places((1, 4, None), (2, None))
    assert measure(places, "recall@3") == pytest.approx(1 / 3)
    assert measure(places, "recall@5") == pytest.approx(2 / 3)
    assert measure(places, "precision@5") == pytest.approx(2 / 5)
    assert measure(places, "mrr") == 1.0
    best = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert measure(places, "ndcg@10") == pytest.approx((1 + 1 / math.log2(5)) / best)
    assert measure(places, "unwanted@5") == pytest.approx(1 / 2)


def test_a_case_that_expects_nothing_has_no_recall_rather_than_none_of_it() -> None:
    places = Places((), (1,))
    assert [measure(places, name) for name in ("recall@5", "mrr", "ndcg@10")] == [None, None, None]
    assert measure(places, "unwanted@5") == 1.0
    assert interval([None, None]) is None


@given(st.lists(st.one_of(st.none(), st.integers(1, 30)), min_size=1, max_size=6, unique=True))
def test_every_metric_lies_between_0_and_1(places: list[int | None]) -> None:
    for name in ("recall@5", "precision@5", "mrr", "ndcg@10"):
        value = measure(Places(tuple(places)), name)
        assert value is not None
        assert 0 <= value <= 1


@pytest.mark.parametrize("name", ["", "recall", "mrr@5", "ndcg@0", "ndcg@", "bleu@4", "recall@5 or so", None])
def test_an_unknown_metric_is_refused(name: Any) -> None:
    with pytest.raises(InputError, match="known are recall@k"):
        read_metric(name)


def test_an_interval_holds_its_mean_and_can_be_had_again() -> None:
    values = [0.0, 1.0, 0.5, None, 1.0]
    found = interval(values)
    assert found == interval(values)
    assert found is not None
    assert found.mean == pytest.approx(0.625)
    assert found.low <= found.mean <= found.high
    assert interval([0.5]) == (0.5, 0.5, 0.5)


def test_cases_survive_a_file() -> None:
    cases = [
        case("What does she drink?", ANA, expected=["likes green tea"], unwanted=["k1"], note="from support"),
        case("日本語 「引用」?", "memories/ben", unwanted=["x\ny"], created_at=START),
    ]
    assert read_cases(cases_to_jsonl(cases)) == cases


def test_a_file_may_leave_the_namespace_to_its_reader() -> None:
    text = '\ufeff{"query": "q", "expected": ["a"]}\n\n{"query": "q", "expected": ["b"]}\n'
    assert read_cases(text, namespace=ANA) == [Case("q", ANA, ("b",))]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "Line 2 is no case: Expecting"),
        ("[]", "must be an object"),
        ('{"query": "", "namespace": "a", "expected": ["x"]}', "some text"),
        ('{"query": "q", "namespace": "a"}', "expects nothing"),
        ('{"query": "q", "expected": ["x"]}', "namespace is missing"),
        ('{"query": "q", "namespace": "a", "expected": "x"}', "list of keys or texts"),
        ('{"query": "q", "namespace": "a", "expected": [1]}', "list of texts"),
        ('{"query": "q", "namespace": "a", "expected": ["x"], "unwanted": ["x"]}', "both expected and unwanted"),
        ('{"query": "q", "namespace": "a", "expect": ["x"]}', "no field str 'expect'"),
        ('{"query": "q", "namespace": "__mnemoscope__", "expected": ["x"]}', "reserved"),
        ("[" * 100_000, "Line 2 is no case"),
    ],
)
def test_a_bad_line_is_named_with_its_number(line: str, why: str) -> None:
    good = '{"query": "q", "namespace": "a", "expected": ["x"]}'
    with pytest.raises(InputError, match="Line 2") as caught:
        read_cases(f"{good}\n{line}")
    assert why in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_cases_are_kept_in_the_store_where_no_agent_sees_them(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = taught(store)
        book = CaseBook(engine.adapter)
        first, second = case("tea?", ANA, expected=["likes green tea"]), case("dog?", BEN, expected=["x"])
        engine.tuning.save_cases([first, second])
        engine.tuning.save_cases([case("tea?", ANA, expected=["k"])])
        assert [(each.query, each.expected) for each in book.all(ANA)] == [("tea?", ("k",))]
        assert len(book.all()) == 2
        assert engine.counts() == {ANA: len(FACTS)}
        assert "tea?" not in [match.record.content for match in engine.recall("tea?", "memories", subtree=True)]
        engine.tuning.delete_cases([first])
        assert [each.query for each in book.all()] == ["dog?"]


def test_what_a_stranger_wrote_among_the_cases_is_passed_over() -> None:
    engine = taught()
    book = CaseBook(engine.adapter)
    engine.adapter.write(
        [Write(("__mnemoscope__", "cases"), str(at), value) for at, value in enumerate(({}, {"kind": "case"}))]
    )
    engine.tuning.save_cases([case("tea?", ANA, expected=["k"])])
    assert [each.query for each in book.all()] == ["tea?"]


@pytest.mark.parametrize("kind", KINDS)
def test_places_are_those_of_recall(kind: str, tmp_path: Path) -> None:
    with opened(kind, tmp_path) as store:
        engine = taught(store)
        asked = [case(text, ANA, expected=[text, key_of(engine, "lives in Paris")]) for text in FACTS[2:]]
        judged = collect(engine.context, asked, now=START)
        for profile in (CLASSIC, WORDS):
            for each in judged:
                result = engine.recall(each.case.query, ANA, config=profile.config, limit=100, touch=False)
                order = {match.record.content: place for place, match in enumerate(result, start=1)}
                found = each.places(profile.config).expected
                assert found == (order[each.case.query], order["lives in Paris"])


def test_entries_are_keys_or_texts_and_those_that_name_nothing_count_as_not_recalled() -> None:
    engine = taught()
    [judged] = collect(engine.context, [case("tea", ANA, expected=["LIKES  green tea", "no such memory"])], now=START)
    assert judged.missing == ["no such memory"]
    evaluation = evaluate([judged], [CLASSIC], ["recall@10"])
    assert evaluation.values["classic"]["recall@10"] == (0.5,)


def test_a_least_score_leaves_out_what_scores_less() -> None:
    engine = taught()
    [judged] = collect(
        engine.context, [case("likes green tea", ANA, expected=["likes green tea", "lives in Paris"])], now=START
    )
    strict = Profile("strict", MemoryConfig(semantic_weight=1, recency_weight=0, importance_weight=0, min_score=0.9))
    assert judged.places(strict.config).expected == (1, None)


def test_private_memories_are_seen_only_as_asked_for() -> None:
    engine = taught()
    engine.remember_facts(facts("has a secret"), ANA, source="s", private=True)
    asked = [case("secret", ANA, expected=["has a secret"])]
    assert collect(engine.context, asked)[0].missing == ["has a secret"]
    assert collect(engine.context, asked, source="s")[0].missing == []
    assert collect(engine.context, asked, include_private=True)[0].missing == []


class Queries(CountingEmbeddings):
    def __init__(self) -> None:
        super().__init__()
        self.queries: list[str] = []

    def embed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        return super().embed_query(text)


def test_profiles_cost_one_embedding_a_distinct_query_and_no_call_of_the_store() -> None:
    embeddings, calls = Queries(), []
    engine = taught(memory_store(embeddings))
    watched = engine_over(View(engine.adapter, watcher=lambda name, *_: calls.append(name)))
    embeddings.queries.clear()
    cases = [case("tea", ANA, expected=["likes green tea"]), case("tea", BEN, expected=["x"])]
    cases += [case("dog", ANA, expected=["has a dog named Otto"])]
    judged = collect(watched.context, cases)
    assert sorted(embeddings.queries) == ["dog", "tea"]
    calls.clear()
    evaluate(judged, [CLASSIC, WORDS])
    assert calls == []
    assert len(embeddings.queries) == 2


def test_wins_and_losses_of_a_profile_are_told_case_by_case() -> None:
    engine = taught()
    judged = collect(engine.context, [case(text, ANA, expected=[text]) for text in FACTS], now=START)
    silent = Profile("silent", MemoryConfig(min_score=1.0))
    evaluation = evaluate(judged, [silent, WORDS], ["recall@1"])
    comparison = compare(evaluation, "silent", "words", "recall@1")
    assert (len(comparison.wins), len(comparison.losses), comparison.ties) == (5, 0, 0)
    assert comparison.difference == (1.0, 1.0, 1.0)
    assert compare(evaluation, "words", "silent", "recall@1").losses == tuple(
        each._replace(one=each.other, other=each.one) for each in comparison.wins
    )


def test_two_profiles_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="same name"):
        evaluate([], [CLASSIC, CLASSIC])


def test_profiles_are_kept_by_name() -> None:
    engine = taught()
    book = ProfileBook(engine.adapter)
    engine.tuning.save_profile(Profile("Mine", MemoryConfig(lexical_weight=0.2, min_score=0.1)))
    engine.tuning.save_profile(Profile("a", MemoryConfig()))
    engine.adapter.write([Write(("__mnemoscope__", "profiles"), "broken", {"config": {"semantic_weight": 9}})])
    assert list(book.all()) == ["a", "Mine"]
    assert book.all()["Mine"] == Profile("Mine", MemoryConfig(lexical_weight=0.2, min_score=0.1))
    engine.tuning.delete_profile("a")
    assert list(book.all()) == ["Mine"]


@pytest.mark.parametrize("name", ["", "a/b", 'x"]\n', "n" * 61, None])
def test_a_profile_needs_a_plain_name(name: Any) -> None:
    with pytest.raises(InputError, match="profile's name"):
        Profile(name, MemoryConfig())


def test_the_toml_of_a_profile_is_read_back_by_the_configuration(tmp_path: Path) -> None:
    profile = Profile("my own.profile", MemoryConfig(lexical_weight=0.4, touch_on_recall=False, min_score=0.25))
    file = tmp_path / "mnemoscope.toml"
    file.write_text(profile_to_toml(profile), encoding="utf-8")
    assert load_connections(file).profiles["my own.profile"] == profile.config


def test_the_python_of_a_profile_makes_it() -> None:
    made: dict[str, Any] = {}
    profile = Profile("mine", MemoryConfig(lexical_weight=0.4, recency_weight=0.1, min_score=0.25))

    def engine(*_: Any, config: MemoryConfig) -> None:
        made["config"] = config

    known = {"MemoryEngine": engine, "MemoryConfig": MemoryConfig, "store": None, "model": None}
    exec(profile_to_python(profile), known)
    assert made["config"] == profile.config


def test_the_minimum_of_a_profile_of_an_earlier_version_is_kept() -> None:
    engine = taught()
    engine.adapter.write([Write(("__mnemoscope__", "profiles"), "old", {"min_score": 0.3, "config": {}})])
    assert ProfileBook(engine.adapter).all()["old"].config == MemoryConfig(min_score=0.3)


def test_an_older_memory_of_equal_score_comes_after(clocked: Callable[[int], MemoryEngine]) -> None:
    engine = clocked(3)
    [judged] = collect(
        engine.context, [case("zzz", ANA, expected=["fact 0", "fact 1", "fact 2"])], now=START + timedelta(days=9)
    )
    flat = MemoryConfig(semantic_weight=0, recency_weight=0, importance_weight=1)
    assert judged.places(flat).expected == (3, 2, 1)


@pytest.fixture
def clocked() -> Callable[[int], MemoryEngine]:
    def make(count: int) -> MemoryEngine:
        engine = engine_over()
        for at in range(count):
            engine.remember_facts(facts(f"fact {at}"), ANA)
        return engine

    return make


def test_erasing_a_memory_erases_it_from_the_cases() -> None:
    engine = taught()
    key = key_of(engine, "likes green tea")
    book = CaseBook(engine.adapter)
    other = case("dog?", ANA, expected=["has a dog named Otto"])
    engine.tuning.save_cases(
        [
            case("drink?", ANA, expected=[key]),
            case("both?", ANA, expected=["Likes  GREEN tea", "lives in Paris"], note="she likes green tea"),
            case("who likes green tea", ANA, expected=["lives in Paris"]),
            other,
        ]
    )
    receipt = engine.curation.erase(ANA, key, confirm="memories/ana")
    assert receipt.failures == ()
    left = {each.query: (each.expected, each.note) for each in book.all()}
    assert left == {"both?": (("lives in Paris",), ""), "dog?": (other.expected, "")}


def test_words_in_cases_elsewhere_are_counted_and_reasons_of_labels_are_cleaned() -> None:
    engine, text = engine_over(), "Ana is allergic to peanuts"
    one, other = engine.remember_facts(facts(text, f"{text} and nuts"), ANA)
    engine.tuning.label(Pair(one, other, 0.9), "duplicate", reason=f"both say: {text}")
    engine.tuning.save_cases([case("what of nuts", ANA[:1], expected=[text])])
    engine.tuning.save_cases(
        [case("what of food", BEN, expected=[text.upper()]), case("dog?", BEN, expected=["a dog"])]
    )
    engine.tuning.save_cases([case("allergy?", ANA, expected=[text])])
    engine.curation.erase(ANA, other.key, confirm="memories/ana")
    receipt = engine.curation.erase(ANA, one.key, confirm="memories/ana")
    assert receipt.failures == ()
    assert receipt.elsewhere == 4
    assert "no case of its namespace, now or in the history, names it or holds its words" in receipt.verified
    left = [
        item.ref for item in engine.adapter.load(("__mnemoscope__",), subtree=True).items if text in str(item.value)
    ]
    assert {namespace[2:] for namespace, _ in left} == {ANA[:1]}
    assert [change.reason for change in engine.history(ANA) if change.shelf == "labels"] == [""]
    assert list(engine.tuning.labels(ANA).values()) == ["duplicate"]
