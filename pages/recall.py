"""Recall: what a query brings back, why each memory stands where it stands, and what was left out."""

import streamlit as st
from mnemoscope.explaining import locate
from mnemoscope.times import utc_now

from app import (
    recall_candidates,
    recall_chosen,
    recall_explanation,
    recall_query,
    recall_states,
    recall_view,
    session,
    tune_data,
)
from app import scope as scopes

with st.container(horizontal=True):
    st.title("Recall", anchor=False)
working = session.current()
engine = working.engine
scope = scopes.current()

index = engine.index(scope.namespace, subtree=scope.subtree)
asked = recall_query.draw(working, scope, index)

if not len(index) and asked.filters.as_of is None:
    recall_states.draw_empty(engine, asked, engine.counts())
elif not asked.text:
    recall_states.draw_start(index.records)
elif asked.filters.problem:
    recall_states.draw_unreadable_filter(asked.filters.problem)
else:
    result = recall_candidates.fetch(engine, asked)
    chosen = recall_chosen.current()
    if chosen is not None and locate(result, *chosen) is None:
        recall_explanation.draw_absent(engine.explain(asked.text, *chosen, within=asked.namespace, **asked.options))
    recall_view.draw(
        working,
        result,
        asked,
        tune_data.profiles(working, with_present=False),
        control=recall_candidates.control_similarity(engine, asked),
        now=utc_now(),
    )
