"""Connect: try a connection step by step, see what to do, and copy its table for `mnemoscope.toml`."""

import streamlit as st

from app import connect_form, connect_snippet, connect_steps, session
from app.diagnosis import steps_of

with st.container(horizontal=True):
    st.title("Connect", anchor=False)
st.caption("Try a store before you rely on it. Every step is really done, and none of them writes anything.")

chosen = session.choice()
connection = connect_form.draw(chosen.offered, chosen.connection.name)
obstacle = "" if connection is None else connect_form.obstacle(connection, chosen.offered)
is_asked = st.button(
    "Try it",
    icon=":material/play_arrow:",
    type="primary",
    key=connect_form.TRY_KEY,
    disabled=connection is None or bool(obstacle),
)
if obstacle:
    st.caption(obstacle)
if connection is not None:
    if is_asked:
        connect_steps.draw(steps_of(connection, asks_model=False))
    connect_snippet.draw(connection, chosen.offered.file)
