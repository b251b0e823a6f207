"""Profiles: one document for each user, changed field by field by what is said, with its history in the journal.

A profile stands in a namespace of its own below the user's, so that it is neither compared with single memories nor
changed by their consolidation.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from ..consolidation.remember import vectors_for
from ..consolidation.seen_turns import spoken, unread
from ..context import Context
from ..conversations.messages import Transcript
from ..core.execution import Step, Steps
from ..core.namespaces import Namespace
from ..core.payloads import cleaned_object
from ..core.records import MemoryRecord
from ..core.text import json_line, one_line, shown
from ..curation.edits import Patch, update_edit
from ..embedding.encode import embed_texts
from ..errors import ConfigurationError, ConflictError
from ..extraction.documents import FIELDS, document_fields, document_metadata, document_text
from ..extraction.echoes import find_recalled, without_blanks
from ..extraction.llm import PART_CHARACTERS
from ..extraction.proposals import Sieve
from ..journal.changes import Change, Edit
from ..models.answers import ListForm
from ..models.chunks import fenced, parts_of
from ..models.client import Asker, prompt_text
from ..models.lenient import read_as
from ..stores.base import StoreAdapter, StoredItem

__all__ = ["PROFILE_LABEL", "ProfileKeeper", "ProfilePatch", "patched_fields", "profile_namespace"]


PROFILE_LABEL = "profile"
"""The label of the namespace of a user's profiles, below the user's own."""

_NOTHING = "Nothing is known yet."
_ATTEMPTS = 3


def profile_namespace(namespace: Namespace) -> Namespace:
    """Where the profiles of a user's namespace are."""
    return (*namespace, PROFILE_LABEL)


@dataclass(frozen=True)
class ProfilePatch:
    """What is to become of a profile: its fields afterwards, why each changed field changes, and what was refused."""

    fields: Mapping[str, Any]
    why: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


def patched_fields(
    schema: type[BaseModel], fields: Mapping[str, Any], changes: Sequence[tuple[str, Any, str]]
) -> ProfilePatch:
    """The fields with the changes (name, value, why), one by one; a change that the schema refuses is left out.

    None takes a field back to its default.
    """
    now, why, refused = dict(fields), {}, {}
    for name, value, reason in changes:
        tried = {other: part for other, part in now.items() if other != name}
        try:
            made = read_as(schema, tried if value is None else {**tried, name: value})
        except ValidationError as error:
            refused[name] = one_line(str(error.errors()[0]["msg"]))
            continue
        after = cleaned_object(document_fields(made))
        if after.get(name) != now.get(name):
            now, why[name] = after, reason
    return ProfilePatch(now, why, refused)


class ProfileKeeper:
    """Keeps profiles of one form up to date with a chat model, one call a conversation.

    Raises:
        ConfigurationError: there is no such model, or the schema has a field without a default.
    """

    def __init__(self, model: Any, schema: type[BaseModel], *, instructions: str = "") -> None:
        self.schema = schema
        self.key = _checked(schema).__name__
        self.prompt = "\n\n".join(part for part in (prompt_text("profile"), instructions) if part)
        self._asker = Asker(model, ListForm(_shape(schema), key="changes", mark="field"), "profile")

    def read(self, item: StoredItem | None) -> dict[str, Any]:
        """The fields of a stored profile; the defaults where there is none, or where a field cannot be used."""
        found = MemoryRecord.from_item(item).metadata.get(FIELDS) if item is not None else None
        stored = found if isinstance(found, Mapping) else {}
        changes = [(name, value, "") for name, value in stored.items() if value is not None]
        return dict(patched_fields(self.schema, document_fields(self.schema()), changes).fields)

    def keep(
        self, context: Context, namespace: Namespace, transcript: Transcript, *, reason: str
    ) -> Steps[list[Change]]:
        """Change the profile of a user's namespace by the turns that were not read before.

        Each of these turns is held meanwhile, so that in this process nobody reads it twice.

        Raises:
            ModelError: the model failed; nothing is written, and the turns count as not read.
        """
        where = profile_namespace(namespace)
        new = yield from unread(context.adapter, where, transcript, context.now(), reader=self.key)
        held = [("turn", *where, mark.key) for mark in new.marks]
        return (yield from context.locks.while_held(held, self._keep(context, where, transcript, reason)))

    def _keep(self, context: Context, where: Namespace, transcript: Transcript, reason: str) -> Steps[list[Change]]:
        adapter, at = context.adapter, context.now()
        new = yield from unread(adapter, where, transcript, at, reader=self.key)
        if new.is_empty:
            return []
        (item,) = yield Step(adapter.get, ([(where, self.key)],))
        proposed = yield from self._propose(self.read(item), new.transcript)
        for attempt in range(_ATTEMPTS):
            patch = patched_fields(self.schema, self.read(item), proposed)
            edits = (yield from self._edits(adapter, item, where, patch, at, reason)) if patch.why else []
            commit = functools.partial(
                context.journal.commit, edits, actor=context.actor, also=new.marks, guards=new.guards
            )
            try:
                changes: list[Change] = yield Step(commit)
            except ConflictError:
                if attempt == _ATTEMPTS - 1:
                    raise
                new = yield from unread(adapter, where, transcript, at, reader=self.key)
                if new.is_empty:
                    return []
                (item,) = yield Step(adapter.get, ([(where, self.key)],))
            else:
                return changes
        raise AssertionError("the last attempt returns or raises")

    def _propose(self, fields: Mapping[str, Any], transcript: Transcript) -> Steps[list[tuple[str, Any, str]]]:
        """What the model would change, as far as people's own words bear it out."""
        messages = transcript.messages
        recalled = find_recalled(messages)
        own = {each.id: recalled.blanked(each)[0] for each in spoken(transcript)}
        said = [replace(each, text=without_blanks(own[each.id])) for each in messages if each.id in own]
        proposed: list[tuple[str, Any, str]] = []
        for part in parts_of([each for each in said if each.text.strip()], PART_CHARACTERS):
            now = {**fields, **{name: value for name, value, _ in proposed}}
            data = f"The profile, one JSON object:\n{json_line(now)}\n{fenced(part)}"
            answer = yield from self._asker.ask(self.prompt, data)
            proposed += _borne_out(answer.items, Sieve(messages, own, recalled))
        return proposed

    def _edits(
        self,
        adapter: StoreAdapter,
        item: StoredItem | None,
        where: Namespace,
        patch: ProfilePatch,
        at: datetime,
        reason: str,
    ) -> Steps[list[Edit]]:
        text = document_text(patch.fields) or _NOTHING
        vectors = yield from embed_texts(adapter, [text])
        metadata = document_metadata(self.schema, patch.fields)
        why = "; ".join([*(f"{name}: {words}" for name, words in patch.why.items()), reason])
        if item is None:
            record = MemoryRecord(self.key, where, text, metadata=metadata, created_at=at, last_accessed=at)
            return [Edit(where, self.key, "insert", None, record.to_value(), vectors_for(text, vectors), why)]
        change = Patch(text, metadata={**MemoryRecord.from_item(item).metadata, **metadata})
        return [update_edit(item, where, self.key, change, vectors, at, expected_revision=None, reason=why)]


def _checked(schema: object) -> type[BaseModel]:
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        raise ConfigurationError(f"profile must be a Pydantic class, got {shown(schema)}.")
    needed = [name for name, about in schema.model_fields.items() if about.is_required()]
    if needed:
        raise ConfigurationError(
            f"The profile {schema.__name__} needs a default for {', '.join(needed)}: nothing is known at first."
        )
    return schema


def _borne_out(items: Sequence[object], sieve: Sieve) -> list[tuple[str, Any, str]]:
    """The changes that people's own words bear out: name, value, and those words."""
    offered = {
        f"{at}. {item.get('field')}: {json_line(item.get('value'))}": item
        for at, item in enumerate(items)
        if isinstance(item, Mapping) and isinstance(item.get("field"), str)
    }
    sieve.take([{**item, "content": text} for text, item in offered.items()])
    facts = sieve.extraction(()).facts
    return [
        (str(offered[fact.content]["field"]), offered[fact.content].get("value"), json_line(fact.quote))
        for fact in facts
        if fact.content in offered
    ]


def _shape(schema: type[BaseModel]) -> type[BaseModel]:
    forbid = ConfigDict(extra="forbid")
    forms: list[Any] = [
        create_model(
            f"{name}_change",
            __config__=forbid,
            field=(_literal(name), ...),
            value=(_or_none(about.annotation), Field(description=about.description)),
            quote=(str, Field(description="The words it rests on, copied letter by letter from one message.")),
            message_ids=(list[str], Field(description="Ids of the messages that hold the quote.")),
        )
        for name, about in schema.model_fields.items()
    ]
    either: Any = forms[0]
    for form in forms[1:]:
        either = either | form
    made: type[BaseModel] = create_model("Changes", __config__=forbid, changes=(list[either], ...))
    return made


def _literal(name: str) -> Any:
    return Literal[name]


def _or_none(annotation: Any) -> Any:
    return annotation | None
