"""`Plan`: everything a `remember` would do, with reasons, before anything is written."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_type_hints

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from ..config import MemoryConfig
from ..conversations.messages import Message
from ..core.frozen import KeepsTuples
from ..core.namespaces import Namespace
from ..core.records import MemoryRecord
from ..core.text import shown
from ..core.validation import check_kind
from ..errors import InputError, ModelCall, ModelError
from ..extraction.facts import ConsolidationDecision, ExtractedFact, Similar, Withheld
from ..stores.base import StoredItem

__all__ = ["ChangeKind", "Outcome", "Plan", "PlannedChange", "PlannedFact", "Terms", "check_plan"]


ChangeKind: TypeAlias = Literal["insert", "update", "forget"]
Outcome: TypeAlias = Literal["insert", "update", "skip", "forget", "suppressed"]


@dataclass(frozen=True)
class Terms(KeepsTuples):
    """What the caller says of every fact of one call. `importance` None leaves each fact its own.

    `reason` is added to the reason of every change in the journal.
    """

    categories: tuple[str, ...] = ()
    importance: float | None = None
    source: str | None = None
    private: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True)
class PlannedFact:
    """One fact of a plan: what it was compared with, what was decided, and why.

    `target` is the key of the memory that is inserted, updated, kept or forgotten. `collapsed` counts equal
    facts of the same batch that went into this one; `rejected` says which proposal of the judge was not
    accepted, and why. `chosen` is False once the fact was left out of the plan.
    """

    fact: ExtractedFact
    outcome: Outcome
    reason: str
    target: str | None
    compared: Similar = field(default_factory=list)
    decision: ConsolidationDecision | None = None
    rejected: str | None = None
    collapsed: int = 0
    chosen: bool = True


@dataclass(frozen=True)
class PlannedChange(KeepsTuples):
    """What would become of one memory, and which facts (positions in the plan) lead to it."""

    action: ChangeKind
    key: str
    before: MemoryRecord | None
    after: MemoryRecord | None
    reason: str
    facts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Plan(KeepsTuples):
    """What `remember` would do. Made by `engine.plan`, carried out by `engine.apply`.

    `messages` are those read, `left_out` counts what was not read as text and `held_back` the sentences that
    gave no fact, by reason; `withheld` are the proposed facts among them, `remarks` counts what was put right in
    a model's answers, `prompt_versions` names the prompts they followed, and `prompts` holds those that do not ship
    with the library. `failure` is set where extraction failed: such a plan cannot be applied. `seconds` is how
    long planning took, model calls included. `stored` holds, by key, the item of every memory that a fact was
    compared with, as it was read, `taken` the keys that are in use, and `vectors` the embeddings by text. `seen` is how
    many plans this process had carried out nearby when memories were looked up.

    A plan may wait in a graph's state. The default serializer of LangGraph's checkpointers keeps it whole; a strict one
    refuses classes that it does not know, so keep `to_json()` there.
    """

    id: str
    namespace: Namespace
    terms: Terms
    config: MemoryConfig
    extractor: str
    consolidator: str
    created_at: datetime
    messages: tuple[Message, ...]
    facts: tuple[PlannedFact, ...]
    changes: tuple[PlannedChange, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    held_back: Mapping[str, int] = field(default_factory=dict)
    calls: tuple[ModelCall, ...] = ()
    failure: ModelError | None = None
    seconds: float = 0.0
    stored: Mapping[str, StoredItem] = field(default_factory=dict, repr=False)
    taken: frozenset[str] = field(default_factory=frozenset, repr=False)
    vectors: Mapping[str, NDArray[np.float32]] = field(default_factory=dict, repr=False)
    withheld: tuple[Withheld, ...] = ()
    remarks: Mapping[str, int] = field(default_factory=dict)
    prompt_versions: Mapping[str, str] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict, repr=False)
    seen: int = field(default=-1, repr=False)

    def to_json(self) -> str:
        """The plan as JSON text, which every checkpointer, queue and file takes."""
        whole = {
            name: adapter.dump_python(getattr(self, name), mode="json") for name, adapter in _plain_fields().items()
        }
        whole["vectors"] = {text: vector.tolist() for text, vector in self.vectors.items()}
        if (failure := self.failure) is not None:
            calls = _plain_fields()["calls"].dump_python(failure.calls, mode="json")
            whole["failure"] = {"message": str(failure), "failure": failure.failure, "raw": failure.raw, "calls": calls}
        return json.dumps({"format": _FORMAT, **whole})

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """The plan that `to_json` wrote: it applies as the original would.

        Raises:
            InputError: the text is no such plan, or one of another version of this library.
        """
        try:
            whole = json.loads(text)
            if not isinstance(whole, dict) or whole.get("format") != _FORMAT:
                raise ValueError(f'it is not an object whose "format" is {_FORMAT!r}')
            parts = {name: adapter.validate_python(whole[name]) for name, adapter in _plain_fields().items()}
            vectors = {words: np.asarray(vector, np.float32) for words, vector in whole["vectors"].items()}
            failure = _read_failure(whole.get("failure"))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            why = f"{error.error_count()} fields do not fit" if isinstance(error, ValidationError) else str(error)
            raise InputError(
                f"Plan.from_json takes the text that plan.to_json() gave, got {shown(text)}: {why}."
            ) from error
        return cls(**parts, vectors=vectors, failure=failure)


_FORMAT = "mnemoscope.plan/1"


@functools.cache
def _plain_fields() -> Mapping[str, TypeAdapter[Any]]:
    """How to write and read each field, but for the vectors and the failure, which pydantic cannot derive."""
    kinds = get_type_hints(Plan)
    return {
        each.name: TypeAdapter(kinds[each.name]) for each in fields(Plan) if each.name not in ("vectors", "failure")
    }


def _read_failure(value: Mapping[str, Any] | None) -> ModelError | None:
    if value is None:
        return None
    calls = _plain_fields()["calls"].validate_python(value["calls"])
    return ModelError(value["message"], failure=value["failure"], raw=value["raw"], calls=calls)


def check_plan(plan: object) -> None:
    """A plan, as `engine.plan` and `Plan.from_json` give it.

    Raises:
        InputError: it is something else, such as the dict that a strict checkpointer makes of a plan.
    """
    if isinstance(plan, Mapping | str):
        raise InputError(
            f"plan must be a Plan, got {shown(plan)}. A checkpointer that admits no classes turns a plan into a dict: "
            "keep plan.to_json() in the state, and apply Plan.from_json(text)."
        )
    check_kind("plan", plan, Plan)
