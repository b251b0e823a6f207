"""What every store adapter does, proven on each; what one cannot do is skipped with the reason."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mnemoscope import ConflictError, InputError, MnemoscopeError, NamespaceError
from mnemoscope.stores import EMBED_AGAIN, KEEP, Guard, Write, same_json
from server_fixture import opened_server
from store_skips import ABILITIES, skipped
from stores_fixture import ANA, BACKENDS, DIMENSIONS, Backend, best_score, put, vectors_for

LONG_AGO = datetime(2020, 2, 29, 12, 30, 15, 123456, tzinfo=UTC)


ALL = {**BACKENDS, "generic-server": opened_server}
"""Every store; that of a LangGraph server where there is one, see server_fixture."""


def stores() -> list[Any]:
    """The parameters of `backend`; what a server answers for is on one worker, so that one is started."""
    on_one_worker = pytest.mark.xdist_group("langgraph-server")
    return [pytest.param(name, marks=on_one_worker if name.endswith("server") else ()) for name in sorted(ALL)]


@pytest.fixture(params=stores())
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    name = request.param
    if reason := skipped(name, request.function, request.node.name):
        pytest.skip(f"{name}: {reason}")
    with ALL[name](tmp_path) as opened:
        assert opened.adapter.abilities == ABILITIES[name]
        yield opened


def contents(backend: Backend, namespace: tuple[str, ...] = ANA, *, subtree: bool = False) -> dict[str, Any]:
    return {item.key: item.value["content"] for item in backend.adapter.load(namespace, subtree=subtree).items}


VALUES = [
    {},
    {"content": ""},
    {"content": "Ünïcödé 日本語 العربية 🧠 'quotes\" \\ % _ $.x; DROP TABLE store"},
    {"content": "line\nbreak\ttab \u0001 control", "": "empty name", "a.b": 1, 'say "hi"': None},
    {"big": 2**63 - 1, "small": -(2**63), "float": 123456.789, "tiny": -1e-7, "zero": -0.0, "whole": 2.0},
    {"deep": [[[{"a": [1, [2, {"b": [None, True, False]}]]}]]], "empty": [[], {}]},
    {"content": "x" * 1_000_000},
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_a_value_comes_back_as_it_was(backend: Backend, value: dict[str, Any]) -> None:
    backend.adapter.write([Write(ANA, "k", value)])
    (item,) = backend.adapter.get([(ANA, "k")])
    assert item is not None
    assert item.value == value
    assert {name: type(part) for name, part in item.value.items()} == {name: type(part) for name, part in value.items()}
    assert backend.stock.get(ANA, "k").value == value


@pytest.mark.parametrize("number", [1.5e300, -1e-300, 2.0**100, 1 / 3])
def test_a_number_of_any_size_comes_back_as_it_was(backend: Backend, number: float) -> None:
    backend.adapter.write([Write(ANA, "k", {"n": number})])
    (item,) = backend.adapter.get([(ANA, "k")])
    assert item is not None
    assert same_json(item.value, {"n": number})
    backend.adapter.write([Write(ANA, "k", {})], [Guard(ANA, "k", {"n": number})])


@pytest.mark.parametrize("key", ["", " ", "a/b", "%", "_", "[a]", "'; --", "ключ", "🧠", "k" * 2000, "\u0001"])
def test_any_text_is_a_key(backend: Backend, key: str) -> None:
    backend.adapter.write([put(key, "here")])
    (item,) = backend.adapter.get([(ANA, key)])
    assert item is not None
    assert item.key == key
    assert contents(backend) == {key: "here"}


@pytest.mark.parametrize("label", ["al", "AL", "alice", "%", "_", "a_l", "[a]", "*", "?", "\\", "a:b", "a/b", " ", "é"])
def test_labels_match_whole_and_literally(backend: Backend, label: str) -> None:
    labels = ["al", "AL", "alice", "al!", "al0", "xl", "%", "_", "a_l", "axl", "[a]", "a", "*", "?", "\\", "é", "e"]
    spaces = sorted({("users", each) for each in [*labels, label]})
    backend.adapter.write([put("k", str(space), space) for space in spaces])
    backend.adapter.write([put("below", "child", ("users", label, "child"))])
    assert contents(backend, ("users", label)) == {"k": str(("users", label))}
    below = {("users", label): 1, ("users", label, "child"): 1}
    assert backend.adapter.counts(("users", label)) == below
    loaded = backend.adapter.load(("users", label), subtree=True).items
    assert [item.namespace for item in loaded] == list(below)
    assert list(backend.adapter.markers(("users", label), subtree=True)) == [item.ref for item in loaded]


def test_counts_leave_out_empty_namespaces_and_the_reserved_root(backend: Backend) -> None:
    backend.adapter.write([put("a", "one"), put("b", "two"), put("a", "three", ("other",))])
    backend.adapter.write([Write(("__mnemoscope__", "journal"), "1", {"content": "ours"})])
    backend.adapter.write([Write(("other",), "a", None)])
    assert backend.adapter.counts() == {ANA: 2}
    assert backend.adapter.counts(("__mnemoscope__",)) == {("__mnemoscope__", "journal"): 1}
    assert [item.namespace for item in backend.adapter.load((), subtree=True).items] == [ANA, ANA]
    assert backend.adapter.load(()).items == []


def test_get_answers_in_order_with_none_for_what_is_missing(backend: Backend) -> None:
    backend.adapter.write([put(f"k{number}", str(number)) for number in range(1000)])
    refs = [(ANA, f"k{number}") for number in range(1500)] + [(("ghost",), "k"), (("a.b",), "k"), (ANA, "k0")]
    found = backend.adapter.get(refs)
    assert [item and item.value["content"] for item in found] == [
        *map(str, range(1000)),
        *[None] * 500,
        None,
        None,
        "0",
    ]
    assert backend.adapter.get([]) == []


def test_times_are_aware_and_creation_survives_a_change(backend: Backend) -> None:
    backend.adapter.write([put("k", "first")])
    (before,) = backend.adapter.get([(ANA, "k")])
    backend.adapter.write([put("k", "second")])
    (after,) = backend.adapter.get([(ANA, "k")])
    assert before is not None
    assert after is not None
    assert after.created_at == before.created_at
    assert after.updated_at > before.updated_at
    assert abs(after.updated_at - datetime.now(UTC)) < timedelta(minutes=1)


def test_a_given_creation_time_is_kept_to_the_microsecond(backend: Backend) -> None:
    backend.adapter.write([put("new", "one"), put("old", "two")])
    backend.adapter.write([Write(ANA, key, {"content": "x"}, created_at=LONG_AGO) for key in ("old", "restored")])
    new, old, restored = backend.adapter.get([(ANA, "new"), (ANA, "old"), (ANA, "restored")])
    assert old is not None
    assert restored is not None
    assert new is not None
    assert old.created_at == restored.created_at == LONG_AGO
    assert new.created_at > LONG_AGO
    stock = backend.stock.get(ANA, "old").created_at
    assert stock.replace(tzinfo=UTC) == LONG_AGO


def test_the_store_itself_finds_what_was_written(backend: Backend) -> None:
    backend.adapter.write([put("tea", "Ana drinks green tea"), put("city", "Ana lives in Lisbon")])
    (first,) = backend.stock.search(ANA, query="green tea", limit=1)
    assert first.key == "tea"
    assert best_score(backend.stock, "Ana drinks green tea") == pytest.approx(1.0, abs=1e-5)


def test_keep_leaves_the_vector(backend: Backend) -> None:
    backend.adapter.write([put("k", "green tea")])
    backend.adapter.write([Write(ANA, "k", {"content": "green tea", "pinned": True}, vectors=KEEP)])
    assert best_score(backend.stock, "green tea") == pytest.approx(1.0, abs=1e-5)
    assert backend.stock.get(ANA, "k").value["pinned"] is True


def test_a_new_vector_replaces_the_old_one(backend: Backend) -> None:
    backend.adapter.write([put("k", "green tea")])
    backend.adapter.write([put("k", "black coffee")])
    assert best_score(backend.stock, "black coffee") == pytest.approx(1.0, abs=1e-5)
    assert best_score(backend.stock, "green tea") < 0.5


def test_no_vectors_clears_those_that_were(backend: Backend) -> None:
    backend.adapter.write([put("k", "green tea")])
    backend.adapter.write([Write(ANA, "k", {"content": "green tea"})])
    assert best_score(backend.stock, "green tea") == 0.0
    assert len(backend.adapter.load(ANA).matrix) == 0


def test_vectors_of_fields_that_are_gone_go_too(backend: Backend) -> None:
    backend.stock.put(ANA, "k", {"content": ["green tea", "red wine"]}, index=["content[*]"])
    backend.adapter.write([put("k", "black coffee")])
    assert best_score(backend.stock, "red wine") < 0.5
    assert best_score(backend.stock, "black coffee") == pytest.approx(1.0, abs=1e-5)


def test_a_deleted_vector_does_not_come_back(backend: Backend) -> None:
    backend.adapter.write([put("k", "green tea")])
    backend.adapter.write([Write(ANA, "k", None)])
    backend.stock.put(ANA, "k", {"content": "black coffee"}, index=False)
    assert best_score(backend.stock, "green tea") == 0.0


def test_a_vector_the_store_left_behind_does_not_come_back(backend: Backend) -> None:
    backend.stock.put(ANA, "k", {"content": "green tea"})
    backend.stock.delete(ANA, "k")
    assert len(backend.adapter.load(ANA).matrix) == 0
    backend.adapter.write([Write(ANA, "k", {"content": "black coffee"}, vectors=KEEP)])
    assert best_score(backend.stock, "green tea") == 0.0


def test_the_last_write_to_a_place_wins(backend: Backend) -> None:
    backend.adapter.write(
        [put("k", "first"), Write(ANA, "k", None), put("k", "last"), put("j", "x"), Write(ANA, "j", None)]
    )
    assert contents(backend) == {"k": "last"}
    assert best_score(backend.stock, "first") < 0.5


def test_equal_texts_in_one_batch_are_each_embedded(backend: Backend) -> None:
    backend.adapter.write([put(str(number), "the same text") for number in range(5)])
    found = backend.stock.search(ANA, query="the same text", limit=10)
    assert [round(item.score or 0.0, 4) for item in found] == [1.0] * 5


def test_a_large_batch_is_written(backend: Backend) -> None:
    backend.adapter.write([put(str(number), f"fact {number}") for number in range(3000)])
    assert backend.adapter.counts() == {ANA: 3000}
    backend.adapter.write([Write(ANA, str(number), None) for number in range(3000)])
    assert backend.adapter.counts() == {}


def test_values_are_the_callers_own(backend: Backend) -> None:
    given: dict[str, Any] = {"content": "mine", "categories": ["a"]}
    backend.adapter.write([Write(ANA, "k", given)])
    given["categories"].append("b")
    (got,) = backend.adapter.get([(ANA, "k")])
    assert got is not None
    got.value["categories"].append("c")
    backend.adapter.load(ANA).items[0].value["categories"].append("d")
    assert backend.stock.get(ANA, "k").value["categories"] == ["a"]


BAD_VALUES = {
    "nan": {"a": {"b": [0, float("nan")]}},
    "infinity": {"a": {"b": [0, float("inf")]}},
    "nul": {"a": {"b": [0, "x\x00"]}},
    "surrogate": {"a": {"b": [0, "\ud800"]}},
    "large": {"a": {"b": [0, 2**63]}},
    "date": {"a": {"b": [0, LONG_AGO]}},
    "bytes": {"a": {"b": [0, b"x"]}},
    "set": {"a": {"b": [0, {1}]}},
}


@pytest.mark.parametrize("fault", BAD_VALUES)
def test_a_value_no_store_can_hold_is_refused_by_field_and_nothing_is_written(backend: Backend, fault: str) -> None:
    backend.adapter.write([put("old", "stays")])
    with pytest.raises(InputError, match=r"memories/ana · bad .*'a\.b\[1\]'"):
        backend.adapter.write([put("good", "x"), Write(ANA, "old", None), Write(ANA, "bad", BAD_VALUES[fault])])
    assert contents(backend) == {"old": "stays"}


@pytest.mark.parametrize(
    ("write", "error"),
    [
        (Write(ANA, "bad", {1: "x"}), InputError),  # type: ignore[dict-item]
        (Write(ANA, "bad", {"\x00": "x"}), InputError),
        (Write(ANA, "bad", ["x"]), InputError),  # type: ignore[arg-type]
        (Write(ANA, "b\x00d", {}), InputError),
        (Write(ANA, "\ud800", {}), InputError),
        (Write((), "bad", {}), NamespaceError),
        (Write(("a.b",), "bad", {}), NamespaceError),
        (Write(("a", ""), "bad", {}), NamespaceError),
        (Write(("a\x00",), "bad", None), NamespaceError),
        (Write((1,), "bad", {}), NamespaceError),  # type: ignore[arg-type]
    ],
)
def test_a_write_no_store_can_do_is_refused_whole(backend: Backend, write: Write, error: type[Exception]) -> None:
    with pytest.raises(error):
        backend.adapter.write([put("good", "x"), write])
    assert backend.adapter.counts() == {}


@pytest.mark.needs("reads_vectors")
@pytest.mark.parametrize("vector", [np.ones(DIMENSIONS - 1), np.full(DIMENSIONS, np.nan), np.ones((2, DIMENSIONS))])
def test_a_vector_that_does_not_fit_is_refused(backend: Backend, vector: Any) -> None:
    with pytest.raises(InputError, match="vector for 'content'"):
        backend.adapter.write([put("good", "x"), Write(ANA, "bad", {"content": "x"}, vectors={"content": vector})])
    assert backend.adapter.counts() == {}


def test_a_store_whose_vectors_cannot_be_read_embeds_by_itself(backend: Backend) -> None:
    backend.adapter.write([Write(ANA, "k", {"content": "green tea"}, vectors=EMBED_AGAIN)])
    assert best_score(backend.stock, "green tea") == pytest.approx(1.0, abs=1e-5)


@pytest.mark.needs("reads_vectors")
def test_a_vector_of_zeros_is_left_out(backend: Backend) -> None:
    zeros = {"content": np.zeros(DIMENSIONS, np.float32)}
    backend.adapter.write([Write(ANA, "k", {"content": "green tea"}, vectors=zeros)])
    assert len(backend.adapter.load(ANA).matrix) == 0


def test_a_guard_of_absence_refuses_what_exists(backend: Backend) -> None:
    backend.adapter.write([put("k", "first")])
    with pytest.raises(ConflictError) as caught:
        backend.adapter.write([put("j", "x"), put("k", "second")], [Guard(ANA, "k", None), Guard(ANA, "j", None)])
    (conflict,) = caught.value.conflicts
    assert (conflict.key, conflict.expected, conflict.actual) == ("k", None, "first")
    assert contents(backend) == {"k": "first"}


def test_a_stale_guard_refuses_the_whole_batch(backend: Backend) -> None:
    backend.adapter.write([put("a", "one"), put("b", "two")])
    backend.stock.put(ANA, "b", {"content": "two, changed"})
    guards = [
        Guard(ANA, "a", {"content": "one"}),
        Guard(ANA, "b", {"content": "two"}),
        Guard(ANA, "c", {"content": "3"}),
    ]
    with pytest.raises(ConflictError) as caught:
        backend.adapter.write([put("a", "x"), Write(ANA, "b", None)], guards)
    assert [(each.key, each.actual) for each in caught.value.conflicts] == [("b", "two, changed"), ("c", None)]
    assert contents(backend) == {"a": "one", "b": "two, changed"}


def test_guards_that_hold_let_the_batch_through(backend: Backend) -> None:
    value = {"content": "one", "n": 1.0, "l": [1, True, None], "o": {"x": 1, "y": 2}}
    backend.adapter.write([Write(ANA, "a", value)])
    same = {"o": {"y": 2, "x": 1}, "l": [1, True, None], "n": 1, "content": "one"}
    backend.adapter.write([put("b", "new")], [Guard(ANA, "a", same), Guard(ANA, "b", None)])
    assert set(contents(backend)) == {"a", "b"}
    with pytest.raises(ConflictError):
        backend.adapter.write([put("c", "x")], [Guard(ANA, "a", {**value, "l": [1, 1, None]})])


def in_threads(count: int, work: Callable[[int], None]) -> list[MnemoscopeError]:
    errors: list[MnemoscopeError] = []
    barrier = threading.Barrier(count)

    def run(number: int) -> None:
        barrier.wait()
        try:
            work(number)
        except MnemoscopeError as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_of_many_threads_that_create_an_item_one_wins(backend: Backend) -> None:
    errors = in_threads(8, lambda number: backend.adapter.write([put("k", str(number))], [Guard(ANA, "k", None)]))
    assert [type(error) for error in errors] == [ConflictError] * 7


def test_counting_in_threads_under_guards_loses_nothing(backend: Backend) -> None:
    backend.adapter.write([Write(ANA, "n", {"content": "0", "n": 0})])

    def add(_number: int) -> None:
        done = 0
        while done < 10:
            (item,) = backend.adapter.get([(ANA, "n")])
            assert item is not None
            try:
                backend.adapter.write(
                    [Write(ANA, "n", {**item.value, "n": item.value["n"] + 1}, vectors=KEEP)],
                    [Guard(ANA, "n", item.value)],
                )
                done += 1
            except ConflictError:
                continue

    assert in_threads(4, add) == []
    assert backend.stock.get(ANA, "n").value["n"] == 40


def test_reading_while_the_store_is_written_to_never_fails(backend: Backend) -> None:
    def work(number: int) -> None:
        for step in range(30):
            if number % 2:
                backend.adapter.write([put(f"{number}-{step}", "x", ("space", f"{number}-{step}"))])
            else:
                backend.adapter.load((), subtree=True)
                backend.adapter.counts()
                backend.adapter.token(("space",), subtree=True)

    assert in_threads(4, work) == []
    assert sum(backend.adapter.counts().values()) == 60


def changes(store: Any) -> dict[str, Callable[[], None]]:
    return {
        "put": lambda: store.put(ANA, "new", {"content": "new"}),
        "same value": lambda: store.put(ANA, "k", {"content": "green tea"}),
        "no vector": lambda: store.put(ANA, "k", {"content": "green tea"}, index=False),
        "delete": lambda: store.delete(ANA, "k"),
    }


@pytest.mark.needs("sees_changes")
@pytest.mark.parametrize("change", ["put", "same value", "no vector", "delete"])
def test_the_token_tells_of_a_change_by_the_store_itself(backend: Backend, change: str) -> None:
    backend.adapter.write([put("k", "green tea")])
    before = backend.adapter.token(ANA), backend.adapter.token(("memories",), subtree=True)
    assert before == (backend.adapter.token(ANA), backend.adapter.token(("memories",), subtree=True))
    changes(backend.stock)[change]()
    assert backend.adapter.token(ANA) != before[0]
    assert backend.adapter.token(("memories",), subtree=True) != before[1]


@pytest.mark.needs("sees_changes")
@pytest.mark.parametrize("change", ["put", "same value", "no vector", "delete"])
def test_the_token_tells_of_a_change_by_another_process(backend: Backend, change: str) -> None:
    assert backend.other
    other = backend.other()
    backend.adapter.write([put("k", "green tea")])
    before = backend.adapter.token(ANA)
    changes(other)[change]()
    assert backend.adapter.token(ANA) != before


def test_the_marker_of_what_changed_and_no_other_changes(backend: Backend) -> None:
    backend.adapter.write([put(key, f"fact {key}") for key in "abcde"])
    before = backend.adapter.markers(ANA)
    assert before == dict(zip(((ANA, key) for key in "abcde"), backend.adapter.load(ANA).markers, strict=True))
    backend.stock.put(ANA, "a", {"content": "other"})
    backend.adapter.write([put("b", "other"), Write(ANA, "c", {"content": "fact c", "pinned": True}, vectors=KEEP)])
    backend.adapter.write([Write(ANA, "d", None)])
    after = backend.adapter.markers(ANA)
    assert {key for (_, key), marker in before.items() if after.get((ANA, key)) != marker} == set("abcd")


def test_a_marker_tells_that_an_item_was_deleted_and_put_back(backend: Backend) -> None:
    backend.adapter.write([put("k", "green tea")])
    before = backend.adapter.markers(ANA)
    backend.stock.delete(ANA, "k")
    backend.stock.put(ANA, "k", {"content": "black coffee"})
    assert backend.adapter.markers(ANA) != before


def test_load_is_what_the_store_holds(backend: Backend) -> None:
    backend.adapter.write([put(f"{number:03}", f"fact {number}", ("s", str(number % 3))) for number in range(100)])
    backend.stock.put(("s", "1", "deep"), "k", {"content": "stock"})
    backend.stock.put(("s", "0"), "plain", {"content": "stock"}, index=False)
    loaded = backend.adapter.load(("s",), subtree=True)
    stock = {(item.namespace, item.key): item.value for item in backend.stock.search(("s",), limit=1000)}
    assert {item.ref: item.value for item in loaded.items} == stock
    assert [item.ref for item in loaded.items] == sorted(stock)


@pytest.mark.needs("reads_vectors")
def test_load_gives_every_vector_with_its_item_and_field(backend: Backend) -> None:
    two = {**vectors_for("alpha"), "title": vectors_for("beta")["content"]}
    backend.adapter.write([Write(ANA, "two", {"content": "alpha", "title": "beta"}, vectors=two)])
    backend.adapter.write([put("one", "gamma"), Write(ANA, "none", {"content": "delta"})])
    loaded = backend.adapter.load(ANA)
    assert [item.key for item in loaded.items] == ["none", "one", "two"]
    assert loaded.matrix.dtype == np.float32
    assert loaded.owner.tolist() == [1, 2, 2]
    assert loaded.fields == ["content", "content", "title"]
    expected = [vectors_for(text)["content"] for text in ("gamma", "alpha", "beta")]
    np.testing.assert_allclose(loaded.matrix, expected, atol=1e-6)
    assert loaded.misfits == {}


def test_load_of_some_keys_gives_those_alone(backend: Backend) -> None:
    backend.adapter.write([put(key, f"fact {key}") for key in "abcde"])
    whole = backend.adapter.load(ANA)
    part = backend.adapter.load(ANA, keys=[(ANA, "d"), (ANA, "b"), (ANA, "b"), (ANA, "ghost")])
    assert part.items == [whole.items[1], whole.items[3]]
    assert part.markers == [whole.markers[1], whole.markers[3]]
    if backend.adapter.abilities.reads_vectors:
        assert part.owner.tolist() == [0, 1]
        np.testing.assert_array_equal(part.matrix, whole.matrix[[1, 3]])


def test_search_fills_its_limit_and_puts_items_without_a_vector_last(backend: Backend) -> None:
    backend.adapter.write([put(f"k{number}", f"tea number {number}") for number in range(20)])
    backend.adapter.write([put("below", "tea", (*ANA, "below")), Write(ANA, "plain", {"content": "tea"})])
    hits = backend.adapter.search(ANA, "tea number 3", 5)
    assert hits[0].item.key == "k3"
    assert hits[0].similarity == pytest.approx(1.0, abs=1e-5)
    assert len(hits) == 5
    everything = backend.adapter.search(ANA, "tea number 3", 100)
    assert len(everything) == 21
    assert everything[-1].item.key == "plain"
    assert everything[-1].similarity is None
    assert len(backend.adapter.search(ANA, "tea", 100, subtree=True)) == 22


def test_an_item_with_many_near_vectors_hides_no_other(backend: Backend) -> None:
    texts = [f"tea number {number}" for number in range(40)]
    backend.stock.put(ANA, "hub", {"content": texts}, index=["content[*]"])
    backend.adapter.write([put(f"k{number}", "tea") for number in range(9)])
    assert len({hit.item.key for hit in backend.adapter.search(ANA, "tea number 1", 5)}) == 5


def test_several_searches_at_once_are_as_one_by_one(backend: Backend) -> None:
    backend.adapter.write([put(f"k{number}", f"tea number {number}") for number in range(20)])
    backend.adapter.write([put("below", "tea", (*ANA, "below"))])
    queries = ["tea number 3", "nothing like it", "tea"]
    together = backend.adapter.search_each(ANA, queries, 4)
    assert [[hit.item.key for hit in hits] for hits in together] == [
        [hit.item.key for hit in backend.adapter.search(ANA, query, 4)] for query in queries
    ]
    assert [len(hits) for hits in backend.adapter.search_each(("memories",), queries, 50, subtree=True)] == [21] * 3
    assert backend.adapter.search_each(ANA, [], 4) == []


def test_latest_are_the_greatest_keys(backend: Backend) -> None:
    book = ("__mnemoscope__", "journal")
    backend.adapter.write(
        [Write((*book, str(number % 2)), f"{number:03}", {"by": "ana" if number % 3 else "bo"}) for number in range(50)]
    )
    keys = [item.key for item in backend.adapter.latest(book, subtree=True, limit=3)]
    assert keys == ["049", "048", "047"]
    keys = [item.key for item in backend.adapter.latest((*book, "0"), limit=2, before="040", where={"by": "bo"})]
    assert keys == ["036", "030"]
    assert len(backend.adapter.latest(book, subtree=True)) == 50
    assert backend.adapter.latest(book) == []


STRANGERS: dict[str, dict[str, Any]] = {
    "langmem tool": {"content": "likes tea"},
    "langmem manager": {"kind": "Memory", "content": {"content": "likes tea"}},
    "nested": {"content": {"food": "tea", "amount": 3}},
    "list": {"content": ["tea", "coffee"], "tags": [1, 2]},
    "nothing": {},
    "numbers": {"content": 5, "created_at": "never", "importance": "high"},
}


def test_what_strangers_wrote_is_read_kept_and_changed(backend: Backend) -> None:
    for key, value in STRANGERS.items():
        backend.stock.put(ANA, key, value)
    loaded = backend.adapter.load(ANA)
    assert {item.key: item.value for item in loaded.items} == STRANGERS
    assert all(item.created_at.tzinfo for item in loaded.items)
    assert len(backend.adapter.search(ANA, "tea", 10)) >= 4
    backend.adapter.write([put("nested", "tea")], [Guard(ANA, "nested", STRANGERS["nested"])])
    assert backend.stock.get(ANA, "nested").value == {"content": "tea"}


def test_reading_changes_nothing(backend: Backend) -> None:
    backend.adapter.write([put("k", "green tea"), Write(("empty",), "x", {})])
    backend.adapter.write([Write(("empty",), "x", None)])
    before = backend.rows()
    backend.adapter.counts()
    backend.adapter.get([(ANA, "k"), (("memories", "ghost"), "k")])
    backend.adapter.load((), subtree=True)
    backend.adapter.load(("ghost",), keys=[(("ghost",), "k")])
    backend.adapter.latest(("ghost",))
    backend.adapter.markers(("memories",), subtree=True)
    backend.adapter.token(("ghost",))
    backend.adapter.search(ANA, "tea", 10)
    assert backend.rows() == before
