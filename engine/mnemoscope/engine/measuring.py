"""`Measuring`: what recall is measured by and tuned with: cases, profiles, labels, and what was asked before."""

from __future__ import annotations

from collections.abc import Sequence

from ..consolidation.calibration import LabelBook, Pair
from ..core.execution import twin
from ..core.namespaces import NamespaceLike, read_namespace, read_prefix
from ..core.validation import check_by, check_whole
from ..journal.changes import Change, Edit
from ..journal.journal import Journal
from ..recall.access import AskedQuery
from ..recall.cases import Case, CaseBook
from ..recall.profiles import Profile, ProfileBook
from .reading import Reading

__all__ = ["Measuring"]


Cases = list[Case]
Changes = list[Change]
Queries = list[AskedQuery]


class Measuring(Reading):
    """The part of `MemoryEngine` for those who measure and tune. Every change here is in the history."""

    actor: str
    _journal: Journal

    def cases(self, namespace: NamespaceLike = (), *, subtree: bool = True) -> Cases:
        """The cases of a namespace and all below it, the newest first; no namespace means the whole store."""
        return CaseBook(self.adapter).all(read_prefix(namespace), subtree=subtree)

    def save_cases(self, cases: Sequence[Case], *, actor: str | None = None, reason: str = "") -> Changes:
        """Keep cases, each in the place of an earlier one with its query and namespace, as one group."""
        check_by(actor, reason)
        return self._kept(CaseBook(self.adapter, self._clock).saving(cases, reason=reason), actor)

    def delete_cases(self, cases: Sequence[Case], *, actor: str | None = None, reason: str = "") -> Changes:
        """Delete cases, as one group that can be undone."""
        check_by(actor, reason)
        return self._kept(CaseBook(self.adapter).deleting(cases, reason=reason), actor)

    def profiles(self) -> dict[str, Profile]:
        """The profiles that are kept in the store, by name."""
        return ProfileBook(self.adapter).all()

    def save_profile(self, profile: Profile, *, actor: str | None = None, reason: str = "") -> Changes:
        """Keep a profile in the place of an earlier one of its name."""
        check_by(actor, reason)
        return self._kept(ProfileBook(self.adapter, self._clock).saving(profile, reason=reason), actor)

    def delete_profile(self, name: str, *, actor: str | None = None, reason: str = "") -> Changes:
        """Delete the profile of this name; nothing is changed where there is none."""
        check_by(actor, reason)
        return self._kept(ProfileBook(self.adapter).deleting(name, reason=reason), actor)

    def labels(self, namespace: NamespaceLike = (), *, subtree: bool = True) -> dict[str, str]:
        """What pairs of memories were labelled as, by the id of the pair; see `mnemoscope.calibration`."""
        return LabelBook(self.adapter).all(read_prefix(namespace), subtree=subtree)

    def label(self, pair: Pair, label: str, *, actor: str | None = None, reason: str = "") -> Changes:
        """Say what a pair of memories is, in the place of what was said before.

        Raises:
            InputError: there is no such label.
        """
        check_by(actor, reason)
        return self._kept(LabelBook(self.adapter, self._clock).saving(pair, label, reason=reason), actor)

    def queries(self, namespace: NamespaceLike, *, subtree: bool = False, limit: int | None = 200) -> Queries:
        """What the memories of a namespace were recalled for, the latest first, as far as the access history goes."""
        check_whole("limit", limit)
        where = read_prefix(namespace) if subtree else read_namespace(namespace)
        return self._access.queries(where, subtree=subtree)[:limit]

    acases = twin(cases)
    asave_cases = twin(save_cases)
    adelete_cases = twin(delete_cases)
    aprofiles = twin(profiles)
    asave_profile = twin(save_profile)
    adelete_profile = twin(delete_profile)
    alabels = twin(labels)
    alabel = twin(label)
    aqueries = twin(queries)

    def _kept(self, edits: Sequence[Edit], actor: str | None) -> Changes:
        return self._journal.commit(edits, actor=actor or self.actor)
