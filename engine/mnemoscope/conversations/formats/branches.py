"""Branches: chats whose messages were edited or asked for again are trees, and one path through them was last open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from ..conversation import count_of

__all__ = ["OTHER_BRANCH", "current_branch", "note_on_branches"]

OTHER_BRANCH = "message of another branch"
"""What the spoken messages off the current branch are counted as."""

Node = TypeVar("Node")


def current_branch(
    nodes: Mapping[str, Node],
    *,
    parent: Callable[[Node], object],
    written: Callable[[Node], float],
    current: object = None,
) -> list[str]:
    """The keys from a root to the node that was open last, or else to the leaf that was written last.

    `nodes` are in the order of the file, which decides between leaves of one time. A path that runs in a circle ends.
    """
    is_known = isinstance(current, str) and current in nodes
    key = current if is_known else _last_leaf(nodes, parent, written)
    path: dict[str, None] = {}
    while isinstance(key, str) and key in nodes and key not in path:
        path[key] = None
        key = parent(nodes[key])
    return list(path)[::-1]


def note_on_branches(number: int) -> list[str]:
    """A note that says how many messages of other branches were left out, where there are any."""
    words = count_of(number, "message of another branch was", "messages of other branches were")
    return [f"{words} left out."] if number else []


def _last_leaf(
    nodes: Mapping[str, Node], parent: Callable[[Node], object], written: Callable[[Node], float]
) -> str | None:
    parents = {found for node in nodes.values() if isinstance(found := parent(node), str)}
    leaves = [key for key in nodes if key not in parents] or list(nodes)
    return max(reversed(leaves), key=lambda key: written(nodes[key]), default=None)
