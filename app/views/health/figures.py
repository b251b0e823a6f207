"""Health: how much there is and of which kind, what the dashboard takes, slow and failed calls, and versions."""

from __future__ import annotations

import platform
import sqlite3
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import streamlit as st
from mnemoscope.embedding import present_identity, stored_identity
from mnemoscope.health import Kinds
from mnemoscope.index import IndexMemory
from mnemoscope.journal import book

from app.session.calls import SLOW_SECONDS, call_log
from app.session.index_memory import measure_by_connection
from app.session.session import Session
from app.text.display import megabytes, one_line, timestamp

KINDS: tuple[tuple[str, str, str], ...] = (
    ("ours", "Ours", "Written by Mnemoscope or langgraph-memory"),
    ("langmem_tool", "LangMem tools", "A text under 'content', and nothing else"),
    ("langmem_manager", "LangMem managers", "An object under 'content', with the name of its schema"),
    ("other", "Others", "Any other item with a text"),
    ("unreadable", "Unreadable", "No text that could be recalled"),
)

PACKAGES = (
    "mnemoscope",
    "langgraph",
    "langgraph-checkpoint",
    "langgraph-checkpoint-sqlite",
    "langgraph-checkpoint-postgres",
    "langgraph-sdk",
    "langchain",
    "sqlite-vec",
    "psycopg",
    "pgvector",
    "numpy",
    "onnxruntime",
    "streamlit",
    "plotly",
)
"""The packages whose versions matter when something is reported."""


def draw_figures(working: Session) -> None:
    """The figures at the top."""
    counts = working.engine.counts()
    taken = measure_process()
    with st.container(horizontal=True, gap="small", key="health-figures"):
        st.metric("Memories", f"{sum(counts.values()):,}", border=True)
        st.metric("Namespaces", f"{len(counts):,}", border=True)
        recalled = f"{_count_recalled(working):,}"
        st.metric("Recalled so far", recalled, border=True, help="Memories that an agent was ever given.")
        draw_index_memory(working.engine.context.indexes.memory)
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


def measure_process() -> int | None:
    """What this process holds in memory now; None where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    sizes = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(sizes[0]) * 1024 if sizes else None


def _count_recalled(working: Session) -> int:
    return sum(working.adapter.counts(book("access")).values())


def _draw_fact(label: str, fact: str) -> None:
    with st.container(gap="xxsmall", width="content"):
        st.caption(label)
        st.text(one_line(fact, 200))


def draw_calls(connection: str) -> None:
    """The last slow and failed calls to this store."""
    log = call_log()
    calls = log.of(connection)
    st.subheader("Slow and failed calls", anchor=False)
    st.caption(f"Calls over {SLOW_SECONDS:g} s, and those that failed, of {log.total:,} since the dashboard started.")
    if not calls:
        st.markdown(":green[:material/check:] None.")
        return
    rows = [
        {
            "When": timestamp(call.at),
            "Call": call.name,
            "Seconds": round(call.seconds, 3),
            "Error": one_line(call.error, 300),
        }
        for call in calls
    ]
    st.dataframe(rows, hide_index=True, key="health.calls", alt="Slow and failed calls, the latest first")


def draw_versions() -> None:
    """The versions, to be copied into a report."""
    st.subheader("Versions", anchor=False)
    st.code("\n".join(f"{name} {found}" for name, found in list_versions().items()), language=None)


def list_versions() -> dict[str, str]:
    """Python, SQLite, and every package of `PACKAGES` that is installed."""
    found = {"Python": platform.python_version(), "SQLite": sqlite3.sqlite_version}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def draw_index_memory(memory: IndexMemory) -> None:
    """How much is used of how much, and by which connections."""
    st.metric(
        "Indexes in memory",
        f"{megabytes(memory.used)} of {megabytes(memory.limit)}",
        border=True,
        help="Of all connections together; what was used longest ago is dropped first, and built anew when wanted.",
    )
    # One connection alone has what is used.
    if len(taken := {name: size for name, size in measure_by_connection().items() if size}) > 1:
        with st.container(gap="xxsmall", key="health-index-memory"):
            st.caption("Indexes by connection")
            for name, size in taken.items():
                st.text(f"{one_line(name, 40)}  {megabytes(size)}")
