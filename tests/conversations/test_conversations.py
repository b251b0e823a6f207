"""Files of conversations of every common shape are recognised, read and never lost for one bad part."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, HumanMessage, messages_to_dict
from mnemoscope import ConversationError, InputError, MnemoscopeError
from mnemoscope.conversations import (
    Conversation,
    JsonFault,
    Unreadable,
    json_items,
    read_conversations,
    recognise,
)

TURNS = [{"role": "user", "content": "I live in Turin."}, {"role": "assistant", "content": "Noted."}]
SAID = [("user", "I live in Turin."), ("assistant", "Noted.")]
LANGCHAIN = [HumanMessage("I live in Turin.", id="h1"), AIMessage("Noted.", id="a1")]

CHATGPT = {
    "title": "Moving",
    "conversation_id": "c-1",
    "current_node": "n4",
    "mapping": {
        "root": {"message": None, "parent": None, "children": ["n1"]},
        "n1": {
            "parent": "root",
            "message": {
                "id": "u1",
                "author": {"role": "user"},
                "create_time": 1714557600.0,
                "content": {
                    "content_type": "multimodal_text",
                    "parts": [{"content_type": "image_asset_pointer"}, "I live in Turin."],
                },
            },
        },
        "n2": {
            "parent": "n1",
            "message": {"id": "x", "author": {"role": "assistant"}, "content": {"parts": ["An answer thrown away."]}},
        },
        "n3": {
            "parent": "n1",
            "message": {
                "id": "t",
                "author": {"role": "assistant"},
                "content": {"content_type": "code", "text": "search()"},
            },
        },
        "n4": {
            "parent": "n3",
            "message": {
                "id": "a1",
                "author": {"role": "assistant"},
                "content": {"content_type": "text", "parts": ["Noted."]},
            },
        },
    },
}
CLAUDE = {
    "uuid": "c-2",
    "name": "Moving",
    "chat_messages": [
        {
            "uuid": "u1",
            "sender": "human",
            "text": "I live in Turin.",
            "content": [{"type": "text", "text": "I live in Turin."}],
            "created_at": "2024-05-01T10:00:00.000000Z",
            "attachments": [{"file_name": "a.txt", "extracted_content": "long"}],
            "files": [],
        },
        {"uuid": "a1", "sender": "assistant", "text": "Noted.", "created_at": "2024-05-01T10:00:05Z"},
    ],
}
LOCOMO = {
    "sample_id": "pair-1",
    "qa": [],
    "conversation": {
        "speaker_a": "Ana",
        "speaker_b": "Ben",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ana", "dia_id": "D1:1", "text": "I live in Turin."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Noted.", "img_url": ["x"], "blip_caption": "a cat"},
        ],
        "session_2_date_time": "one day",
        "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "Hello again."}],
        "session_10": [],
    },
}
LANGSMITH = {
    "id": "run-1",
    "name": "ChatModel",
    "run_type": "llm",
    "start_time": "2024-05-01T10:00:00",
    "inputs": {"messages": [[dumpd(LANGCHAIN[0])]]},
    "outputs": {"generations": [[{"text": "Noted.", "message": dumpd(LANGCHAIN[1])}]]},
}
SHAREGPT = {
    "id": "s-1",
    "conversations": [{"from": "human", "value": "I live in Turin."}, {"from": "gpt", "value": "Noted."}],
}
ANTHROPIC = {"system": "Be kind.", "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]}
LINES = "User: I live in Turin.\nAssistant: Noted.\n"
MARKDOWN = "# Moving\n\n## User\n\nI live in Turin.\n\n## Assistant\n\nNoted.\n"
TABLE = "role,content,timestamp\nuser,I live in Turin.,2024-05-01T10:00:00Z\nassistant,Noted.,\n"

EXAMPLES = [
    ("openai", TURNS),
    ("openai", {"messages": TURNS}),
    ("anthropic", ANTHROPIC),
    ("langchain", messages_to_dict(LANGCHAIN)),
    ("langchain", {"values": {"messages": messages_to_dict(LANGCHAIN)}}),
    ("langsmith", LANGSMITH),
    ("sharegpt", SHAREGPT),
    ("sharegpt", SHAREGPT["conversations"]),
    ("chatgpt", [CHATGPT]),
    ("claude", [CLAUDE]),
    ("locomo", [LOCOMO]),
]
FILES = [(name, json.dumps(value)) for name, value in EXAMPLES] + [
    ("text", LINES),
    ("markdown", MARKDOWN),
    ("csv", TABLE),
]


def read(data: bytes | str, **options: str) -> list[Conversation]:
    outcomes = list(read_conversations(data, **options))
    assert all(isinstance(outcome, Conversation) for outcome in outcomes), outcomes
    return [outcome for outcome in outcomes if isinstance(outcome, Conversation)]


def said(conversation: Conversation | Unreadable) -> list[tuple[str, str]]:
    assert isinstance(conversation, Conversation), conversation
    return [(message.role, message.text) for message in conversation.messages]


def failure(data: bytes | str, **options: str) -> str:
    with pytest.raises(ConversationError) as caught:
        list(read_conversations(data, **options))
    return str(caught.value)


# Recognition


@pytest.mark.parametrize(("name", "data"), FILES)
def test_every_format_is_recognised(name: str, data: str) -> None:
    found = recognise(data)
    assert found is not None
    assert found.name == name
    assert {conversation.format for conversation in read(data)} == {name}


@pytest.mark.parametrize(("name", "data"), FILES)
def test_every_format_can_be_asked_for(name: str, data: str) -> None:
    assert read(data, format=name) == read(data)


@pytest.mark.parametrize(("name", "data"), FILES)
@pytest.mark.parametrize("asked", ["chatgpt", "csv", "text"])
def test_a_wrong_format_says_what_was_found(name: str, data: str, asked: str) -> None:
    if asked == name:
        return
    assert f"({asked}); it looks like" in (message := failure(data, format=asked))
    assert f"({name})" in message


def test_anthropic_messages_without_blocks_can_be_read_as_such() -> None:
    assert read(json.dumps(TURNS), format="anthropic")[0].format == "anthropic"


def test_an_unknown_format_is_refused_at_once() -> None:
    with pytest.raises(InputError, match="no format str 'zip'; allowed are chatgpt, "):
        read_conversations("x", format="zip")


def test_recognising_a_file_leaves_it_where_it_stood() -> None:
    file = io.BytesIO(b"junk" + json.dumps([CHATGPT]).encode())
    file.seek(4)
    found = recognise(file)
    assert found is not None
    assert found.name == "chatgpt"
    assert file.tell() == 4


@pytest.mark.parametrize("data", ["", "Once upon a time", "{}", "[1, 2]", '{"a": [}'])
def test_what_no_format_knows_is_not_recognised(data: str) -> None:
    assert recognise(data) is None


# What each format gives


@pytest.mark.parametrize("data", [data for name, data in FILES if name not in ("anthropic", "locomo")])
def test_every_format_gives_the_same_turns(data: str) -> None:
    assert said(read(data)[0]) == SAID


def test_a_chatgpt_export_is_read_along_the_open_branch() -> None:
    conversation = read(json.dumps([CHATGPT]), name="conversations.json")[0]
    assert (conversation.id, conversation.title, conversation.source) == ("c-1", "Moving", "conversations.json")
    assert [message.id for message in conversation.messages] == ["u1", "a1"]
    assert conversation.messages[0].said_at == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert conversation.left_out == {"image": 1, "tool call": 1, "message of another branch": 1}
    assert conversation.notes == ("1 message of another branch was left out.",)


def test_a_chatgpt_export_without_a_current_node_is_read_to_its_last_message() -> None:
    nodes = json.loads(json.dumps(CHATGPT["mapping"]))
    nodes["n4"]["message"]["create_time"] = 1714557700
    assert said(read(json.dumps([{"mapping": nodes}]))[0]) == SAID


def test_a_chatgpt_export_that_runs_in_a_circle_ends() -> None:
    node = {"parent": "a", "message": {"author": {"role": "user"}, "content": {"parts": ["hi"]}}}
    assert said(read(json.dumps([{"mapping": {"a": node}, "current_node": "a"}]))[0]) == [("user", "hi")]


def test_a_claude_export_has_times_and_counts_attachments() -> None:
    conversation = read(json.dumps([CLAUDE]))[0]
    assert (conversation.id, conversation.title) == ("c-2", "Moving")
    assert conversation.messages[1].said_at == datetime(2024, 5, 1, 10, 0, 5, tzinfo=UTC)
    assert conversation.left_out == {"attachment": 1}


def test_locomo_sessions_are_conversations_between_two_people() -> None:
    first, second, last = read(json.dumps([LOCOMO]))
    assert (first.id, first.title) == ("pair-1-session-1", "Ana and Ben, session 1 (2023-05-08)")
    assert [(turn.id, turn.role, turn.name) for turn in first.messages] == [
        ("D1:1", "user", "Ana"),
        ("D1:2", "user", "Ben"),
    ]
    assert first.messages[0].said_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert first.left_out == {"image": 1}
    assert second.notes == ("The date of session 2 cannot be read: 'one day'.",)
    assert (last.id, last.messages) == ("pair-1-session-10", ())


def test_a_langsmith_run_is_its_input_and_its_output() -> None:
    conversation = read(json.dumps(LANGSMITH))[0]
    assert (conversation.id, conversation.title) == ("run-1", "ChatModel")
    assert conversation.messages[0].said_at == datetime(2024, 5, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "run",
    [
        {"run_type": "chain", "inputs": {"messages": TURNS[:1]}, "outputs": {"messages": TURNS}},
        {"inputs": {"question": TURNS[0]["content"]}, "outputs": {"answer": TURNS[1]["content"]}},
        {"inputs": {"messages": TURNS[:1]}, "outputs": {"choices": [{"message": TURNS[1]}]}},
        {"inputs": {"input": {"messages": TURNS[:1]}}, "outputs": {"output": TURNS[1]}},
    ],
)
def test_langsmith_runs_of_every_kind_give_each_turn_once(run: dict[str, object]) -> None:
    assert said(read(json.dumps(run))[0]) == SAID


def test_a_langsmith_run_without_messages_says_so() -> None:
    conversation = read(json.dumps({"run_type": "tool", "inputs": {"x": 1}, "parent_run_id": "p"}))[0]
    assert conversation.messages == ()
    assert conversation.notes == (
        "The file does not hold the root run of this trace; 1 run within it is there.",
        "A run of the type 'tool' without messages.",
    )


def test_sharegpt_tool_turns_are_counted() -> None:
    turns = [
        *SHAREGPT["conversations"],
        {"from": "function_call", "value": "{}"},
        {"from": "observation", "value": "3"},
    ]
    assert read(json.dumps({"conversations": turns}))[0].left_out == {"tool call": 1, "tool output": 1}


def test_people_in_a_plain_transcript_are_users_with_names() -> None:
    conversation = read("Ana: I moved.\nTo be exact: to Turin.\nBen: When?\nNote: soon\nAna: In May.\nБорис：Да\n")[0]
    assert [(turn.role, turn.name, turn.text) for turn in conversation.messages] == [
        ("user", "Ana", "I moved.\nTo be exact: to Turin."),
        ("user", "Ben", "When?\nNote: soon"),
        ("user", "Ana", "In May."),
        ("user", "Борис", "Да"),
    ]


def test_words_before_a_colon_are_no_speakers_beside_user_and_assistant() -> None:
    conversation = read("User: My list:\nEggs: 2\nEggs: 3\nhttps://x.test: a link\nAssistant: Noted.\n")[0]
    assert said(conversation)[0] == ("user", "My list:\nEggs: 2\nEggs: 3\nhttps://x.test: a link")


def test_times_of_a_plain_transcript_are_read_only_where_they_are_sure() -> None:
    sure = read("[2024-05-01 10:00] Ana: hi\n2024/05/01, 10:05 - Ben: yo\nAna (2024-05-01 10:06): so\n")[0]
    assert [turn.said_at and turn.said_at.minute for turn in sure.messages] == [0, 5, 6]
    unsure = read("05/06/24, 10:00 - Ana: hi\n05/06/24, 10:01 - Ben: yo\n")[0]
    assert [(turn.name, turn.said_at) for turn in unsure.messages] == [("Ana", None), ("Ben", None)]
    assert unsure.notes[0].startswith("2 times were left out")


def test_lines_before_the_first_speaker_are_counted() -> None:
    conversation = read("Call of Monday\n\nUser: hi\nAssistant: hello\n")[0]
    assert conversation.left_out == {"line before the first speaker": 1}
    assert said(conversation) == [("user", "hi"), ("assistant", "hello")]


@pytest.mark.parametrize(
    "text",
    [
        "**User:** I live in Turin.\n\n**Assistant:** Noted.",
        "**User**: I live in Turin.\n\n**Assistant**: Noted.",
        "#### You said:\nI live in Turin.\n\n#### ChatGPT said:\nNoted.",
        "### **User** (2024-05-01 10:00)\r\nI live in Turin.\r\n### **Assistant**\r\nNoted.\r\n",
    ],
)
def test_markdown_turns_of_every_style(text: str) -> None:
    conversation = read(text)[0]
    assert (conversation.format, said(conversation)) == ("markdown", SAID)


def test_headings_within_an_answer_and_code_stay_text() -> None:
    text = "# Moving\n## User\nhi\n## Assistant\n## Steps\n```\n## User\n```\ndone\n"
    conversation = read(text)[0]
    assert conversation.title == "Moving"
    assert said(conversation) == [("user", "hi"), ("assistant", "## Steps\n```\n## User\n```\ndone")]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_table_may_use_any_common_delimiter(delimiter: str) -> None:
    rows = [["Speaker", "Text"], ["Ana", '"a\r\nb, c; ""d"""'], ["AI", "ok"], ["", ""], []]
    conversation = read("\r\n".join(delimiter.join(row) for row in rows))[0]
    assert [(turn.role, turn.name, turn.text) for turn in conversation.messages] == [
        ("user", "Ana", 'a\nb, c; "d"'),
        ("assistant", None, "ok"),
    ]
    assert conversation.left_out == {"empty message": 1}


def test_a_table_holds_a_conversation_for_each_id() -> None:
    table = "thread_id,role,content\na,user,1\na,ai,2\nb,user,3\na,user,4\n"
    found = read(table)
    assert [(one.id, len(one.messages)) for one in found] == [("a", 2), ("b", 1), ("a-2", 1)]
    assert found[2].notes == ("An earlier conversation of this file has the id 'a' too.",)


def test_a_cell_of_a_megabyte_is_kept_whole() -> None:
    assert len(read(f'role,text\nuser,"{"x" * 1_000_000}"\n')[0].messages[0].text) == 1_000_000


def test_a_table_with_carriage_returns_alone_is_read() -> None:
    assert said(read("role,text\ruser,a\rai,b\r")[0]) == [("user", "a"), ("assistant", "b")]


@pytest.mark.parametrize("format", ["csv", "markdown", "text"])
def test_prose_is_no_transcript_even_when_asked_for(format: str) -> None:
    assert f"({format}); nor any other known format" in failure("Once upon a time,\nthere was a king.", format=format)


# Many in one file, and what is broken


def test_json_lines_may_mix_formats() -> None:
    lines = "\n".join(json.dumps(value) for value in (CHATGPT, CLAUDE, SHAREGPT, {"messages": TURNS}))
    assert [one.format for one in read(lines)] == ["chatgpt", "claude", "sharegpt", "openai"]
    assert {tuple(said(one)) for one in read(lines)} == {tuple(SAID)}


def test_bare_messages_on_lines_make_one_conversation() -> None:
    assert said(read("\n".join(json.dumps(turn) for turn in TURNS))[0]) == SAID


def test_lists_of_messages_on_lines_are_a_conversation_each() -> None:
    line = json.dumps(TURNS)
    assert [said(one) for one in read(f"{line}\n{line}\n")] == [SAID, SAID]
    assert [said(one) for one in read(f"[{line},\n{line}]")] == [SAID, SAID]


def test_wrapped_conversations_are_unpacked() -> None:
    assert [one.format for one in read(json.dumps({"conversations": [CHATGPT, CLAUDE]}))] == ["chatgpt", "claude"]


def test_ids_and_titles_are_made_up_where_there_are_none() -> None:
    found = read(json.dumps([{"messages": TURNS}] * 2), name="talks.json")
    assert [(one.id, one.title) for one in found] == [("conversation-1", "talks"), ("conversation-2", "talks 2")]


def test_one_bad_line_does_not_lose_the_others() -> None:
    good = json.dumps({"messages": TURNS})
    outcomes = list(read_conversations(f"{good}\n{good[:30]}\n{{}}\n{good}\n"))
    assert [type(one) for one in outcomes] == [Conversation, Unreadable, Unreadable, Conversation]
    assert str(outcomes[1]).startswith("line 2: not JSON at line ")
    assert str(outcomes[2]).startswith("line 3: a JSON object")


def test_a_bad_first_line_does_not_lose_the_others() -> None:
    outcomes = list(read_conversations('{"broken"\n' + json.dumps({"messages": TURNS})))
    assert [type(one) for one in outcomes] == [Unreadable, Conversation]


def test_one_bad_item_of_a_list_does_not_lose_the_others() -> None:
    outcomes = list(read_conversations(json.dumps([{"messages": TURNS}, {"messages": [7]}, 5, CLAUDE])))
    assert [type(one) for one in outcomes] == [Conversation, Unreadable, Unreadable, Conversation]
    assert "none of its messages can be read: Message 1 is int 7" in str(outcomes[1])


def test_a_bad_message_is_counted_and_the_conversation_kept() -> None:
    conversation = read(json.dumps([*TURNS, {"role": "narrator", "content": "x"}, 7]))[0]
    assert said(conversation) == SAID
    assert conversation.left_out == {"unreadable message": 2}


def test_a_list_that_is_cut_off_keeps_what_came_before() -> None:
    outcomes = list(read_conversations(json.dumps([{"messages": TURNS}, {"messages": TURNS}])[:-20]))
    assert said(outcomes[0]) == SAID
    assert "it may have been cut off" in str(outcomes[1])


def test_json_that_is_cut_off_names_line_and_column() -> None:
    assert "not JSON at line 2, column 12: Unterminated string" in failure('{"messages":\n [{"role": "us')


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b" \n\t", "[]"])
def test_an_empty_file_says_so(data: bytes | str) -> None:
    assert failure(data, name="talk.txt") == "talk.txt is empty: there is no conversation in it."


def test_an_empty_conversation_is_a_conversation() -> None:
    assert read('{"messages": []}')[0].messages == ()


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"PK\x03\x04rest", "a ZIP archive"),
        (b"\x1f\x8b\x08", "a gzip archive"),
        (b"%PDF-1.7", "a PDF document"),
        (b"\x89PNG\r\n", "a PNG image"),
        (b"SQLite format 3\x00", "an SQLite database"),
        (bytes(range(256)), "binary data"),
    ],
)
def test_what_is_not_text_is_refused_by_name(data: bytes, what: str) -> None:
    assert failure(data, name="upload").startswith(f"upload is {what}")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_every_unicode_encoding_is_read(encoding: str) -> None:
    text = "User: Живу в Турине.\nAssistant: 了解です。\n"
    assert said(read(text.encode(encoding))[0]) == [("user", "Живу в Турине."), ("assistant", "了解です。")]


@pytest.mark.parametrize("before", [0, 10, (1 << 18) - 7, 1 << 18, 600_000])
def test_a_byte_that_is_not_utf8_is_named_by_position(before: int) -> None:
    data = b"User: " + b"x" * before + "é".encode() + b"\xff\n"
    assert f"byte {6 + before + 2:,} (0xff)" in failure(data)


def test_a_file_cut_within_a_character_is_named_by_position() -> None:
    assert "byte 6 (0xc3)" in failure(b"User: \xc3")


@pytest.mark.parametrize("data", ["[" * 100_000, '{"a":' * 100_000, '[{"role":"user","content":' + "1" * 5000 + "}]"])
def test_json_that_is_too_deep_or_too_long_is_refused(data: str) -> None:
    assert "too deep or has too long a number" in failure(data)


def test_hostile_text_is_only_text() -> None:
    text = "<script>alert(1)</script>\u202e **bold** =1+1\x00"
    turns = [{"role": "user", "content": text, "name": "../../etc\npasswd"}]
    conversation = read(json.dumps({"id": "<b>\n", "title": "a\ud800\nb", "messages": turns}))[0]
    assert (conversation.id, conversation.title) == ("<b>", "a\ufffd b")
    assert conversation.messages[0].text == text.replace("\x00", "\ufffd")
    assert conversation.messages[0].name == "../../etc passwd"


@pytest.mark.parametrize("data", [None, 3, io.StringIO("User: hi")])
def test_what_is_no_upload_is_refused(data: object) -> None:
    with pytest.raises(InputError):
        list(read_conversations(data))  # type: ignore[arg-type]


# Streaming


class Endless(io.RawIOBase):
    """A list of conversations that has no end, counting what was read of it."""

    def __init__(self) -> None:
        self.given = 0

    def read(self, size: int = -1) -> bytes:
        self.given += size
        item = json.dumps({"messages": TURNS}).encode() + b","
        return (b"[" if self.given == size else b"") + item * (size // len(item))


def test_a_list_is_read_no_further_than_it_is_asked_for() -> None:
    source = Endless()
    stream = read_conversations(source)  # type: ignore[arg-type]
    assert said(next(stream)) == SAID
    assert source.given <= 1 << 20


@given(
    st.lists(st.integers(1, 9), max_size=30), st.sampled_from([data for _, data in FILES[:11]] + ['[{"a": 1.25e3}, '])
)
def test_items_do_not_depend_on_where_the_text_is_cut(sizes: list[int], data: str) -> None:
    def chunks() -> Iterator[str]:
        start = 0
        for size in sizes:
            yield data[start : start + size]
            start += size
        yield data[start:]

    assert list(json_items(chunks())) == list(json_items(iter([data])))


def test_numbers_are_not_cut_where_a_piece_ends() -> None:
    assert [item.value for item in json_items(iter("[12.5e3, 7, -1]")) if not isinstance(item, JsonFault)] == [
        12500,
        7,
        -1,
    ]


@given(
    st.text()
    | st.binary()
    | st.sampled_from([data for _, data in FILES]).flatmap(lambda d: st.integers(0, len(d)).map(lambda n: d[:n]))
)
def test_any_upload_is_read_or_refused_by_name(data: str | bytes) -> None:
    for options in ({}, {"format": "text"}, {"format": "markdown"}, {"format": "csv"}, {"name": "x.json"}):
        try:
            ids = [one.id for one in read_conversations(data, **options) if isinstance(one, Conversation)]
        except MnemoscopeError:
            continue
        assert len(set(ids)) == len(ids)
