"""Namespaces as the SQL stores hold them: labels joined by a period in the column `prefix`."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.namespaces import RESERVED_ROOT, Namespace
from ..core.text import storable

__all__ = ["Dialect", "Where", "from_prefix", "to_prefix"]


_NOTHING = "1 = 0"


def to_prefix(namespace: Namespace) -> str | None:
    """The namespace as the stores write it; None where they cannot hold it, so that nothing is there."""
    if not namespace or any("." in label or storable(label)[1] for label in namespace):
        return None
    return ".".join(namespace)


def from_prefix(prefix: str) -> Namespace:
    """The namespace of a stored prefix, as the stores read it."""
    return tuple(prefix.split("."))


@dataclass(frozen=True)
class Where:
    """A condition in SQL and its parameters."""

    sql: str
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dialect:
    """How a database marks parameters and compares text by its bytes, whatever the locale."""

    mark: str
    at_least: str
    below: str

    def within(self, namespace: Namespace, *, subtree: bool, column: str = "prefix") -> Where:
        """The rows of a namespace and, with `subtree`, below it: labels match whole, by case and literally.

        The subtree of `()` is the whole store but for the reserved root.
        """
        if not namespace:
            return self._outside(RESERVED_ROOT, column) if subtree else Where(_NOTHING)
        prefix = to_prefix(namespace)
        if prefix is None:
            return Where(_NOTHING)
        return self._below(prefix, column) if subtree else Where(f"{column} = {self.mark}", (prefix,))

    def _below(self, prefix: str, column: str) -> Where:
        # "/" follows "." in every encoding the stores use, so the range holds what starts with the prefix and ".".
        sql = (
            f"({column} = {self.mark} OR ({column} {self.at_least} {self.mark} AND {column} {self.below} {self.mark}))"
        )
        return Where(sql, (prefix, f"{prefix}.", f"{prefix}/"))

    def _outside(self, prefix: str, column: str) -> Where:
        inside = self._below(prefix, column)
        return Where(f"NOT {inside.sql}", inside.parameters)
