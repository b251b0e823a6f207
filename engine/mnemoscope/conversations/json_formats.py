"""The formats whose conversations are JSON: chat logs of model interfaces, tracing and training data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from .chat_exports import read_chatgpt, read_claude, recognises_chatgpt, recognises_claude
from .formats import Conversation, JsonFormat, build_conversation

__all__ = ["JSON_FORMATS", "is_message"]


_LANGCHAIN_TYPES = frozenset(
    {"human", "ai", "system", "tool", "function", "chat", "remove"}
    | {"HumanMessageChunk", "AIMessageChunk", "SystemMessageChunk", "ToolMessageChunk"}
)
_ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"})
_PAIR_ROLES = frozenset({"user", "human", "assistant", "ai", "system", "developer", "tool"})
_SHAREGPT_ROLES = {
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bot": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "observation": "tool",
    "function_response": "tool",
    "tool_response": "tool",
}
_SESSION = re.compile(r"session_([0-9]{1,6})")
_LOCOMO_TIME = "%I:%M %p on %d %B, %Y"


def is_message(value: object) -> bool:
    """Whether a JSON value is one message, so that a list of such values is one conversation."""
    if isinstance(value, list):
        return len(value) == 2 and all(isinstance(part, str) for part in value) and value[0] in _PAIR_ROLES
    if not isinstance(value, Mapping) or "messages" in value or "mapping" in value:
        return False
    return (
        ("role" in value and not value.keys().isdisjoint({"content", "parts", "text", "tool_calls", "function_call"}))
        or _is_langchain(value)
        or ("from" in value and isinstance(value.get("value"), str))
    )


def _is_langchain(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    if "lc" in value and isinstance(value.get("kwargs"), Mapping):
        return "content" in value["kwargs"]
    kind = value.get("type")
    return isinstance(kind, str) and kind in _LANGCHAIN_TYPES and ("data" in value or "content" in value)


def _messages_of(value: object) -> Sequence[object] | None:
    """The messages of a list of them, of an object with "messages", or of a graph's state."""
    if isinstance(value, Mapping):
        values = value.get("values")
        inner = value.get("messages", values.get("messages") if isinstance(values, Mapping) else None)
        if not isinstance(inner, list):
            return None
        return inner
    if isinstance(value, list) and value and is_message(value[0]):
        return value
    return None


def _recognises_langchain(value: object) -> bool:
    messages = _messages_of(value)
    return bool(messages) and any(_is_langchain(message) for message in messages or ())


def _recognises_anthropic(value: object) -> bool:
    messages = _messages_of(value)
    if messages is None or (isinstance(value, Mapping) and "system" in value):
        return messages is not None
    contents = [message.get("content") for message in messages if isinstance(message, Mapping)]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return any(isinstance(block, Mapping) and str(block.get("type")) in _ANTHROPIC_BLOCKS for block in blocks)


def _recognises_openai(value: object) -> bool:
    messages = _messages_of(value)
    return messages is not None and all("from" not in turn for turn in messages[:1] if isinstance(turn, Mapping))


def _read_messages(value: object) -> Iterator[Conversation]:
    fields = value if isinstance(value, Mapping) else {}
    system = fields.get("system")
    prompt = [{"role": "system", "content": system}] if system else []
    yield build_conversation(
        [*prompt, *(_messages_of(value) or ())],
        id=_first(fields, "id", "conversation_id", "thread_id", "uuid"),
        title=_first(fields, "title", "name"),
    )


def _sharegpt_turns(value: object) -> Sequence[object] | None:
    if isinstance(value, Mapping):
        value = next((value[key] for key in ("conversations", "conversation") if key in value), None)
    if isinstance(value, list) and value and is_message(value[0]) and not _is_langchain(value[0]):
        return value
    return None


def _recognises_sharegpt(value: object) -> bool:
    if isinstance(value, Mapping):
        return _sharegpt_turns(value) is not None
    turns = _sharegpt_turns(value)
    return turns is not None and isinstance(turns[0], Mapping) and "from" in turns[0]


def _read_sharegpt(value: object) -> Iterator[Conversation]:
    fields = value if isinstance(value, Mapping) else {}
    turns = [_sharegpt_turn(turn) for turn in _sharegpt_turns(value) or ()]
    system = fields.get("system")
    prompt = [{"role": "system", "content": system}] if system else []
    yield build_conversation(
        [*prompt, *turns], id=_first(fields, "id", "conversation_id"), title=_first(fields, "title", "name")
    )


def _sharegpt_turn(turn: object) -> object:
    if not isinstance(turn, Mapping) or "from" not in turn:
        return turn
    speaker, text = turn["from"], turn.get("value")
    if speaker == "function_call":
        return {"type": "tool_call"}
    role = _SHAREGPT_ROLES.get(speaker, speaker) if isinstance(speaker, str) else speaker
    return {**turn, "role": role, "content": text}


def _recognises_langsmith(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("inputs"), Mapping)
        and ("run_type" in value or "outputs" in value)
    )


def _read_langsmith(value: object) -> Iterator[Conversation]:
    run = value if isinstance(value, Mapping) else {}
    before, after = _run_messages(run.get("inputs"), "user"), _run_messages(run.get("outputs"), "assistant")
    # A graph's output repeats its input; a model's does not.
    turns = after if before and after[: len(before)] == before else [*before, *after]
    parent = run.get("parent_run_id")
    notes = [f"A step within the run {parent}."] if parent else []
    if not turns:
        notes.append(f"A run of the type {run.get('run_type')!r} without messages.")
    stamped = [{"timestamp": run.get("start_time"), **turn} if isinstance(turn, Mapping) else turn for turn in turns]
    yield build_conversation(stamped, id=run.get("id"), title=run.get("name"), notes=notes)


def _run_messages(side: object, role: str) -> list[object]:
    """The messages of a run's inputs or outputs, whichever of the common shapes they have."""
    if not isinstance(side, Mapping):
        return []
    for key in ("messages", "generations", "choices", "input", "output", "question", "answer", "message"):
        found = side.get(key)
        while isinstance(found, list) and found and isinstance(found[0], list) and not is_message(found[0]):
            found = found[0]
        if isinstance(found, str):
            return [{"role": role, "content": found}]
        if isinstance(found, Mapping):
            return [found] if is_message(found) else _run_messages(found, role)
        if isinstance(found, list):
            return [_generated(message) for message in found]
    return []


def _generated(value: object) -> object:
    message = value.get("message") if isinstance(value, Mapping) else None
    if message is None and isinstance(value, Mapping) and "role" not in value and isinstance(value.get("text"), str):
        return value if _is_langchain(value) else {"role": "assistant", "content": value["text"]}
    return value if message is None else message


def _sessions_of(value: object) -> Mapping[str, object] | None:
    """The part of a LoCoMo sample that holds its sessions."""
    if isinstance(value, Mapping) and isinstance(value.get("conversation"), Mapping):
        value = value["conversation"]
    if isinstance(value, Mapping) and isinstance(value.get("session_1"), list):
        return value
    return None


def _read_locomo(value: object) -> Iterator[Conversation]:
    sample = value.get("sample_id") if isinstance(value, Mapping) else None
    sessions = _sessions_of(value) or {}
    numbers = sorted(int(match[1]) for match in map(_SESSION.fullmatch, sessions) if match)
    speakers = " and ".join(str(sessions[key]) for key in ("speaker_a", "speaker_b") if key in sessions)
    for number in numbers:
        turns = sessions[f"session_{number}"]
        date = sessions.get(f"session_{number}_date_time")
        said_at = _locomo_time(date)
        yield build_conversation(
            [_locomo_turn(turn, said_at) for turn in turns] if isinstance(turns, list) else [],
            id=f"{sample or 'sample'}-session-{number}",
            title=f"{speakers or 'Two people'}, session {number}" + (f" ({said_at:%Y-%m-%d})" if said_at else ""),
            left_out={"image": _images(turns)},
            notes=[] if said_at else [f"The date of session {number} cannot be read: {str(date)[:80]!r}."],
        )


def _locomo_turn(turn: object, said_at: datetime | None) -> object:
    if not isinstance(turn, Mapping):
        return turn
    return {
        "role": "user",
        "content": turn.get("text"),
        "id": turn.get("dia_id"),
        "name": turn.get("speaker"),
        "said_at": said_at,
    }


def _images(turns: object) -> int:
    return sum(isinstance(turn, Mapping) and "img_url" in turn for turn in turns) if isinstance(turns, list) else 0


def _locomo_time(text: object) -> datetime | None:
    try:
        return datetime.strptime(str(text), _LOCOMO_TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


def _first(fields: Mapping[str, object], *keys: str) -> object:
    return next((fields[key] for key in keys if isinstance(fields.get(key), str) and fields[key]), None)


JSON_FORMATS: tuple[JsonFormat, ...] = (
    JsonFormat(
        "chatgpt",
        "ChatGPT export",
        "conversations.json of a ChatGPT data export; the branch that was last open is read.",
        recognises_chatgpt,
        read_chatgpt,
    ),
    JsonFormat(
        "claude",
        "Claude export",
        "conversations.json of a Claude data export, with chat_messages.",
        recognises_claude,
        read_claude,
    ),
    JsonFormat(
        "locomo",
        "LoCoMo",
        "Samples of the LoCoMo benchmark; every session is a conversation between two people.",
        lambda value: _sessions_of(value) is not None,
        _read_locomo,
    ),
    JsonFormat(
        "langsmith",
        "LangSmith runs",
        "Runs or examples exported from LangSmith, with inputs and outputs.",
        _recognises_langsmith,
        _read_langsmith,
    ),
    JsonFormat(
        "sharegpt",
        "ShareGPT",
        'Training data with "conversations" of "from" and "value".',
        _recognises_sharegpt,
        _read_sharegpt,
    ),
    JsonFormat(
        "langchain",
        "LangChain messages",
        "Lists from messages_to_dict, dumped messages, or a graph's state with messages.",
        _recognises_langchain,
        _read_messages,
        accepts=_recognises_openai,
    ),
    JsonFormat(
        "anthropic",
        "Anthropic messages",
        "Messages with roles and Anthropic's content blocks, or with a system prompt beside them.",
        _recognises_anthropic,
        _read_messages,
        accepts=_recognises_openai,
    ),
    JsonFormat(
        "openai",
        "OpenAI messages",
        'Lists of {"role", "content"}, bare or under "messages", as in fine-tuning files.',
        _recognises_openai,
        _read_messages,
    ),
)
"""The JSON formats; the first that recognises a value reads it, so the special ones come first."""
