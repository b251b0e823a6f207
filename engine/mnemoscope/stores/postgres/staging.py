"""Vectors in waiting for the official `PostgresStore`: two tables beside its own, swapped by their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from ...core.imports import needing
from ...errors import PermissionDeniedError, StoreError
from ..base import Guard, Ref, Write
from ..prefixes import from_prefix
from ..staging import Finish, Place, Staged, StagingSize, Stale
from ..values import read_json
from .rows import Row, places, read_layout
from .writing import lock, to_text

__all__ = ["PostgresStaging"]


with needing("postgres"):
    from psycopg import Cursor
    from psycopg.errors import ProgramLimitExceeded
    from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

Result = TypeVar("Result")

_VECTORS, _MARKS, _IN_USE, _SWAPPED = "mnemoscope_vectors", "mnemoscope_marks", "store_vectors", "mnemoscope_swapped"

_HOME = """
SELECT n.nspname, r.rolname, pg_has_role(c.relowner, 'USAGE') AND has_schema_privilege(n.oid, 'CREATE'),
    current_user
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_roles AS r ON r.oid = c.relowner
WHERE c.oid = to_regclass('store_vectors')
"""

_MAKE_VECTORS = """
CREATE TABLE IF NOT EXISTS {table} (
    prefix text NOT NULL,
    key text NOT NULL,
    field_name text NOT NULL,
    embedding {type}({dimensions}),
    created_at TIMESTAMP WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (prefix, key, field_name),
    FOREIGN KEY (prefix, key) REFERENCES store(prefix, key) ON DELETE CASCADE
)
"""
_MAKE_MARKS = """
CREATE TABLE IF NOT EXISTS {table} (
    prefix text NOT NULL,
    key text NOT NULL,
    field_name text NOT NULL,
    mark text NOT NULL,
    digest text NOT NULL,
    PRIMARY KEY (prefix, key, field_name),
    FOREIGN KEY (prefix, key) REFERENCES store(prefix, key) ON DELETE CASCADE
)
"""

_GRANTS = """
SELECT CASE WHEN a.grantee = 0 THEN NULL ELSE pg_get_userbyid(a.grantee) END, a.privilege_type, a.is_grantable
FROM pg_class AS c, aclexplode(c.relacl) AS a WHERE c.oid = to_regclass('store_vectors') AND a.grantee <> c.relowner
"""

_INDEXES = """
SELECT i.relname, pg_get_indexdef(i.oid) FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid
WHERE x.indrelid = to_regclass(%s) AND NOT x.indisprimary ORDER BY i.relname
"""

_STALE = """
SELECT v.prefix, v.key, v.field_name, s.value::text, md5(s.value::text), m.digest
FROM store_vectors AS v
JOIN store AS s ON s.prefix = v.prefix AND s.key = v.key
LEFT JOIN mnemoscope_marks AS m ON m.prefix = v.prefix AND m.key = v.key AND m.field_name = v.field_name
WHERE (v.prefix, v.key, v.field_name) > (%s, %s, %s) AND m.mark IS DISTINCT FROM md5(s.value::text)
ORDER BY v.prefix, v.key, v.field_name LIMIT %s
"""

# An item that goes meanwhile must not make the whole batch fail.
_PUT_MARKS = """
INSERT INTO mnemoscope_marks (prefix, key, field_name, mark, digest)
SELECT g.prefix, g.key, g.field, g.mark, g.digest
FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[]) AS g (prefix, key, field, mark, digest)
JOIN store AS s ON s.prefix = g.prefix AND s.key = g.key FOR KEY SHARE OF s
ON CONFLICT (prefix, key, field_name) DO UPDATE SET mark = excluded.mark, digest = excluded.digest
"""
_PUT_VECTORS = """
INSERT INTO mnemoscope_vectors (prefix, key, field_name, embedding)
SELECT g.prefix, g.key, g.field, g.content::{type}
FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[]) AS g (prefix, key, field, content)
JOIN store AS s ON s.prefix = g.prefix AND s.key = g.key FOR KEY SHARE OF s
ON CONFLICT (prefix, key, field_name) DO UPDATE SET embedding = excluded.embedding, updated_at = now()
"""
_DROP_EMPTY = """
DELETE FROM mnemoscope_vectors AS n USING unnest(%s::text[], %s::text[], %s::text[]) AS g (prefix, key, field)
WHERE n.prefix = g.prefix AND n.key = g.key AND n.field_name = g.field
"""
_DROP_GONE = """
DELETE FROM {table} AS n WHERE NOT EXISTS (
    SELECT FROM store_vectors AS v WHERE v.prefix = n.prefix AND v.key = n.key AND v.field_name = n.field_name
)
"""

_STAGED = """
SELECT count(*) FROM mnemoscope_marks AS m JOIN store_vectors AS v
ON v.prefix = m.prefix AND v.key = m.key AND v.field_name = m.field_name
"""


# Foreign keys take these rows along with their items; a role without a right to look cannot see so.
_READABLE = """
SELECT each FROM unnest(%s::text[]) AS each WHERE has_table_privilege(to_regclass(each), 'SELECT')
"""
_HOLDS = "SELECT FROM {table} WHERE (prefix, key) IN (SELECT * FROM unnest(%s::text[], %s::text[])) LIMIT 1"


class PostgresStaging:
    """The vectors in waiting of one database.

    `run` does work on a cursor; `written` writes items there, within a transaction.
    """

    def __init__(
        self,
        *,
        run: Callable[[Callable[[Cursor[Row]], Any]], Any],
        written: Callable[[Cursor[Row], Sequence[Write], Sequence[Guard]], None],
    ) -> None:
        self._run, self._written = run, written

    def size(self) -> StagingSize:
        """How far it is; nothing is written."""

        def work(cursor: Cursor[Row]) -> StagingSize:
            if not _is_there(cursor, _IN_USE):
                return StagingSize(0, 0, 0)
            total = _number(cursor, "SELECT count(*) FROM store_vectors")
            if not _is_there(cursor, _VECTORS, _MARKS):
                return StagingSize(total, 0, 0)
            nbytes = _number(cursor, "SELECT pg_total_relation_size(to_regclass('mnemoscope_vectors'))")
            return StagingSize(total, _number(cursor, _STAGED), nbytes)

        return self._done(work)

    def begin(self, dimensions: int, *, afresh: bool) -> None:
        """Make the tables, with the owner and the rights of the one in use; what is there stays unless `afresh`."""

        def work(cursor: Cursor[Row]) -> None:
            with cursor.connection.transaction():
                schema, owner = _home(cursor)
                if afresh:
                    _drop(cursor)
                if not _is_there(cursor, _VECTORS, _MARKS):
                    _make(cursor, schema, owner, dimensions)

        self._done(work)

    def stale(self, after: Place | None, limit: int) -> list[Stale]:
        """The next vectors to make, by place."""
        return self._done(lambda cursor: _stale(cursor, after, limit))

    def put(self, staged: Sequence[Staged]) -> None:
        """Put vectors in waiting."""

        def work(cursor: Cursor[Row]) -> None:
            with cursor.connection.transaction():
                _put(cursor, staged)

        self._done(work)

    def switch(self, writes: Sequence[Write], guards: Sequence[Guard], *, most: int, finish: Finish | None) -> int:
        """Swap the tables, with these writes, unless vectors are still to be made."""

        def work(cursor: Cursor[Row]) -> int:
            with cursor.connection.transaction():
                cursor.execute(b"SET LOCAL statement_timeout = 0")
                _index_alike(cursor)
            with cursor.connection.transaction():
                # The locks of writers come first for everybody, the tables afterwards.
                lock(cursor.connection, [*writes, *guards])
                cursor.execute(b"LOCK TABLE store IN SHARE ROW EXCLUSIVE MODE")
                missing = _stale(cursor, None, most + 1)
                if missing and (finish is None or len(missing) > most):
                    return len(missing)
                if missing and finish is not None:
                    _put(cursor, finish(missing))
                for table in (_VECTORS, _MARKS):
                    cursor.execute(_DROP_GONE.format(table=table).encode())
                _swap(cursor, _home(cursor)[0])
                self._written(cursor, writes, guards)
            return 0

        return self._done(work)

    def drop(self) -> None:
        """Drop the tables."""

        def work(cursor: Cursor[Row]) -> None:
            with cursor.connection.transaction():
                _drop(cursor)

        self._done(work)

    def holds(self, refs: Sequence[Ref]) -> bool:
        """Whether any of these places has a vector or a mark in waiting, where this role may look."""

        def work(cursor: Cursor[Row]) -> bool:
            readable = cursor.execute(_READABLE.encode(), ([_VECTORS, _MARKS],)).fetchall()
            return any(
                cursor.execute(_HOLDS.format(table=table).encode(), places(refs)).fetchone() is not None
                for (table,) in readable
            )

        return self._done(work)

    def _done(self, work: Callable[[Cursor[Row]], Result]) -> Result:
        return cast(Result, self._run(work))


def _home(cursor: Cursor[Row]) -> tuple[str, str]:
    """The schema and the owner of the vectors in use, which this role must be able to replace."""
    row = cursor.execute(_HOME.encode()).fetchone()
    if row is None:
        raise StoreError("The PostgreSQL store has no table for vectors; set it up with an index.")
    schema, owner, may, role = row
    if not may:
        raise PermissionDeniedError(
            f"The role {role} may not put another table in the place of {schema}.store_vectors; connect as {owner}, "
            f"who owns it, or GRANT {owner} TO {role} and GRANT CREATE ON SCHEMA {schema} TO {role}."
        )
    return schema, owner


def _make(cursor: Cursor[Row], schema: str, owner: str, dimensions: int) -> None:
    kind = SQL(read_layout(cursor).vector_type or "vector")
    vectors, marks = Identifier(schema, _VECTORS), Identifier(schema, _MARKS)
    cursor.execute(_filled(_MAKE_VECTORS, table=vectors, type=kind, dimensions=Literal(dimensions)))
    cursor.execute(_filled(_MAKE_MARKS, table=marks))
    grants = cursor.execute(_GRANTS.encode()).fetchall()
    for grantee, privilege, is_grantable in grants:
        to = SQL("PUBLIC") if grantee is None else Identifier(grantee)
        option = SQL(" WITH GRANT OPTION" if is_grantable else "")
        right = SQL(privilege)
        cursor.execute(
            _filled("GRANT {right} ON {table} TO {to}{option}", right=right, table=vectors, to=to, option=option)
        )
    for table in (vectors, marks):
        cursor.execute(_filled("ALTER TABLE {table} OWNER TO {owner}", table=table, owner=Identifier(owner)))


def _index_alike(cursor: Cursor[Row]) -> None:
    """Give the vectors in waiting the indexes that those in use have."""
    if cursor.execute(_INDEXES.encode(), (_VECTORS,)).fetchone():
        return
    for number, (name, definition) in enumerate(cursor.execute(_INDEXES.encode(), (_IN_USE,)).fetchall()):
        _, using, method = definition.partition(" USING ")
        named = Identifier(f"mnemoscope_{number}_{name}"[:63])
        where = Identifier(_home(cursor)[0], _VECTORS)
        made = _filled("CREATE INDEX {name} ON {table}", name=named, table=where) + SQL(using + method)
        try:
            with cursor.connection.transaction():
                cursor.execute(made)
        except ProgramLimitExceeded:
            # An approximate index takes no more than 2,000 dimensions; without it every search is exact.
            continue


def _swap(cursor: Cursor[Row], schema: str) -> None:
    one = cursor.execute(_INDEXES.encode(), (_IN_USE,)).fetchall()
    other = cursor.execute(_INDEXES.encode(), (_VECTORS,)).fetchall()
    for before, after in ((_IN_USE, _SWAPPED), (_VECTORS, _IN_USE), (_SWAPPED, _VECTORS)):
        _rename(cursor, "TABLE", schema, before, after)
    for (name, _), (waiting, _) in zip(one, other, strict=False):
        for before, after in ((name, _SWAPPED), (waiting, name), (_SWAPPED, waiting)):
            _rename(cursor, "INDEX", schema, before, after)
    for before, after in (
        (f"{_IN_USE}_pkey", _SWAPPED),
        (f"{_VECTORS}_pkey", f"{_IN_USE}_pkey"),
        (_SWAPPED, f"{_VECTORS}_pkey"),
    ):
        if _is_there(cursor, before):
            _rename(cursor, "INDEX", schema, before, after)


def _rename(cursor: Cursor[Row], kind: str, schema: str, before: str, after: str) -> None:
    named = _filled("{before} RENAME TO {after}", before=Identifier(schema, before), after=Identifier(after))
    cursor.execute(SQL("ALTER ") + SQL(kind) + SQL(" ") + named)


def _drop(cursor: Cursor[Row]) -> None:
    cursor.execute(b"DROP TABLE IF EXISTS mnemoscope_vectors, mnemoscope_marks")


def _stale(cursor: Cursor[Row], after: Place | None, limit: int) -> list[Stale]:
    behind = ("", "", "") if after is None else (after.prefix, after.key, after.field)
    rows = cursor.execute(_STALE.encode(), (*behind, limit)).fetchall()
    return [
        Stale(Place(prefix, key, field), from_prefix(prefix), read_json(value), mark, digest)
        for prefix, key, field, value, mark, digest in rows
    ]


def _put(cursor: Cursor[Row], staged: Sequence[Staged]) -> None:
    marks = [(each.place.prefix, each.place.key, each.place.field, each.mark, each.digest) for each in staged]
    made = [
        (*row[:3], to_text(each.vector)) for row, each in zip(marks, staged, strict=True) if each.vector is not None
    ]
    empty = [row[:3] for row in marks if not row[4]]
    kind = read_layout(cursor).vector_type or "vector"
    for sql, rows in ((_PUT_MARKS, marks), (_PUT_VECTORS.format(type=kind), made), (_DROP_EMPTY, empty)):
        if rows:
            cursor.execute(sql.encode(), [list(column) for column in zip(*rows, strict=True)])


def _is_there(cursor: Cursor[Row], *names: str) -> bool:
    row = cursor.execute(b"SELECT count(to_regclass(each)) FROM unnest(%s::text[]) AS each", (list(names),)).fetchone()
    return row == (len(names),)


def _number(cursor: Cursor[Row], query: str) -> int:
    row = cursor.execute(query.encode()).fetchone()
    return int(row[0]) if row else 0


def _filled(template: str, **parts: Composable) -> Composed:
    return SQL(template).format(**parts)
