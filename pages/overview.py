"""Overview: what is remembered, how it grew, and what changed lately."""

import streamlit as st
from mnemoscope.times import utc_now

from app import command_lines, overview_sections, python_lines, scope, session, states
from app.overview_summary import summarise

with st.container(horizontal=True):
    st.title("Overview", anchor=False)
working = session.current()
here = scope.current()
index = working.engine.index(here.namespace, subtree=here.subtree)
changes = working.engine.history(here.namespace, subtree=here.subtree, limit=20)

if not len(index) and not changes:
    states.nothing_remembered(here, working.engine.counts())
else:
    summary = summarise(index, utc_now())
    overview_sections.draw_metrics(summary)
    overview_sections.draw_links(summary, here)
    overview_sections.draw_charts(summary)
    left, right = st.columns([9, 11], gap="small")
    with left:
        overview_sections.draw_namespaces(summary.namespaces)
    with right:
        overview_sections.draw_changes(changes, here)
    python_lines.draw(
        {
            "How many there are": python_lines.call("counts", here.namespace),
            "What changed lately": python_lines.call("history", here.namespace, subtree=here.subtree, limit=20),
        },
        {
            "What there is": command_lines.call("list", namespace=here.namespace, subtree=here.subtree),
            "What changed lately": command_lines.call(
                "history", namespace=here.namespace, subtree=here.subtree, limit=20
            ),
        },
    )
