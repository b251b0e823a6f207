"""What erasing memories takes out of the runs that are kept: their facts, and the turns that said so."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from .changes import book
from .namespaces import Namespace
from .own_books import required_entry
from .runs import Run, RunFact, without_transcript
from .stores.base import StoreAdapter

__all__ = ["Erased", "kept_runs", "without_memories"]


@dataclass(frozen=True)
class Erased:
    """The memories to be erased as runs know them: their keys, the runs they came from, and a test for their words."""

    keys: frozenset[str]
    runs: frozenset[str]
    is_quoted: Callable[[str], bool]

    def is_about(self, fact: RunFact) -> bool:
        """Whether the fact led to one of them, or holds its words."""
        texts = (fact.content, fact.quote or "", fact.reason, fact.rejected or "")
        return fact.target in self.keys or any(map(self.is_quoted, texts))


def kept_runs(adapter: StoreAdapter, namespaces: Iterable[Namespace], ids: Iterable[str]) -> list[Run]:
    """The runs of these namespaces, and those of these ids wherever they are."""
    items = [item for namespace in namespaces for item in adapter.latest(book("runs", namespace))]
    found = {item.key: required_entry(item, Run.from_item) for item in items}
    for name in set(ids) - set(found):
        for item in adapter.latest(book("runs"), subtree=True, where={"id": name}):
            found[name] = required_entry(item, Run.from_item)
    return list(found.values())


def without_memories(run: Run, erased: Erased) -> Run:
    """The run without anything of these memories; the very same where it holds nothing.

    Of a run that one of them came from no turn and no quote stays, because others may repeat what was said.
    """
    about = [fact for fact in run.facts if erased.is_about(fact)]
    reason = "" if erased.is_quoted(run.reason) else run.reason
    if run.id in erased.runs or any(fact.target in erased.keys for fact in about):
        bare = without_transcript(run)
    else:
        messages = tuple(each for each in run.messages if not erased.is_quoted(each.text))
        bare = replace(run, messages=messages, not_kept=run.not_kept + len(run.messages) - len(messages))
    facts = tuple(_emptied(fact) if fact in about else kept for fact, kept in zip(run.facts, bare.facts, strict=True))
    clean = replace(bare, facts=facts, reason=reason)
    return run if clean == run else clean


def _emptied(fact: RunFact) -> RunFact:
    return replace(
        fact, content="", reason="", quote=None, categories=(), said_at=None, rejected=None, erased=True, date=None
    )
