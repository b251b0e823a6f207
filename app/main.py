"""The dashboard's entry script: the page's frame, the shared header, and the chosen page."""

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
for _folder in (_ROOT / "engine", _ROOT):
    if _folder.is_dir() and str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))

import streamlit as st
from mnemoscope import MnemoscopeError

from app.components import actions, live, theme
from app.session import navigation, sign_in
from app.shell import failures, header, reach

st.set_page_config(page_icon=str(theme.ICON), layout="wide")
st.html(theme.STYLE)
st.logo(str(theme.LOGO), icon_image=str(theme.ICON), size="large")
# Before the navigation, so that nobody learns more than that there is a dashboard.
if not sign_in.passes():
    st.stop()
page = navigation.choose()
row = navigation.row_of(page)
answers = header.draw_header()
try:
    actions.draw_outcome()
    if answers:
        live.draw_indicator(row.name)
    if not row.needs_store or (answers and reach.allows(row)):
        page.run()
except MnemoscopeError as error:
    failures.report(error)
