"""Health: whether the store is in order, each finding with what to do, and what the dashboard itself takes."""

import streamlit as st

from app.components import checks, states
from app.session import session
from app.text.display import counted, timestamp
from app.views.health import figures, jobs, reembed
from app.views.health import report as health_report

with st.container(horizontal=True):
    st.title("Health", anchor=False)
working = session.current()
connection = session.choice().connection
figures.draw_figures(working)

report = health_report.read_report(working, connection)
with st.container(horizontal=True, vertical_alignment="center", key="health-bar"):
    st.button(
        "Look again", icon=":material/refresh:", key=health_report.AGAIN_KEY, on_click=health_report.forget_report
    )
    st.caption(f"Looked over at {timestamp(report.at)}. Nothing was written.", width="content")

if not working.engine.counts():
    states.draw_empty("Nothing is remembered here yet", "There is little to look over in an empty store.")
wrong = report.in_state("bad", "warning")
st.subheader(counted(len(wrong), "finding") if wrong else "No findings", anchor=False)
for check in wrong:
    checks.draw_check(check)
with st.expander(f"In order: {len(report.in_state('good'))}", expanded=not wrong):
    for check in report.in_state("good"):
        checks.draw_check(check)
if skipped := report.in_state("skipped"):
    with st.expander(f"Not looked at here: {len(skipped)}"):
        for check in skipped:
            checks.draw_check(check)

reembed.draw_reembedding(working, connection)
jobs.draw_jobs(connection)
left, right = st.columns(2, gap="medium")
with left:
    figures.draw_kinds(report.kinds)
    figures.draw_calls(connection.name)
with right:
    figures.draw_limits(working)
    figures.draw_versions()
