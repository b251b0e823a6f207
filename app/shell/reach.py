"""Whether a scope is small enough to be read into memory; where it is not, that is said in place of the page."""

from __future__ import annotations

import streamlit as st
from mnemoscope.index import process_budget

from app.session import scope, session
from app.session.navigation import PageRow
from app.session.scope import read_tree
from app.session.settings import INDEX_MEMORY
from app.text.display import counted, megabytes

ANYWAY_KEY = "reach.anyway"
BYTES_A_MEMORY = 4_000
"""About what one takes of an index, as measured in docs/scale.md."""

READING = ("overview", "browse", "recall", "curate")
"""The pages that read every memory of the scope."""

_AGREED = "reach.agreed"


def allows(row: PageRow) -> bool:
    """Whether this page may be run over the scope; where not, why not and what to do is drawn.

    Raises:
        StoreError: the store does not answer.
    """
    if row.name not in READING:
        return True
    working, here = session.current(), scope.current()
    agreed = (working.connection, here)
    total = read_tree(working).total(here.namespace, subtree=here.subtree)
    needed, limit = total * BYTES_A_MEMORY, process_budget().limit_bytes
    if needed <= limit or st.session_state.get(_AGREED) == agreed:
        return True
    st.title(row.title, anchor=False)
    with st.container(border=True, gap="small"):
        st.markdown(f"**{counted(total, 'memory', 'memories')} are too many to be read at once**")
        st.text(
            f"Their index would take about {megabytes(needed)} of memory, and all indexes together may take "
            f"{megabytes(limit)} ({INDEX_MEMORY}). Choose a namespace at the top of the page: one level is listed at a "
            "time, and any can be typed."
        )
        st.button("Read them all the same", key=ANYWAY_KEY, on_click=_agree, args=(agreed,))
    return False


def _agree(agreed: tuple[str, scope.Scope]) -> None:
    st.session_state[_AGREED] = agreed
