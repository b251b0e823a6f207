"""Messages as the interfaces of models and their libraries have them: OpenAI, Anthropic and LangChain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..conversation import Conversation, build_conversation
from ..messages import label_of_block, moment_of
from ..states import date_last_exchange
from .kinds import Fields, JsonFormat, fields_of, list_of, text_in

__all__ = [
    "ANTHROPIC",
    "LANGCHAIN",
    "OPENAI",
    "OPENAI_RESPONSES",
    "is_langchain",
    "is_message",
    "is_part_of_messages",
]


_LANGCHAIN_TYPES = frozenset(
    {"human", "ai", "system", "tool", "function", "chat", "remove"}
    | {"HumanMessageChunk", "AIMessageChunk", "SystemMessageChunk", "ToolMessageChunk"}
)
_CONTENT_FIELDS = frozenset({"content", "parts", "text", "tool_calls", "function_call"})
_ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"})
_RESPONSES_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file", "summary_text"})
_PAIR_ROLES = frozenset({"user", "human", "assistant", "ai", "system", "developer", "tool"})


def is_message(value: object) -> bool:
    """Whether a JSON value is one message, so that a list of such values is one conversation."""
    if isinstance(value, list):
        return len(value) == 2 and all(isinstance(part, str) for part in value) and value[0] in _PAIR_ROLES
    fields = fields_of(value)
    if not fields or "messages" in fields or "mapping" in fields:
        return False
    return (
        ("role" in fields and not fields.keys().isdisjoint(_CONTENT_FIELDS))
        or is_langchain(value)
        or ("from" in fields and isinstance(fields.get("value"), str))
    )


def is_part_of_messages(value: object) -> bool:
    """Whether a value that follows messages belongs to them, though it may be none that can be read."""
    return is_message(value) or not isinstance(value, Mapping | list) or _is_item(value)


def is_langchain(value: object) -> bool:
    """Whether a JSON value is a message as LangChain dumps it."""
    fields = fields_of(value)
    if "lc" in fields and isinstance(fields.get("kwargs"), Mapping):
        return "content" in fields_of(fields["kwargs"])
    kind = fields.get("type")
    return isinstance(kind, str) and kind in _LANGCHAIN_TYPES and ("data" in fields or "content" in fields)


def _is_item(value: object) -> bool:
    """Whether a JSON value is an item between messages: a call of a tool, its output, a thought."""
    fields = fields_of(value)
    return "role" not in fields and "data" not in fields and label_of_block(fields.get("type")) is not None


def _messages_of(value: object) -> Sequence[object] | None:
    """The messages of a list of them, of an object with "messages", of a graph's state, or of a batch's request."""
    if isinstance(value, list):
        return value if value and is_message(value[0]) else None
    fields = fields_of(value)
    inner = next((fields_of(fields[key]) for key in ("body", "params") if key in fields), fields)
    messages = inner.get("messages", fields_of(fields.get("values")).get("messages"))
    if isinstance(messages, list):
        return messages
    listed = list_of(fields.get("data"))
    if fields.get("object") == "list" and listed and is_message(listed[0]):
        # Lists of the Assistants API begin with the newest message.
        return sorted(listed, key=lambda each: str(moment_of(fields_of(each).get("created_at")) or ""))
    return None


def _read_messages(value: object) -> Iterator[Conversation]:
    fields = fields_of(value)
    request = next((fields_of(fields[key]) for key in ("body", "params") if key in fields), fields)
    system = request.get("system")
    prompt = [{"role": "system", "content": system}] if system else []
    answer = [fields_of(each).get("message") for each in list_of(fields.get("choices"))[:1]]
    yield build_conversation(
        [*prompt, *(_messages_of(value) or ()), *answer],
        id=text_in(fields, "id", "conversation_id", "thread_id", "uuid", "custom_id"),
        title=text_in(fields, "title", "name"),
    )


def _blocks_of(value: object) -> Iterator[Fields]:
    """Every content block of the messages."""
    for message in _messages_of(value) or ():
        yield from map(fields_of, list_of(fields_of(message).get("content")))


def _recognises_langchain(value: object) -> bool:
    return any(is_langchain(message) for message in _messages_of(value) or ())


def _recognises_anthropic(value: object) -> bool:
    fields = fields_of(value)
    if _messages_of(value) is not None and ("system" in fields or "params" in fields):
        return True
    return any(str(block.get("type")) in _ANTHROPIC_BLOCKS for block in _blocks_of(value))


def _recognises_openai(value: object) -> bool:
    messages = _messages_of(value)
    return messages is not None and all("from" not in fields_of(turn) for turn in messages[:1])


LANGCHAIN = JsonFormat(
    name="langchain",
    label="LangChain messages",
    description="lists of `messages_to_dict` or `dumpd`, bare or under `messages`",
    speakers="the user and the assistant",
    order="as written; messages that were removed are left out",
    times="where a message tells its own",
    recognises=_recognises_langchain,
    read=_read_messages,
    accepts=_recognises_openai,
)
ANTHROPIC = JsonFormat(
    name="anthropic",
    label="Anthropic messages",
    description="messages with Anthropic's content blocks, or with a `system` prompt beside them; requests of a batch",
    speakers="the user and the assistant",
    order="as written",
    times="where a message tells its own",
    recognises=_recognises_anthropic,
    read=_read_messages,
    accepts=_recognises_openai,
)
OPENAI = JsonFormat(
    name="openai",
    label="OpenAI chat messages",
    description='lists of `role` and `content`, bare or under "messages", as in fine-tuning files; requests of a batch',
    speakers="the user and the assistant",
    order="as written; lists of the Assistants API by time",
    times="where a message tells its own",
    recognises=_recognises_openai,
    read=_read_messages,
)


# OpenAI Responses


def _is_response(value: object) -> bool:
    fields = fields_of(value)
    if fields.get("object") == "response" or "previous_response_id" in fields:
        return True
    if isinstance(fields.get("input"), str | list) and ("instructions" in fields or "output" in fields):
        return any(_is_response_item(each) for each in [*list_of(fields.get("input")), *list_of(fields.get("output"))])
    return isinstance(value, list) and any(_is_response_item(each) for each in value)


def _is_response_item(value: object) -> bool:
    fields = fields_of(value)
    blocks = map(fields_of, list_of(fields.get("content")))
    return _is_item(value) or any(str(block.get("type")) in _RESPONSES_BLOCKS for block in blocks)


def _read_response(value: object) -> Iterator[Conversation]:
    fields = fields_of(value)
    asked = fields.get("input")
    turns = [
        {"role": "system", "content": text_in(fields, "instructions")} if text_in(fields, "instructions") else None,
        *([{"role": "user", "content": asked}] if isinstance(asked, str) else list_of(asked)),
        *list_of(value),
        *list_of(fields.get("output")),
    ]
    present = [turn for turn in turns if turn is not None]
    times = date_last_exchange(present, moment_of(fields.get("created_at")))
    notes = [] if asked is not None or isinstance(value, list) else ["It holds the answer, and not what was asked."]
    yield build_conversation(present, id=fields.get("id"), notes=notes, times=times)


OPENAI_RESPONSES = JsonFormat(
    name="openai-responses",
    label="OpenAI Responses",
    description="responses with their `input` and `output`, or lists of such items",
    speakers="the user and the assistant",
    order="as written",
    times="of the response",
    recognises=_is_response,
    read=_read_response,
)
