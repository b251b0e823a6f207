"""Browse's table: what the filters leave, a page of it; ticks choose memories, a click on a cell opens one."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import streamlit as st
from mnemoscope import MemoryEngine, MemoryRecord
from mnemoscope.core import utc_now
from mnemoscope.embedding import identity_of
from mnemoscope.index import Browsed, Filters, ScopeIndex, browse
from mnemoscope.stores import Ref
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from app.components import code, tables
from app.session import links
from app.session.scope import Scope
from app.text.display import counted
from app.views.browse import filters as browse_filters
from app.views.browse.filters import BrowseQuery

_VECTOR = "browse.vector"

PRIVATE_KEY = "b_private"

_TICKED = "browse.ticked"

_CLICKED = "browse.clicked"

NO_TEXT = "(no text)"

ROW_HEIGHT, MOST_ROWS_SHOWN = 35, 17

_COLUMNS: dict[str, Any] = tables.COLUMNS | {
    "similarity": st.column_config.ProgressColumn("Similarity", min_value=0.0, max_value=1.0, format="%.2f", width=105),
    "source": st.column_config.TextColumn("Source", width=125),
    "content": st.column_config.TextColumn("Memory", width=370),
    "categories": st.column_config.ListColumn("Categories", width=170),
    "namespace": st.column_config.TextColumn("Namespace", width=150),
    "importance": st.column_config.ProgressColumn("Importance", min_value=0.0, max_value=1.0, format="%.2f", width=105),
    "changed": st.column_config.DatetimeColumn("Changed", format="distance", timezone="UTC", width=115),
}

_NARROW: dict[str, Any] = {"content": st.column_config.TextColumn("Memory", width=300)}


@dataclass(frozen=True)
class Found:
    """The memories that are left, and how close each is to the meaning searched for, if one is."""

    browsed: Browsed
    similarities: NDArray[np.float64] | None = None

    def similarity_of(self, records: list[MemoryRecord]) -> list[float] | None:
        """The similarity of each of these memories of the index; None where the search is not by meaning."""
        if self.similarities is None:
            return None
        position = self.browsed.index.position
        return [float(self.similarities[position[record.namespace, record.key]]) for record in records]


def can_find_meaning(engine: MemoryEngine) -> bool:
    """Whether a text can be embedded and compared with the stored vectors."""
    reads = engine.adapter.embeddings is not None and engine.adapter.abilities.reads_vectors
    return reads and not engine.reembedding.difference()


def search_memories(engine: MemoryEngine, index: ScopeIndex, chosen: BrowseQuery) -> Found:
    """What is left of the scope, in the order that is chosen."""
    also: dict[str, NDArray[np.float64]] = {}
    if chosen.meaning is not None:
        also["similarity"] = _similarities(engine, index, chosen.meaning)
    elif chosen.sort == "recalled":
        also["recalled"] = _recalls(engine, index)
    browsed = browse(index, chosen.filters, now=utc_now(), sort=chosen.sort, descending=chosen.descending, also=also)
    return Found(browsed, also.get("similarity"))


def _similarities(engine: MemoryEngine, index: ScopeIndex, text: str) -> NDArray[np.float64]:
    # Kept for the session, so that paging and ticking do not embed the text again.
    kept, numbers = st.session_state.get(_VECTOR, ("", []))
    embeddings = engine.adapter.embeddings
    asked = f"{identity_of(embeddings)} {text}" if embeddings is not None else text
    if kept != asked and embeddings is not None:
        numbers = embeddings.embed_query(text)
        st.session_state[_VECTOR] = (asked, numbers)
    vector = np.asarray(numbers, np.float32)
    norm = float(np.linalg.norm(vector))
    return index.cosine(vector / norm if norm else vector)


def _recalls(engine: MemoryEngine, index: ScopeIndex) -> NDArray[np.float64]:
    access = {
        namespace: engine.usage.recalls(namespace) for namespace in {record.namespace for record in index.records}
    }
    counts = (found.count if (found := access[record.namespace].get(record.key)) else 0 for record in index.records)
    return np.fromiter(counts, np.float64, len(index))


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


def draw_head() -> Head:
    """Draw the title, and the switch that shows private memories."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="browse-head"):
        st.title("Browse", anchor=False, width="content")
        counts = st.container(width="content")
        st.space("stretch")
        shows_private = st.toggle(
            "Show private", key=PRIVATE_KEY, bind="query-params", on_change=browse_filters.go_to_first_page
        )
    return Head(shows_private, counts)


def choose_columns(chosen: BrowseQuery, scope: Scope, *, is_narrow: bool) -> list[str]:
    """The columns to show: fewer where a memory is open beside the table."""
    shown = ["similarity"] if chosen.meaning is not None else []
    shown += ["content", "importance", "changed"] if is_narrow else ["content", "categories", "importance", "changed"]
    shown += ["namespace"] if scope.subtree else []
    shown += ["private"] if chosen.filters.include_private else []
    return shown if is_narrow else [*shown, "source"]


def list_categories(index: ScopeIndex) -> list[str]:
    """Every category of the scope, in alphabetical order."""
    return sorted(name for name in index.columns.categories.names if name is not None)


def draw_browse_code(scope: Scope, chosen: BrowseQuery) -> None:
    """Show the line that lists the same memories."""
    if chosen.meaning is not None:
        line = code.write_python(
            "recall", chosen.meaning, scope.namespace, limit=100, subtree=scope.subtree or None, touch=False
        )
        command = code.write_command(
            "recall", chosen.meaning, namespace=scope.namespace, subtree=scope.subtree, limit=100
        )
        title = "The nearest, ranked as an agent gets them"
        code.draw_code({title: line}, {title: command})
        return
    command = _write_command(scope, chosen.filters)
    within = f"{scope.namespace!r}, subtree=True" if scope.subtree else repr(scope.namespace)
    filters = ", ".join(
        f"{field.name}={getattr(chosen.filters, field.name)!r}"
        for field in fields(chosen.filters)
        if getattr(chosen.filters, field.name) not in (field.default, [])
    )
    code.draw_code(
        f"from mnemoscope.index.browsing import Filters, browse\nfrom mnemoscope.core.times import utc_now\n\n"
        f"index = engine.index({within})\n"
        f"filters = Filters({filters})\n"
        f"found = browse(index, filters, now=utc_now(), sort={chosen.sort!r}, descending={chosen.descending})\n"
        f"found.page(0, 100)",
        command,
        without="" if command else "There is no command for it: `mnemoscope list` filters by category alone.",
    )


def _write_command(scope: Scope, filters: Filters) -> str:
    """The command that lists the same; empty where it has not such filters."""
    others = (each for each in fields(filters) if each.name not in ("categories", "include_private"))
    if any(getattr(filters, each.name) not in (each.default, []) for each in others):
        return ""
    return code.write_command(
        "list", namespace=scope.namespace, subtree=scope.subtree, category=list(filters.categories),
        include_private=filters.include_private,
    )  # fmt: skip


def draw_table(
    records: Sequence[MemoryRecord],
    *,
    columns: Sequence[str],
    similarities: Sequence[float] | None,
    is_narrow: bool,
) -> list[Ref]:
    """Draw one page of memories; where the ticked ones are. What was ticked stays ticked while it is shown."""
    refs = [(record.namespace, record.key) for record in records]
    key = table_key(refs)
    frame = tables.make_frame(records)
    frame.loc[frame["content"] == "", "content"] = NO_TEXT
    if similarities is not None:
        frame["similarity"] = similarities
    kept = set(st.session_state.get(_TICKED, []))
    event = st.dataframe(
        frame,
        column_order=list(columns),
        column_config=_COLUMNS | (_NARROW if is_narrow else {}),
        hide_index=True,
        key=key,
        on_select=functools.partial(_open_clicked, key, refs),
        selection_mode=["multi-row", "single-cell"],
        selection_default={"selection": {"rows": [at for at, ref in enumerate(refs) if ref in kept]}},
        row_height=ROW_HEIGHT,
        height=min(len(refs), MOST_ROWS_SHOWN) * ROW_HEIGHT + ROW_HEIGHT + 3,
        placeholder="",
        alt="Memories",
    )
    st.session_state[_TICKED] = tables.read_ticked(event, refs)
    return tables.read_ticked(event, refs)


def table_key(refs: Sequence[Ref]) -> str:
    """The key of the table that shows these rows now."""
    return tables.key_of(f"browse.table-{st.session_state.get(links.MEMORY_OPENINGS_KEY, 0)}", refs)


def _open_clicked(key: str, refs: Sequence[Ref]) -> None:
    cells = st.session_state[key]["selection"]["cells"]
    clicked = (key, *cells[0]) if cells else None
    # A tick is a selection too, and reports the cell that was clicked before it once more.
    if clicked and clicked != st.session_state.get(_CLICKED) and 0 <= cells[0][0] < len(refs):
        links.open_memory(refs[cells[0][0]])
    st.session_state[_CLICKED] = clicked
