"""Sessions of coding agents: Claude Code, Codex, Gemini CLI and Copilot Chat.

Their logs hold much that nobody said: context that the program puts into the person's message, output of commands,
what subagents were told. It is cut out and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..conversation import Conversation, Outcome, Unreadable, build_conversation
from .branches import OTHER_BRANCH, current_branch, note_on_branches
from .kinds import Fields, JsonFormat, RecordFormat, fields_of, list_of, text_in

__all__ = ["CLAUDE_CODE", "CODEX", "COPILOT_CHAT", "GEMINI_CLI"]


# Claude Code

_CLAUDE_TYPES = frozenset({"user", "assistant", "system", "summary", "file-history-snapshot"})
# What the program writes into the person's messages: context, commands and what they print.
_TAGGED = re.compile(
    r"<(system-reminder|local-command-\w+|command-\w+|bash-\w+|ide_\w+|user-prompt-submit-hook|task-notification|"
    r"session-start-hook|teammate-message|environment_context|environment_details|user_instructions|permissions"
    r" instructions|INSTRUCTIONS|turn_aborted|recommended_plugins|skill)(?:\s[^>]*)?>.*?</\1>\s*",
    re.DOTALL,
)
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]]*\]")


def _is_claude_code(value: object) -> bool:
    fields = fields_of(value)
    kind = fields.get("type")
    if kind == "summary":
        return "leafUuid" in fields
    if kind == "file-history-snapshot":
        return "snapshot" in fields
    return "sessionId" in fields and "uuid" in fields and kind in _CLAUDE_TYPES


def _continues_claude_code(value: object) -> bool:
    return _is_claude_code(value) or {"sessionId", "type"} <= fields_of(value).keys()


@dataclass(frozen=True)
class _Line:
    """A line of a session: its place in the tree, and the turn it holds if somebody spoke."""

    number: int
    session: str
    parent: object
    turn: Fields | None
    label: str | None


def _read_claude_code(records: Iterator[object]) -> Iterator[Outcome]:
    lines: dict[str, _Line] = {}
    titles: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    before: str | None = None
    for number, value in enumerate(records):
        record = fields_of(value)
        if record.get("type") == "summary":
            titles[str(record.get("leafUuid"))] = text_in(record, "summary")
        key = record.get("uuid")
        if not isinstance(key, str):
            continue
        if record.get("isSidechain") is True:
            left_out["message of a subagent"] += 1
            continue
        lines[key] = _claude_line(record, number, before, lines)
        before = key
    if not lines:
        yield Unreadable("the session", _why_no_session(left_out))
        return
    for session, keys in _sessions(lines).items():
        yield _claude_session(session, {key: lines[key] for key in keys}, titles, left_out)
        left_out = Counter()


def _claude_line(record: Fields, number: int, before: str | None, lines: Mapping[str, _Line]) -> _Line:
    parent = record.get("parentUuid") or record.get("logicalParentUuid")
    is_boundary = record.get("subtype") == "compact_boundary" or record.get("isCompactSummary") is True
    if (parent is None and is_boundary) or (isinstance(parent, str) and parent not in lines):
        # The conversation was shortened here, or the line that it hangs on is not in the file.
        parent = before
    label = _claude_label(record)
    turn = None if label else _claude_turn(record)
    return _Line(number, str(record.get("sessionId")), parent, turn, label)


def _claude_label(record: Fields) -> str | None:
    if record.get("type") not in ("user", "assistant"):
        return None
    if record.get("isCompactSummary") is True:
        return "summary of earlier turns"
    if record.get("isApiErrorMessage") is True:
        return "error message"
    return "hidden message" if record.get("isMeta") is True else None


def _claude_turn(record: Fields) -> Fields | None:
    queued = fields_of(record.get("attachment"))
    if queued.get("type") == "queued_command" and queued.get("commandMode") in (None, "prompt"):
        # What the person typed while the agent was still busy.
        message: Fields = {"role": "user", "content": queued.get("prompt")}
    elif record.get("type") in ("user", "assistant"):
        message = fields_of(record.get("message"))
    else:
        return None
    return {
        "id": record.get("uuid"),
        "role": message.get("role") or record.get("type"),
        "content": message.get("content"),
        "timestamp": record.get("timestamp"),
        "message": message.get("id"),
    }


def _sessions(lines: Mapping[str, _Line]) -> dict[str, list[str]]:
    """The keys of the lines by the session that the trunk they hang on ends in: a resumed one holds its past."""
    trunks: dict[str, str] = {}
    for key, line in lines.items():
        parent = line.parent
        trunks[key] = trunks.get(parent, key) if isinstance(parent, str) else key
    ends = {trunk: lines[key].session for key, trunk in trunks.items()}
    sessions: dict[str, list[str]] = {}
    for key, trunk in trunks.items():
        sessions.setdefault(ends[trunk], []).append(key)
    return sessions


def _claude_session(
    session: str, lines: Mapping[str, _Line], titles: Mapping[str, str], left_out: Counter[str]
) -> Conversation:
    spoken = [key for key, line in lines.items() if line.turn is not None]
    path = current_branch(
        lines,
        parent=lambda line: line.parent,
        written=lambda line: line.number,
        current=spoken[-1] if spoken else None,
    )
    counted = left_out + Counter(label for key in path if (label := lines[key].label) is not None)
    turns: list[Fields] = []
    for key in path:
        turn = lines[key].turn
        if turn is None:
            continue
        cleaned = _without_tags(turn, counted)
        if turns and turn["message"] is not None and turns[-1]["message"] == turn["message"]:
            # One answer of the model is written as several lines, one for each block.
            turns[-1] = {**turns[-1], "content": [*_blocks(turns[-1]), *_blocks(cleaned)]}
        else:
            turns.append(cleaned)
    elsewhere = sum(_has_words(lines[key].turn) for key in lines.keys() - set(path))
    counted[OTHER_BRANCH] = elsewhere
    title = next((titles[key] for key in reversed(list(lines)) if key in titles), "")
    return build_conversation(turns, id=session, title=title, left_out=counted, notes=note_on_branches(elsewhere))


def _blocks(turn: Fields) -> list[object]:
    content = turn.get("content")
    return content if isinstance(content, list) else [content]


def _has_words(turn: Fields | None) -> bool:
    return turn is not None and any(
        block if isinstance(block, str) else text_in(fields_of(block), "text") for block in _blocks(turn)
    )


def _without_tags(turn: Fields, left_out: Counter[str]) -> Fields:
    """A turn of the person without what the program wrote into it; the model's turns as they are."""
    if turn.get("role") != "user":
        return turn
    return {**turn, "content": [_cleaned(block, left_out) for block in _blocks(turn)]}


def _cleaned(block: object, left_out: Counter[str]) -> object:
    text = block if isinstance(block, str) else text_in(fields_of(block), "text")
    if not text:
        return block
    cleaned, tagged = _TAGGED.subn("", text)
    cleaned, interrupted = _INTERRUPTED.subn("", cleaned)
    left_out["context added by the program"] += tagged
    left_out["notice"] += interrupted
    return {"type": "text", "text": cleaned.strip() if tagged or interrupted else text}


def _why_no_session(left_out: Counter[str]) -> str:
    if left_out.total():
        return (
            "this is the session of a subagent, whose instructions another agent wrote; nobody speaks in it. "
            "Choose the session it belongs to."
        )
    return "it holds no messages of a session."


CLAUDE_CODE = RecordFormat(
    name="claude-code",
    label="Claude Code session",
    description="`~/.claude/projects/…/<session>.jsonl`",
    speakers="you and Claude; subagents are left out",
    order="the branch that was written last, also before a compaction",
    times="UTC",
    recognises=_is_claude_code,
    continues=_continues_claude_code,
    read=_read_claude_code,
)


# Codex

_CODEX_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_AGENTS_FILE = re.compile(r"# AGENTS\.md instructions for [^\n]*\n+")


def _is_codex(value: object) -> bool:
    fields = fields_of(value)
    return fields.get("type") in _CODEX_TYPES and isinstance(fields.get("payload"), Mapping)


def _continues_codex(value: object) -> bool:
    return {"timestamp", "type"} <= fields_of(value).keys()


def _read_codex(records: Iterator[object]) -> Iterator[Outcome]:
    session: object = None
    turns: list[Fields] = []
    left_out: Counter[str] = Counter()
    for value in records:
        record = fields_of(value)
        payload = fields_of(record.get("payload"))
        if record.get("type") == "session_meta":
            # A forked session begins with the head of the one that it was forked from.
            session = session or payload.get("id")
            if "subagent" in fields_of(payload.get("source")):
                yield Unreadable("the session", _why_no_session(Counter(subagent=1)))
                return
        elif record.get("type") == "response_item":
            turns.append(_codex_turn(payload, record.get("timestamp"), left_out))
        elif record.get("type") == "compacted":
            left_out["summary of earlier turns"] += 1
    yield build_conversation(turns, id=session, left_out=left_out)


def _codex_turn(payload: Fields, time: object, left_out: Counter[str]) -> Fields:
    turn = {**payload, "timestamp": time}
    if payload.get("type") != "message":
        return turn
    blocks = [_without_agents_file(block) for block in _blocks(payload)]
    return _without_tags({**turn, "content": blocks}, left_out)


def _without_agents_file(block: object) -> object:
    text = text_in(fields_of(block), "text")
    return {"type": "text", "text": _AGENTS_FILE.sub("", text)} if text else block


CODEX = RecordFormat(
    name="codex",
    label="Codex session",
    description="`~/.codex/sessions/…/rollout-….jsonl`",
    speakers="you and Codex; subagents are left out",
    order="as written",
    times="UTC",
    recognises=_is_codex,
    continues=_continues_codex,
    read=_read_codex,
)


# Gemini CLI

_GEMINI_ROLES = {"user": "user", "gemini": "assistant"}


def _is_gemini_cli(value: object) -> bool:
    fields = fields_of(value)
    messages = list_of(fields.get("messages"))
    return "sessionId" in fields and any(fields_of(each).get("type") in _GEMINI_ROLES for each in messages)


def _read_gemini_cli(value: object) -> Iterator[Conversation]:
    fields = fields_of(value)
    left_out: Counter[str] = Counter()
    turns = []
    for message in map(fields_of, list_of(fields.get("messages"))):
        role = _GEMINI_ROLES.get(str(message.get("type")))
        if role is None:
            left_out["notice"] += 1
            continue
        left_out["thinking"] += len(list_of(message.get("thoughts")))
        left_out["tool call"] += len(list_of(message.get("toolCalls")))
        turns.append({**message, "role": role, "content": message.get("content") or ""})
    yield build_conversation(turns, id=fields.get("sessionId"), title=fields.get("summary"), left_out=left_out)


GEMINI_CLI = JsonFormat(
    name="gemini-cli",
    label="Gemini CLI session",
    description="`~/.gemini/tmp/…/chats/session-….json`",
    speakers="you and Gemini",
    order="as written",
    times="UTC",
    recognises=_is_gemini_cli,
    read=_read_gemini_cli,
)


# Copilot Chat


def _is_copilot_chat(value: object) -> bool:
    fields = fields_of(value)
    return isinstance(fields.get("requests"), list) and "responderUsername" in fields


def _read_copilot_chat(value: object) -> Iterator[Conversation]:
    fields = fields_of(value)
    left_out: Counter[str] = Counter()
    turns: list[object] = []
    for request in map(fields_of, list_of(fields.get("requests"))):
        message = request.get("message")
        asked = message if isinstance(message, str) else fields_of(message).get("text")
        time = request.get("timestamp")
        left_out["attachment"] += len(list_of(fields_of(request.get("variableData")).get("variables")))
        turns.append({"id": request.get("requestId"), "role": "user", "content": asked, "timestamp": time})
        answer = _copilot_answer(list_of(request.get("response")), left_out)
        turns.append({"id": request.get("responseId"), "role": "assistant", "content": answer, "timestamp": time})
    yield build_conversation(
        turns, id=fields.get("sessionId"), title=text_in(fields, "customTitle", "computedTitle"), left_out=left_out
    )


def _copilot_answer(parts: Sequence[object], left_out: Counter[str]) -> list[object]:
    """The parts of an answer that are text; those of a kind are tool calls, thoughts, edits and the like."""
    texts: list[object] = []
    for part in map(fields_of, parts):
        kind = str(part.get("kind", "markdownContent"))
        if kind in ("markdownContent", "markdownVuln"):
            value = part.get("value", part.get("content"))
            texts.append(value if isinstance(value, str) else fields_of(value).get("value"))
        elif kind == "thinking":
            left_out["thinking"] += 1
        elif kind.startswith(("toolInvocation", "prepareToolInvocation")):
            left_out["tool call"] += 1
    return texts


COPILOT_CHAT = JsonFormat(
    name="copilot-chat",
    label="Copilot Chat export",
    description="JSON of “Chat: Export Chat…” in Visual Studio Code",
    speakers="you and Copilot",
    order="as written",
    times="UTC, of each request",
    recognises=_is_copilot_chat,
    read=_read_copilot_chat,
)
