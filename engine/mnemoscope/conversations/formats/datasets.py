"""Conversations of data sets: ShareGPT's training data and the LoCoMo benchmark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from ..conversation import Conversation, build_conversation
from .kinds import Fields, JsonFormat, fields_of, list_of, text_in
from .model_apis import is_langchain, is_message

__all__ = ["LOCOMO", "SHAREGPT"]


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


def _sharegpt_turns(value: object) -> Sequence[object]:
    fields = fields_of(value)
    turns = value if isinstance(value, list) else fields.get("conversations", fields.get("conversation"))
    listed = list_of(turns)
    return listed if listed and is_message(listed[0]) and not is_langchain(listed[0]) else ()


def _is_sharegpt(value: object) -> bool:
    turns = _sharegpt_turns(value)
    return bool(turns) and (isinstance(value, Mapping) or "from" in fields_of(turns[0]))


def _read_sharegpt(value: object) -> Iterator[Conversation]:
    fields = fields_of(value)
    system = fields.get("system")
    prompt = [{"role": "system", "content": system}] if system else []
    yield build_conversation(
        [*prompt, *map(_sharegpt_turn, _sharegpt_turns(value))],
        id=text_in(fields, "id", "conversation_id"),
        title=text_in(fields, "title", "name"),
    )


def _sharegpt_turn(turn: object) -> object:
    fields = fields_of(turn)
    if "from" not in fields:
        return turn
    speaker = fields["from"]
    if speaker == "function_call":
        return {"type": "tool_call"}
    role = _SHAREGPT_ROLES.get(speaker, speaker) if isinstance(speaker, str) else speaker
    return {**fields, "role": role, "content": fields.get("value")}


SHAREGPT = JsonFormat(
    name="sharegpt",
    label="ShareGPT",
    description='training data with "conversations" of `from` and `value`, also as JSON lines',
    speakers="the user and the assistant",
    order="as written",
    times="none",
    recognises=_is_sharegpt,
    read=_read_sharegpt,
)


_SESSION = re.compile(r"session_([0-9]{1,6})")
_LOCOMO_TIME = "%I:%M %p on %d %B, %Y"


def _sessions_of(value: object) -> Fields | None:
    """The part of a LoCoMo sample that holds its sessions."""
    fields = fields_of(value)
    sample = fields_of(fields.get("conversation")) or fields
    return sample if isinstance(sample.get("session_1"), list) else None


def _read_locomo(value: object) -> Iterator[Conversation]:
    sample = text_in(fields_of(value), "sample_id") or "sample"
    sessions = _sessions_of(value) or {}
    numbers = sorted(int(match[1]) for match in map(_SESSION.fullmatch, sessions) if match)
    speakers = " and ".join(str(sessions[key]) for key in ("speaker_a", "speaker_b") if key in sessions)
    for number in numbers:
        turns = [fields_of(turn) for turn in list_of(sessions[f"session_{number}"])]
        date = sessions.get(f"session_{number}_date_time")
        said_at = _locomo_time(date)
        yield build_conversation(
            [_locomo_turn(turn, said_at) for turn in turns],
            id=f"{sample}-session-{number}",
            title=f"{speakers or 'Two people'}, session {number}" + (f" ({said_at:%Y-%m-%d})" if said_at else ""),
            left_out={"image": sum("img_url" in turn for turn in turns)},
            notes=[] if said_at else [f"The date of session {number} cannot be read: {str(date)[:80]!r}."],
        )


def _locomo_turn(turn: Fields, said_at: datetime | None) -> object:
    return {
        "role": "user",
        "content": turn.get("text"),
        "id": turn.get("dia_id"),
        "name": turn.get("speaker"),
        "said_at": said_at,
    }


def _locomo_time(text: object) -> datetime | None:
    try:
        return datetime.strptime(str(text), _LOCOMO_TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


LOCOMO = JsonFormat(
    name="locomo",
    label="LoCoMo",
    description="samples of the LoCoMo benchmark",
    speakers="two people by name",
    order="as written; a conversation for each session",
    times="of the session",
    recognises=lambda value: _sessions_of(value) is not None,
    read=_read_locomo,
)
