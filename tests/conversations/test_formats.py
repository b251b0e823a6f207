"""One made-up file of every format that people export: whose words, in which order, and when."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from mnemoscope.conversations import FORMATS, Conversation, Unreadable, read_conversations, recognise

HOME, NICE, TEA = "I live in Hanoi", "Nice city.", "And I love tea"
AT, LATER, LAST = "2026-05-01T10:00:00Z", "2026-05-01T10:00:30Z", "2026-05-01T10:01:00Z"
SECONDS = 1777629600
ROOT = "00000000-0000-0000-0000-000000000000"


def lines(*values: Any) -> str:
    return "\n".join(json.dumps(value) for value in values)


def node(id: str, parent: str | None, role: str, text: str, *, hidden: bool = False, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    extra = {"is_visually_hidden_from_conversation": True} if hidden else {}
    message = {
        "id": id,
        "author": {"role": role},
        "create_time": SECONDS,
        "content": content,
        "metadata": extra,
        **more,
    }
    return {"id": id, "parent": parent, "message": message, "children": []}


CHATGPT = [
    {
        "title": "Home",
        "current_node": "d",
        "mapping": {
            "root": {"id": "root", "parent": None, "message": None, "children": ["s"]},
            "s": node("s", "root", "system", "You are helpful.", hidden=True),
            "a": node("a", "s", "user", HOME),
            "old": node("old", "a", "assistant", "An answer that was made again."),
            "bio": node("bio", "a", "assistant", "Lives in Hanoi", recipient="bio"),
            "told": node("told", "bio", "tool", "Model set context updated."),
            "b": node("b", "told", "assistant", NICE),
            "d": node("d", "b", "user", TEA),
        },
    }
]
CLAUDE = [
    {
        "uuid": "c",
        "name": "Home",
        "current_leaf_message_uuid": "c3",
        "chat_messages": [
            {"uuid": "c1", "parent_message_uuid": ROOT, "sender": "human", "text": HOME, "created_at": AT},
            {"uuid": "x", "parent_message_uuid": "c1", "sender": "assistant", "text": "Old.", "created_at": AT},
            {"uuid": "c2", "parent_message_uuid": "c1", "sender": "assistant", "text": NICE, "created_at": LATER},
            {"uuid": "y", "parent_message_uuid": "c2", "sender": "human", "text": "Edited away", "created_at": LATER},
            {"uuid": "c3", "parent_message_uuid": "c2", "sender": "human", "text": TEA, "created_at": LAST},
        ],
    }
]
ACTIVITY = [
    {
        "header": "Gemini Apps", "title": f"Prompted {HOME}", "time": "2026-05-01T10:00:00.000Z",
        "products": ["Gemini Apps"], "safeHtmlItem": [{"html": f"<p>{NICE}</p>"}],
    }
]  # fmt: skip
ACTIVITY_HTML = (
    '<html><body><div class="outer-cell mdl-cell mdl-cell--12-col mdl-shadow--2dp"><div class="mdl-grid">'
    '<div class="header-cell mdl-cell mdl-cell--12-col"><p class="mdl-typography--title">Gemini Apps<br></p></div>'
    '<div class="content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1">'
    f"Prompted\u00a0{HOME}<br>May 1, 2026, 10:00:00\u202fAM UTC<br><p>{NICE}</p></div>"
    '<div class="content-cell mdl-cell mdl-cell--12-col mdl-typography--caption"><b>Products:</b><br>'
    "&emsp;Gemini Apps<br></div></div></div></body></html>"
)
AI_STUDIO = {
    "runSettings": {"model": "models/gemini-2.5-pro"},
    "systemInstruction": {},
    "chunkedPrompt": {
        "chunks": [
            {"text": HOME, "role": "user", "tokenCount": 5},
            {"text": "The user says where they live.", "role": "model", "isThought": True},
            {"text": NICE, "role": "model", "finishReason": "STOP"},
        ],
        "pendingInputs": [{"text": "not sent", "role": "user"}],
    },
}


def grok_response(id: str, parent: str | None, sender: str, text: str, at: int) -> dict[str, Any]:
    when = {"$date": {"$numberLong": str(at * 1000)}}
    said = {"_id": id, "conversation_id": "c", "message": text, "sender": sender, "create_time": when}
    return {"response": {**said, "parent_response_id": parent}, "share_link": None}


GROK = {
    "conversations": [
        {
            "conversation": {"id": "c", "title": "Home", "create_time": AT},
            "responses": [
                grok_response("a", None, "human", HOME, SECONDS),
                grok_response("b", "a", "assistant", NICE, SECONDS + 30),
            ],
        }
    ]
}
DEEPSEEK = [
    {
        "id": "c", "title": "Home", "inserted_at": "2026-05-01T18:00:00.000000+08:00",
        "mapping": {
            "root": {"id": "root", "parent": None, "children": ["1"], "message": None},
            "1": {
                "id": "1", "parent": "root", "children": ["2"],
                "message": {
                    "files": [], "model": "deepseek-chat", "inserted_at": "2026-05-01T18:00:00.000000+08:00",
                    "fragments": [{"type": "REQUEST", "content": HOME}],
                },
            },
            "2": {
                "id": "2", "parent": "1", "children": [],
                "message": {
                    "files": [], "model": "deepseek-reasoner", "inserted_at": "2026-05-01T18:00:30.000000+08:00",
                    "fragments": [{"type": "THINK", "content": "Hm."}, {"type": "RESPONSE", "content": NICE}],
                },
            },
        },
    }
]  # fmt: skip
OPEN_WEBUI_MESSAGES = {
    "a": {
        "id": "a", "parentId": None, "childrenIds": ["x", "b"], "role": "user", "content": HOME, "timestamp": SECONDS,
    },
    "x": {
        "id": "x", "parentId": "a", "childrenIds": [], "role": "assistant", "content": "Old.", "timestamp": SECONDS,
    },
    "b": {
        "id": "b", "parentId": "a", "childrenIds": [], "role": "assistant", "content": NICE, "timestamp": SECONDS + 30,
    },
}  # fmt: skip
OPEN_WEBUI = [
    {
        "id": "c", "user_id": "u", "title": "Home", "created_at": SECONDS, "updated_at": SECONDS,
        "chat": {
            "title": "Home", "models": ["llama3"], "history": {"messages": OPEN_WEBUI_MESSAGES, "currentId": "b"},
            "messages": [OPEN_WEBUI_MESSAGES["a"], OPEN_WEBUI_MESSAGES["b"]],
        },
    }
]  # fmt: skip
LIBRECHAT = {
    "conversationId": "c", "endpoint": "openAI", "title": "Home", "exportAt": "12:00:00 GMT+0000",
    "branches": True, "recursive": False, "options": {"model": "gpt-4o"},
    "messages": [
        {
            "messageId": "a", "parentMessageId": ROOT, "conversationId": "c", "sender": "User",
            "isCreatedByUser": True, "text": HOME, "createdAt": AT,
        },
        {
            "messageId": "b", "parentMessageId": "a", "conversationId": "c", "sender": "GPT-4o",
            "isCreatedByUser": False, "text": NICE, "createdAt": LATER,
        },
    ],
}  # fmt: skip


def code_line(uuid: str, parent: str | None, type: str, content: Any, at: str, **more: Any) -> dict[str, Any]:
    message = {"role": type, "content": content}
    around = {"isSidechain": False, "userType": "external", "cwd": "/home/ana", "sessionId": "s", "version": "2.0.0"}
    return {"parentUuid": parent, **around, "type": type, "message": message, "uuid": uuid, "timestamp": at, **more}


CLAUDE_CODE = lines(
    {"type": "summary", "summary": "Home", "leafUuid": "b"},
    code_line("a", None, "user", HOME, AT),
    code_line("t", "a", "assistant", [{"type": "tool_use", "id": "1", "name": "Read", "input": {}}], AT),
    code_line("r", "t", "user", [{"type": "tool_result", "tool_use_id": "1", "content": "a file"}], AT),
    code_line("z", None, "user", "a subagent's task", AT, isSidechain=True),
    code_line("b", "r", "assistant", [{"type": "text", "text": NICE}], LATER),
)
CODEX = lines(
    {"timestamp": AT, "type": "session_meta", "payload": {"id": "s", "cwd": "/home/ana", "originator": "codex_cli_rs"}},
    {
        "timestamp": AT, "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": HOME}]},
    },
    {"timestamp": AT, "type": "response_item", "payload": {"type": "function_call", "name": "sh", "arguments": "{}"}},
    {
        "timestamp": LATER, "type": "response_item",
        "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": NICE}]},
    },
)  # fmt: skip
GEMINI_CLI = {
    "sessionId": "s", "projectHash": "h", "startTime": AT, "lastUpdated": LATER,
    "messages": [
        {"id": "1", "timestamp": AT, "type": "user", "content": HOME},
        {"id": "2", "timestamp": LATER, "type": "gemini", "content": NICE, "thoughts": [], "tokens": {}},
    ],
}  # fmt: skip
COPILOT = {
    "requesterUsername": "ana", "responderUsername": "GitHub Copilot", "initialLocation": "panel",
    "requests": [
        {
            "requestId": "r", "message": {"text": HOME, "parts": []}, "response": [{"value": NICE}],
            "timestamp": SECONDS * 1000,
        }
    ],
}  # fmt: skip
NOTICE = "Messages and calls are end-to-end encrypted. No one outside of this chat can read them."
ANDROID = f"""5/1/26, 10:00 AM - {NOTICE}
5/1/26, 10:00 AM - Ana: {HOME}
5/1/26, 10:00 AM - +49 151 2345678: {NICE}
5/13/26, 10:01 AM - Ana: <Media omitted>
5/13/26, 10:01 AM - Ana: {TEA}
and black coffee"""
IOS = f"""[01.05.26, 10:00:00] Team: \u200e{NOTICE}
[01.05.26, 10:00:00] Ana: {HOME}
\u200e[13.05.26, 10:00:30] Bob: \u200eimage omitted
[13.05.26, 10:00:30] Bob: {NICE}"""
IOS_ISO = f"""[2026-05-13, 10:00:00] Ana: {HOME}
[2026-05-13, 10:00:30] Bob: {NICE}"""


def telegram(id: int, name: str, text: Any, at: int, **more: Any) -> dict[str, Any]:
    when = {"date": "2026-05-01T12:00:00", "date_unixtime": str(at)}
    return {"id": id, "type": "message", **when, "from": name, "from_id": f"user{name}", "text": text, **more}


TELEGRAM = {
    "name": "Home", "type": "private_group", "id": 1,
    "messages": [
        {"id": 0, "type": "service", "date": "2026-05-01T12:00:00", "actor": "Ana", "action": "create", "text": ""},
        telegram(1, "Ana", HOME, SECONDS),
        telegram(2, "Bob", ["Nice ", {"type": "bold", "text": "city."}], SECONDS + 30),
        telegram(3, "Bob", "A forwarded text", SECONDS + 40, forwarded_from="Carl"),
    ],
}  # fmt: skip


def slack(user: str, text: str, at: int, **more: Any) -> dict[str, Any]:
    profile = {"display_name": user, "real_name": f"{user} Lee", "name": user.lower()}
    return {"type": "message", "user": f"U{user}", "text": text, "ts": f"{at}.000100", "user_profile": profile, **more}


SLACK = [
    {"type": "message", "subtype": "channel_join", "user": "UAna", "text": "<@UAna> has joined", "ts": f"{SECONDS}.0"},
    slack("Ana", HOME, SECONDS),
    slack("Bob", NICE, SECONDS + 30),
]


def discord(id: str, name: str, text: str, at: str, *, is_bot: bool = False, type: str = "Default") -> dict[str, Any]:
    author = {"id": name, "name": name.lower(), "nickname": name, "isBot": is_bot}
    return {"id": id, "type": type, "timestamp": at, "content": text, "author": author, "attachments": []}


DISCORD = {
    "guild": {"id": "1", "name": "Home"},
    "channel": {"id": "2", "type": "GuildTextChat", "name": "general"},
    "messages": [
        discord("0", "Ana", "Joined the server.", "2026-05-01T09:00:00.000+00:00", type="GuildMemberJoin"),
        discord("1", "Ana", HOME, "2026-05-01T12:00:00.000+02:00"),
        discord("2", "Helper", NICE, "2026-05-01T12:00:30.000+02:00", is_bot=True),
    ],
}
MESSENGER = {
    "participants": [{"name": "Ana"}, {"name": "Bob"}],
    "messages": [
        {"sender_name": "Bob", "timestamp_ms": (SECONDS + 30) * 1000, "content": NICE},
        {"sender_name": "Ana", "timestamp_ms": SECONDS * 1000, "content": HOME},
    ],
    "title": "Bob",
    "thread_path": "inbox/bob",
}
VTT = f"""WEBVTT

1
00:00:01.000 --> 00:00:03.000
<v Ana Lee>{HOME}</v>

2
00:00:03.000 --> 00:00:04.000
<v Bob>{NICE}</v>
"""
SRT = f"""1
00:00:01,000 --> 00:00:03,000
Ana: {HOME}

2
00:00:03,000 --> 00:00:04,000
Bob: {NICE}
"""
LC = [
    {"type": "human", "data": {"content": HOME, "id": "1", "type": "human"}},
    {"type": "ai", "data": {"content": NICE, "id": "2", "type": "ai"}},
]
LANGSMITH = {
    "id": "r", "trace_id": "r", "name": "agent", "run_type": "chain", "start_time": AT, "parent_run_id": None,
    "inputs": {"messages": [{"role": "user", "content": HOME, "id": "1"}]},
    "outputs": {
        "messages": [
            {"role": "user", "content": HOME, "id": "1"},
            {"role": "assistant", "content": NICE, "id": "2"},
        ]
    },
}  # fmt: skip


def state(messages: list[Any], id: str, parent: str | None, at: str) -> dict[str, Any]:
    place = {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": id}
    before = {**place, "checkpoint_id": parent} if parent else None
    around = {"next": [], "tasks": [], "metadata": {"step": 1}, "created_at": at}
    return {"values": {"messages": messages}, **around, "checkpoint": place, "parent_checkpoint": before}


HISTORY = [state(LC, "2", "1", LATER), state(LC[:1], "1", None, AT)]
CONTENTS = {
    "contents": [{"role": "user", "parts": [{"text": HOME}]}, {"role": "model", "parts": [{"text": NICE}]}],
}
RESPONSE = {
    "id": "resp_1", "object": "response", "created_at": SECONDS, "model": "gpt-5", "input": HOME,
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": NICE, "annotations": []}],
        },
    ],
}  # fmt: skip
SHAREGPT = {"id": "1", "conversations": [{"from": "human", "value": HOME}, {"from": "gpt", "value": NICE}]}
LOCOMO = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ana", "speaker_b": "Bob", "session_1_date_time": "10:00 am on 1 May, 2026",
        "session_1": [
            {"speaker": "Ana", "dia_id": "D1:1", "text": HOME}, {"speaker": "Bob", "dia_id": "D1:2", "text": NICE},
        ],
    },
}  # fmt: skip
BLOCKS = [{"role": "user", "content": [{"type": "text", "text": HOME}]}, {"role": "assistant", "content": NICE}]
ANTHROPIC = {"system": "You are kind.", "messages": BLOCKS}
OPENAI = [{"role": "user", "content": HOME}, {"role": "assistant", "content": NICE}]
TABLE = f"role,content,timestamp\nuser,{HOME},{AT}\nassistant,{NICE},{LATER}\n"
MARKDOWN = f"## User\n\n{HOME}\n\n## Assistant\n\n{NICE}\n"
PLAIN = f"Ana: {HOME}\nBob: {NICE}\n"

FILES: list[tuple[str, str]] = [
    ("chatgpt", json.dumps(CHATGPT)),
    ("claude", json.dumps(CLAUDE)),
    ("gemini-activity", json.dumps(ACTIVITY)),
    ("gemini-html", ACTIVITY_HTML),
    ("ai-studio", json.dumps(AI_STUDIO)),
    ("grok", json.dumps(GROK)),
    ("deepseek", json.dumps(DEEPSEEK)),
    ("open-webui", json.dumps(OPEN_WEBUI)),
    ("librechat", json.dumps(LIBRECHAT)),
    ("claude-code", CLAUDE_CODE),
    ("codex", CODEX),
    ("gemini-cli", json.dumps(GEMINI_CLI)),
    ("copilot-chat", json.dumps(COPILOT)),
    ("whatsapp", ANDROID),
    ("whatsapp", IOS),
    ("whatsapp", IOS_ISO),
    ("telegram", json.dumps(TELEGRAM)),
    ("slack", json.dumps(SLACK)),
    ("discord", json.dumps(DISCORD)),
    ("messenger", json.dumps(MESSENGER)),
    ("vtt", VTT),
    ("srt", SRT),
    ("langsmith", json.dumps([LANGSMITH])),
    ("langgraph", json.dumps(HISTORY)),
    ("google", json.dumps(CONTENTS)),
    ("openai-responses", json.dumps(RESPONSE)),
    ("sharegpt", json.dumps(SHAREGPT)),
    ("locomo", json.dumps([LOCOMO])),
    ("langchain", json.dumps(LC)),
    ("anthropic", json.dumps(ANTHROPIC)),
    ("openai", json.dumps(OPENAI)),
    ("csv", TABLE),
    ("markdown", MARKDOWN),
    ("text", PLAIN),
]


def read(data: str | bytes) -> Conversation:
    (conversation,) = read_conversations(data)
    assert isinstance(conversation, Conversation), conversation
    return conversation


def spoken(conversation: Conversation) -> list[tuple[str, str]]:
    turns = [each for each in conversation.messages if each.role in ("user", "assistant")]
    return [(each.name or each.role, each.text) for each in turns]


def test_every_format_has_a_file_here() -> None:
    assert {name for name, _ in FILES} == {row.name for row in FORMATS}


@pytest.mark.parametrize(("name", "data"), FILES, ids=[f"{at}-{name}" for at, (name, _) in enumerate(FILES)])
def test_every_format_is_recognised_and_read_in_order(name: str, data: str) -> None:
    found = recognise(data)
    assert found is not None
    assert found.name == name
    conversation = read(data)
    assert conversation.format == name
    texts = [text for _, text in spoken(conversation)]
    assert texts[:2] == [HOME, NICE]
    assert not [text for text in texts if "Edited" in text or "Old" in text or "forwarded" in text]


@pytest.mark.parametrize(("name", "data"), FILES, ids=[f"{at}-{name}" for at, (name, _) in enumerate(FILES)])
def test_a_byte_order_mark_changes_nothing(name: str, data: str) -> None:
    assert spoken(read(("\ufeff" + data).encode())) == spoken(read(data))
    assert read(data).format == name


SPEAKERS: dict[str, list[str]] = {
    "whatsapp": ["Ana", "+49 151 2345678", "Ana"],
    "telegram": ["Ana", "Bob"],
    "slack": ["Ana", "Bob"],
    "discord": ["Ana", "Helper"],
    "messenger": ["Ana", "Bob"],
    "vtt": ["Ana Lee", "Bob"],
    "srt": ["Ana", "Bob"],
    "locomo": ["Ana", "Bob"],
    "text": ["Ana", "Bob"],
}


@pytest.mark.parametrize("name", SPEAKERS)
def test_everyone_is_told_by_name(name: str) -> None:
    data = next(data for each, data in FILES if each == name)
    assert [who for who, _ in spoken(read(data))] == SPEAKERS[name]


@pytest.mark.parametrize("name", [name for name, _ in FILES if name not in SPEAKERS])
def test_a_person_and_an_assistant_are_told_apart(name: str) -> None:
    data = next(data for each, data in FILES if each == name)
    assert [each.role for each in read(data).messages if each.role in ("user", "assistant")][:2] == [
        "user",
        "assistant",
    ]


TIMED = (
    "chatgpt", "claude", "gemini-activity", "gemini-html", "grok", "deepseek", "open-webui", "librechat", "claude-code",
    "codex", "gemini-cli", "copilot-chat", "telegram", "slack", "discord", "messenger", "langsmith", "langgraph",
    "openai-responses", "locomo", "csv",
)  # fmt: skip


@pytest.mark.parametrize("name", TIMED)
def test_times_are_those_of_the_file(name: str) -> None:
    data = next(data for each, data in FILES if each == name)
    first = next(each for each in read(data).messages if each.role == "user")
    assert first.said_at is not None
    assert f"{first.said_at:%Y-%m-%dT%H:%M:%SZ}" == AT


@pytest.mark.parametrize("data", [ANDROID, IOS, IOS_ISO], ids=["Android", "iOS", "iOS, ISO"])
def test_whatsapp_notices_and_media_are_no_speech(data: str) -> None:
    conversation = read(data)
    texts = " ".join(text for _, text in spoken(conversation))
    assert "encrypted" not in texts
    assert "omitted" not in texts
    assert "\u200e" not in texts


def test_a_line_that_goes_on_belongs_to_the_turn_before() -> None:
    assert spoken(read(ANDROID))[-1] == ("Ana", f"{TEA}\nand black coffee")


def test_what_chatgpt_told_its_memory_is_no_answer() -> None:
    assert [text for _, text in spoken(read(json.dumps(CHATGPT)))] == [HOME, NICE, TEA]


def test_a_history_of_a_thread_is_one_conversation() -> None:
    assert len(list(read_conversations(json.dumps(HISTORY)))) == 1


def test_a_langsmith_run_does_not_repeat_its_input() -> None:
    assert [text for _, text in spoken(read(json.dumps([LANGSMITH])))] == [HOME, NICE]


def test_an_export_is_read_out_of_its_zip() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("conversations.json", json.dumps(CHATGPT))
        archive.writestr("chat.html", "<html></html>")
    (conversation,) = [each for each in read_conversations(buffer.getvalue()) if isinstance(each, Conversation)]
    assert [text for _, text in spoken(conversation)] == [HOME, NICE, TEA]


def test_a_slack_day_without_users_is_refused_by_name() -> None:
    day = [{"type": "message", "user": "U1", "text": HOME, "ts": f"{SECONDS}.000100", "client_msg_id": "x"}]
    try:
        outcomes = list(read_conversations(json.dumps(day)))
    except Exception as error:  # noqa: BLE001 - whatever says it, it must name Slack
        told = str(error)
    else:
        told = " ".join(each.reason for each in outcomes if isinstance(each, Unreadable))
    assert "Slack" in told


def test_the_table_in_the_docs_is_that_of_the_program() -> None:
    docs = (Path(__file__).resolve().parents[2] / "docs" / "replay.md").read_text(encoding="utf-8")
    rows = [
        f"| {row.label} (`{row.name}`) | {row.description} | {row.speakers} | {row.order} | {row.times} |"
        for row in FORMATS
    ]
    assert [line for line in docs.splitlines() if "(`" in line and line.count(" | ") == 4] == rows
