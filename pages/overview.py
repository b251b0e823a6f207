"""Overview: what is remembered, how it grew, and what changed lately."""

import streamlit as st
from mnemoscope.core import utc_now

from app.components import command_lines, python_lines, states
from app.session import scope, session
from app.views.overview import sections
from app.views.overview.summary import summarise

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
    sections.draw_metrics(summary)
    sections.draw_links(summary, here)
    sections.draw_charts(summary)
    left, right = st.columns([9, 11], gap="small")
    with left:
        sections.draw_namespaces(summary.namespaces)
    with right:
        sections.draw_changes(changes, here)
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
