"""The data exports of ChatGPT and Claude."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from .formats import Conversation, build_conversation

__all__ = ["read_chatgpt", "read_claude", "recognises_chatgpt", "recognises_claude"]


_CHATGPT_KINDS = {
    "code": "tool call",
    "execution_output": "tool output",
    "tether_quote": "tool output",
    "tether_browsing_display": "tool output",
    "thoughts": "thinking",
    "reasoning_recap": "thinking",
    "user_editable_context": "custom instructions",
    "model_editable_context": "custom instructions",
}
_CHATGPT_PARTS = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
}


def recognises_chatgpt(value: object) -> bool:
    """Whether a JSON value is one conversation of a ChatGPT export."""
    return isinstance(value, Mapping) and isinstance(value.get("mapping"), Mapping)


def read_chatgpt(value: object) -> Iterator[Conversation]:
    """The conversation along the branch that was last open; messages of other branches are counted."""
    fields = value if isinstance(value, Mapping) else {}
    nodes = fields.get("mapping")
    nodes = nodes if isinstance(nodes, Mapping) else {}
    path = _branch(nodes, fields.get("current_node"))
    left_out: Counter[str] = Counter()
    turns = [turn for key in path if (turn := _chatgpt_turn(nodes[key], left_out)) is not None]
    elsewhere = sum(1 for key in nodes.keys() - set(path) if _has_text(nodes[key]))
    left_out["message of another branch"] = elsewhere
    yield build_conversation(
        turns,
        id=fields.get("conversation_id") or fields.get("id"),
        title=fields.get("title"),
        left_out=left_out,
        notes=[f"{elsewhere} messages of other branches were left out."] if elsewhere else [],
    )


def _branch(nodes: Mapping[str, object], current: object) -> list[str]:
    """The keys from the root to the current node, or else to the end of the branch written last."""
    key = current if isinstance(current, str) and current in nodes else _last_leaf(nodes)
    path: list[str] = []
    seen: set[str] = set()
    while isinstance(key, str) and key in nodes and key not in seen:
        seen.add(key)
        path.append(key)
        node = nodes[key]
        key = node.get("parent") if isinstance(node, Mapping) else None
    return path[::-1]


def _last_leaf(nodes: Mapping[str, object]) -> str | None:
    parents = {str(node.get("parent")) for node in nodes.values() if isinstance(node, Mapping)}
    leaves = [key for key in nodes if key not in parents] or list(nodes)
    return max(leaves, key=lambda key: _created(nodes[key]), default=None)


def _created(node: object) -> float:
    created = _message_of(node).get("create_time")
    return float(created) if isinstance(created, int | float) else 0.0


def _message_of(node: object) -> Mapping[str, object]:
    message = node.get("message") if isinstance(node, Mapping) else None
    return message if isinstance(message, Mapping) else {}


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _has_text(node: object) -> bool:
    message = _message_of(node)
    return bool(_mapping(message.get("content")).get("parts")) and _author(message) in ("user", "assistant")


def _author(message: Mapping[str, object]) -> object:
    return _mapping(message.get("author")).get("role")


def _chatgpt_turn(node: object, left_out: Counter[str]) -> object:
    message = _message_of(node)
    if not message:
        return None
    content = _mapping(message.get("content"))
    kind = str(content.get("content_type", "text"))
    if kind in _CHATGPT_KINDS:
        left_out[_CHATGPT_KINDS[kind]] += 1
        return None
    parts = content.get("parts")
    blocks = [_chatgpt_part(part) for part in parts] if isinstance(parts, list) else [content.get("text")]
    if _author(message) == "system" and not any(blocks):
        return None
    return {
        "id": message.get("id"),
        "role": _author(message),
        "content": blocks,
        "name": _mapping(message.get("author")).get("name"),
        "create_time": message.get("create_time"),
    }


def _chatgpt_part(part: object) -> object:
    if not isinstance(part, Mapping):
        return part
    if isinstance(part.get("text"), str):
        return part["text"]
    return {"type": _CHATGPT_PARTS.get(str(part.get("content_type")), "other")}


def recognises_claude(value: object) -> bool:
    """Whether a JSON value is one conversation of a Claude export."""
    return isinstance(value, Mapping) and isinstance(value.get("chat_messages"), list)


def read_claude(value: object) -> Iterator[Conversation]:
    """The conversation of one item of a Claude export; attachments are counted, not read."""
    fields = _mapping(value)
    turns = fields.get("chat_messages")
    turns = turns if isinstance(turns, list) else []
    attached = sum(_attachments(turn) for turn in turns)
    yield build_conversation(
        [_claude_turn(turn) for turn in turns],
        id=fields.get("uuid"),
        title=fields.get("name"),
        left_out={"attachment": attached},
    )


def _claude_turn(turn: object) -> object:
    if not isinstance(turn, Mapping):
        return turn
    content = turn.get("content") or turn.get("text")
    if isinstance(content, list) and not any(_mapping(block).get("text") for block in content):
        content = [*content, turn.get("text")]
    return {
        "id": turn.get("uuid"),
        "role": turn.get("sender"),
        "content": content,
        "created_at": turn.get("created_at"),
    }


def _attachments(turn: object) -> int:
    lists: Sequence[object] = [_mapping(turn).get(key) for key in ("attachments", "files")]
    return sum(len(found) for found in lists if isinstance(found, list))
