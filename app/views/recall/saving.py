"""What can be kept of a recall: the query as a case, and the settings as a profile."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from mnemoscope import MemoryRecord, RecallResult
from mnemoscope.core import Namespace, show_namespace
from mnemoscope.recall import locate

from app.components import keep
from app.components.tables import key_of
from app.session import links
from app.session.session import Session
from app.text.display import one_line
from app.views.recall.query import RecallQuery
from app.views.recall.sliders import RankingSettings

CASE_KEY = "recall.case.save"


EXPECTED_KEY, UNWANTED_KEY = "recall.case.expected", "recall.case.unwanted"


_DONE = "recall.kept"


def draw_saving(working: Session, result: RecallResult, asked: RecallQuery, chosen: RankingSettings) -> None:
    """Draw the two, each behind a button."""
    if st.session_state.pop(_DONE, False):
        # What was done is said by the frame, which a part of the page does not run.
        st.rerun()
    with st.container(horizontal=True, gap="small"):
        with st.popover("Save as case", icon=":material/fact_check:", key="recall.case"):
            _draw_case(working, result, asked)
        with st.popover("Save profile", icon=":material/bookmark:", key="recall.profile"):
            keep.draw_profile(working, chosen.config, prefix="recall.", on_saved=_note)


def _draw_case(working: Session, result: RecallResult, asked: RecallQuery) -> None:
    offered = _offered(result)
    namespaces = list(dict.fromkeys(record.namespace for record in offered))
    if not namespaces:
        st.caption("Nothing came back that a case could expect.")
        return
    namespace = namespaces[0]
    if len(namespaces) > 1:
        namespace = st.selectbox(
            "Namespace",
            namespaces,
            key="recall.case.namespace",
            format_func=lambda each: one_line(show_namespace(each), 80),
        )
    texts = {record.key: one_line(record.content, 120) for record in offered if record.namespace == namespace}
    first = next(iter(texts))
    about = [(namespace, asked.text), (namespace, first)]
    expected = st.multiselect(
        "Should come back", list(texts), [first], key=key_of(EXPECTED_KEY, about), format_func=texts.__getitem__
    )
    left = [key for key in texts if key not in expected]
    unwanted = st.multiselect("Should not", left, key=key_of(UNWANTED_KEY, about), format_func=texts.__getitem__)
    st.button(
        "Save case",
        key=CASE_KEY,
        type="primary",
        disabled=not working.is_writing or not (expected or unwanted),
        help=None if working.is_writing else "Reading only. Switch writing on at the top of the page.",
        on_click=_save,
        args=(asked.text, namespace, expected, unwanted),
    )


def _offered(result: RecallResult) -> list[MemoryRecord]:
    """What a case could be about: the memory that is explained, first, and what was returned."""
    records = [match.record for match in result]
    ref = links.read_explained_memory()
    at = None if ref is None else locate(result, *ref)
    if at is None:
        return records
    explained = result.ranking.candidates.records[at]
    return [explained, *(record for record in records if record is not explained)]


def _save(query: str, namespace: Namespace, expected: Sequence[str], unwanted: Sequence[str]) -> None:
    keep.save_case(query, namespace, expected, unwanted)
    _note()


def _note() -> None:
    st.session_state[_DONE] = True
