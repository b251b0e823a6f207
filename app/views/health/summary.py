"""Health, second part: how much there is, of which kind, and how much memory the dashboard takes."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from mnemoscope.embedding import present_identity, stored_identity
from mnemoscope.health import Kinds
from mnemoscope.journal import book

from app.session import index_memory
from app.session.session import Session
from app.text.display import megabytes, one_line

__all__ = ["draw", "draw_kinds", "draw_limits", "process_bytes"]

KINDS: tuple[tuple[str, str, str], ...] = (
    ("ours", "Ours", "Written by Mnemoscope or langgraph-memory"),
    ("langmem_tool", "LangMem tools", "A text under 'content', and nothing else"),
    ("langmem_manager", "LangMem managers", "An object under 'content', with the name of its schema"),
    ("other", "Others", "Any other item with a text"),
    ("unreadable", "Unreadable", "No text that could be recalled"),
)


def draw(working: Session) -> None:
    """The figures at the top."""
    counts = working.engine.counts()
    taken = process_bytes()
    with st.container(horizontal=True, gap="small", key="health-figures"):
        st.metric("Memories", f"{sum(counts.values()):,}", border=True)
        st.metric("Namespaces", f"{len(counts):,}", border=True)
        recalled = f"{_recalled(working):,}"
        st.metric("Recalled so far", recalled, border=True, help="Memories that an agent was ever given.")
        index_memory.draw(working.engine.context.indexes.memory)
        st.metric("Dashboard's memory", "–" if taken is None else megabytes(taken), border=True)
    stored, present = stored_identity(working.adapter), present_identity(working.adapter)
    with st.container(horizontal=True, gap="medium", key="health-embedder"):
        _draw_fact("Vectors in the store are by", str(stored) if stored else "not noted yet")
        _draw_fact("The embedder in use is", str(present) if present else "the store's own, which is not known here")


def draw_kinds(kinds: Kinds | None) -> None:
    """How many items there are by who wrote them."""
    st.subheader("Kinds of item", anchor=False)
    if kinds is None:
        st.caption("There are too many items to be read at once.")
        return
    rows = [{"Kind": title, "Items": getattr(kinds, name), "What they are": help} for name, title, help in KINDS]
    st.dataframe(rows, hide_index=True, key="health.kinds", alt="Items of the store by kind")


def draw_limits(working: Session) -> None:
    """What this kind of store cannot do."""
    abilities = working.adapter.abilities
    st.subheader("What this store can do", anchor=False)
    claims = (
        ("Vectors are read, so ranking is exact", abilities.reads_vectors),
        ("Writes of others are noticed at once", abilities.sees_changes),
        ("A change is written whole or not at all", abilities.atomic),
        ("Edits at the same moment by other processes are caught", abilities.guards_processes),
    )
    for claim, holds in claims:
        icon = ":green[:material/check:]" if holds else ":orange[:material/close:]"
        st.markdown(f"{icon} {claim}")
    for limit in (*abilities.warnings, *abilities.limits):
        # Names out of the database, such as that of an index, stand in it.
        st.text(one_line(limit, 600))


def process_bytes() -> int | None:
    """What this process holds in memory now; None where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    sizes = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(sizes[0]) * 1024 if sizes else None


def _recalled(working: Session) -> int:
    return sum(working.adapter.counts(book("access")).values())


def _draw_fact(label: str, fact: str) -> None:
    with st.container(gap="xxsmall", width="content"):
        st.caption(label)
        st.text(one_line(fact, 200))
