"""Recall: what a query brings back, why each memory stands where it stands, and what was left out."""

import streamlit as st
from mnemoscope.core import utc_now
from mnemoscope.recall import locate

from app.session import scope as scopes
from app.session import session
from app.views.recall import candidates, query, states, view
from app.views.recall.results import chosen as recall_chosen
from app.views.recall.results import explanation
from app.views.tune import data

with st.container(horizontal=True):
    st.title("Recall", anchor=False)
working = session.current()
engine = working.engine
scope = scopes.current()

index = engine.index(scope.namespace, subtree=scope.subtree)
asked = query.draw(working, scope, index)

if not len(index) and asked.filters.as_of is None:
    states.draw_empty(engine, asked, engine.counts())
elif not asked.text:
    states.draw_start(index.records)
elif asked.filters.problem:
    states.draw_unreadable_filter(asked.filters.problem)
else:
    result = candidates.fetch(engine, asked)
    chosen = recall_chosen.current()
    if chosen is not None and locate(result, *chosen) is None:
        explanation.draw_absent(engine.explain(asked.text, *chosen, within=asked.namespace, **asked.options))
    view.draw(
        working,
        result,
        asked,
        data.profiles(working, with_present=False),
        control=candidates.control_similarity(engine, asked),
        now=utc_now(),
    )
