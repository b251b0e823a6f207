"""`Message` and `Transcript`: a conversation, whatever shape it came in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, TypeAlias

from langchain_core.messages import BaseMessage

from ..core.frozen import KeepsTuples
from ..core.text import one_line, shown, storable
from ..core.times import read_time
from ..errors import InputError

__all__ = [
    "CALL_TYPES",
    "Message",
    "Role",
    "Transcript",
    "label_of_block",
    "messages_to_text",
    "moment_of",
    "own_id",
    "read_messages",
    "strip_marks",
    "text_of",
]


Role: TypeAlias = Literal["user", "assistant", "system", "tool"]

_ROLES: Mapping[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
_ALLOWED = (
    "text, a LangChain message, a mapping with 'role' and 'content' (roles: "
    + ", ".join(_ROLES)
    + "), a (role, text) pair, or a list of these"
)
_NOT_EXTRACTED: Mapping[Role, str] = {"system": "system prompt", "tool": "tool output"}
_TIME_FIELDS = (
    "said_at",
    "timestamp",
    "created_at",
    "createdAt",
    "create_time",
    "createTime",
    "created",
    "inserted_at",
    "sent_at",
    "date",
    "time",
)
_REMOVE_ALL = "__remove_all__"
_LONGEST_ID = 200
_MOST_NOTES = 5
_MILLISECONDS_FROM = 1e11
# LangChain's summarisation puts its summary into the conversation as if a person had said it.
_SUMMARY_MARK = "summarization"
# Marks of direction and width are invisible: two names that differ in them alone look the same.
_INVISIBLE = re.compile("[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")


@dataclass(frozen=True)
class Message:
    """One turn: who said what, when.

    `text` is its text blocks alone (images and tool calls are left out and counted by the reader), `name`
    the speaker where known, `id` unique within the conversation; `has_own_id` is False where the reader gave it.
    """

    id: str
    role: Role
    text: str
    name: str | None = None
    said_at: datetime | None = None
    has_own_id: bool = field(default=True, compare=False, repr=False)


@dataclass(frozen=True)
class Transcript(KeepsTuples):
    """The turns of one conversation, and a count of everything in it that no fact is taken from.

    `left_out` maps a kind ("image", "tool call", "system prompt", "unreadable character", "empty message", …)
    to how many there were. System prompts and tool output are counted there and yet kept as messages, so
    that they can be shown. `notes` says why the first unreadable messages could not be read.
    """

    messages: tuple[Message, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_messages(
    content: object, *, skip_unreadable: bool = False, times: Sequence[datetime | None] = ()
) -> Transcript:
    """Read the turns of a conversation in any form an agent has it in.

    `content` is text (one user message), one message, or a sequence of messages: LangChain messages,
    mappings of the OpenAI, Anthropic, Google or LangChain kind (also `messages_to_dict` and graph state with
    "messages"), (role, text) pairs, content blocks, or `Message`s. Blank content gives an empty transcript.
    With `skip_unreadable` a message that cannot be read is counted as "unreadable message", not refused.
    `times` says when each message was said, for those that do not say it themselves.

    Raises:
        InputError: the content, or a message of it, is of no such form; it names position and value.
    """
    if isinstance(content, Transcript):
        return content
    reader = _Reader(skip_unreadable=skip_unreadable)
    known = dict(enumerate(times, start=1))
    for position, value in enumerate(_sequence_of(content), start=1):
        reader.add(value, position, known.get(position))
    return reader.transcript()


def messages_to_text(messages: object) -> str:
    """The messages as lines "role: text", those without words left out.

    Raises:
        ConversationError: they are of no shape that is known.
    """
    said = [each for each in read_messages(messages).messages if each.text.strip()]
    return "\n".join(f"{message.role}: {message.text}" for message in said)


def own_id(message: object) -> str | None:
    """The id that a message has of its own, in whatever form it is; None where it has none."""
    if isinstance(message, Message):
        return message.id
    try:
        value = _fields_of(message, 1).get("id")
    except InputError:
        return None
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else None


def strip_marks(text: str) -> str:
    """The text without the invisible marks that chat programs put around names, dates and notices."""
    return _INVISIBLE.sub("", text)


def moment_of(value: object) -> datetime | None:
    """A time as exports write it: what `read_time` takes, milliseconds since 1970, or numbers as text."""
    if isinstance(value, str):
        text = value.strip()
        if not text.replace(".", "", 1).isdecimal() or len(text.partition(".")[0]) == 8:
            return read_time(text)
        value = float(text)
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) >= _MILLISECONDS_FROM:
        value = value / 1000
    return read_time(value)


@dataclass(frozen=True)
class _Turn:
    """A message whose fields are found and whose content is not read yet; a None role removes messages."""

    role: Role | None
    content: object
    id: str | None = None
    name: str | None = None
    said_at: datetime | None = None


class _Reader:
    """Collects the turns of one conversation and counts what is left out of it."""

    def __init__(self, *, skip_unreadable: bool) -> None:
        self._skip_unreadable = skip_unreadable
        self._left_out: Counter[str] = Counter()
        self._notes: list[str] = []
        self._kept: list[tuple[int, Message]] = []

    def add(self, value: object, position: int, time: datetime | None = None) -> None:
        try:
            turn = self._turn(value, position)
            if turn is None:
                return
            if turn.role is None:
                self._remove(turn.id)
                return
            dated = turn if turn.said_at else replace(turn, said_at=time)
            message = self._message(turn.role, dated, position)
        except InputError as error:
            if not self._skip_unreadable:
                raise
            self._left_out["unreadable message"] += 1
            if len(self._notes) < _MOST_NOTES:
                self._notes.append(str(error))
            return
        if message is not None:
            self._kept.append((position, message))

    def transcript(self) -> Transcript:
        return Transcript(tuple(_identified(self._kept)), dict(self._left_out), tuple(self._notes))

    def _turn(self, value: object, position: int) -> _Turn | None:
        if isinstance(value, Message):
            own = value.id if value.has_own_id else None
            return _Turn(value.role, value.text, own, value.name, value.said_at)
        fields = _fields_of(value, position)
        label = label_of_block(fields.get("type"))
        if "role" not in fields and label is not None:
            self._left_out[label] += 1
            return None
        if _is_summary(fields):
            self._left_out["summary of earlier turns"] += 1
            return None
        role = _role_of(fields, position)
        return _Turn(
            role=role,
            content=_content_of(fields, position) if role else "",
            id=self._clean_id(fields.get("id")),
            name=self._clean_name(fields.get("name")),
            said_at=self._said_at(fields),
        )

    def _message(self, role: Role, turn: _Turn, position: int) -> Message | None:
        found: Counter[str] = Counter()
        try:
            raw = text_of(turn.content, found, joined_by="" if role == "assistant" else "\n")
        except TypeError as error:
            raise InputError(f"Message {position}: {error}") from error
        text, unstorable = storable(raw)
        found["unreadable character"] += unstorable
        if text.strip() and role in _NOT_EXTRACTED:
            found[_NOT_EXTRACTED[role]] += 1
        if not text.strip() and not found.total():
            found["empty message"] += 1
        self._left_out.update(+found)
        if not text.strip():
            return None
        return Message(id=turn.id or "", role=role, text=text, name=turn.name, said_at=turn.said_at)

    def _remove(self, removed: str | None) -> None:
        left = [] if removed == _REMOVE_ALL else [pair for pair in self._kept if pair[1].id != removed]
        if len(left) < len(self._kept):
            self._left_out["removed message"] += len(self._kept) - len(left)
        self._kept = left

    def _clean_id(self, value: object) -> str | None:
        if isinstance(value, bool) or not isinstance(value, str | int):
            return None
        text = one_line(storable(str(value))[0])
        return text if 0 < len(text) <= _LONGEST_ID else None

    def _clean_name(self, value: object) -> str | None:
        if not isinstance(value, str):
            return None
        text, unstorable = storable(value)
        if unstorable:
            self._left_out["unreadable character"] += unstorable
        return one_line(strip_marks(text)) or None

    def _said_at(self, fields: Mapping[str, object]) -> datetime | None:
        places = (fields, fields.get("additional_kwargs"), fields.get("response_metadata"), fields.get("metadata"))
        given = [place[key] for place in places if isinstance(place, Mapping) for key in _TIME_FIELDS if place.get(key)]
        moments = [moment for moment in map(moment_of, given) if moment is not None]
        if given and not moments:
            self._left_out["unreadable time"] += 1
        return moments[0] if moments else None


def _identified(kept: Sequence[tuple[int, Message]]) -> list[Message]:
    """The messages under ids that are unique: their own where no other has it, else "m" and the position."""
    times_used = Counter(message.id for _, message in kept)
    taken = set(times_used)
    identified = []
    for position, message in kept:
        if message.id and times_used[message.id] == 1:
            identified.append(message)
            continue
        given = f"m{position}"
        while given in taken:
            given += "'"
        taken.add(given)
        identified.append(replace(message, id=given, has_own_id=False))
    return identified


def _sequence_of(content: object) -> Sequence[object]:
    if isinstance(content, Mapping) and "role" not in content and isinstance(content.get("messages"), list | tuple):
        content = content["messages"]
    if isinstance(content, str | BaseMessage | Message | Mapping) or _is_pair(content, tuple):
        return [content]
    if not isinstance(content, list | tuple):
        raise InputError(f"The content is {shown(content)}; allowed is {_ALLOWED}.")
    if content and all(_is_block(value) for value in content):
        return [{"role": "user", "content": list(content)}]
    return content


def _is_block(value: object) -> bool:
    """Whether a value is a content block that stands where a message would."""
    if not isinstance(value, Mapping) or "role" in value or "data" in value:
        return False
    kind = str(value.get("type"))
    return kind in ("text", "input_text") or (label_of_block(kind) is not None and kind not in CALL_TYPES)


def _is_summary(fields: Mapping[str, object]) -> bool:
    extra = fields.get("additional_kwargs")
    return isinstance(extra, Mapping) and extra.get("lc_source") == _SUMMARY_MARK


def _is_pair(value: object, kind: type | tuple[type, ...]) -> bool:
    return (
        isinstance(value, kind)
        and isinstance(value, Sequence)
        and len(value) == 2
        and isinstance(value[0], str)
        and isinstance(value[1], str | list)
    )


def _fields_of(value: object, position: int) -> Mapping[str, object]:
    """The fields of one message by their names, unwrapped from the serialised forms of LangChain."""
    if isinstance(value, str):
        return {"role": "user", "content": value}
    if isinstance(value, BaseMessage):
        return {**vars(value), "type": value.type}
    if isinstance(value, list | tuple) and _is_pair(value, (list, tuple)):
        return {"role": value[0], "content": value[1]}
    if not isinstance(value, Mapping):
        raise InputError(f"Message {position} is {shown(value)}; allowed is {_ALLOWED}.")
    data, kwargs = value.get("data"), value.get("kwargs")
    times = {key: value[key] for key in _TIME_FIELDS if key in value}
    if isinstance(data, Mapping) and "content" not in value:
        return {"type": value.get("type"), **times, **data}
    if isinstance(kwargs, Mapping) and "lc" in value:
        path = value.get("id")
        return {"type": path[-1] if isinstance(path, list) and path else None, **times, **kwargs}
    return value


def _role_of(fields: Mapping[str, object], position: int) -> Role | None:
    given = fields.get("role") or fields.get("type")
    word = given.casefold().removesuffix("chunk").removesuffix("message") if isinstance(given, str) else ""
    if word == "remove":
        return None
    if word not in _ROLES:
        raise InputError(f"Message {position} has the role {shown(given)}; allowed are {', '.join(_ROLES)}.")
    return _ROLES[word]


def _content_of(fields: Mapping[str, object], position: int) -> object:
    """The content with the tool calls that stand beside it (unless they stand in it too) as blocks."""
    named = [name for name in ("content", "parts", "text") if name in fields]
    calls = fields.get("tool_calls") or ([fields["function_call"]] if fields.get("function_call") else [])
    if not named and not calls:
        raise InputError(f"Message {position} has no 'content': {shown(dict(fields))}.")
    content = fields[named[0]] if named else None
    blocks = content if isinstance(content, list) else [content]
    inside = sum(isinstance(block, Mapping) and str(block.get("type")) in CALL_TYPES for block in blocks)
    beside = len(calls) if isinstance(calls, Sequence) else 0
    return [*blocks, *[{"type": "tool_call"}] * max(0, beside - inside)]


CALL_TYPES = frozenset(
    {
        "tool_use",
        "tool_call",
        "tool_call_chunk",
        "invalid_tool_call",
        "function_call",
        "server_tool_use",
        "server_tool_call",
    }
)
"""Types of the blocks by which a model calls a tool."""

_BLOCK_LABELS: Mapping[str, str] = {
    **dict.fromkeys(CALL_TYPES, "tool call"),
    "image": "image",
    "image_url": "image",
    "image_file": "image",
    "input_image": "image",
    "tool_result": "tool output",
    "mcp_list_tools": "tool output",
    "mcp_approval_request": "tool call",
    "mcp_approval_response": "tool output",
    "thinking": "thinking",
    "think": "thinking",
    "redacted_thinking": "thinking",
    "reasoning": "thinking",
    "reasoning_content": "thinking",
    "audio": "audio",
    "input_audio": "audio",
    "video": "video",
    "file": "file",
    "input_file": "file",
    "document": "file",
    "text-plain": "file",
    "refusal": "refusal",
    "compaction": "summary of earlier turns",
}
_BLOCK_ENDINGS = {"_call": "tool call", "_call_output": "tool output", "_tool_result": "tool output"}
# The parts of Google's messages have no type: what they are is the name of their one field.
_PART_FIELDS = {
    "inlineData": "file",
    "inline_data": "file",
    "fileData": "file",
    "file_data": "file",
    "functionCall": "tool call",
    "function_call": "tool call",
    "functionResponse": "tool output",
    "function_response": "tool output",
    "executableCode": "tool call",
    "executable_code": "tool call",
    "codeExecutionResult": "tool output",
    "code_execution_result": "tool output",
}
_TEXT_TYPES = frozenset({None, "text", "input_text", "output_text"})


def label_of_block(kind: object) -> str | None:
    """What a block or item of this type is counted as, or None where it is text or unknown."""
    if not isinstance(kind, str):
        return None
    ending = next((label for end, label in _BLOCK_ENDINGS.items() if kind.endswith(end)), None)
    return _BLOCK_LABELS.get(kind, ending)


def text_of(content: object, left_out: Counter[str], *, joined_by: str) -> str:
    """The text of a message's content; every block that is not text is counted in `left_out`.

    Raises:
        TypeError: the content, or a block of it, is neither text nor a mapping.
    """
    blocks = content if isinstance(content, list | tuple) else [content]
    texts = [_block_text(block, left_out) for block in blocks]
    return joined_by.join(text for text in texts if text)


def _block_text(block: object, left_out: Counter[str]) -> str:
    if block is None:
        return ""
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        raise TypeError(f"its content holds {shown(block)}; allowed are text and content blocks.")
    kind, text = block.get("type"), block.get("text")
    if isinstance(text, Mapping):
        # The Assistants API and LibreChat wrap the text once more.
        text = text.get("value")
    if isinstance(text, str) and (kind is None or isinstance(kind, str)) and kind in _TEXT_TYPES:
        if block.get("thought") is not True:
            return text
        left_out["thinking"] += 1
        return ""
    part = next((label for name, label in _PART_FIELDS.items() if name in block), "other block")
    left_out[label_of_block(kind) or part] += 1
    return ""
