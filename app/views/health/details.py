"""Health, last part: the calls that were slow or failed, and the versions of everything beneath."""

from __future__ import annotations

import platform
import sqlite3
from importlib.metadata import PackageNotFoundError, version

import streamlit as st

from app.session.calls import SLOW_SECONDS, call_log
from app.text.display import one_line, timestamp

__all__ = ["PACKAGES", "draw_calls", "draw_versions", "versions"]

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
    st.code("\n".join(f"{name} {found}" for name, found in versions().items()), language=None)


def versions() -> dict[str, str]:
    """Python, SQLite, and every package of `PACKAGES` that is installed."""
    found = {"Python": platform.python_version(), "SQLite": sqlite3.sqlite_version}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
