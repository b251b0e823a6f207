"""Files that people choose and that hold no conversation: what they are, and which file to choose instead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .kinds import fields_of, list_of
from .messengers import is_slack_people

__all__ = ["why_json_is_refused", "why_text_is_refused"]


@dataclass(frozen=True)
class _JsonRefusal:
    """A kind of JSON value that is known and not read: how it is told, what it is, and the way out."""

    recognises: Callable[[object], bool]
    reason: str


@dataclass(frozen=True)
class _TextRefusal:
    """A kind of text that is known and not read: what its beginning holds, what it is, and the way out."""

    marks: tuple[str, ...]
    reason: str


def _has(*names: str) -> Callable[[object], bool]:
    return lambda value: set(names) <= fields_of(value).keys()


_JSON_REFUSALS = (
    _JsonRefusal(
        is_slack_people,
        "this is users.json of a Slack export: its people, and not what they said. Choose the ZIP of the export.",
    ),
    _JsonRefusal(
        lambda value: "members" in fields_of(value) and "creator" in fields_of(value),
        "this is a list of the channels of a Slack export, and not what was said there. Choose the ZIP of the export.",
    ),
    _JsonRefusal(
        _has("conversation_id", "is_anonymous"),
        "this is the list of chats that were shared from ChatGPT. Choose conversations.json of the export.",
    ),
    _JsonRefusal(
        _has("chatgpt_plus_user"),
        "this is the account of a ChatGPT export. Choose conversations.json.",
    ),
    _JsonRefusal(
        _has("uuid", "docs", "prompt_template"),
        "this is a project of a Claude export, and no chat. Choose conversations.json.",
    ),
    _JsonRefusal(
        _has("uuid", "full_name", "email_address"),
        "this is the account of a Claude export. Choose conversations.json.",
    ),
    _JsonRefusal(
        _has("conversations_memory"),
        "this is what Claude remembered by itself, and no chat. Choose conversations.json.",
    ),
    _JsonRefusal(
        _has("display", "timestamp", "project"),
        "this is the list of prompts that were typed into Claude Code. Choose a session: "
        "~/.claude/projects/…/<session>.jsonl.",
    ),
    _JsonRefusal(
        _has("session_id", "ts", "text"),
        "this is the list of prompts that were typed into Codex. Choose a session: "
        "~/.codex/sessions/…/rollout-….jsonl.",
    ),
    _JsonRefusal(
        _has("ID", "Timestamp", "Contents"),
        "this is your own half of a Discord chat, as Discord sends it to you. Export the channel as JSON with "
        "DiscordChatExporter to have both sides.",
    ),
    _JsonRefusal(
        _has("header", "title", "time"),
        "this is Google's activity of another product than Gemini.",
    ),
    _JsonRefusal(
        lambda value: (
            {"creator", "created_date"} <= fields_of(next(iter(list_of(fields_of(value).get("messages"))), 0)).keys()
        ),
        "this is a Google Chat export, which cannot be read yet. Save the conversation as text or CSV.",
    ),
    _JsonRefusal(
        _has("channel_values", "channel_versions"),
        "this is one raw checkpoint of LangGraph. Save the thread's state or history instead, or open the checkpointer "
        "as threads.",
    ),
)
_TEXT_REFUSALS = (
    _TextRefusal(
        ("var jsonData",),
        "this is chat.html, the page of a ChatGPT export. Choose conversations.json of the same export.",
    ),
    _TextRefusal(
        ("tgme", "message default clearfix"),
        "this is a Telegram chat exported as HTML. Export it again as “Machine-readable JSON” and choose result.json.",
    ),
    _TextRefusal(
        ("chatlog__message",),
        "this is a Discord channel exported as HTML. Export it again as JSON with DiscordChatExporter.",
    ),
    _TextRefusal(
        ("_a6-p", "pam _3-95"),
        "this is a Messenger or Instagram chat exported as HTML. Export it again as JSON.",
    ),
    _TextRefusal(
        ("<!doctype html", "<html"),
        "this is a web page. Save the conversation as JSON, Markdown or text.",
    ),
    _TextRefusal(("{\\rtf",), "this is a rich text document. Save it as plain text."),
    _TextRefusal(("From ", "MIME-Version:"), "this is mail. Save the conversation as text or CSV."),
)


def why_json_is_refused(value: object) -> str | None:
    """What a JSON value of no format is, where that is known, with the way out."""
    return next((row.reason for row in _JSON_REFUSALS if row.recognises(value)), None)


def why_text_is_refused(head: str) -> str | None:
    """What a text of no format is, where that is known, with the way out."""
    start = head.casefold()
    for row in _TEXT_REFUSALS:
        marks = [mark.casefold() for mark in row.marks]
        needs_all = row.marks[0] == "From "
        if (all if needs_all else any)(mark in start for mark in marks):
            return row.reason
    return None
