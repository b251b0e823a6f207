"""The offline extractor: durable statements of the person become facts by rules, without a model.

What counts stands in `tables`; what must not become a fact is told by `screening`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...conversations.messages import Message
from ...core.text import normalise, one_line
from ..facts import ExtractedFact, Extraction
from ..screening import is_joke, is_question, is_supposition, looks_like_instruction, looks_like_secret
from ..sentences import Sentence, masked, read_prose
from .tables import Rule, english_rules, match_language, phrase
from .voice import in_third_person

__all__ = ["RuleExtractor"]


_SUBJECT = "User"
_LONGEST_FACT = 400
_NOTED_IMPORTANCE = 0.7

_ROLE_LINE = re.compile(r"^[ \t]*(user|human|assistant|ai|system|tool)[ \t]*:[ \t]*", re.IGNORECASE | re.MULTILINE)
_USER_ROLES = frozenset({"user", "human"})
_NAMELESS = frozenset({"user", "human", "me", "i", "you", "customer", "client"})

_ASKS_TO_NOTE = re.compile(r"(?:can|could|would) you ", re.IGNORECASE)
_WHEN_FIRST = r"(?P<when>{when}),?\s+(?=(i|we|my|our)\b)"
_WHEN_ONLY = r"{lead}?{when}|{when}"
_ALSO = re.compile(r"^((?:i|we)(?:['’](?:m|re|ve))?) (?:also|even)(?= )", re.IGNORECASE)


@dataclass(frozen=True)
class _Found:
    """A statement that a rule recognised: the fact's text and the verbatim part it rests on."""

    content: str
    quote: str
    categories: tuple[str, ...]
    importance: float


class RuleExtractor:
    """Takes durable first-person statements out of a conversation; deterministic, offline, linear in its length.

    Preferences, facts about the person, decisions, commitments and corrections of user turns become short
    facts in the third person, or stay as they were said where the language is not English. Everything else
    is counted by reason in `Extraction.held_back`.
    """

    def __call__(self, text: str) -> list[ExtractedFact]:
        """The facts of a text. Lines that begin with a role, as in "user: …", are read as a conversation."""
        facts = self.extract(_messages_of(text)).facts
        return [fact.model_copy(update={"message_ids": []}) for fact in facts]

    def extract(self, messages: Sequence[Message]) -> Extraction:
        """The facts of a conversation, each with its quote and messages, and what was held back."""
        held_back: Counter[str] = Counter()
        facts: dict[tuple[str, str], ExtractedFact] = {}
        said_by: dict[tuple[str, str], dict[str, None]] = {}
        for message in messages:
            if message.role != "user":
                continue
            subject = _subject_of(message)
            for found in _found_in(message.text, subject, held_back):
                same = (subject, normalise(found.content))
                # What is said again counts from its last saying, so that it comes after what it corrects.
                held_back["said before"] += facts.pop(same, None) is not None
                facts[same] = _fact(found, message, subject)
                said_by.setdefault(same, {})[message.id] = None
        listed = [fact.model_copy(update={"message_ids": list(said_by[same])}) for same, fact in facts.items()]
        return Extraction(listed, dict(+held_back))


def _messages_of(text: str) -> list[Message]:
    marks = list(_ROLE_LINE.finditer(text))
    if not marks:
        return [Message(id="1", role="user", text=text)]
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    turns = [(mark.group(1).lower(), text[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]
    before = [("user", text[: marks[0].start()])]
    return [
        Message(id=str(at), role="user" if role in _USER_ROLES else "assistant", text=said)
        for at, (role, said) in enumerate(before + turns)
    ]


def _subject_of(message: Message) -> str:
    name = one_line(message.name or "")[:60]
    return _SUBJECT if not name or name.casefold() in _NAMELESS else name


def _fact(found: _Found, message: Message, subject: str) -> ExtractedFact:
    return ExtractedFact(
        content=found.content,
        categories=list(found.categories),
        importance=found.importance,
        quote=found.quote,
        message_ids=[message.id],
        subject=subject,
        said_at=message.said_at,
    )


def _found_in(text: str, subject: str, held_back: Counter[str]) -> Iterator[_Found]:
    prose = read_prose(text)
    held_back.update(prose.set_apart)
    sentences = prose.sentences
    for at, sentence in enumerate(sentences):
        if looks_like_instruction(sentence.text):
            # Whatever follows an attempt to steer the memory is not trusted either.
            held_back["instruction"] += len(sentences) - at
            return
        if looks_like_secret(sentence.text):
            held_back["secret"] += 1
        elif is_joke(sentence.text) or (at + 1 < len(sentences) and is_joke(sentences[at + 1].text)):
            held_back["joke"] += 1
        else:
            yield from _statements(sentence, subject, held_back)


def _statements(sentence: Sentence, subject: str, held_back: Counter[str]) -> Iterator[_Found]:
    hidden = masked(sentence.text)
    noted = phrase("{noted}").match(hidden, _lead_end(hidden))
    if noted and is_question(hidden) and not _ASKS_TO_NOTE.match(noted.group()):
        noted = None
    clauses = _clauses(sentence.text, hidden, from_=noted.end() if noted else 0)
    if noted is None and is_question(hidden):
        clauses = [] if len(clauses) < 2 or phrase("{tag_question}").search(hidden) else clauses
    found = [each for clause in clauses if (each := _statement(*clause, subject, noted=noted is not None))]
    if found:
        yield from found
    else:
        held_back[_why_not(hidden)] += 1


def _why_not(hidden: str) -> str:
    if is_question(hidden):
        return "question"
    if is_supposition(hidden):
        return "supposition"
    return "quoted" if "¤" in hidden else "nothing durable"


def _lead_end(hidden: str) -> int:
    lead = phrase("{lead}").match(hidden)
    return lead.end() if lead else 0


def _clauses(text: str, hidden: str, *, from_: int) -> list[tuple[str, str]]:
    """The sentence cut where a new statement or a request begins, each as it was said and with quotations hidden."""
    clauses, begin = [], from_
    for cut in [*phrase("{clause_break}").finditer(hidden, from_), None]:
        if cut and (
            phrase(_WHEN_ONLY).fullmatch(hidden, begin, cut.start())
            or phrase("{lead}").fullmatch(hidden, begin, cut.end())
        ):
            continue
        end = cut.start() if cut else len(text)
        if text[begin:end].strip():
            clauses.append((text[begin:end].strip(), hidden[begin:end].strip()))
        begin = cut.end() if cut else end
    return clauses


def _statement(clause: str, hidden: str, subject: str, *, noted: bool) -> _Found | None:
    end = phrase("{tail}").search(hidden)
    stop = end.start() if end else len(hidden)
    start = min(_lead_end(hidden), stop)
    if (is_question(hidden) and not noted) or stop - start > _LONGEST_FACT:
        return None
    when = phrase(_WHEN_FIRST).match(hidden, start)
    body = slice(when.end() if when else start, stop)
    said, seen = _without_also(clause[body]), _without_also(hidden[body])
    if is_supposition(hidden):
        return None
    vague = _is_vague(seen)
    for rule in english_rules():
        if (match := rule.pattern.match(seen)) and _holds(rule, hidden) and (rule.addresses_agent or not vague):
            content = _content(rule, match, said, subject)
            content = f"{content} {_lowered(when['when'])}" if when else content
            return _Found(_as_fact(content), clause, rule.categories, rule.importance)
    if other := match_language(seen):
        return _Found(_as_fact(said), clause, other[0].categories, other[0].importance)
    if noted and phrase("{about_person}").search(seen) and not phrase("{to_agent}").search(seen):
        return _Found(_as_fact(in_third_person(said, subject)), clause, ("note",), _NOTED_IMPORTANCE)
    return None


def _without_also(text: str) -> str:
    return _ALSO.sub(r"\1", text, count=1)


def _is_vague(seen: str) -> bool:
    """Whether it leans on something said elsewhere: "I take them to the park", "I'd love to"."""
    return bool(phrase("{vague}").search(" ".join(seen.split()[1:5])) or phrase("{unfinished}").search(seen.strip()))


def _holds(rule: Rule, hidden: str) -> bool:
    if not rule.addresses_agent and phrase("{to_agent}").search(hidden):
        return False
    return not (rule.lasting and phrase("{momentary}").search(hidden))


def _content(rule: Rule, match: re.Match[str], said: str, subject: str) -> str:
    if rule.rewrite is None:
        return in_third_person(said, subject)
    groups = {name: said[match.start(name) : match.end(name)].strip() for name in match.groupdict()}
    return rule.rewrite.format(subject=subject, clause=_lowered(said), **groups)


def _as_fact(content: str) -> str:
    line = one_line(content).replace("gonna ", "going to ")
    return line[:1].upper() + line[1:]


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
