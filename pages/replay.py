"""Replay: to be written."""

import streamlit as st

from app import scope, session, states
from app.display import counted

st.title("Replay", anchor=False)
working = session.current()
total = scope.current().total(working.engine.counts())
if total:
    st.caption(f"{counted(total, 'memory', 'memories')} here.")
else:
    states.empty("Nothing is remembered here yet", "Choose another namespace above.")
