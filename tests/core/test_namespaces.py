from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.memory import InMemoryStore
from mnemoscope import NamespaceError
from mnemoscope.core import (
    decode_label,
    encode_label,
    is_reserved,
    is_within,
    read_namespace,
    read_prefix,
    show_namespace,
)

LABELS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(LABELS)
def test_encoding_a_label_is_reversible(label: str) -> None:
    # "%2E" and "%00" are how a period and NUL are written, so as a label of their own they mean these.
    if "%2E" in label or "%00" in label:
        return
    assert decode_label(encode_label(label)) == label


@given(LABELS)
def test_encoding_twice_is_encoding_once(label: str) -> None:
    assert encode_label(encode_label(label)) == encode_label(label)


@given(LABELS, LABELS)
def test_two_labels_are_never_encoded_as_one(one: str, other: str) -> None:
    if not any(written in label for label in (one, other) for written in ("%2E", "%00")):
        assert (encode_label(one) == encode_label(other)) == (one == other)


@given(LABELS)
def test_any_label_can_be_put_into_a_store(label: str) -> None:
    namespace = read_namespace(("memories", label))
    store = InMemoryStore()
    store.put(namespace, "key", {"content": "text"})
    assert [item.namespace for item in store.search(namespace)] == [namespace]


@pytest.mark.parametrize(
    "label", ["ana@example.org", "v1.2", "é.à", "🙂", "a b", "100%", "50%.", "%25.", "\x00", "42", "..", "a\nb"]
)
def test_unusual_labels_are_kept_apart_and_shown_as_they_were(label: str) -> None:
    namespace = read_namespace(("memories", label))
    assert "." not in namespace[1]
    assert show_namespace(namespace) == f"memories/{label}"


def test_tuples_lists_and_texts_name_the_same_namespace() -> None:
    expected = ("memories", "ana")
    assert read_namespace(("memories", "ana")) == expected
    assert read_namespace(["memories", "ana"]) == expected
    assert read_namespace("memories/ana") == expected


@pytest.mark.parametrize("nothing", ["", (), []])
def test_no_label_is_refused_as_a_namespace_and_means_everything_as_a_prefix(nothing: str) -> None:
    with pytest.raises(NamespaceError, match="at least one label"):
        read_namespace(nothing)
    assert read_prefix(nothing) == ()


@pytest.mark.parametrize(
    ("namespace", "named"),
    [
        (("memories", ""), "label 2 .* is empty"),
        ("memories//ana", "label 2 .* is empty"),
        (("memories", 7), "label 2 .* is 7 .int.; .*write '7'"),
        (("memories", None), "label 2 .*NoneType"),
        (("memories", "\ud800"), "lone surrogate"),
        (42, "int"),
        ({"memories": "ana"}, "dict"),
        (None, "NoneType"),
        (("__mnemoscope__", "journal"), "reserved"),
        (("langgraph", "x"), "reserved"),
    ],
)
def test_what_cannot_be_a_namespace_is_refused_by_name(namespace: object, named: str) -> None:
    with pytest.raises(NamespaceError, match=named):
        read_namespace(namespace)  # type: ignore[arg-type]


def test_labels_match_whole() -> None:
    assert is_within(("memories", "al"), ("memories",), subtree=True)
    assert not is_within(("memories", "alice"), ("memories", "al"), subtree=True)
    assert not is_within(("memories", "al"), ("memories",), subtree=False)


def test_our_own_books_are_told_from_user_namespaces() -> None:
    assert is_reserved(("__mnemoscope__", "journal"))
    assert not is_reserved(("memories", "__mnemoscope__"))
    assert not is_reserved(())
