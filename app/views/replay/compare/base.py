"""What two setups are tried on: a copy of the namespace as it is, as it was, or an empty one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import streamlit as st
from mnemoscope import InputError, MemoryEngine
from mnemoscope.core import Namespace, utc_now
from mnemoscope.embedding import load_embeddings
from mnemoscope.replay import ReplaySetup, memories_at, scratch_engine

from app.session.session import Session

__all__ = ["BASE_KEY", "MOMENT_KEY", "Base", "choose", "scratch_copy"]

BASE_KEY = "replay.base"
MOMENT_KEY = "replay.moment"
MOST_COPIED = 20_000

Base = tuple[str, datetime | None]

_BASES = {
    "now": "A copy of the namespace as it is",
    "empty": "An empty namespace",
    "then": "A copy of the namespace as it was",
}


def choose() -> Base:
    """Draw the choice; which copy, and of when."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        base = st.selectbox(
            "Tried on",
            list(_BASES),
            format_func=lambda name: _BASES[name],
            key=BASE_KEY,
            width=380,
            help="Always a copy in memory: whatever happens in it, the store stays as it is.",
        )
        if base != "then":
            return base, None
        day = st.datetime_input("As it was at (UTC)", utc_now() - timedelta(days=7), key=MOMENT_KEY)
    return base, day.replace(tzinfo=UTC)


def scratch_copy(working: Session, namespace: Namespace, base: Base, setup: ReplaySetup) -> MemoryEngine:
    """An engine over the copy.

    Raises:
        InputError: the namespace holds more memories than may be copied, or it is not known how it was.
    """
    kind, moment = base
    embeddings = working.adapter.embeddings
    own = embeddings if embeddings is not None else load_embeddings("bundled")
    if kind == "empty":
        return scratch_engine(setup, own)
    count = working.engine.counts(namespace).get(namespace, 0)
    if count > MOST_COPIED:
        raise InputError(
            f"This namespace holds {count:,} memories; up to {MOST_COPIED:,} are copied. Try an empty one."
        )
    records, vectors = memories_at(working.engine, namespace, moment)
    known = vectors if embeddings is not None else {}
    return scratch_engine(setup, own, records=records, vectors=known)
