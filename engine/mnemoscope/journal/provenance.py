"""From which thread and run of a graph a change came, as the journal names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.text import one_line, storable

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

__all__ = ["ambient", "came_from", "thread_of"]


_LONGEST = 200


def came_from(what: str, config: RunnableConfig | None) -> str:
    """The reason of a change: what in the agent asked for it, in which thread and run, as far as that is known."""
    named = {"thread": thread_of(config), "run": _run_of(config or {})}
    return ", ".join([what, *(f"{name} {_short(value)}" for name, value in named.items() if value)])


def ambient() -> RunnableConfig | None:
    """The configuration of the graph's run in which this is called; None outside of any."""
    from langgraph.config import get_config

    try:
        return get_config()
    except RuntimeError:
        return None


def thread_of(config: RunnableConfig | None) -> str | None:
    """The thread of a run; None where it has none."""
    found = ((config or {}).get("configurable") or {}).get("thread_id")
    return None if found is None else str(found)


def _run_of(config: Mapping[str, Any]) -> object:
    places = (config, config.get("configurable") or {}, config.get("metadata") or {})
    return next((place["run_id"] for place in places if place.get("run_id")), None) or _running()


def _running() -> object:
    from langgraph.runtime import get_runtime

    try:
        information = getattr(get_runtime(), "execution_info", None)
    except (RuntimeError, KeyError):
        return None
    return getattr(information, "run_id", None)


def _short(value: object) -> str:
    return storable(one_line(str(value)))[0][:_LONGEST]
