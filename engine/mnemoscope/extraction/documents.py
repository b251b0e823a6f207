"""Documents: memories of a form that the developer names by a Pydantic class, and their place in a stored item.

The text of a document is what is embedded and shown; its fields stand in the item's metadata, under "document".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from ..conversations.messages import Message
from ..core.payloads import cleaned_object
from ..core.text import shown
from ..errors import ConfigurationError, ModelCall
from ..models.answers import ListForm
from ..models.client import Asker, prompt_text
from ..models.lenient import read_as, say_problem
from .echoes import Recalled
from .facts import Extraction
from .llm import PART_CHARACTERS, LLMExtractor
from .proposals import Sieve

__all__ = ["FIELDS", "SCHEMA", "DocumentExtractor", "document_fields", "document_metadata", "document_text"]


SCHEMA, FIELDS = "schema", "document"
"""The keys of an item's metadata that name a document's class and hold its fields."""


def document_fields(document: BaseModel) -> dict[str, Any]:
    """The fields of a document as JSON."""
    fields: dict[str, Any] = document.model_dump(mode="json")
    return fields


def document_text(fields: Mapping[str, Any]) -> str:
    """The text of a document: its only field, or a line for every field that says something."""
    said = {name: _shown(value) for name, value in fields.items() if value not in (None, "", [], {})}
    if len(fields) == 1:
        return "".join(said.values())
    return "\n".join(f"{name}: {text}" for name, text in said.items())


def document_metadata(schema: type[BaseModel], fields: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a document in the metadata of its item."""
    return {SCHEMA: schema.__name__, FIELDS: dict(fields)}


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


MISFIT = "document that does not fit its schema"
"""Under which name a document is counted whose fields the schema refuses."""


class DocumentExtractor(LLMExtractor):
    """Extracts documents with a chat model: one call a conversation, as `LLMExtractor` does with facts.

    A document becomes a fact whose text is its fields; they are kept beside it in the memory's metadata. One that its
    schema refuses, or that the conversation does not bear out, is held back and counted.

    Args:
        model: a LangChain chat model, or a name that `init_chat_model` takes.
        schemas: Pydantic classes; the docstring of each tells the model what it is for.
        instructions: what else the model should know, added to the prompt.
        part_characters: how much of a conversation one call is shown.

    Raises:
        ConfigurationError: there is no such model, no schema, or two schemas of one name.
    """

    def __init__(
        self,
        model: Any,
        schemas: Sequence[type[BaseModel]],
        *,
        instructions: str = "",
        part_characters: int = PART_CHARACTERS,
    ) -> None:
        prompt = "\n\n".join(part for part in (prompt_text("documents"), instructions) if part)
        super().__init__(model, prompt=prompt, part_characters=part_characters)
        self.schemas = _by_name(schemas)
        form = ListForm(_shape(schemas), key="documents", mark="document", check=self._say_misfit)
        self._asker = Asker(model, form, "extract")

    def _sieve(self, messages: Sequence[Message], own: Mapping[str, str], recalled: Recalled) -> Sieve:
        return _DocumentSieve(messages, own, recalled, self.schemas)

    def _say_misfit(self, item: Mapping[str, object]) -> str | None:
        """What is wrong with a document, so that a model all of whose documents are wrong is told so once."""
        schema = _schema_of(item, self.schemas)
        if schema is None:
            return f'"form" is {shown(item.get("form"))}, and must be one of {", ".join(self.schemas)}'
        try:
            read_as(schema, item["document"])
        except ValidationError as error:
            return f"the document {schema.__name__} is refused: {say_problem(error)}"
        return None


class _DocumentSieve(Sieve):
    """Takes documents: each goes through as a fact with its text, and its fields are put to that fact again."""

    def __init__(
        self,
        messages: Sequence[Message],
        own: Mapping[str, str],
        recalled: Recalled,
        schemas: Mapping[str, type[BaseModel]],
    ) -> None:
        super().__init__(messages, own, recalled)
        self._schemas = schemas
        self._documents: dict[str, dict[str, Any]] = {}

    def take(self, items: Sequence[object], *, read_before: frozenset[str] = frozenset()) -> None:
        proposals = [proposal for item in items if (proposal := self._proposal(item)) is not None]
        self.held_back[MISFIT] += len(items) - len(proposals)
        super().take(proposals, read_before=read_before)

    def extraction(self, calls: tuple[ModelCall, ...]) -> Extraction:
        found = super().extraction(calls)
        documented = [
            fact.model_copy(update={"metadata": self._documents.get(fact.content, {})}) for fact in found.facts
        ]
        return replace(found, facts=documented)

    def _proposal(self, item: object) -> dict[str, Any] | None:
        schema = _schema_of(item, self._schemas) if isinstance(item, Mapping) else None
        if schema is None or not isinstance(item, Mapping):
            return None
        try:
            fields = cleaned_object(document_fields(read_as(schema, item.get("document"))))
        except ValidationError:
            return None
        text = document_text(fields).strip()
        self._documents[text] = document_metadata(schema, fields)
        return {**item, "content": text}


def _schema_of(item: Mapping[str, object], schemas: Mapping[str, type[BaseModel]]) -> type[BaseModel] | None:
    """The class that a document names, in whatever letter case; where there is one class alone, it."""
    named = str(item.get("form")).casefold()
    found = (schema for name, schema in schemas.items() if name.casefold() == named or len(schemas) == 1)
    return next(found, None)


def _by_name(schemas: Sequence[type[BaseModel]]) -> dict[str, type[BaseModel]]:
    for schema in schemas:
        if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
            raise ConfigurationError(f"A schema is a Pydantic class, got {shown(schema)}.")
    named = {schema.__name__: schema for schema in schemas}
    if not schemas or len(named) < len(schemas):
        raise ConfigurationError("schemas must be one Pydantic class or more, each of another name.")
    return named


def _shape(schemas: Sequence[type[BaseModel]]) -> type[BaseModel]:
    """What the model is asked for: a list of documents, each of one of the forms."""
    forbid = ConfigDict(extra="forbid")
    forms: list[Any] = [
        create_model(
            f"{schema.__name__}Document",
            __config__=forbid,
            form=(_literal(schema.__name__), ...),
            document=(schema, ...),
            importance=(float, Field(description="From 0 (trivia) to 1 (must never be forgotten).")),
            categories=(list[str], Field(description="One to three short lower-case words.")),
            quote=(str, Field(description="The words it rests on, copied letter by letter from one message.")),
            message_ids=(list[str], Field(description="Ids of the messages that hold the quote.")),
        )
        for schema in schemas
    ]
    either: Any = forms[0]
    for form in forms[1:]:
        either = either | form
    made: type[BaseModel] = create_model("Documents", __config__=forbid, documents=(list[either], ...))
    return made


def _literal(name: str) -> Any:
    return Literal[name]
