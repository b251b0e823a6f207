"""The part of the store that every page looks at: a namespace alone, or with all that lies below it.

It is in the URL as repeated `ns` parameters, one a label (or, to be typed, as one: `ns=a/b`), and `below=1` where what
lies below counts too. The namespaces of a store with their counts are a `NamespaceTree`, made once for each state of
the store; however many there are, what the header shows of them at every run of a page is one level.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import streamlit as st
from mnemoscope import MemoryEngine, NamespaceError
from mnemoscope.core import Namespace, is_within, read_prefix, show_namespace

from app.session.session import Session
from app.text.display import counted, one_line

NAMESPACE_KEY = "scope.namespace"

BELOW_KEY = "scope.below"

_STATE = "scope.state"

_PARAMETERS = ("ns", "below")

MOST_OFFERED = 500
"""Namespaces up to which all are offered at once; from there on, one level at a time."""

# One for each open store, for all browser sessions together: that of a million namespaces takes half a gigabyte.
_trees: WeakKeyDictionary[MemoryEngine, tuple[Hashable | None, NamespaceTree]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Scope:
    """A namespace, with everything below it if `subtree`. No label at all is the whole store."""

    namespace: Namespace = ()
    subtree: bool = True

    @property
    def is_whole_store(self) -> bool:
        """Whether nothing is left out."""
        return not self.namespace

    def to_query(self) -> dict[str, list[str]]:
        """The URL parameters from which the scope is read."""
        below = ["1"] if self.subtree and self.namespace else []
        return {name: values for name, values in (("ns", list(self.namespace)), ("below", below)) if values}

    def total(self, counts: Mapping[Namespace, int]) -> int:
        """How many memories lie in the scope."""
        return sum(
            number for namespace, number in counts.items() if is_within(namespace, self.namespace, subtree=self.subtree)
        )


def current() -> Scope:
    """The scope chosen at the top of the page."""
    chosen = st.session_state.get(_STATE)
    return chosen if isinstance(chosen, Scope) else Scope()


def parse_namespace(chosen: Namespace | str) -> Namespace | None:
    """The namespace that was picked, or typed as "a/b"; None where what was typed can be none."""
    try:
        return read_prefix(chosen.strip().strip("/") if isinstance(chosen, str) else chosen)
    except NamespaceError:
        return None


def leave() -> None:
    """Go back to the whole store: another one is looked at."""
    _keep(Scope())


def draw_picker(tree: NamespaceTree) -> Scope:
    """Draw the picker over the namespaces that hold memories; the scope that is chosen."""
    scope = _widen(_read_url(tree) or current(), tree)
    _keep(scope)
    offered, more = tree.level(scope.namespace) if tree.is_large else (tree.choices(scope.namespace), 0)
    st.session_state[NAMESPACE_KEY] = scope.namespace
    st.session_state[BELOW_KEY] = scope.subtree
    st.selectbox(
        "Namespace",
        offered,
        format_func=lambda namespace: _label(namespace, tree.counts.get(namespace, tree.totals.get(namespace, 0))),
        key=NAMESPACE_KEY,
        on_change=_choose,
        label_visibility="collapsed",
        accept_new_options=tree.is_large,
        width=270,
    )
    if tree.is_large:
        told = f"{more:,} more, too many to be listed. Type" if more else "Only the next level is listed; or type"
        st.caption(f"{told} a namespace, such as a/b.", width="content")
    if scope.namespace and tree.below.get(scope.namespace):
        st.checkbox(
            "with all below",
            key=BELOW_KEY,
            on_change=_choose_below,
            disabled=scope.namespace not in tree.counts,
        )
    return scope


def _label(namespace: Namespace, number: int) -> str:
    name = one_line(show_namespace(namespace), 60) if namespace else "Whole store"
    return f"{name}  ·  {counted(number, 'memory', 'memories')}"


def _widen(scope: Scope, tree: NamespaceTree) -> Scope:
    # A prefix that holds no memories itself can only mean what lies below it.
    is_prefix_alone = scope.namespace not in tree.counts and scope.namespace in tree.totals
    return replace(scope, subtree=scope.subtree or is_prefix_alone or scope.is_whole_store)


def _read_url(tree: NamespaceTree) -> Scope | None:
    labels = st.query_params.get_all("ns")
    if not labels:
        return None
    # As people write it, "a/b"; unless there is a label with just that slash in it.
    is_path = len(labels) == 1 and (labels[0],) not in tree.totals
    try:
        return Scope(
            read_prefix(labels[0].strip("/") if is_path else labels), subtree=st.query_params.get("below") == "1"
        )
    except NamespaceError:
        return None


def _choose() -> None:
    # An exact namespace unless "with all below" is ticked; `_fitting` widens where only that makes sense.
    namespace = parse_namespace(st.session_state[NAMESPACE_KEY])
    if namespace is not None:
        _keep(Scope(namespace, subtree=False))


def _choose_below() -> None:
    _keep(Scope(current().namespace, subtree=st.session_state[BELOW_KEY]))


def _keep(scope: Scope) -> None:
    st.session_state[_STATE] = scope
    query = scope.to_query()
    for name in _PARAMETERS:
        if st.query_params.get_all(name) == query.get(name, []):
            continue
        if name in query:
            st.query_params[name] = query[name]
        else:
            st.query_params.pop(name, None)


@dataclass(frozen=True, eq=False)
class NamespaceTree:
    """`counts` are the memories of each namespace, `totals` those at or below every prefix, and `below` what lies
    directly below one."""

    counts: Mapping[Namespace, int]
    totals: Mapping[Namespace, int]
    below: Mapping[Namespace, list[Namespace]]

    @property
    def is_large(self) -> bool:
        """Whether there are too many to be offered at once."""
        return len(self.counts) > MOST_OFFERED

    def total(self, namespace: Namespace, *, subtree: bool) -> int:
        """How many memories lie in a namespace, or also below it."""
        return (self.totals if subtree else self.counts).get(namespace, 0)

    def choices(self, at: Namespace) -> list[Namespace]:
        """What can be chosen: the whole store, every namespace, every prefix of one, and where one is, in order."""
        return sorted({(), at, *self.totals})

    def level(self, at: Namespace) -> tuple[list[Namespace], int]:
        """What can be chosen from here where there are too many: the way up, and what lies directly below.

        At most `MOST_OFFERED` of the latter; the number is how many more there are.
        """
        below = self.below.get(at, [])
        way = [at[:depth] for depth in range(len(at) + 1)]
        return [*way, *heapq.nsmallest(MOST_OFFERED, below)], max(len(below) - MOST_OFFERED, 0)


def build_tree(counts: Mapping[Namespace, int]) -> NamespaceTree:
    """The tree of these counts."""
    totals: Counter[Namespace] = Counter()
    for namespace, number in counts.items():
        for depth in range(len(namespace) + 1):
            totals[namespace[:depth]] += number
    below: defaultdict[Namespace, list[Namespace]] = defaultdict(list)
    for prefix in totals:
        if prefix:
            below[prefix[:-1]].append(prefix)
    return NamespaceTree(counts, dict(totals), dict(below))


def read_tree(working: Session) -> NamespaceTree:
    """The tree of the store as it is now; counted again only where something changed.

    Raises:
        StoreError: the store does not answer.
    """
    token = working.adapter.token((), subtree=True)
    before = _trees.get(working.engine)
    if before is not None and token is not None and before[0] == token:
        return before[1]
    tree = build_tree(working.engine.counts())
    _trees[working.engine] = (token, tree)
    return tree
