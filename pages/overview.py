"""Overview: what is remembered, how it grew, and what changed lately."""

import streamlit as st
from mnemoscope.core import utc_now

from app.components import code, states
from app.session import scope, session
from app.views.overview import cards
from app.views.overview.summary import summarise

with st.container(horizontal=True):
    st.title("Overview", anchor=False)
working = session.current()
here = scope.current()
index = working.engine.index(here.namespace, subtree=here.subtree)
changes = working.engine.history(here.namespace, subtree=here.subtree, limit=20)

if not len(index) and not changes:
    states.draw_nothing_remembered(here, working.engine.counts())
else:
    summary = summarise(index, utc_now())
    cards.draw_metrics(summary)
    cards.draw_links(summary, here)
    cards.draw_charts(summary)
    left, right = st.columns([9, 11], gap="small")
    with left:
        cards.draw_namespaces(summary.namespaces)
    with right:
        cards.draw_changes(changes, here)
    code.draw_code(
        {
            "How many there are": code.write_python("counts", here.namespace),
            "What changed lately": code.write_python("history", here.namespace, subtree=here.subtree, limit=20),
        },
        {
            "What there is": code.write_command("list", namespace=here.namespace, subtree=here.subtree),
            "What changed lately": code.write_command(
                "history", namespace=here.namespace, subtree=here.subtree, limit=20
            ),
        },
    )
