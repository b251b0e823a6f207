"""Exports of chat applications: ChatGPT, DeepSeek, Claude, Grok, Open WebUI and LibreChat.

All of them keep every version of an edited message: their chats are trees, read along the branch that was last open.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from ..conversation import Conversation, build_conversation
from ..messages import moment_of
from .branches import OTHER_BRANCH, current_branch, note_on_branches
from .kinds import Fields, JsonFormat, fields_of, list_of, text_in

__all__ = ["CHATGPT", "CLAUDE", "DEEPSEEK", "GROK", "LIBRECHAT", "OPEN_WEBUI"]


def _read_tree(
    nodes: Mapping[str, object],
    *,
    turn: Callable[[Fields, Counter[str]], Fields | None],
    parent: Callable[[Fields], object],
    written: Callable[[Fields], object],
    current: object = None,
    id: object = None,
    title: object = None,
) -> Conversation:
    """The conversation along the branch that was last open; `turn` counts what it leaves out."""
    path = current_branch(
        nodes,
        parent=lambda node: parent(fields_of(node)),
        written=lambda node: _seconds(written(fields_of(node))),
        current=current,
    )
    left_out: Counter[str] = Counter()
    turns = [made for key in path if (made := turn(fields_of(nodes[key]), left_out)) is not None]
    off_path = [turn(fields_of(nodes[key]), Counter()) for key in nodes.keys() - set(path)]
    elsewhere = sum(each is not None and _is_spoken(each) for each in off_path)
    left_out[OTHER_BRANCH] = elsewhere
    return build_conversation(turns, id=id, title=title, left_out=left_out, notes=note_on_branches(elsewhere))


def _keyed(messages: Sequence[object], field: str) -> Iterator[tuple[str, Fields]]:
    """The messages under their own keys, or under their numbers where a key is missing or taken."""
    taken: set[str] = set()
    for number, message in enumerate(messages):
        fields = fields_of(message)
        own = str(fields.get(field) or number)
        key = f"{number} of the list" if own in taken else own
        taken.add(key)
        yield key, fields


def _seconds(time: object) -> float:
    moment = moment_of(time)
    return moment.timestamp() if moment is not None else 0.0


def _is_spoken(turn: Fields) -> bool:
    content = turn.get("content")
    blocks = content if isinstance(content, list) else [content]
    has_words = any(text_in(fields_of(block), "text") if isinstance(block, Mapping) else block for block in blocks)
    return has_words and turn.get("role") in ("user", "human", "assistant")


# ChatGPT

_CHATGPT_KINDS = {
    "code": "tool call",
    "execution_output": "tool output",
    "tether_quote": "tool output",
    "tether_browsing_display": "tool output",
    "sonic_webpage": "tool output",
    "thoughts": "thinking",
    "reasoning_recap": "thinking",
    "user_editable_context": "custom instructions",
    "model_editable_context": "custom instructions",
    "system_error": "error message",
}
_CHATGPT_PARTS = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
    "real_time_user_audio_video_asset_pointer": "audio",
}


def _read_chatgpt(value: object) -> Iterator[Conversation]:
    fields = fields_of(value)
    yield _read_tree(
        fields_of(fields.get("mapping")),
        turn=_chatgpt_turn,
        parent=lambda node: node.get("parent"),
        written=lambda node: fields_of(node.get("message")).get("create_time"),
        current=fields.get("current_node"),
        id=fields.get("conversation_id") or fields.get("id"),
        title=fields.get("title"),
    )


def _chatgpt_turn(node: Fields, left_out: Counter[str]) -> Fields | None:
    message = fields_of(node.get("message"))
    author, content = fields_of(message.get("author")), fields_of(message.get("content"))
    parts = content.get("parts")
    blocks = [_chatgpt_part(part) for part in parts] if isinstance(parts, list) else [content.get("text")]
    if not message or (author.get("role") == "system" and not any(blocks)):
        return None
    label = _chatgpt_label(message, author, str(content.get("content_type", "text")))
    if label is not None:
        left_out[label] += 1
        return None
    return {
        "id": message.get("id"),
        "role": author.get("role"),
        "content": blocks,
        "name": author.get("name"),
        "create_time": message.get("create_time"),
    }


def _chatgpt_label(message: Fields, author: Fields, kind: str) -> str | None:
    """What a message that nobody said is counted as; None for what was said."""
    if kind in _CHATGPT_KINDS:
        return _CHATGPT_KINDS[kind]
    hidden = fields_of(message.get("metadata")).get("is_visually_hidden_from_conversation")
    if hidden is True or message.get("weight") == 0:
        return "hidden message"
    if author.get("role") == "tool" and author.get("name") == "bio":
        return "tool output"
    if author.get("role") == "assistant" and message.get("recipient") not in (None, "all"):
        # What the model tells a tool, such as its own memory ("bio"), is not said to the person.
        return "tool call"
    return "thinking" if message.get("channel") == "analysis" else None


def _chatgpt_part(part: object) -> object:
    if not isinstance(part, Mapping):
        return part
    # The words of a voice chat stand beside its sound.
    if isinstance(part.get("text"), str):
        return part["text"]
    return {"type": _CHATGPT_PARTS.get(str(part.get("content_type")), "other")}


CHATGPT = JsonFormat(
    name="chatgpt",
    label="ChatGPT export",
    description="`conversations.json` of a data export, also in its ZIP",
    speakers="you and ChatGPT",
    order="the branch that was last open",
    times="UTC",
    recognises=lambda value: isinstance(fields_of(value).get("mapping"), Mapping) and not _is_deepseek(value),
    read=_read_chatgpt,
)


# DeepSeek


def _is_deepseek(value: object) -> bool:
    nodes = fields_of(fields_of(value).get("mapping")).values()
    return any("fragments" in fields_of(fields_of(node).get("message")) for node in nodes)


def _read_deepseek(value: object) -> Iterator[Conversation]:
    fields = fields_of(value)
    yield _read_tree(
        fields_of(fields.get("mapping")),
        turn=_deepseek_turn,
        parent=lambda node: node.get("parent"),
        written=lambda node: fields_of(node.get("message")).get("inserted_at"),
        id=fields.get("id"),
        title=fields.get("title"),
    )


def _deepseek_turn(node: Fields, left_out: Counter[str]) -> Fields | None:
    message = fields_of(node.get("message"))
    fragments = [fields_of(each) for each in list_of(message.get("fragments"))]
    if not fragments:
        return None
    left_out["attachment"] += len(list_of(message.get("files")))
    asked = any(each.get("type") == "REQUEST" for each in fragments)
    return {
        "role": "user" if asked else "assistant",
        "content": [_deepseek_block(each) for each in fragments],
        "inserted_at": message.get("inserted_at"),
    }


def _deepseek_block(fragment: Fields) -> object:
    kind = str(fragment.get("type"))
    if kind in ("REQUEST", "RESPONSE"):
        return {"type": "text", "text": fragment.get("content")}
    return {"type": "thinking" if kind == "THINK" else "tool_result"}


DEEPSEEK = JsonFormat(
    name="deepseek",
    label="DeepSeek export",
    description="`conversations.json` of a data export, also in its ZIP",
    speakers="you and DeepSeek",
    order="the branch that was written last",
    times="as written, with their zone",
    recognises=_is_deepseek,
    read=_read_deepseek,
)


# Claude


def _read_claude(value: object) -> Iterator[Conversation]:
    fields = fields_of(value)
    nodes: dict[str, object] = {}
    before: object = None
    for key, turn in _keyed(list_of(fields.get("chat_messages")), "uuid"):
        # Exports from before branches name no parents: there each message follows the one before it.
        nodes[key] = {**turn, "parent_message_uuid": turn.get("parent_message_uuid") or before}
        before = key
    yield _read_tree(
        nodes,
        turn=_claude_turn,
        parent=lambda node: node.get("parent_message_uuid"),
        written=lambda node: node.get("created_at"),
        current=fields.get("current_leaf_message_uuid"),
        id=fields.get("uuid"),
        title=fields.get("name"),
    )


def _claude_turn(turn: Fields, left_out: Counter[str]) -> Fields | None:
    left_out["attachment"] += sum(len(list_of(turn.get(key))) for key in ("attachments", "files"))
    content = turn.get("content") or turn.get("text")
    if isinstance(content, list):
        content = [_claude_block(block) for block in content if fields_of(block).get("type") != "token_budget"]
        if not any(fields_of(block).get("text") for block in content):
            content.append(turn.get("text"))
    return {
        "id": turn.get("uuid"),
        "role": turn.get("sender"),
        "content": content,
        "created_at": turn.get("created_at"),
    }


def _claude_block(block: object) -> object:
    fields = fields_of(block)
    return {"type": "text", "text": fields.get("text")} if fields.get("type") == "voice_note" else block


CLAUDE = JsonFormat(
    name="claude",
    label="Claude export",
    description="`conversations.json` of a data export, also in its ZIP, or a chat as the web page loads it",
    speakers="you and Claude",
    order="the branch that was last open, or else written last",
    times="UTC",
    recognises=lambda value: isinstance(fields_of(value).get("chat_messages"), list),
    read=_read_claude,
)


# Grok


def _read_grok(value: object) -> Iterator[Conversation]:
    about = fields_of(fields_of(value).get("conversation"))
    wrapped = list_of(fields_of(value).get("responses"))
    responses = [fields_of(each).get("response") or each for each in wrapped]
    yield _read_tree(
        dict(_keyed(responses, "_id")),
        turn=_grok_turn,
        parent=lambda node: node.get("parent_response_id"),
        written=_grok_time,
        current=about.get("leaf_response_id"),
        id=about.get("id"),
        title=about.get("title"),
    )


def _grok_turn(response: Fields, left_out: Counter[str]) -> Fields | None:
    left_out["attachment"] += len(list_of(response.get("file_attachments")))
    sender = str(response.get("sender")).casefold()
    return {
        "id": response.get("_id"),
        "role": "user" if sender in ("human", "user") else "assistant",
        "content": response.get("message"),
        "created_at": _grok_time(response),
    }


def _grok_time(response: Fields) -> object:
    """The time of a response, which may be wrapped in the way of MongoDB."""
    time = response.get("create_time")
    while isinstance(time, Mapping) and len(time) == 1:
        time = next(iter(time.values()))
    return time


GROK = JsonFormat(
    name="grok",
    label="Grok export",
    description="`prod-grok-backend.json` of a data export, also in its ZIP",
    speakers="you and Grok",
    order="the branch that was written last",
    times="UTC",
    recognises=lambda value: {"conversation", "responses"} <= fields_of(value).keys(),
    read=_read_grok,
)


# Open WebUI

_DETAILS = re.compile(r"<details type=\"(\w+)\"[^>]*>.*?</details>\s*", re.DOTALL)
_DETAIL_LABELS = {"reasoning": "thinking", "tool_calls": "tool call", "code_interpreter": "tool call"}


def _open_webui_chat(value: object) -> Fields:
    fields = fields_of(value)
    return fields_of(fields.get("chat")) or fields


def _is_open_webui(value: object) -> bool:
    return isinstance(fields_of(_open_webui_chat(value).get("history")).get("messages"), Mapping)


def _read_open_webui(value: object) -> Iterator[Conversation]:
    chat, outer = _open_webui_chat(value), fields_of(value)
    history = fields_of(chat.get("history"))
    yield _read_tree(
        fields_of(history.get("messages")),
        turn=_open_webui_turn,
        parent=lambda node: node.get("parentId"),
        written=lambda node: node.get("timestamp"),
        current=history.get("currentId"),
        id=outer.get("id") or chat.get("id"),
        title=outer.get("title") or chat.get("title"),
    )


def _open_webui_turn(message: Fields, left_out: Counter[str]) -> Fields | None:
    left_out["attachment"] += len(list_of(message.get("files")))
    content = message.get("content")
    if message.get("role") == "assistant" and isinstance(content, str):
        # The model's thoughts and the calls of its tools are folded into its answer as HTML.
        left_out.update(_DETAIL_LABELS.get(found[1], "other block") for found in _DETAILS.finditer(content))
        content = _DETAILS.sub("", content)
    return {**message, "content": content}


OPEN_WEBUI = JsonFormat(
    name="open-webui",
    label="Open WebUI export",
    description="chats exported as JSON, one or all",
    speakers="you and the model",
    order="the branch that was last open",
    times="UTC",
    recognises=_is_open_webui,
    read=_read_open_webui,
)


# LibreChat


def _is_librechat(value: object) -> bool:
    fields = fields_of(value)
    messages = list_of(fields.get("messages")) or list_of(fields.get("messagesTree"))
    return "conversationId" in fields and any("messageId" in fields_of(each) for each in messages)


def _read_librechat(value: object) -> Iterator[Conversation]:
    fields = fields_of(value)
    waiting = [*list_of(fields.get("messages")), *list_of(fields.get("messagesTree"))][::-1]
    messages: list[object] = []
    while waiting:
        messages.append(waiting.pop())
        waiting.extend(list_of(fields_of(messages[-1]).get("children"))[::-1])
    yield _read_tree(
        dict(_keyed(messages, "messageId")),
        turn=_librechat_turn,
        parent=lambda node: node.get("parentMessageId"),
        written=lambda node: node.get("createdAt"),
        id=fields.get("conversationId"),
        title=fields.get("title"),
    )


def _librechat_turn(message: Fields, left_out: Counter[str]) -> Fields | None:
    if message.get("error") is True:
        left_out["error message"] += 1
        return None
    left_out["attachment"] += len(list_of(message.get("files")) or list_of(message.get("attachments")))
    content = message.get("content")
    return {
        "id": message.get("messageId"),
        "role": "user" if message.get("isCreatedByUser") is True else "assistant",
        "content": content if isinstance(content, list) and content else message.get("text"),
        "created_at": message.get("createdAt"),
    }


LIBRECHAT = JsonFormat(
    name="librechat",
    label="LibreChat export",
    description="a chat exported as JSON, with or without branches, recursive or not",
    speakers="you and the model",
    order="the branch that was written last",
    times="UTC",
    recognises=_is_librechat,
    read=_read_librechat,
)
