"""The planner: conversation → facts → what is known → decisions → `Plan`, as a procedure of steps.

Facts of one call are embedded in one batch, looked up in one matrix product (or one batched search), read back
in one round trip, and judged in at most one call where the judge can.
"""

from __future__ import annotations

import inspect
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..config import MemoryConfig
from ..conversations.messages import Message, Transcript
from ..core.execution import Step, Steps, called
from ..core.namespaces import Namespace
from ..core.times import Clock
from ..embedding.encode import embed_texts
from ..errors import InputError, ModelCall, ModelError
from ..extraction.facts import ExtractedFact, Extraction, as_text, extraction_of
from ..index.scope import IndexCache
from ..models.client import CALLS_A_QUESTION, REPAIRED, prompt_text
from ..stores.base import StoreAdapter
from .decisions import Settlement, records_of
from .drafts import drafted
from .judging import Judging
from .lookup import Lookup
from .plan import Plan, PlannedFact, Terms

__all__ = ["Planner", "calls_left", "label_of"]


class Planner:
    """Makes plans for one store with one extractor and one consolidator.

    `require` raises where what the store holds cannot be compared with new facts.
    """

    def __init__(
        self,
        adapter: StoreAdapter,
        indexes: IndexCache,
        extractor: Any,
        consolidator: Any,
        config: MemoryConfig,
        clock: Clock,
        require: Callable[[], None] = lambda: None,
    ) -> None:
        self.adapter = adapter
        self._indexes = indexes
        self._extractor = extractor
        self._consolidator = consolidator
        self._config = config
        self._clock = clock
        self._require = require

    def extract(self, messages: Sequence[Message]) -> Steps[Extraction]:
        """Facts out of messages, by whatever extractor there is.

        Raises:
            ModelError: it failed, whatever it raised, or it returned something else than facts.
        """
        if self._extractor is None:
            raise InputError(
                "This engine has no extractor: pass a model or extractor= to MemoryEngine, or extract=False here."
            )
        name = f"The extractor {label_of(self._extractor)}"
        if hasattr(self._extractor, "extract"):
            acall = getattr(self._extractor, "aextract", None)
            found = yield from called(Step(self._extractor.extract, (messages,), acall), name)
        elif text := as_text(messages):
            found = yield from called(Step(self._extractor, (text,)), name)
        else:
            found = Extraction([])
        return extraction_of(found, name)

    def from_transcript(self, transcript: Transcript, namespace: Namespace, terms: Terms) -> Steps[Plan]:
        """The plan for a conversation. A failed extraction gives a plan that says so.

        Raises:
            EmbedderMismatchError: nothing could be compared, so no model is asked.
        """
        yield Step(self._require)
        started = time.perf_counter()
        failure: ModelError | None = None
        try:
            extraction = yield from self.extract(transcript.messages)
        except ModelError as error:
            failure = error
            extraction = Extraction([], calls=error.calls)
        plan = yield from self.from_facts(extraction.facts, namespace, terms, most_calls=calls_left(extraction.calls))
        return replace(
            plan,
            messages=transcript.messages,
            left_out=transcript.left_out,
            held_back=Counter(plan.held_back) + Counter(extraction.held_back),
            calls=(*extraction.calls, *plan.calls),
            withheld=extraction.withheld,
            remarks=Counter(extraction.remarks) + Counter(plan.remarks),
            failure=failure,
            seconds=time.perf_counter() - started,
        )

    def from_facts(
        self,
        facts: Sequence[ExtractedFact],
        namespace: Namespace,
        terms: Terms,
        earlier: Sequence[PlannedFact] = (),
        *,
        most_calls: int = CALLS_A_QUESTION,
    ) -> Steps[Plan]:
        """The plan for facts that are already extracted; `earlier` is how a plan before it settled them.

        `most_calls` of a model may judge them.

        Raises:
            InputError: one of them is no fact.
            EmbedderMismatchError: they cannot be compared with what the store holds.
        """
        yield Step(self._require)
        started = time.perf_counter()
        now = self._clock()
        # Names of runs sort as the plans were made.
        run = f"run-{now:%Y%m%dT%H%M%S%f}-{uuid.uuid4()}"
        found = drafted(facts)
        lookup = Lookup(self.adapter, self._indexes, self._config, terms, now)
        known = yield from lookup.known([draft.fact for draft in found.drafts], namespace)
        taken = frozenset(known.stored)
        settlement = Settlement(namespace, terms, self._config, now, run, known=records_of(known.stored), taken=taken)
        judging = Judging(self._consolidator, self._config, found.drafts, known, settlement, earlier, most_calls)
        settled, judgement = yield from judging.settled()
        return Plan(
            id=run,
            namespace=namespace,
            terms=terms,
            config=self._config,
            extractor=label_of(self._extractor),
            consolidator=label_of(self._consolidator),
            created_at=now,
            messages=(),
            facts=tuple(settled),
            changes=settlement.changes(),
            held_back=found.dropped,
            calls=judgement.calls,
            remarks=found.remarks + Counter(judgement.remarks),
            prompt_versions=_prompt_versions(extract=self._extractor, consolidate=self._consolidator),
            prompts=_own_prompts(extract=self._extractor, consolidate=self._consolidator),
            seconds=time.perf_counter() - started,
            stored=known.stored,
            taken=taken,
            vectors=known.vectors,
        )

    def again(
        self, plan: Plan, added: Sequence[ExtractedFact] = (), *, most_calls: int = CALLS_A_QUESTION
    ) -> Steps[Plan]:
        """The plan for the same facts, and for those `added`, in the store as it is now.

        Nothing is extracted again, and judged again are only facts that are like other memories now, by at most
        `most_calls` of a model.
        """
        facts = [planned.fact for planned in plan.facts]
        made = yield from self.from_facts(
            [*facts, *added], plan.namespace, plan.terms, plan.facts, most_calls=most_calls
        )
        before = [*(planned.collapsed for planned in plan.facts), *(0 for _ in added)]
        return replace(
            plan,
            id=made.id,
            created_at=made.created_at,
            facts=tuple(replace(new, collapsed=old) for new, old in zip(made.facts, before, strict=True)),
            changes=made.changes,
            calls=(*plan.calls, *made.calls),
            remarks=Counter(plan.remarks) + Counter(made.remarks),
            seconds=plan.seconds + made.seconds,
            stored=made.stored,
            taken=made.taken,
            vectors=made.vectors,
        )

    def embed(self, texts: Sequence[str]) -> Steps[dict[str, NDArray[np.float32]]]:
        """Unit vectors of these texts, in one batch; empty where the store keeps its embedder to itself."""
        return embed_texts(self.adapter, texts)


def calls_left(calls: Sequence[ModelCall]) -> int:
    """How many model calls are left for judging, once these were made for one conversation.

    Reading takes one call a part and judging one more. One repair may come instead of judging. Requests that the
    provider turned down do not count.
    """
    read = [call for call in calls if call.purpose != "consolidate"]
    judged = sum(call.purpose == "consolidate" and call.failure != "provider_error" for call in calls)
    is_repaired = any(call.failure in REPAIRED for call in read)
    allowed = CALLS_A_QUESTION if not read else 0 if is_repaired else 1
    return max(0, allowed - judged)


def label_of(part: object) -> str:
    """The name under which an extractor or consolidator is shown."""
    if part is None:
        return "none"
    label = getattr(part, "label", None)
    if isinstance(label, str):
        return label
    return part.__name__ if inspect.isroutine(part) else type(part).__name__


def _prompt_versions(**parts: object) -> dict[str, str]:
    versions = {purpose: getattr(part, "prompt_version", None) for purpose, part in parts.items()}
    return {purpose: version for purpose, version in versions.items() if isinstance(version, str)}


def _own_prompts(**parts: object) -> dict[str, str]:
    """The wordings that do not ship with the library, by what they are for."""
    found = {purpose: getattr(part, "prompt", None) for purpose, part in parts.items()}
    return {purpose: text for purpose, text in found.items() if isinstance(text, str) and text != prompt_text(purpose)}
