"""Recall: what a query brings back, why each memory stands where it stands, and what was left out."""

import streamlit as st
from mnemoscope.core import utc_now
from mnemoscope.recall import locate

from app.components import keep
from app.session import links, session
from app.session import scope as scopes
from app.views.recall import explanation, query, results, states

with st.container(horizontal=True):
    st.title("Recall", anchor=False)
working = session.current()
engine = working.engine
scope = scopes.current()

index = engine.index(scope.namespace, subtree=scope.subtree)
asked = query.draw_query(working, scope, index)

if not len(index) and asked.filters.as_of is None:
    states.draw_nothing_here(engine, asked, engine.counts())
elif not asked.text:
    states.draw_start(index.records)
elif asked.filters.problem:
    states.draw_unreadable_filter(asked.filters.problem)
else:
    result = query.fetch_candidates(engine, asked)
    chosen = links.read_explained_memory()
    if chosen is not None and locate(result, *chosen) is None:
        explanation.draw_absent(engine.explain(asked.text, *chosen, within=asked.namespace, **asked.options))
    results.draw_results(
        working,
        result,
        asked,
        keep.read_profiles(working, with_present=False),
        control=query.measure_control(engine, asked),
        now=utc_now(),
    )
