"""Labels of namespaces that look alike, such as "acme", "Acme" and "acme-corp": often one tenant under two names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from ..core.namespaces import Namespace, show_namespace
from ..core.text import normalise
from .steps import Check

__all__ = ["check_lookalikes", "lookalikes"]


_SEPARATORS = re.compile(r"[\s._\-@+:/]+")
_SHOWN = 5


def lookalikes(namespaces: Iterable[Namespace]) -> list[list[Namespace]]:
    """Groups of namespaces with the same parent whose last label differs in case, separators or an addition alone."""
    siblings: dict[Namespace, set[str]] = defaultdict(set)
    for namespace in namespaces:
        for depth in range(len(namespace)):
            siblings[namespace[:depth]].add(namespace[depth])
    return [
        [(*parent, label) for label in group]
        for parent, labels in sorted(siblings.items())
        for group in _groups(labels)
    ]


def check_lookalikes(namespaces: Iterable[Namespace]) -> Check:
    """Whether there are such groups."""
    groups = lookalikes(namespaces)
    if not groups:
        return Check("Look-alike labels", "good", "no two labels look alike")
    shown = "; ".join(" ~ ".join(show_namespace(each) for each in group[:4]) for group in groups[:_SHOWN])
    more = f"; and {len(groups) - _SHOWN:,} more" if len(groups) > _SHOWN else ""
    remedy = (
        "If they are one, use one spelling in the agent, and move the memories. They never share memories as it is."
    )
    return Check("Look-alike labels", "warning", f"{shown}{more}", remedy)


def _groups(labels: set[str]) -> list[list[str]]:
    by_form: dict[str, list[str]] = defaultdict(list)
    for label in sorted(labels):
        by_form[_SEPARATORS.sub("", normalise(label)) or label].append(label)
    stems = {normalise(label): form for form, group in by_form.items() for label in group}
    grouped: dict[str, list[str]] = defaultdict(list)
    for form, group in by_form.items():
        grouped[_stem(group, stems) or form] += group
    return [sorted(group) for _, group in sorted(grouped.items()) if len(group) > 1]


def _stem(labels: list[str], stems: dict[str, str]) -> str | None:
    """The form of another label to which one of these adds a word: "acme" for "acme-corp", not "u" for "u-1"."""
    for label in labels:
        head, separator, rest = _cut(normalise(label))
        if separator and not rest.isdigit() and len(head) > 2 and head in stems:
            return stems[head]
    return None


def _cut(label: str) -> tuple[str, str, str]:
    found = _SEPARATORS.search(label)
    return (label, "", "") if found is None else (label[: found.start()], found.group(), label[found.end() :])
