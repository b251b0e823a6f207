"""`Tuning`: what recall is measured by and tuned with: cases, profiles and labels, and the searches over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..consolidation.calibration import LabelBook, Pair, ThresholdPoint, sample_pairs, threshold_curve
from ..context import Context
from ..core.execution import Steps, once, verb
from ..core.namespaces import NamespaceLike, read_prefix
from ..core.progress import Watch
from ..core.validation import check_by
from ..journal.changes import Change, Edit
from ..recall.cases import Case, CaseBook
from ..recall.profiles import Profile, ProfileBook
from .metrics import DEFAULT_METRICS
from .recall import Evaluation, Judged, collect, evaluate
from .tuning import WeightSearch, search

__all__ = ["Tuning"]


class Tuning:
    """Cases, profiles, labels, and the measuring of recall. Every change here is in the history.

    Made by `engine.tuning`.
    """

    def __init__(self, context: Context) -> None:
        self._context = context

    # What is kept

    @verb
    def cases(self, namespace: NamespaceLike = (), *, subtree: bool = True) -> Steps[list[Case]]:
        """The cases of a namespace and all below it, the newest first; no namespace means the whole store."""
        where, book = read_prefix(namespace), CaseBook(self._context.adapter)
        return once(lambda: book.all(where, subtree=subtree))

    acases = cases.asynchronous()

    @verb
    def save_cases(self, cases: Sequence[Case], *, actor: str | None = None, reason: str = "") -> Steps[list[Change]]:
        """Keep cases, each in the place of an earlier one with its query and namespace, as one group."""
        book = CaseBook(self._context.adapter, self._context.clock)
        return self._commit(lambda: book.saving(cases, reason=reason), actor, reason)

    asave_cases = save_cases.asynchronous()

    @verb
    def delete_cases(self, cases: Sequence[Case], *, actor: str | None = None, reason: str = "") -> Steps[list[Change]]:
        """Delete cases, as one group that can be undone."""
        book = CaseBook(self._context.adapter)
        return self._commit(lambda: book.deleting(cases, reason=reason), actor, reason)

    adelete_cases = delete_cases.asynchronous()

    @verb
    def profiles(self) -> Steps[dict[str, Profile]]:
        """The profiles that are kept in the store, by name."""
        return once(ProfileBook(self._context.adapter).all)

    aprofiles = profiles.asynchronous()

    @verb
    def save_profile(self, profile: Profile, *, actor: str | None = None, reason: str = "") -> Steps[list[Change]]:
        """Keep a profile in the place of an earlier one of its name."""
        book = ProfileBook(self._context.adapter, self._context.clock)
        return self._commit(lambda: book.saving(profile, reason=reason), actor, reason)

    asave_profile = save_profile.asynchronous()

    @verb
    def delete_profile(self, name: str, *, actor: str | None = None, reason: str = "") -> Steps[list[Change]]:
        """Delete the profile of this name; nothing is changed where there is none."""
        book = ProfileBook(self._context.adapter)
        return self._commit(lambda: book.deleting(name, reason=reason), actor, reason)

    adelete_profile = delete_profile.asynchronous()

    @verb
    def labels(self, namespace: NamespaceLike = (), *, subtree: bool = True) -> Steps[dict[str, str]]:
        """What pairs of memories were labelled as, by the id of the pair; see `calibrate`."""
        where, book = read_prefix(namespace), LabelBook(self._context.adapter)
        return once(lambda: book.all(where, subtree=subtree))

    alabels = labels.asynchronous()

    @verb
    def label(self, pair: Pair, label: str, *, actor: str | None = None, reason: str = "") -> Steps[list[Change]]:
        """Say what a pair of memories is, in the place of what was said before.

        Raises:
            InputError: there is no such label.
        """
        book = LabelBook(self._context.adapter, self._context.clock)
        return self._commit(lambda: book.saving(pair, label, reason=reason), actor, reason)

    alabel = label.asynchronous()

    # What is measured

    def judge(self, cases: Sequence[Case], *, source: str | None = None, include_private: bool = False) -> list[Judged]:
        """The cases with their candidates: one embedding a distinct query, and one look at each namespace.

        Raises:
            StoreError: the store failed.
            EmbeddingError: the embedder failed, or is not the one whose vectors the store holds.
        """
        return collect(self._context, cases, source=source, include_private=include_private)

    def evaluate(
        self, cases: Sequence[Case], profiles: Sequence[Profile], metrics: Sequence[str] = DEFAULT_METRICS
    ) -> Evaluation:
        """Every metric of every profile on every case.

        Raises:
            InputError: there is no such metric, or two profiles have one name.
        """
        return evaluate(self.judge(cases), profiles, metrics)

    def search(self, cases: Sequence[Case], *, metric: str = "ndcg@10", watch: Watch | None = None) -> WeightSearch:
        """Weights that serve the cases better than the engine's, found on one half of them and judged on the other.

        Raises:
            CancelledWorkError: the watch says so.
            InputError: there are too few cases that expect something, or no such metric.
        """
        return search(self.judge(cases), self._context.config, metric=metric, watch=watch)

    def sample_pairs(self, namespace: NamespaceLike, *, subtree: bool = False) -> list[Pair]:
        """Pairs of memories of all similarities, to be labelled for `calibrate`."""
        return sample_pairs(self._context.index_of(namespace, subtree=subtree))

    def calibrate(self, namespace: NamespaceLike, *, subtree: bool = False) -> list[ThresholdPoint]:
        """What each consolidation threshold would catch and miss, by the labels that are kept."""
        labels = self.labels(namespace, subtree=subtree)
        return threshold_curve(self.sample_pairs(namespace, subtree=subtree), labels)

    def _commit(self, edits: Callable[[], Sequence[Edit]], actor: str | None, reason: str) -> Steps[list[Change]]:
        check_by(actor, reason)
        return once(lambda: self._context.commit(edits(), actor))
