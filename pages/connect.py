"""Connect: try a connection step by step, see what to do, and copy its table for `mnemoscope.toml`."""

import streamlit as st

from app.components import snippet
from app.session import session
from app.session.diagnosis import steps_of
from app.views.connect import form, steps

with st.container(horizontal=True):
    st.title("Connect", anchor=False)
st.caption("Try a store before you rely on it. Every step is really done, and none of them writes anything.")

chosen = session.choice()
connection = form.draw(chosen.offered, chosen.connection.name)
obstacle = "" if connection is None else form.obstacle(connection, chosen.offered)
is_asked = st.button(
    "Try it",
    icon=":material/play_arrow:",
    type="primary",
    key=form.TRY_KEY,
    disabled=connection is None or bool(obstacle),
)
if obstacle:
    st.caption(obstacle)
if connection is not None:
    if is_asked:
        steps.draw(steps_of(connection, asks_model=False))
    snippet.draw(connection, chosen.offered.file)
