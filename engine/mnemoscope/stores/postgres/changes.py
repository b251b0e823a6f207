"""What was written since in a `PostgresStore`, by whomever: told by the marks of rows, without reading any value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import xor
from typing import Any, cast

from ...core.imports import needing
from ..base import Known, Ref
from ..prefixes import Where, from_prefix
from .rows import ITEM_MARK, VECTOR_MARK, Row, places

__all__ = ["MarkedRows", "State"]


with needing("postgres"):
    from psycopg import Cursor

_ITEMS = "SELECT s.prefix, s.key, {mark} AS mark, s.xmin AS written, 1 AS items FROM store AS s WHERE {where}"
_VECTORS = " UNION ALL SELECT v.prefix, v.key, {mark}, v.xmin, 0 FROM store_vectors AS v WHERE {where}"

_STATE = "SELECT pg_current_snapshot()::text, sum(items), bit_xor(mark) FROM ({rows}) AS marked"

# What was not yet committed at that moment was written by a transaction of that age at most. Whether anything else
# changed, such as by a deletion, the exclusive or of all marks tells.
_FRESH = """
SELECT bit_xor(mark), array_agg(prefix) FILTER (WHERE fresh), array_agg(key) FILTER (WHERE fresh) FROM (
    SELECT prefix, key, mark, age(written) <= age(pg_snapshot_xmin(%s::text::pg_snapshot)::xid) AS fresh
    FROM ({rows}) AS marked
) AS aged
"""

_GROUPED = "SELECT prefix, key, bit_xor(mark) FROM ({rows}) AS marked GROUP BY prefix, key"


@dataclass(frozen=True)
class State:
    """A change token: how many items there are, the exclusive or of all marks, and when this was so."""

    items: int
    mark: int
    snapshot: str = field(compare=False)


@dataclass(frozen=True)
class MarkedRows:
    """The rows of a scope: conditions on the tables `s` and, where there are vectors, `v`."""

    items: Where
    vectors: Where | None

    def state(self, cursor: Cursor[Row]) -> State:
        """What is there now."""
        rows, parameters = self._query()
        snapshot, items, mark = _one(cursor.execute(_STATE.format(rows=rows).encode(), parameters))
        return State(items or 0, mark or 0, snapshot)

    def marks(self, cursor: Cursor[Row], at: Sequence[Ref] | None = None) -> dict[Ref, int]:
        """The marker of every item, or of those at some places."""
        rows, parameters = self._query(at)
        found = cursor.execute(_GROUPED.format(rows=rows).encode(), parameters).fetchall()
        return {(from_prefix(prefix), key): mark for prefix, key, mark in found}

    def changed(self, cursor: Cursor[Row], since: State, known: Known) -> list[Ref] | None:
        """What was written since, where that and the rest of what is known make up all that is there now."""
        rows, parameters = self._query()
        query = _FRESH.format(rows=rows).encode()
        mark, prefixes, keys = _one(cursor.execute(query, (since.snapshot, *parameters)))
        fresh = list({(from_prefix(prefix), key) for prefix, key in zip(prefixes or (), keys or (), strict=True)})
        now = self.marks(cursor, fresh) if fresh else {}
        before = [known.markers[at] for ref in fresh if (at := known.position.get(ref)) is not None]
        kept = reduce(xor, cast("list[int]", [*known.markers, *before]), 0)
        return fresh if reduce(xor, now.values(), kept) == (mark or 0) else None

    def _query(self, at: Sequence[Ref] | None = None) -> tuple[str, tuple[Any, ...]]:
        asked = () if at is None else places(at)
        only = "" if at is None else " AND ({0}.prefix, {0}.key) IN (SELECT * FROM unnest(%s::text[], %s::text[]))"
        sql = _ITEMS.format(mark=ITEM_MARK, where=self.items.sql + only.format("s"))
        parameters = (*self.items.parameters, *asked)
        if self.vectors is None:
            return sql, parameters
        sql += _VECTORS.format(mark=VECTOR_MARK, where=self.vectors.sql + only.format("v"))
        return sql, (*parameters, *self.vectors.parameters, *asked)


def _one(cursor: Cursor[Row]) -> Row:
    row = cursor.fetchone()
    assert row is not None
    return row
