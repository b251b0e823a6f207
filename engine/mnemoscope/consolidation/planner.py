"""The planner: conversation → facts → what is known → decisions → `Plan`, as a procedure of steps.

Facts of one call are embedded in one batch, looked up in one matrix product (or one batched search), read back
in one round trip, and judged in at most one call where the judge can.
"""

from __future__ import annotations

import inspect
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..context import Context
from ..conversations.messages import Message, Transcript
from ..core.execution import Step, Steps, guard_call
from ..core.namespaces import Namespace
from ..errors import InputError, ModelCall, ModelError
from ..extraction.facts import ExtractedFact, Extraction, as_text, extraction_of
from ..models.client import CALLS_A_QUESTION, REPAIRED, prompt_text
from .decisions import Settlement, records_of
from .drafts import drafted
from .judging import Judging
from .lookup import Lookup
from .plan import Plan, PlannedFact, Terms

__all__ = ["Planner", "calls_left", "label_of"]


class Planner:
    """Makes plans for the store of a context, with its extractor and consolidator or with another extractor."""

    def __init__(self, context: Context, extractor: Any = None) -> None:
        self._context = context
        self._extractor = context.extractor if extractor is None else extractor
        self._consolidator = context.consolidator
        self._config = context.config

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
            found = yield from guard_call(Step(self._extractor.extract, (messages,), acall), name)
        elif text := as_text(messages):
            found = yield from guard_call(Step(self._extractor, (text,)), name)
        else:
            found = Extraction([])
        return extraction_of(found, name)

    def from_transcript(self, transcript: Transcript, namespace: Namespace, terms: Terms) -> Steps[Plan]:
        """The plan for a conversation. A failed extraction gives a plan that says so.

        Raises:
            EmbedderMismatchError: nothing could be compared, so no model is asked.
        """
        yield Step(self._context.embedders.require)
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
        yield Step(self._context.embedders.require)
        started = time.perf_counter()
        now = self._context.now()
        # Names of runs sort as the plans were made.
        run = f"run-{now:%Y%m%dT%H%M%S%f}-{uuid.uuid4()}"
        found = drafted(facts)
        seen = self._context.locks.writes(namespace)
        lookup = Lookup(self._context.adapter, self._context.indexes, self._config, terms, now)
        known = yield from lookup.known([draft.fact for draft in found.drafts], namespace)
        taken = known.taken
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
            seen=seen,
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
            seen=made.seen,
        )


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
