"""Messages of every shape become one transcript, and what is left out of it is counted."""

from __future__ import annotations

import copy
import json
import pickle
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    messages_to_dict,
)
from mnemoscope import InputError, Message
from mnemoscope.conversations import Transcript, moment_of, read_messages

TALK = [
    SystemMessage("Be kind."),
    HumanMessage("I live in Turin.", id="h1", name="Ana"),
    AIMessage("Noted.", tool_calls=[{"name": "weather", "args": {}, "id": "t1"}]),
    ToolMessage("Sunny", tool_call_id="t1"),
]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "type", "text", "data", "id", "name", "messages", "tool_calls", "lc"])
            | st.text(max_size=5),
            inner | st.sampled_from(["user", "human", "ai", "text", "image", "remove"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


def said(transcript: Transcript) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in transcript.messages]


def test_text_is_one_user_message() -> None:
    assert read_messages("I live in Turin.").messages == (Message("m1", "user", "I live in Turin."),)


@pytest.mark.parametrize("blank", ["", "  \n\t", [], ()])
def test_blank_content_is_an_empty_transcript(blank: object) -> None:
    assert read_messages(blank).messages == ()


def test_a_blank_message_is_counted() -> None:
    assert read_messages(["  ", {"role": "assistant", "content": None}, "hello"]).left_out == {"empty message": 2}


def test_a_megabyte_is_kept_whole() -> None:
    assert len(read_messages("é" * 1_000_000).messages[0].text) == 1_000_000


def test_langchain_messages_keep_role_name_and_id() -> None:
    transcript = read_messages(TALK)
    assert [(turn.id, turn.role, turn.name, turn.text) for turn in transcript.messages] == [
        ("m1", "system", None, "Be kind."),
        ("h1", "user", "Ana", "I live in Turin."),
        ("m3", "assistant", None, "Noted."),
        ("m4", "tool", None, "Sunny"),
    ]
    assert transcript.left_out == {"system prompt": 1, "tool call": 1, "tool output": 1}


@pytest.mark.parametrize(
    "shape",
    [
        messages_to_dict(TALK),
        [dumpd(message) for message in TALK],
        [message.model_dump() for message in TALK],
        {"messages": TALK},
        tuple(TALK),
        read_messages(TALK),
    ],
    ids=["messages_to_dict", "dumpd", "model_dump", "state", "tuple", "transcript"],
)
def test_serialised_langchain_messages_read_like_the_messages(shape: object) -> None:
    transcript = read_messages(shape)
    assert said(transcript) == said(read_messages(TALK))
    assert transcript.messages[1].id == "h1"
    assert transcript.left_out == read_messages(TALK).left_out


def test_one_message_needs_no_list() -> None:
    assert said(read_messages(HumanMessage("hi"))) == [("user", "hi")]
    assert said(read_messages({"role": "user", "content": "hi"})) == [("user", "hi")]
    assert said(read_messages(("assistant", "hi"))) == [("assistant", "hi")]
    assert said(read_messages(Message("x", "user", "hi"))) == [("user", "hi")]


def test_dicts_pairs_and_text_mix() -> None:
    mixed = [{"role": "developer", "content": "a"}, ("user", "b"), ["ai", "c"], "d", {"type": "human", "content": "e"}]
    assert said(read_messages(mixed)) == [
        ("system", "a"),
        ("user", "b"),
        ("assistant", "c"),
        ("user", "d"),
        ("user", "e"),
    ]


def test_chunks_of_a_stream_are_messages() -> None:
    assert said(read_messages([AIMessageChunk("par")])) == [("assistant", "par")]


def test_only_text_blocks_are_kept_and_the_others_counted() -> None:
    blocks = [
        {"type": "text", "text": "Look:"},
        {"type": "image_url", "image_url": {"url": "data:,"}},
        {"type": "image", "source": {}},
        {"type": "tool_result", "content": "secret"},
        {"type": "thinking", "thinking": "hm"},
        {"type": "input_audio"},
        {"type": "hologram"},
        "a lamp",
    ]
    transcript = read_messages([{"role": "user", "content": blocks}])
    assert said(transcript) == [("user", "Look:\na lamp")]
    assert transcript.left_out == {"image": 2, "tool output": 1, "thinking": 1, "audio": 1, "other block": 1}


def test_a_block_whose_type_is_no_word_is_counted() -> None:
    transcript = read_messages([{"role": "user", "content": ["hi", {"type": ["text"], "text": "no"}]}])
    assert said(transcript) == [("user", "hi")]
    assert transcript.left_out == {"other block": 1}


def test_blocks_by_themselves_are_one_user_message() -> None:
    transcript = read_messages(
        [{"type": "text", "text": "I like"}, {"type": "image"}, {"type": "text", "text": "this"}]
    )
    assert said(transcript) == [("user", "I like\nthis")]
    assert transcript.left_out == {"image": 1}


def test_an_answer_split_by_citations_is_joined_as_it_was() -> None:
    blocks = [{"type": "text", "text": "It is "}, {"type": "text", "text": "warm"}, {"type": "text", "text": "."}]
    assert said(read_messages([{"role": "assistant", "content": blocks}])) == [("assistant", "It is warm.")]


def test_a_tool_call_in_a_block_and_beside_it_is_counted_once() -> None:
    block = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    message = AIMessage([block], tool_calls=[{"name": "f", "args": {}, "id": "t"}])
    assert read_messages([message]).left_out == {"tool call": 1}


def test_calls_without_a_message_are_counted() -> None:
    items = ["hi", {"type": "function_call", "name": "f"}, {"type": "reasoning"}, {"type": "function_call_output"}]
    transcript = read_messages(items)
    assert said(transcript) == [("user", "hi")]
    assert transcript.left_out == {"tool call": 1, "thinking": 1, "tool output": 1}


def test_a_removed_message_is_left_out() -> None:
    transcript = read_messages(
        [HumanMessage("forget this", id="a"), HumanMessage("keep", id="b"), RemoveMessage(id="a")]
    )
    assert said(transcript) == [("user", "keep")]
    assert transcript.left_out == {"removed message": 1}


def test_removing_all_leaves_what_comes_after() -> None:
    transcript = read_messages([("user", "a"), ("user", "b"), RemoveMessage(id="__remove_all__"), ("user", "c")])
    assert said(transcript) == [("user", "c")]
    assert transcript.left_out == {"removed message": 2}


def test_ids_that_are_not_unique_are_replaced_by_the_position() -> None:
    turns = [
        {"role": "user", "content": text, "id": key} for text, key in zip("abcd", ["x", "x", "m2", 7], strict=True)
    ]
    assert [turn.id for turn in read_messages(turns).messages] == ["m1", "m2'", "m2", "7"]


@pytest.mark.parametrize(
    "fields",
    [
        {"timestamp": "2024-05-01T10:00:00Z"},
        {"created_at": 1714557600},
        {"create_time": 1714557600000},
        {"additional_kwargs": {"timestamp": "2024-05-01T12:00:00+02:00"}},
        {"response_metadata": {"created": "1714557600.0"}},
    ],
)
def test_the_time_is_found_where_it_is_kept(fields: dict[str, object]) -> None:
    transcript = read_messages([{"role": "user", "content": "hi", **fields}])
    assert transcript.messages[0].said_at == datetime(2024, 5, 1, 10, tzinfo=UTC)


def test_a_time_that_cannot_be_read_is_counted() -> None:
    transcript = read_messages([{"role": "user", "content": "hi", "timestamp": "the day after"}])
    assert transcript.messages[0].said_at is None
    assert transcript.left_out == {"unreadable time": 1}


@pytest.mark.parametrize("value", [float("nan"), 1e300, "", "31/12/2024", True, None, "9" * 400])
def test_no_moment_is_guessed(value: object) -> None:
    assert moment_of(value) is None


def test_characters_that_no_store_takes_are_replaced_and_counted() -> None:
    transcript = read_messages([{"role": "user", "content": "a\x00b\ud83dc", "name": "An\x00a", "id": "\ud800"}])
    assert transcript.messages == (Message("\ufffd", "user", "a\ufffdb\ufffdc", "An\ufffda"),)
    assert transcript.left_out == {"unreadable character": 3}


@pytest.mark.parametrize("content", [None, 3, 2.5, b"bytes", object(), {"a", "b"}])
def test_content_of_no_known_form_is_refused_by_its_type(content: object) -> None:
    with pytest.raises(InputError, match=f"The content is {type(content).__name__} .*allowed is text"):
        read_messages(content)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "Message 2 is NoneType None; allowed is text"),
        (["user", "x", "y"], "Message 2 is list"),
        ({"role": "narrator", "content": "x"}, "Message 2 has the role str 'narrator'; allowed are user, human"),
        ({"role": ["user"], "content": "x"}, "Message 2 has the role list"),
        ({"content": "x"}, "Message 2 has the role NoneType None"),
        ({"role": "user"}, "Message 2 has no 'content'"),
        ({"role": "user", "content": 4}, "Message 2: its content holds int 4"),
        ({"role": "user", "content": [b"x"]}, "Message 2: its content holds bytes"),
    ],
)
def test_a_message_that_cannot_be_read_is_named_by_position(value: object, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        read_messages(["fine", value])
    assert str(caught.value).startswith(reason)


def test_an_error_is_short_whatever_the_size_of_the_value() -> None:
    with pytest.raises(InputError) as caught:
        read_messages([{"role": "x" * 1_000_000, "content": "y" * 1_000_000}])
    assert len(str(caught.value)) < 500


def test_unreadable_messages_can_be_counted_instead() -> None:
    transcript = read_messages(["a", None, {"role": "x", "content": ""}, "b"], skip_unreadable=True)
    assert said(transcript) == [("user", "a"), ("user", "b")]
    assert transcript.left_out == {"unreadable message": 2}
    assert [note[:9] for note in transcript.notes] == ["Message 2", "Message 3"]


def test_a_transcript_can_be_copied_and_pickled() -> None:
    transcript = read_messages(TALK)
    assert copy.deepcopy(transcript) == transcript
    assert pickle.loads(pickle.dumps(transcript)) == transcript


@given(JSON_VALUES)
def test_any_value_is_read_or_refused_by_name(value: object) -> None:
    try:
        transcript = read_messages(value)
    except InputError:
        transcript = read_messages([value], skip_unreadable=True)
    ids = [message.id for message in transcript.messages]
    assert len(set(ids)) == len(ids)
    assert all(message.text.strip() for message in transcript.messages)
    json.dumps([message.text for message in transcript.messages]).encode()
