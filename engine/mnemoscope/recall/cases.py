"""Cases: queries with the memories that should come back, and those that should not; as JSON lines and in the store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..core.frozen import KeepsTuples
from ..core.namespaces import Namespace, NamespaceLike, read_namespace
from ..core.text import shown
from ..core.times import Clock, read_time, to_iso, utc_now
from ..core.validation import check_all, check_keys, check_kind, check_moment, check_text
from ..errors import InputError, MnemoscopeError
from ..journal.changes import Edit, book
from ..journal.shelves import shelf_edits
from ..stores.base import Ref, StoreAdapter
from .pipeline import LONGEST_QUERY

__all__ = ["Case", "CaseBook", "case", "cases_to_jsonl", "read_case", "read_cases"]


LONGEST_FILE = 20_000_000
"""Characters of a file of cases; a longer one is refused."""

_FIELDS = ("query", "namespace", "expected", "unwanted", "note", "created_at")


@dataclass(frozen=True)
class Case(KeepsTuples):
    """A query in a namespace, with what should be recalled.

    An entry of `expected` or `unwanted` is the key of a memory, or else its text, letter for letter but for case
    and spaces: keys name a memory of this very store, texts work with any store that was filled the same.
    """

    query: str
    namespace: Namespace
    expected: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    note: str = ""
    created_at: datetime | None = None

    @property
    def id(self) -> str:
        """What tells it from other cases: its query and namespace, whatever is expected."""
        named = json.dumps([self.query, list(self.namespace)]).encode()
        return hashlib.blake2b(named, digest_size=10).hexdigest()

    def to_value(self) -> dict[str, Any]:
        """The stored form, and a line of a file."""
        value: dict[str, Any] = {"query": self.query, "namespace": list(self.namespace)}
        value |= {"expected": list(self.expected), "unwanted": list(self.unwanted)}
        if self.note:
            value["note"] = self.note
        if self.created_at:
            value["created_at"] = to_iso(self.created_at)
        return value


def case(
    query: str,
    namespace: NamespaceLike,
    *,
    expected: Sequence[str] = (),
    unwanted: Sequence[str] = (),
    note: str = "",
    created_at: datetime | None = None,
) -> Case:
    """A case, checked.

    Raises:
        InputError: there is no query, nothing is expected or unwanted, or an entry is both.
        NamespaceError: the namespace cannot be used.
    """
    if not isinstance(query, str) or not query.strip():
        raise InputError(f"A case needs a query with some text, got {shown(query)}.")
    if len(query) > LONGEST_QUERY:
        raise InputError(f"The query has {len(query):,} characters; {LONGEST_QUERY:,} are allowed. Shorten it.")
    check_text("query", query)
    check_text("note", note)
    check_moment("created_at", created_at)
    check_keys("expected", expected)
    check_keys("unwanted", unwanted)
    if not expected and not unwanted:
        raise InputError(f"The case {shown(query)} expects nothing; name memories under expected, or under unwanted.")
    if both := set(expected) & set(unwanted):
        raise InputError(f"The case {shown(query)} has {shown(min(both))} both expected and unwanted.")
    where = read_namespace(namespace)
    return Case(
        query.strip(), where, tuple(dict.fromkeys(expected)), tuple(dict.fromkeys(unwanted)), note or "", created_at
    )


def read_cases(text: str, *, namespace: NamespaceLike | None = None) -> list[Case]:
    """The cases of a file with one JSON object a line; blank lines are passed over.

    `namespace` is that of the lines which name none. Of several cases with one query and namespace the last counts.

    Raises:
        InputError: a line is no case; the message says which and why.
    """
    if len(text) > LONGEST_FILE:
        raise InputError(f"The file has {len(text):,} characters; {LONGEST_FILE:,} are allowed. Split it.")
    found: dict[str, Case] = {}
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), start=1):
        if line.strip():
            read = _read_line(line, number, namespace)
            found[read.id] = read
    return list(found.values())


def cases_to_jsonl(cases: Iterable[Case]) -> str:
    """The cases as text, a JSON object a line; `read_cases` reads it back."""
    return "".join(json.dumps(each.to_value(), ensure_ascii=False) + "\n" for each in cases)


class CaseBook:
    """The cases that are kept in a store, under our own root; agents never see them."""

    def __init__(self, adapter: StoreAdapter, clock: Clock = utc_now) -> None:
        self._adapter = adapter
        self._clock = clock

    def all(self, namespace: Namespace = (), *, subtree: bool = True) -> list[Case]:
        """The cases of a namespace, the newest first; what a stranger wrote there is passed over."""
        found = self.placed(namespace, subtree=subtree).values()
        return sorted(found, key=lambda each: (each.created_at is None, each.created_at, each.id), reverse=True)

    def placed(self, namespace: Namespace = (), *, subtree: bool = True) -> dict[Ref, Case]:
        """The cases of a namespace by where they stand; each is of that namespace, whatever its value says."""
        items = self._adapter.load(book("cases", namespace), subtree=subtree).items
        read = [(item.ref, read_case(item.value)) for item in items if item.namespace[2:]]
        return {ref: replace(each, namespace=ref[0][2:]) for ref, each in read if each is not None}

    def saving(self, cases: Sequence[Case], *, reason: str = "") -> list[Edit]:
        """The edits that keep the cases, each in the place of an earlier one with its query and namespace.

        Raises:
            InputError: one is no case, or not as `case` makes it.
            NamespaceError: the namespace of one cannot be used.
        """
        now = self._clock()
        check_all("cases", cases, Case)
        checked = [_checked(each) for each in cases]
        return shelf_edits(
            self._adapter, [(ref, _dated(each, now)) for each, ref in self._where(checked)], reason=reason
        )

    def deleting(self, cases: Sequence[Case], *, reason: str = "") -> list[Edit]:
        """The edits that delete these cases."""
        check_all("cases", cases, Case)
        for each in cases:
            check_kind("The query of a case", each.query, str)
            read_namespace(each.namespace)
        return shelf_edits(self._adapter, [(ref, None) for _, ref in self._where(cases)], reason=reason)

    def _where(self, cases: Sequence[Case]) -> Iterator[tuple[Case, Ref]]:
        """Each case with where it stands, or is to: one that came from elsewhere may have a key of its own."""
        standing: dict[tuple[Namespace, str], list[Ref]] = {}
        for namespace in dict.fromkeys(each.namespace for each in cases):
            for ref, there in self.placed(namespace, subtree=False).items():
                standing.setdefault((namespace, there.query), []).append(ref)
        for each in cases:
            for ref in standing.get((each.namespace, each.query), [_place(each)]):
                yield each, ref


def _checked(each: Case) -> Case:
    return case(
        each.query,
        each.namespace,
        expected=each.expected,
        unwanted=each.unwanted,
        note=each.note,
        created_at=each.created_at,
    )


def _place(each: Case) -> Ref:
    return book("cases", each.namespace), each.id


def _dated(each: Case, now: datetime) -> dict[str, Any]:
    return {"kind": "case", "created_at": to_iso(now)} | each.to_value()


def read_case(value: object) -> Case | None:
    """The case that is stored as this; None where it is none."""
    try:
        return _read_value(value, None) if isinstance(value, Mapping) and value.get("kind") == "case" else None
    except MnemoscopeError:
        return None


def _read_line(line: str, number: int, namespace: NamespaceLike | None) -> Case:
    try:
        value = json.loads(line)
        if not isinstance(value, dict):
            raise InputError(f"it must be an object with {', '.join(_FIELDS[:4])}, got {shown(value)}.")
        return _read_value(value, namespace)
    except (ValueError, RecursionError) as error:
        raise InputError(f"Line {number} is no case: {error}") from error


def _read_value(value: Mapping[str, Any], namespace: NamespaceLike | None) -> Case:
    unknown = [name for name in value if name not in (*_FIELDS, "kind")]
    if unknown:
        raise InputError(f"there is no field {shown(unknown[0])}; known are {', '.join(_FIELDS)}.")
    where = value.get("namespace", namespace)
    if where is None:
        raise InputError("namespace is missing.")
    return case(
        value.get("query", ""),
        where,
        expected=_entries(value, "expected"),
        unwanted=_entries(value, "unwanted"),
        note=value.get("note") or "",
        created_at=read_time(value.get("created_at")),
    )


def _entries(value: Mapping[str, Any], name: str) -> list[str]:
    entries = value.get(name, [])
    if not isinstance(entries, list):
        raise InputError(f"{name} must be a list of keys or texts, got {shown(entries)}.")
    return entries
