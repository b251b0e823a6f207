"""`Plan`: everything a `remember` would do, with reasons, before anything is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..config import MemoryConfig
from ..conversations.messages import Message
from ..core.namespaces import Namespace
from ..core.records import MemoryRecord
from ..errors import ModelCall, ModelError
from ..extraction.facts import ConsolidationDecision, ExtractedFact, Similar, Withheld
from ..stores.base import StoredItem

__all__ = ["ChangeKind", "Outcome", "Plan", "PlannedChange", "PlannedFact", "Terms"]


ChangeKind: TypeAlias = Literal["insert", "update", "forget"]
Outcome: TypeAlias = Literal["insert", "update", "skip", "forget", "suppressed"]


@dataclass(frozen=True)
class Terms:
    """What the caller says of every fact of one call. `importance` None leaves each fact its own.

    `reason` is added to the reason of every change in the journal.
    """

    categories: Sequence[str] = ()
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
class PlannedChange:
    """What would become of one memory, and which facts (positions in the plan) lead to it."""

    action: ChangeKind
    key: str
    before: MemoryRecord | None
    after: MemoryRecord | None
    reason: str
    facts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """What `remember` would do. Made by `engine.plan`, carried out by `engine.apply`.

    `messages` are those read, `left_out` counts what was not read as text and `held_back` the sentences that
    gave no fact, by reason; `withheld` are the proposed facts among them, `remarks` counts what was put right in
    a model's answers, `prompt_versions` names the prompts they followed, and `prompts` holds those that do not ship
    with the library. `failure` is set where extraction failed: such a plan cannot be applied. `seconds` is how
    long planning took, model calls included. `stored` holds, by key, the item of every memory that a fact was
    compared with, as it was read, `taken` the keys that are in use, and `vectors` the embeddings by text. `seen` is how
    many plans this process had carried out nearby when memories were looked up.
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
