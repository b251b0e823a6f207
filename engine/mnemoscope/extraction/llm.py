"""`LLMExtractor`: facts out of a conversation by a chat model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ..conversations.messages import Message, read_messages
from ..core.execution import Step, Steps, arun, run
from ..errors import ConfigurationError, ModelCall, ModelError
from ..models.answers import ListForm
from ..models.chunks import Part, fenced, parts_of
from ..models.client import PROVIDER_FAILURES, REPAIRED, Asker, Prompt, prompt_version
from .echoes import Recalled, find_recalled, without_blanks
from .facts import ExtractedFact, Extraction
from .proposals import Sieve

__all__ = ["PART_CHARACTERS", "LLMExtractor"]


PART_CHARACTERS = 40_000
"""Characters of conversation that one call is shown; a longer one is read in parts."""

_LEAST_PART_CHARACTERS = 200
_SHOWN_ROLES = ("user", "assistant")


class _Fact(BaseModel):
    """One fact about a person, worth remembering for months."""

    model_config = ConfigDict(extra="forbid", title="Fact")

    content: str = Field(description="The fact in one short sentence that can be understood alone.")
    categories: list[str] = Field(description="One to three short lower-case words.")
    importance: float = Field(description="From 0 (trivia) to 1 (must never be forgotten).")
    quote: str = Field(description="The words it rests on, copied letter by letter from one message.")
    message_ids: list[str] = Field(description="Ids of the messages that hold the quote.")
    subject: str = Field(description="Whom the fact is about.")
    date: str | None = Field(description="The day the fact speaks of, ISO-8601; null if none was said.")


class _Facts(BaseModel):
    """The facts found in a conversation; an empty list if there are none."""

    model_config = ConfigDict(extra="forbid", title="Facts")

    facts: list[_Fact]


class LLMExtractor:
    """Extracts facts with a chat model.

    One call a conversation; one longer than `part_characters` is split between turns, and costs one call a part.
    One answer that cannot be read is asked for once more.

    Args:
        model: a LangChain chat model, or a name that `init_chat_model` takes.
        prompt: instructions instead of those that ship with the library, or what gives them at each call.
        part_characters: how much of a conversation one call is shown.

    Raises:
        ConfigurationError: there is no such model, or `part_characters` is below 200.
    """

    def __init__(
        self, model: Any, *, prompt: str | Callable[[], str] | None = None, part_characters: int = PART_CHARACTERS
    ) -> None:
        if part_characters < _LEAST_PART_CHARACTERS:
            raise ConfigurationError(
                f"LLMExtractor: part_characters must be at least {_LEAST_PART_CHARACTERS}, got {part_characters!r}."
            )
        self._asker = Asker(model, ListForm(_Facts, key="facts", mark="content"), "extract")
        self._part_characters = part_characters
        self._prompt = Prompt(prompt, "extract")

    @property
    def label(self) -> str:
        """The name under which it is shown."""
        return self._asker.model_name

    @property
    def prompt(self) -> str:
        """The instructions that the last call followed, or that the first one will."""
        return self._prompt.text

    @property
    def prompt_version(self) -> str:
        """A short name for the exact wording of its prompt."""
        return prompt_version(self.prompt)

    def __call__(self, text: str) -> list[ExtractedFact]:
        """The facts in a text."""
        return self.extract(read_messages(text).messages).facts

    def extract(self, messages: Sequence[Message]) -> Extraction:
        """The facts in a conversation, those that were held back, and the calls it took.

        Raises:
            ModelError: the model failed, or none of its answers could be read; it holds the calls.
        """
        return run(self._steps(messages))

    async def aextract(self, messages: Sequence[Message]) -> Extraction:
        """The asynchronous form of `extract`."""
        return await arun(self._steps(messages))

    def _steps(self, messages: Sequence[Message]) -> Steps[Extraction]:
        recalled = find_recalled(messages)
        blanked = {each.id: recalled.blanked(each) for each in messages if each.role in _SHOWN_ROLES}
        own = {id: text for id, (text, _) in blanked.items()}
        sieve = self._sieve(messages, own, recalled)
        sieve.held_back["recalled memory"] += sum(count for _, count in blanked.values())
        shown = [replace(each, text=without_blanks(own[each.id])) for each in messages if each.id in own]
        parts = parts_of([each for each in shown if each.text.strip()], self._part_characters)
        calls = yield from self._read_parts(parts, sieve)
        sieve.held_back = +sieve.held_back
        return sieve.extraction(calls)

    def _sieve(self, messages: Sequence[Message], own: Mapping[str, str], recalled: Recalled) -> Sieve:
        return Sieve(messages, own, recalled)

    def _read_parts(self, parts: Sequence[Part], sieve: Sieve) -> Steps[tuple[ModelCall, ...]]:
        calls: tuple[ModelCall, ...] = ()
        unread = 0
        instructions = yield Step(self._prompt.now)
        repairs = True
        for part in parts:
            try:
                answer = yield from self._asker.ask(instructions, fenced(part), repairs=repairs)
            except ModelError as error:
                repairs = repairs and not _is_repaired(error.calls)
                calls += error.calls
                error.calls = calls
                unread += 1
                # A provider that is down is down for every part, but one answer refused does not lose the others.
                if error.failure in PROVIDER_FAILURES or unread == len(parts):
                    raise
                sieve.held_back["in a part whose answer could not be read"] += len(part.messages)
                continue
            repairs = repairs and not _is_repaired(answer.calls)
            calls += answer.calls
            sieve.take(answer.items, read_before=part.read_before)
            if answer.is_partial:
                sieve.remarks["answer of which only a part could be read"] += 1
        return calls


def _is_repaired(calls: Sequence[ModelCall]) -> bool:
    return len(calls) > 1 and calls[0].failure in REPAIRED
