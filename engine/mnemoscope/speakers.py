"""Who speaks in a transcript: which labels are speakers at all, and which of them is the assistant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from .messages import Role
from .text import normalise

__all__ = ["role_of_speaker", "speakers_among"]

_WORDS: Mapping[Role, str] = {
    "user": "user human me you customer client caller usuario utilisateur utente benutzer nutzer пользователь "
    "ユーザー 用户 用戶 사용자 المستخدم उपयोगकर्ता",
    "assistant": "assistant ai bot agent chatbot chatgpt claude gpt gemini copilot llm model asistente assistente "
    "assistent ассистент アシスタント 助手 어시스턴트 المساعد सहायक",
    "system": "system developer",
    "tool": "tool function",
}
_ROLE_OF: Mapping[str, Role] = {word: role for role, words in _WORDS.items() for word in words.split()}
_MOST_WORDS = 5
_NO_NAMES = frozenset(
    {"note", "notes", "nb", "ps", "p.s.", "update", "edit", "subject", "date", "re", "fwd", "todo", "warning", "tip"}
)


def role_of_speaker(label: str) -> Role | None:
    """The role that a label names in so many words ("User", "AI", "ChatGPT said"), or None for a person."""
    return _ROLE_OF.get(normalise(label).removesuffix(" said"))


def speakers_among(labels: Iterable[str]) -> frozenset[str]:
    """Those of the labels found in a transcript that are speakers, and not words before a colon.

    Where both a user and an assistant are labelled as such, only such labels are speakers. Else everyone with a
    name is; a label that comes once must have every word written large, so that "To be exact:" is none.
    """
    times = Counter(labels)
    roles = {label: role for label in times if (role := role_of_speaker(label)) is not None}
    if {"user", "assistant"} <= set(roles.values()):
        return frozenset(roles)
    return frozenset({*roles, *(label for label in times if _is_name(label, once=times[label] == 1))})


def _is_name(label: str, *, once: bool) -> bool:
    words = label.split()
    if not 0 < len(words) <= _MOST_WORDS or normalise(label) in _NO_NAMES:
        return False
    return not any(word[0].islower() for word in (words if once else words[:1]))
