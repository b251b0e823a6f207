"""Chats between people out of Slack, Discord, Telegram and Messenger, which know their people by ids.

Notices, forwarded messages and bots are told apart from what a person said; namesakes get names of their own.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from ..conversation import Conversation, Outcome, Unreadable, build_conversation, name_apart
from .kinds import Fields, JsonFormat, RecordFormat, fields_of, list_of, text_in

__all__ = ["DISCORD", "MESSENGER", "SLACK", "TELEGRAM", "is_slack_people", "read_slack_channel", "slack_people"]


# Slack

_SAID_ON_SLACK = frozenset({None, "me_message", "thread_broadcast", "file_share", "bot_message", "file_comment"})
_SLACK_LINK = re.compile(r"<(?P<mark>[@#!]?)(?P<target>[^<>|]+)(?:\|(?P<label>[^<>]*))?>")
_WITHOUT_USERS = (
    "this looks like a Slack workspace export without users.json: its messages name people by ids such as {id}. "
    "Choose the ZIP of the export, which holds users.json and every channel."
)


def _is_slack(value: object) -> bool:
    fields = fields_of(value)
    return (
        fields.get("type") == "message"
        and isinstance(fields.get("ts"), str)
        and not fields.keys().isdisjoint({"user", "bot_id", "subtype"})
    )


def is_slack_people(value: object) -> bool:
    """Whether a JSON value is one person of users.json."""
    fields = fields_of(value)
    return isinstance(fields.get("profile"), Mapping) and {"id", "team_id"} <= fields.keys()


def slack_people(users: Iterator[object]) -> dict[str, tuple[str, str]]:
    """The display names and handles of a workspace's people, by their ids."""
    return {str(person["id"]): _slack_names(person) for person in map(fields_of, users) if "id" in person}


def _slack_names(person: Fields) -> tuple[str, str]:
    profile = fields_of(person.get("profile"))
    shown = text_in(profile, "display_name", "real_name") or text_in(person, "real_name", "name")
    return shown, text_in(person, "name")


def _read_slack(records: Iterator[object]) -> Iterator[Outcome]:
    messages = list(records)
    people = {
        str(fields.get("user")): _slack_names({"profile": profile, "name": profile.get("name")})
        for fields in map(fields_of, messages)
        if (profile := fields_of(fields.get("user_profile")))
    }
    nameless = next((user for each in messages if isinstance(user := fields_of(each).get("user"), str)), None)
    if not people and nameless is not None:
        yield Unreadable("the channel", _WITHOUT_USERS.format(id=nameless))
        return
    yield read_slack_channel(messages, people)


def read_slack_channel(
    messages: Sequence[object], people: Mapping[str, tuple[str, str]], *, channel: str = ""
) -> Conversation:
    """The conversation of a channel out of the messages of all its days; replies stand where they were written."""
    by_time = sorted(map(fields_of, messages), key=lambda each: str(each.get("ts")))
    heard = dict.fromkeys(str(each["user"]) for each in by_time if each.get("user"))
    names, notes = name_apart({id: people[id] for id in heard if id in people})
    unknown = [id for id in heard if id not in people]
    if unknown:
        notes.append(f"The export does not name {', '.join(unknown[:5])}{' and others' if len(unknown) > 5 else ''}.")
    known = {id: name for id, (name, _) in people.items()} | names
    left_out: Counter[str] = Counter()
    turns = [turn for each in by_time if (turn := _slack_turn(each, known, left_out)) is not None]
    return build_conversation(turns, id=channel, title=f"#{channel}" if channel else "", left_out=left_out, notes=notes)


def _slack_turn(message: Fields, names: Mapping[str, str], left_out: Counter[str]) -> Fields | None:
    subtype = message.get("subtype")
    if subtype not in _SAID_ON_SLACK or message.get("hidden") is True:
        left_out["deleted message" if subtype == "tombstone" else "notice"] += 1
        return None
    files, text = len(list_of(message.get("files"))), message.get("text")
    left_out["file"] += files
    if files and not text:
        return None
    is_bot = subtype == "bot_message" or (message.get("bot_id") is not None and not message.get("client_msg_id"))
    user = str(message.get("user") or message.get("bot_id"))
    profile = fields_of(message.get("bot_profile"))
    return {
        "id": message.get("client_msg_id") or message.get("ts"),
        "role": "assistant" if is_bot else "user",
        "name": (text_in(message, "username") or text_in(profile, "name")) if is_bot else names.get(user, user),
        "content": _slack_text(text, names) if isinstance(text, str) else text,
        "timestamp": message.get("ts"),
    }


def _slack_text(text: str, names: Mapping[str, str]) -> str:
    """The text with mentions by name, links by their words, and the three characters that Slack escapes."""

    def spell(found: re.Match[str]) -> str:
        mark, target, label = found["mark"], found["target"], found["label"]
        if mark == "@":
            return f"@{names.get(target, label or target)}"
        shown = label or target
        return f"{mark.replace('!', '@')}{shown.lstrip('@#')}" if mark else shown

    return html.unescape(_SLACK_LINK.sub(spell, text))


SLACK = RecordFormat(
    name="slack",
    label="Slack export",
    description="the ZIP of a workspace export, or a day of a channel whose messages hold `user_profile`",
    speakers="everyone by their display name; bots are the assistant",
    order="by time, replies among them; a conversation for each channel",
    times="UTC",
    recognises=_is_slack,
    read=_read_slack,
)


# Discord

_SAID_ON_DISCORD = frozenset({"Default", "Reply", "ChatInputCommand", "ContextMenuCommand"})
_DISCORD_PARTS = {"attachments": "file", "stickers": "sticker", "embeds": "embedded page"}


def _is_discord(value: object) -> bool:
    fields = fields_of(value)
    return {"guild", "channel"} <= fields.keys() and isinstance(fields.get("messages"), list)


def _read_discord(value: object) -> Iterator[Conversation]:
    fields = fields_of(value)
    guild, channel = fields_of(fields.get("guild")), fields_of(fields.get("channel"))
    messages = [fields_of(each) for each in list_of(fields.get("messages"))]
    authors = [fields_of(each.get("author")) for each in messages]
    names, notes = name_apart({str(each.get("id")): _discord_names(each) for each in authors})
    left_out: Counter[str] = Counter()
    turns = [turn for each in messages if (turn := _discord_turn(each, names, left_out)) is not None]
    places = [text_in(guild, "name"), text_in(channel, "name")]
    title = " / ".join(place for place in places if place)
    yield build_conversation(turns, id=channel.get("id"), title=title, left_out=left_out, notes=notes)


def _discord_names(author: Fields) -> tuple[str, str]:
    name, number = text_in(author, "name"), text_in(author, "discriminator")
    handle = name if number in ("", "0", "0000") else f"{name}#{number}"
    return text_in(author, "nickname", "name"), handle


def _discord_turn(message: Fields, names: Mapping[str, str], left_out: Counter[str]) -> Fields | None:
    if message.get("type") not in _SAID_ON_DISCORD:
        left_out["notice"] += 1
        return None
    beside = Counter({label: len(list_of(message.get(part))) for part, label in _DISCORD_PARTS.items()})
    beside["forwarded message"] = int(bool(message.get("forwardedMessage")))
    left_out.update(beside)
    author, content = fields_of(message.get("author")), message.get("content")
    if not content and beside.total():
        return None
    return {
        "id": message.get("id"),
        "role": "assistant" if author.get("isBot") is True else "user",
        "name": names[str(author.get("id"))],
        "content": content,
        "timestamp": message.get("timestamp"),
    }


DISCORD = JsonFormat(
    name="discord",
    label="Discord export",
    description="a channel as JSON of DiscordChatExporter",
    speakers="everyone by their nickname; bots are the assistant",
    order="as written",
    times="as written, with their zone",
    recognises=_is_discord,
    read=_read_discord,
)


# Telegram

_TELEGRAM_MEDIA = {
    "voice_message": "voice message",
    "video_message": "video",
    "video_file": "video",
    "animation": "video",
    "audio_file": "audio",
    "sticker": "sticker",
}
_TELEGRAM_PARTS = {
    "photo": "image",
    "file": "file",
    "location_information": "location",
    "contact_information": "contact",
    "poll": "poll",
}


def _is_telegram_chat(value: object) -> bool:
    messages = list_of(fields_of(value).get("messages"))
    return "type" in fields_of(value) and any("from_id" in fields_of(each) for each in messages)


def _telegram_chats(value: object) -> Sequence[object]:
    """The chats of a whole account, or the one chat that was exported."""
    fields = fields_of(value)
    whole = [
        chat
        for part in ("chats", "left_chats")
        for chat in list_of(fields_of(fields.get(part)).get("list"))
        if "messages" in fields_of(chat)
    ]
    return whole or ([value] if _is_telegram_chat(value) else [])


def _read_telegram(value: object) -> Iterator[Conversation]:
    for chat in map(fields_of, _telegram_chats(value)):
        messages = [fields_of(each) for each in list_of(chat.get("messages"))]
        senders = {str(each["from_id"]): text_in(each, "from") for each in messages if "from_id" in each}
        names, notes = name_apart({id: (name or "Deleted account", id) for id, name in senders.items()})
        bots = {id for id, name in senders.items() if chat.get("type") == "bot_chat" and name == chat.get("name")}
        left_out: Counter[str] = Counter()
        turns = [turn for each in messages if (turn := _telegram_turn(each, names, bots, left_out)) is not None]
        number = chat.get("id")
        yield build_conversation(
            turns,
            id=str(number) if isinstance(number, int) else number,
            title=text_in(chat, "name") or str(chat.get("type", "")).replace("_", " ").capitalize(),
            left_out=left_out,
            notes=notes,
        )


def _telegram_turn(message: Fields, names: Mapping[str, str], bots: set[str], left_out: Counter[str]) -> Fields | None:
    if message.get("type") != "message":
        left_out["notice"] += 1
        return None
    if "forwarded_from" in message or "forwarded_from_id" in message:
        left_out["forwarded message"] += 1
        return None
    media = message.get("media_type")
    kinds = [_TELEGRAM_MEDIA.get(str(media), "file")] if media else []
    kinds += [label for part, label in _TELEGRAM_PARTS.items() if part in message and not (media and part == "file")]
    left_out.update(kinds)
    content = _telegram_text(message.get("text"))
    if not content and kinds:
        return None
    sender = str(message.get("from_id"))
    return {
        "id": message.get("id"),
        "role": "assistant" if sender in bots else "user",
        "name": names.get(sender, sender),
        "content": content,
        "timestamp": message.get("date_unixtime") or message.get("date"),
    }


def _telegram_text(text: object) -> object:
    """The words of a message, whose marked parts stand in objects of their own."""
    if not isinstance(text, list):
        return text
    return "".join(part if isinstance(part, str) else text_in(fields_of(part), "text") for part in text)


TELEGRAM = JsonFormat(
    name="telegram",
    label="Telegram export",
    description="`result.json` of a chat or of the whole account",
    speakers="everyone by name; forwarded messages are left out; a bot is the assistant",
    order="as written; a conversation for each chat",
    times="UTC",
    recognises=lambda value: bool(_telegram_chats(value)),
    read=_read_telegram,
)


# Messenger and Instagram

_META_MEDIA = {
    "photos": "image",
    "videos": "video",
    "audio_files": "voice message",
    "files": "file",
    "gifs": "video",
    "sticker": "sticker",
    "media": "file",
    "share": "shared link",
}


def _is_messenger(value: object) -> bool:
    fields = fields_of(value)
    messages = list_of(fields.get("messages"))
    named = any({"sender_name", "senderName"} & fields_of(each).keys() for each in messages)
    return isinstance(fields.get("participants"), list) and named


def _read_messenger(value: object) -> Iterator[Conversation]:
    fields = fields_of(value)
    mend = _mend if "threadName" not in fields else str
    messages = sorted(map(fields_of, list_of(fields.get("messages"))), key=_meta_time)
    left_out: Counter[str] = Counter()
    turns = [turn for each in messages if (turn := _meta_turn(each, mend, left_out)) is not None]
    title = mend(text_in(fields, "title", "threadName"))
    yield build_conversation(turns, id=text_in(fields, "thread_path", "threadName"), title=title, left_out=left_out)


def _meta_time(message: Fields) -> int:
    time = message.get("timestamp_ms", message.get("timestamp"))
    return time if isinstance(time, int) else 0


def _meta_turn(message: Fields, mend: Callable[[str], str], left_out: Counter[str]) -> Fields | None:
    if message.get("isUnsent") is True or message.get("is_unsent") is True:
        left_out["deleted message"] += 1
        return None
    if message.get("type") not in (None, "text", "media", "Generic", "Share"):
        left_out["notice"] += 1
        return None
    kinds = [label for part, label in _META_MEDIA.items() if message.get(part)]
    left_out.update(kinds)
    content = mend(text_in(message, "content", "text"))
    if not content and kinds:
        return None
    return {
        "role": "user",
        "name": mend(text_in(message, "sender_name", "senderName")),
        "content": content,
        "timestamp": _meta_time(message) or None,
    }


def _mend(text: str) -> str:
    """The text as it was written: Meta exports the bytes of UTF-8 as if each were a character."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


MESSENGER = JsonFormat(
    name="messenger",
    label="Messenger or Instagram export",
    description="`message_1.json` of a chat, or a chat of Messenger's own export",
    speakers="everyone by name",
    order="by time",
    times="UTC",
    recognises=_is_messenger,
    read=_read_messenger,
)
