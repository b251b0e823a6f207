"""Connect: try a connection step by step, see what to do, and copy its table for `mnemoscope.toml`."""

import streamlit as st

from app.session import session
from app.session.diagnosis import run_steps
from app.views.connect import page

with st.container(horizontal=True):
    st.title("Connect", anchor=False)
st.caption("Try a store before you rely on it. Every step is really done, and none of them writes anything.")

chosen = session.choice()
connection = page.draw_form(chosen.offered, chosen.connection.name)
obstacle = "" if connection is None else page.find_obstacle(connection, chosen.offered)
is_asked = st.button(
    "Try it",
    icon=":material/play_arrow:",
    type="primary",
    key=page.TRY_KEY,
    disabled=connection is None or bool(obstacle),
)
if obstacle:
    st.caption(obstacle)
if connection is not None:
    if is_asked:
        page.draw_steps(run_steps(connection, asks_model=False))
    page.draw_table(connection, chosen.offered.file)
