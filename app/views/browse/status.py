"""What Browse says about its table: how many memories match, which columns it has, and the Python line for it."""

from __future__ import annotations

from dataclasses import dataclass, fields

import streamlit as st
from mnemoscope.index import Browsed, Filters, ScopeIndex
from streamlit.delta_generator import DeltaGenerator

from app.components import command_lines, python_lines
from app.session.scope import Scope
from app.text.display import counted
from app.views.browse import filters as browse_filters
from app.views.browse.filters import Chosen

__all__ = ["PRIVATE_KEY", "Head", "columns", "draw_python", "head", "known_categories"]

PRIVATE_KEY = "b_private"


@dataclass(frozen=True)
class Head:
    """The row of the title. It is placed first; the counts follow once they are known."""

    shows_private: bool
    counts: DeltaGenerator

    def count(self, browsed: Browsed) -> None:
        """Say how many memories are shown, out of how many, and how many private ones are not."""
        total = counted(browsed.total, "memory", "memories")
        matching = total if len(browsed) == browsed.total else f"{len(browsed):,} of {total}"
        hidden = f" · :material/lock: {browsed.hidden:,} private hidden" if browsed.hidden else ""
        self.counts.markdown(f"**{matching}**:gray[{hidden}]", width="content")


def head() -> Head:
    """Draw the title, and the switch that shows private memories."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="browse-head"):
        st.title("Browse", anchor=False, width="content")
        counts = st.container(width="content")
        st.space("stretch")
        shows_private = st.toggle(
            "Show private", key=PRIVATE_KEY, bind="query-params", on_change=browse_filters.first_page
        )
    return Head(shows_private, counts)


def columns(chosen: Chosen, scope: Scope, *, is_narrow: bool) -> list[str]:
    """The columns to show: fewer where a memory is open beside the table."""
    shown = ["similarity"] if chosen.meaning is not None else []
    shown += ["content", "importance", "changed"] if is_narrow else ["content", "categories", "importance", "changed"]
    shown += ["namespace"] if scope.subtree else []
    shown += ["private"] if chosen.filters.include_private else []
    return shown if is_narrow else [*shown, "source"]


def known_categories(index: ScopeIndex) -> list[str]:
    """Every category of the scope, in alphabetical order."""
    return sorted(name for name in index.columns.categories.names if name is not None)


def draw_python(scope: Scope, chosen: Chosen) -> None:
    """Show the line that lists the same memories."""
    if chosen.meaning is not None:
        line = python_lines.call(
            "recall", chosen.meaning, scope.namespace, limit=100, subtree=scope.subtree or None, touch=False
        )
        command = command_lines.call(
            "recall", chosen.meaning, namespace=scope.namespace, subtree=scope.subtree, limit=100
        )
        title = "The nearest, ranked as an agent gets them"
        python_lines.draw({title: line}, {title: command})
        return
    command = _command(scope, chosen.filters)
    within = f"{scope.namespace!r}, subtree=True" if scope.subtree else repr(scope.namespace)
    filters = ", ".join(
        f"{field.name}={getattr(chosen.filters, field.name)!r}"
        for field in fields(chosen.filters)
        if getattr(chosen.filters, field.name) not in (field.default, [])
    )
    python_lines.draw(
        f"from mnemoscope.index.browsing import Filters, browse\nfrom mnemoscope.core.times import utc_now\n\n"
        f"index = engine.index({within})\n"
        f"filters = Filters({filters})\n"
        f"found = browse(index, filters, now=utc_now(), sort={chosen.sort!r}, descending={chosen.descending})\n"
        f"found.page(0, 100)",
        command,
        without="" if command else "There is no command for it: `mnemoscope list` filters by category alone.",
    )


def _command(scope: Scope, filters: Filters) -> str:
    """The command that lists the same; empty where it has not such filters."""
    others = (each for each in fields(filters) if each.name not in ("categories", "include_private"))
    if any(getattr(filters, each.name) not in (each.default, []) for each in others):
        return ""
    return command_lines.call(
        "list", namespace=scope.namespace, subtree=scope.subtree, category=list(filters.categories),
        include_private=filters.include_private,
    )  # fmt: skip
